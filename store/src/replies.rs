//! Replies that the author of their conversation's root has hidden.

use base::{Fault, PostId};

use crate::Tx;

/// Hides a reply; false when it is hidden already.
pub fn hide(tx: &mut Tx<'_>, post: PostId) -> Result<bool, Fault> {
    let sql = "INSERT INTO hidden_reply (post_id, hidden_at) VALUES ($1, $2) \
               ON CONFLICT DO NOTHING";
    Ok(tx.execute(sql, &[post.into(), tx.now().into()])? > 0)
}

/// Shows a hidden reply again; false when it is not hidden.
pub fn unhide(tx: &mut Tx<'_>, post: PostId) -> Result<bool, Fault> {
    let sql = "DELETE FROM hidden_reply WHERE post_id = $1";
    Ok(tx.execute(sql, &[post.into()])? > 0)
}

/// Whether a reply is hidden.
pub fn is_hidden(tx: &mut Tx<'_>, post: PostId) -> Result<bool, Fault> {
    let sql = "SELECT 1 FROM hidden_reply WHERE post_id = $1";
    Ok(tx.query_row(sql, &[post.into()], |_| Ok(()))?.is_some())
}
