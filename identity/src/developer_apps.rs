//! Operations of developers on their own apps. Apps of other users are refused as not found.

use base::refusal::ResourceRef;
use base::{AppId, Error, Fault, Refusal, Secret, Time, UserId};
use serde_json::json;
use store::tokens::{find_live_oauth1, revoke_oauth1};
use store::{Tx, usage};

use crate::app_names::refuse_impersonation;
use crate::apps::{self, AccessLevel, App, AppCredentialKind, AppCredentials, AppProfile, Permission};
use crate::callback_urls::{self, LoopbackPorts};
use crate::tokens;
use network::audit::{self, AuditAction, AuditActor};
use network::usage::{CredentialLastUse, OperationCalls};
use network::users;

/// Apps per developer.
pub const MAX_APPS: usize = 50;
/// Rows of usage per query.
const USAGE_ROWS: i64 = 20_000;

/// A new credential, shown only once.
#[derive(Clone, Debug)]
pub enum RotatedCredential {
    Api { key: String, secret: Secret },
    Bearer(Secret),
    Client { id: String, secret: Secret },
}

/// The owner's own access token, without its text.
#[derive(Clone, Debug)]
pub struct OwnerAccessToken {
    pub permission: Permission,
    pub created_at: Time,
    /// The last four characters of the token.
    pub suffix: String,
}

#[derive(Clone, Debug)]
pub struct CallbackTestResult {
    /// Whether OAuth 1.0a would accept it.
    pub oauth1: bool,
    /// Whether OAuth 2.0 would accept it.
    pub oauth2: bool,
    /// Why the URL cannot be registered at all, as a sentence.
    pub unfit: Option<String>,
    /// Comparison with each registered URL, most similar first.
    pub comparisons: Vec<CallbackComparison>,
}

#[derive(Clone, Debug)]
pub struct CallbackComparison {
    pub registered: String,
    /// Whether OAuth 1.0a treats them as equal.
    pub oauth1: bool,
    /// Whether OAuth 2.0 treats them as equal.
    pub oauth2: bool,
}

#[derive(Clone, Debug)]
pub struct AppUsage {
    /// Oldest first.
    pub calls: Vec<OperationCalls>,
    /// Of the app itself and of the owner's tokens.
    pub last_used: Vec<CredentialLastUse>,
}

fn app_not_found(id: AppId) -> Error {
    Refusal::NotFound(ResourceRef::new("app", "id", id)).into()
}

/// Refuses apps of other users as not found.
pub fn find(tx: &mut Tx<'_>, owner: UserId, id: AppId) -> Result<App, Error> {
    let app = store::apps::find_by_id(tx, id)?;
    app.filter(|app| app.owner_id == owner && app.state != apps::AppStatus::Deleted).ok_or_else(|| app_not_found(id))
}

/// Whether the owner has deleted the app.
pub fn is_deleted(tx: &mut Tx<'_>, owner: UserId, id: AppId) -> Result<bool, Fault> {
    let app = store::apps::find_by_id(tx, id)?;
    Ok(app.is_some_and(|app| app.owner_id == owner && app.state == apps::AppStatus::Deleted))
}

/// Oldest first.
pub fn list(tx: &mut Tx<'_>, owner: UserId) -> Result<Vec<App>, Error> {
    apps::list(tx, Some(owner))
}

fn require_developer(tx: &mut Tx<'_>, actor: &AuditActor) -> Result<UserId, Error> {
    let user = actor.require_user()?;
    Ok(users::find_active(tx, user)?.id)
}

/// The app, if the actor may change it.
fn require_editable_app(tx: &mut Tx<'_>, actor: &AuditActor, id: AppId) -> Result<App, Error> {
    let owner = require_developer(tx, actor)?;
    store::apps::lock(tx, id)?;
    let app = find(tx, owner, id)?;
    if app.state == apps::AppStatus::Suspended {
        let detail = "This app is suspended: it can not be changed.";
        return Err(Refusal::forbidden(detail).into());
    }
    Ok(app)
}

