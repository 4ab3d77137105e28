//! Mutes, which are not visible to the muted user.

use base::{Error, Fault, Refusal, UserId};
use store::graph::{self, RelationKind};
use store::{Tx, event_log};

use crate::users;

/// Idempotent.
pub fn mute(tx: &mut Tx<'_>, source: UserId, target: UserId) -> Result<(), Error> {
    users::find_active(tx, source)?;
    if source == target {
        return Err(Refusal::forbidden_with_code(271, "You can't mute yourself.").into());
    }
    users::find_target(tx, target, "target_user_id")?;
    let id = tx.next_id::<()>().get();
    if graph::insert(tx, RelationKind::Mute, source, target, id)? {
        invalidate_home_timeline(tx, source)?;
        event_log::append(tx, "mute.mute", source.get(), target.get(), "")?;
    }
    Ok(())
}

/// Returns false if there was no mute.
pub fn unmute(tx: &mut Tx<'_>, source: UserId, target: UserId) -> Result<bool, Fault> {
    let removed = graph::delete(tx, RelationKind::Mute, source, target)?;
    if removed {
        invalidate_home_timeline(tx, source)?;
        event_log::append(tx, "mute.unmute", source.get(), target.get(), "")?;
    }
    Ok(removed)
}

/// Home timelines do not contain posts of muted users.
fn invalidate_home_timeline(tx: &mut Tx<'_>, source: UserId) -> Result<(), Fault> {
    store::users::invalidate_timeline(tx, source)
}
