//! Links that letters carry. Each works once, ends by itself, and is stored as its SHA-256 only.
//! Looking at a page with one does not use it up: mail programs look too.

use base::secret::digest;
use base::{Fault, Refusal, Secret, Stop, UserId};
use serde_json::{Value, json};
use store::attempt_limits::{AttemptDecision, AttemptRateLimit};
use store::emails::{self as stored, EmailLink};
use store::users::User;
use store::{Tx, users};

use crate::audit::{self, By, Kind};
use crate::letters::{self, CONFIRM_PATH, JOIN_PATH, Letter, RESET_PATH, Site};
use crate::sessions::about;
use crate::sign_in::{Gate, named, normal, place, throttled, wrong};
use crate::{joining, sessions};

/// How long a link to confirm an address or to set a password works.
pub const TTL_MS: i64 = 30 * 60 * 1000;
/// How long an invitation works.
pub const INVITE_TTL_MS: i64 = 7 * 24 * 3600 * 1000;

/// Characters of a link's secret, 5.95 bits each: over 256 bits.
const LENGTH: usize = 44;

const CONFIRM: &str = "confirm";
const RESET: &str = "reset";
const INVITE: &str = "invite";

/// Letters that one address may cause.
const ASKS_PER_ADDRESS: AttemptRateLimit = AttemptRateLimit {
    burst: 5,
    refill_interval_ms: 60_000,
};
/// Letters that one account may be sent.
const ASKS_PER_ACCOUNT: AttemptRateLimit = AttemptRateLimit {
    burst: 3,
    refill_interval_ms: 5 * 60_000,
};

fn new_link(
    tx: &mut Tx<'_>,
    purpose: &str,
    user: UserId,
    email: &str,
    ttl_ms: i64,
) -> Result<Secret, Fault> {
    let secret = Secret::new(tx.rng().token(LENGTH)?);
    let link = EmailLink {
        purpose: purpose.to_owned(),
        user_id: user,
        email: email.to_owned(),
        expires_at: tx.now().plus_ms(ttl_ms),
    };
    stored::insert_link(tx, &secret.digest(), &link)?;
    Ok(secret)
}

fn dead() -> Refusal {
    Refusal::forbidden("This link does not work any more. Ask for a new one.")
}

/// The link, if it works and its account takes part.
fn working(tx: &mut Tx<'_>, secret: &str, purpose: &str) -> Result<EmailLink, Stop> {
    let link = stored::find_link(tx, &digest(secret), purpose)?.ok_or_else(dead)?;
    match crate::users::active(tx, link.user_id) {
        Ok(_) => Ok(link),
        Err(Stop::Refused(_)) => Err(dead().into()),
        Err(failed) => Err(failed),
    }
}

fn use_up(tx: &mut Tx<'_>, secret: &str, purpose: &str) -> Result<EmailLink, Stop> {
    let link = working(tx, secret, purpose)?;
    if !stored::mark_link_used(tx, &digest(secret))? {
        return Err(dead().into());
    }
    Ok(link)
}

/// Sends a link that confirms an address for a user. To an address that somebody else has
/// confirmed a letter goes that says so, and nothing here tells the difference.
pub fn send_confirmation(
    tx: &mut Tx<'_>,
    site: &Site,
    user: &User,
    email: &str,
) -> Result<(), Fault> {
    stored::expire_links(tx, user.id, CONFIRM)?;
    let owner = users::find_by_email(tx, email)?;
    let owner = owner.filter(|owner| owner.email_confirmed && owner.id != user.id);
    // Made in any case, so that what the asker sees afterwards is the same.
    let secret = new_link(tx, CONFIRM, user.id, email, TTL_MS)?;
    let (subject, text, ttl_ms) = if let Some(owner) = owner {
        let text = format!(
            "Hello,\n\nsomeone, perhaps you, gave this address for the account @{} on {}. It \
             belongs to your account @{} already, and nothing was changed.\n",
            user.username,
            site.name(),
            owner.username,
        );
        (format!("Your address on {}", site.name()), text, None)
    } else {
        let text = format!(
            "Hello,\n\nconfirm that this address belongs to your account @{} on {}:\n\n{}\n\n\
             The link works once, for 30 minutes. If you did not ask for it, do nothing.\n",
            user.username,
            site.name(),
            site.link(CONFIRM_PATH, &secret),
        );
        let subject = format!("Confirm your address on {}", site.name());
        (subject, text, Some(TTL_MS))
    };
    send(tx, email, &subject, &text, ttl_ms)
}

