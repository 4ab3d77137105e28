use super::*;

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00";

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// `GET / http a` in static and literal header fields.
fn get(stream: u32, flags: u8) -> Vec<u8> {
    frame(1, flags, stream, b"\x82\x84\x86\x41\x01a")
}

async fn h2(server: &Server) -> (h2::client::SendRequest<Bytes>, JoinHandle<Result<(), h2::Error>>) {
    let stream = TcpStream::connect(server.addr).await.unwrap();
    let (client, connection) = h2::client::handshake(stream).await.unwrap();
    (client, spawn(connection))
}

async fn text(mut body: h2::RecvStream) -> String {
    let mut text = String::new();
    while let Some(bytes) = body.data().await {
        text += std::str::from_utf8(&bytes.unwrap()).unwrap();
    }
    text
}

#[tokio::test]
async fn http2_requests_share_a_connection() {
    let server = start(short_timeouts(), echo);
    let (client, connection) = h2(&server).await;
    let mut client = client.ready().await.unwrap();
    let mut answers = Vec::new();
    for number in 0..100 {
        let request = Request::get(format!("http://a/{number}")).body(()).unwrap();
        answers.push(client.send_request(request, true).unwrap().0);
    }
    for (number, answer) in answers.into_iter().enumerate() {
        let answer = answer.await.unwrap();
        assert!(answer.headers().contains_key("date"));
        assert_eq!(text(answer.into_body()).await, format!("/{number}"));
    }
    let started = now();
    let _ended = timeout(Duration::from_secs(9), connection).await.expect("closed at rest");
    assert_about(started.elapsed(), 600);
}

#[tokio::test]
async fn http2_requests_of_an_address_are_limited_over_its_connections() {
    let wait = |request: Request<Body>| async move {
        if request.uri().path() == "/wait" {
            sleep(ms(1000)).await;
        }
        Response::new(Body::full("ok"))
    };
    let server = start(ListenerLimits { max_connections_per_ip: 3, ..short_timeouts() }, wait);
    let get = |path: &str| Request::get(format!("http://a{path}")).body(()).unwrap();
    let mut clients = [h2(&server).await.0, h2(&server).await.0];
    let mut send = |client: usize, path: &str| clients[client].send_request(get(path), true).unwrap().0;
    let waiting = [0, 1, 0].map(|client| send(client, "/wait"));
    server.wait_until(|stats| stats.requests == 3).await;
    let refused = send(1, "/").await.unwrap();
    assert_eq!((refused.status().as_u16(), refused.headers()["retry-after"].to_str().unwrap()), (503, "1"));
    for answer in waiting {
        assert_eq!(answer.await.unwrap().status(), 200);
    }
    assert_eq!(send(1, "/").await.unwrap().status(), 200);
}

#[tokio::test]
async fn stalled_http2_stream_times_out_without_affecting_others() {
    let server = start(short_timeouts(), echo);
    let (mut client, _connection) = h2(&server).await;
    let post = Request::post("http://a/").body(()).unwrap();
    let (answer, mut upload) = client.send_request(post, false).unwrap();
    upload.send_data(Bytes::from_static(b"ab"), false).unwrap();
    let started = now();
    assert_eq!(answer.await.unwrap().status(), 408);
    assert_about(started.elapsed(), 300);
    let (answer, _) = client.send_request(Request::get("http://a/x").body(()).unwrap(), true).unwrap();
    assert_eq!(text(answer.await.unwrap().into_body()).await, "/x");
}

#[tokio::test]
async fn unread_http2_response_is_reset_without_affecting_others() {
    let server = start(short_timeouts(), |request: Request<Body>| async move {
        let body = match request.uri().path() {
            "/endless" => Body::stream(futures_util::stream::repeat_with(|| Ok(Bytes::from_static(&[b'x'; 16_384])))),
            "/silent" => Body::stream(futures_util::stream::pending()),
            _ => Body::full("short"),
        };
        Response::new(body)
    });
    let stream = TcpStream::connect(server.addr).await.unwrap();
    // Without room on the connection, no stream would have any.
    let (client, connection) =
        h2::client::Builder::new().initial_connection_window_size(1 << 24).handshake::<_, Bytes>(stream).await.unwrap();
    let _connection = spawn(connection);
    let mut client = client.ready().await.unwrap();
    let mut get = |path: &str| {
        let request = Request::get(format!("http://a/{path}")).body(()).unwrap();
        client.send_request(request, true).unwrap().0
    };
    let started = now();
    let mut silent = get("silent").await.unwrap().into_body();
    let mut unread = get("endless").await.unwrap().into_body();
    let reset = loop {
        // Nothing is released to make room for more.
        match unread.data().await {
            Some(Ok(_)) => {}
            other => break other.unwrap().unwrap_err(),
        }
    };
    assert_eq!(reset.reason(), Some(h2::Reason::CANCEL));
    assert_about(started.elapsed(), 400);
    assert_eq!(text(get("short").await.unwrap().into_body()).await, "short");
    // One that has nothing to send is not blocked.
    assert!(timeout(ms(100), silent.data()).await.is_err());
    let snapshot = server.stats.snapshot();
    assert_eq!((snapshot.write_timeouts, snapshot.open), (1, 1));
}

