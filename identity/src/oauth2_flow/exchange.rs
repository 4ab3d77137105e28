//! The token endpoint: exchange of codes and refresh tokens, and revocation.

use base::pkce::ChallengeMethod;
use base::secret::{constant_time_eq, digest, hmac_sha256};
use base::{AppId, Error, Fault, Refusal, Rng, Scope, Scopes, Secret, UserId};
use serde_json::json;
use store::tokens::{self, OAuth2Token};
use store::users::{self, UserState};
use store::{Tx, authorization_codes, event_log};

use super::{AuthenticatedClient, GrantOutcome, OAuth2Config, REFRESH_TTL_MS};
use crate::tokens::record_revocation;
use network::activity;
use network::audit::{self, AuditAction};
use network::permissions::parse_stored_scopes;

/// The parameters of `grant_type=authorization_code`.
#[derive(Clone, Debug, Default)]
pub struct CodeExchangeRequest {
    pub code: Option<String>,
    pub redirect_uri: Option<String>,
    pub code_verifier: Option<String>,
}

/// Shown once.
#[derive(Clone, Debug)]
pub struct IssuedTokens {
    pub access: Secret,
    /// Present if `offline.access` was granted.
    pub refresh: Option<Secret>,
    /// The scopes of the access token.
    pub scopes: Scopes,
    /// Seconds.
    pub expires_in: i64,
}

/// Shared by all tokens of one authorization.
#[derive(Clone, Copy)]
struct TokenFamily {
    id: i64,
    app_id: AppId,
    user_id: UserId,
}

fn invalid_request(description: &'static str) -> Refusal {
    Refusal::OAuth2 { error: "invalid_request", description: description.into() }
}

fn invalid_grant(config: &OAuth2Config, description: &'static str) -> Refusal {
    Refusal::OAuth2 {
        error: if config.invalid_grant { "invalid_grant" } else { "invalid_request" },
        description: description.into(),
    }
}

fn invalid_code(config: &OAuth2Config) -> Refusal {
    invalid_grant(config, "Value passed for the authorization code was invalid.")
}

fn invalid_token(config: &OAuth2Config) -> Refusal {
    invalid_grant(config, "Value passed for the token was invalid.")
}

fn require_parameter<'v>(value: Option<&'v str>, name: &str) -> Result<&'v str, Refusal> {
    let missing = || Refusal::OAuth2 {
        error: "invalid_request",
        description: format!("Missing required parameter [{name}].").into(),
    };
    value.filter(|value| !value.is_empty()).ok_or_else(missing)
}

/// A code that is used again is refused and revokes the tokens issued for it.
pub fn exchange_code(
    tx: &mut Tx<'_>,
    config: &OAuth2Config,
    client: &AuthenticatedClient,
    request: &CodeExchangeRequest,
) -> Result<GrantOutcome<IssuedTokens>, Error> {
    let text = require_parameter(request.code.as_deref(), "code")?;
    let uri = require_parameter(request.redirect_uri.as_deref(), "redirect_uri")?;
    let verifier = require_parameter(request.code_verifier.as_deref(), "code_verifier")?;
    let key = digest(text);
    let code = authorization_codes::find(tx, &key)?.filter(|code| code.app_id == client.app().id);
    let code = code.ok_or_else(|| invalid_code(config))?;
    let family = TokenFamily { id: code.family, app_id: code.app_id, user_id: code.user_id };
    lock_grant(tx, family, invalid_code(config))?;
    if code.used_at.is_some() {
        revoke_reused_family(tx, client, family, "code")?;
        return Ok(GrantOutcome::Refused(invalid_code(config)));
    }
    if code.expires_at <= tx.now() {
        return Err(invalid_code(config).into());
    }
    if !constant_time_eq(code.redirect_uri.as_bytes(), uri.as_bytes()) {
        let text = "Value passed for the redirect uri did not match the uri of the authorization code.";
        return Err(invalid_grant(config, text).into());
    }
    if !ChallengeMethod::S256.verify(&code.challenge, verifier) {
        let text = "Value passed for the code verifier did not match the code challenge.";
        return Err(invalid_request(text).into());
    }
    // A concurrent exchange may have used the code since it was looked up.
    if !authorization_codes::mark_used(tx, &key)? {
        revoke_reused_family(tx, client, family, "code")?;
        return Ok(GrantOutcome::Refused(invalid_code(config)));
    }
    let scopes = parse_stored_scopes(&code.scopes)?;
    let first = TokenPair::generate(tx.rng())?;
    let granted = issue_tokens(tx, config, family, first, (scopes, scopes))?;
    Ok(GrantOutcome::Done(granted))
}

