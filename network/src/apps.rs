//! Applications: registering them, their keys, and what each may do.

use std::str::FromStr;

use base::text::find_name_problem;
use base::{AppId, Entitlement, Error, Fault, Refusal, Rng, Secret, UserId};
use store::{Tx, apps, event_log};

use crate::activity;
pub use crate::authenticator::{AuthConfig, AuthRequest, Authenticator, Caller, VerifiedRequest};
pub use store::apps::{App, AppStatus};

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $text:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$variant_doc])* $variant),* }

        impl $name {
            /// Every one of them.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// As stored and as written in commands.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $text),* }
            }
        }

        impl FromStr for $name {
            type Err = Fault;

            fn from_str(text: &str) -> Result<Self, Fault> {
                let known = Self::ALL.iter().copied().find(|known| known.name() == text);
                known.ok_or_else(|| Fault::new(format!("{text:?} is none of {:?}", Self::ALL)))
            }
        }
    };
}

words! {
    /// The OAuth 1.0a access level; each holds the ones before it.
    Permission {
        /// Read.
        Read = "read",
        /// Read and write.
        Write = "write",
        /// Read, write and direct messages.
        Messages = "messages",
    }
}

words! {
    /// The kind of an OAuth 2.0 client.
    OAuthClientKind {
        /// A web app: confidential.
        Web = "web",
        /// An automated app or bot: confidential.
        Automated = "automated",
        /// A native app: public.
        Native = "native",
        /// A single-page app: public.
        SinglePage = "single-page",
    }
}

words! {
    /// The tier of an app.
    AccessLevel {
        /// Pay per use.
        SelfServe = "self-serve",
        /// Enterprise.
        Enterprise = "enterprise",
    }
}

impl AccessLevel {
    /// What an app of this tier is entitled to until an operator says otherwise. A server of one's
    /// own serves what the public one has taken from small apps; the full archive is opened to
    /// them one by one.
    pub const fn default_entitlements(self) -> &'static [Entitlement] {
        match self {
            Self::SelfServe => &[Entitlement::Blocks, Entitlement::FollowsAndLikes, Entitlement::Ads],
            // Whoever reports what advertisers are charged by is chosen one by one.
            Self::Enterprise => &[
                Entitlement::FullArchive,
                Entitlement::Blocks,
                Entitlement::FollowsAndLikes,
                Entitlement::Ads,
            ],
        }
    }
}

impl OAuthClientKind {
    /// Whether its client keeps a secret.
    pub const fn is_confidential(self) -> bool {
        matches!(self, Self::Web | Self::Automated)
    }
}

/// A new app.
#[derive(Clone, Debug)]
pub struct AppRegistration {
    /// Its name, 1–32 characters.
    pub name: String,
    /// Who registers it.
    pub owner_id: UserId,
    /// The kind of its OAuth 2.0 client.
    pub kind: OAuthClientKind,
    /// The access level of its OAuth 1.0a tokens.
    pub permission: Permission,
    /// Its tier.
    pub access_level: AccessLevel,
    /// At most ten callback URLs.
    pub callback_urls: Vec<String>,
    /// What it says it does.
    pub description: String,
    /// Its website.
    pub website_url: String,
    /// May ask for the user's email address.
    pub request_email: bool,
    /// May use sign-in with the service.
    pub sign_in: bool,
}

/// An app's credentials, as they are shown once.
#[derive(Clone, Debug)]
pub struct AppCredentials {
    /// API key.
    pub api_key: String,
    /// API key secret.
    pub api_secret: Secret,
    /// App-only bearer token, URL-encoded.
    pub bearer: Secret,
    /// OAuth 2.0 client id.
    pub client_id: String,
    /// OAuth 2.0 client secret; none for public clients.
    pub client_secret: Option<Secret>,
}

/// Which of an app's credentials.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AppCredentialKind {
    /// API key secret.
    Api,
    /// App-only bearer token.
    Bearer,
    /// OAuth 2.0 client secret.
    Client,
}

