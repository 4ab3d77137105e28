//! Passkeys: sign-in with an authenticator that has verified its user (WebAuthn Level 2). That counts as two factors, so
//! no code is asked for afterwards.

mod sign_in;
mod web_authn;

use base::secret::digest;
use base::{Error, Fault, Refusal, UserId};
use serde_json::json;
use store::emails::{self, EmailLink};
use store::users::User;
use store::{Tx, passkeys, users};

use crate::email_links::notify_user;
use network::audit::{self, AuditAction, AuditActor};
use network::emails::EmailSite;

pub use sign_in::{PasskeyAssertion, PasskeyAttempt, PasskeyChallengeOutcome, begin_sign_in};
pub use store::passkeys::Passkey;
pub use web_authn::RelyingParty;

use web_authn::{ClientData, NewCredential, Verified, decode_base64url, encode_base64url};

/// Passkeys of one account.
pub const MAX_PASSKEYS: usize = 10;
pub const MAX_NAME_CHARS: usize = 50;
/// How long an authenticator may take to answer.
pub const CHALLENGE_TTL_MS: i64 = 5 * 60 * 1000;

const REGISTRATION: &str = "passkey_registration";
/// Of emails.
const TOPIC: &str = "Passkeys";

/// What a browser needs to make a passkey. Bytes are texts in base64url.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PasskeyRegistration {
    pub challenge: String,
    pub user_handle: String,
    /// The ids of the account's passkeys: an authenticator that has one of them makes no other.
    pub existing_ids: Vec<String>,
}

/// A new passkey as the browser sends it. Bytes are texts in base64url.
#[derive(Clone, Debug, Default)]
pub struct NewPasskey {
    pub client_data: String,
    pub authenticator_data: String,
    /// Shortened to [`MAX_NAME_CHARS`].
    pub name: String,
}

/// What became of a new passkey.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PasskeyRegistrationOutcome {
    Added,
    /// It took too long, or the answer is not valid.
    Refused,
}

/// Oldest first.
pub fn list(tx: &mut Tx<'_>, user: UserId) -> Result<Vec<Passkey>, Fault> {
    passkeys::list_by_user(tx, user, i64::try_from(MAX_PASSKEYS).unwrap_or(i64::MAX))
}

/// The text by which forms name a passkey.
pub fn format_id(passkey: &Passkey) -> String {
    encode_base64url(&passkey.credential_id)
}

/// Tells the accounts of one authenticator apart. Authenticators show it to nobody.
fn user_handle(user: UserId) -> [u8; 8] {
    user.get().to_be_bytes()
}

/// Creates a challenge, which replaces an earlier one. The caller has
/// [verified](crate::sign_in::SignInService::verify_password) the password, and a code if the account has two-factor
/// sign-in.
pub fn begin_registration(tx: &mut Tx<'_>, user: UserId) -> Result<PasskeyRegistration, Error> {
    users::lock(tx, user)?;
    network::users::find_active(tx, user)?;
    let existing = list(tx, user)?;
    require_room(existing.len())?;
    expire_registration(tx, user)?;
    Ok(PasskeyRegistration {
        challenge: create_challenge(tx, REGISTRATION, user)?,
        user_handle: encode_base64url(&user_handle(user)),
        existing_ids: existing.iter().map(format_id).collect(),
    })
}

fn require_room(count: usize) -> Result<(), Refusal> {
    if count < MAX_PASSKEYS {
        return Ok(());
    }
    Err(Refusal::forbidden(format!("You have {MAX_PASSKEYS} passkeys, the most that an account can have.")))
}

/// Ends the one of a user whose password changes, or whose account is deleted.
pub(crate) fn expire_registration(tx: &mut Tx<'_>, user: UserId) -> Result<(), Fault> {
    emails::expire_links(tx, user, REGISTRATION)
}

fn create_challenge(tx: &mut Tx<'_>, purpose: &str, user: UserId) -> Result<String, Fault> {
    let challenge = encode_base64url(&tx.rng().random_bytes::<32>()?);
    let link = EmailLink {
        purpose: purpose.to_owned(),
        user_id: user,
        email: String::new(),
        expires_at: tx.now().plus_ms(CHALLENGE_TTL_MS),
    };
    emails::insert_link(tx, &digest(&challenge), &link)?;
    Ok(challenge)
}

