//! Applications for accounts that wait for approval.

use base::{Fault, Time};

use crate::Tx;
use crate::db::{insert_new, select, table};

table! {
    #[derive(Clone, Debug)]
    pub struct RegistrationRequest in "registration_request" {
        pub id: i64,
        pub username: String,
        pub name: String,
        /// In lower case; one application for each address.
        pub email: String,
        pub password_hash: String,
        /// The client's address.
        pub address: String,
    }
}

impl RegistrationRequest {
    pub fn created_at(&self) -> Time {
        base::Id::<()>::new(self.id).created_at()
    }
}

/// Returns false if there is an application with this address.
pub fn insert(tx: &mut Tx<'_>, request: &RegistrationRequest) -> Result<bool, Fault> {
    insert_new!(tx, RegistrationRequest, request)
}

pub fn find(tx: &mut Tx<'_>, id: i64) -> Result<Option<RegistrationRequest>, Fault> {
    tx.query_row(select!(RegistrationRequest, "WHERE id = $1"), &[id.into()])
}

/// Of the application with an email address, or of the oldest with a username; `login` is in lower case.
pub fn find_password_hash(tx: &mut Tx<'_>, login: &str) -> Result<Option<String>, Fault> {
    let sql = "SELECT password_hash FROM registration_request WHERE email = $1 OR LOWER(username) = $1 \
               ORDER BY id LIMIT 1";
    tx.query_row(sql, &[login.into()])
}

/// Oldest first.
pub fn list(tx: &mut Tx<'_>, limit: i64) -> Result<Vec<RegistrationRequest>, Fault> {
    tx.query_rows(select!(RegistrationRequest, "ORDER BY id LIMIT $1"), &[limit.into()])
}

pub fn count(tx: &mut Tx<'_>) -> Result<i64, Fault> {
    Ok(tx.query_row("SELECT COUNT(*) FROM registration_request", &[])?.unwrap_or(0))
}

/// Returns false if there is none.
pub fn delete(tx: &mut Tx<'_>, id: i64) -> Result<bool, Fault> {
    Ok(tx.execute("DELETE FROM registration_request WHERE id = $1", &[id.into()])? > 0)
}

/// Deletes those from before a time; returns how many.
pub fn prune(tx: &mut Tx<'_>, before: Time, limit: i64) -> Result<u64, Fault> {
    let sql = "DELETE FROM registration_request WHERE id IN \
               (SELECT id FROM registration_request WHERE id < $1 ORDER BY id LIMIT $2)";
    tx.execute(sql, &[base::id::first_snowflake_at(before).into(), limit.into()])
}
