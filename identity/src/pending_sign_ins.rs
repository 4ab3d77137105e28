//! Sign-ins that wait for the second factor: the password was right, and no session exists yet. The browser has the
//! secret in a cookie; only its SHA-256 is stored.

use base::secret::digest;
use base::{Error, Fault, Secret, UserId};
use futures_util::future::BoxFuture;
use store::emails::EmailLink;
use store::users::User;
use store::{Tx, emails, two_factor as stored_keys};

use crate::email_links::create_link;
use crate::sessions::{self, ClientInfo, UserSession};
use crate::sign_in::{SignInLimits, SignInService, refund_rendered};
use crate::two_factor::{self, CodeOutcome};
use crate::{account_deletion, passkeys};
use network::audit::AuditActor;
use network::emails::EmailSite;
use network::users;

/// How long a browser may take to enter a code.
pub const TTL_MS: i64 = 10 * 60 * 1000;

const SECOND_FACTOR: &str = "second_factor";
/// Of a deleted account, which its owner restores by signing in.
const RESTORING_SECOND_FACTOR: &str = "restoring_second_factor";

#[derive(Clone, Debug)]
pub struct SecondFactorAttempt {
    /// The secret of the sign-in, from the browser's cookie.
    pub pending: Secret,
    /// A code of the authenticator app, or a recovery code.
    pub code: Secret,
    pub client_info: ClientInfo,
    /// SHA-256 of the browser's current session, which ends.
    pub existing_session: Option<[u8; 32]>,
}

#[derive(Clone, Debug)]
pub enum SecondFactorOutcome {
    Accepted {
        /// The secret for the cookie.
        text: Secret,
        session: Box<UserSession>,
    },
    Wrong,
    Throttled {
        /// Milliseconds until the next attempt is possible.
        retry_ms: i64,
    },
    /// The sign-in was completed, took too long, or its password is no longer right.
    Expired,
}

/// The secret for the browser if the user has a second factor; none if the password is enough. `buckets` are what the
/// attempt counts towards until then.
pub(crate) fn create_if_needed(tx: &mut Tx<'_>, user: UserId, buckets: &str) -> Result<Option<Secret>, Fault> {
    create_for_purpose(tx, user, SECOND_FACTOR, buckets)
}

/// As [`create_if_needed`]; the sign-in restores the account.
pub(crate) fn create_for_restoration(tx: &mut Tx<'_>, user: UserId) -> Result<Option<Secret>, Fault> {
    // The attempt was taken back when the restoration was offered.
    create_for_purpose(tx, user, RESTORING_SECOND_FACTOR, "")
}

fn create_for_purpose(tx: &mut Tx<'_>, user: UserId, purpose: &str, buckets: &str) -> Result<Option<Secret>, Fault> {
    if !stored_keys::is_enabled(tx, user)? {
        return Ok(None);
    }
    create_link(tx, purpose, user, buckets, TTL_MS).map(Some)
}

/// Ends those of a user whose password changes, or whose account is deleted; no passkey is added any more that the old
/// password allowed.
pub(crate) fn expire(tx: &mut Tx<'_>, user: UserId) -> Result<(), Fault> {
    passkeys::expire_registration(tx, user)?;
    emails::expire_links(tx, user, SECOND_FACTOR)?;
    emails::expire_links(tx, user, RESTORING_SECOND_FACTOR)
}

pub fn is_pending(tx: &mut Tx<'_>, secret: &str) -> Result<bool, Fault> {
    Ok(find_pending(tx, &digest(secret))?.is_some())
}

fn find_pending(tx: &mut Tx<'_>, key: &[u8; 32]) -> Result<Option<EmailLink>, Fault> {
    match emails::find_link(tx, key, SECOND_FACTOR)? {
        Some(link) => Ok(Some(link)),
        None => emails::find_link(tx, key, RESTORING_SECOND_FACTOR),
    }
}

/// None unless the user may sign in, or restore the account by it.
fn find_signing_in(tx: &mut Tx<'_>, pending: &EmailLink) -> Result<Option<User>, Error> {
    if pending.purpose == RESTORING_SECOND_FACTOR {
        let is_restorable = account_deletion::find_own_restorable(tx, pending.user_id)?.is_some();
        return Ok(if is_restorable { store::users::find_by_id(tx, pending.user_id)? } else { None });
    }
    match users::find_active(tx, pending.user_id) {
        Ok(user) => Ok(Some(user)),
        Err(Error::Refused(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

impl SignInService {
    /// Starts a session after a right code. A wrong one may be corrected, within the limit of attempts.
    pub fn complete_sign_in<'a>(
        &'a self,
        site: &'a EmailSite,
        attempt: &'a SecondFactorAttempt,
    ) -> BoxFuture<'a, Result<SecondFactorOutcome, Error>> {
        Box::pin(async move {
            let (site, attempt, limits, ttl_ms) = (site.clone(), attempt.clone(), self.limits, self.ttl_ms);
            self.store.write(move |tx: &mut Tx<'_>| check_second_factor(tx, &site, &attempt, limits, ttl_ms)).await
        })
    }
}

fn check_second_factor(
    tx: &mut Tx<'_>,
    site: &EmailSite,
    attempt: &SecondFactorAttempt,
    limits: SignInLimits,
    ttl_ms: i64,
) -> Result<SecondFactorOutcome, Error> {
    let key = attempt.pending.digest();
    let Some(pending) = find_pending(tx, &key)? else {
        return Ok(SecondFactorOutcome::Expired);
    };
    let Some(user) = find_signing_in(tx, &pending)? else {
        return Ok(SecondFactorOutcome::Expired);
    };
    if !stored_keys::is_enabled(tx, user.id)? {
        return Ok(SecondFactorOutcome::Expired);
    }
    let actor = AuditActor::user(user.id, &attempt.client_info.address);
    match two_factor::check_code(tx, site, &actor, attempt.code.expose_secret())? {
        CodeOutcome::Accepted(()) => {}
        CodeOutcome::Wrong => return Ok(SecondFactorOutcome::Wrong),
        CodeOutcome::Throttled { retry_ms } => return Ok(SecondFactorOutcome::Throttled { retry_ms }),
    }
    if !emails::mark_link_used(tx, &key)? {
        return Ok(SecondFactorOutcome::Expired);
    }
    if pending.purpose == RESTORING_SECOND_FACTOR {
        account_deletion::restore(tx, user.id, &attempt.client_info.address)?;
    }
    refund_rendered(tx, &pending.email, limits)?;
    let presented = attempt.existing_session.as_ref();
    let (text, session) = sessions::start(tx, presented, user.id, &attempt.client_info, ttl_ms)?;
    Ok(SecondFactorOutcome::Accepted { text, session: Box::new(session) })
}
