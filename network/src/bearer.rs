//! OAuth 2.0 app-only: giving out an app's one bearer token and taking it back (contract §2.4).

use base::secret::{digest, same};
use base::{AppId, Refusal, Secret, Stop};
use serde_json::json;
use store::apps::{self, App, AppStatus};
use store::{Tx, event_log};

use crate::apps::new_bearer;
use crate::audit::{self, By, Kind};

/// The live app with this key and secret.
pub fn app_with_secret(tx: &mut Tx<'_>, api_key: &str, api_secret: &str) -> Result<App, Stop> {
    let app = apps::find_by_api_key(tx, api_key)?.filter(|app| app.state == AppStatus::Active);
    // An unknown key takes the same comparison as a wrong secret.
    let expected = app.as_ref().map_or("", |app| app.api_secret.reveal());
    let holds = same(&digest(expected), &digest(api_secret));
    match app {
        Some(app) if holds => Ok(app),
        _ => Err(Refusal::BearerRefused.into()),
    }
}

/// The app's bearer token: the live one, or a new one if there is none.
pub fn issue(tx: &mut Tx<'_>, app: AppId) -> Result<Secret, Stop> {
    if let Some(live) = apps::bearer_token(tx, app)? {
        return Ok(live);
    }
    let bearer = new_bearer(tx.rng())?;
    apps::set_bearer_token(tx, app, Some(&bearer))?;
    event_log::append(tx, "bearer.create", 0, app.get(), "")?;
    Ok(bearer)
}

/// Invalidates the app's bearer token. Anything else than that very token, encoded or decoded, is
/// refused, as is anyone but the owner.
pub fn invalidate(tx: &mut Tx<'_>, app: &App, by: &By, token: &str) -> Result<Secret, Stop> {
    let is_owner = by.user.is_none_or(|user| user == app.owner_id);
    let live = apps::bearer_token(tx, app.id)?;
    match live {
        Some(live) if is_owner && is_same(&live, token) => {
            apps::set_bearer_token(tx, app.id, None)?;
            let detail = json!({"token": "bearer"});
            audit::append(tx, by, Kind::TOKEN_REVOKE, Some(app.id), &detail)?;
            event_log::append(tx, "bearer.revoke", app.owner_id.get(), app.id.get(), "")?;
            Ok(live)
        }
        _ => Err(Refusal::BearerRefused.into()),
    }
}

fn is_same(live: &Secret, token: &str) -> bool {
    same(&live.digest(), &digest(token)) || same(&live.digest(), &digest(&encoded(token)))
}

/// The encoded form of a bearer token that a form decoder has stripped of it.
pub(crate) fn encoded(token: &str) -> String {
    token
        .replace('/', "%2F")
        .replace('=', "%3D")
        .replace('+', "%2B")
}
