//! What a webhook is told that receives all that happens to an account (contract §10.3).

use base::{Fault, Id, PostId, UserId};
use network::visibility::Viewer;
use serde_json::{Map, Value, json};
use store::graph::{self, RelationKind};
use store::messages::{self, MessageEvent};
use store::{Tx, apps, posts, users};
use view::{older_entities, older_post, older_user, person};

use super::Home;
use super::concern::Entry;
use super::payload::{addressee, like};

/// What is sent.
pub(super) struct Story {
    /// The body (JSON).
    pub(super) body: String,
    /// The post that it shows.
    pub(super) post: Option<PostId>,
}

/// What an entry is to an account; nothing where the account is not to see it.
pub(super) fn story(
    tx: &mut Tx<'_>,
    entry: &Entry<'_>,
    user: UserId,
    home: Home,
) -> Result<Option<Story>, Fault> {
    let told = match entry.event.kind.as_str() {
        "post.create" => posted(tx, entry, user, home)?,
        "post.delete" => Some(deleted(entry)),
        "like.create" => liked(tx, entry, user, home)?,
        "follow.follow" => tie(tx, entry, "follow_events", "follow")?,
        // That others leave, and what follows from a block, is not said.
        "follow.unfollow" if entry.actor() == user && entry.text("cause").is_empty() => {
            tie(tx, entry, "follow_events", "unfollow")?
        }
        "block.block" => tie(tx, entry, "block_events", "block")?,
        "block.unblock" => tie(tx, entry, "block_events", "unblock")?,
        "mute.mute" => tie(tx, entry, "mute_events", "mute")?,
        "mute.unmute" => tie(tx, entry, "mute_events", "unmute")?,
        "dm.sent" | "dm.received" => messaged(tx, entry, user)?,
        "dm.read" => {
            let event = read_event(entry, user);
            Some(signal(
                tx,
                entry,
                user,
                "direct_message_mark_read_events",
                &event,
            )?)
        }
        "dm.indicate_typing" => {
            let event = typing_event(entry, user);
            let name = "direct_message_indicate_typing_events";
            Some(signal(tx, entry, user, name, &event)?)
        }
        _ => None,
    };
    let shown = ["post.create", "like.create"].contains(&entry.event.kind.as_str());
    Ok(told.map(|told| {
        let mut whole = Map::new();
        whole.insert("for_user_id".to_owned(), json!(user.to_string()));
        whole.extend(told);
        Story {
            body: Value::Object(whole).to_string(),
            post: shown.then(|| entry.post()),
        }
    }))
}

/// That a user takes back what the app was granted.
pub(super) fn revoked(entry: &Entry<'_>) -> String {
    let event = json!({
        "date_time": entry.event.at.to_string(),
        "target": { "app_id": entry.event.subject_id.to_string() },
        "source": { "user_id": entry.event.actor_id.to_string() },
    });
    json!({ "user_event": { "revoke": event } }).to_string()
}

type Members = Map<String, Value>;

fn one(name: &str, event: Value) -> Members {
    Members::from_iter([(name.to_owned(), Value::Array(vec![event]))])
}

fn posted(
    tx: &mut Tx<'_>,
    entry: &Entry<'_>,
    user: UserId,
    home: Home,
) -> Result<Option<Members>, Fault> {
    let Some(post) = posts::find_by_id(tx, entry.post())? else {
        return Ok(None);
    };
    let author = post.author_id;
    let Some(post) = older_post(tx, Viewer::user(user), post, home.site)? else {
        return Ok(None);
    };
    let mut told = one("tweet_create_events", post);
    if author != user {
        let blocked = graph::exists(tx, RelationKind::Block, user, author)?;
        told.insert("user_has_blocked".to_owned(), json!(blocked.to_string()));
    }
    Ok(Some(told))
}

fn deleted(entry: &Entry<'_>) -> Members {
    let (post, author) = (entry.post(), entry.actor());
    one(
        "tweet_delete_events",
        json!({
            "status": { "id": post.to_string(), "user_id": author.to_string() },
            "timestamp_ms": entry.event.at.ms().to_string(),
        }),
    )
}