/// Replaces a refresh token by new tokens. `scope` may narrow the scopes of this access token. A refresh token that is
/// used again returns the same tokens for a short time, or new ones if their access token has expired; after it, or when
/// those have been refreshed, it is refused and revokes its whole family (RFC 9700 §4.14.2).
pub fn refresh_tokens(
    tx: &mut Tx<'_>,
    config: &OAuth2Config,
    client: &AuthenticatedClient,
    token: Option<&str>,
    scope: Option<&str>,
) -> Result<GrantOutcome<IssuedTokens>, Error> {
    let token = require_parameter(token, "refresh_token")?;
    let key = digest(token);
    let found = find_refresh_token(tx, config, client, &key)?;
    let family = token_family(&found);
    lock_grant(tx, family, invalid_token(config))?;
    // Another transaction may have used the token before the grant was locked.
    let found = find_refresh_token(tx, config, client, &key)?;
    let successors = TokenPair::derive_successors(tx.rng(), config, token)?;
    if let Some(used_at) = found.revoked_at {
        if tx.now() < used_at.plus_ms(config.refresh_grace_ms)
            && let Some(issued) = find_unused_successors(tx, family, &successors)?
        {
            if issued.expires_in > 0 {
                return Ok(GrantOutcome::Done(issued));
            }
            // The client has lost an answer whose access token is of no use any more.
            return refresh_tokens(tx, config, client, Some(successors.refresh.expose_secret()), scope);
        }
        revoke_reused_family(tx, client, family, "refresh")?;
        return Ok(GrantOutcome::Refused(invalid_token(config)));
    }
    if found.expires_at.is_some_and(|end| end <= tx.now()) {
        return Err(invalid_token(config).into());
    }
    let granted = parse_stored_scopes(&found.scopes)?;
    let narrowed = narrow_scopes(granted, scope)?;
    if !tokens::consume_refresh_token(tx, &key)? {
        revoke_reused_family(tx, client, family, "refresh")?;
        return Ok(GrantOutcome::Refused(invalid_token(config)));
    }
    Ok(GrantOutcome::Done(issue_tokens(tx, config, family, successors, (narrowed, granted))?))
}

/// The tokens that were issued for a refresh token, unless they have been refreshed or revoked.
fn find_unused_successors(
    tx: &mut Tx<'_>,
    family: TokenFamily,
    successors: &TokenPair,
) -> Result<Option<IssuedTokens>, Fault> {
    let mut find = |token: &Secret| {
        let found = tokens::find_oauth2(tx, &token.digest())?;
        Ok::<_, Fault>(found.filter(|found| found.revoked_at.is_none() && found.family == family.id))
    };
    let (Some(access), Some(_)) = (find(&successors.access)?, find(&successors.refresh)?) else {
        return Ok(None);
    };
    let expires_at = access.expires_at.unwrap_or_else(|| tx.now());
    Ok(Some(IssuedTokens {
        access: successors.access.clone(),
        refresh: Some(successors.refresh.clone()),
        scopes: parse_stored_scopes(&access.scopes)?,
        expires_in: expires_at.ms().saturating_sub(tx.now().ms()) / 1000,
    }))
}

fn find_refresh_token(
    tx: &mut Tx<'_>,
    config: &OAuth2Config,
    client: &AuthenticatedClient,
    key: &[u8; 32],
) -> Result<OAuth2Token, Error> {
    let found = tokens::find_oauth2(tx, key)?;
    let found = found.filter(|found| found.kind == "refresh" && found.app_id == client.app().id);
    Ok(found.ok_or_else(|| invalid_token(config))?)
}

const fn token_family(token: &OAuth2Token) -> TokenFamily {
    TokenFamily { id: token.family, app_id: token.app_id, user_id: token.user_id }
}

fn narrow_scopes(granted: Scopes, requested: Option<&str>) -> Result<Scopes, Refusal> {
    let error_with = |description: String| Refusal::OAuth2 { error: "invalid_scope", description: description.into() };
    let requested = Scopes::parse(requested.unwrap_or_default())
        .map_err(|name| error_with(format!("There is no scope [{name}].")))?;
    if requested == Scopes::NONE {
        Ok(granted)
    } else if granted.contains_all(requested) {
        Ok(requested)
    } else {
        let text = "A refreshed token can not have scopes that were not granted.";
        Err(error_with(text.to_owned()))
    }
}

