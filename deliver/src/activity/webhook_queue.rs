//! What webhooks are to be sent, put into their queues as the log tells of it.

use base::Fault;
use store::deliveries::{NewDelivery, enqueue, enqueue_with_consent};
use store::{Tx, event_log};

use super::{ActivityConfig, ActivityScope, match_events};

/// The reader's name in the log.
const READER: &str = "activity";

/// Reads what the log tells beyond what was read, and queues what it leads to, in one
/// transaction; how many entries. Of several nodes one reads each part.
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

/// Whether the log tells something that was not read, or was never read.
pub fn has_unread_entries(tx: &mut Tx<'_>) -> Result<bool, Fault> {
    match event_log::find_cursor(tx, READER)? {
        Some(from) => Ok(!event_log::list_after(tx, from, 1)?.is_empty()),
        None => Ok(true),
    }
}