/// Registers an app with a full set of keys.
pub fn create(tx: &mut Tx<'_>, new: &AppRegistration) -> Result<(App, AppCredentials), Error> {
    let name = validate_app_name(&new.name)?;
    validate_callback_urls(&new.callback_urls)?;
    let id: AppId = tx.next_id();
    let chance = tx.rng().clone();
    let client_secret = if new.kind.is_confidential() {
        Some(Secret::new(chance.random_token(50)?))
    } else {
        None
    };
    let app = App {
        id,
        owner_id: new.owner_id,
        name,
        description: new.description.clone(),
        website_url: new.website_url.clone(),
        created_at: tx.now(),
        state: AppStatus::Active,
        api_key: chance.random_token(25)?,
        api_secret: Secret::new(chance.random_token(50)?),
        client_id: chance.random_token(34)?,
        client_secret_digest: client_secret.as_ref().map(|secret| secret.digest().to_vec()),
        kind: new.kind.name().to_owned(),
        permission: new.permission.name().to_owned(),
        request_email: new.request_email,
        sign_in: new.sign_in,
        access_level: new.access_level.name().to_owned(),
        entitlements: format_entitlements(new.access_level.default_entitlements()),
        callback_urls: new.callback_urls.join("\n"),
        vocabulary: String::new(),
    };
    apps::insert(tx, &app)?;
    let bearer = generate_bearer_token(&chance)?;
    apps::set_bearer_token(tx, id, Some(&bearer))?;
    event_log::append(tx, "app.create", new.owner_id.get(), id.get(), "")?;
    let keys = AppCredentials {
        api_key: app.api_key.clone(),
        api_secret: app.api_secret.clone(),
        bearer,
        client_id: app.client_id.clone(),
        client_secret,
    };
    Ok((app, keys))
}

