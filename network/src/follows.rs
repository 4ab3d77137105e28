//! Following: begun, asked for, approved, ended.
//!
//! A protected user is followed by approval. When such a user stops being protected, requests that
//! still wait are dropped and not approved (`store::users::update`): who asked must follow anew.

use base::refusal::ResourceRef;
use base::{Error, Fault, Refusal, UserId};
use store::graph::{self, RelationKind};
use store::posts::PageRange;
use store::users::User;
use store::{Tx, event_log, follows};

use crate::users;
use crate::visibility::{find_reachable_user, is_blocked};

/// What an act of following has led to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FollowState {
    /// The source follows the target.
    pub following: bool,
    /// The source has asked to, and waits.
    pub pending: bool,
}

impl FollowState {
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
pub fn follow(tx: &mut Tx<'_>, source: UserId, target: UserId) -> Result<FollowState, Error> {
    lock_user_pair(tx, source, target)?;
    let other = find_followable_user(tx, source, target)?;
    if follows::exists(tx, source, target)? {
        return Ok(FollowState::FOLLOWING);
    }
    if !other.protected {
        create_follow(tx, source, target)?;
        return Ok(FollowState::FOLLOWING);
    }
    let id = tx.next_id::<()>().get();
    if graph::insert(tx, RelationKind::Request, source, target, id)? {
        event_log::append(tx, "follow.request", source.get(), target.get(), "")?;
    }
    Ok(FollowState::PENDING)
}

/// Makes `source` follow `target` by approval that is taken for granted: for worlds that are made.
pub fn follow_approved(tx: &mut Tx<'_>, source: UserId, target: UserId) -> Result<(), Error> {
    lock_user_pair(tx, source, target)?;
    find_followable_user(tx, source, target)?;
    graph::delete(tx, RelationKind::Request, source, target)?;
    Ok(create_follow(tx, source, target)?)
}

/// The target of a follow, if this source may follow them.
fn find_followable_user(tx: &mut Tx<'_>, source: UserId, target: UserId) -> Result<User, Error> {
    users::find_active(tx, source)?;
    if source == target {
        return Err(Refusal::forbidden("You cannot follow yourself.").into());
    }
    let other = find_reachable_user(tx, source, target, "target_user_id")?;
    if is_blocked(tx, target, source)? {
        let detail = "You are not permitted to perform this action.";
        return Err(Refusal::forbidden(detail).into());
    }
    Ok(other)
}

fn create_follow(tx: &mut Tx<'_>, source: UserId, target: UserId) -> Result<(), Fault> {
    let id = tx.next_id::<()>().get();
    if follows::insert(tx, source, target, id)? {
        event_log::append(tx, "follow.follow", source.get(), target.get(), "")?;
    }
    Ok(())
}

/// Ends that `source` follows `target`, or has asked to; false when neither was so.
pub fn unfollow(tx: &mut Tx<'_>, source: UserId, target: UserId) -> Result<bool, Fault> {
    lock_user_pair(tx, source, target)?;
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
pub fn approve_request(tx: &mut Tx<'_>, target: UserId, source: UserId) -> Result<(), Error> {
    lock_user_pair(tx, source, target)?;
    remove_request(tx, target, source)?;
    Ok(create_follow(tx, source, target)?)
}

/// Refuses the request of `source` to follow `target`; who asked may ask again.
pub fn deny_request(tx: &mut Tx<'_>, target: UserId, source: UserId) -> Result<(), Error> {
    lock_user_pair(tx, source, target)?;
    remove_request(tx, target, source)?;
    Ok(event_log::append(tx, "follow.deny", target.get(), source.get(), "")?)
}

fn remove_request(tx: &mut Tx<'_>, target: UserId, source: UserId) -> Result<(), Error> {
    if graph::delete(tx, RelationKind::Request, source, target)? {
        return Ok(());
    }
    let subject = ResourceRef::new("follow request", "source_user_id", source);
    Err(Refusal::NotFound(subject).into())
}

/// Those who have asked to follow a user, latest first, each with the request's own number.
pub fn list_requests(tx: &mut Tx<'_>, target: UserId, span: &PageRange) -> Result<Vec<follows::UserEdge>, Fault> {
    graph::follow_request_page(tx, target, span)
}

/// Ends every tie of following between two users, both ways: one of them blocks the other.
pub(crate) fn remove_follows_both_ways(tx: &mut Tx<'_>, one: UserId, other: UserId) -> Result<(), Fault> {
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
pub(crate) fn lock_user_pair(tx: &mut Tx<'_>, one: UserId, other: UserId) -> Result<(), Fault> {
    store::users::lock(tx, one.min(other))?;
    store::users::lock(tx, one.max(other))
}
