//! Passkeys: public keys of the authenticators with which members sign in.

use base::{Fault, Time, UserId};

use crate::Tx;
use crate::db::{insert_new, select, table};

table! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Passkey in "passkey" {
        /// At most 1023 bytes.
        pub credential_id: Vec<u8>,
        pub user_id: UserId,
        /// In COSE format.
        pub public_key: Vec<u8>,
        /// Of the last signature; 0 if the authenticator does not count.
        pub sign_count: i64,
        pub name: String,
        pub created_at: Time,
        pub last_used_at: Option<Time>,
    }
}

/// Of any account, in any state.
pub fn find(tx: &mut Tx<'_>, credential_id: &[u8]) -> Result<Option<Passkey>, Fault> {
    tx.query_row(select!(Passkey, "WHERE credential_id = $1"), &[credential_id.into()])
}

/// Oldest first.
pub fn list_by_user(tx: &mut Tx<'_>, user: UserId, limit: i64) -> Result<Vec<Passkey>, Fault> {
    let sql = select!(Passkey, "WHERE user_id = $1 ORDER BY created_at, credential_id LIMIT $2");
    tx.query_rows(sql, &[user.into(), limit.into()])
}

/// Returns false if the credential is registered already, by whomever.
pub fn insert(tx: &mut Tx<'_>, passkey: &Passkey) -> Result<bool, Fault> {
    insert_new!(tx, Passkey, passkey)
}

/// Records a signature; returns false if the counter did not advance, so that there may be a copy of the key.
pub fn record_use(tx: &mut Tx<'_>, credential_id: &[u8], sign_count: i64) -> Result<bool, Fault> {
    let sql = "UPDATE passkey SET sign_count = $1, last_used_at = $2 WHERE credential_id = $3 \
               AND (sign_count < $1 OR (sign_count = 0 AND $1 = 0))";
    Ok(tx.execute(sql, &[sign_count.into(), tx.now().into(), credential_id.into()])? > 0)
}

/// Returns the name; none if the user has no such passkey.
pub fn delete(tx: &mut Tx<'_>, user: UserId, credential_id: &[u8]) -> Result<Option<String>, Fault> {
    let name: Option<String> = tx.query_row(
        "SELECT name FROM passkey WHERE credential_id = $1 AND user_id = $2",
        &[credential_id.into(), user.into()],
    )?;
    let sql = "DELETE FROM passkey WHERE credential_id = $1 AND user_id = $2";
    Ok(if tx.execute(sql, &[credential_id.into(), user.into()])? > 0 { name } else { None })
}
