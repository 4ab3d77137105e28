//! The filtered stream, sent to a webhook.

use std::collections::HashSet;

use serde_json::json;

use super::{hook, server, wait_for};
use crate::harness::{Ask, Receiver, until};

#[test]
#[expect(clippy::too_many_lines, reason = "one story")]
fn posts_that_match_the_rules_come_to_linked_webhooks_also_after_a_crash() {
    let mut server = server(&[]);
    let app = server.new_app("enterprise");
    let receiver = Receiver::open(&app.secret);
    let id = hook(&server, &app, &receiver);
    let rules = json!({ "add": [{ "value": "cat", "tag": "cats" }, { "value": "dog" }] });
    let ask = |ask: Ask| ask.bearer(&app.bearer);
    server
        .send(ask(Ask::post("/2/tweets/search/stream/rules").json(&rules)))
        .is(201);
    let path = format!("/2/tweets/search/webhooks/{id}");
    let author = server.person("author");
    author.says("a cat before the link");
    let fields = "?post.fields=author_id&expansions=author_id&user.fields=username";
    let made = server
        .send(ask(Ask::post(format!("{path}{fields}"))))
        .is(200);
    assert_eq!(made["data"], json!({ "provisioned": true }));
    let links = server
        .send(ask(Ask::get("/2/tweets/search/webhooks")))
        .is(200);
    let link = &links["data"]["links"][0];
    assert_eq!(link["webhook_id"], id.as_str());
    assert_eq!(link["application_id"], app.id.as_str());
    let asked = json!([
        "post.fields=author_id",
        "expansions=author_id",
        "user.fields=username"
    ]);
    assert_eq!(link["fields"], asked);

    let first = author.says("my cat");
    author.says("my bird");
    wait_for(&receiver, 1);
    // Nothing is lost of what happened just before the end.
    let ids: Vec<String> = (0..5)
        .map(|number| author.says(&format!("dog {number}")))
        .collect();
    let token = author.token.clone();
    drop(author);
    server.crash();
    until("all came, some twice", || {
        let heard = receiver.heard();
        let ids: HashSet<&str> = heard.iter().map(|one| one.header("webhook-id")).collect();
        ids.len() >= 6
    });
    let heard = receiver.heard();
    let mut came: Vec<String> = Vec::new();
    for one in &heard {
        let post = one.json()["data"]["id"].as_str().unwrap().to_owned();
        assert_eq!(one.header("webhook-id"), post);
        if !came.contains(&post) {
            came.push(post);
        }
    }
    assert_eq!(came, [&[first][..], &ids[..]].concat());
    let item = heard[0].json();
    assert_eq!(item["data"]["text"], "my cat");
    assert_eq!(
        item["includes"]["users"][0]["id"],
        item["data"]["author_id"]
    );
    assert_eq!(item["matching_rules"][0]["tag"], "cats");
    assert_eq!(item["matching_rules"].as_array().unwrap().len(), 1);

    let gone = server.send(ask(Ask::delete(&*path))).is(200);
    assert_eq!(gone["data"], json!({ "deleted": true }));
    server
        .send(ask(Ask::delete(&*path)))
        .no(404, "WebhookIdInvalid");
    receiver.forget();
    let post = Ask::post("/2/posts").json(&json!({ "text": "a cat too late" }));
    server.send(post.bearer(&token)).is(201);
    std::thread::sleep(std::time::Duration::from_millis(500));
    assert!(receiver.heard().is_empty());
    until("the link is gone", || {
        let links = server
            .send(ask(Ask::get("/2/tweets/search/webhooks")))
            .is(200);
        links["data"]["links"] == json!([])
    });
}

#[test]
fn links_are_for_apps_with_a_contract_and_for_their_own_webhooks() {
    let server = server(&[]);
    let (app, large) = (server.new_app("self-serve"), server.new_app("enterprise"));
    let receiver = Receiver::open(&app.secret);
    let id = hook(&server, &app, &receiver);
    let path = format!("/2/tweets/search/webhooks/{id}");
    server
        .send(Ask::post(&*path).bearer(&app.bearer))
        .no(403, "client-forbidden");
    server
        .send(Ask::post(&*path).bearer(&large.bearer))
        .no(404, "WebhookIdInvalid");
    let bad = format!("{path}?post.fields=nothing");
    server.send(Ask::post(bad).bearer(&large.bearer)).is(400);
}
