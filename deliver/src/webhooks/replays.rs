//! Replays: deliveries of a past period are enqueued again one after the other in event order; a final event
//! reports the result.

use std::collections::BTreeSet;
use std::time::Duration;

use base::{AppId, Error};
use network::redelivery::may_redeliver;
use serde_json::json;
use store::deliveries::{self, NewDelivery};
use store::replays::{self, Replay, ReplayState};
use store::{Store, Tx, webhooks};

/// How often replays are advanced.
const POLL_INTERVAL: Duration = Duration::from_millis(500);
/// Deliveries enqueued in one transaction.
const PAGE_SIZE: i64 = 200;

/// Runs forever.
pub(super) async fn run(store: &Store) {
    loop {
        match advance_all(store).await {
            Ok(true) => continue,
            Ok(false) => {}
            Err(error) => tracing::warn!(%error, "failed to advance webhook replays; will retry"),
        }
        store.pause_background_work(POLL_INTERVAL).await;
    }
}

/// Advances each running replay by one step; returns whether another step can follow at once.
pub(super) async fn advance_all(store: &Store) -> Result<bool, Error> {
    let running = store.read(|tx| Ok(replays::list_running(tx)?)).await?;
    let mut has_more = false;
    for replay in running {
        has_more |= store.write(move |tx| advance_replay(tx, &replay)).await?;
    }
    Ok(has_more)
}

fn advance_replay(tx: &mut Tx<'_>, replay: &Replay) -> Result<bool, Error> {
    let Some(webhook) = webhooks::find_by_id(tx, replay.webhook_id)? else {
        replays::advance(tx, replay, replay.enqueued_to, ReplayState::Incomplete)?;
        return Ok(false);
    };
    match replay.state {
        ReplayState::Enqueuing => enqueue_page(tx, replay, webhook.app_id),
        ReplayState::Sending => finish_replay(tx, replay, webhook.valid),
        ReplayState::Complete | ReplayState::Incomplete => Ok(false),
    }
}

fn enqueue_page(tx: &mut Tx<'_>, replay: &Replay, app: AppId) -> Result<bool, Error> {
    let places = replays::next_deliveries(tx, replay, PAGE_SIZE)?;
    let Some(last) = places.last().copied() else {
        replays::advance(tx, replay, replay.enqueued_to, ReplayState::Sending)?;
        return Ok(true);
    };
    if !replays::advance(tx, replay, last, ReplayState::Enqueuing)? {
        return Ok(false); // another node was faster
    }
    let mut consenting = BTreeSet::new();
    for (_, seq) in &places {
        consenting.extend(deliveries::find_by_seq(tx, *seq)?.and_then(|delivery| delivery.consent_user_id));
    }
    // A withdrawal waits from now on, so that it deletes the copies.
    for user in consenting {
        store::users::lock_shared(tx, user);
    }
    for (_, seq) in places {
        let Some(delivery) = deliveries::find_by_seq(tx, seq)? else {
            continue;
        };
        if may_redeliver(tx, app, &delivery)? {
            deliveries::enqueue_retry(tx, seq, replay.id, order_key(replay.id))?;
        }
    }
    Ok(true)
}

/// Deliveries of a job are sent one after the other, whichever user they are about.
pub(crate) const fn order_key(job_id: i64) -> i64 {
    job_id.saturating_neg()
}

fn finish_replay(tx: &mut Tx<'_>, replay: &Replay, is_valid: bool) -> Result<bool, Error> {
    let (waiting, given_up) = replays::count_unfinished(tx, replay.id)?;
    if waiting > 0 && is_valid {
        return Ok(false);
    }
    // What waits for an invalid webhook expires, and is not counted from then on.
    let (state, word, text) = if given_up == 0 && is_valid {
        (ReplayState::Complete, "Complete", "Job completed successfully")
    } else {
        let text = "Job failed to deliver all events, please retry your replay job";
        (ReplayState::Incomplete, "Incomplete", text)
    };
    if !replays::advance(tx, replay, replay.enqueued_to, state)? {
        return Ok(false);
    }
    let body = json!({
        "replay_job_status": {
            "webhook_id": replay.webhook_id.to_string(),
            "job_state": word,
            "job_state_description": text,
            "job_id": replay.id.to_string(),
        }
    });
    let status = NewDelivery {
        webhook_id: replay.webhook_id,
        event_id: &format!("replay-{}", replay.id),
        order_key: order_key(replay.id),
        post_id: None,
        at: tx.now(),
        body: &body.to_string(),
    };
    deliveries::enqueue_for_job(tx, &status, replay.id)?;
    Ok(false)
}
