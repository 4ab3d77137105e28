//! Events for webhooks that receive all account activity (contract core §10.3).

use base::{Fault, Id, PostId, SiteLinks, UserId};
use network::activity::ActivityEntry;
use network::visibility::Viewer;
use serde_json::{Map, Value, json};
use store::graph::{self, RelationKind};
use store::messages::MessageEvent;
use store::{Tx, apps, posts, users};
use view::{
    legacy_message_data_json, legacy_participant_json, legacy_post_json, legacy_user_json, shorten_message_links,
};

use super::ActivityConfig;
use super::payload::{like_from_entry, message_recipient};

pub(super) struct AccountEventBody {
    pub(super) body: String,
    /// The post in the body.
    pub(super) post_id: Option<PostId>,
}

/// Renders a log entry for an account; `None` if the account may not see it.
pub(super) fn render_account_event(
    tx: &mut Tx<'_>,
    entry: &ActivityEntry<'_>,
    user: UserId,
    config: ActivityConfig,
) -> Result<Option<AccountEventBody>, Fault> {
    let members = match entry.event.kind.as_str() {
        "post.create" => post_create_event(tx, entry, user, config)?,
        "post.delete" => Some(post_delete_event(entry)),
        "like.create" => like_event(tx, entry, user, config)?,
        "follow.follow" => relation_event(tx, entry, "follow_events", "follow")?,
        // Unfollows by others, and those caused by a block, are not reported.
        "follow.unfollow" if entry.actor() == user && entry.text_field("cause").is_empty() => {
            relation_event(tx, entry, "follow_events", "unfollow")?
        }
        "block.block" => relation_event(tx, entry, "block_events", "block")?,
        "block.unblock" => relation_event(tx, entry, "block_events", "unblock")?,
        "mute.mute" => relation_event(tx, entry, "mute_events", "mute")?,
        "mute.unmute" => relation_event(tx, entry, "mute_events", "unmute")?,
        "dm.sent" | "dm.received" => message_create_event(tx, entry, user, config)?,
        "dm.read" => {
            let event = read_event(entry, user);
            Some(message_signal_event(tx, entry, user, "direct_message_mark_read_events", &event)?)
        }
        "dm.indicate_typing" => {
            let event = typing_event(entry, user);
            let name = "direct_message_indicate_typing_events";
            Some(message_signal_event(tx, entry, user, name, &event)?)
        }
        _ => None,
    };
    let shown = ["post.create", "like.create"].contains(&entry.event.kind.as_str());
    Ok(members.map(|members| {
        let mut whole = Map::new();
        whole.insert("for_user_id".to_owned(), json!(user.to_string()));
        whole.extend(members);
        AccountEventBody { body: Value::Object(whole).to_string(), post_id: shown.then(|| entry.post_id()) }
    }))
}

/// The event that a user revoked the app's access.
pub(super) fn render_revocation(entry: &ActivityEntry<'_>) -> String {
    let event = json!({
        "date_time": entry.event.at.to_string(),
        "target": { "app_id": entry.event.subject_id.to_string() },
        "source": { "user_id": entry.event.actor_id.to_string() },
    });
    json!({ "user_event": { "revoke": event } }).to_string()
}

type AccountEventMembers = Map<String, Value>;

fn event_members(name: &str, event: Value) -> AccountEventMembers {
    AccountEventMembers::from_iter([(name.to_owned(), Value::Array(vec![event]))])
}

fn post_create_event(
    tx: &mut Tx<'_>,
    entry: &ActivityEntry<'_>,
    user: UserId,
    config: ActivityConfig,
) -> Result<Option<AccountEventMembers>, Fault> {
    let Some(post) = posts::find_by_id(tx, entry.post_id())? else {
        return Ok(None);
    };
    let author = post.author_id;
    let Some(post) = legacy_post_json(tx, Viewer::user(user), post, config.site)? else {
        return Ok(None);
    };
    let mut members = event_members("tweet_create_events", post);
    if author != user {
        let blocked = graph::exists(tx, RelationKind::Block, user, author)?;
        members.insert("user_has_blocked".to_owned(), json!(blocked.to_string()));
    }
    Ok(Some(members))
}

fn post_delete_event(entry: &ActivityEntry<'_>) -> AccountEventMembers {
    let (post, author) = (entry.post_id(), entry.actor());
    event_members(
        "tweet_delete_events",
        json!({
            "status": { "id": post.to_string(), "user_id": author.to_string() },
            "timestamp_ms": entry.event.at.ms().to_string(),
        }),
    )
}

