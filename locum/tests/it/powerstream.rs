//! The powerstream and what is its own of its rules; the rest is in `stream_rules`.

use serde_json::{Value, json};

use crate::harness::{StreamClient, TestApp, TestRequest, TestResponse, TestServer, shared_server, unique_number};

const RULES: &str = "/2/powerstream/rules";

fn app() -> TestApp {
    shared_server().new_app("enterprise")
}

#[test]
fn self_serve_app_has_no_powerstream() {
    let app = shared_server().new_app("self-serve");
    let required = |response: TestResponse| {
        assert_eq!(kind(&response.assert_status(403)), "client-forbidden");
    };
    required(post(&app, &three_rules()));
    required(shared_server().send(TestRequest::get("/2/powerstream").bearer(&app.bearer)));
    assert_eq!(list(&app), json!([]));
}

fn post(app: &TestApp, body: &Value) -> TestResponse {
    shared_server().send(TestRequest::post(RULES).bearer(&app.bearer).json(body))
}

fn delete(app: &TestApp, body: &Value) -> TestResponse {
    shared_server().send(TestRequest::delete(RULES).bearer(&app.bearer).json(body))
}

#[track_caller]
fn list(app: &TestApp) -> Value {
    let body = shared_server().send(TestRequest::get(RULES).bearer(&app.bearer)).assert_status(200);
    body["data"]["rules"].clone()
}

fn kind(error: &Value) -> &str {
    error["type"].as_str().unwrap().rsplit('/').next().unwrap()
}

fn three_rules() -> Value {
    json!({ "rules": [
        { "value": "cat has:images", "tag": "cats" },
        { "value": "from:someone OR contains:dog" },
        { "value": "\"two words\"", "tag": "cats" },
    ] })
}

#[test]
fn powerstream_rules_are_deleted_by_id_or_by_meaning() {
    let (app, other) = (app(), app());
    let rules = post(&app, &three_rules()).assert_status(201)["data"]["rules"].clone();
    // Another app deletes nothing.
    let ids = json!({ "ids": [rules[0]["id"], rules[1]["id"], rules[0]["id"], "17"] });
    let none = json!({ "data": { "deleted": 0, "not_deleted": 4 } });
    assert_eq!(delete(&other, &ids).assert_status(200), none);
    let values = json!({ "rules": [{ "value": "\"two words\"" }, { "value": "(cat" }] });
    let none = json!({ "data": { "deleted": 0, "not_deleted": 2 } });
    assert_eq!(delete(&other, &values).assert_status(200), none);
    assert_eq!(list(&app), rules);

    let two = json!({ "data": { "deleted": 2, "not_deleted": 2 } });
    assert_eq!(delete(&app, &ids).assert_status(200), two);
    assert_eq!(list(&app), json!([rules[2]]));
    // A value is what it means; the tag does not matter, what is no rule is not there.
    let one = json!({ "data": { "deleted": 1, "not_deleted": 1 } });
    let values = json!({ "rules": [
        { "value": " (\"two words\") ", "tag": "other" },
        { "value": "(cat" },
    ] });
    assert_eq!(delete(&app, &values).assert_status(200), one);
    assert_eq!(list(&app), json!([]));
    post(&app, &three_rules()).assert_status(201);
    assert_eq!(list(&app).as_array().unwrap().len(), 3);
}

#[test]
fn invalid_body_for_powerstream_rules_is_refused() {
    let app = app();
    let rule = json!({ "value": "cat" });
    let many = vec![rule.clone(); 101];
    for body in [json!({ "rules": many }), json!({ "add": [rule] })] {
        post(&app, &body).assert_problem(400, "invalid-request");
    }
    post(&app, &json!({ "rules": [rule] })).assert_status(201);
    for body in [
        json!({}),
        json!({ "ids": [] }),
        json!({ "ids": [7] }),
        json!({ "ids": ["x"] }),
        json!({ "rules": [rule], "ids": ["7"] }),
    ] {
        delete(&app, &body).assert_problem(400, "invalid-request");
    }
    let sentence = "The body must have exactly one of `rules` and `ids`";
    delete(&app, &json!({})).assert_error(400, sentence);
    assert_eq!(list(&app).as_array().unwrap().len(), 1);
}

#[test]
fn powerstream_rules_survive_a_restart_and_are_rate_limited() {
    let mut server = TestServer::start(&["--world", "empty", "--rate-limits", "table"]);
    let app = server.new_app("enterprise");
    let body = json!({ "rules": [{ "value": "cat" }] });
    let added = server.send(TestRequest::post(RULES).bearer(&app.bearer).json(&body));
    let rules = added.assert_status(201)["data"]["rules"].clone();
    assert_eq!(added.header_number("x-rate-limit-limit"), 50);
    server.kill();
    server.restart();
    let get = || server.send(TestRequest::get(RULES).bearer(&app.bearer));
    let first = get();
    assert_eq!(first.assert_status(200)["data"]["rules"], rules);
    // The nodes of a network remember the calls before the restart.
    let left = first.header_number("x-rate-limit-remaining");
    assert!((40..50).contains(&left), "{left}");
    let deleted = server.send(TestRequest::delete(RULES).bearer(&app.bearer).json(&body));
    deleted.assert_status(200);
    assert_eq!(deleted.header_number("x-rate-limit-remaining"), left - 1, "counted together");
    for _ in 1..left {
        get().assert_status(200);
    }
    get().assert_status(429);
}

