//! Imported edges. Only rows are written; the importer updates counters in bulk.

use std::collections::HashSet;

use base::{Fault, PostId, UserId};

use crate::Tx;
use crate::db::{SqlValue, insert_new, insert_new_later};
use crate::graph::{self, RelationKind};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EdgeKind {
    Follow,
    Block,
    Mute,
    Request,
    DmBlock,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportedEdges {
    Follows,
    /// From a user to a post.
    Likes,
    /// From a user to a list.
    ListMembers,
}

/// Returns false if the edge exists, if it is a follow between users one of whom blocks the other, or if it is a
/// follow request that would have no effect. Edges are ordered by `id`.
pub fn insert_edge(tx: &mut Tx<'_>, kind: EdgeKind, source: UserId, target: UserId, id: i64) -> Result<bool, Fault> {
    let sql = match kind {
        EdgeKind::Follow => {
            "INSERT INTO follow (source_id, target_id, id) SELECT CAST($1 AS BIGINT), CAST($2 AS BIGINT), \
             CAST($3 AS BIGINT) WHERE NOT EXISTS (SELECT 1 FROM block WHERE source_id = $1 AND target_id = $2) \
             AND NOT EXISTS (SELECT 1 FROM block WHERE source_id = $2 AND target_id = $1) ON CONFLICT DO NOTHING"
        }
        EdgeKind::Block => "INSERT INTO block (source_id, target_id, id) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
        EdgeKind::Mute => "INSERT INTO mute (source_id, target_id, id) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
        EdgeKind::Request => {
            "INSERT INTO follow_request (source_id, target_id, id) SELECT CAST($1 AS BIGINT), CAST($2 AS BIGINT), \
             CAST($3 AS BIGINT) WHERE EXISTS (SELECT 1 FROM users WHERE id = $2 AND protected = 1) AND NOT EXISTS \
             (SELECT 1 FROM follow WHERE source_id = $1 AND target_id = $2) AND NOT EXISTS (SELECT 1 FROM block \
             WHERE source_id = $1 AND target_id = $2) AND NOT EXISTS (SELECT 1 FROM block WHERE source_id = $2 \
             AND target_id = $1) ON CONFLICT DO NOTHING"
        }
        EdgeKind::DmBlock => {
            "INSERT INTO dm_block (source_id, target_id, id) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING"
        }
    };
    Ok(tx.execute(sql, &[source.into(), target.into(), id.into()])? > 0)
}

/// Inserts many follows or likes on PostgreSQL, as [`insert_edge`] and [`insert_like`]: source, target and id of each.
/// Returns those that did not exist.
pub fn insert_edges(
    tx: &mut Tx<'_>,
    kind: ImportedEdges,
    edges: &[(i64, i64, i64)],
) -> Result<HashSet<(i64, i64)>, Fault> {
    if edges.is_empty() {
        return Ok(HashSet::new());
    }
    let sql = match kind {
        ImportedEdges::Follows => {
            "INSERT INTO follow (source_id, target_id, id) SELECT e.source_id, e.target_id, e.id \
             FROM unnest(CAST($1 AS BIGINT[]), CAST($2 AS BIGINT[]), CAST($3 AS BIGINT[])) AS e \
             (source_id, target_id, id) WHERE NOT EXISTS (SELECT 1 FROM block b WHERE b.source_id = e.source_id AND \
             b.target_id = e.target_id) AND NOT EXISTS (SELECT 1 FROM block b WHERE b.source_id = e.target_id AND \
             b.target_id = e.source_id) ON CONFLICT DO NOTHING RETURNING source_id, target_id"
        }
        ImportedEdges::Likes => {
            "INSERT INTO post_like (user_id, post_id, id) SELECT * FROM unnest(CAST($1 AS BIGINT[]), \
             CAST($2 AS BIGINT[]), CAST($3 AS BIGINT[])) ON CONFLICT DO NOTHING RETURNING user_id, post_id"
        }
        ImportedEdges::ListMembers => {
            "INSERT INTO list_member (user_id, list_id, id, private) SELECT e.user_id, e.list_id, e.id, list.private \
             FROM unnest(CAST($1 AS BIGINT[]), CAST($2 AS BIGINT[]), CAST($3 AS BIGINT[])) AS e \
             (user_id, list_id, id) JOIN list ON list.id = e.list_id ON CONFLICT DO NOTHING RETURNING user_id, list_id"
        }
    };
    let column = |part: fn(&(i64, i64, i64)) -> i64| edges.iter().map(part).collect::<Vec<i64>>();
    let (sources, targets, ids) = (column(|edge| edge.0), column(|edge| edge.1), column(|edge| edge.2));
    let inserted: Vec<(i64, i64)> =
        tx.query_rows(sql, &[SqlValue::Keys(&sources), SqlValue::Keys(&targets), SqlValue::Keys(&ids)])?;
    Ok(inserted.into_iter().collect())
}

/// Those of `users` who have an account here, unlike placeholders, and whether it is protected.
pub fn list_accounts(tx: &mut Tx<'_>, users: &[UserId]) -> Result<Vec<(UserId, bool)>, Fault> {
    let sql = "SELECT id, protected FROM users WHERE id = $1 AND state < 3";
    tx.query_by_ids(sql, users, &[])
}

pub fn has_follow_requests(tx: &mut Tx<'_>) -> Result<bool, Fault> {
    let sql = "SELECT 1 FROM follow_request LIMIT 1";
    tx.row_exists(sql, &[])
}

/// Deletes a follow or follow request after a block; returns whether there was a follow.
pub fn delete_follow_between(tx: &mut Tx<'_>, source: UserId, target: UserId) -> Result<bool, Fault> {
    graph::delete(tx, RelationKind::Request, source, target)?;
    let sql = "DELETE FROM follow WHERE source_id = $1 AND target_id = $2";
    Ok(tx.execute(sql, &[source.into(), target.into()])? > 0)
}

/// Returns false if the like exists. Likes are ordered by `id`.
pub fn insert_like(tx: &mut Tx<'_>, user: UserId, post: PostId, id: i64) -> Result<bool, Fault> {
    insert_new!(tx, "post_like", user_id = user, post_id = post, id = id)
}

pub fn insert_mention(tx: &mut Tx<'_>, user: UserId, post: PostId) -> Result<(), Fault> {
    insert_new_later!(tx, "mention", user_id = user, post_id = post)
}
