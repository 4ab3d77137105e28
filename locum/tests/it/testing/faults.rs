//! Faults that a tester orders.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use base::clock::monotonic_now;
use serde_json::{Value, json};

use crate::harness::{
    StreamClient, TestApp, TestRequest, TestServer, WebhookReceiver, hmac_sha256, shared_server, wait_until,
};
use crate::webhooks;

fn add_fault(server: &TestServer, args: &[&str]) {
    let mut all = vec!["fault", "add"];
    all.extend(args);
    server.run_cli(&all).assert_success();
}

fn raw_exchange(server: &TestServer, token: &str, path: &str) -> (Vec<u8>, std::io::Result<usize>) {
    let head = format!("GET {path} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer {token}\r\n\r\n");
    raw_bytes_exchange(server, head.as_bytes())
}

fn raw_bytes_exchange(server: &TestServer, request: &[u8]) -> (Vec<u8>, std::io::Result<usize>) {
    let mut socket = TcpStream::connect(server.url.strip_prefix("http://").unwrap()).unwrap();
    socket.write_all(request).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut received = Vec::new();
    let end = socket.read_to_end(&mut received);
    (received, end)
}

#[test]
fn second_request_of_a_route_gets_the_status_in_the_endpoints_format() {
    let server = TestServer::start(&[]);
    let user = server.new_user("faulty");
    add_fault(&server, &["--route", "GET /2/users/me", "--status", "503", "--nth", "2"]);
    user.get("/2/users/me").assert_status(200);
    let refused = user.get("/2/users/me");
    let problem = refused.assert_status(503);
    assert_eq!(problem["status"], 503, "{problem}");
    assert_eq!(refused.header("x-locum-fault"), "f1 status");
    assert_eq!(user.get("/2/users/me").assert_status(200)["data"]["username"], user.username.as_str());
    let rules = server.run_cli(&["fault", "list"]).json();
    assert_eq!((&rules[0]["matched"], &rules[0]["applied"]), (&json!(2), &json!(1)), "{rules}");
    assert_eq!(rules[0]["has_ended"], true);
    add_fault(&server, &["--route", "/1.1/account/verify_credentials.json", "--status", "502"]);
    let legacy = user.send_signed(TestRequest::get("/1.1/account/verify_credentials.json"));
    assert_eq!(legacy.assert_status(502)["errors"][0]["code"], 131);
    server.run_cli(&["fault", "clear"]).assert_success();
    user.send_signed(TestRequest::get("/1.1/account/verify_credentials.json")).assert_status(200);
}

#[test]
fn rate_limit_delay_and_busy_database_answer_as_the_real_ones() {
    let server = TestServer::start(&[]);
    let user = server.new_user("limited");
    add_fault(
        &server,
        &["--effect", "rate-limit", "--reset-seconds", "60", "--user", &format!("@{}", user.username), "--times", "1"],
    );
    let limited = user.get("/2/users/me");
    limited.assert_status(429);
    assert_eq!(limited.header_number("x-rate-limit-remaining"), 0);
    add_fault(&server, &["--effect", "database-busy", "--times", "1"]);
    let busy = user.get("/2/users/me");
    busy.assert_status(503);
    assert_eq!(busy.header("retry-after"), "1");
    add_fault(&server, &["--effect", "delay", "--ms", "400", "--times", "1"]);
    let began = monotonic_now();
    let delayed = user.get("/2/users/me");
    delayed.assert_status(200);
    assert!(began.elapsed() >= Duration::from_millis(400));
    assert_eq!(delayed.header("x-locum-fault"), "f3 delay");
}

