//! Who likes what.

use base::{Fault, PostId, UserId};

use crate::Tx;
use crate::edges::{self, Edge, edge_page_query};
use crate::posts::PageRange;

/// Makes a user like a post, with the user's counter; false when they do already. The post's own
/// counter comes last, by [`count`], because many may be waiting for it.
pub fn insert(tx: &mut Tx<'_>, user: UserId, post: PostId, id: i64) -> Result<bool, Fault> {
    let sql = "INSERT INTO post_like (user_id, post_id, id) VALUES ($1, $2, $3) \
               ON CONFLICT DO NOTHING";
    let added = tx.execute(sql, &[user.into(), post.into(), id.into()])? > 0;
    if added {
        add_to_user_count(tx, user, 1)?;
    }
    Ok(added)
}

/// Ends that a user likes a post, with the user's counter; false when they do not.
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
    tx.execute(sql, &[by.into(), user.into()]).map(|_| ())
}

/// Moves a post's counter; false when the post has been deleted meanwhile.
pub fn add_to_post_count(tx: &mut Tx<'_>, post: PostId, by: i64) -> Result<bool, Fault> {
    let sql = "UPDATE post SET like_count = like_count + $1 WHERE id = $2 AND state <> 2";
    Ok(tx.execute(sql, &[by.into(), post.into()])? > 0)
}

/// A page of those who like a post, latest like first: the user and the like's own id.
pub fn page_by_post(tx: &mut Tx<'_>, post: PostId, span: &PageRange) -> Result<Vec<Edge>, Fault> {
    let sql = edge_page_query!("SELECT user_id, id FROM post_like WHERE post_id = $1");
    edges::edge_page(tx, post, span, sql)
}

/// A page of what a user likes, latest like first: the post and the like's own id.
pub fn page_by_user(tx: &mut Tx<'_>, user: UserId, span: &PageRange) -> Result<Vec<Edge>, Fault> {
    let sql = edge_page_query!("SELECT post_id, id FROM post_like WHERE user_id = $1");
    edges::edge_page(tx, user, span, sql)
}
