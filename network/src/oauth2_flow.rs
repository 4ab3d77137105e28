//! OAuth 2.0 authorization code with PKCE: from an app's question to the user's answer
//! (contract §2.5). What follows at the token endpoint is in the two files beside.

mod client;
mod exchange;

use base::clock::wall;
use base::pkce::{Method, is_well_formed};
use base::{Scope, Scopes, Stop};
use serde_json::json;
use store::Tx;
use store::apps::{self, App, AppStatus};
use store::authorization_codes::{self, AuthorizationCode};
use store::usage;

use crate::audit::{self, By, Kind};
use crate::{callback, grants, users};

pub use crate::callback::Ports;
pub use crate::grants::Outcome;
pub use client::{Client, Credentials, authenticate_client};
pub use exchange::{CodeExchange, Granted, exchange_code, refresh, revoke};

/// A code lives for half a minute (contract §2.5).
pub const CODE_TTL_MS: i64 = 30 * 1000;

/// A refresh token lives for half a year (contract §2.5).
pub const REFRESH_TTL_MS: i64 = 183 * 24 * 3600 * 1000;

/// Under which it is remembered when an app last used the weaker method of PKCE.
pub const PLAIN: &str = "pkce_plain";

/// The longest state.
const STATE_LENGTH: usize = 500;

/// What a platform may choose.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    /// The `iss` of every answer of the authorization endpoint (RFC 9207); none: it has none.
    pub issuer: Option<String>,
    /// Whether codes and refresh tokens that do not hold are `invalid_grant`, as RFC 6749 has it,
    /// rather than `invalid_request`.
    pub invalid_grant: bool,
    /// For how long a refresh token may come a second time without its family being revoked. It
    /// is refused all the same. Above 0 a thief who is quick stays unnoticed.
    pub reuse_grace_ms: i64,
    /// Whether a loopback address stands for all its ports.
    pub ports: Ports,
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
pub struct Asked {
    /// The app.
    pub app: App,
    /// The scopes that it asks for.
    pub scopes: Scopes,
    /// Where the user goes afterwards.
    pub redirect_uri: String,
    /// Given back.
    pub state: String,
    /// Whether the challenge was the verifier itself, which protects less.
    pub plain: bool,
    /// The challenge, in the S256 form.
    challenge: String,
}

/// Why the user is not sent back to the app: nobody knows whether the address is the app's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
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
pub enum Refused {
    /// To be said on a page, never by a redirect.
    Page(Reason),
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
type Wrong = (&'static str, String);

/// A parameter that is there.
fn given(value: Option<&String>) -> Option<&str> {
    value.map(String::as_str).filter(|value| !value.is_empty())
}

/// Judges what an app asks.
pub fn check(
    tx: &mut Tx<'_>,
    rules: &Rules,
    request: &AuthorizeRequest,
) -> Result<Result<Asked, Refused>, Stop> {
    let Some(client_id) = given(request.client_id.as_ref()) else {
        return Ok(Err(Refused::Page(Reason::NoClient)));
    };
    let app = apps::find_by_client_id(tx, client_id)?.filter(|app| app.state != AppStatus::Deleted);
    Ok(app
        .ok_or(Refused::Page(Reason::UnknownClient))
        .and_then(|app| judge(rules, app, request)))
}

fn judge(rules: &Rules, app: App, request: &AuthorizeRequest) -> Result<Asked, Refused> {
    if app.state != AppStatus::Active {
        return Err(Refused::Page(Reason::SuspendedClient));
    }
    let uri = given(request.redirect_uri.as_ref()).ok_or(Refused::Page(Reason::NoRedirect))?;
    if !callback::fits_oauth2(&app, uri, rules.ports) {
        return Err(Refused::Page(Reason::UnknownRedirect));
    }
    let state =
        given(request.state.as_ref()).filter(|state| state.chars().nth(STATE_LENGTH).is_none());
    let wrong = |(error, description): Wrong| Refused::Redirect {
        to: error_url(rules, uri, state, error, &description),
        error,
        description,
    };
    check_type(request).map_err(wrong)?;
    let whole_state = check_state(state, request).map_err(wrong)?;
    let (plain, challenge) = check_challenge(request).map_err(wrong)?;
    let scopes = check_scopes(&app, request).map_err(wrong)?;
    Ok(Asked {
        app,
        scopes,
        redirect_uri: uri.to_owned(),
        state: whole_state.to_owned(),
        plain,
        challenge,
    })
}

fn missing(name: &str) -> Wrong {
    let description = format!("Missing required parameter [{name}].");
    ("invalid_request", description)
}

fn check_type(request: &AuthorizeRequest) -> Result<(), Wrong> {
    match given(request.response_type.as_ref()) {
        Some("code") => Ok(()),
        Some(_) => Err((
            "unsupported_response_type",
            "The only response type is [code].".to_owned(),
        )),
        None => Err(missing("response_type")),
    }
}

fn check_state<'r>(state: Option<&'r str>, request: &AuthorizeRequest) -> Result<&'r str, Wrong> {
    let too_long = || {
        let description = format!("The state must have at most {STATE_LENGTH} characters.");
        ("invalid_request", description)
    };
    match state {
        Some(state) => Ok(state),
        None if given(request.state.as_ref()).is_some() => Err(too_long()),
        None => Err(missing("state")),
    }
}