/// Returns all credentials, which are shown only once. Refuses names that pass for the site's, `site_name`.
pub fn create(
    tx: &mut Tx<'_>,
    actor: &AuditActor,
    profile: &AppProfile,
    access_level: AccessLevel,
    site_name: &str,
) -> Result<(App, AppCredentials), Error> {
    let owner = require_developer(tx, actor)?;
    // Concurrent calls must count each other's apps.
    store::users::lock(tx, owner)?;
    if list(tx, owner)?.len() >= MAX_APPS {
        let detail = format!("You have {MAX_APPS} apps: delete one first.");
        return Err(Refusal::forbidden(detail).into());
    }
    validate_changes(&AppProfile::new(""), profile, site_name)?;
    let (app, keys) = apps::create(tx, owner, access_level, profile)?;
    let detail = json!({"name": app.name});
    audit::append(tx, actor, AuditAction::APP_CREATE, Some(app.id), &detail)?;
    Ok((app, keys))
}

/// Limits of the portal's forms, for what is new: an app that the operator has created or imported may exceed them.
fn validate_changes(before: &AppProfile, profile: &AppProfile, site_name: &str) -> Result<(), Refusal> {
    let (description, website) = (&profile.description, &profile.website_url);
    if profile.name != before.name {
        refuse_impersonation(&profile.name, site_name)?;
    }
    if *description != before.description && description.chars().count() > 200 {
        let message = "The `description` must have at most 200 characters";
        return Err(Refusal::invalid_parameter("description", description, message));
    }
    if *website != before.website_url && !website.is_empty() && !is_web_address(website) {
        let message = "The `website_url` must be an http or https address";
        return Err(Refusal::invalid_parameter("website_url", website, message));
    }
    let long = profile.callback_urls.iter().find(|url| url.len() > 2048);
    match long.filter(|_| profile.callback_urls != before.callback_urls) {
        None => Ok(()),
        Some(url) => {
            let message = "A callback URL has at most 2048 characters";
            Err(Refusal::invalid_parameter("callback_urls", url, message))
        }
    }
}

fn is_web_address(website: &str) -> bool {
    let is_http = website.starts_with("https://") || website.starts_with("http://");
    let is_forbidden = |letter: char| letter.is_whitespace() || letter.is_control();
    is_http && website.len() <= 2048 && !website.contains(is_forbidden)
}

/// Refuses new names that pass for the site's, `site_name`.
pub fn update(
    tx: &mut Tx<'_>,
    actor: &AuditActor,
    id: AppId,
    profile: &AppProfile,
    site_name: &str,
) -> Result<App, Error> {
    let app = require_editable_app(tx, actor, id)?;
    let before = AppProfile::of(&app);
    validate_changes(&before, profile, site_name)?;
    let app = apps::update(tx, app, profile)?;
    let detail = json!({"changed": before.list_changes(profile)});
    audit::append(tx, actor, AuditAction::APP_UPDATE, Some(id), &detail)?;
    Ok(app)
}

/// Replaces a credential; the old one is invalid from the commit on.
pub fn rotate_credential(
    tx: &mut Tx<'_>,
    actor: &AuditActor,
    id: AppId,
    kind: AppCredentialKind,
) -> Result<RotatedCredential, Error> {
    require_editable_app(tx, actor, id)?;
    let keys = apps::rotate_credential(tx, id, kind)?;
    let (name, rotated) = match kind {
        AppCredentialKind::Api => ("api", RotatedCredential::Api { key: keys.api_key, secret: keys.api_secret }),
        AppCredentialKind::Bearer => ("bearer", RotatedCredential::Bearer(keys.bearer)),
        AppCredentialKind::Client => {
            let secret = keys.client_secret;
            let secret = secret.ok_or_else(|| Fault::new("no client secret was generated"))?;
            let id = keys.client_id;
            ("client", RotatedCredential::Client { id, secret })
        }
    };
    let detail = json!({"credential": name});
    audit::append(tx, actor, AuditAction::APP_ROTATE, Some(id), &detail)?;
    Ok(rotated)
}

