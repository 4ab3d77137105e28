//! Permission to act on a post (contract core §11.3), and to read a post's lists.

use base::refusal::ResourceRef;
use base::{Error, Fault, PostId, Refusal, UserId};
use store::Tx;
use store::posts::{self, Post, PostState};
use store::users::{self, User};

use crate::visibility::{AuthorVisibilities, Viewer, Visibility, find_interactable_post};

/// How requests name the post that an action applies to.
const TARGET: &str = "tweet_id";

/// The post that an action applies to: of a repost the original.
pub(crate) fn resolve_original_post(tx: &mut Tx<'_>, id: PostId) -> Result<Option<Post>, Fault> {
    let post = posts::find_by_id(tx, id)?;
    match post.as_ref().and_then(|post| post.repost_of_id) {
        Some(original) => posts::find_by_id(tx, original),
        None => Ok(post),
    }
}

/// The posts to which an action on a post may have been applied that is now undone: of a repost the original; of an older
/// version itself and those that were the newest since, latest first.
pub(crate) fn list_undo_targets(tx: &mut Tx<'_>, id: PostId) -> Result<Vec<PostId>, Fault> {
    let Some(original) = resolve_original_post(tx, id)? else {
        return Ok(vec![id]);
    };
    let own = original.id;
    let later = match original.edit_root_id {
        Some(root) if original.state == PostState::Superseded => posts::list_versions(tx, root)?,
        _ => Vec::new(),
    };
    let later = later.into_iter().rev().filter(|version| *version > own);
    Ok([own].into_iter().chain(later).collect())
}

/// None if the post was deleted with all its versions.
fn replace_superseded(tx: &mut Tx<'_>, post: Post) -> Result<Option<Post>, Fault> {
    match post.edit_root_id {
        Some(root) if post.state == PostState::Superseded => posts::newest_version(tx, root),
        _ => Ok(Some(post)),
    }
}

/// Refused if the user may not act on the post. Of an edited post, the newest version.
pub(crate) fn resolve_action_target(tx: &mut Tx<'_>, user: UserId, id: PostId) -> Result<Post, Error> {
    let post = find_interactable_post(tx, user, id, TARGET)?;
    replace_superseded(tx, post)?.ok_or_else(|| target_not_found(id))
}

/// The post whose likes or reposts are listed; refused if it is not visible.
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
    let mut visibilities = AuthorVisibilities::load(tx, viewer, Some(author))?;
    visibilities.admit_posts(tx, [post])?;
    Ok(visibilities.post_visibility(post))
}

fn visibility_refusal(visibility: Visibility, id: PostId) -> Refusal {
    let subject = ResourceRef::new("tweet", "id", id);
    match visibility {
        Visibility::Visible | Visibility::Missing => Refusal::NotFound(subject),
        Visibility::Forbidden | Visibility::Suspended => Refusal::NotVisible(subject),
    }
}

/// The general refusal of actions that the rules forbid.
pub(crate) fn not_permitted() -> Error {
    Refusal::forbidden("You are not permitted to perform this action.").into()
}

/// Fails if the post was deleted concurrently.
pub(crate) fn ensure_post_exists(counted: bool, id: PostId) -> Result<(), Error> {
    if counted { Ok(()) } else { Err(target_not_found(id)) }
}

fn target_not_found(id: PostId) -> Error {
    Refusal::NotFound(ResourceRef::new("tweet", TARGET, id)).into()
}
