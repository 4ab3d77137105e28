//! Deliveries: contents, signature and retries.

use std::collections::HashSet;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use super::{came, hook, log, register, send, server, wait_for};
use crate::harness::{
    DeliveryResponse, TestApp, TestRequest, TestResponse, TestServer, WebhookReceiver, assert_one_is_faster,
    hmac_sha256, wait_until,
};

#[test]
fn deliveries_are_signed_and_arrive_in_order() {
    let server = server(&[]);
    let app = server.new_app("self-serve");
    let receiver = WebhookReceiver::open(&app.secret);
    let id = hook(&server, &app, &receiver);
    let (one, other) = (send(&server, &id, 30, 1), send(&server, &id, 30, 2));
    wait_for(&receiver, 60);
    let received = receiver.received_requests();
    assert_eq!(received.len(), 60);
    for delivery in &received {
        assert_eq!(delivery.method, "POST");
        assert_eq!(delivery.target, "/hook");
        assert_eq!(delivery.header("content-type"), "application/json");
        let expected = hmac_sha256(&app.secret, &delivery.body);
        assert_eq!(delivery.header("x-twitter-webhooks-signature"), expected);
        assert_eq!(delivery.header("webhook-attempt"), "1");
        assert_eq!(delivery.json()["test_event"]["id"], delivery.header("webhook-id"));
    }
    let all = came(&receiver);
    for ids in [one, other] {
        let mine: Vec<&String> = all.iter().filter(|id| ids.contains(id)).collect();
        assert_eq!(mine, ids.iter().collect::<Vec<_>>());
    }
    // A new secret signs what comes after it.
    let rotated = server.run_cli(&["app", "rotate", &app.id, "api"]).json();
    let secret = rotated["api_secret"].as_str().unwrap();
    receiver.clear_received();
    send(&server, &id, 1, 1);
    wait_for(&receiver, 1);
    let last = &receiver.received_requests()[0];
    assert_eq!(last.header("x-twitter-webhooks-signature"), hmac_sha256(secret, &last.body));
}

#[test]
fn failed_delivery_is_retried_byte_for_byte() {
    let server = server(&[]);
    let app = server.new_app("self-serve");
    let receiver = WebhookReceiver::open(&app.secret);
    let elsewhere = WebhookReceiver::open(&app.secret);
    let id = hook(&server, &app, &receiver);
    let (turns, to) = (Arc::new(AtomicUsize::new(0)), elsewhere.url("/"));
    receiver.set_delivery_handler(move |_| match turns.fetch_add(1, Ordering::SeqCst) {
        0 => DeliveryResponse::Status(500),
        1 => DeliveryResponse::With(302, "location", to.clone()),
        2 => DeliveryResponse::Close,
        3 => DeliveryResponse::After(Duration::from_secs(3), 200),
        4 => DeliveryResponse::Status(429),
        5 => DeliveryResponse::Huge,
        _ => DeliveryResponse::Status(204),
    });
    let ids = send(&server, &id, 1, 1);
    wait_for(&receiver, 6);
    let received = receiver.received_requests();
    assert_eq!(came(&receiver), vec![ids[0].clone(); 6]);
    assert_eq!(elsewhere.received_requests().len() + elsewhere.challenge_count(), 0, "a redirect was followed");
    for (number, delivery) in received[..6].iter().enumerate() {
        assert_eq!(delivery.body, received[0].body);
        assert_eq!(delivery.header("webhook-attempt"), (number + 1).to_string());
    }
    let noted = |state: &str| {
        let all = log(&server, &id);
        let all = all["deliveries"].as_array().unwrap().clone();
        all.iter().filter(|one| one["state"] == state).count()
    };
    wait_until("all is noted", || noted("delivered") == 1);
    let all = log(&server, &id);
    let first = &all["deliveries"][0];
    let statuses = first["attempts"].as_array().unwrap().iter().rev();
    let statuses: Vec<i64> = statuses.map(|one| one["status"].as_i64().unwrap()).collect();
    assert_eq!(statuses, [500, 302, 0, 0, 429, 200]);
    assert_eq!(first["tries"], 6);
    // Once more, because somebody wants it so.
    server.execute_command(&["webhook", "resend", &id, &first["delivery"].to_string()]).unwrap();
    wait_for(&receiver, 7);
    let last = receiver.received_requests().pop().unwrap();
    assert_eq!((last.header("webhook-id"), &last.body), (ids[0].as_str(), &received[0].body));
}

