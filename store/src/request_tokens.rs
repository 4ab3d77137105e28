//! OAuth 1.0a request tokens.

use base::{AppId, Fault, Secret, Time, UserId};

use crate::Tx;
use crate::db::SqlRow;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestTokenState {
    Waiting,
    Approved,
    Denied,
    Exchanged,
}

impl RequestTokenState {
    fn from_number(number: i64) -> Result<Self, Fault> {
        match number {
            0 => Ok(Self::Waiting),
            1 => Ok(Self::Approved),
            2 => Ok(Self::Denied),
            3 => Ok(Self::Exchanged),
            _ => Err(Fault::new(format!("unknown request token state {number}"))),
        }
    }
}

/// A request token; only its digest is stored.
#[derive(Clone, Debug)]
pub struct RequestToken {
    /// Identifies the row in the secret's encryption context.
    pub id: i64,
    pub app_id: AppId,
    /// `read`, `write` or `messages`.
    pub permission: String,
    /// The callback URL, or `oob`.
    pub callback: String,
    pub secret: Secret,
    pub state: RequestTokenState,
    pub user_id: Option<UserId>,
    /// Digest of the token with its verifier or PIN, once approved.
    pub verifier_digest: Option<Vec<u8>>,
    /// Attempts to present a verifier.
    pub tries: i64,
    pub created_at: Time,
    pub expires_at: Time,
}

fn secret_encryption_context(id: i64) -> String {
    format!("oauth1_request.secret:{id}")
}

/// The second value is the encrypted secret.
fn token_from_row(row: &SqlRow<'_, '_>) -> Result<(RequestToken, Vec<u8>), Fault> {
    let token = RequestToken {
        id: row.int(0)?,
        app_id: row.id(1)?,
        permission: row.text(2)?,
        callback: row.text(3)?,
        secret: Secret::new(""),
        state: RequestTokenState::from_number(row.int(5)?)?,
        user_id: row.opt_id(6)?,
        verifier_digest: row.opt_bytes(7)?,
        tries: row.int(8)?,
        created_at: row.time(9)?,
        expires_at: row.time(10)?,
    };
    Ok((token, row.bytes(4)?))
}

/// In any state.
pub fn find(tx: &mut Tx<'_>, digest: &[u8; 32]) -> Result<Option<RequestToken>, Fault> {
    let sql = "SELECT id, app_id, permission, callback, secret, state, user_id, verifier_digest, \
               tries, created_at, expires_at FROM oauth1_request WHERE digest = $1";
    let Some((mut token, encrypted)) = tx.query_row(sql, &[digest.into()], token_from_row)? else {
        return Ok(None);
    };
    token.secret = tx.decrypt(&secret_encryption_context(token.id), &encrypted)?;
    Ok(Some(token))
}

pub fn insert(tx: &mut Tx<'_>, token: &RequestToken, digest: &[u8; 32]) -> Result<(), Fault> {
    let secret = tx.encrypt(&secret_encryption_context(token.id), token.secret.expose_secret())?;
    let sql = "INSERT INTO oauth1_request (digest, id, app_id, permission, callback, secret, \
               created_at, expires_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
    let args = [
        digest.into(),
        token.id.into(),
        token.app_id.into(),
        (&token.permission).into(),
        (&token.callback).into(),
        (&secret).into(),
        token.created_at.into(),
        token.expires_at.into(),
    ];
    tx.execute(sql, &args).map(|_| ())
}

/// Returns false if the token is not waiting or has expired.
pub fn approve(tx: &mut Tx<'_>, digest: &[u8; 32], user: UserId, verifier_digest: &[u8; 32]) -> Result<bool, Fault> {
    let sql = "UPDATE oauth1_request SET state = 1, user_id = $1, verifier_digest = $2 \
               WHERE digest = $3 AND state = 0 AND expires_at > $4";
    let args = [user.into(), verifier_digest.into(), digest.into(), tx.now().into()];
    Ok(tx.execute(sql, &args)? > 0)
}

/// Returns false if the token is not waiting or has expired.
pub fn deny(tx: &mut Tx<'_>, digest: &[u8; 32]) -> Result<bool, Fault> {
    let sql = "UPDATE oauth1_request SET state = 2 \
               WHERE digest = $1 AND state = 0 AND expires_at > $2";
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
    let sql = "UPDATE oauth1_request SET state = 2 \
               WHERE user_id = $1 AND app_id = $2 AND state = 1";
    tx.execute(sql, &[user.into(), app.into()]).map(|_| ())
}

/// Deletes at most `limit` request tokens that expired before a time; returns how many.
pub fn prune(tx: &mut Tx<'_>, before: Time, limit: i64) -> Result<u64, Fault> {
    let sql = "DELETE FROM oauth1_request WHERE digest IN \
               (SELECT digest FROM oauth1_request WHERE expires_at < $1 LIMIT $2)";
    tx.execute(sql, &[before.into(), limit.into()])
}
