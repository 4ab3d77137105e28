//! Access to advertising accounts, and the change history of their entities.

pub mod audiences;
pub mod card_links;
pub mod cards;
pub mod options;
pub mod product_catalogs;
pub mod viewers;

use base::{Fault, Time, UserId};

use crate::Tx;
use crate::db::{insert, row, select, table};

row! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct AdsAccountAccess from "ads_access" {
        pub user_id: UserId,
        pub account_id: i64,
        pub role: String,
        /// Whether the user may create posts on behalf of the account's promotable user.
        pub can_compose: bool as "composes",
    }
}

pub fn find_access(tx: &mut Tx<'_>, user: UserId, account: i64) -> Result<Option<AdsAccountAccess>, Fault> {
    let sql = select!(AdsAccountAccess, "WHERE user_id = $1 AND account_id = $2");
    tx.query_row(sql, &[user.into(), account.into()])
}

pub fn list_access_by_user(tx: &mut Tx<'_>, user: UserId) -> Result<Vec<AdsAccountAccess>, Fault> {
    let sql = select!(AdsAccountAccess, "WHERE user_id = $1");
    tx.query_rows(sql, &[user.into()])
}

pub fn list_access_by_account(tx: &mut Tx<'_>, account: i64) -> Result<Vec<AdsAccountAccess>, Fault> {
    let sql = select!(AdsAccountAccess, "WHERE account_id = $1 ORDER BY user_id");
    tx.query_rows(sql, &[account.into()])
}

/// Inserts or updates.
pub fn grant_access(tx: &mut Tx<'_>, access: &AdsAccountAccess) -> Result<(), Fault> {
    let sql = "INSERT INTO ads_access (user_id, account_id, role, composes, created_at) VALUES ($1, $2, $3, $4, $5) \
               ON CONFLICT (user_id, account_id) DO UPDATE SET role = excluded.role, composes = excluded.composes";
    let args = [
        access.user_id.into(),
        access.account_id.into(),
        (&access.role).into(),
        access.can_compose.into(),
        tx.now().into(),
    ];
    tx.execute_later(sql, &args)
}

/// Returns false if there was no access.
pub fn revoke_access(tx: &mut Tx<'_>, user: UserId, account: i64) -> Result<bool, Fault> {
    let sql = "DELETE FROM ads_access WHERE user_id = $1 AND account_id = $2";
    Ok(tx.execute(sql, &[user.into(), account.into()])? > 0)
}

table! {
    #[derive(Clone, Debug)]
    pub struct AdsChangeRecord in "ads_change" {
        /// Breaks ties between changes at the same time.
        pub id: i64,
        pub account_id: i64,
        /// `CAMPAIGN`, …
        pub entity: String,
        pub entity_id: i64,
        /// The parent entity whose history also includes this change.
        pub parent_id: Option<i64>,
        pub at: Time as "changed_at",
        pub user_id: UserId,
        /// The client that made the change.
        pub platform: String,
        /// `CREATE`, `UPDATE` or `DELETE`.
        pub action: String as "change",
        /// The entity after the change, and the changed fields (JSON).
        pub body: String,
    }
}

pub fn insert_change(tx: &mut Tx<'_>, change: &AdsChangeRecord) -> Result<(), Fault> {
    insert!(tx, AdsChangeRecord, change)
}

#[derive(Clone, Debug)]
pub struct AdsChangeQuery<'a> {
    pub account: i64,
    pub entity: &'a str,
    /// The entity, or the parent if `includes_children`.
    pub entity_id: i64,
    pub includes_children: bool,
    /// Only changes that this user made.
    pub user: Option<UserId>,
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
            select!(
                AdsChangeRecord,
                "WHERE account_id = $1 AND entity = $2 AND ",
                $column,
                " = $3 AND changed_at >= $4 AND (changed_at, id) < ($5, $6) AND (CAST($7 AS BIGINT) = 0 OR user_id = $8) \
                 ORDER BY changed_at DESC, id DESC LIMIT $9"
            )
        };
    }
    let sql = if query.includes_children { changes_by!("parent_id") } else { changes_by!("entity_id") };
    let (at, id) = query.after.unwrap_or((query.to.ms(), 0));
    let user = query.user.map_or(0, UserId::get);
    let args = [
        query.account.into(),
        query.entity.into(),
        query.entity_id.into(),
        query.from.into(),
        at.into(),
        id.into(),
        user.into(),
        user.into(),
        query.limit.into(),
    ];
    tx.query_rows(sql, &args)
}
