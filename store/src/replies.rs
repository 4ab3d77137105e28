//! Replies hidden by the author of the conversation's root.

use base::{Fault, PostId};

use crate::Tx;
use crate::db::insert_new;

/// Returns false if the reply is already hidden.
pub fn hide(tx: &mut Tx<'_>, post: PostId) -> Result<bool, Fault> {
    insert_new!(tx, "hidden_reply", post_id = post, hidden_at = tx.now())
}

/// Returns false if the reply is not hidden.
pub fn unhide(tx: &mut Tx<'_>, post: PostId) -> Result<bool, Fault> {
    let sql = "DELETE FROM hidden_reply WHERE post_id = $1";
    Ok(tx.execute(sql, &[post.into()])? > 0)
}

/// Those of some posts that are hidden replies.
pub fn filter_hidden(tx: &mut Tx<'_>, posts: &[PostId]) -> Result<Vec<PostId>, Fault> {
    tx.query_by_ids("SELECT post_id FROM hidden_reply WHERE post_id = $1", posts, &[])
}
