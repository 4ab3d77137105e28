//! Given an actor and a thing, may it be acted on: the one answer for likes, reposts, bookmarks,
//! replies, quotes, messages, members of lists and whatever else one user does to another.

use base::refusal::Subject;
use base::{Fault, PostId, Refusal, Stop, UserId};
use store::graph::{self, RelationKind};
use store::posts::{self, Post};
use store::users::{self, User};
use store::{Tx, follows};

use super::{Sight, Sights, Viewer, of_user};

/// Why someone may not act on a thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bar {
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

impl Bar {
    /// How an operation refuses because of it, where it has no words of its own: 404 for what is
    /// not there, 403 with code 136 for a block, 403 with code 63 for a suspended user, and 403
    /// `not-authorized-for-resource` for posts of a protected or a suspended user.
    pub fn refusal(self, subject: Subject) -> Refusal {
        match self {
            Self::Missing => Refusal::NotFound(subject),
            Self::Suspended if subject.resource == "user" => {
                Refusal::forbidden_as(63, "User has been suspended.")
            }
            Self::Blocked => Refusal::forbidden_as(BLOCKED.0, BLOCKED.1),
            Self::Suspended | Self::Protected => Refusal::NotVisible(subject),
        }
    }
}

/// What keeps an actor from acting on a post; nothing does when it is their own or they may see
/// it. Whoever blocks its author may still act on it: a block binds the blocked.
pub fn bar_of_post(tx: &mut Tx<'_>, actor: UserId, post: &Post) -> Result<Option<Bar>, Fault> {
    let Some(author) = users::find_by_id(tx, post.author_id)? else {
        return Ok(Some(Bar::Missing));
    };
    let mut sights = Sights::of_authors(tx, Viewer::user(actor), Some(&author))?;
    sights.admit(tx, [post])?;
    match sights.of_post(post) {
        Sight::Visible => Ok(None),
        Sight::Missing => Ok(Some(Bar::Missing)),
        Sight::Suspended => Ok(Some(Bar::Suspended)),
        Sight::Forbidden if is_blocked(tx, actor, author.id)? => Ok(Some(Bar::Blocked)),
        Sight::Forbidden => Ok(Some(Bar::Protected)),
    }
}

/// What keeps an actor from doing something to a user: to follow, to write to, to put into a
/// list. Protection does not; what follows from it is the operation's own rule.
pub fn bar_of_user(tx: &mut Tx<'_>, actor: UserId, target: &User) -> Result<Option<Bar>, Fault> {
    Ok(match of_user(target) {
        Sight::Missing => Some(Bar::Missing),
        Sight::Suspended => Some(Bar::Suspended),
        Sight::Visible | Sight::Forbidden => {
            is_blocked(tx, actor, target.id)?.then_some(Bar::Blocked)
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
pub fn may_touch(
    tx: &mut Tx<'_>,
    actor: UserId,
    post: &Post,
    parameter: &'static str,
) -> Result<(), Stop> {
    match bar_of_post(tx, actor, post)? {
        None => Ok(()),
        Some(bar) => Err(bar
            .refusal(Subject::new("tweet", parameter, post.id))
            .into()),
    }
}

/// The post that an actor acts on by naming `id` in `parameter`: the post itself, or what it
/// reposts. Refused as by [`may_touch`] when either may not be acted on, and 404 when unknown.
pub fn touched(
    tx: &mut Tx<'_>,
    actor: UserId,
    id: PostId,
    parameter: &'static str,
) -> Result<Post, Stop> {
    let missing = || Stop::from(Refusal::NotFound(Subject::new("tweet", parameter, id)));
    let post = posts::find_by_id(tx, id)?.ok_or_else(missing)?;
    may_touch(tx, actor, &post, parameter)?;
    let Some(original) = post.repost_of_id else {
        return Ok(post);
    };
    let original = posts::find_by_id(tx, original)?.ok_or_else(missing)?;
    may_touch(tx, actor, &original, parameter)?;
    Ok(original)
}

/// The user to whom an actor does something by naming `id` in `parameter`: 404 when unknown or
/// deleted, 403 with code 63 when suspended and with code 136 when they block the actor.
pub fn reached(
    tx: &mut Tx<'_>,
    actor: UserId,
    id: UserId,
    parameter: &'static str,
) -> Result<User, Stop> {
    let subject = || Subject::new("user", parameter, id);
    let Some(target) = users::find_by_id(tx, id)? else {
        return Err(Refusal::NotFound(subject()).into());
    };
    match bar_of_user(tx, actor, &target)? {
        None => Ok(target),
        Some(bar) => Err(bar.refusal(subject()).into()),
    }
}

/// What decides whether a user takes direct messages of a sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Letterbox {
    /// The user takes messages of everyone.
    pub open: bool,
    /// The user follows the sender.
    pub follows: bool,
    /// The user blocks the sender, or takes no messages of them.
    pub blocks: bool,
}

impl Letterbox {
    /// Whether a message gets in: what `receives_your_dm` says and what sending is judged by.
    pub const fn takes(self) -> bool {
        (self.open || self.follows) && !self.blocks
    }
}

/// Refuses, with code 349, when `target` takes no direct messages of `sender`; with code 63 when
/// the target is suspended. Whoever blocks `target` cannot write to them either.
pub fn may_message(tx: &mut Tx<'_>, sender: UserId, target: &User) -> Result<(), Stop> {
    if of_user(target) == Sight::Suspended {
        let subject = Subject::new("user", "participant_id", target.id);
        return Err(Bar::Suspended.refusal(subject).into());
    }
    let letterbox = Letterbox {
        open: target.receives_dm,
        follows: follows::exists(tx, target.id, sender)?,
        blocks: is_blocked(tx, sender, target.id)?
            || graph::exists(tx, RelationKind::DmBlock, target.id, sender)?,
    };
    if letterbox.takes() && !is_blocked(tx, target.id, sender)? {
        return Ok(());
    }
    Err(Refusal::forbidden_as(349, "You cannot send messages to this user.").into())
}
