//! Sessions of browsers, and the tokens of the forms that they show.
//!
//! Sessions follow the machine's clock, as the cookies that carry them do.

use base::clock::wall_time;
use base::secret::{constant_time_eq, digest};
use base::{Error, Fault, Refusal, Rng, Secret, Time, UserId};
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;
use store::{Store, Tx, sessions};

use crate::audit::{self, AuditAction, AuditActor};
use crate::users;

pub use store::sessions::UserSession;

/// How long a session lives on after it was last seen, if nothing else is said: 30 days.
pub const TTL_MS: i64 = 30 * 24 * 3600 * 1000;
/// That a session was used is written down this often at most.
pub const TOUCH_EVERY_MS: i64 = 5 * 60 * 1000;

/// Characters of a session's text, 5.95 bits each: over 256 bits.
const SECRET_LENGTH: usize = 44;
/// Sessions of one user that are listed at most.
const MAX_LISTED: i64 = 200;
/// Characters of a browser's description that are kept.
const MAX_USER_AGENT_LENGTH: usize = 256;

/// Where a request comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientInfo {
    /// The client's address.
    pub address: String,
    /// What the browser calls itself.
    pub user_agent: String,
}

impl ClientInfo {
    fn sanitized_user_agent(&self) -> String {
        let plain = self.user_agent.chars().filter(|letter| !letter.is_control());
        plain.take(MAX_USER_AGENT_LENGTH).collect()
    }
}

/// Begins a session for a user who has just proved who it is. The session that the browser had
/// before, if it had one, ends: its text may have been put there by somebody else.
pub fn start(
    tx: &mut Tx<'_>,
    presented: Option<&[u8; 32]>,
    user: UserId,
    facts: &ClientInfo,
    ttl_ms: i64,
) -> Result<(Secret, UserSession), Error> {
    let now = wall_time();
    if let Some(presented) = presented
        && let Some(old) = sessions::find(tx, presented, now)?
    {
        sessions::revoke(tx, old.user_id, old.id, now)?;
    }
    let (text, session) = create(tx, user, facts, ttl_ms)?;
    let detail = json!({"session": session.id, "user_agent": session.user_agent});
    let by = AuditActor::user(user, &facts.address);
    audit::append(tx, &by, AuditAction::SIGN_IN_OK, None, &detail)?;
    Ok((text, session))
}

/// Makes a session; answers the text for the browser, of which only the digest is stored.
pub fn create(tx: &mut Tx<'_>, user: UserId, facts: &ClientInfo, ttl_ms: i64) -> Result<(Secret, UserSession), Error> {
    users::find_active(tx, user)?;
    let now = wall_time();
    let (text, form_key) = generate_secrets(tx.rng())?;
    let digest = text.digest();
    let new = sessions::NewSession {
        digest: &digest,
        user_id: user,
        form_key: &form_key,
        ttl_ms,
        address: &facts.address,
        user_agent: &facts.sanitized_user_agent(),
    };
    sessions::insert(tx, &new, now)?;
    let session = sessions::find(tx, &digest, now)?;
    let session = session.ok_or_else(|| Fault::new("a session that was just made is not there"))?;
    Ok((text, session))
}

fn generate_secrets(chance: &Rng) -> Result<(Secret, Secret), Fault> {
    let text = Secret::new(chance.random_token(SECRET_LENGTH)?);
    Ok((text, Secret::new(chance.random_token(SECRET_LENGTH)?)))
}

/// The live session with this SHA-256: neither ended nor expired, of a user who takes part.
pub fn find(tx: &mut Tx<'_>, digest: &[u8; 32]) -> Result<Option<UserSession>, Fault> {
    find_at(tx, digest, wall_time())
}

/// [`find`] at another moment.
pub fn find_at(tx: &mut Tx<'_>, digest: &[u8; 32], now: Time) -> Result<Option<UserSession>, Fault> {
    sessions::find(tx, digest, now)
}

/// The live session whose text a browser presents; that it was used is written down once in a
/// while.
pub async fn resume(store: &Store, text: &str, facts: &ClientInfo) -> Result<Option<UserSession>, Error> {
    resume_at(store, text, facts, wall_time()).await
}

/// [`open`] at another moment.
pub async fn resume_at(store: &Store, text: &str, facts: &ClientInfo, now: Time) -> Result<Option<UserSession>, Error> {
    if text.len() != SECRET_LENGTH {
        return Ok(None);
    }
    let digest = digest(text);
    let found = store.read(move |tx| Ok(find_at(tx, &digest, now)?)).await?;
    let Some(mut session) = found else {
        return Ok(None);
    };
    if now.ms() - session.last_seen_at.ms() >= TOUCH_EVERY_MS {
        let (id, facts) = (session.id, facts.clone());
        session.last_seen_at = now;
        session.address.clone_from(&facts.address);
        session.user_agent = facts.sanitized_user_agent();
        let touch = move |tx: &mut Tx<'_>| {
            Ok(sessions::touch(
                tx,
                id,
                &facts.address,
                &facts.sanitized_user_agent(),
                now,
            )?)
        };
        store.write(touch).await?;
    }
    Ok(Some(session))
}

