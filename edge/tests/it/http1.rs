use super::*;

#[tokio::test]
async fn pipelined_requests_are_answered_in_order() {
    let server = start(short_timeouts(), echo);
    let head = "HTTP/1.1\r\nHost: a\r\n";
    let pair = |number| {
        format!(
            "POST /{number} {head}Content-Length: 3\r\n\r\nn{number:02}\
             GET /{number} {head}\r\n"
        )
    };
    let text = (0..50).map(pair).collect::<Vec<_>>().concat();
    let mut client = server.connect().await;
    client.send(text).await;
    for number in 0..50 {
        assert!(client.read_response().await.ends_with(&format!("\r\n\r\nn{number:02}")));
        assert!(client.read_response().await.ends_with(&format!("\r\n\r\n/{number}")));
    }
    assert_eq!(server.stats.snapshot().requests, 100);
}

#[tokio::test]
async fn expect_continue_is_answered_before_the_body_is_sent() {
    let server = start(short_timeouts(), echo);
    let mut client = server.connect().await;
    let head = "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: ";
    client.send(format!("{head}2\r\n\r\n")).await;
    assert_eq!(client.read_until("\r\n\r\n").await, "HTTP/1.1 100 Continue\r\n\r\n");
    client.send("ok").await;
    assert!(client.read_response().await.ends_with("\r\n\r\nok"));
    client.send(format!("{head}2000\r\n\r\n")).await;
    assert!(client.read_response().await.starts_with("HTTP/1.1 413 ")); // without leave
}

#[tokio::test]
async fn response_has_a_date_and_head_response_has_no_body() {
    let server = start(short_timeouts(), echo);
    let mut client = server.connect().await;
    client.send("HEAD /abc HTTP/1.1\r\nHost: a\r\n\r\n").await;
    let received = client.read_until("\r\n\r\n").await;
    assert!(received.contains("content-length: 4\r\n") && received.contains("date: "), "{received}");
    client.send(GET).await;
    assert!(client.read_response().await.ends_with("\r\n\r\n/"));
    for bad in ["GET / HTTP/1.1\r\n\r\n".to_owned(), format!("GET /{}", "a".repeat(50_000))] {
        let received = server.exchange(bad).await;
        assert!(received.contains("\r\ndate: ") && received.contains("GMT\r\n"), "{received}");
    }
}

#[tokio::test]
async fn oversized_body_is_refused_before_it_is_buffered() {
    let server = start(short_timeouts(), echo);
    let post = |fields: &str| format!("POST / HTTP/1.1\r\nHost: a\r\n{fields}\r\n\r\n");
    for (request, status) in [
        (post("Content-Length: 1001"), "413"),
        (post("Content-Length: 5000000") + &"x".repeat(3_000_000), "413"),
        (post("Transfer-Encoding: chunked") + &format!("400\r\n{}\r\n", "x".repeat(1024)), "413"),
    ] {
        assert_eq!(server.exchange_status(request).await, status);
    }
}

#[tokio::test]
async fn handler_panic_becomes_a_500_and_keeps_the_connection() {
    async fn shaky(request: Request<Body>) -> Response<Body> {
        assert_ne!(request.uri().path(), "/panic", "as told");
        Response::new(Body::full("fine"))
    }
    let server = start(short_timeouts(), shaky);
    let mut client = server.connect().await;
    client.send("GET /panic HTTP/1.1\r\nHost: a\r\n\r\n").await;
    let received = client.read_response().await;
    assert!(received.starts_with("HTTP/1.1 500 Internal Server Error\r\n"), "{received}");
    assert!(received.contains("content-type: application/problem+json\r\n"), "{received}");
    let body = r#"{"title":"Internal Server Error","type":"about:blank","status":500,"detail":"Internal Server Error","errors":[{"message":"Internal Server Error"}]}"#;
    assert!(received.ends_with(body), "{received}");
    client.send(GET).await;
    assert!(client.read_response().await.ends_with("fine"));
    assert_eq!(server.stats.snapshot().panics, 1);
}

#[tokio::test]
async fn handler_receives_the_peer_address() {
    async fn tell(request: Request<Body>) -> Response<Body> {
        let peer = request.extensions().get::<edge::Peer>().unwrap();
        Response::new(Body::full(format!("{:?}", peer.addr)))
    }
    let server = start(short_timeouts(), tell);
    let mut client = server.connect().await;
    client.send(GET).await;
    let wanted = format!("\r\n\r\nSome({})", client.0.local_addr().unwrap());
    assert!(client.read_response().await.ends_with(&wanted));
}

