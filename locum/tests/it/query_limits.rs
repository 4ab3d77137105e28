//! Limits of the queries that requests make.

use std::io::Write as _;
use std::net::TcpStream;

use serde_json::{Value, json};

use crate::harness::{TestRequest, TestServer, wait_until};

/// Replaces a table by a view that takes hours.
fn slow_table(table: &str) -> String {
    format!(
        "ALTER TABLE {table} RENAME TO {table}_data;
        CREATE VIEW {table} AS SELECT {table}_data.* FROM {table}_data CROSS JOIN (
            WITH RECURSIVE n (i) AS (SELECT CAST(1 AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < 100000000000)
            SELECT MAX(i) AS i FROM n) AS slow WHERE slow.i > 0;"
    )
}

/// A server with one reader, a token of a user, and the path of the bookmarks that take hours.
fn start_with_slow_bookmarks(timeout: &str) -> (TestServer, String, String) {
    let timeout = format!("db.query_timeout={timeout}");
    let args = ["--world", "empty", "--log-format", "json", "--set", "db.connections=1", "--set", &timeout];
    let mut server = TestServer::start(&args);
    let user = server.new_user("reader");
    let post = user.publish_text("To be read later");
    let path = format!("/2/users/{}/bookmarks", user.id);
    user.post(path.as_str(), &json!({ "tweet_id": post })).assert_status(200);
    let token = user.token.clone();
    drop(user);
    server.stop();
    server.run_sql(&slow_table("bookmark"));
    server.restart();
    (server, token, path)
}

#[test]
fn slow_query_is_ended_answered_503_and_logged_once() {
    let (server, token, path) = start_with_slow_bookmarks("200ms");
    let request = TestRequest::get(path).bearer(&token).header("x-request-id", "slow-one");
    let response = server.send(request);
    assert_eq!(response.status, 503, "{}", response.text());
    assert_eq!((response.header("retry-after"), response.header("x-request-id")), ("1", "slow-one"));
    assert!(!response.text().contains("bookmark"), "{}", response.text());
    server.send(TestRequest::get("/2/users/me").bearer(&token)).assert_status(200);
    let logged = server.stderr();
    let lines: Vec<Value> = logged.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of_request: Vec<_> = lines.iter().filter(|line| line["request_id"] == "slow-one").collect();
    let targets: Vec<_> = of_request.iter().map(|line| (&line["level"], &line["target"])).collect();
    assert_eq!(json!(targets), json!([["ERROR", "fault"], ["ERROR", "request"]]), "{of_request:?}");
    assert!(of_request[0]["message"].as_str().unwrap().contains("FROM bookmark"), "{of_request:?}");
}

#[test]
fn query_is_cancelled_when_its_client_leaves() {
    let (server, token, path) = start_with_slow_bookmarks("1h");
    server.send(TestRequest::get("/2/users/me").bearer(&token)).assert_status(200);
    let mut client = TcpStream::connect(server.url.trim_start_matches("http://")).unwrap();
    let head = format!("GET {path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {token}\r\n\r\n");
    client.write_all(head.as_bytes()).unwrap();
    wait_until("the request is handled", || {
        server.send_control(TestRequest::get("/metrics")).text().contains("locum_requests_in_flight 1")
    });
    drop(client);
    // There is one reader.
    server.send(TestRequest::get("/2/users/me").bearer(&token)).assert_status(200);
}

#[test]
fn query_of_a_download_that_is_being_sent_is_ended() {
    let args = ["--world", "empty", "--set", "db.connections=1", "--set", "db.query_timeout=200ms"];
    let mut server = TestServer::start(&args);
    server.stop();
    let complete = "INSERT INTO compliance_job (id, app_id, kind, state, created_at, upload_token, download_token, \
                    upload_expires_at, download_expires_at) \
                    VALUES (1, 1, 'users', 2, 0, 'up', 'down', 9000000000000, 9000000000000); \
                    INSERT INTO compliance_part (job_id, place, ids, result) VALUES (1, 1, '1', '{}');";
    server.run_sql(&format!("{complete}{}", slow_table("compliance_part")));
    server.restart();
    let download = || TestRequest::get("/compliance/results/down");
    assert_eq!(server.send_for_head(download()), Some(200));
    assert!(server.try_send(download()).is_none());
}