/// Locks the grant; refuses inactive users.
fn lock_grant(tx: &mut Tx<'_>, family: TokenFamily, refusal: Refusal) -> Result<(), Error> {
    let is_granted = store::grants::lock_existing(tx, family.user_id, family.app_id)?;
    let user = users::find_by_id(tx, family.user_id)?;
    if is_granted && user.is_some_and(|user| user.state == UserState::Active) { Ok(()) } else { Err(refusal.into()) }
}

/// A code or token was used twice, so someone else has it: revokes everything issued for it.
fn revoke_reused_family(
    tx: &mut Tx<'_>,
    client: &AuthenticatedClient,
    family: TokenFamily,
    token_kind: &str,
) -> Result<(), Error> {
    let revoked = tokens::revoke_family(tx, family.id)?;
    if revoked > 0 {
        let (id, user) = (family.id.to_string(), family.user_id.to_string());
        let detail = json!({"token": token_kind, "family": id, "user": user, "tokens": revoked});
        let kind = AuditAction::TOKEN_REUSE;
        audit::append(tx, &client.audit_actor(), kind, Some(family.app_id), &detail)?;
        let body = json!({"token": token_kind, "family": id}).to_string();
        let (user, app) = (family.user_id.get(), family.app_id.get());
        event_log::append(tx, kind.name(), user, app, &body)?;
        activity::end_unauthorized_subscriptions(tx, family.user_id, Some(family.app_id))?;
    }
    Ok(())
}

/// The texts of tokens that are issued together.
struct TokenPair {
    access: Secret,
    refresh: Secret,
}

impl TokenPair {
    fn generate(rng: &Rng) -> Result<Self, Fault> {
        let generate = || Ok::<_, Fault>(Secret::new(rng.random_token(80)?));
        Ok(Self { access: generate()?, refresh: generate()? })
    }

    /// Always the same for a refresh token, of which only the digest is stored.
    fn derive_successors(rng: &Rng, config: &OAuth2Config, refresh: &str) -> Result<Self, Fault> {
        Self::generate(&rng.keyed(hmac_sha256(&config.successor_key, &[refresh.as_bytes()])))
    }
}

/// The access token gets `scopes`, the refresh token everything that was granted.
fn issue_tokens(
    tx: &mut Tx<'_>,
    config: &OAuth2Config,
    family: TokenFamily,
    tokens: TokenPair,
    (scopes, granted): (Scopes, Scopes),
) -> Result<IssuedTokens, Error> {
    let TokenPair { access, refresh } = tokens;
    store_token(tx, family, "access", scopes, (&access, config.access_ttl_ms))?;
    let refresh = granted.contains(Scope::OfflineAccess).then_some(refresh);
    if let Some(refresh) = &refresh {
        store_token(tx, family, "refresh", granted, (refresh, REFRESH_TTL_MS))?;
    }
    Ok(IssuedTokens { access, refresh, scopes, expires_in: config.access_ttl_ms / 1000 })
}

fn store_token(
    tx: &mut Tx<'_>,
    family: TokenFamily,
    kind: &str,
    scopes: Scopes,
    (text, ttl_ms): (&Secret, i64),
) -> Result<(), Fault> {
    let token = OAuth2Token {
        id: tx.next_id::<()>().get(),
        kind: kind.to_owned(),
        family: family.id,
        app_id: family.app_id,
        user_id: family.user_id,
        scopes: scopes.to_string(),
        created_at: tx.now(),
        expires_at: Some(tx.now().plus_ms(ttl_ms)),
        revoked_at: None,
    };
    tokens::insert_oauth2(tx, &token, &text.digest())
}

/// Revokes an access token alone, a refresh token with its family. Unknown tokens are ignored (RFC 7009), as is the
/// token type hint.
pub fn revoke_token(tx: &mut Tx<'_>, client: &AuthenticatedClient, token: Option<&str>) -> Result<(), Error> {
    let key = digest(require_parameter(token, "token")?);
    let found = tokens::find_oauth2(tx, &key)?.filter(|found| found.app_id == client.app().id);
    let Some(found) = found else { return Ok(()) };
    let (user, app) = (found.user_id, found.app_id);
    let was_live = if found.kind == "refresh" {
        // The lock prevents tokens from being issued concurrently.
        store::grants::lock_existing(tx, user, app)?;
        tokens::revoke_family(tx, found.family)? > 0
    } else {
        tokens::revoke_oauth2(tx, &key)?
    };
    if was_live {
        let detail = json!({"token": found.kind, "user": user.to_string()});
        audit::append(tx, &client.audit_actor(), AuditAction::TOKEN_REVOKE, Some(app), &detail)?;
        record_revocation(tx, user, Some(app))?;
    }
    Ok(())
}
