//! Likes.

use base::{Fault, PostId, UserId};

use crate::Tx;
use crate::counters::{self, SharedCounter};
use crate::db::insert_new;
use crate::edges::{self, Edge, edge_page_query};
use crate::follows::UserEdge;
use crate::posts::PageRange;

/// Also updates the user's counter; returns false if the like exists. The post's counter is updated last, by
/// [`add_to_post_count`], because its row is contended.
pub fn insert(tx: &mut Tx<'_>, user: UserId, post: PostId, id: i64) -> Result<bool, Fault> {
    let added = insert_new!(tx, "post_like", user_id = user, post_id = post, id = id)?;
    if added {
        add_to_user_count(tx, user, 1)?;
    }
    Ok(added)
}

/// Also updates the user's counter; returns false if there is no such like.
pub fn delete(tx: &mut Tx<'_>, user: UserId, post: PostId) -> Result<bool, Fault> {
    let sql = "DELETE FROM post_like WHERE user_id = $1 AND post_id = $2";
    let removed = tx.execute(sql, &[user.into(), post.into()])? > 0;
    if removed {
        add_to_user_count(tx, user, -1)?;
    }
    Ok(removed)
}

fn add_to_user_count(tx: &mut Tx<'_>, user: UserId, by: i64) -> Result<(), Fault> {
    let sql = "UPDATE users SET like_count = like_count + $1 WHERE id = $2";
    tx.execute_later(sql, &[by.into(), user.into()])
}

/// Returns false if the post has been deleted. The caller has [locked](crate::posts::lock_shared) it.
pub fn add_to_post_count(tx: &mut Tx<'_>, post: PostId, by: i64) -> Result<bool, Fault> {
    counters::add_unless_deleted(tx, SharedCounter::Likes, post, by)
}

/// Those of some posts that the user likes.
pub fn filter_liked(tx: &mut Tx<'_>, user: UserId, posts: &[PostId]) -> Result<Vec<PostId>, Fault> {
    let sql = "SELECT post_id FROM post_like WHERE post_id = $1 AND user_id = $2";
    tx.query_by_ids(sql, posts, &[user.into()])
}

/// Latest first: the user and the like's own id.
pub fn page_by_post(tx: &mut Tx<'_>, post: PostId, range: &PageRange) -> Result<Vec<UserEdge>, Fault> {
    let sql = edge_page_query!("SELECT user_id, id FROM post_like WHERE post_id = $1");
    edges::typed_edge_page(tx, post, range, sql)
}

/// Latest first: the post and the like's own id.
pub fn page_by_user(tx: &mut Tx<'_>, user: UserId, range: &PageRange) -> Result<Vec<Edge>, Fault> {
    let sql = edge_page_query!("SELECT post_id, id FROM post_like WHERE user_id = $1");
    edges::edge_page(tx, user, range, sql)
}
