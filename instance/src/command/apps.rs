//! `locum app`.

use std::str::FromStr;

use base::{AppId, Entitlement, Error, Fault, Refusal};
use clap::{Args, Subcommand};
use identity::apps::{self, App, AppCredentialKind, AppCredentials, AppProfile};
use network::audit::AuditAction;
use serde_json::{Value, json};

use super::{audit, find};
use crate::Instance;

#[derive(Clone, Debug, Subcommand)]
pub enum AppCommand {
    /// Register an app and print its keys once
    Create(NewAppArgs),
    /// List apps
    List {
        /// Only apps of this user: @username or id
        #[arg(long)]
        owner: Option<String>,
    },
    /// Show an app and its public identifiers; never a secret
    Keys {
        /// Id, API key, client id or name
        app: String,
    },
    /// Regenerate one credential and print it once; the old one is invalidated immediately
    Rotate {
        /// Id, API key, client id or name
        app: String,
        /// api, bearer or client
        which: String,
    },
    /// Set the callback URLs
    Callbacks {
        /// Id, API key, client id or name
        app: String,
        /// Up to ten callback URLs
        urls: Vec<String>,
    },
    /// Set the OAuth 2.0 client type
    Type {
        /// Id, API key, client id or name
        app: String,
        /// web, automated, native or single-page
        kind: String,
    },
    /// Set an app's access level, and entitlements that differ from it
    Access(AppAccessArgs),
    /// Delete an app and all its tokens
    Delete {
        /// Id, API key, client id or name
        app: String,
    },
}

#[derive(Args, Clone, Debug)]
pub struct AppAccessArgs {
    /// Id, API key, client id or name
    app: String,
    /// self-serve or enterprise, with the entitlements of that level
    #[arg(long)]
    level: Option<String>,
    /// Grant `full_archive`, `blocks`, `follows_and_likes`, `ads` or `ads_serving`; repeatable
    #[arg(long, value_name = "NAME")]
    allow: Vec<String>,
    /// Revoke an entitlement; repeatable
    #[arg(long, value_name = "NAME")]
    refuse: Vec<String>,
}

#[derive(Args, Clone, Debug)]
pub struct NewAppArgs {
    /// The name shown to users
    name: String,
    /// The owner: @username or id
    #[arg(long)]
    owner: String,
    /// web, automated, native or single-page
    #[arg(long, default_value = "web")]
    kind: String,
    /// The permission of OAuth 1.0a tokens: read, write or messages
    #[arg(long, default_value = "write")]
    permission: String,
    /// self-serve or enterprise
    #[arg(long, default_value = "self-serve")]
    access_level: String,
    /// A callback URL; repeatable up to ten times
    #[arg(long = "callback", value_name = "URL")]
    callbacks: Vec<String>,
    /// The description
    #[arg(long, default_value = "", hide_default_value = true)]
    description: String,
    /// The website
    #[arg(long, value_name = "URL", default_value = "", hide_default_value = true)]
    website: String,
    /// Allow requesting the user's email address
    #[arg(long)]
    request_email: bool,
    /// Allow signing users in with their account here
    #[arg(long)]
    sign_in: bool,
}

pub(super) async fn execute(instance: &Instance, command: AppCommand) -> Result<Value, Error> {
    let store = &instance.store;
    match command {
        AppCommand::Create(new) => instance.write(move |tx| create_app(tx, &new)).await,
        AppCommand::List { owner } => store.read(move |tx| list_apps(tx, owner.as_deref())).await,
        AppCommand::Keys { app } => {
            let found = store.read(move |tx| find::app(tx, &app)).await;
            found.map(|app| render_app(&app))
        }
        AppCommand::Rotate { app, which } => instance.write(move |tx| rotate_credential(tx, &app, &which)).await,
        AppCommand::Callbacks { app, urls } => {
            let changed = instance.write(move |tx| {
                change_app(tx, &app, "callback_urls", |profile| profile.callback_urls.clone_from(&urls))
            });
            changed.await.map(|app| render_app(&app))
        }
        AppCommand::Type { app, kind } => {
            let changed = instance.write(move |tx| {
                let kind = parse_word("kind", &kind)?;
                change_app(tx, &app, "kind", |profile| profile.kind = kind)
            });
            changed.await.map(|app| render_app(&app))
        }
        AppCommand::Access(asked) => {
            let changed = instance.write(move |tx| set_access(tx, &asked));
            changed.await.map(|app| render_app(&app))
        }
        AppCommand::Delete { app } => {
            let deleted = instance.write(move |tx| {
                let found = find::app(tx, &app)?;
                apps::delete(tx, found.id)?;
                record_audit(tx, AuditAction::APP_DELETE, found.id, &json!({"name": found.name}))?;
                Ok(found)
            });
            let app = deleted.await?;
            Ok(json!({"id": app.id.to_string(), "name": app.name, "deleted": true}))
        }
    }
}

fn record_audit(tx: &mut store::Tx<'_>, kind: AuditAction, app: AppId, detail: &Value) -> Result<(), Error> {
    Ok(audit::record(tx, kind, Some(app), detail)?)
}

fn change_app(
    tx: &mut store::Tx<'_>,
    app: &str,
    field: &str,
    change: impl FnOnce(&mut AppProfile),
) -> Result<App, Error> {
    let id = find::app(tx, app)?.id;
    let app = apps::find_for_update(tx, id)?;
    let mut profile = AppProfile::of(&app);
    change(&mut profile);
    record_audit(tx, AuditAction::APP_UPDATE, id, &json!({"changed": [field]}))?;
    apps::update(tx, app, &profile)
}

