//! Pages hide exactly what the API hides.

use serde_json::json;

use super::{press, signed_in, submit_to};
use crate::harness::{TestRequest, shared_server};
use crate::media::{at_once, samples};
use crate::pages::browser::Browser;

#[test]
fn blocked_viewer_sees_neither_posts_nor_followers() {
    let server = shared_server();
    let (author, mut own) = signed_in(server, "blocker");
    let (reader, mut browser) = signed_in(server, "blocked");
    let post = author.publish_text("Not for everyone");
    let (profile, thread) = (format!("/{}", author.username), format!("/{}/status/{post}", author.username));
    browser.get(&thread).assert_page(200);
    assert_eq!(press(&mut own, &format!("/{}", reader.username), &format!("block {}", reader.id)), 303);
    reader.get(format!("/2/users/{}/posts", author.id)).assert_status(200)["errors"].as_array().unwrap();
    let page = browser.get(&profile).assert_page(200);
    assert!(page.contains("This account has blocked you") && !page.contains("Not for everyone"), "{page}");
    browser.get(&thread).assert_page(404);
    browser.get(format!("{profile}/followers")).assert_page(404);
    browser.get(format!("/compose?in_reply_to={post}")).assert_page(404);
    let home = browser.get("/home");
    let liked = browser.submit(&home, "/compose", &[("text", "Hello"), ("in_reply_to", &post)]);
    assert!(liked.status >= 400, "{}", liked.status);
    assert!(Browser::new(server).get(&thread).assert_page(200).contains("Not for everyone"));
}

#[test]
fn media_of_a_sensitive_post_are_covered_for_others() {
    const COVER: &str = "<summary>Sensitive content. Show it</summary>";
    let server = shared_server();
    let ((author, mut own), (_, mut other)) = (signed_in(server, "graphic"), signed_in(server, "careful"));
    let media = at_once(&author, "tweet_image", &samples::png(8, 8)).assert_status(200)["data"]["id"].clone();
    let created = author.create_post(&json!({ "text": "Look", "media": { "media_ids": [media] } })).assert_status(201);
    let post = created["data"]["id"].as_str().unwrap();
    let (profile, thread) = (format!("/{}", author.username), format!("/{}/status/{post}", author.username));
    assert!(!other.get(&thread).assert_page(200).contains(COVER));
    server.run_cli(&["mod", "label", post]).assert_success();
    for path in [&profile, &thread] {
        for page in [other.get(path), Browser::new(server).get(path)] {
            let page = page.assert_page(200);
            let (before, covered) = page.split_once(COVER).unwrap_or_else(|| panic!("{path}: {page}"));
            assert!(covered.contains("<img src=\"/media/") && !before.contains("/media/"), "{path}: {page}");
        }
        let page = own.get(path).assert_page(200);
        assert!(page.contains("Marked as sensitive") && !page.contains(COVER), "{path}: {page}");
    }
    let feed = server.send(TestRequest::get(format!("{profile}/feed.xml"))).text();
    assert!(feed.contains("Look") && !feed.contains("img src"), "{feed}");
}

#[test]
fn blocked_and_muted_accounts_are_listed_in_pages_with_buttons_that_undo_it() {
    let server = shared_server();
    let (reader, mut browser) = signed_in(server, "blocker");
    let others: Vec<_> = (0..21).map(|_| server.new_user("avoided")).collect();
    for (path, verb, button) in [("/settings/blocked", "block", "Unblock"), ("/settings/muted", "mute", "Unmute")] {
        let page = browser.get(path).assert_page(200);
        assert!(page.contains("class=\"empty\"") && page.contains("<a href=\"/settings/blocked\""), "{page}");
        for other in &others {
            let act = format!("{verb} {}", other.id);
            assert_eq!(submit_to(&mut browser, "/i/actions", &[("act", &act)]).status, 303);
        }
        let page = browser.get(path).assert_page(200);
        assert!(page.contains(&others[20].username) && !page.contains(&others[0].username), "{page}");
        let next = page.split("rel=\"next\" href=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
        let older = browser.get(next.as_str());
        assert!(older.text().contains(&others[0].username) && older.text().contains(button), "{}", older.text());
        let act = format!("un{verb} {}", others[0].id);
        let undone = browser.submit(&older, "/i/actions", &[("act", &act)]);
        assert_eq!((undone.status, undone.header("location")), (303, next.as_str()));
        assert!(!browser.get(next).text().contains(&others[0].username));
    }
    let blocked = reader.get(format!("/2/users/{}/blocking", reader.id)).assert_status(200);
    assert_eq!(blocked["meta"]["result_count"], 20);
}

#[test]
fn protected_posts_are_shown_to_followers_only() {
    let server = shared_server();
    let author = server.new_user_with("quiet", &["--protected"]);
    let post = author.publish_text("For friends only");
    let profile = format!("/{}", author.username);
    let (reader, mut browser) = signed_in(server, "friend");
    for mut viewer in [Browser::new(server), Browser::of_someone(server).0] {
        let page = viewer.get(&profile).assert_page(200);
        assert!(page.contains("Only approved followers") && !page.contains("For friends only"), "{page}");
        viewer.get(format!("{profile}/followers")).assert_page(404);
        for post in [&post, "1"] {
            viewer.get(format!("{profile}/status/{post}/quotes")).assert_page(404);
        }
    }
    browser.get(format!("/report?post={post}")).assert_page(404);
    assert_eq!(press(&mut browser, &profile, &format!("follow {}", author.id)), 303);
    assert!(browser.get(&profile).assert_page(200).contains("Cancel request"));
    reader.import_follows(&[&author]);
    assert!(browser.get(&profile).assert_page(200).contains("For friends only"));
}

#[test]
fn muted_accounts_are_missing_from_the_home_timeline_but_not_from_their_profile() {
    let server = shared_server();
    let author = server.new_user("loud");
    author.publish_text("Listen to me");
    let profile = format!("/{}", author.username);
    let (_, mut browser) = signed_in(server, "listener");
    assert_eq!(press(&mut browser, &profile, &format!("follow {}", author.id)), 303);
    assert!(browser.get("/home").assert_page(200).contains("Listen to me"));
    assert_eq!(press(&mut browser, &profile, &format!("mute {}", author.id)), 303);
    assert!(!browser.get("/home").assert_page(200).contains("Listen to me"));
    assert!(browser.get(&profile).assert_page(200).contains("Listen to me"));
}

#[test]
fn unknown_path_is_a_page_for_people_and_a_problem_for_programs() {
    let server = shared_server();
    let mut browser = Browser::new(server);
    let page = browser.get("/nobody_has_this");
    assert_eq!((page.status, page.header("content-type")), (404, "text/html; charset=utf-8"));
    let problem = server.send(TestRequest::get("/nobody_has_this"));
    assert_eq!((problem.status, problem.header("content-type")), (404, "application/problem+json; charset=utf-8"));
}
