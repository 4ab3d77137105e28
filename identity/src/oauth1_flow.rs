//! The three steps of OAuth 1.0a: request token, authorization by the user, access token (contract
//! core §2.3). Signatures are verified by the caller.

use base::refusal::AuthenticationProblem;
use base::secret::{constant_time_eq, digest};
use base::{AppId, Error, Fault, Refusal, Rng, Scopes, Secret, Time, UserId};
use serde_json::json;
use store::apps::{App, AppStatus};
use store::request_tokens::{self, RequestToken, RequestTokenState};
use store::{Tx, apps};

use crate::grants::Approval;
use crate::{callback_urls, grants, tokens};
use network::audit::{self, AuditAction, AuditActor};
use network::permissions::Permission;
use network::users;

pub use crate::callback_urls::LoopbackPorts;
pub use crate::grants::GrantOutcome;

/// Lifetime of a request token and its verifier (contract core §2.3).
pub const REQUEST_TTL_MS: i64 = 15 * 60 * 1000;

/// Attempts to present a verifier or PIN per request token.
pub const MAX_VERIFIER_TRIES: i64 = 5;

/// The code of refusals without one: rendered as 401 with the message as plain text.
pub const PLAIN_TEXT: u16 = 0;

/// The callback of apps without a browser.
const OUT_OF_BAND: &str = "oob";

/// Shown once.
#[derive(Clone, Debug)]
pub struct RequestTokenPair {
    pub token: Secret,
    pub secret: Secret,
}

/// A request token that waits for the user's authorization.
#[derive(Clone, Debug)]
pub struct PendingAuthorization {
    pub app: App,
    /// None if a PIN is shown.
    pub callback: Option<String>,
    pub permission: Permission,
    pub expires_at: Time,
}

/// Why a request token cannot be authorized.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestTokenProblem {
    /// It does not exist, or was pruned.
    Unknown,
    Used,
    Denied,
    Expired,
    /// The app is suspended or deleted.
    App,
    /// The callback is not registered any more.
    Callback,
}

