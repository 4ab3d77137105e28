//! Grants: what users have allowed apps to do.

use base::{AppId, Fault, Time, UserId};

use crate::Tx;
use crate::credential_versions::CredentialKey;
use crate::db::{row, select};

row! {
    #[derive(Clone, Debug)]
    pub struct AppGrant from "app_grant" {
        pub user_id: UserId,
        pub app_id: AppId,
        /// The widest approved OAuth 1.0a level, or empty.
        pub permission: String,
        /// Every approved OAuth 2.0 scope, space-separated.
        pub scopes: String,
        /// Whether the user agreed that the app reads the email address with OAuth 1.0a.
        pub email: bool,
        pub created_at: Time,
        pub approved_at: Time,
        /// When a token was last issued.
        pub used_at: Time,
    }
}

pub fn find(tx: &mut Tx<'_>, user: UserId, app: AppId) -> Result<Option<AppGrant>, Fault> {
    let sql = select!(AppGrant, "WHERE user_id = $1 AND app_id = $2");
    tx.query_row(sql, &[user.into(), app.into()])
}

/// In the order of first approval.
pub fn list(tx: &mut Tx<'_>, user: UserId) -> Result<Vec<AppGrant>, Fault> {
    let sql = select!(AppGrant, "WHERE user_id = $1 ORDER BY created_at, app_id");
    tx.query_rows(sql, &[user.into()])
}

/// The number of users who have granted something to an app.
pub fn count(tx: &mut Tx<'_>, app: AppId) -> Result<u64, Fault> {
    let sql = "SELECT COUNT(*) FROM app_grant WHERE app_id = $1";
    Ok(u64::try_from(tx.query_number(sql, &[app.into()])?).unwrap_or(0))
}

/// Locks a user's grant to an app until the end of the transaction, inserting an empty one if there is none.
pub fn lock_or_insert(tx: &mut Tx<'_>, user: UserId, app: AppId) -> Result<(), Fault> {
    let sql = "INSERT INTO app_grant (user_id, app_id, created_at, approved_at, used_at) VALUES ($1, $2, $3, $3, $3) \
               ON CONFLICT (user_id, app_id) DO UPDATE SET approved_at = excluded.approved_at";
    let args = [user.into(), app.into(), tx.now().into()];
    tx.execute_later(sql, &args)
}

/// Locks a user's grant to an app until the end of the transaction; returns false if there is none.
pub fn lock_existing(tx: &mut Tx<'_>, user: UserId, app: AppId) -> Result<bool, Fault> {
    let sql = "UPDATE app_grant SET used_at = $1 WHERE user_id = $2 AND app_id = $3";
    Ok(tx.execute(sql, &[tx.now().into(), user.into(), app.into()])? > 0)
}

/// Stores what the user has approved; the times stay.
pub fn update(tx: &mut Tx<'_>, grant: &AppGrant) -> Result<(), Fault> {
    // Callers are cached with the consent.
    tx.invalidate_credentials(CredentialKey::User(grant.user_id))?;
    let sql = "UPDATE app_grant SET permission = $1, scopes = $2, email = $3 WHERE user_id = $4 AND app_id = $5";
    let permission = grant.permission.as_str().into();
    let args =
        [permission, grant.scopes.as_str().into(), grant.email.into(), grant.user_id.into(), grant.app_id.into()];
    tx.execute_later(sql, &args)
}

/// Returns false if there was none.
pub fn delete(tx: &mut Tx<'_>, user: UserId, app: AppId) -> Result<bool, Fault> {
    let sql = "DELETE FROM app_grant WHERE user_id = $1 AND app_id = $2";
    Ok(tx.execute(sql, &[user.into(), app.into()])? > 0)
}
