//! Drafts and scheduled posts: what they keep, when they are published, and what happens if they may not be.

use base::Time;
use serde_json::Value;

use super::{press, signed_in};
use crate::harness::{TestResponse, TestServer, TestUser, shared_server, wait_until};
use crate::media::{at_once, samples};
use crate::pages::browser::Browser;

const MINUTE: i64 = 60_000;
const DRAFTS: &str = "/compose/drafts";
const SCHEDULED: &str = "/compose/scheduled";

fn clock(server: &TestServer, args: &[&str]) -> Value {
    server.run_cli(&[&["clock"][..], args].concat()).assert_success().json()
}

/// Stops the clock; the time.
fn freeze(server: &TestServer) -> Time {
    Time::parse(clock(server, &["freeze"])["now"].as_str().unwrap()).unwrap()
}

/// A time as the form sends it.
fn field_value(at: Time) -> String {
    at.to_string().chars().take(16).collect()
}

fn write(browser: &mut Browser<'_>, path: &str, fields: &[(&str, &str)]) -> TestResponse {
    let page = browser.get(path);
    browser.submit(&page, "/compose", fields)
}

fn schedule(browser: &mut Browser<'_>, text: &str, at: Time) {
    let reply = write(browser, "/compose", &[("text", text), ("publish_at", &field_value(at)), ("act", "schedule")]);
    assert_eq!(reply.status, 303, "{}", reply.text());
    assert!(reply.header("location").starts_with(SCHEDULED), "{}", reply.header("location"));
}

/// The ids of the drafts or scheduled posts on a page.
fn listed(browser: &mut Browser<'_>, path: &str) -> Vec<String> {
    let page = browser.get(path).assert_page(200);
    let items = page.split("<li id=\"d").skip(1);
    items.map(|item| item.split('"').next().unwrap().to_owned()).collect()
}

/// Texts of the author's posts, oldest first.
fn texts(author: &TestUser<'_>) -> Vec<String> {
    let page = author.get(format!("/2/users/{}/posts?max_results=100", author.id)).assert_status(200);
    let posts = page["data"].as_array().into_iter().flatten();
    let mut texts: Vec<String> = posts.map(|post| post["text"].as_str().unwrap().to_owned()).collect();
    texts.reverse();
    texts
}

#[test]
fn draft_keeps_all_of_a_reply_until_it_is_published_once() {
    let server = shared_server();
    let asked = server.new_user("asked");
    let post = asked.publish_text("What do you say?");
    let (author, mut browser) = signed_in(server, "drafter");
    let empty = browser.get(DRAFTS).assert_page(200);
    assert!(empty.contains("You have no drafts"));
    let file = at_once(&author, "tweet_image", &samples::png(8, 8)).assert_status(200);
    let media = file["data"]["id"].as_str().unwrap().to_owned();
    let fields = [("text", "Not yet"), ("media_ids", &*media), ("reply_settings", "following"), ("act", "draft")];
    let reply = write(&mut browser, &format!("/compose?in_reply_to={post}"), &fields);
    assert_eq!(reply.status, 303, "{}", reply.text());
    assert!(texts(&author).is_empty(), "a draft is no post");
    let id = listed(&mut browser, DRAFTS).pop().unwrap();
    let page = browser.get(format!("/compose?draft={id}"));
    let shown = page.text();
    for part in ["Not yet", "What do you say?", "Attached file", "value=\"following\" selected"] {
        assert!(shown.contains(part), "{part} is missing: {shown}");
    }
    let (_, mut other) = signed_in(server, "curious");
    assert_eq!(other.get(format!("/compose?draft={id}")).status, 404, "a draft is its author's");
    assert_eq!(press(&mut other, &format!("/{}", asked.username), &format!("delete-draft {id}")), 303);
    let edited = browser.submit(&page, "/compose", &[("text", "Now it is said"), ("act", "draft")]);
    assert_eq!(edited.status, 303, "{}", edited.text());
    assert_eq!(listed(&mut browser, DRAFTS), [&*id], "an edited draft is the same one");
    for _ in 0..2 {
        assert_eq!(press(&mut browser, &format!("/{}", asked.username), &format!("post-draft {id}")), 303);
    }
    assert!(listed(&mut browser, DRAFTS).is_empty());
    let page = author.get(format!("/2/users/{}/posts?tweet.fields=attachments,referenced_tweets", author.id));
    let page = page.assert_status(200);
    assert_eq!(page["meta"]["result_count"], 1, "{page}");
    assert!(page["data"][0]["text"].as_str().unwrap().contains("Now it is said"), "{page}");
    assert_eq!(page["data"][0]["referenced_tweets"][0]["id"], post.as_str());
    assert!(page["data"][0]["attachments"]["media_keys"][0].as_str().unwrap().ends_with(&*media), "{page}");
}