/// Takes in an app that came from elsewhere without its keys: it gets new ones, which its owner
/// finds in the portal. False when its id is taken.
pub fn import_app(tx: &mut Tx<'_>, mut app: App) -> Result<bool, Fault> {
    if apps::find_by_id(tx, app.id)?.is_some() {
        return Ok(false);
    }
    let chance = tx.rng().clone();
    app.api_key = chance.random_token(25)?;
    app.api_secret = Secret::new(chance.random_token(50)?);
    app.client_id = chance.random_token(34)?;
    apps::insert(tx, &app)?;
    apps::set_bearer_token(tx, app.id, Some(&generate_bearer_token(&chance)?))?;
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

/// An app-only bearer token in its URL-encoded form, as it is given out.
pub(crate) fn generate_bearer_token(chance: &Rng) -> Result<Secret, Fault> {
    let (one, two, rest) = (
        chance.random_token(30)?,
        chance.random_token(16)?,
        chance.random_token(46)?,
    );
    Ok(Secret::new(format!("AAAAAAAAAAAAAAAAAAAAA{one}%2F{two}%3D{rest}")))
}

/// Schemes that no callback may have (contract §2.1).
const FORBIDDEN_SCHEMES: &str = "vbscript javascript vbs data mocha keyword livescript ftp file \
    gopher acrobat callto daap itpc itms firefoxurl hcp ldap mailto mmst mmsu msbd rtsp \
    mso-offdap snews news nntp outlook stssync rlogin telnet tn3270 shell sip";

pub(crate) fn validate_callback_urls(urls: &[String]) -> Result<(), Refusal> {
    if urls.len() > 10 {
        let message = "An app has at most 10 callback URLs";
        return Err(Refusal::invalid_parameter("callback_urls", urls.len(), message));
    }
    let scheme_ok = |url: &str| {
        url.split_once(':').is_some_and(|(scheme, rest)| {
            let scheme = scheme.to_ascii_lowercase();
            let plain = scheme.starts_with(|letter: char| letter.is_ascii_alphabetic())
                && scheme
                    .chars()
                    .all(|letter| letter.is_ascii_alphanumeric() || "+-.".contains(letter));
            plain && !rest.is_empty() && !FORBIDDEN_SCHEMES.split_whitespace().any(|bad| bad == scheme)
        })
    };
    let bad = urls
        .iter()
        .find(|url| !scheme_ok(url) || url.contains(|letter: char| letter.is_whitespace() || letter.is_control()));
    bad.map_or(Ok(()), |url| {
        let message = format!("The callback URL [{url}] is not allowed");
        Err(Refusal::invalid_parameter("callback_urls", url, message))
    })
}

/// The live app with an id.
pub fn find(tx: &mut Tx<'_>, id: AppId) -> Result<App, Error> {
    let app = apps::find_by_id(tx, id)?.filter(|app| app.state != AppStatus::Deleted);
    app.ok_or_else(|| Refusal::invalid_value("app", id).into())
}

/// The apps of an owner, or all, oldest first.
pub fn list(tx: &mut Tx<'_>, owner: Option<UserId>) -> Result<Vec<App>, Error> {
    Ok(apps::list(tx, owner, AppId::new(0), 1000)?)
}

/// Makes one of an app's credentials anew; the old one is dead with the commit. The others are
/// shown as they are, but for those of which only a digest is kept.
pub fn rotate_credential(tx: &mut Tx<'_>, id: AppId, which: AppCredentialKind) -> Result<AppCredentials, Error> {
    let mut app = find(tx, id)?;
    let chance = tx.rng().clone();
    let mut client_secret = None;
    match which {
        AppCredentialKind::Api => app.api_secret = Secret::new(chance.random_token(50)?),
        AppCredentialKind::Bearer => {
            let bearer = generate_bearer_token(&chance)?;
            apps::set_bearer_token(tx, id, Some(&bearer))?;
        }
        AppCredentialKind::Client => {
            if !app.kind.parse::<OAuthClientKind>()?.is_confidential() {
                return Err(Refusal::invalid_parameter("which", "client", "A public client has no secret").into());
            }
            let secret = Secret::new(chance.random_token(50)?);
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

/// Sets the callback URLs.
pub fn set_callback_urls(tx: &mut Tx<'_>, id: AppId, urls: &[String]) -> Result<App, Error> {
    validate_callback_urls(urls)?;
    let mut app = find(tx, id)?;
    app.callback_urls = urls.join("\n");
    save_app(tx, &app, "app.update")?;
    Ok(app)
}

/// Changes the kind of the OAuth 2.0 client. A client that becomes confidential gets a secret by
/// [`rotate`]; one that becomes public loses it.
pub fn set_client_kind(tx: &mut Tx<'_>, id: AppId, kind: OAuthClientKind) -> Result<App, Error> {
    let mut app = find(tx, id)?;
    kind.name().clone_into(&mut app.kind);
    if !kind.is_confidential() {
        app.client_secret_digest = None;
    }
    save_app(tx, &app, "app.update")?;
    Ok(app)
}

/// What an app says of itself and may ask for; none: it stays.
#[derive(Clone, Copy, Debug, Default)]
pub struct AppDetails<'a> {
    /// Its name, 1–32 characters.
    pub name: Option<&'a str>,
    /// What it says it does.
    pub description: Option<&'a str>,
    /// Its website.
    pub website_url: Option<&'a str>,
    /// The access level of new OAuth 1.0a tokens.
    pub permission: Option<Permission>,
    /// May ask for the user's email address.
    pub request_email: Option<bool>,
    /// May use sign-in with the service.
    pub sign_in: Option<bool>,
}

/// Changes what an app says of itself and may ask for.
pub fn update_details(tx: &mut Tx<'_>, id: AppId, details: &AppDetails<'_>) -> Result<App, Error> {
    let mut app = find(tx, id)?;
    if let Some(name) = details.name {
        app.name = validate_app_name(name)?;
    }
    if let Some(description) = details.description {
        description.clone_into(&mut app.description);
    }
    if let Some(website) = details.website_url {
        website.clone_into(&mut app.website_url);
    }
    if let Some(permission) = details.permission {
        permission.name().clone_into(&mut app.permission);
    }
    app.request_email = details.request_email.unwrap_or(app.request_email);
    app.sign_in = details.sign_in.unwrap_or(app.sign_in);
    save_app(tx, &app, "app.update")?;
    Ok(app)
}

/// What an operator decides about an app.
#[derive(Clone, Debug, Default)]
pub struct AppAccessChange {
    /// Its tier, with all that comes with it; none: it stays.
    pub level: Option<AccessLevel>,
    /// What it is entitled to beyond that.
    pub granted: Vec<Entitlement>,
    /// What it is not entitled to after all.
    pub withdrawn: Vec<Entitlement>,
}

/// Changes the tier of an app and what it is entitled to; its next call is judged by it.
pub fn set_access(tx: &mut Tx<'_>, id: AppId, access: &AppAccessChange) -> Result<App, Error> {
    let mut app = find(tx, id)?;
    let mut held = match access.level {
        Some(level) => {
            level.name().clone_into(&mut app.access_level);
            level.default_entitlements().to_vec()
        }
        None => list_entitlements(&app),
    };
    held.extend(&access.granted);
    held.retain(|one| !access.withdrawn.contains(one));
    app.entitlements = format_entitlements(&held);
    save_app(tx, &app, "app.update")?;
    Ok(app)
}

/// What an app is entitled to.
pub fn list_entitlements(app: &App) -> Vec<Entitlement> {
    let all = Entitlement::ALL.into_iter();
    all.filter(|one| one.is_listed_in(&app.entitlements)).collect()
}

/// As stored: each once, in their own order.
fn format_entitlements(held: &[Entitlement]) -> String {
    let held = Entitlement::ALL.iter().filter(|one| held.contains(one));
    held.map(|one| one.name()).collect::<Vec<_>>().join(" ")
}

/// Deletes an app: all its tokens are dead with the commit, and its rules are gone.
pub fn delete(tx: &mut Tx<'_>, id: AppId) -> Result<(), Error> {
    let mut app = find(tx, id)?;
    app.state = AppStatus::Deleted;
    save_app(tx, &app, "app.delete")?;
    crate::webhooks::delete_app_webhooks(tx, id)?;
    activity::end_app_subscriptions(tx, id)?;
    crate::rules::remove_app_rules(tx, id)
}

fn save_app(tx: &mut Tx<'_>, app: &App, kind: &str) -> Result<(), Error> {
    apps::update(tx, app)?;
    Ok(event_log::append(tx, kind, app.owner_id.get(), app.id.get(), "")?)
}
