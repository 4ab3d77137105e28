use tokio::net::tcp::OwnedWriteHalf;

use super::*;

/// Sends a piece again and again; the connection stays open for writing at the end.
async fn dribble(mut to: OwnedWriteHalf, piece: &str, times: usize, every: u64) -> OwnedWriteHalf {
    for _ in 0..times {
        sleep(ms(every)).await;
        let _closed_already = to.write_all(piece.as_bytes()).await;
    }
    to
}

#[tokio::test]
async fn a_silent_connection_is_closed() {
    let server = start(short(), echo);
    about(server.connect().await.closed_after().await, 300);
    assert_eq!(server.stats.snapshot().header_timeouts, 1);
    server.until(|stats| stats.open == 0).await;
}

#[tokio::test]
async fn half_a_request_line_is_closed() {
    let server = start(short(), echo);
    for half in ["G", "GET / HT", "PRI * HT", "PRI * HTTP/2.0\r\n\r\nS", "GET / HTTP/1.1\r\nHost: a\r\n"] {
        let mut client = server.connect().await;
        client.say(half).await;
        let wanted = if half.starts_with("PRI * HTTP") { 600 } else { 300 };
        about(client.closed_after().await, wanted);
    }
}

#[tokio::test]
async fn a_dribbled_head_is_closed_at_the_same_time() {
    let server = start(short(), echo);
    for start in ["GET / HTTP/1.1\r\n", "", "\r\n"] {
        let mut client = server.connect().await;
        client.say(start).await;
        let (mut from, to) = client.0.into_split();
        let dribble = spawn(dribble(to, "a: b\r\n", 400, 20));
        let begun = now();
        let mut heard = Vec::new();
        let _reset = from.read_to_end(&mut heard).await;
        if start.starts_with('G') {
            about(begun.elapsed(), 300);
            assert!(heard.is_empty());
        }
        dribble.abort();
    }
}

#[tokio::test]
async fn a_second_head_has_its_own_time() {
    let server = start(short(), echo);
    let mut client = server.connect().await;
    for _ in 0..3 {
        client.say(GET).await;
        client.answer().await;
        sleep(ms(400)).await; // longer than a head may take, shorter than a rest
    }
    client.say("GET /").await;
    about(client.closed_after().await, 300);
    assert_eq!(server.stats.snapshot().header_timeouts, 1);
}

#[tokio::test]
async fn a_connection_at_rest_is_closed() {
    let server = start(short(), echo);
    let mut client = server.connect().await;
    client.say(GET).await;
    client.answer().await;
    about(client.closed_after().await, 600);
    assert_eq!(server.stats.snapshot().idle_timeouts, 1);
}

#[tokio::test]
async fn a_stalled_body_is_given_up() {
    let server = start(short(), echo);
    for framing in ["Content-Length: 10", "Transfer-Encoding: chunked"] {
        let mut client = server.connect().await;
        client.say(format!("POST / HTTP/1.1\r\nHost: a\r\n{framing}\r\n\r\n5\r\nab")).await;
        let begun = now();
        let heard = client.hear_until("\r\n\r\n").await;
        about(begun.elapsed(), 300);
        assert!(heard.starts_with("HTTP/1.1 408 "), "{heard}");
        assert!(heard.contains("connection: close"), "{heard}");
    }
    assert_eq!(server.stats.snapshot().body_timeouts, 2);
}

#[tokio::test]
async fn a_slow_body_may_take_its_time_but_not_for_ever() {
    let limits = ListenerLimits { body_total_timeout: ms(900), min_body_rate: 1, ..short() };
    let server = start(limits, echo);
    for (pieces, status) in [(5, "200"), (50, "408")] {
        let mut client = server.connect().await;
        client.say(format!("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: {pieces}\r\n\r\n")).await;
        let (mut from, to) = client.0.into_split();
        let dribble = spawn(dribble(to, "x", pieces, 100));
        let mut heard = [0; 12];
        from.read_exact(&mut heard).await.unwrap();
        assert_eq!(String::from_utf8_lossy(&heard), format!("HTTP/1.1 {status}"));
        dribble.abort();
    }
}

#[tokio::test]
async fn body_below_the_least_rate_is_refused() {
    let limits = ListenerLimits { min_body_rate: 20, body_timeout: ms(500), ..short() };
    let server = start(limits, echo);
    // In pieces each 100 ms: 10 bytes a second are too slow, 100 are not.
    for (piece, status) in [("x", "408"), ("xxxxxxxxxx", "200")] {
        let mut client = server.connect().await;
        let length = piece.len() * 20;
        client.say(format!("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\n\r\n")).await;
        let (mut from, to) = client.0.into_split();
        let dribble = spawn(dribble(to, piece, 20, 100));
        let mut heard = [0; 12];
        from.read_exact(&mut heard).await.unwrap();
        assert_eq!(String::from_utf8_lossy(&heard), format!("HTTP/1.1 {status}"));
        dribble.abort();
    }
}

#[tokio::test]
async fn a_client_that_takes_nothing_is_closed() {
    let large = |_request| async { Response::new(Body::full(vec![b'x'; 32 << 20])) };
    let server = start(short(), large);
    let mut client = server.connect().await;
    client.say(GET).await;
    server.until(|stats| stats.write_timeouts == 1 && stats.open == 0).await;
    assert!(client.rest().await.len() < 32 << 20);
}

#[tokio::test]
async fn a_slow_handler_has_no_deadline() {
    let late = |_request| async {
        sleep(ms(1500)).await;
        Response::new(Body::full("late"))
    };
    let server = start(short(), late);
    let mut client = server.connect().await;
    client.say(GET).await;
    assert!(client.answer().await.ends_with("late"));
    about(client.closed_after().await, 600);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_clients_do_not_slow_others() {
    let limits = ListenerLimits { max_connections_per_ip: 5000, header_timeout: ms(60_000), ..short() };
    let server = start(limits, echo);
    let mut slow = Vec::new();
    for number in 0..400 {
        let mut client = server.connect().await;
        client.say(if number % 2 == 0 { "" } else { "GET / HTTP/1.1\r\nHost:" }).await;
        slow.push(client);
    }
    let begun = now();
    for _ in 0..100 {
        assert!(server.is_alive().await);
    }
    assert!(begun.elapsed() < ms(20_000), "{:?}", begun.elapsed());
    server.until(|stats| stats.open >= 400).await;
}
