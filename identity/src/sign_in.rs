//! Sign-in with login and password. Rate limits prevent fast guessing without allowing anyone to lock out others, and
//! responses do not reveal whether an account exists.
//!
//! Rate limits follow the machine's clock and are stored in the database, so that they survive restarts.

use std::net::IpAddr;
use std::sync::Arc;

use base::clock::wall_time;
use base::secret::digest;
use base::{Error, Fault, Refusal, Secret, UserId};
use data_encoding::HEXLOWER;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use store::users::{User, UserState};
use store::{Store, Tx, attempt_limits, users};

use crate::account_deletion::{self, RestorationOffer};
use crate::passwords::{PasswordPool, is_hash_current};
use crate::sessions::{self, ClientInfo, SignInMethod, UserSession};
use crate::{moderation, pending_sign_ins};
use network::audit::{self, AuditAction, AuditActor};

pub use store::attempt_limits::{AttemptDecision, AttemptRateLimit};

/// Longer passwords are refused without hashing.
pub const MAX_PASSWORD_BYTES: usize = 1024;

/// Of the addresses that a user signed in from.
const MAX_KNOWN_ADDRESSES: i64 = 200;

/// Shown after the correct password of an account that was suspended without a decision.
pub const SUSPENDED_DETAIL: &str = "Your account is suspended.";
/// Shown after the correct password of an application for an account.
pub const WAITING_DETAIL: &str = "Your application waits for a moderator. You get an email with the decision.";
/// Shown after the correct password of a deleted account.
pub const DELETED_DETAIL: &str = "Your account has been deleted.";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignInLimits {
    /// Per client address; an IPv6 /64 counts as one.
    pub per_address: AttemptRateLimit,
    /// Per account, from all browsers and addresses that nobody signed in to it with before; each of the others
    /// has as much for itself, so that strangers cannot lock out the owner.
    pub per_account: AttemptRateLimit,
}

impl Default for SignInLimits {
    fn default() -> Self {
        Self {
            per_address: AttemptRateLimit { burst: 3, refill_interval_ms: 20_000 },
            per_account: AttemptRateLimit { burst: 20, refill_interval_ms: 30_000 },
        }
    }
}

#[derive(Clone, Debug)]
pub struct SignInAttempt {
    /// A handle, with or without `@`, or an email address.
    pub login: String,
    pub password: Secret,
    pub client_info: ClientInfo,
    /// SHA-256 of the browser's current session, which ends.
    pub existing_session: Option<[u8; 32]>,
    pub device: Option<KnownDevice>,
}

/// A browser in which a user signed in before, as its signed cookie proves.
#[derive(Clone, Copy, Debug)]
pub struct KnownDevice {
    pub user: UserId,
    /// SHA-256 of the cookie.
    pub digest: [u8; 32],
}

/// The password that a signed-in user gives for a sensitive change, and where it comes from.
#[derive(Clone, Copy, Debug)]
pub struct PasswordProof<'a> {
    pub password: &'a Secret,
    pub client_info: &'a ClientInfo,
    pub device: Option<KnownDevice>,
}

