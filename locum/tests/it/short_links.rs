//! Short links in posts: where they lead, and which clicks count.

use serde_json::{Value, json};

use crate::harness::{TestRequest, TestServer, TestUser, shared_server};
use crate::pages::browser::Browser;

const BROWSER: &str = "Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101";
const URL: &str = "https://example.com/a?b=1&c=%C3%A9#d";

/// The path of the first link in a post.
fn link_path(reader: &TestUser<'_>, post: &str) -> String {
    let url = first_url(reader, post)["url"].as_str().unwrap().to_owned();
    let (_, code) = url.rsplit_once("/t/").unwrap();
    format!("/t/{code}")
}

fn first_url(reader: &TestUser<'_>, post: &str) -> Value {
    reader.fetch_post(post, "entities")["entities"]["urls"][0].clone()
}

fn follow(browser: &mut Browser<'_>, path: &str) {
    let response = browser.send(TestRequest::get(path).header("user-agent", BROWSER));
    assert_eq!(response.status, 301, "{path}: {}", response.text());
}

fn clicks(author: &TestUser<'_>, post: &str) -> [i64; 3] {
    let shown = author.fetch_post(post, "non_public_metrics,organic_metrics");
    let organic = &shown["organic_metrics"]["url_link_clicks"];
    let all = &shown["non_public_metrics"];
    [organic, &all["url_link_clicks"], &all["engagements"]].map(|count| count.as_i64().unwrap())
}

#[test]
fn short_link_redirects_to_the_written_url() {
    let author = shared_server().new_user("author");
    let created = author.create_post(&json!({ "text": format!("See {URL} now") })).assert_status(201);
    let post = created["data"]["id"].as_str().unwrap();
    let url = first_url(&author, post);
    assert_eq!(created["data"]["text"], format!("See {} now", url["url"].as_str().unwrap()));
    assert_eq!(url["expanded_url"], URL);
    assert_eq!(url["display_url"], "example.com/a?b=1&c=%C3%A9#d");
    let path = link_path(&author, post);
    for method in ["GET", "HEAD"] {
        let response = shared_server().send(TestRequest::new(method, format!("{path}?to=https://evil.example")));
        assert_eq!(response.status, 301, "{method}");
        assert_eq!(response.header("location"), URL);
        assert_eq!(response.header("cache-control"), "private, max-age=300");
        assert_eq!(response.header("referrer-policy"), "no-referrer");
    }
    let mut wrong = path.clone();
    wrong.replace_range(path.len() - 4.., "AAAA");
    for path in [wrong, "/t/x".to_owned(), format!("{path}A")] {
        assert_eq!(shared_server().send(TestRequest::get(path)).status, 404);
    }
    assert_eq!(shared_server().send(TestRequest::post(path)).status, 405);
}

#[test]
fn each_link_of_a_post_has_its_own_short_link() {
    let author = shared_server().new_user("author");
    let post = author.publish_text("https://a.com and docs.rs and https://a.com, http://bücher.com/é");
    let entities = author.fetch_post(&post, "entities")["entities"]["urls"].clone();
    let targets = ["https://a.com", "http://docs.rs", "https://a.com", "http://xn--bcher-kva.com/%C3%A9"];
    for (index, target) in targets.into_iter().enumerate() {
        let url = entities[index]["url"].as_str().unwrap();
        let path = format!("/t/{}", url.rsplit_once('/').unwrap().1);
        let response = shared_server().send(TestRequest::get(path));
        assert_eq!(response.header("location"), target, "{entities}");
    }
}

#[test]
fn short_link_of_a_deleted_post_is_not_found() {
    let author = shared_server().new_user("author");
    let post = author.publish_text(&format!("Soon gone {URL}"));
    let path = link_path(&author, &post);
    author.delete(format!("/2/posts/{post}")).assert_status(200);
    let response = shared_server().send(TestRequest::get(path).header("accept", "text/html"));
    assert_eq!(response.status, 404);
    assert!(response.text().contains("<html"), "{}", response.text());
}