/// Revokes all tokens from the commit on.
pub fn delete(tx: &mut Tx<'_>, actor: &AuditActor, id: AppId) -> Result<(), Error> {
    let owner = require_developer(tx, actor)?;
    let app = find(tx, owner, id)?;
    apps::delete(tx, id)?;
    let detail = json!({"name": app.name});
    Ok(audit::append(tx, actor, AuditAction::APP_DELETE, Some(id), &detail)?)
}

/// The owner's own access token with the highest permission.
pub fn find_owner_token(tx: &mut Tx<'_>, owner: UserId, id: AppId) -> Result<Option<OwnerAccessToken>, Error> {
    find(tx, owner, id)?;
    for permission in Permission::ALL.iter().rev() {
        if let Some(token) = find_live_oauth1(tx, id, owner, permission.name())? {
            return Ok(Some(OwnerAccessToken {
                permission: *permission,
                created_at: token.created_at,
                suffix: token_suffix(token.token.expose_secret()),
            }));
        }
    }
    Ok(None)
}

fn token_suffix(token: &str) -> String {
    let from = token.chars().count().saturating_sub(4);
    token.chars().skip(from).collect()
}

/// Whether the sign-in flows would redirect users to this URL.
pub fn test_callback(app: &App, url: &str, ports: LoopbackPorts) -> CallbackTestResult {
    let common_prefix_length = |registered_url: &str| {
        let pairs = registered_url.chars().zip(url.chars());
        pairs.take_while(|(one, other)| one == other).count()
    };
    let registered = app.callback_urls.lines().filter(|registered_url| !registered_url.is_empty());
    let mut comparisons: Vec<CallbackComparison> = registered
        .map(|registered_url| {
            let single_url_app = App { callback_urls: registered_url.to_owned(), ..app.clone() };
            CallbackComparison {
                registered: registered_url.to_owned(),
                oauth1: callback_urls::matches_oauth1(&single_url_app, url, ports),
                oauth2: callback_urls::matches_oauth2(&single_url_app, url, ports),
            }
        })
        .collect();
    comparisons.sort_by_key(|one| std::cmp::Reverse(common_prefix_length(&one.registered)));
    CallbackTestResult {
        oauth1: callback_urls::matches_oauth1(app, url, ports),
        oauth2: callback_urls::matches_oauth2(app, url, ports),
        unfit: callback_urls::unregistrable_reason(url),
        comparisons,
    }
}

/// Replaces the owner's own access token; the new one, with its secret, is shown only once. Old ones are invalid from
/// the commit on.
pub fn renew_owner_token(tx: &mut Tx<'_>, actor: &AuditActor, id: AppId) -> Result<(Secret, Secret), Error> {
    let app = require_editable_app(tx, actor, id)?;
    revoke_owner_tokens(tx, &app)?;
    let permission = app.permission;
    let new_token = tokens::mint_oauth1(tx, id, app.owner_id, permission)?;
    let detail = json!({"permission": permission.name()});
    audit::append(tx, actor, AuditAction::TOKEN_OWN, Some(id), &detail)?;
    Ok(new_token)
}

fn revoke_owner_tokens(tx: &mut Tx<'_>, app: &App) -> Result<(), Fault> {
    let mut ended = false;
    for permission in Permission::ALL {
        if let Some(token) = find_live_oauth1(tx, app.id, app.owner_id, permission.name())? {
            ended |= revoke_oauth1(tx, &token.token.digest())?;
        }
    }
    if ended {
        tokens::record_revocation(tx, app.owner_id, Some(app.id))?;
    }
    Ok(())
}

/// Calls of the app since a time of the machine's clock, and last uses of its credentials.
pub fn load_usage(tx: &mut Tx<'_>, owner: UserId, id: AppId, from: Time) -> Result<AppUsage, Error> {
    find(tx, owner, id)?;
    Ok(AppUsage {
        calls: usage::list_calls(tx, id, from, USAGE_ROWS)?,
        last_used: usage::list_last_uses(tx, id, Some(owner))?,
    })
}
