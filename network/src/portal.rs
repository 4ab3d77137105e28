//! What developers do with apps of their own. An app of somebody else is not found, as one that
//! is not there.

use base::refusal::Subject;
use base::{AppId, Fault, Refusal, Secret, Stop, Time, UserId};
use serde_json::json;
use store::tokens::{find_live_oauth1, revoke_oauth1};
use store::{Tx, usage};

use crate::apps::{self, AccessLevel, App, Keys, Kind, NewApp, Permission, Which};
use crate::audit::{self, By, Kind as Act};
use crate::callback::{self, Ports};
use crate::usage::{CredentialLastUse, OperationCalls};
use crate::{tokens, users};

/// Apps that one developer may have.
pub const MOST_APPS: usize = 50;
/// Rows of usage that are shown at most.
const USAGE_ROWS: i64 = 20_000;

/// A new app, as its developer describes it. What it costs and what it is entitled to is not the
/// developer's to say.
#[derive(Clone, Debug)]
pub struct Draft {
    /// Its name, 1–32 characters.
    pub name: String,
    /// What it says it does.
    pub description: String,
    /// Its website.
    pub website_url: String,
    /// The kind of its OAuth 2.0 client.
    pub kind: Kind,
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
pub struct Edit {
    /// Its name, 1–32 characters.
    pub name: Option<String>,
    /// What it says it does.
    pub description: Option<String>,
    /// Its website.
    pub website_url: Option<String>,
    /// The kind of its OAuth 2.0 client.
    pub kind: Option<Kind>,
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
pub enum Fresh {
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
pub struct OwnToken {
    /// Its level.
    pub permission: Permission,
    /// When it was made.
    pub created_at: Time,
    /// The last characters of its text.
    pub ending: String,
}

/// What came of testing a callback address.
#[derive(Clone, Debug)]
pub struct Tested {
    /// Whether OAuth 1.0a would accept it.
    pub oauth1: bool,
    /// Whether OAuth 2.0 would.
    pub oauth2: bool,
    /// Why it could not be registered at all, as a sentence.
    pub unfit: Option<String>,
    /// Beside each registered address, the nearest first.
    pub compared: Vec<Beside>,
}

/// A callback address beside a registered one.
#[derive(Clone, Debug)]
pub struct Beside {
    /// What the app registered.
    pub registered: String,
    /// Whether OAuth 1.0a takes the one for the other.
    pub oauth1: bool,
    /// Whether OAuth 2.0 does.
    pub oauth2: bool,
}

/// What an app has used.
#[derive(Clone, Debug)]
pub struct Used {
    /// Calls by operation and window, oldest first.
    pub calls: Vec<OperationCalls>,
    /// When its own credentials, and the owner's tokens, were last used.
    pub last_used: Vec<CredentialLastUse>,
}

fn not_found(id: AppId) -> Stop {
    Refusal::NotFound(Subject::new("app", "id", id)).into()
}

/// The developer's app with an id.
pub fn find(tx: &mut Tx<'_>, owner: UserId, id: AppId) -> Result<App, Stop> {
    let app = store::apps::find_by_id(tx, id)?;
    app.filter(|app| app.owner_id == owner && app.state != apps::AppStatus::Deleted)
        .ok_or_else(|| not_found(id))
}

/// The developer's apps, oldest first.
pub fn list(tx: &mut Tx<'_>, owner: UserId) -> Result<Vec<App>, Stop> {
    apps::list(tx, Some(owner))
}

fn developer(tx: &mut Tx<'_>, by: &By) -> Result<UserId, Stop> {
    let user = by.known()?;
    Ok(users::active(tx, user)?.id)
}

/// The app, if whoever acts may change it.
fn own(tx: &mut Tx<'_>, by: &By, id: AppId) -> Result<App, Stop> {
    let owner = developer(tx, by)?;
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
    by: &By,
    draft: &Draft,
    access_level: AccessLevel,
) -> Result<(App, Keys), Stop> {
    let owner_id = developer(tx, by)?;
    if list(tx, owner_id)?.len() >= MOST_APPS {
        let detail = format!("You have {MOST_APPS} apps: delete one first.");
        return Err(Refusal::forbidden(detail).into());
    }
    check_texts(&draft.description, &draft.website_url)?;
    check_callbacks(&draft.callback_urls)?;
    let new = NewApp {
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

fn check_texts(description: &str, website: &str) -> Result<(), Refusal> {
    if description.chars().count() > 200 {
        let message = "The `description` must have at most 200 characters";
        return Err(Refusal::invalid("description", description, message));
    }
    let web = website.starts_with("https://") || website.starts_with("http://");
    let odd = |letter: char| letter.is_whitespace() || letter.is_control();
    if !website.is_empty() && (!web || website.len() > 2048 || website.contains(odd)) {
        let message = "The `website_url` must be an http or https address";
        return Err(Refusal::invalid("website_url", website, message));
    }
    Ok(())
}

/// What a form of the portal may hold beyond what the app itself may.
fn check_callbacks(urls: &[String]) -> Result<(), Refusal> {
    let long = urls.iter().find(|url| url.len() > 2048);
    long.map_or(Ok(()), |url| {
        let message = "A callback URL has at most 2048 characters";
        Err(Refusal::invalid("callback_urls", url, message))
    })
}

/// Changes an app.
pub fn edit(tx: &mut Tx<'_>, by: &By, id: AppId, edit: &Edit) -> Result<App, Stop> {
    own(tx, by, id)?;
    if let Some(urls) = &edit.callback_urls {
        check_callbacks(urls)?;
        apps::set_callbacks(tx, id, urls)?;
    }
    if let Some(kind) = edit.kind {
        apps::set_kind(tx, id, kind)?;
    }
    let description = edit.description.as_deref().unwrap_or_default();
    check_texts(description, edit.website_url.as_deref().unwrap_or_default())?;
    let details = apps::Details {
        name: edit.name.as_deref(),
        description: edit.description.as_deref(),
        website_url: edit.website_url.as_deref(),
        permission: edit.permission,
        request_email: edit.request_email,
        sign_in: edit.sign_in,
    };
    let app = apps::set_details(tx, id, &details)?;
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
pub fn rotate(tx: &mut Tx<'_>, by: &By, id: AppId, which: Which) -> Result<Fresh, Stop> {
    own(tx, by, id)?;
    let keys = apps::rotate(tx, id, which)?;
    let (name, fresh) = match which {
        Which::Api => (
            "api",
            Fresh::Api {
                key: keys.api_key,
                secret: keys.api_secret,
            },
        ),
        Which::Bearer => ("bearer", Fresh::Bearer(keys.bearer)),
        Which::Client => {
            let secret = keys.client_secret;
            let secret = secret.ok_or_else(|| Fault::new("a client secret was not made"))?;
            let id = keys.client_id;
            ("client", Fresh::Client { id, secret })
        }
    };
    let detail = json!({"credential": name});
    audit::append(tx, by, Act::APP_ROTATE, Some(id), &detail)?;
    Ok(fresh)
}

/// Deletes an app: all its tokens are dead with the commit.
pub fn delete(tx: &mut Tx<'_>, by: &By, id: AppId) -> Result<(), Stop> {
    let owner = developer(tx, by)?;
    let app = find(tx, owner, id)?;
    apps::delete(tx, id)?;
    let detail = json!({"name": app.name});
    Ok(audit::append(tx, by, Act::APP_DELETE, Some(id), &detail)?)
}

/// The owner's own access token for an app, if there is one: that of the highest level.
pub fn own_token(tx: &mut Tx<'_>, owner: UserId, id: AppId) -> Result<Option<OwnToken>, Stop> {
    find(tx, owner, id)?;
    for permission in Permission::ALL.iter().rev() {
        if let Some(live) = find_live_oauth1(tx, id, owner, permission.name())? {
            return Ok(Some(OwnToken {
                permission: *permission,
                created_at: live.created_at,
                ending: ending(live.token.reveal()),
            }));
        }
    }
    Ok(None)
}

fn ending(token: &str) -> String {
    let from = token.chars().count().saturating_sub(4);
    token.chars().skip(from).collect()
}

/// Whether the sign-in flows would send a user to this address for the app.
pub fn test_callback(app: &App, url: &str, ports: Ports) -> Tested {
    let shared = |known: &str| {
        let pairs = known.chars().zip(url.chars());
        pairs.take_while(|(one, other)| one == other).count()
    };
    let registered = app.callback_urls.lines().filter(|known| !known.is_empty());
    let mut compared: Vec<Beside> = registered
        .map(|known| {
            let alone = App {
                callback_urls: known.to_owned(),
                ..app.clone()
            };
            Beside {
                registered: known.to_owned(),
                oauth1: callback::fits_oauth1(&alone, url, ports),
                oauth2: callback::fits_oauth2(&alone, url, ports),
            }
        })
        .collect();
    compared.sort_by_key(|one| std::cmp::Reverse(shared(&one.registered)));
    Tested {
        oauth1: callback::fits_oauth1(app, url, ports),
        oauth2: callback::fits_oauth2(app, url, ports),
        unfit: callback::unfit(url),
        compared,
    }
}

/// Makes the owner's own access token for an app, at the app's level, and shows it this once. Those
/// that there were are dead with the commit.
pub fn renew_own_token(tx: &mut Tx<'_>, by: &By, id: AppId) -> Result<(Secret, Secret), Stop> {
    let app = own(tx, by, id)?;
    end_own(tx, &app)?;
    let permission: Permission = app.permission.parse()?;
    let made = tokens::mint_oauth1(tx, id, app.owner_id, permission)?;
    let detail = json!({"permission": permission.name()});
    audit::append(tx, by, Act::TOKEN_OWN, Some(id), &detail)?;
    Ok(made)
}

/// Ends the owner's own access tokens for an app; false when there was none.
pub fn revoke_own_token(tx: &mut Tx<'_>, by: &By, id: AppId) -> Result<bool, Stop> {
    let app = own(tx, by, id)?;
    let ended = end_own(tx, &app)?;
    if ended {
        let detail = json!({"permission": null});
        audit::append(tx, by, Act::TOKEN_OWN, Some(id), &detail)?;
    }
    Ok(ended)
}

fn end_own(tx: &mut Tx<'_>, app: &App) -> Result<bool, Fault> {
    let mut ended = false;
    for permission in Permission::ALL {
        if let Some(live) = find_live_oauth1(tx, app.id, app.owner_id, permission.name())? {
            ended |= revoke_oauth1(tx, &live.token.digest())?;
        }
    }
    if ended {
        tokens::revoked(tx, app.owner_id, Some(app.id))?;
    }
    Ok(ended)
}

/// What the developer's app has called since a moment of the machine's clock, and when its
/// credentials were last used.
pub fn usage(tx: &mut Tx<'_>, owner: UserId, id: AppId, from: Time) -> Result<Used, Stop> {
    find(tx, owner, id)?;
    Ok(Used {
        calls: usage::list_calls(tx, id, from, USAGE_ROWS)?,
        last_used: usage::list_last_uses(tx, id, Some(owner))?,
    })
}
