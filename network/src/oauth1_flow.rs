//! OAuth 1.0a in three steps: a request token, the user's answer, an access token
//! (contract §2.3). Signatures are verified before; pages are made after.

use base::refusal::AuthenticationProblem;
use base::secret::{constant_time_eq, digest};
use base::{AppId, Error, Fault, Refusal, Rng, Scopes, Secret, Time, UserId};
use serde_json::json;
use store::apps::{App, AppStatus};
use store::request_tokens::{self, RequestToken, RequestTokenState as Progress};
use store::{Tx, apps};

use crate::apps::Permission;
use crate::audit::{self, AuditAction, AuditActor};
use crate::{callback_urls, grants, tokens, users};

pub use crate::callback_urls::LoopbackPorts;
pub use crate::grants::GrantOutcome;

/// A request token and its verifier live for a quarter of an hour (contract §2.3).
pub const REQUEST_TTL_MS: i64 = 15 * 60 * 1000;

/// How many verifiers or PINs may be tried on one request token.
pub const MAX_VERIFIER_TRIES: i64 = 5;

/// The code of refusals that have none: spoken as 401 with the bare sentence as plain text.
pub const PLAIN_TEXT: u16 = 0;

/// The callback of apps that no browser can come back to.
const OUT_OF_BAND: &str = "oob";

/// A request token and its secret, shown once.
#[derive(Clone, Debug)]
pub struct RequestTokenPair {
    /// The token.
    pub token: Secret,
    /// Its secret.
    pub secret: Secret,
}

/// A request token that waits for the user's answer.
#[derive(Clone, Debug)]
pub struct PendingAuthorization {
    /// The app that asks.
    pub app: App,
    /// Where the user goes afterwards; none: a PIN is shown.
    pub callback: Option<String>,
    /// The level asked for.
    pub permission: Permission,
    /// Until when it waits.
    pub expires_at: Time,
}

/// Why a request token cannot be answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestTokenProblem {
    /// It was never given out, or long ago.
    Unknown,
    /// It was approved before.
    Used,
    /// It was denied before.
    Denied,
    /// Its time is over.
    Expired,
    /// The app is suspended or deleted.
    App,
}

/// What follows an approval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OAuth1Approval {
    /// The user goes back to the app, with the verifier.
    Redirect(String),
    /// The user types these seven digits into the app.
    Pin(String),
}

/// A user's access token.
#[derive(Clone, Debug)]
pub struct OAuth1AccessToken {
    /// The token.
    pub token: Secret,
    /// Its secret.
    pub secret: Secret,
    /// The user it acts for.
    pub user_id: UserId,
    /// The user's handle.
    pub screen_name: String,
}

/// What a request signed with a request token is verified with.
#[derive(Clone, Debug)]
pub struct RequestTokenSecret {
    /// The app it was given to.
    pub app_id: AppId,
    /// Its secret.
    pub secret: Secret,
}

fn legacy_refusal(code: u16, message: &'static str) -> Refusal {
    let message = message.into();
    Refusal::Legacy { code, message }
}

/// The verifier is not the one that was given out.
fn wrong_verifier() -> Refusal {
    legacy_refusal(PLAIN_TEXT, "Reverse auth credentials are invalid")
}

fn require_active_app(app: &App) -> Result<(), Refusal> {
    if app.state == AppStatus::Active {
        Ok(())
    } else {
        Err(Refusal::Unauthenticated(AuthenticationProblem::App))
    }
}

/// Gives an app a request token. An empty callback is a missing one. The level is the app's, or a
/// lower one if it asks for that.
pub fn issue_request_token(
    tx: &mut Tx<'_>,
    app: &App,
    callback: &str,
    level: Option<Permission>,
    ports: LoopbackPorts,
) -> Result<RequestTokenPair, Error> {
    require_active_app(app)?;
    validate_callback(app, callback, ports)?;
    let most: Permission = app.permission.parse()?;
    let chance = tx.rng().clone();
    let pair = RequestTokenPair {
        token: Secret::new(chance.random_token(32)?),
        secret: Secret::new(chance.random_token(32)?),
    };
    let held = RequestToken {
        id: tx.next_id::<()>().get(),
        app_id: app.id,
        permission: level.map_or(most, |level| level.min(most)).name().to_owned(),
        callback: callback.to_owned(),
        secret: pair.secret.clone(),
        state: Progress::Waiting,
        user_id: None,
        verifier_digest: None,
        tries: 0,
        created_at: tx.now(),
        expires_at: tx.now().plus_ms(REQUEST_TTL_MS),
    };
    request_tokens::insert(tx, &held, &pair.token.digest())?;
    Ok(pair)
}

