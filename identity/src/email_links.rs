//! Links sent by email. Each works once, expires, and is stored only as its SHA-256. Opening its page does not use it
//! up, since mail programs fetch links too.

use base::secret::digest;
use base::{Error, Fault, Refusal, Secret, UserId};
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use store::account_deletions::AccountDeletion;
use store::attempt_limits::{AttemptDecision, AttemptRateLimit};
use store::emails::EmailLink;
use store::users::{User, UserState};
use store::{Tx, users};

use crate::account_deletion::{RestorationOffer, find_own_restorable, offer_restoration};
use crate::sessions::SignInMethod;
use crate::sign_in::{PasswordProof, SignInService, address_bucket, find_user_by_login, normalize_login};
use crate::{registration, sessions};
use network::attempt_limits::charge_action;
use network::audit::{self, AuditAction, AuditActor, user_detail};
use network::emails::{self, CONFIRM_PATH, EmailMessage, EmailSite, JOIN_PATH, RESET_PATH};
use network::member_time_zones;

/// Lifetime of links that confirm an address or set a password.
pub const TTL_MS: i64 = 30 * 60 * 1000;
pub const INVITE_TTL_MS: i64 = 7 * 24 * 3600 * 1000;

/// Characters of a link's secret: 5.95 bits each, over 256 bits in total.
const SECRET_LENGTH: usize = 44;

const CONFIRM: &str = "confirm";
const RESET: &str = "reset";
pub(crate) const INVITE: &str = "invite";

/// Attempts to register from one client address, or with one invitation.
const REGISTRATIONS: AttemptRateLimit = AttemptRateLimit { burst: 20, refill_interval_ms: 60_000 };
/// Emails caused by one client address.
const EMAILS_PER_ADDRESS: AttemptRateLimit = AttemptRateLimit { burst: 5, refill_interval_ms: 60_000 };
/// Emails sent to one account.
const EMAILS_PER_ACCOUNT: AttemptRateLimit = AttemptRateLimit { burst: 3, refill_interval_ms: 5 * 60_000 };
/// Emails of one kind sent to one address, whoever causes them: at most five in any hour.
const EMAILS_PER_RECIPIENT: AttemptRateLimit = AttemptRateLimit { burst: 4, refill_interval_ms: 45 * 60_000 };

pub(crate) fn create_link(
    tx: &mut Tx<'_>,
    purpose: &str,
    user: UserId,
    email: &str,
    ttl_ms: i64,
) -> Result<Secret, Fault> {
    let secret = Secret::new(tx.rng().random_token(SECRET_LENGTH)?);
    let link = EmailLink {
        purpose: purpose.to_owned(),
        user_id: user,
        email: email.to_owned(),
        expires_at: tx.now().plus_ms(ttl_ms),
    };
    store::emails::insert_link(tx, &secret.digest(), &link)?;
    Ok(secret)
}

fn dead_link_refusal() -> Refusal {
    Refusal::forbidden("This link no longer works. Request a new one.")
}

fn consume_link(tx: &mut Tx<'_>, secret: &str, purpose: &str) -> Result<EmailLink, Error> {
    let link = store::emails::find_link(tx, &digest(secret), purpose)?.ok_or_else(dead_link_refusal)?;
    if !store::emails::mark_link_used(tx, &digest(secret))? {
        return Err(dead_link_refusal().into());
    }
    Ok(link)
}

/// Sends a link that confirms an address. If another user has confirmed the address, that user is notified instead;
/// nothing is sent to an address that got too many. The caller cannot tell the difference.
pub fn send_email_confirmation(tx: &mut Tx<'_>, site: &EmailSite, user: &User, email: &str) -> Result<(), Fault> {
    send_email_confirmation_after(tx, site, user, email, "")
}

