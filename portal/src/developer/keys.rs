//! An app's keys and tokens. Secrets are shown only in the response that created them.

use base::{AppId, Fault, Time};
use identity::apps::{AppCredentialKind, AppCredentials};
use identity::developer_apps::{self, OwnerAccessToken, RotatedCredential};
use identity::oauth2_flow::PLAIN_PKCE_USAGE;
use network::audit;
use pages::{
    AppKeysPage, AppTab, CredentialItem, CredentialKind, CredentialValue, RegenerateKeyPage, RevealedCredentials,
};
use store::usage::CredentialLastUse;
use web::reply::HttpReply;
use web::request_context::RequestContext;

use super::{OwnedApp, not_found_page, outcome_or_page};
use crate::site::PageExit;
use crate::site::app_summary::permission_level;
use crate::site::forms::accept_form;

/// Characters of a secret that stay visible.
const ENDING_LENGTH: usize = 4;

const MAX_AUDIT_ENTRIES: i64 = 200;

struct CredentialState {
    bearer: Option<String>,
    token: Option<OwnerAccessToken>,
    used: Vec<CredentialLastUse>,
    /// Newest first.
    rotations: Vec<(String, Time)>,
}

impl CredentialState {
    fn last_rotated_at(&self, credential: &str) -> Option<Time> {
        let mut renewed = self.rotations.iter();
        renewed.find(|(name, _)| name == credential).map(|(_, at)| *at)
    }
}

pub(crate) async fn list(call: RequestContext) -> Result<HttpReply, PageExit> {
    let own = OwnedApp::from_call(&call).await?;
    keys_page(&call, &own, None).await
}

pub(crate) async fn show_regenerate(call: RequestContext) -> Result<HttpReply, PageExit> {
    let own = OwnedApp::from_call(&call).await?;
    let kind = credential_kind(&call, &own)?;
    let app = own.app_ref();
    let state = load_credential_state(&call, &own).await?;
    let exists = match kind {
        CredentialKind::Api => true,
        CredentialKind::Bearer => state.bearer.is_some(),
        CredentialKind::Access => state.token.is_some(),
        CredentialKind::Client => own.app.client_secret_digest.is_some(),
    };
    let page = RegenerateKeyPage {
        frame: own.visit.page_frame(&call),
        action: format!("{}/{}/regenerate", AppTab::Keys.path_for_app(&app), kind.name()),
        app,
        kind,
        exists,
    };
    Ok(own.visit.render_page(&call, &page)?)
}

pub(crate) async fn regenerate(call: RequestContext) -> Result<HttpReply, PageExit> {
    let mut own = OwnedApp::from_call(&call).await?;
    accept_form(&call, &own.visit).await?;
    let kind = credential_kind(&call, &own)?;
    let (by, id) = (own.audit_actor(), own.app.id);
    let which = match kind {
        CredentialKind::Api => Some(AppCredentialKind::Api),
        CredentialKind::Bearer => Some(AppCredentialKind::Bearer),
        CredentialKind::Client => Some(AppCredentialKind::Client),
        CredentialKind::Access => None,
    };
    let outcome = call.write(move |tx| {
        let values = if let Some(which) = which {
            rotated_values(developer_apps::rotate_credential(tx, &by, id, which)?)
        } else {
            let (token, secret) = developer_apps::renew_owner_token(tx, &by, id)?;
            vec![
                credential_value("Access token", token.expose_secret()),
                credential_value("Access token secret", secret.expose_secret()),
            ]
        };
        Ok((values, identity::apps::find(tx, id)?))
    });
    let (values, app) = outcome_or_page(&call, &own.visit, outcome.await)?;
    own.app = app;
    let what = kind.label().to_owned();
    keys_page(&call, &own, Some(RevealedCredentials { title: what, values })).await
}

pub(super) async fn show_created_keys(
    call: &RequestContext,
    own: &OwnedApp,
    keys: AppCredentials,
) -> Result<HttpReply, PageExit> {
    let mut values = vec![
        credential_value("API key", &keys.api_key),
        credential_value("API secret", keys.api_secret.expose_secret()),
        credential_value("Bearer token", keys.bearer.expose_secret()),
        credential_value("Client ID", &keys.client_id),
    ];
    if let Some(secret) = &keys.client_secret {
        values.push(credential_value("Client secret", secret.expose_secret()));
    }
    let what = own.app.name.clone();
    keys_page(call, own, Some(RevealedCredentials { title: what, values })).await
}

fn credential_value(name: &str, value: &str) -> CredentialValue {
    CredentialValue { name: name.to_owned(), value: value.to_owned() }
}

