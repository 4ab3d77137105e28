//! More connections than the server has descriptors for.

use std::time::Duration;

use serde_json::json;
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::{address_of, connect_from, exchange_status, run_clients};
use crate::harness::{TestServer, metric, suite_setting, wait_until};

const GET: &[u8] = b"GET /livez HTTP/1.1\r\nHost: a\r\n\r\n";
const OPEN_AT_ONCE: u32 = 200;

#[derive(Debug, Default)]
struct ConnectCounts {
    served: Vec<TcpStream>,
    refused_with_503: u64,
    closed: u64,
    unanswered: u64,
}

async fn connect_and_ask(number: u32, server: std::net::SocketAddr) -> (Option<TcpStream>, Option<Option<u16>>) {
    let Ok(mut client) = connect_from(number % 20_000, server).await else {
        return (None, Some(None));
    };
    let status = timeout(Duration::from_secs(20), exchange_status(&mut client, GET)).await.ok();
    (Some(client), status)
}

async fn connect_many(server: &TestServer, connects: u32) -> ConnectCounts {
    let mut counts = ConnectCounts::default();
    for first in (0..connects).step_by(OPEN_AT_ONCE.try_into().unwrap()) {
        let mut tasks = JoinSet::new();
        for number in first..connects.min(first + OPEN_AT_ONCE) {
            tasks.spawn(connect_and_ask(number, address_of(server)));
        }
        for (client, outcome) in tasks.join_all().await {
            match (client, outcome) {
                (Some(client), Some(Some(200))) => counts.served.push(client),
                (_, Some(Some(503))) => counts.refused_with_503 += 1,
                (_, Some(_)) => counts.closed += 1,
                (_, None) => counts.unanswered += 1,
            }
        }
    }
    counts
}

/// `LOCUM_CONNECTS=20000` connects under `ulimit -n 4096`; prints its figures as JSON.
#[test]
fn connections_above_the_descriptor_limit_are_refused_and_the_listener_recovers() {
    let connects = suite_setting("LOCUM_CONNECTS", 1_000);
    let descriptors: u64 = if connects >= 10_000 { 4_096 } else { 256 };
    let mut server = TestServer::prepare(&["--world", "empty"]);
    server.set_descriptor_limit(descriptors);
    server.restart();
    run_clients(async {
        let mut first = connect_from(0, address_of(&server)).await.unwrap();
        assert_eq!(exchange_status(&mut first, GET).await, Some(200));
        let counts = connect_many(&server, connects.try_into().unwrap()).await;
        let in_use = std::fs::read_dir(format!("/proc/{}/fd", server.pid())).unwrap().count();
        let figures = json!({
            "connects": connects, "descriptor_limit": descriptors, "descriptors_in_use": in_use,
            "served": counts.served.len(), "refused_with_503": counts.refused_with_503, "closed": counts.closed,
            "unanswered": counts.unanswered,
        });
        println!("figure: {figures}");
        assert_eq!(counts.unanswered, 0, "{figures}");
        // Less the first connection and those of this test's other requests.
        let expected = descriptors - (descriptors / 4).max(128);
        assert!((expected - 8..expected).contains(&u64::try_from(counts.served.len()).unwrap()), "{figures}");
        assert!(counts.refused_with_503 > 0 && u64::try_from(in_use).unwrap() < descriptors, "{figures}");
        let mut rest = vec![0; 4096];
        let _head = tokio::io::AsyncReadExt::read(&mut first, &mut rest).await.unwrap();
        assert_eq!(exchange_status(&mut first, GET).await, Some(200), "an earlier connection works");
    });
    assert_eq!(metric(&server, r#"locum_accept_errors_total{listener="public"}"#), 0);
    wait_until("the connections are closed", || metric(&server, super::OPEN_CONNECTIONS) <= 2);
    server.new_user("later").get("/2/users/me").assert_status(200);
}