/// As [`send_email_confirmation`], after a paragraph about why.
pub(crate) fn send_email_confirmation_after(
    tx: &mut Tx<'_>,
    site: &EmailSite,
    user: &User,
    email: &str,
    paragraph: &str,
) -> Result<(), Fault> {
    let may_send = may_send_email(tx, CONFIRM, email)?;
    if !may_send && store::emails::pending_address(tx, user.id, CONFIRM)?.as_deref() == Some(email) {
        // The link of the last email goes on working.
        return Ok(());
    }
    store::emails::expire_links(tx, user.id, CONFIRM)?;
    let owner = users::find_by_email(tx, email)?;
    let owner = owner.filter(|owner| owner.email_confirmed && owner.id != user.id);
    // Created in any case, so that the caller cannot tell the difference.
    let secret = create_link(tx, CONFIRM, user.id, email, TTL_MS)?;
    if !may_send {
        return Ok(());
    }
    let (subject, text, ttl_ms) = if let Some(owner) = owner {
        let text = format!(
            "Hello,\n\nSomeone, perhaps you, entered this email address for the account @{} on {}. It \
             already belongs to your account @{}, so nothing was changed.\n",
            user.username,
            site.name(),
            owner.username,
        );
        (format!("Your email address on {}", site.name()), text, None)
    } else {
        let text = format!(
            "Hello,\n\n{paragraph}Confirm that this email address belongs to your account @{} on {}:\n\n{}\n\n\
             The link works once and expires after 30 minutes. If you did not request it, ignore \
             this email.\n",
            user.username,
            site.name(),
            site.build_link(CONFIRM_PATH, &secret),
        );
        let subject = format!("Confirm your email address on {}", site.name());
        (subject, text, Some(TTL_MS))
    };
    enqueue_email(tx, email, &subject, &text, ttl_ms)
}

/// Counts an email to an address. Tags (`name+tag@`) usually lead to one mailbox, so they count together.
fn may_send_email(tx: &mut Tx<'_>, kind: &str, to: &str) -> Result<bool, Fault> {
    let (local, domain) = to.rsplit_once('@').unwrap_or((to, ""));
    let local = local.split('+').next().unwrap_or(local);
    let recipient = format!("{local}@{domain}").to_lowercase();
    let decision = charge_action(tx, &format!("letter.{kind}"), &recipient, EMAILS_PER_RECIPIENT)?;
    Ok(decision == AttemptDecision::Allowed)
}

/// Tells a user, if there is an address, what happened to the account's sign-in. The topic is what the subject names.
pub(crate) fn notify_user(
    tx: &mut Tx<'_>,
    site: &EmailSite,
    user: UserId,
    topic: &str,
    what: &str,
) -> Result<(), Fault> {
    let Some(user) = users::find_by_id(tx, user)?.filter(|user| !user.email.is_empty()) else {
        return Ok(());
    };
    let text = format!(
        "Hello,\n\n{what}\n\nThe account is @{} on {}. If this was not you, reset your password and look at the \
         security events in your settings.\n",
        user.username,
        site.name(),
    );
    let subject = format!("{topic} on {}", site.name());
    notify_recipient(tx, topic, &user.email, &subject, &text)
}

/// Sends an email without a link, unless its recipient got too many.
pub(crate) fn notify_recipient(tx: &mut Tx<'_>, kind: &str, to: &str, subject: &str, text: &str) -> Result<(), Fault> {
    if may_send_email(tx, kind, to)? { enqueue_email(tx, to, subject, text, None) } else { Ok(()) }
}

/// An email with a link is not sent after the link has expired.
fn enqueue_email(tx: &mut Tx<'_>, to: &str, subject: &str, text: &str, ttl_ms: Option<i64>) -> Result<(), Fault> {
    let email_message = EmailMessage {
        id: String::new(),
        to: to.to_owned(),
        subject: subject.to_owned(),
        text: Secret::new(text),
        expires_at: ttl_ms.map(|ttl_ms| tx.now().plus_ms(ttl_ms)),
    };
    emails::enqueue(tx, &email_message)
}

/// The address that the user has not confirmed yet.
pub fn pending_email(tx: &mut Tx<'_>, user: UserId) -> Result<Option<String>, Fault> {
    store::emails::pending_address(tx, user, CONFIRM)
}

