//! What goes with a deleted post.

use base::{Fault, PostId, Time, UserId};

use super::insertion::add_to_target_counts;
use super::{Post, add_to_author_counts, list_versions};
use crate::{Tx, polls};

/// Leaves nothing of posts but their ids.
macro_rules! blank {
    () => {
        "UPDATE post SET state = 2, text = '', entities = '', short_entities = '', \
         media_keys = '', geo = '', poll_id = NULL, direct_message_deep_link = '', \
         fingerprint = NULL, like_count = 0, imported_like_count = 0, \
         repost_count = 0, imported_repost_count = 0, bookmark_count = 0, removed_at = $1 WHERE"
    };
}

/// Deletes a live post with every counter it moved, its earlier versions, its poll, its reposts,
/// and the likes, bookmarks and mentions of all of them. Only ids stay. Answers the posts that went, each
/// with its author; none when another was faster.
pub fn delete(tx: &mut Tx<'_>, post: &Post) -> Result<Vec<(PostId, UserId)>, Fault> {
    let versions = match post.edit_root_id {
        Some(root) => list_versions(tx, root)?,
        None => vec![post.id],
    };
    let now = tx.now();
    // The posts themselves first: whoever acts on one at the same time waits, and finds it gone.
    for id in &versions {
        let sql = concat!(blank!(), " id = $2 AND state <> 2");
        if tx.execute(sql, &[now.into(), (*id).into()])? == 0 && *id == post.id {
            return Ok(Vec::new());
        }
        execute_all(tx, DELETE_POST_EDGES, *id)?;
        polls::delete_by_post(tx, *id)?;
    }
    let mut gone: Vec<(PostId, UserId)> = versions.iter().map(|id| (*id, post.author_id)).collect();
    for id in &versions {
        gone.extend(delete_reposts(tx, *id)?);
    }
    add_to_target_counts(tx, post, -1)?;
    add_to_author_counts(tx, post, -1)?;
    let sql = "UPDATE users SET most_recent_post_id = \
               (SELECT MAX(id) FROM post WHERE author_id = $1 AND state = 0 AND nullcast = 0) \
               WHERE id = $1";
    tx.execute(sql, &[post.author_id.into()])?;
    Ok(gone)
}

/// Statements that remove everything that points to some posts.
macro_rules! clearing {
    ($posts:literal) => {
        &[
            concat!("DELETE FROM mention WHERE post_id ", $posts),
            concat!(
                "UPDATE users SET like_count = like_count - \
                 (SELECT COUNT(*) FROM post_like WHERE user_id = users.id AND post_id ",
                $posts,
                ") WHERE id IN (SELECT user_id FROM post_like WHERE post_id ",
                $posts,
                ")"
            ),
            concat!("DELETE FROM post_like WHERE post_id ", $posts),
            concat!("DELETE FROM bookmark_filing WHERE post_id ", $posts),
            concat!("DELETE FROM bookmark WHERE post_id ", $posts),
            concat!("DELETE FROM hidden_reply WHERE post_id ", $posts),
        ]
    };
}

/// Of the post $1.
const DELETE_POST_EDGES: &[&str] = clearing!("= $1");
/// Of the reposts of the post $1.
const DELETE_REPOST_EDGES: &[&str] = clearing!("IN (SELECT id FROM post WHERE repost_of_id = $1 AND state = 0)");

fn execute_all(tx: &mut Tx<'_>, statements: &[&'static str], post: PostId) -> Result<(), Fault> {
    let mut statements = statements.iter();
    statements.try_for_each(|sql| tx.execute(sql, &[post.into()]).map(|_| ()))
}

/// What the authors of a post's reposts lose with them; each has one that is seen at most, and one
/// for promotion.
const UPDATE_REPOST_AUTHORS: &[&str] = &[
    "UPDATE users SET post_count = post_count - (SELECT COUNT(*) FROM post \
     WHERE repost_of_id = $1 AND state = 0 AND author_id = users.id) WHERE id IN \
     (SELECT author_id FROM post WHERE repost_of_id = $1 AND state = 0)",
    "UPDATE users SET media_count = media_count - 1 WHERE id IN \
     (SELECT author_id FROM post WHERE repost_of_id = $1 AND state = 0 AND media_keys <> '')",
    "UPDATE users SET most_recent_post_id = (SELECT MAX(id) FROM post \
     WHERE author_id = users.id AND state = 0 AND nullcast = 0 \
     AND (repost_of_id IS NULL OR repost_of_id <> $1)) WHERE id IN \
     (SELECT author_id FROM post WHERE repost_of_id = $1 AND state = 0) \
     AND most_recent_post_id IN (SELECT id FROM post WHERE repost_of_id = $1 AND state = 0)",
];

/// All of them at once: there may be many.
fn delete_reposts(tx: &mut Tx<'_>, of: PostId) -> Result<Vec<(PostId, UserId)>, Fault> {
    let sql = "SELECT id, author_id FROM post WHERE repost_of_id = $1 AND state = 0";
    let reposts = tx.query_rows(sql, &[of.into()], |row| Ok((row.id(0)?, row.id(1)?)))?;
    if !reposts.is_empty() {
        execute_all(tx, DELETE_REPOST_EDGES, of)?;
        execute_all(tx, UPDATE_REPOST_AUTHORS, of)?;
        let sql = concat!(blank!(), " repost_of_id = $2 AND state = 0");
        let now = tx.now();
        tx.execute(sql, &[now.into(), of.into()])?;
    }
    Ok(reposts)
}

/// Since when those of these posts are gone that are.
pub fn removal_times(tx: &mut Tx<'_>, posts: &[i64]) -> Result<Vec<(i64, Time)>, Fault> {
    let sql = "SELECT id, removed_at FROM post WHERE id = $1 AND removed_at IS NOT NULL";
    tx.query_by_keys(sql, posts, &[], |row| Ok((row.int(0)?, row.time(1)?)))
}
