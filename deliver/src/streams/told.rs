//! What became of posts, users and likes: the streams by which copies of them are kept in order
//! (contract §9.4). Their names are the same in both vocabularies.

use base::{Fault, PostId, UserId};
use serde_json::{Map, Value, json};
use store::event_log::LogEvent;
use store::{Tx, posts, users};

use super::share::mix;
use super::{Endpoint, Session};

impl Endpoint {
    /// Whether it tells what became of things, rather than showing posts; and in how many parts.
    pub(super) const fn told(self) -> Option<u64> {
        match self {
            Self::PostsCompliance | Self::UsersCompliance => Some(4),
            Self::Labels | Self::LikesCompliance => Some(1),
            _ => None,
        }
    }
}

/// An entry of the log as one of the streams tells it.
pub(super) struct Told {
    endpoint: Endpoint,
    /// What it is about; all about one thing comes in one part.
    about: i64,
    /// The line without its end.
    pub(super) line: String,
}

impl Told {
    /// Whether a session's stream carries it.
    pub(super) fn is_for(&self, session: &Session) -> bool {
        let part = |parts| mix(self.about) / 100 % parts + 1;
        session.endpoint() == self.endpoint
            && self.endpoint.told().map(part) == Some(u64::from(session.partition()))
    }
}

/// An entry as it is told, if it is.
pub(super) fn of(tx: &mut Tx<'_>, event: &LogEvent) -> Result<Option<Told>, Fault> {
    let kind = event.kind.as_str();
    let body: Value = serde_json::from_str(&event.body).unwrap_or_default();
    let found = match kind {
        "post.delete" | "post.withheld" | "post.create" => post(tx, event, &body)?,
        "like.delete" => unlike(tx, event)?,
        // A new handle is told as such, and as a screen name too.
        "profile.update.screenname" if !is_name(tx, event, &body)? => None,
        _ if kind.starts_with("user.") || kind.starts_with("profile.update.") => user(event, &body)
            .map(|(name, members)| {
                let about = ("user", json!({ "id": event.subject_id.to_string() }));
                (Endpoint::UsersCompliance, name, about, members)
            }),
        _ => None,
    };
    Ok(found.map(|(endpoint, name, (what, thing), mut members)| {
        members.insert(what.to_owned(), thing);
        members.insert("event_at".to_owned(), json!(event.at.to_string()));
        let data = Map::from_iter([(name.to_owned(), Value::Object(members))]);
        Told {
            endpoint,
            about: event.subject_id,
            line: json!({ "data": data }).to_string(),
        }
    }))
}

/// Whether a screen name that was changed is the display name.
fn is_name(tx: &mut Tx<'_>, event: &LogEvent, body: &Value) -> Result<bool, Fault> {
    let user = users::find_by_id(tx, UserId::new(event.subject_id))?;
    let after = fact(body, "after");
    Ok(user.is_some_and(|user| after == user.name && after != user.username))
}

/// A text of an entry's body; empty where it is not there.
fn fact<'b>(body: &'b Value, name: &str) -> &'b str {
    body.get(name).and_then(Value::as_str).unwrap_or_default()
}

type Members = Map<String, Value>;
type Found = Option<(Endpoint, &'static str, (&'static str, Value), Members)>;

/// Of an author whose posts are for followers nothing is told.
fn is_protected(tx: &mut Tx<'_>, user: i64) -> Result<bool, Fault> {
    let user = users::find_by_id(tx, UserId::new(user))?;
    Ok(user.is_none_or(|user| user.protected))
}

fn post(tx: &mut Tx<'_>, event: &LogEvent, body: &Value) -> Result<Found, Fault> {
    let id = PostId::new(event.subject_id);
    let mut members = Map::new();
    let name = match event.kind.as_str() {
        "post.delete" => "delete",
        "post.withheld" => {
            let Some(countries) = countries(body) else {
                return Ok(None);
            };
            members.insert("withheld_in_countries".to_owned(), countries);
            "withheld"
        }
        _ if !fact(body, "previous_post_id").is_empty() => "tweet_edit",
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
        // Those that came later are told later.
        let versions = versions.filter(|version| *version <= id);
        let versions: Vec<String> = versions.map(|version| version.to_string()).collect();
        members.insert("initial_tweet_id".to_owned(), json!(root.to_string()));
        members.insert("edit_tweet_ids".to_owned(), json!(versions));
    } else if let Some(quoted) = row.quoted_post_id {
        members.insert("quote_tweet_id".to_owned(), json!(quoted.to_string()));
    }
    let author = row.author_id.to_string();
    let thing = json!({ "id": id.to_string(), "author_id": author });
    Ok(Some((
        Endpoint::PostsCompliance,
        name,
        ("tweet", thing),
        members,
    )))
}

/// Where something is withheld, if it is.
fn countries(body: &Value) -> Option<Value> {
    let countries = body.get("country_codes")?.as_array()?;
    (!countries.is_empty()).then(|| json!(countries))
}

fn user(event: &LogEvent, body: &Value) -> Option<(&'static str, Members)> {
    let mut members = Map::new();
    let name = match event.kind.as_str() {
        "user.protect" if fact(body, "after") == "true" => "user_protect",
        "user.protect" => "user_unprotect",
        "user.suspend" => "user_suspend",
        "user.delete" => "user_delete",
        "user.restore" if fact(body, "before") == "suspended" => "user_unsuspend",
        "user.restore" => "user_undelete",
        "user.withheld" => {
            members.insert("withheld_in_countries".to_owned(), countries(body)?);
            "user_withheld"
        }
        kind => {
            let field = match kind.strip_prefix("profile.update.")? {
                "bio" => "description",
                "geo" => "location",
                "handle" => "screen_name",
                "screenname" => "name",
                "profile_picture" => "profile_image_url",
                "banner_picture" => "profile_banner_url",
                other => other,
            };
            members.insert("profile_field".to_owned(), json!(field));
            members.insert("new_value".to_owned(), json!(fact(body, "after")));
            "user_profile_modification"
        }
    };
    Some((name, members))
}

fn unlike(tx: &mut Tx<'_>, event: &LogEvent) -> Result<Found, Fault> {
    if is_protected(tx, event.actor_id)? {
        return Ok(None);
    }
    let thing = json!({
        "id": event.subject_id.to_string(),
        "user_id": event.actor_id.to_string(),
    });
    Ok(Some((
        Endpoint::LikesCompliance,
        "delete",
        ("favorite", thing),
        Map::new(),
    )))
}
