//! Sign-in with a passkey. The browser offers the passkeys that it has for the site, so nobody enters a username.

use base::clock::wall_time;
use base::secret::digest;
use base::{Error, Fault, UserId};
use futures_util::future::BoxFuture;
use serde_json::json;
use store::attempt_limits::{self, AttemptDecision, AttemptRateLimit};
use store::users::User;
use store::{Tx, passkeys, users};

use super::web_authn::{RelyingParty, decode_base64url, verify_signature};
use super::{consume_challenge, create_challenge, user_handle};
use crate::sessions::{self, ClientInfo, SignInMethod};
use crate::sign_in::{SignInOutcome, SignInService, address_bucket, answer_inactive_account};
use network::audit::{self, AuditAction, AuditActor};

const SIGN_IN: &str = "passkey_sign_in";
/// Whoever signs in is not known before the answer.
const NOBODY: UserId = UserId::new(0);
/// Sign-ins that one client address begins; those that succeed do not count. An IPv6 /64 counts as one.
const CHALLENGES_PER_ADDRESS: AttemptRateLimit = AttemptRateLimit { burst: 10, refill_interval_ms: 20_000 };

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PasskeyChallengeOutcome {
    /// In base64url.
    Created(String),
    Throttled {
        /// Milliseconds until the next attempt is possible.
        retry_ms: i64,
    },
}

/// The answer of an authenticator, as the browser sends it. Bytes are texts in base64url.
#[derive(Clone, Debug, Default)]
pub struct PasskeyAssertion {
    pub id: String,
    pub client_data: String,
    pub authenticator_data: String,
    pub signature: String,
    pub user_handle: String,
}

#[derive(Clone, Debug)]
pub struct PasskeyAttempt {
    pub assertion: PasskeyAssertion,
    pub client_info: ClientInfo,
    /// SHA-256 of the browser's current session, which ends.
    pub existing_session: Option<[u8; 32]>,
}

/// Why a passkey signs nobody in.
struct PasskeyFailure {
    /// Whose passkey it is, if it is known.
    user: Option<UserId>,
    why: &'static str,
    /// Whether it answers a challenge, with which the address was charged.
    has_challenge: bool,
}

fn challenge_bucket(client: &ClientInfo) -> [u8; 32] {
    digest(&format!("passkey.challenge:{}", address_bucket(&client.address)))
}

/// Creates a challenge, which is valid for five minutes and one answer.
pub fn begin_sign_in(tx: &mut Tx<'_>, client: &ClientInfo) -> Result<PasskeyChallengeOutcome, Error> {
    Ok(match charge_address(tx, client)? {
        Some(retry_ms) => PasskeyChallengeOutcome::Throttled { retry_ms },
        None => PasskeyChallengeOutcome::Created(create_challenge(tx, SIGN_IN, NOBODY)?),
    })
}

/// Milliseconds until the client's address may try again, if it has tried too often.
fn charge_address(tx: &mut Tx<'_>, client: &ClientInfo) -> Result<Option<i64>, Fault> {
    let decision = attempt_limits::record_attempt(tx, &challenge_bucket(client), CHALLENGES_PER_ADDRESS, wall_time())?;
    let AttemptDecision::Refused { retry_ms, is_first } = decision else {
        return Ok(None);
    };
    if is_first {
        let actor = AuditActor::anonymous(&client.address);
        audit::append(tx, &actor, AuditAction::SIGN_IN_THROTTLED, None, &json!({"per": "passkey"}))?;
    }
    Ok(Some(retry_ms))
}

impl SignInService {
    /// Starts a session if the answer to a challenge of [`begin_sign_in`] is right.
    pub fn sign_in_with_passkey<'a>(
        &'a self,
        site: &'a RelyingParty,
        attempt: &'a PasskeyAttempt,
    ) -> BoxFuture<'a, Result<SignInOutcome, Error>> {
        Box::pin(async move {
            let (site, attempt, ttl_ms) = (site.clone(), attempt.clone(), self.ttl_ms);
            self.store.write(move |tx: &mut Tx<'_>| complete_sign_in(tx, &site, &attempt, ttl_ms)).await
        })
    }
}

