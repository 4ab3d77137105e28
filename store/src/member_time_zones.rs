//! The time zones that members have chosen.

use base::{Fault, UserId};

use crate::Tx;

/// A name of the IANA database; none for UTC.
pub fn find_by_user(tx: &mut Tx<'_>, user: UserId) -> Result<Option<String>, Fault> {
    tx.query_row("SELECT name FROM member_time_zone WHERE user_id = $1", &[user.into()])
}

pub fn set(tx: &mut Tx<'_>, user: UserId, name: &str) -> Result<(), Fault> {
    let sql = "INSERT INTO member_time_zone (user_id, name) VALUES ($1, $2) \
               ON CONFLICT (user_id) DO UPDATE SET name = excluded.name";
    tx.execute_later(sql, &[user.into(), name.into()])
}
