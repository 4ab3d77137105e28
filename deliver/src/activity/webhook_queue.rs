//! Enqueues webhook deliveries from the event log.

use std::time::Duration;

use base::{Error, Fault};
use store::activity::has_subscriptions;
use store::deliveries::{NewDelivery, enqueue, enqueue_with_consent};
use store::event_log::{LogEvent, LogReader};
use store::{Store, Tx};
use tokio::time::{sleep, timeout};

use super::{ActivityConfig, ActivityScope, match_events};
use crate::streams::Hub;

pub const ACTIVITY_READER: LogReader = LogReader::from_end("activity");

/// Enqueues the deliveries of log entries read by [`ACTIVITY_READER`].
pub fn enqueue_webhook_events(tx: &mut Tx<'_>, events: &[LogEvent], config: ActivityConfig) -> Result<(), Fault> {
    for envelope in match_events(tx, events, &ActivityScope::Webhooks, config)? {
        let Some(webhook_id) = envelope.webhook else {
            continue;
        };
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

/// How long a deletion waits.
const READ_TIMEOUT: Duration = Duration::from_millis(500);
const READ_POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Waits, for at most half a second, until webhooks and the activity streams of this node have got what was committed
/// before: events contain the post that they are about, which is to be deleted now.
pub async fn wait_until_read(store: &Store, hub: &Hub) {
    let is_read = async {
        if !store.read(|tx| Ok(has_subscriptions(tx)?)).await? {
            return Ok(());
        }
        let end = store.wait_for_log_end(READ_TIMEOUT).await?;
        while store.read(move |tx| Ok(ACTIVITY_READER.find_cursor(tx)?.is_some_and(|cursor| cursor < end))).await? {
            sleep(READ_POLL_INTERVAL).await;
        }
        hub.wait_for_activity(end, READ_TIMEOUT).await;
        Ok::<(), Error>(())
    };
    if !matches!(timeout(READ_TIMEOUT, is_read).await, Ok(Ok(()))) {
        tracing::debug!("a post is deleted before all have got its events");
    }
}