/// Uses the challenge up, whatever else is wrong with the answer.
fn consume_challenge(
    tx: &mut Tx<'_>,
    client_data: &[u8],
    purpose: &str,
    user: UserId,
) -> Result<Verified<ClientData>, Fault> {
    let client_data = match ClientData::parse(client_data) {
        Ok(client_data) => client_data,
        Err(why) => return Ok(Err(why)),
    };
    let key = digest(&client_data.challenge);
    let link = emails::find_link(tx, &key, purpose)?.filter(|link| link.user_id == user);
    if link.is_none() || !emails::mark_link_used(tx, &key)? {
        return Ok(Err("the challenge was used, has expired or is unknown"));
    }
    Ok(Ok(client_data))
}

/// Adds a passkey for the challenge of [`begin_registration`]. An answer is refused if it is for another site or
/// person, or does not say that the user was verified.
pub fn add(
    tx: &mut Tx<'_>,
    email_site: &EmailSite,
    site: &RelyingParty,
    actor: &AuditActor,
    new: &NewPasskey,
) -> Result<PasskeyRegistrationOutcome, Error> {
    let user = actor.require_user()?;
    users::lock(tx, user)?;
    network::users::find_active(tx, user)?;
    let client_data = decode_base64url(&new.client_data);
    let Ok(client_data) = consume_challenge(tx, &client_data, REGISTRATION, user)? else {
        return Ok(PasskeyRegistrationOutcome::Refused);
    };
    let checked = client_data.check(site, "webauthn.create");
    let credential = checked.and_then(|()| NewCredential::parse(site, &decode_base64url(&new.authenticator_data)));
    let Ok(credential) = credential else {
        return Ok(PasskeyRegistrationOutcome::Refused);
    };
    require_room(list(tx, user)?.len())?;
    let passkey = Passkey {
        credential_id: credential.id,
        user_id: user,
        public_key: credential.public_key,
        sign_count: i64::from(credential.sign_count),
        name: shorten_name(&new.name),
        created_at: tx.now(),
        last_used_at: None,
    };
    if !passkeys::insert(tx, &passkey)? {
        return Ok(PasskeyRegistrationOutcome::Refused);
    }
    record_change(tx, email_site, actor, AuditAction::PASSKEY_ADD, user, &passkey.name)?;
    Ok(PasskeyRegistrationOutcome::Added)
}

fn shorten_name(name: &str) -> String {
    let letters = name.trim().chars().filter(|letter| !letter.is_control());
    let name: String = letters.take(MAX_NAME_CHARS).collect();
    if name.is_empty() { "Passkey".to_owned() } else { name }
}

/// Removes a passkey of the actor. The caller has verified the password. Returns false if there is no such passkey.
pub fn remove(tx: &mut Tx<'_>, email_site: &EmailSite, actor: &AuditActor, id: &str) -> Result<bool, Error> {
    let user = actor.require_user()?;
    let Some(name) = passkeys::delete(tx, user, &decode_base64url(id))? else {
        return Ok(false);
    };
    record_change(tx, email_site, actor, AuditAction::PASSKEY_REMOVE, user, &name)?;
    Ok(true)
}

/// Removes all passkeys of an account, for an operator; returns how many there were.
pub fn remove_all(tx: &mut Tx<'_>, email_site: &EmailSite, actor: &AuditActor, user: &User) -> Result<usize, Error> {
    let all = list(tx, user.id)?;
    for passkey in &all {
        passkeys::delete(tx, user.id, &passkey.credential_id)?;
        record_change(tx, email_site, actor, AuditAction::PASSKEY_REMOVE, user.id, &passkey.name)?;
    }
    expire_registration(tx, user.id)?;
    Ok(all.len())
}

/// In the audit log and to the member.
fn record_change(
    tx: &mut Tx<'_>,
    email_site: &EmailSite,
    actor: &AuditActor,
    action: AuditAction,
    user: UserId,
    name: &str,
) -> Result<(), Fault> {
    audit::append(tx, actor, action, None, &json!({"user": user.to_string(), "name": name}))?;
    let was_added = action == AuditAction::PASSKEY_ADD;
    let what =
        if was_added { "was added to your account, which it can sign in to" } else { "was removed from your account" };
    notify_user(tx, email_site, user, TOPIC, &format!("The passkey “{name}” {what}."))
}
