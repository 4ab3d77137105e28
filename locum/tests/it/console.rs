//! The search console as a browser meets it.

use crate::harness::{StreamClient, TestRequest, TestResponse, TestServer, shared_server, unique_number, wait_until};
use crate::pages::browser::Browser;

fn look(browser: &mut Browser<'_>, query: &str, product: &str, post: &str) -> TestResponse {
    let page = browser.get("/developer/search");
    let fields = [("query", query), ("product", product), ("post", post)];
    browser.submit(&page, "/developer/search", &fields)
}

#[test]
fn query_is_explained_and_tested_against_posts() {
    let server = shared_server();
    let author = server.new_user("baker");
    let word = format!("sourdough{}", unique_number());
    let id = author.publish_text(&format!("Fresh {word} & rye at the café #bread"));
    let (mut browser, _) = Browser::of_someone(server);

    let query = format!("({word} OR focaccia) #bread -is:retweet");
    let mut text = String::new();
    // A busy machine indexes later than it answers.
    wait_until("the post is found", || {
        text = look(&mut browser, &query, "recent", "").assert_page(200);
        text.contains("1 post</h2>")
    });
    assert!(text.contains(&format!("<code>{word}</code>")), "{text}");
    assert!(text.contains("any of") && text.contains("a whole hashtag"));
    assert!(text.contains(&format!("Fresh {word} &#38; rye")), "{text}");
    assert!(text.contains("Why it matches"));
    assert!(text.contains("<svg class=\"chart\""), "{text}");
    assert!(text.contains("Searched the last seven days."));

    // What search folds, streams do not.
    let folded = format!("{word} cafe");
    let found = |response: TestResponse| response.assert_page(200).contains(&id);
    assert!(found(look(&mut browser, &folded, "all", "")));
    assert!(!found(look(&mut browser, &folded, "stream", "")));

    let text = look(&mut browser, &format!("{word} has:links"), "recent", &id).assert_page(200);
    assert!(text.contains("The post does not match"));
    let text = look(&mut browser, &query, "recent", &id).assert_page(200);
    assert!(text.contains("The post matches"));
    for unknown in ["7", "x", "9223372036854775808"] {
        let text = look(&mut browser, &query, "recent", unknown).assert_page(404);
        assert!(text.contains("No post visible to you has this ID"));
    }
}

#[test]
fn invalid_query_is_shown_with_the_error_position() {
    let (mut browser, _) = Browser::of_someone(shared_server());
    let text = look(&mut browser, "coffee <tea", "recent", "").assert_page(400);
    assert!(text.contains("no viable alternative at character &#39;&#60;&#39; (at position 8)"));
    assert!(text.contains("coffee <mark>&#60;</mark>tea"), "{text}");
    look(&mut browser, "", "recent", "").assert_page(400);
    look(&mut browser, &"(".repeat(4_000), "all", "").assert_page(400);
    let bio = "bio:coffee";
    look(&mut browser, bio, "recent", "").assert_page(400);
    look(&mut browser, bio, "stream", "").assert_page(200);
    look(&mut browser, bio, "powerstream", "").assert_page(200);
    let hostile = "\"<script>alert(1)</script>\"";
    let text = look(&mut browser, hostile, "recent", "").assert_page(200);
    assert!(!text.contains("<script>"));
}

#[test]
fn console_needs_a_session_and_a_form_token() {
    let server = shared_server();
    let response = server.send(TestRequest::get("/developer/search"));
    assert_eq!((response.status, response.header("location")), (303, "/login?next=%2Fdeveloper%2Fsearch"));
    let (mut browser, _) = Browser::of_someone(server);
    let forged = TestRequest::post("/developer/search").form("csrf=x&query=tea");
    assert_eq!(browser.send(forged).status, 403);
}

#[test]
fn protected_post_cannot_be_tested_against_a_query() {
    let server = shared_server();
    let author = server.new_user_with("quiet", &["--protected"]);
    let id = author.publish_text("For those who follow me");
    let (mut browser, _) = Browser::of_someone(server);
    look(&mut browser, "follow", "recent", &id).assert_page(404);
}

/// A browser in which somebody new is signed in who owns an app; the path of its stream.
fn streamer(server: &TestServer) -> (Browser<'_>, String) {
    let (mut browser, name) = Browser::of_someone(server);
    let created = server.run_cli(&["app", "create", "Streamer", "--owner", &name]);
    let id = created.assert_success().json()["id"].as_str().unwrap().to_owned();
    let path = format!("/developer/apps/{id}/stream");
    assert_eq!(browser.get(&path).status, 200);
    (browser, path)
}

fn rule(browser: &mut Browser<'_>, path: &str, value: &str, what: &str) -> TestResponse {
    let page = browser.get(path);
    let fields = [("value", value), ("tag", "mine"), ("do", what)];
    browser.submit(&page, path, &fields)
}

