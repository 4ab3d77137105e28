//! What an operator does: start, stop, look, copy, move.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::harness::{
    CommandOutput, DatabaseEngine, TestRequest, TestServer, run_command, shared_server, suite_engine, wait_until,
};

/// Every file of a data folder and its bytes.
fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            found.extend(contents(&path).into_iter().map(|(inner, bytes)| (format!("{name}/{inner}"), bytes)));
        } else if path.is_file() {
            found.insert(name, std::fs::read(&path).unwrap());
        }
    }
    found
}

/// Tries to start a server on a folder that it must refuse.
fn try_start(server: &TestServer) -> CommandOutput {
    let mut args: Vec<String> = ["dev", "--port", "0", "--control-port", "0"].map(str::to_owned).to_vec();
    args.extend(server.location_args());
    run_command(&server.sibling_path(""), &args)
}

/// A start that is refused changes nothing.
fn is_refused(server: &TestServer, code: i32, words: &[&str]) {
    let before = contents(&server.data_dir());
    let ran = try_start(server);
    assert_eq!(ran.code, code, "{ran:?}");
    for word in words {
        assert!(ran.stderr.contains(word), "{word:?} is not in {}", ran.stderr);
    }
    let after = contents(&server.data_dir());
    let changed: Vec<&String> =
        before.keys().chain(after.keys()).filter(|name| before.get(*name) != after.get(*name)).collect();
    assert!(changed.is_empty(), "touched: {changed:?}");
}

#[test]
fn second_process_on_the_same_directory_is_refused() {
    let server = TestServer::start(&["--world", "empty"]);
    let user = server.new_user("first");
    let ran = try_start(&server);
    assert_eq!(ran.code, 3, "{ran:?}");
    assert!(ran.stderr.contains("another process"), "{ran:?}");
    user.get("/2/users/me").assert_status(200);
    server.run_cli(&["user", "list"]).assert_success();
}

/// Whatever still runs when the server is told to stop, such as the search index being built.
#[test]
fn stopped_server_leaves_a_database_without_a_log() {
    if suite_engine() == DatabaseEngine::Postgres {
        return;
    }
    let mut server = TestServer::start(&[]);
    for _ in 0..6 {
        server.stop();
        let files = contents(&server.data_dir());
        let database: Vec<&String> = files.keys().filter(|name| name.starts_with("locum.db")).collect();
        assert_eq!(database, ["locum.db"]);
        server.restart();
    }
}

#[test]
fn wrong_master_key_is_refused_and_nothing_changes() {
    let mut server = TestServer::start(&[]);
    server.stop();
    let key = server.data_dir().join("master.key");
    let own = std::fs::read(&key).unwrap();
    let other = server.sibling_path("other.key");
    let args = ["init", "--base-url", "https://social.example", "--master-key", other.to_str().unwrap()];
    server.run_cli(&args).assert_success();
    std::fs::copy(other, &key).unwrap();
    is_refused(&server, 1, &["master key"]);
    std::fs::write(&key, own).unwrap();
    server.restart();
    server.send(TestRequest::get("/2/users/me").bearer(server.env_value("USER_TOKEN"))).assert_status(200);
}

#[test]
fn newer_schema_is_served_if_it_is_compatible_and_else_refused_and_unchanged() {
    let mut server = TestServer::start(&["--world", "empty"]);
    let author = server.new_user("author").token;
    let known = server.run_cli(&["migrate", "status"]).json().as_array().unwrap().len();
    server.stop();
    server.run_sql("INSERT INTO migration (version, name, checksum, applied_at) VALUES (9999, 'later', 'x', 0)");
    server.restart();
    let text = json!({ "text": "in a newer schema" });
    server.send(TestRequest::post("/2/posts").bearer(&author).json(&text)).assert_status(201);
    server.stop();
    let status = server.run_cli(&["migrate", "status"]).json();
    assert_eq!((status.as_array().unwrap().len(), &status[known]["name"]), (known + 1, &json!("later")));
    let require = |version: usize| {
        server.run_sql(&format!("UPDATE meta SET value = '{version}' WHERE key = 'schema_compatible_from'"));
    };
    require(known + 1);
    is_refused(&server, 1, &["newer", &format!("this one knows {known}")]);
    require(known);
    server.restart();
}

