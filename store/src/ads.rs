//! Access to advertising accounts, and the change history of their entities.

pub mod audiences;
pub mod card_links;
pub mod options;
pub mod viewers;

use base::{Fault, Time, UserId};

use crate::Tx;
use crate::db::SqlRow;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdsAccountAccess {
    pub user_id: UserId,
    pub account_id: i64,
    pub role: String,
    /// Whether the user may create posts on behalf of the account's promotable user.
    pub can_compose: bool,
}

fn access_from_row(row: &SqlRow<'_, '_>) -> Result<AdsAccountAccess, Fault> {
    Ok(AdsAccountAccess { user_id: row.id(0)?, account_id: row.int(1)?, role: row.text(2)?, can_compose: row.bool(3)? })
}

pub fn find_access(tx: &mut Tx<'_>, user: UserId, account: i64) -> Result<Option<AdsAccountAccess>, Fault> {
    let sql = "SELECT user_id, account_id, role, composes FROM ads_access \
               WHERE user_id = $1 AND account_id = $2";
    tx.query_row(sql, &[user.into(), account.into()], access_from_row)
}

pub fn list_access_by_user(tx: &mut Tx<'_>, user: UserId) -> Result<Vec<AdsAccountAccess>, Fault> {
    let sql = "SELECT user_id, account_id, role, composes FROM ads_access WHERE user_id = $1";
    tx.query_rows(sql, &[user.into()], access_from_row)
}

pub fn list_access_by_account(tx: &mut Tx<'_>, account: i64) -> Result<Vec<AdsAccountAccess>, Fault> {
    let sql = "SELECT user_id, account_id, role, composes FROM ads_access \
               WHERE account_id = $1 ORDER BY user_id";
    tx.query_rows(sql, &[account.into()], access_from_row)
}

/// Inserts or updates.
pub fn grant_access(tx: &mut Tx<'_>, access: &AdsAccountAccess) -> Result<(), Fault> {
    let sql = "INSERT INTO ads_access (user_id, account_id, role, composes, created_at) \
               VALUES ($1, $2, $3, $4, $5) ON CONFLICT (user_id, account_id) \
               DO UPDATE SET role = excluded.role, composes = excluded.composes";
    let args = [
        access.user_id.into(),
        access.account_id.into(),
        (&access.role).into(),
        access.can_compose.into(),
        tx.now().into(),
    ];
    tx.execute(sql, &args).map(|_| ())
}

/// Returns false if there was no access.
pub fn revoke_access(tx: &mut Tx<'_>, user: UserId, account: i64) -> Result<bool, Fault> {
    let sql = "DELETE FROM ads_access WHERE user_id = $1 AND account_id = $2";
    Ok(tx.execute(sql, &[user.into(), account.into()])? > 0)
}

#[derive(Clone, Debug)]
pub struct AdsChangeRecord {
    /// Breaks ties between changes at the same time.
    pub id: i64,
    pub account_id: i64,
    /// `CAMPAIGN`, …
    pub entity: String,
    pub entity_id: i64,
    /// The parent entity whose history also includes this change.
    pub parent_id: Option<i64>,
    pub at: Time,
    pub user_id: UserId,
    /// The client that made the change.
    pub platform: String,
    /// `CREATE`, `UPDATE` or `DELETE`.
    pub action: String,
    /// The entity after the change, and the changed fields (JSON).
    pub body: String,
}

pub fn insert_change(tx: &mut Tx<'_>, change: &AdsChangeRecord) -> Result<(), Fault> {
    let sql = "INSERT INTO ads_change (account_id, entity, entity_id, changed_at, id, parent_id, \
               user_id, platform, change, body) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
    let args = [
        change.account_id.into(),
        (&change.entity).into(),
        change.entity_id.into(),
        change.at.into(),
        change.id.into(),
        change.parent_id.into(),
        change.user_id.into(),
        (&change.platform).into(),
        (&change.action).into(),
        (&change.body).into(),
    ];
    tx.execute(sql, &args).map(|_| ())
}

#[derive(Clone, Debug)]
pub struct AdsChangeQuery<'a> {
    pub account: i64,
    pub entity: &'a str,
    /// The entity, or the parent if `includes_children`.
    pub entity_id: i64,
    pub includes_children: bool,
    /// Inclusive.
    pub from: Time,
    /// Exclusive.
    pub to: Time,
    /// The time (ms) and id of the last change of the previous page.
    pub after: Option<(i64, i64)>,
    pub limit: i64,
}

/// Latest first.
pub fn list_changes(tx: &mut Tx<'_>, query: &AdsChangeQuery<'_>) -> Result<Vec<AdsChangeRecord>, Fault> {
    macro_rules! changes_by {
        ($column:literal) => {
            concat!(
                "SELECT id, entity_id, changed_at, parent_id, user_id, platform, change, body, \
                 account_id, entity FROM ads_change WHERE account_id = $1 AND entity = $2 AND ",
                $column,
                " = $3 AND changed_at >= $4 AND (changed_at, id) < ($5, $6) \
                 ORDER BY changed_at DESC, id DESC LIMIT $7"
            )
        };
    }
    let sql = if query.includes_children { changes_by!("parent_id") } else { changes_by!("entity_id") };
    let (at, id) = query.after.unwrap_or((query.to.ms(), 0));
    let args = [
        query.account.into(),
        query.entity.into(),
        query.entity_id.into(),
        query.from.into(),
        at.into(),
        id.into(),
        query.limit.into(),
    ];
    tx.query_rows(sql, &args, |row| {
        Ok(AdsChangeRecord {
            id: row.int(0)?,
            entity_id: row.int(1)?,
            at: row.time(2)?,
            parent_id: row.opt_int(3)?,
            user_id: row.id(4)?,
            platform: row.text(5)?,
            action: row.text(6)?,
            body: row.text(7)?,
            account_id: row.int(8)?,
            entity: row.text(9)?,
        })
    })
}
