//! Suspension, deletion and restoration of accounts, and changes of their passwords.

use base::{Error, Refusal, UserId};
use network::audit::{self, AuditAction, AuditActor, user_detail};
use network::user_roles;
use serde_json::json;
use store::moderation::{self, ModerationAction, ModerationKind};
use store::users::{self, User, UserState};
use store::{Tx, event_log};

use crate::{account_deletion, apps, email_links, pending_sign_ins};

/// Changes an account's state, with an audit entry.
fn change_state(
    tx: &mut Tx<'_>,
    actor: &AuditActor,
    mut user: User,
    kind: AuditAction,
    state: UserState,
) -> Result<User, Error> {
    let before = match user.state {
        UserState::Suspended => "suspended",
        UserState::Deleted => "deleted",
        UserState::Active | UserState::Placeholder => "active",
    };
    // Somebody else may have confirmed the address of a deleted account.
    if user.state == UserState::Deleted && user.email_confirmed {
        user.email_confirmed = !email_links::is_confirmed_by_another(tx, user.id, &user.email)?;
    }
    user.state = state;
    users::update(tx, &user)?;
    let body = json!({ "before": before }).to_string();
    event_log::append(tx, kind.name(), user.id.get(), user.id.get(), &body)?;
    audit::append(tx, actor, kind, None, &user_detail(user.id))?;
    Ok(user)
}

/// Hides an account and its posts until it is restored.
pub fn suspend(tx: &mut Tx<'_>, id: UserId) -> Result<User, Error> {
    users::lock(tx, id)?;
    let user = network::users::find(tx, id)?;
    user_roles::require_other_owner(tx, id)?;
    let action = ModerationAction {
        id: tx.next_id::<()>().get(),
        kind: ModerationKind::Suspend,
        user_id: id,
        post_id: None,
        moderator_id: None,
        reason: String::new(),
        ends_at: None,
        content: String::new(),
        lifted_at: None,
    };
    moderation::insert(tx, &action)?;
    change_state(tx, &AuditActor::operator(), user, AuditAction::USER_SUSPEND, UserState::Suspended)
}

/// Suspends an account or ends its suspension, as the moderation actions in force ask for.
pub(crate) fn set_suspended(tx: &mut Tx<'_>, actor: &AuditActor, user: User, suspended: bool) -> Result<(), Error> {
    if suspended {
        change_state(tx, actor, user, AuditAction::USER_SUSPEND, UserState::Suspended)?;
    } else {
        change_state(tx, actor, user, AuditAction::USER_RESTORE, UserState::Active)?;
    }
    Ok(())
}

/// Restores a suspended or deleted account with posts and relations. Tokens of a deleted account stay revoked. Refused
/// if its data was erased.
pub fn restore(tx: &mut Tx<'_>, id: UserId) -> Result<User, Error> {
    users::lock(tx, id)?;
    let user = users::find_by_id(tx, id)?.filter(|user| user.state != UserState::Placeholder);
    let user = user.ok_or_else(|| Refusal::invalid_value("user", id))?;
    account_deletion::cancel(tx, id)?;
    moderation::lift_suspensions(tx, id)?;
    apps::set_owner_banned(tx, id, false)?;
    change_state(tx, &AuditActor::operator(), user, AuditAction::USER_RESTORE, UserState::Active)
}

/// Hides an account and its posts until it is restored or erased.
pub(crate) fn set_deleted(tx: &mut Tx<'_>, actor: &AuditActor, user: User) -> Result<User, Error> {
    change_state(tx, actor, user, AuditAction::USER_DELETE, UserState::Deleted)
}

/// Shows a deleted account again.
pub(crate) fn set_active(tx: &mut Tx<'_>, actor: &AuditActor, user: User) -> Result<User, Error> {
    change_state(tx, actor, user, AuditAction::USER_RESTORE, UserState::Active)
}

/// `hash` is from [`crate::passwords::hash`].
pub fn set_password(tx: &mut Tx<'_>, id: UserId, hash: &str) -> Result<(), Error> {
    network::users::find(tx, id)?;
    replace_password(tx, id, hash)
}

/// As [`set_password`], in any state of the account.
pub(crate) fn replace_password(tx: &mut Tx<'_>, id: UserId, hash: &str) -> Result<(), Error> {
    users::set_password_hash(tx, id, hash)?;
    pending_sign_ins::expire(tx, id)?;
    email_links::expire_links_of_old_password(tx, id)?;
    Ok(event_log::append(tx, "user.password", id.get(), id.get(), "")?)
}
