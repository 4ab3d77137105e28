//! Pages behind the links of posts, fetched where the operator allows it.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::harness::{TestServer, TestUser, unique_number, wait_until};

const PAGE: &str = "<!doctype html><title>A plain title</title><meta property='og:title' content='The harbour'>\
    <meta property='og:description' content='Boats &amp; nets'><meta property='og:image' content='/boat.png'>\
    <meta property='og:image:width' content=800><meta property='og:image:height' content=600>";

/// Pages on this machine: `/moved` leads to `/page`, and all others are `PAGE`.
struct PageServer {
    port: u16,
    paths: Arc<Mutex<Vec<String>>>,
}

impl PageServer {
    fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let paths = Arc::<Mutex<Vec<String>>>::default();
        let log = Arc::clone(&paths);
        std::thread::spawn(move || {
            for mut stream in listener.incoming().map_while(Result::ok) {
                let lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
                let head: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
                let path = head.first().and_then(|line| line.split(' ').nth(1)).unwrap_or_default().to_owned();
                let head = if path == "/moved" {
                    "302 Found\r\nlocation: /page"
                } else {
                    "200 OK\r\ncontent-type: text/html; charset=utf-8"
                };
                log.lock().unwrap().push(path);
                drop(stream.write_all(format!("HTTP/1.1 {head}\r\nconnection: close\r\n\r\n{PAGE}").as_bytes()));
            }
        });
        Self { port, paths }
    }

    fn url(&self, path: &str) -> String {
        format!("http://pages-of-tests.com:{}{path}", self.port)
    }

    fn count(&self, path: &str) -> usize {
        self.paths.lock().unwrap().iter().filter(|known| *known == path).count()
    }
}

const NAMES: (&str, &str) = ("LOCUM_TEST_RESOLVE", "pages-of-tests.com=127.0.0.1");

fn start(mut server: TestServer) -> TestServer {
    server.set_variable(NAMES.0, NAMES.1);
    server.restart();
    server
}

fn entity(author: &TestUser<'_>, post: &str) -> Value {
    author.fetch_post(post, "entities")["entities"]["urls"][0].clone()
}

/// Waits until a link is known, which a later post's is after those before it.
fn wait_for_link(server: &TestServer, url: &str) -> Value {
    wait_until("the page is known", || server.run_cli(&["link", "show", url]).code == 0);
    server.run_cli(&["link", "show", url]).json()
}

#[test]
fn page_behind_a_new_link_is_described_by_itself() {
    let server = start(TestServer::prepare(&["--set", "links.fetch=true"]));
    let (author, pages) = (server.new_user("author"), PageServer::open());
    let described = pages.url("/described");
    server.run_cli(&["link", "describe", &described, "--title", "By hand"]).assert_success();
    author.publish_text(&format!("One {described}"));
    let hidden = server.new_user_with("hidden", &["--protected"]);
    hidden.publish_text(&format!("Secret {}", pages.url("/secret")));
    let create = ["community", "create", "Behind doors", "--owner", &author.id, "--access", "Closed"];
    let community = server.run_cli(&create).json()["id"].clone();
    let text = format!("For members {}", pages.url("/secret"));
    author.create_post(&json!({ "text": text, "community_id": community })).assert_status(201);
    let post = author.publish_text(&format!("Two {}#part", pages.url("/moved")));
    let page = wait_for_link(&server, &pages.url("/moved"));
    assert_eq!(page["status"], 200, "{page}");
    let found = entity(&author, &post);
    for (name, value) in [
        ("title", json!("The harbour")),
        ("description", json!("Boats & nets")),
        ("unwound_url", json!(pages.url("/page"))),
        ("status", json!(200)),
        ("images", json!([{ "url": pages.url("/boat.png"), "width": 800, "height": 600 }])),
    ] {
        assert_eq!(found[name], value, "{name}: {found}");
    }
    // What is known is not fetched again.
    author.publish_text(&format!("Three {} {}", unique_number(), pages.url("/moved")));
    author.publish_text(&format!("Four {}", pages.url("/last")));
    wait_for_link(&server, &pages.url("/last"));
    assert_eq!(pages.count("/moved"), 1);
    assert_eq!((pages.count("/described"), pages.count("/secret")), (0, 0));
    server.run_cli(&["link", "describe", &pages.url("/moved"), "--title", "By hand"]).assert_success();
    let found = entity(&author, &post);
    assert_eq!((&found["title"], &found["status"]), (&json!("By hand"), &Value::Null));
}

#[test]
fn network_fetches_nothing_by_default_and_no_private_address_ever() {
    let pages = PageServer::open();
    let server = start(TestServer::prepare_network(&[]));
    let author = server.new_user("author");
    author.publish_text(&format!("One {}", pages.url("/page")));
    drop(server);
    let server = start(TestServer::prepare_network(&["--set", "links.fetch=true", "--set", "webhooks.timeout=2s"]));
    let author = server.new_user("author");
    let post = author.publish_text("Two http://pages-of-tests.com/page");
    let page = wait_for_link(&server, "http://pages-of-tests.com/page");
    assert_eq!(page, json!({ "url": "http://pages-of-tests.com/page" }));
    assert_eq!(entity(&author, &post)["title"], Value::Null);
    assert_eq!(pages.paths.lock().unwrap().len(), 0);
}
