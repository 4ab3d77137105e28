//! Lists with members, followers and pins (contract core §7.8, §11.3).

use base::refusal::ResourceRef;
use base::text::normalize;
use base::{Error, Fault, Refusal, UserId};
use store::lists::{self, List};
use store::{Tx, event_log, users};

use crate::blocked_terms;
use crate::reports::{self, HeldSubject, SubjectKind};
use crate::users::find_writer;
use crate::visibility::{self, AccessDenial, Viewer, Visibility, find_reachable_user, is_blocked};

/// Lists per user (contract core §7.8).
pub const MAX_LISTS: i64 = 1_000;
/// Members per list (contract core §7.8).
pub const MAX_MEMBERS: i64 = 5_000;
/// Pinned lists per user (contract core §7.8).
pub const MAX_PINNED: usize = 5;
/// Characters.
pub const NAME_LENGTH: usize = 25;
/// Characters.
pub const DESCRIPTION_LENGTH: usize = 100;

#[derive(Clone, Debug, Default)]
pub struct NewList {
    /// 1–25 characters.
    pub name: String,
    /// At most 100 characters.
    pub description: String,
    pub private: bool,
}

/// Fields without a value stay as they are.
#[derive(Clone, Debug, Default)]
pub struct ListChanges {
    pub name: Option<String>,
    pub description: Option<String>,
    pub private: Option<bool>,
}

/// None if the viewer may not see the list.
pub fn find_visible(tx: &mut Tx<'_>, viewer: Viewer, id: i64) -> Result<Option<List>, Fault> {
    let Some(list) = lists::find_by_id(tx, id)? else {
        return Ok(None);
    };
    let owner = users::find_by_id(tx, list.owner_id)?;
    let visibility = visibility::list_visibility(viewer, &list, owner.as_ref());
    Ok((visibility == Visibility::Visible).then_some(list))
}

pub fn create(tx: &mut Tx<'_>, owner: UserId, new: &NewList) -> Result<List, Error> {
    // Concurrent calls must count each other's lists.
    users::lock(tx, owner)?;
    find_writer(tx, owner)?;
    if lists::count_by_owner(tx, owner)? >= MAX_LISTS {
        let detail = format!("You have reached the limit of {MAX_LISTS} lists.");
        return Err(Refusal::forbidden(detail).into());
    }
    let list = List {
        id: tx.next_id::<()>().get(),
        owner_id: owner,
        name: validate_length("name", &new.name, 1, NAME_LENGTH)?,
        description: validate_length("description", &new.description, 0, DESCRIPTION_LENGTH)?,
        private: new.private,
        created_at: tx.now(),
        deleted_at: None,
        member_count: 0,
        follower_count: 0,
        member_version: 0,
    };
    let held = check_texts(tx, &list)?;
    if !lists::insert(tx, &list)? {
        return Err(Fault::new(format!("the id {} is taken", list.id)).into());
    }
    event_log::append(tx, "list.create", owner.get(), list.id, "")?;
    report_held_list(tx, &list, held)?;
    Ok(list)
}

/// The blocked term because of which a moderator looks at the list. Refused for others.
fn check_texts(tx: &mut Tx<'_>, list: &List) -> Result<Option<String>, Error> {
    blocked_terms::check_text(tx, "list", &format!("{}\n{}", list.name, list.description), "")
}

fn report_held_list(tx: &mut Tx<'_>, list: &List, held: Option<String>) -> Result<(), Fault> {
    match held {
        Some(term) => {
            let subject = HeldSubject::new(SubjectKind::List, list.id, list.owner_id);
            let evidence = format!("{}\n{}", list.name, list.description);
            reports::report_held(tx, &HeldSubject { evidence, ..subject }, &term)
        }
        None => Ok(()),
    }
}

pub(crate) fn validate_length(parameter: &'static str, text: &str, min: usize, max: usize) -> Result<String, Refusal> {
    let text = normalize(text).trim().to_owned();
    let length = text.chars().count();
    if length < min {
        let message = format!("$.{parameter}: must have a minimum of {min} characters");
        return Err(Refusal::invalid_parameter(parameter, text, message));
    }
    if length > max {
        let message = format!("$.{parameter}: must have a maximum of {max} characters");
        return Err(Refusal::invalid_parameter(parameter, text, message));
    }
    Ok(text)
}

pub fn update(tx: &mut Tx<'_>, user: UserId, id: i64, change: &ListChanges) -> Result<List, Error> {
    find_writer(tx, user)?;
    let before = find_owned_list(tx, user, id, "update")?;
    let mut after = before.clone();
    if let Some(name) = &change.name {
        after.name = validate_length("name", name, 1, NAME_LENGTH)?;
    }
    if let Some(description) = &change.description {
        after.description = validate_length("description", description, 0, DESCRIPTION_LENGTH)?;
    }
    after.private = change.private.unwrap_or(before.private);
    let is_renamed = (&before.name, &before.description) != (&after.name, &after.description);
    let held = if is_renamed { check_texts(tx, &after)? } else { None };
    lists::update(tx, &before, &after)?;
    event_log::append(tx, "list.update", user.get(), id, "")?;
    report_held_list(tx, &after, held)?;
    Ok(after)
}

