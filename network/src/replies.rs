//! Replies to a post, the posts that it replies to, and replies hidden by the author of a conversation.

use std::cmp::Reverse;

use base::refusal::ResourceRef;
use base::{Error, Fault, PostId, Refusal, UserId};
use store::edges::Edge;
use store::posts::{self, PageRange, Post, PostState};
use store::{Tx, event_log, replies, reposts};

use crate::visibility::Viewer;
use crate::{post_actions, users};

/// Hides or unhides a reply. Hidden replies stay accessible, but are marked as hidden. Refused for anyone but the
/// author of the conversation's root.
pub fn set_hidden(tx: &mut Tx<'_>, user: UserId, id: PostId, hidden: bool) -> Result<(), Error> {
    users::find_writer(tx, user)?;
    let reply = posts::find_by_id(tx, id)?.filter(|post| matches!(post.state, PostState::Live | PostState::Superseded));
    let Some(reply) = reply else {
        return Err(Refusal::NotFound(ResourceRef::new("tweet", "id", id)).into());
    };
    let root = posts::find_by_id(tx, reply.conversation_id)?;
    let owns = root.is_some_and(|root| root.author_id == user && root.state != PostState::Deleted);
    if !owns || reply.in_reply_to_post_id.is_none() {
        return Err(post_actions::not_permitted());
    }
    let newest = match reply.edit_root_id.filter(|_| reply.state == PostState::Superseded) {
        Some(root) => posts::newest_version(tx, root)?,
        None => None,
    };
    let id = newest.map_or(id, |newest| newest.id);
    let (changed, kind) =
        if hidden { (replies::hide(tx, id)?, "reply.hide") } else { (replies::unhide(tx, id)?, "reply.unhide") };
    if changed {
        event_log::append(tx, kind, user.get(), id.get(), "")?;
    }
    Ok(())
}

/// Live replies to all versions of a post, in the order of their ids; those that the viewer may not see are omitted when
/// rendered. Refused if the post is not visible.
pub fn list_replies(tx: &mut Tx<'_>, viewer: Viewer, id: PostId, range: &PageRange) -> Result<Vec<Post>, Error> {
    page_of_versions(tx, viewer, id, range, posts::page_replies, |reply| reply.id.get())
}

/// Live quotes of all versions of a post, as [`list_replies`].
pub fn list_quotes_of_versions(
    tx: &mut Tx<'_>,
    viewer: Viewer,
    id: PostId,
    range: &PageRange,
) -> Result<Vec<Edge>, Error> {
    page_of_versions(tx, viewer, id, range, reposts::page_quotes, |(_, id)| *id)
}

fn page_of_versions<T>(
    tx: &mut Tx<'_>,
    viewer: Viewer,
    id: PostId,
    range: &PageRange,
    list: fn(&mut Tx<'_>, PostId, &PageRange) -> Result<Vec<T>, Fault>,
    key: fn(&T) -> i64,
) -> Result<Vec<T>, Error> {
    let post = post_actions::find_visible_post(tx, viewer, id)?;
    let Some(root) = post.edit_root_id else {
        return Ok(list(tx, id, range)?);
    };
    let mut all = Vec::new();
    for version in posts::list_versions(tx, root)? {
        all.append(&mut list(tx, version, range)?);
    }
    all.sort_unstable_by_key(|row| Reverse(key(row)));
    let limit = usize::try_from(range.limit).unwrap_or(usize::MAX);
    if range.ascending {
        all.drain(..all.len().saturating_sub(limit));
    } else {
        all.truncate(limit);
    }
    Ok(all)
}

/// The posts above a reply, oldest first: at most `max`, up to one of which nothing is known.
pub fn list_ancestors(tx: &mut Tx<'_>, reply: &Post, max: usize) -> Result<Vec<Post>, Fault> {
    let mut ancestors = Vec::new();
    let mut parent = reply.in_reply_to_post_id;
    while let Some(id) = parent.filter(|_| ancestors.len() < max) {
        let Some(post) = posts::find_by_id(tx, id)? else { break };
        parent = post.in_reply_to_post_id;
        ancestors.push(post);
    }
    ancestors.reverse();
    Ok(ancestors)
}
