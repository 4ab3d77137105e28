//! Whether what a webhook was told may be told it again: a replay, or a resending, shows nothing that
//! was deleted or has become private since.

use base::{AppId, Fault, PostId, UserId};
use serde_json::Value;
use store::deliveries::Delivery;
use store::posts::{self, Post};
use store::{Tx, users};

use crate::activity::{EventAccess, EventPayloadKind, find_event_kind, is_authorized};
use crate::visibility::{AuthorVisibilities, Viewer, Visibility};

/// Whether a delivery may be sent to its app again.
pub fn may_redeliver(tx: &mut Tx<'_>, app: AppId, one: &Delivery) -> Result<bool, Fault> {
    if let Some(post) = one.post_id
        && !is_post_visible(tx, one.consent_user_id, post)?
    {
        return Ok(false);
    }
    // What stands on a user's consent was withdrawn with it.
    match (one.consent_user_id, parse_public_event(&one.body)) {
        (None, Some((payload, user))) => may_disclose_event(tx, app, payload, user),
        _ => Ok(true),
    }
}

/// Whether a post, and all that is shown with it, is for the reader still; nobody: for everyone.
fn is_post_visible(tx: &mut Tx<'_>, reader: Option<UserId>, id: PostId) -> Result<bool, Fault> {
    let Some(post) = posts::find_by_id(tx, id)? else {
        return Ok(false);
    };
    let with = [post.repost_of_id, post.quoted_post_id, post.in_reply_to_post_id];
    let with: Vec<PostId> = with.into_iter().flatten().collect();
    let mut shown = posts::find_by_ids(tx, &with)?;
    // Of those that were never here nothing is shown.
    shown.retain(|other| other.state != posts::PostState::Placeholder);
    shown.push(post);
    are_posts_visible(tx, reader, &shown)
}

fn are_posts_visible(tx: &mut Tx<'_>, user: Option<UserId>, shown: &[Post]) -> Result<bool, Fault> {
    let authors: Vec<UserId> = shown.iter().map(|post| post.author_id).collect();
    let authors = users::find_by_ids(tx, &authors)?;
    let mut sights = AuthorVisibilities::load(tx, Viewer { user }, &authors)?;
    sights.admit_posts(tx, shown)?;
    Ok(shown
        .iter()
        .all(|post| sights.post_visibility(post) == Visibility::Visible))
}

/// What a body for everyone's eyes tells, and of whom.
fn parse_public_event(body: &str) -> Option<(EventPayloadKind, UserId)> {
    let body: Value = serde_json::from_str(body).ok()?;
    let data = body.get("data")?;
    let (kind, _) = find_event_kind(data.get("event_type")?.as_str()?)?;
    let user = data.get("filter")?.get("user_id")?.as_str()?;
    let is_public = kind.access == EventAccess::Public;
    Some((kind.payload, UserId::new(user.parse().ok()?))).filter(|_| is_public)
}

/// Of a user whose posts only followers see, others are told neither what they post nor whom they
/// follow.
fn may_disclose_event(tx: &mut Tx<'_>, app: AppId, payload: EventPayloadKind, user: UserId) -> Result<bool, Fault> {
    let is_open = users::find_by_id(tx, user)?.is_some_and(|user| !user.protected);
    Ok(match payload {
        EventPayloadKind::PostDeleted => is_open,
        EventPayloadKind::Relationship => is_open || is_authorized(tx, app, user)?,
        _ => true,
    })
}
