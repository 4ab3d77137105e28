//! Connection limits behind a proxy.

use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use super::{address_of, connect_from, exchange_status, read_status, run_clients};
use crate::harness::{TestRequest, TestServer, free_address, metric, wait_until};

const HAPROXY: &str = "/usr/sbin/haproxy";
const TRUSTED: [&str; 2] = ["--set", "listen.trusted_proxies=127.0.0.1"];
const FORWARDED: &str = r#"locum_requests_forwarded_total{listener="public"}"#;
/// A request whose body has not arrived yet.
const UNFINISHED: &[u8] = b"POST /oauth2/token HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\
                            Content-Type: application/x-www-form-urlencoded\r\n\r\nab";

struct Haproxy {
    process: Child,
    address: SocketAddr,
}

impl Haproxy {
    fn start(server: &TestServer) -> Self {
        let address = free_address();
        let config = format!(
            "global\n maxconn 2000\ndefaults\n mode http\n option forwardfor\n timeout connect 10s\n timeout client 60s\n \
             timeout server 60s\nlisten public\n bind {address}\n server locum {}\n",
            address_of(server)
        );
        let path = server.sibling_path("haproxy.cfg");
        std::fs::write(&path, config).unwrap();
        let mut command = Command::new(HAPROXY);
        let process = command.arg("-db").arg("-f").arg(path).stdout(Stdio::null()).spawn().unwrap();
        wait_until("the proxy accepts connections", || std::net::TcpStream::connect(address).is_ok());
        Self { process, address }
    }
}

impl Drop for Haproxy {
    fn drop(&mut self) {
        let _ended = self.process.kill();
        let _ended = self.process.wait();
    }
}

async fn start_requests(count: u32, source: impl Fn(u32) -> u32, address: SocketAddr) -> Vec<TcpStream> {
    let mut clients = Vec::new();
    for number in 0..count {
        let mut client = connect_from(source(number), address).await.unwrap();
        client.write_all(UNFINISHED).await.unwrap();
        clients.push(client);
    }
    clients
}

async fn assert_served(clients: Vec<TcpStream>) {
    for mut client in clients {
        client.write_all(b"cdefghij").await.unwrap();
        let status = read_status(&mut client).await;
        assert!(matches!(status, Some(400 | 403)), "refused by the operation, not by the listener: {status:?}");
    }
}

#[test]
fn clients_behind_one_proxy_are_served_and_limited_by_their_own_address() {
    if !Path::new(HAPROXY).exists() {
        eprintln!("skipped: {HAPROXY} is not installed");
        return;
    }
    let server = TestServer::start(&[&["--world", "empty"], &TRUSTED[..]].concat());
    let proxy = Haproxy::start(&server);
    run_clients(async {
        let others = start_requests(300, |number| number, proxy.address).await;
        wait_until("all are in progress", || metric(&server, FORWARDED) >= 300);
        let of_one_address = start_requests(256, |_| 1_000, proxy.address).await;
        wait_until("all are in progress", || metric(&server, FORWARDED) >= 556);
        let mut above = connect_from(1_000, proxy.address).await.unwrap();
        assert_eq!(exchange_status(&mut above, UNFINISHED).await, Some(503));
        assert_served(others).await;
        assert_served(of_one_address).await;
        let mut again = connect_from(1_000, proxy.address).await.unwrap();
        assert_eq!(exchange_status(&mut again, b"GET /livez HTTP/1.1\r\nHost: a\r\n\r\n").await, Some(200));
    });
    let (state, message) = proxy_finding(&server, &TRUSTED);
    assert!(state == "good" && message.contains("besides streams"), "{state}: {message}");
}

/// What `locum doctor` says about proxies.
fn proxy_finding(server: &TestServer, args: &[&str]) -> (String, String) {
    let rows = server.run_cli(&[&["doctor", "--set", "listen.addr=127.0.0.1:0"], args].concat()).json();
    let row = rows.as_array().unwrap().iter().find(|row| row["name"] == "proxies").unwrap().clone();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    (text(&row["state"]), text(&row["says"]))
}

#[test]
fn doctor_reports_missing_and_silent_proxies() {
    let mut server = TestServer::start(&["--world", "empty"]);
    let (state, message) = proxy_finding(&server, &[]);
    assert_eq!(state, "good");
    assert!(message.contains("none trusted; each client address may open 256"), "{message}");
    server.send(TestRequest::get("/livez").header("x-forwarded-for", "203.0.113.7"));
    let (state, message) = proxy_finding(&server, &[]);
    assert_eq!(state, "doubtful");
    assert!(message.contains("1 requests had an X-Forwarded-For") && message.contains("256"), "{message}");
    server.stop();
    assert_eq!(proxy_finding(&server, &[]).0, "good", "nothing is known of a server that does not run");

    let server = TestServer::start(&[&["--world", "empty"], &TRUSTED[..]].concat());
    let (state, message) = proxy_finding(&server, &TRUSTED);
    assert_eq!(state, "doubtful", "{message}");
    assert!(message.contains("none names its client"), "{message}");
    server.send(TestRequest::get("/livez").header("x-forwarded-for", "203.0.113.7"));
    assert_eq!(proxy_finding(&server, &TRUSTED).0, "good");
    let elsewhere = TestServer::start(&["--world", "empty", "--set", "listen.trusted_proxies=10.9.9.9"]);
    elsewhere.send(TestRequest::get("/livez").header("x-forwarded-for", "203.0.113.7"));
    let (state, message) = proxy_finding(&elsewhere, &["--set", "listen.trusted_proxies=10.9.9.9"]);
    assert_eq!(state, "doubtful", "{message}");
    assert!(message.contains("no request came from 10.9.9.9, but 1 "), "{message}");
}