#[test]
fn connections_are_reset_truncated_and_dripped() {
    let server = TestServer::start(&[]);
    let user = server.new_user("broken");
    let token = user.new_token(&[]);
    let path = "/2/users/me";
    add_fault(&server, &["--effect", "reset-before-headers", "--times", "1"]);
    let (received, end) = raw_exchange(&server, &token, path);
    assert!(received.is_empty(), "{}", String::from_utf8_lossy(&received));
    assert_eq!(end.unwrap_err().kind(), std::io::ErrorKind::ConnectionReset);
    add_fault(&server, &["--effect", "reset-mid-body", "--bytes", "10", "--times", "1"]);
    let (received, end) = raw_exchange(&server, &token, path);
    let text = String::from_utf8(received).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    assert_eq!(body.len(), 10, "{text}");
    assert!(head.to_lowercase().contains("content-length: "), "{head}");
    assert_eq!(end.unwrap_err().kind(), std::io::ErrorKind::ConnectionReset);
    add_fault(&server, &["--effect", "truncate", "--bytes", "10", "--times", "1"]);
    let (received, end) = raw_exchange(&server, &token, path);
    end.unwrap();
    assert_eq!(String::from_utf8(received).unwrap().split_once("\r\n\r\n").unwrap().1.len(), 10);
    add_fault(&server, &["--effect", "drip", "--chunk-bytes", "20", "--interval-ms", "30", "--times", "1"]);
    let began = monotonic_now();
    let dripped = server.send(TestRequest::get(path).bearer(&token));
    assert_eq!(dripped.assert_status(200)["data"]["username"], user.username.as_str());
    assert!(began.elapsed() >= Duration::from_millis(60));
    add_fault(&server, &["--effect", "bad-json", "--times", "1"]);
    let broken = server.send(TestRequest::get(path).bearer(&token));
    assert!(serde_json::from_str::<Value>(&broken.text()).is_err(), "{}", broken.text());
}

