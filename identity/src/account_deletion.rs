//! Deletion of accounts: hidden at once, and erased after a time in which they can be restored.

mod erasure;

use base::secret::digest;
use base::{AccountTimeZone, Error, Fault, Refusal, Secret, Time, UserId};
use serde_json::json;
use store::account_deletions::{self, AccountDeletion};
use store::users::{self, User, UserState};
use store::{Tx, sessions};

use crate::email_links::create_link;
use crate::pending_sign_ins;
use crate::sessions::SignInMethod;
use network::audit::{self, AuditAction, AuditActor};
use network::emails::{self, EmailSite};
use network::{activity, member_time_zones, user_roles};

pub use erasure::{erase_part, find_due, postpone, reopen_incomplete};
pub use store::account_deletions::next_due;

/// How long a deleted account can be restored: 30 days.
pub const RESTORATION_PERIOD_MS: i64 = 30 * 24 * 3600 * 1000;
/// How long the form that restores an account works after signing in.
const LINK_TTL_MS: i64 = 30 * 60 * 1000;
const RESTORE: &str = "restore";
/// After a sign-in that needs no code.
const RESTORE_BY_PASSKEY: &str = "restore_by_passkey";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErasureTime {
    /// After [`RESTORATION_PERIOD_MS`].
    Later,
    /// As soon as the background job comes to it.
    Now,
}

/// What somebody is offered who signs in to an account that they have deleted.
#[derive(Clone, Debug)]
pub struct RestorationOffer {
    /// Restores the account once.
    pub secret: Secret,
    pub username: String,
    pub erase_at: Time,
    /// The owner's.
    pub zone: AccountTimeZone,
}

#[derive(Clone, Debug)]
pub enum RestorationOutcome {
    Restored(UserId),
    /// The account is restored with the session that a right code starts.
    CodeNeeded {
        /// The secret of the pending sign-in.
        pending: Secret,
    },
}

/// Deletes the actor's own account: it is hidden, and its sessions and tokens end at the commit. Refused for the last
/// owner of the site.
pub fn request(tx: &mut Tx<'_>, site: &EmailSite, actor: &AuditActor) -> Result<Time, Error> {
    let user = actor.require_user()?;
    users::lock(tx, user)?;
    user_roles::require_other_owner(tx, user)?;
    let user = network::users::find_active(tx, user)?;
    delete(tx, Some(site), actor, user, ErasureTime::Later)
}

/// As [`request`], by an operator. With [`ErasureTime::Now`], also for an account that is deleted but not erased yet.
pub fn order(tx: &mut Tx<'_>, site: Option<&EmailSite>, id: UserId, time: ErasureTime) -> Result<Time, Error> {
    users::lock(tx, id)?;
    let user = users::find_by_id(tx, id)?.filter(|user| user.state != UserState::Placeholder);
    let user = user.ok_or_else(|| Refusal::invalid_value("user", id))?;
    if user.state == UserState::Deleted && time == ErasureTime::Later {
        return Err(Refusal::invalid_value("user", id).into());
    }
    if user.state != UserState::Deleted {
        user_roles::require_other_owner(tx, id)?;
    }
    delete(tx, site, &AuditActor::operator(), user, time)
}

fn delete(
    tx: &mut Tx<'_>,
    site: Option<&EmailSite>,
    actor: &AuditActor,
    user: User,
    time: ErasureTime,
) -> Result<Time, Error> {
    let now = tx.now();
    let erase_at = match time {
        ErasureTime::Later => now.plus_ms(RESTORATION_PERIOD_MS),
        ErasureTime::Now => now,
    };
    let deletion = AccountDeletion {
        user_id: user.id,
        requested_at: now,
        by_owner: !actor.operator,
        erase_at,
        started_at: None,
        step: 0,
        finished_at: None,
    };
    if !account_deletions::insert(tx, &deletion)? {
        account_deletions::set_erase_at(tx, user.id, erase_at)?;
    }
    if user.state == UserState::Deleted {
        return Ok(erase_at);
    }
    sessions::revoke_user_tokens(tx, user.id)?;
    crate::sessions::revoke_all(tx, actor, user.id, None)?;
    pending_sign_ins::expire(tx, user.id)?;
    activity::end_user_subscriptions(tx, user.id)?;
    if let (Some(site), ErasureTime::Later) = (site, time) {
        let text = format!(
            "Your account @{} on {} was deleted. Nobody sees it any more, and its data will be erased on \
             {}.{}",
            user.username,
            site.name(),
            member_time_zones::find(tx, user.id)?.format_long(erase_at),
            if actor.operator {
                String::new()
            } else {
                format!("\n\nTo restore it until then, sign in:\n\n{}", site.build_url("/login"))
            },
        );
        emails::enqueue_to_member(tx, &user, site.account_subject(&user), &text, None)?;
    }
    crate::account_states::set_deleted(tx, actor, user)?;
    Ok(erase_at)
}

