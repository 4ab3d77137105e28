//! Notifications that the platform shows on its own pages, outside the API.

use base::{Fault, Time, UserId};

use crate::Tx;

#[derive(Clone, Debug)]
pub struct Notification {
    pub id: i64,
    /// One or two sentences.
    pub text: String,
    /// A path of this site, or empty.
    pub path: String,
}

impl Notification {
    pub fn created_at(&self) -> Time {
        base::Id::<()>::new(self.id).created_at()
    }
}

pub fn insert(tx: &mut Tx<'_>, user: UserId, text: &str, path: &str) -> Result<(), Fault> {
    let sql = "INSERT INTO notification (id, user_id, text, path) VALUES ($1, $2, $3, $4)";
    let id = tx.next_id::<()>();
    tx.execute(sql, &[id.into(), user.into(), text.into(), path.into()]).map(|_| ())
}

/// Newest first, with an id below `below`.
pub fn list_before(tx: &mut Tx<'_>, user: UserId, below: i64, limit: i64) -> Result<Vec<Notification>, Fault> {
    let sql = "SELECT id, text, path FROM notification WHERE user_id = $1 AND id < $2 \
               ORDER BY id DESC LIMIT $3";
    tx.query_rows(sql, &[user.into(), below.into(), limit.into()], |row| {
        Ok(Notification { id: row.int(0)?, text: row.text(1)?, path: row.text(2)? })
    })
}

/// Deletes notifications from before a time; returns how many.
pub fn prune(tx: &mut Tx<'_>, before: Time, limit: i64) -> Result<u64, Fault> {
    let sql = "DELETE FROM notification WHERE id IN (SELECT id FROM notification WHERE id < $1 \
               ORDER BY id LIMIT $2)";
    tx.execute(sql, &[base::id::first_snowflake_at(before).into(), limit.into()])
}
