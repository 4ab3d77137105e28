//! The queue of webhook deliveries.
//!
//! An event log reader calls [`enqueue`] in the transaction that moves its own cursor
//! ([`crate::event_log::set_cursor`]), so that an event leads to its deliveries exactly once. Sending is up to
//! `deliver::webhooks`, which the commit wakes. Enqueueing is idempotent: a webhook has at most one delivery per event
//! id.
//!
//! * `event_id` lets the receiver recognize copies of an event (it is also sent as a header): the same for every
//!   attempt, replay and stream, and different for each subscription that an event matches.
//! * Deliveries of one webhook with the same `order_key` (the subscribed user's id) arrive in the order in which they
//!   were enqueued, except those that failed [`MAX_BLOCKING_TRIES`] times: later ones do not wait for them. Those with
//!   different keys do not wait for each other.
//! * `at` is the time of the event, by which replays select it; `post_id` is the post in the body, so that a replay
//!   omits posts deleted since.
//! * `body` is sent and signed byte for byte.

mod attempts;

use base::{AppId, Fault, PostId, Time, UserId};

use crate::Tx;
use crate::db::{insert_new, row, select, stored_enum};

pub use attempts::{
    DeliveryAttempt, highest_attempt_seq, insert_attempt, list_attempts, list_challenges, list_newest_attempts,
    prune_attempts,
};

#[derive(Clone, Copy, Debug)]
pub struct NewDelivery<'a> {
    pub webhook_id: i64,
    /// At most 100 characters that are valid in a header.
    pub event_id: &'a str,
    /// Deliveries with the same key are sent in order.
    pub order_key: i64,
    /// The post that the body contains, if any.
    pub post_id: Option<PostId>,
    /// The time of the event.
    pub at: Time,
    pub body: &'a str,
}

stored_enum! {
    /// The names are those of the API.
    pub enum DeliveryState {
        Waiting = 0 "waiting",
        Delivered = 1 "delivered",
        /// No further attempts are made.
        GivenUp = 2 "given-up",
    }
}

row! {
    #[derive(Clone, Debug)]
    pub struct Delivery from "delivery" {
        /// Increases with the time of enqueueing.
        pub seq: i64,
        pub webhook_id: i64,
        pub event_id: String,
        /// The replay or retry job it belongs to; 0 for the original delivery.
        pub job_id: i64,
        /// Deliveries with the same key are sent in order.
        pub order_key: i64,
        /// The post that the body contains, if any.
        pub post_id: Option<PostId> as "NULLIF(post_id, 0)",
        /// The user whose consent the delivery depends on.
        pub consent_user_id: Option<UserId> as "NULLIF(about_id, 0)",
        /// The time of the event.
        pub at: Time,
        pub body: String,
        pub state: DeliveryState,
        pub tries: i64,
        /// The time of the first attempt.
        pub tried_at: Option<Time>,
        /// The time of the next attempt, while waiting.
        pub due_at: Time,
    }
}

/// After so many failed attempts, a delivery does not hold up later ones any more: the receiver refuses just this one.
pub const MAX_BLOCKING_TRIES: i64 = 3;

row! {
    /// A waiting delivery without its body.
    #[derive(Clone, Copy, Debug)]
    pub struct PendingDelivery from "delivery" {
        pub seq: i64,
        pub webhook_id: i64,
        pub order_key: i64,
        pub tries: i64,
        /// Without an attempt yet, not later than when the row was read, whatever the clock of the node that wrote it.
        pub due_at: Time,
    }
}

/// To be called in the transaction of the event's other effects. Returns false if the webhook already has a delivery
/// of this event.
pub fn enqueue(tx: &mut Tx<'_>, new: &NewDelivery<'_>) -> Result<bool, Fault> {
    insert_row(tx, new, 0, None)
}

/// As [`enqueue`], for events that depend on a user's consent; see [`withdraw_consent`].
pub fn enqueue_with_consent(tx: &mut Tx<'_>, new: &NewDelivery<'_>, user: UserId) -> Result<bool, Fault> {
    insert_row(tx, new, 0, Some(user))
}

/// Deletes all deliveries to a webhook that depend on the consent of a user who withdrew it, so that they are neither
/// sent nor replayed.
pub fn withdraw_consent(tx: &mut Tx<'_>, webhook_id: i64, user: UserId) -> Result<u64, Fault> {
    let sql = "DELETE FROM delivery WHERE webhook_id = $1 AND about_id = $2 AND about_id > 0";
    tx.execute(sql, &[webhook_id.into(), user.into()])
}

