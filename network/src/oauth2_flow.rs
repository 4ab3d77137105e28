//! OAuth 2.0 authorization code with PKCE: from an app's question to the user's answer
//! (contract §2.5). What follows at the token endpoint is in the two files beside.

mod client;
mod exchange;

use base::clock::wall_time;
use base::pkce::{ChallengeMethod, is_well_formed};
use base::{Error, Scope, Scopes};
use serde_json::json;
use store::Tx;
use store::apps::{self, App, AppStatus};
use store::authorization_codes::{self, AuthorizationCode};
use store::usage;

use crate::audit::{self, AuditAction, AuditActor};
use crate::{callback_urls, grants, users};

pub use crate::callback_urls::LoopbackPorts;
pub use crate::grants::GrantOutcome;
pub use client::{AuthenticatedClient, ClientCredentials, authenticate_client};
pub use exchange::{CodeExchangeRequest, IssuedTokens, exchange_code, refresh_tokens, revoke_token};

/// A code lives for half a minute (contract §2.5).
pub const CODE_TTL_MS: i64 = 30 * 1000;

/// A refresh token lives for half a year (contract §2.5).
pub const REFRESH_TTL_MS: i64 = 183 * 24 * 3600 * 1000;

/// Under which it is remembered when an app last used the weaker method of PKCE.
pub const PLAIN_PKCE_USAGE: &str = "pkce_plain";

/// The longest state.
const STATE_LENGTH: usize = 500;

/// What a platform may choose.
#[derive(Clone, Debug, Default)]
pub struct OAuth2Config {
    /// The `iss` of every answer of the authorization endpoint (RFC 9207); none: it has none.
    pub issuer: Option<String>,
    /// Whether codes and refresh tokens that do not hold are `invalid_grant`, as RFC 6749 has it,
    /// rather than `invalid_request`.
    pub invalid_grant: bool,
    /// For how long a refresh token may come a second time without its family being revoked. It
    /// is refused all the same. Above 0 a thief who is quick stays unnoticed.
    pub reuse_grace_ms: i64,
    /// Whether a loopback address stands for all its ports.
    pub ports: LoopbackPorts,
}

/// What an app asks, as it came.
#[derive(Clone, Debug, Default)]
pub struct AuthorizeRequest {
    /// `code`.
    pub response_type: Option<String>,
    /// The app's client id.
    pub client_id: Option<String>,
    /// Where the user goes afterwards.
    pub redirect_uri: Option<String>,
    /// Scopes, space-separated.
    pub scope: Option<String>,
    /// Given back.
    pub state: Option<String>,
    /// The challenge of the verifier.
    pub code_challenge: Option<String>,
    /// `S256` or `plain`.
    pub code_challenge_method: Option<String>,
}

/// What an app asks, found in order.
#[derive(Clone, Debug)]
pub struct ValidatedAuthorization {
    /// The app.
    pub app: App,
    /// The scopes that it asks for.
    pub scopes: Scopes,
    /// Where the user goes afterwards.
    pub redirect_uri: String,
    /// Given back.
    pub state: String,
    /// Whether the challenge was the verifier itself, which protects less.
    pub uses_plain_pkce: bool,
    /// The challenge, in the S256 form.
    challenge: String,
}

/// Why the user is not sent back to the app: nobody knows whether the address is the app's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuthorizeRefusalReason {
    /// No client id came.
    NoClient,
    /// No app has this client id.
    UnknownClient,
    /// The app is suspended.
    SuspendedClient,
    /// No address came.
    NoRedirect,
    /// The app has not registered this address.
    UnknownRedirect,
}

/// Why a question was not asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AuthorizeRefusal {
    /// To be said on a page, never by a redirect.
    Page(AuthorizeRefusalReason),
    /// To be said to the app.
    Redirect {
        /// The whole address, with the error in it.
        to: String,
        /// The code of RFC 6749.
        error: &'static str,
        /// What is wrong.
        description: String,
    },
}

