//! The audit trail of accounts and apps; rows are only added, until they expire.

use base::{AppId, Fault, Time, UserId};

use crate::Tx;
use crate::db::{SqlValue, insert, row, select};

#[derive(Clone, Copy, Debug)]
pub struct NewAuditEntry<'a> {
    pub kind: &'a str,
    /// The user who did it, or tried to.
    pub actor: Option<UserId>,
    /// Whether it was done by an operator at the command line.
    pub operator: bool,
    pub app: Option<AppId>,
    /// The account that the details name.
    pub subject: Option<UserId>,
    /// The client's address, or empty.
    pub address: &'a str,
    /// Further facts (JSON), or empty.
    pub detail: &'a str,
}

row! {
    #[derive(Clone, Debug)]
    pub struct AuditEntry from "audit" {
        pub kind: String,
        pub actor: Option<UserId> as "actor_id",
        pub operator: bool,
        pub app: Option<AppId> as "app_id",
        pub address: String,
        pub detail: String,
        pub seq: i64,
        pub at: Time,
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub struct AuditFilter {
    pub actor: Option<UserId>,
    pub app: Option<AppId>,
    /// Exclusive; none starts at the newest entry.
    pub before: Option<i64>,
}

/// To be called in the transaction of the action itself.
pub fn append(tx: &mut Tx<'_>, new: &NewAuditEntry<'_>) -> Result<(), Fault> {
    tx.mark_audited();
    insert!(
        tx,
        "audit",
        at = tx.now(),
        kind = new.kind,
        actor_id = new.actor,
        app_id = new.app,
        subject_id = new.subject,
        address = new.address,
        detail = new.detail,
        operator = new.operator
    )
}

/// Newest first.
pub fn list(tx: &mut Tx<'_>, filter: AuditFilter, limit: i64) -> Result<Vec<AuditEntry>, Fault> {
    let before = filter.before.unwrap_or(i64::MAX).into();
    let limit = limit.into();
    let (sql, args) = match (filter.actor, filter.app) {
        (None, None) => (select!(AuditEntry, "WHERE seq < $1 ORDER BY seq DESC LIMIT $2"), vec![before, limit]),
        (Some(actor), None) => (
            select!(AuditEntry, "WHERE actor_id = $1 AND seq < $2 ORDER BY seq DESC LIMIT $3"),
            vec![actor.into(), before, limit],
        ),
        (None, Some(app)) => (
            select!(AuditEntry, "WHERE app_id = $1 AND seq < $2 ORDER BY seq DESC LIMIT $3"),
            vec![app.into(), before, limit],
        ),
        (Some(actor), Some(app)) => (
            select!(AuditEntry, "WHERE actor_id = $1 AND app_id = $2 AND seq < $3 ORDER BY seq DESC LIMIT $4"),
            vec![actor.into(), app.into(), before, limit],
        ),
    };
    tx.query_rows(sql, &args)
}

/// What a user did, and what was done to the user, of these kinds; newest first. Entries from before the schema recorded
/// whom they concern are found by their actor only.
pub fn list_concerning(tx: &mut Tx<'_>, user: UserId, kinds: &[&str], limit: i64) -> Result<Vec<AuditEntry>, Fault> {
    // In the order in which they appear, as SQLite counts them.
    let placeholders: Vec<String> = (2..).take(kinds.len()).map(|number| format!("${number}")).collect();
    let mut args: Vec<SqlValue<'_>> = vec![user.into()];
    args.extend(kinds.iter().map(|kind| SqlValue::from(*kind)));
    args.push(limit.into());
    let mut entries = Vec::new();
    // Two queries, since no index serves both columns. The sum keeps engines from reading all kinds in the order.
    for column in ["actor_id", "subject_id"] {
        let condition = format!("WHERE {column} = $1 AND kind IN ({})", placeholders.join(", "));
        let end = format!(" ORDER BY seq + 0 DESC LIMIT ${}", args.len());
        let sql = [select!(AuditEntry, ""), &condition, &end].concat();
        entries.extend(tx.query_rows::<AuditEntry>(&sql, &args)?);
    }
    entries.sort_by_key(|entry| std::cmp::Reverse(entry.seq));
    entries.dedup_by_key(|entry| entry.seq);
    entries.truncate(usize::try_from(limit).unwrap_or(0));
    Ok(entries)
}

/// Oldest first, for exports.
pub fn list_after(tx: &mut Tx<'_>, seq: i64, limit: i64) -> Result<Vec<AuditEntry>, Fault> {
    let sql = select!(AuditEntry, "WHERE seq > $1 ORDER BY seq LIMIT $2");
    tx.query_rows(sql, &[seq.into(), limit.into()])
}

/// Deletes at most `limit` of the oldest entries from before a time; returns how many.
pub fn prune(tx: &mut Tx<'_>, before: Time, limit: i64) -> Result<u64, Fault> {
    let sql = "DELETE FROM audit WHERE seq IN (SELECT seq FROM \
               (SELECT seq, at FROM audit ORDER BY seq LIMIT $1) AS oldest WHERE at < $2)";
    tx.execute(sql, &[limit.into(), before.into()])
}