const STREAM: &str = "/2/powerstream";

/// A word that no other test writes.
fn word() -> String {
    format!("power{}x{}", std::process::id(), unique_number())
}

/// An app with a rule for a word of its own, and the word.
fn watcher() -> (TestApp, String) {
    let (app, word) = (shared_server().new_app("enterprise"), word());
    let part = word.get(2..).unwrap();
    post(&app, &json!({ "rules": [{ "value": format!("contains:{part}") }] })).assert_status(201);
    (app, word)
}

fn open(app: &TestApp, query: &str) -> StreamClient {
    StreamClient::open(shared_server(), &format!("{STREAM}{query}"), &app.bearer)
}

#[test]
fn powerstream_sends_posts_in_the_older_format() {
    let without_rules = shared_server().new_app("enterprise");
    let none = shared_server().send(TestRequest::get(STREAM).bearer(&without_rules.bearer));
    none.assert_problem(409, "streaming-connection");
    let (app, word) = watcher();
    let author = shared_server().new_user("author");
    let mut stream = open(&app, "?localDcOnly=true");
    let head = stream.head.to_lowercase();
    assert!(head.contains("x-powerstream-datacenter: local"), "{head}");
    assert!(head.contains("x-powerstream-localdconly: true"), "{head}");
    let first = stream.next_message();
    assert_eq!(first["type"], "connection_metadata");
    assert_eq!(first["datacenter"], "local");
    assert!(first["timestamp"].as_i64().unwrap() > 1_000_000_000_000);
    let again = shared_server().send(TestRequest::get(STREAM).bearer(&app.bearer));
    again.assert_problem(429, "streaming-connection");
    author.publish_text("nothing that anybody waits for");
    let id = author.publish_text(&format!("here is {word}!"));
    let line = stream.next_message();
    assert_eq!(line.as_array().unwrap().len(), 1, "{line}");
    let shown = &line[0];
    assert_eq!(shown["id_str"], id.as_str());
    assert_eq!(shown["text"], format!("here is {word}!"));
    assert_eq!(shown["user"]["screen_name"], author.username.as_str());
    assert!(shown.get("matching_rules").is_none());
}

#[test]
fn open_powerstream_follows_its_own_rules_until_it_is_disconnected() {
    let (app, word) = watcher();
    let author = shared_server().new_user("author");
    let mut stream = open(&app, "");
    let other = format!("other{word}");
    let rules = json!({ "rules": [{ "value": format!("\"{other}\"") }] });
    post(&app, &rules).assert_status(201);
    author.publish_text(&other);
    assert_eq!(stream.next_message()[0]["text"], other.as_str());
    let filtered = TestRequest::get("/2/tweets/search/stream").bearer(&app.bearer);
    shared_server().send(filtered).assert_problem(409, "streaming-connection");
    let listed = TestRequest::get("/2/connections?endpoints=powerstream").bearer(&app.bearer);
    let listed = shared_server().send(listed).assert_status(200);
    assert_eq!(listed["data"][0]["endpoint_name"], "powerstream");
    let kill = TestRequest::delete("/2/connections/powerstream").bearer(&app.bearer);
    assert_eq!(shared_server().send(kill).assert_status(200)["data"]["successful_kills"], 1);
    assert_eq!(stream.disconnect_type(), "ForceDisconnect");
}

#[test]
fn powerstream_with_backfill_sends_missed_posts_first() {
    let (app, word) = watcher();
    let author = shared_server().new_user("author");
    let mut stream = open(&app, "");
    let id = author.publish_text(&format!("here is {word}!"));
    assert_eq!(stream.next_message()[0]["id_str"], id.as_str());
    let kill = TestRequest::delete("/2/connections/powerstream").bearer(&app.bearer);
    shared_server().send(kill).assert_status(200);
    let missed = author.publish_text(&format!("missed {word}"));
    let mut stream = open(&app, "?backfillMinutes=5");
    let came: Vec<Value> = (0..2).map(|_| stream.next_message()[0]["id_str"].clone()).collect();
    assert_eq!(came[0], id.as_str());
    assert_eq!(came[1], missed.as_str());
    let live = author.publish_text(&format!("live {word}"));
    assert_eq!(stream.next_message()[0]["id_str"], live.as_str());
}

#[test]
fn backfill_of_the_powerstream_needs_valid_parameters() {
    let (app, _) = watcher();
    let refused = |app: &TestApp, query: &str| {
        let request = TestRequest::get(format!("{STREAM}?{query}")).bearer(&app.bearer);
        shared_server().send(request).assert_problem(400, "invalid-request");
    };
    for query in ["backfillMinutes=6", "backfill_minutes=1", "startTime=now", "localDcOnly=2"] {
        refused(&app, query);
    }
    refused(&app, "startTime=2026-01-01T00:00:00Z");
}