#[tokio::test]
async fn unix_socket_is_private_and_replaces_a_stale_one() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("control");
    std::os::unix::net::UnixListener::bind(&path).unwrap(); // left behind by another process
    let listener = edge::bind_unix(&path).unwrap();
    assert_eq!(edge::bind_unix(&path).unwrap_err().kind(), std::io::ErrorKind::AddrInUse);
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let shutdown = Shutdown::new();
    let done = spawn(edge::serve(listener, short_timeouts(), echo, shutdown.clone()));
    let mut client = tokio::net::UnixStream::connect(&path).await.unwrap();
    client.write_all(GET.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n").as_bytes()).await.unwrap();
    let mut received = String::new();
    client.read_to_string(&mut received).await.unwrap();
    assert!(received.starts_with("HTTP/1.1 200"), "{received}");
    shutdown.trigger();
    done.await.unwrap();
    assert!(!path.exists());
}

#[tokio::test]
async fn aborted_response_body_ends_the_connection() {
    async fn half(_request: Request<Body>) -> Response<Body> {
        let (sender, body) = body_channel(1);
        spawn(async move {
            sender.send(Ok("half".into())).await.unwrap();
            sender.send(Err(BodyError::Broken)).await.unwrap();
        });
        Response::new(body)
    }
    let server = start(short_timeouts(), half);
    let received = server.exchange(GET).await;
    assert!(received.ends_with("4\r\nhalf\r\n"), "{received}");
}

#[tokio::test]
async fn body_sender_is_notified_when_the_client_disconnects() {
    let (left, mut gone) = mpsc::channel(1);
    let handler = move |_request| {
        let left = left.clone();
        async move {
            let (sender, body) = body_channel(1);
            spawn(async move {
                sender.send(Ok("hello".into())).await.unwrap();
                sender.closed().await;
                left.send(()).await.unwrap();
            });
            Response::new(body)
        }
    };
    let server = start(short_timeouts(), handler);
    let mut client = server.connect().await;
    client.send(GET).await;
    client.read_until("hello").await;
    drop(client);
    timeout(ms(1000), gone.recv()).await.expect("not told").unwrap();
    server.wait_until(|stats| stats.open == 0).await;
}

#[tokio::test]
async fn connection_stays_after_a_chunked_body_that_was_read() {
    let server = start(short_timeouts(), echo);
    let mut client = server.connect().await;
    for _ in 0..2 {
        client.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n").await;
        let received = client.read_response().await;
        assert!(received.starts_with("HTTP/1.1 200 ") && !received.contains("connection: close"), "{received}");
    }
}

/// Refuses everything without a look at its body.
async fn refuse(_: Request<Body>) -> Response<Body> {
    let mut response = Response::new(Body::full("no"));
    *response.status_mut() = StatusCode::FORBIDDEN;
    response
}

#[tokio::test]
async fn response_closes_the_connection_if_a_long_body_is_unread() {
    let server = start(short_timeouts(), refuse);
    let post = |fields: &str| format!("POST / HTTP/1.1\r\nHost: a\r\n{fields}\r\n\r\n");
    for (request, body) in [
        (post("Content-Length: 5000000"), "x".repeat(100_000)),
        (post("Content-Length: 65537"), String::new()),
        (post("Transfer-Encoding: chunked"), "3\r\nabc\r\n".to_owned()),
        (post("Expect: 100-continue\r\nContent-Length: 3"), String::new()),
        // It is said to be short, and does not come.
        (post("Content-Length: 3"), "ab".to_owned()),
    ] {
        let received = server.exchange(request.clone() + &body).await;
        assert!(received.starts_with("HTTP/1.1 403 "), "{request}: {received}");
        assert!(received.contains("\r\nconnection: close\r\n"), "{request}: {received}");
    }
    let mut client = server.connect().await;
    for late in [false, true] {
        client.send(post("Content-Length: 60000")).await;
        if late {
            sleep(ms(50)).await;
        }
        client.send("x".repeat(60_000)).await;
        let received = client.read_response().await;
        assert!(!received.contains("connection: close"), "{received}");
    }
    client.send(GET).await;
    assert!(client.read_response().await.starts_with("HTTP/1.1 403 "));
}