fn like_event(
    tx: &mut Tx<'_>,
    entry: &ActivityEntry<'_>,
    user: UserId,
    config: ActivityConfig,
) -> Result<Option<AccountEventMembers>, Fault> {
    let liker = users::find_by_id(tx, entry.actor())?;
    let post = posts::find_by_id(tx, entry.post_id())?;
    let (Some(like), Some(liker), Some(post)) = (like_from_entry(entry), liker, post) else {
        return Ok(None);
    };
    let Some(mut post) = legacy_post_json(tx, Viewer::user(user), post, config.site)? else {
        return Ok(None);
    };
    if let Some(members) = post.as_object_mut() {
        members.insert("favorited".to_owned(), json!(entry.actor() == user));
    }
    let event = json!({
        "id": like.id.to_string(),
        "created_at": like.at.to_legacy_string(),
        "timestamp_ms": like.at.ms(),
        "favorited_status": post,
        "user": legacy_user_json(&liker, false),
    });
    Ok(Some(event_members("favorite_events", event)))
}

fn relation_event(
    tx: &mut Tx<'_>,
    entry: &ActivityEntry<'_>,
    name: &str,
    kind: &str,
) -> Result<Option<AccountEventMembers>, Fault> {
    let source = users::find_by_id(tx, entry.actor())?;
    let target = users::find_by_id(tx, UserId::new(entry.event.subject_id))?;
    Ok(source.zip(target).map(|(source, target)| {
        let event = json!({
            "type": kind,
            "created_timestamp": entry.event.at.ms().to_string(),
            "source": legacy_participant_json(&source),
            "target": legacy_participant_json(&target),
        });
        event_members(name, event)
    }))
}

fn message_create_event(
    tx: &mut Tx<'_>,
    entry: &ActivityEntry<'_>,
    user: UserId,
    config: ActivityConfig,
) -> Result<Option<AccountEventMembers>, Fault> {
    let Some(mut message) = network::messages::find_event(tx, user, entry.event.subject_id)? else {
        return Ok(None);
    };
    shorten_message_links(&mut message, config.site);
    let recipient = message_recipient(entry, user);
    let mut members = event_members("direct_message_events", message_event(tx, &message, recipient, config.site)?);
    if let Some(id) = message.app_id
        && let Some(app) = apps::find_by_id(tx, id)?
    {
        let app = json!({ "id": id.to_string(), "name": app.name, "url": app.website_url });
        let apps = Map::from_iter([(id.to_string(), app)]);
        members.insert("apps".to_owned(), Value::Object(apps));
    }
    members.insert("users".to_owned(), participants_json(tx, &[message.sender_id, recipient])?);
    Ok(Some(members))
}

fn message_signal_event(
    tx: &mut Tx<'_>,
    entry: &ActivityEntry<'_>,
    user: UserId,
    name: &str,
    event: &Value,
) -> Result<AccountEventMembers, Fault> {
    let mut members = event_members(name, event.clone());
    members.insert("users".to_owned(), participants_json(tx, &[entry.actor(), user])?);
    Ok(members)
}

fn participants_json(tx: &mut Tx<'_>, ids: &[UserId]) -> Result<Value, Fault> {
    let found = users::find_by_ids(tx, ids)?;
    let found = found.iter();
    Ok(found.map(|user| (user.id.to_string(), legacy_participant_json(user))).collect())
}

pub(super) fn message_event(
    tx: &mut Tx<'_>,
    message: &MessageEvent,
    recipient: UserId,
    site: SiteLinks,
) -> Result<Value, Fault> {
    let mut create = json!({
        "target": { "recipient_id": recipient.to_string() },
        "sender_id": message.sender_id.to_string(),
        "message_data": legacy_message_data_json(tx, message, site)?,
    });
    if let (Some(app), Some(create)) = (message.app_id, create.as_object_mut()) {
        create.insert("source_app_id".to_owned(), json!(app.to_string()));
    }
    let at = Id::<()>::new(message.id).created_at();
    Ok(json!({
        "type": "message_create",
        "id": message.id.to_string(),
        "created_timestamp": at.ms().to_string(),
        "message_create": create,
    }))
}

pub(super) fn read_event(entry: &ActivityEntry<'_>, user: UserId) -> Value {
    let mut event = typing_event(entry, user);
    if let Some(members) = event.as_object_mut() {
        let last = entry.event.subject_id.to_string();
        members.insert("last_read_event_id".to_owned(), json!(last));
    }
    event
}

pub(super) fn typing_event(entry: &ActivityEntry<'_>, user: UserId) -> Value {
    json!({
        "created_timestamp": entry.event.at.ms().to_string(),
        "sender_id": entry.actor().to_string(),
        "target": { "recipient_id": user.to_string() },
    })
}
