//! A restart, as in an upgrade, while clients send requests. The socket outlives the process, as under a service
//! manager.

use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use serde_json::{Value, json};

use crate::harness::{TestServer, WAIT_TIMEOUT, locum_command_with_socket, suite_setting, wait_until};

const CLIENTS: usize = 4;
/// Of all clients, before the next step.
const REQUESTS_BETWEEN_STEPS: usize = 40;

/// Sends requests from several threads, each over a connection of its own.
#[derive(Debug)]
struct ContinuousLoad {
    addr: SocketAddr,
    token: String,
    finished: AtomicBool,
    answered: AtomicUsize,
}

impl ContinuousLoad {
    /// Returns the ids of the posts that were acknowledged.
    fn run_client(&self, client: usize) -> Vec<String> {
        let mut ids = Vec::new();
        while !self.finished.load(Ordering::Acquire) {
            let text = format!("post {} of client {client} during the upgrade", ids.len());
            let created = self.exchange("POST", "/2/tweets", &json!({"text": text}).to_string(), 201);
            ids.push(created["data"]["id"].as_str().unwrap().to_owned());
            self.exchange("GET", "/2/users/me", "", 200);
        }
        ids
    }

    fn exchange(&self, method: &str, path: &str, body: &str, status: u16) -> Value {
        let mut stream = TcpStream::connect(self.addr).expect("a connection is refused");
        stream.set_read_timeout(Some(WAIT_TIMEOUT)).unwrap();
        let (addr, token, length) = (self.addr, &self.token, body.len());
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {addr}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap_or_else(|error| panic!("{method} {path}: {error}"));
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{method} {path}: {answer:?}");
        self.answered.fetch_add(1, Ordering::AcqRel);
        serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap()
    }

    fn wait_for_further_requests(&self) {
        let wanted = self.answered.load(Ordering::Acquire) + REQUESTS_BETWEEN_STEPS;
        wait_until("requests are answered", || self.answered.load(Ordering::Acquire) >= wanted);
    }
}

#[test]
fn restart_on_an_inherited_socket_fails_no_request() {
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = socket.local_addr().unwrap();
    let mut server = TestServer::start_network_on_socket(socket, &[]);
    let token = server.new_user("busy").token;
    let load = ContinuousLoad { addr, token, finished: AtomicBool::new(false), answered: AtomicUsize::new(0) };
    let ids: Vec<String> = thread::scope(|scope| {
        let load = &load;
        let clients: Vec<_> = (0..CLIENTS).map(|client| scope.spawn(move || load.run_client(client))).collect();
        for _ in 0..suite_setting("LOCUM_UPGRADE_ROUNDS", 2) {
            load.wait_for_further_requests();
            assert_eq!(server.stop().0, Some(0));
            server.restart();
        }
        load.wait_for_further_requests();
        load.finished.store(true, Ordering::Release);
        clients.into_iter().flat_map(|client| client.join().unwrap()).collect()
    });
    let mut stored = BTreeSet::new();
    for chunk in ids.chunks(100) {
        let found = load.exchange("GET", &format!("/2/tweets?ids={}", chunk.join(",")), "", 200);
        stored.extend(found["data"].as_array().unwrap().iter().map(|post| post["id"].as_str().unwrap().to_owned()));
    }
    assert_eq!(stored.len(), ids.len(), "an acknowledged post is lost or repeated");
}

#[test]
fn development_server_ignores_an_inherited_socket() {
    let folder = tempfile::tempdir().unwrap();
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = socket.local_addr().unwrap();
    let mut command = locum_command_with_socket(folder.path(), &socket);
    let mut child = command.args(["dev", "--world", "empty", "--port", "0", "--data-dir", "data"]).spawn().unwrap();
    let path = folder.path().join("data/server.json");
    let listening = || -> Option<Value> { serde_json::from_str(&std::fs::read_to_string(&path).ok()?).ok() };
    wait_until("it listens", || listening().is_some());
    let own = listening().unwrap()["addr"].clone();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_ne!(own, addr.to_string());
}
