//! Lists, their members and followers.

mod followers;
mod members;

use base::{Fault, Time, UserId};

use crate::Tx;
use crate::counters::{self, PENDING_OF_LISTS, SharedCounter};
use crate::db::{insert_new, select, table, update};
use crate::edges::{directional_query, query_page};
use crate::locks::{LockMode, LockedResource};
use crate::posts::PageRange;

pub use followers::{follow, followed_page, follower_page, is_follower, list_pinned, pin, unfollow, unpin};
pub use members::{
    add_member, add_member_with_id, add_to_member_count, is_member, list_all_members, list_member_ids,
    list_memberships, lists_with_member, member_page, membership_page, public_lists_of_users, remove_member,
};

table! {
    #[derive(Clone, Debug)]
    pub struct List in "list" joining PENDING_OF_LISTS {
        pub id: i64,
        pub owner_id: UserId,
        pub name: String,
        pub description: String,
        pub private: bool,
        pub created_at: Time,
    }
    read_only {
        /// None unless deleted.
        pub deleted_at: Option<Time>,
        pub member_count: i64,
        pub follower_count: i64 as "follower_count /*! + COALESCE(pending_list_followers, 0) */",
        /// Incremented by every change of its members.
        pub member_version: i64,
    }
}

/// Deleted lists included.
pub fn find_by_id(tx: &mut Tx<'_>, id: i64) -> Result<Option<List>, Fault> {
    let sql = select!(List, "WHERE id = $1");
    tx.query_row(sql, &[id.into()])
}

/// Deleted lists included, in no particular order; unknown ids are skipped.
pub fn find_by_ids(tx: &mut Tx<'_>, ids: &[i64]) -> Result<Vec<List>, Fault> {
    let sql = select!(List, "WHERE id = $1");
    tx.query_by_keys(sql, ids, &[])
}

/// Newest first; private lists only if `include_private`.
pub fn page_by_owner(
    tx: &mut Tx<'_>,
    owner: UserId,
    include_private: bool,
    range: &PageRange,
) -> Result<Vec<List>, Fault> {
    let sql = directional_query!(
        select!(
            List,
            "WHERE owner_id = $1 AND deleted_at IS NULL AND private <= $2 AND id > $3 AND id < $4 ORDER BY id"
        ),
        " LIMIT $5"
    );
    query_page(tx, &[owner.into(), include_private.into()], range, sql)
}

/// Deleted lists are not counted.
pub fn count_by_owner(tx: &mut Tx<'_>, owner: UserId) -> Result<i64, Fault> {
    let sql = "SELECT COUNT(*) FROM list WHERE owner_id = $1 AND deleted_at IS NULL";
    tx.query_number(sql, &[owner.into()])
}

/// Locks a list until the end of the transaction. A no-op on SQLite, which has a single writer.
pub fn lock(tx: &mut Tx<'_>, id: i64) -> Result<(), Fault> {
    tx.lock(LockedResource::List, id, LockMode::Exclusive);
    tx.lock_row("SELECT id FROM list WHERE id = $1 FOR UPDATE", &[id.into()])
}

/// Keeps [`lock`] waiting until the end of the transaction, and nobody else. Holds from the next statement on.
pub fn lock_shared(tx: &mut Tx<'_>, id: i64) {
    tx.lock(LockedResource::List, id, LockMode::Shared);
}

/// The oldest of a user's lists with this name.
pub fn find_by_name(tx: &mut Tx<'_>, owner: UserId, name: &str) -> Result<Option<List>, Fault> {
    let sql = select!(List, "WHERE owner_id = $1 AND name = $2 AND deleted_at IS NULL ORDER BY id LIMIT 1");
    tx.query_row(sql, &[owner.into(), name.into()])
}

/// Oldest first, after an id, without deleted lists.
pub fn list(tx: &mut Tx<'_>, after: i64, limit: i64) -> Result<Vec<List>, Fault> {
    let sql = select!(List, "WHERE id > $1 AND deleted_at IS NULL ORDER BY id LIMIT $2");
    tx.query_rows(sql, &[after.into(), limit.into()])
}

/// Returns false if the id is taken.
pub fn insert(tx: &mut Tx<'_>, list: &List) -> Result<bool, Fault> {
    insert_new!(tx, List, list)
}

/// Sets owner, name and description of a list whose owner was unknown.
pub fn complete_placeholder(tx: &mut Tx<'_>, list: &List) -> Result<bool, Fault> {
    let sql = "UPDATE list SET owner_id = $1, name = $2, description = $3 WHERE id = $4 AND owner_id = 0";
    let args = [list.owner_id.into(), (&list.name).into(), (&list.description).into(), list.id.into()];
    Ok(tx.execute(sql, &args)? > 0)
}

/// Updates name, description and privacy. A list that becomes private loses its followers and others' pins, and no
/// longer counts for its members.
pub fn update(tx: &mut Tx<'_>, before: &List, after: &List) -> Result<(), Fault> {
    update!(tx, "list", after: [name, description, private], id = after.id)?;
    if before.private == after.private {
        return Ok(());
    }
    members::add_to_listed_counts(tx, after.id, if after.private { -1 } else { 1 })?;
    let sql = "UPDATE list_member SET private = $1 WHERE list_id = $2";
    tx.execute_later(sql, &[after.private.into(), after.id.into()])?;
    if after.private {
        followers::remove_all_followers(tx, after.id, after.owner_id)?;
    }
    Ok(())
}

/// Deletes a list's members, followers and pins. Its row stays, marked as deleted.
pub fn delete(tx: &mut Tx<'_>, list: &List) -> Result<(), Fault> {
    if !list.private {
        members::add_to_listed_counts(tx, list.id, -1)?;
    }
    let steps = [
        "DELETE FROM list_member WHERE list_id = $1",
        "DELETE FROM list_follow WHERE list_id = $1",
        "DELETE FROM list_pin WHERE list_id = $1",
    ];
    for sql in steps {
        tx.execute_later(sql, &[list.id.into()])?;
    }
    let sql = "UPDATE list SET deleted_at = $1, member_count = 0, follower_count = 0, \
               member_version = member_version + 1 WHERE id = $2";
    let now = tx.now();
    tx.execute_later(sql, &[now.into(), list.id.into()])?;
    counters::clear(tx, [SharedCounter::ListFollowers; 3], list.id)
}