fn validate_callback(app: &App, url: &str, ports: LoopbackPorts) -> Result<(), Refusal> {
    match url {
        "" => Err(legacy_refusal(38, "oauth_callback parameter is missing.")),
        OUT_OF_BAND => Ok(()),
        _ if !callback_urls::has_callback_urls(app) => Err(legacy_refusal(
            417,
            "Desktop applications only support the oauth_callback value 'oob'.",
        )),
        _ if callback_urls::matches_oauth1(app, url, ports) => Ok(()),
        _ => Err(legacy_refusal(
            415,
            "Callback URL not approved for this client application. Approved callback URLs can \
             be adjusted in your application settings",
        )),
    }
}

/// What a request signed with this request token is verified with, however far the token has
/// come: that it is used up or expired is for the exchange to say.
pub fn find_request_token_secret(tx: &mut Tx<'_>, token: &str) -> Result<Option<RequestTokenSecret>, Fault> {
    let held = request_tokens::find(tx, &digest(token))?;
    Ok(held.map(|held| RequestTokenSecret {
        app_id: held.app_id,
        secret: held.secret,
    }))
}

/// What the user is asked, or why there is nothing to ask.
pub fn find_pending_authorization(
    tx: &mut Tx<'_>,
    token: &str,
) -> Result<Result<PendingAuthorization, RequestTokenProblem>, Error> {
    let Some(held) = request_tokens::find(tx, &digest(token))? else {
        return Ok(Err(RequestTokenProblem::Unknown));
    };
    match held.state {
        Progress::Approved | Progress::Exchanged => return Ok(Err(RequestTokenProblem::Used)),
        Progress::Denied => return Ok(Err(RequestTokenProblem::Denied)),
        Progress::Waiting if held.expires_at <= tx.now() => {
            return Ok(Err(RequestTokenProblem::Expired));
        }
        Progress::Waiting => {}
    }
    let app = apps::find_by_id(tx, held.app_id)?;
    let Some(app) = app.filter(|app| app.state == AppStatus::Active) else {
        return Ok(Err(RequestTokenProblem::App));
    };
    Ok(Ok(PendingAuthorization {
        app,
        callback: Some(held.callback).filter(|callback| callback != OUT_OF_BAND),
        permission: held.permission.parse()?,
        expires_at: held.expires_at,
    }))
}

/// The user lets the app act for them.
pub fn approve(
    tx: &mut Tx<'_>,
    token: &str,
    by: &AuditActor,
) -> Result<Result<OAuth1Approval, RequestTokenProblem>, Error> {
    let user = users::find_active(tx, by.require_user()?)?.id;
    let waiting = match find_pending_authorization(tx, token)? {
        Ok(waiting) => waiting,
        Err(gone) => return Ok(Err(gone)),
    };
    let verifier = match waiting.callback {
        Some(_) => tx.rng().random_token(32)?,
        None => generate_pin(tx.rng())?,
    };
    let proof = verifier_digest(token, &verifier);
    if !request_tokens::approve(tx, &digest(token), user, &proof)? {
        return Ok(Err(RequestTokenProblem::Used));
    }
    let level = Some(waiting.permission);
    grants::record_approval(tx, by, user, waiting.app.id, level, Scopes::NONE)?;
    Ok(Ok(match waiting.callback {
        None => OAuth1Approval::Pin(verifier),
        Some(url) => {
            let more = [("oauth_token", token), ("oauth_verifier", &verifier)];
            OAuth1Approval::Redirect(callback_urls::append_query(&url, &more))
        }
    }))
}

