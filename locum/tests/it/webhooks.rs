//! Webhooks: registered after a challenge, sent to in order, signed, tried again, replayed to.

mod console;
mod deliveries;
mod faults;
mod lifecycle;
mod links;
mod listen;

pub(crate) use faults::moody;

use serde_json::{Value, json};

use crate::harness::{TestApp, TestRequest, TestResponse, TestServer, WebhookReceiver, wait_until};

/// A server whose apps may have many webhooks, and which does not wait long.
pub(crate) fn server(args: &[&str]) -> TestServer {
    let defaults = [
        "--set",
        "webhooks.per_app=50",
        "--set",
        "webhooks.timeout=2s",
        "--set",
        "webhooks.retry=100ms,200ms,400ms,800ms,1s,1s,1s,1s,1s,1s",
    ];
    TestServer::start(&[&defaults[..], args].concat())
}

/// Registers a receiver for an app.
fn register(server: &TestServer, app: &TestApp, url: &str) -> TestResponse {
    let request = TestRequest::post("/2/webhooks").json(&json!({ "url": url }));
    server.send(request.bearer(&app.bearer))
}

/// The id of a receiver that was registered.
pub(crate) fn hook(server: &TestServer, app: &TestApp, receiver: &WebhookReceiver) -> String {
    let created = register(server, app, &receiver.url("/hook")).assert_status(200);
    created["data"]["id"].as_str().unwrap().to_owned()
}

/// Has events sent to a webhook; their ids.
fn send(server: &TestServer, hook: &str, count: u32, key: i64) -> Vec<String> {
    let (count, key) = (count.to_string(), key.to_string());
    let send = ["webhook", "send", hook, "--count", &count, "--key", &key];
    let done = server.execute_command(&send).unwrap();
    let ids = done["events"].as_array().unwrap().iter();
    ids.map(|id| id.as_str().unwrap().to_owned()).collect()
}

/// The log of a webhook.
fn log(server: &TestServer, hook: &str) -> Value {
    server.execute_command(&["webhook", "log", hook, "--limit", "1000"]).unwrap()
}

/// The ids of the events that came, in the order in which they did.
fn came(receiver: &WebhookReceiver) -> Vec<String> {
    let received = receiver.received_requests();
    received.iter().map(|one| one.header("webhook-id").to_owned()).collect()
}

fn wait_for(receiver: &WebhookReceiver, count: usize) {
    wait_until("all events came", || receiver.received_requests().len() >= count);
}
