//! Who is who: ids that a source uses, placeholders, and counters of many rows at once.

use base::{Fault, PostId, UserId};

use crate::{Tx, user_search, users};

/// What an import must know of a user who is there.
#[derive(Clone, Debug)]
pub struct ImportedUserSummary {
    /// The user.
    pub id: UserId,
    /// The handle.
    pub username: String,
    /// The display name.
    pub name: String,
    /// Whether nothing but the id and perhaps the handle is known.
    pub is_placeholder: bool,
}

/// Those of these users who are there.
pub fn find_users(tx: &mut Tx<'_>, ids: &[i64]) -> Result<Vec<ImportedUserSummary>, Fault> {
    let sql = "SELECT id, username, name, state FROM users WHERE id = $1";
    tx.query_by_keys(sql, ids, &[], |row| {
        Ok(ImportedUserSummary {
            id: row.id(0)?,
            username: row.text(1)?,
            name: row.text(2)?,
            is_placeholder: row.int(3)? == 3,
        })
    })
}

/// Which of these ids of a source stand for somebody with another id here.
pub fn find_aliases(tx: &mut Tx<'_>, ids: &[i64]) -> Result<Vec<(i64, UserId)>, Fault> {
    let sql = "SELECT id, user_id FROM import_alias WHERE id = $1";
    tx.query_by_keys(sql, ids, &[], |row| Ok((row.int(0)?, row.id(1)?)))
}

/// Says that an id of a source stands for a user here.
pub fn set_alias(tx: &mut Tx<'_>, id: i64, user: UserId) -> Result<(), Fault> {
    let sql = "INSERT INTO import_alias (id, user_id) VALUES ($1, $2) \
               ON CONFLICT (id) DO UPDATE SET user_id = excluded.user_id";
    tx.execute(sql, &[id.into(), user.into()]).map(|_| ())
}

/// Notes that a placeholder's id is ours: the source told the handle only.
pub fn mark_name_only(tx: &mut Tx<'_>, user: UserId, handle: &str) -> Result<(), Fault> {
    let sql = "INSERT INTO import_name (user_id, handle) VALUES ($1, $2) ON CONFLICT DO NOTHING";
    let handle = handle.to_ascii_lowercase();
    tx.execute(sql, &[user.into(), (&handle).into()]).map(|_| ())
}

/// Whether a user's id is ours because a source told the handle only.
pub fn is_name_only(tx: &mut Tx<'_>, user: UserId) -> Result<bool, Fault> {
    let sql = "SELECT 1 FROM import_name WHERE user_id = $1";
    Ok(tx.query_row(sql, &[user.into()], |_| Ok(()))?.is_some())
}

/// Gives a placeholder another handle and name. The handle must be free.
pub fn rename_placeholder(tx: &mut Tx<'_>, user: UserId, username: &str, name: &str) -> Result<(), Fault> {
    let sql = "UPDATE users SET username = $1, handle = $2, name = $3 WHERE id = $4";
    let handle = username.to_ascii_lowercase();
    let args = [username.into(), (&handle).into(), name.into(), user.into()];
    tx.execute(sql, &args)?;
    match users::find_by_id(tx, user)? {
        Some(user) => user_search::reindex_user(tx, None, &user),
        None => Ok(()),
    }
}

/// By how much a user's counters move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UserCounterDeltas {
    /// Live posts.
    pub posts: i64,
    /// Live posts with media.
    pub media: i64,
    /// Followers.
    pub followers: i64,
    /// Verified ones among them.
    pub verified_followers: i64,
    /// Users it follows.
    pub following: i64,
    /// Posts it likes.
    pub likes: i64,
    /// Public lists it is on.
    pub listed: i64,
    /// A live post that may be the newest; 0 for none.
    pub newest: i64,
}

/// Moves a user's counters.
pub fn apply_user_deltas(tx: &mut Tx<'_>, user: UserId, by: &UserCounterDeltas) -> Result<(), Fault> {
    let sql = "UPDATE users SET post_count = post_count + $1, media_count = media_count + $2, \
               followers_count = followers_count + $3, following_count = following_count + $4, \
               like_count = like_count + $5, listed_count = listed_count + $6, \
               following_version = following_version + $7, most_recent_post_id = \
               CASE WHEN COALESCE(most_recent_post_id, 0) < CAST($8 AS BIGINT) \
               THEN CAST($8 AS BIGINT) ELSE most_recent_post_id END, \
               verified_followers_count = verified_followers_count + $9 WHERE id = $10";
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
    tx.execute(sql, &args).map(|_| ())
}
