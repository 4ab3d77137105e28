//! Resolves the users that a chunk refers to, with placeholders for unknown ones.

use std::collections::{BTreeMap, HashMap, HashSet};

use base::text::is_valid_username;
use base::{Fault, UserId};
use store::imports::ImportedUserSummary;
use store::users::{self, User, UserState};
use store::{Tx, imports};

use super::batch_state::ImportBatchState;
use super::messages;
use crate::reader::{PreparedPost, PreparedRecord};
use crate::sanitize;

#[derive(Clone, Copy, Default)]
struct UserHint<'a> {
    handle: &'a str,
    name: &'a str,
}

type UserHints<'a> = BTreeMap<i64, UserHint<'a>>;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum HandleClaim {
    /// The account itself: a placeholder has to give up the handle.
    Account,
    /// A mention: the current holder keeps the handle, unless only their handle is known.
    Mention,
}

pub(crate) fn resolve(tx: &mut Tx<'_>, batch: &mut ImportBatchState, items: &[PreparedRecord]) -> Result<(), Fault> {
    let mut hints = UserHints::new();
    for item in items {
        collect_hints(item, &mut hints);
    }
    let unknown = hints.keys().filter(|id| !batch.users_by_source_id.contains_key(id));
    let ids: Vec<i64> = unknown.copied().collect();
    batch.users_by_source_id.extend(imports::find_aliases(tx, &ids)?);
    let ids: Vec<i64> = ids.into_iter().filter(|id| !batch.users_by_source_id.contains_key(id)).collect();
    let known = imports::find_users(tx, &ids)?;
    let mut known: HashMap<i64, ImportedUserSummary> = known.into_iter().map(|user| (user.id.get(), user)).collect();
    let missing = hints.iter().filter(|(id, _)| !batch.users_by_source_id.contains_key(id) && !known.contains_key(id));
    let wanted: Vec<&str> = missing.map(|(_, hint)| hint.handle).collect();
    load_free_handles(tx, batch, wanted.into_iter())?;
    for id in ids {
        let hint = hints.get(&id).copied().unwrap_or_default();
        match known.remove(&id) {
            None => insert_placeholder_user(tx, batch, UserId::new(id), hint)?,
            Some(user) if user.is_placeholder => complete_placeholder(tx, batch, &user, hint)?,
            Some(_) => {}
        }
        batch.users_by_source_id.insert(id, UserId::new(id));
    }
    Ok(())
}

fn add_hint<'a>(hints: &mut UserHints<'a>, id: Option<i64>, handle: &'a str, name: &'a str) {
    let Some(id) = id else { return };
    let hint = hints.entry(id).or_default();
    if hint.handle.is_empty() && is_valid_username(handle) {
        hint.handle = handle;
    }
    if hint.name.is_empty() {
        hint.name = name;
    }
}

fn collect_hints<'a>(item: &'a PreparedRecord, hints: &mut UserHints<'a>) {
    match item {
        PreparedRecord::Post(post) => collect_post_hints(post, hints),
        PreparedRecord::Edge(_, relation) => {
            add_hint(hints, relation.from, "", "");
            add_hint(hints, relation.to, "", "");
        }
        PreparedRecord::Like(like) => add_hint(hints, like.like.user, "", ""),
        PreparedRecord::List(list) => {
            let handle = list.owner_handle.as_deref().unwrap_or_default();
            add_hint(hints, list.owner, handle, "");
        }
        PreparedRecord::Member(member) => add_hint(hints, Some(member.user), "", ""),
        PreparedRecord::Media(media) => add_hint(hints, media.0.owner, "", ""),
        PreparedRecord::Message(prepared) => {
            let message = &prepared.message;
            let pair = messages::parse_pair(&message.conversation).unwrap_or_default();
            let all = pair.iter().chain(&message.people).chain(&message.sender);
            all.filter(|id| **id > 0).for_each(|id| add_hint(hints, Some(*id), "", ""));
        }
        PreparedRecord::Row(row) => row.user_ids().into_iter().for_each(|id| add_hint(hints, Some(id), "", "")),
        PreparedRecord::Profile(_) | PreparedRecord::User(_) => {}
    }
}

fn collect_post_hints<'a>(post: &'a PreparedPost, hints: &mut UserHints<'a>) {
    let post = &post.post;
    add_hint(hints, post.author, "", "");
    for mention in &post.mentions {
        add_hint(hints, mention.id, &mention.handle, &mention.name);
    }
    let handle = post.in_reply_to_handle.as_deref().unwrap_or_default();
    add_hint(hints, post.in_reply_to_user, handle, "");
    if let Some(repost) = &post.repost_of {
        add_hint(hints, repost.author, &repost.handle, "");
    }
}

