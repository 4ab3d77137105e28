//! What webhooks are to be sent, put into their queues as the log tells of it.

use base::Fault;
use store::deliveries::{NewDelivery, enqueue, enqueue_about};
use store::{Tx, log};

use super::{Home, Scope, matching};

/// The reader's name in the log.
const READER: &str = "activity";

/// Reads what the log tells beyond what was read, and queues what it leads to, in one
/// transaction; how many entries. Of several nodes one reads each part.
pub fn follow(tx: &mut Tx<'_>, limit: i64, home: Home) -> Result<usize, Fault> {
    let from = log::claim(tx, READER)?;
    let events = log::after(tx, from, limit)?;
    let Some(last) = events.last() else {
        return Ok(0);
    };
    for envelope in matching(tx, &events, &Scope::Webhooks, home)? {
        let Some(webhook_id) = envelope.webhook else {
            continue;
        };
        let new = NewDelivery {
            webhook_id,
            event_id: &envelope.id.to_string(),
            order_key: envelope.order,
            post_id: envelope.post,
            at: envelope.at,
            body: &envelope.body,
        };
        match envelope.private {
            Some(user) => enqueue_about(tx, &new, user)?,
            None => enqueue(tx, &new)?,
        };
    }
    log::set_cursor(tx, READER, last.seq)?;
    Ok(events.len())
}

/// Whether the log tells something that was not read, or was never read.
pub fn is_behind(tx: &mut Tx<'_>) -> Result<bool, Fault> {
    match log::cursor(tx, READER)? {
        Some(from) => Ok(!log::after(tx, from, 1)?.is_empty()),
        None => Ok(true),
    }
}