/// Queues a letter; one with a link is too late once that has ended.
fn send(
    tx: &mut Tx<'_>,
    to: &str,
    subject: &str,
    text: &str,
    ttl_ms: Option<i64>,
) -> Result<(), Fault> {
    let letter = Letter {
        to: to.to_owned(),
        subject: subject.to_owned(),
        text: Secret::new(text),
        expires_at: ttl_ms.map(|ttl_ms| tx.now().plus_ms(ttl_ms)),
    };
    letters::queue(tx, &letter)
}

/// The address that waits for a user to confirm it, if one does.
pub fn pending_email(tx: &mut Tx<'_>, user: UserId) -> Result<Option<String>, Fault> {
    stored::pending_address(tx, user, CONFIRM)
}

/// Sends another letter to the address that waits to be confirmed, if one does.
pub fn resend_confirmation(tx: &mut Tx<'_>, site: &Site, by: &By) -> Result<Option<String>, Stop> {
    let user = crate::users::active(tx, by.user.ok_or_else(dead)?)?;
    let own = (!user.email_confirmed).then(|| user.email.clone());
    let email = stored::pending_address(tx, user.id, CONFIRM)?.or(own);
    let Some(email) = email.filter(|email| !email.is_empty()) else {
        return Ok(None);
    };
    let asked = throttled(tx, "letter.account", &user.id.to_string(), ASKS_PER_ACCOUNT)?;
    if asked != AttemptDecision::Allowed {
        return Err(Refusal::TooMany.into());
    }
    send_confirmation(tx, site, &user, &email)?;
    Ok(Some(email))
}

/// Takes back a change of the address that was not confirmed yet.
pub fn cancel_change(tx: &mut Tx<'_>, by: &By) -> Result<(), Stop> {
    let user = by.user.ok_or_else(dead)?;
    if stored::pending_address(tx, user, CONFIRM)?.is_some() {
        stored::expire_links(tx, user, CONFIRM)?;
        audit::append(tx, by, Kind::EMAIL_CANCEL, None, &about(user))?;
    }
    Ok(())
}

/// Confirms the address that a link was sent to: it is the user's address from now on.
pub fn confirm_email(tx: &mut Tx<'_>, secret: &str, address: &str) -> Result<User, Stop> {
    let link = use_up(tx, secret, CONFIRM)?;
    take_email(tx, link.user_id, &link.email)?;
    let by = By::user(link.user_id, address);
    audit::append(tx, &by, Kind::EMAIL_CONFIRM, None, &about(link.user_id))?;
    crate::users::active(tx, link.user_id)
}

/// Makes a confirmed address of one that the user has shown to read; refused when somebody else
/// has confirmed it before.
fn take_email(tx: &mut Tx<'_>, user: UserId, email: &str) -> Result<(), Stop> {
    let owner = users::find_by_email(tx, email)?;
    if owner.is_some_and(|owner| owner.email_confirmed && owner.id != user) {
        return Err(dead().into());
    }
    Ok(users::set_email(tx, user, email, true)?)
}

/// Asks for another address. The one that there is stays until the new one is confirmed, and is
/// told of it. Whoever calls this has [proved](Gate::prove) to know the password.
pub fn change_email(tx: &mut Tx<'_>, site: &Site, by: &By, email: &str) -> Result<(), Stop> {
    let email = email.trim();
    joining::check_email(email)?;
    let user = by.user.ok_or_else(dead)?;
    let user = crate::users::active(tx, user)?;
    let asked = throttled(tx, "letter.account", &user.id.to_string(), ASKS_PER_ACCOUNT)?;
    if asked != AttemptDecision::Allowed {
        return Err(Refusal::TooMany.into());
    }
    send_confirmation(tx, site, &user, email)?;
    if user.email.is_empty() {
        users::set_email(tx, user.id, email, false)?;
    } else if user.email_confirmed && !user.email.eq_ignore_ascii_case(email) {
        let text = format!(
            "Hello,\n\nanother address was given for your account @{} on {}. This one is used \
             until that one is confirmed. If it was not you, set a new password.\n",
            user.username,
            site.name(),
        );
        send(
            tx,
            &user.email,
            &format!("Your address on {}", site.name()),
            &text,
            None,
        )?;
    }
    Ok(audit::append(
        tx,
        by,
        Kind::EMAIL_CHANGE,
        None,
        &about(user.id),
    )?)
}

