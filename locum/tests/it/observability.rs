//! What an operator learns from a running server: its health, its log, its metrics.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{
    DatabaseEngine, TestRequest, TestRng, TestServer, locum_command, suite_engine, suite_setting, wait_until,
};

fn body_of(server: &TestServer, path: &'static str) -> (u16, String) {
    let response = server.send(TestRequest::get(path));
    for (name, value) in &response.headers {
        let value = String::from_utf8_lossy(value.as_bytes()).to_lowercase();
        assert!(name != "server" && !value.contains(env!("CARGO_PKG_VERSION")), "{name}: {value}");
    }
    let text = response.text();
    assert!(!text.contains(env!("CARGO_PKG_VERSION")) && !text.to_lowercase().contains("sqlite"), "{text}");
    (response.status, text)
}

#[test]
fn liveness_needs_no_database_and_readiness_does() {
    let server = TestServer::start_network(&[]);
    let ok = (200, "ok\n".to_owned());
    let unready = (503, "the database does not respond\n".to_owned());
    for path in ["/livez", "/readyz"] {
        assert_eq!(body_of(&server, path), ok);
    }
    server.run_sql("ALTER TABLE meta RENAME TO meta_data");
    assert_eq!((body_of(&server, "/livez"), body_of(&server, "/readyz")), (ok.clone(), unready.clone()));
    server.run_sql("ALTER TABLE meta_data RENAME TO meta");
    assert_eq!((body_of(&server, "/livez"), body_of(&server, "/readyz")), (ok.clone(), ok.clone()));
    if suite_engine() == DatabaseEngine::Postgres {
        server.database().set_closed(true);
        assert_eq!((body_of(&server, "/livez"), body_of(&server, "/readyz")), (ok.clone(), unready));
        server.database().set_closed(false);
        wait_until("it is ready again", || body_of(&server, "/readyz") == ok);
    }
    for path in ["/2/nothing", "/1.1/nothing", "/nothing", "/2/users/me", "/metrics"] {
        body_of(&server, path);
    }
}

fn log_lines(server: &TestServer) -> Vec<Value> {
    let parse = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    server.stderr().lines().map(parse).collect()
}

#[test]
fn every_response_has_one_log_line_whose_level_follows_the_status() {
    let server = TestServer::start(&["--world", "empty", "--log-format", "json"]);
    let user = server.new_user("logged");
    let me = || TestRequest::get("/2/users/me?access_token=canary1").bearer(&user.token);
    let requests = [
        me(),
        TestRequest::get("/2/users/me").bearer(&user.token),
        TestRequest::post("/2/tweets").bearer(&user.token).json(&json!({ "text": "canary2" })),
        TestRequest::post("/2/tweets").bearer(&user.token).json(&json!({ "text": 5 })),
        TestRequest::post("/2/tweets").bearer(&user.token).body("text/plain", "canary3"),
        TestRequest::post("/2/tweets").bearer(&user.token).body("application/json", " ".repeat(2 << 20)),
        TestRequest::get("/2/users/me").bearer("canary4"),
        TestRequest::get("/2/users/me").bearer(&user.app.bearer),
        TestRequest::get("/2/canary5").bearer(&user.token),
        TestRequest::delete("/2/users/me").bearer(&user.token),
        TestRequest::get("/login?code=canary6"),
    ];
    let mut statuses = BTreeMap::new();
    for (number, request) in requests.into_iter().enumerate() {
        let id = format!("response-{number}");
        let response = server.send(request.header("x-request-id", &id));
        assert_eq!(response.header("x-request-id"), id);
        statuses.insert(id, response.status);
    }
    let seen: BTreeSet<u16> = statuses.values().copied().collect();
    assert!([200, 201, 400, 401, 403, 404, 405, 413, 415].iter().all(|status| seen.contains(status)), "{seen:?}");
    break_connections(&server);
    let mut logged = BTreeMap::new();
    for line in log_lines(&server) {
        assert_eq!(line["level"], "INFO", "{line}");
        assert!(!line.to_string().contains("canary") && !line.to_string().contains(&user.token), "{line}");
        if let Some(id) = line["request_id"].as_str().filter(|id| id.starts_with("response-")) {
            let status = u16::try_from(line["status"].as_u64().unwrap()).unwrap();
            assert_eq!(logged.insert(id.to_owned(), status), None, "{line}");
        }
    }
    assert_eq!(logged, statuses);
}