/// As [`pending_email`], or the account's own address if that is not confirmed.
pub fn unconfirmed_email(tx: &mut Tx<'_>, user: &User) -> Result<Option<String>, Fault> {
    let own = (!user.email_confirmed).then(|| user.email.clone());
    let email = pending_email(tx, user.id)?.or(own);
    Ok(email.filter(|email| !email.is_empty()))
}

/// Sends another link to the unconfirmed address; returns the address, if there is one.
pub fn resend_confirmation(tx: &mut Tx<'_>, site: &EmailSite, actor: &AuditActor) -> Result<Option<String>, Error> {
    let user = network::users::find_active(tx, actor.user.ok_or_else(dead_link_refusal)?)?;
    let Some(email) = unconfirmed_email(tx, &user)? else {
        return Ok(None);
    };
    let decision = charge_action(tx, "letter.account", &user.id.to_string(), EMAILS_PER_ACCOUNT)?;
    if decision != AttemptDecision::Allowed {
        return Err(Refusal::RateLimited.into());
    }
    send_email_confirmation(tx, site, &user, &email)?;
    Ok(Some(email))
}

/// Cancels a change of address that was not confirmed yet.
pub fn cancel_email_change(tx: &mut Tx<'_>, actor: &AuditActor) -> Result<(), Error> {
    let user = actor.user.ok_or_else(dead_link_refusal)?;
    if store::emails::pending_address(tx, user, CONFIRM)?.is_some() {
        store::emails::expire_links(tx, user, CONFIRM)?;
        audit::append(tx, actor, AuditAction::EMAIL_CANCEL, None, &user_detail(user))?;
    }
    Ok(())
}

/// Ends what somebody who knew the old password may have begun: resets, and the change to another email address.
pub(crate) fn expire_links_of_old_password(tx: &mut Tx<'_>, id: UserId) -> Result<(), Fault> {
    store::emails::expire_links(tx, id, RESET)?;
    let pending = store::emails::pending_address(tx, id, CONFIRM)?;
    let user = users::find_by_id(tx, id)?;
    if let (Some(pending), Some(user)) = (pending, user)
        && !pending.eq_ignore_ascii_case(&user.email)
    {
        store::emails::expire_links(tx, id, CONFIRM)?;
    }
    Ok(())
}

/// Makes the address of a confirmation link the user's confirmed address, and notifies the one before.
pub fn confirm_email(tx: &mut Tx<'_>, site: &EmailSite, secret: &str, address: &str) -> Result<User, Error> {
    let link = consume_link(tx, secret, CONFIRM)?;
    let user = users::find_by_id(tx, link.user_id)?.filter(|user| user.state == UserState::Active);
    let user = user.ok_or_else(dead_link_refusal)?;
    set_confirmed_email(tx, link.user_id, &link.email)?;
    if user.email_confirmed && !user.email.eq_ignore_ascii_case(&link.email) {
        let text = format!(
            "Hello,\n\nThe email address of your account @{} on {} was changed, and this one is not used any more. If \
             this was not you, ask the administrators for help.\n",
            user.username,
            site.name(),
        );
        let subject = format!("Your email address on {} was changed", site.name());
        notify_recipient(tx, "email-change", &user.email, &subject, &text)?;
    }
    let actor = AuditActor::user(link.user_id, address);
    audit::append(tx, &actor, AuditAction::EMAIL_CONFIRM, None, &user_detail(link.user_id))?;
    network::users::find_active(tx, link.user_id)
}

/// Refused if another user has confirmed the address.
fn set_confirmed_email(tx: &mut Tx<'_>, user: UserId, email: &str) -> Result<(), Error> {
    users::lock(tx, user)?;
    if is_confirmed_by_another(tx, user, email)? {
        return Err(dead_link_refusal().into());
    }
    Ok(users::set_email(tx, user, email, true)?)
}

