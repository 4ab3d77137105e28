use super::*;

/// An endless stream that ends with a good-bye on the signal, or takes no notice of it.
fn streaming(signal: Shutdown, listens: bool) -> impl Handler {
    move |_request| {
        let (sender, body) = Body::channel(4);
        spawn(tick(sender, signal.clone(), listens));
        async { Response::new(body) }
    }
}

async fn tick(sender: edge::BodySender, signal: Shutdown, listens: bool) {
    while !(listens && signal.is_triggered()) && sender.send("tick").await {
        let _signal = timeout(ms(20), std::future::pending::<()>()).await;
    }
    sender.send("good-bye").await;
}

fn start_streaming(listens: bool) -> Server {
    let listener = edge::bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let (addr, stats) = (listener.local_addr().unwrap(), listener.stats());
    let shutdown = Shutdown::new();
    let handler = streaming(shutdown.clone(), listens);
    let limits = ListenerLimits { shutdown_grace: if listens { ms(20_000) } else { ms(700) }, ..short() };
    let done = spawn(edge::serve(listener, limits, handler, shutdown.clone()));
    Server { addr, stats, shutdown, done }
}

#[tokio::test]
async fn connections_at_rest_are_closed_at_once() {
    let server = start(ListenerLimits::default(), echo);
    let mut rested = server.connect().await;
    rested.say(GET).await;
    rested.answer().await;
    let (mut silent, mut half) = (server.connect().await, server.connect().await);
    half.say("GET / HT").await;
    server.until(|stats| stats.open == 3).await;
    let begun = now();
    server.shutdown.trigger();
    server.done.await.unwrap();
    assert!(begun.elapsed() < ms(5_000), "{:?}", begun.elapsed());
    for client in [&mut rested, &mut silent, &mut half] {
        assert_eq!(client.rest().await, "");
    }
    assert!(TcpStream::connect(server.addr).await.is_err());
}

#[tokio::test]
async fn requests_in_flight_are_finished() {
    let late = |_request| async {
        sleep(ms(300)).await;
        Response::new(Body::full(vec![b'x'; 1_000_000]))
    };
    let server = start(short(), late);
    let mut client = server.connect().await;
    client.say(GET).await;
    server.until(|stats| stats.requests == 1).await;
    server.shutdown.trigger();
    let heard = client.rest().await;
    assert!(heard.contains("connection: close") && heard.len() > 1_000_000);
    server.done.await.unwrap();
    assert_eq!(server.stats.snapshot().aborted, 0);
}

#[tokio::test]
async fn a_stream_says_good_bye() {
    let server = start_streaming(true);
    let mut client = server.connect().await;
    client.say(GET).await;
    client.hear_until("tick").await;
    let begun = now();
    server.shutdown.trigger();
    assert!(client.rest().await.ends_with("8\r\ngood-bye\r\n0\r\n\r\n"));
    server.done.await.unwrap();
    assert!(begun.elapsed() < ms(5_000), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn a_stream_that_stays_is_cut_off() {
    let server = start_streaming(false);
    let mut client = server.connect().await;
    client.say(GET).await;
    client.hear_until("tick").await;
    let begun = now();
    server.shutdown.trigger();
    assert!(!client.rest().await.ends_with("0\r\n\r\n"));
    server.done.await.unwrap();
    about(begun.elapsed(), 700);
    assert_eq!(server.stats.snapshot().aborted, 1);
}

#[tokio::test]
async fn the_signal_is_seen_before_and_after() {
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
