//! Following: begun, asked for, approved, ended.
//!
//! A protected user is followed by approval. When such a user stops being protected, requests that
//! still wait are dropped and not approved (`store::users::update`): who asked must follow anew.

use base::refusal::Subject;
use base::{Fault, Refusal, Stop, UserId};
use store::graph::{self, RelationKind};
use store::posts::PageRange;
use store::users::User;
use store::{Tx, event_log, follows};

use crate::users;
use crate::visibility::{is_blocked, reached};

/// What an act of following has led to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// The source follows the target.
    pub following: bool,
    /// The source has asked to, and waits.
    pub pending: bool,
}

impl Standing {
    const FOLLOWING: Self = Self {
        following: true,
        pending: false,
    };
    const PENDING: Self = Self {
        following: false,
        pending: true,
    };
}

/// Makes `source` follow `target`, or ask to when the target is protected. To repeat it changes
/// nothing. Refused towards oneself, a suspended user, and where either blocks the other.
pub fn follow(tx: &mut Tx<'_>, source: UserId, target: UserId) -> Result<Standing, Stop> {
    lock(tx, source, target)?;
    let other = followable(tx, source, target)?;
    if follows::exists(tx, source, target)? {
        return Ok(Standing::FOLLOWING);
    }
    if !other.protected {
        begin(tx, source, target)?;
        return Ok(Standing::FOLLOWING);
    }
    let id = tx.next_id::<()>().get();
    if graph::insert(tx, RelationKind::Request, source, target, id)? {
        event_log::append(tx, "follow.request", source.get(), target.get(), "")?;
    }
    Ok(Standing::PENDING)
}

/// Makes `source` follow `target` by approval that is taken for granted: for worlds that are made.
pub fn follow_approved(tx: &mut Tx<'_>, source: UserId, target: UserId) -> Result<(), Stop> {
    lock(tx, source, target)?;
    followable(tx, source, target)?;
    graph::delete(tx, RelationKind::Request, source, target)?;
    Ok(begin(tx, source, target)?)
}

/// The target of a follow, if this source may follow them.
fn followable(tx: &mut Tx<'_>, source: UserId, target: UserId) -> Result<User, Stop> {
    users::active(tx, source)?;
    if source == target {
        return Err(Refusal::forbidden("You cannot follow yourself.").into());
    }
    let other = reached(tx, source, target, "target_user_id")?;
    if is_blocked(tx, target, source)? {
        let detail = "You are not permitted to perform this action.";
        return Err(Refusal::forbidden(detail).into());
    }
    Ok(other)
}

fn begin(tx: &mut Tx<'_>, source: UserId, target: UserId) -> Result<(), Fault> {
    let id = tx.next_id::<()>().get();
    if follows::insert(tx, source, target, id)? {
        event_log::append(tx, "follow.follow", source.get(), target.get(), "")?;
    }
    Ok(())
}

/// Ends that `source` follows `target`, or has asked to; false when neither was so.
pub fn unfollow(tx: &mut Tx<'_>, source: UserId, target: UserId) -> Result<bool, Fault> {
    lock(tx, source, target)?;
    let was = follows::delete(tx, source, target)?;
    if was {
        event_log::append(tx, "follow.unfollow", source.get(), target.get(), "")?;
    }
    let asked = graph::delete(tx, RelationKind::Request, source, target)?;
    if asked {
        event_log::append(tx, "follow.withdraw", source.get(), target.get(), "")?;
    }
    Ok(was || asked)
}

/// Lets `source`, who has asked to, follow the protected `target`.
pub fn approve(tx: &mut Tx<'_>, target: UserId, source: UserId) -> Result<(), Stop> {
    lock(tx, source, target)?;
    take_request(tx, target, source)?;
    Ok(begin(tx, source, target)?)
}

/// Refuses the request of `source` to follow `target`; who asked may ask again.
pub fn deny(tx: &mut Tx<'_>, target: UserId, source: UserId) -> Result<(), Stop> {
    lock(tx, source, target)?;
    take_request(tx, target, source)?;
    Ok(event_log::append(
        tx,
        "follow.deny",
        target.get(),
        source.get(),
        "",
    )?)
}

fn take_request(tx: &mut Tx<'_>, target: UserId, source: UserId) -> Result<(), Stop> {
    if graph::delete(tx, RelationKind::Request, source, target)? {
        return Ok(());
    }
    let subject = Subject::new("follow request", "source_user_id", source);
    Err(Refusal::NotFound(subject).into())
}

/// Those who have asked to follow a user, latest first, each with the request's own number.
pub fn requests(
    tx: &mut Tx<'_>,
    target: UserId,
    span: &PageRange,
) -> Result<Vec<follows::UserEdge>, Fault> {
    graph::follow_request_page(tx, target, span)
}

/// Ends every tie of following between two users, both ways: one of them blocks the other.
pub(crate) fn sever(tx: &mut Tx<'_>, one: UserId, other: UserId) -> Result<(), Fault> {
    for (source, target) in [(one, other), (other, one)] {
        if follows::delete(tx, source, target)? {
            let body = r#"{"cause":"block"}"#;
            event_log::append(tx, "follow.unfollow", source.get(), target.get(), body)?;
        }
        graph::delete(tx, RelationKind::Request, source, target)?;
    }
    Ok(())
}

/// What two users are to each other is changed by one transaction after another: a follow sees the
/// block that it may not pass, and nobody waits for another in the opposite order.
pub(crate) fn lock(tx: &mut Tx<'_>, one: UserId, other: UserId) -> Result<(), Fault> {
    store::users::lock(tx, one.min(other))?;
    store::users::lock(tx, one.max(other))
}