#[test]
fn form_of_another_account_is_shown_again_as_a_new_post() {
    let server = shared_server();
    let (author, mut browser) = signed_in(server, "drafter");
    let (next, mut next_browser) = signed_in(server, "next");
    let post = author.publish_text("Written before");
    assert_eq!(write(&mut browser, "/compose", &[("text", "Not yet"), ("act", "draft")]).status, 303);
    let id = listed(&mut browser, DRAFTS).pop().unwrap();
    let edit = format!("/{}/status/{post}/edit", author.username);
    for (path, text) in [(format!("/compose?draft={id}"), "From a draft"), (edit, "From an edit")] {
        let page = browser.get(path);
        let again = next_browser.submit(&page, "/compose", &[("text", text), ("act", "post")]);
        assert!(again.status == 403 && again.text().contains(text), "{}", again.text());
        let sent = next_browser.submit(&again, "/compose", &[("text", text), ("act", "post")]);
        assert_eq!(sent.status, 303, "{}", sent.text());
    }
    assert_eq!(texts(&next), ["From a draft", "From an edit"]);
    assert_eq!((listed(&mut browser, DRAFTS), texts(&author)), (vec![id], vec!["Written before".to_owned()]));
}

#[test]
fn draft_may_be_unfinished_but_not_empty() {
    let server = shared_server();
    let (author, mut browser) = signed_in(server, "unfinished");
    assert_eq!(write(&mut browser, "/compose", &[("text", " "), ("act", "draft")]).status, 400);
    let long = "x".repeat(400);
    let poll = [("text", &*long), ("choice1", "Tea"), ("act", "draft")];
    assert_eq!(write(&mut browser, "/compose", &poll).status, 303, "too long a text and half a poll can be finished");
    let id = listed(&mut browser, DRAFTS).pop().unwrap();
    assert_eq!(press(&mut browser, DRAFTS, &format!("post-draft {id}")), 400);
    assert_eq!(listed(&mut browser, DRAFTS), [&*id]);
    let path = format!("/compose?draft={id}");
    let finished = [("text", "Tea?"), ("choice1", "Tea"), ("choice2", "Milk"), ("poll_minutes", "60"), ("act", "post")];
    assert_eq!(write(&mut browser, &path, &finished).status, 303);
    assert!(listed(&mut browser, DRAFTS).is_empty(), "a published draft is gone");
    assert_eq!(texts(&author), ["Tea?"]);
    assert_eq!(write(&mut browser, "/compose", &[("text", "Away"), ("act", "draft")]).status, 303);
    let id = listed(&mut browser, DRAFTS).pop().unwrap();
    assert_eq!(press(&mut browser, DRAFTS, &format!("delete-draft {id}")), 303);
    assert!(listed(&mut browser, DRAFTS).is_empty());
}

#[test]
fn post_with_a_time_is_not_published_at_once() {
    let (author, mut browser) = signed_in(shared_server(), "hasty");
    let fields = [("text", "Later"), ("publish_at", "2099-05-21T09:30"), ("act", "post")];
    let refused = write(&mut browser, "/compose", &fields).assert_page(400);
    for part in ["A time is set.", "Later", "2099-05-21T09:30"] {
        assert!(refused.contains(part), "no {part} in {refused}");
    }
    assert!(texts(&author).is_empty());
    assert_eq!(write(&mut browser, "/compose", &[("text", "Now"), ("publish_at", ""), ("act", "post")]).status, 303);
    assert_eq!(texts(&author), ["Now"]);
}

#[test]
fn scheduled_posts_are_published_at_their_time_in_order() {
    let server = TestServer::start(&[]);
    let (author, mut browser) = signed_in(&server, "planner");
    assert!(browser.get(SCHEDULED).assert_page(200).contains("Nothing is scheduled"));
    let now = freeze(&server);
    schedule(&mut browser, "Third", now.plus_ms(90 * MINUTE));
    schedule(&mut browser, "First", now.plus_ms(30 * MINUTE));
    schedule(&mut browser, "Second", now.plus_ms(60 * MINUTE));
    schedule(&mut browser, "Never", now.plus_ms(61 * MINUTE));
    let ids = listed(&mut browser, SCHEDULED);
    assert_eq!(ids.len(), 4, "in the order of their times");
    assert!(browser.get(format!("/compose?draft={}", ids[0])).assert_page(200).contains("First"));
    assert_eq!(press(&mut browser, SCHEDULED, &format!("delete-draft {}", ids[2])), 303);
    let moved = [("text", "Third"), ("publish_at", &*field_value(now.plus_ms(80 * MINUTE))), ("act", "schedule")];
    assert_eq!(write(&mut browser, &format!("/compose?draft={}", ids[3]), &moved).status, 303);
    clock(&server, &["advance", "20m"]);
    assert!(texts(&author).is_empty());
    let report = clock(&server, &["advance", "45m"]);
    assert_eq!(report["report"]["jobs"]["members_scheduled_posts"], 2, "{report}");
    assert_eq!(texts(&author), ["First", "Second"]);
    clock(&server, &["advance", "20m"]);
    assert_eq!(texts(&author), ["First", "Second", "Third"]);
    assert!(listed(&mut browser, SCHEDULED).is_empty());
    let first = author.get(format!("/2/users/{}/posts?tweet.fields=created_at", author.id)).assert_status(200);
    let created = Time::parse(first["data"][2]["created_at"].as_str().unwrap()).unwrap();
    assert_eq!(field_value(created), field_value(now.plus_ms(30 * MINUTE)), "published at its time");
    server.run_cli(&["fsck"]).assert_success();
}

