//! The order of deliveries, and what holds up those behind it.

use std::sync::atomic::Ordering;
use std::time::Duration;

use store::Tx;
use store::deliveries::{self, DeliveryState, NewDelivery};

use super::{HOUR, MINUTE, Receiver, World, settings, until, while_sending};

#[tokio::test(flavor = "multi_thread")]
async fn event_that_alone_is_refused_holds_up_later_ones_for_minutes_only() {
    let world = World::open(None, 0).await;
    let (app, secret) = world.app().await;
    let receiver = Receiver::open(&secret);
    *receiver.refused_id.lock() = "0".to_owned();
    let hook = world.hook(app, receiver.port).await;
    let story = async {
        world.enqueue(hook, 0..4, 1).await;
        for (tries, wait) in [(1, 6_000), (2, 6 * MINUTE)] {
            world.await_recorded_tries(hook, tries).await;
            assert_eq!(*receiver.heard.lock(), vec!["0"; usize::try_from(tries).unwrap()]);
            world.pass(wait);
        }
        let others = || receiver.heard.lock().iter().filter(|id| *id != "0").cloned().collect::<Vec<_>>();
        until("the others come", async || others().len() == 3).await;
        assert_eq!(others(), ["1", "2", "3"]);
        world.await_recorded_tries(hook, 6).await;
        world.enqueue(hook, 4..5, 1).await;
        until("what is new comes at once", async || others().len() == 4).await;
        *receiver.refused_id.lock() = String::new();
        world.pass(3 * HOUR);
        let all = async || world.states(hook).await.iter().all(|one| *one == DeliveryState::Delivered);
        until("all is delivered", all).await;
        assert_eq!(receiver.heard.lock().last().unwrap(), "0");
    };
    while_sending(&world, settings(), story).await;
}

/// An event that arrives while a backlog of more than one page is loaded.
pub(super) async fn check_order_of_backlog(world: &World) {
    let (app, secret) = world.app().await;
    let receiver = Receiver::open(&secret);
    let hook = world.hook(app, receiver.port).await;
    world.enqueue(hook, 0..2500, 10).await;
    // The queue is loaded page by page, while there is something to send.
    receiver.pause.store(300, Ordering::SeqCst);
    let story = async {
        until("the first are under way", async || receiver.count() == 10).await;
        receiver.pause.store(0, Ordering::SeqCst);
        world.enqueue(hook, 2500..2510, 10).await;
        until("all came", async || receiver.count() >= 2510).await;
        let heard: Vec<i64> = receiver.heard.lock().iter().map(|id| id.parse().unwrap()).collect();
        for key in 0..10 {
            let of_key: Vec<i64> = heard.iter().copied().filter(|id| id % 10 == key).collect();
            assert!(of_key.is_sorted(), "{of_key:?}");
        }
    };
    while_sending(world, settings(), story).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn event_that_arrives_during_a_backlog_is_sent_after_it() {
    check_order_of_backlog(&World::open(None, 0).await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_withdrawn_holds_up_nothing_behind_it() {
    let world = World::open(None, 0).await;
    let (app, secret) = world.app().await;
    let receiver = Receiver::open(&secret);
    receiver.delivery.store(500, Ordering::SeqCst);
    let hook = world.hook(app, receiver.port).await;
    let user = base::UserId::new(7);
    let confide = move |tx: &mut Tx<'_>| {
        let new = NewDelivery {
            webhook_id: hook,
            event_id: "in confidence",
            order_key: 0,
            post_id: None,
            at: tx.now(),
            body: "{}",
        };
        Ok(deliveries::enqueue_with_consent(tx, &new, user)?)
    };
    let story = async {
        world.store.write(confide).await.unwrap();
        until("it is tried", async || receiver.count() == 1).await;
        world.enqueue(hook, 1..3, 1).await;
        receiver.delivery.store(200, Ordering::SeqCst);
        // It is due in five seconds, by a clock that stands still.
        tokio::time::sleep(Duration::from_millis(1500)).await;
        assert_eq!(receiver.count(), 1);
        let withdraw = move |tx: &mut Tx<'_>| Ok(deliveries::withdraw_app_consent(tx, Some(app), user)?);
        assert_eq!(world.store.write(withdraw).await.unwrap(), 1);
        until("the others come", async || receiver.count() == 3).await;
        assert_eq!(receiver.heard.lock()[1..], ["1", "2"]);
    };
    while_sending(&world, settings(), story).await;
}
