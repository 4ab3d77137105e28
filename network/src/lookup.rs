//! Users, apps and posts by what a person types.

use base::refusal::{RefusalKind, describe_missing};
use base::{AppId, Error, PostId, Refusal, UserId};
use store::Tx;
use store::apps::{self, App};
use store::users::{self, User};

/// Accepts `@username`, `username` or an id.
pub fn user(tx: &mut Tx<'_>, text: &str) -> Result<User, Error> {
    let found = user_or_deleted(tx, text)?;
    let found = Some(found).filter(|user| user.state != users::UserState::Deleted);
    found.ok_or_else(|| not_found("user", text))
}

pub fn user_or_deleted(tx: &mut Tx<'_>, text: &str) -> Result<User, Error> {
    let name = text.strip_prefix('@').unwrap_or(text);
    let named = users::find_by_username(tx, name)?;
    let found = match (named, UserId::parse(text)) {
        (Some(user), _) => Some(user),
        (None, Some(id)) => users::find_by_id(tx, id)?,
        (None, None) => None,
    };
    found.ok_or_else(|| not_found("user", text))
}

pub fn post_id(text: &str) -> Result<PostId, Error> {
    PostId::parse(text).ok_or_else(|| not_found("post", text))
}

/// Accepts an id, API key, client id or unique name.
pub fn app(tx: &mut Tx<'_>, text: &str) -> Result<App, Error> {
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
    let mut named = apps::list(tx, None, AppId::new(0), 1000)?;
    named.retain(|app| app.name == name);
    let (first, more) = (named.pop(), !named.is_empty());
    if more {
        let message = format!("several apps are named [{name}]: use an id");
        return Err(Refusal::invalid_parameter("app", name, message).into());
    }
    Ok(first)
}

pub fn not_found(parameter: &'static str, text: &str) -> Error {
    Refusal::named_reason(RefusalKind::NotFound, parameter, text, describe_missing(parameter, text)).into()
}
