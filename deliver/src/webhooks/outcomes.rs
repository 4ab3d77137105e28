//! What came of tries, written down; many in one transaction.

use base::{Error, Time};
use store::deliveries::{self, DeliveryAttempt, DeliveryState};
use store::{Tx, event_log, webhooks};

/// What a try says of a webhook that nothing reaches.
#[derive(Clone, Copy, Debug)]
pub(super) enum FailureChange {
    /// Nothing new.
    Unchanged,
    /// From then on nothing reached it.
    Since(Time),
    /// It is reached again.
    Recovered,
}

/// What came of one try.
#[derive(Clone, Debug)]
pub(super) struct AttemptOutcome {
    pub(super) seq: i64,
    pub(super) key: i64,
    pub(super) state: DeliveryState,
    /// When it is tried again, if it is.
    pub(super) retry_at: Time,
    pub(super) attempt: DeliveryAttempt,
    /// What became of the webhook's failing.
    pub(super) failure_change: FailureChange,
    /// Whether the receiver is back: what waits for its time is due.
    pub(super) is_back: bool,
    /// Why the webhook gets nothing any more, if it is so.
    pub(super) disable_reason: Option<String>,
}

/// Writes down what came of tries.
pub(super) fn record_outcomes(tx: &mut Tx<'_>, outcomes: &[AttemptOutcome]) -> Result<(), Error> {
    for outcome in outcomes {
        let (at, webhook_id) = (outcome.attempt.at, outcome.attempt.webhook_id);
        deliveries::record_attempt(tx, outcome.seq, at, outcome.state, outcome.retry_at)?;
        deliveries::insert_attempt(tx, &outcome.attempt)?;
        match outcome.failure_change {
            FailureChange::Unchanged => {}
            FailureChange::Since(time) => webhooks::set_failing(tx, webhook_id, Some(time))?,
            FailureChange::Recovered => webhooks::set_failing(tx, webhook_id, None)?,
        }
        if outcome.is_back {
            deliveries::make_pending_due(tx, webhook_id)?;
        }
        if let Some(why) = &outcome.disable_reason {
            disable_webhook(tx, webhook_id, why)?;
        }
    }
    Ok(())
}

/// A webhook gets nothing any more, until it answers a challenge that its app asks for.
pub(super) fn disable_webhook(tx: &mut Tx<'_>, webhook_id: i64, why: &str) -> Result<(), Error> {
    let Some(webhook) = webhooks::find_by_id(tx, webhook_id)?.filter(|webhook| webhook.valid) else {
        return Ok(());
    };
    webhooks::disable(tx, webhook_id, why)?;
    let app = webhook.app_id.get();
    Ok(event_log::append(tx, "webhook.disable", app, webhook_id, "")?)
}