#[test]
fn half_written_database_is_refused_and_kept() {
    if suite_engine() == DatabaseEngine::Postgres {
        return;
    }
    let mut server = TestServer::start(&["--world", "empty"]);
    server.new_user("someone");
    server.stop();
    let path = server.data_dir().join("locum.db");
    let whole = std::fs::read(&path).unwrap();
    for broken in [&whole[..4_000], &[0x5a; 8_192][..]] {
        std::fs::write(&path, broken).unwrap();
        let ran = try_start(&server);
        assert_ne!(ran.code, 0, "{} bytes of it were served", broken.len());
        assert_eq!(std::fs::read(&path).unwrap(), broken);
    }
    std::fs::write(&path, whole).unwrap();
    server.restart();
}

#[test]
fn lost_master_key_is_not_replaced() {
    let mut server = TestServer::start(&["--world", "empty"]);
    server.stop();
    let key = server.data_dir().join("master.key");
    let own = std::fs::read(&key).unwrap();
    std::fs::remove_file(&key).unwrap();
    assert_ne!(try_start(&server).code, 0);
    assert!(!key.exists());
    std::fs::write(&key, own).unwrap();
    server.restart();
}

#[test]
fn signal_drains_requests_and_exits_cleanly() {
    let mut server = TestServer::start(&["--world", "empty", "--set", "listen.shutdown_grace=4s"]);
    let address = server.url.trim_start_matches("http://").to_owned();
    let (code, took) = server.stop();
    assert_eq!(code, Some(0));
    assert!(took < Duration::from_secs(3), "at rest: {took:?}");
    server.restart();
    assert_ne!(server.url.trim_start_matches("http://"), "", "{address}");

    let mut slow = TcpStream::connect(server.url.trim_start_matches("http://")).unwrap();
    let head = "POST /2/tweets HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-www-form-urlencoded\r\n\
                Content-Length: 10\r\n\r\nab";
    slow.write_all(head.as_bytes()).unwrap();
    std::thread::sleep(Duration::from_millis(100));
    let (code, took) = server.stop();
    assert_eq!(code, Some(0), "cut off after the grace");
    assert!(took < Duration::from_secs(10), "{took:?}");
}

#[test]
fn server_that_stops_with_a_delay_answers_meanwhile_and_is_not_ready() {
    let mut server = TestServer::start(&["--world", "empty", "--set", "listen.shutdown_delay=2s"]);
    let begun = base::clock::monotonic_now();
    server.signal(Signal::TERM);
    wait_until("it is not ready", || server.send(TestRequest::get("/readyz")).status == 404);
    assert_eq!(server.send(TestRequest::get("/livez")).status, 200);
    assert_eq!(server.wait_for_exit().0, Some(0));
    let took = begun.elapsed();
    assert!(took >= Duration::from_secs(2) && took < Duration::from_secs(8), "{took:?}");
}

#[test]
fn hangup_ends_a_development_server_and_leaves_a_production_server_running() {
    let mut dev = TestServer::start(&["--world", "empty"]);
    dev.signal(Signal::HUP);
    assert_eq!(dev.wait_for_exit().0, Some(0));
    let serve = TestServer::start_network(&[]);
    serve.signal(Signal::HUP);
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(serve.send(TestRequest::get("/livez")).status, 200);
}

#[test]
fn second_signal_ends_the_server_at_once() {
    let mut server = TestServer::start(&["--world", "empty", "--set", "listen.shutdown_grace=60s"]);
    let mut slow = TcpStream::connect(server.url.trim_start_matches("http://")).unwrap();
    let head = "POST /oauth2/token HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-www-form-urlencoded\r\n\
                Content-Length: 10\r\n\r\nab";
    slow.write_all(head.as_bytes()).unwrap();
    std::thread::sleep(Duration::from_millis(100));
    server.signal(Signal::TERM);
    std::thread::sleep(Duration::from_millis(300));
    let (_, took) = server.stop();
    assert!(took < Duration::from_secs(20), "{took:?}");
}

