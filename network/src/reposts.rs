//! Reposts, which are posts, and quotes.

use base::{AppId, Error, Fault, PostId, UserId};
use serde_json::json;
use store::edges::Edge;
use store::posts::{self, PageRange, Post, PostState};
use store::users::User;
use store::{Tx, event_log, reposts};

use crate::visibility::{AuthorVisibilities, Viewer, Visibility};
use crate::{post_actions, posts as rules, users};

/// A repost that is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RepostResult {
    /// Its own id.
    pub id: PostId,
    /// What it reposts.
    pub original_id: PostId,
    /// It was not there before.
    pub is_new: bool,
}

/// Reposts a post, or of a repost its original.
pub fn repost(tx: &mut Tx<'_>, user: UserId, app: Option<AppId>, id: PostId) -> Result<RepostResult, Error> {
    create_repost(tx, user, app, id, false)
}

/// The same for promotion only: it is in no timeline, is counted and listed nowhere, and nobody is
/// told of it. It stands beside the user's own repost that everyone sees, if there is one.
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
    users::find_active(tx, user)?;
    let original = post_actions::resolve_action_target(tx, user, id)?;
    let (author, of) = (original.author_id, original.id);
    if author != user && users::find(tx, author)?.protected {
        return Err(post_actions::not_permitted());
    }
    if let Some(id) = reposts::find_by_user(tx, user, of, nullcast)? {
        return Ok(RepostResult {
            id,
            original_id: of,
            is_new: false,
        });
    }
    let repost = Post {
        nullcast,
        ..build_repost(tx, user, app, original)
    };
    if !reposts::insert(tx, &repost)? {
        // Somebody was faster: the same user, with another request.
        let id = reposts::find_by_user(tx, user, of, nullcast)?;
        let id = id.ok_or_else(|| Fault::new(format!("{of} was reposted and undone at once")))?;
        return Ok(RepostResult {
            id,
            original_id: of,
            is_new: false,
        });
    }
    let mut body = json!({ "repost_of_id": of.to_string() });
    if !nullcast && let Some(members) = body.as_object_mut() {
        // Who wrote it is told.
        members.insert("author_id".to_owned(), author.to_string().into());
    }
    let (actor, subject) = (user.get(), repost.id.get());
    event_log::append(tx, "post.create", actor, subject, &body.to_string())?;
    let counted = i64::from(!nullcast);
    post_actions::ensure_post_exists(reposts::add_to_post_count(tx, of, counted)?, id)?;
    Ok(RepostResult {
        id: repost.id,
        original_id: of,
        is_new: true,
    })
}

/// A repost's own row: its text is made from the original's when it is shown.
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

/// Undoes a user's repost of a post, or of what a repost reposts; false when there is none.
pub fn undo(tx: &mut Tx<'_>, user: UserId, id: PostId) -> Result<bool, Error> {
    let of = post_actions::resolve_original_post(tx, id)?.map_or(id, |post| post.id);
    let Some(repost) = reposts::find_by_user(tx, user, of, false)? else {
        return Ok(false);
    };
    let Some(repost) = posts::find_by_id(tx, repost)? else {
        return Ok(false);
    };
    let gone = posts::delete(tx, &repost)?;
    rules::record_deletions(tx, &gone)?;
    Ok(!gone.is_empty())
}

/// A page of a post's reposts: who reposted it, and the repost's id.
pub fn list_post_reposts(tx: &mut Tx<'_>, viewer: Viewer, id: PostId, span: &PageRange) -> Result<Vec<Edge>, Error> {
    post_actions::find_visible_post(tx, viewer, id)?;
    Ok(reposts::page_by_post(tx, id, span)?)
}

/// Of those who reposted a post, the public accounts that do not keep out the viewer.
pub fn filter_public_users(tx: &mut Tx<'_>, viewer: Viewer, users: Vec<User>) -> Result<Vec<User>, Fault> {
    let sights = AuthorVisibilities::load(tx, viewer, &users)?;
    let seen = |user: &User| !user.protected && sights.author_visibility(user.id) == Visibility::Visible;
    Ok(users.into_iter().filter(seen).collect())
}

/// A page of a user's posts that others reposted.
pub fn list_reposted_posts(tx: &mut Tx<'_>, user: UserId, span: &PageRange) -> Result<Vec<Edge>, Fault> {
    reposts::page_reposted_of_author(tx, user, span)
}

/// A page of the posts that quote a post.
pub fn list_quotes(tx: &mut Tx<'_>, viewer: Viewer, id: PostId, span: &PageRange) -> Result<Vec<Edge>, Error> {
    post_actions::find_visible_post(tx, viewer, id)?;
    Ok(reposts::page_quotes(tx, id, span)?)
}