/// The user does not; answers where they go, or none where there is no way back.
pub fn deny(
    tx: &mut Tx<'_>,
    token: &str,
    by: &AuditActor,
) -> Result<Result<Option<String>, RequestTokenProblem>, Error> {
    let waiting = match find_pending_authorization(tx, token)? {
        Ok(waiting) => waiting,
        Err(gone) => return Ok(Err(gone)),
    };
    if !request_tokens::deny(tx, &digest(token))? {
        return Ok(Err(RequestTokenProblem::Used));
    }
    let detail = json!({"permission": waiting.permission.name()});
    audit::append(tx, by, AuditAction::GRANT_DENY, Some(waiting.app.id), &detail)?;
    let back = |url: String| callback_urls::append_query(&url, &[("denied", token)]);
    Ok(Ok(waiting.callback.map(back)))
}

/// Whether the user need not be asked again: the app may sign users in, and they have granted it
/// this level or a wider one.
pub fn is_already_approved(tx: &mut Tx<'_>, app: &App, user: UserId, permission: Permission) -> Result<bool, Fault> {
    let granted = grants::granted_permission(tx, user, app.id)?;
    Ok(app.sign_in && app.state == AppStatus::Active && granted >= Some(permission))
}

/// Exchanges an approved request token for the user's access token: the live one of the app, the
/// user and the level, or a new one. The caller has verified the signature, with [`secret_of`].
pub fn exchange_request_token(
    tx: &mut Tx<'_>,
    app: &App,
    token: &str,
    verifier: &str,
) -> Result<GrantOutcome<OAuth1AccessToken>, Error> {
    require_active_app(app)?;
    let over = Refusal::Unauthenticated(AuthenticationProblem::Token);
    if token.is_empty() {
        return Err(legacy_refusal(PLAIN_TEXT, "Request token missing").into());
    }
    let key = digest(token);
    let held = request_tokens::find(tx, &key)?.filter(|held| held.app_id == app.id && held.expires_at > tx.now());
    let (held, user_id) = match held {
        Some(held) if held.state == Progress::Waiting => return Err(wrong_verifier().into()),
        Some(held) if held.state == Progress::Approved => match held.user_id {
            Some(user_id) => (held, user_id),
            None => return Err(over.into()),
        },
        _ => return Err(over.into()),
    };
    if !store::grants::lock_existing(tx, user_id, app.id)?
        || !request_tokens::count_attempt(tx, &key, MAX_VERIFIER_TRIES)?
    {
        return Err(over.into());
    }
    let proof = held.verifier_digest.unwrap_or_default();
    if !constant_time_eq(&proof, &verifier_digest(token, verifier)) {
        return Ok(GrantOutcome::Refused(wrong_verifier()));
    }
    let user = store::users::find_by_id(tx, user_id)?;
    let user = user.filter(|user| user.state == store::users::UserState::Active);
    let user = user.ok_or_else(|| over.clone())?;
    if !request_tokens::mark_exchanged(tx, &key)? {
        return Err(over.into());
    }
    let (token, secret) = tokens::mint_oauth1(tx, app.id, user_id, held.permission.parse()?)?;
    Ok(GrantOutcome::Done(OAuth1AccessToken {
        token,
        secret,
        user_id,
        screen_name: user.username,
    }))
}

/// A verifier is stored together with its token, so that a PIN's digest tells nothing.
fn verifier_digest(token: &str, verifier: &str) -> [u8; 32] {
    digest(&format!("{token} {verifier}"))
}

/// Seven digits, of which the first is no zero: people and programs drop those.
fn generate_pin(chance: &Rng) -> Result<String, Fault> {
    const PINS: u32 = 9_000_000;
    // What lies above the largest multiple would favour some numbers.
    const UNBIASED_BOUND: u32 = u32::MAX / PINS * PINS;
    loop {
        let number = u32::from_be_bytes(chance.random_bytes()?);
        if number < UNBIASED_BOUND {
            return Ok((number % PINS + 1_000_000).to_string());
        }
    }
}
