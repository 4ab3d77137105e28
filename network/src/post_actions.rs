//! Whether a user may act on a post (contract §11.3), and what a post's own lists begin with.

use base::refusal::ResourceRef;
use base::{Error, Fault, PostId, Refusal, UserId};
use store::Tx;
use store::posts::{self, Post, PostState};
use store::users::{self, User};

use crate::visibility::{AuthorVisibilities, Viewer, Visibility, find_interactable_post};

/// What an act on a post is about: of a repost, what it reposts.
pub(crate) fn resolve_original_post(tx: &mut Tx<'_>, id: PostId) -> Result<Option<Post>, Fault> {
    let post = posts::find_by_id(tx, id)?;
    match post.as_ref().and_then(|post| post.repost_of_id) {
        Some(original) => posts::find_by_id(tx, original),
        None => Ok(post),
    }
}

/// The post that a user is to act upon, if they may and it is not an old version.
pub(crate) fn resolve_action_target(tx: &mut Tx<'_>, user: UserId, id: PostId) -> Result<Post, Error> {
    let post = find_interactable_post(tx, user, id, "id")?;
    if post.state == PostState::Superseded {
        return Err(not_permitted());
    }
    Ok(post)
}

/// The post whose list is asked for, if it is to be seen.
pub(crate) fn find_visible_post(tx: &mut Tx<'_>, viewer: Viewer, id: PostId) -> Result<Post, Error> {
    let post = posts::find_by_id(tx, id)?;
    let author = find_post_author(tx, post.as_ref())?;
    let (Some(post), Some(author)) = (post, author) else {
        return Err(visibility_refusal(Visibility::Missing, id).into());
    };
    match load_post_visibility(tx, viewer, &author, &post)? {
        Visibility::Visible => Ok(post),
        hidden => Err(visibility_refusal(hidden, id).into()),
    }
}

fn find_post_author(tx: &mut Tx<'_>, post: Option<&Post>) -> Result<Option<User>, Fault> {
    post.map_or(Ok(None), |post| users::find_by_id(tx, post.author_id))
}

fn load_post_visibility(tx: &mut Tx<'_>, viewer: Viewer, author: &User, post: &Post) -> Result<Visibility, Fault> {
    let mut sights = AuthorVisibilities::load(tx, viewer, Some(author))?;
    sights.admit_posts(tx, [post])?;
    Ok(sights.post_visibility(post))
}

fn visibility_refusal(sight: Visibility, id: PostId) -> Refusal {
    let subject = ResourceRef::new("tweet", "id", id);
    match sight {
        Visibility::Visible | Visibility::Missing => Refusal::NotFound(subject),
        Visibility::Forbidden | Visibility::Suspended => Refusal::NotVisible(subject),
    }
}

/// What a rule of the platform forbids without a sentence of its own.
pub(crate) fn not_permitted() -> Error {
    Refusal::forbidden("You are not permitted to perform this action.").into()
}

/// Ends an act on a post that may have been deleted while it went on.
pub(crate) fn ensure_post_exists(counted: bool, id: PostId) -> Result<(), Error> {
    if counted {
        return Ok(());
    }
    Err(visibility_refusal(Visibility::Missing, id).into())
}
