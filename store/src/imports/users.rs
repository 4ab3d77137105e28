//! Imported users: aliases of their ids, placeholders, and counters.

use base::{Fault, PostId, UserId};

use crate::db::{insert, insert_new_later, row, select};
use crate::users::{self, User};
use crate::{Tx, user_search};

row! {
    #[derive(Clone, Debug)]
    pub struct ImportedUserSummary from "users" {
        pub id: UserId,
        pub username: String,
        pub name: String,
        /// Whether only the id and perhaps the handle is known.
        pub is_placeholder: bool as "CASE WHEN state = 3 THEN CAST(1 AS BIGINT) ELSE CAST(0 AS BIGINT) END",
    }
}

pub fn find_users(tx: &mut Tx<'_>, ids: &[i64]) -> Result<Vec<ImportedUserSummary>, Fault> {
    tx.query_by_keys(select!(ImportedUserSummary, "WHERE id = $1"), ids, &[])
}

/// Inserts a user that is known to be missing, and whose handle is known to be free. Returns false if one of them is
/// not; on PostgreSQL, the transaction is repeated then.
pub fn insert_missing_user(tx: &mut Tx<'_>, user: &User) -> Result<bool, Fault> {
    if !tx.is_postgres() {
        return users::insert(tx, user, "");
    }
    let handle = user.username.to_ascii_lowercase();
    insert!(tx, User, user, handle = &handle, password_hash = "")?;
    user_search::index_user(tx, user).map(|()| true)
}

/// Which of these handles (lower case) are taken, on PostgreSQL.
pub fn list_taken_handles(tx: &mut Tx<'_>, handles: &[&str]) -> Result<Vec<String>, Fault> {
    let sql = "SELECT handle FROM users WHERE handle = ANY(string_to_array($1, ','))";
    tx.query_rows(sql, &[handles.join(",").as_str().into()])
}

/// Pairs of a source's id and the user it stands for here.
pub fn find_aliases(tx: &mut Tx<'_>, ids: &[i64]) -> Result<Vec<(i64, UserId)>, Fault> {
    let sql = "SELECT id, user_id FROM import_alias WHERE id = $1";
    tx.query_by_keys(sql, ids, &[])
}

pub fn set_alias(tx: &mut Tx<'_>, id: i64, user: UserId) -> Result<(), Fault> {
    let sql = "INSERT INTO import_alias (id, user_id) VALUES ($1, $2) \
               ON CONFLICT (id) DO UPDATE SET user_id = excluded.user_id";
    tx.execute_later(sql, &[id.into(), user.into()])
}

/// Whether the user stands for an account of a source other than this one.
pub fn has_other_alias(tx: &mut Tx<'_>, user: UserId, source_id: i64) -> Result<bool, Fault> {
    let sql = "SELECT 1 FROM import_alias WHERE user_id = $1 AND id <> $2 LIMIT 1";
    tx.row_exists(sql, &[user.into(), source_id.into()])
}

/// Records that a placeholder's id was generated, because the source contained only the handle.
pub fn mark_name_only(tx: &mut Tx<'_>, user: UserId, handle: &str) -> Result<(), Fault> {
    let handle = handle.to_ascii_lowercase();
    insert_new_later!(tx, "import_name", user_id = user, handle = &handle)
}

/// Whether a user's id was generated, because the source contained only the handle.
pub fn is_name_only(tx: &mut Tx<'_>, user: UserId) -> Result<bool, Fault> {
    let sql = "SELECT 1 FROM import_name WHERE user_id = $1";
    tx.row_exists(sql, &[user.into()])
}

/// The new handle must be free.
pub fn rename_placeholder(tx: &mut Tx<'_>, user: UserId, username: &str, name: &str) -> Result<(), Fault> {
    let sql = "UPDATE users SET username = $1, handle = $2, name = $3 WHERE id = $4";
    let handle = username.to_ascii_lowercase();
    let args = [username.into(), (&handle).into(), name.into(), user.into()];
    tx.execute_later(sql, &args)?;
    match users::find_by_id(tx, user)? {
        Some(user) => user_search::reindex_user(tx, None, &user),
        None => Ok(()),
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UserCounterDeltas {
    pub posts: i64,
    pub media: i64,
    pub followers: i64,
    pub verified_followers: i64,
    pub following: i64,
    pub likes: i64,
    pub listed: i64,
    /// A live post that may be the most recent; 0 for none.
    pub newest: i64,
}

pub fn apply_user_deltas(tx: &mut Tx<'_>, user: UserId, by: &UserCounterDeltas) -> Result<(), Fault> {
    let sql = "UPDATE users SET post_count = post_count + $1, media_count = media_count + $2, \
               followers_count = followers_count + $3, following_count = following_count + $4, \
               like_count = like_count + $5, listed_count = listed_count + $6, \
               following_version = following_version + $7, most_recent_post_id = \
               CASE WHEN COALESCE(most_recent_post_id, 0) < CAST($8 AS BIGINT) THEN CAST($8 AS BIGINT) \
               ELSE most_recent_post_id END, verified_followers_count = verified_followers_count + $9 WHERE id = $10";
    let args = [
        by.posts.into(),
        by.media.into(),
        by.followers.into(),
        by.following.into(),
        by.likes.into(),
        by.listed.into(),
        (by.following != 0).into(),
        PostId::new(by.newest).into(),
        by.verified_followers.into(),
        user.into(),
    ];
    tx.execute_later(sql, &args)
}
