//! Compliance streams: events by which clients keep copies of posts, users and likes up to date (contract core
//! §9.4). Event names are the same in both vocabularies.

use base::{Fault, PostId, UserId};
use network::visibility::{Visibility, is_public_post, profile_visibility};
use serde_json::{Map, Value, json};
use store::event_log::LogEvent;
use store::{Tx, posts, users};

use super::{StreamEndpoint, StreamSession};
use base::id::mix_id;

impl StreamEndpoint {
    /// The number of partitions of a compliance stream; `None` for other streams.
    pub(super) const fn compliance_partitions(self) -> Option<u64> {
        match self {
            Self::PostsCompliance | Self::UsersCompliance => Some(4),
            Self::Labels | Self::LikesCompliance => Some(1),
            _ => None,
        }
    }
}

pub(super) struct ComplianceEvent {
    endpoint: StreamEndpoint,
    /// Events about one subject are in the same partition.
    subject_id: i64,
    /// Without the line end.
    pub(super) line: String,
}

impl ComplianceEvent {
    /// Whether the session's stream and partition carry the event.
    pub(super) fn is_carried_by(&self, session: &StreamSession) -> bool {
        let part = |parts| mix_id(self.subject_id) / 100 % parts + 1;
        session.endpoint() == self.endpoint
            && self.endpoint.compliance_partitions().map(part) == Some(u64::from(session.partition()))
    }
}

/// The compliance event for a log entry, if there is one.
pub(super) fn event_from_log(tx: &mut Tx<'_>, event: &LogEvent) -> Result<Option<ComplianceEvent>, Fault> {
    let kind = event.kind.as_str();
    let body: Value = serde_json::from_str(&event.body).unwrap_or_default();
    let found = match kind {
        "post.delete" | "post.restore" | "post.withheld" | "post.create" => post_event(tx, event, &body)?,
        "like.delete" => unlike_event(tx, event)?,
        // A new username is reported by an event of its own.
        "profile.update.screenname" if !changes_display_name(tx, event, &body)? => None,
        _ if kind.starts_with("user.") || kind.starts_with("profile.update.") => {
            user_event(tx, event, &body)?.map(|(name, members)| {
                let about = ("user", json!({ "id": event.subject_id.to_string() }));
                (StreamEndpoint::UsersCompliance, name, about, members)
            })
        }
        _ => None,
    };
    Ok(found.map(|(endpoint, name, (what, thing), mut members)| {
        members.insert(what.to_owned(), thing);
        members.insert("event_at".to_owned(), json!(event.at.to_string()));
        let data = Map::from_iter([(name.to_owned(), Value::Object(members))]);
        ComplianceEvent { endpoint, subject_id: event.subject_id, line: json!({ "data": data }).to_string() }
    }))
}

/// Whether a changed `screenname` is the display name.
fn changes_display_name(tx: &mut Tx<'_>, event: &LogEvent, body: &Value) -> Result<bool, Fault> {
    let user = users::find_by_id(tx, UserId::new(event.subject_id))?;
    let after = body_text(body, "after");
    Ok(user.is_some_and(|user| after == user.name && after != user.username))
}

/// Empty if the member is missing.
fn body_text<'b>(body: &'b Value, name: &str) -> &'b str {
    body.get(name).and_then(Value::as_str).unwrap_or_default()
}

type ComplianceMembers = Map<String, Value>;
type ComplianceParts = Option<(StreamEndpoint, &'static str, (&'static str, Value), ComplianceMembers)>;

/// Nothing is reported about protected users.
fn is_protected(tx: &mut Tx<'_>, user: i64) -> Result<bool, Fault> {
    let user = users::find_by_id(tx, UserId::new(user))?;
    Ok(user.is_none_or(|user| user.protected))
}

fn post_event(tx: &mut Tx<'_>, event: &LogEvent, body: &Value) -> Result<ComplianceParts, Fault> {
    let id = PostId::new(event.subject_id);
    let mut members = Map::new();
    let name = match event.kind.as_str() {
        "post.delete" if body.get("removed").is_some() => "drop",
        "post.delete" => "delete",
        "post.restore" => "undrop",
        "post.withheld" => {
            members.insert("withheld_in_countries".to_owned(), withheld_countries(body));
            "withheld"
        }
        _ if !body_text(body, "previous_post_id").is_empty() => "tweet_edit",
        _ => return Ok(None),
    };
    let row = posts::find_by_id(tx, id)?;
    let Some(row) = row else { return Ok(None) };
    if row.followers_only || row.members_only || is_protected(tx, row.author_id.get())? {
        return Ok(None);
    }
    if name == "tweet_edit" {
        let root = row.edit_root_id.unwrap_or(id);
        let versions = posts::list_versions(tx, root)?.into_iter();
        // Later versions have events of their own.
        let versions = versions.filter(|version| *version <= id);
        let versions: Vec<String> = versions.map(|version| version.to_string()).collect();
        members.insert("initial_tweet_id".to_owned(), json!(root.to_string()));
        members.insert("edit_tweet_ids".to_owned(), json!(versions));
    } else if let Some(quoted) = row.quoted_post_id {
        members.insert("quote_tweet_id".to_owned(), json!(quoted.to_string()));
    }
    let author = row.author_id.to_string();
    let thing = json!({ "id": id.to_string(), "author_id": author });
    Ok(Some((StreamEndpoint::PostsCompliance, name, ("tweet", thing), members)))
}

/// Empty once the post or account is withheld nowhere.
fn withheld_countries(body: &Value) -> Value {
    body.get("country_codes").cloned().unwrap_or_else(|| json!([]))
}

fn user_event(
    tx: &mut Tx<'_>,
    event: &LogEvent,
    body: &Value,
) -> Result<Option<(&'static str, ComplianceMembers)>, Fault> {
    let mut members = Map::new();
    let name = match event.kind.as_str() {
        "user.protect" if body_text(body, "after") == "true" => "user_protect",
        "user.protect" => "user_unprotect",
        "user.suspend" => "user_suspend",
        "user.delete" => "user_delete",
        "user.restore" if body_text(body, "before") == "suspended" => "user_unsuspend",
        "user.restore" => "user_undelete",
        "user.withheld" => {
            members.insert("withheld_in_countries".to_owned(), withheld_countries(body));
            "user_withheld"
        }
        kind => {
            let Some(field) = kind.strip_prefix("profile.update.") else { return Ok(None) };
            let field = match field {
                "bio" => "description",
                "geo" => "location",
                "handle" => "screen_name",
                "screenname" => "name",
                "profile_picture" => "profile_image_url",
                "banner_picture" => "profile_banner_url",
                other => other,
            };
            members.insert("profile_field".to_owned(), json!(field));
            // Backfill must not disclose what was deleted since.
            let user = users::find_by_id(tx, UserId::new(event.subject_id))?;
            if user.is_some_and(|user| profile_visibility(&user) == Visibility::Visible) {
                members.insert("new_value".to_owned(), json!(body_text(body, "after")));
            }
            "user_profile_modification"
        }
    };
    Ok(Some((name, members)))
}

fn unlike_event(tx: &mut Tx<'_>, event: &LogEvent) -> Result<ComplianceParts, Fault> {
    if is_protected(tx, event.actor_id)? || !is_public_post(tx, PostId::new(event.subject_id))? {
        return Ok(None);
    }
    let thing = json!({
        "id": event.subject_id.to_string(),
        "user_id": event.actor_id.to_string(),
    });
    Ok(Some((StreamEndpoint::LikesCompliance, "delete", ("favorite", thing), Map::new())))
}
