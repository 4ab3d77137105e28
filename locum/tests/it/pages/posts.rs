//! The page of a post, and posts embedded in other sites.

use serde_json::json;

use super::browser::Browser;
use crate::harness::{TestRequest, own_server, percent_encode, shared_server, wait_until};

#[test]
fn permalink_shows_the_post_with_what_belongs_to_it() {
    let server = shared_server();
    let (author, reader) = (server.new_user("permalink"), server.new_user("reader"));
    let post = author.publish_text("Fish & <chips> at https://example.com/menu today");
    let reply = reader.create_post(&json!({ "text": "Yes", "reply": { "in_reply_to_tweet_id": post } }));
    let reply = reply.assert_status(201)["data"]["id"].as_str().unwrap().to_owned();
    let quote = reader.create_post(&json!({ "text": "Look", "quote_tweet_id": post })).assert_status(201);
    let quote = quote["data"]["id"].as_str().unwrap().to_owned();
    let poll = json!({ "text": "Which?", "poll": { "options": ["Tea", "Milk"], "duration_minutes": 60 } });
    let poll = author.create_post(&poll).assert_status(201)["data"]["id"].as_str().unwrap().to_owned();
    let mut browser = Browser::new(server);
    let permalink = format!("/{}/status/{post}", author.username);
    let page = browser.get(&permalink).assert_page(200);
    for shown in
        ["Fish &#38; &#60;chips&#62; at <a ", "><bdi>example.com/menu</bdi></a>", "1 reply", "1 quote", "in_reply_to"]
    {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    assert!(page.contains("application/json+oembed"), "{page}");
    let page = browser.get(format!("/{}/status/{reply}", reader.username)).assert_page(200);
    assert!(page.contains("Replying to") && page.contains(&format!("href=\"{permalink}\"")), "{page}");
    let page = browser.get(format!("/{}/status/{quote}", reader.username)).assert_page(200);
    assert!(page.contains("Quoting") && page.contains("example.com/menu"), "{page}");
    let page = browser.get(format!("/{}/status/{poll}", author.username)).assert_page(200);
    assert!(page.contains("Tea") && page.contains("0% · 0 votes"), "{page}");
    for elsewhere in [format!("/somebody/status/{post}"), format!("/i/web/status/{post}"), format!("/i/status/{post}")]
    {
        let reply = browser.get(&elsewhere);
        assert_eq!((reply.status, reply.header("location")), (303, permalink.as_str()), "{elsewhere}");
    }
    author.delete(format!("/2/posts/{post}")).assert_status(200);
    for gone in [permalink, format!("/i/web/status/{post}"), "/ada/status/7".to_owned()] {
        browser.get(&gone).assert_page(404);
    }
}

#[test]
fn page_of_a_post_counts_as_a_view_of_those_who_are_signed_in() {
    let server = own_server();
    let author = server.new_user("viewed");
    let post = author.publish_text("Who looks?");
    let path = format!("/{}/status/{post}", author.username);
    Browser::new(server).get(&path).assert_page(200);
    let (mut browser, _) = Browser::of_someone(server);
    browser.get(&path).assert_page(200);
    browser.get(&path).assert_page(200);
    let bearer = &server.default_app().bearer;
    wait_until("the view is counted", || {
        let shown = TestRequest::get(format!("/2/posts/{post}?post.fields=public_metrics")).bearer(bearer);
        server.send(shown).assert_status(200)["data"]["public_metrics"]["impression_count"] == 1
    });
}

#[test]
fn protected_post_has_a_page_for_followers_only() {
    let server = shared_server();
    let author = server.new_user("shyly");
    let post = author.publish_text("For friends");
    server.run_cli(&["user", "protect", &author.id]).assert_success();
    let path = format!("/{}/status/{post}", author.username);
    Browser::new(server).get(&path).assert_page(404);
    let mut own = Browser::new(server);
    own.sign_in(&author.username, "a long secret", "/");
    let page = own.get(&path).assert_page(200);
    assert!(!page.contains("oembed"), "{page}");
    let url = format!("{}{path}", server.url);
    let embed = TestRequest::get(format!("/oembed?url={}", percent_encode(&url)));
    server.send(embed).assert_legacy_code(404, 144);
}

#[test]
fn post_is_embedded_in_other_sites() {
    let server = shared_server();
    let author = server.new_user("embedded");
    let post = author.publish_text("Two\nlines & https://example.com/ <b>");
    let url = format!("{}/{}/status/{post}", server.url, author.username);
    let by_url = server.send(TestRequest::get(format!("/oembed?url={}&maxwidth=300", percent_encode(&url))));
    let embed = by_url.assert_status(200);
    assert_eq!((&embed["type"], &embed["version"], &embed["width"]), (&json!("rich"), &json!("1.0"), &json!(300)));
    assert_eq!(embed["url"], url);
    let html = embed["html"].as_str().unwrap();
    assert!(html.contains("Two<br>lines &amp; <a href=\"") && html.contains("&lt;b&gt;"), "{html}");
    assert!(!html.contains("<script"), "{html}");
    let by_id = server.send(TestRequest::get(format!("/1.1/statuses/oembed.json?id={post}"))).assert_status(200);
    assert_eq!(by_id["width"], 550);
    assert_eq!(by_id["html"], embed["html"]);
    for (asked, given) in [("1", 220), ("219", 220), ("550", 550), ("1200", 550)] {
        let path = format!("/oembed?url={}&maxwidth={asked}", percent_encode(&url));
        assert_eq!(server.send(TestRequest::get(path)).assert_status(200)["width"], given, "{asked}");
    }
    server.send(TestRequest::get(format!("/oembed?id={post}&maxwidth=wide"))).assert_legacy_code(400, 44);
    server.send(TestRequest::get(format!("/oembed?id={post}&hide_tweet=1&cms=x"))).assert_status(200);
    let reposter = server.new_user("embedder");
    let reposted = reposter.post(format!("/2/users/{}/retweets", reposter.id), &json!({"tweet_id": post}));
    let repost = reposted.assert_status(200)["data"]["rest_id"].as_str().unwrap().to_owned();
    let of_repost = server.send(TestRequest::get(format!("/1.1/statuses/oembed.json?id={repost}"))).assert_status(200);
    assert_eq!((&of_repost["url"], &of_repost["html"]), (&embed["url"], &embed["html"]), "a repost is its original");
    server.send(TestRequest::get("/oembed")).assert_legacy_code(403, 38);
    server.send(TestRequest::get("/oembed?url=%zz")).assert_legacy_code(400, 44);
    // What others append to a link does not matter, and ids are numbers.
    let profile = format!("/{}", reposter.username);
    server.send(TestRequest::get(format!("{profile}?ref=50%off")).header("accept", "text/html")).assert_page(200);
    let wrong = format!("{profile}/status/abc");
    server.send(TestRequest::get(&wrong).header("accept", "text/html")).assert_page(404);
    server.send(TestRequest::get(&wrong)).assert_problem(404, "about:blank");
    server.send(TestRequest::get("/oembed?url=https%3A%2F%2Fa.example%2F")).assert_legacy_code(400, 44);
    server.send(TestRequest::get("/1.1/statuses/oembed.json?id=7")).assert_legacy_code(404, 144);
}
