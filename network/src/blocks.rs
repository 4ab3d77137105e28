//! Blocks, of users and of their direct messages.

use base::{Fault, Refusal, Stop, UserId};
use store::graph::{self, RelationKind};
use store::{Tx, event_log};

use crate::follows::{lock, sever};
use crate::users;

/// Makes `source` block `target`: neither follows the other any more, nor waits to. To repeat it
/// changes nothing.
pub fn block(tx: &mut Tx<'_>, source: UserId, target: UserId) -> Result<(), Stop> {
    users::active(tx, source)?;
    if source == target {
        return Err(Refusal::forbidden("You cannot block yourself.").into());
    }
    lock(tx, source, target)?;
    users::named(tx, target, "target_user_id")?;
    let id = tx.next_id::<()>().get();
    if graph::insert(tx, RelationKind::Block, source, target, id)? {
        sever(tx, source, target)?;
        event_log::append(tx, "block.block", source.get(), target.get(), "")?;
    }
    Ok(())
}

/// Ends that `source` blocks `target`; false when it does not. Nobody follows anybody by it.
pub fn unblock(tx: &mut Tx<'_>, source: UserId, target: UserId) -> Result<bool, Fault> {
    let was = graph::delete(tx, RelationKind::Block, source, target)?;
    if was {
        event_log::append(tx, "block.unblock", source.get(), target.get(), "")?;
    }
    Ok(was)
}

/// Makes `source` take no direct messages of `target`. To repeat it changes nothing.
pub fn block_messages(tx: &mut Tx<'_>, source: UserId, target: UserId) -> Result<(), Stop> {
    users::active(tx, source)?;
    if source == target {
        return Err(Refusal::forbidden("You cannot block yourself.").into());
    }
    users::named(tx, target, "id")?;
    let id = tx.next_id::<()>().get();
    if graph::insert(tx, RelationKind::DmBlock, source, target, id)? {
        event_log::append(tx, "dm.block", source.get(), target.get(), "")?;
    }
    Ok(())
}

/// Makes `source` take direct messages of `target` again.
pub fn unblock_messages(tx: &mut Tx<'_>, source: UserId, target: UserId) -> Result<(), Stop> {
    if !graph::delete(tx, RelationKind::DmBlock, source, target)? {
        return Err(Refusal::forbidden("User is not blocked for DMs").into());
    }
    Ok(event_log::append(
        tx,
        "dm.unblock",
        source.get(),
        target.get(),
        "",
    )?)
}
