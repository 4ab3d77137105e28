//! The hosts that a development server answers for, on the port of plain HTTP.

mod hostile;
mod pages;

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};

use crate::harness::{OAuth1Credentials, TestRequest, TestServer, exchange_to_close, shared_server, start_tls};

const ME: &str = "/2/users/me";

/// A request of a user, signed for an address, as it goes over the wire to `host`.
fn signed_request(server: &TestServer, path: &str, origin: &str, host: &str) -> String {
    let credentials = OAuth1Credentials {
        consumer: (server.env_value("API_KEY"), server.env_value("API_SECRET")),
        token: (server.env_value("ACCESS_TOKEN"), server.env_value("ACCESS_TOKEN_SECRET")),
        ..OAuth1Credentials::default()
    };
    let authorization = TestRequest::get(path).oauth1_header(&credentials, origin);
    format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: {authorization}\r\nConnection: close\r\n\r\n")
}

#[track_caller]
fn assert_is_ada(response: &str) {
    assert!(response.starts_with("HTTP/1.1 200 ") && response.contains(r#""username":"ada""#), "{response}");
}

#[track_caller]
fn assert_status(response: &str, status: u16) {
    assert!(response.starts_with(&format!("HTTP/1.1 {status} ")), "{response}");
}

/// `public_origins` would accept signatures over the addresses of the API anyway, so these tests do without it.
fn server_without_origins() -> TestServer {
    TestServer::start(&["--set", "core.public_origins="])
}

#[test]
fn requests_signed_for_the_public_addresses_verify_over_tls_and_through_the_proxy() {
    let server = server_without_origins();
    for host in ["api.x.com", "api.twitter.com", "x.com"] {
        let request = || signed_request(&server, ME, &format!("https://{host}"), host);
        assert_is_ada(&exchange_to_close(&mut server.connect_tls(host).unwrap(), request()));
        let tunnel = server.connect_through(&format!("{host}:443"));
        let mut tls = start_tls(&server.tls_config(), host, tunnel).unwrap();
        assert_is_ada(&exchange_to_close(&mut tls, request()));
        assert_status(&exchange_to_close(&mut server.connect(), request()), 401);
    }
    let plain = || signed_request(&server, ME, "http://api.x.com", "api.x.com");
    assert_is_ada(&exchange_to_close(&mut server.connect_through("api.x.com:80"), plain()));
    let absolute = plain().replacen(ME, &format!("http://api.x.com{ME}"), 1).replace("Host: api.x.com", "Host: other");
    assert_is_ada(&exchange_to_close(&mut server.connect(), absolute));
}

#[test]
fn server_answers_under_its_own_names_over_tls_and_through_itself() {
    let server = shared_server();
    let port = server.url.rsplit(':').next().unwrap();
    let request = "GET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    for host in ["localhost", "127.0.0.1", "ads-api-sandbox.localhost"] {
        assert_status(&exchange_to_close(&mut server.connect_tls(host).unwrap(), request), 200);
    }
    for host in ["localhost", "127.0.0.1", "[::1]"] {
        let mut tunnel = server.connect_through(&format!("{host}:{port}"));
        assert_status(&exchange_to_close(&mut tunnel, request), 200);
    }
}

#[test]
fn clients_of_the_former_host_name_get_the_older_vocabulary() {
    let server = shared_server();
    let timeline = |host: &str, query: &str| {
        let path = format!("/2/users/{}/timelines/reverse_chronological{query}", server.env_value("USER_ID"));
        let mut tls = server.connect_tls(host).unwrap();
        exchange_to_close(&mut tls, signed_request(server, &path, &format!("https://{host}"), host))
    };
    let uses = |response: &str, name: &str| response.contains(&format!("\"{name}\""));
    let former = timeline("api.twitter.com", "");
    assert!(uses(&former, "edit_history_tweet_ids") && !uses(&former, "edit_history_post_ids"), "{former}");
    for (host, query) in [("api.x.com", ""), ("api.twitter.com", "?post.fields=referenced_posts")] {
        let newer = timeline(host, query);
        assert!(uses(&newer, "edit_history_post_ids") && !uses(&newer, "edit_history_tweet_ids"), "{newer}");
    }
}

#[test]
fn sandbox_host_reaches_the_sandbox() {
    let server = shared_server();
    let accounts = |host: &str| {
        let mut tls = server.connect_tls(host).unwrap();
        exchange_to_close(&mut tls, signed_request(server, "/12/accounts", &format!("https://{host}"), host))
    };
    let [sandbox, real] = ["ads-api-sandbox.x.com", "ads-api.x.com"].map(accounts);
    assert_status(&real, 200);
    assert_status(&sandbox, 200);
    assert!(!sandbox.contains("\"total_count\":0"), "a sandbox account is made on demand: {sandbox}");
    let ids = |text: &str| text.matches("\"id\"").count();
    assert_ne!((ids(&sandbox), &sandbox), (ids(&real), &real));
}

#[test]
fn hosts_that_are_not_emulated_are_refused_with_the_setting_that_allows_them() {
    let server = shared_server();
    for request in [
        "CONNECT real.example:443 HTTP/1.1\r\nHost: real.example:443\r\n\r\n".to_owned(),
        "CONNECT REAL.example:80 HTTP/1.1\r\n\r\n".to_owned(),
        "GET http://real.example/ HTTP/1.1\r\nHost: api.x.com\r\nConnection: close\r\n\r\n".to_owned(),
        "POST http://REAL.example:8080/2/tweets HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".to_owned(),
    ] {
        let response = exchange_to_close(&mut server.connect(), &request);
        assert_status(&response, 403);
        assert!(response.contains("content-type: text/plain; charset=utf-8\r\n"), "{response}");
        assert!(response.contains("real.example is not an emulated host, and nothing was sent to it."), "{response}");
        assert!(response.contains("emulate.pass_through=real.example"), "{response}");
    }
    for other_port in ["127.0.0.1:1", "localhost:1", "169.254.169.254:80"] {
        let request = format!("CONNECT {other_port} HTTP/1.1\r\n\r\n");
        assert_status(&exchange_to_close(&mut server.connect(), request), 403);
    }
}

#[test]
fn hosts_to_pass_through_are_reached_and_shown() {
    let server = TestServer::start(&["--world", "empty", "--set", "emulate.pass_through=localhost"]);
    let real = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut client = server.connect_through(&format!("localhost:{}", real.local_addr().unwrap().port()));
    let (mut accepted, _) = real.accept().unwrap();
    client.write_all(b"question").unwrap();
    client.shutdown(std::net::Shutdown::Write).unwrap();
    let mut question = String::new();
    accepted.read_to_string(&mut question).unwrap();
    accepted.write_all(b"answer").unwrap();
    drop(accepted);
    let mut answer = String::new();
    client.read_to_string(&mut answer).unwrap();
    assert_eq!((question.as_str(), answer.as_str()), ("question", "answer"));
    drop(real);
    assert!(server.stdout().contains("Passes    localhost  (to the real hosts)"), "{}", server.stdout());
    let absolute = "GET http://localhost:1/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    assert_status(&exchange_to_close(&mut server.connect(), absolute), 403);
}

#[test]
fn production_server_is_no_proxy_and_emulates_no_host() {
    let server = TestServer::start_network(&[]);
    let connect = "CONNECT api.x.com:443 HTTP/1.1\r\nHost: api.x.com:443\r\nConnection: close\r\n\r\n";
    let send = |request: &str| exchange_to_close(&mut server.connect(), request);
    let response = send(connect);
    assert!(
        ["HTTP/1.1 400 ", "HTTP/1.1 404 ", "HTTP/1.1 405 "].iter().any(|start| response.starts_with(start)),
        "{response}"
    );
    let absolute = send("GET http://real.example/livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    assert_status(&absolute, 200); // its own path, whatever the host
    let mut client = server.connect();
    client.write_all(&[0x16, 3, 1, 0, 4, 1, 0, 0, 0]).unwrap();
    client.shutdown(std::net::Shutdown::Write).unwrap();
    let mut received = Vec::new();
    client.read_to_end(&mut received).unwrap();
    assert_ne!(received.first(), Some(&0x15), "an alert of TLS");
    assert!(!server.data_dir().join("ca").exists());
    for key in ["emulate.hosts=api.x.com", "emulate.pass_through=api.x.com"] {
        let refused = server.run_cli(&["conf", "check", "--set", key]);
        assert!(refused.code != 0 && refused.stderr.contains("emulate."), "{refused:?}");
    }
}

fn read_all(mut stream: TcpStream) -> Vec<u8> {
    let mut received = Vec::new();
    let _reset = stream.read_to_end(&mut received);
    received
}