/// Stays so until the end of the transaction. The caller has locked the user.
pub(crate) fn is_confirmed_by_another(tx: &mut Tx<'_>, user: UserId, email: &str) -> Result<bool, Fault> {
    users::lock_email(tx, email);
    let owner = users::find_by_email(tx, email)?;
    Ok(owner.is_some_and(|owner| owner.email_confirmed && owner.id != user))
}

/// Sends a confirmation link to a new address. The current one stays until then, and is notified. The caller has
/// [verified](SignInService::verify_password) the password.
pub fn request_email_change(tx: &mut Tx<'_>, site: &EmailSite, actor: &AuditActor, email: &str) -> Result<(), Error> {
    let email = email.trim();
    network::email_addresses::validate_email(email)?;
    let user = actor.user.ok_or_else(dead_link_refusal)?;
    let user = network::users::find_active(tx, user)?;
    let decision = charge_action(tx, "letter.account", &user.id.to_string(), EMAILS_PER_ACCOUNT)?;
    if decision != AttemptDecision::Allowed {
        return Err(Refusal::RateLimited.into());
    }
    send_email_confirmation(tx, site, &user, email)?;
    if user.email.is_empty() {
        users::set_email(tx, user.id, email, false)?;
    } else if user.email_confirmed && !user.email.eq_ignore_ascii_case(email) {
        let text = format!(
            "Hello,\n\nA new email address was requested for your account @{} on {}. This address stays in \
             use until the new one is confirmed. If this was not you, change your password.\n",
            user.username,
            site.name(),
        );
        let subject = format!("Your email address on {}", site.name());
        notify_recipient(tx, "email-change", &user.email, &subject, &text)?;
    }
    Ok(audit::append(tx, actor, AuditAction::EMAIL_CHANGE, None, &user_detail(user.id))?)
}

/// Sends a link to set a new password, if there is an account with an address that is active or that its owner can
/// restore; the caller cannot tell the difference. Returns false if the client is rate limited.
pub fn request_password_reset(tx: &mut Tx<'_>, site: &EmailSite, login: &str, address: &str) -> Result<bool, Error> {
    let login = normalize_login(login);
    let decision = charge_action(tx, "letter.address", &address_bucket(address), EMAILS_PER_ADDRESS)?;
    if decision != AttemptDecision::Allowed {
        return Ok(false);
    }
    // Counted by login, whether or not the account exists.
    let decision = charge_action(tx, "reset.account", &login, EMAILS_PER_ACCOUNT)?;
    let found = find_user_by_login(tx, &login)?;
    // Asked in any case, which must take the same time.
    let deletion = find_own_restorable(tx, found.as_ref().map_or(UserId::new(0), |user| user.id))?;
    let is_open = |user: &User| user.state == UserState::Active || is_restorable(user, deletion.as_ref());
    let found = found.filter(|user| is_open(user) && !user.email.is_empty());
    let actor = AuditActor::anonymous(address);
    let detail = found.as_ref().map_or(Value::Null, |user| user_detail(user.id));
    if let Some(user) = found.filter(|_| decision == AttemptDecision::Allowed)
        && may_send_email(tx, RESET, &user.email)?
    {
        store::emails::expire_links(tx, user.id, RESET)?;
        let secret = create_link(tx, RESET, user.id, &user.email, TTL_MS)?;
        let restored = match deletion {
            Some(deletion) if user.state == UserState::Deleted => format!(
                " You have deleted this account; its data will be erased on {}. With the new password you can \
                 restore it.",
                member_time_zones::find(tx, user.id)?.format_long(deletion.erase_at)
            ),
            _ => String::new(),
        };
        let text = format!(
            "Hello,\n\nChoose a new password for your account @{} on {}:\n\n{}\n\n\
             The link works once and expires after 30 minutes.{restored} If you did not request it, ignore \
             this email: your password stays the same.\n",
            user.username,
            site.name(),
            site.build_link(RESET_PATH, &secret),
        );
        enqueue_email(tx, &user.email, &format!("Reset your password on {}", site.name()), &text, Some(TTL_MS))?;
    }
    audit::append(tx, &actor, AuditAction::PASSWORD_RESET_ASKED, None, &detail)?;
    Ok(true)
}

