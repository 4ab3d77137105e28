//! Several nodes over one database server.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use store::deliveries::DeliveryState;
use store::{DatabaseLocation, NodePurpose, Tx};

use super::super::WebhookAdmin;
use super::{Receiver, World, settings, until, while_sending};

struct Database {
    server: String,
    name: String,
}

impl Database {
    async fn make(purpose: &str) -> Option<Self> {
        let server = std::env::var("LOCUM_TEST_POSTGRES").ok()?;
        let name = format!("deliver_{purpose}_{}", std::process::id());
        let made = Self { server, name };
        let name = made.name.clone();
        made.run(&made.server, format!("DROP DATABASE IF EXISTS {name}")).await;
        made.run(&made.server, format!("CREATE DATABASE {name}")).await;
        Some(made)
    }

    fn url(&self) -> String {
        let (before, _) = self.server.rsplit_once('/').unwrap();
        format!("{before}/{}", self.name)
    }

    async fn run(&self, url: &str, sql: String) {
        let url = url.to_owned();
        let run = tokio::task::spawn_blocking(move || {
            let mut client = postgres::Client::connect(&url, postgres::NoTls).unwrap();
            client.batch_execute(&sql).unwrap();
        });
        run.await.unwrap();
    }

    async fn node(&self, number: u16) -> World {
        World::open(Some(DatabaseLocation::Server(self.url())), number).await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_several_nodes_one_sends() {
    let Some(database) = Database::make("shared").await else {
        return;
    };
    let (one, other) = (database.node(0).await, database.node(1).await);
    let (app, secret) = one.app().await;
    let receiver = Receiver::open(&secret);
    let hook = one.hook(app, receiver.port).await;
    let story = async {
        for round in 0..20 {
            let from = round * 20;
            one.enqueue(hook, from..from + 10, 5).await;
            other.enqueue(hook, from + 10..from + 20, 5).await;
        }
        until("all came", async || receiver.count() >= 400).await;
        tokio::time::sleep(Duration::from_millis(500)).await;
        let mut heard = receiver.heard.lock().clone();
        assert_eq!(heard.len(), 400, "some came twice");
        heard.sort();
        heard.dedup();
        assert_eq!(heard.len(), 400);
    };
    let (_desk, sender) = WebhookAdmin::open(Arc::clone(&other.store), settings());
    tokio::select! {
        () = sender.run(std::future::pending()) => panic!("the sender ended"),
        () = while_sending(&one, settings(), story) => {}
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn event_that_arrives_during_a_backlog_is_sent_after_it() {
    if let Some(database) = Database::make("backlog").await {
        super::order::check_order_of_backlog(&database.node(0).await).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_node_held_when_it_died_is_sent_by_another_after_its_time() {
    let Some(database) = Database::make("dead").await else {
        return;
    };
    let one = database.node(0).await;
    let (app, secret) = one.app().await;
    let receiver = Receiver::open(&secret);
    let hook = one.hook(app, receiver.port).await;
    receiver.delivery.store(0, Ordering::SeqCst);
    let dying = async {
        one.enqueue(hook, 0..5, 1).await;
        until("one is on its way", async || receiver.count() == 1).await;
    };
    // Dropped without a shutdown.
    while_sending(&one, settings(), dying).await;
    // Nobody renews the lease of a dead node.
    drop(one);
    let other = database.node(1).await;
    receiver.delivery.store(200, Ordering::SeqCst);
    let story = async {
        until("another sends", async || receiver.count() >= 6).await;
        let heard = receiver.heard.lock().clone();
        assert_eq!(heard, ["0", "0", "1", "2", "3", "4"]);
    };
    while_sending(&other, settings(), story).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_another_node_removes_gets_no_more_than_is_on_its_way() {
    let Some(database) = Database::make("removed").await else {
        return;
    };
    let one = database.node(0).await;
    let other = World::open_for(Some(DatabaseLocation::Server(database.url())), 1, NodePurpose::Command).await;
    let (app, secret) = one.app().await;
    let receiver = Receiver::open(&secret);
    receiver.pause.store(100, Ordering::SeqCst);
    let hook = one.hook(app, receiver.port).await;
    let story = async {
        one.enqueue(hook, 0..1000, 1000).await;
        until("some came", async || receiver.count() >= 20).await;
        let remove = move |tx: &mut Tx<'_>| network::webhooks::delete(tx, app, hook);
        other.store.write(remove).await.unwrap();
        let before = receiver.count();
        tokio::time::sleep(Duration::from_millis(1500)).await;
        let after = receiver.count();
        assert!(after <= before + 16, "{before}, then {after}");
    };
    while_sending(&one, settings(), story).await;
}

async fn held_webhooks(node: &World) -> Vec<i64> {
    let incarnation = node.store.context().node.incarnation();
    let read = move |tx: &mut Tx<'_>| Ok(store::webhooks::list_leases(tx, incarnation)?);
    node.store.read(read).await.unwrap()
}

async fn holds_only_its_share(node: &World) -> bool {
    let lease = &node.store.context().node;
    held_webhooks(node).await.into_iter().all(|hook| lease.is_preferred_for(hook))
}

#[tokio::test(flavor = "multi_thread")]
async fn webhook_is_sent_to_again_when_the_node_that_was_to_take_it_over_is_gone() {
    let Some(database) = Database::make("returned").await else {
        return;
    };
    let one = database.node(0).await;
    let (app, secret) = one.app().await;
    let receiver = Receiver::open(&secret);
    let mut hooks = Vec::new();
    for number in 0..10 {
        let url = format!("http://127.0.0.1:{}/{number}", receiver.port);
        let new = network::webhooks::NewWebhook { app, url, most: 10, check_after_ms: 24 * super::HOUR };
        hooks.push(one.store.write(move |tx| network::webhooks::register(tx, &new)).await.unwrap().id);
    }
    // No webhook can be handed over before the other node is gone.
    receiver.pause.store(12_000, Ordering::SeqCst);
    let story = async {
        for (number, hook) in (0..).zip(&hooks) {
            one.enqueue(*hook, number * 2..number * 2 + 2, 1).await;
        }
        until("all have one on its way", async || receiver.count() == 10).await;
        receiver.pause.store(0, Ordering::SeqCst);
        let worker_count = || one.store.context().node.worker_count();
        let other = database.node(1).await;
        until("the other node is known", async || worker_count() == 2).await;
        assert!(!holds_only_its_share(&one).await);
        // At least one scan, which finds what is to be handed over.
        tokio::time::sleep(Duration::from_millis(1500)).await;
        drop(other);
        until("the other node is gone", async || worker_count() == 1).await;
        assert_eq!(receiver.count(), 10, "the others were on their way");
        until("the rest comes", async || receiver.count() == 20).await;
    };
    let settings = super::WebhookSettings { timeout: Duration::from_secs(30), ..settings() };
    while_sending(&one, settings, story).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn webhooks_are_spread_over_the_nodes_and_taken_over_from_lost_ones() {
    let Some(database) = Database::make("spread").await else {
        return;
    };
    let one = database.node(0).await;
    let (app, secret) = one.app().await;
    let receiver = Receiver::open(&secret);
    let mut hooks = Vec::new();
    for number in 0..10 {
        let url = format!("http://127.0.0.1:{}/{number}", receiver.port);
        let new = network::webhooks::NewWebhook { app, url, most: 10, check_after_ms: 24 * super::HOUR };
        hooks.push(one.store.write(move |tx| network::webhooks::register(tx, &new)).await.unwrap().id);
    }
    let send_to_all = async |from: i64| {
        for (number, hook) in (0..).zip(&hooks) {
            one.enqueue(*hook, from + number * 3..from + number * 3 + 3, 1).await;
        }
    };
    let story = async {
        send_to_all(0).await;
        until("the only node sends to all", async || receiver.count() == 30).await;
        assert_eq!(held_webhooks(&one).await.len(), 10);
        let other = database.node(0).await;
        let shared = async {
            until("both know both", async || {
                [&one, &other].iter().all(|node| node.store.context().node.worker_count() == 2)
            })
            .await;
            until("the first keeps its share", async || holds_only_its_share(&one).await).await;
            send_to_all(100).await;
            until("both send", async || receiver.count() == 60).await;
            assert!(holds_only_its_share(&one).await && holds_only_its_share(&other).await);
            assert_eq!(held_webhooks(&one).await.len() + held_webhooks(&other).await.len(), 10);
        };
        // The other one dies without a shutdown.
        while_sending(&other, settings(), shared).await;
        drop(other);
        send_to_all(200).await;
        // What the lost node sent last, and did not record, is sent again.
        until("the first sends to all again", async || receiver.count() >= 90).await;
        assert_eq!(held_webhooks(&one).await.len(), 10);
    };
    Box::pin(while_sending(&one, settings(), story)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn attempts_under_way_when_a_lease_is_lost_end_with_it() {
    let Some(database) = Database::make("lost").await else {
        return;
    };
    let node = database.node(0).await;
    let (app, secret) = node.app().await;
    let receiver = Receiver::open(&secret);
    receiver.pause.store(1_500, Ordering::SeqCst);
    let hook = node.hook(app, receiver.port).await;
    let before = node.store.context().node.incarnation();
    let story = async {
        node.enqueue(hook, 0..12, 4).await;
        until("some are on their way", async || receiver.count() == 4).await;
        database.run(&database.url(), "UPDATE node SET until = 0".to_owned()).await;
        until("the lease is taken again", async || node.store.context().node.incarnation() != before).await;
        node.enqueue(hook, 12..20, 4).await;
        until("they are sent again", async || receiver.count() >= 8).await;
        receiver.pause.store(0, Ordering::SeqCst);
        let is_all_delivered = async || node.states(hook).await.iter().all(|one| *one == DeliveryState::Delivered);
        until("all is delivered", is_all_delivered).await;
        for key in 0..4 {
            let heard: Vec<i64> = receiver.heard.lock().iter().map(|id| id.parse().unwrap()).collect();
            let of_key: Vec<i64> = heard.into_iter().filter(|id| id % 4 == key).collect();
            assert!(of_key.is_sorted(), "{of_key:?}");
        }
    };
    while_sending(&node, settings(), story).await;
}
