//! Follows and follow requests.
//!
//! Following a protected user requires approval. When a user stops being protected, waiting requests are deleted, not
//! approved (`store::users::update`).

use base::refusal::ResourceRef;
use base::{Error, Fault, Refusal, UserId};
use store::graph::{self, RelationKind};
use store::posts::PageRange;
use store::users::User;
use store::{Tx, event_log, follows};

use crate::users;
use crate::visibility::{find_reachable_user, is_blocked};

/// The result of a follow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FollowState {
    pub following: bool,
    /// The source has requested to follow the target.
    pub pending: bool,
}

impl FollowState {
    const FOLLOWING: Self = Self { following: true, pending: false };
    const PENDING: Self = Self { following: false, pending: true };
}

/// Follows the target, or requests to if the target is protected. Idempotent. Refused for oneself, for suspended
/// users, and if either blocks the other.
pub fn follow(tx: &mut Tx<'_>, source: UserId, target: UserId) -> Result<FollowState, Error> {
    lock_user_and_target(tx, source, target)?;
    store::users::prefetch_by_id(tx, source)?;
    store::users::prefetch_by_id(tx, target)?;
    graph::prefetch_exists(tx, RelationKind::Block, target, source)?;
    follows::prefetch_exists(tx, source, target)?;
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

/// Follows the target without asking for approval, for generated demo data.
pub fn follow_approved(tx: &mut Tx<'_>, source: UserId, target: UserId) -> Result<(), Error> {
    lock_user_and_target(tx, source, target)?;
    find_followable_user(tx, source, target)?;
    graph::delete(tx, RelationKind::Request, source, target)?;
    Ok(create_follow(tx, source, target)?)
}

/// The target, if `source` may follow them.
fn find_followable_user(tx: &mut Tx<'_>, source: UserId, target: UserId) -> Result<User, Error> {
    users::find_writer(tx, source)?;
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

/// Also withdraws a follow request; returns false if there was neither.
pub fn unfollow(tx: &mut Tx<'_>, source: UserId, target: UserId) -> Result<bool, Fault> {
    lock_user_and_target(tx, source, target)?;
    let was_following = follows::delete(tx, source, target)?;
    if was_following {
        event_log::append(tx, "follow.unfollow", source.get(), target.get(), "")?;
    }
    let had_requested = graph::delete(tx, RelationKind::Request, source, target)?;
    if had_requested {
        event_log::append(tx, "follow.withdraw", source.get(), target.get(), "")?;
    }
    Ok(was_following || had_requested)
}

pub fn approve_request(tx: &mut Tx<'_>, target: UserId, source: UserId) -> Result<(), Error> {
    lock_user_and_target(tx, source, target)?;
    remove_request(tx, target, source)?;
    Ok(create_follow(tx, source, target)?)
}

/// The source may request again.
pub fn deny_request(tx: &mut Tx<'_>, target: UserId, source: UserId) -> Result<(), Error> {
    lock_user_and_target(tx, source, target)?;
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

/// Latest first: the user and the request's own id.
pub fn list_requests(tx: &mut Tx<'_>, target: UserId, range: &PageRange) -> Result<Vec<follows::UserEdge>, Fault> {
    graph::follow_request_page(tx, target, range)
}

/// Removes follows and follow requests in both directions after a block.
pub(crate) fn remove_follows_both_ways(tx: &mut Tx<'_>, one: UserId, other: UserId) -> Result<(), Fault> {
    for (source, target) in [(one, other), (other, one)] {
        remove_follow(tx, source, target, "block")?;
        graph::delete(tx, RelationKind::Request, source, target)?;
    }
    Ok(())
}

/// Removes a follow for another reason than that its source wants it.
pub fn remove_follow(tx: &mut Tx<'_>, source: UserId, target: UserId, cause: &str) -> Result<(), Fault> {
    if follows::delete(tx, source, target)? {
        let body = format!("{{\"cause\":\"{cause}\"}}");
        event_log::append(tx, "follow.unfollow", source.get(), target.get(), &body)?;
    }
    Ok(())
}

/// Serializes changes of what a user has to do with a target, also with [`lock_user_pair`], in the same order. Others
/// may act on the same target meanwhile.
pub(crate) fn lock_user_and_target(tx: &mut Tx<'_>, user: UserId, target: UserId) -> Result<(), Fault> {
    if target < user {
        store::users::lock_shared(tx, target);
        return store::users::lock(tx, user);
    }
    store::users::lock(tx, user)?;
    store::users::lock_shared(tx, target);
    Ok(())
}

/// Serializes changes of the relations between two users, in a fixed order to avoid deadlocks.
pub(crate) fn lock_user_pair(tx: &mut Tx<'_>, one: UserId, other: UserId) -> Result<(), Fault> {
    store::users::lock(tx, one.min(other))?;
    store::users::lock(tx, one.max(other))
}