/// Sends what is no request, and leaves in the middle of some.
fn break_connections(server: &TestServer) {
    let heads = [
        "\u{16}\u{3}\u{1}\u{2}\0\u{1}\0\u{1}\u{fc}\u{3}\u{3}",
        "NONSENSE\r\n\r\n",
        "GET /2/users/me HTTP/1.1\r\nHost: a b\r\n\r\n",
        "GET /2/users/me HTTP/1.1\r\nHo",
        "POST /2/tweets HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{",
        "POST /2/tweets HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nnonsense",
    ];
    for head in heads {
        let mut client = TcpStream::connect(server.url.trim_start_matches("http://")).unwrap();
        client.write_all(head.as_bytes()).unwrap();
    }
    wait_until("their connections are closed", || {
        let metrics = server.send_control(TestRequest::get("/metrics")).text();
        let open = r#"locum_connections_open{listener="public"} "#;
        let open = metrics.lines().find_map(|line| line.strip_prefix(open)).unwrap();
        open.parse::<u32>().unwrap() <= 1 && metrics.contains("locum_requests_in_flight 0")
    });
}

fn series_of(metrics: &str) -> BTreeSet<String> {
    let lines = metrics.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.rsplit_once(' ')).map(|(series, _)| series.to_owned()).collect()
}

/// Sends requests with every method to random paths, on one connection.
fn request_random_paths(server: &TestServer, count: usize, rng: &mut TestRng) {
    const SHAPES: [&str; 7] =
        ["/#", "/2/#", "/2/posts/#", "/2/users/#/posts", "/1.1/#.json", "/12/accounts/#", "/2/users/by/username/#"];
    const METHODS: [&str; 4] = ["GET", "POST", "DELETE", "CANARY"];
    let mut text = Vec::new();
    for number in 0..count {
        let shape = SHAPES[number % SHAPES.len()];
        let method = METHODS[number / SHAPES.len() % METHODS.len()];
        let path = shape.replace('#', &format!("canary{}", rng.below(1 << 30)));
        let close = if number + 1 == count { "Connection: close\r\n" } else { "" };
        write!(text, "{method} {path} HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n{close}\r\n").unwrap();
    }
    let mut client = TcpStream::connect(server.url.trim_start_matches("http://")).unwrap();
    let mut sender = client.try_clone().unwrap();
    let sending = std::thread::spawn(move || sender.write_all(&text).unwrap());
    let mut answers = Vec::new();
    client.read_to_end(&mut answers).unwrap();
    sending.join().unwrap();
    assert_eq!(String::from_utf8_lossy(&answers).matches("HTTP/1.1 ").count(), count);
}

#[test]
fn random_paths_add_no_series_to_the_metrics() {
    let server = TestServer::start(&["--world", "empty"]);
    let mut rng = TestRng(9);
    request_random_paths(&server, 28, &mut rng);
    let metrics = || server.send_control(TestRequest::get("/metrics")).text();
    let readers = ["activity", "ads", "stream links"].map(|name| format!("events_unread{{reader=\"{name}\"}}"));
    wait_until("all readers of events have started", || {
        let text = metrics();
        readers.iter().all(|reader| text.contains(reader))
    });
    let before = metrics();
    for _ in 0..suite_setting("LOCUM_RANDOM_PATHS", 10_000) / 500 {
        request_random_paths(&server, 500, &mut rng);
    }
    let after = metrics();
    assert_eq!(series_of(&before), series_of(&after));
    assert!(!after.to_lowercase().contains("canary"), "{after}");
}