/// Sends a link to set a new password, if there is such an account with an address. Whether there
/// is, is not told.
pub fn ask_reset(tx: &mut Tx<'_>, site: &Site, login: &str, address: &str) -> Result<bool, Stop> {
    let login = normal(login);
    let asked = throttled(tx, "letter.address", &place(address), ASKS_PER_ADDRESS)?;
    if asked != AttemptDecision::Allowed {
        return Ok(false);
    }
    // Counted by what was asked for, whether or not it is there.
    let asked = throttled(tx, "reset.account", &login, ASKS_PER_ACCOUNT)?;
    let found = named(tx, &login)?;
    let found =
        found.filter(|user| user.state == users::UserState::Active && !user.email.is_empty());
    let by = By::nobody(address);
    let detail = found.as_ref().map_or(Value::Null, |user| about(user.id));
    if let Some(user) = found.filter(|_| asked == AttemptDecision::Allowed) {
        stored::expire_links(tx, user.id, RESET)?;
        let secret = new_link(tx, RESET, user.id, &user.email, TTL_MS)?;
        let text = format!(
            "Hello,\n\nset a new password for your account @{} on {}:\n\n{}\n\n\
             The link works once, for 30 minutes. If you did not ask for it, do nothing: your \
             password stays as it is.\n",
            user.username,
            site.name(),
            site.link(RESET_PATH, &secret),
        );
        send(
            tx,
            &user.email,
            &format!("A new password on {}", site.name()),
            &text,
            Some(TTL_MS),
        )?;
    }
    audit::append(tx, &by, Kind::PASSWORD_RESET_ASKED, None, &detail)?;
    Ok(true)
}

/// Whom a link to set a new password is for, if it works. It stays usable.
pub fn look_at_reset(tx: &mut Tx<'_>, secret: &str) -> Result<User, Stop> {
    let link = working(tx, secret, RESET)?;
    crate::users::active(tx, link.user_id)
}

/// Sets a new password by a link: every session ends, and, where asked for, every token.
pub async fn reset(
    gate: &Gate,
    site: &Site,
    secret: &Secret,
    password: &Secret,
    end_tokens: bool,
    address: &str,
) -> Result<UserId, Stop> {
    let text = secret.clone();
    let user = gate
        .store
        .read(move |tx| look_at_reset(tx, text.reveal()))
        .await?;
    joining::check_password(password, &user.username, &user.email)?;
    let hash = gate.pool.hash(password, &gate.store.context().rng).await?;
    let (site, secret, address) = (site.clone(), secret.clone(), address.to_owned());
    let work = move |tx: &mut Tx<'_>| {
        let link = use_up(tx, secret.reveal(), RESET)?;
        let user = crate::users::active(tx, link.user_id)?;
        let by = By::user(user.id, &address);
        new_password(tx, &site, &user, &hash, None, end_tokens, &by)?;
        // Whoever has the link reads the address that it went to.
        if !user.email_confirmed && user.email == link.email {
            match take_email(tx, user.id, &link.email) {
                Ok(()) | Err(Stop::Refused(_)) => {}
                Err(failed) => return Err(failed),
            }
        }
        let detail = json!({"user": user.id.to_string(), "tokens": end_tokens});
        audit::append(tx, &by, Kind::PASSWORD_RESET, None, &detail)?;
        Ok(user.id)
    };
    gate.store.write(work).await
}

