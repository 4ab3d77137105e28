//! Streams as a tester sees them, and traffic.

use std::time::Duration;

use crate::harness::{DatabaseEngine, StreamClient, TestRequest, TestServer, shared_server, wait_until};
use crate::pages::browser::Browser;
use serde_json::Value;

const SAMPLE: &str = "/2/posts/sample/stream";

fn list(server: &TestServer) -> Value {
    server.run_cli(&["stream", "list"]).json()
}

#[test]
fn open_stream_is_listed_and_ends_for_the_ordered_reason() {
    let server = TestServer::start(&["--set", "limits.stream_keep_alive=1s"]);
    let mut client = StreamClient::open(&server, SAMPLE, server.env_value("BEARER_TOKEN"));
    let listed = list(&server);
    let open = &listed["open"][0];
    assert_eq!((open["app"].as_str(), open["endpoint"].as_str()), (Some("demo"), Some("sample_stream")), "{listed}");
    let id = open["id"].as_str().unwrap().to_owned();
    wait_until("a keep-alive was sent", || list(&server)["open"][0]["keep_alives"].as_u64() > Some(0));
    assert!(list(&server)["open"][0]["heartbeat_age_ms"].as_u64().unwrap() < 5_000);
    let killed = server.run_cli(&["stream", "kill", &id, "--reason", "operational-disconnect"]).json();
    assert_eq!(killed["ended"], 1);
    assert_eq!(client.disconnect_type(), "OperationalDisconnect");
    let listed = list(&server);
    assert_eq!(listed["open"].as_array().unwrap().len(), 0);
    let ended = &listed["ended"][0];
    assert_eq!((ended["id"].as_str(), ended["reason"].as_str()), (Some(id.as_str()), Some("server_shutdown")));
    let text = server.run_text_cli(&["stream", "list"]);
    assert!(text.contains("sample_stream") && text.contains("server_shutdown"), "{text}");
}

#[test]
fn streams_of_an_app_end_together_and_others_go_on() {
    let server = TestServer::start(&[]);
    let app = server.default_app();
    let mut demo = StreamClient::open(&server, SAMPLE, server.env_value("BEARER_TOKEN"));
    let mut other = StreamClient::open(&server, SAMPLE, &app.bearer);
    assert_eq!(server.run_cli(&["stream", "kill", "--app", "demo"]).json()["ended"], 1);
    assert_eq!(demo.disconnect_type(), "ForceDisconnect");
    other.assert_silent();
    let listed = server.run_cli(&["stream", "list", "--app", "demo"]).json();
    assert_eq!((listed["open"].as_array().unwrap().len(), listed["ended"].as_array().unwrap().len()), (0, 1));
    assert_eq!(server.run_cli(&["stream", "kill", "--all", "--reason", "slow-reader"]).json()["ended"], 1);
    assert_eq!(other.disconnect_type(), "SlowReader");
}

#[test]
fn wrong_stream_commands_name_what_would_be_accepted() {
    let server = shared_server();
    let cases = [
        (&["stream", "kill", "none"][..], 1, "no open connection has the id [none]"),
        (&["stream", "kill", "--app", "none"], 1, "no app matches \\\"none"),
        (&["stream", "kill", "--all", "--app", "demo", "--reason", "x"], 2, "cannot be used with"),
        (&["stream", "kill", "none", "--reason", "boredom"], 2, "available reasons: force-disconnect, operational"),
        (&["stream", "tail", "tea"], 2, "available streams: filtered_stream"),
        (&["stream", "tail", "filtered"], 1, "refused with 409"),
    ];
    for (command, code, words) in cases {
        let refused = server.run_cli(command);
        refused.assert_exit_code(code);
        assert!(refused.stderr.contains(words), "{command:?}: {refused:?}");
    }
}

#[test]
fn tail_prints_messages_of_the_real_stream() {
    // The only engine with further worlds.
    let server = TestServer::start_on_engine(DatabaseEngine::Sqlite, &[]);
    let traffic = TestRequest::post("/control/v1/traffic").json(&serde_json::json!({"rate": 50, "seconds": 60}));
    server.call_control(traffic.clone()).assert_status(200);
    let output = server.run_text_cli(&["stream", "tail", "firehose", "--count", "3"]);
    // The name of a further world's host is not resolved everywhere.
    server.run_cli(&["world", "create", "t1"]).assert_success();
    server.call_control(traffic.header("x-locum-world", "t1")).assert_status(200);
    server.run_cli(&["--world", "t1", "stream", "tail", "firehose", "--count", "1"]).assert_success();
    server.run_cli(&["stream", "tail", "firehose", "--count", "0"]).assert_exit_code(2);
    let lines: Vec<Value> = output.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 3);
    assert!(lines.iter().all(|line| line["data"]["id"].is_string()), "{output}");
    let stopped = server.call_control(TestRequest::delete("/control/v1/traffic")).assert_status(200);
    assert_eq!(stopped["data"]["state"], "stopped");
}

