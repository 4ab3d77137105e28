//! The world's clock: `locum clock`, the control API and `/console/clock`.

use std::time::Duration;

use base::Time;
use serde_json::{Value, json};

use crate::harness::{DatabaseEngine, DeliveryResponse, TestRequest, TestServer, WebhookReceiver, wait_until};
use crate::pages::browser::Browser;

const DAY: i64 = 86_400_000;

fn time(value: &Value) -> Time {
    Time::parse(value.as_str().unwrap_or_else(|| panic!("{value}"))).unwrap()
}

fn clock(server: &TestServer, args: &[&str]) -> Value {
    server.run_cli(&[&["clock"][..], args].concat()).assert_success().json()
}

fn post(server: &TestServer, text: &str) -> Value {
    let body = json!({ "text": text });
    let request = TestRequest::post("/2/tweets").bearer(server.env_value("USER_TOKEN")).json(&body);
    server.send(request).assert_status(201)["data"].clone()
}

fn read(server: &TestServer, path: &str) -> Value {
    server.send(TestRequest::get(path).bearer(server.env_value("BEARER_TOKEN"))).assert_status(200)
}

#[test]
fn frozen_clock_stands_and_starts_again_where_it_stood() {
    let mut server = TestServer::start(&[]);
    let frozen = clock(&server, &["freeze"]);
    assert_eq!(frozen["mode"], "frozen");
    let mut ids: Vec<i64> = Vec::new();
    for number in 0..3 {
        let id = post(&server, &format!("At one moment {number}"))["id"].as_str().unwrap().to_owned();
        let created = read(&server, &format!("/2/tweets/{id}?tweet.fields=created_at"));
        assert!(time(&created["data"]["created_at"]).ms() - time(&frozen["now"]).ms() < 1_000, "{created}");
        ids.push(id.parse().unwrap());
    }
    assert!(ids.is_sorted_by(|one, other| one < other), "{ids:?}");
    server.stop();
    server.restart();
    let again = clock(&server, &["show"]);
    assert_eq!((&again["mode"], &again["now"]), (&frozen["mode"], &frozen["now"]));
    assert!(server.stdout().contains("\"clock\": \"frozen\"") || server.stdout().contains("clock frozen at"));
    let later: i64 = post(&server, "After the restart")["id"].as_str().unwrap().parse().unwrap();
    assert!(later > ids[2]);
}

#[test]
fn clock_that_is_advanced_meets_what_is_due_at_its_time() {
    let server = TestServer::start(&[]);
    let poll = json!({ "text": "Which?", "poll": { "options": ["Tea", "Coffee"], "duration_minutes": 90 } });
    let request = TestRequest::post("/2/tweets").bearer(server.env_value("USER_TOKEN")).json(&poll);
    let poll = server.send(request).assert_status(201)["data"]["id"].as_str().unwrap().to_owned();
    let start = time(&clock(&server, &["freeze"])["now"]);
    let shown = clock(&server, &["show"]);
    assert!(shown["due"].as_array().unwrap().iter().any(|one| one["what"] == "polls"), "{shown}");
    let moved = clock(&server, &["advance", "8d"]);
    assert_eq!(time(&moved["now"]), start.plus_ms(8 * DAY));
    assert!(moved["report"]["jobs"]["polls"].as_i64().unwrap() > 0, "{moved}");
    assert_eq!(moved["mode"], "frozen");
    let fields = "expansions=attachments.poll_ids&poll.fields=voting_status";
    let closed = read(&server, &format!("/2/tweets/{poll}?{fields}"));
    assert_eq!(closed["includes"]["polls"][0]["voting_status"], "closed");
    // Recent search reaches back seven days.
    let recent = read(&server, "/2/tweets/search/recent?query=Which");
    assert_eq!(recent["meta"]["result_count"], 0, "{recent}");
    let shown = clock(&server, &["show"]);
    assert_eq!(shown["last_report"], moved["report"]);
    server.run_cli(&["fsck"]).assert_success();
}

#[test]
fn statistics_job_is_due_after_a_second_of_the_clock() {
    let server = TestServer::start(&["--world", "ads"]);
    clock(&server, &["freeze"]);
    let (account, token) = (server.env_value("ADS_ACCOUNT_ID"), server.env_value("USER_TOKEN"));
    let funding = server.env_value("ADS_FUNDING_INSTRUMENT_ID");
    let period = "start_time=2026-06-01T00:00:00Z&end_time=2026-06-02T00:00:00Z&granularity=TOTAL";
    let path = format!("/12/stats/jobs/accounts/{account}");
    let entity =
        format!("entity=FUNDING_INSTRUMENT&entity_ids={funding}&placement=ALL_ON_TWITTER&metric_groups=BILLING");
    server.send(TestRequest::post(format!("{path}?{entity}&{period}")).bearer(token)).assert_status(200);
    let due = clock(&server, &["show"])["due"].clone();
    assert!(due.as_array().unwrap().iter().any(|one| one["what"] == "stats_jobs"), "{due}");
    let status = || server.send(TestRequest::get(&path).bearer(token)).assert_status(200)["data"][0]["status"].clone();
    clock(&server, &["advance", "0s"]);
    assert_eq!(status(), "QUEUED");
    clock(&server, &["advance", "1s"]);
    assert_eq!(status(), "SUCCESS");
}

