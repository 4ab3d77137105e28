//! Whether a delivery may be sent again: replays and retries must not disclose what was deleted or made private since.

use base::{AppId, Fault, PostId, UserId};
use serde_json::Value;
use store::deliveries::Delivery;
use store::posts::{self, Post};
use store::{Tx, users};

use crate::activity::{EventAccess, EventPayloadKind, find_event_kind, is_authorized};
use crate::messages;
use crate::visibility::{AuthorVisibilities, Viewer, Visibility};

pub fn may_redeliver(tx: &mut Tx<'_>, app: AppId, delivery: &Delivery) -> Result<bool, Fault> {
    if let Some(post) = delivery.post_id
        && !is_post_visible(tx, delivery.consent_user_id, post)?
    {
        return Ok(false);
    }
    let body: Value = serde_json::from_str(&delivery.body).unwrap_or_default();
    // Deliveries that depend on consent were deleted when it was withdrawn.
    if let Some(user) = delivery.consent_user_id {
        return match parse_message_id(&body) {
            Some(message) => Ok(messages::find_event(tx, user, message)?.is_some()),
            None => Ok(true),
        };
    }
    match parse_public_event(&body) {
        Some((payload, user)) => may_disclose_event(tx, app, payload, user),
        None => Ok(true),
    }
}

/// The message that an event of an account or an activity contains.
fn parse_message_id(body: &Value) -> Option<i64> {
    const MESSAGES: &str = "direct_message_events";
    let messages = body.get(MESSAGES).or_else(|| body.pointer("/data/payload")?.get(MESSAGES))?;
    messages.get(0)?.get("id")?.as_str()?.parse().ok()
}

/// Whether a post and the posts shown with it are still visible to the reader; none stands for everyone.
fn is_post_visible(tx: &mut Tx<'_>, reader: Option<UserId>, id: PostId) -> Result<bool, Fault> {
    let Some(post) = posts::find_by_id(tx, id)? else {
        return Ok(false);
    };
    let related = [post.repost_of_id, post.quoted_post_id, post.in_reply_to_post_id];
    let related: Vec<PostId> = related.into_iter().flatten().collect();
    let mut visible_posts = posts::find_by_ids(tx, &related)?;
    // Placeholders are not shown.
    visible_posts.retain(|other| other.state != posts::PostState::Placeholder);
    visible_posts.push(post);
    are_posts_visible(tx, reader, &visible_posts)
}

fn are_posts_visible(tx: &mut Tx<'_>, user: Option<UserId>, visible_posts: &[Post]) -> Result<bool, Fault> {
    let authors: Vec<UserId> = visible_posts.iter().map(|post| post.author_id).collect();
    let authors = users::find_by_ids(tx, &authors)?;
    let mut visibilities = AuthorVisibilities::load(tx, Viewer { user }, &authors)?;
    visibilities.admit_posts(tx, visible_posts)?;
    Ok(visible_posts.iter().all(|post| visibilities.post_visibility(post) == Visibility::Visible))
}

/// The payload kind and user of a public event.
fn parse_public_event(body: &Value) -> Option<(EventPayloadKind, UserId)> {
    let data = body.get("data")?;
    let (kind, _) = find_event_kind(data.get("event_type")?.as_str()?)?;
    let user = data.get("filter")?.get("user_id")?.as_str()?;
    let is_public = kind.access == EventAccess::Public;
    Some((kind.payload, UserId::new(user.parse().ok()?))).filter(|_| is_public)
}

/// Posts and follows of protected users are not disclosed.
fn may_disclose_event(tx: &mut Tx<'_>, app: AppId, payload: EventPayloadKind, user: UserId) -> Result<bool, Fault> {
    let is_open = users::find_by_id(tx, user)?.is_some_and(|user| !user.protected);
    Ok(match payload {
        EventPayloadKind::PostDeleted => is_open,
        EventPayloadKind::Relationship => is_open || is_authorized(tx, app, user)?,
        _ => true,
    })
}
