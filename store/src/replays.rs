//! Spans of the past that are sent to a webhook again.

use base::{Fault, Time};

use crate::Tx;
use crate::db::SqlRow;

/// How far a replay has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplayState {
    /// Deliveries of its span are still taken up.
    Enqueuing,
    /// All are taken up; they are on their way.
    Sending,
    /// All of them arrived.
    Complete,
    /// Some did not.
    Incomplete,
}

impl ReplayState {
    const ALL: [Self; 4] = [Self::Enqueuing, Self::Sending, Self::Complete, Self::Incomplete];

    const fn to_number(self) -> i64 {
        match self {
            Self::Enqueuing => 0,
            Self::Sending => 1,
            Self::Complete => 2,
            Self::Incomplete => 3,
        }
    }

    /// As it is told.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Enqueuing | Self::Sending => "running",
            Self::Complete => "complete",
            Self::Incomplete => "incomplete",
        }
    }

    fn from_number(number: i64) -> Result<Self, Fault> {
        let known = Self::ALL.into_iter().find(|state| state.to_number() == number);
        known.ok_or_else(|| Fault::new(format!("a replay in state {number}")))
    }
}

/// A replay as stored.
#[derive(Clone, Debug)]
pub struct Replay {
    /// Snowflake id.
    pub id: i64,
    /// To which webhook.
    pub webhook_id: i64,
    /// The span's begin, included.
    pub from_at: Time,
    /// The span's end, excluded.
    pub to_at: Time,
    /// When it was asked for.
    pub created_at: Time,
    /// The moment and the place of the last delivery that was taken up.
    pub enqueued_to: (Time, i64),
    /// How far it has come.
    pub state: ReplayState,
}

macro_rules! columns {
    ($after:expr) => {
        concat!(
            "SELECT id, webhook_id, from_at, to_at, created_at, taken_at, taken_seq, state \
             FROM replay ",
            $after
        )
    };
}

fn replay_from_row(row: &SqlRow<'_, '_>) -> Result<Replay, Fault> {
    Ok(Replay {
        id: row.int(0)?,
        webhook_id: row.int(1)?,
        from_at: row.time(2)?,
        to_at: row.time(3)?,
        created_at: row.time(4)?,
        enqueued_to: (row.time(5)?, row.int(6)?),
        state: ReplayState::from_number(row.int(7)?)?,
    })
}

/// Begins a replay; false when one of this webhook is under way.
pub fn insert(tx: &mut Tx<'_>, replay: &Replay) -> Result<bool, Fault> {
    let sql = "INSERT INTO replay (id, webhook_id, from_at, to_at, created_at, taken_at) \
               VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING";
    let args = [
        replay.id.into(),
        replay.webhook_id.into(),
        replay.from_at.into(),
        replay.to_at.into(),
        replay.created_at.into(),
        replay.from_at.into(),
    ];
    let is_new = tx.execute(sql, &args)? > 0;
    if is_new {
        tx.mark_deliveries_queued();
    }
    Ok(is_new)
}

/// The replays that are under way.
pub fn list_running(tx: &mut Tx<'_>) -> Result<Vec<Replay>, Fault> {
    tx.query_rows(columns!("WHERE state < 2 ORDER BY webhook_id"), &[], replay_from_row)
}

/// Forgets the replays of a webhook.
pub fn delete_by_webhook(tx: &mut Tx<'_>, webhook_id: i64) -> Result<(), Fault> {
    let sql = "DELETE FROM replay WHERE webhook_id = $1";
    tx.execute(sql, &[webhook_id.into()]).map(|_| ())
}

/// The replays of a webhook, newest first.
pub fn list_by_webhook(tx: &mut Tx<'_>, webhook_id: i64, limit: i64) -> Result<Vec<Replay>, Fault> {
    let sql = columns!("WHERE webhook_id = $1 ORDER BY id DESC LIMIT $2");
    tx.query_rows(sql, &[webhook_id.into(), limit.into()], replay_from_row)
}

/// Says how far a replay has come, if it was where it is thought to be: of several nodes one
/// takes it on.
pub fn advance(tx: &mut Tx<'_>, replay: &Replay, taken: (Time, i64), state: ReplayState) -> Result<bool, Fault> {
    let sql = "UPDATE replay SET taken_at = $1, taken_seq = $2, state = $3 \
               WHERE id = $4 AND taken_at = $5 AND taken_seq = $6 AND state = $7";
    let args = [
        taken.0.into(),
        taken.1.into(),
        state.to_number().into(),
        replay.id.into(),
        replay.enqueued_to.0.into(),
        replay.enqueued_to.1.into(),
        replay.state.to_number().into(),
    ];
    Ok(tx.execute(sql, &args)? > 0)
}

/// Where the next first sendings of a replay's span are, in the order in which things happened.
pub fn next_deliveries(tx: &mut Tx<'_>, replay: &Replay, limit: i64) -> Result<Vec<(Time, i64)>, Fault> {
    let sql = "SELECT at, seq FROM delivery WHERE webhook_id = $1 AND (at, seq) > ($2, $3) \
               AND at < $4 AND job_id = 0 ORDER BY at, seq LIMIT $5";
    let (at, seq) = replay.enqueued_to;
    let args = [
        replay.webhook_id.into(),
        at.into(),
        seq.into(),
        replay.to_at.into(),
        limit.into(),
    ];
    tx.query_rows(sql, &args, |row| Ok((row.time(0)?, row.int(1)?)))
}

/// How many deliveries of a job wait, and how many were given up.
pub fn count_unfinished(tx: &mut Tx<'_>, job_id: i64) -> Result<(i64, i64), Fault> {
    let sql = "SELECT COUNT(*) FROM delivery WHERE job_id = $1 AND job_id <> 0 AND state = $2";
    let mut count = |state: i64| {
        let count = tx.query_row(sql, &[job_id.into(), state.into()], |row| row.int(0))?;
        Ok::<_, Fault>(count.unwrap_or(0))
    };
    Ok((count(0)?, count(2)?))
}
