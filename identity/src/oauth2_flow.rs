//! OAuth 2.0 authorization code flow with PKCE (contract core §2.5): authorization requests. The
//! submodules implement the token endpoint.

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

use crate::grants::Approval;
use crate::{callback_urls, grants};
use network::audit::{self, AuditAction, AuditActor};
use network::users;

pub use crate::callback_urls::LoopbackPorts;
pub use crate::grants::GrantOutcome;
pub use client::{AuthenticatedClient, ClientCredentials, authenticate_client};
pub use exchange::{CodeExchangeRequest, IssuedTokens, exchange_code, refresh_tokens, revoke_token};

/// Lifetime of an authorization code (contract core §2.5).
pub const CODE_TTL_MS: i64 = 30 * 1000;

/// Lifetime of a refresh token (contract core §2.5).
pub const REFRESH_TTL_MS: i64 = 183 * 24 * 3600 * 1000;

/// The kind of credential use that records PKCE with the `plain` method.
pub const PLAIN_PKCE_USAGE: &str = "pkce_plain";

/// Characters.
const STATE_LENGTH: usize = 500;

#[derive(Clone, Debug)]
pub struct OAuth2Config {
    /// The `issuer` of the server's metadata (RFC 8414). It is no parameter of authorization responses (RFC 9207): the
    /// public API sends none, and clients that know no issuer refuse one.
    pub issuer: Option<String>,
    /// Whether invalid codes and refresh tokens are `invalid_grant`, as in RFC 6749, rather than `invalid_request`.
    pub invalid_grant: bool,
    /// For how long a used refresh token returns the same tokens again, as long as those have not been refreshed: an
    /// answer may be lost. Otherwise its second use revokes its family.
    pub refresh_grace_ms: i64,
    /// The lifetime of access tokens.
    pub access_ttl_ms: i64,
    /// From which the tokens that follow a refresh token are derived; the same on every node.
    pub successor_key: [u8; 32],
    /// How loopback ports are matched.
    pub ports: LoopbackPorts,
}

impl Default for OAuth2Config {
    fn default() -> Self {
        Self {
            issuer: None,
            invalid_grant: false,
            refresh_grace_ms: 0,
            access_ttl_ms: crate::tokens::ACCESS_TTL_MS,
            successor_key: [0; 32],
            ports: LoopbackPorts::default(),
        }
    }
}

/// The parameters of an authorization request, as received.
#[derive(Clone, Debug, Default)]
pub struct AuthorizeRequest {
    /// `code`.
    pub response_type: Option<String>,
    pub client_id: Option<String>,
    pub redirect_uri: Option<String>,
    /// Space-separated.
    pub scope: Option<String>,
    /// Echoed in the response.
    pub state: Option<String>,
    pub code_challenge: Option<String>,
    /// `S256` or `plain`.
    pub code_challenge_method: Option<String>,
}

#[derive(Clone, Debug)]
pub struct ValidatedAuthorization {
    pub app: App,
    pub scopes: Scopes,
    pub redirect_uri: String,
    /// Echoed in the response.
    pub state: String,
    /// Whether the challenge was the verifier itself, which protects less.
    pub uses_plain_pkce: bool,
    /// The S256 challenge.
    challenge: String,
}

/// Errors without a redirect, because the redirect URL is not verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuthorizeRefusalReason {
    NoClient,
    UnknownClient,
    SuspendedClient,
    NoRedirect,
    /// The app has not registered this redirect URL.
    UnknownRedirect,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AuthorizeRefusal {
    /// Shown on a page, never by a redirect.
    Page(AuthorizeRefusalReason),
    /// Reported to the app.
    Redirect {
        /// The redirect URL with the error.
        to: String,
        /// The error code of RFC 6749.
        error: &'static str,
        description: String,
    },
}

