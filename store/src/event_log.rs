//! The log: what happened, in an order in which nothing is ever added before what was read. Whoever
//! must act on what happened reads it from its own cursor; nobody is called by the writer.
//!
//! A file has one writer, so its rows are numbered as they come. On a database server writers
//! overlap, and a plain sequence would let a reader pass a number whose transaction is still open,
//! missing it for ever. There a place is the transaction's number and the entry's place within it,
//! and a reader stops short of the oldest transaction that is still open.

use base::{Fault, Time};

use crate::db::SqlRow;
use crate::{Tx, meta};

/// Entries that one transaction may append on a database server.
const SEQS_PER_TRANSACTION: i64 = 1 << 20;
const SEQ_BASE_KEY: &str = "log_base";

/// An entry of the log.
#[derive(Clone, Debug)]
pub struct LogEvent {
    /// Its place in the log.
    pub seq: i64,
    /// When it happened.
    pub at: Time,
    /// What happened: `post.create`, `follow.follow`, `token.revoke`, ….
    pub kind: String,
    /// Who did it.
    pub actor_id: i64,
    /// To what.
    pub subject_id: i64,
    /// Further facts (JSON), or empty.
    pub body: String,
}

/// Appends to the log, inside the transaction of what happened.
pub fn append(tx: &mut Tx<'_>, kind: &str, actor_id: i64, subject_id: i64, body: &str) -> Result<(), Fault> {
    let fact = [
        tx.now().into(),
        kind.into(),
        actor_id.into(),
        subject_id.into(),
        body.into(),
    ];
    if tx.is_postgres() {
        let sql = "INSERT INTO event (seq, at, kind, actor_id, subject_id, body) VALUES \
                   ((CAST(CAST(pg_current_xact_id() AS TEXT) AS BIGINT) + $1) * 1048576 + $2, \
                   $3, $4, $5, $6, $7)";
        let number = i64::from(tx.effects.appended_events);
        if number >= SEQS_PER_TRANSACTION {
            return Err(Fault::new("a transaction has too much to tell"));
        }
        let [at, kind, actor, subject, body] = fact;
        let args = [tx.log_base().into(), number.into(), at, kind, actor, subject, body];
        tx.execute(sql, &args)?;
    } else {
        let sql = "INSERT INTO event (at, kind, actor_id, subject_id, body) VALUES ($1, $2, $3, $4, $5)";
        tx.execute(sql, &fact)?;
    }
    tx.effects.appended_events = tx.effects.appended_events.saturating_add(1);
    Ok(())
}

/// The entries after `seq`, oldest first.
pub fn list_after(tx: &mut Tx<'_>, seq: i64, limit: i64) -> Result<Vec<LogEvent>, Fault> {
    if tx.is_postgres() {
        let sql = "SELECT seq, at, kind, actor_id, subject_id, body FROM event WHERE seq > $1 AND seq < \
                   (CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS TEXT) AS BIGINT) + $2) * 1048576 \
                   ORDER BY seq LIMIT $3";
        let base = tx.log_base();
        return tx.query_rows(sql, &[seq.into(), base.into(), limit.into()], event_from_row);
    }
    let sql = "SELECT seq, at, kind, actor_id, subject_id, body FROM event \
               WHERE seq > $1 ORDER BY seq LIMIT $2";
    tx.query_rows(sql, &[seq.into(), limit.into()], event_from_row)
}

fn event_from_row(row: &SqlRow<'_, '_>) -> Result<LogEvent, Fault> {
    Ok(LogEvent {
        seq: row.int(0)?,
        at: row.time(1)?,
        kind: row.text(2)?,
        actor_id: row.int(3)?,
        subject_id: row.int(4)?,
        body: row.text(5)?,
    })
}

/// The place behind everything that can be read now; 0 when nothing was ever told.
pub fn end_cursor(tx: &mut Tx<'_>) -> Result<i64, Fault> {
    if tx.is_postgres() {
        return Ok(oldest_open_transaction(tx)?
            .saturating_add(tx.log_base())
            .saturating_mul(SEQS_PER_TRANSACTION)
            .saturating_sub(1));
    }
    highest_seq(tx)
}

/// A place in the log behind which everything stands that is told of a time or later, as far as
/// entries stand in the order of their times.
pub fn cursor_before(tx: &mut Tx<'_>, time: Time) -> Result<i64, Fault> {
    let lowest = tx.query_row("SELECT MIN(seq) FROM event", &[], |row| row.opt_int(0))?;
    let (mut low, mut high) = (lowest.flatten().unwrap_or(1) - 1, highest_seq(tx)?);
    // Everything up to `low` is older; nothing behind `high` is.
    while low < high {
        let middle = low + (high - low + 1) / 2;
        let sql = "SELECT seq, at FROM event WHERE seq >= $1 ORDER BY seq LIMIT 1";
        let next = tx.query_row(sql, &[middle.into()], |row| Ok((row.int(0)?, row.time(1)?)))?;
        match next {
            Some((seq, at)) if seq <= high && at < time => low = seq,
            _ => high = middle - 1,
        }
    }
    Ok(low)
}

