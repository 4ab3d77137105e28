//! Long delays on a test clock, changing addresses, several nodes, and certificates.

mod nodes;
mod order;
mod tls;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{IpAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use base::encryption::{Keyring, MasterKey};
use base::{AppId, Clock, Rng, Secret, Time};
use parking_lot::Mutex;
use store::deliveries::{self, Delivery, DeliveryState, NewDelivery};
use store::webhooks::Webhook;
use store::{DatabaseLocation, NodePurpose, NodeRoles, Store, StoreOptions, Tx};
use tempfile::TempDir;

use crate::fixtures;

use super::challenge::ChallengeSubject;
use super::{
    AddressBlock, AllowedTargets, NameResolver, TargetUrl, WebhookAdmin, WebhookClient, WebhookSettings,
    periodic_challenges, replays, sign,
};

/// 2026-06-01T12:00:00Z.
const START: Time = Time::from_seconds(1_780_315_200);
const SUBJECT: ChallengeSubject = ChallengeSubject { app: AppId::new(1), webhook: None };
const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;

/// A receiver that answers challenges with one status and deliveries with another.
struct Receiver {
    port: u16,
    challenge: Arc<AtomicUsize>,
    /// 0: no response.
    delivery: Arc<AtomicUsize>,
    /// The event that is answered with 500.
    refused_id: Arc<Mutex<String>>,
    /// In milliseconds.
    pause: Arc<AtomicUsize>,
    challenges: Arc<AtomicUsize>,
    heard: Arc<Mutex<Vec<String>>>,
}

impl Receiver {
    fn open(secret: &Secret) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let receiver = Self {
            port: listener.local_addr().unwrap().port(),
            challenge: Arc::new(AtomicUsize::new(200)),
            delivery: Arc::new(AtomicUsize::new(200)),
            refused_id: Arc::default(),
            pause: Arc::default(),
            challenges: Arc::default(),
            heard: Arc::default(),
        };
        let (challenge, delivery) = (receiver.challenge.clone(), receiver.delivery.clone());
        let refused_id = receiver.refused_id.clone();
        let pause = receiver.pause.clone();
        let (challenges, heard) = (receiver.challenges.clone(), receiver.heard.clone());
        let secret = secret.clone();
        let answer = move |target: &str, id: &str| {
            if let Some((_, rest)) = target.split_once("crc_token=") {
                challenges.fetch_add(1, Ordering::SeqCst);
                let token = rest.split('&').next().unwrap();
                let body = sign(&secret, token.as_bytes());
                let body = format!("{{\"response_token\":\"{body}\"}}");
                (challenge.load(Ordering::SeqCst), body)
            } else {
                heard.lock().push(id.to_owned());
                let pause = pause.load(Ordering::SeqCst).try_into().unwrap();
                std::thread::sleep(Duration::from_millis(pause));
                while delivery.load(Ordering::SeqCst) == 0 {
                    std::thread::park();
                }
                let status = if *refused_id.lock() == id { 500 } else { delivery.load(Ordering::SeqCst) };
                (status, String::new())
            }
        };
        let answer = Arc::new(answer);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let answer = answer.clone();
                std::thread::spawn(move || talk(&stream, &*answer));
            }
        });
        receiver
    }

    fn count(&self) -> usize {
        self.heard.lock().len()
    }
}

fn talk(stream: &TcpStream, answer: impl Fn(&str, &str) -> (usize, String)) {
    let mut lines = BufReader::new(stream.try_clone().unwrap());
    let mut out = stream.try_clone().unwrap();
    loop {
        let mut first = String::new();
        if lines.read_line(&mut first).unwrap_or(0) == 0 {
            return;
        }
        let (mut length, mut id) = (0, String::new());
        loop {
            let mut line = String::new();
            lines.read_line(&mut line).unwrap();
            match line.trim().split_once(": ") {
                Some(("content-length", value)) => length = value.parse().unwrap(),
                Some(("webhook-id", value)) => value.clone_into(&mut id),
                Some(_) => {}
                None => break,
            }
        }
        lines.read_exact(&mut vec![0; length]).unwrap();
        let target = first.split(' ').nth(1).unwrap();
        let (status, body) = answer(target, &id);
        let length = body.len();
        let answer = format!("HTTP/1.1 {status} A\r\ncontent-length: {length}\r\n\r\n{body}");
        if out.write_all(answer.as_bytes()).is_err() {
            return; // nobody waits for it any more
        }
    }
}

struct World {
    store: Arc<Store>,
    clock: Clock,
    _folder: TempDir,
}

impl World {
    async fn open(location: Option<DatabaseLocation>, node: u16) -> Self {
        Self::open_for(location, node, NodePurpose::Server(NodeRoles::ALL)).await
    }

