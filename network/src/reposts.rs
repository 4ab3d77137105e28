//! Reposts, which are posts, and quotes.

use base::{AppId, Error, Fault, PostId, UserId};
use serde_json::json;
use store::edges::Edge;
use store::follows::UserEdge;
use store::posts::{self, PageRange, Post, PostState};
use store::users::User;
use store::{Tx, event_log, reposts};

use crate::posts::record_deletions;
use crate::visibility::{AuthorVisibilities, Viewer, Visibility};
use crate::{post_actions, users};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RepostResult {
    pub id: PostId,
    /// The reposted post.
    pub original_id: PostId,
    /// Whether it was created by this call.
    pub is_new: bool,
}

/// Reposts a post, or the original of a repost. Idempotent.
pub fn repost(tx: &mut Tx<'_>, user: UserId, app: Option<AppId>, id: PostId) -> Result<RepostResult, Error> {
    create_repost(tx, user, app, id, false)
}

/// Creates a nullcast repost, which is in no timeline, list or counter and notifies nobody. It is independent of the
/// user's public repost.
pub fn repost_for_promotion(
    tx: &mut Tx<'_>,
    user: UserId,
    app: Option<AppId>,
    id: PostId,
) -> Result<RepostResult, Error> {
    create_repost(tx, user, app, id, true)
}

fn create_repost(
    tx: &mut Tx<'_>,
    user: UserId,
    app: Option<AppId>,
    id: PostId,
    nullcast: bool,
) -> Result<RepostResult, Error> {
    users::find_writer(tx, user)?;
    let original = post_actions::resolve_action_target(tx, user, id)?;
    let (author, original_id) = (original.author_id, original.id);
    if author != user && users::find(tx, author)?.protected {
        return Err(post_actions::not_permitted());
    }
    if let Some(id) = reposts::find_by_user(tx, user, original_id, nullcast)? {
        return Ok(RepostResult { id, original_id, is_new: false });
    }
    let repost = Post { nullcast, ..build_repost(tx, user, app, original) };
    posts::lock_shared(tx, original_id);
    if !reposts::insert(tx, &repost)? {
        // A concurrent request of the same user was faster.
        let id = reposts::find_by_user(tx, user, original_id, nullcast)?;
        let id = id.ok_or_else(|| Fault::new(format!("the repost of {original_id} exists but cannot be found")))?;
        return Ok(RepostResult { id, original_id, is_new: false });
    }
    let mut body = json!({ "repost_of_id": original_id.to_string() });
    if let Some(members) = body.as_object_mut() {
        // The author is notified only of what followers see.
        let (name, value) = if nullcast { ("nullcast", true.into()) } else { ("author_id", author.to_string().into()) };
        members.insert(name.to_owned(), value);
    }
    let (actor, subject) = (user.get(), repost.id.get());
    event_log::append(tx, "post.create", actor, subject, &body.to_string())?;
    let counted = i64::from(!nullcast);
    post_actions::ensure_post_exists(reposts::add_to_post_count(tx, original_id, counted)?, id)?;
    Ok(RepostResult { id: repost.id, original_id, is_new: true })
}

/// The row of a repost; its text is derived from the original when it is read.
fn build_repost(tx: &Tx<'_>, user: UserId, app: Option<AppId>, original: Post) -> Post {
    let id: PostId = tx.next_id();
    Post {
        state: PostState::Live,
        lang: original.lang,
        repost_of_id: Some(original.id),
        possibly_sensitive: original.possibly_sensitive,
        reply_settings: original.reply_settings,
        app_id: app,
        ..Post::placeholder(id, user, id.created_at())
    }
}

/// Returns false if the user has not reposted the post.
pub fn undo(tx: &mut Tx<'_>, user: UserId, id: PostId) -> Result<bool, Error> {
    for original_id in post_actions::list_undo_targets(tx, id)? {
        if let Some(repost) = reposts::find_by_user(tx, user, original_id, false)?
            && let Some(repost) = posts::find_by_id(tx, repost)?
        {
            let deleted = posts::delete(tx, &repost)?;
            record_deletions(tx, &deleted)?;
            return Ok(!deleted.is_empty());
        }
    }
    Ok(false)
}

/// Latest first: the reposting user and the repost's id.
pub fn list_post_reposts(
    tx: &mut Tx<'_>,
    viewer: Viewer,
    id: PostId,
    range: &PageRange,
) -> Result<Vec<UserEdge>, Error> {
    post_actions::find_visible_post(tx, viewer, id)?;
    Ok(reposts::page_by_post(tx, id, range)?)
}

/// Only public accounts that the viewer may see.
pub fn filter_public_users(tx: &mut Tx<'_>, viewer: Viewer, users: Vec<User>) -> Result<Vec<User>, Fault> {
    let visibilities = AuthorVisibilities::load(tx, viewer, &users)?;
    let is_visible = |user: &User| !user.protected && visibilities.author_visibility(user.id) == Visibility::Visible;
    Ok(users.into_iter().filter(is_visible).collect())
}

pub fn list_reposted_posts(tx: &mut Tx<'_>, user: UserId, range: &PageRange) -> Result<Vec<Edge>, Fault> {
    reposts::page_reposted_of_author(tx, user, range)
}

pub fn list_quotes(tx: &mut Tx<'_>, viewer: Viewer, id: PostId, range: &PageRange) -> Result<Vec<Edge>, Error> {
    post_actions::find_visible_post(tx, viewer, id)?;
    Ok(reposts::page_quotes(tx, id, range)?)
}
