//! Two-factor sign-in: codes of an authenticator app (RFC 6238), and recovery codes.
//!
//! Codes follow the machine's clock, as authenticator apps do.

use base::clock::wall_time;
use base::secret::digest;
use base::{Error, Fault, Refusal, Secret, UserId};
use serde_json::json;
use store::Tx;
use store::attempt_limits::{self, AttemptDecision, AttemptRateLimit};
use store::two_factor::{self, TwoFactorKey};
use store::users::User;
use totp_rs::{Builder, Totp};

use crate::email_links::notify_user;
use network::audit::{self, AuditAction, AuditActor, user_detail};
use network::emails::EmailSite;

/// Of emails.
const TOPIC: &str = "Two-factor sign-in";
/// How many recovery codes an account gets at a time.
const RECOVERY_CODES: usize = 10;
/// How long a new key waits for its first code.
const SETUP_TTL_MS: i64 = 10 * 60 * 1000;
/// Wrong codes per account, whoever enters them: of the 1,000,000 codes three are right.
const CODES_PER_ACCOUNT: AttemptRateLimit = AttemptRateLimit { burst: 10, refill_interval_ms: 5 * 60_000 };
/// Longer texts are no code.
const MAX_CODE_BYTES: usize = 64;
const CODE_DIGITS: usize = 6;

