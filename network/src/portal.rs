//! What developers do with apps of their own. An app of somebody else is not found, as one that
//! is not there.

use base::refusal::ResourceRef;
use base::{AppId, Error, Fault, Refusal, Secret, Time, UserId};
use serde_json::json;
use store::tokens::{find_live_oauth1, revoke_oauth1};
use store::{Tx, usage};

use crate::apps::{
    self, AccessLevel, App, AppCredentialKind, AppCredentials, AppRegistration, OAuthClientKind, Permission,
};
use crate::audit::{self, AuditAction as Act, AuditActor};
use crate::callback_urls::{self, LoopbackPorts};
use crate::usage::{CredentialLastUse, OperationCalls};
use crate::{tokens, users};

/// Apps that one developer may have.
pub const MAX_APPS: usize = 50;
/// Rows of usage that are shown at most.
const USAGE_ROWS: i64 = 20_000;

/// A new app, as its developer describes it. What it costs and what it is entitled to is not the
/// developer's to say.
#[derive(Clone, Debug)]
pub struct AppDraft {
    /// Its name, 1–32 characters.
    pub name: String,
    /// What it says it does.
    pub description: String,
    /// Its website.
    pub website_url: String,
    /// The kind of its OAuth 2.0 client.
    pub kind: OAuthClientKind,
    /// The access level of its OAuth 1.0a tokens.
    pub permission: Permission,
    /// At most ten callback URLs.
    pub callback_urls: Vec<String>,
    /// May ask for the user's email address.
    pub request_email: bool,
    /// May use sign-in with the service.
    pub sign_in: bool,
}

/// What of an app is to change; none: it stays.
#[derive(Clone, Debug, Default)]
pub struct AppChanges {
    /// Its name, 1–32 characters.
    pub name: Option<String>,
    /// What it says it does.
    pub description: Option<String>,
    /// Its website.
    pub website_url: Option<String>,
    /// The kind of its OAuth 2.0 client.
    pub kind: Option<OAuthClientKind>,
    /// The access level of new OAuth 1.0a tokens; tokens that there are keep theirs.
    pub permission: Option<Permission>,
    /// At most ten callback URLs.
    pub callback_urls: Option<Vec<String>>,
    /// May ask for the user's email address.
    pub request_email: Option<bool>,
    /// May use sign-in with the service.
    pub sign_in: Option<bool>,
}

/// A credential that was made just now, shown this once.
#[derive(Clone, Debug)]
pub enum RotatedCredential {
    /// The API key and its new secret.
    Api {
        /// The key.
        key: String,
        /// The secret.
        secret: Secret,
    },
    /// The app-only bearer token.
    Bearer(Secret),
    /// The OAuth 2.0 client id and its new secret.
    Client {
        /// The id.
        id: String,
        /// The secret.
        secret: Secret,
    },
}

/// The owner's own access token, without its text.
#[derive(Clone, Debug)]
pub struct OwnerAccessToken {
    /// Its level.
    pub permission: Permission,
    /// When it was made.
    pub created_at: Time,
    /// The last characters of its text.
    pub suffix: String,
}

/// What came of testing a callback address.
#[derive(Clone, Debug)]
pub struct CallbackTestResult {
    /// Whether OAuth 1.0a would accept it.
    pub oauth1: bool,
    /// Whether OAuth 2.0 would.
    pub oauth2: bool,
    /// Why it could not be registered at all, as a sentence.
    pub unfit: Option<String>,
    /// Beside each registered address, the nearest first.
    pub comparisons: Vec<CallbackComparison>,
}

/// A callback address beside a registered one.
#[derive(Clone, Debug)]
pub struct CallbackComparison {
    /// What the app registered.
    pub registered: String,
    /// Whether OAuth 1.0a takes the one for the other.
    pub oauth1: bool,
    /// Whether OAuth 2.0 does.
    pub oauth2: bool,
}

/// What an app has used.
#[derive(Clone, Debug)]
pub struct AppUsage {
    /// Calls by operation and window, oldest first.
    pub calls: Vec<OperationCalls>,
    /// When its own credentials, and the owner's tokens, were last used.
    pub last_used: Vec<CredentialLastUse>,
}

fn app_not_found(id: AppId) -> Error {
    Refusal::NotFound(ResourceRef::new("app", "id", id)).into()
}

/// The developer's app with an id.
pub fn find(tx: &mut Tx<'_>, owner: UserId, id: AppId) -> Result<App, Error> {
    let app = store::apps::find_by_id(tx, id)?;
    app.filter(|app| app.owner_id == owner && app.state != apps::AppStatus::Deleted)
        .ok_or_else(|| app_not_found(id))
}

/// The developer's apps, oldest first.
pub fn list(tx: &mut Tx<'_>, owner: UserId) -> Result<Vec<App>, Error> {
    apps::list(tx, Some(owner))
}

fn require_developer(tx: &mut Tx<'_>, by: &AuditActor) -> Result<UserId, Error> {
    let user = by.require_user()?;
    Ok(users::find_active(tx, user)?.id)
}

