//! Grants and revokes roles on accounts, by an administrator of the account or an operator.

use ads_engine::{AdsRecord, AdsRole, RequiredRole, role_not_allowed};
use base::refusal::AdsProblem;
use base::{Error, UserId};
use network::audit::{self, AuditAction, AuditActor};
use serde_json::json;
use store::ads::{self, AdsAccountAccess};
use store::{Tx, records};

use crate::resources::accounts::ACCOUNT;

/// Grants a role on an account, optionally with permission to compose posts. Replaces an earlier role.
pub fn grant_role(
    tx: &mut Tx<'_>,
    actor: &AuditActor,
    account: &AdsRecord,
    user: UserId,
    (role, composes): (AdsRole, bool),
) -> Result<(), Error> {
    if composes && !role.may_compose_posts() {
        let message = "This role makes no posts in the account's name";
        return Err(AdsProblem::invalid_attribute("composes", message).into());
    }
    ensure_may_manage_roles(tx, actor, account)?;
    if role != AdsRole::Admin {
        ensure_admin_remains(tx, actor, account, user)?;
    }
    let access =
        AdsAccountAccess { user_id: user, account_id: account.id, role: role.name().to_owned(), can_compose: composes };
    ads::grant_access(tx, &access)?;
    let detail = json!({
        "account_id": account.formatted_id(),
        "user_id": user.to_string(),
        "role": role.name(),
        "composes": composes,
    });
    Ok(audit::append(tx, actor, AuditAction::ADS_ROLE_GIVE, None, &detail)?)
}

/// Revokes a user's role on an account. Does nothing if the user has none.
pub fn revoke_role(tx: &mut Tx<'_>, actor: &AuditActor, account: &AdsRecord, user: UserId) -> Result<(), Error> {
    ensure_may_manage_roles(tx, actor, account)?;
    ensure_admin_remains(tx, actor, account, user)?;
    if !ads::revoke_access(tx, user, account.id)? {
        return Ok(());
    }
    let detail = json!({
        "account_id": account.formatted_id(),
        "user_id": user.to_string(),
    });
    Ok(audit::append(tx, actor, AuditAction::ADS_ROLE_TAKE, None, &detail)?)
}

/// Refuses actors who may not manage roles. Locks the account, so that role changes are serialized.
fn ensure_may_manage_roles(tx: &mut Tx<'_>, actor: &AuditActor, account: &AdsRecord) -> Result<(), Error> {
    records::lock(tx, ACCOUNT.name, account.id)?;
    if actor.operator {
        return Ok(());
    }
    let own = match actor.user {
        Some(user) => ads::find_access(tx, user, account.id)?,
        None => None,
    };
    let own = own.and_then(|own| AdsRole::parse(&own.role));
    if own.is_some_and(|own| RequiredRole::Admin.allows_role(own)) {
        return Ok(());
    }
    Err(role_not_allowed())
}

/// Refuses to leave an account without an administrator; operators may.
fn ensure_admin_remains(
    tx: &mut Tx<'_>,
    actor: &AuditActor,
    account: &AdsRecord,
    without: UserId,
) -> Result<(), Error> {
    if actor.operator {
        return Ok(());
    }
    let rules = |access: &AdsAccountAccess| AdsRole::parse(&access.role) == Some(AdsRole::Admin);
    let all = ads::list_access_by_account(tx, account.id)?;
    let (mut own, mut others) = (false, false);
    for access in all.iter().filter(|access| rules(access)) {
        own |= access.user_id == without;
        others |= access.user_id != without;
    }
    if others || !own {
        return Ok(());
    }
    let message = "The account needs an administrator: make somebody else one first";
    Err(AdsProblem::invalid_attribute("role", message).into())
}