/// As [`withdraw_consent`], for all webhooks of an app, or of all apps.
pub fn withdraw_app_consent(tx: &mut Tx<'_>, app: Option<AppId>, user: UserId) -> Result<u64, Fault> {
    // The index of what is about a user begins with the webhook.
    let (webhooks, app) = match app {
        Some(app) => ("SELECT id FROM webhook WHERE app_id = $1", app.get()),
        None => ("SELECT id FROM webhook WHERE app_id > $1", 0),
    };
    let sql = format!("DELETE FROM delivery WHERE webhook_id IN ({webhooks}) AND about_id = $2 AND about_id > 0");
    tx.execute(&sql, &[app.into(), user.into()])
}

/// As [`enqueue`], for the status event of a replay or retry job.
pub fn enqueue_for_job(tx: &mut Tx<'_>, new: &NewDelivery<'_>, job_id: i64) -> Result<bool, Fault> {
    insert_row(tx, new, job_id, None)
}

/// Enqueues a copy of a delivery for a job; returns false if that was done before. The caller checks whether it may be
/// sent again.
pub fn enqueue_retry(tx: &mut Tx<'_>, seq: i64, job_id: i64, order_key: i64) -> Result<bool, Fault> {
    let now = tx.now();
    let sql = "INSERT INTO delivery (webhook_id, event_id, job_id, order_key, post_id, at, body, due_at, about_id) \
               SELECT webhook_id, event_id, CAST($1 AS BIGINT), CAST($2 AS BIGINT), post_id, at, body, \
               CAST($3 AS BIGINT), about_id FROM delivery WHERE seq = $4 ON CONFLICT DO NOTHING";
    let args = [job_id.into(), order_key.into(), now.into(), seq.into()];
    let is_new = tx.execute(sql, &args)? > 0;
    if is_new {
        tx.mark_deliveries_queued();
    }
    Ok(is_new)
}

fn insert_row(tx: &mut Tx<'_>, new: &NewDelivery<'_>, job_id: i64, about: Option<UserId>) -> Result<bool, Fault> {
    let is_new = insert_new!(
        tx,
        "delivery",
        webhook_id = new.webhook_id,
        event_id = new.event_id,
        job_id = job_id,
        order_key = new.order_key,
        post_id = new.post_id.map_or(0, PostId::get),
        at = new.at,
        body = new.body,
        due_at = tx.now(),
        about_id = about.map_or(0, UserId::get)
    )?;
    if is_new {
        tx.mark_deliveries_queued();
    }
    Ok(is_new)
}

pub fn find_by_seq(tx: &mut Tx<'_>, seq: i64) -> Result<Option<Delivery>, Fault> {
    tx.query_row(select!(Delivery, "WHERE seq = $1"), &[seq.into()])
}

/// The deliveries of an event to a webhook, the original one first.
pub fn list_by_event(tx: &mut Tx<'_>, webhook_id: i64, event_id: &str) -> Result<Vec<Delivery>, Fault> {
    let sql = select!(Delivery, "WHERE webhook_id = $1 AND event_id = $2 ORDER BY seq LIMIT 100");
    tx.query_rows(sql, &[webhook_id.into(), event_id.into()])
}

/// Those of these deliveries that are waiting, for webhooks that still exist.
pub fn list_pending_by_seqs(tx: &mut Tx<'_>, seqs: &[i64]) -> Result<Vec<Delivery>, Fault> {
    let sql = select!(
        Delivery,
        "WHERE seq = $1 AND state = 0 AND NOT EXISTS (SELECT 1 FROM webhook WHERE webhook.id = delivery.webhook_id \
         AND webhook.deleted_at IS NOT NULL)"
    );
    tx.query_by_keys(sql, seqs, &[])
}

/// Deletes waiting deliveries, given by number and time of the event, so that they are neither sent nor replayed.
pub fn withdraw(tx: &mut Tx<'_>, deliveries: &[(i64, Time)]) -> Result<(), Fault> {
    let sql = "DELETE FROM delivery WHERE seq = $1 AND at = $2 AND state = 0";
    for (seq, event_at) in deliveries {
        tx.execute_later(sql, &[(*seq).into(), (*event_at).into()])?;
    }
    Ok(())
}

