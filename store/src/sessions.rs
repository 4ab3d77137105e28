//! Browser sessions, found by the SHA-256 of their cookie.

use base::{Fault, Secret, Time, UserId};
use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};

use crate::credential_versions::CredentialKey;
use crate::db::{insert, row, select};
use crate::{Tx, meta};

row! {
    #[derive(Clone, Debug)]
    pub struct UserSession from "session JOIN users ON users.id = session.user_id AND users.state = 0" {
        /// Identifies the session in lists.
        pub id: i64 as "session.id",
        /// SHA-256 of the cookie's token.
        pub digest: [u8; 32] as "session.digest",
        pub user_id: UserId as "session.user_id",
        pub created_at: Time as "session.created_at",
        /// Accurate to a few minutes.
        pub last_seen_at: Time as "session.last_seen_at",
        /// Lifetime after the last use, in milliseconds.
        pub ttl_ms: i64 as "session.ttl_ms",
        pub address: String as "session.address",
        pub user_agent: String as "session.user_agent",
    }
    transient {
        /// The key of the tokens in its forms; decrypted after reading.
        pub form_key: Secret,
    }
}

#[derive(Clone, Copy, Debug)]
pub struct NewSession<'a> {
    /// SHA-256 of the cookie's token.
    pub digest: &'a [u8; 32],
    pub user_id: UserId,
    /// The key of the tokens in its forms.
    pub form_key: &'a Secret,
    /// Lifetime after the last use, in milliseconds.
    pub ttl_ms: i64,
    pub address: &'a str,
    pub user_agent: &'a str,
}

/// Binds the encrypted form key to its session.
fn encryption_context(digest: &[u8]) -> String {
    format!("session.form_key:{}", HEXLOWER.encode(digest))
}

fn decrypt_form_key(tx: &Tx<'_>, (mut session, encrypted): (UserSession, Vec<u8>)) -> Result<UserSession, Fault> {
    session.form_key = tx.decrypt(&encryption_context(&session.digest), &encrypted)?;
    Ok(session)
}

/// Only a session that is neither revoked nor expired, of an active user.
pub fn find(tx: &mut Tx<'_>, digest: &[u8; 32], now: Time) -> Result<Option<UserSession>, Fault> {
    let sql = select!(
        UserSession + "session.form_key",
        "WHERE session.revoked_at IS NULL AND session.digest = $1 AND session.last_seen_at > $2 - session.ttl_ms"
    );
    let found = tx.query_row(sql, &[digest.into(), now.into()])?;
    found.map(|found| decrypt_form_key(tx, found)).transpose()
}

/// Active sessions of a user, last used first.
pub fn list(tx: &mut Tx<'_>, user: UserId, now: Time, limit: i64) -> Result<Vec<UserSession>, Fault> {
    let sql = select!(
        UserSession + "session.form_key",
        "WHERE session.revoked_at IS NULL AND session.user_id = $1 AND session.last_seen_at > $2 - session.ttl_ms \
         ORDER BY session.last_seen_at DESC, session.id DESC LIMIT $3"
    );
    let found = tx.query_rows(sql, &[user.into(), now.into(), limit.into()])?;
    found.into_iter().map(|found| decrypt_form_key(tx, found)).collect()
}

/// The addresses of a user's sessions, ended ones included until they are pruned, in no particular order.
pub fn list_addresses(tx: &mut Tx<'_>, user: UserId, limit: i64) -> Result<Vec<String>, Fault> {
    let sql = "SELECT DISTINCT address FROM session WHERE user_id = $1 LIMIT $2";
    tx.query_rows(sql, &[user.into(), limit.into()])
}

pub fn insert(tx: &mut Tx<'_>, new: &NewSession<'_>, now: Time) -> Result<(), Fault> {
    let form_key = tx.encrypt(&encryption_context(new.digest), new.form_key.expose_secret())?;
    insert!(
        tx,
        "session",
        digest = new.digest,
        user_id = new.user_id,
        form_key = &form_key,
        created_at = now,
        last_seen_at = now,
        ttl_ms = new.ttl_ms,
        address = new.address,
        user_agent = new.user_agent
    )
}

