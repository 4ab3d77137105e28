//! Likes: who likes what is seen by the one who likes and by the post's author (contract §11.3).

use base::refusal::Subject;
use base::{PostId, Refusal, Stop, UserId};
use serde_json::json;
use store::edges::Edge;
use store::posts::PageRange;
use store::{Tx, event_log, likes};

use crate::visibility::Viewer;
use crate::{acts, users};

/// Makes a user like a post; false when they did already.
pub fn like(tx: &mut Tx<'_>, user: UserId, id: PostId) -> Result<bool, Stop> {
    users::active(tx, user)?;
    let post = acts::target(tx, user, id)?;
    let (author, post) = (post.author_id, post.id);
    let edge = tx.next_id::<()>().get();
    if !likes::insert(tx, user, post, edge)? {
        return Ok(false);
    }
    let body = json!({
        "id": edge.to_string(),
        "author_id": author.to_string(),
    });
    event_log::append(tx, "like.create", user.get(), post.get(), &body.to_string())?;
    acts::unless_gone(likes::add_to_post_count(tx, post, 1)?, id)?;
    Ok(true)
}

/// Ends that a user likes a post; false when they did not.
pub fn unlike(tx: &mut Tx<'_>, user: UserId, id: PostId) -> Result<bool, Stop> {
    let post = acts::original(tx, id)?.map_or(id, |post| post.id);
    if !likes::delete(tx, user, post)? {
        return Ok(false);
    }
    event_log::append(tx, "like.delete", user.get(), post.get(), "")?;
    likes::add_to_post_count(tx, post, -1)?;
    Ok(true)
}

/// A page of those who like a post, for its author only.
pub fn of_post(
    tx: &mut Tx<'_>,
    viewer: UserId,
    id: PostId,
    span: &PageRange,
) -> Result<Vec<Edge>, Stop> {
    let post = acts::seen(tx, Viewer::user(viewer), id)?;
    if post.author_id != viewer {
        return Err(Refusal::NotVisible(Subject::new("tweet", "id", id)).into());
    }
    Ok(likes::page_by_post(tx, id, span)?)
}

/// A page of what a user likes, for that user only.
pub fn of_user(
    tx: &mut Tx<'_>,
    viewer: UserId,
    user: UserId,
    span: &PageRange,
) -> Result<Vec<Edge>, Stop> {
    let subject = Subject::new("user", "id", user);
    if viewer == user {
        return Ok(likes::page_by_user(tx, user, span)?);
    }
    let known = store::users::find_by_id(tx, user)?.is_some();
    Err(if known {
        Refusal::NotVisible(subject).into()
    } else {
        Refusal::NotFound(subject).into()
    })
}