/// A code of RFC 6749 and what is wrong.
type OAuth2ErrorDetail = (&'static str, String);

/// A parameter that is there.
fn non_empty(value: Option<&String>) -> Option<&str> {
    value.map(String::as_str).filter(|value| !value.is_empty())
}

/// Judges what an app asks.
pub fn validate_authorize_request(
    tx: &mut Tx<'_>,
    rules: &OAuth2Config,
    request: &AuthorizeRequest,
) -> Result<Result<ValidatedAuthorization, AuthorizeRefusal>, Error> {
    let Some(client_id) = non_empty(request.client_id.as_ref()) else {
        return Ok(Err(AuthorizeRefusal::Page(AuthorizeRefusalReason::NoClient)));
    };
    let app = apps::find_by_client_id(tx, client_id)?.filter(|app| app.state != AppStatus::Deleted);
    Ok(app
        .ok_or(AuthorizeRefusal::Page(AuthorizeRefusalReason::UnknownClient))
        .and_then(|app| validate_app_request(rules, app, request)))
}

fn validate_app_request(
    rules: &OAuth2Config,
    app: App,
    request: &AuthorizeRequest,
) -> Result<ValidatedAuthorization, AuthorizeRefusal> {
    if app.state != AppStatus::Active {
        return Err(AuthorizeRefusal::Page(AuthorizeRefusalReason::SuspendedClient));
    }
    let uri =
        non_empty(request.redirect_uri.as_ref()).ok_or(AuthorizeRefusal::Page(AuthorizeRefusalReason::NoRedirect))?;
    if !callback_urls::matches_oauth2(&app, uri, rules.ports) {
        return Err(AuthorizeRefusal::Page(AuthorizeRefusalReason::UnknownRedirect));
    }
    let state = non_empty(request.state.as_ref()).filter(|state| state.chars().nth(STATE_LENGTH).is_none());
    let wrong = |(error, description): OAuth2ErrorDetail| AuthorizeRefusal::Redirect {
        to: error_url(rules, uri, state, error, &description),
        error,
        description,
    };
    check_response_type(request).map_err(wrong)?;
    let whole_state = check_state(state, request).map_err(wrong)?;
    let (plain, challenge) = check_challenge(request).map_err(wrong)?;
    let scopes = check_scopes(&app, request).map_err(wrong)?;
    Ok(ValidatedAuthorization {
        app,
        scopes,
        redirect_uri: uri.to_owned(),
        state: whole_state.to_owned(),
        uses_plain_pkce: plain,
        challenge,
    })
}

fn missing_parameter(name: &str) -> OAuth2ErrorDetail {
    let description = format!("Missing required parameter [{name}].");
    ("invalid_request", description)
}

fn check_response_type(request: &AuthorizeRequest) -> Result<(), OAuth2ErrorDetail> {
    match non_empty(request.response_type.as_ref()) {
        Some("code") => Ok(()),
        Some(_) => Err((
            "unsupported_response_type",
            "The only response type is [code].".to_owned(),
        )),
        None => Err(missing_parameter("response_type")),
    }
}

fn check_state<'r>(state: Option<&'r str>, request: &AuthorizeRequest) -> Result<&'r str, OAuth2ErrorDetail> {
    let too_long = || {
        let description = format!("The state must have at most {STATE_LENGTH} characters.");
        ("invalid_request", description)
    };
    match state {
        Some(state) => Ok(state),
        None if non_empty(request.state.as_ref()).is_some() => Err(too_long()),
        None => Err(missing_parameter("state")),
    }
}

