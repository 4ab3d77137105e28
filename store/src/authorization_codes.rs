//! OAuth 2.0 authorization codes.

use base::{AppId, Fault, Time, UserId};

use crate::Tx;
use crate::db::SqlRow;

#[derive(Clone, Debug)]
pub struct AuthorizationCode {
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
    pub used_at: Option<Time>,
}

fn code_from_row(row: &SqlRow<'_, '_>) -> Result<AuthorizationCode, Fault> {
    Ok(AuthorizationCode {
        family: row.int(0)?,
        app_id: row.id(1)?,
        user_id: row.id(2)?,
        redirect_uri: row.text(3)?,
        scopes: row.text(4)?,
        challenge: row.text(5)?,
        expires_at: row.time(6)?,
        used_at: row.opt_time(7)?,
    })
}

/// Used and expired codes included.
pub fn find(tx: &mut Tx<'_>, digest: &[u8; 32]) -> Result<Option<AuthorizationCode>, Fault> {
    let sql = "SELECT family, app_id, user_id, redirect_uri, scopes, challenge, expires_at, \
               used_at FROM oauth2_code WHERE digest = $1";
    tx.query_row(sql, &[digest.into()], code_from_row)
}

pub fn insert(tx: &mut Tx<'_>, code: &AuthorizationCode, digest: &[u8; 32]) -> Result<(), Fault> {
    let sql = "INSERT INTO oauth2_code (digest, family, app_id, user_id, redirect_uri, scopes, \
               challenge, expires_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
    let args = [
        digest.into(),
        code.family.into(),
        code.app_id.into(),
        code.user_id.into(),
        (&code.redirect_uri).into(),
        (&code.scopes).into(),
        (&code.challenge).into(),
        code.expires_at.into(),
    ];
    tx.execute(sql, &args).map(|_| ())
}

/// Returns false if the code was used before.
pub fn mark_used(tx: &mut Tx<'_>, digest: &[u8; 32]) -> Result<bool, Fault> {
    let sql = "UPDATE oauth2_code SET used_at = $1 WHERE digest = $2 AND used_at IS NULL";
    Ok(tx.execute(sql, &[tx.now().into(), digest.into()])? > 0)
}

/// Deletes codes that a user approved for an app and that were not exchanged yet.
pub fn revoke(tx: &mut Tx<'_>, user: UserId, app: AppId) -> Result<(), Fault> {
    let sql = "DELETE FROM oauth2_code WHERE user_id = $1 AND app_id = $2";
    tx.execute(sql, &[user.into(), app.into()]).map(|_| ())
}

/// Deletes at most `limit` codes that expired before a time; returns how many.
pub fn prune(tx: &mut Tx<'_>, before: Time, limit: i64) -> Result<u64, Fault> {
    let sql = "DELETE FROM oauth2_code WHERE digest IN \
               (SELECT digest FROM oauth2_code WHERE expires_at < $1 LIMIT $2)";
    tx.execute(sql, &[before.into(), limit.into()])
}
