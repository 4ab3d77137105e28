//! What operators say about the pages that links lead to, as posts and stream rules show it.

use serde_json::{Value, json};

use crate::harness::{StreamClient, shared_server, unique_number};
use crate::streams::add_rules;

fn describe(url: &str, args: &[&str]) -> Value {
    let described = shared_server().run_cli(&[&["link", "describe", url], args].concat());
    described.assert_success();
    described.json()
}

#[test]
fn described_page_is_shown_with_the_links_to_it() {
    let author = shared_server().new_user("author");
    let url = format!("https://news{}.com/a,b?c=1", unique_number());
    let post = author.publish_text(&format!("Look {url}#part"));
    let described = describe(
        &url,
        &[
            "--title",
            "A bridge & a river",
            "--description",
            "It was closed.",
            "--unwound-url",
            "https://www.news.example/final",
            "--status",
            "200",
            "--image",
            "https://news.example/a,1.png,800,600",
        ],
    );
    let image = json!({ "url": "https://news.example/a,1.png", "width": 800, "height": 600 });
    let page = json!({
        "url": url, "title": "A bridge & a river", "description": "It was closed.", "status": 200,
        "unwound_url": "https://www.news.example/final", "images": [image],
    });
    assert_eq!(described, page);
    assert_eq!(shared_server().run_cli(&["link", "show", &url]).json(), page);
    let entity = author.fetch_post(&post, "entities")["entities"]["urls"][0].clone();
    for name in ["title", "description", "status", "unwound_url", "images"] {
        assert_eq!(entity[name], page[name], "{name}: {entity}");
    }
    describe(&url, &["--title", "Another"]);
    let entity = author.fetch_post(&post, "entities")["entities"]["urls"][0].clone();
    assert_eq!(entity["title"], "Another");
    assert!(entity.get("images").is_none() && entity.get("status").is_none(), "{entity}");
}

#[test]
fn file_of_pages_is_imported() {
    let server = shared_server();
    let number = unique_number();
    let path = server.sibling_path(&format!("links-{number}.jsonl"));
    let lines = format!(
        "{}\n\n{}\n",
        json!({ "url": format!("https://one{number}.example"), "title": "One" }),
        json!({ "url": format!("https://two{number}.example/"), "description": "Two" }),
    );
    std::fs::write(&path, &lines).unwrap();
    let imported = server.run_cli(&["link", "import", path.to_str().unwrap()]);
    assert_eq!(imported.json(), json!({ "described": 2 }));
    let shown = server.run_cli(&["link", "show", &format!("https://two{number}.example")]);
    assert_eq!(shown.json()["description"], "Two");
    std::fs::write(&path, "{\"url\":\"https://x.example\",\"titel\":\"\"}\n").unwrap();
    let wrong = server.run_cli(&["link", "import", path.to_str().unwrap()]);
    assert!(wrong.code != 0 && wrong.stderr.contains("line 1"), "{wrong:?}");
    let unknown = server.run_cli(&["link", "show", &format!("https://three{number}.example")]);
    assert!(unknown.code != 0, "{unknown:?}");
}

#[test]
fn stream_rule_matches_the_title_of_a_described_page() {
    let server = shared_server();
    let (app, number) = (server.new_app("enterprise"), unique_number());
    let author = server.new_user("author");
    add_rules(server, &app, &[(&format!("from:{} url_title:lighthouse{number}", author.username), "")]);
    let url = format!("https://tower{number}.com/");
    describe(&url, &["--title", &format!("The Lighthouse{number} again")]);
    let mut stream = StreamClient::open(server, "/2/posts/search/stream", &app.bearer);
    let post = author.publish_text(&format!("Read {url}"));
    assert_eq!(stream.next_message()["data"]["id"], post);
}