fn create_app(tx: &mut store::Tx<'_>, new: &NewAppArgs) -> Result<Value, Error> {
    let owner = find::user(tx, &new.owner)?.id;
    let level = parse_word("access_level", &new.access_level)?;
    let profile = AppProfile {
        name: new.name.clone(),
        kind: parse_word("kind", &new.kind)?,
        permission: parse_word("permission", &new.permission)?,
        callback_urls: new.callbacks.clone(),
        description: new.description.clone(),
        website_url: new.website.clone(),
        request_email: new.request_email,
        sign_in: new.sign_in,
    };
    let (app, keys) = apps::create(tx, owner, level, &profile)?;
    record_audit(tx, AuditAction::APP_CREATE, app.id, &json!({"name": app.name}))?;
    let mut value = render_app(&app);
    if let Some(map) = value.as_object_mut() {
        map.extend(issued_secrets(&keys, None));
    }
    Ok(value)
}

fn list_apps(tx: &mut store::Tx<'_>, owner: Option<&str>) -> Result<Value, Error> {
    let owner = match owner {
        Some(text) => Some(find::user(tx, text)?.id),
        None => None,
    };
    let rows = apps::list(tx, owner)?;
    let row = |app: &App| {
        json!({
            "id": app.id.to_string(),
            "name": app.name,
            "owner_id": app.owner_id.to_string(),
            "kind": app.kind.name(),
            "permission": app.permission.name(),
            "access_level": app.access_level.name(),
        })
    };
    Ok(rows.iter().map(row).collect())
}

fn set_access(tx: &mut store::Tx<'_>, asked: &AppAccessArgs) -> Result<App, Error> {
    let level = asked.level.as_deref();
    let access = apps::AppAccessChange {
        level: level.map(|level| parse_word("level", level)).transpose()?,
        granted: parse_entitlements("allow", &asked.allow)?,
        withdrawn: parse_entitlements("refuse", &asked.refuse)?,
    };
    let id = find::app(tx, &asked.app)?.id;
    let app = apps::set_access(tx, id, &access)?;
    let detail = json!({
        "changed": ["access"],
        "access_level": app.access_level.name(),
        "entitlements": app.entitlements,
    });
    record_audit(tx, AuditAction::APP_UPDATE, id, &detail)?;
    Ok(app)
}

fn parse_entitlements(flag: &'static str, names: &[String]) -> Result<Vec<Entitlement>, Refusal> {
    let known = |name: &String| {
        Entitlement::parse(name).ok_or_else(|| {
            let all = Entitlement::ALL.map(Entitlement::name).join(", ");
            let message = format!("{flag}: [{name}] is not one of {all}");
            Refusal::invalid_parameter(flag, name, message)
        })
    };
    names.iter().map(known).collect()
}

fn rotate_credential(tx: &mut store::Tx<'_>, app: &str, word: &str) -> Result<Value, Error> {
    let which = match word {
        "api" => AppCredentialKind::Api,
        "bearer" => AppCredentialKind::Bearer,
        "client" => AppCredentialKind::Client,
        other => {
            let message = format!("[{other}] is not one of api, bearer, client");
            return Err(Refusal::invalid_parameter("which", other, message).into());
        }
    };
    let app = find::app(tx, app)?;
    let keys = apps::rotate_credential(tx, app.id, which)?;
    record_audit(tx, AuditAction::APP_ROTATE, app.id, &json!({"credential": word}))?;
    let mut value = json!({"id": app.id.to_string(), "name": app.name});
    if let Some(map) = value.as_object_mut() {
        map.extend(issued_secrets(&keys, Some(which)));
    }
    Ok(value)
}

/// All secrets, or only the regenerated one.
fn issued_secrets(keys: &AppCredentials, which: Option<AppCredentialKind>) -> serde_json::Map<String, Value> {
    let wanted = |one: AppCredentialKind| which.is_none_or(|which| which == one);
    let mut map = serde_json::Map::new();
    let mut show = |name: &str, text: &str| {
        map.insert(name.to_owned(), Value::String(text.to_owned()));
    };
    if wanted(AppCredentialKind::Api) {
        show("api_key", &keys.api_key);
        show("api_secret", keys.api_secret.expose_secret());
    }
    if wanted(AppCredentialKind::Bearer) {
        show("bearer_token", keys.bearer.expose_secret());
    }
    if let Some(secret) = keys.client_secret.as_ref().filter(|_| wanted(AppCredentialKind::Client)) {
        show("client_id", &keys.client_id);
        show("client_secret", secret.expose_secret());
    }
    map
}

fn render_app(app: &App) -> Value {
    json!({
        "id": app.id.to_string(),
        "name": app.name,
        "owner_id": app.owner_id.to_string(),
        "kind": app.kind.name(),
        "permission": app.permission.name(),
        "access_level": app.access_level.name(),
        "entitlements": apps::list_entitlements(app).into_iter().map(Entitlement::name).collect::<Vec<_>>(),
        "callback_urls": app.callback_urls.lines().collect::<Vec<_>>(),
        "request_email": app.request_email,
        "sign_in": app.sign_in,
        "created_at": app.created_at.to_string(),
        "api_key": app.api_key,
        "client_id": app.client_id,
        "has_client_secret": app.client_secret_digest.is_some(),
    })
}

pub(super) fn parse_word<T: FromStr<Err = Fault>>(parameter: &'static str, text: &str) -> Result<T, Refusal> {
    text.parse().map_err(|fault: Fault| Refusal::invalid_parameter(parameter, text, format!("{parameter}: {fault}")))
}