pub fn filter_pending_seqs(tx: &mut Tx<'_>, seqs: &[i64]) -> Result<Vec<i64>, Fault> {
    let sql = "SELECT seq FROM delivery WHERE seq = $1 AND state = 0";
    tx.query_by_keys(sql, seqs, &[])
}

/// Newest first, before a time and sequence number.
pub fn list_before(tx: &mut Tx<'_>, webhook_id: i64, before: (Time, i64), limit: i64) -> Result<Vec<Delivery>, Fault> {
    let sql = select!(Delivery, "WHERE webhook_id = $1 AND (at, seq) < ($2, $3) ORDER BY at DESC, seq DESC LIMIT $4");
    let (at, seq) = before;
    let args = [webhook_id.into(), at.into(), seq.into(), limit.into()];
    tx.query_rows(sql, &args)
}

pub fn highest_seq(tx: &mut Tx<'_>) -> Result<i64, Fault> {
    let sql = "SELECT MAX(seq) FROM delivery";
    tx.query_number(sql, &[])
}

/// Deliveries of all webhooks after a sequence number, with whether they are waiting.
pub fn list_after(tx: &mut Tx<'_>, seq: i64, limit: i64) -> Result<Vec<(PendingDelivery, bool)>, Fault> {
    let sql = select!(PendingDelivery + "state", "WHERE seq > $1 ORDER BY seq LIMIT $2");
    let found: Vec<(PendingDelivery, DeliveryState)> = tx.query_rows(sql, &[seq.into(), limit.into()])?;
    let now = tx.now();
    let found = found.into_iter();
    Ok(found.map(|(one, state)| (one.due_by(now), state == DeliveryState::Waiting)).collect())
}

impl PendingDelivery {
    fn due_by(self, now: Time) -> Self {
        if self.tries > 0 { self } else { Self { due_at: self.due_at.min(now), ..self } }
    }
}

/// Waiting deliveries of a webhook after a sequence number, in order.
pub fn list_pending(tx: &mut Tx<'_>, webhook_id: i64, seq: i64, limit: i64) -> Result<Vec<PendingDelivery>, Fault> {
    let sql = select!(PendingDelivery, "WHERE webhook_id = $1 AND state = 0 AND seq > $2 ORDER BY seq LIMIT $3");
    let args = [webhook_id.into(), seq.into(), limit.into()];
    let found: Vec<PendingDelivery> = tx.query_rows(sql, &args)?;
    let now = tx.now();
    Ok(found.into_iter().map(|one| one.due_by(now)).collect())
}

pub fn list_pending_webhooks(tx: &mut Tx<'_>) -> Result<Vec<i64>, Fault> {
    let sql = "SELECT webhook_id FROM delivery WHERE state = 0 AND webhook_id > $1 ORDER BY webhook_id LIMIT 1";
    let (mut all, mut last) = (Vec::new(), i64::MIN);
    while let Some(next) = tx.query_row(sql, &[last.into()])? {
        all.push(next);
        last = next;
    }
    Ok(all)
}

/// Stores the outcome of an attempt at a time, of the delivery with a sequence number and an event's time; returns false
/// if it was no longer waiting.
pub fn record_attempt(
    tx: &mut Tx<'_>,
    (seq, event_at): (i64, Time),
    at: Time,
    state: DeliveryState,
    again_at: Time,
) -> Result<bool, Fault> {
    // The number is enough, but the time says in which partition it is.
    let sql = "UPDATE delivery SET state = $1, tries = tries + 1, \
               tried_at = COALESCE(tried_at, $2), due_at = $3 WHERE seq = $4 AND at = $5 AND state = 0";
    let args = [state.to_number().into(), at.into(), again_at.into(), seq.into(), event_at.into()];
    Ok(tx.execute(sql, &args)? > 0)
}

/// When the next delivery is due that is not due yet.
pub fn next_due(tx: &mut Tx<'_>) -> Result<Option<Time>, Fault> {
    let sql = "SELECT MIN(d.due_at) FROM delivery d JOIN webhook w ON w.id = d.webhook_id \
               WHERE d.state = 0 AND d.due_at > $1 AND w.valid = 1";
    Ok(tx.query_row::<Option<Time>>(sql, &[tx.now().into()])?.flatten())
}

