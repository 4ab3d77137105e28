//! What other sites, feed readers and search engines get.

use serde_json::json;

use crate::harness::{TestRequest, TestServer, shared_server};
use crate::pages::browser::Browser;

#[test]
fn posts_of_a_public_profile_are_an_atom_feed() {
    let server = shared_server();
    let author = server.new_user("reporter");
    let post = author.publish_text("Fish & <chips> at https://example.com/menu today");
    let reply = json!({ "text": "A reply of mine", "reply": { "in_reply_to_tweet_id": post } });
    author.create_post(&reply).assert_status(201);
    let path = format!("/{}/feed.xml", author.username);
    let feed = server.send(TestRequest::get(&path));
    assert_eq!(feed.status, 200, "{}", feed.text());
    assert_eq!(feed.header("content-type"), "application/atom+xml; charset=utf-8");
    let text = feed.text();
    let url = format!("{}/{}/status/{post}", server.url, author.username);
    for part in [&format!("<id>{url}</id>"), "<title>Fish &#38; &#60;chips&#62; at", "&#60;a href=&#34;"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("A reply of mine"), "{text}");
    let page = Browser::new(server).get(format!("/{}", author.username)).assert_page(200);
    assert!(page.contains(&format!("type=\"application/atom+xml\" href=\"{}{path}\"", server.url)), "{page}");
    let upper = server.send(TestRequest::get(format!("/{}/feed.xml", author.username.to_uppercase())));
    assert_eq!((upper.status, upper.header("location")), (303, path.as_str()));
    server.run_cli(&["user", "protect", &author.id]).assert_success();
    assert_eq!(server.send(TestRequest::get(&path)).status, 404);
    assert_eq!(server.send(TestRequest::get("/nobody_is_this/feed.xml")).status, 404);
}

#[test]
fn pages_describe_themselves_to_sites_that_link_to_them() {
    let server = shared_server();
    let author = server.new_user("linked");
    let post = author.publish_text("Quotes \" & <tags> are text");
    let mut browser = Browser::new(server);
    let page = browser.get(format!("/{}/status/{post}", author.username)).assert_page(200);
    for part in [
        "property=\"og:type\" content=\"article\"",
        "property=\"og:description\" content=\"Quotes &#34; &#38; &#60;tags&#62; are text\"",
        &format!("property=\"og:url\" content=\"{}/{}/status/{post}\"", server.url, author.username),
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let page = browser.get(format!("/{}", author.username)).assert_page(200);
    assert!(page.contains("property=\"og:type\" content=\"profile\""), "{page}");
}

#[test]
fn search_engines_are_admitted_only_where_the_owners_allow_it() {
    let server = TestServer::start(&[]);
    let (public, hidden) = (server.new_user("public"), server.new_user("hidden"));
    server.run_cli(&["user", "protect", &hidden.id]).assert_success();
    let post = public.publish_text("For everyone");
    let permalink = format!("/{}/status/{post}", public.username);
    let mut browser = Browser::new(&server);
    let noindex = "<meta name=\"robots\" content=\"noindex\">";
    assert_eq!(server.send(TestRequest::get("/robots.txt")).text(), "User-agent: *\nDisallow: /\n");
    assert_eq!(server.send(TestRequest::get("/sitemap.xml")).status, 404);
    assert!(browser.get(&permalink).assert_page(200).contains(noindex));
    server.run_cli(&["site", "set", "indexing", "perhaps"]).assert_refused();
    server.run_cli(&["site", "set", "indexing", "allowed"]).assert_success();
    let robots = server.send(TestRequest::get("/robots.txt")).text();
    assert!(robots.contains("Disallow: /settings/\n") && robots.contains("Sitemap: http"), "{robots}");
    let sitemap = server.send(TestRequest::get("/sitemap.xml")).text();
    assert!(sitemap.contains(&format!("<loc>{}/{}</loc>", server.url, public.username)), "{sitemap}");
    assert!(!sitemap.contains(&hidden.username), "{sitemap}");
    for path in [&permalink, &format!("/{}", public.username)] {
        assert!(!browser.get(path).assert_page(200).contains(noindex), "{path}");
    }
    for path in [&format!("/{}", hidden.username), "/login"] {
        assert!(browser.get(path).assert_page(200).contains(noindex), "{path}");
    }
}

#[test]
fn server_describes_itself_to_programs() {
    let server = TestServer::start(&[]);
    server.run_cli(&["site", "set", "rules", "Be kind."]).assert_success();
    let links = server.send(TestRequest::get("/.well-known/nodeinfo")).assert_status(200);
    let url = links["links"][0]["href"].as_str().unwrap().to_owned();
    let path = url.strip_prefix(&server.url).unwrap();
    let described = server.send(TestRequest::get(path)).assert_status(200);
    assert_eq!(described["version"], "2.1");
    assert_eq!(described["software"]["name"], "locum");
    assert_eq!(described["metadata"]["rules"], "Be kind.");
    assert!(described["openRegistrations"].is_boolean() && described["usage"]["users"].is_object(), "{described}");
}
