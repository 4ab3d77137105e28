//! A webhook from its registration to its deletion.

use std::time::Duration;

use serde_json::json;

use super::{came, hook, log, register, send, server, wait_for};
use crate::harness::{CrcBehavior, TestRequest, TestServer, WebhookReceiver, hmac_sha256, wait_until};

#[test]
fn webhook_is_registered_after_its_challenge_is_answered() {
    let server = server(&[]);
    let app = server.new_app("self-serve");
    let receiver = WebhookReceiver::open(&app.secret);
    let url = receiver.url("/hook?room=7");
    let elsewhere = receiver.url("/elsewhere");
    for (crc, why) in [
        (CrcBehavior::Wrong, "CrcValidationFailed: The response_token is not"),
        (CrcBehavior::NotJson, "CrcValidationFailed: The answer to the CRC GET request is not JSON"),
        (CrcBehavior::Status(404), "CrcValidationFailed: Non-200 response code"),
        (CrcBehavior::Status(500), "CrcValidationFailed: Non-200 response code"),
        (CrcBehavior::Redirect(elsewhere), "CrcValidationFailed: Redirect"),
        (CrcBehavior::Huge, "CrcValidationFailed: The answer to the CRC GET request is too long"),
        (CrcBehavior::Slow(Duration::from_secs(3)), "CrcValidationFailed: High latency on CRC GET request"),
    ] {
        let before = receiver.challenge_count();
        receiver.set_crc_behavior(crc);
        register(&server, &app, &url).assert_refused(400, why);
        assert_eq!(receiver.challenge_count(), before + 1, "a redirect was followed");
    }
    receiver.set_crc_behavior(CrcBehavior::Wrong);
    let refused = register(&server, &app, &url).assert_status(400).to_string();
    let challenge = receiver.last_challenge();
    let token = challenge.query("crc_token").unwrap();
    for shown in [&token, &hmac_sha256(&app.secret, token.as_bytes()), "sha256=AAAA was received"] {
        assert!(refused.contains(shown), "{refused}");
    }
    let query = challenge.target.split_once('?').unwrap().1;
    assert!(query.starts_with("room=7&crc_token=") && query.contains("&nonce="), "{query}");
    assert_eq!(challenge.header("x-twitter-webhooks-signature"), hmac_sha256(&app.secret, query.as_bytes()));
    register(&server, &app, "http://127.0.0.1:1/")
        .assert_refused(400, "CrcValidationFailed: The CRC GET request failed");
    let list = || server.send(TestRequest::get("/2/webhooks").bearer(&app.bearer)).assert_status(200);
    assert_eq!(list(), json!({ "data": [], "meta": { "result_count": 0 } }));

    receiver.set_crc_behavior(CrcBehavior::Right);
    let created = register(&server, &app, &url).assert_status(200);
    assert_eq!(created["data"]["url"], url);
    assert_eq!(created["data"]["valid"], true);
    assert_eq!(created["id"], created["data"]["id"]);
    let id = created["data"]["id"].as_str().unwrap();
    assert!(id.parse::<u64>().is_ok() && id.len() <= 19);
    assert_eq!(list()["data"], json!([created["data"]]));
    let some = TestRequest::get("/2/webhooks?webhook_config.fields=url").bearer(&app.bearer);
    assert_eq!(server.send(some).assert_status(200)["data"], json!([{ "id": id, "url": url }]));
    register(&server, &app, &url).assert_refused(400, "DuplicateUrlFailed");
    let other = server.new_app("self-serve");
    receiver.set_secret(&other.secret);
    register(&server, &other, &url).assert_status(200);
}

#[test]
fn invalid_receiver_url_or_answer_is_refused() {
    let server = server(&[]);
    let app = server.new_app("self-serve");
    for url in [
        "ftp://example.org/",
        "example.org/hook",
        "https://ada:secret@example.org/",
        "https://169.254.169.254/latest",
        "http://0177.0.0.1/",
        "https://example.org/#a",
        "https://exam ple.org/",
    ] {
        register(&server, &app, url).assert_refused(400, "UrlValidationFailed");
    }
    let long = format!("https://example.org/{}", "a".repeat(181));
    for body in [
        json!({}),
        json!({ "url": "" }),
        json!({ "url": 7 }),
        json!({ "url": null }),
        json!({ "url": long }),
        json!({ "url": "https://example.org/", "secret": "a" }),
    ] {
        let request = TestRequest::post("/2/webhooks").json(&body).bearer(&app.bearer);
        server.send(request).assert_status(400);
    }
    let receiver = WebhookReceiver::open(&app.secret);
    let id = hook(&server, &app, &receiver);
    let other = server.new_app("self-serve");
    for (method, path) in [
        ("PUT", format!("/2/webhooks/{id}")),
        ("DELETE", format!("/2/webhooks/{id}")),
        ("PUT", "/2/webhooks/1".to_owned()),
        ("DELETE", "/2/webhooks/9223372036854775807".to_owned()),
    ] {
        let request = TestRequest::new(method, path).bearer(&other.bearer);
        server.send(request).assert_refused(404, "WebhookIdInvalid");
    }
    for id in ["0x1", "12345678901234567890", "abc", "-1"] {
        let request = TestRequest::delete(format!("/2/webhooks/{id}")).bearer(&app.bearer);
        server.send(request).assert_status(400);
    }
    let owner = server.new_user("ada");
    let request = TestRequest::get("/2/webhooks").bearer(&owner.token);
    server.send(request).assert_status(403);
}

