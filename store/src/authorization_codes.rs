//! OAuth 2.0 authorization codes.

use base::{AppId, Fault, Time, UserId};

use crate::Tx;
use crate::db::{insert, select, table};

table! {
    #[derive(Clone, Debug)]
    pub struct AuthorizationCode in "oauth2_code" {
        /// Shared by all tokens of this authorization.
        pub family: i64,
        pub app_id: AppId,
        pub user_id: UserId,
        pub redirect_uri: String,
        /// Space-separated.
        pub scopes: String,
        /// The S256 challenge of PKCE.
        pub challenge: String,
        pub expires_at: Time,
    }
    read_only {
        pub used_at: Option<Time>,
    }
}

/// Used and expired codes included.
pub fn find(tx: &mut Tx<'_>, digest: &[u8; 32]) -> Result<Option<AuthorizationCode>, Fault> {
    let sql = select!(AuthorizationCode, "WHERE digest = $1");
    tx.query_row(sql, &[digest.into()])
}

pub fn insert(tx: &mut Tx<'_>, code: &AuthorizationCode, digest: &[u8; 32]) -> Result<(), Fault> {
    insert!(tx, AuthorizationCode, code, digest = digest)
}

/// Returns false if the code was used before.
pub fn mark_used(tx: &mut Tx<'_>, digest: &[u8; 32]) -> Result<bool, Fault> {
    let sql = "UPDATE oauth2_code SET used_at = $1 WHERE digest = $2 AND used_at IS NULL";
    Ok(tx.execute(sql, &[tx.now().into(), digest.into()])? > 0)
}

/// Deletes codes that a user approved for an app and that were not exchanged yet.
pub fn revoke(tx: &mut Tx<'_>, user: UserId, app: AppId) -> Result<(), Fault> {
    let sql = "DELETE FROM oauth2_code WHERE user_id = $1 AND app_id = $2";
    tx.execute_later(sql, &[user.into(), app.into()])
}

/// Deletes at most `limit` codes that expired before a time; returns how many.
pub fn prune(tx: &mut Tx<'_>, before: Time, limit: i64) -> Result<u64, Fault> {
    let sql = "DELETE FROM oauth2_code WHERE digest IN (SELECT digest FROM oauth2_code WHERE expires_at < $1 LIMIT $2)";
    tx.execute(sql, &[before.into(), limit.into()])
}