/// An error code of RFC 6749 and its description.
type OAuth2ErrorDetail = (&'static str, String);

fn non_empty(value: Option<&String>) -> Option<&str> {
    value.map(String::as_str).filter(|value| !value.is_empty())
}

pub fn validate_authorize_request(
    tx: &mut Tx<'_>,
    config: &OAuth2Config,
    request: &AuthorizeRequest,
) -> Result<Result<ValidatedAuthorization, AuthorizeRefusal>, Error> {
    let Some(client_id) = non_empty(request.client_id.as_ref()) else {
        return Ok(Err(AuthorizeRefusal::Page(AuthorizeRefusalReason::NoClient)));
    };
    let app = apps::find_by_client_id(tx, client_id)?.filter(|app| app.state != AppStatus::Deleted);
    Ok(app
        .ok_or(AuthorizeRefusal::Page(AuthorizeRefusalReason::UnknownClient))
        .and_then(|app| validate_app_request(config, app, request)))
}

fn validate_app_request(
    config: &OAuth2Config,
    app: App,
    request: &AuthorizeRequest,
) -> Result<ValidatedAuthorization, AuthorizeRefusal> {
    if app.state != AppStatus::Active {
        return Err(AuthorizeRefusal::Page(AuthorizeRefusalReason::SuspendedClient));
    }
    let uri =
        non_empty(request.redirect_uri.as_ref()).ok_or(AuthorizeRefusal::Page(AuthorizeRefusalReason::NoRedirect))?;
    if !callback_urls::matches_oauth2(&app, uri, config.ports) {
        return Err(AuthorizeRefusal::Page(AuthorizeRefusalReason::UnknownRedirect));
    }
    let state = non_empty(request.state.as_ref()).filter(|state| state.chars().nth(STATE_LENGTH).is_none());
    let error_with = |(error, description): OAuth2ErrorDetail| AuthorizeRefusal::Redirect {
        to: error_url(uri, state, error, &description),
        error,
        description,
    };
    check_response_type(request).map_err(error_with)?;
    let valid_state = check_state(state, request).map_err(error_with)?;
    let (uses_plain_pkce, challenge) = check_challenge(request).map_err(error_with)?;
    let scopes = check_scopes(&app, request).map_err(error_with)?;
    Ok(ValidatedAuthorization {
        app,
        scopes,
        redirect_uri: uri.to_owned(),
        state: valid_state.to_owned(),
        uses_plain_pkce,
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
        Some(_) => Err(("unsupported_response_type", "The only response type is [code].".to_owned())),
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

/// Whether the challenge is plain, and its S256 form.
fn check_challenge(request: &AuthorizeRequest) -> Result<(bool, String), OAuth2ErrorDetail> {
    let error_with = |description: &str| ("invalid_request", description.to_owned());
    let challenge = non_empty(request.code_challenge.as_ref()).ok_or(missing_parameter("code_challenge"))?;
    let method = ChallengeMethod::parse(request.code_challenge_method.as_deref())
        .ok_or_else(|| error_with("The code challenge method must be [S256] or [plain]."))?;
    match method {
        _ if !is_well_formed(challenge) => {
            Err(error_with("The code challenge must have 1 to 128 characters of A-Z a-z 0-9 - . _ ~."))
        }
        ChallengeMethod::Plain => Ok((true, ChallengeMethod::S256.derive_challenge(challenge))),
        ChallengeMethod::S256 if challenge.len() == 43 => Ok((false, challenge.to_owned())),
        ChallengeMethod::S256 => {
            Err(error_with("An S256 code challenge has 43 characters: base64url without padding."))
        }
    }
}

fn check_scopes(app: &App, request: &AuthorizeRequest) -> Result<Scopes, OAuth2ErrorDetail> {
    let error_with = |description: String| ("invalid_scope", description);
    let text = request.scope.as_deref().unwrap_or_default();
    let scopes = Scopes::parse(text).map_err(|name| error_with(format!("There is no scope [{name}].")))?;
    if scopes == Scopes::NONE {
        return Err(error_with(missing_parameter("scope").1));
    }
    if scopes.contains(Scope::UsersEmail) && !app.request_email {
        let description = "The app's settings do not let it ask for [users.email].";
        return Err(error_with(description.to_owned()));
    }
    Ok(scopes)
}

fn error_url(uri: &str, state: Option<&str>, error: &str, description: &str) -> String {
    let mut pairs = vec![("error", error), ("error_description", description)];
    pairs.extend(state.map(|state| ("state", state)));
    callback_urls::append_query(uri, &pairs)
}

/// Grants the scopes; returns the redirect URL with the code.
pub fn approve(tx: &mut Tx<'_>, authorization: &ValidatedAuthorization, actor: &AuditActor) -> Result<String, Error> {
    let user = users::find_active(tx, actor.require_user()?)?.id;
    let approval = Approval { level: None, scopes: authorization.scopes, email: None };
    grants::record_approval(tx, actor, user, authorization.app.id, approval)?;
    let text = tx.rng().random_token(64)?;
    let code = AuthorizationCode {
        family: tx.next_id::<()>().get(),
        app_id: authorization.app.id,
        user_id: user,
        redirect_uri: authorization.redirect_uri.clone(),
        scopes: authorization.scopes.to_string(),
        challenge: authorization.challenge.clone(),
        expires_at: tx.now().plus_ms(CODE_TTL_MS),
        used_at: None,
    };
    authorization_codes::insert(tx, &code, &base::secret::digest(&text))?;
    if authorization.uses_plain_pkce {
        usage::record_credential_use(tx, authorization.app.id, PLAIN_PKCE_USAGE, None, wall_time())?;
    }
    let pairs = [("state", authorization.state.as_str()), ("code", &text)];
    Ok(callback_urls::append_query(&authorization.redirect_uri, &pairs))
}

/// Returns the redirect URL with the error.
pub fn deny(tx: &mut Tx<'_>, authorization: &ValidatedAuthorization, actor: &AuditActor) -> Result<String, Error> {
    let detail = json!({"scopes": authorization.scopes.to_string()});
    audit::append(tx, actor, AuditAction::GRANT_DENY, Some(authorization.app.id), &detail)?;
    let pairs = [("error", "access_denied"), ("state", &authorization.state)];
    Ok(callback_urls::append_query(&authorization.redirect_uri, &pairs))
}
