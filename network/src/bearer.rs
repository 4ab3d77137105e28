//! OAuth 2.0 app-only: giving out an app's one bearer token and taking it back (contract §2.4).

use base::secret::{constant_time_eq, digest};
use base::{AppId, Error, Refusal, Secret};
use serde_json::json;
use store::apps::{self, App, AppStatus};
use store::{Tx, event_log};

use crate::apps::generate_bearer_token;
use crate::audit::{self, AuditAction, AuditActor};

/// The live app with this key and secret.
pub fn authenticate_app(tx: &mut Tx<'_>, api_key: &str, api_secret: &str) -> Result<App, Error> {
    let app = apps::find_by_api_key(tx, api_key)?.filter(|app| app.state == AppStatus::Active);
    // An unknown key takes the same comparison as a wrong secret.
    let expected = app.as_ref().map_or("", |app| app.api_secret.expose_secret());
    let holds = constant_time_eq(&digest(expected), &digest(api_secret));
    match app {
        Some(app) if holds => Ok(app),
        _ => Err(Refusal::AppOnlyTokenRefused.into()),
    }
}

/// The app's bearer token: the live one, or a new one if there is none.
pub fn issue(tx: &mut Tx<'_>, app: AppId) -> Result<Secret, Error> {
    if let Some(live) = apps::bearer_token(tx, app)? {
        return Ok(live);
    }
    let bearer = generate_bearer_token(tx.rng())?;
    apps::set_bearer_token(tx, app, Some(&bearer))?;
    event_log::append(tx, "bearer.create", 0, app.get(), "")?;
    Ok(bearer)
}

/// Invalidates the app's bearer token. Anything else than that very token, encoded or decoded, is
/// refused, as is anyone but the owner.
pub fn invalidate(tx: &mut Tx<'_>, app: &App, by: &AuditActor, token: &str) -> Result<Secret, Error> {
    let is_owner = by.user.is_none_or(|user| user == app.owner_id);
    let live = apps::bearer_token(tx, app.id)?;
    match live {
        Some(live) if is_owner && matches_token(&live, token) => {
            apps::set_bearer_token(tx, app.id, None)?;
            let detail = json!({"token": "bearer"});
            audit::append(tx, by, AuditAction::TOKEN_REVOKE, Some(app.id), &detail)?;
            event_log::append(tx, "bearer.revoke", app.owner_id.get(), app.id.get(), "")?;
            Ok(live)
        }
        _ => Err(Refusal::AppOnlyTokenRefused.into()),
    }
}

fn matches_token(live: &Secret, token: &str) -> bool {
    constant_time_eq(&live.digest(), &digest(token))
        || constant_time_eq(&live.digest(), &digest(&percent_encode_token(token)))
}

/// The encoded form of a bearer token that a form decoder has stripped of it.
pub(crate) fn percent_encode_token(token: &str) -> String {
    token.replace('/', "%2F").replace('=', "%3D").replace('+', "%2B")
}
