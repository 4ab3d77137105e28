//! What a person means by a user or an app.

use base::{AppId, Error, PostId, Refusal, UserId};
use store::Tx;
use store::apps::{self, App};
use store::users::{self, User};

/// A user by `@username`, `username` or id.
pub(crate) fn user(tx: &mut Tx<'_>, text: &str) -> Result<User, Error> {
    let found = user_or_deleted(tx, text)?;
    let found = Some(found).filter(|user| user.state != users::UserState::Deleted);
    found.ok_or_else(|| not_found("user", text))
}

/// The same, a deleted one too.
pub(crate) fn user_or_deleted(tx: &mut Tx<'_>, text: &str) -> Result<User, Error> {
    let name = text.strip_prefix('@').unwrap_or(text);
    let named = users::find_by_username(tx, name)?;
    let found = match (named, UserId::parse(text)) {
        (Some(user), _) => Some(user),
        (None, Some(id)) => users::find_by_id(tx, id)?,
        (None, None) => None,
    };
    found.ok_or_else(|| not_found("user", text))
}

/// A post by id.
pub(crate) fn post_id(text: &str) -> Result<PostId, Error> {
    PostId::parse(text).ok_or_else(|| not_found("post", text))
}

/// An app by id, API key, client id, or a name that only one has.
pub(crate) fn app(tx: &mut Tx<'_>, text: &str) -> Result<App, Error> {
    let mut found = match AppId::parse(text) {
        Some(id) => apps::find_by_id(tx, id)?,
        None => None,
    };
    if found.is_none() {
        found = apps::find_by_api_key(tx, text)?;
    }
    if found.is_none() {
        found = apps::find_by_client_id(tx, text)?;
    }
    if found.is_none() {
        found = app_by_name(tx, text)?;
    }
    let found = found.filter(|app| app.state != apps::AppStatus::Deleted);
    found.ok_or_else(|| not_found("app", text))
}

fn app_by_name(tx: &mut Tx<'_>, name: &str) -> Result<Option<App>, Error> {
    let mut named = network::apps::list(tx, None)?;
    named.retain(|app| app.name == name);
    let (first, more) = (named.pop(), !named.is_empty());
    if more {
        let message = format!("more than one app is called [{name}]: use an id");
        return Err(Refusal::invalid_parameter("app", name, message).into());
    }
    Ok(first)
}

/// Nothing is called that.
pub(crate) fn not_found(parameter: &'static str, text: &str) -> Error {
    let message = format!("no {parameter} is called [{text}]");
    Refusal::invalid_parameter(parameter, text, message).into()
}
