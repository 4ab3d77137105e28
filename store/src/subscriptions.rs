//! Paid subscriptions of users to authors.

use base::{Fault, UserId};

use crate::Tx;
use crate::db::insert_new;

/// Returns false if the subscription exists.
pub fn insert(tx: &mut Tx<'_>, subscriber: UserId, author: UserId) -> Result<bool, Fault> {
    let id = tx.next_id::<()>();
    insert_new!(tx, "subscription", subscriber_id = subscriber, author_id = author, id = id)
}

/// Returns false if there is none.
pub fn delete(tx: &mut Tx<'_>, subscriber: UserId, author: UserId) -> Result<bool, Fault> {
    let sql = "DELETE FROM subscription WHERE subscriber_id = $1 AND author_id = $2";
    Ok(tx.execute(sql, &[subscriber.into(), author.into()])? > 0)
}

pub fn filter_subscribed(tx: &mut Tx<'_>, subscriber: UserId, authors: &[UserId]) -> Result<Vec<UserId>, Fault> {
    let sql = "SELECT author_id FROM subscription WHERE author_id = $1 AND subscriber_id = $2";
    tx.query_by_ids(sql, authors, &[subscriber.into()])
}

pub fn filter_subscribers(tx: &mut Tx<'_>, subscribers: &[UserId], author: UserId) -> Result<Vec<UserId>, Fault> {
    let sql = "SELECT subscriber_id FROM subscription WHERE subscriber_id = $1 AND author_id = $2";
    tx.query_by_ids(sql, subscribers, &[author.into()])
}
