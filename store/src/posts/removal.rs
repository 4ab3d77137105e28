//! Deletion of posts and everything that depends on them.

use base::{Fault, PostId, Time, UserId};

use super::insertion::add_to_target_counts;
use super::{Post, PostState, add_to_author_counts, find_by_id, list_versions, lock_shared};
use crate::counters::{self, SharedCounter};
use crate::db::{SqlValue, insert_new_later};
use crate::locks::{LockMode, LockedResource};
use crate::{Tx, polls, reposts};

/// The counters that [`blank`] sets to zero.
const CLEARED_COUNTERS: [SharedCounter; 3] = [SharedCounter::Likes, SharedCounter::Reposts, SharedCounter::Bookmarks];

/// Clears everything but the id.
macro_rules! blank {
    () => {
        "UPDATE post SET state = 2, text = '', entities = '', short_entities = '', context_annotations = '', media_keys = '', geo = '', \
         place_id = NULL, card_uri = '', poll_id = NULL, direct_message_deep_link = '', fingerprint = NULL, like_count = 0, imported_like_count = 0, \
         repost_count = 0, imported_repost_count = 0, bookmark_count = 0, removed_at = $1 WHERE"
    };
}

/// Whether a post has rows left that [`continue_removal`] deletes.
macro_rules! has_rows {
    () => {
        "(EXISTS (SELECT 1 FROM post_like WHERE post_id = post.id) OR EXISTS (SELECT 1 FROM bookmark WHERE \
         post_id = post.id) OR EXISTS (SELECT 1 FROM post r WHERE r.repost_of_id = post.id AND r.state = 0))"
    };
}

/// Deletes a live post with its earlier versions, poll and reposts, and the likes, bookmarks and mentions of all of
/// them, and updates all counters. Only ids stay. Of reposts, likes and bookmarks there may be many:
/// [`continue_removal`] deletes those that are left. Returns the deleted posts with their authors; empty if the post was
/// already deleted.
pub fn delete(tx: &mut Tx<'_>, post: &Post) -> Result<Vec<(PostId, UserId)>, Fault> {
    let versions = match post.edit_root_id {
        Some(root) => list_versions(tx, root)?,
        None => vec![post.id],
    };
    let now = tx.now();
    if let Some(original) = post.repost_of_id {
        lock_shared(tx, original);
    }
    // Lock and update the posts first: concurrent actions on them wait and then find them deleted.
    for id in &versions {
        tx.lock(LockedResource::Post, id.get(), LockMode::Exclusive);
        let sql = concat!(blank!(), " id = $2 AND state <> 2");
        if tx.execute(sql, &[now.into(), (*id).into()])? == 0 && *id == post.id {
            return Ok(Vec::new());
        }
        counters::clear(tx, CLEARED_COUNTERS, id.get())?;
        execute_all(tx, DELETE_POST_ROWS, &[(*id).into()])?;
        execute_all(tx, DELETE_FIRST_EDGES, &[(*id).into()])?;
        let sql = "UPDATE users SET pinned_post_id = NULL WHERE id = $1 AND pinned_post_id = $2";
        tx.execute_later(sql, &[post.author_id.into(), (*id).into()])?;
        polls::delete_by_post(tx, *id)?;
    }
    let mut deleted: Vec<(PostId, UserId)> = versions.iter().map(|id| (*id, post.author_id)).collect();
    for id in &versions {
        deleted.extend(delete_reposts(tx, *id)?);
        let sql = concat!(
            "INSERT INTO post_removal (post_id) SELECT id FROM post WHERE id = $1 AND ",
            has_rows!(),
            " ON CONFLICT DO NOTHING"
        );
        tx.execute_later(sql, &[(*id).into()])?;
    }
    add_to_target_counts(tx, post, -1)?;
    add_to_author_counts(tx, post, -1)?;
    let sql = "UPDATE users SET most_recent_post_id = (SELECT MAX(id) FROM post WHERE author_id = $1 AND state = 0 \
               AND nullcast = 0) WHERE id = $1";
    tx.execute_later(sql, &[post.author_id.into()])?;
    Ok(deleted)
}

