//! Profiles: what stands in them and what an operator marks them with. Each change is in the log
//! under the name by which subscribers know it, with the text before and after.

use base::text::is_valid_username;
use base::{Error, Refusal, UserId};
use serde_json::{Map, Value, json};
use store::users::{self as stored, User};
use store::{Tx, affiliates, event_log};

use crate::audit::{self, AuditAction, AuditActor};
use crate::compose;
use crate::users::{self, SUBSCRIPTION_TYPES, VERIFIED_TYPES, validate_choice, validate_display_name};

/// Characters of a biography.
pub(crate) const BIOGRAPHY_LENGTH: usize = 160;
/// Characters of a place.
const LOCATION_LENGTH: usize = 150;
/// Characters of an address.
const URL_LENGTH: usize = 2048;

/// What shall stand in a profile from now on; what is `None` stays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProfileChanges {
    /// The handle.
    pub username: Option<String>,
    /// The display name.
    pub name: Option<String>,
    /// The biography.
    pub description: Option<String>,
    /// The place.
    pub location: Option<String>,
    /// The address of a page.
    pub url: Option<String>,
    /// Address of the picture.
    pub profile_image_url: Option<String>,
    /// Address of the banner.
    pub profile_banner_url: Option<String>,
}

/// The badge of an organization.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AffiliateBadge {
    /// The address of its picture, or empty.
    pub badge_url: String,
    /// What it says, or empty.
    pub description: String,
    /// Where it leads, or empty.
    pub url: String,
}

/// A fact of a profile as text.
type ProfileFact = fn(&User) -> String;

/// What is told when a fact of a profile changes. Handle and display name are both a screen name.
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

/// Changes a user, tells of every fact that is another now, and records who did it.
fn apply_change(
    tx: &mut Tx<'_>,
    (by, act): (&AuditActor, AuditAction),
    id: UserId,
    change: impl FnOnce(&mut User),
) -> Result<User, Error> {
    stored::lock(tx, id)?;
    let before = users::find(tx, id)?;
    let mut user = before.clone();
    change(&mut user);
    let mut told: Map<String, Value> = Map::new();
    for (kind, fact) in CHANGES {
        let (before, after) = (fact(&before), fact(&user));
        if before != after {
            let body = json!({ "before": before, "after": after });
            event_log::append(tx, kind, id.get(), id.get(), &body.to_string())?;
            told.insert((*kind).to_owned(), body);
        }
    }
    if told.is_empty() {
        return Ok(before);
    }
    stored::update(tx, &user)?;
    told.insert("user".to_owned(), json!(id.to_string()));
    audit::append(tx, by, act, None, &Value::Object(told))?;
    Ok(user)
}

/// Edits a profile.
pub fn update(tx: &mut Tx<'_>, by: &AuditActor, id: UserId, edit: &ProfileChanges) -> Result<User, Error> {
    if let Some(username) = &edit.username {
        validate_username(tx, id, username)?;
    }
    validate_changes(edit)?;
    apply_change(tx, (by, AuditAction::USER_UPDATE), id, |user| {
        let texts = [
            (&edit.username, &mut user.username),
            (&edit.name, &mut user.name),
            (&edit.description, &mut user.description),
            (&edit.location, &mut user.location),
            (&edit.url, &mut user.url),
            (&edit.profile_image_url, &mut user.profile_image_url),
            (&edit.profile_banner_url, &mut user.profile_banner_url),
        ];
        for (new, text) in texts {
            if let Some(new) = new {
                text.clone_from(new);
            }
        }
        user.entities = compose::render_profile_entities(&user.url, &user.description);
    })
}

fn validate_username(tx: &mut Tx<'_>, id: UserId, username: &str) -> Result<(), Error> {
    if !is_valid_username(username) {
        let message =
            format!("The `username` query parameter value [{username}] does not match ^[A-Za-z0-9_]{{1,15}}$");
        return Err(Refusal::invalid_parameter("username", username, message).into());
    }
    let holder = stored::find_by_username(tx, username)?;
    if holder.is_some_and(|holder| holder.id != id) {
        let message = format!("The username [{username}] is taken");
        return Err(Refusal::invalid_parameter("username", username, message).into());
    }
    Ok(())
}

