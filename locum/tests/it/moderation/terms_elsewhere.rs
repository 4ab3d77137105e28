//! Blocked terms in messages, profiles, lists and registrations, and their page.

use serde_json::json;

use super::{moderate_on, word};
use crate::harness::{TestRequest, TestServer, TestUser};
use crate::pages::browser::Browser;

const PASSWORD: &str = "a long secret";
const TERMS_PATH: &str = "/admin/terms";

fn signed_in<'s>(server: &'s TestServer, name: &str) -> (TestUser<'s>, Browser<'s>) {
    let user = server.new_user(name);
    let mut browser = Browser::new(server);
    assert_eq!(browser.sign_in(&user.username, PASSWORD, "/settings/account").status, 303);
    (user, browser)
}

/// The subjects of open reports, oldest first.
fn reported(server: &TestServer) -> Vec<String> {
    let queue = moderate_on(server, &["queue"]);
    queue.as_array().unwrap().iter().map(|report| report["subject"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn message_with_a_blocked_term_is_refused_and_a_held_one_reported() {
    let server = TestServer::start(&["--world", "empty"]);
    let (author, reader) = (server.new_user("author"), server.new_user("reader"));
    let (bad, odd) = (word(), word());
    moderate_on(&server, &["term", "block", "word", &bad]);
    moderate_on(&server, &["term", "block", "link-host", "spam.example", "--hold"]);
    moderate_on(&server, &["term", "block", "word", &odd, "--hold"]);
    let path = format!("/2/dm_conversations/with/{}/messages", reader.id);
    author.post(&path, &json!({ "text": format!("so {bad}!") })).assert_problem(403, "about:blank");
    author.post(&path, &json!({ "text": format!("{bad}ness") })).assert_status(201);
    assert!(reported(&server).is_empty());
    author.post(&path, &json!({ "text": "see https://www.spam.example/x" })).assert_status(201);
    author.post(&path, &json!({ "text": odd })).assert_status(201);
    assert_eq!(reported(&server), ["message", "message"]);
    let queue = moderate_on(&server, &["queue"]);
    let shown = moderate_on(&server, &["show", queue[1]["id"].as_str().unwrap()]);
    assert!(shown.to_string().contains(&odd), "{shown}");
    moderate_on(&server, &["dismiss", queue[1]["id"].as_str().unwrap()]);
    assert_eq!(reported(&server), ["message"]);
}

#[test]
fn profile_with_a_blocked_term_is_refused_and_a_held_one_reported() {
    let server = TestServer::start(&["--world", "empty"]);
    let (user, mut browser) = signed_in(&server, "author");
    let (bad, odd) = (word(), word());
    let old = format!("old {bad}");
    server.run_cli(&["user", "edit", &user.username, "--description", &old]).assert_success();
    moderate_on(&server, &["term", "block", "word", &bad]);
    moderate_on(&server, &["term", "block", "link-host", "spam.example"]);
    moderate_on(&server, &["term", "block", "word", &odd, "--hold"]);
    let mut save = |name: &str, description: &str, url: &str| {
        let page = browser.get("/settings/profile");
        let fields = [("name", name), ("description", description), ("location", ""), ("url", url)];
        browser.submit(&page, "/settings/profile", &fields)
    };
    let refused = save("Ann", &format!("I sell {bad}"), "");
    assert!(refused.text().contains("a word or a link that is not allowed here"), "{}", refused.text());
    assert_ne!(save("Ann", &old, "https://spam.example/ann").status, 303);
    assert_ne!(save(&format!("{bad} Ann"), &old, "").status, 303);
    assert_eq!(save("Ann", &old, "").status, 303, "what was there before stays");
    assert!(reported(&server).is_empty());
    assert_eq!(save(&odd, "", "").status, 303);
    assert_eq!(reported(&server), ["user"]);
    assert_eq!(user.get("/2/users/me").assert_status(200)["data"]["name"], odd.as_str());
}

#[test]
fn list_with_a_blocked_term_is_refused_and_a_held_one_reported() {
    let server = TestServer::start(&["--world", "empty"]);
    let user = server.new_user("author");
    let (bad, odd) = ("pills", "odd");
    moderate_on(&server, &["term", "block", "word", bad]);
    moderate_on(&server, &["term", "block", "word", odd, "--hold"]);
    let create = |name: &str, description: &str| {
        user.post("/2/lists", &json!({ "name": name, "description": description, "private": true }))
    };
    create("cheap pills", "").assert_problem(403, "about:blank");
    create("cheap", "pills").assert_problem(403, "about:blank");
    let made = create("pillows", "").assert_status(201);
    let path = format!("/2/lists/{}", made["data"]["id"].as_str().unwrap());
    let rename = |name: &str| user.send(TestRequest::new("PUT", &path).json(&json!({ "name": name })));
    rename("pills").assert_problem(403, "about:blank");
    assert!(reported(&server).is_empty());
    rename("odd").assert_status(200);
    assert_eq!(reported(&server), ["list"]);
}

#[test]
fn name_with_a_blocked_term_cannot_register_and_a_held_one_waits() {
    let server = TestServer::start_network(&["--set", "auth.registration=open"]);
    moderate_on(&server, &["term", "block", "word", "pills"]);
    moderate_on(&server, &["term", "block", "word", "odd", "--hold"]);
    let join = |username: &str, name: &str| {
        let mut browser = Browser::new(&server);
        let page = browser.get("/join");
        let email = format!("{username}@mail.example");
        let fields = [("username", username), ("name", name), ("email", &email), ("password", "tr4ms stop here")];
        let answer = browser.submit(&page, "/join", &fields);
        (answer.status, answer.text())
    };
    assert!(join("cheap_pills", "Ann").1.contains("not allowed here"));
    assert!(join("ann", "Cheap Pills").1.contains("not allowed here"));
    assert!(join("ann", "odd Ann").1.contains("waiting for approval"));
    assert_eq!(join("bea", "Bea").0, 303);
}

#[test]
fn admin_blocks_and_unblocks_terms_on_their_page() {
    let server = TestServer::start(&["--world", "empty"]);
    let (admin, mut browser) = signed_in(&server, "admin");
    server.run_cli(&["role", "grant", &admin.username, "admin"]).assert_success();
    let page = browser.get(TERMS_PATH);
    assert!(page.assert_page(200).contains("Nothing is blocked"));
    let mut block = |fields: &[(&str, &str)]| {
        let all = [&[("act", "block"), ("kind", "word")], fields].concat();
        browser.submit(&page, TERMS_PATH, &all)
    };
    assert_eq!(block(&[("term", "Cheap Pills")]).status, 303);
    assert_eq!(block(&[("kind", "email-domain"), ("term", "throwaway.example"), ("hold", "on")]).status, 303);
    let wrong = block(&[("kind", "link-host"), ("term", "no <host>")]);
    assert!(wrong.assert_page(400).contains("[spam.example]"));
    assert_eq!(block(&[("kind", "colour"), ("term", "red")]).status, 400);
    let listed = json!([
        { "kind": "word", "term": "cheap pills", "hold": false },
        { "kind": "email-domain", "term": "throwaway.example", "hold": true },
    ]);
    assert_eq!(moderate_on(&server, &["term", "list"]), listed);
    let page = browser.get(TERMS_PATH);
    let text = page.assert_page(200);
    assert!(text.contains("cheap pills") && text.contains("Held for a moderator"), "{text}");
    // The first form is that of the word.
    assert_eq!(browser.submit(&page, TERMS_PATH, &[("act", "unblock")]).status, 303);
    assert_eq!(moderate_on(&server, &["term", "list"]).as_array().unwrap().len(), 1);
    assert_eq!(browser.submit(&page, TERMS_PATH, &[("act", "unblock")]).status, 400, "it is unblocked");
    let audit = server.run_cli(&["audit", "list"]).json();
    let changes = audit.as_array().unwrap().iter().filter(|entry| entry["kind"] == "site.update").count();
    assert_eq!(changes, 3, "{audit}");
}