/// A deleted post that has reposts, likes or bookmarks left.
pub fn find_incomplete_removal(tx: &mut Tx<'_>) -> Result<Option<PostId>, Fault> {
    tx.query_row("SELECT post_id FROM post_removal ORDER BY post_id LIMIT 1", &[])
}

/// Deletes some of the reposts, likes and bookmarks that a deleted post has left. Returns the deleted reposts with their
/// authors.
pub fn continue_removal(tx: &mut Tx<'_>, id: PostId) -> Result<Vec<(PostId, UserId)>, Fault> {
    tx.lock(LockedResource::Post, id.get(), LockMode::Exclusive);
    let is_deleted = find_by_id(tx, id)?.is_some_and(|post| post.state == PostState::Deleted);
    if !is_deleted {
        tx.execute_later("DELETE FROM post_removal WHERE post_id = $1", &[id.into()])?;
        return Ok(Vec::new());
    }
    execute_all(tx, DELETE_FIRST_EDGES, &[id.into()])?;
    let deleted = delete_reposts(tx, id)?;
    let sql = concat!(
        "DELETE FROM post_removal WHERE post_id = $1 AND NOT EXISTS (SELECT 1 FROM post WHERE id = $1 AND ",
        has_rows!(),
        ")"
    );
    tx.execute_later(sql, &[id.into()])?;
    Ok(deleted)
}

fn execute_all(tx: &mut Tx<'_>, statements: &[&'static str], args: &[SqlValue<'_>]) -> Result<(), Fault> {
    statements.iter().try_for_each(|sql| tx.execute_later(sql, args))
}

/// `$1` is the post.
const DELETE_POST_ROWS: &[&str] =
    &["DELETE FROM mention WHERE post_id = $1", "DELETE FROM hidden_reply WHERE post_id = $1"];

/// The users of the first thousand rows of a table about the post `$1`.
macro_rules! first_users {
    ($table:literal) => {
        concat!("IN (SELECT user_id FROM ", $table, " WHERE post_id = $1 ORDER BY id, user_id LIMIT 1000)")
    };
}

const DELETE_FIRST_EDGES: &[&str] = &[
    concat!("UPDATE users SET like_count = like_count - 1 WHERE id ", first_users!("post_like")),
    concat!("DELETE FROM post_like WHERE post_id = $1 AND user_id ", first_users!("post_like")),
    concat!("DELETE FROM bookmark_filing WHERE post_id = $1 AND user_id ", first_users!("bookmark")),
    concat!("DELETE FROM bookmark WHERE post_id = $1 AND user_id ", first_users!("bookmark")),
];

/// The live reposts of the post `$1` up to the id `$2`, as a query of a column.
macro_rules! reposts {
    ($column:literal) => {
        concat!("(SELECT ", $column, " FROM post WHERE repost_of_id = $1 AND state = 0 AND id <= $2)")
    };
}

/// Each author has at most one public and one nullcast repost.
const DELETE_REPOST_ROWS: &[&str] = &[
    concat!("DELETE FROM mention WHERE post_id IN ", reposts!("id")),
    concat!(
        "UPDATE users SET like_count = like_count - (SELECT COUNT(*) FROM post_like WHERE user_id = users.id AND \
         post_id IN ",
        reposts!("id"),
        ") WHERE id IN (SELECT user_id FROM post_like WHERE post_id IN ",
        reposts!("id"),
        ")"
    ),
    concat!("DELETE FROM post_like WHERE post_id IN ", reposts!("id")),
    concat!("DELETE FROM bookmark_filing WHERE post_id IN ", reposts!("id")),
    concat!("DELETE FROM bookmark WHERE post_id IN ", reposts!("id")),
    concat!("DELETE FROM hidden_reply WHERE post_id IN ", reposts!("id")),
    concat!(
        "UPDATE users SET post_count = post_count - (SELECT COUNT(*) FROM post WHERE repost_of_id = $1 AND state = 0 \
         AND id <= $2 AND author_id = users.id) WHERE id IN ",
        reposts!("author_id")
    ),
    "UPDATE users SET media_count = media_count - 1 WHERE id IN (SELECT author_id FROM post WHERE repost_of_id = $1 \
     AND state = 0 AND id <= $2 AND media_keys <> '')",
    concat!(
        "UPDATE users SET most_recent_post_id = (SELECT MAX(id) FROM post WHERE author_id = users.id AND state = 0 \
         AND nullcast = 0 AND (repost_of_id IS NULL OR repost_of_id <> $1)) WHERE id IN ",
        reposts!("author_id"),
        " AND most_recent_post_id IN ",
        reposts!("id")
    ),
];