/// How many entries are kept, those of open transactions aside.
pub fn count(tx: &mut Tx<'_>) -> Result<i64, Fault> {
    Ok(tx
        .query_row("SELECT COUNT(*) FROM event", &[], |row| row.int(0))?
        .unwrap_or(0))
}

/// The place of the newest entry that is committed, whether or not it can be read yet; 0 when
/// there is none.
pub fn highest_seq(tx: &mut Tx<'_>) -> Result<i64, Fault> {
    Ok(tx
        .query_row("SELECT MAX(seq) FROM event", &[], |row| row.opt_int(0))?
        .flatten()
        .unwrap_or(0))
}

/// Whether entries behind a place may have been forgotten ([`prune`]): whoever had read the log up
/// to there may have missed something.
pub fn may_be_pruned(tx: &mut Tx<'_>, seq: i64) -> Result<bool, Fault> {
    let sql = "SELECT MIN(seq) FROM event";
    let oldest = tx.query_row(sql, &[], |row| row.opt_int(0))?.flatten();
    // A file's places have no gaps; a server's have.
    let next = if tx.is_postgres() { seq } else { seq.saturating_add(1) };
    Ok(oldest.is_some_and(|oldest| oldest > next))
}

/// The number of the oldest transaction that is still open, or of the next one.
fn oldest_open_transaction(tx: &mut Tx<'_>) -> Result<i64, Fault> {
    let sql = "SELECT CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS TEXT) AS BIGINT)";
    Ok(tx.query_row(sql, &[], |row| row.int(0))?.unwrap_or(0))
}

/// What is added to a transaction's number. A database that was moved to another server finds
/// lower numbers there; its log must go on above what was already read.
pub(crate) fn update_seq_base(tx: &mut Tx<'_>) -> Result<i64, Fault> {
    if !tx.is_postgres() {
        return Ok(0);
    }
    let stored = meta::get(tx, SEQ_BASE_KEY)?.unwrap_or_default();
    let base = stored.parse().unwrap_or(0);
    let told = highest_seq(tx)? / SEQS_PER_TRANSACTION;
    let open = oldest_open_transaction(tx)?;
    if told < open.saturating_add(base) {
        return Ok(base);
    }
    let base = told.saturating_sub(open).saturating_add(1);
    meta::set(tx, SEQ_BASE_KEY, &base.to_string())?;
    Ok(base)
}

/// How far a reader of the log has come, held until this transaction ends; one that has never
/// read begins at the end.
pub fn claim_cursor(tx: &mut Tx<'_>, name: &str) -> Result<i64, Fault> {
    let end = end_cursor(tx)?;
    let sql = "INSERT INTO follower (name, seq) VALUES ($1, $2) \
               ON CONFLICT (name) DO UPDATE SET seq = follower.seq";
    tx.execute(sql, &[name.into(), end.into()])?;
    Ok(find_cursor(tx, name)?.unwrap_or(end))
}

/// How far a reader of the log has come, if it has ever said.
pub fn find_cursor(tx: &mut Tx<'_>, name: &str) -> Result<Option<i64>, Fault> {
    tx.query_row("SELECT seq FROM follower WHERE name = $1", &[name.into()], |row| {
        row.int(0)
    })
}

/// Says how far a reader of the log has come.
pub fn set_cursor(tx: &mut Tx<'_>, name: &str, seq: i64) -> Result<(), Fault> {
    let sql = "INSERT INTO follower (name, seq) VALUES ($1, $2) \
               ON CONFLICT (name) DO UPDATE SET seq = excluded.seq";
    tx.execute(sql, &[name.into(), seq.into()]).map(|_| ())
}

/// Forgets at most `limit` entries older than `before` that every reader has passed. The newest
/// entry always stays, so that the log's count goes on after a restart.
pub fn prune(tx: &mut Tx<'_>, before: Time, limit: i64) -> Result<u64, Fault> {
    let passed = "SELECT MIN(seq) FROM follower";
    let passed = tx
        .query_row(passed, &[], |row| row.opt_int(0))?
        .flatten()
        .unwrap_or(i64::MAX);
    let sql = "DELETE FROM event WHERE seq IN (SELECT seq FROM event WHERE at < $1 AND seq <= $2 \
               AND seq < (SELECT MAX(seq) FROM event) ORDER BY seq LIMIT $3)";
    tx.execute(sql, &[before.into(), passed.into(), limit.into()])
}
