//! Blocks and mutes.

use base::{Fault, UserId};

use crate::Tx;

/// Which of `sources` block `target`.
pub fn blockers(tx: &mut Tx<'_>, sources: &[UserId], target: UserId) -> Result<Vec<UserId>, Fault> {
    let sql = "SELECT source_id FROM block WHERE source_id = $1 AND target_id = $2";
    let keys: Vec<_> = sources.iter().map(|source| source.get()).collect();
    tx.of_each(sql, &keys, &[target.into()], |row| row.id(0))
}

/// Which of `targets` `source` blocks.
pub fn blocked(tx: &mut Tx<'_>, source: UserId, targets: &[UserId]) -> Result<Vec<UserId>, Fault> {
    let sql = "SELECT target_id FROM block WHERE target_id = $1 AND source_id = $2";
    let keys: Vec<_> = targets.iter().map(|target| target.get()).collect();
    tx.of_each(sql, &keys, &[source.into()], |row| row.id(0))
}

/// Which of `targets` `source` mutes.
pub fn muted(tx: &mut Tx<'_>, source: UserId, targets: &[UserId]) -> Result<Vec<UserId>, Fault> {
    let sql = "SELECT target_id FROM mute WHERE target_id = $1 AND source_id = $2";
    let keys: Vec<_> = targets.iter().map(|target| target.get()).collect();
    tx.of_each(sql, &keys, &[source.into()], |row| row.id(0))
}

/// Makes `source` block `target`; false when it does already.
pub fn block(tx: &mut Tx<'_>, source: UserId, target: UserId, id: i64) -> Result<bool, Fault> {
    let sql = "INSERT INTO block (source_id, target_id, id) VALUES ($1, $2, $3) \
               ON CONFLICT DO NOTHING";
    Ok(tx.exec(sql, &[source.into(), target.into(), id.into()])? > 0)
}

/// Makes `source` mute `target`; false when it does already.
pub fn mute(tx: &mut Tx<'_>, source: UserId, target: UserId, id: i64) -> Result<bool, Fault> {
    let sql = "INSERT INTO mute (source_id, target_id, id) VALUES ($1, $2, $3) \
               ON CONFLICT DO NOTHING";
    Ok(tx.exec(sql, &[source.into(), target.into(), id.into()])? > 0)
}
