//! Everybody whom a chunk names: who they are here, and placeholders for those who are not here.

use std::collections::{BTreeMap, HashMap};

use base::text::is_valid_username;
use base::{Fault, UserId};
use store::imports::ImportedUserSummary;
use store::users::{self, User, UserState};
use store::{Tx, imports};

use super::desk::Desk;
use super::talks;
use crate::names;
use crate::read::{Item, Prepared};

/// What a source tells of somebody in passing.
#[derive(Clone, Copy, Default)]
struct Told<'a> {
    handle: &'a str,
    name: &'a str,
}

type People<'a> = BTreeMap<i64, Told<'a>>;

/// How strong a claim to a handle is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Claim {
    /// The account itself: a placeholder makes room.
    Real,
    /// Somebody said so: whoever has it keeps it, unless nothing else is known of them.
    Told,
}

/// Finds out who everybody is; makes placeholders.
pub(crate) fn resolve(tx: &mut Tx<'_>, desk: &mut Desk, items: &[Item]) -> Result<(), Fault> {
    let mut told = People::new();
    for item in items {
        name_all(item, &mut told);
    }
    let unknown = told.keys().filter(|id| !desk.people.contains_key(id));
    let ids: Vec<i64> = unknown.copied().collect();
    desk.people.extend(imports::find_aliases(tx, &ids)?);
    let ids: Vec<i64> = ids
        .into_iter()
        .filter(|id| !desk.people.contains_key(id))
        .collect();
    let known = imports::find_users(tx, &ids)?;
    let mut known: HashMap<i64, ImportedUserSummary> = known
        .into_iter()
        .map(|user| (user.id.get(), user))
        .collect();
    for id in ids {
        let what = told.get(&id).copied().unwrap_or_default();
        match known.remove(&id) {
            None => add(tx, desk, UserId::new(id), what)?,
            Some(user) if user.is_placeholder => complete(tx, desk, &user, what)?,
            Some(_) => {}
        }
        desk.people.insert(id, UserId::new(id));
    }
    Ok(())
}

fn name<'a>(told: &mut People<'a>, id: Option<i64>, handle: &'a str, name: &'a str) {
    let Some(id) = id else { return };
    let what = told.entry(id).or_default();
    if what.handle.is_empty() && is_valid_username(handle) {
        what.handle = handle;
    }
    if what.name.is_empty() {
        what.name = name;
    }
}

fn name_all<'a>(item: &'a Item, told: &mut People<'a>) {
    match item {
        Item::Post(post) => name_post(post, told),
        Item::Edge(_, tie) => {
            name(told, tie.from, "", "");
            name(told, tie.to, "", "");
        }
        Item::Like(like) => name(told, like.like.user, "", ""),
        Item::List(list) => {
            let handle = list.owner_handle.as_deref().unwrap_or_default();
            name(told, list.owner, handle, "");
        }
        Item::Member(member) => name(told, Some(member.user), "", ""),
        Item::Media(media) => name(told, media.0.owner, "", ""),
        Item::Message(said) => {
            let message = &said.message;
            let two = talks::pair(&message.conversation).unwrap_or_default();
            let all = two.iter().chain(&message.people).chain(&message.sender);
            all.filter(|id| **id > 0)
                .for_each(|id| name(told, Some(*id), "", ""));
        }
        Item::Row(row) => row
            .people()
            .into_iter()
            .for_each(|id| name(told, Some(id), "", "")),
        Item::Profile(_) | Item::User(_) => {}
    }
}

fn name_post<'a>(post: &'a Prepared, told: &mut People<'a>) {
    let post = &post.post;
    name(told, post.author, "", "");
    for mention in &post.mentions {
        name(told, mention.id, &mention.handle, &mention.name);
    }
    let handle = post.in_reply_to_handle.as_deref().unwrap_or_default();
    name(told, post.in_reply_to_user, handle, "");
    if let Some(repost) = &post.repost_of {
        name(told, repost.author, &repost.handle, "");
    }
}