#[test]
fn panicked_handler_answers_500_and_the_process_goes_on() {
    let mut server = TestServer::prepare(&["--world", "empty", "--log-format", "json"]);
    server.set_variable("LOCUM_TEST_PANIC_ROUTE", "/2/posts/{id}");
    server.restart();
    let user = server.new_user("steady");
    let pid = server.pid();
    let response = user.send(TestRequest::get("/2/tweets/20").header("x-request-id", "panicked"));
    assert_eq!(response.header("content-type"), "application/problem+json; charset=utf-8");
    assert_eq!(response.header("x-request-id"), "panicked");
    assert!(!response.header("x-transaction-id").is_empty() && !response.text().contains("test"), "{response:?}");
    let problem = response.assert_problem(500, "about:blank");
    assert_eq!(problem["status"], 500);
    user.get("/2/users/me").assert_status(200);
    assert_eq!(server.pid(), pid);
    let metrics = server.send_control(TestRequest::get("/metrics")).text();
    assert!(metrics.contains("locum_panics_total 1") && metrics.contains("locum_faults_total 1"), "{metrics}");
    let lines = log_lines(&server);
    let of_panic = |target: &str| lines.iter().find(|line| line["target"] == target).cloned().unwrap_or_default();
    assert!(of_panic("panic")["message"].as_str().unwrap().contains("a test asked for it"), "{lines:?}");
    assert_eq!(of_panic("fault")["request_id"], "panicked", "{lines:?}");
    assert!(lines.iter().any(|line| line["request_id"] == "panicked" && line["status"] == 500), "{lines:?}");
}