#[test]
fn minted_token_expires_when_the_clock_passes_its_end() {
    let server = TestServer::start(&[]);
    let user = server.new_user("holder");
    clock(&server, &["freeze"]);
    let token = user.new_token(&[]);
    let me = || server.send(TestRequest::get("/2/users/me").bearer(&token)).status;
    clock(&server, &["advance", "1h59m"]);
    assert_eq!(me(), 200);
    clock(&server, &["advance", "2m"]);
    assert_eq!(me(), 401);
}

#[test]
fn clock_moves_only_forward_and_wrong_orders_change_nothing() {
    let server = TestServer::start(&[]);
    let before = clock(&server, &["freeze"]);
    let refused = |args: &[&str], words: &str| {
        let output = server.run_cli(&[&["clock"][..], args].concat());
        assert!(output.assert_exit_code(2).stderr.contains(words), "{output:?}");
    };
    refused(&["set", "2020-01-01T00:00:00Z"], "only moves forward");
    refused(&["freeze", "2020-01-01T00:00:00Z"], "load a snapshot");
    refused(&["set", "2999-01-01T00:00:00Z"], "2080-01-01");
    refused(&["set", "tomorrow"], "2027-01-31T09:00:00Z");
    refused(&["advance", "a week"], "1d12h");
    refused(&["scale", "0"], "0.001");
    for (path, body) in
        [("advance", json!({})), ("set", json!({ "time": 5 })), ("scale", json!({})), ("freeze", json!({ "at": "x" }))]
    {
        let request = TestRequest::post(format!("/control/v1/clock/{path}")).json(&body);
        assert_eq!(server.call_control(request).status, 400, "{path} {body}");
    }
    assert_eq!(clock(&server, &["show"])["now"], before["now"]);
}

#[test]
fn clock_runs_at_another_speed_and_live_again() {
    let server = TestServer::start(&[]);
    assert_eq!(clock(&server, &["show"])["mode"], "live");
    let fast = clock(&server, &["scale", "10000"]);
    assert_eq!(fast["factor"], 10_000.0);
    wait_until("an hour has passed", || {
        time(&clock(&server, &["show"])["now"]).ms() - time(&fast["now"]).ms() > 3_600_000
    });
    let ahead = clock(&server, &["live"]);
    assert_eq!(ahead["mode"], "offset", "{ahead}");
    assert!(ahead["ahead_ms"].as_i64().unwrap() > 3_600_000);
    let moved = clock(&server, &["set", &time(&ahead["now"]).plus_ms(DAY).to_string()]);
    assert_eq!(moved["mode"], "offset");
}

#[test]
fn scaled_clock_goes_on_after_a_restart_and_a_snapshot() {
    let mut server = TestServer::start_on_engine(DatabaseEngine::Sqlite, &[]);
    let fast = time(&clock(&server, &["scale", "10000"])["now"]);
    wait_until("a day has passed", || time(&clock(&server, &["show"])["now"]).ms() - fast.ms() > DAY);
    server.run_cli(&["snapshot", "save", "later"]).assert_success();
    let saved = time(&clock(&server, &["show"])["now"]);
    server.stop();
    server.restart();
    let restarted = clock(&server, &["show"]);
    assert!(time(&restarted["now"]) >= saved, "{restarted} {saved:?}");
    server.run_cli(&["snapshot", "load", "later"]).assert_success();
    let loaded = clock(&server, &["show"]);
    assert!(time(&loaded["now"]).ms() > fast.ms() + DAY, "{loaded} {fast:?}");
}

#[test]
fn posts_have_the_time_of_a_clock_that_went_back_with_a_snapshot() {
    let server = TestServer::start_on_engine(DatabaseEngine::Sqlite, &[]);
    let start = time(&clock(&server, &["freeze"])["now"]);
    server.run_cli(&["snapshot", "save", "start"]).assert_success();
    let first = post(&server, "Now");
    clock(&server, &["advance", "30d"]);
    post(&server, "A month later");
    server.run_cli(&["snapshot", "load", "start"]).assert_success();
    let poll = json!({ "text": "Now", "poll": { "options": ["Tea", "Coffee"], "duration_minutes": 5 } });
    let request = TestRequest::post("/2/tweets").bearer(server.env_value("USER_TOKEN")).json(&poll);
    let again = server.send(request).assert_status(201)["data"].clone();
    assert_ne!(again["id"], first["id"]);
    let id = again["id"].as_str().unwrap();
    let fields = "tweet.fields=created_at&expansions=attachments.poll_ids&poll.fields=end_datetime";
    let found = read(&server, &format!("/2/tweets/{id}?{fields}"));
    assert!(time(&found["data"]["created_at"]).ms() - start.ms() < 1_000, "{found} {start:?}");
    assert_eq!(time(&found["includes"]["polls"][0]["end_datetime"]), start.plus_ms(5 * 60_000));
    // Nor later is an id issued twice.
    server.run_cli(&["snapshot", "load", "start"]).assert_success();
    let last = post(&server, "Now");
    assert!(last["id"] != again["id"] && last["id"] != first["id"], "{last}");
}

