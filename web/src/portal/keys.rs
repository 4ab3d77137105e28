//! An app's keys and tokens. What is secret stands on the one answer that made it.

use base::{AppId, Fault, Time};
use network::apps::{AppCredentialKind, AppCredentials as Made};
use network::audit;
use network::oauth2_flow::PLAIN_PKCE_USAGE;
use network::portal::{self, OwnerAccessToken, RotatedCredential};
use pages::{Key, KeyKind, Keys, Regenerate, Shown, Tab, Value};
use store::usage::CredentialLastUse;

use super::{Own, form, heard, not_found};
use crate::call::Call;
use crate::endpoint::Pending;
use crate::pages::forms::taken;
use crate::pages::{Turn, run};
use crate::reply::Reply;

/// Characters of a secret that stay to be seen.
const ENDING: usize = 4;

/// Entries of the record that are looked through.
const ENTRIES: i64 = 200;

/// What is known of an app's credentials.
struct Held {
    bearer: Option<String>,
    token: Option<OwnerAccessToken>,
    used: Vec<CredentialLastUse>,
    /// When credentials were last made anew, newest first.
    renewed: Vec<(String, Time)>,
}

impl Held {
    fn renewed(&self, credential: &str) -> Option<Time> {
        let mut renewed = self.renewed.iter();
        renewed
            .find(|(name, _)| name == credential)
            .map(|(_, at)| *at)
    }
}

/// `GET /developer/apps/{id}/keys`.
pub(crate) fn list(call: Call) -> Pending {
    run(async move {
        let own = Own::of(&call).await?;
        page(&call, &own, None).await
    })
}

/// `GET /developer/apps/{id}/keys/{kind}/regenerate`.
pub(crate) fn ask(call: Call) -> Pending {
    run(async move {
        let own = Own::of(&call).await?;
        let kind = kind(&call, &own)?;
        let app = own.shown();
        let held = held(&call, &own).await?;
        let exists = match kind {
            KeyKind::Api => true,
            KeyKind::Bearer => held.bearer.is_some(),
            KeyKind::Access => held.token.is_some(),
            KeyKind::Client => own.app.client_secret_digest.is_some(),
        };
        let page = Regenerate {
            frame: own.visit.frame(&call),
            action: format!("{}/{}/regenerate", Tab::Keys.of(&app), kind.slug()),
            app,
            kind,
            exists,
        };
        Ok(own.visit.page(&call, &page)?)
    })
}

/// `POST /developer/apps/{id}/keys/{kind}/regenerate`.
pub(crate) fn regenerate(call: Call) -> Pending {
    run(async move {
        let mut own = Own::of(&call).await?;
        taken(&call, &own.visit).await?;
        let kind = kind(&call, &own)?;
        let (by, id) = (own.by(), own.app.id);
        let which = match kind {
            KeyKind::Api => Some(AppCredentialKind::Api),
            KeyKind::Bearer => Some(AppCredentialKind::Bearer),
            KeyKind::Client => Some(AppCredentialKind::Client),
            KeyKind::Access => None,
        };
        let outcome = call.write(move |tx| {
            let values = if let Some(which) = which {
                fresh(portal::rotate_credential(tx, &by, id, which)?)
            } else {
                let (token, secret) = portal::renew_owner_token(tx, &by, id)?;
                vec![
                    value("Access token", token.expose_secret()),
                    value("Access token secret", secret.expose_secret()),
                ]
            };
            Ok((values, network::apps::find(tx, id)?))
        });
        let (values, app) = heard(&call, &own.visit, outcome.await)?;
        own.app = app;
        let what = kind.name().to_owned();
        page(&call, &own, Some(Shown { what, values })).await
    })
}

/// The keys of an app that was made just now.
pub(super) async fn made(call: &Call, own: &Own, keys: Made) -> Result<Reply, Turn> {
    let mut values = vec![
        value("API key", &keys.api_key),
        value("API secret", keys.api_secret.expose_secret()),
        value("Bearer token", keys.bearer.expose_secret()),
        value("Client ID", &keys.client_id),
    ];
    if let Some(secret) = &keys.client_secret {
        values.push(value("Client secret", secret.expose_secret()));
    }
    let what = own.app.name.clone();
    page(call, own, Some(Shown { what, values })).await
}

fn value(name: &str, value: &str) -> Value {
    Value {
        name: name.to_owned(),
        value: value.to_owned(),
    }
}

