//! What is sent to webhooks.
//!
//! A follower of the log calls [`enqueue`] in the transaction in which it moves its own cursor
//! ([`crate::log::set_cursor`]): then an event leads to its deliveries exactly once, whatever
//! happens to the process. It sends nothing itself; `deliver::webhooks` does, and is woken by the
//! commit. Doing it again does no harm: a webhook has a delivery of an event id only once.
//!
//! * `event_id` is what the receiver tells copies of an event apart by (it goes along as a header,
//!   too): the same on every try, in replays and on streams; different for two events that one
//!   entry of the log leads to (one for each subscription that matches).
//! * Deliveries of one webhook with the same `order_key` (the subscribed user's id) arrive in the
//!   order in which they were enqueued; those with different keys do not wait for each other.
//! * `at` is when it happened, by which replays find it; `post_id` is the post that the body shows,
//!   so that a replay leaves out what was deleted meanwhile.
//! * `body` is sent and signed byte for byte.

mod attempts;

use base::{Fault, PostId, Time, UserId};

use crate::Tx;
use crate::db::SqlRow;

pub use attempts::{DeliveryAttempt, insert_attempt, list_attempts, list_challenges, prune_attempts};

/// Something to be sent to a webhook.
#[derive(Clone, Copy, Debug)]
pub struct NewDelivery<'a> {
    /// To which webhook.
    pub webhook_id: i64,
    /// What the receiver knows the event by; at most 100 characters that may stand in a header.
    pub event_id: &'a str,
    /// Deliveries with one key arrive one after the other.
    pub order_key: i64,
    /// The post that the body shows, if it shows one.
    pub post_id: Option<PostId>,
    /// When it happened.
    pub at: Time,
    /// What is sent.
    pub body: &'a str,
}

/// How far a delivery has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryState {
    /// It waits to be sent, or to be sent again.
    Waiting,
    /// The receiver has it.
    Delivered,
    /// It is not tried any more.
    GivenUp,
}

impl DeliveryState {
    const ALL: [Self; 3] = [Self::Waiting, Self::Delivered, Self::GivenUp];

    const fn to_number(self) -> i64 {
        match self {
            Self::Waiting => 0,
            Self::Delivered => 1,
            Self::GivenUp => 2,
        }
    }

    /// As it is told.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Delivered => "delivered",
            Self::GivenUp => "given-up",
        }
    }

    fn from_number(number: i64) -> Result<Self, Fault> {
        let known = Self::ALL.into_iter().find(|state| state.to_number() == number);
        known.ok_or_else(|| Fault::new(format!("a delivery in state {number}")))
    }
}

/// A delivery as stored.
#[derive(Clone, Debug)]
pub struct Delivery {
    /// Its place: what was enqueued later has a higher one.
    pub seq: i64,
    /// To which webhook.
    pub webhook_id: i64,
    /// What the receiver knows the event by.
    pub event_id: String,
    /// The replay or the resending that it belongs to; 0 for the first sending.
    pub job_id: i64,
    /// Deliveries with one key arrive one after the other.
    pub order_key: i64,
    /// The post that the body shows, if it shows one.
    pub post_id: Option<PostId>,
    /// The user whose consent it stands on, if it stands on one's.
    pub consent_user_id: Option<UserId>,
    /// When it happened.
    pub at: Time,
    /// What is sent.
    pub body: String,
    /// How far it has come.
    pub state: DeliveryState,
    /// How often it was tried.
    pub tries: i64,
    /// When it was tried first.
    pub tried_at: Option<Time>,
    /// When it is tried next, while it waits.
    pub due_at: Time,
}

/// What is known of a delivery that waits, without its body.
#[derive(Clone, Copy, Debug)]
pub struct PendingDelivery {
    /// Its place.
    pub seq: i64,
    /// To which webhook.
    pub webhook_id: i64,
    /// Deliveries with one key arrive one after the other.
    pub order_key: i64,
    /// When it is tried next.
    pub due_at: Time,
}

/// Puts something into the queue of a webhook, inside the transaction of what follows from it;
/// false when the webhook has a delivery of this event already.
pub fn enqueue(tx: &mut Tx<'_>, new: &NewDelivery<'_>) -> Result<bool, Fault> {
    insert_row(tx, new, 0, None)
}

/// The same for what a user lets the webhook's app see; [`withdraw`] takes it back.
pub fn enqueue_with_consent(tx: &mut Tx<'_>, new: &NewDelivery<'_>, user: UserId) -> Result<bool, Fault> {
    insert_row(tx, new, 0, Some(user))
}