#[test]
fn clock_that_is_behind_catches_up_when_it_runs_live() {
    let server = TestServer::start(&["--world-date", "2026-01-10", "--clock", "2026-02-01T00:00:00Z"]);
    let shown = clock(&server, &["show"]);
    assert_eq!((&shown["mode"], &shown["now"]), (&json!("frozen"), &json!("2026-02-01T00:00:00.000Z")));
    let caught_up = clock(&server, &["live"]);
    assert_eq!(caught_up["mode"], "live");
    assert_eq!(caught_up["report"]["from"], "2026-02-01T00:00:00.000Z");
}

/// A webhook of a new app, and its receiver.
fn registered_receiver(server: &TestServer) -> (WebhookReceiver, String) {
    let app = server.new_app("self-serve");
    let receiver = WebhookReceiver::open(&app.secret);
    let body = json!({ "url": receiver.url("/hook") });
    let created = server.send(TestRequest::post("/2/webhooks").bearer(&app.bearer).json(&body)).assert_status(200);
    (receiver, created["data"]["id"].as_str().unwrap().to_owned())
}

fn send_event(server: &TestServer, hook: &str) {
    server.execute_command(&["webhook", "send", hook, "--key", "1"]).unwrap();
}

#[test]
fn failed_webhook_is_sent_again_when_the_clock_reaches_its_retry() {
    let server = TestServer::start(&[]);
    let (receiver, hook) = registered_receiver(&server);
    clock(&server, &["freeze"]);
    receiver.set_delivery_handler(|_| DeliveryResponse::Status(500));
    send_event(&server, &hook);
    wait_until("the first attempt", || receiver.received_requests().len() == 1);
    receiver.set_delivery_handler(|_| DeliveryResponse::Status(200));
    let moved = clock(&server, &["advance", "1h"]);
    assert_eq!(moved["report"]["jobs"]["webhook_deliveries"], 1, "{moved}");
    assert_eq!(receiver.received_requests().len(), 2);
    // The periodic challenge is due after a day at the latest.
    let challenges = receiver.challenge_count();
    clock(&server, &["advance", "2d"]);
    assert!(receiver.challenge_count() > challenges);
}

#[test]
fn second_order_is_refused_while_a_silent_receiver_is_waited_for() {
    let server = TestServer::start(&[]);
    let (receiver, hook) = registered_receiver(&server);
    clock(&server, &["freeze"]);
    receiver.set_delivery_handler(|_| DeliveryResponse::After(Duration::from_secs(8), 200));
    send_event(&server, &hook);
    wait_until("it was sent", || receiver.received_requests().len() == 1);
    std::thread::scope(|threads| {
        let first = threads.spawn(|| clock(&server, &["advance", "1d"]));
        let busy = || server.call_control(TestRequest::post("/control/v1/clock/advance").json(&json!({ "by": "1s" })));
        wait_until("the clock is moved", || clock(&server, &["show"])["moving"] == true);
        assert_eq!(busy().status, 409);
        assert!(server.run_cli(&["clock", "live"]).assert_exit_code(1).stderr.contains("being moved"));
        let moved = first.join().unwrap();
        let notes = moved["report"]["notes"].to_string();
        assert!(notes.contains("did not answer within 2 s"), "{moved}");
        assert!(moved["report"]["duration_ms"].as_i64().unwrap() < 7_000, "{moved}");
    });
}

#[test]
fn thirty_days_pass_within_five_seconds() {
    for world in ["demo", "ads"] {
        let server = TestServer::start(&["--world", world]);
        let moved = clock(&server, &["advance", "30d"]);
        eprintln!("{world}: {}", moved["report"]);
        // Without optimization, and beside other tests.
        let limit = if cfg!(debug_assertions) { 60_000 } else { 5_000 };
        assert!(moved["report"]["duration_ms"].as_i64().unwrap() < limit, "{moved}");
    }
}

#[test]
fn console_page_shows_and_moves_the_clock() {
    let server = TestServer::start(&[]);
    let (mut browser, _) = Browser::of_someone(&server);
    let page = browser.get("/console/clock");
    assert!(page.assert_page(200).contains("The clock is live"), "{}", page.text());
    assert_eq!(browser.submit(&page, "/console/clock", &[("act", "freeze"), ("time", "")]).status, 303);
    let moved = browser.submit(&page, "/console/clock", &[("act", "advance"), ("by", "8d")]);
    assert_eq!(moved.status, 303, "{}", moved.text());
    let page = browser.get(moved.header("location"));
    let text = page.assert_page(200);
    assert!(text.contains("Last movement") && text.contains("frozen at"), "{text}");
    assert!(browser.get("/settings/account").assert_page(200).contains("Clock frozen at"));
    let refused = browser.submit(&page, "/console/clock", &[("act", "set"), ("time", "yesterday")]);
    assert_eq!(refused.status, 400);
    assert!(refused.text().contains("2027-01-31T09:00:00Z"), "{}", refused.text());
}
