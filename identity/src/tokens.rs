//! Users' tokens: issuing, inspection and revocation.

use base::refusal::AuthenticationProblem;
use base::secret::digest;
use base::{AppId, Error, Fault, Refusal, Scope, Scopes, Secret, UserId};
use serde_json::json;
use store::tokens::{self, OAuth1Token, OAuth2Token};
use store::{Tx, event_log};

use crate::apps;
use network::activity;
use network::audit::{self, AuditAction, AuditActor};
use network::permissions::Permission;
use network::users;

/// Lifetime of an OAuth 2.0 access token (contract core §2.5).
pub const ACCESS_TTL_MS: i64 = 2 * 3600 * 1000;

/// The active OAuth 1.0a token of an app, user and permission, or a new one; returns the token and its secret.
pub fn mint_oauth1(
    tx: &mut Tx<'_>,
    app: AppId,
    user: UserId,
    permission: Permission,
) -> Result<(Secret, Secret), Error> {
    apps::find(tx, app)?;
    users::find_active(tx, user)?;
    if let Some(token) = tokens::find_live_oauth1(tx, app, user, permission.name())? {
        return Ok((token.token, token.secret));
    }
    let rng = tx.rng().clone();
    let token = OAuth1Token {
        id: tx.next_id::<()>().get(),
        app_id: app,
        user_id: user,
        permission: permission.name().to_owned(),
        token: Secret::new(format!("{user}-{}", rng.random_token(40)?)),
        secret: Secret::new(rng.random_token(45)?),
        created_at: tx.now(),
        revoked_at: None,
    };
    tokens::insert_oauth1(tx, &token)?;
    event_log::append(tx, "token.create", user.get(), app.get(), "")?;
    Ok((token.token, token.secret))
}

