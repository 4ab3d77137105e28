//! Edges of an import: rows alone, counters are moved once for all.

use base::{Fault, PostId, UserId};

use crate::Tx;

/// One account's stance towards another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EdgeKind {
    /// Follows.
    Follow,
    /// Blocks.
    Block,
    /// Mutes.
    Mute,
}

/// Adds an edge; false when it is there already.
pub fn insert_edge(
    tx: &mut Tx<'_>,
    kind: EdgeKind,
    source: UserId,
    target: UserId,
) -> Result<bool, Fault> {
    let sql = match kind {
        EdgeKind::Follow => {
            "INSERT INTO follow (source_id, target_id, id) VALUES ($1, $2, $3) \
             ON CONFLICT DO NOTHING"
        }
        EdgeKind::Block => {
            "INSERT INTO block (source_id, target_id, id) VALUES ($1, $2, $3) \
             ON CONFLICT DO NOTHING"
        }
        EdgeKind::Mute => {
            "INSERT INTO mute (source_id, target_id, id) VALUES ($1, $2, $3) \
             ON CONFLICT DO NOTHING"
        }
    };
    let id = tx.next_id::<()>();
    Ok(tx.exec(sql, &[source.into(), target.into(), id.into()])? > 0)
}

/// Adds a like with an id of its own, by which likes are ordered; false when it is there already.
pub fn insert_like(tx: &mut Tx<'_>, user: UserId, post: PostId, id: i64) -> Result<bool, Fault> {
    let sql = "INSERT INTO post_like (user_id, post_id, id) VALUES ($1, $2, $3) \
               ON CONFLICT DO NOTHING";
    Ok(tx.exec(sql, &[user.into(), post.into(), id.into()])? > 0)
}

/// Puts a post into a user's mentions.
pub fn insert_mention(tx: &mut Tx<'_>, user: UserId, post: PostId) -> Result<(), Fault> {
    let sql = "INSERT INTO mention (user_id, post_id) VALUES ($1, $2) ON CONFLICT DO NOTHING";
    tx.exec(sql, &[user.into(), post.into()]).map(|_| ())
}
