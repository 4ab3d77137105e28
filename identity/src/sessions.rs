//! Browser sessions, and tokens that protect forms.
//!
//! Sessions follow the machine's clock, like their cookies.

use base::clock::wall_time;
use base::secret::{constant_time_eq, digest, hmac_sha256};
use base::{Error, Fault, Refusal, Rng, Secret, Time, UserId};
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use futures_util::future::BoxFuture;
use serde_json::json;
use store::users::User;
use store::{Store, Tx, sessions};

use network::audit::{self, AuditAction, AuditActor};
use network::users;

pub use store::sessions::UserSession;

/// The default lifetime after the last use: 30 days.
pub const TTL_MS: i64 = 30 * 24 * 3600 * 1000;
/// The minimum interval between updates of the last use.
pub const TOUCH_EVERY_MS: i64 = 5 * 60 * 1000;

/// Characters of a session's secret: 5.95 bits each, over 256 bits in total.
const SECRET_LENGTH: usize = 44;
/// Listed sessions per user.
const MAX_LISTED: i64 = 200;
/// Stored characters of a user agent.
const MAX_USER_AGENT_LENGTH: usize = 256;

/// What the audit log says of a sign-in with a passkey.
pub(crate) const PASSKEY_METHOD: &str = "passkey";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SignInMethod {
    /// And a code, if the account has two-factor sign-in.
    Password,
    Passkey,
}

/// The origin of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientInfo {
    pub address: String,
    pub user_agent: String,
}

impl ClientInfo {
    fn sanitized_user_agent(&self) -> String {
        let printable = self.user_agent.chars().filter(|letter| !letter.is_control());
        printable.take(MAX_USER_AGENT_LENGTH).collect()
    }
}

/// Starts a session after authentication. The browser's previous session ends, since its cookie may have been planted
/// by someone else.
pub fn start(
    tx: &mut Tx<'_>,
    presented: Option<&[u8; 32]>,
    user: UserId,
    client: &ClientInfo,
    ttl_ms: i64,
) -> Result<(Secret, UserSession), Error> {
    start_by_method(tx, presented, user, client, ttl_ms, SignInMethod::Password)
}

/// As [`start`].
pub(crate) fn start_by_method(
    tx: &mut Tx<'_>,
    presented: Option<&[u8; 32]>,
    user: UserId,
    client: &ClientInfo,
    ttl_ms: i64,
    method: SignInMethod,
) -> Result<(Secret, UserSession), Error> {
    let now = wall_time();
    if let Some(presented) = presented
        && let Some(old) = sessions::find(tx, presented, now)?
    {
        sessions::revoke(tx, old.user_id, old.id, now)?;
    }
    let (text, session) = create(tx, user, client, ttl_ms)?;
    let detail = match method {
        SignInMethod::Password => json!({"session": session.id, "user_agent": session.user_agent}),
        SignInMethod::Passkey => {
            json!({"session": session.id, "user_agent": session.user_agent, "method": PASSKEY_METHOD})
        }
    };
    let actor = AuditActor::user(user, &client.address);
    audit::append(tx, &actor, AuditAction::SIGN_IN_OK, None, &detail)?;
    Ok((text, session))
}

/// Creates a session; returns the secret for the cookie, of which only the digest is stored.
pub fn create(tx: &mut Tx<'_>, user: UserId, client: &ClientInfo, ttl_ms: i64) -> Result<(Secret, UserSession), Error> {
    users::find_active(tx, user)?;
    let now = wall_time();
    let (text, form_key) = generate_secrets(tx.rng())?;
    let digest = text.digest();
    let new = sessions::NewSession {
        digest: &digest,
        user_id: user,
        form_key: &form_key,
        ttl_ms,
        address: &client.address,
        user_agent: &client.sanitized_user_agent(),
    };
    sessions::insert(tx, &new, now)?;
    let session = sessions::find(tx, &digest, now)?;
    let session = session.ok_or_else(|| Fault::new("a session that was just inserted is missing"))?;
    Ok((text, session))
}

fn generate_secrets(rng: &Rng) -> Result<(Secret, Secret), Fault> {
    let text = Secret::new(rng.random_token(SECRET_LENGTH)?);
    Ok((text, Secret::new(rng.random_token(SECRET_LENGTH)?)))
}

/// The active session with this secret; updates the last use once in a while.
pub fn resume<'a>(
    store: &'a Store,
    text: &'a str,
    client: &'a ClientInfo,
    now: Time,
) -> BoxFuture<'a, Result<Option<UserSession>, Error>> {
    Box::pin(async move {
        if text.len() != SECRET_LENGTH {
            return Ok(None);
        }
        let digest = digest(text);
        let found = store.read(move |tx| Ok(sessions::find(tx, &digest, now)?)).await?;
        let Some(mut session) = found else {
            return Ok(None);
        };
        if now.ms() - session.last_seen_at.ms() >= TOUCH_EVERY_MS {
            let (id, client) = (session.id, client.clone());
            session.last_seen_at = now;
            session.address.clone_from(&client.address);
            session.user_agent = client.sanitized_user_agent();
            let touch = move |tx: &mut Tx<'_>| {
                Ok(sessions::touch(tx, id, &client.address, &client.sanitized_user_agent(), now)?)
            };
            store.write(touch).await?;
        }
        Ok(Some(session))
    })
}