/// What became of an entered code.
#[derive(Debug)]
pub enum CodeOutcome<T> {
    Accepted(T),
    Wrong,
    Throttled {
        /// Milliseconds until the next attempt is possible.
        retry_ms: i64,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TwoFactorStatus {
    pub is_enabled: bool,
    /// Recovery codes that were not used.
    pub recovery_codes: i64,
}

/// A key for an authenticator app, which is not enabled yet.
#[derive(Clone, Debug)]
pub struct TwoFactorSetup {
    /// Base32.
    pub secret: Secret,
    /// What the QR code contains.
    pub uri: Secret,
}

pub fn status(tx: &mut Tx<'_>, user: UserId) -> Result<TwoFactorStatus, Fault> {
    let is_enabled = two_factor::is_enabled(tx, user)?;
    Ok(TwoFactorStatus { is_enabled, recovery_codes: two_factor::count_recovery_codes(tx, user)? })
}

/// Creates a key, which replaces one that is not enabled. The caller has
/// [verified](crate::sign_in::SignInService::verify_password) the password.
pub fn begin_setup(tx: &mut Tx<'_>, site: &EmailSite, user: &User) -> Result<TwoFactorSetup, Error> {
    if two_factor::is_enabled(tx, user.id)? {
        return Err(Refusal::forbidden("Two-factor sign-in is on already.").into());
    }
    let bytes = tx.rng().random_bytes::<20>()?;
    let secret = Secret::new(totp_rs::Secret::new_stack(bytes).to_base32());
    two_factor::set_secret(tx, user.id, &secret)?;
    Ok(describe_setup(site, user, secret))
}

/// None unless a key was created within the last ten minutes and is not enabled.
pub fn find_setup(tx: &mut Tx<'_>, site: &EmailSite, user: &User) -> Result<Option<TwoFactorSetup>, Fault> {
    Ok(find_pending_key(tx, user.id)?.map(|key| describe_setup(site, user, key.secret)))
}

fn find_pending_key(tx: &mut Tx<'_>, user: UserId) -> Result<Option<TwoFactorKey>, Fault> {
    let now = tx.now();
    let key = two_factor::find(tx, user)?;
    Ok(key.filter(|key| key.enabled_at.is_none() && key.created_at.plus_ms(SETUP_TTL_MS) > now))
}

fn describe_setup(site: &EmailSite, user: &User, secret: Secret) -> TwoFactorSetup {
    let name = site.name();
    let (issuer, username) = (base::percent::encode(&name), base::percent::encode(&user.username));
    let text = secret.expose_secret();
    let uri = Secret::new(format!("otpauth://totp/{issuer}:{username}?secret={text}&issuer={issuer}"));
    TwoFactorSetup { secret, uri }
}

/// Turns two-factor sign-in on with the first code of the new key; returns the recovery codes. Refused if no key waits
/// for a code.
pub fn enable(
    tx: &mut Tx<'_>,
    site: &EmailSite,
    actor: &AuditActor,
    code: &str,
) -> Result<CodeOutcome<Vec<Secret>>, Error> {
    let user = actor.require_user()?;
    let Some(key) = find_pending_key(tx, user)? else {
        return Err(Refusal::forbidden("This took too long. Start again.").into());
    };
    if let Some(retry_ms) = charge_code(tx, actor, user)? {
        return Ok(CodeOutcome::Throttled { retry_ms });
    }
    let Some(step) = matching_step(&key, &normalize_code(code))? else {
        return Ok(CodeOutcome::Wrong);
    };
    if !two_factor::enable(tx, user, step)? {
        return Ok(CodeOutcome::Wrong);
    }
    refund_code(tx, user)?;
    let codes = create_recovery_codes(tx, user)?;
    audit::append(tx, actor, AuditAction::TWO_FACTOR_ENABLE, None, &user_detail(user))?;
    notify_user(tx, site, user, TOPIC, "Two-factor sign-in was turned on for your account.")?;
    Ok(CodeOutcome::Accepted(codes))
}

/// Accepts a code of the authenticator app, or a recovery code, once. Entries about it name the actor, who is the user.
pub fn check_code(tx: &mut Tx<'_>, site: &EmailSite, actor: &AuditActor, code: &str) -> Result<CodeOutcome<()>, Error> {
    let user = actor.require_user()?;
    if let Some(retry_ms) = charge_code(tx, actor, user)? {
        return Ok(CodeOutcome::Throttled { retry_ms });
    }
    let key = two_factor::find(tx, user)?.filter(|key| key.enabled_at.is_some());
    let is_accepted = match key {
        Some(key) => accept_code(tx, site, actor, &key, &normalize_code(code))?,
        None => false,
    };
    if is_accepted {
        refund_code(tx, user)?;
        return Ok(CodeOutcome::Accepted(()));
    }
    audit::append(tx, actor, AuditAction::TWO_FACTOR_FAILED, None, &user_detail(user))?;
    Ok(CodeOutcome::Wrong)
}

fn accept_code(
    tx: &mut Tx<'_>,
    site: &EmailSite,
    actor: &AuditActor,
    key: &TwoFactorKey,
    code: &str,
) -> Result<bool, Error> {
    let user = actor.require_user()?;
    if code.len() == CODE_DIGITS {
        return match matching_step(key, code)? {
            Some(step) => Ok(two_factor::advance_step(tx, user, step)?),
            None => Ok(false),
        };
    }
    if !two_factor::delete_recovery_code(tx, user, &recovery_digest(user, code))? {
        return Ok(false);
    }
    let left = two_factor::count_recovery_codes(tx, user)?;
    let detail = json!({"user": user.to_string(), "left": left});
    audit::append(tx, actor, AuditAction::RECOVERY_CODE_USE, None, &detail)?;
    let what = format!("A recovery code was used for your account. {left} of them are left.");
    notify_user(tx, site, user, TOPIC, &what)?;
    Ok(true)
}

/// Turns two-factor sign-in off. The caller has verified the password and [a code](check_code). Returns false if it was
/// off.
pub fn disable(tx: &mut Tx<'_>, site: &EmailSite, actor: &AuditActor, user: UserId) -> Result<bool, Error> {
    let was_enabled = two_factor::is_enabled(tx, user)?;
    two_factor::delete(tx, user)?;
    if was_enabled {
        audit::append(tx, actor, AuditAction::TWO_FACTOR_DISABLE, None, &user_detail(user))?;
        notify_user(tx, site, user, TOPIC, "Two-factor sign-in was turned off for your account.")?;
    }
    Ok(was_enabled)
}

/// Replaces the recovery codes. The caller has verified the password and [a code](check_code).
pub fn replace_recovery_codes(tx: &mut Tx<'_>, actor: &AuditActor) -> Result<Vec<Secret>, Error> {
    let user = actor.require_user()?;
    let codes = create_recovery_codes(tx, user)?;
    audit::append(tx, actor, AuditAction::RECOVERY_CODES_REPLACE, None, &user_detail(user))?;
    Ok(codes)
}

/// Four groups of four characters, 80 bits.
fn create_recovery_codes(tx: &mut Tx<'_>, user: UserId) -> Result<Vec<Secret>, Fault> {
    let mut codes = Vec::with_capacity(RECOVERY_CODES);
    let mut digests = Vec::with_capacity(RECOVERY_CODES);
    for _ in 0..RECOVERY_CODES {
        let bytes = tx.rng().random_bytes::<10>()?;
        let code = totp_rs::Secret::new(Box::new(bytes)).to_base32().to_lowercase();
        digests.push(recovery_digest(user, &code));
        let letters: Vec<char> = code.chars().collect();
        let groups: Vec<String> = letters.chunks(4).map(|group| group.iter().collect()).collect();
        codes.push(Secret::new(groups.join("-")));
    }
    two_factor::replace_recovery_codes(tx, user, &digests)?;
    Ok(codes)
}

fn recovery_digest(user: UserId, code: &str) -> [u8; 32] {
    digest(&format!("recovery_code:{user}:{code}"))
}

/// Without the spaces and hyphens that people and apps put between groups.
fn normalize_code(code: &str) -> String {
    let letters = code.chars().take(MAX_CODE_BYTES).filter(|letter| !letter.is_whitespace() && *letter != '-');
    letters.collect::<String>().to_lowercase()
}

/// The time step of a right code: the current one, or one before or after it.
fn matching_step(key: &TwoFactorKey, code: &str) -> Result<Option<i64>, Fault> {
    let Ok(seconds) = u64::try_from(wall_time().seconds()) else {
        return Ok(None);
    };
    let step = build_totp(key)?.check(code, seconds);
    Ok(step.and_then(|step| i64::try_from(step).ok()))
}

fn build_totp(key: &TwoFactorKey) -> Result<Totp, Fault> {
    let secret = totp_rs::Secret::try_from_base32(key.secret.expose_secret());
    let secret = secret.map_err(|_| Fault::new("a two-factor key is malformed"))?;
    let totp = Builder::new().with_secret(secret).with_skew(1).build();
    totp.map_err(|_| Fault::new("a two-factor key is too short"))
}

fn code_bucket(user: UserId) -> [u8; 32] {
    digest(&format!("two_factor.code:{user}"))
}

/// Counts an attempt; returns the waiting time (ms) if the limit is exceeded.
fn charge_code(tx: &mut Tx<'_>, actor: &AuditActor, user: UserId) -> Result<Option<i64>, Fault> {
    let decision = attempt_limits::record_attempt(tx, &code_bucket(user), CODES_PER_ACCOUNT, wall_time())?;
    let AttemptDecision::Refused { retry_ms, is_first } = decision else {
        return Ok(None);
    };
    if is_first {
        audit::append(tx, actor, AuditAction::SIGN_IN_THROTTLED, None, &json!({"per": "code"}))?;
    }
    Ok(Some(retry_ms))
}

fn refund_code(tx: &mut Tx<'_>, user: UserId) -> Result<(), Fault> {
    attempt_limits::refund_attempt(tx, &code_bucket(user), CODES_PER_ACCOUNT)
}
