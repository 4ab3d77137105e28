//! Users' tokens: making, looking at and ending them.

use base::refusal::Unproven;
use base::secret::digest;
use base::{AppId, Fault, Refusal, Scope, Scopes, Secret, Stop, UserId};
use serde_json::json;
use store::tokens::{self, OAuth1Token, OAuth2Token};
use store::{Tx, event_log};

use crate::activity;
use crate::apps::{self, Permission};
use crate::audit::{self, By, Kind};
use crate::users;

/// An OAuth 2.0 access token lives for two hours (contract §2.5).
pub const ACCESS_TTL_MS: i64 = 2 * 3600 * 1000;

/// The OAuth 1.0a token of an app, a user and a level: the live one, or a new one.
pub fn mint_oauth1(
    tx: &mut Tx<'_>,
    app: AppId,
    user: UserId,
    permission: Permission,
) -> Result<(Secret, Secret), Stop> {
    apps::find(tx, app)?;
    users::active(tx, user)?;
    if let Some(live) = tokens::find_live_oauth1(tx, app, user, permission.name())? {
        return Ok((live.token, live.secret));
    }
    let chance = tx.rng().clone();
    let token = OAuth1Token {
        id: tx.next_id::<()>().get(),
        app_id: app,
        user_id: user,
        permission: permission.name().to_owned(),
        token: Secret::new(format!("{user}-{}", chance.token(40)?)),
        secret: Secret::new(chance.token(45)?),
        created_at: tx.now(),
        revoked_at: None,
    };
    tokens::insert_oauth1(tx, &token)?;
    event_log::append(tx, "token.create", user.get(), app.get(), "")?;
    Ok((token.token, token.secret))
}

/// A new OAuth 2.0 access token of its own family; `ttl_ms` none: it does not end by itself.
pub fn mint_oauth2(
    tx: &mut Tx<'_>,
    app: AppId,
    user: UserId,
    scopes: Scopes,
    ttl_ms: Option<i64>,
) -> Result<Secret, Stop> {
    apps::find(tx, app)?;
    users::active(tx, user)?;
    // The public form: printable, without structure.
    let text = Secret::new(format!("{}:1:at:1", tx.rng().token(72)?));
    let id = tx.next_id::<()>().get();
    let token = OAuth2Token {
        id,
        kind: "access".to_owned(),
        family: id,
        app_id: app,
        user_id: user,
        scopes: scopes.to_string(),
        created_at: tx.now(),
        expires_at: ttl_ms.map(|ttl| tx.now().plus_ms(ttl)),
        revoked_at: None,
    };
    tokens::insert_oauth2(tx, &token, &text.digest())?;
    event_log::append(tx, "token.create", user.get(), app.get(), "")?;
    Ok(text)
}

/// What a token is.
#[derive(Clone, Debug)]
pub enum Known {
    /// An app-only bearer token of this app.
    Bearer(AppId),
    /// An OAuth 1.0a access token.
    OAuth1(OAuth1Token),
    /// An OAuth 2.0 token.
    OAuth2(OAuth2Token),
}

/// What a token is, if it is known.
pub fn inspect(tx: &mut Tx<'_>, token: &str) -> Result<Option<Known>, Fault> {
    let digest = digest(token);
    if let Some(found) = tokens::find_oauth2(tx, &digest)? {
        return Ok(Some(Known::OAuth2(found)));
    }
    if let Some(found) = tokens::find_oauth1(tx, &digest)? {
        return Ok(Some(Known::OAuth1(found)));
    }
    Ok(store::apps::find_by_bearer(tx, &digest)?.map(|app| Known::Bearer(app.id)))
}

/// Lets an OAuth 2.0 token end now.
pub fn expire(tx: &mut Tx<'_>, token: &str) -> Result<(), Stop> {
    if tokens::expire_oauth2(tx, &digest(token))? {
        return Ok(());
    }
    Err(Refusal::not_valid("token", "…").into())
}

/// Revokes a token, with its whole family if it has one.
pub fn revoke(tx: &mut Tx<'_>, token: &str) -> Result<(), Stop> {
    let Some(known) = inspect(tx, token)? else {
        return Err(Refusal::not_valid("token", "…").into());
    };
    let (what, user, app) = match known {
        Known::Bearer(app) => {
            store::apps::set_bearer_token(tx, app, None)?;
            ("bearer", None, app)
        }
        Known::OAuth1(found) => {
            tokens::revoke_oauth1(tx, &found.token.digest())?;
            ("oauth1", Some(found.user_id), found.app_id)
        }
        Known::OAuth2(found) => {
            tokens::revoke_family(tx, found.family)?;
            ("oauth2", Some(found.user_id), found.app_id)
        }
    };
    let detail = json!({"token": what, "user": user.map(|user| user.to_string())});
    audit::append(tx, &By::operator(), Kind::TOKEN_REVOKE, Some(app), &detail)?;
    match user {
        Some(user) => Ok(revoked(tx, user, Some(app))?),
        None => Ok(event_log::append(tx, "token.revoke", 0, app.get(), "")?),
    }
}

/// Tells that tokens of a user are dead, of one app or of all; what apps receive of the user ends
/// with the last of them.
pub(crate) fn revoked(tx: &mut Tx<'_>, user: UserId, app: Option<AppId>) -> Result<(), Fault> {
    activity::end_uncovered(tx, user, app)?;
    let app = app.map_or(0, AppId::get);
    event_log::append(tx, "token.revoke", user.get(), app, "")
}

/// Ends everything by which apps act for a user; what was granted stays remembered.
pub fn end_all(tx: &mut Tx<'_>, user: UserId) -> Result<(), Fault> {
    store::sessions::revoke_user_tokens(tx, user)?;
    revoked(tx, user, None)
}

/// Revokes the live OAuth 1.0a token of an app, a user and a level; answers its text.
pub fn revoke_own(
    tx: &mut Tx<'_>,
    by: &By,
    app: AppId,
    permission: Permission,
) -> Result<Secret, Stop> {
    let user = by.known()?;
    let live = tokens::find_live_oauth1(tx, app, user, permission.name())?;
    let live = live.ok_or(Refusal::Unauthenticated(Unproven::Token))?;
    tokens::revoke_oauth1(tx, &live.token.digest())?;
    let detail = json!({"token": "oauth1", "user": user.to_string()});
    audit::append(tx, by, Kind::TOKEN_REVOKE, Some(app), &detail)?;
    revoked(tx, user, Some(app))?;
    Ok(live.token)
}

/// Every scope that lets a token do something by itself.
pub fn all_scopes() -> Scopes {
    Scope::ALL
        .iter()
        .fold(Scopes::NONE, |set, scope| set.with(*scope))
}
