//! Members of lists.

use base::{Fault, UserId};

use super::List;
use crate::Tx;
use crate::counters::{self, SharedCounter};
use crate::db::insert_new;
use crate::edges::{edge_page, edge_page_query, trim_page, typed_edge_page};
use crate::exports::{EdgeWithId, IdPair};
use crate::follows::UserEdge;
use crate::posts::PageRange;

/// Also updates both counters; returns false if the user is already a member.
pub fn add_member(tx: &mut Tx<'_>, list: &List, user: UserId) -> Result<bool, Fault> {
    let id = tx.next_id::<()>().get();
    add_member_with_id(tx, list, user, id)
}

/// As [`add_member`], with a given id, by which members are ordered.
pub fn add_member_with_id(tx: &mut Tx<'_>, list: &List, user: UserId, id: i64) -> Result<bool, Fault> {
    if !insert_new!(tx, "list_member", list_id = list.id, user_id = user, id = id, private = list.private)? {
        return Ok(false);
    }
    add_to_counts(tx, list, user, 1)?;
    Ok(true)
}

/// Also updates both counters; returns false if the user is not a member.
pub fn remove_member(tx: &mut Tx<'_>, list: &List, user: UserId) -> Result<bool, Fault> {
    let sql = "DELETE FROM list_member WHERE list_id = $1 AND user_id = $2";
    if tx.execute(sql, &[list.id.into(), user.into()])? == 0 {
        return Ok(false);
    }
    add_to_counts(tx, list, user, -1)?;
    Ok(true)
}

/// For members that were inserted in bulk.
pub fn add_to_member_count(tx: &mut Tx<'_>, list: i64, by: i64) -> Result<(), Fault> {
    let sql = "UPDATE list SET member_count = member_count + $1, member_version = member_version + 1 WHERE id = $2";
    tx.execute_later(sql, &[by.into(), list.into()])
}

fn add_to_counts(tx: &mut Tx<'_>, list: &List, user: UserId, by: i64) -> Result<(), Fault> {
    add_to_member_count(tx, list.id, by)?;
    if !list.private && list.deleted_at.is_none() {
        counters::add(tx, SharedCounter::Listed, user.get(), by)?;
    }
    Ok(())
}

/// Adds to the listed count of every member: 1 if the list becomes public, -1 if it becomes private or is deleted.
pub(super) fn add_to_listed_counts(tx: &mut Tx<'_>, list: i64, by: i64) -> Result<(), Fault> {
    if tx.is_shared() {
        let sql = "INSERT INTO count_delta (counter, target_id, n) \
                   SELECT CAST($1 AS BIGINT), user_id, CAST($2 AS BIGINT) FROM list_member WHERE list_id = $3";
        return tx.execute(sql, &[SharedCounter::Listed.number().into(), by.into(), list.into()]).map(|_| ());
    }
    let sql = "UPDATE users SET listed_count = listed_count + $1 \
               WHERE id IN (SELECT user_id FROM list_member WHERE list_id = $2)";
    tx.execute_later(sql, &[by.into(), list.into()])
}

pub fn is_member(tx: &mut Tx<'_>, list: i64, user: UserId) -> Result<bool, Fault> {
    let sql = "SELECT 1 FROM list_member WHERE list_id = $1 AND user_id = $2";
    tx.row_exists(sql, &[list.into(), user.into()])
}

/// Those of the lists that the user is a member of, in no particular order.
pub fn lists_with_member(tx: &mut Tx<'_>, lists: &[i64], user: UserId) -> Result<Vec<i64>, Fault> {
    let sql = "SELECT list_id FROM list_member WHERE list_id = $1 AND user_id = $2";
    tx.query_by_keys(sql, lists, &[user.into()])
}

/// Pairs of user and list.
pub fn public_lists_of_users(tx: &mut Tx<'_>, users: &[UserId]) -> Result<Vec<(UserId, i64)>, Fault> {
    let sql = "SELECT user_id, list_id FROM list_member WHERE user_id = $1 AND private = 0";
    tx.query_by_ids(sql, users, &[])
}

/// Lists that a user is a member of, private and deleted ones included; at most `limit`, in no particular order.
pub fn list_memberships(tx: &mut Tx<'_>, user: UserId, limit: i64) -> Result<Vec<i64>, Fault> {
    let sql = "SELECT list_id FROM list_member WHERE user_id = $1 LIMIT $2";
    tx.query_rows(sql, &[user.into(), limit.into()])
}

pub fn list_member_ids(tx: &mut Tx<'_>, list: i64) -> Result<Vec<UserId>, Fault> {
    let sql = "SELECT user_id FROM list_member WHERE list_id = $1";
    tx.query_rows(sql, &[list.into()])
}

/// Latest first: the user and the membership's own id.
pub fn member_page(tx: &mut Tx<'_>, list: i64, range: &PageRange) -> Result<Vec<UserEdge>, Fault> {
    let sql = edge_page_query!("SELECT user_id, id FROM list_member WHERE list_id = $1");
    typed_edge_page(tx, list, range, sql)
}

/// The public lists that a user is a member of, and `owner`'s private ones; latest first: the list and the
/// membership's own id.
pub fn membership_page(
    tx: &mut Tx<'_>,
    user: UserId,
    owner: Option<UserId>,
    range: &PageRange,
) -> Result<Vec<IdPair>, Fault> {
    let sql = edge_page_query!("SELECT list_id, id FROM list_member WHERE user_id = $1 AND private = 0");
    let mut found = edge_page(tx, user, range, sql)?;
    let Some(owner) = owner else {
        return Ok(found);
    };
    // `CROSS JOIN` starts from the owner's lists, which are few.
    let own = "SELECT m.list_id, m.id FROM list l CROSS JOIN list_member m \
               WHERE l.owner_id = $1 AND l.deleted_at IS NULL AND l.private = 1 \
               AND m.list_id = l.id AND m.user_id = $2 AND m.id > $3 AND m.id < $4";
    let args = [owner.into(), user.into(), range.above.into(), range.below.into()];
    found.extend(tx.query_rows::<IdPair>(own, &args)?);
    found.sort_unstable_by_key(|(_, id)| std::cmp::Reverse(*id));
    Ok(trim_page(found, range))
}

/// Members of all lists that are not deleted, in the order of list and user, after a pair.
pub fn list_all_members(tx: &mut Tx<'_>, after: IdPair, limit: i64) -> Result<Vec<EdgeWithId>, Fault> {
    let sql = "SELECT m.list_id, m.user_id, m.id FROM list_member m JOIN list l ON l.id = m.list_id WHERE (m.list_id, \
               m.user_id) > ($1, $2) AND l.deleted_at IS NULL ORDER BY m.list_id, m.user_id LIMIT $3";
    tx.query_rows(sql, &[after.0.into(), after.1.into(), limit.into()])
}
