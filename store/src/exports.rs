//! Everything of a kind, page by page in the order of its key.

use base::{Fault, PostId, UserId};

use crate::Tx;
use crate::imports::EdgeKind;

/// Two ids that are a row's key.
pub type IdPair = (i64, i64);

/// A row between two, and the id that puts it into an order.
pub type EdgeWithId = (IdPair, i64);

/// The edges of a kind behind one, as source and target.
pub fn list_edges(tx: &mut Tx<'_>, kind: EdgeKind, after: IdPair, limit: i64) -> Result<Vec<EdgeWithId>, Fault> {
    let sql = match kind {
        EdgeKind::Follow => {
            "SELECT source_id, target_id, id FROM follow WHERE (source_id, target_id) > ($1, $2) \
             ORDER BY source_id, target_id LIMIT $3"
        }
        EdgeKind::Block => {
            "SELECT source_id, target_id, id FROM block WHERE (source_id, target_id) > ($1, $2) \
             ORDER BY source_id, target_id LIMIT $3"
        }
        EdgeKind::Mute => {
            "SELECT source_id, target_id, id FROM mute WHERE (source_id, target_id) > ($1, $2) \
             ORDER BY source_id, target_id LIMIT $3"
        }
        EdgeKind::Request => {
            "SELECT source_id, target_id, id FROM follow_request WHERE (source_id, target_id) > ($1, $2) \
             ORDER BY source_id, target_id LIMIT $3"
        }
        EdgeKind::DmBlock => {
            "SELECT source_id, target_id, id FROM dm_block WHERE (source_id, target_id) > ($1, $2) \
             ORDER BY source_id, target_id LIMIT $3"
        }
    };
    tx.query_rows(sql, &[after.0.into(), after.1.into(), limit.into()], |row| {
        Ok(((row.int(0)?, row.int(1)?), row.int(2)?))
    })
}

/// A like, and what is known of the post's text where the post is a placeholder.
#[derive(Clone, Debug)]
pub struct ExportedLike {
    /// Who likes.
    pub user_id: UserId,
    /// The post.
    pub post_id: PostId,
    /// The like's own id: when it was, in its high bits.
    pub id: i64,
    /// The placeholder's text, or empty.
    pub text: String,
}

/// The likes behind one, by user and post.
pub fn list_likes(tx: &mut Tx<'_>, after: IdPair, limit: i64) -> Result<Vec<ExportedLike>, Fault> {
    let sql = "SELECT l.user_id, l.post_id, l.id, CASE WHEN p.state = 3 THEN p.text ELSE '' END \
               FROM post_like l JOIN post p ON p.id = l.post_id \
               WHERE (l.user_id, l.post_id) > ($1, $2) \
               ORDER BY l.user_id, l.post_id LIMIT $3";
    tx.query_rows(sql, &[after.0.into(), after.1.into(), limit.into()], |row| {
        Ok(ExportedLike {
            user_id: row.id(0)?,
            post_id: row.id(1)?,
            id: row.int(2)?,
            text: row.text(3)?,
        })
    })
}

/// Someone whom a post mentions.
#[derive(Clone, Debug)]
pub struct MentionedUser {
    /// The post.
    pub post_id: PostId,
    /// The user.
    pub user_id: UserId,
    /// The handle.
    pub username: String,
    /// The display name.
    pub name: String,
}

/// Those whom these posts mention.
pub fn list_mentioned_users(tx: &mut Tx<'_>, posts: &[i64]) -> Result<Vec<MentionedUser>, Fault> {
    let sql = "SELECT m.post_id, u.id, u.username, u.name FROM mention m \
               JOIN users u ON u.id = m.user_id WHERE m.post_id = $1 ORDER BY u.id";
    tx.query_by_keys(sql, posts, &[], |row| {
        Ok(MentionedUser {
            post_id: row.id(0)?,
            user_id: row.id(1)?,
            username: row.text(2)?,
            name: row.text(3)?,
        })
    })
}

/// The addresses that open a private conversation, of those of these posts that have one.
pub fn message_links(tx: &mut Tx<'_>, posts: &[i64]) -> Result<Vec<(PostId, String)>, Fault> {
    let sql = "SELECT id, direct_message_deep_link FROM post \
               WHERE id = $1 AND direct_message_deep_link <> ''";
    tx.query_by_keys(sql, posts, &[], |row| Ok((row.id(0)?, row.text(1)?)))
}