/// Whether the challenge was plain, and its S256 form.
fn check_challenge(request: &AuthorizeRequest) -> Result<(bool, String), OAuth2ErrorDetail> {
    let wrong = |description: &str| ("invalid_request", description.to_owned());
    let challenge = non_empty(request.code_challenge.as_ref()).ok_or(missing_parameter("code_challenge"))?;
    let method = ChallengeMethod::parse(request.code_challenge_method.as_deref())
        .ok_or_else(|| wrong("The code challenge method must be [S256] or [plain]."))?;
    match method {
        _ if !is_well_formed(challenge) => Err(wrong(
            "The code challenge must have 43 to 128 characters of A-Z a-z 0-9 - . _ ~.",
        )),
        ChallengeMethod::Plain => Ok((true, ChallengeMethod::S256.derive_challenge(challenge))),
        ChallengeMethod::S256 if challenge.len() == 43 => Ok((false, challenge.to_owned())),
        ChallengeMethod::S256 => Err(wrong(
            "An S256 code challenge has 43 characters: base64url without padding.",
        )),
    }
}

fn check_scopes(app: &App, request: &AuthorizeRequest) -> Result<Scopes, OAuth2ErrorDetail> {
    let wrong = |description: String| ("invalid_scope", description);
    let text = request.scope.as_deref().unwrap_or_default();
    let scopes = Scopes::parse(text).map_err(|name| wrong(format!("There is no scope [{name}].")))?;
    if scopes == Scopes::NONE {
        return Err(wrong(missing_parameter("scope").1));
    }
    if scopes.contains(Scope::UsersEmail) && !app.request_email {
        let description = "The app's settings do not let it ask for [users.email].";
        return Err(wrong(description.to_owned()));
    }
    Ok(scopes)
}

fn response_url(rules: &OAuth2Config, uri: &str, pairs: &[(&str, &str)]) -> String {
    let mut pairs = pairs.to_vec();
    pairs.extend(rules.issuer.as_deref().map(|issuer| ("iss", issuer)));
    callback_urls::append_query(uri, &pairs)
}

fn error_url(rules: &OAuth2Config, uri: &str, state: Option<&str>, error: &str, description: &str) -> String {
    let mut pairs = vec![("error", error), ("error_description", description)];
    pairs.extend(state.map(|state| ("state", state)));
    response_url(rules, uri, &pairs)
}

/// The user lets the app act for them within the scopes; answers where they go, with the code.
pub fn approve(
    tx: &mut Tx<'_>,
    rules: &OAuth2Config,
    asked: &ValidatedAuthorization,
    by: &AuditActor,
) -> Result<String, Error> {
    let user = users::find_active(tx, by.require_user()?)?.id;
    grants::record_approval(tx, by, user, asked.app.id, None, asked.scopes)?;
    let text = tx.rng().random_token(64)?;
    let code = AuthorizationCode {
        family: tx.next_id::<()>().get(),
        app_id: asked.app.id,
        user_id: user,
        redirect_uri: asked.redirect_uri.clone(),
        scopes: asked.scopes.to_string(),
        challenge: asked.challenge.clone(),
        expires_at: tx.now().plus_ms(CODE_TTL_MS),
        used_at: None,
    };
    authorization_codes::insert(tx, &code, &base::secret::digest(&text))?;
    if asked.uses_plain_pkce {
        usage::record_credential_use(tx, asked.app.id, PLAIN_PKCE_USAGE, None, wall_time())?;
    }
    let pairs = [("state", asked.state.as_str()), ("code", &text)];
    Ok(response_url(rules, &asked.redirect_uri, &pairs))
}

/// The user does not; answers where they go.
pub fn deny(
    tx: &mut Tx<'_>,
    rules: &OAuth2Config,
    asked: &ValidatedAuthorization,
    by: &AuditActor,
) -> Result<String, Error> {
    let detail = json!({"scopes": asked.scopes.to_string()});
    audit::append(tx, by, AuditAction::GRANT_DENY, Some(asked.app.id), &detail)?;
    let pairs = [("error", "access_denied"), ("state", &asked.state)];
    Ok(response_url(rules, &asked.redirect_uri, &pairs))
}
