use super::*;

/// An endless stream that ends with a final message on the signal, or ignores it.
fn streaming(signal: Shutdown, listens: bool) -> impl Handler {
    move |_request| {
        let (sender, body) = body_channel(4);
        spawn(tick(sender, signal.clone(), listens));
        async { Response::new(body) }
    }
}

async fn tick(sender: ChunkSender, signal: Shutdown, listens: bool) {
    while !(listens && signal.is_triggered()) && sender.send(Ok("tick".into())).await.is_ok() {
        let _signal = timeout(ms(20), std::future::pending::<()>()).await;
    }
    let _reader_gone = sender.send(Ok("goodbye".into())).await;
}

fn start_streaming(listens: bool) -> Server {
    let listener = edge::bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let (addr, stats) = (listener.local_addr().unwrap(), listener.stats());
    let shutdown = Shutdown::new();
    let handler = streaming(shutdown.clone(), listens);
    let limits = ListenerLimits { shutdown_grace: if listens { ms(20_000) } else { ms(700) }, ..short_timeouts() };
    let done = spawn(edge::serve(listener, limits, handler, shutdown.clone()));
    Server { addr, stats, shutdown, done }
}

#[tokio::test]
async fn shutdown_closes_idle_connections_in_time() {
    let server = start(ListenerLimits::default(), echo);
    let mut idle = server.connect().await;
    idle.send(GET).await;
    idle.read_response().await;
    let (mut silent, mut half) = (server.connect().await, server.connect().await);
    half.send("GET / HT").await;
    server.wait_until(|stats| stats.open == 3).await;
    let started = now();
    server.shutdown.trigger();
    server.done.await.unwrap();
    assert!(started.elapsed() < ms(5_000), "{:?}", started.elapsed());
    for client in [&mut idle, &mut silent, &mut half] {
        assert_eq!(client.read_to_close().await, "");
    }
    assert!(TcpStream::connect(server.addr).await.is_err());
}

#[tokio::test]
async fn connection_opened_just_before_shutdown_gets_its_first_response() {
    let server = start(ListenerLimits::default(), echo);
    let (mut silent, mut half) = (server.connect().await, server.connect().await);
    half.send("GET / HT").await;
    server.wait_until(|stats| stats.open == 2).await;
    server.shutdown.trigger();
    // Long enough for the signal to arrive, and shorter than the time for a first request.
    sleep(ms(100)).await;
    silent.send(GET).await;
    half.send("TP/1.1\r\nHost: a\r\n\r\n").await;
    for client in [&mut silent, &mut half] {
        let received = client.read_to_close().await;
        assert!(received.starts_with("HTTP/1.1 200"), "{received}");
    }
    server.done.await.unwrap();
}

#[tokio::test]
async fn shutdown_finishes_requests_in_flight() {
    let late = |_request| async {
        sleep(ms(300)).await;
        Response::new(Body::full(vec![b'x'; 1_000_000]))
    };
    let server = start(short_timeouts(), late);
    let mut client = server.connect().await;
    client.send(GET).await;
    server.wait_until(|stats| stats.requests == 1).await;
    server.shutdown.trigger();
    let received = client.read_to_close().await;
    assert!(received.contains("connection: close") && received.len() > 1_000_000);
    server.done.await.unwrap();
    assert_eq!(server.stats.snapshot().aborted, 0);
}

#[tokio::test]
async fn shutdown_lets_a_stream_send_a_final_message() {
    let server = start_streaming(true);
    let mut client = server.connect().await;
    client.send(GET).await;
    client.read_until("tick").await;
    let started = now();
    server.shutdown.trigger();
    assert!(client.read_to_close().await.ends_with("7\r\ngoodbye\r\n0\r\n\r\n"));
    server.done.await.unwrap();
    assert!(started.elapsed() < ms(5_000), "{:?}", started.elapsed());
}

#[tokio::test]
async fn stream_is_aborted_after_the_grace_period() {
    let server = start_streaming(false);
    let mut client = server.connect().await;
    client.send(GET).await;
    client.read_until("tick").await;
    let started = now();
    server.shutdown.trigger();
    assert!(!client.read_to_close().await.ends_with("0\r\n\r\n"));
    server.done.await.unwrap();
    assert_about(started.elapsed(), 700);
    assert_eq!(server.stats.snapshot().aborted, 1);
}

#[tokio::test]
async fn shutdown_signal_reaches_earlier_and_later_waiters() {
    let signal = Shutdown::new();
    let waiting = spawn({
        let signal = signal.clone();
        async move { signal.wait().await }
    });
    sleep(ms(20)).await;
    assert!(!waiting.is_finished() && !signal.is_triggered());
    signal.trigger();
    waiting.await.unwrap();
    signal.wait().await;
    assert!(signal.is_triggered());
}