fn liked(
    tx: &mut Tx<'_>,
    entry: &Entry<'_>,
    user: UserId,
    home: Home,
) -> Result<Option<Members>, Fault> {
    let liker = users::find_by_id(tx, entry.actor())?;
    let post = posts::find_by_id(tx, entry.post())?;
    let (Some(like), Some(liker), Some(post)) = (like(entry), liker, post) else {
        return Ok(None);
    };
    let Some(mut post) = older_post(tx, Viewer::user(user), post, home.site)? else {
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
        "user": older_user(&liker, false),
    });
    Ok(Some(one("favorite_events", event)))
}

fn tie(
    tx: &mut Tx<'_>,
    entry: &Entry<'_>,
    name: &str,
    kind: &str,
) -> Result<Option<Members>, Fault> {
    let source = users::find_by_id(tx, entry.actor())?;
    let target = users::find_by_id(tx, UserId::new(entry.event.subject_id))?;
    Ok(source.zip(target).map(|(source, target)| {
        let event = json!({
            "type": kind,
            "created_timestamp": entry.event.at.ms().to_string(),
            "source": person(&source),
            "target": person(&target),
        });
        one(name, event)
    }))
}

fn messaged(tx: &mut Tx<'_>, entry: &Entry<'_>, user: UserId) -> Result<Option<Members>, Fault> {
    let Some(message) = messages::find_event(tx, entry.event.subject_id)? else {
        return Ok(None);
    };
    let to = addressee(entry, user);
    let mut told = one("direct_message_events", message_event(&message, to));
    if let Some(id) = message.app_id
        && let Some(app) = apps::find_by_id(tx, id)?
    {
        let app = json!({ "id": id.to_string(), "name": app.name, "url": app.website_url });
        let apps = Map::from_iter([(id.to_string(), app)]);
        told.insert("apps".to_owned(), Value::Object(apps));
    }
    told.insert("users".to_owned(), people(tx, &[message.sender_id, to])?);
    Ok(Some(told))
}

fn signal(
    tx: &mut Tx<'_>,
    entry: &Entry<'_>,
    user: UserId,
    name: &str,
    event: &Value,
) -> Result<Members, Fault> {
    let mut told = one(name, event.clone());
    told.insert("users".to_owned(), people(tx, &[entry.actor(), user])?);
    Ok(told)
}

fn people(tx: &mut Tx<'_>, ids: &[UserId]) -> Result<Value, Fault> {
    let found = users::find_by_ids(tx, ids)?;
    let found = found.iter();
    Ok(found
        .map(|user| (user.id.to_string(), person(user)))
        .collect())
}

/// A message on its way to a user.
pub(super) fn message_event(message: &MessageEvent, to: UserId) -> Value {
    let mut data = json!({
        "text": message.text,
        "entities": older_entities(&message.entities),
    });
    if let (Some(id), Some(data)) = (message.media_id, data.as_object_mut()) {
        let media = json!({ "id": id.get(), "id_str": id.to_string() });
        let attachment = json!({ "type": "media", "media": media });
        data.insert("attachment".to_owned(), attachment);
    }
    let mut create = json!({
        "target": { "recipient_id": to.to_string() },
        "sender_id": message.sender_id.to_string(),
        "message_data": data,
    });
    if let (Some(app), Some(create)) = (message.app_id, create.as_object_mut()) {
        create.insert("source_app_id".to_owned(), json!(app.to_string()));
    }
    let at = Id::<()>::new(message.id).created_at();
    json!({
        "type": "message_create",
        "id": message.id.to_string(),
        "created_timestamp": at.ms().to_string(),
        "message_create": create,
    })
}

/// That the actor of an entry has read what a user wrote.
pub(super) fn read_event(entry: &Entry<'_>, user: UserId) -> Value {
    let mut event = typing_event(entry, user);
    if let Some(members) = event.as_object_mut() {
        let last = entry.event.subject_id.to_string();
        members.insert("last_read_event_id".to_owned(), json!(last));
    }
    event
}

/// That the actor of an entry writes to a user.
pub(super) fn typing_event(entry: &Entry<'_>, user: UserId) -> Value {
    json!({
        "created_timestamp": entry.event.at.ms().to_string(),
        "sender_id": entry.actor().to_string(),
        "target": { "recipient_id": user.to_string() },
    })
}