/// What an attempt counts towards, by the name in the audit log.
type AttemptBuckets = Vec<(&'static str, [u8; 32], AttemptRateLimit)>;

#[derive(Clone, Debug)]
pub enum SignInOutcome {
    Accepted {
        /// The secret for the cookie.
        text: Secret,
        session: Box<UserSession>,
    },
    /// The password is correct, and the second factor is needed.
    CodeNeeded {
        /// The secret for the browser's cookie.
        pending: Secret,
    },
    /// Unknown login or wrong password.
    Wrong,
    Throttled {
        /// Milliseconds until the next attempt is possible.
        retry_ms: i64,
    },
    /// The password is correct, and the account can be restored, which its owner has deleted.
    Restorable(RestorationOffer),
    /// The password is correct, and a moderator has suspended the account.
    Suspended {
        /// The secret of a link to the decision, where it can be appealed.
        decision: Secret,
    },
    /// The password is correct, but the account is not active.
    Closed {
        /// The text to show.
        detail: &'static str,
    },
}

#[derive(Clone)]
pub struct SignInService {
    pub store: Arc<Store>,
    pub pool: PasswordPool,
    pub limits: SignInLimits,
    /// Lifetime of a session after its last use, in milliseconds.
    pub ttl_ms: i64,
}

/// The result of checking a login and password.
enum CredentialCheck {
    /// The user, the stored hash, and the buckets to refund.
    Right(Box<User>, String, AttemptBuckets),
    /// The password of an application for an account, which waits for a moderator.
    Waiting,
    Wrong,
    Throttled(i64),
}

impl SignInService {
    /// With the default limits.
    pub fn new(store: Arc<Store>, pool: PasswordPool) -> Self {
        Self { store, pool, limits: SignInLimits::default(), ttl_ms: sessions::TTL_MS }
    }

    pub fn sign_in<'a>(&'a self, attempt: &'a SignInAttempt) -> BoxFuture<'a, Result<SignInOutcome, Error>> {
        Box::pin(self.check_and_start_session(attempt))
    }

    async fn check_and_start_session(&self, attempt: &SignInAttempt) -> Result<SignInOutcome, Error> {
        let login = normalize_login(&attempt.login);
        let checked = self.check_credentials(&login, &attempt.password, &attempt.client_info, attempt.device).await?;
        let (user, stored, buckets) = match checked {
            CredentialCheck::Right(user, stored, buckets) => (user, stored, buckets),
            CredentialCheck::Waiting => return Ok(SignInOutcome::Closed { detail: WAITING_DETAIL }),
            CredentialCheck::Wrong => return Ok(SignInOutcome::Wrong),
            CredentialCheck::Throttled(retry_ms) => {
                return Ok(SignInOutcome::Throttled { retry_ms });
            }
        };
        if user.state != UserState::Active {
            let (user, client, buckets) = (user.clone(), attempt.client_info.clone(), buckets.clone());
            let answer = move |tx: &mut Tx<'_>| {
                let answer = answer_inactive_account(tx, &user, &client, SignInMethod::Password)?;
                if matches!(answer, Some(SignInOutcome::Restorable(_))) {
                    refund_attempt(tx, &buckets)?;
                }
                Ok(answer)
            };
            if let Some(answer) = self.store.write(answer).await? {
                return Ok(answer);
            }
        }
        let rehashed = if is_hash_current(&stored) {
            None
        } else {
            let rng = &self.store.context().rng;
            Some(self.pool.hash(&attempt.password, rng).await?)
        };
        self.start_session(user.id, attempt, stored, rehashed, buckets).await
    }

    /// Starts a session after a successful check, or asks for the second factor, unless the password has changed
    /// meanwhile.
    async fn start_session(
        &self,
        user: UserId,
        attempt: &SignInAttempt,
        stored: String,
        rehashed: Option<String>,
        buckets: AttemptBuckets,
    ) -> Result<SignInOutcome, Error> {
        let (client, presented, ttl_ms) = (attempt.client_info.clone(), attempt.existing_session, self.ttl_ms);
        let work = move |tx: &mut Tx<'_>| {
            // A change of the password ends the sessions that it finds.
            users::lock(tx, user)?;
            if users::find_password_hash(tx, user)?.as_ref() != Some(&stored) {
                return Ok(SignInOutcome::Wrong);
            }
            if let Some(rehashed) = &rehashed {
                users::set_password_hash(tx, user, rehashed)?;
            }
            // The attempt is refunded with the code, so that codes are not asked for without bound.
            if let Some(pending) = pending_sign_ins::create_if_needed(tx, user, &render_buckets(&buckets))? {
                return Ok(SignInOutcome::CodeNeeded { pending });
            }
            refund_attempt(tx, &buckets)?;
            let (text, session) = sessions::start(tx, presented.as_ref(), user, &client, ttl_ms)?;
            Ok(SignInOutcome::Accepted { text, session: Box::new(session) })
        };
        self.store.write(work).await
    }

    /// Verifies the password of a signed-in user before sensitive changes. Rate limited like signing in.
    pub fn verify_password<'a>(
        &'a self,
        user: UserId,
        proof: &'a PasswordProof<'a>,
    ) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(async move {
            let find = move |tx: &mut Tx<'_>| network::users::find_active(tx, user);
            let login = normalize_login(&self.store.read(find).await?.username);
            match self.check_credentials(&login, proof.password, proof.client_info, proof.device).await? {
                CredentialCheck::Right(found, _, buckets) if found.id == user => {
                    self.store.write(move |tx: &mut Tx<'_>| Ok(refund_attempt(tx, &buckets)?)).await
                }
                CredentialCheck::Right(..) | CredentialCheck::Waiting | CredentialCheck::Wrong => {
                    Err(Refusal::invalid_field("password", "The password is wrong").into())
                }
                CredentialCheck::Throttled(_) => Err(Refusal::RateLimited.into()),
            }
        })
    }

    async fn check_credentials(
        &self,
        login: &str,
        password: &Secret,
        client: &ClientInfo,
        device: Option<KnownDevice>,
    ) -> Result<CredentialCheck, Error> {
        let (limits, name, client_info) = (self.limits, login.to_owned(), client.clone());
        let load_user = move |tx: &mut Tx<'_>| {
            let user = find_user_by_login(tx, &name)?;
            let buckets = attempt_buckets(tx, user.as_ref().ok_or(name.as_str()), &client_info, device, limits)?;
            if let Some(retry_ms) = charge_attempt(tx, &buckets, &client_info)? {
                return Ok(Err(retry_ms));
            }
            // Asked in any case, which must take the same time.
            let waiting = store::registration_requests::find_password_hash(tx, &name)?;
            let stored = match &user {
                Some(user) => users::find_password_hash(tx, user.id)?,
                None => waiting,
            };
            Ok(Ok((user, stored.unwrap_or_default(), buckets)))
        };
        let (user, stored, buckets) = match self.store.write(load_user).await? {
            Ok(found) => found,
            Err(retry_ms) => return Ok(CredentialCheck::Throttled(retry_ms)),
        };
        // Verification takes the same time for unknown logins and passwords that are too long.
        let is_valid_length = password.expose_secret().len() <= MAX_PASSWORD_BYTES;
        let checked_password = if is_valid_length { password } else { &Secret::new("") };
        if self.pool.verify(checked_password, &stored).await? && is_valid_length {
            return Ok(match user {
                Some(user) => CredentialCheck::Right(Box::new(user), stored, buckets),
                None => CredentialCheck::Waiting,
            });
        }
        let actor = AuditActor { user: user.map(|user| user.id), ..AuditActor::anonymous(&client.address) };
        let record =
            move |tx: &mut Tx<'_>| Ok(audit::append(tx, &actor, AuditAction::SIGN_IN_FAILED, None, &Value::Null)?);
        self.store.write(record).await?;
        Ok(CredentialCheck::Wrong)
    }
}

