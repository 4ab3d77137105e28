//! Ties between two users beside following: requests to follow, blocks, mutes, and blocks of
//! direct messages.

use base::{Fault, UserId};

use crate::Tx;
use crate::edges::{BothWays, hanging, page_to};
use crate::follows::Edge;
use crate::posts::Span;

/// What one user may be to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tie {
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
macro_rules! of_tie {
    ($tie:expr, $before:literal, $after:literal) => {
        match $tie {
            Tie::Request => concat!($before, "follow_request", $after),
            Tie::Block => concat!($before, "block", $after),
            Tie::Mute => concat!($before, "mute", $after),
            Tie::DmBlock => concat!($before, "dm_block", $after),
        }
    };
}

/// Whether `source` has this tie to `target`.
pub fn exists(tx: &mut Tx<'_>, tie: Tie, source: UserId, target: UserId) -> Result<bool, Fault> {
    let sql = of_tie!(
        tie,
        "SELECT 1 FROM ",
        " WHERE source_id = $1 AND target_id = $2"
    );
    let found = tx.row(sql, &[source.into(), target.into()], |_| Ok(()))?;
    Ok(found.is_some())
}

/// Ties `source` to `target`; false when they are tied so already.
pub fn insert(
    tx: &mut Tx<'_>,
    tie: Tie,
    source: UserId,
    target: UserId,
    id: i64,
) -> Result<bool, Fault> {
    let sql = of_tie!(
        tie,
        "INSERT INTO ",
        " (source_id, target_id, id) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING"
    );
    Ok(tx.exec(sql, &[source.into(), target.into(), id.into()])? > 0)
}

/// Unties `source` from `target`; false when they are not tied so.
pub fn delete(tx: &mut Tx<'_>, tie: Tie, source: UserId, target: UserId) -> Result<bool, Fault> {
    let sql = of_tie!(
        tie,
        "DELETE FROM ",
        " WHERE source_id = $1 AND target_id = $2"
    );
    Ok(tx.exec(sql, &[source.into(), target.into()])? > 0)
}

/// Which of `sources` have this tie to `target`.
pub fn of_those(
    tx: &mut Tx<'_>,
    tie: Tie,
    sources: &[UserId],
    target: UserId,
) -> Result<Vec<UserId>, Fault> {
    let sql = of_tie!(
        tie,
        "SELECT source_id FROM ",
        " WHERE source_id = $1 AND target_id = $2"
    );
    let keys: Vec<_> = sources.iter().map(|source| source.get()).collect();
    tx.of_each(sql, &keys, &[target.into()], |row| row.id(0))
}

/// To which of `targets` `source` has this tie.
pub fn among(
    tx: &mut Tx<'_>,
    tie: Tie,
    source: UserId,
    targets: &[UserId],
) -> Result<Vec<UserId>, Fault> {
    let sql = of_tie!(
        tie,
        "SELECT target_id FROM ",
        " WHERE target_id = $1 AND source_id = $2"
    );
    let keys: Vec<_> = targets.iter().map(|target| target.get()).collect();
    tx.of_each(sql, &keys, &[source.into()], |row| row.id(0))
}

/// A page of those to whom `source` has this tie, latest first. Requests are not listed so: they
/// are read by whom they wait for, with [`requests`].
pub fn page(tx: &mut Tx<'_>, tie: Tie, source: UserId, span: &Span) -> Result<Vec<Edge>, Fault> {
    let falling = of_tie!(
        tie,
        "SELECT target_id, id FROM ",
        " WHERE source_id = $1 AND id > $2 AND id < $3 ORDER BY id DESC LIMIT $4"
    );
    let rising = of_tie!(
        tie,
        "SELECT target_id, id FROM ",
        " WHERE source_id = $1 AND id > $2 AND id < $3 ORDER BY id ASC LIMIT $4"
    );
    page_to(tx, source, span, BothWays { falling, rising })
}

/// A page of those who have asked to follow `target`, latest first.
pub fn requests(tx: &mut Tx<'_>, target: UserId, span: &Span) -> Result<Vec<Edge>, Fault> {
    let sql = hanging!("SELECT source_id, id FROM follow_request WHERE target_id = $1");
    page_to(tx, target, span, sql)
}

/// Drops every request to follow `target`; how many there were.
pub fn delete_requests(tx: &mut Tx<'_>, target: UserId) -> Result<u64, Fault> {
    let sql = "DELETE FROM follow_request WHERE target_id = $1";
    tx.exec(sql, &[target.into()])
}

/// Everyone whom `source` mutes.
pub fn all_muted(tx: &mut Tx<'_>, source: UserId) -> Result<Vec<UserId>, Fault> {
    let sql = "SELECT target_id FROM mute WHERE source_id = $1";
    tx.rows(sql, &[source.into()], |row| row.id(0))
}

/// Which of `sources` block `target`.
pub fn blockers(tx: &mut Tx<'_>, sources: &[UserId], target: UserId) -> Result<Vec<UserId>, Fault> {
    of_those(tx, Tie::Block, sources, target)
}

/// Which of `targets` `source` blocks.
pub fn blocked(tx: &mut Tx<'_>, source: UserId, targets: &[UserId]) -> Result<Vec<UserId>, Fault> {
    among(tx, Tie::Block, source, targets)
}

/// Which of `targets` `source` mutes.
pub fn muted(tx: &mut Tx<'_>, source: UserId, targets: &[UserId]) -> Result<Vec<UserId>, Fault> {
    among(tx, Tie::Mute, source, targets)
}
