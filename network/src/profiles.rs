//! Profiles: changes by users and operators. Every change is logged under the event name that subscribers know, with
//! the text before and after.

use base::refusal::RefusalKind;
use base::text::is_valid_username;
use base::{Error, Fault, MediaId, Refusal, UserId};
use serde_json::{Map, Value, json};
use store::attempt_limits::{AttemptDecision, AttemptRateLimit};
use store::users::User;
use store::{Tx, affiliates, event_log};

use crate::attempt_limits::charge_action;
use crate::audit::{self, AuditAction, AuditActor};
use crate::blocked_terms;
use crate::compose;
use crate::media::parse_media_keys;
use crate::profile_fields::{SUBSCRIPTION_TYPES, VERIFIED_TYPES, validate_changes, validate_choice, validate_web_url};
use crate::reports::{self, HeldSubject, SubjectKind};
use crate::users;

pub use crate::profile_fields::ProfileChanges;

/// Changes of one's own username: three, and then one in ten days.
const USERNAME_CHANGES: AttemptRateLimit = AttemptRateLimit { burst: 3, refill_interval_ms: 10 * 24 * 3600 * 1000 };

/// The badge of an organization.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AffiliateBadge {
    /// The URL of the image, or empty.
    pub badge_url: String,
    /// May be empty.
    pub description: String,
    /// The link target, or empty.
    pub url: String,
}

/// Reads a field of a profile as text.
type ProfileFact = fn(&User) -> String;

/// Event kinds by changed field. Handle and display name both count as the screen name.
const CHANGES: &[(&str, ProfileFact)] = &[
    ("profile.update.handle", |user| user.username.clone()),
    ("profile.update.screenname", |user| user.username.clone()),
    ("profile.update.screenname", |user| user.name.clone()),
    ("profile.update.bio", |user| user.description.clone()),
    ("profile.update.geo", |user| user.location.clone()),
    ("profile.update.url", |user| user.url.clone()),
    ("profile.update.profile_picture", |user| user.profile_image_url.clone()),
    ("profile.update.banner_picture", |user| user.profile_banner_url.clone()),
    ("profile.update.verified", |user| user.verified_type.clone()),
    ("profile.update.affiliate", |user| user.affiliation.clone()),
    ("user.subscription", |user| user.subscription_type.clone()),
    ("user.protect", |user| user.protected.to_string()),
    ("user.parody", |user| user.parody.to_string()),
    ("user.receives_dm", |user| user.receives_dm.to_string()),
];

/// Changes a user, logs every changed field, and adds an audit entry.
fn apply_change(
    tx: &mut Tx<'_>,
    (actor, action): (&AuditActor, AuditAction),
    id: UserId,
    change: impl FnOnce(&mut User),
) -> Result<User, Error> {
    store::users::lock(tx, id)?;
    let before = users::find(tx, id)?;
    let mut user = before.clone();
    change(&mut user);
    let mut logged: Map<String, Value> = Map::new();
    for (kind, field_text) in CHANGES {
        let (before, after) = (field_text(&before), field_text(&user));
        if before != after {
            let body = json!({ "before": before, "after": after });
            event_log::append(tx, kind, id.get(), id.get(), &body.to_string())?;
            logged.insert((*kind).to_owned(), body);
        }
    }
    if logged.is_empty() {
        return Ok(before);
    }
    store::users::update(tx, &user)?;
    count_picture_use(tx, id, &before.profile_image_url, &user.profile_image_url)?;
    count_picture_use(tx, id, &before.profile_banner_url, &user.profile_banner_url)?;
    logged.insert("user".to_owned(), json!(id.to_string()));
    audit::append(tx, actor, action, None, &Value::Object(logged))?;
    Ok(user)
}

/// For an account that is erased.
pub fn release_pictures(tx: &mut Tx<'_>, user: &User) -> Result<(), Fault> {
    count_picture_use(tx, user.id, &user.profile_image_url, "")?;
    count_picture_use(tx, user.id, &user.profile_banner_url, "")
}