#[test]
fn text_of_a_long_post_links_to_its_page() {
    let author = shared_server().new_user_with("long", &["--subscription-type", "Premium"]);
    let text = format!("{URL} {}the end", "and more words ".repeat(30));
    let post = author.publish_text(&text);
    let shown = author.fetch_post(&post, "entities,note_post");
    let urls = shown["entities"]["urls"].as_array().unwrap();
    let last = urls.last().unwrap()["url"].as_str().unwrap();
    assert!(shown["text"].as_str().unwrap().ends_with(&format!("… {last}")), "{shown}");
    let path = format!("/t/{}", last.rsplit_once("/t/").unwrap().1);
    let response = shared_server().send(TestRequest::get(path));
    assert_eq!(response.status, 301);
    let page = response.header("location");
    assert!(page.ends_with(&format!("/i/web/status/{post}")), "{page}");
    let permalink = format!("/{}/status/{post}", author.username);
    let redirected = shared_server().send(TestRequest::get(format!("/i/web/status/{post}")));
    assert_eq!(redirected.header("location"), permalink);
    let page = shared_server().send(TestRequest::get(permalink));
    assert_eq!(page.status, 200);
    let html = page.text();
    assert!(html.contains("the end") && html.contains("example.com/a?b=1&#38;c=%C3%A9#d</bdi></a>"), "{html}");
    assert!(html.contains(&format!("href=\"{}\"", urls[0]["url"].as_str().unwrap())), "{html}");
}

#[test]
fn page_of_a_post_is_for_those_who_may_see_it() {
    let author = shared_server().new_user_with("shy", &["--protected"]);
    let post = author.publish_text("For friends");
    let page = format!("/i/web/status/{post}");
    assert_eq!(shared_server().send(TestRequest::get(page.clone())).status, 404);
    assert_eq!(shared_server().send(TestRequest::get("/i/web/status/1")).status, 404);
}

#[test]
fn click_counts_once_a_day_for_each_viewer() {
    let author = shared_server().new_user("author");
    let post = author.publish_text(&format!("Read {URL}"));
    let path = link_path(&author, &post);
    let mut browser = Browser::new(shared_server());
    for header in [("user-agent", "LinkBot/2.1"), ("user-agent", ""), ("sec-purpose", "prefetch")] {
        let request = TestRequest::get(path.clone());
        let request = if header.0 == "sec-purpose" { request.header("user-agent", BROWSER) } else { request };
        assert_eq!(browser.send(request.header(header.0, header.1)).status, 301);
    }
    browser.send(TestRequest::new("HEAD", path.clone()).header("user-agent", BROWSER));
    assert_eq!(clicks(&author, &post), [0; 3]);
    follow(&mut browser, &path);
    follow(&mut browser, &path);
    assert_eq!(clicks(&author, &post), [1; 3]);
    let (mut other, _) = Browser::of_someone(shared_server());
    follow(&mut other, &path);
    assert_eq!(clicks(&author, &post), [2; 3]);
    let range = "start_time=2020-01-01T00:00:00Z&end_time=2100-01-01T00:00:00Z&granularity=total";
    let fields = "analytics.fields=url_clicks,engagements";
    let counted = author.get(format!("/2/posts/analytics?ids={post}&{range}&{fields}")).assert_status(200);
    assert_eq!(counted["data"][0]["url_clicks"], 2, "{counted}");
    assert_eq!(counted["data"][0]["engagements"], 2, "{counted}");
}

#[test]
fn host_of_short_links_serves_nothing_else() {
    let server = TestServer::start(&["--world", "empty", "--set", "core.short_link_host=s.example"]);
    let author = server.new_user("author");
    let post = author.publish_text(&format!("Read {URL}"));
    let url = first_url(&author, &post)["url"].as_str().unwrap().to_owned();
    let (host, code) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
    assert!(host.starts_with("s.example:"), "{url}");
    let at_host = |path: &str| server.send(TestRequest::get(path).header("host", host));
    let response = at_host(&format!("/{code}"));
    assert_eq!((response.status, response.header("location")), (301, URL));
    for path in [format!("/t/{code}"), "/".to_owned(), "/login".to_owned(), format!("/2/posts/{post}")] {
        assert_eq!(at_host(&path).status, 404, "{path}");
    }
}
