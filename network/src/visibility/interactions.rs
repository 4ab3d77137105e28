//! Whether an actor may act on something: the single rule for likes, reposts, bookmarks, replies, quotes, messages,
//! list memberships and other interactions.

use base::refusal::ResourceRef;
use base::{Error, Fault, PostId, Refusal, UserId};
use store::graph::{self, RelationKind};
use store::posts::{self, Post};
use store::users::{self, User};
use store::{Tx, follows, messages};

use super::{AuthorVisibilities, Viewer, Visibility, profile_visibility};

/// Why an actor may not act on something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessDenial {
    /// Deleted or unknown.
    Missing,
    /// The owner is suspended.
    Suspended,
    /// The owner blocks the actor.
    Blocked,
    /// Restricted to others: followers of a protected owner, members of a closed community, subscribers.
    Protected,
}

/// Code and message for a blocked actor (contract core §3.5).
const BLOCKED: (u16, &str) = (136, "You have been blocked from performing this action.");

impl AccessDenial {
    /// The default refusal: 404 if missing, 403 with code 136 for a block, 403 with code 63 for a suspended user, and
    /// 403 `not-authorized-for-resource` for posts of a protected or suspended user.
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

/// Why an actor may not act on a post; none if they may see it. Blocking the author does not prevent the actor from
/// acting on the post.
pub fn find_post_denial(tx: &mut Tx<'_>, actor: UserId, post: &Post) -> Result<Option<AccessDenial>, Fault> {
    let Some(author) = users::find_by_ids(tx, &[post.author_id])?.pop() else {
        return Ok(Some(AccessDenial::Missing));
    };
    let mut visibilities = AuthorVisibilities::load(tx, Viewer::user(actor), Some(&author))?;
    visibilities.admit_posts(tx, [post])?;
    match visibilities.post_visibility(post) {
        Visibility::Visible => Ok(None),
        Visibility::Missing => Ok(Some(AccessDenial::Missing)),
        Visibility::Suspended => Ok(Some(AccessDenial::Suspended)),
        Visibility::Forbidden if is_blocked(tx, actor, author.id)? => Ok(Some(AccessDenial::Blocked)),
        Visibility::Forbidden => Ok(Some(AccessDenial::Protected)),
    }
}

/// Why an actor may not act on a user. Protection is no reason; operations have their own rules for it.
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

/// Refuses, by [`AccessDenial::to_refusal`], if `actor` may not act on `post`, which the request names in `parameter`.
///
/// To be called in the transaction that writes. Only the author of `post` is considered, not that of a reposted
/// original; [`find_interactable_post`] considers both.
pub fn require_post_access(tx: &mut Tx<'_>, actor: UserId, post: &Post, parameter: &'static str) -> Result<(), Error> {
    match find_post_denial(tx, actor, post)? {
        None => Ok(()),
        Some(denial) => Err(denial.to_refusal(ResourceRef::new("tweet", parameter, post.id)).into()),
    }
}

/// The post named by the request's `parameter`, or the original of a repost. Refused as by [`require_post_access`] for
/// either, and 404 if unknown.
pub fn find_interactable_post(
    tx: &mut Tx<'_>,
    actor: UserId,
    id: PostId,
    parameter: &'static str,
) -> Result<Post, Error> {
    let missing = || Error::from(Refusal::NotFound(ResourceRef::new("tweet", parameter, id)));
    let post = posts::find_by_id_with_author(tx, id, Some(actor))?.ok_or_else(missing)?;
    require_post_access(tx, actor, &post, parameter)?;
    let Some(original) = post.repost_of_id else {
        return Ok(post);
    };
    let original = posts::find_by_id(tx, original)?.ok_or_else(missing)?;
    require_post_access(tx, actor, &original, parameter)?;
    Ok(original)
}

/// The user named by the request's `parameter`: 404 if unknown or deleted, 403 with code 63 if suspended, and with
/// code 136 if they block the actor.
pub fn find_reachable_user(tx: &mut Tx<'_>, actor: UserId, id: UserId, parameter: &'static str) -> Result<User, Error> {
    let subject = || ResourceRef::new("user", parameter, id);
    let Some(target) = users::find_by_id(tx, id)? else {
        return Err(Refusal::NotFound(subject()).into());
    };
    match find_user_denial(tx, actor, &target)? {
        None => Ok(target),
        Some(denial) => Err(denial.to_refusal(subject()).into()),
    }
}

/// What decides whether a user accepts direct messages from a sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DmPolicy {
    /// The user accepts messages from everyone.
    pub open: bool,
    /// The user follows the sender.
    pub follows: bool,
    /// The user has written to the sender, who may answer.
    pub has_written: bool,
    /// The user blocks the sender or their messages, or is blocked.
    pub blocks: bool,
}

impl DmPolicy {
    /// The value of `receives_your_dm`, and the rule for sending.
    pub const fn accepts_messages(self) -> bool {
        (self.open || self.follows || self.has_written) && !self.blocks
    }

    /// Without whether the target has written.
    fn load(tx: &mut Tx<'_>, sender: UserId, target: &User) -> Result<Self, Fault> {
        // Nobody writes to themselves.
        let is_reachable = profile_visibility(target) == Visibility::Visible && target.id != sender;
        Ok(Self {
            open: target.receives_dm,
            follows: follows::exists(tx, target.id, sender)?,
            has_written: false,
            blocks: !is_reachable
                || is_blocked(tx, sender, target.id)?
                || is_blocked(tx, target.id, sender)?
                || graph::exists(tx, RelationKind::DmBlock, target.id, sender)?,
        })
    }
}

/// Refused with code 349 if `target` does not accept messages from `sender` or is blocked by them, and with code 63 if
/// the target is suspended.
pub fn require_may_message(tx: &mut Tx<'_>, sender: UserId, target: &User) -> Result<(), Error> {
    let is_allowed = may_message(tx, sender, target)?;
    require_accepted(target, is_allowed)
}

/// As [`require_may_message`], for whom to add to a group: having written does not count.
pub fn require_may_add_to_group(tx: &mut Tx<'_>, sender: UserId, target: &User) -> Result<(), Error> {
    let is_allowed = may_add_to_group(tx, sender, target)?;
    require_accepted(target, is_allowed)
}

fn require_accepted(target: &User, is_allowed: bool) -> Result<(), Error> {
    if profile_visibility(target) == Visibility::Suspended {
        let subject = ResourceRef::new("user", "participant_id", target.id);
        return Err(AccessDenial::Suspended.to_refusal(subject).into());
    }
    if is_allowed {
        return Ok(());
    }
    Err(Refusal::forbidden_with_code(349, "You cannot send messages to this user.").into())
}

/// Whether [`require_may_message`] lets the sender write.
pub fn may_message(tx: &mut Tx<'_>, sender: UserId, target: &User) -> Result<bool, Fault> {
    let policy = DmPolicy::load(tx, sender, target)?;
    if policy.accepts_messages() || policy.blocks {
        return Ok(policy.accepts_messages());
    }
    let has_written = !messages::filter_correspondents(tx, &[target.id], sender)?.is_empty();
    Ok(DmPolicy { has_written, ..policy }.accepts_messages())
}

/// Whether [`require_may_add_to_group`] lets the sender add the target.
pub fn may_add_to_group(tx: &mut Tx<'_>, sender: UserId, target: &User) -> Result<bool, Fault> {
    Ok(DmPolicy::load(tx, sender, target)?.accepts_messages())
}
