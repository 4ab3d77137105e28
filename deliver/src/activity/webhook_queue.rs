//! Enqueues webhook deliveries from the event log.

use base::Fault;
use store::Tx;
use store::deliveries::{NewDelivery, enqueue, enqueue_with_consent};
use store::event_log::{LogEvent, LogReader};

use super::{ActivityConfig, ActivityScope, match_events};

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
