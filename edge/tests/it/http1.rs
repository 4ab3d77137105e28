use super::*;

#[tokio::test]
async fn one_answer_after_another_in_order() {
    let server = start(short(), echo);
    let head = "HTTP/1.1\r\nHost: a\r\n";
    let pair = |number| {
        format!(
            "POST /{number} {head}Content-Length: 3\r\n\r\nn{number:02}\
             GET /{number} {head}\r\n"
        )
    };
    let text = (0..50).map(pair).collect::<Vec<_>>().concat();
    let mut client = server.connect().await;
    client.say(text).await;
    for number in 0..50 {
        assert!(client.answer().await.ends_with(&format!("\r\n\r\nn{number:02}")));
        assert!(client.answer().await.ends_with(&format!("\r\n\r\n/{number}")));
    }
    assert_eq!(server.stats.snapshot().requests, 100);
}

#[tokio::test]
async fn a_client_may_wait_for_leave_to_send() {
    let server = start(short(), echo);
    let mut client = server.connect().await;
    let head = "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: ";
    client.say(format!("{head}2\r\n\r\n")).await;
    assert_eq!(client.hear_until("\r\n\r\n").await, "HTTP/1.1 100 Continue\r\n\r\n");
    client.say("ok").await;
    assert!(client.answer().await.ends_with("\r\n\r\nok"));
    client.say(format!("{head}2000\r\n\r\n")).await;
    assert!(client.answer().await.starts_with("HTTP/1.1 413 ")); // without leave
}

#[tokio::test]
async fn every_answer_has_a_date_and_head_has_no_body() {
    let server = start(short(), echo);
    let mut client = server.connect().await;
    client.say("HEAD /abc HTTP/1.1\r\nHost: a\r\n\r\n").await;
    let heard = client.hear_until("\r\n\r\n").await;
    assert!(heard.contains("content-length: 4\r\n") && heard.contains("date: "), "{heard}");
    client.say(GET).await;
    assert!(client.answer().await.ends_with("\r\n\r\n/"));
    for bad in ["GET / HTTP/1.1\r\n\r\n".to_owned(), format!("GET /{}", "a".repeat(9000))] {
        let heard = server.ask(bad).await;
        assert!(heard.contains("\r\ndate: ") && heard.contains("GMT\r\n"), "{heard}");
    }
}

#[tokio::test]
async fn a_body_too_large_is_refused_before_it_is_kept() {
    let server = start(short(), echo);
    let post = |fields: &str| format!("POST / HTTP/1.1\r\nHost: a\r\n{fields}\r\n\r\n");
    for (request, status) in [
        (post("Content-Length: 1001"), "413"),
        (post("Content-Length: 5000000") + &"x".repeat(3_000_000), "413"),
        (post("Transfer-Encoding: chunked") + &format!("400\r\n{}\r\n", "x".repeat(1024)), "413"),
    ] {
        assert_eq!(server.ask_status(request).await, status);
    }
}

#[tokio::test]
async fn a_panic_is_a_500_and_nothing_more() {
    async fn shaky(request: Request<Body>) -> Response<Body> {
        assert_ne!(request.uri().path(), "/panic", "as told");
        Response::new(Body::full("fine"))
    }
    let server = start(short(), shaky);
    let mut client = server.connect().await;
    client.say("GET /panic HTTP/1.1\r\nHost: a\r\n\r\n").await;
    let heard = client.answer().await;
    assert!(heard.starts_with("HTTP/1.1 500 Internal Server Error\r\n"), "{heard}");
    assert!(heard.contains("content-type: application/problem+json\r\n"), "{heard}");
    let body =
        r#"{"title":"Internal Server Error","type":"about:blank","status":500,"detail":"Internal Server Error"}"#;
    assert!(heard.ends_with(body), "{heard}");
    client.say(GET).await;
    assert!(client.answer().await.ends_with("fine"));
    assert_eq!(server.stats.snapshot().panics, 1);
}