/// What a person agreed to.
#[derive(Clone, Copy, Debug)]
pub struct ShownConsent {
    /// The level that the page named, or that needed no page.
    pub permission: Permission,
    /// Whether the page said that the app reads the email address; none if no page was shown. It counts only if the app
    /// may still ask for the address.
    pub email: Option<bool>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OAuth1Approval {
    /// The callback URL with the verifier.
    Redirect(String),
    /// Seven digits that the user types into the app.
    Pin(String),
}

#[derive(Clone, Debug)]
pub struct OAuth1AccessToken {
    pub token: Secret,
    pub secret: Secret,
    pub user_id: UserId,
    /// The username.
    pub screen_name: String,
}

/// For the verification of a request signed with a request token.
#[derive(Clone, Debug)]
pub struct RequestTokenSecret {
    pub app_id: AppId,
    pub secret: Secret,
}

fn legacy_refusal(code: u16, message: &'static str) -> Refusal {
    let message = message.into();
    Refusal::Legacy { code, message }
}

fn wrong_verifier() -> Refusal {
    legacy_refusal(PLAIN_TEXT, "Reverse auth credentials are invalid")
}

fn require_active_app(app: &App) -> Result<(), Refusal> {
    if app.state == AppStatus::Active { Ok(()) } else { Err(Refusal::Unauthenticated(AuthenticationProblem::App)) }
}

/// Refuses an empty callback. The level is the app's, or a lower one if requested.
pub fn issue_request_token(
    tx: &mut Tx<'_>,
    app: &App,
    callback: &str,
    level: Option<Permission>,
    ports: LoopbackPorts,
) -> Result<RequestTokenPair, Error> {
    require_active_app(app)?;
    validate_callback(app, callback, ports)?;
    let rng = tx.rng().clone();
    let pair =
        RequestTokenPair { token: Secret::new(rng.random_token(32)?), secret: Secret::new(rng.random_token(32)?) };
    let request_token = RequestToken {
        id: tx.next_id::<()>().get(),
        app_id: app.id,
        permission: level.map_or(app.permission, |level| level.min(app.permission)),
        callback: callback.to_owned(),
        secret: pair.secret.clone(),
        state: RequestTokenState::Waiting,
        user_id: None,
        verifier_digest: None,
        tries: 0,
        created_at: tx.now(),
        expires_at: tx.now().plus_ms(REQUEST_TTL_MS),
    };
    request_tokens::insert(tx, &request_token, &pair.token.digest())?;
    Ok(pair)
}

fn validate_callback(app: &App, url: &str, ports: LoopbackPorts) -> Result<(), Refusal> {
    match url {
        "" => Err(legacy_refusal(38, "oauth_callback parameter is missing.")),
        OUT_OF_BAND => Ok(()),
        _ if !callback_urls::has_callback_urls(app) => {
            Err(legacy_refusal(417, "Desktop applications only support the oauth_callback value 'oob'."))
        }
        _ if callback_urls::matches_oauth1(app, url, ports) => Ok(()),
        _ => Err(legacy_refusal(
            415,
            "Callback URL not approved for this client application. Approved callback URLs can \
             be adjusted in your application settings",
        )),
    }
}

/// The secret of a request token in any state; [`exchange_request_token`] checks whether it is still valid.
pub fn find_request_token_secret(tx: &mut Tx<'_>, token: &str) -> Result<Option<RequestTokenSecret>, Fault> {
    let request_token = request_tokens::find(tx, &digest(token))?;
    Ok(request_token
        .map(|request_token| RequestTokenSecret { app_id: request_token.app_id, secret: request_token.secret }))
}

fn may_approve_again(approved: &RequestToken, user: Option<UserId>, now: Time) -> bool {
    approved.user_id == user && approved.tries < MAX_VERIFIER_TRIES && approved.expires_at > now
}

/// What to ask the user, or why the token cannot be authorized: the app may have lost its callback or a part of its
/// permission since. Until it is exchanged, the user who approved it may do so again: whoever presses a button twice is
/// shown the second answer only.
pub fn find_pending_authorization(
    tx: &mut Tx<'_>,
    token: &str,
    user: Option<UserId>,
    ports: LoopbackPorts,
) -> Result<Result<PendingAuthorization, RequestTokenProblem>, Error> {
    let Some(request_token) = request_tokens::find(tx, &digest(token))? else {
        return Ok(Err(RequestTokenProblem::Unknown));
    };
    match request_token.state {
        RequestTokenState::Exchanged => return Ok(Err(RequestTokenProblem::Used)),
        RequestTokenState::Approved if !may_approve_again(&request_token, user, tx.now()) => {
            return Ok(Err(RequestTokenProblem::Used));
        }
        RequestTokenState::Denied => return Ok(Err(RequestTokenProblem::Denied)),
        RequestTokenState::Waiting if request_token.expires_at <= tx.now() => {
            return Ok(Err(RequestTokenProblem::Expired));
        }
        RequestTokenState::Waiting | RequestTokenState::Approved => {}
    }
    let app = apps::find_by_id(tx, request_token.app_id)?;
    let Some(app) = app.filter(|app| app.state == AppStatus::Active) else {
        return Ok(Err(RequestTokenProblem::App));
    };
    if validate_callback(&app, &request_token.callback, ports).is_err() {
        return Ok(Err(RequestTokenProblem::Callback));
    }
    Ok(Ok(PendingAuthorization {
        permission: request_token.permission.min(app.permission),
        app,
        callback: Some(request_token.callback).filter(|callback| callback != OUT_OF_BAND),
        expires_at: request_token.expires_at,
    }))
}

/// A new verifier replaces that of an earlier approval.
pub fn approve(
    tx: &mut Tx<'_>,
    token: &str,
    shown: ShownConsent,
    actor: &AuditActor,
    ports: LoopbackPorts,
) -> Result<Result<OAuth1Approval, RequestTokenProblem>, Error> {
    let user = users::find_active(tx, actor.require_user()?)?.id;
    let pending = match find_pending_authorization(tx, token, Some(user), ports)? {
        Ok(pending) => pending,
        Err(problem) => return Ok(Err(problem)),
    };
    let verifier = match pending.callback {
        Some(_) => tx.rng().random_token(32)?,
        None => generate_pin(tx.rng())?,
    };
    let permission = pending.permission.min(shown.permission);
    let digest_of_verifier = verifier_digest(token, &verifier);
    if !request_tokens::approve(tx, &digest(token), user, permission, &digest_of_verifier)? {
        return Ok(Err(RequestTokenProblem::Used));
    }
    let email = shown.email.map(|shown| shown && pending.app.request_email);
    let approval = Approval { level: Some(permission), scopes: Scopes::NONE, email };
    grants::record_approval(tx, actor, user, pending.app.id, approval)?;
    Ok(Ok(match pending.callback {
        None => OAuth1Approval::Pin(verifier),
        Some(url) => {
            let params = [("oauth_token", token), ("oauth_verifier", &verifier)];
            OAuth1Approval::Redirect(callback_urls::append_query(&url, &params))
        }
    }))
}

/// Returns the URL to redirect to; none without a callback.
pub fn deny(
    tx: &mut Tx<'_>,
    token: &str,
    actor: &AuditActor,
    ports: LoopbackPorts,
) -> Result<Result<Option<String>, RequestTokenProblem>, Error> {
    let pending = match find_pending_authorization(tx, token, None, ports)? {
        Ok(pending) => pending,
        Err(problem) => return Ok(Err(problem)),
    };
    if !request_tokens::deny(tx, &digest(token))? {
        return Ok(Err(RequestTokenProblem::Used));
    }
    let detail = json!({"permission": pending.permission.name()});
    audit::append(tx, actor, AuditAction::GRANT_DENY, Some(pending.app.id), &detail)?;
    let redirect_url = |url: String| callback_urls::append_query(&url, &[("denied", token)]);
    Ok(Ok(pending.callback.map(redirect_url)))
}

/// Whether to skip the user's confirmation: the app may sign users in, and the user has granted it this level or a
/// wider one, and the email address if the app asks for it.
pub fn is_already_approved(tx: &mut Tx<'_>, app: &App, user: UserId, permission: Permission) -> Result<bool, Fault> {
    let granted = grants::granted_permission(tx, user, app.id)?;
    let is_granted = app.sign_in && app.state == AppStatus::Active && granted >= Some(permission);
    Ok(is_granted && (!app.request_email || grants::may_read_email(tx, app, user)?))
}

/// Exchanges an approved request token for an access token: the active one of app, user and level, or a new one. The level
/// is the approved one, or the app's if it is lower now. The caller has verified the signature, with [`find_request_token_secret`].
pub fn exchange_request_token(
    tx: &mut Tx<'_>,
    app: &App,
    token: &str,
    verifier: &str,
) -> Result<GrantOutcome<OAuth1AccessToken>, Error> {
    require_active_app(app)?;
    let invalid_token = Refusal::Unauthenticated(AuthenticationProblem::Token);
    if token.is_empty() {
        return Err(legacy_refusal(PLAIN_TEXT, "Request token missing").into());
    }
    let key = digest(token);
    let request_token = request_tokens::find(tx, &key)?
        .filter(|request_token| request_token.app_id == app.id && request_token.expires_at > tx.now());
    let (request_token, user_id) = match request_token {
        Some(request_token) if request_token.state == RequestTokenState::Waiting => return Err(wrong_verifier().into()),
        Some(request_token) if request_token.state == RequestTokenState::Approved => match request_token.user_id {
            Some(user_id) => (request_token, user_id),
            None => return Err(invalid_token.into()),
        },
        _ => return Err(invalid_token.into()),
    };
    if !store::grants::lock_existing(tx, user_id, app.id)?
        || !request_tokens::count_attempt(tx, &key, MAX_VERIFIER_TRIES)?
    {
        return Err(invalid_token.into());
    }
    let stored_digest = request_token.verifier_digest.unwrap_or_default();
    if !constant_time_eq(&stored_digest, &verifier_digest(token, verifier)) {
        return Ok(GrantOutcome::Refused(wrong_verifier()));
    }
    let user = store::users::find_by_id(tx, user_id)?;
    let user = user.filter(|user| user.state == store::users::UserState::Active);
    let user = user.ok_or_else(|| invalid_token.clone())?;
    if !request_tokens::mark_exchanged(tx, &key)? {
        return Err(invalid_token.into());
    }
    let permission = request_token.permission.min(app.permission);
    let (token, secret) = tokens::mint_oauth1(tx, app.id, user_id, permission)?;
    Ok(GrantOutcome::Done(OAuth1AccessToken { token, secret, user_id, screen_name: user.username }))
}

/// The verifier is hashed together with its token, so that a PIN cannot be found by its digest.
fn verifier_digest(token: &str, verifier: &str) -> [u8; 32] {
    digest(&format!("{token} {verifier}"))
}

/// Seven digits without a leading zero, which would easily get lost.
fn generate_pin(rng: &Rng) -> Result<String, Fault> {
    const PINS: u32 = 9_000_000;
    // Larger numbers would make some PINs more likely.
    const UNBIASED_BOUND: u32 = u32::MAX / PINS * PINS;
    loop {
        let number = u32::from_be_bytes(rng.random_bytes()?);
        if number < UNBIASED_BOUND {
            return Ok((number % PINS + 1_000_000).to_string());
        }
    }
}