    async fn open_for(location: Option<DatabaseLocation>, node: u16, purpose: NodePurpose) -> Self {
        let folder = TempDir::new().unwrap();
        let clock = Clock::frozen_at(START);
        let file = DatabaseLocation::File(folder.path().join("locum.db"));
        let options = StoreOptions {
            location: location.unwrap_or(file),
            data_dir: folder.path().to_owned(),
            connections: 2,
            node,
            purpose,
            migrate: true,
            clock: clock.clone(),
            rng: Rng::Os,
            keyring: Keyring::new(MasterKey::generate(&Rng::from_seed(1)).unwrap(), Vec::new()),
        };
        let store = Arc::new(Store::open(options).await.unwrap());
        Self { store, clock, _folder: folder }
    }

    fn pass(&self, ms: i64) {
        self.clock.set(self.clock.now().plus_ms(ms));
    }

    async fn app(&self) -> (AppId, Secret) {
        let work = |tx: &mut Tx<'_>| {
            let app = fixtures::create_app(tx, "owner")?;
            Ok((app.id, app.api_secret))
        };
        self.store.write(work).await.unwrap()
    }

    async fn hook(&self, app: AppId, port: u16) -> i64 {
        let new = network::webhooks::NewWebhook {
            app,
            url: format!("http://127.0.0.1:{port}/"),
            most: 10,
            check_after_ms: 24 * HOUR,
        };
        let work = move |tx: &mut Tx<'_>| network::webhooks::register(tx, &new);
        self.store.write(work).await.unwrap().id
    }

    async fn enqueue(&self, hook: i64, ids: std::ops::Range<i64>, keys: i64) {
        let work = move |tx: &mut Tx<'_>| {
            for id in ids.clone() {
                let new = NewDelivery {
                    webhook_id: hook,
                    event_id: &id.to_string(),
                    order_key: id % keys,
                    post_id: None,
                    at: tx.now(),
                    body: "{}",
                };
                deliveries::enqueue(tx, &new)?;
            }
            Ok(())
        };
        self.store.write(work).await.unwrap();
    }

    async fn webhook(&self, id: i64) -> Webhook {
        let read = move |tx: &mut Tx<'_>| Ok(store::webhooks::find_by_id(tx, id)?);
        self.store.read(read).await.unwrap().unwrap()
    }

    async fn deliveries(&self, hook: i64) -> Vec<Delivery> {
        let read = move |tx: &mut Tx<'_>| {
            let end = (Time::from_ms(i64::MAX), i64::MAX);
            Ok(deliveries::list_before(tx, hook, end, 1000)?)
        };
        self.store.read(read).await.unwrap()
    }

    async fn states(&self, hook: i64) -> Vec<DeliveryState> {
        self.deliveries(hook).await.iter().map(|one| one.state).collect()
    }

    /// Waits until the outcomes of so many attempts are recorded; the next ones are due from then on.
    async fn await_recorded_tries(&self, hook: i64, count: i64) {
        let recorded = async || self.deliveries(hook).await.iter().map(|one| one.tries).sum::<i64>() >= count;
        until("the attempts are recorded", recorded).await;
    }
}

fn settings() -> WebhookSettings {
    WebhookSettings {
        timeout: Duration::from_secs(2),
        targets: AllowedTargets { allow_http: true, private_blocks: AddressBlock::ALL.to_vec() },
        ..WebhookSettings::default()
    }
}

