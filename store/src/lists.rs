//! Lists and who is on them.

use base::{Fault, Time, UserId};

use crate::Tx;
use crate::db::Row;
use crate::exports::Pair;

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
}

macro_rules! columns {
    ($before:literal, $after:literal) => {
        concat!(
            $before,
            "id, owner_id, name, description, private, created_at, deleted_at, member_count, \
             follower_count",
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
    })
}

/// The list with an id, deleted or not.
pub fn by_id(tx: &mut Tx<'_>, id: i64) -> Result<Option<List>, Fault> {
    let sql = columns!("SELECT ", " FROM list WHERE id = $1");
    tx.row(sql, &[id.into()], read)
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

/// Puts a user on a list, with both counters; false when it is there already.
pub fn add_member(tx: &mut Tx<'_>, list: &List, user: UserId) -> Result<bool, Fault> {
    let sql = "INSERT INTO list_member (list_id, user_id, id) VALUES ($1, $2, $3) \
               ON CONFLICT DO NOTHING";
    let id = tx.next_id::<()>();
    if tx.exec(sql, &[list.id.into(), user.into(), id.into()])? == 0 {
        return Ok(false);
    }
    count(tx, list, user, 1)?;
    Ok(true)
}

/// Takes a user off a list, with both counters; false when it is not on it.
pub fn remove_member(tx: &mut Tx<'_>, list: &List, user: UserId) -> Result<bool, Fault> {
    let sql = "DELETE FROM list_member WHERE list_id = $1 AND user_id = $2";
    if tx.exec(sql, &[list.id.into(), user.into()])? == 0 {
        return Ok(false);
    }
    count(tx, list, user, -1)?;
    Ok(true)
}

fn count(tx: &mut Tx<'_>, list: &List, user: UserId, by: i64) -> Result<(), Fault> {
    let sql = "UPDATE list SET member_count = member_count + $1 WHERE id = $2";
    tx.exec(sql, &[by.into(), list.id.into()])?;
    if !list.private && list.deleted_at.is_none() {
        let sql = "UPDATE users SET listed_count = listed_count + $1 WHERE id = $2";
        tx.exec(sql, &[by.into(), user.into()])?;
    }
    Ok(())
}

/// The members of all live lists behind one, as list and user.
pub fn members(tx: &mut Tx<'_>, after: Pair, limit: i64) -> Result<Vec<Pair>, Fault> {
    let sql = "SELECT m.list_id, m.user_id FROM list_member m JOIN list l ON l.id = m.list_id \
               WHERE (m.list_id, m.user_id) > ($1, $2) AND l.deleted_at IS NULL \
               ORDER BY m.list_id, m.user_id LIMIT $3";
    tx.rows(
        sql,
        &[after.0.into(), after.1.into(), limit.into()],
        |row| Ok((row.int(0)?, row.int(1)?)),
    )
}
