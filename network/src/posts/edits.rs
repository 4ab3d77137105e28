//! Rules for editing posts (contract core §11.2).

use base::{Error, PostId, Refusal};
use store::Tx;
use store::posts::{self, Post, PostState};
use store::users::User;

use super::NewPost;
use crate::post_actions::find_visible_post;
use crate::visibility::Viewer;

/// The edit window: how long a post can be edited (contract core §11.2).
pub const EDIT_WINDOW_MS: i64 = 3600 * 1000;
/// How often a post can be edited.
const MAX_EDITS: i64 = 5;

/// Remaining edits of a new version or of a new post.
pub(super) fn remaining_edits(previous: Option<&Post>) -> i64 {
    previous.map_or(MAX_EDITS, |post| post.edits_remaining - 1)
}

/// Refused if the user may not edit the post.
pub(super) fn find_editable_post(tx: &mut Tx<'_>, user: &User, id: PostId, new: &NewPost) -> Result<Post, Error> {
    let refuse = |detail: &'static str| Error::from(Refusal::forbidden(detail));
    let is_available = |post: &Post| matches!(post.state, PostState::Live | PostState::Superseded);
    let post = posts::find_by_id(tx, id)?.filter(is_available);
    let invalid =
        || Refusal::invalid_parameter("edit_options.previous_post_id", id, "Your previous post ID is invalid.");
    let post = post.ok_or_else(invalid)?;
    if post.author_id != user.id {
        return Err(match find_visible_post(tx, Viewer { user: Some(user.id) }, id) {
            Ok(_) => refuse("Only the author of a post can edit it."),
            Err(Error::Refused(_)) => invalid().into(),
            Err(failed) => failed,
        });
    }
    if user.subscription_type == "None" {
        return Err(refuse("Editing posts needs a premium subscription."));
    }
    if post.state == PostState::Superseded {
        return Err(refuse("Only the newest version of a post can be edited."));
    }
    let is_special = new.poll.is_some() || new.nullcast || new.community_id.is_some();
    if !is_editable_kind(&post) || is_special {
        return Err(refuse("Posts of this kind cannot be edited."));
    }
    let first = post.edit_root_id.unwrap_or(post.id).created_at();
    if post.edits_remaining <= 0 || tx.now() > first.plus_ms(EDIT_WINDOW_MS) {
        return Err(refuse("This post can no longer be edited."));
    }
    check_unchanged_targets(&post, new)?;
    Ok(post)
}

/// An edit may repeat, but not change, the targets of the post.
fn check_unchanged_targets(post: &Post, new: &NewPost) -> Result<(), Refusal> {
    if let Some(id) = new.reply_to.filter(|id| post.in_reply_to_post_id != Some(*id)) {
        let message = "Your reply tweet ID is invalid.";
        return Err(Refusal::invalid_parameter("reply.in_reply_to_tweet_id", id, message));
    }
    if let Some(id) = new.quote.filter(|id| post.quoted_post_id != Some(*id)) {
        let message = "Your quote tweet ID is invalid.";
        return Err(Refusal::invalid_parameter("quote_tweet_id", id, message));
    }
    Ok(())
}

/// Whether posts of this kind can be edited (contract core §11.2).
pub fn is_editable_kind(post: &Post) -> bool {
    let to_others = post.in_reply_to_user_id.is_some_and(|user| user != post.author_id);
    let is_special = post.repost_of_id.is_some() || post.poll_id.is_some() || post.nullcast;
    !(to_others || is_special || post.community_id.is_some())
}