/// The app, if whoever acts may change it.
fn require_editable_app(tx: &mut Tx<'_>, by: &AuditActor, id: AppId) -> Result<App, Error> {
    let owner = require_developer(tx, by)?;
    let app = find(tx, owner, id)?;
    if app.state == apps::AppStatus::Suspended {
        let detail = "This app is suspended: it can not be changed.";
        return Err(Refusal::forbidden(detail).into());
    }
    Ok(app)
}

/// Registers an app; answers its whole set of keys, shown this once.
pub fn create(
    tx: &mut Tx<'_>,
    by: &AuditActor,
    draft: &AppDraft,
    access_level: AccessLevel,
) -> Result<(App, AppCredentials), Error> {
    let owner_id = require_developer(tx, by)?;
    if list(tx, owner_id)?.len() >= MAX_APPS {
        let detail = format!("You have {MAX_APPS} apps: delete one first.");
        return Err(Refusal::forbidden(detail).into());
    }
    validate_texts(&draft.description, &draft.website_url)?;
    validate_callback_lengths(&draft.callback_urls)?;
    let new = AppRegistration {
        name: draft.name.clone(),
        owner_id,
        kind: draft.kind,
        permission: draft.permission,
        access_level,
        callback_urls: draft.callback_urls.clone(),
        description: draft.description.clone(),
        website_url: draft.website_url.clone(),
        request_email: draft.request_email,
        sign_in: draft.sign_in,
    };
    let (app, keys) = apps::create(tx, &new)?;
    let detail = json!({"name": app.name});
    audit::append(tx, by, Act::APP_CREATE, Some(app.id), &detail)?;
    Ok((app, keys))
}

fn validate_texts(description: &str, website: &str) -> Result<(), Refusal> {
    if description.chars().count() > 200 {
        let message = "The `description` must have at most 200 characters";
        return Err(Refusal::invalid_parameter("description", description, message));
    }
    let web = website.starts_with("https://") || website.starts_with("http://");
    let odd = |letter: char| letter.is_whitespace() || letter.is_control();
    if !website.is_empty() && (!web || website.len() > 2048 || website.contains(odd)) {
        let message = "The `website_url` must be an http or https address";
        return Err(Refusal::invalid_parameter("website_url", website, message));
    }
    Ok(())
}

/// What a form of the portal may hold beyond what the app itself may.
fn validate_callback_lengths(urls: &[String]) -> Result<(), Refusal> {
    let long = urls.iter().find(|url| url.len() > 2048);
    long.map_or(Ok(()), |url| {
        let message = "A callback URL has at most 2048 characters";
        Err(Refusal::invalid_parameter("callback_urls", url, message))
    })
}

/// Changes an app.
pub fn update(tx: &mut Tx<'_>, by: &AuditActor, id: AppId, edit: &AppChanges) -> Result<App, Error> {
    require_editable_app(tx, by, id)?;
    if let Some(urls) = &edit.callback_urls {
        validate_callback_lengths(urls)?;
        apps::set_callback_urls(tx, id, urls)?;
    }
    if let Some(kind) = edit.kind {
        apps::set_client_kind(tx, id, kind)?;
    }
    let description = edit.description.as_deref().unwrap_or_default();
    validate_texts(description, edit.website_url.as_deref().unwrap_or_default())?;
    let details = apps::AppDetails {
        name: edit.name.as_deref(),
        description: edit.description.as_deref(),
        website_url: edit.website_url.as_deref(),
        permission: edit.permission,
        request_email: edit.request_email,
        sign_in: edit.sign_in,
    };
    let app = apps::update_details(tx, id, &details)?;
    let changed = [
        ("name", edit.name.is_some()),
        ("description", edit.description.is_some()),
        ("website_url", edit.website_url.is_some()),
        ("kind", edit.kind.is_some()),
        ("permission", edit.permission.is_some()),
        ("callback_urls", edit.callback_urls.is_some()),
        ("request_email", edit.request_email.is_some()),
        ("sign_in", edit.sign_in.is_some()),
    ];
    let changed = changed.iter().filter(|(_, changed)| *changed);
    let changed: Vec<_> = changed.map(|(name, _)| *name).collect();
    let detail = json!({"changed": changed});
    audit::append(tx, by, Act::APP_UPDATE, Some(id), &detail)?;
    Ok(app)
}

/// Makes a credential of an app anew; the old one is dead with the commit.
pub fn rotate_credential(
    tx: &mut Tx<'_>,
    by: &AuditActor,
    id: AppId,
    which: AppCredentialKind,
) -> Result<RotatedCredential, Error> {
    require_editable_app(tx, by, id)?;
    let keys = apps::rotate_credential(tx, id, which)?;
    let (name, fresh) = match which {
        AppCredentialKind::Api => (
            "api",
            RotatedCredential::Api {
                key: keys.api_key,
                secret: keys.api_secret,
            },
        ),
        AppCredentialKind::Bearer => ("bearer", RotatedCredential::Bearer(keys.bearer)),
        AppCredentialKind::Client => {
            let secret = keys.client_secret;
            let secret = secret.ok_or_else(|| Fault::new("a client secret was not made"))?;
            let id = keys.client_id;
            ("client", RotatedCredential::Client { id, secret })
        }
    };
    let detail = json!({"credential": name});
    audit::append(tx, by, Act::APP_ROTATE, Some(id), &detail)?;
    Ok(fresh)
}

