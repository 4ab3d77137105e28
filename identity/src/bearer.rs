//! App-only bearer tokens: issuing and invalidation (contract core §2.4).

use base::secret::{constant_time_eq, digest};
use base::{AppId, Error, Fault, Refusal, Rng, Secret};
use serde_json::json;
use store::apps::{self, App, AppStatus};
use store::{Tx, event_log};

use network::audit::{self, AuditAction, AuditActor};

/// The active app with this key and secret.
pub fn authenticate_app(tx: &mut Tx<'_>, api_key: &str, api_secret: &str) -> Result<App, Error> {
    let app = apps::find_by_api_key(tx, api_key)?.filter(|app| app.state == AppStatus::Active);
    // Compare in any case, so that timing does not reveal whether the key exists.
    let expected = app.as_ref().map_or("", |app| app.api_secret.expose_secret());
    let is_valid = constant_time_eq(&digest(expected), &digest(api_secret));
    match app {
        Some(app) if is_valid => Ok(app),
        _ => Err(Refusal::AppOnlyTokenRefused.into()),
    }
}

/// The current token, or a new one if there is none.
pub fn issue(tx: &mut Tx<'_>, app: AppId) -> Result<Secret, Error> {
    if let Some(live) = apps::bearer_token(tx, app)? {
        return Ok(live);
    }
    // Another request may have issued one meanwhile.
    apps::lock(tx, app)?;
    if let Some(live) = apps::bearer_token(tx, app)? {
        return Ok(live);
    }
    let bearer = generate_bearer_token(tx.rng())?;
    apps::set_bearer_token(tx, app, Some(&bearer))?;
    event_log::append(tx, "bearer.create", 0, app.get(), "")?;
    Ok(bearer)
}

/// Refuses any other token, and anyone but the owner. The token may be URL-encoded or decoded.
pub fn invalidate(tx: &mut Tx<'_>, app: &App, actor: &AuditActor, token: &str) -> Result<Secret, Error> {
    let is_owner = actor.user.is_none_or(|user| user == app.owner_id);
    let live = apps::bearer_token(tx, app.id)?;
    match live {
        Some(live) if is_owner && matches_token(&live, token) => {
            apps::set_bearer_token(tx, app.id, None)?;
            let detail = json!({"token": "bearer"});
            audit::append(tx, actor, AuditAction::TOKEN_REVOKE, Some(app.id), &detail)?;
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

/// URL-encodes a token that a form decoder has decoded.
pub(crate) fn percent_encode_token(token: &str) -> String {
    token.replace('/', "%2F").replace('=', "%3D").replace('+', "%2B")
}

/// A new app-only bearer token, URL-encoded.
pub(crate) fn generate_bearer_token(rng: &Rng) -> Result<Secret, Fault> {
    let (one, two, rest) = (rng.random_token(30)?, rng.random_token(16)?, rng.random_token(46)?);
    Ok(Secret::new(format!("AAAAAAAAAAAAAAAAAAAAA{one}%2F{two}%3D{rest}")))
}