/// The user of a valid reset link. Does not use the link up.
pub fn find_reset_user(tx: &mut Tx<'_>, secret: &str) -> Result<User, Error> {
    let link = store::emails::find_link(tx, &digest(secret), RESET)?.ok_or_else(dead_link_refusal)?;
    let user = users::find_by_id(tx, link.user_id)?.ok_or_else(dead_link_refusal)?;
    // Whoever reads the mail of an earlier address may not be the owner any more.
    if !link.email.eq_ignore_ascii_case(&user.email) {
        return Err(dead_link_refusal().into());
    }
    let deletion = find_own_restorable(tx, user.id)?;
    if user.state == UserState::Active || is_restorable(&user, deletion.as_ref()) {
        return Ok(user);
    }
    Err(dead_link_refusal().into())
}

fn is_restorable(user: &User, deletion: Option<&AccountDeletion>) -> bool {
    user.state == UserState::Deleted && deletion.is_some()
}

/// Sets a new password by a link. Ends all sessions and, with `end_tokens`, disconnects all apps. If the address was not
/// confirmed before, it disconnects all apps, removes all passkeys and turns two-factor sign-in off in any case. An account
/// that its owner has deleted stays deleted; the returned offer restores it.
pub fn reset_password<'a>(
    sign_in: &'a SignInService,
    site: &'a EmailSite,
    secret: &'a Secret,
    password: &'a Secret,
    end_tokens: bool,
    address: &'a str,
) -> BoxFuture<'a, Result<Option<RestorationOffer>, Error>> {
    Box::pin(async move {
        let text = secret.clone();
        let user = sign_in.store.read(move |tx| find_reset_user(tx, text.expose_secret())).await?;
        registration::validate_password(password, &user.username, &user.email)?;
        let hash = sign_in.pool.hash(password, &sign_in.store.context().rng).await?;
        let (site, secret, address) = (site.clone(), secret.clone(), address.to_owned());
        let work = move |tx: &mut Tx<'_>| {
            let user = find_reset_user(tx, secret.expose_secret())?;
            let link = consume_link(tx, secret.expose_secret(), RESET)?;
            let actor = AuditActor::user(user.id, &address);
            // Somebody else may have registered with the address.
            let end_tokens = end_tokens || !user.email_confirmed;
            apply_new_password(tx, &site, &user, &hash, None, end_tokens, &actor)?;
            // The link's recipient can read emails to its address.
            if !user.email_confirmed {
                crate::passkeys::remove_all(tx, &site, &actor, &user)?;
                crate::two_factor::disable(tx, &site, &actor, user.id)?;
                match set_confirmed_email(tx, user.id, &link.email) {
                    Ok(()) | Err(Error::Refused(_)) => {}
                    Err(error) => return Err(error),
                }
            }
            let detail = json!({"user": user.id.to_string(), "tokens": end_tokens});
            audit::append(tx, &actor, AuditAction::PASSWORD_RESET, None, &detail)?;
            if user.state == UserState::Deleted {
                Ok(offer_restoration(tx, &user, SignInMethod::Password)?)
            } else {
                Ok(None)
            }
        };
        sign_in.store.write(work).await
    })
}

/// Sets a new password after [verifying](SignInService::verify_password) the old one. Ends all other sessions and,
/// with `end_tokens`, disconnects all apps. Returns the session's new secret.
pub fn change_password<'a>(
    sign_in: &'a SignInService,
    site: &'a EmailSite,
    session: &'a sessions::UserSession,
    old: &'a PasswordProof<'a>,
    new: &'a Secret,
    end_tokens: bool,
) -> BoxFuture<'a, Result<Secret, Error>> {
    Box::pin(async move {
        let id = session.user_id;
        let user = sign_in.store.read(move |tx| network::users::find_active(tx, id)).await?;
        registration::validate_password(new, &user.username, &user.email)?;
        sign_in.verify_password(id, old).await?;
        let hash = sign_in.pool.hash(new, &sign_in.store.context().rng).await?;
        let (site, session, address) = (site.clone(), session.clone(), old.client_info.address.clone());
        let work = move |tx: &mut Tx<'_>| {
            let user = network::users::find_active(tx, session.user_id)?;
            let actor = AuditActor::user(user.id, &address);
            apply_new_password(tx, &site, &user, &hash, Some(session.id), end_tokens, &actor)?;
            let detail = json!({"user": user.id.to_string(), "tokens": end_tokens});
            audit::append(tx, &actor, AuditAction::PASSWORD_CHANGE, None, &detail)?;
            Ok(sessions::renew(tx, &session)?.0)
        };
        sign_in.store.write(work).await
    })
}

