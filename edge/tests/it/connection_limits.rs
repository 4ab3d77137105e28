use std::process::Command;

use http::header::{ACCEPT_ENCODING, HeaderMap, HeaderValue};

use super::*;

#[tokio::test]
async fn connection_above_a_limit_gets_503() {
    let by_address = ListenerLimits { max_connections_per_ip: 3, ..short_timeouts() };
    let altogether = ListenerLimits { max_connections: 3, ..short_timeouts() };
    for limits in [by_address, altogether] {
        let server = start(limits, echo);
        let mut inside = Vec::new();
        for _ in 0..3 {
            let mut client = server.connect().await;
            client.send(GET).await;
            client.read_response().await;
            inside.push(client);
        }
        for _ in 0..100 {
            let received = server.exchange(GET).await;
            assert!(received.starts_with("HTTP/1.1 503 "), "{received}");
            assert!(received.contains(r#""status":503"#) && received.contains("retry-after: 1"), "{received}");
        }
        let stats = server.stats.snapshot();
        assert_eq!((stats.refused + stats.refused_by_address, stats.open), (100, 3));
        inside.pop();
        server.wait_until(|stats| stats.open == 2).await;
        assert!(server.responds().await);
    }
}

#[tokio::test]
async fn request_of_a_trusted_proxy_counts_for_the_forwarded_address() {
    let slow = |request: Request<Body>| async move {
        if request.uri().path() == "/wait" {
            sleep(ms(1000)).await;
        }
        Response::new(Body::full("ok"))
    };
    let trusted_proxies = vec!["127.0.0.1".parse().unwrap()];
    let server = start(ListenerLimits { max_connections_per_ip: 3, trusted_proxies, ..short_timeouts() }, slow);
    let request =
        |path: &str, client: &str| format!("GET {path} HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: {client}\r\n\r\n");
    let mut waiting = Vec::new();
    for _ in 0..3 {
        let mut client = server.connect().await;
        client.send(request("/wait", "198.51.100.1, 203.0.113.7")).await;
        waiting.push(client);
    }
    server.wait_until(|stats| stats.requests == 3).await;
    let mut proxy = server.connect().await;
    proxy.send(request("/", "203.0.113.7")).await;
    let refused = proxy.read_response().await;
    assert!(refused.starts_with("HTTP/1.1 503 ") && refused.contains("retry-after: 1"), "{refused}");
    // The same connection of the proxy carries another client's request.
    proxy.send(request("/", "203.0.113.8")).await;
    assert!(proxy.read_response().await.starts_with("HTTP/1.1 200 "));
    for client in &mut waiting {
        assert!(client.read_response().await.starts_with("HTTP/1.1 200 "));
    }
    let mut proxy = server.connect().await;
    proxy.send(request("/", "203.0.113.7")).await;
    assert!(proxy.read_response().await.starts_with("HTTP/1.1 200 "));
    assert_eq!(server.stats.snapshot().refused, 0);
}

#[tokio::test]
async fn stream_that_its_app_limits_leaves_room_for_its_address() {
    let stream = |_request| async {
        let (sender, body) = body_channel(1);
        spawn(async move { sender.closed().await });
        let response = Response::new(body.without_address_limit());
        edge::gzip::compress_stream(
            &HeaderMap::from_iter([(ACCEPT_ENCODING, HeaderValue::from_static("gzip"))]),
            response,
        )
    };
    let trusted_proxies = vec!["127.0.0.1".parse().unwrap()];
    let server = start(ListenerLimits { max_connections_per_ip: 2, trusted_proxies, ..short_timeouts() }, stream);
    let mut open = Vec::new();
    for _ in 0..5 {
        let mut client = server.connect().await;
        client.send("GET / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 203.0.113.7\r\n\r\n").await;
        let head = client.read_until("\r\n\r\n").await;
        assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
        open.push(client);
    }
    // Still counted in total and as in progress.
    assert_eq!(server.stats.snapshot().open, 5);
}

/// Runs the next test in a process of its own that may open few files.
#[test]
fn listener_recovers_when_descriptors_run_out() {
    let this = std::env::current_exe().unwrap();
    let run = format!(
        "ulimit -n 60; exec {this:?} --exact connection_limits::listener_with_few_descriptors_recovers --ignored"
    );
    let output = Command::new("sh").args(["-c", &run]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

#[tokio::test]
#[ignore = "run by the test before it, with few descriptors"]
async fn listener_with_few_descriptors_recovers() {
    let limits = ListenerLimits { header_timeout: Duration::from_secs(30), ..ListenerLimits::default() };
    let server = start(limits, echo);
    let mut first = server.connect().await;
    first.send(GET).await;
    first.read_response().await;
    let mut clients = Vec::new();
    while let Ok(client) = TcpStream::connect(server.addr).await {
        clients.push(client); // each takes two descriptors here: ours and the server's
    }
    server.wait_until(|stats| stats.accept_errors > 0).await;
    first.send(GET).await;
    assert!(first.read_response().await.starts_with("HTTP/1.1 200"));
    clients.clear();
    server.wait_until(|stats| stats.open == 1).await;
    assert!(server.responds().await);
}

#[tokio::test]
async fn bodies_of_an_address_take_bounded_memory() {
    async fn count(request: Request<Body>) -> Response<Body> {
        let (status, length) = match request.into_body().collect_bytes(100_000, Duration::from_secs(9)).await {
            Ok(bytes) => (StatusCode::OK, bytes.len()),
            Err(BodyError::NoRoom) => (StatusCode::SERVICE_UNAVAILABLE, 0),
            Err(_) => (StatusCode::BAD_REQUEST, 0),
        };
        let mut response = Response::new(Body::full(length.to_string()));
        *response.status_mut() = status;
        response
    }
    // The first 4 KiB of each are free.
    let server = start(ListenerLimits { max_body_memory_per_ip: 8_000, ..short_timeouts() }, count);
    let post = |length: usize| format!("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\n\r\n");
    let mut slow = server.connect().await;
    slow.send(&format!("{}{}", post(20_000), "x".repeat(10_000))).await;
    sleep(ms(50)).await;
    let mut other = server.connect().await;
    other.send(&format!("{}{}", post(4_000), "x".repeat(4_000))).await;
    assert!(other.read_response().await.ends_with("4000"));
    other.send(&format!("{}{}", post(8_000), "x".repeat(8_000))).await;
    let refused = other.read_response().await;
    assert!(refused.starts_with("HTTP/1.1 503 "), "{refused}");
    drop(slow);
    sleep(ms(50)).await;
    let mut other = server.connect().await;
    other.send(&format!("{}{}", post(8_000), "x".repeat(8_000))).await;
    assert!(other.read_response().await.ends_with("8000"));
}
