//! Followers and pins of lists.

use base::{Fault, UserId};

use crate::Tx;
use crate::counters::{self, SharedCounter};
use crate::db::insert_new;
use crate::edges::{edge_page, edge_page_query, typed_edge_page};
use crate::exports::IdPair;
use crate::follows::UserEdge;
use crate::posts::PageRange;

/// Also updates the counter; returns false if the user already follows the list.
pub fn follow(tx: &mut Tx<'_>, list: i64, user: UserId) -> Result<bool, Fault> {
    let id = tx.next_id::<()>();
    let added = insert_new!(tx, "list_follow", list_id = list, user_id = user, id = id)?;
    if added {
        counters::add(tx, SharedCounter::ListFollowers, list, 1)?;
    }
    Ok(added)
}

/// Also updates the counter; returns false if the user does not follow the list.
pub fn unfollow(tx: &mut Tx<'_>, list: i64, user: UserId) -> Result<bool, Fault> {
    let sql = "DELETE FROM list_follow WHERE list_id = $1 AND user_id = $2";
    let removed = tx.execute(sql, &[list.into(), user.into()])? > 0;
    if removed {
        counters::add(tx, SharedCounter::ListFollowers, list, -1)?;
    }
    Ok(removed)
}

pub fn is_follower(tx: &mut Tx<'_>, list: i64, user: UserId) -> Result<bool, Fault> {
    let sql = "SELECT 1 FROM list_follow WHERE list_id = $1 AND user_id = $2";
    tx.row_exists(sql, &[list.into(), user.into()])
}

/// Latest first: the user and the edge's own id.
pub fn follower_page(tx: &mut Tx<'_>, list: i64, range: &PageRange) -> Result<Vec<UserEdge>, Fault> {
    let sql = edge_page_query!("SELECT user_id, id FROM list_follow WHERE list_id = $1");
    typed_edge_page(tx, list, range, sql)
}

/// Latest first: the list and the edge's own id. Private lists have no followers.
pub fn followed_page(tx: &mut Tx<'_>, user: UserId, range: &PageRange) -> Result<Vec<IdPair>, Fault> {
    let sql = edge_page_query!("SELECT list_id, id FROM list_follow WHERE user_id = $1");
    edge_page(tx, user, range, sql)
}

/// Returns false if the list is already pinned.
pub fn pin(tx: &mut Tx<'_>, user: UserId, list: i64) -> Result<bool, Fault> {
    let id = tx.next_id::<()>();
    insert_new!(tx, "list_pin", user_id = user, list_id = list, id = id)
}

/// Returns false if the list is not pinned.
pub fn unpin(tx: &mut Tx<'_>, user: UserId, list: i64) -> Result<bool, Fault> {
    let sql = "DELETE FROM list_pin WHERE user_id = $1 AND list_id = $2";
    Ok(tx.execute(sql, &[user.into(), list.into()])? > 0)
}

/// Latest first.
pub fn list_pinned(tx: &mut Tx<'_>, user: UserId) -> Result<Vec<i64>, Fault> {
    let sql = "SELECT list_id, id FROM list_pin WHERE user_id = $1 ORDER BY id DESC";
    tx.query_rows(sql, &[user.into()])
}

/// Removes all followers, and all pins except the owner's.
pub(super) fn remove_all_followers(tx: &mut Tx<'_>, list: i64, owner: UserId) -> Result<(), Fault> {
    tx.execute_later("DELETE FROM list_follow WHERE list_id = $1", &[list.into()])?;
    let sql = "UPDATE list SET follower_count = 0 WHERE id = $1";
    tx.execute_later(sql, &[list.into()])?;
    counters::clear(tx, [SharedCounter::ListFollowers; 3], list)?;
    let sql = "DELETE FROM list_pin WHERE list_id = $1 AND user_id <> $2";
    tx.execute_later(sql, &[list.into(), owner.into()])
}
