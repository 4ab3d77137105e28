//! Registration of apps, their credentials and access rights.

use base::text::find_name_problem;
use base::{AppId, Entitlement, Error, Fault, Refusal, Secret, UserId};
use store::{Tx, apps, event_log};

pub use crate::authenticator::{AuthConfig, AuthRequest, Authenticator, Caller, VerifiedRequest};
use crate::bearer::generate_bearer_token;
use crate::callback_urls::validate_callback_urls;
use network::activity;
pub use network::permissions::{AccessLevel, OAuthClientKind, Permission};
pub use store::apps::{App, AppStatus};

/// An app as its developer describes it, who does not choose tier and entitlements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppProfile {
    /// 1–32 characters.
    pub name: String,
    pub description: String,
    pub website_url: String,
    pub kind: OAuthClientKind,
    /// Of new OAuth 1.0a tokens; existing ones keep theirs.
    pub permission: Permission,
    /// At most ten.
    pub callback_urls: Vec<String>,
    pub request_email: bool,
    pub sign_in: bool,
}

impl AppProfile {
    /// A confidential client that reads and writes, without callbacks.
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            description: String::new(),
            website_url: String::new(),
            kind: OAuthClientKind::Web,
            permission: Permission::Write,
            callback_urls: Vec::new(),
            request_email: false,
            sign_in: false,
        }
    }

    pub fn of(app: &App) -> Self {
        Self {
            name: app.name.clone(),
            description: app.description.clone(),
            website_url: app.website_url.clone(),
            kind: app.kind,
            permission: app.permission,
            callback_urls: app.callback_urls.lines().map(str::to_owned).collect(),
            request_email: app.request_email,
            sign_in: app.sign_in,
        }
    }

    /// The names of the fields in which they differ.
    pub(crate) fn list_changes(&self, other: &Self) -> Vec<&'static str> {
        let fields = [
            ("name", self.name != other.name),
            ("description", self.description != other.description),
            ("website_url", self.website_url != other.website_url),
            ("kind", self.kind != other.kind),
            ("permission", self.permission != other.permission),
            ("callback_urls", self.callback_urls != other.callback_urls),
            ("request_email", self.request_email != other.request_email),
            ("sign_in", self.sign_in != other.sign_in),
        ];
        fields.into_iter().filter(|(_, differs)| *differs).map(|(name, _)| name).collect()
    }
}

