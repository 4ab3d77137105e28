//! Blocks of users and of their direct messages.

use base::{Error, Fault, Refusal, UserId};
use store::graph::{self, RelationKind};
use store::{Tx, event_log};

use crate::follows::{lock_user_pair, remove_follows_both_ways};
use crate::users;

/// Also removes follows and follow requests in both directions. Idempotent.
pub fn block(tx: &mut Tx<'_>, source: UserId, target: UserId) -> Result<(), Error> {
    users::find_active(tx, source)?;
    if source == target {
        return Err(Refusal::forbidden("You cannot block yourself.").into());
    }
    lock_user_pair(tx, source, target)?;
    users::find_target(tx, target, "target_user_id")?;
    let id = tx.next_id::<()>().get();
    if graph::insert(tx, RelationKind::Block, source, target, id)? {
        remove_follows_both_ways(tx, source, target)?;
        event_log::append(tx, "block.block", source.get(), target.get(), "")?;
    }
    Ok(())
}

/// Returns false if there was no block. Former follows are not restored.
pub fn unblock(tx: &mut Tx<'_>, source: UserId, target: UserId) -> Result<bool, Fault> {
    let removed = graph::delete(tx, RelationKind::Block, source, target)?;
    if removed {
        event_log::append(tx, "block.unblock", source.get(), target.get(), "")?;
    }
    Ok(removed)
}

/// Idempotent.
pub fn block_messages(tx: &mut Tx<'_>, source: UserId, target: UserId) -> Result<(), Error> {
    users::find_active(tx, source)?;
    if source == target {
        return Err(Refusal::forbidden("You cannot block yourself.").into());
    }
    users::find_target(tx, target, "id")?;
    let id = tx.next_id::<()>().get();
    if graph::insert(tx, RelationKind::DmBlock, source, target, id)? {
        event_log::append(tx, "dm.block", source.get(), target.get(), "")?;
    }
    Ok(())
}

pub fn unblock_messages(tx: &mut Tx<'_>, source: UserId, target: UserId) -> Result<(), Error> {
    if !graph::delete(tx, RelationKind::DmBlock, source, target)? {
        return Err(Refusal::forbidden("User is not blocked for DMs").into());
    }
    Ok(event_log::append(tx, "dm.unblock", source.get(), target.get(), "")?)
}
