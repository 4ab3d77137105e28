//! The home timeline, profiles and threads.

use serde_json::json;

use super::{press, signed_in, submit_to};
use crate::harness::{TestServer, percent_encode, shared_server};
use crate::pages::browser::Browser;

/// Bytes of HTML of a page with twenty posts.
const MAX_PAGE_BYTES: usize = 40_000;

#[test]
fn polls_say_when_they_end() {
    let server = TestServer::start(&[]);
    let (author, mut browser) = signed_in(&server, "pollster");
    server.run_cli(&["clock", "freeze"]).assert_success();
    let poll = json!({ "text": "Which?", "poll": { "options": ["Tea", "Milk"], "duration_minutes": 60 } });
    author.create_post(&poll).assert_status(201);
    let page = browser.get("/home").assert_page(200);
    assert!(page.contains("Ends <time datetime=") && page.contains("0% · 0 votes"), "{page}");
    server.run_cli(&["clock", "advance", "2h"]).assert_success();
    let page = browser.get("/home").assert_page(200);
    assert!(page.contains("Final results") && !page.contains("Ends <time"), "{page}");
}

#[test]
fn visitor_who_is_not_signed_in_is_asked_to_before_the_home_timeline() {
    let mut browser = Browser::new(shared_server());
    for path in ["/home", "/compose", "/bookmarks"] {
        let reply = browser.get(path);
        assert_eq!(reply.status, 303, "{path}");
        assert!(reply.header("location").starts_with("/login?next=%2F"), "{path}");
    }
}

#[test]
fn links_to_sign_in_lead_back() {
    let server = shared_server();
    let author = server.new_user("author");
    let path = format!("/{}/status/{}", author.username, author.publish_text("For visitors"));
    let link = format!("<a href=\"/login?next={}\">Sign in</a>", percent_encode(&path));
    for page in [path.clone(), format!("/join?next={path}")] {
        let text = Browser::new(server).get(page).assert_page(200);
        assert!(text.contains(&link), "{text}");
    }
}

#[test]
fn home_timeline_shows_followed_accounts_in_pages_of_twenty() {
    let server = shared_server();
    let author = server.new_user("writer");
    let (_, mut browser) = signed_in(server, "reader");
    assert!(browser.get("/home").assert_page(200).contains("Your timeline is empty"));
    assert_eq!(press(&mut browser, &format!("/{}", author.username), &format!("follow {}", author.id)), 303);
    for number in 0..25 {
        author.publish_text(&format!("Post number {number} about #boats, for @{} to read", author.username));
    }
    let page = browser.get("/home").assert_page(200);
    assert!(page.contains("Post number 24 ") && page.contains("Post number 5 ") && !page.contains("Post number 4 "));
    assert!(page.len() < MAX_PAGE_BYTES, "{}", page.len());
    let older = page.split("rel=\"next\" href=\"").nth(1).unwrap().split('"').next().unwrap();
    let (path, shown) = (older.to_owned(), browser.get(older));
    let older = shown.text();
    assert!(older.contains("Post number 4 ") && !older.contains("Post number 5 "));
    let liked = older.split("value=\"like ").nth(1).unwrap().split('"').next().unwrap();
    let reply = browser.submit(&shown, "/i/actions", &[("act", &format!("like {liked}"))]);
    assert_eq!(reply.header("location"), format!("{path}#p{liked}"), "a button leads back to its page");
    let profile = browser.get(format!("/{}", author.username)).assert_page(200);
    assert!(profile.contains("Unfollow") && profile.len() < MAX_PAGE_BYTES, "{}", profile.len());
}

#[test]
fn profile_has_tabs_and_lists_of_people() {
    let server = shared_server();
    let (author, mut browser) = signed_in(server, "tabbed");
    let post = author.publish_text("A first post");
    let reply = json!({ "text": "An answer", "reply": { "in_reply_to_tweet_id": post } });
    author.create_post(&reply).assert_status(201);
    let path = format!("/{}", author.username);
    let posts = browser.get(&path).assert_page(200);
    assert!(posts.contains("A first post") && !posts.contains("An answer"));
    assert!(browser.get(format!("{path}?tab=replies")).assert_page(200).contains("An answer"));
    assert!(browser.get(format!("{path}?tab=media")).assert_page(200).contains("There is nothing here yet"));
    assert!(browser.get(format!("{path}?tab=likes")).assert_page(200).contains("Posts that you like appear here."));
    assert_eq!(press(&mut browser, &path, &format!("like {post}")), 303);
    assert!(browser.get(format!("{path}?tab=likes")).assert_page(200).contains("A first post"));
    let (other, mut stranger) = signed_in(server, "stranger");
    stranger.get(format!("{path}?tab=likes")).assert_page(404);
    let of_posts = ["", "/quotes", "/history", "/edit"].map(|part| format!("{path}/status/1{part}"));
    let others = [
        "/nobody_at_all",
        "/nobody_at_all/followers",
        "/nobody_at_all/lists",
        "/i/web/status/1",
        "/compose?draft=1",
        "/compose?in_reply_to=1",
        "/lists/1",
        "/lists/1/edit",
        "/lists/1/delete",
        "/lists/1/members",
        "/communities/1/members",
        "/bookmarks/1",
        "/messages/1-2",
    ];
    for missing in others.into_iter().chain(of_posts.iter().map(String::as_str)) {
        let page = stranger.get(missing).assert_page(404);
        assert!(page.contains("Page not found") && page.contains("href=\"/notifications\""), "{missing}: {page}");
    }
    assert_eq!(press(&mut stranger, &path, &format!("follow {}", author.id)), 303);
    assert!(browser.get(format!("{path}/followers")).assert_page(200).contains(&other.username));
    assert!(stranger.get(format!("/{}/following", other.username)).assert_page(200).contains(&author.username));
    let reply = browser.get(path.to_uppercase());
    assert_eq!((reply.status, reply.header("location")), (303, path.as_str()));
    browser.get("/nobody_is_here").assert_page(404);
}