#[test]
fn request_whose_client_leaves_is_logged_and_counted() {
    let server = TestServer::start_on_engine(DatabaseEngine::Sqlite, &[]);
    let other = rusqlite::Connection::open(server.data_dir().join("locum.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut client = TcpStream::connect(server.url.strip_prefix("http://").unwrap()).unwrap();
    let token = server.env_value("USER_TOKEN");
    let body = r#"{"text":"Never mind"}"#;
    let head = format!("POST /2/tweets HTTP/1.1\r\nhost: h\r\nauthorization: Bearer {token}\r\nx-request-id: gone\r\n");
    write!(client, "{head}content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}", body.len()).unwrap();
    wait_until("the request is there", || {
        let metrics = server.send_control(TestRequest::get("/metrics")).text();
        metrics.contains("locum_requests_in_flight 1")
    });
    drop(client);
    wait_until("it is counted", || {
        let metrics = server.send_control(TestRequest::get("/metrics")).text();
        metrics.contains("route=\"/2/posts\",method=\"POST\",status=\"abandoned\"} 1")
    });
    wait_until("it is logged", || server.stderr().lines().any(|line| line.contains("gone") && line.contains("499")));
    other.execute_batch("ROLLBACK").unwrap();
}

/// The metrics that a text names.
fn metrics_named_in(text: &str) -> BTreeSet<&str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.filter(|word| word.starts_with("locum_")).collect()
}

#[test]
fn alerts_dashboard_and_documentation_name_metrics_that_a_server_exports() {
    let backups = tempfile::tempdir().unwrap();
    let to = format!("backup.to={}", backups.path().display());
    // The only engine with scheduled backups.
    let server = TestServer::start_on_engine(DatabaseEngine::Sqlite, &["--set", &to]);
    server.new_user("measured").publish_text("measured");
    let text = server.send_control(TestRequest::get("/metrics")).text();
    let exported = metrics_named_in(&text);
    for (file, text) in texts_about_metrics() {
        let named = metrics_named_in(&text);
        assert!(named.len() > 10, "{file}: {named:?}");
        for name in named {
            // Requests wait for no database server here, and snapshots and certificates have tests of their own.
            let of_others = ["locum_database_round_trips_total", "locum_tls_certificate_end_seconds"];
            let is_of_others = of_others.contains(&name) || name.contains("search_snapshot");
            assert!(exported.contains(name) || is_of_others, "{file} names {name}");
        }
    }
}

/// Checks the metrics of snapshots of the search index.
pub(crate) fn assert_exports_documented_snapshot_metrics(server: &TestServer) {
    let exported = server.send_control(TestRequest::get("/metrics")).text();
    let exported = metrics_named_in(&exported);
    for (file, text) in texts_about_metrics() {
        for name in metrics_named_in(&text).into_iter().filter(|name| name.contains("search_snapshot")) {
            assert!(exported.contains(name), "{file} names {name}");
        }
    }
}

/// Files with alerts, the dashboard and documentation, and their content.
fn texts_about_metrics() -> impl Iterator<Item = (&'static str, String)> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let files = ["packaging/prometheus/alerts.yml", "packaging/grafana/locum.json", "docs/monitoring.md"];
    files.into_iter().map(move |file| (file, std::fs::read_to_string(root.join(file)).unwrap()))
}

#[test]
fn metrics_show_the_work_that_waits() {
    let server = TestServer::start_network(&["--set", "listen.control_addr=127.0.0.1:0"]);
    let value = |series: &str| {
        let text = server.send_control(TestRequest::get("/metrics")).text();
        let line = text.lines().find_map(|line| line.strip_prefix(series)?.trim().parse::<i64>().ok());
        line.unwrap_or_else(|| panic!("{series} is not in {text}"))
    };
    assert_eq!((value("locum_deliveries_waiting"), value("locum_oldest_delivery_age_seconds")), (0, 0));
    server.new_user("measured").publish_text("measured");
    wait_until("the events have numbers", || value("locum_events_unnumbered") == 0);
    server.run_sql("INSERT INTO follower (name, seq) SELECT 'stopped', MAX(seq) - 1 FROM event");
    assert!(value("locum_events_unread{reader=\"stopped\"}") >= 1);
    wait_until("all is searchable", || value("locum_events_unread{reader=\"search_index\"}") == 0);
    let columns = "webhook_id, event_id, order_key, post_id, at, body, due_at";
    server.run_sql(&format!("INSERT INTO delivery ({columns}) VALUES (1, 1, 1, 0, 1000, '{{}}', 9000000000000)"));
    assert_eq!(value("locum_deliveries_waiting"), 1);
    assert!(value("locum_oldest_delivery_age_seconds") > 1_000_000);
    assert_eq!((value("locum_emails_waiting"), value("locum_oldest_email_age_seconds")), (0, 0));
    let columns = "id, recipient, subject, created_at, due_at";
    server.run_sql(&format!("INSERT INTO letter ({columns}) VALUES (1, 'a@b.example', 'Hello', 1000, 9000000000000)"));
    assert_eq!(value("locum_emails_waiting"), 1);
    assert!(value("locum_oldest_email_age_seconds") > 1_000_000);
}

#[test]
fn server_goes_on_when_its_log_cannot_be_written() {
    let folder = tempfile::tempdir().unwrap();
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut command = locum_command(folder.path());
    command.args(["dev", "--world", "empty", "--data-dir", "data", "--control-port", "0", "--log-level", "trace"]);
    command.args(["--port", &address.port().to_string()]);
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let mut server = command.stdout(std::process::Stdio::null()).stderr(full).spawn().unwrap();
    let is_live = || {
        let Ok(mut stream) = TcpStream::connect(address) else { return false };
        stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        let sent = stream.write_all(b"GET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
        let mut answer = String::new();
        sent.is_ok() && stream.read_to_string(&mut answer).is_ok() && answer.starts_with("HTTP/1.1 200")
    };
    wait_until("it answers", is_live);
    let goes_on = (0..20).all(|_| is_live()) && server.try_wait().unwrap().is_none();
    server.kill().unwrap();
    server.wait().unwrap();
    assert!(goes_on);
}
