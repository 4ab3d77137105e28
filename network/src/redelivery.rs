//! Whether a delivery may be sent again: replays and retries must not disclose what was deleted or made private since.

use base::{AppId, Fault, PostId, UserId};
use serde_json::Value;
use store::deliveries::Delivery;
use store::posts::{self, Post};
use store::{Tx, users};

use crate::activity::{EventAccess, EventPayloadKind, find_event_kind, is_authorized};
use crate::messages;
use crate::visibility::{AuthorVisibilities, Viewer, Visibility, is_public_post, profile_visibility};

pub fn may_redeliver(tx: &mut Tx<'_>, app: AppId, delivery: &Delivery) -> Result<bool, Fault> {
    let body: Value = serde_json::from_str(&delivery.body).unwrap_or_default();
    if !are_participants_visible(tx, &body)? {
        return Ok(false);
    }
    if let Some(post) = delivery.post_id
        && !is_post_visible(tx, delivery.consent_user_id, post, &body)?
    {
        return Ok(false);
    }
    // Deliveries that depend on consent were deleted when it was withdrawn.
    if let Some(user) = delivery.consent_user_id {
        return match parse_message_id(&body) {
            Some(message) => Ok(messages::find_event(tx, user, message)?.is_some()),
            None => Ok(true),
        };
    }
    match parse_public_event(&body) {
        Some((EventPayloadKind::PostDeleted, _)) => match parse_deleted_post(&body) {
            Some(post) => is_public_post(tx, post),
            None => Ok(false),
        },
        Some((payload, user)) => may_disclose_event(tx, app, payload, user),
        None => Ok(true),
    }
}

/// Where the accounts are that follow, like, block or mute, and those that are followed, blocked or muted.
const PARTICIPANTS: [&str; 11] = [
    "/follow_events/0/source/id",
    "/follow_events/0/target/id",
    "/block_events/0/source/id",
    "/block_events/0/target/id",
    "/mute_events/0/source/id",
    "/mute_events/0/target/id",
    "/favorite_events/0/user/id_str",
    "/data/payload/source/id",
    "/data/payload/target/id",
    "/data/payload/source/data/id",
    "/data/payload/target/data/id",
];

/// Whether the profiles, and those whom a change or a space is about, are still shown.
fn are_participants_visible(tx: &mut Tx<'_>, body: &Value) -> Result<bool, Fault> {
    let mut shown: Vec<&Value> = PARTICIPANTS.iter().filter_map(|at| body.pointer(at)).collect();
    if body.pointer("/data/payload/liked_tweet_id").is_some() {
        let included = body.pointer("/data/includes/users").or_else(|| body.pointer("/includes/users"));
        let included = included.and_then(Value::as_array).into_iter().flatten();
        shown.extend(included.filter_map(|user| user.get("id")));
    }
    let kind = body.pointer("/data/event_type").and_then(Value::as_str).unwrap_or_default();
    if kind.starts_with("profile.update.") || kind.starts_with("spaces.") {
        shown.extend(body.pointer("/data/filter/user_id"));
    }
    let ids: Vec<UserId> = shown.into_iter().filter_map(|id| UserId::parse(id.as_str()?)).collect();
    let found = users::find_by_ids(tx, &ids)?;
    let is_visible = |id: &UserId| {
        let user = found.iter().find(|user| user.id == *id);
        user.is_some_and(|user| profile_visibility(user) == Visibility::Visible)
    };
    Ok(ids.iter().all(is_visible))
}

/// The message that an event of an account or an activity contains.
fn parse_message_id(body: &Value) -> Option<i64> {
    const MESSAGES: &str = "direct_message_events";
    let messages = body.get(MESSAGES).or_else(|| body.pointer("/data/payload")?.get(MESSAGES))?;
    messages.get(0)?.get("id")?.as_str()?.parse().ok()
}

/// Whether a post and the posts shown with it are still visible to the reader; none stands for everyone.
fn is_post_visible(tx: &mut Tx<'_>, reader: Option<UserId>, id: PostId, body: &Value) -> Result<bool, Fault> {
    let Some(post) = posts::find_by_id(tx, id)? else {
        return Ok(false);
    };
    // Of the post replied to or quoted, bodies may have the id only.
    let shown = |id: &PostId| includes_post(body, *id);
    let related = [post.repost_of_id, post.quoted_post_id.filter(shown), post.in_reply_to_post_id.filter(shown)];
    let related: Vec<PostId> = related.into_iter().flatten().collect();
    let mut visible_posts = posts::find_by_ids(tx, &related)?;
    // Placeholders are not shown.
    visible_posts.retain(|other| other.state != posts::PostState::Placeholder);
    visible_posts.push(post);
    are_posts_visible(tx, reader, &visible_posts)
}

/// In events of an account.
const QUOTED_POSTS: [&str; 2] =
    ["/tweet_create_events/0/quoted_status/id_str", "/favorite_events/0/favorited_status/quoted_status/id_str"];

fn includes_post(body: &Value, id: PostId) -> bool {
    let includes = body.get("includes").or_else(|| body.pointer("/data/includes"));
    let lists = ["tweets", "posts"].into_iter().filter_map(|name| includes?.get(name)?.as_array());
    let id = id.to_string();
    let is_quoted = |at: &&str| body.pointer(at).and_then(Value::as_str) == Some(id.as_str());
    if QUOTED_POSTS.iter().any(is_quoted) {
        return true;
    }
    lists.flatten().any(|post| post.get("id").and_then(Value::as_str) == Some(id.as_str()))
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

fn parse_deleted_post(body: &Value) -> Option<PostId> {
    PostId::parse(body.pointer("/data/payload/id")?.as_str()?)
}

/// Follows of protected users are not disclosed.
fn may_disclose_event(tx: &mut Tx<'_>, app: AppId, payload: EventPayloadKind, user: UserId) -> Result<bool, Fault> {
    if payload != EventPayloadKind::Relationship {
        return Ok(true);
    }
    let is_open = users::find_by_id(tx, user)?.is_some_and(|user| !user.protected);
    Ok(is_open || is_authorized(tx, app, user)?)
}
