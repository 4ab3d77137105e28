//! Two-factor sign-in of accounts: the keys of authenticator apps, and recovery codes.

use base::{Fault, Secret, Time, UserId};

use crate::Tx;
use crate::db::{insert, row, select};

row! {
    #[derive(Clone, Debug)]
    pub struct TwoFactorKey from "two_factor" {
        pub created_at: Time,
        /// None until a code was entered.
        pub enabled_at: Option<Time>,
        /// The time step of the last accepted code.
        pub last_step: i64,
    }
    transient {
        /// Base32. Decrypted after reading.
        pub secret: Secret,
    }
}

/// Binds the encrypted secret to its account.
fn encryption_context(user: UserId) -> String {
    format!("two_factor.secret:{user}")
}

/// Also one that is not enabled yet.
pub fn find(tx: &mut Tx<'_>, user: UserId) -> Result<Option<TwoFactorKey>, Fault> {
    let sql = select!(TwoFactorKey + "secret", "WHERE user_id = $1");
    let found: Option<(TwoFactorKey, Vec<u8>)> = tx.query_row(sql, &[user.into()])?;
    let Some((mut key, encrypted)) = found else {
        return Ok(None);
    };
    key.secret = tx.decrypt(&encryption_context(user), &encrypted)?;
    Ok(Some(key))
}

pub fn is_enabled(tx: &mut Tx<'_>, user: UserId) -> Result<bool, Fault> {
    tx.row_exists("SELECT 1 FROM two_factor WHERE user_id = $1 AND enabled_at IS NOT NULL", &[user.into()])
}

/// Replaces a key that is not enabled.
pub fn set_secret(tx: &mut Tx<'_>, user: UserId, secret: &Secret) -> Result<(), Fault> {
    let encrypted = tx.encrypt(&encryption_context(user), secret.expose_secret())?;
    let sql = "INSERT INTO two_factor (user_id, secret, created_at) VALUES ($1, $2, $3) ON CONFLICT (user_id) \
               DO UPDATE SET secret = excluded.secret, created_at = excluded.created_at \
               WHERE two_factor.enabled_at IS NULL";
    tx.execute_later(sql, &[user.into(), (&encrypted).into(), tx.now().into()])
}

/// Returns false if the key is already enabled.
pub fn enable(tx: &mut Tx<'_>, user: UserId, step: i64) -> Result<bool, Fault> {
    let sql = "UPDATE two_factor SET enabled_at = $1, last_step = $2 WHERE user_id = $3 AND enabled_at IS NULL";
    Ok(tx.execute(sql, &[tx.now().into(), step.into(), user.into()])? > 0)
}

/// Records the time step of a code; returns false if a code of that step or a later one was accepted before.
pub fn advance_step(tx: &mut Tx<'_>, user: UserId, step: i64) -> Result<bool, Fault> {
    let sql = "UPDATE two_factor SET last_step = $1 WHERE user_id = $2 AND last_step < $1";
    Ok(tx.execute(sql, &[step.into(), user.into()])? > 0)
}

/// Deletes key and recovery codes; returns false if there was no key.
pub fn delete(tx: &mut Tx<'_>, user: UserId) -> Result<bool, Fault> {
    tx.execute_later("DELETE FROM recovery_code WHERE user_id = $1", &[user.into()])?;
    Ok(tx.execute("DELETE FROM two_factor WHERE user_id = $1", &[user.into()])? > 0)
}

pub fn replace_recovery_codes(tx: &mut Tx<'_>, user: UserId, digests: &[[u8; 32]]) -> Result<(), Fault> {
    tx.execute_later("DELETE FROM recovery_code WHERE user_id = $1", &[user.into()])?;
    digests.iter().try_for_each(|digest| insert!(tx, "recovery_code", digest = digest, user_id = user))
}

/// Returns false if the user has no such code.
pub fn delete_recovery_code(tx: &mut Tx<'_>, user: UserId, digest: &[u8; 32]) -> Result<bool, Fault> {
    let sql = "DELETE FROM recovery_code WHERE digest = $1 AND user_id = $2";
    Ok(tx.execute(sql, &[digest.into(), user.into()])? > 0)
}

pub fn count_recovery_codes(tx: &mut Tx<'_>, user: UserId) -> Result<i64, Fault> {
    tx.query_number("SELECT COUNT(*) FROM recovery_code WHERE user_id = $1", &[user.into()])
}