/// Replaces cookie token and form key of a session; returns false if it was revoked.
pub fn rotate(tx: &mut Tx<'_>, old: &[u8; 32], digest: &[u8; 32], form_key: &Secret) -> Result<bool, Fault> {
    let form_key = tx.encrypt(&encryption_context(digest), form_key.expose_secret())?;
    let sql = "UPDATE session SET digest = $1, form_key = $2 WHERE digest = $3 AND revoked_at IS NULL";
    Ok(tx.execute(sql, &[digest.into(), (&form_key).into(), old.into()])? > 0)
}

pub fn touch(tx: &mut Tx<'_>, id: i64, address: &str, user_agent: &str, now: Time) -> Result<(), Fault> {
    let sql = "UPDATE session SET last_seen_at = $1, address = $2, user_agent = $3 \
               WHERE id = $4 AND revoked_at IS NULL AND last_seen_at < $1";
    tx.execute_later(sql, &[now.into(), address.into(), user_agent.into(), id.into()])
}

/// Returns false if the session was already revoked.
pub fn revoke(tx: &mut Tx<'_>, user: UserId, id: i64, now: Time) -> Result<bool, Fault> {
    let sql = "UPDATE session SET revoked_at = $1 WHERE id = $2 AND user_id = $3 AND revoked_at IS NULL";
    Ok(tx.execute(sql, &[now.into(), id.into(), user.into()])? > 0)
}

/// Revokes all sessions of a user except one; returns how many.
pub fn revoke_others(tx: &mut Tx<'_>, user: UserId, except: Option<i64>, now: Time) -> Result<u64, Fault> {
    let sql = "UPDATE session SET revoked_at = $1 WHERE user_id = $2 AND id <> $3 AND revoked_at IS NULL";
    tx.execute(sql, &[now.into(), user.into(), except.unwrap_or(0).into()])
}

/// Deletes sessions last used before a time; returns how many.
pub fn prune(tx: &mut Tx<'_>, before: Time, limit: i64) -> Result<u64, Fault> {
    let sql = "DELETE FROM session WHERE id IN (SELECT id FROM session WHERE last_seen_at < $1 LIMIT $2)";
    tx.execute(sql, &[before.into(), limit.into()])
}

/// Revokes all tokens of a user, and approvals that were not exchanged yet; returns the number of active tokens.
/// Grants remain.
pub fn revoke_user_tokens(tx: &mut Tx<'_>, user: UserId) -> Result<u64, Fault> {
    tx.invalidate_credentials(CredentialKey::User(user))?;
    let args = [tx.now().into(), user.into()];
    // Locks the grants, so that flows in progress finish first and later ones see the revocation.
    let lock = "UPDATE app_grant SET used_at = $1 WHERE user_id = $2";
    tx.execute_later(lock, &args)?;
    for sql in ["DELETE FROM oauth2_code WHERE user_id = $1", "DELETE FROM oauth1_request WHERE user_id = $1"] {
        tx.execute_later(sql, &[user.into()])?;
    }
    let oauth1 = "UPDATE oauth1_token SET revoked_at = $1 WHERE user_id = $2 AND revoked_at IS NULL";
    let oauth2 = "UPDATE oauth2_token SET revoked_at = $1 WHERE user_id = $2 AND revoked_at IS NULL";
    Ok(tx.execute(oauth1, &args)? + tx.execute(oauth2, &args)?)
}

const VISITOR_FORM_KEY: &str = "visitor_form_key";

/// The key of form tokens for visitors who are not signed in; it never changes.
pub fn visitor_form_key(tx: &mut Tx<'_>) -> Result<Secret, Fault> {
    let new = Secret::new(tx.rng().random_token(43)?);
    let encrypted = HEXLOWER.encode(&tx.encrypt(VISITOR_FORM_KEY, new.expose_secret())?);
    let sql = "INSERT INTO meta (key, value) VALUES ($1, $2) ON CONFLICT (key) DO NOTHING";
    if tx.execute(sql, &[VISITOR_FORM_KEY.into(), (&encrypted).into()])? > 0 {
        return Ok(new);
    }
    let stored = meta::get(tx, VISITOR_FORM_KEY)?.unwrap_or_default();
    let stored =
        HEXLOWER_PERMISSIVE.decode(stored.as_bytes()).map_err(|_| Fault::new("the visitors' form key is malformed"))?;
    tx.decrypt(VISITOR_FORM_KEY, &stored)
}
