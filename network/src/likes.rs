//! Likes, which are visible to the liking user and to the post's author (contract core §11.3).

use base::refusal::ResourceRef;
use base::{Error, PostId, Refusal, UserId};
use serde_json::json;
use store::edges::Edge;
use store::follows::UserEdge;
use store::posts::PageRange;
use store::{Tx, event_log, likes};

use crate::visibility::{Viewer, Visibility, profile_visibility};
use crate::{post_actions, users};

/// Returns false if the user already likes the post.
pub fn like(tx: &mut Tx<'_>, user: UserId, id: PostId) -> Result<bool, Error> {
    store::users::prefetch_by_id(tx, user)?;
    let target = post_actions::resolve_action_target(tx, user, id);
    users::find_writer(tx, user)?;
    let post = target?;
    let (author, post) = (post.author_id, post.id);
    let edge = tx.next_id::<()>().get();
    store::posts::lock_shared(tx, post);
    if !likes::insert(tx, user, post, edge)? {
        return Ok(false);
    }
    let body = json!({
        "id": edge.to_string(),
        "author_id": author.to_string(),
    });
    event_log::append(tx, "like.create", user.get(), post.get(), &body.to_string())?;
    post_actions::ensure_post_exists(likes::add_to_post_count(tx, post, 1)?, id)?;
    Ok(true)
}

/// Returns false if the user does not like the post.
pub fn unlike(tx: &mut Tx<'_>, user: UserId, id: PostId) -> Result<bool, Error> {
    for post in post_actions::list_undo_targets(tx, id)? {
        store::posts::lock_shared(tx, post);
        if likes::delete(tx, user, post)? {
            event_log::append(tx, "like.delete", user.get(), post.get(), "")?;
            likes::add_to_post_count(tx, post, -1)?;
            return Ok(true);
        }
    }
    Ok(false)
}

/// Refused for anyone but the post's author.
pub fn list_post_likers(
    tx: &mut Tx<'_>,
    viewer: UserId,
    id: PostId,
    range: &PageRange,
) -> Result<Vec<UserEdge>, Error> {
    let post = post_actions::find_visible_post(tx, Viewer::user(viewer), id)?;
    if post.author_id != viewer {
        return Err(Refusal::NotVisible(ResourceRef::new("tweet", "id", id)).into());
    }
    Ok(likes::page_by_post(tx, id, range)?)
}

/// Refused for anyone but the user.
pub fn list_user_likes(tx: &mut Tx<'_>, viewer: UserId, user: UserId, range: &PageRange) -> Result<Vec<Edge>, Error> {
    let subject = ResourceRef::new("user", "id", user);
    if viewer == user {
        return Ok(likes::page_by_user(tx, user, range)?);
    }
    let found = store::users::find_by_id(tx, user)?;
    let refusal = match found.map_or(Visibility::Missing, |user| profile_visibility(&user)) {
        Visibility::Missing => Refusal::NotFound(subject),
        Visibility::Suspended => Refusal::Suspended(subject),
        Visibility::Visible | Visibility::Forbidden => Refusal::NotVisible(subject),
    };
    Err(refusal.into())
}
