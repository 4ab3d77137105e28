//! Notifications that the platform shows on its own pages, outside the API.

use base::{Fault, Time, UserId};

use crate::Tx;
use crate::db::{insert, row, select};

row! {
    #[derive(Clone, Debug)]
    pub struct Notification from "notification" {
        pub id: i64,
        /// One or two sentences.
        pub text: String,
        /// A path of this site, or empty.
        pub path: String,
    }
}

impl Notification {
    pub fn created_at(&self) -> Time {
        base::Id::<()>::new(self.id).created_at()
    }
}

pub fn insert(tx: &mut Tx<'_>, user: UserId, text: &str, path: &str) -> Result<(), Fault> {
    let id = tx.next_id::<()>();
    insert!(tx, "notification", id = id, user_id = user, text = text, path = path)
}

/// Newest first, with an id below `below`.
pub fn list_before(tx: &mut Tx<'_>, user: UserId, below: i64, limit: i64) -> Result<Vec<Notification>, Fault> {
    let sql = select!(Notification, "WHERE user_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3");
    tx.query_rows(sql, &[user.into(), below.into(), limit.into()])
}

/// Deletes notifications from before a time; returns how many.
pub fn prune(tx: &mut Tx<'_>, before: Time, limit: i64) -> Result<u64, Fault> {
    let sql = "DELETE FROM notification WHERE id IN (SELECT id FROM notification WHERE id < $1 ORDER BY id LIMIT $2)";
    tx.execute(sql, &[base::id::first_snowflake_at(before).into(), limit.into()])
}