/// Whether the challenge was plain, and its S256 form.
fn check_challenge(request: &AuthorizeRequest) -> Result<(bool, String), Wrong> {
    let wrong = |description: &str| ("invalid_request", description.to_owned());
    let challenge = given(request.code_challenge.as_ref()).ok_or(missing("code_challenge"))?;
    let method = Method::parse(request.code_challenge_method.as_deref())
        .ok_or_else(|| wrong("The code challenge method must be [S256] or [plain]."))?;
    match method {
        _ if !is_well_formed(challenge) => Err(wrong(
            "The code challenge must have 43 to 128 characters of A-Z a-z 0-9 - . _ ~.",
        )),
        Method::Plain => Ok((true, Method::S256.challenge(challenge))),
        Method::S256 if challenge.len() == 43 => Ok((false, challenge.to_owned())),
        Method::S256 => Err(wrong(
            "An S256 code challenge has 43 characters: base64url without padding.",
        )),
    }
}

fn check_scopes(app: &App, request: &AuthorizeRequest) -> Result<Scopes, Wrong> {
    let wrong = |description: String| ("invalid_scope", description);
    let text = request.scope.as_deref().unwrap_or_default();
    let scopes =
        Scopes::parse(text).map_err(|name| wrong(format!("There is no scope [{name}].")))?;
    if scopes == Scopes::NONE {
        return Err(wrong(missing("scope").1));
    }
    if scopes.has(Scope::UsersEmail) && !app.request_email {
        let description = "The app's settings do not let it ask for [users.email].";
        return Err(wrong(description.to_owned()));
    }
    Ok(scopes)
}

fn answer_url(rules: &Rules, uri: &str, pairs: &[(&str, &str)]) -> String {
    let mut pairs = pairs.to_vec();
    pairs.extend(rules.issuer.as_deref().map(|issuer| ("iss", issuer)));
    callback::with_query(uri, &pairs)
}

fn error_url(
    rules: &Rules,
    uri: &str,
    state: Option<&str>,
    error: &str,
    description: &str,
) -> String {
    let mut pairs = vec![("error", error), ("error_description", description)];
    pairs.extend(state.map(|state| ("state", state)));
    answer_url(rules, uri, &pairs)
}

/// The user lets the app act for them within the scopes; answers where they go, with the code.
pub fn approve(tx: &mut Tx<'_>, rules: &Rules, asked: &Asked, by: &By) -> Result<String, Stop> {
    let user = users::active(tx, by.known()?)?.id;
    grants::record(tx, by, user, asked.app.id, None, asked.scopes)?;
    let text = tx.rng().token(64)?;
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
    if asked.plain {
        usage::record_credential_use(tx, asked.app.id, PLAIN, None, wall())?;
    }
    let pairs = [("state", asked.state.as_str()), ("code", &text)];
    Ok(answer_url(rules, &asked.redirect_uri, &pairs))
}

/// The user does not; answers where they go.
pub fn deny(tx: &mut Tx<'_>, rules: &Rules, asked: &Asked, by: &By) -> Result<String, Stop> {
    let detail = json!({"scopes": asked.scopes.to_string()});
    audit::append(tx, by, Kind::GRANT_DENY, Some(asked.app.id), &detail)?;
    let pairs = [("error", "access_denied"), ("state", &asked.state)];
    Ok(answer_url(rules, &asked.redirect_uri, &pairs))
}
