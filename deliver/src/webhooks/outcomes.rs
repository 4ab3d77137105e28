//! Records the outcomes of attempts, many in one transaction.

use base::{Error, Time};
use store::deliveries::{self, DeliveryAttempt, DeliveryState};
use store::{Tx, event_log, webhooks};

/// The effect of an attempt on the failure state of a webhook.
#[derive(Clone, Copy, Debug)]
pub(super) enum FailureChange {
    Unchanged,
    /// Failing since this time.
    Since(Time),
    Recovered,
}

#[derive(Clone, Debug)]
pub(super) struct AttemptOutcome {
    pub(super) seq: i64,
    pub(super) event_at: Time,
    pub(super) key: i64,
    pub(super) state: DeliveryState,
    /// When the next attempt is due, if there is one.
    pub(super) retry_at: Time,
    pub(super) attempt: DeliveryAttempt,
    pub(super) failure_change: FailureChange,
    /// Whether the receiver is back, so that waiting deliveries are due.
    pub(super) is_back: bool,
    /// Why the webhook is disabled, if it is.
    pub(super) disable_reason: Option<String>,
}

pub(super) fn record_outcomes(tx: &mut Tx<'_>, outcomes: &[AttemptOutcome]) -> Result<(), Error> {
    for outcome in outcomes {
        let (at, webhook_id) = (outcome.attempt.at, outcome.attempt.webhook_id);
        let delivery = (outcome.seq, outcome.event_at);
        deliveries::record_attempt(tx, delivery, at, outcome.state, outcome.retry_at)?;
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

/// Disables a webhook until it passes a challenge requested by its app.
pub(super) fn disable_webhook(tx: &mut Tx<'_>, webhook_id: i64, why: &str) -> Result<(), Error> {
    let Some(webhook) = webhooks::find_by_id(tx, webhook_id)?.filter(|webhook| webhook.valid) else {
        return Ok(());
    };
    webhooks::disable(tx, webhook_id, why)?;
    let app = webhook.app_id.get();
    Ok(event_log::append(tx, "webhook.disable", app, webhook_id, "")?)
}