fn fresh(fresh: RotatedCredential) -> Vec<Value> {
    match fresh {
        RotatedCredential::Api { key, secret } => {
            vec![
                value("API key", &key),
                value("API secret", secret.expose_secret()),
            ]
        }
        RotatedCredential::Bearer(token) => vec![value("Bearer token", token.expose_secret())],
        RotatedCredential::Client { id, secret } => {
            vec![
                value("Client ID", &id),
                value("Client secret", secret.expose_secret()),
            ]
        }
    }
}

/// The kind of the path; a public client has no secret that could be made.
fn kind(call: &Call, own: &Own) -> Result<KeyKind, Turn> {
    let kind = KeyKind::parse(call.path_text("kind")?);
    let is_public = matches!(
        form::kind_of(&own.app)?,
        pages::AppKind::Native | pages::AppKind::SinglePage
    );
    let kind = kind.filter(|kind| *kind != KeyKind::Client || !is_public);
    kind.ok_or_else(|| not_found(call, &own.visit))
}

async fn held(call: &Call, own: &Own) -> Result<Held, Turn> {
    let (owner, id) = (own.person.user.id, own.app.id);
    let work = move |tx: &mut store::Tx<'_>| {
        let bearer = store::apps::bearer_token(tx, id)?;
        Ok(Held {
            bearer: bearer.map(|bearer| ending(bearer.expose_secret())),
            token: portal::find_owner_token(tx, owner, id)?,
            used: store::usage::list_last_uses(tx, id, Some(owner))?,
            renewed: renewed(tx, id)?,
        })
    };
    Ok(call.read(work).await?)
}

fn renewed(tx: &mut store::Tx<'_>, id: AppId) -> Result<Vec<(String, Time)>, Fault> {
    let filter = audit::AuditFilter {
        app: Some(id),
        ..audit::AuditFilter::default()
    };
    let entries = audit::list(tx, filter, ENTRIES)?.into_iter();
    let rotated = entries.filter(|entry| entry.kind == audit::AuditAction::APP_ROTATE.name());
    let named = rotated.filter_map(|entry| {
        let detail: serde_json::Value = serde_json::from_str(&entry.detail).ok()?;
        Some((detail.get("credential")?.as_str()?.to_owned(), entry.at))
    });
    Ok(named.collect())
}

async fn page(call: &Call, own: &Own, shown: Option<Shown>) -> Result<Reply, Turn> {
    let held = held(call, own).await?;
    let page = Keys {
        frame: own.visit.frame(call),
        app: own.shown(),
        keys: keys(own, &held, call.home.front.config.warns_of_plain)?,
        shown,
    };
    Ok(own.visit.page(call, &page)?)
}

fn keys(own: &Own, held: &Held, warns: bool) -> Result<Vec<Key>, Turn> {
    let (app, token) = (&own.app, held.token.as_ref());
    let used = |kind: &str| -> Option<Time> {
        let of_kind = held.used.iter().filter(|used| used.kind == kind);
        of_kind.map(|used| used.at).max()
    };
    let level = form::level_of(app)?;
    let older = token.map(|token| form::level(token.permission));
    let older = older.filter(|older| *older != level);
    let note = older.map(|older| {
        let (older, level) = (older.name(), level.name());
        format!("It has the permission “{older}”; the app has “{level}” today.")
    });
    let key = |kind, ending: Option<String>| Key {
        kind,
        exists: ending.is_some(),
        public: None,
        ending,
        note: None,
        created: Some(held.renewed(kind.slug()).unwrap_or(app.created_at)),
        last_used: None,
    };
    // Of a client's secret only a digest is kept.
    let client = app.client_secret_digest.as_ref().map(|_| String::new());
    let is_native = !matches!(app.kind.as_str(), "web" | "automated");
    Ok(vec![
        Key {
            last_used: used("oauth1"),
            ..key(KeyKind::Api, Some(ending(app.api_secret.expose_secret())))
        },
        Key {
            last_used: used("bearer"),
            ..key(KeyKind::Bearer, held.bearer.clone())
        },
        Key {
            created: token.map(|token| token.created_at),
            last_used: used("oauth1"),
            note,
            ..key(KeyKind::Access, token.map(|token| token.suffix.clone()))
        },
        Key {
            exists: is_native || client.is_some(),
            public: Some(app.client_id.clone()),
            last_used: used("oauth2"),
            note: used(PLAIN_PKCE_USAGE).filter(|_| warns).map(|at| {
                let day: String = at.to_string().chars().take(10).collect();
                format!("People were last signed in with the PKCE method “plain” on {day}. Use S256: it also protects against whoever reads along.")
            }),
            ..key(KeyKind::Client, client)
        },
    ])
}

fn ending(secret: &str) -> String {
    let from = secret.chars().count().saturating_sub(ENDING);
    secret.chars().skip(from).collect()
}
