//! The event log: an ordered record of what happened, to which nothing is ever added before what was read. Consumers
//! read it from their own cursors.
//!
//! SQLite has one writer, so entries are numbered as they come. On PostgreSQL transactions overlap, and a plain
//! sequence would let a reader pass a number whose transaction is still open, missing it forever. There a sequence
//! number consists of the transaction's number and the entry's index within it, and a reader stops before the oldest
//! open transaction.

use base::{Fault, Time};

use crate::db::{row, select};
use crate::{Tx, meta};

/// Entries that one transaction may append on PostgreSQL.
const SEQS_PER_TRANSACTION: i64 = 1 << 20;
const SEQ_BASE_KEY: &str = "log_base";

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
    let fields = [tx.now().into(), kind.into(), actor_id.into(), subject_id.into(), body.into()];
    if tx.is_postgres() {
        let sql = "INSERT INTO event (seq, at, kind, actor_id, subject_id, body) VALUES \
                   ((CAST(CAST(pg_current_xact_id() AS TEXT) AS BIGINT) + $1) * 1048576 + $2, \
                   $3, $4, $5, $6, $7)";
        let number = i64::from(tx.effects.appended_events);
        if number >= SEQS_PER_TRANSACTION {
            return Err(Fault::new("a transaction appended too many events"));
        }
        let [at, kind, actor, subject, body] = fields;
        let args = [tx.log_base().into(), number.into(), at, kind, actor, subject, body];
        tx.execute(sql, &args)?;
    } else {
        let sql = "INSERT INTO event (at, kind, actor_id, subject_id, body) VALUES ($1, $2, $3, $4, $5)";
        tx.execute(sql, &fields)?;
    }
    tx.effects.appended_events = tx.effects.appended_events.saturating_add(1);
    Ok(())
}

/// Oldest first.
pub fn list_after(tx: &mut Tx<'_>, seq: i64, limit: i64) -> Result<Vec<LogEvent>, Fault> {
    if tx.is_postgres() {
        let sql = select!(
            LogEvent,
            "WHERE seq > $1 AND seq < (CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS TEXT) AS BIGINT) + $2) \
             * 1048576 ORDER BY seq LIMIT $3"
        );
        let base = tx.log_base();
        return tx.query_rows(sql, &[seq.into(), base.into(), limit.into()]);
    }
    let sql = select!(LogEvent, "WHERE seq > $1 ORDER BY seq LIMIT $2");
    tx.query_rows(sql, &[seq.into(), limit.into()])
}

/// A cursor after everything that can be read now; 0 for an empty log.
pub fn end_cursor(tx: &mut Tx<'_>) -> Result<i64, Fault> {
    if tx.is_postgres() {
        return Ok(oldest_open_transaction(tx)?
            .saturating_add(tx.log_base())
            .saturating_mul(SEQS_PER_TRANSACTION)
            .saturating_sub(1));
    }
    highest_seq(tx)
}

/// A cursor before all entries of a time or later, provided that entries are in the order of their times.
pub fn cursor_before(tx: &mut Tx<'_>, time: Time) -> Result<i64, Fault> {
    let lowest = tx.query_row("SELECT MIN(seq) FROM event", &[])?;
    let (mut low, mut high) = (lowest.flatten().unwrap_or(1) - 1, highest_seq(tx)?);
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

/// Entries of open transactions are not counted.
pub fn count(tx: &mut Tx<'_>) -> Result<i64, Fault> {
    tx.query_number("SELECT COUNT(*) FROM event", &[])
}

/// The newest committed entry, even if it cannot be read yet; 0 for an empty log.
pub fn highest_seq(tx: &mut Tx<'_>) -> Result<i64, Fault> {
    tx.query_number("SELECT MAX(seq) FROM event", &[])
}

/// Whether entries after `seq` may have been pruned, so that a reader with this cursor has missed something.
pub fn may_be_pruned(tx: &mut Tx<'_>, seq: i64) -> Result<bool, Fault> {
    let sql = "SELECT MIN(seq) FROM event";
    let oldest = tx.query_row::<Option<i64>>(sql, &[])?.flatten();
    // Sequence numbers have no gaps on SQLite; on PostgreSQL they do.
    let next = if tx.is_postgres() { seq } else { seq.saturating_add(1) };
    Ok(oldest.is_some_and(|oldest| oldest > next))
}

/// The next transaction's number if none is open.
fn oldest_open_transaction(tx: &mut Tx<'_>) -> Result<i64, Fault> {
    let sql = "SELECT CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS TEXT) AS BIGINT)";
    tx.query_number(sql, &[])
}

/// The number to add to transaction numbers. It is raised when a database was moved to a server whose transaction
/// numbers are lower, so that sequence numbers keep increasing.
pub(crate) fn update_seq_base(tx: &mut Tx<'_>) -> Result<i64, Fault> {
    if !tx.is_postgres() {
        return Ok(0);
    }
    let stored = meta::get(tx, SEQ_BASE_KEY)?.unwrap_or_default();
    let base = stored.parse().unwrap_or(0);
    let highest = highest_seq(tx)? / SEQS_PER_TRANSACTION;
    let open = oldest_open_transaction(tx)?;
    if highest < open.saturating_add(base) {
        return Ok(base);
    }
    let base = highest.saturating_sub(open).saturating_add(1);
    meta::set(tx, SEQ_BASE_KEY, &base.to_string())?;
    Ok(base)
}

/// A reader's cursor, locked until the end of the transaction; a new reader starts at the end.
pub fn claim_cursor(tx: &mut Tx<'_>, name: &str) -> Result<i64, Fault> {
    let end = end_cursor(tx)?;
    let sql = "INSERT INTO follower (name, seq) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET seq = follower.seq";
    tx.execute(sql, &[name.into(), end.into()])?;
    Ok(find_cursor(tx, name)?.unwrap_or(end))
}

pub fn find_cursor(tx: &mut Tx<'_>, name: &str) -> Result<Option<i64>, Fault> {
    tx.query_row("SELECT seq FROM follower WHERE name = $1", &[name.into()])
}

pub fn set_cursor(tx: &mut Tx<'_>, name: &str, seq: i64) -> Result<(), Fault> {
    let sql = "INSERT INTO follower (name, seq) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET seq = excluded.seq";
    tx.execute(sql, &[name.into(), seq.into()]).map(|_| ())
}

/// Deletes at most `limit` entries older than `before` that every reader has passed. The newest entry stays, so that
/// numbering continues after a restart.
pub fn prune(tx: &mut Tx<'_>, before: Time, limit: i64) -> Result<u64, Fault> {
    let min_cursor = "SELECT MIN(seq) FROM follower";
    let min_cursor = tx.query_row(min_cursor, &[])?.flatten().unwrap_or(i64::MAX);
    let sql = "DELETE FROM event WHERE seq IN (SELECT seq FROM event WHERE at < $1 AND seq <= $2 \
               AND seq < (SELECT MAX(seq) FROM event) ORDER BY seq LIMIT $3)";
    tx.execute(sql, &[before.into(), min_cursor.into(), limit.into()])
}
