//! Posts that a moderator or a blocked term keeps out of searches and timelines.

use base::{Error, Fault, PostId};
use store::moderation::{self, ModerationKind};
use store::posts::{self, Post, PostState};
use store::{Tx, event_log};

pub fn set_post_limited(tx: &mut Tx<'_>, post: &Post, limited: bool) -> Result<(), Fault> {
    let root = root_of(post);
    moderation::set_post_limited(tx, root, limited)?;
    // The index has the newest version, also if an older one was limited.
    let newest = posts::newest_version(tx, root)?.map_or(post.id, |newest| newest.id);
    event_log::append(tx, "post.limit", post.author_id.get(), newest.get(), "")
}

/// The first version.
pub fn root_of(post: &Post) -> PostId {
    post.edit_root_id.unwrap_or(post.id)
}

/// Lets a post be found that was held because of a blocked term, unless a moderator limited it.
pub(crate) fn release_held_post(tx: &mut Tx<'_>, id: PostId) -> Result<(), Error> {
    let post = find_newest_version(tx, id)?.filter(|post| post.limited);
    if let Some(post) = post
        && !moderation::is_post_action_active(tx, root_of(&post), ModerationKind::Limit)?
    {
        set_post_limited(tx, &post, false)?;
    }
    Ok(())
}

/// None if the post is deleted or unknown.
pub fn find_newest_version(tx: &mut Tx<'_>, id: PostId) -> Result<Option<Post>, Error> {
    let Some(post) = posts::find_by_id(tx, id)? else {
        return Ok(None);
    };
    Ok(match (post.state, post.edit_root_id) {
        (PostState::Live, _) => Some(post),
        (PostState::Superseded, Some(root)) => posts::newest_version(tx, root)?,
        _ => None,
    })
}