async fn until(what: &str, holds: impl AsyncFn() -> bool) {
    for _ in 0..500 {
        if holds().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("timed out waiting until {what}");
}

/// Runs a scenario while a sender sends.
async fn while_sending(world: &World, settings: WebhookSettings, story: impl Future<Output = ()>) {
    let (_desk, sender) = WebhookAdmin::open(Arc::clone(&world.store), settings);
    tokio::select! {
        () = sender.run(std::future::pending()) => panic!("the sender ended"),
        () = story => {}
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_fails_is_tried_for_more_than_a_day() {
    let world = World::open(None, 0).await;
    let (app, secret) = world.app().await;
    let receiver = Receiver::open(&secret);
    receiver.delivery.store(500, Ordering::SeqCst);
    let hook = world.hook(app, receiver.port).await;
    let story = async {
        world.enqueue(hook, 0..1, 1).await;
        let waits = [5_000, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 10 * HOUR];
        for (tries, wait) in (1..).zip(waits) {
            until("it is tried", async || receiver.count() == tries).await;
            world.await_recorded_tries(hook, i64::try_from(tries).unwrap()).await;
            // Nothing is sent early. The clock stops at the time that is due: a sender that loads the webhook anew takes
            // what is late for a pause of the server.
            let due = world.deliveries(hook).await[0].due_at;
            let after = due.ms() - world.clock.now().ms();
            assert!((wait..=wait + wait / 8).contains(&after), "{after} ms after {wait}");
            world.clock.set(due.plus_ms(-1000));
            tokio::time::sleep(Duration::from_millis(500)).await;
            assert_eq!(receiver.count(), tries);
            world.clock.set(due);
        }
        until("it is given up", async || world.states(hook).await == [DeliveryState::GivenUp]).await;
        assert_eq!(receiver.count(), 8);
        // Nothing had succeeded for more than 28 hours.
        until("it is disabled", async || !world.webhook(hook).await.valid).await;
    };
    while_sending(&world, settings(), story).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn time_without_deliveries_does_not_count_as_failing() {
    let world = World::open(None, 0).await;
    let (app, secret) = world.app().await;
    let receiver = Receiver::open(&secret);
    receiver.delivery.store(500, Ordering::SeqCst);
    let hook = world.hook(app, receiver.port).await;
    // One was tried before the server was stopped.
    let try_once = async {
        world.enqueue(hook, 0..1, 1).await;
        world.await_recorded_tries(hook, 1).await;
    };
    while_sending(&world, settings(), try_once).await;
    world.pass(40 * HOUR);
    let story = async {
        world.await_recorded_tries(hook, 2).await;
        let first_at = world.webhook(hook).await.failing_since;
        assert!(first_at >= Some(START.plus_ms(40 * HOUR)));
        world.pass(6 * MINUTE);
        world.await_recorded_tries(hook, 3).await;
        let webhook = world.webhook(hook).await;
        assert!(webhook.valid && webhook.failing_since == first_at);
    };
    while_sending(&world, settings(), story).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn receivers_are_challenged_from_time_to_time() {
    let world = World::open(None, 0).await;
    let (app, secret) = world.app().await;
    let receiver = Receiver::open(&secret);
    let hook = world.hook(app, receiver.port).await;
    let challenges = async |count: usize| {
        let all = async || receiver.challenges.load(Ordering::SeqCst) == count;
        until("it is challenged", all).await;
        tokio::time::sleep(Duration::from_millis(200)).await;
    };
    let story = async {
        world.pass(24 * HOUR - 1);
        tokio::time::sleep(Duration::from_millis(1500)).await;
        challenges(0).await;
        world.pass(1);
        challenges(1).await;
        assert_eq!(world.webhook(hook).await.checked_at, START.plus_ms(24 * HOUR));
        // Temporary failures are retried every half hour, for four hours.
        receiver.challenge.store(503, Ordering::SeqCst);
        world.pass(24 * HOUR);
        for count in 2..10 {
            challenges(count).await;
            assert!(world.webhook(hook).await.valid);
            world.pass(30 * MINUTE);
        }
        challenges(10).await;
        let found = world.webhook(hook).await;
        assert!(!found.valid, "{found:?}");
        assert!(found.problem.starts_with("Non-200"), "{found:?}");
        world.pass(100 * HOUR);
        tokio::time::sleep(Duration::from_millis(1500)).await;
        challenges(10).await;
    };
    while_sending(&world, settings(), story).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn time_without_challenges_does_not_count_as_failing() {
    let world = World::open(None, 0).await;
    let (app, secret) = world.app().await;
    let receiver = Receiver::open(&secret);
    receiver.challenge.store(503, Ordering::SeqCst);
    let hook = world.hook(app, receiver.port).await;
    world.pass(100 * HOUR);
    let story = async {
        let recorded = async || {
            let count = move |tx: &mut Tx<'_>| Ok(deliveries::list_challenges(tx, hook, 20)?.len());
            world.store.read(count).await.unwrap()
        };
        let before = recorded().await;
        for count in 1..9 {
            until("a challenge is recorded", async || recorded().await == before + count).await;
            assert!(world.webhook(hook).await.valid, "{count}");
            world.pass(30 * MINUTE);
        }
        until("it is disabled", async || !world.webhook(hook).await.valid).await;
    };
    while_sending(&world, settings(), story).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn periodic_challenge_under_way_does_not_enable_what_is_disabled_meanwhile() {
    let world = World::open(None, 0).await;
    let (app, secret) = world.app().await;
    let receiver = Receiver::open(&secret);
    let hook = world.hook(app, receiver.port).await;
    let before = world.webhook(hook).await;
    let target = TargetUrl::parse(&before.url, &settings().targets).unwrap();
    let passed =
        WebhookClient::new(&settings()).send_challenge(SUBJECT, &target, &secret, &Rng::Os, START).await.unwrap();
    assert_eq!(passed.failure, None);
    let disable = move |tx: &mut Tx<'_>| Ok(store::webhooks::disable(tx, hook, "It failed for too long.")?);
    world.store.write(disable).await.unwrap();
    let every = settings().challenge_interval;
    let apply = |is_asked_for| {
        let (before, passed) = (before.clone(), passed.clone());
        world.store.write(move |tx| periodic_challenges::apply_result(tx, &before, &passed, every, is_asked_for))
    };
    apply(false).await.unwrap();
    assert!(!world.webhook(hook).await.valid);
    apply(true).await.unwrap();
    assert!(world.webhook(hook).await.valid);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_comes_back_gets_everything_at_once() {
    let world = World::open(None, 0).await;
    let (app, secret) = world.app().await;
    let receiver = Receiver::open(&secret);
    receiver.delivery.store(500, Ordering::SeqCst);
    let hook = world.hook(app, receiver.port).await;
    let story = async {
        world.enqueue(hook, 0..40, 20).await;
        until("all keys are tried", async || receiver.count() == 20).await;
        world.await_recorded_tries(hook, 20).await;
        world.pass(10_000);
        until("and again", async || receiver.count() >= 40).await;
        world.await_recorded_tries(hook, 40).await;
        // All wait for minutes now. An event with another key shows that the receiver is back.
        world.pass(61_000);
        receiver.delivery.store(200, Ordering::SeqCst);
        world.enqueue(hook, 1000..1001, 5000).await;
        let all = async || world.states(hook).await.iter().all(|one| *one == DeliveryState::Delivered);
        until("all is delivered", all).await;
        assert_eq!(world.webhook(hook).await.failing_since, None);
    };
    while_sending(&world, settings(), story).await;
}

#[tokio::test]
async fn replay_to_a_webhook_that_is_disabled_before_it_ends_is_incomplete() {
    let world = World::open(None, 0).await;
    let (app, _) = world.app().await;
    let hook = world.hook(app, 1).await;
    world.enqueue(hook, 0..1, 1).await;
    let period = (START.plus_ms(-HOUR), START.plus_ms(HOUR));
    let start = move |tx: &mut Tx<'_>| network::webhooks::start_replay(tx, app, hook, period);
    world.store.write(start).await.unwrap();
    while replays::advance_all(&world.store).await.unwrap() {}
    assert_eq!(world.states(hook).await, [DeliveryState::Waiting; 2]);
    let disable = move |tx: &mut Tx<'_>| {
        store::webhooks::disable(tx, hook, "It failed for too long.")?;
        Ok(deliveries::prune(tx, hook, period.1, true, 10)?)
    };
    assert_eq!(world.store.write(disable).await.unwrap(), 2);
    assert!(!replays::advance_all(&world.store).await.unwrap());
    let bodies: Vec<String> = world.deliveries(hook).await.into_iter().map(|one| one.body).collect();
    assert_eq!(bodies.len(), 1);
    assert!(bodies[0].contains(r#""job_state":"Incomplete""#), "{bodies:?}");
}

#[tokio::test]
async fn the_address_that_is_connected_to_is_judged_each_time() {
    let secret = Secret::new("secret");
    let receiver = Receiver::open(&secret);
    let calls = Arc::new(AtomicUsize::new(0));
    let answers: [&[&str]; 4] =
        [&["127.0.0.1"], &["169.254.169.254"], &["10.0.0.1", "fd00:ec2::254"], &["10.0.0.1", "127.0.0.1"]];
    let counted = Arc::clone(&calls);
    let told = move |name: &str| -> Vec<IpAddr> {
        assert_eq!(name, "rebind.example");
        let call = counted.fetch_add(1, Ordering::SeqCst);
        answers[call].iter().map(|text| text.parse().unwrap()).collect()
    };
    let settings = WebhookSettings {
        targets: AllowedTargets { allow_http: true, private_blocks: vec!["127.0.0.1".parse().unwrap()] },
        resolver: NameResolver::Custom(Arc::new(told)),
        ..settings()
    };
    let url = format!("http://rebind.example:{}/", receiver.port);
    let place = TargetUrl::parse(&url, &settings.targets).unwrap();
    for (connects, allowed) in [(1, true), (1, false), (1, false), (2, true)] {
        // A new client each time: pooled connections are not resolved again.
        let client = WebhookClient::new(&settings);
        let done = client.send_challenge(SUBJECT, &place, &secret, &Rng::Os, START).await.unwrap();
        let refused = done.failure.as_ref().is_some_and(|failure| failure.is_target_forbidden);
        assert_eq!(refused, !allowed, "{done:?}");
        assert_eq!(receiver.challenges.load(Ordering::SeqCst), connects);
    }
}