/// Makes sure that nothing more of an account is erased. Refused if that has begun.
pub(crate) fn cancel(tx: &mut Tx<'_>, user: UserId) -> Result<(), Error> {
    if account_deletions::cancel(tx, user)? || account_deletions::find(tx, user)?.is_none() {
        return Ok(());
    }
    Err(Refusal::forbidden("The data of this account was erased: it cannot be restored.").into())
}

/// None unless the account's owner has deleted it and can still restore it.
pub(crate) fn offer_restoration(
    tx: &mut Tx<'_>,
    user: &User,
    method: SignInMethod,
) -> Result<Option<RestorationOffer>, Fault> {
    let Some(deletion) = find_own_restorable(tx, user.id)? else {
        return Ok(None);
    };
    store::emails::expire_links(tx, user.id, RESTORE)?;
    store::emails::expire_links(tx, user.id, RESTORE_BY_PASSKEY)?;
    let purpose = match method {
        SignInMethod::Password => RESTORE,
        SignInMethod::Passkey => RESTORE_BY_PASSKEY,
    };
    let secret = create_link(tx, purpose, user.id, "", LINK_TTL_MS)?;
    let zone = member_time_zones::find(tx, user.id)?;
    Ok(Some(RestorationOffer { secret, username: user.username.clone(), erase_at: deletion.erase_at, zone }))
}

/// None unless the account's owner has deleted it and can still restore it.
pub(crate) fn find_own_restorable(tx: &mut Tx<'_>, user: UserId) -> Result<Option<AccountDeletion>, Fault> {
    let found = account_deletions::find(tx, user)?;
    let now = tx.now();
    Ok(found.filter(|deletion| deletion.by_owner && deletion.started_at.is_none() && deletion.erase_at > now))
}

/// With the secret of a [`RestorationOffer`], which works once: restores the account unless its second factor is missing.
pub fn accept_restoration(tx: &mut Tx<'_>, secret: &Secret, address: &str) -> Result<RestorationOutcome, Error> {
    let key = digest(secret.expose_secret());
    let link = match store::emails::find_link(tx, &key, RESTORE)? {
        Some(link) => Some(link),
        None => store::emails::find_link(tx, &key, RESTORE_BY_PASSKEY)?,
    };
    let link = link.ok_or_else(dead_offer_refusal)?;
    users::lock(tx, link.user_id)?;
    if find_own_restorable(tx, link.user_id)?.is_none() || !store::emails::mark_link_used(tx, &key)? {
        return Err(dead_offer_refusal().into());
    }
    if link.purpose == RESTORE
        && let Some(pending) = pending_sign_ins::create_for_restoration(tx, link.user_id)?
    {
        return Ok(RestorationOutcome::CodeNeeded { pending });
    }
    Ok(RestorationOutcome::Restored(restore(tx, link.user_id, address)?.id))
}

fn dead_offer_refusal() -> Refusal {
    Refusal::forbidden("This form no longer works. Sign in again.")
}

/// Restores an account whose owner has proved who they are. Tokens of apps stay revoked.
pub(crate) fn restore(tx: &mut Tx<'_>, id: UserId, address: &str) -> Result<User, Error> {
    users::lock(tx, id)?;
    cancel(tx, id)?;
    let user = users::find_by_id(tx, id)?.filter(|user| user.state == UserState::Deleted);
    let user = user.ok_or_else(dead_offer_refusal)?;
    crate::account_states::set_active(tx, &AuditActor::user(user.id, address), user)
}

/// The audit entry of an erased account.
fn record_erasure(tx: &mut Tx<'_>, user: &User) -> Result<(), Fault> {
    let detail = json!({"user": user.id.to_string(), "username": user.username});
    audit::append(tx, &AuditActor::default(), AuditAction::USER_ERASE, None, &detail)
}