pub fn delete(tx: &mut Tx<'_>, user: UserId, id: i64) -> Result<(), Error> {
    let list = find_owned_list(tx, user, id, "delete")?;
    lists::delete(tx, &list)?;
    Ok(event_log::append(tx, "list.delete", user.get(), id, "")?)
}

/// Returns false if the user is already a member.
pub fn add_member(tx: &mut Tx<'_>, owner: UserId, id: i64, user: UserId) -> Result<bool, Error> {
    find_writer(tx, owner)?;
    let list = find_owned_list(tx, owner, id, "add members to")?;
    // Membership needs no consent, but users who block the owner cannot be added.
    find_reachable_user(tx, owner, user, "user_id")?;
    if lists::is_member(tx, id, user)? {
        return Ok(false);
    }
    if list.member_count >= MAX_MEMBERS {
        let detail = format!("This list has reached the limit of {MAX_MEMBERS} members.");
        return Err(Refusal::forbidden(detail).into());
    }
    let added = lists::add_member(tx, &list, user)?;
    if added {
        event_log::append(tx, "list.add", owner.get(), id, &user_event_body(user))?;
    }
    Ok(added)
}

/// Returns false if the user is not a member.
pub fn remove_member(tx: &mut Tx<'_>, owner: UserId, id: i64, user: UserId) -> Result<bool, Error> {
    let list = find_owned_list(tx, owner, id, "delete members from")?;
    let removed = lists::remove_member(tx, &list, user)?;
    if removed {
        event_log::append(tx, "list.remove", owner.get(), id, &user_event_body(user))?;
    }
    Ok(removed)
}

/// Returns false if the user already follows the list.
pub fn follow(tx: &mut Tx<'_>, user: UserId, id: i64) -> Result<bool, Error> {
    lists::lock_shared(tx, id);
    let list = require_visible_list(tx, user, id, "list_id")?;
    if list.private {
        return Err(Refusal::forbidden("A private list has no followers.").into());
    }
    if is_blocked(tx, user, list.owner_id)? {
        let subject = ResourceRef::new("list", "list_id", id);
        return Err(AccessDenial::Blocked.to_refusal(subject).into());
    }
    let new = lists::follow(tx, id, user)?;
    if new {
        event_log::append(tx, "list.follow", user.get(), id, "")?;
    }
    Ok(new)
}

/// Returns false if the user does not follow the list.
pub fn unfollow(tx: &mut Tx<'_>, user: UserId, id: i64) -> Result<bool, Error> {
    lists::lock_shared(tx, id);
    let removed = lists::unfollow(tx, id, user)?;
    if removed {
        event_log::append(tx, "list.unfollow", user.get(), id, "")?;
    }
    Ok(removed)
}

/// Returns false if the list is already pinned.
pub fn pin(tx: &mut Tx<'_>, user: UserId, id: i64) -> Result<bool, Error> {
    lists::lock(tx, id)?;
    users::lock(tx, user)?;
    require_visible_list(tx, user, id, "list_id")?;
    let pinned = lists::list_pinned(tx, user)?;
    if pinned.contains(&id) {
        return Ok(false);
    }
    // Lists of suspended users are not shown.
    let mut shown_count = 0;
    for pinned in pinned {
        shown_count += usize::from(find_visible(tx, Viewer::user(user), pinned)?.is_some());
    }
    if shown_count >= MAX_PINNED {
        let detail = format!("You may pin at most {MAX_PINNED} lists.");
        return Err(Refusal::forbidden(detail).into());
    }
    let new = lists::pin(tx, user, id)?;
    event_log::append(tx, "list.pin", user.get(), id, "")?;
    Ok(new)
}

/// Returns false if the list is not pinned.
pub fn unpin(tx: &mut Tx<'_>, user: UserId, id: i64) -> Result<bool, Error> {
    let removed = lists::unpin(tx, user, id)?;
    if removed {
        event_log::append(tx, "list.unpin", user.get(), id, "")?;
    }
    Ok(removed)
}

/// Locks the list; refused for anyone but the owner. `action` is what the refusal does not allow (contract core §3.3).
fn find_owned_list(tx: &mut Tx<'_>, user: UserId, id: i64, action: &str) -> Result<List, Error> {
    lists::lock(tx, id)?;
    let list = require_visible_list(tx, user, id, "id")?;
    if list.owner_id == user {
        return Ok(list);
    }
    Err(Refusal::forbidden(format!("You are not allowed to {action} this List.")).into())
}

fn require_visible_list(tx: &mut Tx<'_>, user: UserId, id: i64, parameter: &'static str) -> Result<List, Error> {
    let list = find_visible(tx, Viewer::user(user), id)?;
    list.ok_or_else(|| Refusal::NotFound(ResourceRef::new("list", parameter, id)).into())
}

pub fn user_event_body(user: UserId) -> String {
    format!("{{\"user_id\":\"{user}\"}}")
}