#[test]
fn streams_page_ends_a_stream_and_runs_traffic() {
    let server = TestServer::start(&[]);
    let mut client = StreamClient::open(&server, SAMPLE, server.env_value("BEARER_TOKEN"));
    let mut browser = Browser::new(&server);
    let page = browser.get("/console/streams");
    assert!(page.assert_page(200).contains("sample_stream"), "{}", page.text());
    let id = list(&server)["open"][0]["id"].as_str().unwrap().to_owned();
    let end = [("act", "kill"), ("id", id.as_str()), ("reason", "internal-error")];
    assert_eq!(browser.submit(&page, "/console/streams", &end).status, 303);
    assert_eq!(client.disconnect_type(), "InternalError");
    let page = browser.get("/console/streams");
    assert!(page.text().contains("internal_error"), "{}", page.text());
    let start = [("act", "start_traffic"), ("rate", "20"), ("seconds", "60"), ("seed", "3")];
    assert_eq!(browser.submit(&page, "/console/streams", &start).header("location"), "/console/streams?started");
    let page = browser.get("/console/streams");
    assert!(page.assert_page(200).contains("Stop traffic"), "{}", page.text());
    let stop = [("act", "stop_traffic")];
    assert_eq!(browser.submit(&page, "/console/streams", &stop).header("location"), "/console/streams?stopped");
    let wrong = [("act", "start_traffic"), ("rate", "900"), ("seconds", "60"), ("seed", "3")];
    let refused = browser.submit(&page, "/console/streams", &wrong);
    assert!(refused.assert_page(400).contains("from 1 to 200"), "{}", refused.text());
}

#[test]
fn traffic_uses_every_rule_and_reports_what_was_done() {
    let server = TestServer::start(&[]);
    let mut client =
        StreamClient::open(&server, "/2/posts/firehose/stream?partition=1", server.env_value("BEARER_TOKEN"));
    let report = server.run_cli(&["sim", "traffic", "--rate", "100", "--for", "3s", "--seed", "4"]).json();
    assert_eq!((report["state"].as_str(), report["actions"].as_u64()), (Some("finished"), Some(300)), "{report}");
    let kinds = ["posts", "replies", "quotes", "reposts", "likes"];
    for kind in kinds {
        assert!(report[kind].as_u64().unwrap() > 0, "{kind}: {report}");
    }
    let done: u64 = kinds.iter().map(|kind| report[kind].as_u64().unwrap()).sum();
    assert!(done > 200, "{report}");
    assert!(client.next_within(Duration::from_secs(10)).is_some());
    server.run_cli(&["fsck"]).assert_success();
}

#[test]
fn traffic_of_a_seed_is_the_same_in_equal_worlds() {
    let texts = |seed: &str| {
        let server = TestServer::start(&[]);
        server.run_cli(&["sim", "traffic", "--rate", "100", "--for", "1s", "--seed", seed]).assert_success();
        exported_texts(&server)
    };
    let first = texts("9");
    assert!(first.len() > 20, "{first:?}");
    assert_eq!(first, texts("9"));
    assert_ne!(first, texts("10"));
}

/// Of all posts, in the order of their ids.
fn exported_texts(server: &TestServer) -> Vec<String> {
    let export = server.sibling_path("posts.jsonl");
    server.run_cli(&["export", "--jsonl", export.to_str().unwrap()]).assert_success();
    let lines = std::fs::read_to_string(export).unwrap();
    let lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let posts = lines.filter_map(|line| Some((line["id"].as_str()?.to_owned(), line["text"].as_str()?.to_owned())));
    let mut posts: Vec<(String, String)> = posts.collect();
    posts.sort();
    posts.into_iter().map(|(_, text)| text).collect()
}

#[test]
fn wrong_traffic_is_refused_with_the_bounds() {
    let server = TestServer::start(&[]);
    let cases = [
        (&["sim", "traffic", "--rate", "900"][..], 2, "must have a maximum value of 200"),
        (&["sim", "traffic", "--rate", "0"], 2, "must have a minimum value of 1"),
        (&["sim", "traffic", "--for", "2d"], 2, "from 1s to 24h"),
    ];
    for (command, code, words) in cases {
        let refused = server.run_cli(command);
        refused.assert_exit_code(code);
        assert!(refused.stderr.contains(words), "{command:?}: {refused:?}");
    }
    let start = || TestRequest::post("/control/v1/traffic").json(&serde_json::json!({"rate": 1}));
    server.call_control(start()).assert_status(200);
    let second = server.call_control(start());
    assert_eq!(second.status, 409, "{}", second.text());
    assert!(second.text().contains("stop it first"), "{}", second.text());
}
