//! What was done to accounts and apps, by whom and from where. Rows are added, never changed.

use base::{AppId, Fault, Time, UserId};

use crate::Tx;
use crate::db::SqlRow;

/// An entry that is to be added.
#[derive(Clone, Copy, Debug)]
pub struct NewAuditEntry<'a> {
    /// What was done.
    pub kind: &'a str,
    /// Who did it, or tried to.
    pub actor: Option<UserId>,
    /// Whether an operator did it, at the command line.
    pub operator: bool,
    /// The app that it is about.
    pub app: Option<AppId>,
    /// From where, or empty.
    pub address: &'a str,
    /// Further facts (JSON), or empty.
    pub detail: &'a str,
}

/// An entry.
#[derive(Clone, Debug)]
pub struct AuditEntry {
    /// Its place.
    pub seq: i64,
    /// When it was done.
    pub at: Time,
    /// What was done.
    pub kind: String,
    /// Who did it, or tried to.
    pub actor: Option<UserId>,
    /// Whether an operator did it, at the command line.
    pub operator: bool,
    /// The app that it is about.
    pub app: Option<AppId>,
    /// From where, or empty.
    pub address: String,
    /// Further facts (JSON), or empty.
    pub detail: String,
}

/// Which entries, newest first.
#[derive(Clone, Copy, Debug, Default)]
pub struct AuditFilter {
    /// Of this actor only.
    pub actor: Option<UserId>,
    /// About this app only.
    pub app: Option<AppId>,
    /// Before this place; none: from the newest on.
    pub before: Option<i64>,
}

/// Adds an entry, inside the transaction of what was done.
pub fn append(tx: &mut Tx<'_>, new: &NewAuditEntry<'_>) -> Result<(), Fault> {
    let sql = "INSERT INTO audit (at, kind, actor_id, app_id, address, detail, operator) \
               VALUES ($1, $2, $3, $4, $5, $6, $7)";
    let args = [
        tx.now().into(),
        new.kind.into(),
        new.actor.into(),
        new.app.into(),
        new.address.into(),
        new.detail.into(),
        new.operator.into(),
    ];
    tx.execute(sql, &args).map(|_| ())
}

fn entry_from_row(row: &SqlRow<'_, '_>) -> Result<AuditEntry, Fault> {
    Ok(AuditEntry {
        seq: row.int(0)?,
        at: row.time(1)?,
        kind: row.text(2)?,
        actor: row.opt_id(3)?,
        app: row.opt_id(4)?,
        address: row.text(5)?,
        detail: row.text(6)?,
        operator: row.bool(7)?,
    })
}

/// Entries, newest first.
pub fn list(tx: &mut Tx<'_>, filter: AuditFilter, limit: i64) -> Result<Vec<AuditEntry>, Fault> {
    let before = filter.before.unwrap_or(i64::MAX).into();
    let limit = limit.into();
    match (filter.actor, filter.app) {
        (None, None) => {
            let sql = "SELECT seq, at, kind, actor_id, app_id, address, detail, operator FROM audit \
                       WHERE seq < $1 ORDER BY seq DESC LIMIT $2";
            tx.query_rows(sql, &[before, limit], entry_from_row)
        }
        (Some(actor), None) => {
            let sql = "SELECT seq, at, kind, actor_id, app_id, address, detail, operator FROM audit \
                       WHERE actor_id = $1 AND seq < $2 ORDER BY seq DESC LIMIT $3";
            tx.query_rows(sql, &[actor.into(), before, limit], entry_from_row)
        }
        (None, Some(app)) => {
            let sql = "SELECT seq, at, kind, actor_id, app_id, address, detail, operator FROM audit \
                       WHERE app_id = $1 AND seq < $2 ORDER BY seq DESC LIMIT $3";
            tx.query_rows(sql, &[app.into(), before, limit], entry_from_row)
        }
        (Some(actor), Some(app)) => {
            let sql = "SELECT seq, at, kind, actor_id, app_id, address, detail, operator FROM audit \
                       WHERE actor_id = $1 AND app_id = $2 AND seq < $3 ORDER BY seq DESC LIMIT $4";
            tx.query_rows(sql, &[actor.into(), app.into(), before, limit], entry_from_row)
        }
    }
}

/// Entries after a place, oldest first: for an export.
pub fn list_after(tx: &mut Tx<'_>, seq: i64, limit: i64) -> Result<Vec<AuditEntry>, Fault> {
    let sql = "SELECT seq, at, kind, actor_id, app_id, address, detail, operator FROM audit \
               WHERE seq > $1 ORDER BY seq LIMIT $2";
    tx.query_rows(sql, &[seq.into(), limit.into()], entry_from_row)
}

/// Forgets some of the oldest entries from before a moment; how many.
pub fn prune(tx: &mut Tx<'_>, before: Time, limit: i64) -> Result<u64, Fault> {
    let sql = "DELETE FROM audit WHERE seq IN (SELECT seq FROM \
               (SELECT seq, at FROM audit ORDER BY seq LIMIT $1) AS oldest WHERE at < $2)";
    tx.execute(sql, &[limit.into(), before.into()])
}
