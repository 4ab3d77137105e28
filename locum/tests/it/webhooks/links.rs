//! The filtered stream, sent to a webhook.

use std::collections::HashSet;

use serde_json::json;

use super::{hook, server, wait_for};
use crate::harness::{TestRequest, WebhookReceiver, wait_until};

#[test]
fn linked_webhook_receives_matching_posts_also_after_a_crash() {
    let mut server = server(&[]);
    let app = server.new_app("enterprise");
    let receiver = WebhookReceiver::open(&app.secret);
    let id = hook(&server, &app, &receiver);
    let rules = json!({ "add": [{ "value": "cat", "tag": "cats" }, { "value": "dog" }] });
    let request = |request: TestRequest| request.bearer(&app.bearer);
    server.send(request(TestRequest::post("/2/tweets/search/stream/rules").json(&rules))).assert_status(201);
    let path = format!("/2/tweets/search/webhooks/{id}");
    let author = server.new_user("author");
    author.publish_text("a cat before the link");
    let fields = "?post.fields=author_id&expansions=author_id&user.fields=username";
    let created = server.send(request(TestRequest::post(format!("{path}{fields}")))).assert_status(200);
    assert_eq!(created["data"], json!({ "provisioned": true }));
    let links = server.send(request(TestRequest::get("/2/tweets/search/webhooks"))).assert_status(200);
    let link = &links["data"]["links"][0];
    assert_eq!(link["webhook_id"], id.as_str());
    assert_eq!(link["application_id"], app.id.as_str());
    let requested = json!(["post.fields=author_id", "expansions=author_id", "user.fields=username"]);
    assert_eq!(link["fields"], requested);
    // The newer document has no object around the list, and the models of the official SDK reject one.
    let newer = server.send(request(TestRequest::get("/2/posts/search/webhooks"))).assert_status(200);
    assert_eq!(newer["data"], links["data"]["links"]);
    let sdk = TestRequest::get("/2/tweets/search/webhooks").header("user-agent", "xdk-python/0.10.6");
    assert_eq!(server.send(request(sdk)).assert_status(200)["data"], newer["data"]);

    let first = author.publish_text("my cat");
    author.publish_text("my bird");
    wait_for(&receiver, 1);
    // Nothing is lost of what happened just before the end.
    let ids: Vec<String> = (0..5).map(|number| author.publish_text(&format!("dog {number}"))).collect();
    drop(author);
    server.crash_and_restart();
    wait_until("all came, some twice", || {
        let received = receiver.received_requests();
        let ids: HashSet<&str> = received.iter().map(|one| one.header("webhook-id")).collect();
        ids.len() >= 6
    });
    let received = receiver.received_requests();
    let mut came: Vec<String> = Vec::new();
    for one in &received {
        let post = one.json()["data"]["id"].as_str().unwrap().to_owned();
        assert_eq!(one.header("webhook-id"), post);
        if !came.contains(&post) {
            came.push(post);
        }
    }
    assert_eq!(came, [&[first][..], &ids[..]].concat());
    let item = received[0].json();
    assert_eq!(item["data"]["text"], "my cat");
    assert_eq!(item["includes"]["users"][0]["id"], item["data"]["author_id"]);
    assert_eq!(item["matching_rules"][0]["tag"], "cats");
    assert_eq!(item["matching_rules"].as_array().unwrap().len(), 1);
}

#[test]
fn webhook_receives_nothing_after_its_link_is_deleted() {
    let server = server(&[]);
    let app = server.new_app("enterprise");
    let receiver = WebhookReceiver::open(&app.secret);
    let id = hook(&server, &app, &receiver);
    let rules = json!({ "add": [{ "value": "cat", "tag": "cats" }] });
    let request = |request: TestRequest| request.bearer(&app.bearer);
    server.send(request(TestRequest::post("/2/tweets/search/stream/rules").json(&rules))).assert_status(201);
    let path = format!("/2/tweets/search/webhooks/{id}");
    server.send(request(TestRequest::post(&*path))).assert_status(200);
    let author = server.new_user("author");
    author.publish_text("my cat");
    wait_for(&receiver, 1);
    let deleted = server.send(request(TestRequest::delete(&*path))).assert_status(200);
    assert_eq!(deleted["data"], json!({ "deleted": true }));
    server.send(request(TestRequest::delete(&*path))).assert_refused(404, "is not linked");
    receiver.clear_received();
    author.publish_text("a cat too late");
    std::thread::sleep(std::time::Duration::from_millis(500));
    assert!(receiver.received_requests().is_empty());
    wait_until("the link is gone", || {
        let links = server.send(request(TestRequest::get("/2/tweets/search/webhooks"))).assert_status(200);
        links["data"]["links"] == json!([])
    });
}

#[test]
fn webhook_link_needs_a_contract_and_an_own_webhook() {
    let server = server(&[]);
    let (app, large) = (server.new_app("self-serve"), server.new_app("enterprise"));
    let receiver = WebhookReceiver::open(&app.secret);
    let id = hook(&server, &app, &receiver);
    let path = format!("/2/tweets/search/webhooks/{id}");
    server.send(TestRequest::post(&*path).bearer(&app.bearer)).assert_refused(403, "client-forbidden");
    server.send(TestRequest::post(&*path).bearer(&large.bearer)).assert_refused(404, "WebhookIdInvalid");
    let bad = format!("{path}?post.fields=nothing");
    server.send(TestRequest::post(bad).bearer(&large.bearer)).assert_status(400);
}