#[test]
fn rule_is_tried_against_posts_and_added_once() {
    let server = shared_server();
    let author = server.new_user("ferry");
    let word = format!("harbour{}", unique_number());
    author.publish_text(&format!("The {word} is calm"));
    let (mut browser, path) = streamer(server);

    let value = format!("{word} -is:retweet");
    let text = rule(&mut browser, &path, &value, "try").assert_page(200);
    assert!(text.contains(&format!("The {word} is calm")), "{text}");
    assert!(text.contains("0 of 1000 rules"));
    let text = rule(&mut browser, &path, &format!("{word}x"), "try").assert_page(200);
    assert!(text.contains("No matching posts"));

    let page = browser.get(&path);
    for _ in 0..2 {
        let fields = [("value", value.as_str()), ("tag", "mine"), ("do", "add")];
        let response = browser.submit(&page, &path, &fields);
        assert_eq!((response.status, response.header("location")), (303, &*format!("{path}?added")));
    }
    let text = browser.get(format!("{path}?added")).text();
    assert!(text.contains("The rule was added.") && text.contains("1 of 1000 rules"), "{text}");
    let text = rule(&mut browser, &path, &value, "add").assert_page(400);
    assert!(text.contains("The app already has this rule."));
    let text = rule(&mut browser, &path, "has:links", "add").assert_page(400);
    assert!(text.contains("at least one positive, non-stopword clause (at position 1)"));
}

#[test]
fn live_page_is_for_the_owner_of_the_app_whose_rule_can_be_deleted() {
    let server = shared_server();
    let (mut browser, path) = streamer(server);
    let value = format!("harbour{}", unique_number());
    assert_eq!(rule(&mut browser, &path, &value, "add").status, 303);
    let live = browser.get(format!("{path}/live"));
    let text = live.assert_page(200);
    assert!(live.header("content-security-policy").contains("script-src 'self'"));
    let script = text.split_once("<script src=\"").unwrap().1;
    let script = browser.get(script.split_once('"').unwrap().0);
    assert_eq!(script.status, 200);
    assert!(script.header("content-type").starts_with("text/javascript"));
    let page = browser.get(&path);
    assert!(!page.header("content-security-policy").contains("script-src"));
    let strange = TestRequest::get(format!("{path}/events")).header("sec-fetch-site", "cross-site");
    assert_eq!(browser.send(strange).status, 403);
    let away = format!("{path}/delete");
    let response = browser.submit(&page, &away, &[]);
    assert_eq!(response.header("location"), format!("{path}?deleted"));
    assert!(browser.get(&path).text().contains("0 of 1000 rules"));
    for (path, status) in [("/developer/apps/1/stream", 404), (path.as_str(), 200)] {
        assert_eq!(browser.get(path).status, status);
    }
    let (mut other, _) = Browser::of_someone(server);
    assert_eq!(other.get(&path).status, 404);
    let forged = TestRequest::post(&path).form("csrf=x&value=tea&do=add");
    assert_eq!(browser.send(forged).status, 403);
}

/// The stream of a live page.
fn open_events(browser: &Browser<'_>, path: &str) -> StreamClient {
    let pairs = browser.cookies.iter();
    let cookies: Vec<String> = pairs.map(|(name, value)| format!("{name}={value}")).collect();
    let header = format!("cookie: {}\r\nsec-fetch-site: same-origin", cookies.join("; "));
    StreamClient::open_with_header(browser.server, path, &header)
}

#[test]
fn stream_of_a_live_page_ends_with_the_session() {
    let server = shared_server();
    let (mut browser, path) = streamer(server);
    let mut stream = open_events(&browser, &format!("{path}/events"));
    let page = browser.get("/logout");
    assert_eq!(browser.submit(&page, "/logout", &[]).status, 303);
    let (is_whole, last) = stream.wait_for_end();
    assert!(is_whole && last.is_none(), "{last:?}");
}

#[test]
fn live_page_receives_matching_posts() {
    let server = shared_server();
    let author = server.new_user("live");
    let word = format!("tide{}", unique_number());
    let (mut browser, path) = streamer(server);
    assert_eq!(rule(&mut browser, &path, &word, "add").status, 303);
    let events = format!("{path}/events");
    let mut stream = open_events(&browser, &events);
    author.publish_text("Nothing for this one");
    let id = author.publish_text(&format!("The {word} is high"));
    let message = stream.next_message();
    assert_eq!(message["data"]["id"], id.as_str());
    assert_eq!(message["includes"]["users"][0]["username"], author.username.as_str());
    assert_eq!(message["matching_rules"][0]["tag"], "mine");
    // It is the app's own connection.
    let second = browser.get(&events);
    assert_eq!(second.status, 429, "{}", second.text());
    assert!(second.json()["detail"].as_str().unwrap().contains("connections"));
}