#[test]
fn delivery_is_abandoned_after_its_last_attempt_and_can_be_resent() {
    let server = server(&["--set", "webhooks.retry=50ms,50ms"]);
    let app = server.new_app("self-serve");
    let receiver = WebhookReceiver::open(&app.secret);
    let id = hook(&server, &app, &receiver);
    receiver.set_delivery_handler(|_| DeliveryResponse::Status(500));
    send(&server, &id, 2, 1);
    let states = || {
        let all = log(&server, &id);
        let all = all["deliveries"].as_array().unwrap().clone();
        all.iter().map(|one| one["state"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    wait_until("both are given up", || states() == ["given-up", "given-up"]);
    assert_eq!(receiver.received_requests().len(), 6);
    receiver.set_delivery_handler(|_| DeliveryResponse::Status(200));
    let number = log(&server, &id)["deliveries"][1]["delivery"].to_string();
    server.execute_command(&["webhook", "resend", &id, &number]).unwrap();
    wait_for(&receiver, 7);
}

#[test]
fn hanging_receiver_delays_no_other() {
    let server = server(&[]);
    let app = server.new_app("self-serve");
    let hanging = WebhookReceiver::open(&app.secret);
    let refusing = TcpListener::bind("127.0.0.1:0").unwrap();
    let deleted = WebhookReceiver::from_listener(refusing, &app.secret);
    hanging.set_delivery_handler(|_| DeliveryResponse::After(Duration::from_secs(30), 200));
    deleted.set_delivery_handler(|_| DeliveryResponse::Close);
    let (slow, broken) = (hook(&server, &app, &hanging), hook(&server, &app, &deleted));
    let good = WebhookReceiver::open(&app.secret);
    let quick = hook(&server, &app, &good);
    for key in 0..30 {
        send(&server, &slow, 5, key);
        send(&server, &broken, 5, key);
    }
    wait_until("they are tried", || !hanging.received_requests().is_empty() && !deleted.received_requests().is_empty());
    let mut count = 0;
    assert_one_is_faster(Duration::from_millis(1500), || {
        let start = base::clock::monotonic_now();
        for key in 0..10 {
            send(&server, &quick, 10, key);
        }
        count += 100;
        wait_for(&good, count);
        start.elapsed()
    });
    assert!(hanging.received_requests().len() <= 16, "one that does not answer is not flooded");
}

/// A webhook that received twelve events an hour ago and three now.
struct PastEvents {
    server: TestServer,
    app: TestApp,
    receiver: WebhookReceiver,
    id: String,
    /// The events of an hour ago.
    ids: Vec<String>,
}

impl PastEvents {
    fn new() -> Self {
        let mut server = server(&[]);
        let app = server.new_app("self-serve");
        let receiver = WebhookReceiver::open(&app.secret);
        let id = hook(&server, &app, &receiver);
        let mut ids = Vec::new();
        for key in [3, 1, 2] {
            ids.extend(send(&server, &id, 4, key));
        }
        wait_for(&receiver, 12);
        wait_until("all is noted", || {
            let all = log(&server, &id);
            let all = all["deliveries"].as_array().unwrap().clone();
            all.iter().all(|one| one["state"] == "delivered")
        });
        // An hour goes by; then more happens.
        server.stop();
        server.run_sql("UPDATE delivery SET at = at - 3600000");
        server.restart();
        send(&server, &id, 3, 1);
        wait_for(&receiver, 15);
        receiver.clear_received();
        Self { server, app, receiver, id, ids }
    }

    fn replay(&self, from: &str, to: &str) -> TestResponse {
        let body = json!({ "webhook_id": self.id, "from_date": from, "to_date": to });
        self.server.send(TestRequest::post("/2/webhooks/replay").json(&body).bearer(&self.app.bearer))
    }
}

/// A minute of the past as requests name it.
fn minute(ago: i64) -> String {
    let text = base::clock::wall_time().plus_ms(-ago * 60_000).to_string();
    let digits = text.chars().filter(char::is_ascii_digit);
    digits.take(12).collect()
}

#[test]
fn invalid_time_span_of_a_replay_is_refused() {
    let server = server(&[]);
    let app = server.new_app("self-serve");
    let receiver = WebhookReceiver::open(&app.secret);
    let id = hook(&server, &app, &receiver);
    let past = PastEvents { server, app, receiver, id, ids: Vec::new() };
    for (from, to) in [
        (minute(1500), minute(30)),
        (minute(20), minute(11)),
        (minute(90), minute(5)),
        (minute(40), minute(50)),
        (minute(40), minute(40)),
        ("202613010000".to_owned(), minute(30)),
        ("yesterday".to_owned(), minute(30)),
        (minute(60)[..8].to_owned(), minute(30)),
        (minute(-100), minute(-50)),
    ] {
        past.replay(&from, &to).assert_refused(400, "QueryParamInvalid");
    }
    let unknown = json!({ "webhook_id": "7", "from_date": minute(70), "to_date": minute(50) });
    let request = TestRequest::post("/2/webhooks/replay").json(&unknown).bearer(&past.app.bearer);
    past.server.send(request).assert_refused(404, "WebhookIdInvalid");
}

#[test]
fn replay_sends_past_events_in_order_and_reports_its_completion() {
    let past = PastEvents::new();
    let PastEvents { app, receiver, id, ids, .. } = &past;
    receiver.set_delivery_handler(|_| DeliveryResponse::After(Duration::from_millis(30), 200));
    let begun = past.replay(&minute(70), &minute(50)).assert_status(200);
    let job = begun["data"]["job_id"].as_str().unwrap().to_owned();
    past.replay(&minute(70), &minute(50)).assert_refused(409, "ReplayConflictError");
    wait_for(receiver, 13);
    std::thread::sleep(Duration::from_millis(700));
    let received = receiver.received_requests();
    assert_eq!(came(receiver)[..12], *ids);
    assert_eq!(received.len(), 13);
    for delivery in &received {
        assert_eq!(delivery.header("webhook-replay-id"), job);
        let expected = hmac_sha256(&app.secret, &delivery.body);
        assert_eq!(delivery.header("x-twitter-webhooks-signature"), expected);
    }
    let response = received[12].json();
    let expected = json!({
        "webhook_id": id,
        "job_state": "Complete",
        "job_state_description": "Job completed successfully",
        "job_id": job,
    });
    assert_eq!(response["replay_job_status"], expected);
}

#[test]
fn older_replay_path_takes_its_dates_in_the_query() {
    let past = PastEvents::new();
    let PastEvents { server, app, receiver, id, ids } = &past;
    let (from, to) = (minute(70), minute(50));
    let older = format!("/2/account_activity/replay/webhooks/{id}/subscriptions/all?from_date={from}&to_date={to}");
    let begun = server.send(TestRequest::post(older).bearer(&app.bearer));
    assert_eq!(begun.header("deprecation"), "true");
    let begun = begun.assert_status(200);
    assert!(begun["data"]["job_id"].is_string() && begun["data"]["created_at"].is_string());
    wait_for(receiver, 13);
    assert_eq!(came(receiver)[..12], *ids);
    let path = format!("/2/account_activity/replay/webhooks/{id}/subscriptions/all");
    let request = TestRequest::post(path).json(&json!({}));
    let refused = [server.send(request.clone().bearer(&app.bearer)), server.send(request)];
    for (refused, status) in refused.into_iter().zip([400, 401]) {
        assert_eq!(refused.header("deprecation"), "true", "{status}");
        refused.assert_status(status);
    }
}

#[test]
fn deleted_app_loses_its_webhooks() {
    let server = server(&[]);
    let app = server.new_app("self-serve");
    let receiver = WebhookReceiver::open(&app.secret);
    let id = hook(&server, &app, &receiver);
    register(&server, &app, &receiver.url("/other")).assert_status(200);
    server.run_cli(&["app", "delete", &app.id]).assert_success();
    assert!(server.execute_command(&["webhook", "send", &id]).is_err());
    let all = server.execute_command(&["webhook", "list"]).unwrap();
    assert_eq!(all, Value::Array(Vec::new()));
    let distinct: HashSet<String> = came(&receiver).into_iter().collect();
    assert!(distinct.is_empty());
}

#[test]
fn suspended_app_receives_nothing_until_it_is_restored() {
    let mut server = server(&[]);
    let app = server.new_app("self-serve");
    let receiver = WebhookReceiver::open(&app.secret);
    let id = hook(&server, &app, &receiver);
    receiver.set_delivery_handler(|_| DeliveryResponse::Status(503));
    let mut ids = send(&server, &id, 3, 1);
    wait_for(&receiver, 1);
    let set = |server: &mut TestServer, state: i64| {
        server.stop();
        server.run_sql(&format!("UPDATE app SET state = {state} WHERE id = {}", app.id));
        receiver.clear_received();
        receiver.set_delivery_handler(|_| DeliveryResponse::Status(200));
        server.restart();
    };
    set(&mut server, 1);
    let request = TestRequest::get("/2/webhooks").bearer(&app.bearer);
    server.send(request).assert_problem(403, "client-forbidden");
    let request = TestRequest::get("/1.1/application/rate_limit_status.json").bearer(&app.bearer);
    assert_eq!(server.send(request).assert_status(401)["errors"][0]["code"], 416);
    // Neither what waited nor what comes to it.
    ids.extend(send(&server, &id, 3, 1));
    std::thread::sleep(Duration::from_millis(2500));
    assert_eq!(came(&receiver), Vec::<String>::new());
    set(&mut server, 0);
    wait_for(&receiver, 6);
    assert_eq!(came(&receiver), ids);
}

#[test]
fn stopping_server_finishes_its_deliveries() {
    let mut server = server(&[]);
    let app = server.new_app("self-serve");
    let receiver = WebhookReceiver::open(&app.secret);
    let id = hook(&server, &app, &receiver);
    receiver.set_delivery_handler(|_| DeliveryResponse::After(Duration::from_millis(200), 200));
    let ids = send(&server, &id, 12, 1);
    wait_for(&receiver, 2);
    let (code, took) = server.stop();
    assert_eq!(code, Some(0));
    assert!(took < Duration::from_secs(10), "{took:?}");
    let before = came(&receiver);
    server.restart();
    wait_for(&receiver, 12);
    std::thread::sleep(Duration::from_millis(600));
    assert_eq!(came(&receiver), ids, "after {before:?}");
}