/// Sets a new password for someone who is signed in and [proves](Gate::prove) to know the old one:
/// every other session ends, and, where asked for, every token.
pub async fn change_password(
    gate: &Gate,
    site: &Site,
    session: &sessions::UserSession,
    old: &Secret,
    new: &Secret,
    end_tokens: bool,
) -> Result<Secret, Stop> {
    let id = session.user_id;
    let user = gate
        .store
        .read(move |tx| crate::users::active(tx, id))
        .await?;
    joining::check_password(new, &user.username, &user.email)?;
    let facts = sessions::Facts {
        address: session.address.clone(),
        user_agent: session.user_agent.clone(),
    };
    gate.prove(id, old, &facts).await?;
    let hash = gate.pool.hash(new, &gate.store.context().rng).await?;
    let (site, session) = (site.clone(), session.clone());
    let work = move |tx: &mut Tx<'_>| {
        let user = crate::users::active(tx, session.user_id)?;
        let by = By::user(user.id, &session.address);
        new_password(tx, &site, &user, &hash, Some(session.id), end_tokens, &by)?;
        let detail = json!({"user": user.id.to_string(), "tokens": end_tokens});
        audit::append(tx, &by, Kind::PASSWORD_CHANGE, None, &detail)?;
        Ok(sessions::renew(tx, &session)?.0)
    };
    gate.store.write(work).await
}

fn new_password(
    tx: &mut Tx<'_>,
    site: &Site,
    user: &User,
    hash: &str,
    keep: Option<i64>,
    end_tokens: bool,
    by: &By,
) -> Result<(), Stop> {
    crate::users::set_password(tx, user.id, hash)?;
    stored::expire_links(tx, user.id, RESET)?;
    sessions::revoke_all(tx, by, user.id, keep)?;
    if end_tokens {
        crate::tokens::end_all(tx, user.id)?;
    }
    if user.email.is_empty() {
        return Ok(());
    }
    let text = format!(
        "Hello,\n\nthe password of your account @{} on {} was changed just now. If it was not you, \
         set a new one.\n",
        user.username,
        site.name(),
    );
    Ok(send(
        tx,
        &user.email,
        &format!("Your password on {}", site.name()),
        &text,
        None,
    )?)
}

/// Makes an invitation; with an address, it is sent there. `by` is who invites.
pub fn invite(tx: &mut Tx<'_>, site: &Site, by: &By, email: &str) -> Result<String, Stop> {
    if !email.is_empty() {
        joining::check_email(email)?;
    }
    let host = by.user.unwrap_or(UserId::new(0));
    let secret = new_link(tx, INVITE, host, email, INVITE_TTL_MS)?;
    let link = site.link(JOIN_PATH, &secret);
    if !email.is_empty() {
        let text = format!(
            "Hello,\n\nyou are invited to join {}:\n\n{link}\n\nThe link works once, for 7 days.\n",
            site.name(),
        );
        let subject = format!("Join {}", site.name());
        send(tx, email, &subject, &text, Some(INVITE_TTL_MS))?;
    }
    audit::append(
        tx,
        by,
        Kind::USER_INVITE,
        None,
        &json!({"email": !email.is_empty()}),
    )?;
    Ok(link)
}

/// Whether an invitation works. It stays usable.
pub fn invited(tx: &mut Tx<'_>, secret: &str) -> Result<bool, Fault> {
    Ok(stored::find_link(tx, &digest(secret), INVITE)?.is_some())
}

/// Uses an invitation up.
pub(crate) fn accept_invitation(tx: &mut Tx<'_>, secret: &Secret) -> Result<(), Stop> {
    let there = stored::find_link(tx, &secret.digest(), INVITE)?.is_some();
    if !there || !stored::mark_link_used(tx, &secret.digest())? {
        return Err(wrong("invite", "This invitation does not work any more.").into());
    }
    Ok(())
}

/// Counts an attempt to join from an address.
pub(crate) fn count_joining(tx: &mut Tx<'_>, address: &str) -> Result<bool, Fault> {
    let verdict = throttled(tx, "join.address", &place(address), ASKS_PER_ADDRESS)?;
    Ok(verdict == AttemptDecision::Allowed)
}