#[test]
fn health_endpoints_separate_liveness_from_readiness() {
    let server = shared_server();
    for path in ["/livez", "/readyz"] {
        for response in [server.send(TestRequest::get(path)), server.send_control(TestRequest::get(path))] {
            assert_eq!((response.status, response.text().as_str()), (200, "ok\n"), "{path}");
        }
    }
    server.run_cli(&["health"]).assert_success();
    server.run_cli(&["health", "--ready"]).assert_success();
}

#[test]
fn metrics_count_by_route_on_the_control_address_only() {
    let server = TestServer::start(&["--world", "empty"]);
    let user = server.new_user("counted");
    for number in 0..5 {
        user.get(format!("/2/tweets/{}", 1_000 + number)).assert_status(200);
        user.get(format!("/2/nothing/{number}")).assert_status(404);
    }
    assert_eq!(server.send(TestRequest::get("/metrics")).status, 404);
    let response = server.send_control(TestRequest::get("/metrics"));
    assert_eq!(response.status, 200);
    let text = response.text();
    let line = r#"locum_requests_total{route="/2/posts/{id}",method="GET",status="2xx"} 5"#;
    assert!(text.contains(line), "{text}");
    assert!(!text.contains("1000") || !text.contains("/2/tweets/1000"), "{text}");
    assert!(text.ends_with("# EOF\n"));
    let rebound = server.send_control(TestRequest::get("/metrics").header("host", "evil.example"));
    assert_eq!(rebound.status, 403);
}

#[test]
fn panicked_background_task_restarts_while_others_run() {
    let mut server = TestServer::prepare(&["--world", "empty"]);
    server.set_variable("LOCUM_TEST_PANIC_TASK", "search_index:3");
    server.restart();
    let user = server.new_user("steady");
    let post = user.publish_text("a panic about lighthouses");
    let found = || user.get("/2/tweets/search/recent?query=lighthouses").assert_status(200);
    wait_until("the post is found", || found()["data"][0]["id"] == post.as_str());
    let metrics = server.send_control(TestRequest::get("/metrics")).text();
    let restarts = |task: &str| format!(r#"locum_background_task_restarts_total{{task="{task}"}}"#);
    for line in [format!("{} 3", restarts("search_index")), format!("{} 0", restarts("trends"))] {
        assert!(metrics.contains(&line), "no {line} in {metrics}");
    }
    assert_eq!(server.stderr().matches("a background task panicked").count(), 3);
    let (code, took) = server.stop();
    assert_eq!(code, Some(0));
    assert!(took < Duration::from_secs(5), "{took:?}");
}

#[test]
fn control_api_needs_its_token() {
    let server = shared_server();
    let command =
        TestRequest::post("/_control/command").json(&json!({ "arguments": ["user", "list", "--limit", "1"] }));
    assert_eq!(server.send_control(command.clone()).status, 401);
    assert_eq!(server.send_control(command.clone().bearer("wrong")).status, 401);
    let path = server.data_dir().join("control.token");
    let token = std::fs::read_to_string(path).unwrap();
    let known = command.bearer(token.trim());
    let foreign = server.send_control(known.clone().header("origin", "https://evil.example"));
    assert_eq!(foreign.status, 403);
    assert_eq!(server.send_control(known.header("host", "evil.example")).status, 403);
    assert_eq!(server.send(TestRequest::post("/_control/command")).status, 404, "not on the public address");
}

#[test]
fn control_api_refuses_foreign_hosts_and_web_pages() {
    let server = shared_server();
    let token = std::fs::read_to_string(server.data_dir().join("control.token")).unwrap();
    let command = json!({ "arguments": ["user", "list", "--limit", "1"] });
    let requests =
        [TestRequest::get("/metrics"), TestRequest::post("/_control/command").json(&command).bearer(token.trim())];
    for request in requests {
        // Names that resolve to loopback, or that a page's own server may rebind to it.
        for host in [
            "evil.example",
            "127.0.0.1.nip.io",
            "localhost.evil.example",
            "localtest.me",
            "0.0.0.0",
            "169.254.169.254",
            "[::ffff:10.0.0.1]",
            "2130706433",
        ] {
            assert_eq!(server.send_control(request.clone().header("host", host)).status, 403, "{host}");
        }
        // A browser names the page's origin in every request that is not a plain navigation.
        for origin in ["https://evil.example", "null", "http://127.0.0.1:8079", "http://localhost"] {
            assert_eq!(server.send_control(request.clone().header("origin", origin)).status, 403, "{origin}");
        }
        let local = server.send_control(request.header("host", "localhost"));
        assert_eq!(local.status, 200, "{}", local.text());
    }
    let command = TestRequest::post("/_control/command").json(&command);
    for credentials in ["", "Bearer", "Bearer ", "Basic Og==", token.trim(), &format!("bearer2 {}", token.trim())] {
        assert_eq!(server.send_control(command.clone().authorization(credentials)).status, 401, "{credentials}");
    }
}

#[test]
fn coverage_page_lists_every_published_operation() {
    let list = include_str!("../../src/operations/endpoints.tsv");
    let listed = |line: &'static str| {
        let cells: Vec<&str> = line.split('\t').collect();
        (cells[3].to_owned(), cells[4].to_owned())
    };
    let listed: Vec<_> = list.lines().skip(1).map(listed).collect();
    let rows = shared_server().run_cli(&["routes", "--coverage"]).json();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let (further, published): (Vec<_>, Vec<_>) =
        rows.as_array().unwrap().iter().partition(|row| row["section"] == "further");
    let shown = published.iter().map(|row| (text(&row["method"]), text(&row["path"])));
    assert_eq!(shown.collect::<Vec<_>>(), listed);
    let page = include_str!("../../../docs/api/coverage.md");
    assert!(page.contains(&format!("| further | {} | 0 | 0 |", further.len())), "{}", further.len());
    for row in rows.as_array().unwrap() {
        assert!(["built", "planned"].contains(&row["status"].as_str().unwrap()), "{row}");
    }
    let built = rows.as_array().unwrap().iter().filter(|row| row["status"] == "built").count();
    assert!(built >= 14, "{built}");
}

