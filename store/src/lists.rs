//! Lists, who is on them and who reads them.

mod members;
mod readers;

use base::{Fault, Time, UserId};

use crate::Tx;
use crate::db::Row;
use crate::edges::{both_ways, page_of};
use crate::posts::Span;

pub use members::{
    add_member, add_member_as, everyone_on, is_member, members, members_of, memberships,
    open_lists, remove_member,
};
pub use readers::{follow, followed, followers, pin, pinned, unfollow, unpin};

/// A list as stored.
#[derive(Clone, Debug)]
pub struct List {
    /// Snowflake id.
    pub id: i64,
    /// Whose it is.
    pub owner_id: UserId,
    /// Its name.
    pub name: String,
    /// Its description.
    pub description: String,
    /// Whether only its owner sees it.
    pub private: bool,
    /// When it was made.
    pub created_at: Time,
    /// When it was deleted.
    pub deleted_at: Option<Time>,
    /// Users on it.
    pub member_count: i64,
    /// Users who read it.
    pub follower_count: i64,
    /// Raised by every change of who is on it.
    pub member_version: i64,
}

macro_rules! columns {
    ($before:literal, $after:literal) => {
        concat!(
            $before,
            "id, owner_id, name, description, private, created_at, deleted_at, member_count, \
             follower_count, member_version",
            $after
        )
    };
}

fn read(row: &Row<'_, '_>) -> Result<List, Fault> {
    Ok(List {
        id: row.int(0)?,
        owner_id: row.id(1)?,
        name: row.text(2)?,
        description: row.text(3)?,
        private: row.switch(4)?,
        created_at: row.time(5)?,
        deleted_at: row.opt_time(6)?,
        member_count: row.int(7)?,
        follower_count: row.int(8)?,
        member_version: row.int(9)?,
    })
}

/// The list with an id, deleted or not.
pub fn by_id(tx: &mut Tx<'_>, id: i64) -> Result<Option<List>, Fault> {
    let sql = columns!("SELECT ", " FROM list WHERE id = $1");
    tx.row(sql, &[id.into()], read)
}

/// The lists with these ids, deleted or not, in no particular order; unknown ids are left out.
pub fn by_ids(tx: &mut Tx<'_>, ids: &[i64]) -> Result<Vec<List>, Fault> {
    let sql = columns!("SELECT ", " FROM list WHERE id = $1");
    tx.of_each(sql, ids, &[], read)
}

/// A page of a user's live lists, newest first; the private ones only where they may be seen.
pub fn owned(
    tx: &mut Tx<'_>,
    owner: UserId,
    private_too: bool,
    span: &Span,
) -> Result<Vec<List>, Fault> {
    let sql = both_ways!(
        columns!(
            "SELECT ",
            " FROM list WHERE owner_id = $1 AND deleted_at IS NULL AND private <= $2 \
             AND id > $3 AND id < $4 ORDER BY id"
        ),
        " LIMIT $5"
    );
    page_of(tx, &[owner.into(), private_too.into()], span, sql, read)
}

/// How many live lists a user has.
pub fn count_owned(tx: &mut Tx<'_>, owner: UserId) -> Result<i64, Fault> {
    let sql = "SELECT COUNT(*) FROM list WHERE owner_id = $1 AND deleted_at IS NULL";
    let count = tx.row(sql, &[owner.into()], |row| row.int(0))?;
    Ok(count.unwrap_or(0))
}

/// Makes other work that locks the same list wait for this transaction's end. A SQLite file has
/// one writer, so there it waits already.
pub fn lock(tx: &mut Tx<'_>, id: i64) -> Result<(), Fault> {
    if tx.is_shared() {
        let sql = "SELECT id FROM list WHERE id = $1 FOR UPDATE";
        tx.row(sql, &[id.into()], |_| Ok(()))?;
    }
    Ok(())
}

/// A user's live list with a name, the oldest where there are several.
pub fn by_name(tx: &mut Tx<'_>, owner: UserId, name: &str) -> Result<Option<List>, Fault> {
    let sql = columns!(
        "SELECT ",
        " FROM list WHERE owner_id = $1 AND name = $2 AND deleted_at IS NULL ORDER BY id LIMIT 1"
    );
    tx.row(sql, &[owner.into(), name.into()], read)
}

/// The live lists after an id, oldest first.
pub fn list(tx: &mut Tx<'_>, after: i64, limit: i64) -> Result<Vec<List>, Fault> {
    let sql = columns!(
        "SELECT ",
        " FROM list WHERE id > $1 AND deleted_at IS NULL ORDER BY id LIMIT $2"
    );
    tx.rows(sql, &[after.into(), limit.into()], read)
}

/// Adds a list without members; false when the id is taken.
pub fn insert(tx: &mut Tx<'_>, list: &List) -> Result<bool, Fault> {
    let sql = "INSERT INTO list (id, owner_id, name, description, private, created_at) \
               VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING";
    let args = [
        list.id.into(),
        list.owner_id.into(),
        (&list.name).into(),
        (&list.description).into(),
        list.private.into(),
        list.created_at.into(),
    ];
    Ok(tx.exec(sql, &args)? > 0)
}

/// Completes a list whose owner was not known.
pub fn learn_owner(tx: &mut Tx<'_>, list: &List) -> Result<bool, Fault> {
    let sql = "UPDATE list SET owner_id = $1, name = $2, description = $3 \
               WHERE id = $4 AND owner_id = 0";
    let args = [
        list.owner_id.into(),
        (&list.name).into(),
        (&list.description).into(),
        list.id.into(),
    ];
    Ok(tx.exec(sql, &args)? > 0)
}

/// Stores what a list says about itself. One that becomes private loses its followers and what
/// others pinned, and no longer counts for those who are on it.
pub fn update(tx: &mut Tx<'_>, before: &List, after: &List) -> Result<(), Fault> {
    let sql = "UPDATE list SET name = $1, description = $2, private = $3 WHERE id = $4";
    let args = [
        (&after.name).into(),
        (&after.description).into(),
        after.private.into(),
        after.id.into(),
    ];
    tx.exec(sql, &args)?;
    if before.private == after.private {
        return Ok(());
    }
    members::count_all(tx, after.id, if after.private { -1 } else { 1 })?;
    let sql = "UPDATE list_member SET private = $1 WHERE list_id = $2";
    tx.exec(sql, &[after.private.into(), after.id.into()])?;
    if after.private {
        readers::leave(tx, after.id, after.owner_id)?;
    }
    Ok(())
}

/// Deletes a list with all that points to it. Its id stays.
pub fn delete(tx: &mut Tx<'_>, list: &List) -> Result<(), Fault> {
    if !list.private {
        members::count_all(tx, list.id, -1)?;
    }
    let steps = [
        "DELETE FROM list_member WHERE list_id = $1",
        "DELETE FROM list_follow WHERE list_id = $1",
        "DELETE FROM list_pin WHERE list_id = $1",
    ];
    for sql in steps {
        tx.exec(sql, &[list.id.into()])?;
    }
    let sql = "UPDATE list SET deleted_at = $1, member_count = 0, follower_count = 0, \
               member_version = member_version + 1 WHERE id = $2";
    let now = tx.now();
    tx.exec(sql, &[now.into(), list.id.into()]).map(|_| ())
}
