use tokio::net::tcp::OwnedWriteHalf;

use super::*;

/// Sends a piece repeatedly; the connection stays open for writing at the end.
async fn send_slowly(mut to: OwnedWriteHalf, piece: &str, times: usize, every: u64) -> OwnedWriteHalf {
    for _ in 0..times {
        sleep(ms(every)).await;
        let _closed_already = to.write_all(piece.as_bytes()).await;
    }
    to
}

#[tokio::test]
async fn silent_connection_is_closed() {
    let server = start(short_timeouts(), echo);
    assert_about(server.connect().await.time_until_closed().await, 300);
    assert_eq!(server.stats.snapshot().header_timeouts, 1);
    server.wait_until(|stats| stats.open == 0).await;
}

#[tokio::test]
async fn partial_request_line_is_closed() {
    let server = start(short_timeouts(), echo);
    for half in ["G", "GET / HT", "PRI * HT", "PRI * HTTP/2.0\r\n\r\nS", "GET / HTTP/1.1\r\nHost: a\r\n"] {
        let mut client = server.connect().await;
        client.send(half).await;
        let wanted = if half.starts_with("PRI * HTTP") { 600 } else { 300 };
        assert_about(client.time_until_closed().await, wanted);
    }
}

#[tokio::test]
async fn header_sent_slowly_is_closed_at_the_header_timeout() {
    let server = start(short_timeouts(), echo);
    for start in ["GET / HTTP/1.1\r\n", "", "\r\n"] {
        let mut client = server.connect().await;
        client.send(start).await;
        let (mut from, to) = client.0.into_split();
        let send_slowly = spawn(send_slowly(to, "a: b\r\n", 400, 20));
        let started = now();
        let mut received = Vec::new();
        let _reset = from.read_to_end(&mut received).await;
        if start.starts_with('G') {
            assert_about(started.elapsed(), 300);
            assert!(received.is_empty());
        }
        send_slowly.abort();
    }
}

#[tokio::test]
async fn second_request_has_its_own_header_timeout() {
    let server = start(short_timeouts(), echo);
    let mut client = server.connect().await;
    for _ in 0..3 {
        client.send(GET).await;
        client.read_response().await;
        sleep(ms(400)).await; // longer than a head may take, shorter than a rest
    }
    client.send("GET /").await;
    assert_about(client.time_until_closed().await, 300);
    assert_eq!(server.stats.snapshot().header_timeouts, 1);
}

#[tokio::test]
async fn idle_connection_is_closed() {
    let server = start(short_timeouts(), echo);
    let mut client = server.connect().await;
    client.send(GET).await;
    client.read_response().await;
    assert_about(client.time_until_closed().await, 600);
    assert_eq!(server.stats.snapshot().idle_timeouts, 1);
}

#[tokio::test]
async fn stalled_body_gets_408() {
    let server = start(short_timeouts(), echo);
    for framing in ["Content-Length: 10", "Transfer-Encoding: chunked"] {
        let mut client = server.connect().await;
        client.send(format!("POST / HTTP/1.1\r\nHost: a\r\n{framing}\r\n\r\n5\r\nab")).await;
        let started = now();
        let received = client.read_until("\r\n\r\n").await;
        assert_about(started.elapsed(), 300);
        assert!(received.starts_with("HTTP/1.1 408 "), "{received}");
        assert!(received.contains("connection: close"), "{received}");
    }
    assert_eq!(server.stats.snapshot().body_timeouts, 2);
}

#[tokio::test]
async fn slow_body_is_accepted_until_the_total_timeout() {
    let limits = ListenerLimits { body_total_timeout: ms(900), min_body_rate: 1, ..short_timeouts() };
    let server = start(limits, echo);
    for (pieces, status) in [(5, "200"), (50, "408")] {
        let mut client = server.connect().await;
        client.send(format!("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: {pieces}\r\n\r\n")).await;
        let (mut from, to) = client.0.into_split();
        let send_slowly = spawn(send_slowly(to, "x", pieces, 100));
        let mut received = [0; 12];
        from.read_exact(&mut received).await.unwrap();
        assert_eq!(String::from_utf8_lossy(&received), format!("HTTP/1.1 {status}"));
        send_slowly.abort();
    }
}

#[tokio::test]
async fn body_below_the_minimum_rate_gets_408() {
    let limits = ListenerLimits { min_body_rate: 20, body_timeout: ms(500), ..short_timeouts() };
    let server = start(limits, echo);
    // In pieces each 100 ms: 10 bytes a second are too slow, 100 are not.
    for (piece, status) in [("x", "408"), ("xxxxxxxxxx", "200")] {
        let mut client = server.connect().await;
        let length = piece.len() * 20;
        client.send(format!("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\n\r\n")).await;
        let (mut from, to) = client.0.into_split();
        let send_slowly = spawn(send_slowly(to, piece, 20, 100));
        let mut received = [0; 12];
        from.read_exact(&mut received).await.unwrap();
        assert_eq!(String::from_utf8_lossy(&received), format!("HTTP/1.1 {status}"));
        send_slowly.abort();
    }
}

#[tokio::test]
async fn client_that_reads_no_response_is_closed() {
    let large = |_request| async { Response::new(Body::full(vec![b'x'; 32 << 20])) };
    let server = start(short_timeouts(), large);
    let mut client = server.connect().await;
    client.send(GET).await;
    server.wait_until(|stats| stats.write_timeouts == 1 && stats.open == 0).await;
    assert!(client.read_to_close().await.len() < 32 << 20);
}

#[tokio::test]
async fn slow_handler_is_not_timed_out() {
    let late = |_request| async {
        sleep(ms(1500)).await;
        Response::new(Body::full("late"))
    };
    let server = start(short_timeouts(), late);
    let mut client = server.connect().await;
    client.send(GET).await;
    assert!(client.read_response().await.ends_with("late"));
    assert_about(client.time_until_closed().await, 600);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_clients_do_not_delay_others() {
    let limits = ListenerLimits { max_connections_per_ip: 5000, header_timeout: ms(60_000), ..short_timeouts() };
    let server = start(limits, echo);
    let mut slow = Vec::new();
    for number in 0..400 {
        let mut client = server.connect().await;
        client.send(if number % 2 == 0 { "" } else { "GET / HTTP/1.1\r\nHost:" }).await;
        slow.push(client);
    }
    let started = now();
    for _ in 0..100 {
        assert!(server.responds().await);
    }
    assert!(started.elapsed() < ms(20_000), "{:?}", started.elapsed());
    server.wait_until(|stats| stats.open >= 400).await;
}