/// Due deliveries that wait for nothing but their receiver: the webhook is valid, and no earlier delivery with the same
/// key that holds up others is to be repeated later. At most `limit` are counted.
pub fn count_sendable(tx: &mut Tx<'_>, limit: i64) -> Result<i64, Fault> {
    let sql = "SELECT COUNT(*) FROM (SELECT d.seq FROM delivery d JOIN webhook w ON w.id = d.webhook_id \
               WHERE d.state = 0 AND d.due_at <= $1 AND w.valid = 1 AND NOT EXISTS (\
               SELECT 1 FROM delivery e WHERE e.webhook_id = d.webhook_id AND e.state = 0 \
               AND e.order_key = d.order_key AND e.seq < d.seq AND e.due_at > $1 AND e.tries < $2 AND d.tries < $2) LIMIT $3) AS sendable";
    tx.query_number(sql, &[tx.now().into(), MAX_BLOCKING_TRIES.into(), limit.into()])
}

/// How many attempts were recorded since a position, by whether they succeeded, and the position after them.
pub fn count_attempts(tx: &mut Tx<'_>, after: i64) -> Result<AttemptCounts, Fault> {
    let end = tx.query_number("SELECT MAX(seq) FROM delivery_attempt", &[])?;
    let sql = "SELECT COUNT(*), COUNT(CASE WHEN status BETWEEN 200 AND 299 THEN 1 END) FROM delivery_attempt \
               WHERE seq > $1 AND seq <= $2 AND delivery_seq > 0";
    let (all, succeeded) = tx.query_row::<(i64, i64)>(sql, &[after.into(), end.into()])?.unwrap_or_default();
    Ok(AttemptCounts { end, succeeded, failed: all - succeeded })
}

#[derive(Clone, Copy, Debug, Default)]
pub struct AttemptCounts {
    pub end: i64,
    pub succeeded: i64,
    pub failed: i64,
}

/// Makes all waiting deliveries of a webhook due, since its receiver is reachable again.
pub fn make_pending_due(tx: &mut Tx<'_>, webhook_id: i64) -> Result<(), Fault> {
    let now = tx.now();
    let sql = "UPDATE delivery SET due_at = $1 WHERE webhook_id = $2 AND state = 0 AND due_at > $3";
    tx.execute_later(sql, &[now.into(), webhook_id.into(), now.into()])?;
    tx.mark_deliveries_queued();
    Ok(())
}

/// Deletes at most `limit` finished deliveries of a webhook from before a time; with `all`, waiting ones as well.
pub fn prune(tx: &mut Tx<'_>, webhook_id: i64, before: Time, all: bool, limit: i64) -> Result<u64, Fault> {
    let sql = "DELETE FROM delivery WHERE seq IN (SELECT seq FROM delivery WHERE webhook_id = $1 \
               AND at < $2 AND (state <> 0 OR $3 = CAST(1 AS BIGINT)) ORDER BY at, seq LIMIT $4)";
    let args = [webhook_id.into(), before.into(), all.into(), limit.into()];
    tx.execute(sql, &args)
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::{NewDelivery, enqueue, list_after, list_pending};
    use crate::Store;
    use crate::test_stores::{locations, options};

    #[test]
    fn first_attempt_is_due_at_once_also_if_a_fast_clock_set_its_time() {
        let (folder, runtime) = (TempDir::new().unwrap(), tokio::runtime::Runtime::new().unwrap());
        for location in locations(&folder) {
            let store = runtime.block_on(Store::open(options(location, &folder))).unwrap();
            let clock = store.context().clock.clone();
            let now = clock.now();
            clock.set(now.plus_ms(300_000));
            let enqueued = store.write(move |tx| {
                let new =
                    NewDelivery { webhook_id: 1, event_id: "a", order_key: 1, post_id: None, at: tx.now(), body: "{}" };
                Ok(enqueue(tx, &new)?)
            });
            assert!(runtime.block_on(enqueued).unwrap());
            clock.set(now);
            let listed = store.read(|tx| {
                let (pending, all) = (list_pending(tx, 1, 0, 10)?, list_after(tx, 0, 10)?);
                Ok([pending[0].due_at, all[0].0.due_at])
            });
            assert_eq!(runtime.block_on(listed).unwrap(), [now; 2]);
            store.close();
        }
    }
}
