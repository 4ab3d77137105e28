//! OAuth 1.0a request tokens.

use base::{AppId, Fault, Secret, Time, UserId};

use crate::Tx;
use crate::apps::Permission;
use crate::db::{insert, select, stored_enum, table};

stored_enum! {
    pub enum RequestTokenState {
        Waiting = 0,
        Approved = 1,
        Denied = 2,
        Exchanged = 3,
    }
}

table! {
    /// A request token; only its digest is stored.
    #[derive(Clone, Debug)]
    pub struct RequestToken in "oauth1_request" {
        /// Identifies the row in the secret's encryption context.
        pub id: i64,
        pub app_id: AppId,
        pub permission: Permission,
        /// The callback URL, or `oob`.
        pub callback: String,
        pub created_at: Time,
        pub expires_at: Time,
    }
    read_only {
        pub state: RequestTokenState,
        pub user_id: Option<UserId>,
        /// Digest of the token with its verifier or PIN, once approved.
        pub verifier_digest: Option<Vec<u8>>,
        /// Attempts to present a verifier.
        pub tries: i64,
    }
    transient {
        /// Decrypted after reading.
        pub secret: Secret,
    }
}

fn secret_encryption_context(id: i64) -> String {
    format!("oauth1_request.secret:{id}")
}

/// In any state.
pub fn find(tx: &mut Tx<'_>, digest: &[u8; 32]) -> Result<Option<RequestToken>, Fault> {
    let sql = select!(RequestToken + "secret", "WHERE digest = $1");
    let found: Option<(RequestToken, Vec<u8>)> = tx.query_row(sql, &[digest.into()])?;
    let Some((mut token, encrypted)) = found else {
        return Ok(None);
    };
    token.secret = tx.decrypt(&secret_encryption_context(token.id), &encrypted)?;
    Ok(Some(token))
}

pub fn insert(tx: &mut Tx<'_>, token: &RequestToken, digest: &[u8; 32]) -> Result<(), Fault> {
    let secret = tx.encrypt(&secret_encryption_context(token.id), token.secret.expose_secret())?;
    insert!(tx, RequestToken, token, digest = digest, secret = &secret)
}

/// Stores what the user approved. Returns false unless the token is waiting, or was approved by this user and not exchanged;
/// or if it has expired.
pub fn approve(
    tx: &mut Tx<'_>,
    digest: &[u8; 32],
    user: UserId,
    permission: Permission,
    verifier_digest: &[u8; 32],
) -> Result<bool, Fault> {
    let sql = "UPDATE oauth1_request SET state = 1, user_id = $1, permission = $2, verifier_digest = $3 \
               WHERE digest = $4 AND (state = 0 OR state = 1 AND user_id = $1) AND expires_at > $5";
    let args = [user.into(), permission.into(), verifier_digest.into(), digest.into(), tx.now().into()];
    Ok(tx.execute(sql, &args)? > 0)
}

/// Returns false if the token is not waiting or has expired.
pub fn deny(tx: &mut Tx<'_>, digest: &[u8; 32]) -> Result<bool, Fault> {
    let sql = "UPDATE oauth1_request SET state = 2 WHERE digest = $1 AND state = 0 AND expires_at > $2";
    Ok(tx.execute(sql, &[digest.into(), tx.now().into()])? > 0)
}

/// Counts an attempt before its verifier is checked, and locks the token until the end of the transaction; returns
/// false if no attempts are left or the token is not approved.
pub fn count_attempt(tx: &mut Tx<'_>, digest: &[u8; 32], max: i64) -> Result<bool, Fault> {
    let sql = "UPDATE oauth1_request SET tries = tries + 1 \
               WHERE digest = $1 AND state = 1 AND tries < $2 AND expires_at > $3";
    Ok(tx.execute(sql, &[digest.into(), max.into(), tx.now().into()])? > 0)
}

/// Returns false if the token is not approved.
pub fn mark_exchanged(tx: &mut Tx<'_>, digest: &[u8; 32]) -> Result<bool, Fault> {
    let sql = "UPDATE oauth1_request SET state = 3 WHERE digest = $1 AND state = 1";
    Ok(tx.execute(sql, &[digest.into()])? > 0)
}

/// Denies what a user approved for an app and that was not exchanged yet.
pub fn revoke_approved(tx: &mut Tx<'_>, user: UserId, app: AppId) -> Result<(), Fault> {
    let sql = "UPDATE oauth1_request SET state = 2 WHERE user_id = $1 AND app_id = $2 AND state = 1";
    tx.execute_later(sql, &[user.into(), app.into()])
}

/// Deletes at most `limit` request tokens that expired before a time; returns how many.
pub fn prune(tx: &mut Tx<'_>, before: Time, limit: i64) -> Result<u64, Fault> {
    let sql = "DELETE FROM oauth1_request WHERE digest IN \
               (SELECT digest FROM oauth1_request WHERE expires_at < $1 LIMIT $2)";
    tx.execute(sql, &[before.into(), limit.into()])
}