fn complete_sign_in(
    tx: &mut Tx<'_>,
    site: &RelyingParty,
    attempt: &PasskeyAttempt,
    ttl_ms: i64,
) -> Result<SignInOutcome, Error> {
    let client = &attempt.client_info;
    // What removes the passkeys of an account ends the sessions that it finds.
    if let Some(passkey) = passkeys::find(tx, &decode_base64url(&attempt.assertion.id))? {
        users::lock(tx, passkey.user_id)?;
    }
    let user = match verify_assertion(tx, site, &attempt.assertion)? {
        Ok(user) => user,
        Err(failure) => {
            // Each failure is recorded.
            if !failure.has_challenge
                && let Some(retry_ms) = charge_address(tx, client)?
            {
                return Ok(SignInOutcome::Throttled { retry_ms });
            }
            let actor = AuditActor { user: failure.user, ..AuditActor::anonymous(&client.address) };
            let detail = json!({"method": sessions::PASSKEY_METHOD, "why": failure.why});
            audit::append(tx, &actor, AuditAction::SIGN_IN_FAILED, None, &detail)?;
            return Ok(SignInOutcome::Wrong);
        }
    };
    let answer = answer_inactive_account(tx, &user, client, SignInMethod::Passkey)?;
    if !matches!(answer, Some(SignInOutcome::Closed { .. } | SignInOutcome::Suspended { .. })) {
        attempt_limits::refund_attempt(tx, &challenge_bucket(client), CHALLENGES_PER_ADDRESS)?;
    }
    if let Some(answer) = answer {
        return Ok(answer);
    }
    let presented = attempt.existing_session.as_ref();
    let (text, session) = sessions::start_by_method(tx, presented, user.id, client, ttl_ms, SignInMethod::Passkey)?;
    Ok(SignInOutcome::Accepted { text, session: Box::new(session) })
}

/// The account of the passkey, in any state.
fn verify_assertion(
    tx: &mut Tx<'_>,
    site: &RelyingParty,
    assertion: &PasskeyAssertion,
) -> Result<Result<User, PasskeyFailure>, Fault> {
    let anonymous = |why| Ok(Err(PasskeyFailure { user: None, why, has_challenge: true }));
    let client_data = decode_base64url(&assertion.client_data);
    let consumed = match consume_challenge(tx, &client_data, SIGN_IN, NOBODY)? {
        Ok(consumed) => consumed,
        Err(why) => return Ok(Err(PasskeyFailure { user: None, why, has_challenge: false })),
    };
    if let Err(why) = consumed.check(site, "webauthn.get") {
        return anonymous(why);
    }
    let Some(passkey) = passkeys::find(tx, &decode_base64url(&assertion.id))? else {
        return anonymous("the passkey is unknown");
    };
    let Some(user) = users::find_by_id(tx, passkey.user_id)? else {
        return anonymous("the account is gone");
    };
    let failure = |why| Ok(Err(PasskeyFailure { user: Some(user.id), why, has_challenge: true }));
    if decode_base64url(&assertion.user_handle) != user_handle(user.id) {
        return failure("the passkey belongs to another account");
    }
    let authenticator_data = decode_base64url(&assertion.authenticator_data);
    let signature = decode_base64url(&assertion.signature);
    let verified = verify_signature(site, &passkey.public_key, &client_data, &authenticator_data, &signature);
    let sign_count = match verified {
        Ok(sign_count) => i64::from(sign_count),
        Err(why) => return failure(why),
    };
    if !passkeys::record_use(tx, &passkey.credential_id, sign_count)? {
        return failure("the counter of the passkey went back: there may be a copy of it");
    }
    Ok(Ok(user))
}