/// A picture that the user has uploaded is in use like that of a post, and is released with its last use.
fn count_picture_use(tx: &mut Tx<'_>, user: UserId, before: &str, after: &str) -> Result<(), Fault> {
    if before == after {
        return Ok(());
    }
    let (old, new) = (find_own_picture(tx, user, before)?, find_own_picture(tx, user, after)?);
    store::media::add_post_uses(tx, new.as_slice())?;
    let now = tx.now();
    store::media::remove_post_uses(tx, old.as_slice(), now)
}

/// The user's media whose file has this URL.
fn find_own_picture(tx: &mut Tx<'_>, user: UserId, url: &str) -> Result<Option<MediaId>, Fault> {
    let Some((_, name)) = url.rsplit_once("/media/") else { return Ok(None) };
    let key = name.split('.').next().unwrap_or_default();
    let Some(id) = parse_media_keys(key).pop() else { return Ok(None) };
    let found = store::media::find_by_id(tx, id)?;
    Ok(found.filter(|media| media.owner_id == user && media.file_name() == Some(name)).map(|media| media.id))
}

pub fn update(tx: &mut Tx<'_>, actor: &AuditActor, id: UserId, changes: &ProfileChanges) -> Result<User, Error> {
    if let Some(username) = &changes.username {
        validate_username(tx, id, username)?;
    }
    let changes = &changes.normalize();
    validate_changes(changes)?;
    if !actor.operator {
        users::find_writer(tx, id)?;
    }
    let held = if actor.operator { None } else { check_changed_texts(tx, id, changes)? };
    let user = apply_change(tx, (actor, AuditAction::USER_UPDATE), id, |user| {
        let texts = [
            (&changes.username, &mut user.username),
            (&changes.name, &mut user.name),
            (&changes.description, &mut user.description),
            (&changes.location, &mut user.location),
            (&changes.url, &mut user.url),
            (&changes.profile_image_url, &mut user.profile_image_url),
            (&changes.profile_banner_url, &mut user.profile_banner_url),
        ];
        for (new, text) in texts {
            if let Some(new) = new {
                text.clone_from(new);
            }
        }
        user.entities = compose::render_profile_entities(&user.url, &user.description);
    })?;
    if let Some(term) = held {
        reports::report_held(tx, &HeldSubject::new(SubjectKind::User, id.get(), id), &term)?;
    }
    Ok(user)
}

/// The blocked term because of which a moderator looks at the profile. Refused for others.
fn check_changed_texts(tx: &mut Tx<'_>, id: UserId, changes: &ProfileChanges) -> Result<Option<String>, Error> {
    let before = users::find(tx, id)?;
    let texts = [
        (&changes.username, &before.username),
        (&changes.name, &before.name),
        (&changes.description, &before.description),
        (&changes.location, &before.location),
        (&changes.url, &before.url),
    ];
    let changed = texts.into_iter().filter_map(|(new, old)| new.as_deref().filter(|new| new != old));
    let changed: Vec<&str> = changed.collect();
    if changed.is_empty() {
        return Ok(None);
    }
    blocked_terms::check_text(tx, "profile", &changed.join("\n"), "")
}

/// Changes the actor's own username; the old one is free from the commit on. Refused for names of this site's pages
/// and staff, names that are taken, and too many changes.
pub fn change_username(tx: &mut Tx<'_>, actor: &AuditActor, username: &str) -> Result<User, Error> {
    let id = actor.require_user()?;
    store::users::lock(tx, id)?;
    let user = users::find_writer(tx, id)?;
    if user.username == username {
        return Ok(user);
    }
    if !users::is_free_for_members(username) {
        return Err(username_taken(username).into());
    }
    validate_username(tx, id, username)?;
    let decision = charge_action(tx, "username.change", &id.to_string(), USERNAME_CHANGES)?;
    if decision != AttemptDecision::Allowed {
        return Err(Refusal::RateLimited.into());
    }
    update(tx, actor, id, &ProfileChanges { username: Some(username.to_owned()), ..ProfileChanges::default() })
}

