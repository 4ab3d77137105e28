//! Signing in with a name and a password, so that nobody can guess fast, nobody can lock others
//! out, and nobody can tell a wrong password from an unknown name.
//!
//! Throttling follows the machine's clock and is kept in the database: a restart forgets nothing.

use std::net::IpAddr;
use std::sync::Arc;

use base::clock::wall_time;
use base::secret::digest;
use base::{Error, Fault, Refusal, Secret, UserId};
use serde_json::{Value, json};
use store::users::{User, UserState};
use store::{Store, Tx, attempt_limits, users};

use crate::audit::{self, AuditAction, AuditActor};
use crate::passwords::{PasswordPool, is_hash_current};
use crate::sessions::{self, ClientInfo, UserSession};

pub use store::attempt_limits::{AttemptDecision, AttemptRateLimit};

/// Bytes of a password; what is longer is wrong without being looked at.
pub const MAX_PASSWORD_BYTES: usize = 1024;

/// What a suspended account is told, once it has proved who it is.
pub const SUSPENDED_DETAIL: &str = "Your account is suspended and is not permitted to access this feature.";
/// What a deleted account is told, once it has proved who it is.
pub const DELETED_DETAIL: &str = "Your account has been deleted.";

/// How often signing in may be tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignInLimits {
    /// From one address; a whole /64 of IPv6 is one.
    pub per_address: AttemptRateLimit,
    /// For one name, from wherever: high, so that strangers cannot lock its owner out.
    pub per_account: AttemptRateLimit,
}

impl Default for SignInLimits {
    fn default() -> Self {
        Self {
            per_address: AttemptRateLimit {
                burst: 3,
                refill_interval_ms: 20_000,
            },
            per_account: AttemptRateLimit {
                burst: 20,
                refill_interval_ms: 30_000,
            },
        }
    }
}

/// An attempt to sign in.
#[derive(Clone, Debug)]
pub struct SignInAttempt {
    /// A handle, with or without `@`, or an email address.
    pub login: String,
    /// The password.
    pub password: Secret,
    /// From where.
    pub client_info: ClientInfo,
    /// SHA-256 of the session that the browser has already, if it has one: it ends.
    pub existing_session: Option<[u8; 32]>,
}

/// What comes of an attempt.
#[derive(Clone, Debug)]
pub enum SignInOutcome {
    /// Signed in.
    Accepted {
        /// The text for the browser.
        text: Secret,
        /// The session.
        session: Box<UserSession>,
    },
    /// The name is unknown, or the password is wrong; which, is not told.
    Wrong,
    /// Too often.
    Throttled {
        /// When it may be tried again, in milliseconds from now.
        retry_ms: i64,
    },
    /// The password is right, and the account does not take part.
    Closed {
        /// The sentence that is shown.
        detail: &'static str,
    },
}

/// Where people sign in.
#[derive(Clone)]
pub struct SignInService {
    /// Where accounts are.
    pub store: Arc<Store>,
    /// Where passwords are hashed.
    pub pool: PasswordPool,
    /// How often it may be tried.
    pub limits: SignInLimits,
    /// How long a session lives on after it was last seen, in milliseconds.
    pub ttl_ms: i64,
}

/// What a name and a password turned out to be.
enum CredentialCheck {
    Right(Box<User>, String),
    Wrong,
    Throttled(i64),
}

impl SignInService {
    /// A gate with the usual limits.
    pub fn new(store: Arc<Store>, pool: PasswordPool) -> Self {
        Self {
            store,
            pool,
            limits: SignInLimits::default(),
            ttl_ms: sessions::TTL_MS,
        }
    }

