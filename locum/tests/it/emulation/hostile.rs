//! Clients that misuse TLS and the proxy.

use std::io::Write as _;

use rustix::process::{Resource, getrlimit, setrlimit};

use super::{assert_status, read_all};
use crate::harness::{TestRequest, TestServer, exchange_to_close, shared_server, start_tls, suite_setting, wait_until};

const ALERT: u8 = 0x15;
const FATAL: u8 = 2;
/// Alerts that name no common ground.
const HANDSHAKE_FAILURE: u8 = 40;
const PROTOCOL_VERSION: u8 = 70;

/// A client of TLS 1.0 without extensions.
fn tls10_hello() -> Vec<u8> {
    let mut body = vec![3, 1];
    body.extend([7; 32]);
    body.extend([0, 0, 4, 0, 0x2f, 0, 0x35, 1, 0]);
    let length = u8::try_from(body.len()).unwrap();
    [&[0x16, 3, 1, 0, length + 4, 1, 0, 0, length], &body[..]].concat()
}

fn send_bytes(server: &TestServer, bytes: &[u8]) -> Vec<u8> {
    let mut client = server.connect();
    client.write_all(bytes).unwrap();
    client.shutdown(std::net::Shutdown::Write).unwrap();
    read_all(client)
}

#[test]
fn old_and_broken_clients_of_tls_get_an_alert() {
    let server = shared_server();
    let answer = send_bytes(server, &tls10_hello());
    assert_eq!((answer[0], answer[5]), (ALERT, FATAL), "{answer:?}");
    assert!([HANDSHAKE_FAILURE, PROTOCOL_VERSION].contains(&answer[6]), "{answer:?}");
    for nonsense in [&[0x16, 3, 1, 0, 4, 1, 0, 0, 0][..], &[0x16; 600], &[0x16, 3, 3, 0xff, 0xff, 1, 2, 3]] {
        let answer = send_bytes(server, nonsense);
        assert!(matches!(answer.get(..6), None | Some([ALERT, 3, _, 0, 2, FATAL])), "{answer:?}");
    }
    assert_status(
        &exchange_to_close(&mut server.connect(), "GET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"),
        200,
    );
}

#[test]
fn handshake_for_an_unknown_name_is_refused_and_logged() {
    let server = TestServer::start(&["--world", "empty"]);
    let error = server.connect_tls("unknown.example").unwrap_err().to_string();
    assert!(error.contains("UnrecognisedName"), "{error}");
    let line = r#"refused TLS for an unknown server name server_name="unknown.example""#;
    wait_until("it is logged", || server.stderr().contains(line));
    assert_eq!(server.stderr().matches("unknown.example").count(), 1);
}

#[test]
fn unclear_connect_requests_are_refused() {
    let server = shared_server();
    for authority in
        ["api.x.com", "api.x.com:", ":443", "api.x.com:0", "api.x.com:99999", "a@api.x.com:443", "/livez", "*"]
    {
        let request = format!("CONNECT {authority} HTTP/1.1\r\nHost: a\r\n\r\n");
        assert_status(&exchange_to_close(&mut server.connect(), request), 400);
    }
    for fields in ["Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n", "Host: a\r\nHost: b\r\n", "no colon\r\n"]
    {
        let request = format!("CONNECT api.x.com:443 HTTP/1.1\r\n{fields}\r\nhello");
        assert_status(&exchange_to_close(&mut server.connect(), request), 400);
    }
    let many = format!("CONNECT api.x.com:443 HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(1000));
    assert_status(&exchange_to_close(&mut server.connect(), many), 431);
    let long = format!("CONNECT api.x.com:443 HTTP/1.1\r\na: {}", "b".repeat(70_000));
    assert_status(&exchange_to_close(&mut server.connect(), long), 431);
}

#[test]
fn connect_request_may_come_in_pieces_or_with_what_follows_it() {
    let server = shared_server();
    let follow = "GET /livez HTTP/1.1\r\nHost: api.x.com\r\nConnection: close\r\n\r\n";
    let connect = "CONNECT api.x.com:80 HTTP/1.1\r\nHost: api.x.com:80\r\n\r\n";
    let mut client = server.connect();
    for byte in connect.as_bytes() {
        client.write_all(&[*byte]).unwrap();
    }
    let both =
        [exchange_to_close(&mut client, follow), exchange_to_close(&mut server.connect(), [connect, follow].concat())];
    for response in both {
        let (tunnel, response) = response.split_once("\r\n\r\n").unwrap();
        assert_eq!(tunnel, "HTTP/1.1 200 Connection established");
        assert_status(response, 200);
    }
    for start in ["COPY /livez HTTP/1.1\r\n", "CONNECTED /livez HTTP/1.1\r\n", "C /livez HTTP/1.1\r\n"] {
        let request = format!("{start}Host: a\r\nConnection: close\r\n\r\n");
        assert!(exchange_to_close(&mut server.connect(), request).starts_with("HTTP/1.1 40"), "{start}");
    }
}

#[test]
fn tls_contains_neither_tls_nor_another_tunnel() {
    let server = shared_server();
    let mut outer = server.connect_tls("api.x.com").unwrap();
    let connect = "CONNECT x.com:443 HTTP/1.1\r\nHost: x.com:443\r\nConnection: close\r\n\r\n";
    let response = exchange_to_close(&mut outer, connect);
    assert!(response.starts_with("HTTP/1.1 4"), "{response}");
    let outer = server.connect_tls("api.x.com").unwrap();
    assert!(start_tls(&server.tls_config(), "x.com", outer).is_err());
    let mut tunnel = server.connect_through("api.x.com:443");
    let response = exchange_to_close(&mut tunnel, connect);
    assert!(response.starts_with("HTTP/1.1 4"), "{response}");
}

/// How many file descriptors its process has open.
fn open_descriptors(server: &TestServer) -> usize {
    std::fs::read_dir(format!("/proc/{}/fd", server.pid())).unwrap().count()
}

#[test]
fn half_open_handshakes_are_closed_and_leave_no_descriptor() {
    let count = suite_setting("LOCUM_HALF_OPEN", 120);
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    setrlimit(Resource::Nofile, limit).unwrap();
    let server = TestServer::start(&[
        "--world",
        "empty",
        "--set",
        "listen.header_timeout=3s",
        "--set",
        "listen.max_connections_per_ip=2000",
    ]);
    server.send(TestRequest::get("/livez"));
    let before = open_descriptors(&server);
    let hello = tls10_hello();
    let clients: Vec<_> = (0..count)
        .map(|number| {
            let mut client = match number % 3 {
                0 => server.connect_through("api.x.com:443"),
                _ => server.connect(),
            };
            let start: &[u8] = if number % 3 == 1 { b"CONNECT api.x" } else { &hello[..20] };
            client.write_all(start).unwrap();
            client
        })
        .collect();
    for client in clients {
        assert!(read_all(client).is_empty(), "closed without an answer");
    }
    // The server itself may have opened a few files since, such as those of the search index.
    wait_until("all are closed", || open_descriptors(&server) < before + usize::try_from(count / 10).unwrap());
    server.send(TestRequest::get("/livez"));
}
