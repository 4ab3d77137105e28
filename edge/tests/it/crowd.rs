use std::process::Command;

use super::*;

#[tokio::test]
async fn too_many_connections_are_told_so() {
    let by_address = ListenerLimits { max_connections_per_ip: 3, ..short() };
    let altogether = ListenerLimits { max_connections: 3, ..short() };
    for limits in [by_address, altogether] {
        let server = start(limits, echo);
        let mut inside = Vec::new();
        for _ in 0..3 {
            let mut client = server.connect().await;
            client.say(GET).await;
            client.answer().await;
            inside.push(client);
        }
        for _ in 0..100 {
            let heard = server.ask(GET).await;
            assert!(heard.starts_with("HTTP/1.1 503 "), "{heard}");
            assert!(heard.contains(r#""status":503"#) && heard.contains("retry-after: 1"), "{heard}");
        }
        let stats = server.stats.snapshot();
        assert_eq!((stats.refused + stats.refused_by_address, stats.open), (100, 3));
        inside.pop();
        server.until(|stats| stats.open == 2).await;
        assert!(server.is_alive().await);
    }
}

/// Runs the next test alone, in a process that may open few files.
#[test]
fn want_of_descriptors_is_survived() {
    let this = std::env::current_exe().unwrap();
    let run = format!("ulimit -n 60; exec {this:?} --exact crowd::few_descriptors --ignored");
    let output = Command::new("sh").args(["-c", &run]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

#[tokio::test]
#[ignore = "run by the test before it, with few descriptors"]
async fn few_descriptors() {
    let limits = ListenerLimits { header_timeout: Duration::from_secs(30), ..ListenerLimits::default() };
    let server = start(limits, echo);
    let mut first = server.connect().await;
    first.say(GET).await;
    first.answer().await;
    let mut clients = Vec::new();
    while let Ok(client) = TcpStream::connect(server.addr).await {
        clients.push(client); // each takes two descriptors here: ours and the server's
    }
    server.until(|stats| stats.accept_errors > 0).await;
    first.say(GET).await;
    assert!(first.answer().await.starts_with("HTTP/1.1 200"));
    clients.clear();
    server.until(|stats| stats.open == 1).await;
    assert!(server.is_alive().await);
}