fn username_taken(username: &str) -> Refusal {
    let message = format!("The username [{username}] is taken");
    Refusal::named_reason(RefusalKind::Conflict, "username", username, message)
}

fn validate_username(tx: &mut Tx<'_>, id: UserId, username: &str) -> Result<(), Error> {
    if !is_valid_username(username) {
        let message =
            format!("The `username` query parameter value [{username}] does not match ^[A-Za-z0-9_]{{1,15}}$");
        return Err(Refusal::invalid_parameter("username", username, message).into());
    }
    let owner = store::users::find_by_username(tx, username)?;
    if owner.is_some_and(|owner| owner.id != id) {
        return Err(username_taken(username).into());
    }
    Ok(())
}

/// `blue`, `business`, `government` or `none`.
pub fn set_verified_type(tx: &mut Tx<'_>, actor: &AuditActor, id: UserId, kind: &str) -> Result<User, Error> {
    let kind = validate_choice("verified_type", kind, VERIFIED_TYPES)?;
    apply_change(tx, (actor, AuditAction::USER_VERIFY), id, |user| {
        user.verified = kind != "none";
        user.verified_type = kind;
    })
}

/// `None`, `Basic`, `Premium` or `PremiumPlus`.
pub fn set_subscription_type(tx: &mut Tx<'_>, actor: &AuditActor, id: UserId, kind: &str) -> Result<User, Error> {
    let kind = validate_choice("subscription_type", kind, SUBSCRIPTION_TYPES)?;
    apply_change(tx, (actor, AuditAction::USER_UPDATE), id, |user| {
        user.subscription_type = kind;
    })
}

/// Replaces a user's affiliation; none removes it.
pub fn set_affiliation(
    tx: &mut Tx<'_>,
    actor: &AuditActor,
    id: UserId,
    organization: Option<(UserId, &AffiliateBadge)>,
) -> Result<User, Error> {
    let Some((organization, badge)) = organization else {
        let user = apply_change(tx, (actor, AuditAction::USER_UPDATE), id, |user| {
            user.affiliation.clear();
        })?;
        affiliates::set_organizations(tx, id, &[])?;
        return Ok(user);
    };
    if organization == id {
        return Err(Refusal::forbidden("Nobody is an affiliate of themselves.").into());
    }
    users::find_active(tx, organization)?;
    validate_web_url("badge_url", &badge.badge_url)?;
    validate_web_url("url", &badge.url)?;
    let mut fields = Map::new();
    let texts = [("badge_url", &badge.badge_url), ("description", &badge.description), ("url", &badge.url)];
    for (name, text) in texts.into_iter().filter(|(_, text)| !text.is_empty()) {
        fields.insert(name.to_owned(), json!(text));
    }
    fields.insert("user_id".to_owned(), json!([organization.to_string()]));
    let affiliation = Value::Object(fields).to_string();
    let user = apply_change(tx, (actor, AuditAction::USER_UPDATE), id, |user| {
        user.affiliation = affiliation;
    })?;
    affiliates::set_organizations(tx, id, &[organization])?;
    Ok(user)
}

pub fn set_parody(tx: &mut Tx<'_>, actor: &AuditActor, id: UserId, parody: bool) -> Result<User, Error> {
    apply_change(tx, (actor, AuditAction::USER_UPDATE), id, |user| {
        user.parody = parody;
    })
}

/// When protection is removed, waiting follow requests are deleted, not approved.
pub fn set_protected(tx: &mut Tx<'_>, actor: &AuditActor, id: UserId, protected: bool) -> Result<User, Error> {
    apply_change(tx, (actor, AuditAction::USER_UPDATE), id, |user| {
        user.protected = protected;
    })
}

/// Accepts direct messages from everyone, or only from followed users.
pub fn set_receives_dm(tx: &mut Tx<'_>, actor: &AuditActor, id: UserId, everyone: bool) -> Result<User, Error> {
    apply_change(tx, (actor, AuditAction::USER_UPDATE), id, |user| {
        user.receives_dm = everyone;
    })
}
