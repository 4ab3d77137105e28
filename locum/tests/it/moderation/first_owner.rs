//! The link that makes someone the first owner.

use serde_json::json;

use crate::harness::{DatabaseEngine, TestServer, suite_engine, wait_until};
use crate::pages::browser::Browser;

const PASSWORD: &str = "tr4ms stop here";

/// The path of the last setup link in a text.
fn setup_path(text: &str) -> Option<String> {
    let (_, rest) = text.rsplit_once("/setup?token=")?;
    let token: String = rest.chars().take_while(char::is_ascii_alphanumeric).collect();
    Some(format!("/setup?token={token}"))
}

fn printed_path(server: &TestServer) -> String {
    let text = server.stdout();
    setup_path(&text).unwrap_or_else(|| panic!("no link in {text}"))
}

fn new_path(server: &TestServer) -> String {
    setup_path(server.run_cli(&["role", "setup"]).json()["link"].as_str().unwrap()).unwrap()
}

fn owners(server: &TestServer) -> Vec<String> {
    let roles = server.run_cli(&["role", "list"]).json();
    roles.as_array().unwrap().iter().map(|row| format!("{} {}", row["username"], row["role"])).collect()
}

#[test]
fn operator_of_a_new_network_registers_by_the_printed_link() {
    let mut server = TestServer::start_network(&["--set", "auth.registration=closed"]);
    let old = printed_path(&server);
    server.stop();
    server.restart();
    let path = printed_path(&server);
    let mut browser = Browser::new(&server);
    let page = browser.get(&path);
    assert!(page.assert_page(200).contains("It becomes the owner of this site"));
    let fields = [("name", "Ada"), ("username", "ada"), ("email", "ada@harbour.example"), ("password", PASSWORD)];
    let short =
        browser.submit(&page, "/setup", &[("password", "short"), ("username", "ada"), ("email", "a@b.example")]);
    assert!(short.assert_page(400).contains("at least 8 characters"));
    let mut second = Browser::new(&server);
    let second_page = second.get(&old);
    let done = browser.submit(&short, "/setup", &fields);
    assert_eq!((done.status, done.header("location")), (303, "/admin/site"), "{}", done.text());
    browser.get("/admin/site").assert_page(200);
    assert_eq!(owners(&server), ["\"ada\" \"owner\""]);
    assert_eq!(second.submit(&second_page, "/setup", &[("username", "eve")]).status, 404);
    for path in [&old, &path] {
        second.get(path).assert_page(404);
    }
    let refused = server.run_cli(&["role", "setup"]);
    assert!(refused.stderr.contains("has an owner"), "{refused:?}");
    let kinds = server.run_cli(&["audit", "list"]).json();
    let kinds: Vec<_> = kinds.as_array().unwrap().iter().map(|row| row["kind"].clone()).collect();
    assert!(kinds.contains(&json!("role.grant")) && kinds.contains(&json!("user.join")), "{kinds:?}");
    server.stop();
    server.restart();
    assert_eq!(setup_path(&server.stdout()), None, "there is an owner");
}

#[test]
fn secret_of_a_printed_link_is_in_no_log_and_no_export() {
    let server = TestServer::start_network(&[]);
    let path = printed_path(&server);
    Browser::new(&server).get(&path).assert_page(200);
    let token = path.split_once('=').unwrap().1;
    wait_until("the request is logged", || server.stderr().contains("/setup"));
    assert!(!server.stderr().contains(token), "the log contains it");
    let dumped = server.run_cli(&["export", server.sibling_path("world.jsonl").to_str().unwrap()]);
    dumped.assert_success();
    let text = std::fs::read_to_string(server.sibling_path("world.jsonl")).unwrap();
    assert!(!text.contains(token));
}

#[test]
fn signed_in_person_becomes_the_first_owner_once() {
    let server = TestServer::start(&["--world", "empty"]);
    assert_eq!(setup_path(&server.stdout()), None, "a development server prints none");
    let path = new_path(&server);
    let mut browsers = ["first", "second"].map(|name| {
        let user = server.new_user(name);
        let mut browser = Browser::new(&server);
        assert_eq!(browser.sign_in(&user.username, "a long secret", "/settings/account").status, 303);
        browser
    });
    let pages = browsers.each_mut().map(|browser| browser.get(&path));
    let statuses = [0, 1].map(|at: usize| browsers[at].submit(&pages[at], "/setup", &[]).status);
    assert_eq!(statuses, [303, 404]);
    browsers[0].get("/admin/site").assert_page(200);
    assert_eq!(owners(&server).len(), 1);
}

#[test]
fn new_link_of_the_operator_ends_earlier_ones() {
    let server = TestServer::start_network(&[]);
    let new = new_path(&server);
    let mut browser = Browser::new(&server);
    assert!(browser.get(printed_path(&server)).assert_page(403).contains("no longer works"));
    browser.get(new).assert_page(200);
    let entries = server.run_cli(&["audit", "list"]).json();
    assert!(entries.as_array().unwrap().iter().any(|entry| entry["kind"] == "role.setup"), "{entries}");
}

#[test]
fn links_of_all_nodes_work_until_there_is_an_owner() {
    if suite_engine() != DatabaseEngine::Postgres {
        return;
    }
    let server = TestServer::start_network(&[]);
    let other = server.start_another_node(2);
    let paths = [printed_path(&server), printed_path(&other)];
    let mut browser = Browser::new(&server);
    let pages = paths.each_ref().map(|path| browser.get(path));
    for page in &pages {
        page.assert_page(200);
    }
    let fields = [("name", "Ada"), ("username", "ada"), ("email", "ada@harbour.example"), ("password", PASSWORD)];
    assert_eq!(browser.submit(&pages[0], "/setup", &fields).status, 303);
    browser.get(&paths[1]).assert_page(404);
}
