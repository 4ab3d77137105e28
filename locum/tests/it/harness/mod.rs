//! What every test stands on: servers, the people on them, and what is asked of them.

mod acme_server;
mod bucket_server;
mod database;
mod html_document;
mod mail_server;
mod page_rules;
mod postgres_server;
mod process;
mod redis_server;
mod request;
mod response_log;
mod server;
mod stream_client;
mod tcp_proxy;
mod tls_client;
mod user;
mod webhook_receiver;
mod world_template;

pub(crate) use acme_server::AcmeServer;
pub(crate) use bucket_server::BucketServer;
pub(crate) use database::{DatabaseEngine, suite_engine};
pub(crate) use html_document::{Document, Element};
pub(crate) use mail_server::MailServer;
pub(crate) use postgres_server::PostgresServer;
pub(crate) use process::{CommandOutput, locum_command, locum_command_with_socket, run_command};
pub(crate) use redis_server::{REDIS_PASSWORD, RedisServer};
pub(crate) use request::{OAuth1Credentials, TestRequest, TestResponse, percent_encode};
pub(crate) use server::{TestServer, keep_for_test, own_server, shared_server};
pub(crate) use stream_client::StreamClient;
pub(crate) use tcp_proxy::TcpProxy;
pub(crate) use tls_client::{exchange_to_close, start_tls, trusting_config};
pub(crate) use user::{TestApp, TestUser};
pub(crate) use webhook_receiver::{CrcBehavior, DeliveryResponse, ReceivedRequest, WebhookReceiver, hmac_sha256};

use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicU16, AtomicU64, Ordering};
use std::time::Duration;

use serde_json::Value;

/// Numbers that look random, the same for the same seed.
#[derive(Clone, Debug)]
pub(crate) struct TestRng(pub(crate) u64);

impl TestRng {
    /// A number below `sides`.
    pub(crate) fn below(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }

    /// One of some.
    pub(crate) fn pick<'a, T>(&mut self, some: &'a [T]) -> &'a T {
        &some[self.below(some.len())]
    }
}

/// An address on which nobody listens. It stays free while its server is stopped: the system takes the ports of
/// outgoing connections from a higher range.
pub(crate) fn free_address() -> SocketAddr {
    const FIRST: u16 = 12_000;
    const COUNT: u16 = 20_000;
    static NEXT: AtomicU16 = AtomicU16::new(0);
    // Runs of the suite at the same time begin at different places.
    let start = u16::try_from(std::process::id() % u32::from(COUNT)).unwrap();
    loop {
        let number = start.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed)) % COUNT;
        let address = SocketAddr::from(([127, 0, 0, 1], FIRST + number));
        if TcpListener::bind(address).is_ok() {
            return address;
        }
    }
}

/// A setting of the suite, a number.
pub(crate) fn suite_setting(name: &str, defaults: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(defaults)
}

/// The text of a post or message, escaped, with its links as their author wrote them.
pub(crate) fn written_text(text: &Value, entities: &Value) -> String {
    let mut written = text.as_str().unwrap().to_owned();
    for url in entities["urls"].as_array().into_iter().flatten() {
        let expanded = url["expanded_url"].as_str().unwrap();
        written = written.replacen(url["url"].as_str().unwrap(), &base::text::escape_html(expanded), 1);
    }
    written
}

/// An object with its links as written, for short links differ between servers.
pub(crate) fn without_short_links(mut object: Value) -> Value {
    object["text"] = written_text(&object["text"], &object["entities"]).into();
    if let Some(entities) = object.as_object_mut().and_then(|object| object.remove("entities")) {
        let urls = entities["urls"].as_array().cloned().unwrap_or_default();
        object["links"] = urls.iter().map(|url| url["expanded_url"].clone()).collect();
        object["tags"] = entities["hashtags"].as_array().map_or(0, Vec::len).into();
    }
    object
}

/// A number that this process has not used yet.
pub(crate) fn unique_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Two nodes on one database; none on SQLite, where a file has one node.
pub(crate) fn start_two_nodes() -> Option<(TestServer, TestServer)> {
    (suite_engine() == DatabaseEngine::Postgres).then(|| {
        let first = TestServer::start_network(&[]);
        let second = first.start_another_node(1);
        (first, second)
    })
}

/// How long what must come is waited for: longer than any machine takes that is busy with other tests.
pub(crate) const WAIT_TIMEOUT: Duration = Duration::from_mins(2);

/// Checks that one of three attempts takes less than `limit`: other tests on the machine may slow the others.
#[track_caller]
pub(crate) fn assert_one_is_faster(limit: Duration, mut attempt: impl FnMut() -> Duration) {
    let mut times = Vec::new();
    for _ in 0..3 {
        times.push(attempt());
        if times.last().is_some_and(|time| *time < limit) {
            return;
        }
    }
    panic!("{times:?}, all longer than {limit:?}");
}

/// Removes the impressions of posts, which reading raises.
pub(crate) fn without_impressions(mut value: Value) -> Value {
    fn remove(value: &mut Value) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(remove),
            Value::Object(members) => {
                members.remove("impression_count");
                members.values_mut().for_each(remove);
            }
            _ => {}
        }
    }
    remove(&mut value);
    value
}

/// Tries until it is so.
pub(crate) fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = base::clock::monotonic_now();
    while !holds() {
        assert!(start.elapsed() < WAIT_TIMEOUT, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A new user of the shared server.
pub(crate) fn person(name: &str) -> TestUser<'static> {
    shared_server().new_user(name)
}

/// Of the objects on a page.
pub(crate) fn ids(page: &Value) -> Vec<&str> {
    let data = page["data"].as_array().map(Vec::as_slice).unwrap_or_default();
    data.iter().map(|one| one["id"].as_str().unwrap()).collect()
}

/// A value of the metrics of a server, such as `locum_connections_open{listener="public"}`.
pub(crate) fn metric(server: &TestServer, name: &str) -> u64 {
    let text = server.send_control(TestRequest::get("/metrics")).text();
    let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok());
    value.unwrap_or_else(|| panic!("no {name} in {text}"))
}
