//! `/notifications`: what others did, by whom, and for how long it counts as unread.

use serde_json::json;

use super::{press, signed_in};
use crate::harness::{TestRequest, shared_server, wait_until};
use crate::pages::browser::Browser;

/// The page once it contains a text: interactions are recorded after the fact.
fn page_with(browser: &mut Browser<'_>, path: &str, text: &str) -> String {
    let mut last = String::new();
    wait_until(&format!("{path} to contain {text:?}"), || {
        last = browser.get(path).assert_page(200);
        last.contains(text)
    });
    last
}

/// Since a page marks what it shows as seen, the count is read on another.
fn wait_for_unread(browser: &mut Browser<'_>, count: usize) {
    let badge = format!(r#"<span class="count">{count}<span class="unseen"> unread</span></span>"#);
    page_with(browser, "/home", &badge);
}

#[test]
fn replies_mentions_quotes_reposts_likes_and_follows_are_shown() {
    let server = shared_server();
    let (author, mut browser) = signed_in(server, "told");
    let other = server.new_user("doer");
    let post = author.publish_text("The harbour is open");
    let (own, username) = (&author.id, &author.username);
    assert!(browser.get("/notifications").assert_page(200).contains("No notifications yet"));
    let unseen = server.new_user_with("unseen", &["--protected"]);
    unseen.publish_text(&format!("Not for @{username}"));
    unseen.post(format!("/2/users/{}/retweets", unseen.id), &json!({ "tweet_id": post })).assert_status(200);
    let taken_back = other.publish_text(&format!("Not yet, @{username}"));
    other.delete(format!("/2/tweets/{taken_back}")).assert_status(200);
    let reply = json!({ "text": "I shall come", "reply": { "in_reply_to_tweet_id": post } });
    other.create_post(&reply).assert_status(201);
    other.create_post(&json!({ "text": "Worth a trip", "quote_tweet_id": post })).assert_status(201);
    other.publish_text(&format!("Ask @{username} about boats"));
    other.post(format!("/2/users/{}/likes", other.id), &json!({ "tweet_id": post })).assert_status(200);
    other.post(format!("/2/users/{}/retweets", other.id), &json!({ "tweet_id": post })).assert_status(200);
    other.post(format!("/2/users/{}/following", other.id), &json!({ "target_user_id": own })).assert_status(200);
    wait_for_unread(&mut browser, 7);
    let page = browser.get("/notifications").assert_page(200);
    for words in [
        "Replied to you",
        "I shall come",
        "Quoted you",
        "Worth a trip",
        "Mentioned you",
        "liked your post",
        "reposted your post",
        "followed you",
        "The harbour is open",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
    assert!(!page.contains("unread</span>"), "the page itself shows them: {page}");
    assert!(!browser.get("/home").assert_page(200).contains("unread</span>"));
    let mentions = browser.get("/notifications?tab=mentions").assert_page(200);
    assert!(mentions.contains("Worth a trip") && !mentions.contains("liked your post"), "{mentions}");
}

#[test]
fn several_likes_of_a_post_are_one_line() {
    let server = shared_server();
    let (author, mut browser) = signed_in(server, "popular");
    let post = author.publish_text("Everybody likes this");
    for name in ["first", "second", "third", "fourth"] {
        let fan = server.new_user(name);
        fan.post(format!("/2/users/{}/likes", fan.id), &json!({ "tweet_id": post })).assert_status(200);
    }
    wait_for_unread(&mut browser, 4);
    let page = browser.get("/notifications").assert_page(200);
    assert_eq!(page.matches("liked your post").count(), 1, "{page}");
    assert!(page.contains("and 2 others"), "{page}");
}

#[test]
fn undone_and_unwelcome_actions_are_not_shown() {
    let server = shared_server();
    let (author, mut browser) = signed_in(server, "calm");
    let post = author.publish_text("A quiet place");
    let [fickle, muted, blocked] = ["fickle", "muted", "blocked"].map(|name| server.new_user(name));
    for (act, other) in [("mute", &muted), ("block", &blocked)] {
        assert_eq!(press(&mut browser, &format!("/{}", other.username), &format!("{act} {}", other.id)), 303);
    }
    for other in [&fickle, &muted] {
        other.post(format!("/2/users/{}/likes", other.id), &json!({ "tweet_id": post })).assert_status(200);
        let target = json!({ "target_user_id": author.id });
        other.post(format!("/2/users/{}/following", other.id), &target).assert_status(200);
    }
    blocked.publish_text(&format!("@{} you cannot stop me", author.username));
    fickle.delete(format!("/2/users/{}/likes/{post}", fickle.id)).assert_status(200);
    fickle.delete(format!("/2/users/{}/following/{}", fickle.id, author.id)).assert_status(200);
    let witness = server.new_user("witness");
    witness.post(format!("/2/users/{}/likes", witness.id), &json!({ "tweet_id": post })).assert_status(200);
    let page = page_with(&mut browser, "/notifications", &witness.username);
    for other in [&fickle, &muted, &blocked] {
        assert!(!page.contains(&other.username), "{}: {page}", other.username);
    }
    author.delete(format!("/2/tweets/{post}")).assert_status(200);
    let page = browser.get("/notifications").assert_page(200);
    assert!(!page.contains("A quiet place") && !page.contains(&witness.username), "{page}");
}

#[test]
fn requests_to_follow_are_accepted_and_declined() {
    let server = shared_server();
    let author = server.new_user_with("private", &["--protected"]);
    let mut own = Browser::new(server);
    assert_eq!(own.sign_in(&author.username, "a long secret", "/home").status, 303);
    author.publish_text("Among friends");
    let [welcome, stranger] = ["welcome", "stranger"].map(|name| server.new_user(name));
    for other in [&welcome, &stranger] {
        let target = json!({ "target_user_id": author.id });
        let asked = other.post(format!("/2/users/{}/following", other.id), &target).assert_status(200);
        assert_eq!(asked["data"]["pending_follow"], true);
    }
    let page = page_with(&mut own, "/notifications", "2 accounts ask");
    assert!(page.contains("/notifications/requests"), "{page}");
    let page = own.get("/notifications/requests").assert_page(200);
    assert!(page.contains(&welcome.username) && page.contains(&stranger.username), "{page}");
    assert_eq!(press(&mut own, "/notifications/requests", &format!("approve {}", welcome.id)), 303);
    assert_eq!(press(&mut own, "/notifications/requests", &format!("deny {}", stranger.id)), 303);
    assert!(own.get("/notifications/requests").assert_page(200).contains("Nobody is waiting"));
    welcome.get(format!("/2/users/{}/tweets", author.id)).assert_status(200)["data"].as_array().unwrap();
    let seen = stranger.get(format!("/2/users/{}/tweets", author.id)).assert_status(200);
    assert!(seen["data"].is_null(), "{seen}");
    let page = page_with(&mut own, "/notifications", "followed you");
    assert!(!page.contains("asked to follow you"), "{page}");
    for (act, status) in [("approve", 303), ("deny", 404)] {
        assert_eq!(press(&mut own, "/home", &format!("{act} {}", welcome.id)), status, "{act} twice");
    }
    for (act, status) in [("approve", 404), ("deny", 303)] {
        assert_eq!(press(&mut own, "/home", &format!("{act} {}", stranger.id)), status, "{act} twice");
    }
}

#[test]
fn notifications_are_for_their_owner() {
    let server = shared_server();
    for path in ["/notifications", "/notifications/requests", "/notifications?tab=notices"] {
        let reply = Browser::new(server).send(TestRequest::get(path));
        assert_eq!(reply.status, 303);
        assert!(reply.header("location").starts_with("/login?next=%2Fnotifications"), "{path}");
    }
}

const SETTINGS: &str = "/settings/notifications";

/// Saves the settings, with everyone for the kinds that are not named; the status.
fn save_settings(browser: &mut Browser<'_>, chosen: &[(&str, &str)]) -> u16 {
    let kinds = ["mention", "reply", "quote", "repost", "like", "follow", "follow_request"];
    let page = browser.get(SETTINGS);
    let senders =
        |kind: &str| chosen.iter().find(|(name, _)| *name == kind).map_or("everyone", |(_, senders)| *senders);
    let fields = kinds.map(|kind| (kind, senders(kind)));
    browser.submit(&page, SETTINGS, &fields).status
}

#[test]
fn settings_leave_out_kinds_and_strangers() {
    let server = shared_server();
    let (author, mut browser) = signed_in(server, "choosing");
    let (friend, stranger) = (server.new_user("befriended"), server.new_user("unknown"));
    assert_eq!(press(&mut browser, &format!("/{}", friend.username), &format!("follow {}", friend.id)), 303);
    let post = author.publish_text("The harbour is open");
    for user in [&friend, &stranger] {
        user.publish_text(&format!("@{} by {}", author.username, user.username));
        user.post(format!("/2/users/{}/likes", user.id), &json!({ "tweet_id": post })).assert_status(200);
    }
    wait_for_unread(&mut browser, 4);
    let badge = |count: usize| format!(r#"<span class="count">{count}<span class="unseen"> unread</span></span>"#);
    assert_eq!(save_settings(&mut browser, &[("mention", "followed"), ("like", "nobody")]), 303);
    assert!(browser.get("/home").assert_page(200).contains(&badge(1)));
    let page = browser.get("/notifications").assert_page(200);
    let of_stranger = format!("by {}", stranger.username);
    assert!(page.contains(&format!("by {}", friend.username)) && !page.contains(&of_stranger), "{page}");
    assert!(!page.contains("liked your post"), "{page}");
    assert!(!browser.get("/notifications?tab=mentions").assert_page(200).contains(&of_stranger));
    let settings = browser.get(SETTINGS).assert_page(200);
    assert!(settings.contains("value=\"followed\" selected") && settings.contains("value=\"nobody\" selected"));
    assert_eq!(save_settings(&mut browser, &[("like", "somebody")]), 400);
    assert_eq!(save_settings(&mut browser, &[]), 303);
    let page = browser.get("/notifications").assert_page(200);
    assert!(page.contains(&of_stranger) && page.contains("liked your post"), "settings delete nothing: {page}");
    assert!(Browser::new(server).get(SETTINGS).header("location").starts_with("/login"));
}

#[test]
fn muting_who_has_mentioned_a_member_does_not_keep_the_count() {
    let server = shared_server();
    let (author, mut browser) = signed_in(server, "pestered");
    let other = server.new_user("pest");
    other.publish_text(&format!("Buy nets, @{}", author.username));
    wait_for_unread(&mut browser, 1);
    author.post(format!("/2/users/{}/muting", author.id), &json!({ "target_user_id": other.id })).assert_status(200);
    assert!(!browser.get("/home").assert_page(200).contains("unread</span>"));
    assert!(!browser.get("/notifications").assert_page(200).contains("Buy nets"));
    server.run_cli(&["user", "protect", &author.username]).assert_success();
    let fan = server.new_user("fan");
    let follow = format!("/2/users/{}/following", fan.id);
    fan.post(follow, &json!({ "target_user_id": author.id })).assert_status(200);
    wait_for_unread(&mut browser, 1);
    server.run_cli(&["user", "unprotect", &author.username]).assert_success();
    assert!(!browser.get("/home").assert_page(200).contains("unread</span>"), "the request has ended");
}
