//! Relations between two users other than follows: follow requests, blocks, mutes, and blocks of direct messages.

use base::{Fault, UserId};

use crate::Tx;
use crate::edges::{DirectionalQuery, edge_page_query, typed_edge_page};
use crate::follows::UserEdge;
use crate::posts::PageRange;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelationKind {
    Request,
    Block,
    Mute,
    /// The source accepts no direct messages from the target.
    DmBlock,
}

/// The statement for a relation kind: its table is put between the two parts.
macro_rules! relation_sql {
    ($kind:expr, $before:literal, $after:literal) => {
        match $kind {
            RelationKind::Request => concat!($before, "follow_request", $after),
            RelationKind::Block => concat!($before, "block", $after),
            RelationKind::Mute => concat!($before, "mute", $after),
            RelationKind::DmBlock => concat!($before, "dm_block", $after),
        }
    };
}

pub fn exists(tx: &mut Tx<'_>, kind: RelationKind, source: UserId, target: UserId) -> Result<bool, Fault> {
    let sql = relation_sql!(kind, "SELECT 1 FROM ", " WHERE source_id = $1 AND target_id = $2");
    tx.row_exists(sql, &[source.into(), target.into()])
}

/// Announces [`exists`], so that it is asked together with what follows.
pub fn prefetch_exists(tx: &mut Tx<'_>, kind: RelationKind, source: UserId, target: UserId) -> Result<(), Fault> {
    let sql = relation_sql!(kind, "SELECT 1 FROM ", " WHERE source_id = $1 AND target_id = $2");
    tx.prefetch(sql, &[source.into(), target.into()])
}

/// Announces [`filter_blockers`] with the keys that a query selects for others.
pub(crate) fn prefetch_blockers(tx: &mut Tx<'_>, keys: (&str, &[i64]), target: UserId) -> Result<(), Fault> {
    tx.prefetch_by_keys("SELECT source_id FROM block WHERE source_id = $1 AND target_id = $2", keys, &[target.into()])
}

/// Returns false if the relation exists.
pub fn insert(tx: &mut Tx<'_>, kind: RelationKind, source: UserId, target: UserId, id: i64) -> Result<bool, Fault> {
    let sql =
        relation_sql!(kind, "INSERT INTO ", " (source_id, target_id, id) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING");
    Ok(tx.execute(sql, &[source.into(), target.into(), id.into()])? > 0)
}

/// Returns false if there is no such relation.
pub fn delete(tx: &mut Tx<'_>, kind: RelationKind, source: UserId, target: UserId) -> Result<bool, Fault> {
    let sql = relation_sql!(kind, "DELETE FROM ", " WHERE source_id = $1 AND target_id = $2");
    Ok(tx.execute(sql, &[source.into(), target.into()])? > 0)
}

pub fn filter_sources(
    tx: &mut Tx<'_>,
    kind: RelationKind,
    sources: &[UserId],
    target: UserId,
) -> Result<Vec<UserId>, Fault> {
    let sql = relation_sql!(kind, "SELECT source_id FROM ", " WHERE source_id = $1 AND target_id = $2");
    tx.query_by_ids(sql, sources, &[target.into()])
}

pub fn filter_targets(
    tx: &mut Tx<'_>,
    kind: RelationKind,
    source: UserId,
    targets: &[UserId],
) -> Result<Vec<UserId>, Fault> {
    let sql = relation_sql!(kind, "SELECT target_id FROM ", " WHERE target_id = $1 AND source_id = $2");
    tx.query_by_ids(sql, targets, &[source.into()])
}

/// Latest first. Not for follow requests, which are read by target: see [`follow_request_page`].
pub fn target_page(
    tx: &mut Tx<'_>,
    kind: RelationKind,
    source: UserId,
    range: &PageRange,
) -> Result<Vec<UserEdge>, Fault> {
    let descending = relation_sql!(
        kind,
        "SELECT target_id, id FROM ",
        " WHERE source_id = $1 AND id > $2 AND id < $3 ORDER BY id DESC LIMIT $4"
    );
    let ascending = relation_sql!(
        kind,
        "SELECT target_id, id FROM ",
        " WHERE source_id = $1 AND id > $2 AND id < $3 ORDER BY id ASC LIMIT $4"
    );
    typed_edge_page(tx, source, range, DirectionalQuery { descending, ascending })
}

/// Latest first.
pub fn follow_request_page(tx: &mut Tx<'_>, target: UserId, range: &PageRange) -> Result<Vec<UserEdge>, Fault> {
    let sql = edge_page_query!("SELECT source_id, id FROM follow_request WHERE target_id = $1");
    typed_edge_page(tx, target, range, sql)
}

/// Deletes all follow requests to `target`; returns how many.
pub fn delete_follow_requests(tx: &mut Tx<'_>, target: UserId) -> Result<u64, Fault> {
    let sql = "DELETE FROM follow_request WHERE target_id = $1";
    tx.execute(sql, &[target.into()])
}

pub fn list_muted(tx: &mut Tx<'_>, source: UserId) -> Result<Vec<UserId>, Fault> {
    let sql = "SELECT target_id FROM mute WHERE source_id = $1";
    tx.query_rows(sql, &[source.into()])
}

pub fn filter_blockers(tx: &mut Tx<'_>, sources: &[UserId], target: UserId) -> Result<Vec<UserId>, Fault> {
    filter_sources(tx, RelationKind::Block, sources, target)
}

pub fn filter_blocked(tx: &mut Tx<'_>, source: UserId, targets: &[UserId]) -> Result<Vec<UserId>, Fault> {
    filter_targets(tx, RelationKind::Block, source, targets)
}

pub fn filter_muted(tx: &mut Tx<'_>, source: UserId, targets: &[UserId]) -> Result<Vec<UserId>, Fault> {
    filter_targets(tx, RelationKind::Mute, source, targets)
}
