//! Following and unfollowing.

use base::{Fault, Refusal, Stop, UserId};
use store::{Tx, follows, graph, log};

use crate::users;

/// Makes `source` follow `target`; false when it did already.
pub fn follow(tx: &mut Tx<'_>, source: UserId, target: UserId) -> Result<bool, Stop> {
    users::active(tx, source)?;
    users::active(tx, target)?;
    if source == target {
        return Err(Refusal::forbidden("You cannot follow yourself.").into());
    }
    let blocked = !graph::blockers(tx, &[target], source)?.is_empty();
    if blocked {
        let detail =
            "You have been blocked from following this account at the request of the user.";
        return Err(Refusal::forbidden_as(136, detail).into());
    }
    let id = tx.next_id::<()>().get();
    let new = follows::insert(tx, source, target, id)?;
    if new {
        log::append(tx, "follow.follow", source.get(), target.get(), "")?;
    }
    Ok(new)
}

/// Ends that `source` follows `target`; false when it did not.
pub fn unfollow(tx: &mut Tx<'_>, source: UserId, target: UserId) -> Result<bool, Fault> {
    let was = follows::delete(tx, source, target)?;
    if was {
        log::append(tx, "follow.unfollow", source.get(), target.get(), "")?;
    }
    Ok(was)
}