    /// Signs in, or says why not.
    pub async fn sign_in(&self, attempt: &SignInAttempt) -> Result<SignInOutcome, Error> {
        let login = normalize_login(&attempt.login);
        let checked = self
            .check_credentials(&login, &attempt.password, &attempt.client_info)
            .await?;
        let (user, stored) = match checked {
            CredentialCheck::Right(user, stored) => (user, stored),
            CredentialCheck::Wrong => return Ok(SignInOutcome::Wrong),
            CredentialCheck::Throttled(retry_ms) => {
                return Ok(SignInOutcome::Throttled { retry_ms });
            }
        };
        let detail = match user.state {
            UserState::Active => None,
            UserState::Suspended => Some(SUSPENDED_DETAIL),
            UserState::Deleted | UserState::Placeholder => Some(DELETED_DETAIL),
        };
        if let Some(detail) = detail {
            let by = AuditActor::user(user.id, &attempt.client_info.address);
            let why = json!({"why": "the account does not take part"});
            let note = move |tx: &mut Tx<'_>| Ok(audit::append(tx, &by, AuditAction::SIGN_IN_FAILED, None, &why)?);
            self.store.write(note).await?;
            return Ok(SignInOutcome::Closed { detail });
        }
        let fresh = if is_hash_current(&stored) {
            None
        } else {
            let chance = &self.store.context().rng;
            Some(self.pool.hash(&attempt.password, chance).await?)
        };
        self.start_session(user.id, login, attempt, stored, fresh).await
    }

    /// The password was right: a session begins, unless that is no longer so.
    async fn start_session(
        &self,
        user: UserId,
        login: String,
        attempt: &SignInAttempt,
        stored: String,
        fresh: Option<String>,
    ) -> Result<SignInOutcome, Error> {
        let (facts, presented) = (attempt.client_info.clone(), attempt.existing_session);
        let (limits, ttl_ms) = (self.limits, self.ttl_ms);
        let work = move |tx: &mut Tx<'_>| {
            if users::find_password_hash(tx, user)?.as_ref() != Some(&stored) {
                return Ok(SignInOutcome::Wrong);
            }
            if let Some(fresh) = &fresh {
                users::set_password_hash(tx, user, fresh)?;
            }
            attempt_limits::refund_attempt(tx, &address_key(&facts), limits.per_address)?;
            attempt_limits::refund_attempt(tx, &account_key(&login), limits.per_account)?;
            let (text, session) = sessions::start(tx, presented.as_ref(), user, &facts, ttl_ms)?;
            Ok(SignInOutcome::Accepted {
                text,
                session: Box::new(session),
            })
        };
        self.store.write(work).await
    }

    /// Proves that whoever is signed in as a user knows the password: before it, the address or
    /// something else that matters is changed. It is throttled like signing in.
    pub async fn verify_password(&self, user: UserId, password: &Secret, facts: &ClientInfo) -> Result<(), Error> {
        let find = move |tx: &mut Tx<'_>| crate::users::find_active(tx, user);
        let login = normalize_login(&self.store.read(find).await?.username);
        match self.check_credentials(&login, password, facts).await? {
            CredentialCheck::Right(found, _) if found.id == user => {
                let (limits, facts) = (self.limits, facts.clone());
                let refund = move |tx: &mut Tx<'_>| {
                    attempt_limits::refund_attempt(tx, &address_key(&facts), limits.per_address)?;
                    Ok(attempt_limits::refund_attempt(
                        tx,
                        &account_key(&login),
                        limits.per_account,
                    )?)
                };
                self.store.write(refund).await
            }
            CredentialCheck::Right(..) | CredentialCheck::Wrong => {
                Err(invalid_field("password", "The password is wrong").into())
            }
            CredentialCheck::Throttled(_) => Err(Refusal::RateLimited.into()),
        }
    }

    async fn check_credentials(
        &self,
        login: &str,
        password: &Secret,
        facts: &ClientInfo,
    ) -> Result<CredentialCheck, Error> {
        let (limits, name, from) = (self.limits, login.to_owned(), facts.clone());
        let look = move |tx: &mut Tx<'_>| {
            if let Some(retry_ms) = charge_attempt(tx, &name, &from, limits)? {
                return Ok(Err(retry_ms));
            }
            let Some(user) = find_user_by_login(tx, &name)? else {
                return Ok(Ok(None));
            };
            let stored = users::find_password_hash(tx, user.id)?.unwrap_or_default();
            Ok(Ok(Some((user, stored))))
        };
        let found = match self.store.write(look).await? {
            Ok(found) => found,
            Err(retry_ms) => return Ok(CredentialCheck::Throttled(retry_ms)),
        };
        // Nobody's password, and one that is too long, takes as long as anybody's.
        let stored = found.as_ref().map_or("", |(_, stored)| stored.as_str());
        let fits = password.expose_secret().len() <= MAX_PASSWORD_BYTES;
        let tried = if fits { password } else { &Secret::new("") };
        if self.pool.verify(tried, stored).await?
            && fits
            && let Some((user, stored)) = found
        {
            return Ok(CredentialCheck::Right(Box::new(user), stored));
        }
        let by = AuditActor {
            user: found.map(|(user, _)| user.id),
            ..AuditActor::anonymous(&facts.address)
        };
        let note = move |tx: &mut Tx<'_>| Ok(audit::append(tx, &by, AuditAction::SIGN_IN_FAILED, None, &Value::Null)?);
        self.store.write(note).await?;
        Ok(CredentialCheck::Wrong)
    }
}