/// Deletes the first thousand reposts of a post.
fn delete_reposts(tx: &mut Tx<'_>, post: PostId) -> Result<Vec<(PostId, UserId)>, Fault> {
    let sql = "SELECT id, author_id FROM post WHERE repost_of_id = $1 AND state = 0 ORDER BY id LIMIT 1000";
    let reposts: Vec<(PostId, UserId)> = tx.query_rows(sql, &[post.into()])?;
    if let Some((last, _)) = reposts.last() {
        execute_all(tx, DELETE_REPOST_ROWS, &[post.into(), (*last).into()])?;
        let sql = concat!(blank!(), " repost_of_id = $2 AND state = 0 AND id <= $3");
        let now = tx.now();
        tx.execute_later(sql, &[now.into(), post.into(), (*last).into()])?;
    }
    Ok(reposts)
}

/// Deletion times of those posts that were deleted.
pub fn removal_times(tx: &mut Tx<'_>, posts: &[i64]) -> Result<Vec<(i64, Time)>, Fault> {
    let sql = "SELECT id, removed_at FROM post WHERE id = $1 AND removed_at IS NOT NULL";
    tx.query_by_keys(sql, posts, &[])
}

/// Makes a deleted post live again, with the texts and media of `post` and these mentions, and updates the counters.
/// Its likes, reposts and bookmarks stay deleted, unless their deletion is not complete. Returns false if it is not deleted,
/// or a repost whose post is deleted or was reposted again.
pub fn restore(tx: &mut Tx<'_>, post: &Post, mentioned: &[UserId]) -> Result<bool, Fault> {
    let sql = "UPDATE post SET state = 0, removed_at = NULL, text = $1, entities = $2, short_entities = $3, \
               context_annotations = $4, media_keys = $5, geo = $6, place_id = $7, card_uri = $8 WHERE id = $9 AND state = 2";
    let args = [
        post.text.as_str().into(),
        post.entities.as_str().into(),
        post.short_entities.as_str().into(),
        post.context_annotations.as_str().into(),
        post.media_keys.as_str().into(),
        post.geo.as_str().into(),
        post.place_id.as_deref().into(),
        post.card_uri.as_str().into(),
        post.id.into(),
    ];
    if let Some(original) = post.repost_of_id {
        lock_shared(tx, original);
        let is_live = find_by_id(tx, original)?.is_some_and(|original| original.state != PostState::Deleted);
        if !is_live || reposts::find_by_user(tx, post.author_id, original, post.nullcast)?.is_some() {
            return Ok(false);
        }
    }
    tx.lock(LockedResource::Post, post.id.get(), LockMode::Exclusive);
    if tx.execute(sql, &args)? == 0 {
        return Ok(false);
    }
    counters::clear(tx, CLEARED_COUNTERS, post.id.get())?;
    execute_all(tx, STOP_REMOVAL, &[post.id.into()])?;
    for user in mentioned {
        insert_new_later!(tx, "mention", user_id = *user, post_id = post.id)?;
    }
    add_to_author_counts(tx, post, 1)?;
    add_to_target_counts(tx, post, 1)?;
    Ok(true)
}

/// Counts what is not deleted yet.
const STOP_REMOVAL: &[&str] = &[
    "DELETE FROM post_removal WHERE post_id = $1",
    "UPDATE post SET like_count = (SELECT COUNT(*) FROM post_like WHERE post_id = post.id), bookmark_count = \
     (SELECT COUNT(*) FROM bookmark WHERE post_id = post.id), repost_count = (SELECT COUNT(*) FROM post r WHERE \
     r.repost_of_id = post.id AND r.state = 0 AND r.nullcast = 0) WHERE id = $1",
];
