//! Who may act on advertising accounts, and what was changed in them.

pub mod audiences;
pub mod card_links;
pub mod options;
pub mod viewers;

use base::{Fault, Time, UserId};

use crate::Tx;
use crate::db::SqlRow;

/// What a user may do on an account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdsAccountAccess {
    /// The user.
    pub user_id: UserId,
    /// The account.
    pub account_id: i64,
    /// The role.
    pub role: String,
    /// Whether posts may be made in the account's name.
    pub can_compose: bool,
}

fn access_from_row(row: &SqlRow<'_, '_>) -> Result<AdsAccountAccess, Fault> {
    Ok(AdsAccountAccess {
        user_id: row.id(0)?,
        account_id: row.int(1)?,
        role: row.text(2)?,
        can_compose: row.bool(3)?,
    })
}

/// A user's access to an account.
pub fn find_access(tx: &mut Tx<'_>, user: UserId, account: i64) -> Result<Option<AdsAccountAccess>, Fault> {
    let sql = "SELECT user_id, account_id, role, composes FROM ads_access \
               WHERE user_id = $1 AND account_id = $2";
    tx.query_row(sql, &[user.into(), account.into()], access_from_row)
}

/// All accesses of a user.
pub fn list_access_by_user(tx: &mut Tx<'_>, user: UserId) -> Result<Vec<AdsAccountAccess>, Fault> {
    let sql = "SELECT user_id, account_id, role, composes FROM ads_access WHERE user_id = $1";
    tx.query_rows(sql, &[user.into()], access_from_row)
}

/// All accesses to an account.
pub fn list_access_by_account(tx: &mut Tx<'_>, account: i64) -> Result<Vec<AdsAccountAccess>, Fault> {
    let sql = "SELECT user_id, account_id, role, composes FROM ads_access \
               WHERE account_id = $1 ORDER BY user_id";
    tx.query_rows(sql, &[account.into()], access_from_row)
}

/// Gives a user access to an account, or other access than before.
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

/// Takes a user's access away; false when there was none.
pub fn revoke_access(tx: &mut Tx<'_>, user: UserId, account: i64) -> Result<bool, Fault> {
    let sql = "DELETE FROM ads_access WHERE user_id = $1 AND account_id = $2";
    Ok(tx.execute(sql, &[user.into(), account.into()])? > 0)
}

/// A change of an entity.
#[derive(Clone, Debug)]
pub struct AdsChangeRecord {
    /// Its own id, which breaks ties.
    pub id: i64,
    /// The account.
    pub account_id: i64,
    /// `CAMPAIGN`, ….
    pub entity: String,
    /// The entity.
    pub entity_id: i64,
    /// What it is below, where it is also looked for there.
    pub parent_id: Option<i64>,
    /// When.
    pub at: Time,
    /// Who did it.
    pub user_id: UserId,
    /// By way of what.
    pub platform: String,
    /// `CREATE`, `UPDATE` or `DELETE`.
    pub action: String,
    /// The entity after it, and what changed (JSON).
    pub body: String,
}

/// Notes a change.
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

/// Which changes are looked for.
#[derive(Clone, Debug)]
pub struct AdsChangeQuery<'a> {
    /// In which account.
    pub account: i64,
    /// Of which kind of entity.
    pub entity: &'a str,
    /// Of which entity, or of those below it.
    pub entity_id: i64,
    /// Whether `of` is what they are below.
    pub includes_children: bool,
    /// From then on.
    pub from: Time,
    /// Until before then.
    pub to: Time,
    /// Behind this one: its time and id.
    pub after: Option<(i64, i64)>,
    /// At most so many.
    pub limit: i64,
}

/// Changes, the latest first.
pub fn list_changes(tx: &mut Tx<'_>, wanted: &AdsChangeQuery<'_>) -> Result<Vec<AdsChangeRecord>, Fault> {
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
    let sql = if wanted.includes_children {
        changes_by!("parent_id")
    } else {
        changes_by!("entity_id")
    };
    let (at, id) = wanted.after.unwrap_or((wanted.to.ms(), 0));
    let args = [
        wanted.account.into(),
        wanted.entity.into(),
        wanted.entity_id.into(),
        wanted.from.into(),
        at.into(),
        id.into(),
        wanted.limit.into(),
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