#[test]
fn time_of_a_scheduled_post_is_a_minute_to_a_year_ahead() {
    let server = TestServer::start(&[]);
    let (_, mut browser) = signed_in(&server, "hasty");
    let now = freeze(&server);
    let far = field_value(now.plus_ms(366 * 24 * 60 * MINUTE));
    for at in ["", "tomorrow", &field_value(now), &far] {
        let reply = write(&mut browser, "/compose", &[("text", "Soon"), ("publish_at", at), ("act", "schedule")]);
        assert_eq!(reply.status, 400, "{at}");
        assert!(reply.text().contains("id=\"publish_at-error\""), "{at}: {}", reply.text());
    }
    let long = "x".repeat(400);
    let at = field_value(now.plus_ms(5 * MINUTE));
    let reply = write(&mut browser, "/compose", &[("text", &long), ("publish_at", &at), ("act", "schedule")]);
    assert_eq!(reply.status, 400, "what could not be published now is not scheduled");
    assert!(listed(&mut browser, SCHEDULED).is_empty());
}

#[test]
fn refused_scheduled_post_stays_with_the_reason_and_is_not_tried_again() {
    let server = TestServer::start(&[]);
    let (author, mut browser) = signed_in(&server, "repeater");
    let (suspended, mut other) = signed_in(&server, "suspended");
    let now = freeze(&server);
    schedule(&mut browser, "The same", now.plus_ms(10 * MINUTE));
    schedule(&mut browser, "The same", now.plus_ms(20 * MINUTE));
    schedule(&mut other, "Not any more", now.plus_ms(10 * MINUTE));
    server.run_cli(&["user", "suspend", &suspended.username]).assert_success();
    clock(&server, &["advance", "30m"]);
    assert_eq!(texts(&author), ["The same"]);
    let page = browser.get(SCHEDULED).assert_page(200);
    assert!(page.contains("It was not published:") && page.contains("You posted the same"), "{page}");
    let notices = browser.get("/notifications?tab=notices").assert_page(200);
    assert!(notices.contains("A scheduled post was not published."), "{notices}");
    let id = listed(&mut browser, SCHEDULED).pop().unwrap();
    let again = clock(&server, &["advance", "10m"]);
    assert_eq!(again["report"]["jobs"]["members_scheduled_posts"].as_i64().unwrap_or(0), 0, "{again}");
    let edited = [("text", "Another"), ("act", "post")];
    assert_eq!(write(&mut browser, &format!("/compose?draft={id}"), &edited).status, 303);
    assert_eq!(texts(&author), ["The same", "Another"]);
    server.run_cli(&["user", "restore", &suspended.username]).assert_success();
    clock(&server, &["advance", "10m"]);
    let posts = author.get(format!("/2/users/{}/posts", suspended.id)).assert_status(200);
    assert_eq!(posts["meta"]["result_count"], 0, "a suspended member's posts are not published later either");
}

/// Creates a community; its id and the path of its form for a post.
fn create_community(server: &TestServer, owner: &TestUser<'_>, name: &str) -> (String, String) {
    let created = server.run_cli(&["community", "create", name, "--owner", &owner.id]).json();
    let id = created["id"].as_str().unwrap().to_owned();
    let form = format!("/compose?community={id}");
    (id, form)
}