/// All credentials of an app, which are shown only once.
#[derive(Clone, Debug)]
pub struct AppCredentials {
    pub api_key: String,
    pub api_secret: Secret,
    /// URL-encoded.
    pub bearer: Secret,
    pub client_id: String,
    /// None for public clients.
    pub client_secret: Option<Secret>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AppCredentialKind {
    Api,
    Bearer,
    Client,
}

pub fn create(
    tx: &mut Tx<'_>,
    owner_id: UserId,
    level: AccessLevel,
    profile: &AppProfile,
) -> Result<(App, AppCredentials), Error> {
    let name = validate_app_name(&profile.name)?;
    validate_callback_urls(&profile.callback_urls)?;
    let id: AppId = tx.next_id();
    let rng = tx.rng().clone();
    let client_secret = if profile.kind.is_confidential() { Some(Secret::new(rng.random_token(50)?)) } else { None };
    let app = App {
        id,
        owner_id,
        name,
        description: profile.description.clone(),
        website_url: profile.website_url.clone(),
        created_at: tx.now(),
        state: AppStatus::Active,
        api_key: rng.random_token(25)?,
        api_secret: Secret::new(rng.random_token(50)?),
        client_id: rng.random_token(34)?,
        client_secret_digest: client_secret.as_ref().map(|secret| secret.digest().to_vec()),
        kind: profile.kind,
        permission: profile.permission,
        request_email: profile.request_email,
        sign_in: profile.sign_in,
        access_level: level,
        entitlements: format_entitlements(level.default_entitlements()),
        callback_urls: profile.callback_urls.join("\n"),
        vocabulary: String::new(),
    };
    apps::insert(tx, &app)?;
    let bearer = generate_bearer_token(&rng)?;
    apps::set_bearer_token(tx, id, Some(&bearer))?;
    event_log::append(tx, "app.create", owner_id.get(), id.get(), "")?;
    let keys = AppCredentials {
        api_key: app.api_key.clone(),
        api_secret: app.api_secret.clone(),
        bearer,
        client_id: app.client_id.clone(),
        client_secret,
    };
    Ok((app, keys))
}

/// Inserts an imported app with new credentials, which the owner finds in the portal. Returns false if its id is
/// taken.
pub fn import_app(tx: &mut Tx<'_>, mut app: App) -> Result<bool, Fault> {
    if apps::find_by_id(tx, app.id)?.is_some() {
        return Ok(false);
    }
    let rng = tx.rng().clone();
    app.api_key = rng.random_token(25)?;
    app.api_secret = Secret::new(rng.random_token(50)?);
    app.client_id = rng.random_token(34)?;
    apps::insert(tx, &app)?;
    apps::set_bearer_token(tx, app.id, Some(&generate_bearer_token(&rng)?))?;
    Ok(true)
}

fn validate_app_name(name: &str) -> Result<String, Refusal> {
    let name = name.trim();
    if name.chars().nth(32).is_some() || find_name_problem(name).is_some() {
        let message = "The `name` must have 1 to 32 characters, none of them invisible or a control";
        return Err(Refusal::invalid_parameter("name", name, message));
    }
    Ok(name.to_owned())
}

/// Deleted apps are refused.
pub fn find(tx: &mut Tx<'_>, id: AppId) -> Result<App, Error> {
    let app = apps::find_by_id(tx, id)?.filter(|app| app.state != AppStatus::Deleted);
    app.ok_or_else(|| Refusal::invalid_value("app", id).into())
}

/// As [`find`], locked until the end of the transaction, so that no change is made to what another has changed meanwhile.
pub fn find_for_update(tx: &mut Tx<'_>, id: AppId) -> Result<App, Error> {
    apps::lock(tx, id)?;
    find(tx, id)
}

/// Oldest first; of one owner or of all.
pub fn list(tx: &mut Tx<'_>, owner: Option<UserId>) -> Result<Vec<App>, Error> {
    Ok(apps::list(tx, owner, AppId::new(0), 1000)?)
}

/// Replaces one credential; the old one is invalid from the commit on. Returns all credentials, except those stored
/// only as digests.
pub fn rotate_credential(tx: &mut Tx<'_>, id: AppId, which: AppCredentialKind) -> Result<AppCredentials, Error> {
    let mut app = find_for_update(tx, id)?;
    let rng = tx.rng().clone();
    let mut client_secret = None;
    match which {
        AppCredentialKind::Api => app.api_secret = Secret::new(rng.random_token(50)?),
        AppCredentialKind::Bearer => {
            let bearer = generate_bearer_token(&rng)?;
            apps::set_bearer_token(tx, id, Some(&bearer))?;
        }
        AppCredentialKind::Client => {
            if !app.kind.is_confidential() {
                return Err(Refusal::invalid_parameter("which", "client", "A public client has no secret").into());
            }
            let secret = Secret::new(rng.random_token(50)?);
            app.client_secret_digest = Some(secret.digest().to_vec());
            client_secret = Some(secret);
        }
    }
    save_app(tx, &app, "app.rotate")?;
    Ok(AppCredentials {
        api_key: app.api_key,
        api_secret: app.api_secret,
        bearer: apps::bearer_token(tx, id)?.unwrap_or(Secret::new("")),
        client_id: app.client_id,
        client_secret,
    })
}

/// Changes an app that is locked. A client that becomes public loses its secret; one that becomes confidential gets one by
/// [`rotate_credential`].
pub fn update(tx: &mut Tx<'_>, app: App, profile: &AppProfile) -> Result<App, Error> {
    let before = AppProfile::of(&app);
    let name = if profile.name == before.name { before.name } else { validate_app_name(&profile.name)? };
    if profile.callback_urls != before.callback_urls {
        validate_callback_urls(&profile.callback_urls)?;
    }
    let app = App {
        name,
        description: profile.description.clone(),
        website_url: profile.website_url.clone(),
        kind: profile.kind,
        client_secret_digest: app.client_secret_digest.filter(|_| profile.kind.is_confidential()),
        permission: profile.permission,
        callback_urls: profile.callback_urls.join("\n"),
        request_email: profile.request_email,
        sign_in: profile.sign_in,
        ..app
    };
    save_app(tx, &app, "app.update")?;
    Ok(app)
}

#[derive(Clone, Debug, Default)]
pub struct AppAccessChange {
    /// The new tier, with its default entitlements.
    pub level: Option<AccessLevel>,
    /// Further entitlements to add.
    pub granted: Vec<Entitlement>,
    /// Entitlements to remove.
    pub withdrawn: Vec<Entitlement>,
}

/// Takes effect with the app's next request.
pub fn set_access(tx: &mut Tx<'_>, id: AppId, access: &AppAccessChange) -> Result<App, Error> {
    let mut app = find_for_update(tx, id)?;
    let mut entitlements = match access.level {
        Some(level) => {
            app.access_level = level;
            level.default_entitlements().to_vec()
        }
        None => list_entitlements(&app),
    };
    entitlements.extend(&access.granted);
    entitlements.retain(|one| !access.withdrawn.contains(one));
    app.entitlements = format_entitlements(&entitlements);
    save_app(tx, &app, "app.update")?;
    Ok(app)
}

pub fn list_entitlements(app: &App) -> Vec<Entitlement> {
    let all = Entitlement::ALL.into_iter();
    all.filter(|one| one.is_listed_in(&app.entitlements)).collect()
}

/// As stored: in their own order, without duplicates.
fn format_entitlements(entitlements: &[Entitlement]) -> String {
    let entitlements = Entitlement::ALL.iter().filter(|one| entitlements.contains(one));
    entitlements.map(|one| one.name()).collect::<Vec<_>>().join(" ")
}

/// Revokes all tokens from the commit on and deletes rules, webhooks and subscriptions.
pub fn delete(tx: &mut Tx<'_>, id: AppId) -> Result<(), Error> {
    let mut app = find_for_update(tx, id)?;
    app.state = AppStatus::Deleted;
    save_app(tx, &app, "app.delete")?;
    network::webhooks::delete_app_webhooks(tx, id)?;
    activity::end_app_subscriptions(tx, id)?;
    network::rules::remove_app_rules(tx, id)
}

/// Suspends the apps of a banned owner, or restores them when the ban was lifted.
pub(crate) fn set_owner_banned(tx: &mut Tx<'_>, owner: UserId, banned: bool) -> Result<(), Error> {
    let (before, state) =
        if banned { (AppStatus::Active, AppStatus::Suspended) } else { (AppStatus::Suspended, AppStatus::Active) };
    for app in list(tx, Some(owner))? {
        apps::lock(tx, app.id)?;
        let app = apps::find_by_id(tx, app.id)?.filter(|app| app.state == before);
        if let Some(app) = app {
            save_app(tx, &App { state, ..app }, "app.update")?;
        }
    }
    Ok(())
}

fn save_app(tx: &mut Tx<'_>, app: &App, kind: &str) -> Result<(), Error> {
    apps::update(tx, app)?;
    Ok(event_log::append(tx, kind, app.owner_id.get(), app.id.get(), "")?)
}