/// The answer to somebody who has proved who they are, if their account is not active.
pub(crate) fn answer_inactive_account(
    tx: &mut Tx<'_>,
    user: &User,
    client: &ClientInfo,
    method: SignInMethod,
) -> Result<Option<SignInOutcome>, Error> {
    let detail = match user.state {
        UserState::Active => return Ok(None),
        UserState::Suspended => SUSPENDED_DETAIL,
        UserState::Deleted | UserState::Placeholder => DELETED_DETAIL,
    };
    let decision = match user.state {
        UserState::Suspended => moderation::find_suspension_link(tx, user.id)?,
        _ => None,
    };
    if user.state == UserState::Deleted
        && let Some(offer) = account_deletion::offer_restoration(tx, user, method)?
    {
        return Ok(Some(SignInOutcome::Restorable(offer)));
    }
    let actor = AuditActor::user(user.id, &client.address);
    let why = json!({"why": "the account does not take part"});
    audit::append(tx, &actor, AuditAction::SIGN_IN_FAILED, None, &why)?;
    Ok(Some(match decision {
        Some(decision) => SignInOutcome::Suspended { decision },
        None => SignInOutcome::Closed { detail },
    }))
}

/// What an attempt at an account, or at a login that nobody has, counts towards.
fn attempt_buckets(
    tx: &mut Tx<'_>,
    account: Result<&User, &str>,
    client: &ClientInfo,
    device: Option<KnownDevice>,
    limits: SignInLimits,
) -> Result<AttemptBuckets, Fault> {
    let address = address_bucket(&client.address);
    let id = account.map_or(UserId::new(0), |user| user.id);
    // Read for unknown logins as well, which must take the same time.
    let known = store::sessions::list_addresses(tx, id, MAX_KNOWN_ADDRESSES)?;
    let account = match account {
        Ok(user) => match device.filter(|device| device.user == user.id) {
            Some(device) => {
                let key = digest(&format!("sign_in.device:{}:{:x?}", user.id, device.digest));
                return Ok(vec![("device", key, limits.per_account)]);
            }
            None if known.iter().any(|known| address_bucket(known) == address) => format!("{}:{address}", user.id),
            None => user.id.to_string(),
        },
        Err(login) => format!("login:{login}"),
    };
    Ok(vec![
        ("address", digest(&format!("sign_in.address:{address}")), limits.per_address),
        ("account", digest(&format!("sign_in.account:{account}")), limits.per_account),
    ])
}

