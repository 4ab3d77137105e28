//! Enqueues webhook deliveries from the event log.

use base::Fault;
use store::deliveries::{NewDelivery, enqueue, enqueue_with_consent};
use store::{Tx, event_log};

use super::{ActivityConfig, ActivityScope, match_events};

/// The name of the durable cursor.
const READER: &str = "activity";

/// Reads up to `limit` log entries and enqueues their deliveries in the same transaction; returns the number
/// read. Each entry is read by one node.
pub fn enqueue_webhook_events(tx: &mut Tx<'_>, limit: i64, config: ActivityConfig) -> Result<usize, Fault> {
    let from = event_log::claim_cursor(tx, READER)?;
    let events = event_log::list_after(tx, from, limit)?;
    let Some(last) = events.last() else {
        return Ok(0);
    };
    for envelope in match_events(tx, &events, &ActivityScope::Webhooks, config)? {
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
    event_log::set_cursor(tx, READER, last.seq)?;
    Ok(events.len())
}

/// Whether the cursor is missing or behind the log.
pub fn has_unread_entries(tx: &mut Tx<'_>) -> Result<bool, Fault> {
    match event_log::find_cursor(tx, READER)? {
        Some(from) => Ok(!event_log::list_after(tx, from, 1)?.is_empty()),
        None => Ok(true),
    }
}