#[test]
fn thread_shows_what_a_post_replies_to_and_its_replies() {
    let server = shared_server();
    let (author, mut browser) = signed_in(server, "threads");
    let reader = server.new_user("answers");
    let root = author.publish_text("Where is the harbour?");
    let answer = |text: &str, to: &str| {
        let body = json!({ "text": text, "reply": { "in_reply_to_tweet_id": to } });
        reader.create_post(&body).assert_status(201)["data"]["id"].as_str().unwrap().to_owned()
    };
    let first = answer("Down the hill", &root);
    answer("And then left", &first);
    let page = browser.get(format!("/{}/status/{first}", reader.username)).assert_page(200);
    let (_, main) = page.split_once("<main").unwrap();
    let places = ["Where is the harbour?", "Down the hill", "And then left"].map(|text| main.find(text).unwrap());
    assert!(places.is_sorted(), "{places:?}");
    let path = format!("/{}/status/{root}", author.username);
    assert_eq!(press(&mut browser, &path, &format!("hide {first}")), 303);
    assert!(browser.get(&path).assert_page(200).contains("Replies hidden by the author"));
    for (act, mark) in [("like", "unlike"), ("repost", "unrepost"), ("bookmark", "unbookmark")] {
        assert_eq!(press(&mut browser, &path, &format!("{act} {root}")), 303);
        assert!(browser.get(&path).assert_page(200).contains(&format!("value=\"{mark} {root}\"")), "{act}");
    }
    assert!(browser.get("/bookmarks").assert_page(200).contains("Where is the harbour?"));
    let confirmation = format!("value=\"delete {root}\">Delete</button></details>");
    assert!(browser.get(&path).assert_page(200).contains(&confirmation));
    let page = browser.get(&path);
    for _ in 0..2 {
        let deleted = browser.submit(&page, "/i/actions", &[("act", &format!("delete {root}"))]);
        assert_eq!((deleted.status, deleted.header("location")), (303, "/home"));
    }
    browser.get(&path).assert_page(404);
    assert_eq!(submit_to(&mut browser, "/i/actions", &[("act", "delete 1")]).status, 404);
}

#[test]
fn search_finds_posts_and_people_and_explains_mistakes() {
    let server = shared_server();
    let author = server.new_user("findable");
    author.publish_text("A walrus at the quay");
    author.create_post(&json!({ "text": "A walrus for sale", "nullcast": true })).assert_status(201);
    let (_, mut browser) = signed_in(server, "seeker");
    let found = browser.get("/search?q=walrus").assert_page(200);
    assert!(found.contains("A walrus at the quay") && !found.contains("A walrus for sale"));
    let people = format!("/search?q={}&tab=people", author.username);
    assert!(browser.get(people).assert_page(200).contains(&format!("href=\"/{}\"", author.username)));
    for (name, query) in [("Иван Петров", "иван+ПЕТ"), ("山田太郎", "山田"), ("محمد علي", "محمد")]
    {
        server.run_cli(&["user", "edit", &author.username, "--name", name]).assert_success();
        let people = browser.get(format!("/search?q={}&tab=people", query.replace('+', "%20"))).assert_page(200);
        assert!(people.contains(&format!("href=\"/{}\"", author.username)), "{name}");
    }
    let nothing = browser.get("/search?q=zebrafinch").assert_page(200);
    assert!(nothing.contains("Nothing was found"), "{nothing}");
    assert!(nothing.contains("<a href=\"/search?q=zebrafinch&#38;tab=people\">people with this name</a>"), "{nothing}");
    let newest = browser.get("/search?tab=people").assert_page(200);
    assert!(newest.contains("New here") && newest.contains("value=\"follow "), "{newest}");
    assert!(browser.get("/search?q=%28walrus").assert_page(400).contains("aria-invalid"));
    browser.get("/search").assert_page(200);
}
