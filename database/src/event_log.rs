//! The event log: an ordered record of what happened, to which nothing is ever added before what was read. Consumers
//! read it from their own cursors.
//!
//! SQLite has one writer, so entries are numbered as they come. On PostgreSQL transactions overlap, and a plain
//! sequence would let a reader pass a number whose transaction is still open, missing it forever. There entries are
//! appended without a number, and the sequencer of the database numbers those that are committed.

mod created_posts;
mod log_reader;
pub(crate) mod sequencer_sql;

pub use created_posts::{CreatedPost, CreatedPosts, list_created_posts};
pub use log_reader::LogReader;

use base::{Fault, Time};

use crate::query_limits::record_appended_event;
use crate::{AppendedEvent, Tx, row, select};

row! {
    #[derive(Clone, Debug)]
    pub struct LogEvent from "event" {
        pub seq: i64,
        pub at: Time,
        /// `post.create`, `follow.follow`, `token.revoke`, …
        pub kind: String,
        pub actor_id: i64,
        pub subject_id: i64,
        /// Further facts (JSON), or empty.
        pub body: String,
    }
}

/// To be called in the transaction of the event itself.
pub fn append(tx: &mut Tx<'_>, kind: &str, actor_id: i64, subject_id: i64, body: &str) -> Result<(), Fault> {
    let sql = if tx.is_postgres() {
        "INSERT INTO pending_event (at, kind, actor_id, subject_id, body) VALUES ($1, $2, $3, $4, $5)"
    } else {
        "INSERT INTO event (at, kind, actor_id, subject_id, body) VALUES ($1, $2, $3, $4, $5)"
    };
    tx.execute_later(sql, &[tx.now().into(), kind.into(), actor_id.into(), subject_id.into(), body.into()])?;
    record_appended_event(|| AppendedEvent {
        seq: tx.last_inserted_row(),
        at: tx.now(),
        kind: kind.to_owned(),
        actor_id,
        subject_id,
    });
    tx.effects.appended_events = tx.effects.appended_events.saturating_add(1);
    Ok(())
}

/// Oldest first.
pub fn list_after(tx: &mut Tx<'_>, seq: i64, limit: i64) -> Result<Vec<LogEvent>, Fault> {
    let sql = select!(LogEvent, "WHERE seq > $1 ORDER BY seq LIMIT $2");
    tx.query_rows(sql, &[seq.into(), limit.into()])
}

/// What happened in conversations that their participants see, oldest first.
pub fn list_message_entries(tx: &mut Tx<'_>, seq: i64, limit: i64) -> Result<Vec<LogEvent>, Fault> {
    let sql = select!(LogEvent, "WHERE seq > $1 AND kind IN ('dm.sent', 'dm.join', 'dm.leave') ORDER BY seq LIMIT $2");
    tx.query_rows(sql, &[seq.into(), limit.into()])
}

/// Changes of stream rules after `from` and up to `to`, oldest first.
pub fn list_rule_changes(tx: &mut Tx<'_>, from: i64, to: i64) -> Result<Vec<LogEvent>, Fault> {
    let sql = select!(LogEvent, "WHERE seq > $1 AND seq <= $2 AND kind IN ('rule.added', 'rule.removed') ORDER BY seq");
    tx.query_rows(sql, &[from.into(), to.into()])
}

pub fn find_by_seq(tx: &mut Tx<'_>, seq: i64) -> Result<Option<LogEvent>, Fault> {
    tx.query_row(select!(LogEvent, "WHERE seq = $1"), &[seq.into()])
}

/// The newest entry that can be read; 0 for an empty log. On PostgreSQL there may be committed entries that have no
/// number yet: see [`crate::Store::wait_for_log_end`].
pub fn end_cursor(tx: &mut Tx<'_>) -> Result<i64, Fault> {
    // The sequencer's row, because a maximum is looked for in each partition.
    tx.query_number("SELECT MAX(seq) FROM /*! (SELECT last_seq AS seq FROM event_sequencer) AS */ event", &[])
}

/// The newest entry that can be read, and the number of the newest committed one up to `limit` that waits for its
/// place. Transactions that took longer than several seconds are not looked for.
pub(crate) fn find_end(tx: &mut Tx<'_>, limit: i64) -> Result<(i64, Option<i64>), Fault> {
    if !tx.is_postgres() {
        return Ok((end_cursor(tx)?, None));
    }
    let sql = "SELECT last_seq, (SELECT MAX(id) FROM pending_event WHERE id > floor_id AND id <= $1) \
               FROM event_sequencer";
    Ok(tx.query_row(sql, &[limit.into()])?.unwrap_or_default())
}

/// A cursor before all entries of a time or later, provided that entries are in the order of their times.
pub fn cursor_before(tx: &mut Tx<'_>, time: Time) -> Result<i64, Fault> {
    let lowest = tx.query_row("SELECT MIN(seq) FROM event", &[])?;
    let (mut low, mut high) = (lowest.flatten().unwrap_or(1) - 1, end_cursor(tx)?);
    // Everything up to `low` is older than `time`; nothing after `high` is.
    while low < high {
        let middle = low + (high - low + 1) / 2;
        let sql = "SELECT seq, at FROM event WHERE seq >= $1 ORDER BY seq LIMIT 1";
        let next: Option<(i64, Time)> = tx.query_row(sql, &[middle.into()])?;
        match next {
            Some((seq, at)) if seq <= high && at < time => low = seq,
            _ => high = middle - 1,
        }
    }
    Ok(low)
}

/// Whether entries after `seq` may have been pruned, so that a reader with this cursor has missed something.
pub fn may_be_pruned(tx: &mut Tx<'_>, seq: i64) -> Result<bool, Fault> {
    let sql = "SELECT MIN(seq) FROM event";
    let oldest = tx.query_row::<Option<i64>>(sql, &[])?.flatten();
    Ok(oldest.is_some_and(|oldest| oldest > seq.saturating_add(1)))
}

pub fn set_cursor(tx: &mut Tx<'_>, name: &str, seq: i64) -> Result<(), Fault> {
    let sql = "INSERT INTO follower (name, seq) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET seq = excluded.seq";
    tx.execute_later(sql, &[name.into(), seq.into()])
}

/// The lowest cursor; the highest number if there is none.
pub fn min_cursor(tx: &mut Tx<'_>) -> Result<i64, Fault> {
    let sql = "SELECT MIN(seq) FROM follower";
    Ok(tx.query_row(sql, &[])?.flatten().unwrap_or(i64::MAX))
}

/// Deletes at most `limit` entries older than `before` that every reader has passed; none while the first entry is not
/// older. The newest entry stays, so that numbering continues after a restart.
pub fn prune(tx: &mut Tx<'_>, before: Time, limit: i64) -> Result<u64, Fault> {
    // Without an index of times, the statement below reads the whole log if nothing has expired.
    let first: Option<Time> = tx.query_row("SELECT at FROM event ORDER BY seq LIMIT 1", &[])?;
    if first.is_none_or(|at| at >= before) {
        return Ok(0);
    }
    let min_cursor = min_cursor(tx)?;
    let sql = "DELETE FROM event WHERE seq IN (SELECT seq FROM event WHERE at < $1 AND seq <= $2 \
               AND seq < (SELECT MAX(seq) FROM event) ORDER BY seq LIMIT $3)";
    tx.execute(sql, &[before.into(), min_cursor.into(), limit.into()])
}