/// Takes back an attempt that succeeded.
fn refund_attempt(tx: &mut Tx<'_>, buckets: &AttemptBuckets) -> Result<(), Fault> {
    buckets.iter().try_for_each(|(_, key, limit)| attempt_limits::refund_attempt(tx, key, *limit))
}

/// Text from which [`refund_rendered`] takes back the attempt.
fn render_buckets(buckets: &AttemptBuckets) -> String {
    let all = buckets.iter().map(|(action, key, _)| format!("{action}:{}", HEXLOWER.encode(key)));
    all.collect::<Vec<_>>().join(",")
}

/// Takes back an attempt that succeeded with the second factor: what the password was counted towards, and nothing that
/// the browser could choose since.
pub(crate) fn refund_rendered(tx: &mut Tx<'_>, buckets: &str, limits: SignInLimits) -> Result<(), Fault> {
    for (action, key) in buckets.split(',').filter_map(|one| one.split_once(':')) {
        let limit = if action == "address" { limits.per_address } else { limits.per_account };
        let key = HEXLOWER.decode(key.as_bytes()).ok().and_then(|key| <[u8; 32]>::try_from(key).ok());
        if let Some(key) = key {
            attempt_limits::refund_attempt(tx, &key, limit)?;
        }
    }
    Ok(())
}

/// Counts an attempt; returns the waiting time (ms) if a limit is exceeded.
fn charge_attempt(tx: &mut Tx<'_>, buckets: &AttemptBuckets, client: &ClientInfo) -> Result<Option<i64>, Fault> {
    for (action, key, limit) in buckets {
        let AttemptDecision::Refused { retry_ms, is_first } =
            attempt_limits::record_attempt(tx, key, *limit, wall_time())?
        else {
            continue;
        };
        if is_first {
            let actor = AuditActor::anonymous(&client.address);
            let detail = json!({"per": action});
            audit::append(tx, &actor, AuditAction::SIGN_IN_THROTTLED, None, &detail)?;
        }
        return Ok(Some(retry_ms));
    }
    Ok(None)
}

/// The address for rate limits: the /64 of an IPv6 address, which one household usually gets.
pub(crate) fn address_bucket(address: &str) -> String {
    match address.parse::<IpAddr>().map(|address| address.to_canonical()) {
        Ok(IpAddr::V6(address)) => format!("{:x}", address.to_bits() >> 64),
        Ok(address) => address.to_string(),
        Err(_) => address.to_owned(),
    }
}

/// The login in the form for lookups and rate limits.
pub(crate) fn normalize_login(login: &str) -> String {
    let login = login.trim();
    let login = login.strip_prefix('@').unwrap_or(login);
    login.to_ascii_lowercase()
}

/// The account with this username or email address.
pub(crate) fn find_user_by_login(tx: &mut Tx<'_>, login: &str) -> Result<Option<User>, Fault> {
    let found = if login.contains('@') {
        // Asked in any case, which must take the same time.
        let deleted = users::find_deleted_by_email(tx, login)?;
        users::find_by_email(tx, login)?.or(deleted)
    } else {
        users::find_by_username(tx, login)?
    };
    Ok(found.filter(|user| user.state != UserState::Placeholder))
}