#[test]
fn post_whose_answer_is_lost_is_stored() {
    let server = TestServer::start(&[]);
    let user = server.new_user("unsure");
    let token = user.new_token(&[]);
    add_fault(&server, &["--effect", "lose-response", "--route", "POST /2/tweets", "--times", "1"]);
    let body = json!({ "text": "stored all the same" }).to_string();
    let head = format!(
        "POST /2/tweets HTTP/1.1\r\nhost: a\r\nauthorization: Bearer {token}\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    );
    let (received, end) = raw_bytes_exchange(&server, head.as_bytes());
    assert!(received.is_empty(), "{}", String::from_utf8_lossy(&received));
    assert_eq!(end.unwrap_err().kind(), std::io::ErrorKind::ConnectionReset);
    let posts = user.get(format!("/2/users/{}/tweets", user.id)).assert_status(200);
    assert_eq!(posts["data"][0]["text"], "stored all the same", "{posts}");
    assert_eq!(posts["meta"]["result_count"], 1);
}

#[test]
fn status_has_the_error_format_of_each_interface() {
    let server = TestServer::start(&[]);
    let user = server.new_user("formats");
    let statuses = [
        (
            TestRequest::post("/2/oauth2/token").form("grant_type=client_credentials"),
            "503",
            json!({ "error": "temporarily_unavailable" }),
        ),
        (TestRequest::get("/12/accounts"), "500", json!({ "errors": [{ "code": "INTERNAL_ERROR" }] })),
        (TestRequest::get("/2/tweets/1"), "404", json!({ "status": 404 })),
    ];
    for (request, status, expected) in statuses {
        add_fault(&server, &["--status", status, "--times", "1"]);
        let answer = user.send_signed(request).assert_status(status.parse().unwrap());
        assert!(contains_members(&answer, &expected), "{answer} has not {expected}");
    }
    add_fault(&server, &["--status", "503", "--times", "1"]);
    crate::pages::browser::Browser::new(&server).get("/login").assert_page(200);
    user.get("/2/users/me").assert_status(503);
    add_fault(&server, &["--status", "503", "--route", "GET /login", "--times", "1"]);
    let page = crate::pages::browser::Browser::new(&server).get("/login");
    assert!(page.assert_page(503).contains("<h1>"), "{}", page.text());
}

fn contains_members(answer: &Value, expected: &Value) -> bool {
    match (answer, expected) {
        (Value::Object(answer), Value::Object(expected)) => {
            expected.iter().all(|(name, value)| answer.get(name).is_some_and(|own| contains_members(own, value)))
        }
        (Value::Array(answer), Value::Array(expected)) => {
            answer.len() == expected.len()
                && answer.iter().zip(expected).all(|(own, value)| contains_members(own, value))
        }
        _ => answer == expected,
    }
}

#[test]
fn stream_of_an_http2_connection_is_reset() {
    let server = TestServer::start(&[]);
    let url = format!("{}/2/users/me", server.url);
    let header = format!("authorization: Bearer {}", server.new_user("h2").new_token(&[]));
    let args = ["--http2-prior-knowledge", "-sS", "-H", &header, &url];
    let curl = || std::process::Command::new("curl").args(args).output().unwrap();
    for effect in ["reset-before-headers", "reset-mid-body"] {
        add_fault(&server, &["--effect", effect, "--times", "1"]);
        let reset = curl();
        // CURLE_HTTP2_STREAM
        assert_eq!(reset.status.code(), Some(92), "{effect}: {reset:?}");
    }
    let answered = curl();
    assert!(answered.status.success() && answered.stdout.starts_with(b"{"), "{answered:?}");
}

#[test]
fn tokens_expire_and_are_revoked_when_ordered() {
    let server = TestServer::start(&[]);
    let user = server.new_user("expired");
    for effect in ["expire-token", "revoke-token"] {
        let token = user.new_token(&[]);
        add_fault(&server, &["--effect", effect, "--times", "1"]);
        let get = || server.send(TestRequest::get("/2/users/me").bearer(&token));
        assert!(get().header("x-locum-fault").ends_with(effect));
        assert_eq!(get().status, 401, "{effect}: it is really over");
    }
}

fn watched_stream(server: &TestServer, app: &TestApp, word: &str) -> StreamClient {
    let rules = json!({ "add": [{ "value": word }] });
    let added = TestRequest::post("/2/tweets/search/stream/rules").bearer(&app.bearer).json(&rules);
    server.send(added).assert_status(201);
    StreamClient::open(server, "/2/tweets/search/stream", &app.bearer)
}

#[test]
fn messages_of_streams_are_dropped_doubled_reordered_and_cut_off() {
    let server = TestServer::start(&["--set", "limits.stream_keep_alive=1s"]);
    let (app, author) = (server.new_app("self-serve"), server.new_user("author"));
    let mut stream = watched_stream(&server, &app, "harbour");
    let publish = |number: usize| author.publish_text(&format!("harbour {number}"));
    let next = |stream: &mut StreamClient| stream.next_message()["data"]["text"].as_str().unwrap().to_owned();
    for (effect, nth) in [("drop-events", "1"), ("duplicate-events", "1"), ("reorder-events", "1")] {
        add_fault(&server, &["--effect", effect, "--stream", "filtered_stream", "--app", &app.id, "--nth", nth]);
    }
    for number in 1..=4 {
        publish(number);
    }
    let texts: Vec<String> = (0..4).map(|_| next(&mut stream)).collect();
    assert_eq!(texts, ["harbour 2", "harbour 2", "harbour 4", "harbour 3"]);
    add_fault(&server, &["--effect", "reorder-events", "--times", "1"]);
    publish(5);
    assert_eq!(next(&mut stream), "harbour 5", "alone, it replaces a keep-alive");
    add_fault(&server, &["--effect", "slow-stream", "--ms", "500", "--times", "1"]);
    let began = monotonic_now();
    publish(6);
    assert_eq!(next(&mut stream), "harbour 6");
    assert!(began.elapsed() >= Duration::from_millis(500));
    add_fault(&server, &["--effect", "operational-disconnect", "--times", "1"]);
    publish(7);
    assert_eq!(stream.disconnect_type(), "OperationalDisconnect");
}

#[test]
fn streams_are_refused_kept_silent_and_their_slots_held() {
    let server = TestServer::start(&["--set", "limits.stream_keep_alive=1s"]);
    let app = server.new_app("self-serve");
    add_fault(&server, &["--effect", "too-many-connections", "--nth", "2"]);
    add_fault(&server, &["--effect", "hold-slot", "--seconds", "2", "--times", "1"]);
    add_fault(&server, &["--effect", "no-heartbeat", "--times", "2"]);
    let mut stream = watched_stream(&server, &app, "silence");
    assert!(stream.next_within(Duration::from_millis(2500)).is_none());
    assert_eq!(stream.keep_alives, 0);
    assert!(stream.next_within(Duration::from_secs(2)).is_none());
    assert!(stream.keep_alives > 0);
    drop(stream);
    let connect = || server.send_for_head(TestRequest::get("/2/tweets/search/stream").bearer(&app.bearer));
    assert_eq!(connect(), Some(429), "ordered");
    wait_until("the slot is held", || server.run_cli(&["fault", "list"]).json()[1]["applied"] == 1);
    assert_eq!(connect(), Some(429), "held");
    wait_until("the slot is free", || connect() == Some(200));
}

#[test]
fn deliveries_are_skipped_doubled_reordered_delayed_and_badly_signed() {
    let server = webhooks::server(&[]);
    let app = server.new_app("self-serve");
    let receiver = WebhookReceiver::open(&app.secret);
    let hook = webhooks::hook(&server, &app, &receiver);
    let effects = ["skip-delivery", "duplicate-delivery", "reorder-deliveries", "bad-signature"];
    for effect in effects {
        add_fault(&server, &["--effect", effect, "--webhook", &hook, "--nth", "1"]);
    }
    let send = ["webhook", "send", &hook, "--count", "5", "--key", "1"];
    let events = server.execute_command(&send).unwrap()["events"].clone();
    wait_until("all came", || receiver.received_requests().len() >= 5);
    let received = receiver.received_requests();
    let order: Vec<&str> = received.iter().map(|one| one.header("webhook-id")).collect();
    let event = |index: usize| events[index].as_str().unwrap();
    assert_eq!(order, [event(1), event(1), event(3), event(4), event(2)]);
    let is_signed: Vec<bool> = received
        .iter()
        .map(|one| one.header("x-twitter-webhooks-signature") == hmac_sha256(&app.secret, &one.body))
        .collect();
    assert_eq!(is_signed, [true, true, false, true, true]);
    add_fault(&server, &["--effect", "delay-delivery", "--ms", "600", "--times", "1"]);
    receiver.clear_received();
    let began = monotonic_now();
    server.execute_command(&["webhook", "send", &hook, "--key", "1"]).unwrap();
    wait_until("it came", || receiver.received_requests().len() == 1);
    assert!(began.elapsed() >= Duration::from_millis(600));
    add_fault(&server, &["--effect", "crc-fail", "--app", &app.id, "--times", "1"]);
    let check = || server.send(TestRequest::new("PUT", format!("/2/webhooks/{hook}")).bearer(&app.bearer));
    let failed = check();
    assert!(failed.text().contains("The injected fault f6 made the challenge fail."), "{}", failed.text());
    check().assert_status(200);
}

#[test]
fn half_of_an_ads_batch_fails_and_nothing_is_saved() {
    let ads = crate::ads::Advertiser::new();
    let server = shared_server();
    let create = |name: &str| {
        json!({ "operation_type": "Create", "params": {
            "name": name, "funding_instrument_id": ads.instrument, "daily_budget_amount_local_micro": 10_000_000,
        } })
    };
    let rule = ["fault", "add", "--id", "half", "--effect", "batch-partial", "--account", &ads.account, "--times", "1"];
    server.run_cli(&rule).assert_success();
    let batch = json!([create("One"), create("Two")]);
    let refused = ads.batch("campaigns", &batch).assert_status(400);
    assert_eq!(refused["operation_errors"][0], json!([]), "{refused}");
    assert_eq!(refused["operation_errors"][1][0]["code"], "INTERNAL_ERROR");
    server.run_cli(&["fault", "rm", "half"]).assert_success();
    ads.batch("campaigns", &batch).assert_status(200);
}

#[test]
fn stats_job_is_shown_as_processing() {
    let ads = crate::ads::Advertiser::new();
    let (server, line_item) = (shared_server(), ads.campaign());
    let path = format!("/12/stats/jobs/accounts/{}", ads.account);
    let params = [
        ("entity", "CAMPAIGN"),
        ("entity_ids", line_item.as_str()),
        ("start_time", "2026-06-01T00:00:00Z"),
        ("end_time", "2026-06-02T00:00:00Z"),
        ("granularity", "TOTAL"),
        ("placement", "ALL_ON_TWITTER"),
        ("metric_groups", "ENGAGEMENT"),
    ];
    crate::ads::send(&ads.person, "POST", &path, &params).assert_status(200);
    let list = || crate::ads::send(&ads.person, "GET", &path, &[]).assert_status(200)["data"][0].clone();
    wait_until("the job ended", || list()["status"] == "SUCCESS");
    let rule = ["fault", "add", "--id", "stuck", "--effect", "async-job-stuck", "--account", &ads.account];
    server.run_cli(&rule).assert_success();
    let stuck = list();
    server.run_cli(&["fault", "rm", "stuck"]).assert_success();
    assert_eq!((&stuck["status"], &stuck["url"]), (&json!("PROCESSING"), &Value::Null));
    assert_eq!(list()["status"], "SUCCESS");
}

#[test]
fn campaigns_are_shown_as_not_servable_while_a_rule_holds() {
    let ads = crate::ads::Advertiser::new();
    let server = shared_server();
    ads.line_item(&ads.campaign());
    let first = || ads.get("/campaigns", &[])["data"][0].clone();
    let before = first();
    let rule = ["fault", "add", "--id", "broke", "--effect", "servable-false", "--account", &ads.account];
    server.run_cli(&rule).assert_success();
    let shown = first();
    server.run_cli(&["fault", "rm", "broke"]).assert_success();
    assert_eq!(shown["servable"], json!(false), "{before}");
    assert_eq!(shown["reasons_not_servable"], json!(["FUNDING_PROBLEM"]), "{before}");
    assert_ne!(shown["effective_status"], "RUNNING", "{before}");
    assert_eq!((&shown["id"], &first()), (&before["id"], &before));
}

#[test]
fn one_user_of_an_audience_is_not_counted_but_stored() {
    let ads = crate::ads::Advertiser::new();
    let server = shared_server();
    let audience = ads.make("/custom_audiences", &[("name", "Counted")]);
    let path = format!("/12/accounts/{}/custom_audiences/{audience}/users", ads.account);
    let rule = ["fault", "add", "--id", "one", "--effect", "count-mismatch", "--account", &ads.account];
    server.run_cli(&rule).assert_success();
    let users = json!([{ "operation_type": "Update", "params": { "users": [
        { "email": ["973dfe463ec85785f5f95af5ba3906eedb2d931c24e69824a89ea65dba4e813b"] },
        { "email": ["7b0b4c0f6d3a5e1f2b8c9d0e1f2a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c"] },
    ] } }]);
    let counted = ads.person.send_signed(TestRequest::post(path).json(&users)).assert_status(200);
    server.run_cli(&["fault", "rm", "one"]).assert_success();
    assert_eq!(counted["data"], json!({ "success_count": 1, "total_count": 2 }));
}

#[test]
fn same_requests_meet_the_same_faults_on_another_server() {
    let statuses = || {
        let server = TestServer::start(&[]);
        let user = server.new_user("repeated");
        add_fault(&server, &["--status", "503", "--route", "GET /2/users/*", "--probability", "0.4"]);
        (0..30).map(|_| user.get("/2/users/me").status).collect::<Vec<_>>()
    };
    let first = statuses();
    assert!(first.contains(&200) && first.contains(&503), "{first:?}");
    assert_eq!(first, statuses());
}

#[test]
fn console_page_adds_removes_and_refuses_rules() {
    let server = TestServer::start(&[]);
    let mut browser = crate::pages::browser::Browser::new(&server);
    let page = browser.get("/console/faults");
    assert!(page.assert_page(200).contains("No rules"));
    let fields = [("do", "add"), ("effect", "status"), ("status", "503"), ("route", "GET /2/users/me")];
    let added = browser.submit(&page, "/console/faults", &fields);
    assert_eq!((added.status, added.header("location")), (303, "/console/faults"));
    let page = browser.get("/console/faults");
    assert!(page.assert_page(200).contains("route: GET /2/users/me"));
    let wrong = [("do", "add"), ("effect", "status"), ("status", "503"), ("route", "/2/nothing")];
    let refused = browser.submit(&page, "/console/faults", &wrong);
    assert!(refused.assert_page(400).contains("No operation has this route"), "{}", refused.text());
    let page = browser.get("/console/faults");
    assert_eq!(browser.submit(&page, "/console/faults", &[("do", "clear")]).status, 303);
    assert!(browser.get("/console/faults").text().contains("No rules"));
}

#[test]
fn wrong_rules_are_refused_and_nothing_is_half_done() {
    let server = shared_server();
    for (args, words) in [
        (&["--effect", "explode"][..], "there is no effect \"explode\"; the effects are: delay"),
        (&["--effect", "drop-events", "--route", "/2/users/me"], "applies to streams, which have no route"),
        (&["--status", "200"], "status must be a whole number from 400 to 599"),
        (&["--status", "503", "--route", "GET /2/user/me"], "no operation has this route"),
        (&["--status", "503", "--app", "no such app"], "there is no app \"no such app\"; there are:"),
        (&["--status", "503", "--user", "@nobody_here"], "there is no user \"@nobody_here\""),
        (
            &["--effect", "drop-events", "--stream", "news"],
            "there is no stream \"news\"; the streams are: filtered_stream",
        ),
        (&["--route", "/2/users/me"], "a rule needs an effect"),
        (&["--status", "503", "--route", "GET /2/users/me", "--method", "POST"], "could never apply: no operation"),
        (&["--effect", "refresh-lost", "--method", "GET"], "no operation with its route and effect has this method"),
        (&["--status", "503", "--route", "/2/users/me", "--account", "abc"], "has an account_id"),
        (&["--effect", "refresh-lost", "--user", "@ada"], "is called with a user's token"),
        (&["--status", "503", "--route", "GET /2/tweets/search/stream", "--user", "@ada"], "with a user's token"),
        (&["--status", "503", "--nth", "2", "--after", "2"], "after leaves out the first 2 matches"),
        (&["--status", "503", "--nth", "3", "--every", "2"], "every leaves match 3 out"),
        (&["--status", "503", "--until", "2020-01-01T00:00:00Z"], "until is over: the world's time is 20"),
        (&["--effect", "bad-signature", "--webhook", "42"], "there is no webhook 42"),
    ] {
        let mut all = vec!["fault", "add"];
        all.extend(args);
        let output = server.run_cli(&all);
        output.assert_exit_code(2);
        let error: Value = serde_json::from_str(&output.stderr).unwrap();
        let message = error["error"]["message"].as_str().unwrap();
        assert!(message.contains(words), "{args:?}: {message}");
    }
    let rules = json!({"rules": [{"effect": "bad-json", "match": {"app": "no such app"}}]});
    let refused = server.call_control(TestRequest::post("/control/v1/faults").json(&rules));
    assert_eq!(refused.assert_status(400)["errors"][0]["parameter"], "rules[0].match.app");
    server.run_cli(&["fault", "rm", "nothing"]).assert_exit_code(1);
    let rules = server.call_control(TestRequest::get("/control/v1/faults")).assert_status(200);
    let apps = rules["data"].as_array().unwrap().iter().filter(|rule| rule["match"]["app"] == "no such app");
    assert_eq!(apps.count(), 0);
}

#[test]
fn file_adds_all_its_rules_or_none() {
    let server = TestServer::start(&[]);
    let file = server.sibling_path("rules.toml");
    let rule = "[[rules]]\nid = \"mine\"\neffect = {name = \"status\", status = 500}\n[rules.match]\nroute = \"/2/tweets/*\"\n";
    std::fs::write(&file, format!("{rule}[[rules]]\neffect = \"explode\"\n")).unwrap();
    let path = file.to_str().unwrap();
    let refused = server.run_cli(&["fault", "run", path]);
    refused.assert_exit_code(2);
    assert!(refused.stderr.contains("rules.toml:6: rule 2: there is no effect"), "{}", refused.stderr);
    assert_eq!(server.run_cli(&["fault", "list"]).json(), json!([]));
    std::fs::write(&file, rule).unwrap();
    assert!(server.run_cli(&["fault", "run", path]).assert_success().stdout.contains("mine"));
    server.run_cli(&["fault", "add", "--status", "503", "--id", "mine"]).assert_exit_code(1);
    let lines = server.sibling_path("rules.jsonl");
    let other = "{\"id\": \"other\", \"effect\": \"bad-json\"}\n\n";
    for (text, code, words) in [
        (format!("{other}{{\"id\": \"mine\", \"effect\": \"bad-json\"}}\n"), 1, ":3: rule 2: a rule mine exists"),
        (
            format!("{other}{{\"match\": {{\"app\": \"nobody\"}}, \"effect\": \"bad-json\"}}\n"),
            2,
            ":3: rule 2: there is no app",
        ),
        (format!("{other}{{\"effect\": \n"), 2, ":3: EOF while parsing"),
        ("\n".to_owned(), 2, "the file has no rules"),
    ] {
        std::fs::write(&lines, &text).unwrap();
        let refused = server.run_cli(&["fault", "run", lines.to_str().unwrap()]);
        refused.assert_exit_code(code);
        assert!(refused.stderr.contains(words), "{text}: {}", refused.stderr);
    }
    std::fs::write(&file, "[[rules]]\neffect = \"bad-json\"\n\n[[rule]]\neffect = \"bad-json\"\n").unwrap();
    let refused = server.run_cli(&["fault", "run", path]);
    refused.assert_exit_code(2);
    assert!(refused.stderr.contains("rules.toml:4: unknown field `rule`"), "{}", refused.stderr);
    server.run_cli(&["fault", "run", "nothing.toml"]).assert_exit_code(1);
    let again = json!({"rules": [{"id": "mine", "effect": "bad-json"}]});
    server.call_control(TestRequest::post("/control/v1/faults").json(&again)).assert_refused(409, "a rule mine exists");
    assert!(server.run_cli(&["fault", "effects"]).assert_success().stdout.contains("refresh-lost"));
}

#[test]
fn production_server_has_no_faults() {
    let network = TestServer::start_network(&[]);
    network.run_cli(&["fault", "add", "--status", "503"]).assert_exit_code(4);
    assert_eq!(network.send(TestRequest::get("/console/faults")).status, 404);
}