#[test]
fn draft_for_a_community_stays_in_it() {
    let server = shared_server();
    let owner = server.new_user("netowner");
    let (id, form) = create_community(server, &owner, "Draft boats");
    let (author, mut browser) = signed_in(server, "drafter");
    let page = format!("/communities/{id}");
    assert_eq!(press(&mut browser, &page, &format!("join-community {id}")), 303);
    let mut save = |text: &str| {
        let fields = [("text", text), ("share", "on"), ("act", "draft")];
        assert_eq!(write(&mut browser, &form, &fields).status, 303);
    };
    save("A boat for later");
    save("A second boat");
    let shown = browser.get(DRAFTS).assert_page(200);
    assert!(shown.contains(&format!("In <a href=\"{page}\"><bdi>Draft boats</bdi></a>")), "{shown}");
    let ids = listed(&mut browser, DRAFTS);
    let path = format!("/compose?draft={}", ids[1]);
    let edit = browser.get(&path).assert_page(200);
    assert!(edit.contains("Draft boats") && edit.contains(&format!("name=\"community\" value=\"{id}\"")), "{edit}");
    let (_, mut other) = signed_in(server, "curious");
    assert_eq!(other.get(&path).status, 404, "a draft is its author's");
    let edited = write(&mut browser, &path, &[("text", "A boat that is ready"), ("act", "draft")]);
    assert_eq!(edited.status, 303, "{}", edited.text());
    assert_eq!(listed(&mut browser, DRAFTS), ids, "an edited draft is the same one");
    assert_eq!(press(&mut browser, DRAFTS, &format!("post-draft {}", ids[1])), 303);
    assert_eq!(
        write(&mut browser, &format!("/compose?draft={}", ids[0]), &[("text", "A second boat"), ("act", "post")])
            .status,
        303
    );
    assert!(listed(&mut browser, DRAFTS).is_empty());
    let posts = author.get(format!("/2/users/{}/posts?tweet.fields=community_id", author.id)).assert_status(200);
    let found: Vec<_> = posts["data"].as_array().unwrap().iter().map(|post| &post["community_id"]).collect();
    assert_eq!(found, [&*id, &*id], "{posts}");
    let shown = browser.get(&page).assert_page(200);
    assert!(shown.contains("A boat that is ready") && shown.contains("A second boat"));
}

#[test]
fn scheduled_post_goes_to_the_community_only_if_its_author_is_still_a_member() {
    let server = TestServer::start(&[]);
    let owner = server.new_user("pier");
    let (id, form) = create_community(&server, &owner, "Timely boats");
    let (author, mut browser) = signed_in(&server, "planner");
    let page = format!("/communities/{id}");
    let now = freeze(&server);
    let at = field_value(now.plus_ms(10 * MINUTE));
    let later = field_value(now.plus_ms(50 * MINUTE));
    let plan = |browser: &mut Browser<'_>, text: &str, at: &str| {
        write(browser, &form, &[("text", text), ("publish_at", at), ("act", "schedule")]).status
    };
    assert_eq!(plan(&mut browser, "Not a member", &at), 400);
    assert_eq!(press(&mut browser, &page, &format!("join-community {id}")), 303);
    assert_eq!(plan(&mut browser, "In time", &at), 303);
    assert_eq!(plan(&mut browser, "After leaving", &later), 303);
    schedule(&mut browser, "To everyone", now.plus_ms(20 * MINUTE));
    assert_eq!(listed(&mut browser, SCHEDULED).len(), 3);
    let report = clock(&server, &["advance", "30m"]);
    assert_eq!(report["report"]["jobs"]["members_scheduled_posts"], 2, "{report}");
    assert_eq!(texts(&author), ["In time", "To everyone"]);
    let shown = browser.get(&page).assert_page(200);
    assert!(shown.contains("In time") && !shown.contains("To everyone"), "{shown}");
    assert_eq!(press(&mut browser, &page, &format!("leave-community {id}")), 303);
    clock(&server, &["advance", "30m"]);
    assert_eq!(texts(&author), ["In time", "To everyone"], "it is not published to everyone instead");
    let refused = browser.get(SCHEDULED).assert_page(200);
    assert!(refused.contains("It was not published: You are not allowed to post to this community"), "{refused}");
    let left = listed(&mut browser, SCHEDULED).pop().unwrap();
    assert_ne!(press(&mut browser, SCHEDULED, &format!("post-draft {left}")), 303);
    server.run_cli(&["fsck"]).assert_success();
}

#[test]
fn killed_server_publishes_each_scheduled_post_once() {
    let mut server = TestServer::start(&[]);
    let wanted: Vec<String> = (0..20).map(|number| format!("Due {number}")).collect();
    let (id, username) = {
        let (author, mut browser) = signed_in(&server, "durable");
        let now = freeze(&server);
        for text in &wanted {
            schedule(&mut browser, text, now.plus_ms(2 * MINUTE));
        }
        (author.id.clone(), author.username.clone())
    };
    clock(&server, &["scale", "60"]);
    server.kill();
    std::thread::sleep(std::time::Duration::from_secs(3));
    for pause in [150, 250, 350, 450] {
        server.spawn();
        std::thread::sleep(std::time::Duration::from_millis(pause));
        server.kill();
    }
    server.restart();
    let author = TestUser::with_new_token(&server, server.default_app(), &id, &username);
    wait_until("all are published", || texts(&author).len() >= wanted.len());
    assert_eq!(texts(&author), wanted, "each once, in the order in which they were scheduled");
}