fn apply_new_password(
    tx: &mut Tx<'_>,
    site: &EmailSite,
    user: &User,
    hash: &str,
    kept_session: Option<i64>,
    end_tokens: bool,
    actor: &AuditActor,
) -> Result<(), Error> {
    users::lock(tx, user.id)?;
    crate::account_states::replace_password(tx, user.id, hash)?;
    sessions::revoke_all(tx, actor, user.id, kept_session)?;
    if end_tokens {
        crate::grants::revoke_all(tx, actor, user.id)?;
    }
    if user.email.is_empty() {
        return Ok(());
    }
    let text = format!(
        "Hello,\n\nThe password of your account @{} on {} was just changed. If this was not you, reset \
         it now.\n",
        user.username,
        site.name(),
    );
    let subject = format!("Your password on {} was changed", site.name());
    Ok(notify_recipient(tx, "password-change", &user.email, &subject, &text)?)
}

/// Creates an invitation link and, if an address is given that did not get too many, sends it there.
pub fn create_invitation(tx: &mut Tx<'_>, site: &EmailSite, actor: &AuditActor, email: &str) -> Result<String, Error> {
    if !email.is_empty() {
        network::email_addresses::validate_email(email)?;
    }
    let inviter = actor.user.unwrap_or(UserId::new(0));
    let secret = create_link(tx, INVITE, inviter, email, INVITE_TTL_MS)?;
    let link = site.build_link(JOIN_PATH, &secret);
    if !email.is_empty() && may_send_email(tx, INVITE, email)? {
        let text = format!(
            "Hello,\n\nYou are invited to join {}:\n\n{link}\n\nThe link works once and expires after 7 days.\n",
            site.name(),
        );
        let subject = format!("Join {}", site.name());
        enqueue_email(tx, email, &subject, &text, Some(INVITE_TTL_MS))?;
    }
    audit::append(tx, actor, AuditAction::USER_INVITE, None, &json!({"email": !email.is_empty()}))?;
    Ok(link)
}

/// Does not use the invitation up.
pub fn is_invitation_valid(tx: &mut Tx<'_>, secret: &str) -> Result<bool, Fault> {
    Ok(store::emails::find_link(tx, &digest(secret), INVITE)?.is_some())
}

pub(crate) fn accept_invitation(tx: &mut Tx<'_>, secret: &Secret) -> Result<(), Error> {
    let is_valid = store::emails::find_link(tx, &secret.digest(), INVITE)?.is_some();
    if !is_valid || !store::emails::mark_link_used(tx, &secret.digest())? {
        return Err(Refusal::invalid_field("invite", "This invitation is no longer valid.").into());
    }
    Ok(())
}

/// Returns false if registrations from the client address are rate limited. A valid invitation has a limit of its own:
/// many people of one organisation may come from one address.
pub(crate) fn count_registration_attempt(
    tx: &mut Tx<'_>,
    address: &str,
    invite: Option<&Secret>,
) -> Result<bool, Fault> {
    let decision = match invite {
        Some(secret) if store::emails::find_link(tx, &secret.digest(), INVITE)?.is_some() => {
            charge_action(tx, "join.invitation", secret.expose_secret(), REGISTRATIONS)?
        }
        _ => charge_action(tx, "join.address", &address_bucket(address), REGISTRATIONS)?,
    };
    Ok(decision == AttemptDecision::Allowed)
}