fn rotated_values(fresh: RotatedCredential) -> Vec<CredentialValue> {
    match fresh {
        RotatedCredential::Api { key, secret } => {
            vec![credential_value("API key", &key), credential_value("API secret", secret.expose_secret())]
        }
        RotatedCredential::Bearer(token) => {
            vec![credential_value("Bearer token", token.expose_secret())]
        }
        RotatedCredential::Client { id, secret } => {
            vec![credential_value("Client ID", &id), credential_value("Client secret", secret.expose_secret())]
        }
    }
}

/// Public clients have no client secret.
fn credential_kind(call: &RequestContext, own: &OwnedApp) -> Result<CredentialKind, PageExit> {
    let kind = CredentialKind::parse(call.path_text("kind")?);
    let is_public = !own.app.kind.is_confidential();
    let kind = kind.filter(|kind| *kind != CredentialKind::Client || !is_public);
    kind.ok_or_else(|| not_found_page(call, &own.visit))
}

async fn load_credential_state(call: &RequestContext, own: &OwnedApp) -> Result<CredentialState, PageExit> {
    let (owner, id) = (own.visit.person.user.id, own.app.id);
    let work = move |tx: &mut store::Tx<'_>| {
        let bearer = store::apps::bearer_token(tx, id)?;
        Ok(CredentialState {
            bearer: bearer.map(|bearer| secret_ending(bearer.expose_secret())),
            token: developer_apps::find_owner_token(tx, owner, id)?,
            used: store::usage::list_last_uses(tx, id, Some(owner))?,
            rotations: list_rotations(tx, id)?,
        })
    };
    Ok(call.read(work).await?)
}

fn list_rotations(tx: &mut store::Tx<'_>, id: AppId) -> Result<Vec<(String, Time)>, Fault> {
    let filter = audit::AuditFilter { app: Some(id), ..audit::AuditFilter::default() };
    let entries = audit::list(tx, filter, MAX_AUDIT_ENTRIES)?.into_iter();
    let rotated = entries.filter(|entry| entry.kind == audit::AuditAction::APP_ROTATE.name());
    let named = rotated.filter_map(|entry| {
        let detail: serde_json::Value = serde_json::from_str(&entry.detail).ok()?;
        Some((detail.get("credential")?.as_str()?.to_owned(), entry.at))
    });
    Ok(named.collect())
}

async fn keys_page(
    call: &RequestContext,
    own: &OwnedApp,
    shown: Option<RevealedCredentials>,
) -> Result<HttpReply, PageExit> {
    let state = load_credential_state(call, own).await?;
    let page = AppKeysPage {
        frame: own.visit.page_frame(call),
        app: own.app_ref(),
        keys: credential_items(own, &state, call.state.page_context.config.warns_about_plain_pkce),
        revealed: shown,
    };
    Ok(own.visit.render_page(call, &page)?)
}

fn credential_items(own: &OwnedApp, state: &CredentialState, warns: bool) -> Vec<CredentialItem> {
    let (app, token) = (&own.app, state.token.as_ref());
    let used = |kind: &str| -> Option<Time> {
        let uses = state.used.iter().filter(|used| used.kind == kind);
        uses.map(|used| used.at).max()
    };
    let level = permission_level(app.permission);
    let older = token.map(|token| permission_level(token.permission));
    let older = older.filter(|older| *older != level);
    let note = older.map(|older| {
        let (older, level) = (older.label(), level.label());
        format!("This token has the permission “{older}”, but the app now has “{level}”. Regenerate it to update.")
    });
    let key = |kind, ending: Option<String>| CredentialItem {
        kind,
        exists: ending.is_some(),
        public: None,
        ending,
        note: None,
        created: Some(state.last_rotated_at(kind.name()).unwrap_or(app.created_at)),
        last_used: None,
    };
    // Only a digest of the client secret is stored.
    let client = app.client_secret_digest.as_ref().map(|_| String::new());
    vec![
        CredentialItem {
            last_used: used("oauth1"),
            ..key(CredentialKind::Api, Some(secret_ending(app.api_secret.expose_secret())))
        },
        CredentialItem {
            last_used: used("bearer"),
            ..key(CredentialKind::Bearer, state.bearer.clone())
        },
        CredentialItem {
            created: token.map(|token| token.created_at),
            last_used: used("oauth1"),
            note,
            ..key(CredentialKind::Access, token.map(|token| token.suffix.clone()))
        },
        CredentialItem {
            exists: !app.kind.is_confidential() || client.is_some(),
            public: Some(app.client_id.clone()),
            last_used: used("oauth2"),
            note: used(PLAIN_PKCE_USAGE).filter(|_| warns).map(|at| {
                let day: String = at.to_string().chars().take(10).collect();
                format!("The app last used the PKCE method “plain” on {day}. Use S256, which also protects against eavesdropping.")
            }),
            ..key(CredentialKind::Client, client)
        },
    ]
}

fn secret_ending(secret: &str) -> String {
    let from = secret.chars().count().saturating_sub(ENDING_LENGTH);
    secret.chars().skip(from).collect()
}
