//! Sign-ins that wait for the second factor: the password was right, and no session exists yet. The browser has the
//! secret in a cookie; only its SHA-256 is stored.

use base::secret::digest;
use base::{Error, Fault, Secret, UserId};
use store::{Tx, emails, two_factor as stored_keys};

use crate::audit::AuditActor;
use crate::email_links::create_link;
use crate::emails::EmailSite;
use crate::sessions::{self, ClientInfo, UserSession};
use crate::sign_in::{KnownDevice, SignInLimits, SignInService, refund_account_attempt};
use crate::two_factor::{self, CodeOutcome};
use crate::users;

/// How long a browser may take to enter a code.
pub const TTL_MS: i64 = 10 * 60 * 1000;

const SECOND_FACTOR: &str = "second_factor";

#[derive(Clone, Debug)]
pub struct SecondFactorAttempt {
    /// The secret of the sign-in, from the browser's cookie.
    pub pending: Secret,
    /// A code of the authenticator app, or a recovery code.
    pub code: Secret,
    pub client_info: ClientInfo,
    /// SHA-256 of the browser's current session, which ends.
    pub existing_session: Option<[u8; 32]>,
    pub device: Option<KnownDevice>,
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

/// The secret for the browser if the user has a second factor; none if the password is enough.
pub fn create_if_needed(tx: &mut Tx<'_>, user: UserId) -> Result<Option<Secret>, Fault> {
    if !stored_keys::is_enabled(tx, user)? {
        return Ok(None);
    }
    create_link(tx, SECOND_FACTOR, user, "", TTL_MS).map(Some)
}

/// Ends those of a user whose password changes.
pub(crate) fn expire(tx: &mut Tx<'_>, user: UserId) -> Result<(), Fault> {
    emails::expire_links(tx, user, SECOND_FACTOR)
}

pub fn is_pending(tx: &mut Tx<'_>, secret: &str) -> Result<bool, Fault> {
    Ok(emails::find_link(tx, &digest(secret), SECOND_FACTOR)?.is_some())
}

impl SignInService {
    /// Starts a session after a right code. A wrong one may be corrected, within the limit of attempts.
    pub async fn complete_sign_in(
        &self,
        site: &EmailSite,
        attempt: &SecondFactorAttempt,
    ) -> Result<SecondFactorOutcome, Error> {
        let (site, attempt, limits, ttl_ms) = (site.clone(), attempt.clone(), self.limits, self.ttl_ms);
        self.store.write(move |tx: &mut Tx<'_>| check_second_factor(tx, &site, &attempt, limits, ttl_ms)).await
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
    let Some(pending) = emails::find_link(tx, &key, SECOND_FACTOR)? else {
        return Ok(SecondFactorOutcome::Expired);
    };
    let user = match users::find_active(tx, pending.user_id) {
        Ok(user) => user,
        Err(Error::Refused(_)) => return Ok(SecondFactorOutcome::Expired),
        Err(error) => return Err(error),
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
    refund_account_attempt(tx, &user, &attempt.client_info, attempt.device, limits)?;
    let presented = attempt.existing_session.as_ref();
    let (text, session) = sessions::start(tx, presented, user.id, &attempt.client_info, ttl_ms)?;
    Ok(SecondFactorOutcome::Accepted { text, session: Box::new(session) })
}
