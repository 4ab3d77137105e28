//! User accounts: creation and lookup.

use base::refusal::{RefusalKind, ResourceRef};
use base::text::is_valid_username;
use base::{Error, Fault, Refusal, Time, UserId};
use store::users::{self, User, UserState};
use store::{Tx, event_log};

use crate::compose;
use crate::email_addresses::validate_email;
use crate::profile_fields::{
    ProfileChanges, SUBSCRIPTION_TYPES, VERIFIED_TYPES, validate_changes, validate_choice, validate_display_name,
};
use crate::visibility::{Visibility, profile_visibility};

#[derive(Clone, Debug, Default)]
pub struct NewUser {
    /// `^[A-Za-z0-9_]{1,15}$`, unique regardless of case.
    pub username: String,
    /// 1–50 characters; empty for the username.
    pub name: String,
    /// Without one the user cannot sign in.
    pub password_hash: Option<String>,
    /// A given id, for imports and demo data.
    pub id: Option<UserId>,
    /// None for now.
    pub created_at: Option<Time>,
    /// At most 160 characters.
    pub description: String,
    pub location: String,
    pub url: String,
    pub profile_image_url: String,
    /// Posts are visible to approved followers only.
    pub protected: bool,
    /// `blue`, `business`, `government`, `none` or empty.
    pub verified_type: String,
    /// `None`, `Basic`, `Premium`, `PremiumPlus` or empty.
    pub subscription_type: String,
    /// May be empty.
    pub email: String,
}

/// First segments of this site's paths that could be usernames.
const RESERVED_USERNAMES: &[&str] = &[
    "12",
    "2",
    "5",
    "about",
    "account",
    "admin",
    "ads",
    "appeal",
    "assets",
    "bookmarks",
    "c",
    "cards",
    "communities",
    "compliance",
    "compose",
    "console",
    "developer",
    "home",
    "i",
    "intent",
    "join",
    "lists",
    "livez",
    "login",
    "logout",
    "mailbox",
    "mcp",
    "media",
    "messages",
    "metrics",
    "nodeinfo",
    "notifications",
    "oauth",
    "oauth2",
    "oembed",
    "preview",
    "privacy",
    "readyz",
    "report",
    "rules",
    "search",
    "settings",
    "setup",
    "t",
    "terms",
];

/// Whether a page of this site has the path that a profile of this name would have.
pub fn is_reserved_username(username: &str) -> bool {
    RESERVED_USERNAMES.iter().any(|reserved| reserved.eq_ignore_ascii_case(username))
}

/// By which people would take an account for the site's staff; the mailboxes are those of RFC 2142.
const STAFF_USERNAMES: &[&str] = &[
    "abuse",
    "administrator",
    "api",
    "help",
    "hostmaster",
    "moderation",
    "moderator",
    "moderators",
    "official",
    "postmaster",
    "root",
    "security",
    "staff",
    "support",
    "sysadmin",
    "system",
    "webmaster",
    "www",
];

/// Whether members may choose it themselves; operators may give every account any name.
pub fn is_free_for_members(username: &str) -> bool {
    !is_reserved_username(username) && !STAFF_USERNAMES.iter().any(|name| name.eq_ignore_ascii_case(username))
}

pub fn create(tx: &mut Tx<'_>, new: &NewUser) -> Result<User, Error> {
    let user = build_user(tx, new)?;
    tx.keep_ids_above(user.id);
    if !users::insert(tx, &user, new.password_hash.as_deref().unwrap_or_default())? {
        let message = format!("The username [{}] or its id is taken", new.username);
        return Err(Refusal::named_reason(RefusalKind::Conflict, "username", &new.username, message).into());
    }
    event_log::append(tx, "user.create", user.id.get(), user.id.get(), "")?;
    Ok(user)
}

fn build_user(tx: &Tx<'_>, new: &NewUser) -> Result<User, Refusal> {
    if !is_valid_username(&new.username) {
        let message =
            format!("The `username` query parameter value [{}] does not match ^[A-Za-z0-9_]{{1,15}}$", new.username);
        return Err(Refusal::invalid_parameter("username", &new.username, message));
    }
    let name = if new.name.trim().is_empty() { &new.username } else { &new.name };
    validate_changes(&ProfileChanges {
        description: Some(new.description.clone()),
        location: Some(new.location.clone()),
        url: Some(new.url.clone()),
        ..ProfileChanges::default()
    })?;
    if !new.email.is_empty() {
        validate_email(&new.email)?;
    }
    let verified_type = validate_choice("verified_type", &new.verified_type, VERIFIED_TYPES)?;
    let subscription = validate_choice("subscription_type", &new.subscription_type, SUBSCRIPTION_TYPES)?;
    Ok(User {
        name: validate_display_name(name)?,
        entities: compose::render_profile_entities(&new.url, &new.description),
        description: new.description.clone(),
        location: new.location.clone(),
        url: new.url.clone(),
        profile_image_url: new.profile_image_url.clone(),
        protected: new.protected,
        verified: verified_type != "none",
        verified_type,
        subscription_type: subscription,
        email_confirmed: !new.email.is_empty(),
        email: new.email.clone(),
        ..User::new(new.id.unwrap_or_else(|| tx.next_id()), &new.username, new.created_at.unwrap_or(tx.now()))
    })
}

/// Refused unless the account is active.
pub fn find_active(tx: &mut Tx<'_>, id: UserId) -> Result<User, Error> {
    let user = users::find_by_id(tx, id)?.filter(|user| user.state == UserState::Active);
    user.ok_or_else(|| Refusal::invalid_value("user", id).into())
}

/// As [`find_active`]. Refused with code 326 if a moderator stopped the account from writing.
pub fn find_writer(tx: &mut Tx<'_>, id: UserId) -> Result<User, Error> {
    let user = find_active(tx, id)?;
    if user.silenced {
        let detail = "A moderator stopped your account from writing. See your account's moderation page.";
        return Err(Refusal::forbidden_with_code(326, detail).into());
    }
    Ok(user)
}

/// Refused if the account is deleted.
pub fn find(tx: &mut Tx<'_>, id: UserId) -> Result<User, Error> {
    let user = users::find_by_id(tx, id)?.filter(|user| user.state != UserState::Deleted);
    user.ok_or_else(|| Refusal::invalid_value("user", id).into())
}

/// The user named by the request's `parameter`: 404 if unknown or deleted, 403 with code 63 if suspended.
pub fn find_target(tx: &mut Tx<'_>, id: UserId, parameter: &'static str) -> Result<User, Error> {
    match users::find_by_id(tx, id)? {
        Some(user) if profile_visibility(&user) == Visibility::Visible => Ok(user),
        Some(user) if profile_visibility(&user) == Visibility::Suspended => {
            Err(Refusal::forbidden_with_code(63, "User has been suspended.").into())
        }
        _ => Err(Refusal::NotFound(ResourceRef::new("user", parameter, id)).into()),
    }
}

/// Oldest first, after an id.
pub fn list(tx: &mut Tx<'_>, after: Option<UserId>, limit: i64) -> Result<Vec<User>, Fault> {
    users::list(tx, after.unwrap_or(UserId::new(0)), limit)
}
