//! Concurrent writes and reads of one object have an order that agrees with all answers and with real time.
//!
//! `LOCUM_HISTORIES` sets how many histories of each kind are recorded (3). On PostgreSQL half of the clients use
//! another node.

use std::collections::HashSet;
use std::sync::Mutex;
use std::thread;
use std::time::Instant;

use base::clock::monotonic_now;
use serde_json::json;

use crate::harness::{
    DatabaseEngine, TestRequest, TestRng, TestServer, TestUser, suite_engine, suite_setting, unique_number,
};

const CLIENTS: u64 = 6;
const OPERATIONS_PER_CLIENT: usize = 16;

#[derive(Clone, Debug)]
enum Action {
    Write(String),
    Read(String),
}

/// An operation as its client saw it.
#[derive(Clone, Debug)]
struct Operation {
    called: Instant,
    returned: Instant,
    action: Action,
}

/// Whether the operations, at most 128, can be put in an order in which each takes effect between its call and its
/// return and every read gets the last value written (Wing and Gong, 1993).
fn is_linearizable(history: &[Operation], initial: &str) -> bool {
    let mut visited = HashSet::new();
    let mut pending = vec![(0_u128, initial)];
    let all = u128::MAX >> (128 - history.len());
    while let Some((done, value)) = pending.pop() {
        if done == all {
            return true;
        }
        if !visited.insert((done, value)) {
            continue;
        }
        let open = || history.iter().enumerate().filter(|(index, _)| done & (1 << index) == 0);
        let first_return = open().map(|(_, operation)| operation.returned).min();
        for (index, operation) in open().filter(|(_, operation)| Some(operation.called) <= first_return) {
            match &operation.action {
                Action::Write(new) => pending.push((done | 1 << index, new)),
                Action::Read(found) if found == value => pending.push((done | 1 << index, value)),
                Action::Read(_) => {}
            }
        }
    }
    false
}

/// An object with one value that several clients write and read.
trait SharedObject: Sync {
    fn next_value(&self, rng: &mut TestRng) -> String;
    fn write(&self, server: &TestServer, value: &str);
    fn read(&self, server: &TestServer) -> String;
}

/// One of three operations is a write.
fn run_operation(server: &TestServer, object: &impl SharedObject, rng: &mut TestRng) -> Operation {
    let (writes, value) = (rng.below(3) == 0, object.next_value(rng));
    let called = monotonic_now();
    let action = if writes {
        object.write(server, &value);
        Action::Write(value)
    } else {
        Action::Read(object.read(server))
    };
    Operation { called, returned: monotonic_now(), action }
}

fn record_history(nodes: &[&TestServer], object: &impl SharedObject, seed: u64) -> Vec<Operation> {
    let history = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for (client, server) in (0..CLIENTS).zip(nodes.iter().cycle()) {
            let history = &history;
            let mut rng = TestRng(seed.wrapping_mul(CLIENTS) + client + 1);
            scope.spawn(move || {
                for _ in 0..OPERATIONS_PER_CLIENT {
                    let operation = run_operation(server, object, &mut rng);
                    history.lock().unwrap().push(operation);
                }
            });
        }
    });
    history.into_inner().unwrap()
}

struct ListName<'a> {
    list: String,
    owner: &'a TestUser<'a>,
}

impl SharedObject for ListName<'_> {
    fn next_value(&self, _: &mut TestRng) -> String {
        format!("n{}", unique_number())
    }

    fn write(&self, server: &TestServer, value: &str) {
        let request = TestRequest::new("PUT", format!("/2/lists/{}", self.list)).bearer(&self.owner.token);
        server.send(request.json(&json!({ "name": value }))).assert_status(200);
    }

    fn read(&self, server: &TestServer) -> String {
        let request = TestRequest::get(format!("/2/lists/{}", self.list)).bearer(&self.owner.token);
        server.send(request).assert_status(200)["data"]["name"].as_str().unwrap().to_owned()
    }
}

/// Whether a user likes a post.
struct Like<'a> {
    post: String,
    user: &'a TestUser<'a>,
}

impl SharedObject for Like<'_> {
    fn next_value(&self, rng: &mut TestRng) -> String {
        (rng.below(2) == 0).to_string()
    }

    fn write(&self, server: &TestServer, value: &str) {
        let path = format!("/2/users/{}/likes", self.user.id);
        let request = match value {
            "true" => TestRequest::post(path).json(&json!({ "tweet_id": self.post })),
            _ => TestRequest::delete(format!("{path}/{}", self.post)),
        };
        server.send(request.bearer(&self.user.token)).assert_status(200);
    }

    fn read(&self, server: &TestServer) -> String {
        let path = format!("/2/tweets/{}?tweet.fields=public_metrics", self.post);
        let body = server.send(TestRequest::get(path).bearer(&self.user.token)).assert_status(200);
        (body["data"]["public_metrics"]["like_count"] == 1).to_string()
    }
}

#[test]
fn concurrent_operations_on_one_object_are_linearizable() {
    let server = TestServer::start_network(&[]);
    let other = (suite_engine() == DatabaseEngine::Postgres).then(|| server.start_another_node(1));
    let nodes: Vec<&TestServer> = [&server].into_iter().chain(&other).collect();
    let owner = server.new_user("shared");
    let (mut operations, mut wrong) = (0, Vec::new());
    for seed in 0..suite_setting("LOCUM_HISTORIES", 3) {
        let name = format!("n{}", unique_number());
        let request = TestRequest::post("/2/lists").bearer(&owner.token).json(&json!({ "name": name }));
        let list = server.send(request).assert_status(201)["data"]["id"].as_str().unwrap().to_owned();
        let post = owner.publish_text(&format!("liked {}", unique_number()));
        let names = record_history(&nodes, &ListName { list, owner: &owner }, seed);
        let likes = record_history(&nodes, &Like { post, user: &owner }, seed);
        for (history, initial) in [(names, name.as_str()), (likes, "false")] {
            operations += history.len();
            if !is_linearizable(&history, initial) {
                wrong.push(history);
            }
        }
    }
    let engine = format!("{:?}", suite_engine());
    let figure = json!({ "figure": "histories", "engine": engine, "operations": operations, "wrong": wrong.len() });
    println!("figure: {figure}");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn stale_read_is_not_linearizable() {
    let start = monotonic_now();
    let at = |millis| start + std::time::Duration::from_millis(millis);
    let operation = |called, returned, action| Operation { called: at(called), returned: at(returned), action };
    let write = operation(0, 10, Action::Write("new".to_owned()));
    let read = |called, value: &str| operation(called, called + 5, Action::Read(value.to_owned()));
    assert!(is_linearizable(&[write.clone(), read(5, "old"), read(11, "new")], "old"));
    assert!(!is_linearizable(&[write.clone(), read(11, "old")], "old"));
    assert!(!is_linearizable(&[write, read(1, "new"), read(7, "old")], "old"));
}
