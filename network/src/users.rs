//! User accounts: creation, lookup, and state changes by operators.

use base::refusal::{RefusalKind, ResourceRef};
use base::text::{NAME_LENGTH, find_name_problem, is_valid_username};
use base::{Error, Fault, Refusal, Time, UserId};
use serde_json::json;
use store::moderation::{self, ModerationAction, ModerationKind};
use store::users::{self, User, UserState};
use store::{Tx, event_log};

use crate::audit::{self, AuditAction, AuditActor, user_detail};
use crate::compose;
use crate::email_links;
use crate::pending_sign_ins;
use crate::profiles::{self, ProfileChanges};
use crate::registration;
use crate::user_roles;
use crate::visibility::{Visibility, profile_visibility};

/// Characters.
pub const BIOGRAPHY_LENGTH: usize = 160;

#[derive(Clone, Debug, Default)]
pub struct NewUser {
    /// `^[A-Za-z0-9_]{1,15}$`, unique regardless of case.
    pub username: String,
    /// 1–50 characters; empty for the username.
    pub name: String,
    /// From [`crate::passwords::hash`]; without one the user cannot sign in.
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
pub(crate) fn is_free_for_members(username: &str) -> bool {
    !is_reserved_username(username) && !STAFF_USERNAMES.iter().any(|name| name.eq_ignore_ascii_case(username))
}

pub const VERIFIED_TYPES: &[&str] = &["none", "blue", "business", "government"];
pub const SUBSCRIPTION_TYPES: &[&str] = &["None", "Basic", "Premium", "PremiumPlus"];

/// Returns the first choice for an empty value.
pub(crate) fn validate_choice(
    parameter: &'static str,
    value: &str,
    choices: &[&'static str],
) -> Result<String, Refusal> {
    if value.is_empty() {
        return Ok(choices.first().copied().unwrap_or_default().to_owned());
    }
    if choices.contains(&value) {
        return Ok(value.to_owned());
    }
    let message = format!("The `{parameter}` query parameter value [{value}] is not one of [{}]", choices.join(","));
    Err(Refusal::invalid_parameter(parameter, value, message))
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
    profiles::validate_changes(&ProfileChanges {
        description: Some(new.description.clone()),
        location: Some(new.location.clone()),
        url: Some(new.url.clone()),
        ..ProfileChanges::default()
    })?;
    if !new.email.is_empty() {
        registration::validate_email(&new.email)?;
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

pub(crate) fn validate_display_name(name: &str) -> Result<String, Refusal> {
    if find_name_problem(name).is_some() {
        let message =
            format!("The `name` must have 1 to {NAME_LENGTH} characters, none of them invisible or a control");
        return Err(Refusal::invalid_parameter("name", name, message));
    }
    Ok(name.to_owned())
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

/// `hash` is from [`crate::passwords::hash`].
pub fn set_password(tx: &mut Tx<'_>, id: UserId, hash: &str) -> Result<(), Error> {
    find(tx, id)?;
    replace_password(tx, id, hash)
}

/// As [`set_password`], in any state of the account.
pub(crate) fn replace_password(tx: &mut Tx<'_>, id: UserId, hash: &str) -> Result<(), Error> {
    users::set_password_hash(tx, id, hash)?;
    pending_sign_ins::expire(tx, id)?;
    email_links::expire_links_of_old_password(tx, id)?;
    Ok(event_log::append(tx, "user.password", id.get(), id.get(), "")?)
}

/// Changes an account's state, with an audit entry.
fn change_state(
    tx: &mut Tx<'_>,
    actor: &AuditActor,
    mut user: User,
    kind: AuditAction,
    state: UserState,
) -> Result<User, Error> {
    let before = match user.state {
        UserState::Suspended => "suspended",
        UserState::Deleted => "deleted",
        UserState::Active | UserState::Placeholder => "active",
    };
    // Somebody else may have confirmed the address of a deleted account.
    if user.state == UserState::Deleted && user.email_confirmed {
        user.email_confirmed = !email_links::is_confirmed_by_another(tx, user.id, &user.email)?;
    }
    user.state = state;
    users::update(tx, &user)?;
    let body = json!({ "before": before }).to_string();
    event_log::append(tx, kind.name(), user.id.get(), user.id.get(), &body)?;
    audit::append(tx, actor, kind, None, &user_detail(user.id))?;
    Ok(user)
}

/// Hides an account and its posts until it is restored.
pub fn suspend(tx: &mut Tx<'_>, id: UserId) -> Result<User, Error> {
    users::lock(tx, id)?;
    let user = find(tx, id)?;
    user_roles::require_other_owner(tx, id)?;
    let action = ModerationAction {
        id: tx.next_id::<()>().get(),
        kind: ModerationKind::Suspend,
        user_id: id,
        post_id: None,
        moderator_id: None,
        reason: String::new(),
        ends_at: None,
        content: String::new(),
        lifted_at: None,
    };
    moderation::insert(tx, &action)?;
    change_state(tx, &AuditActor::operator(), user, AuditAction::USER_SUSPEND, UserState::Suspended)
}

/// Suspends an account or ends its suspension, as the moderation actions in force ask for.
pub(crate) fn set_suspended(tx: &mut Tx<'_>, actor: &AuditActor, user: User, suspended: bool) -> Result<(), Error> {
    if suspended {
        change_state(tx, actor, user, AuditAction::USER_SUSPEND, UserState::Suspended)?;
    } else {
        change_state(tx, actor, user, AuditAction::USER_RESTORE, UserState::Active)?;
    }
    Ok(())
}

/// Restores a suspended or deleted account with posts and relations. Tokens of a deleted account stay revoked. Refused
/// if its data was erased.
pub fn restore(tx: &mut Tx<'_>, id: UserId) -> Result<User, Error> {
    users::lock(tx, id)?;
    let user = users::find_by_id(tx, id)?.filter(|user| user.state != UserState::Placeholder);
    let user = user.ok_or_else(|| Refusal::invalid_value("user", id))?;
    crate::account_deletion::cancel(tx, id)?;
    moderation::lift_suspensions(tx, id)?;
    crate::apps::set_owner_banned(tx, id, false)?;
    change_state(tx, &AuditActor::operator(), user, AuditAction::USER_RESTORE, UserState::Active)
}

/// Hides an account and its posts until it is restored or erased.
pub(crate) fn set_deleted(tx: &mut Tx<'_>, actor: &AuditActor, user: User) -> Result<User, Error> {
    change_state(tx, actor, user, AuditAction::USER_DELETE, UserState::Deleted)
}

/// Shows a deleted account again.
pub(crate) fn set_active(tx: &mut Tx<'_>, actor: &AuditActor, user: User) -> Result<User, Error> {
    change_state(tx, actor, user, AuditAction::USER_RESTORE, UserState::Active)
}
