//! Several nodes over one database server.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use store::{DatabaseLocation, Tx};

use super::super::{WebhookAdmin, WebhookSettings};
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

fn of_node(node: u16) -> WebhookSettings {
    WebhookSettings { node_id: node, ..settings() }
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
    let (_desk, sender) = WebhookAdmin::open(Arc::clone(&other.store), of_node(1));
    tokio::select! {
        () = sender.run(std::future::pending()) => panic!("the sender ended"),
        () = while_sending(&one, of_node(0), story) => {}
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_node_held_when_it_died_is_sent_by_another_after_its_time() {
    let Some(database) = Database::make("dead").await else {
        return;
    };
    let (one, other) = (database.node(0).await, database.node(1).await);
    let (app, secret) = one.app().await;
    let receiver = Receiver::open(&secret);
    let hook = one.hook(app, receiver.port).await;
    receiver.delivery.store(0, Ordering::SeqCst);
    let dying = async {
        one.enqueue(hook, 0..5, 1).await;
        until("one is on its way", async || receiver.count() == 1).await;
    };
    // Dropped without a shutdown.
    while_sending(&one, of_node(0), dying).await;
    receiver.delivery.store(200, Ordering::SeqCst);
    let story = async {
        tokio::time::sleep(Duration::from_millis(2500)).await;
        assert_eq!(receiver.count(), 1, "the dead node has it still");
        let over = "UPDATE webhook_lease SET until = 0".to_owned();
        database.run(&database.url(), over).await;
        until("another sends", async || receiver.count() >= 6).await;
        let heard = receiver.heard.lock().clone();
        assert_eq!(heard, ["0", "0", "1", "2", "3", "4"]);
    };
    while_sending(&other, of_node(1), story).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_another_node_removes_gets_no_more_than_is_on_its_way() {
    let Some(database) = Database::make("removed").await else {
        return;
    };
    let (one, other) = (database.node(0).await, database.node(1).await);
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
    while_sending(&one, of_node(0), story).await;
}