/// Takes away what a webhook was, or was to be, sent about a user who does not let its app see it
/// any more: it is not tried again, nor replayed.
pub fn withdraw_consent(tx: &mut Tx<'_>, webhook_id: i64, user: UserId) -> Result<u64, Fault> {
    let sql = "DELETE FROM delivery WHERE webhook_id = $1 AND about_id = $2 AND about_id > 0";
    tx.execute(sql, &[webhook_id.into(), user.into()])
}

/// The same for what a replay or a resending says of itself.
pub fn enqueue_for_job(tx: &mut Tx<'_>, new: &NewDelivery<'_>, job_id: i64) -> Result<bool, Fault> {
    insert_row(tx, new, job_id, None)
}

/// Puts a delivery into the queue again, for a job; false when that was done. Whether it may be
/// sent again is for the caller to ask.
pub fn enqueue_retry(tx: &mut Tx<'_>, seq: i64, job_id: i64, order_key: i64) -> Result<bool, Fault> {
    let now = tx.now();
    let sql = "INSERT INTO delivery \
               (webhook_id, event_id, job_id, order_key, post_id, at, body, due_at, about_id) \
               SELECT webhook_id, event_id, CAST($1 AS BIGINT), CAST($2 AS BIGINT), post_id, at, \
               body, CAST($3 AS BIGINT), about_id FROM delivery WHERE seq = $4 \
               ON CONFLICT DO NOTHING";
    let args = [job_id.into(), order_key.into(), now.into(), seq.into()];
    let is_new = tx.execute(sql, &args)? > 0;
    if is_new {
        tx.mark_deliveries_queued();
    }
    Ok(is_new)
}

fn insert_row(tx: &mut Tx<'_>, new: &NewDelivery<'_>, job_id: i64, about: Option<UserId>) -> Result<bool, Fault> {
    let sql = "INSERT INTO delivery \
               (webhook_id, event_id, job_id, order_key, post_id, at, body, due_at, about_id) \
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING";
    let args = [
        new.webhook_id.into(),
        new.event_id.into(),
        job_id.into(),
        new.order_key.into(),
        new.post_id.map_or(0, PostId::get).into(),
        new.at.into(),
        new.body.into(),
        tx.now().into(),
        about.map_or(0, UserId::get).into(),
    ];
    let is_new = tx.execute(sql, &args)? > 0;
    if is_new {
        tx.mark_deliveries_queued();
    }
    Ok(is_new)
}

macro_rules! columns {
    ($after:expr) => {
        concat!(
            "SELECT seq, webhook_id, event_id, job_id, order_key, at, body, state, tries, \
             tried_at, due_at, post_id, about_id FROM delivery ",
            $after
        )
    };
}

fn delivery_from_row(row: &SqlRow<'_, '_>) -> Result<Delivery, Fault> {
    Ok(Delivery {
        seq: row.int(0)?,
        webhook_id: row.int(1)?,
        event_id: row.text(2)?,
        job_id: row.int(3)?,
        order_key: row.int(4)?,
        post_id: nonzero_id(row.int(11)?).map(PostId::new),
        consent_user_id: nonzero_id(row.int(12)?).map(UserId::new),
        at: row.time(5)?,
        body: row.text(6)?,
        state: DeliveryState::from_number(row.int(7)?)?,
        tries: row.int(8)?,
        tried_at: row.opt_time(9)?,
        due_at: row.time(10)?,
    })
}

/// An id, where 0 is none.
fn nonzero_id(id: i64) -> Option<i64> {
    (id != 0).then_some(id)
}

fn pending_from_row(row: &SqlRow<'_, '_>) -> Result<PendingDelivery, Fault> {
    Ok(PendingDelivery {
        seq: row.int(0)?,
        webhook_id: row.int(1)?,
        order_key: row.int(2)?,
        due_at: row.time(3)?,
    })
}

/// The delivery at a place.
pub fn find_by_seq(tx: &mut Tx<'_>, seq: i64) -> Result<Option<Delivery>, Fault> {
    tx.query_row(columns!("WHERE seq = $1"), &[seq.into()], delivery_from_row)
}

/// Those of these deliveries that wait, for a webhook that is still there.
pub fn list_pending_by_seqs(tx: &mut Tx<'_>, seqs: &[i64]) -> Result<Vec<Delivery>, Fault> {
    let sql = columns!(
        "WHERE seq = $1 AND state = 0 AND NOT EXISTS (SELECT 1 FROM webhook WHERE \
         webhook.id = delivery.webhook_id AND webhook.deleted_at IS NOT NULL)"
    );
    tx.query_by_keys(sql, seqs, &[], delivery_from_row)
}

