//! The log: what happened, in the order in which it was committed. Whoever must act on what
//! happened reads it from its own cursor; nobody is called by the writer.

use base::{Fault, Time};

use crate::Tx;
use crate::db::Row;

/// An entry of the log.
#[derive(Clone, Debug)]
pub struct Event {
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
pub fn append(
    tx: &mut Tx<'_>,
    kind: &str,
    actor_id: i64,
    subject_id: i64,
    body: &str,
) -> Result<(), Fault> {
    let sql =
        "INSERT INTO event (at, kind, actor_id, subject_id, body) VALUES ($1, $2, $3, $4, $5)";
    let args = [
        tx.now().into(),
        kind.into(),
        actor_id.into(),
        subject_id.into(),
        body.into(),
    ];
    tx.exec(sql, &args)?;
    tx.marks.appended = true;
    Ok(())
}

/// The entries after `seq`, oldest first. On a database server an entry of a transaction that is
/// still open is not passed: it would be missed for ever.
pub fn after(tx: &mut Tx<'_>, seq: i64, limit: i64) -> Result<Vec<Event>, Fault> {
    let sql = if tx.on_server() {
        "SELECT seq, at, kind, actor_id, subject_id, body FROM event \
         WHERE seq > $1 AND xid < CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS TEXT) AS BIGINT) \
         ORDER BY seq LIMIT $2"
    } else {
        "SELECT seq, at, kind, actor_id, subject_id, body FROM event \
         WHERE seq > $1 ORDER BY seq LIMIT $2"
    };
    tx.rows(sql, &[seq.into(), limit.into()], read)
}

fn read(row: &Row<'_, '_>) -> Result<Event, Fault> {
    Ok(Event {
        seq: row.int(0)?,
        at: row.time(1)?,
        kind: row.text(2)?,
        actor_id: row.int(3)?,
        subject_id: row.int(4)?,
        body: row.text(5)?,
    })
}

/// The last place in the log; 0 when it is empty.
pub fn end(tx: &mut Tx<'_>) -> Result<i64, Fault> {
    Ok(tx
        .row("SELECT MAX(seq) FROM event", &[], |row| row.opt_int(0))?
        .flatten()
        .unwrap_or(0))
}

/// How far a reader of the log has come, if it has ever said.
pub fn cursor(tx: &mut Tx<'_>, name: &str) -> Result<Option<i64>, Fault> {
    tx.row(
        "SELECT seq FROM follower WHERE name = $1",
        &[name.into()],
        |row| row.int(0),
    )
}

/// Says how far a reader of the log has come.
pub fn set_cursor(tx: &mut Tx<'_>, name: &str, seq: i64) -> Result<(), Fault> {
    let sql = "INSERT INTO follower (name, seq) VALUES ($1, $2) \
               ON CONFLICT (name) DO UPDATE SET seq = excluded.seq";
    tx.exec(sql, &[name.into(), seq.into()]).map(|_| ())
}

/// Forgets at most `limit` entries older than `before` that every reader has passed. The newest
/// entry always stays, so that the log's count goes on after a restart.
pub fn prune(tx: &mut Tx<'_>, before: Time, limit: i64) -> Result<u64, Fault> {
    let passed = "SELECT MIN(seq) FROM follower";
    let passed = tx
        .row(passed, &[], |row| row.opt_int(0))?
        .flatten()
        .unwrap_or(i64::MAX);
    let sql = "DELETE FROM event WHERE seq IN (SELECT seq FROM event WHERE at < $1 AND seq <= $2 \
               AND seq < (SELECT MAX(seq) FROM event) ORDER BY seq LIMIT $3)";
    tx.exec(sql, &[before.into(), passed.into(), limit.into()])
}