/// Replaces a session's secret when its privileges change; the old one is invalid from the commit on.
pub fn renew(tx: &mut Tx<'_>, session: &UserSession) -> Result<(Secret, UserSession), Error> {
    let (text, form_key) = generate_secrets(tx.rng())?;
    if !sessions::rotate(tx, &session.digest, &text.digest(), &form_key)? {
        return Err(session_not_found(session.id).into());
    }
    let actor = AuditActor::user(session.user_id, &session.address);
    let detail = json!({"session": session.id});
    audit::append(tx, &actor, AuditAction::SESSION_RENEW, None, &detail)?;
    let renewed = UserSession { digest: text.digest(), form_key, ..session.clone() };
    Ok((text, renewed))
}

/// The user of a session. Refused if it was revoked or has expired, or if the user is not active.
pub fn find_user(tx: &mut Tx<'_>, digest: &[u8; 32]) -> Result<User, Error> {
    let session = sessions::find(tx, digest, wall_time())?.ok_or(Refusal::RouteNotFound)?;
    users::find_active(tx, session.user_id)
}

fn session_not_found(id: i64) -> Refusal {
    Refusal::NotFound(base::refusal::ResourceRef::new("session", "id", id))
}

/// Revokes the session itself.
pub fn sign_out(tx: &mut Tx<'_>, session: &UserSession, client: &ClientInfo) -> Result<(), Error> {
    if sessions::revoke(tx, session.user_id, session.id, wall_time())? {
        let actor = AuditActor::user(session.user_id, &client.address);
        let detail = json!({"session": session.id});
        audit::append(tx, &actor, AuditAction::SIGN_OUT, None, &detail)?;
    }
    Ok(())
}

/// Last used first.
pub fn list(tx: &mut Tx<'_>, user: UserId) -> Result<Vec<UserSession>, Fault> {
    sessions::list(tx, user, wall_time(), MAX_LISTED)
}

pub fn revoke(tx: &mut Tx<'_>, actor: &AuditActor, user: UserId, id: i64) -> Result<(), Error> {
    if !sessions::revoke(tx, user, id, wall_time())? {
        return Err(session_not_found(id).into());
    }
    let detail = json!({"user": user.to_string(), "session": id});
    Ok(audit::append(tx, actor, AuditAction::SESSION_REVOKE, None, &detail)?)
}

/// Revokes all sessions of a user except `keep`; returns how many.
pub fn revoke_all(tx: &mut Tx<'_>, actor: &AuditActor, user: UserId, keep: Option<i64>) -> Result<u64, Error> {
    let ended = sessions::revoke_others(tx, user, keep, wall_time())?;
    if ended > 0 {
        let detail = json!({"user": user.to_string(), "sessions": ended, "kept": keep});
        audit::append(tx, actor, AuditAction::SESSION_REVOKE, None, &detail)?;
    }
    Ok(ended)
}

/// Valid for this form in this session only.
pub fn form_token(session: &UserSession, form: &str) -> String {
    compute_form_token(&session.form_key, &[form])
}

pub fn verify_form_token(session: &UserSession, form: &str, presented: &str) -> bool {
    constant_time_eq(form_token(session, form).as_bytes(), presented.as_bytes())
}

fn compute_form_token(key: &Secret, parts: &[&str]) -> String {
    let mut message = Vec::new();
    for part in parts {
        // Length prefixes make the concatenation unambiguous.
        message.extend(u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
        message.extend(part.as_bytes());
    }
    BASE64_URL_SAFE_NO_PAD.encode(hmac_sha256(key.expose_secret().as_bytes(), &[&message]))
}

/// Form tokens for visitors who are not signed in, bound to a random cookie. Nothing is stored for them.
#[derive(Clone, Debug)]
pub struct VisitorFormTokens {
    key: Secret,
}

impl VisitorFormTokens {
    /// Loads the key, which is created on the first start.
    pub async fn open(store: &Store) -> Result<Self, Error> {
        let key = store.write(|tx| Ok(sessions::visitor_form_key(tx)?)).await?;
        Ok(Self { key })
    }

    /// A new cookie.
    pub fn generate_cookie(&self, rng: &Rng) -> Result<Secret, Fault> {
        rng.random_token(SECRET_LENGTH).map(Secret::new)
    }

    pub fn form_token(&self, cookie: &Secret, form: &str) -> String {
        compute_form_token(&self.key, &[cookie.expose_secret(), form])
    }

    pub fn verify_form_token(&self, cookie: &Secret, form: &str, presented: &str) -> bool {
        let expected = self.form_token(cookie, form);
        let is_complete = cookie.expose_secret().len() == SECRET_LENGTH;
        is_complete && constant_time_eq(expected.as_bytes(), presented.as_bytes())
    }
}
