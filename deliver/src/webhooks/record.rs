//! What came of tries, written down; many in one transaction.

use base::{Stop, Time};
use store::deliveries::{self, Attempt, State};
use store::{Tx, log, webhooks};

/// What came of one try.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    pub(super) seq: i64,
    pub(super) key: i64,
    pub(super) state: State,
    /// When it is tried again, if it is.
    pub(super) again_at: Time,
    pub(super) attempt: Attempt,
    /// Since when nothing reaches the webhook, where that changed.
    pub(super) failing: Option<Option<Time>>,
    /// Whether the receiver is back: what waits for its time is due.
    pub(super) is_back: bool,
    /// Why the webhook gets nothing any more, if it is so.
    pub(super) disabled: Option<String>,
}

/// Writes down what came of tries.
pub(super) fn record(tx: &mut Tx<'_>, outcomes: &[Outcome]) -> Result<(), Stop> {
    for outcome in outcomes {
        let (at, webhook_id) = (outcome.attempt.at, outcome.attempt.webhook_id);
        deliveries::tried(tx, outcome.seq, at, outcome.state, outcome.again_at)?;
        deliveries::note(tx, &outcome.attempt)?;
        if let Some(since) = outcome.failing {
            webhooks::set_failing(tx, webhook_id, since)?;
        }
        if outcome.is_back {
            deliveries::release(tx, webhook_id)?;
        }
        if let Some(why) = &outcome.disabled {
            disable(tx, webhook_id, why)?;
        }
    }
    Ok(())
}

/// A webhook gets nothing any more, until it answers a challenge that its app asks for.
pub(super) fn disable(tx: &mut Tx<'_>, webhook_id: i64, why: &str) -> Result<(), Stop> {
    let Some(webhook) = webhooks::by_id(tx, webhook_id)?.filter(|webhook| webhook.valid) else {
        return Ok(());
    };
    webhooks::disable(tx, webhook_id, why)?;
    let app = webhook.app_id.get();
    Ok(log::append(tx, "webhook.disable", app, webhook_id, "")?)
}
