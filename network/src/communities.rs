//! Communities: made, joined, left, posted to.

use base::refusal::Subject;
use base::{Fault, Refusal, Stop, UserId};
use store::communities::{self, Community};
use store::{Tx, event_log};

use crate::users::{self, one_of};

const ACCESS: &[&str] = &["Public", "Closed"];
const JOINING: &[&str] = &[
    "Open",
    "RestrictedJoinRequestsDisabled",
    "RestrictedJoinRequestsRequireAdminApproval",
    "RestrictedJoinRequestsRequireModeratorApproval",
    "SuperFollowRequired",
];
/// Characters of a name.
const NAME: usize = 50;
/// Characters of a description.
const DESCRIPTION: usize = 160;

/// A new community.
#[derive(Clone, Debug, Default)]
pub struct NewCommunity {
    /// Its name: 1–50 characters.
    pub name: String,
    /// What it is for: at most 160 characters.
    pub description: String,
    /// `Public`, `Closed`; empty: `Public`.
    pub access: String,
    /// Who may join; empty: `Open`.
    pub join_policy: String,
}

/// Makes a community; who makes it is its first member.
pub fn create(tx: &mut Tx<'_>, owner: UserId, new: &NewCommunity) -> Result<Community, Stop> {
    users::active(tx, owner)?;
    let name = base::text::normalize(new.name.trim()).into_owned();
    if name.is_empty() || name.chars().count() > NAME {
        let message = format!("The `name` must have 1 to {NAME} characters");
        return Err(Refusal::invalid("name", name, message).into());
    }
    if new.description.chars().count() > DESCRIPTION {
        let message = format!("The `description` must have at most {DESCRIPTION} characters");
        return Err(Refusal::invalid("description", &new.description, message).into());
    }
    let id = tx.next_id::<()>();
    let community = Community {
        id: id.get(),
        name,
        description: new.description.clone(),
        access: one_of("access", &new.access, ACCESS)?,
        join_policy: one_of("join_policy", &new.join_policy, JOINING)?,
        owner_id: owner,
        created_at: id.created_at(),
        member_count: 0,
    };
    communities::insert(tx, &community)?;
    event_log::append(tx, "community.create", owner.get(), community.id, "")?;
    enter(tx, community.id, owner)?;
    find(tx, community.id)
}

/// The community with an id.
pub fn find(tx: &mut Tx<'_>, id: i64) -> Result<Community, Stop> {
    let subject = || Subject::new("community", "id", id);
    communities::find_by_id(tx, id)?.ok_or_else(|| Refusal::NotFound(subject()).into())
}

/// Lets a user in: everyone where it is open, otherwise those who were approved.
pub fn join(tx: &mut Tx<'_>, id: i64, user: UserId, approved: bool) -> Result<Community, Stop> {
    users::active(tx, user)?;
    let community = find(tx, id)?;
    if community.join_policy != "Open" && !approved {
        let detail = "This community takes in only whom it has approved.";
        return Err(Refusal::forbidden(detail).into());
    }
    enter(tx, id, user)?;
    find(tx, id)
}

fn enter(tx: &mut Tx<'_>, id: i64, user: UserId) -> Result<(), Fault> {
    if communities::add_member(tx, id, user)? {
        event_log::append(tx, "community.join", user.get(), id, "")?;
    }
    Ok(())
}

/// Takes a member away; whoever made it stays.
pub fn leave(tx: &mut Tx<'_>, id: i64, user: UserId) -> Result<Community, Stop> {
    let community = find(tx, id)?;
    if community.owner_id == user {
        return Err(Refusal::forbidden("Whoever made a community stays in it.").into());
    }
    if communities::remove_member(tx, id, user)? {
        event_log::append(tx, "community.leave", user.get(), id, "")?;
    }
    find(tx, id)
}

/// The community that a user posts to: they must belong to it (contract §11.1).
pub(crate) fn to_post_to(tx: &mut Tx<'_>, user: UserId, id: i64) -> Result<Community, Stop> {
    let community = communities::find_by_id(tx, id)?;
    let joined = !communities::filter_joined(tx, user, &[id])?.is_empty();
    let community = community.filter(|_| joined);
    let detail = "You are not allowed to post to this community";
    community.ok_or_else(|| Refusal::forbidden(detail).into())
}