/// A new OAuth 2.0 access token in a family of its own; without `ttl_ms` it does not expire.
pub fn mint_oauth2(
    tx: &mut Tx<'_>,
    app: AppId,
    user: UserId,
    scopes: Scopes,
    ttl_ms: Option<i64>,
) -> Result<Secret, Error> {
    apps::find(tx, app)?;
    users::find_active(tx, user)?;
    // The public form: printable, without structure.
    let text = Secret::new(format!("{}:1:at:1", tx.rng().random_token(72)?));
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

#[derive(Clone, Debug)]
pub enum InspectedToken {
    Bearer(AppId),
    OAuth1(OAuth1Token),
    OAuth2(OAuth2Token),
}

/// None if the token is unknown.
pub fn inspect(tx: &mut Tx<'_>, token: &str) -> Result<Option<InspectedToken>, Fault> {
    let digest = digest(token);
    if let Some(found) = tokens::find_oauth2(tx, &digest)? {
        return Ok(Some(InspectedToken::OAuth2(found)));
    }
    if let Some(found) = tokens::find_oauth1(tx, &digest)? {
        return Ok(Some(InspectedToken::OAuth1(found)));
    }
    Ok(store::apps::find_by_bearer(tx, &digest)?.map(|app| InspectedToken::Bearer(app.id)))
}

/// Makes an OAuth 2.0 token expire now.
pub fn expire(tx: &mut Tx<'_>, token: &str) -> Result<(), Error> {
    if tokens::expire_oauth2(tx, &digest(token))? {
        return Ok(());
    }
    Err(match inspect(tx, token)? {
        Some(_) => invalid_token("only OAuth 2.0 tokens of users expire; use `token revoke` for the others"),
        None => invalid_token("no token matches"),
    })
}

fn invalid_token(message: &str) -> Error {
    Refusal::invalid_parameter("token", "…", message).into()
}

/// Makes the OAuth 2.0 access tokens of an app for a user expire now; returns how many there were. Refresh tokens stay
/// valid, as they do when a lifetime ends.
pub fn expire_app_access(tx: &mut Tx<'_>, app: AppId, user: UserId) -> Result<u64, Error> {
    Ok(tokens::expire_app_access(tx, user, app)?)
}

base::named_enum! {
    pub enum TokenState {
        Active = "active",
        /// A refresh token that was replaced by the next generation.
        Used = "used",
        Expired = "expired",
        Revoked = "revoked",
    }
}

/// A token of an authorization. The tokens that are issued together are a generation, from 1.
#[derive(Clone, Debug)]
pub struct FamilyToken {
    pub generation: usize,
    pub token: OAuth2Token,
    pub state: TokenState,
    /// Whether it is the token that was asked for.
    pub is_given: bool,
}

/// Tokens of one authorization that are listed.
const MAX_FAMILY: i64 = 1_000;

/// All OAuth 2.0 tokens of the authorization that a token belongs to, in the order of their issue.
pub fn list_family(tx: &mut Tx<'_>, token: &str) -> Result<Vec<FamilyToken>, Error> {
    let given = match inspect(tx, token)? {
        Some(InspectedToken::OAuth2(given)) => given,
        Some(_) => return Err(invalid_token("only OAuth 2.0 tokens of users belong to a family")),
        None => return Err(invalid_token("no token matches")),
    };
    let all = tokens::list_family(tx, given.family, MAX_FAMILY)?;
    let now = tx.now();
    let mut generation = 0;
    let mut family: Vec<FamilyToken> = Vec::with_capacity(all.len());
    for token in all {
        // An access token comes first in each generation.
        generation += usize::from(generation == 0 || token.kind == "access");
        if token.kind == "access"
            && let Some(previous) = family.last_mut()
            && previous.token.kind == "refresh"
            && previous.token.revoked_at.is_some_and(|at| at <= token.created_at)
        {
            previous.state = TokenState::Used;
        }
        let state = match (token.revoked_at, token.expires_at) {
            (Some(_), _) => TokenState::Revoked,
            (None, Some(end)) if end <= now => TokenState::Expired,
            (None, _) => TokenState::Active,
        };
        let is_given = token.id == given.id;
        family.push(FamilyToken { generation, token, state, is_given });
    }
    Ok(family)
}

/// Revokes a token and its family.
pub fn revoke(tx: &mut Tx<'_>, token: &str) -> Result<(), Error> {
    let Some(known) = inspect(tx, token)? else {
        return Err(Refusal::invalid_value("token", "…").into());
    };
    let (kind, user, app) = match known {
        InspectedToken::Bearer(app) => {
            store::apps::set_bearer_token(tx, app, None)?;
            ("bearer", None, app)
        }
        InspectedToken::OAuth1(found) => {
            tokens::revoke_oauth1(tx, &found.token.digest())?;
            ("oauth1", Some(found.user_id), found.app_id)
        }
        InspectedToken::OAuth2(found) => {
            tokens::revoke_family(tx, found.family)?;
            ("oauth2", Some(found.user_id), found.app_id)
        }
    };
    let detail = json!({"token": kind, "user": user.map(|user| user.to_string())});
    audit::append(tx, &AuditActor::operator(), AuditAction::TOKEN_REVOKE, Some(app), &detail)?;
    if let Some(user) = user {
        return Ok(record_revocation(tx, user, Some(app))?);
    }
    event_log::append(tx, "token.revoke", 0, app.get(), "")?;
    // Streams end at this one.
    Ok(event_log::append(tx, "bearer.revoke", 0, app.get(), "")?)
}

/// Logs the revocation of tokens of one app or all apps, and ends subscriptions that depended on them.
pub(crate) fn record_revocation(tx: &mut Tx<'_>, user: UserId, app: Option<AppId>) -> Result<(), Fault> {
    activity::end_unauthorized_subscriptions(tx, user, app)?;
    let app = app.map_or(0, AppId::get);
    event_log::append(tx, "token.revoke", user.get(), app, "")
}

/// Revokes the active OAuth 1.0a token of an app, user and permission; returns the token.
pub fn revoke_user_token(
    tx: &mut Tx<'_>,
    actor: &AuditActor,
    app: AppId,
    permission: Permission,
) -> Result<Secret, Error> {
    let user = actor.require_user()?;
    let token = tokens::find_live_oauth1(tx, app, user, permission.name())?;
    let token = token.ok_or(Refusal::Unauthenticated(AuthenticationProblem::Token))?;
    tokens::revoke_oauth1(tx, &token.token.digest())?;
    let detail = json!({"token": "oauth1", "user": user.to_string()});
    audit::append(tx, actor, AuditAction::TOKEN_REVOKE, Some(app), &detail)?;
    record_revocation(tx, user, Some(app))?;
    Ok(token.token)
}

/// Every scope that has an effect of its own.
pub fn all_scopes() -> Scopes {
    Scope::ALL.iter().fold(Scopes::NONE, |set, scope| set.with_scope(*scope))
}