/// Deletes an app: all its tokens are dead with the commit.
pub fn delete(tx: &mut Tx<'_>, by: &AuditActor, id: AppId) -> Result<(), Error> {
    let owner = require_developer(tx, by)?;
    let app = find(tx, owner, id)?;
    apps::delete(tx, id)?;
    let detail = json!({"name": app.name});
    Ok(audit::append(tx, by, Act::APP_DELETE, Some(id), &detail)?)
}

/// The owner's own access token for an app, if there is one: that of the highest level.
pub fn find_owner_token(tx: &mut Tx<'_>, owner: UserId, id: AppId) -> Result<Option<OwnerAccessToken>, Error> {
    find(tx, owner, id)?;
    for permission in Permission::ALL.iter().rev() {
        if let Some(live) = find_live_oauth1(tx, id, owner, permission.name())? {
            return Ok(Some(OwnerAccessToken {
                permission: *permission,
                created_at: live.created_at,
                suffix: token_suffix(live.token.expose_secret()),
            }));
        }
    }
    Ok(None)
}

fn token_suffix(token: &str) -> String {
    let from = token.chars().count().saturating_sub(4);
    token.chars().skip(from).collect()
}

/// Whether the sign-in flows would send a user to this address for the app.
pub fn test_callback(app: &App, url: &str, ports: LoopbackPorts) -> CallbackTestResult {
    let shared = |known: &str| {
        let pairs = known.chars().zip(url.chars());
        pairs.take_while(|(one, other)| one == other).count()
    };
    let registered = app.callback_urls.lines().filter(|known| !known.is_empty());
    let mut compared: Vec<CallbackComparison> = registered
        .map(|known| {
            let alone = App {
                callback_urls: known.to_owned(),
                ..app.clone()
            };
            CallbackComparison {
                registered: known.to_owned(),
                oauth1: callback_urls::matches_oauth1(&alone, url, ports),
                oauth2: callback_urls::matches_oauth2(&alone, url, ports),
            }
        })
        .collect();
    compared.sort_by_key(|one| std::cmp::Reverse(shared(&one.registered)));
    CallbackTestResult {
        oauth1: callback_urls::matches_oauth1(app, url, ports),
        oauth2: callback_urls::matches_oauth2(app, url, ports),
        unfit: callback_urls::unregistrable_reason(url),
        comparisons: compared,
    }
}

/// Makes the owner's own access token for an app, at the app's level, and shows it this once. Those
/// that there were are dead with the commit.
pub fn renew_owner_token(tx: &mut Tx<'_>, by: &AuditActor, id: AppId) -> Result<(Secret, Secret), Error> {
    let app = require_editable_app(tx, by, id)?;
    revoke_owner_tokens(tx, &app)?;
    let permission: Permission = app.permission.parse()?;
    let made = tokens::mint_oauth1(tx, id, app.owner_id, permission)?;
    let detail = json!({"permission": permission.name()});
    audit::append(tx, by, Act::TOKEN_OWN, Some(id), &detail)?;
    Ok(made)
}

/// Ends the owner's own access tokens for an app; false when there was none.
pub fn revoke_owner_token(tx: &mut Tx<'_>, by: &AuditActor, id: AppId) -> Result<bool, Error> {
    let app = require_editable_app(tx, by, id)?;
    let ended = revoke_owner_tokens(tx, &app)?;
    if ended {
        let detail = json!({"permission": null});
        audit::append(tx, by, Act::TOKEN_OWN, Some(id), &detail)?;
    }
    Ok(ended)
}

fn revoke_owner_tokens(tx: &mut Tx<'_>, app: &App) -> Result<bool, Fault> {
    let mut ended = false;
    for permission in Permission::ALL {
        if let Some(live) = find_live_oauth1(tx, app.id, app.owner_id, permission.name())? {
            ended |= revoke_oauth1(tx, &live.token.digest())?;
        }
    }
    if ended {
        tokens::record_revocation(tx, app.owner_id, Some(app.id))?;
    }
    Ok(ended)
}

/// What the developer's app has called since a moment of the machine's clock, and when its
/// credentials were last used.
pub fn load_usage(tx: &mut Tx<'_>, owner: UserId, id: AppId, from: Time) -> Result<AppUsage, Error> {
    find(tx, owner, id)?;
    Ok(AppUsage {
        calls: usage::list_calls(tx, id, from, USAGE_ROWS)?,
        last_used: usage::list_last_uses(tx, id, Some(owner))?,
    })
}