#[tokio::test]
async fn http2_response_that_no_room_is_made_for_is_reset() {
    let server = start(short_timeouts(), echo);
    let stream = TcpStream::connect(server.addr).await.unwrap();
    let (mut client, connection) =
        h2::client::Builder::new().initial_window_size(0).handshake::<_, Bytes>(stream).await.unwrap();
    let _connection = spawn(connection);
    let started = now();
    let answer = client.send_request(Request::get("http://a/x").body(()).unwrap(), true).unwrap().0;
    let mut body = answer.await.unwrap().into_body();
    let reset = timeout(ms(5_000), body.data()).await.unwrap().unwrap().unwrap_err();
    assert_eq!(reset.reason(), Some(h2::Reason::CANCEL));
    assert_about(started.elapsed(), 400);
}

#[tokio::test]
async fn shutdown_finishes_http2_requests() {
    let late = |_request| async {
        sleep(ms(300)).await;
        Response::new(Body::full("late"))
    };
    let patient = ListenerLimits { shutdown_grace: ms(20_000), ..short_timeouts() };
    let server = start(patient, late);
    let (mut client, _connection) = h2(&server).await;
    let (_rested, _connection_too) = h2(&server).await;
    let (answer, _) = client.send_request(Request::get("http://a/").body(()).unwrap(), true).unwrap();
    server.wait_until(|stats| stats.requests == 1).await;
    let started = now();
    server.shutdown.trigger();
    assert_eq!(text(answer.await.unwrap().into_body()).await, "late");
    server.done.await.unwrap();
    assert!(started.elapsed() < ms(5_000), "{:?}", started.elapsed());
    assert_eq!(server.stats.snapshot().aborted, 0);
}

#[tokio::test]
async fn http2_stream_above_the_limit_is_refused_and_the_others_are_served() {
    let release = Shutdown::new();
    let wait = {
        let release = release.clone();
        move |_request| {
            let release = release.clone();
            async move {
                release.wait().await;
                Response::new(Body::full("done"))
            }
        }
    };
    let server = start(ListenerLimits::default(), wait);
    let (mut from, mut to) = server.connect().await.0.into_split();
    to.write_all(PREFACE).await.unwrap();
    for number in 0..129 {
        to.write_all(&get(2 * number + 1, 5)).await.unwrap();
    }
    let mut refused = Vec::new();
    while refused.is_empty() {
        let mut head = [0; 9];
        from.read_exact(&mut head).await.unwrap();
        let mut payload = vec![0; usize::from(u16::from_be_bytes([head[1], head[2]]))];
        from.read_exact(&mut payload).await.unwrap();
        if head[3] == 3 {
            refused.push((u32::from_be_bytes(head[5..9].try_into().unwrap()), payload));
        }
    }
    assert_eq!(refused, [(257, 7_u32.to_be_bytes().to_vec())], "RST_STREAM with REFUSED_STREAM");
    server.wait_until(|stats| stats.requests == 128).await;
    release.trigger();
    assert!(server.responds().await);
}

/// Sends the same bytes until the server has had enough; says whether it had.
async fn flood(server: &Server, piece: impl Fn(u32) -> Vec<u8>, times: u32) -> bool {
    let (mut from, mut to) = server.connect().await.0.into_split();
    let received = spawn(async move { tokio::io::copy(&mut from, &mut tokio::io::sink()).await });
    let mut refused = to.write_all(PREFACE).await.is_err();
    for number in 0..times {
        refused |= timeout(ms(500), to.write_all(&piece(number))).await.map_or(true, |sent| sent.is_err());
        if refused {
            break;
        }
    }
    for _ in 0..30 {
        refused |= received.is_finished();
        sleep(ms(10)).await;
    }
    received.abort();
    refused
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn resets_continuations_and_excess_streams_are_stopped() {
    let never = |_request| async { std::future::pending::<Response<Body>>().await };
    let server = start(ListenerLimits { idle_timeout: Duration::from_mins(1), ..short_timeouts() }, never);
    let reset = |number: u32| {
        let stream = 2 * number + 1;
        [get(stream, 5), frame(3, 0, stream, &8_u32.to_be_bytes())].concat()
    };
    assert!(flood(&server, reset, 20_000).await, "rapid reset");
    let continuation = |number| match number {
        0 => get(1, 1),
        _ => frame(9, 0, 1, &[b"\x00\x01x\x7f\x80\x7c".as_slice(), &[b'y'; 16_000]].concat()),
    };
    assert!(flood(&server, continuation, 1000).await, "continuation");
    let small_continuation = |number| match number {
        0 => get(1, 1),
        _ => frame(9, 0, 1, b""),
    };
    assert!(flood(&server, small_continuation, 50_000).await, "empty continuation");
    let opened = |number: u32| get(2 * number + 1, 5);
    let _refused_streams_only = flood(&server, opened, 2000).await;
    assert!(server.stats.snapshot().requests < 1000, "{:?}", server.stats.snapshot());
    server.wait_until(|stats| stats.open == 0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connection_flooding_pings_or_settings_is_closed() {
    let server = start(short_timeouts(), echo);
    for piece in [frame(6, 0, 0, b"12345678"), frame(4, 0, 0, b"")] {
        let mut client = server.connect().await; // reads no answer
        client.send(PREFACE).await;
        let many = piece.repeat(1000);
        for _ in 0..3000 {
            if !matches!(timeout(ms(300), client.0.write_all(&many)).await, Ok(Ok(()))) {
                break;
            }
        }
        assert!(server.responds().await);
        server.wait_until(|stats| stats.open == 0).await;
    }
}