/// Adds a placeholder.
fn add(tx: &mut Tx<'_>, desk: &mut Desk, id: UserId, told: Told<'_>) -> Result<(), Fault> {
    let username = free_name(tx, desk, id, told.handle, Claim::Told)?;
    let mut user = User::new(id, &username, names::time_of(id.get()));
    user.name = names::display_name(told.name, &username);
    user.state = UserState::Placeholder;
    if !users::insert(tx, &user, "")? {
        return Err(Fault::new(format!("the user {id} came in between")));
    }
    desk.came(id.get());
    desk.handles.remove(&username.to_ascii_lowercase());
    desk.report.placeholders.users += 1;
    Ok(())
}

/// Gives a placeholder the handle and the name that have become known.
fn complete(
    tx: &mut Tx<'_>,
    desk: &mut Desk,
    user: &ImportedUserSummary,
    told: Told<'_>,
) -> Result<(), Fault> {
    let is_bare = names::is_fallback(&user.username, user.id.get());
    let username = if is_bare && !told.handle.is_empty() {
        free_name(tx, desk, user.id, told.handle, Claim::Told)?
    } else {
        user.username.clone()
    };
    let is_nameless = user.name == user.username;
    let name = if is_nameless {
        names::display_name(told.name, &username)
    } else {
        user.name.clone()
    };
    if username != user.username || name != user.name {
        imports::rename_placeholder(tx, user.id, &username, &name)?;
        desk.handles.remove(&username.to_ascii_lowercase());
    }
    Ok(())
}

/// The handle for a user: the one that is wanted if it can be had, or else one of our own making.
pub(crate) fn free_name(
    tx: &mut Tx<'_>,
    desk: &mut Desk,
    id: UserId,
    wanted: &str,
    claim: Claim,
) -> Result<String, Fault> {
    if is_valid_username(wanted) && make_room(tx, desk, id, wanted, claim)? {
        return Ok(wanted.to_owned());
    }
    for fallback in names::fallbacks(id.get()) {
        match users::find_by_username(tx, &fallback)? {
            Some(holder) if holder.id != id => {}
            _ => return Ok(fallback),
        }
    }
    Err(Fault::new(format!("no handle is free for the user {id}")))
}

/// Whether a handle is free for a user, perhaps after a placeholder has left it.
fn make_room(
    tx: &mut Tx<'_>,
    desk: &mut Desk,
    id: UserId,
    wanted: &str,
    claim: Claim,
) -> Result<bool, Fault> {
    let Some(holder) = users::find_by_username(tx, wanted)? else {
        return Ok(true);
    };
    if holder.id == id {
        return Ok(true);
    }
    if holder.state != UserState::Placeholder {
        return Ok(false);
    }
    if imports::is_name_only(tx, holder.id)? {
        imports::absorb_placeholder(tx, holder.id, id)?;
        desk.handles.remove(&holder.username.to_ascii_lowercase());
        for seen in desk.posts.values_mut() {
            if seen.author_id == holder.id {
                seen.author_id = id;
            }
        }
        return Ok(true);
    }
    if claim == Claim::Told {
        return Ok(false);
    }
    let moved = free_name(tx, desk, holder.id, "", Claim::Told)?;
    imports::rename_placeholder(tx, holder.id, &moved, &holder.name)?;
    Ok(true)
}

/// Who has a handle, if anybody.
pub(crate) fn by_handle(
    tx: &mut Tx<'_>,
    desk: &mut Desk,
    handle: &str,
) -> Result<Option<UserId>, Fault> {
    let key = handle.to_ascii_lowercase();
    if let Some(known) = desk.handles.get(&key) {
        return Ok(*known);
    }
    let user = users::find_by_username(tx, &key)?.map(|user| user.id);
    desk.handles.insert(key, user);
    Ok(user)
}

/// Who has a handle; a placeholder with an id of ours for somebody of whom only that is known.
pub(crate) fn of_handle(
    tx: &mut Tx<'_>,
    desk: &mut Desk,
    handle: &str,
) -> Result<Option<UserId>, Fault> {
    if !is_valid_username(handle) {
        return Ok(None);
    }
    if let Some(user) = by_handle(tx, desk, handle)? {
        return Ok(Some(user));
    }
    let id = tx.next_id();
    add(tx, desk, id, Told { handle, name: "" })?;
    imports::mark_name_only(tx, id, handle)?;
    desk.handles.insert(handle.to_ascii_lowercase(), Some(id));
    Ok(Some(id))
}