/// Gives a session another text, when what it may do changes; the old text is dead with the commit.
pub fn renew(tx: &mut Tx<'_>, session: &UserSession) -> Result<(Secret, UserSession), Error> {
    let (text, form_key) = generate_secrets(tx.rng())?;
    if !sessions::rotate(tx, &session.digest, &text.digest(), &form_key)? {
        return Err(session_not_found(session.id).into());
    }
    let by = AuditActor::user(session.user_id, &session.address);
    let detail = json!({"session": session.id});
    audit::append(tx, &by, AuditAction::SESSION_RENEW, None, &detail)?;
    let renewed = UserSession {
        digest: text.digest(),
        form_key,
        ..session.clone()
    };
    Ok((text, renewed))
}

fn session_not_found(id: i64) -> Refusal {
    Refusal::NotFound(base::refusal::ResourceRef::new("session", "id", id))
}

/// Ends the session that asks for it.
pub fn sign_out(tx: &mut Tx<'_>, session: &UserSession, facts: &ClientInfo) -> Result<(), Error> {
    if sessions::revoke(tx, session.user_id, session.id, wall_time())? {
        let by = AuditActor::user(session.user_id, &facts.address);
        let detail = json!({"session": session.id});
        audit::append(tx, &by, AuditAction::SIGN_OUT, None, &detail)?;
    }
    Ok(())
}

/// The live sessions of a user, last used first.
pub fn list(tx: &mut Tx<'_>, user: UserId) -> Result<Vec<UserSession>, Fault> {
    sessions::list(tx, user, wall_time(), MAX_LISTED)
}

/// Ends one of a user's sessions.
pub fn revoke(tx: &mut Tx<'_>, by: &AuditActor, user: UserId, id: i64) -> Result<(), Error> {
    if !sessions::revoke(tx, user, id, wall_time())? {
        return Err(session_not_found(id).into());
    }
    let detail = json!({"user": user.to_string(), "session": id});
    Ok(audit::append(tx, by, AuditAction::SESSION_REVOKE, None, &detail)?)
}

/// Ends all sessions of a user but the one that is kept, if one is; how many.
pub fn revoke_all(tx: &mut Tx<'_>, by: &AuditActor, user: UserId, keep: Option<i64>) -> Result<u64, Error> {
    let ended = sessions::revoke_others(tx, user, keep, wall_time())?;
    if ended > 0 {
        let detail = json!({"user": user.to_string(), "sessions": ended, "kept": keep});
        audit::append(tx, by, AuditAction::SESSION_REVOKE, None, &detail)?;
    }
    Ok(ended)
}

/// The token of a form that a session shows: it holds for this form in this session only.
pub fn form_token(session: &UserSession, form: &str) -> Result<String, Fault> {
    compute_form_token(&session.form_key, &[form])
}

/// Whether a form came back with the token that it was shown with.
pub fn verify_form_token(session: &UserSession, form: &str, presented: &str) -> Result<bool, Fault> {
    let expected = form_token(session, form)?;
    Ok(constant_time_eq(expected.as_bytes(), presented.as_bytes()))
}

fn compute_form_token(key: &Secret, parts: &[&str]) -> Result<String, Fault> {
    let mac = Hmac::<Sha256>::new_from_slice(key.expose_secret().as_bytes());
    let mut mac = mac.map_err(Fault::context("the key of a form"))?;
    for part in parts {
        // A length before each part, so that none runs into the next.
        mac.update(&u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
        mac.update(part.as_bytes());
    }
    Ok(BASE64_URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes()))
}

/// The tokens of forms that are shown to people who are not signed in, bound to a random cookie.
/// Nothing is stored for them.
#[derive(Clone, Debug)]
pub struct VisitorFormTokens {
    key: Secret,
}

impl VisitorFormTokens {
    /// Takes the key from the store, making it on the first start.
    pub async fn open(store: &Store) -> Result<Self, Error> {
        let key = store.write(|tx| Ok(sessions::visitor_form_key(tx)?)).await?;
        Ok(Self { key })
    }

    /// A cookie for a browser that has none.
    pub fn generate_cookie(&self, chance: &Rng) -> Result<Secret, Fault> {
        chance.random_token(SECRET_LENGTH).map(Secret::new)
    }

    /// The token of a form for the browser with this cookie.
    pub fn form_token(&self, cookie: &Secret, form: &str) -> Result<String, Fault> {
        compute_form_token(&self.key, &[cookie.expose_secret(), form])
    }

    /// Whether a form came back with the token that it was shown with, from the same browser.
    pub fn verify_form_token(&self, cookie: &Secret, form: &str, presented: &str) -> Result<bool, Fault> {
        let expected = self.form_token(cookie, form)?;
        let whole = cookie.expose_secret().len() == SECRET_LENGTH;
        Ok(whole && constant_time_eq(expected.as_bytes(), presented.as_bytes()))
    }
}

/// What an entry about a user says, when there is nothing else.
pub(crate) fn user_detail(user: UserId) -> Value {
    json!({"user": user.to_string()})
}
