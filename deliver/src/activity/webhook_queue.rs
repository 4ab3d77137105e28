//! Enqueues webhook deliveries from the event log.

use std::collections::{BTreeSet, HashSet};
use std::time::Duration;

use base::{Error, Fault, UserId};
use store::activity::{self, has_subscriptions};
use store::deliveries::{NewDelivery, enqueue, enqueue_with_consent};
use store::event_log::{LogEvent, LogReader};
use store::{Store, Tx, account_activity, users, webhooks};
use tokio::time::{sleep, timeout};

use super::{ActivityConfig, ActivityScope, match_events};
use crate::streams::{Hub, LINK_READER};

pub const ACTIVITY_READER: LogReader = LogReader::from_end("activity");

/// Enqueues the deliveries of log entries read by [`ACTIVITY_READER`].
pub fn enqueue_webhook_events(tx: &mut Tx<'_>, events: &[LogEvent], config: ActivityConfig) -> Result<(), Fault> {
    let envelopes = match_events(tx, events, &ActivityScope::Webhooks, config)?;
    // A single writer excludes withdrawals meanwhile.
    let consenting = envelopes.iter().filter_map(|envelope| envelope.consenting_user).filter(|_| tx.is_shared());
    let consenting: BTreeSet<UserId> = consenting.collect();
    let consents = lock_consents(tx, &consenting)?;
    for envelope in envelopes {
        let Some(webhook_id) = envelope.webhook else {
            continue;
        };
        let is_withdrawn =
            |user| consenting.contains(&user) && !consents.contains(&(webhook_id, user, envelope.subscription_id));
        if envelope.consenting_user.is_some_and(is_withdrawn) {
            continue;
        }
        let new = NewDelivery {
            webhook_id,
            event_id: &envelope.id.to_string(),
            order_key: envelope.order_key,
            post_id: envelope.post_id,
            at: envelope.at,
            body: &envelope.body,
        };
        match envelope.consenting_user {
            Some(user) => enqueue_with_consent(tx, &new, user)?,
            None => enqueue(tx, &new)?,
        };
    }
    Ok(())
}

/// The webhooks and subscriptions that still receive what depends on the consent of some users. A withdrawal waits from now
/// on, so that it deletes what is enqueued meanwhile.
fn lock_consents(tx: &mut Tx<'_>, consenting: &BTreeSet<UserId>) -> Result<HashSet<(i64, UserId, Option<i64>)>, Fault> {
    let ids: Vec<i64> = consenting.iter().map(|user| user.get()).collect();
    if ids.is_empty() {
        return Ok(HashSet::new());
    }
    for user in consenting {
        users::lock_shared(tx, *user);
    }
    let activities = activity::list_by_users(tx, &ids)?;
    let activities =
        activities.into_iter().filter_map(|found| Some((found.webhook_id?, found.user_id?, Some(found.id))));
    let accounts = account_activity::list_by_users(tx, &ids)?;
    let accounts = accounts.into_iter().map(|found| (found.webhook_id, found.user_id, None));
    Ok(activities.chain(accounts).collect())
}

/// How long a request waits for the readers.
const READ_TIMEOUT: Duration = Duration::from_millis(500);
const READ_POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Waits, for at most half a second, until webhooks and the activity streams of this node have got what was committed
/// before: events contain the post or message that they are about, which is to be deleted now.
pub async fn wait_until_read(store: &Store, hub: &Hub) {
    let has_readers = |tx: &mut Tx<'_>| Ok(has_subscriptions(tx)? || !webhooks::all_stream_links(tx)?.is_empty());
    // If the store fails, there is nothing to wait for.
    if store.read(has_readers).await.unwrap_or(false) {
        wait_for_readers(store, hub).await;
    }
}

/// The same before a subscription or link ends: it gets what was committed while it existed.
pub async fn wait_for_readers(store: &Store, hub: &Hub) {
    let is_read = async {
        let end = store.wait_for_log_end(READ_TIMEOUT).await?;
        let is_behind = move |tx: &mut Tx<'_>| {
            let cursors = [ACTIVITY_READER.find_cursor(tx)?, LINK_READER.find_cursor(tx)?];
            Ok(cursors.into_iter().flatten().any(|cursor| cursor < end))
        };
        while store.read(is_behind).await? {
            sleep(READ_POLL_INTERVAL).await;
        }
        hub.wait_for_activity(end, READ_TIMEOUT).await;
        Ok::<(), Error>(())
    };
    if !matches!(timeout(READ_TIMEOUT, is_read).await, Ok(Ok(()))) {
        tracing::debug!("a change does not wait for all readers of events");
    }
}

/// Before a subscription or link begins: while the clock stands, events before it have the same time.
pub async fn wait_for_readers_if_frozen(store: &Store, hub: &Hub) {
    if store.context().clock.is_frozen() {
        wait_for_readers(store, hub).await;
    }
}
