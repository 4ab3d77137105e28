use std::sync::Arc;

use base::{AppId, Error, Fault};
use identity::apps::{self, AccessLevel, AppProfile};
use store::deliveries::{self, DeliveryState, NewDelivery};
use store::webhooks::{self, Webhook};
use store::{Tx, event_log};
use tokio::task::JoinSet;

use test_stores::{START, World, each_engine};

const APP: AppId = AppId::new(7);

async fn webhook(world: &World, url: &'static str) -> i64 {
    webhook_of(world, APP, url).await
}

async fn webhook_of(world: &World, app_id: AppId, url: &'static str) -> i64 {
    let insert = move |tx: &mut Tx<'_>| {
        let id = tx.next_id::<()>().get();
        let webhook = Webhook {
            id,
            app_id,
            url: url.to_owned(),
            valid: true,
            created_at: tx.now(),
            checked_at: tx.now(),
            check_due_at: tx.now(),
            failing_since: None,
            problem: String::new(),
            deleted_at: None,
        };
        Ok(webhooks::insert(tx, &webhook)?.then_some(id))
    };
    world.write(insert).await.unwrap()
}

const fn about(webhook_id: i64, event_id: &str) -> NewDelivery<'_> {
    NewDelivery { webhook_id, event_id, order_key: 1, post_id: None, at: START, body: "{\"a\":1}" }
}

#[each_engine]
async fn event_is_enqueued_once_together_with_the_cursor(world: World) {
    let hook = webhook(&world, "https://example.org/a").await;
    let mut queued = world.store.subscribe_deliveries();
    let fails = world.store.write(move |tx| {
        deliveries::enqueue(tx, &about(hook, "1"))?;
        event_log::set_cursor(tx, "a follower", 5)?;
        Err::<(), _>(Error::Failed(Fault::new("on purpose")))
    });
    fails.await.unwrap_err();
    assert!(!queued.has_changed().unwrap());
    for expected in [true, false] {
        let is_new = move |tx: &mut Tx<'_>| {
            event_log::set_cursor(tx, "a follower", 5)?;
            Ok(deliveries::enqueue(tx, &about(hook, "1"))?)
        };
        assert_eq!(world.write(is_new).await, expected);
    }
    assert!(queued.has_changed().unwrap());
    queued.mark_unchanged();
    let waiting = world.write(move |tx| Ok(deliveries::list_pending(tx, hook, 0, 10)?));
    let waiting = waiting.await;
    assert_eq!(waiting.len(), 1);
    let seq = waiting[0].seq;
    let done = move |tx: &mut Tx<'_>| {
        let at = tx.now();
        Ok(deliveries::record_attempt(tx, (seq, START), at, DeliveryState::Delivered, at)?)
    };
    assert!(world.write(done).await);
    assert!(!world.write(done).await);
    let again = move |tx: &mut Tx<'_>| Ok(deliveries::enqueue(tx, &about(hook, "1"))?);
    assert!(!world.write(again).await, "what was delivered is not enqueued again");
}

#[each_engine]
async fn deleted_webhook_can_be_registered_again(world: World) {
    let hook = webhook(&world, "https://example.org/a").await;
    let other = AppId::new(8);
    let foreign = world.refused(move |tx| network::webhooks::find_owned(tx, other, hook));
    assert!(foreign.await.contains("WebhookIdInvalid"));
    world
        .write(move |tx| {
            webhooks::link_stream(tx, hook, APP, "post.fields=lang")?;
            network::webhooks::delete(tx, APP, hook)
        })
        .await;
    let deleted = world.refused(move |tx| network::webhooks::delete(tx, APP, hook));
    assert!(deleted.await.contains("WebhookIdInvalid"));
    let links = world.write(|tx| Ok(webhooks::stream_links(tx, APP)?)).await;
    assert_eq!(links, []);
    assert_ne!(webhook(&world, "https://example.org/a").await, hook);
}

#[each_engine]
async fn webhook_that_is_deleted_meanwhile_keeps_no_links(world: World) {
    let owner = world.user("owner").await;
    let profile = AppProfile::new("demo");
    let created = world.write(move |tx| apps::create(tx, owner, AccessLevel::Enterprise, &profile)).await;
    let app = created.0.id;
    for _ in 0..20 {
        let hook = webhook_of(&world, app, "https://example.org/a").await;
        let delete = world.store.write(move |tx| network::webhooks::delete(tx, app, hook));
        let mut links = JoinSet::new();
        for _ in 0..4 {
            let store = Arc::clone(&world.store);
            // Refused once the webhook is deleted.
            links.spawn(async move {
                store.write(move |tx| network::webhooks::link_stream(tx, app, hook, "")).await.is_ok()
            });
        }
        delete.await.unwrap();
        links.join_all().await;
    }
    world.recount().await;
}
