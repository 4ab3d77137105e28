//! Given an actor and a thing, may it be acted on: the one answer for likes, reposts, bookmarks,
//! replies, quotes, messages, members of lists and whatever else one user does to another.

use base::refusal::ResourceRef;
use base::{Error, Fault, PostId, Refusal, UserId};
use store::graph::{self, RelationKind};
use store::posts::{self, Post};
use store::users::{self, User};
use store::{Tx, follows};

use super::{AuthorVisibilities, Viewer, Visibility, profile_visibility};

/// Why someone may not act on a thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessDenial {
    /// It is deleted, or was never there.
    Missing,
    /// Its owner is suspended.
    Suspended,
    /// Its owner blocks the actor.
    Blocked,
    /// It is for some only, and the actor none of them: followers of a protected owner, members
    /// of a closed community, subscribers.
    Protected,
}

/// Code and sentence for someone who is blocked (contract §3.5).
const BLOCKED: (u16, &str) = (136, "You have been blocked from performing this action.");

impl AccessDenial {
    /// How an operation refuses because of it, where it has no words of its own: 404 for what is
    /// not there, 403 with code 136 for a block, 403 with code 63 for a suspended user, and 403
    /// `not-authorized-for-resource` for posts of a protected or a suspended user.
    pub fn to_refusal(self, subject: ResourceRef) -> Refusal {
        match self {
            Self::Missing => Refusal::NotFound(subject),
            Self::Suspended if subject.resource == "user" => {
                Refusal::forbidden_with_code(63, "User has been suspended.")
            }
            Self::Blocked => Refusal::forbidden_with_code(BLOCKED.0, BLOCKED.1),
            Self::Suspended | Self::Protected => Refusal::NotVisible(subject),
        }
    }
}

/// What keeps an actor from acting on a post; nothing does when it is their own or they may see
/// it. Whoever blocks its author may still act on it: a block binds the blocked.
pub fn find_post_denial(tx: &mut Tx<'_>, actor: UserId, post: &Post) -> Result<Option<AccessDenial>, Fault> {
    let Some(author) = users::find_by_id(tx, post.author_id)? else {
        return Ok(Some(AccessDenial::Missing));
    };
    let mut sights = AuthorVisibilities::load(tx, Viewer::user(actor), Some(&author))?;
    sights.admit_posts(tx, [post])?;
    match sights.post_visibility(post) {
        Visibility::Visible => Ok(None),
        Visibility::Missing => Ok(Some(AccessDenial::Missing)),
        Visibility::Suspended => Ok(Some(AccessDenial::Suspended)),
        Visibility::Forbidden if is_blocked(tx, actor, author.id)? => Ok(Some(AccessDenial::Blocked)),
        Visibility::Forbidden => Ok(Some(AccessDenial::Protected)),
    }
}

/// What keeps an actor from doing something to a user: to follow, to write to, to put into a
/// list. Protection does not; what follows from it is the operation's own rule.
pub fn find_user_denial(tx: &mut Tx<'_>, actor: UserId, target: &User) -> Result<Option<AccessDenial>, Fault> {
    Ok(match profile_visibility(target) {
        Visibility::Missing => Some(AccessDenial::Missing),
        Visibility::Suspended => Some(AccessDenial::Suspended),
        Visibility::Visible | Visibility::Forbidden => {
            is_blocked(tx, actor, target.id)?.then_some(AccessDenial::Blocked)
        }
    })
}

/// Whether `by` blocks `actor`.
pub fn is_blocked(tx: &mut Tx<'_>, actor: UserId, by: UserId) -> Result<bool, Fault> {
    graph::exists(tx, RelationKind::Block, by, actor)
}

/// Refuses, as [`Bar::refusal`] says, when `actor` may not act on `post`, which the request named
/// in `parameter`.
///
/// Call it inside the transaction that writes. A repost is judged by its own author alone:
/// whoever likes, reposts or quotes one acts on its original, which [`touched`] looks up.
pub fn require_post_access(tx: &mut Tx<'_>, actor: UserId, post: &Post, parameter: &'static str) -> Result<(), Error> {
    match find_post_denial(tx, actor, post)? {
        None => Ok(()),
        Some(bar) => Err(bar.to_refusal(ResourceRef::new("tweet", parameter, post.id)).into()),
    }
}

/// The post that an actor acts on by naming `id` in `parameter`: the post itself, or what it
/// reposts. Refused as by [`may_touch`] when either may not be acted on, and 404 when unknown.
pub fn find_interactable_post(
    tx: &mut Tx<'_>,
    actor: UserId,
    id: PostId,
    parameter: &'static str,
) -> Result<Post, Error> {
    let missing = || Error::from(Refusal::NotFound(ResourceRef::new("tweet", parameter, id)));
    let post = posts::find_by_id(tx, id)?.ok_or_else(missing)?;
    require_post_access(tx, actor, &post, parameter)?;
    let Some(original) = post.repost_of_id else {
        return Ok(post);
    };
    let original = posts::find_by_id(tx, original)?.ok_or_else(missing)?;
    require_post_access(tx, actor, &original, parameter)?;
    Ok(original)
}

/// The user to whom an actor does something by naming `id` in `parameter`: 404 when unknown or
/// deleted, 403 with code 63 when suspended and with code 136 when they block the actor.
pub fn find_reachable_user(tx: &mut Tx<'_>, actor: UserId, id: UserId, parameter: &'static str) -> Result<User, Error> {
    let subject = || ResourceRef::new("user", parameter, id);
    let Some(target) = users::find_by_id(tx, id)? else {
        return Err(Refusal::NotFound(subject()).into());
    };
    match find_user_denial(tx, actor, &target)? {
        None => Ok(target),
        Some(bar) => Err(bar.to_refusal(subject()).into()),
    }
}

/// What decides whether a user takes direct messages of a sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DmPolicy {
    /// The user takes messages of everyone.
    pub open: bool,
    /// The user follows the sender.
    pub follows: bool,
    /// The user blocks the sender, or takes no messages of them.
    pub blocks: bool,
}

impl DmPolicy {
    /// Whether a message gets in: what `receives_your_dm` says and what sending is judged by.
    pub const fn accepts_messages(self) -> bool {
        (self.open || self.follows) && !self.blocks
    }
}

/// Refuses, with code 349, when `target` takes no direct messages of `sender`; with code 63 when
/// the target is suspended. Whoever blocks `target` cannot write to them either.
pub fn require_may_message(tx: &mut Tx<'_>, sender: UserId, target: &User) -> Result<(), Error> {
    if profile_visibility(target) == Visibility::Suspended {
        let subject = ResourceRef::new("user", "participant_id", target.id);
        return Err(AccessDenial::Suspended.to_refusal(subject).into());
    }
    let letterbox = DmPolicy {
        open: target.receives_dm,
        follows: follows::exists(tx, target.id, sender)?,
        blocks: is_blocked(tx, sender, target.id)? || graph::exists(tx, RelationKind::DmBlock, target.id, sender)?,
    };
    if letterbox.accepts_messages() && !is_blocked(tx, target.id, sender)? {
        return Ok(());
    }
    Err(Refusal::forbidden_with_code(349, "You cannot send messages to this user.").into())
}
