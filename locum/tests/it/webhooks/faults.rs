//! Nothing is lost, whatever happens to the server and to the receiver.
//!
//! `LOCUM_KILL_ROUNDS` sets how often the server is killed (5), `LOCUM_KILL_SEED` when.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;

use super::{hook, log, send, server};
use crate::harness::{DeliveryResponse, TestRng, WebhookReceiver, suite_setting};

/// A receiver in a bad mood: it refuses, breaks off, is slow, and answers what it took as if it
/// had not.
pub(crate) fn moody(seed: u64) -> impl Fn(&crate::harness::ReceivedRequest) -> DeliveryResponse + Send + Sync {
    let state = Mutex::new(TestRng(seed));
    move |_| {
        let roll = state.lock().unwrap().below(10);
        match roll {
            0 => DeliveryResponse::Status(500),
            1 => DeliveryResponse::Close,
            2 => DeliveryResponse::After(Duration::from_millis(150), 200),
            3 => DeliveryResponse::Status(503),
            _ => DeliveryResponse::Status(200),
        }
    }
}

/// Every event of a webhook came, in the order of its key and with the same body each time; how many requests there were.
fn assert_received(receiver: &WebhookReceiver, sent: &BTreeMap<i64, Vec<String>>, seed: u64) -> usize {
    let received = receiver.received_requests();
    let mut bodies: HashMap<String, Vec<u8>> = HashMap::new();
    let mut first = Vec::new();
    for one in &received {
        let id = one.header("webhook-id").to_owned();
        if let Some(body) = bodies.get(&id) {
            assert_eq!(*body, one.body, "seed {seed}: {id} has two bodies");
        } else {
            bodies.insert(id.clone(), one.body.clone());
            first.push(id);
        }
    }
    for ids in sent.values() {
        let mine: HashSet<&String> = ids.iter().collect();
        let order: Vec<&String> = first.iter().filter(|id| mine.contains(id)).collect();
        assert_eq!(order, ids.iter().collect::<Vec<_>>(), "seed {seed}");
    }
    assert_eq!(first.len(), sent.values().map(Vec::len).sum::<usize>());
    received.len()
}

#[test]
fn events_arrive_in_order_despite_killed_server_and_failing_receiver() {
    const KEYS: i64 = 5;
    let rounds = suite_setting("LOCUM_KILL_ROUNDS", 5);
    let seed = suite_setting("LOCUM_KILL_SEED", u64::try_from(base::clock::wall_time().ms()).unwrap());
    let mut server = server(&[]);
    let app = server.new_app("self-serve");
    let receivers: Vec<Arc<WebhookReceiver>> = (0..2).map(|_| Arc::new(WebhookReceiver::open(&app.secret))).collect();
    let hooks: Vec<String> = receivers.iter().map(|one| hook(&server, &app, one)).collect();
    for (number, receiver) in (0..).zip(&receivers) {
        receiver.set_delivery_handler(moody(seed ^ number));
    }
    let mut rng = TestRng(seed);
    let mut sent: HashMap<usize, BTreeMap<i64, Vec<String>>> = HashMap::new();
    for _ in 0..rounds {
        for key in 0..KEYS {
            for (place, id) in hooks.iter().enumerate() {
                let ids = send(&server, id, 8, key);
                sent.entry(place).or_default().entry(key).or_default().extend(ids);
            }
        }
        let instant = u64::try_from(rng.below(600)).unwrap();
        std::thread::sleep(Duration::from_millis(instant));
        server.crash_and_restart();
    }
    for receiver in &receivers {
        receiver.set_delivery_handler(|_| DeliveryResponse::Status(200));
    }
    let start = base::clock::monotonic_now();
    let left = |place: usize| {
        let all = log(&server, &hooks[place]);
        let all = all["deliveries"].as_array().unwrap().clone();
        all.iter().filter(|one| one["state"] != "delivered").count()
    };
    while left(0) + left(1) > 0 {
        let waited = start.elapsed();
        let both = (left(0), left(1));
        assert!(waited < Duration::from_secs(90), "seed {seed}: {both:?} wait still");
        std::thread::sleep(Duration::from_millis(200));
    }
    let (mut events, mut copies) = (0, 0);
    for (place, receiver) in receivers.iter().enumerate() {
        events += sent[&place].values().map(Vec::len).sum::<usize>();
        copies += assert_received(receiver, &sent[&place], seed);
    }
    let figure = json!({ "kills": rounds, "events": events, "lost": 0, "duplicates": copies - events });
    println!("seed {seed}, figure: {figure}");
}