/// The places, of these, at which something waits.
pub fn filter_pending_seqs(tx: &mut Tx<'_>, seqs: &[i64]) -> Result<Vec<i64>, Fault> {
    let sql = "SELECT seq FROM delivery WHERE seq = $1 AND state = 0";
    tx.query_by_keys(sql, seqs, &[], |row| row.int(0))
}

/// The deliveries of a webhook before a place, newest first.
pub fn list_before(tx: &mut Tx<'_>, webhook_id: i64, before: (Time, i64), limit: i64) -> Result<Vec<Delivery>, Fault> {
    let sql = columns!("WHERE webhook_id = $1 AND (at, seq) < ($2, $3) ORDER BY at DESC, seq DESC LIMIT $4");
    let (at, seq) = before;
    let args = [webhook_id.into(), at.into(), seq.into(), limit.into()];
    tx.query_rows(sql, &args, delivery_from_row)
}

/// The highest place there is.
pub fn highest_seq(tx: &mut Tx<'_>) -> Result<i64, Fault> {
    let sql = "SELECT MAX(seq) FROM delivery";
    Ok(tx.query_row(sql, &[], |row| row.opt_int(0))?.flatten().unwrap_or(0))
}

/// What was enqueued behind a place, for all webhooks, with whether it waits.
pub fn list_after(tx: &mut Tx<'_>, seq: i64, limit: i64) -> Result<Vec<(PendingDelivery, bool)>, Fault> {
    let sql = "SELECT seq, webhook_id, order_key, due_at, state FROM delivery WHERE seq > $1 \
               ORDER BY seq LIMIT $2";
    tx.query_rows(sql, &[seq.into(), limit.into()], |row| {
        Ok((pending_from_row(row)?, row.int(4)? == 0))
    })
}

/// What waits for a webhook behind a place, in order.
pub fn list_pending(tx: &mut Tx<'_>, webhook_id: i64, seq: i64, limit: i64) -> Result<Vec<PendingDelivery>, Fault> {
    let sql = "SELECT seq, webhook_id, order_key, due_at FROM delivery \
               WHERE webhook_id = $1 AND state = 0 AND seq > $2 ORDER BY seq LIMIT $3";
    let args = [webhook_id.into(), seq.into(), limit.into()];
    tx.query_rows(sql, &args, pending_from_row)
}

/// The webhooks that something waits for.
pub fn list_pending_webhooks(tx: &mut Tx<'_>) -> Result<Vec<i64>, Fault> {
    let sql = "SELECT webhook_id FROM delivery WHERE state = 0 AND webhook_id > $1 \
               ORDER BY webhook_id LIMIT 1";
    let (mut all, mut last) = (Vec::new(), i64::MIN);
    while let Some(next) = tx.query_row(sql, &[last.into()], |row| row.int(0))? {
        all.push(next);
        last = next;
    }
    Ok(all)
}

/// Says how a try ended: it is done with, or tried again at a time.
pub fn record_attempt(
    tx: &mut Tx<'_>,
    seq: i64,
    at: Time,
    state: DeliveryState,
    again_at: Time,
) -> Result<bool, Fault> {
    let sql = "UPDATE delivery SET state = $1, tries = tries + 1, \
               tried_at = COALESCE(tried_at, $2), due_at = $3 WHERE seq = $4 AND state = 0";
    let args = [state.to_number().into(), at.into(), again_at.into(), seq.into()];
    Ok(tx.execute(sql, &args)? > 0)
}

/// Makes everything that waits for a webhook due at once: its receiver is back.
pub fn make_pending_due(tx: &mut Tx<'_>, webhook_id: i64) -> Result<(), Fault> {
    let now = tx.now();
    let sql = "UPDATE delivery SET due_at = $1 WHERE webhook_id = $2 AND state = 0 AND due_at > $3";
    tx.execute(sql, &[now.into(), webhook_id.into(), now.into()])?;
    tx.mark_deliveries_queued();
    Ok(())
}

/// Forgets at most `limit` deliveries of a webhook of which all is done and which happened before
/// a moment; with `all`, those that wait and newer ones, too.
pub fn prune(tx: &mut Tx<'_>, webhook_id: i64, before: Time, all: bool, limit: i64) -> Result<u64, Fault> {
    let sql = "DELETE FROM delivery WHERE seq IN (SELECT seq FROM delivery WHERE webhook_id = $1 \
               AND at < $2 AND (state <> 0 OR $3 = CAST(1 AS BIGINT)) ORDER BY at, seq LIMIT $4)";
    let args = [webhook_id.into(), before.into(), all.into(), limit.into()];
    tx.execute(sql, &args)
}