#[tokio::test]
async fn the_handler_knows_its_peer() {
    async fn tell(request: Request<Body>) -> Response<Body> {
        let peer = request.extensions().get::<edge::Peer>().unwrap();
        Response::new(Body::full(format!("{:?}", peer.addr)))
    }
    let server = start(short(), tell);
    let mut client = server.connect().await;
    client.say(GET).await;
    let wanted = format!("\r\n\r\nSome({})", client.0.local_addr().unwrap());
    assert!(client.answer().await.ends_with(&wanted));
}

#[tokio::test]
async fn a_unix_socket_is_for_its_owner() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("control");
    std::os::unix::net::UnixListener::bind(&path).unwrap(); // left behind by another process
    let listener = edge::bind_unix(&path).unwrap();
    assert_eq!(edge::bind_unix(&path).unwrap_err().kind(), std::io::ErrorKind::AddrInUse);
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let shutdown = Shutdown::new();
    let done = spawn(edge::serve(listener, short(), echo, shutdown.clone()));
    let mut client = tokio::net::UnixStream::connect(&path).await.unwrap();
    client.write_all(GET.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n").as_bytes()).await.unwrap();
    let mut heard = String::new();
    client.read_to_string(&mut heard).await.unwrap();
    assert!(heard.starts_with("HTTP/1.1 200"), "{heard}");
    shutdown.trigger();
    done.await.unwrap();
    assert!(!path.exists());
}

#[tokio::test]
async fn a_broken_off_body_ends_the_connection() {
    async fn half(_request: Request<Body>) -> Response<Body> {
        let (sender, body) = Body::channel(1);
        spawn(async move {
            sender.send("half").await;
            sender.abort().await;
        });
        Response::new(body)
    }
    let server = start(short(), half);
    let heard = server.ask(GET).await;
    assert!(heard.ends_with("4\r\nhalf\r\n"), "{heard}");
}

#[tokio::test]
async fn a_sender_learns_that_the_client_left() {
    let (left, mut gone) = tokio::sync::mpsc::channel(1);
    let handler = move |_request| {
        let left = left.clone();
        async move {
            let (sender, body) = Body::channel(1);
            spawn(async move {
                sender.send("hello").await;
                sender.wait_closed().await;
                left.send(()).await.unwrap();
            });
            Response::new(body)
        }
    };
    let server = start(short(), handler);
    let mut client = server.connect().await;
    client.say(GET).await;
    client.hear_until("hello").await;
    drop(client);
    timeout(ms(1000), gone.recv()).await.expect("not told").unwrap();
    server.until(|stats| stats.open == 0).await;
}

/// Refuses everything without a look at its body.
async fn refuse(_: Request<Body>) -> Response<Body> {
    let mut response = Response::new(Body::full("no"));
    *response.status_mut() = StatusCode::FORBIDDEN;
    response
}

#[tokio::test]
async fn a_refusal_that_leaves_much_unread_ends_the_connection_and_says_so() {
    let server = start(short(), refuse);
    let post = |fields: &str| format!("POST / HTTP/1.1\r\nHost: a\r\n{fields}\r\n\r\n");
    for (request, body) in [
        (post("Content-Length: 5000000"), "x".repeat(100_000)),
        (post("Content-Length: 65537"), String::new()),
        (post("Transfer-Encoding: chunked"), "3\r\nabc\r\n".to_owned()),
        (post("Expect: 100-continue\r\nContent-Length: 3"), String::new()),
        // It is said to be short, and does not come.
        (post("Content-Length: 3"), "ab".to_owned()),
    ] {
        let heard = server.ask(request.clone() + &body).await;
        assert!(heard.starts_with("HTTP/1.1 403 "), "{request}: {heard}");
        assert!(heard.contains("\r\nconnection: close\r\n"), "{request}: {heard}");
    }
    let mut client = server.connect().await;
    for late in [false, true] {
        client.say(post("Content-Length: 60000")).await;
        if late {
            sleep(ms(50)).await;
        }
        client.say("x".repeat(60_000)).await;
        let heard = client.answer().await;
        assert!(!heard.contains("connection: close"), "{heard}");
    }
    client.say(GET).await;
    assert!(client.answer().await.starts_with("HTTP/1.1 403 "));
}
