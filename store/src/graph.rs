//! Ties between two users beside following: requests to follow, blocks, mutes, and blocks of
//! direct messages.

use base::{Fault, UserId};

use crate::Tx;
use crate::edges::{DirectionalQuery, edge_page_query, typed_edge_page};
use crate::follows::UserEdge;
use crate::posts::PageRange;

/// What one user may be to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelationKind {
    /// The source has asked to follow the target.
    Request,
    /// The source blocks the target.
    Block,
    /// The source mutes the target.
    Mute,
    /// The source takes no direct messages of the target.
    DmBlock,
}

/// One statement for each kind of tie.
macro_rules! relation_sql {
    ($tie:expr, $before:literal, $after:literal) => {
        match $tie {
            RelationKind::Request => concat!($before, "follow_request", $after),
            RelationKind::Block => concat!($before, "block", $after),
            RelationKind::Mute => concat!($before, "mute", $after),
            RelationKind::DmBlock => concat!($before, "dm_block", $after),
        }
    };
}

/// Whether `source` has this tie to `target`.
pub fn exists(tx: &mut Tx<'_>, tie: RelationKind, source: UserId, target: UserId) -> Result<bool, Fault> {
    let sql = relation_sql!(tie, "SELECT 1 FROM ", " WHERE source_id = $1 AND target_id = $2");
    let found = tx.query_row(sql, &[source.into(), target.into()], |_| Ok(()))?;
    Ok(found.is_some())
}

/// Ties `source` to `target`; false when they are tied so already.
pub fn insert(tx: &mut Tx<'_>, tie: RelationKind, source: UserId, target: UserId, id: i64) -> Result<bool, Fault> {
    let sql = relation_sql!(
        tie,
        "INSERT INTO ",
        " (source_id, target_id, id) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING"
    );
    Ok(tx.execute(sql, &[source.into(), target.into(), id.into()])? > 0)
}

/// Unties `source` from `target`; false when they are not tied so.
pub fn delete(tx: &mut Tx<'_>, tie: RelationKind, source: UserId, target: UserId) -> Result<bool, Fault> {
    let sql = relation_sql!(tie, "DELETE FROM ", " WHERE source_id = $1 AND target_id = $2");
    Ok(tx.execute(sql, &[source.into(), target.into()])? > 0)
}

/// Which of `sources` have this tie to `target`.
pub fn filter_sources(
    tx: &mut Tx<'_>,
    tie: RelationKind,
    sources: &[UserId],
    target: UserId,
) -> Result<Vec<UserId>, Fault> {
    let sql = relation_sql!(
        tie,
        "SELECT source_id FROM ",
        " WHERE source_id = $1 AND target_id = $2"
    );
    let keys: Vec<_> = sources.iter().map(|source| source.get()).collect();
    tx.query_by_keys(sql, &keys, &[target.into()], |row| row.id(0))
}

/// To which of `targets` `source` has this tie.
pub fn filter_targets(
    tx: &mut Tx<'_>,
    tie: RelationKind,
    source: UserId,
    targets: &[UserId],
) -> Result<Vec<UserId>, Fault> {
    let sql = relation_sql!(
        tie,
        "SELECT target_id FROM ",
        " WHERE target_id = $1 AND source_id = $2"
    );
    let keys: Vec<_> = targets.iter().map(|target| target.get()).collect();
    tx.query_by_keys(sql, &keys, &[source.into()], |row| row.id(0))
}

/// A page of those to whom `source` has this tie, latest first. Requests are not listed so: they
/// are read by whom they wait for, with [`requests`].
pub fn target_page(
    tx: &mut Tx<'_>,
    tie: RelationKind,
    source: UserId,
    span: &PageRange,
) -> Result<Vec<UserEdge>, Fault> {
    let falling = relation_sql!(
        tie,
        "SELECT target_id, id FROM ",
        " WHERE source_id = $1 AND id > $2 AND id < $3 ORDER BY id DESC LIMIT $4"
    );
    let rising = relation_sql!(
        tie,
        "SELECT target_id, id FROM ",
        " WHERE source_id = $1 AND id > $2 AND id < $3 ORDER BY id ASC LIMIT $4"
    );
    typed_edge_page(
        tx,
        source,
        span,
        DirectionalQuery {
            descending: falling,
            ascending: rising,
        },
    )
}

/// A page of those who have asked to follow `target`, latest first.
pub fn follow_request_page(tx: &mut Tx<'_>, target: UserId, span: &PageRange) -> Result<Vec<UserEdge>, Fault> {
    let sql = edge_page_query!("SELECT source_id, id FROM follow_request WHERE target_id = $1");
    typed_edge_page(tx, target, span, sql)
}

/// Drops every request to follow `target`; how many there were.
pub fn delete_follow_requests(tx: &mut Tx<'_>, target: UserId) -> Result<u64, Fault> {
    let sql = "DELETE FROM follow_request WHERE target_id = $1";
    tx.execute(sql, &[target.into()])
}

/// Everyone whom `source` mutes.
pub fn list_muted(tx: &mut Tx<'_>, source: UserId) -> Result<Vec<UserId>, Fault> {
    let sql = "SELECT target_id FROM mute WHERE source_id = $1";
    tx.query_rows(sql, &[source.into()], |row| row.id(0))
}

/// Which of `sources` block `target`.
pub fn filter_blockers(tx: &mut Tx<'_>, sources: &[UserId], target: UserId) -> Result<Vec<UserId>, Fault> {
    filter_sources(tx, RelationKind::Block, sources, target)
}

/// Which of `targets` `source` blocks.
pub fn filter_blocked(tx: &mut Tx<'_>, source: UserId, targets: &[UserId]) -> Result<Vec<UserId>, Fault> {
    filter_targets(tx, RelationKind::Block, source, targets)
}

/// Which of `targets` `source` mutes.
pub fn filter_muted(tx: &mut Tx<'_>, source: UserId, targets: &[UserId]) -> Result<Vec<UserId>, Fault> {
    filter_targets(tx, RelationKind::Mute, source, targets)
}