fn validate_changes(edit: &ProfileChanges) -> Result<(), Refusal> {
    if let Some(name) = &edit.name {
        validate_display_name(name)?;
    }
    let lengths = [
        ("description", &edit.description, BIOGRAPHY_LENGTH),
        ("location", &edit.location, LOCATION_LENGTH),
        ("url", &edit.url, URL_LENGTH),
        ("profile_image_url", &edit.profile_image_url, URL_LENGTH),
        ("profile_banner_url", &edit.profile_banner_url, URL_LENGTH),
    ];
    for (name, text, most) in lengths {
        let text = text.as_deref().unwrap_or_default();
        if text.chars().count() > most {
            let message = format!("The `{name}` must have at most {most} characters");
            let shown: String = text.chars().take(100).collect();
            return Err(Refusal::invalid_parameter(name, shown, message));
        }
        let is_address = text.starts_with("https://") || text.starts_with("http://");
        if most == URL_LENGTH && !text.is_empty() && !is_address {
            let message = format!("The `{name}` must be an address that begins with https://");
            return Err(Refusal::invalid_parameter(name, text, message));
        }
    }
    Ok(())
}

/// Sets the verification mark: `blue`, `business`, `government` or `none`.
pub fn set_verified_type(tx: &mut Tx<'_>, by: &AuditActor, id: UserId, kind: &str) -> Result<User, Error> {
    let kind = validate_choice("verified_type", kind, VERIFIED_TYPES)?;
    apply_change(tx, (by, AuditAction::USER_VERIFY), id, |user| {
        user.verified = kind != "none";
        user.verified_type = kind;
    })
}

/// Sets the subscription: `None`, `Basic`, `Premium` or `PremiumPlus`.
pub fn set_subscription_type(tx: &mut Tx<'_>, by: &AuditActor, id: UserId, kind: &str) -> Result<User, Error> {
    let kind = validate_choice("subscription_type", kind, SUBSCRIPTION_TYPES)?;
    apply_change(tx, (by, AuditAction::USER_UPDATE), id, |user| {
        user.subscription_type = kind;
    })
}

/// Makes a user an affiliate of an organization, instead of any other before; of none: no longer.
pub fn set_affiliation(
    tx: &mut Tx<'_>,
    by: &AuditActor,
    id: UserId,
    organization: Option<(UserId, &AffiliateBadge)>,
) -> Result<User, Error> {
    let Some((organization, badge)) = organization else {
        let user = apply_change(tx, (by, AuditAction::USER_UPDATE), id, |user| {
            user.affiliation.clear();
        })?;
        affiliates::set_organizations(tx, id, &[])?;
        return Ok(user);
    };
    if organization == id {
        return Err(Refusal::forbidden("Nobody is an affiliate of themselves.").into());
    }
    users::find_active(tx, organization)?;
    let mut shown = Map::new();
    let texts = [
        ("badge_url", &badge.badge_url),
        ("description", &badge.description),
        ("url", &badge.url),
    ];
    for (name, text) in texts.into_iter().filter(|(_, text)| !text.is_empty()) {
        shown.insert(name.to_owned(), json!(text));
    }
    shown.insert("user_id".to_owned(), json!([organization.to_string()]));
    let affiliation = Value::Object(shown).to_string();
    let user = apply_change(tx, (by, AuditAction::USER_UPDATE), id, |user| {
        user.affiliation = affiliation;
    })?;
    affiliates::set_organizations(tx, id, &[organization])?;
    Ok(user)
}

/// Marks a user as a parody, or no longer.
pub fn set_parody(tx: &mut Tx<'_>, by: &AuditActor, id: UserId, parody: bool) -> Result<User, Error> {
    apply_change(tx, (by, AuditAction::USER_UPDATE), id, |user| {
        user.parody = parody;
    })
}

/// Marks a user as protected, or no longer. Requests that wait for an approval are dropped when
/// none is needed any more; who asked must follow anew.
pub fn set_protected(tx: &mut Tx<'_>, by: &AuditActor, id: UserId, protected: bool) -> Result<User, Error> {
    apply_change(tx, (by, AuditAction::USER_UPDATE), id, |user| {
        user.protected = protected;
    })
}

/// Makes a user take direct messages of everyone, or of those only whom they follow.
pub fn set_receives_dm(tx: &mut Tx<'_>, by: &AuditActor, id: UserId, everyone: bool) -> Result<User, Error> {
    apply_change(tx, (by, AuditAction::USER_UPDATE), id, |user| {
        user.receives_dm = everyone;
    })
}