/// Counts a try for its address and its name; answers how long to wait when there were too many.
fn charge_attempt(
    tx: &mut Tx<'_>,
    login: &str,
    facts: &ClientInfo,
    limits: SignInLimits,
) -> Result<Option<i64>, Fault> {
    let tries = [
        ("address", address_key(facts), limits.per_address),
        ("account", account_key(login), limits.per_account),
    ];
    for (what, key, pace) in tries {
        let AttemptDecision::Refused {
            retry_ms,
            is_first: first,
        } = attempt_limits::record_attempt(tx, &key, pace, wall_time())?
        else {
            continue;
        };
        if first {
            let by = AuditActor::anonymous(&facts.address);
            let detail = json!({"per": what});
            audit::append(tx, &by, AuditAction::SIGN_IN_THROTTLED, None, &detail)?;
        }
        return Ok(Some(retry_ms));
    }
    Ok(None)
}

/// Counts a try at something else than signing in, from an address; refuses when there were too
/// many.
pub(crate) fn charge_action(
    tx: &mut Tx<'_>,
    what: &str,
    who: &str,
    pace: AttemptRateLimit,
) -> Result<AttemptDecision, Fault> {
    attempt_limits::record_attempt(tx, &digest(&format!("{what}:{who}")), pace, wall_time())
}

fn address_key(facts: &ClientInfo) -> [u8; 32] {
    digest(&format!("sign_in.address:{}", address_bucket(&facts.address)))
}

fn account_key(login: &str) -> [u8; 32] {
    digest(&format!("sign_in.account:{login}"))
}

/// What counts as one address: of IPv6 the /64, which is what one household gets.
pub(crate) fn address_bucket(address: &str) -> String {
    match address.parse::<IpAddr>().map(|address| address.to_canonical()) {
        Ok(IpAddr::V6(address)) => format!("{:x}", address.to_bits() >> 64),
        Ok(address) => address.to_string(),
        Err(_) => address.to_owned(),
    }
}

/// A name as it is looked up and counted by.
pub(crate) fn normalize_login(login: &str) -> String {
    let login = login.trim();
    let login = login.strip_prefix('@').unwrap_or(login);
    login.to_ascii_lowercase()
}

/// The account that a name means.
pub(crate) fn find_user_by_login(tx: &mut Tx<'_>, login: &str) -> Result<Option<User>, Fault> {
    let found = if login.contains('@') {
        users::find_by_email(tx, login)?
    } else {
        users::find_by_username(tx, login)?
    };
    Ok(found.filter(|user| user.state != UserState::Placeholder))
}

/// A field of a form that is wrong; what it held is not repeated.
pub(crate) fn invalid_field(parameter: &'static str, message: impl Into<String>) -> Refusal {
    Refusal::InvalidParameters(vec![base::refusal::InvalidParameter {
        parameter: parameter.into(),
        values: Vec::new(),
        message: message.into(),
    }])
}
