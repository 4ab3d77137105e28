//! Replays: past deliveries of a webhook that are sent again.

use base::{Fault, Time};

use crate::Tx;
use crate::db::{insert_new, row, select, stored_enum};

stored_enum! {
    pub enum ReplayState {
        /// Deliveries are being enqueued.
        Enqueuing = 0,
        /// All deliveries are enqueued.
        Sending = 1,
        /// All were delivered.
        Complete = 2,
        /// Some were not delivered.
        Incomplete = 3,
    }
}

impl ReplayState {
    /// The name in the API.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Enqueuing | Self::Sending => "running",
            Self::Complete => "complete",
            Self::Incomplete => "incomplete",
        }
    }
}

row! {
    #[derive(Clone, Debug)]
    pub struct Replay from "replay" {
        pub id: i64,
        pub webhook_id: i64,
        /// Inclusive.
        pub from_at: Time,
        /// Exclusive.
        pub to_at: Time,
        pub created_at: Time,
        /// Time and sequence number of the last enqueued delivery.
        pub enqueued_to: (Time, i64) as "taken_at, taken_seq",
        pub state: ReplayState,
    }
}

/// Returns false if the webhook already has a running replay.
pub fn insert(tx: &mut Tx<'_>, replay: &Replay) -> Result<bool, Fault> {
    let is_new = insert_new!(
        tx,
        "replay",
        id = replay.id,
        webhook_id = replay.webhook_id,
        from_at = replay.from_at,
        to_at = replay.to_at,
        created_at = replay.created_at,
        taken_at = replay.from_at
    )?;
    if is_new {
        tx.mark_deliveries_queued();
    }
    Ok(is_new)
}

pub fn list_running(tx: &mut Tx<'_>) -> Result<Vec<Replay>, Fault> {
    tx.query_rows(select!(Replay, "WHERE state < 2 ORDER BY webhook_id"), &[])
}

pub fn delete_by_webhook(tx: &mut Tx<'_>, webhook_id: i64) -> Result<(), Fault> {
    let sql = "DELETE FROM replay WHERE webhook_id = $1";
    tx.execute_later(sql, &[webhook_id.into()])
}

/// Advances a replay; returns false if another node has advanced it meanwhile.
pub fn advance(tx: &mut Tx<'_>, replay: &Replay, enqueued_to: (Time, i64), state: ReplayState) -> Result<bool, Fault> {
    let sql = "UPDATE replay SET taken_at = $1, taken_seq = $2, state = $3 \
               WHERE id = $4 AND taken_at = $5 AND taken_seq = $6 AND state = $7";
    let args = [
        enqueued_to.0.into(),
        enqueued_to.1.into(),
        state.to_number().into(),
        replay.id.into(),
        replay.enqueued_to.0.into(),
        replay.enqueued_to.1.into(),
        replay.state.to_number().into(),
    ];
    Ok(tx.execute(sql, &args)? > 0)
}

/// The next original deliveries to replay, in order of time.
pub fn next_deliveries(tx: &mut Tx<'_>, replay: &Replay, limit: i64) -> Result<Vec<(Time, i64)>, Fault> {
    let sql = "SELECT at, seq FROM delivery WHERE webhook_id = $1 AND (at, seq) > ($2, $3) /*! AND at >= $2 */ \
               AND at < $4 AND job_id = 0 ORDER BY at, seq LIMIT $5";
    let (at, seq) = replay.enqueued_to;
    let args = [replay.webhook_id.into(), at.into(), seq.into(), replay.to_at.into(), limit.into()];
    tx.query_rows(sql, &args)
}

/// The numbers of waiting and of failed deliveries of a job.
pub fn count_unfinished(tx: &mut Tx<'_>, job_id: i64) -> Result<(i64, i64), Fault> {
    let sql = "SELECT COUNT(*) FROM delivery WHERE job_id = $1 AND job_id <> 0 AND state = $2";
    let mut count = |state: i64| {
        let count = tx.query_row(sql, &[job_id.into(), state.into()])?;
        Ok::<_, Fault>(count.unwrap_or(0))
    };
    Ok((count(0)?, count(2)?))
}