fn insert_placeholder_user(
    tx: &mut Tx<'_>,
    batch: &mut ImportBatchState,
    id: UserId,
    hint: UserHint<'_>,
) -> Result<(), Fault> {
    let username = claim_handle(tx, batch, id, hint.handle, HandleClaim::Mention)?;
    let mut user = User::new(id, &username, sanitize::time_from_id(id.get()));
    user.name = sanitize::sanitize_display_name(hint.name, &username);
    user.state = UserState::Placeholder;
    if !imports::insert_missing_user(tx, &user)? {
        return Err(Fault::new(format!("the user {id} was inserted concurrently")));
    }
    batch.track_id(id.get());
    batch.users_by_handle.remove(&username.to_ascii_lowercase());
    batch.report.placeholders.users += 1;
    Ok(())
}

fn complete_placeholder(
    tx: &mut Tx<'_>,
    batch: &mut ImportBatchState,
    user: &ImportedUserSummary,
    hint: UserHint<'_>,
) -> Result<(), Fault> {
    let is_bare = sanitize::is_fallback_handle(&user.username, user.id.get());
    let username = if is_bare && !hint.handle.is_empty() {
        claim_handle(tx, batch, user.id, hint.handle, HandleClaim::Mention)?
    } else {
        user.username.clone()
    };
    let is_nameless = user.name == user.username;
    let name = if is_nameless { sanitize::sanitize_display_name(hint.name, &username) } else { user.name.clone() };
    if username != user.username || name != user.name {
        imports::rename_placeholder(tx, user.id, &username, &name)?;
        batch.users_by_handle.remove(&username.to_ascii_lowercase());
    }
    Ok(())
}

/// Where the database is shared: what is read between inserts keeps them from being sent together.
pub(crate) fn load_free_handles<'a>(
    tx: &mut Tx<'_>,
    batch: &mut ImportBatchState,
    handles: impl Iterator<Item = &'a str>,
) -> Result<(), Fault> {
    if !tx.is_shared() {
        return Ok(());
    }
    let wanted = handles.filter(|handle| is_valid_username(handle)).map(str::to_ascii_lowercase);
    let mut free: HashSet<String> = wanted.collect();
    let names: Vec<&str> = free.iter().map(String::as_str).collect();
    for taken in imports::list_taken_handles(tx, &names)? {
        free.remove(&taken);
    }
    batch.free_handles = free;
    Ok(())
}

/// The wanted handle if it is valid and available, otherwise a generated one.
pub(crate) fn claim_handle(
    tx: &mut Tx<'_>,
    batch: &mut ImportBatchState,
    id: UserId,
    handle: &str,
    claim: HandleClaim,
) -> Result<String, Fault> {
    if is_valid_username(handle) && try_free_handle(tx, batch, id, handle, claim)? {
        return Ok(handle.to_owned());
    }
    for fallback in sanitize::fallback_handles(id.get()) {
        batch.free_handles.remove(&fallback.to_ascii_lowercase());
        match users::find_by_username(tx, &fallback)? {
            Some(holder) if holder.id != id => {}
            _ => return Ok(fallback),
        }
    }
    Err(Fault::new(format!("no handle is free for the user {id}")))
}

/// Whether the handle is available, possibly after a placeholder has given it up.
fn try_free_handle(
    tx: &mut Tx<'_>,
    batch: &mut ImportBatchState,
    id: UserId,
    handle: &str,
    claim: HandleClaim,
) -> Result<bool, Fault> {
    if batch.free_handles.remove(&handle.to_ascii_lowercase()) {
        return Ok(true);
    }
    let Some(holder) = users::find_by_username(tx, handle)? else {
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
        batch.users_by_handle.remove(&holder.username.to_ascii_lowercase());
        for summary in batch.known_posts.values_mut() {
            if summary.author_id == holder.id {
                summary.author_id = id;
            }
        }
        return Ok(true);
    }
    if claim == HandleClaim::Mention {
        return Ok(false);
    }
    let new_handle = claim_handle(tx, batch, holder.id, "", HandleClaim::Mention)?;
    imports::rename_placeholder(tx, holder.id, &new_handle, &holder.name)?;
    Ok(true)
}

pub(crate) fn find_by_handle(
    tx: &mut Tx<'_>,
    batch: &mut ImportBatchState,
    handle: &str,
) -> Result<Option<UserId>, Fault> {
    let key = handle.to_ascii_lowercase();
    if let Some(known) = batch.users_by_handle.get(&key) {
        return Ok(*known);
    }
    let user = users::find_by_username(tx, &key)?.map(|user| user.id);
    batch.users_by_handle.insert(key, user);
    Ok(user)
}

/// Creates a placeholder with a new id if nobody has the handle; `None` for an invalid handle.
pub(crate) fn find_or_create_by_handle(
    tx: &mut Tx<'_>,
    batch: &mut ImportBatchState,
    handle: &str,
) -> Result<Option<UserId>, Fault> {
    if !is_valid_username(handle) {
        return Ok(None);
    }
    if let Some(user) = find_by_handle(tx, batch, handle)? {
        return Ok(Some(user));
    }
    let id = tx.next_id();
    insert_placeholder_user(tx, batch, id, UserHint { handle, name: "" })?;
    imports::mark_name_only(tx, id, handle)?;
    batch.users_by_handle.insert(handle.to_ascii_lowercase(), Some(id));
    Ok(Some(id))
}