#[test]
fn webhooks_of_an_app_are_limited() {
    let server = TestServer::start(&[]);
    let app = server.new_app("self-serve");
    let receiver = WebhookReceiver::open(&app.secret);
    register(&server, &app, &receiver.url("/1")).assert_status(200);
    register(&server, &app, &receiver.url("/2")).assert_refused(400, "WebhookLimitExceeded");
    let large = server.new_app("enterprise");
    receiver.set_secret(&large.secret);
    for path in ["/1", "/2", "/3"] {
        register(&server, &large, &receiver.url(path)).assert_status(200);
    }
}

#[test]
fn production_server_sends_to_public_https_addresses_only() {
    let server = TestServer::start_network(&[]);
    let app = server.new_app("self-serve");
    for url in [
        "http://example.org/",
        "https://example.org:8443/",
        "https://127.0.0.1/",
        "https://10.0.0.1/",
        "https://[::1]/",
        "https://[::ffff:127.0.0.1]/",
        "https://localhost/",
        "https://2130706433/",
        "https://192.168.0.1/",
    ] {
        register(&server, &app, url).assert_refused(400, "UrlValidationFailed");
    }
    let plain = server.run_cli(&["conf", "check", "--set", "webhooks.allow_http=true"]);
    assert!(plain.stderr.contains("webhooks.danger_targets"), "{}", plain.stderr);
}

#[test]
fn invalid_webhook_receives_nothing_until_it_is_validated() {
    let server = server(&[]);
    let app = server.new_app("self-serve");
    let receiver = WebhookReceiver::open(&app.secret);
    let id = hook(&server, &app, &receiver);
    let put = || {
        let request = TestRequest::new("PUT", format!("/2/webhooks/{id}")).bearer(&app.bearer);
        server.send(request)
    };
    let valid = || {
        let list = server.send(TestRequest::get("/2/webhooks").bearer(&app.bearer)).assert_status(200);
        list["data"][0]["valid"].clone()
    };
    // What may pass changes nothing; what is wrong ends it.
    receiver.set_crc_behavior(CrcBehavior::Status(503));
    put().assert_refused(400, "CrcValidationFailed");
    assert_eq!(valid(), true);
    receiver.set_crc_behavior(CrcBehavior::Wrong);
    put().assert_refused(400, "CrcValidationFailed");
    assert_eq!(valid(), false);
    let ids = send(&server, &id, 5, 1);
    std::thread::sleep(Duration::from_millis(1500));
    assert_eq!(came(&receiver), Vec::<String>::new());
    receiver.set_crc_behavior(CrcBehavior::Right);
    assert_eq!(put().assert_status(200)["data"], json!({ "valid": true, "attempted": true }));
    wait_for(&receiver, 5);
    assert_eq!(came(&receiver), ids);
    let last = &log(&server, &id)["challenges"][0];
    assert_eq!(last["problem"], "");
    assert!(last["answer"].as_str().unwrap().contains(last["expected"].as_str().unwrap()));
}

#[test]
fn deleted_webhook_receives_nothing() {
    let server = server(&[]);
    let app = server.new_app("self-serve");
    let receiver = WebhookReceiver::open(&app.secret);
    for _ in 0..3 {
        let id = hook(&server, &app, &receiver);
        for key in 0..20 {
            send(&server, &id, 20, key);
        }
        wait_until("some came", || !receiver.received_requests().is_empty());
        let request = TestRequest::delete(format!("/2/webhooks/{id}")).bearer(&app.bearer);
        assert_eq!(server.send(request.clone()).assert_status(200), json!({ "data": { "deleted": true } }));
        // A delivery that was under way may still arrive.
        std::thread::sleep(Duration::from_millis(200));
        receiver.clear_received();
        std::thread::sleep(Duration::from_millis(300));
        assert_eq!(came(&receiver), Vec::<String>::new());
        server.send(request).assert_refused(404, "WebhookIdInvalid");
    }
}