#[test]
fn log_has_one_json_object_per_line_without_secrets() {
    let server = TestServer::start(&["--log-format", "json"]);
    let user = server.new_user("logged");
    user.publish_text("Not in the log, I hope");
    user.send_signed(TestRequest::get("/2/users/me")).assert_status(200);
    server.send(TestRequest::get("/2/users/me?access_token=canary1").bearer("canary2"));
    let response = user.send(TestRequest::get("/2/users/me").header("x-request-id", "my-own-name"));
    assert_eq!(response.header("x-request-id"), "my-own-name");
    assert!(!response.header("x-transaction-id").is_empty());
    wait_until("the request is logged", || server.stderr().contains("my-own-name"));
    let logged = server.stderr();
    let lines: Vec<Value> = logged
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect();
    assert!(lines.iter().any(|line| line.to_string().contains("my-own-name")), "{logged}");
    assert!(lines.iter().any(|line| line.to_string().contains("/2/users/me")), "{logged}");
    let written = logged + &server.stdout();
    let mut secrets: Vec<&str> = ["API_SECRET", "BEARER_TOKEN", "ACCESS_TOKEN_SECRET", "USER_TOKEN", "CLIENT_SECRET"]
        .map(|name| server.env_value(name))
        .to_vec();
    let control = std::fs::read_to_string(server.data_dir().join("control.token")).unwrap();
    secrets.extend([&user.token, user.oauth1_token().1, &user.app.secret, control.trim()]);
    secrets.extend(["canary1", "canary2", "Not in the log"]);
    for secret in secrets {
        assert!(!written.contains(secret), "{secret} was written");
    }
}

#[test]
fn database_contains_no_secret_in_plain_text() {
    if suite_engine() == DatabaseEngine::Postgres {
        return;
    }
    let server = TestServer::start(&[]);
    let user = server.new_user("sealed");
    let mut secrets: Vec<String> = ["API_SECRET", "BEARER_TOKEN", "ACCESS_TOKEN_SECRET", "USER_TOKEN", "CLIENT_SECRET"]
        .map(|name| server.env_value(name).to_owned())
        .to_vec();
    secrets.extend([user.token.clone(), user.oauth1_token().1.to_owned(), user.app.secret.clone()]);
    for (name, bytes) in contents(&server.data_dir()) {
        if name == "dev.env" {
            continue;
        }
        for secret in &secrets {
            let found = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
            assert!(!found, "{name} holds {secret}");
        }
    }
}
