//! Events: subscribed to, seen on the stream and at webhooks.

mod deleted_posts;
mod event_types;
mod replay_filter;
mod stream;
mod subscriptions;
mod trigger;
mod webhook;

use std::io::{BufRead as _, BufReader};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{TestApp, TestRequest, TestResponse, TestServer, TestUser, WAIT_TIMEOUT, shared_server};

/// An app that may do everything, with people who call through it.
pub(crate) struct Stage {
    pub(crate) server: &'static TestServer,
    pub(crate) app: TestApp,
}

impl Stage {
    pub(crate) fn new() -> Self {
        Self::of("enterprise")
    }

    pub(crate) fn of(level: &str) -> Self {
        let server = shared_server();
        let app = server.new_app(level);
        Self { server, app }
    }

    /// Somebody new with a token of all scopes for the app.
    pub(crate) fn person(&self, name: &str) -> TestUser<'static> {
        self.known(&self.server.new_user(name))
    }

    /// Somebody who is there, with a token for this app.
    pub(crate) fn known(&self, user: &TestUser<'static>) -> TestUser<'static> {
        TestUser::with_new_token(self.server, &self.app, &user.id, &user.username)
    }

    /// Sends as the app itself.
    pub(crate) fn send(&self, request: TestRequest) -> TestResponse {
        self.server.send(request.bearer(&self.app.bearer))
    }

    pub(crate) fn get(&self, target: &str) -> TestResponse {
        self.send(TestRequest::get(target))
    }

    pub(crate) fn post(&self, target: &str, body: &Value) -> TestResponse {
        self.send(TestRequest::post(target).json(body))
    }

    /// Subscribes; the subscription's id.
    #[track_caller]
    pub(crate) fn subscribe(&self, kind: &str, filter: &Value) -> String {
        let body = json!({ "event_type": kind, "filter": filter });
        let created = self.post(SUBSCRIPTIONS, &body).assert_status(200);
        created["data"]["subscription_id"].as_str().unwrap().to_owned()
    }

    /// The same for a webhook.
    #[track_caller]
    pub(crate) fn send_to(&self, hook: &str, kind: &str, filter: &Value) -> String {
        let body = json!({ "event_type": kind, "filter": filter, "webhook_id": hook });
        let created = self.post(SUBSCRIPTIONS, &body).assert_status(200);
        created["data"]["subscription_id"].as_str().unwrap().to_owned()
    }

    /// Opens the activity stream.
    pub(crate) fn listen(&self) -> Listener {
        Listener::open(self.server, &self.app.bearer, STREAM)
    }
}

pub(crate) const SUBSCRIPTIONS: &str = "/2/activity/subscriptions";
pub(crate) const STREAM: &str = "/2/activity/stream";

/// An open stream, and what came of it.
pub(crate) struct Listener {
    lines: Arc<Mutex<Vec<Value>>>,
    over: Arc<Mutex<bool>>,
}

impl Listener {
    #[track_caller]
    pub(crate) fn open(server: &TestServer, bearer: &str, target: &str) -> Self {
        let agent = ureq::Agent::new_with_defaults();
        let request = agent.get(format!("{}{target}", server.url)).header("authorization", format!("Bearer {bearer}"));
        let response = request.call().unwrap();
        assert_eq!(response.status().as_u16(), 200);
        let (lines, over) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(false)));
        let (stored, ended) = (Arc::clone(&lines), Arc::clone(&over));
        std::thread::spawn(move || {
            let reader = BufReader::new(response.into_body().into_reader());
            for line in reader.lines().map_while(Result::ok) {
                if let Ok(value) = serde_json::from_str(&line) {
                    stored.lock().unwrap().push(value);
                }
            }
            *ended.lock().unwrap() = true;
        });
        Self { lines, over }
    }

    pub(crate) fn all(&self) -> Vec<Value> {
        self.lines.lock().unwrap().clone()
    }

    pub(crate) fn is_over(&self) -> bool {
        *self.over.lock().unwrap()
    }

    /// The first event for which something holds, once it is there.
    #[track_caller]
    pub(crate) fn wait(&self, what: &str, holds: impl Fn(&Value) -> bool) -> Value {
        let start = base::clock::monotonic_now();
        loop {
            let found = self.all().into_iter().find(|line| holds(&line["data"]));
            if let Some(found) = found {
                return found["data"].clone();
            }
            assert!(start.elapsed() < WAIT_TIMEOUT, "waited in vain for {what}: {:#?}", self.all());
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Whether an event is of a kind and about somebody.
pub(crate) fn is(event: &Value, kind: &str, user: &str) -> bool {
    event["event_type"] == kind && event["filter"]["user_id"] == user
}
