//! Roles: who may moderate and administer the site.

use base::{Error, Refusal, UserId};
use serde_json::json;
use store::{Tx, user_roles};

use crate::audit::{self, AuditAction, AuditActor};
use crate::users;

pub use store::user_roles::{UserRole, find, list};

/// Every role by its name, lowest first.
pub const ROLE_NAMES: [(UserRole, &str); 3] =
    [(UserRole::Moderator, "moderator"), (UserRole::Admin, "admin"), (UserRole::Owner, "owner")];

pub fn role_name(role: UserRole) -> &'static str {
    ROLE_NAMES.iter().find(|(known, _)| *known == role).map_or("", |(_, name)| name)
}

pub fn parse_role(text: &str) -> Result<UserRole, Refusal> {
    let found = ROLE_NAMES.iter().find(|(_, name)| *name == text).map(|(role, _)| *role);
    found.ok_or_else(|| {
        let message = format!("The role [{text}] is not one of [moderator,admin,owner]");
        Refusal::invalid_parameter("role", text, message)
    })
}

fn role_needed(role: UserRole) -> Error {
    let detail = match role {
        UserRole::Moderator => "Only moderators, admins and owners may do this.",
        UserRole::Admin => "Only admins and owners may do this.",
        UserRole::Owner => "Only owners may do this.",
    };
    Refusal::forbidden(detail).into()
}

/// Operators at the command line may do everything.
pub fn require_role(tx: &mut Tx<'_>, actor: &AuditActor, needed: UserRole) -> Result<(), Error> {
    if actor.operator {
        return Ok(());
    }
    let user = users::find_active(tx, actor.require_user()?)?;
    let role = find(tx, user.id)?;
    if role.is_some_and(|role| role >= needed) { Ok(()) } else { Err(role_needed(needed)) }
}

/// As [`require_role`]. Also refused about oneself and those with the same or a higher role.
pub fn require_authority(tx: &mut Tx<'_>, actor: &AuditActor, needed: UserRole, subject: UserId) -> Result<(), Error> {
    require_role(tx, actor, needed)?;
    let Some(user) = actor.user.filter(|_| !actor.operator) else {
        return Ok(());
    };
    let (own, other) = (find(tx, user)?, find(tx, subject)?);
    if user == subject || other >= own {
        let detail = "Nobody decides about themselves or about someone with the same or a higher role.";
        return Err(Refusal::forbidden(detail).into());
    }
    Ok(())
}

/// Admins grant the role of moderators, owners every role.
pub fn grant(tx: &mut Tx<'_>, actor: &AuditActor, user: UserId, role: UserRole) -> Result<(), Error> {
    let needed = if role == UserRole::Moderator { UserRole::Admin } else { UserRole::Owner };
    require_role(tx, actor, needed)?;
    users::find_active(tx, user)?;
    if find(tx, user)?.is_some_and(|current| current > role) {
        require_role(tx, actor, UserRole::Owner)?;
        require_other_owner(tx, user)?;
    }
    user_roles::set(tx, user, role)?;
    let detail = json!({ "user": user.to_string(), "role": role_name(role) });
    Ok(audit::append(tx, actor, AuditAction::ROLE_GRANT, None, &detail)?)
}

/// Returns false if the user has no role. The last owner keeps theirs.
pub fn revoke(tx: &mut Tx<'_>, actor: &AuditActor, user: UserId) -> Result<bool, Error> {
    require_role(tx, actor, UserRole::Admin)?;
    let Some(role) = find(tx, user)? else {
        return Ok(false);
    };
    if role > UserRole::Moderator {
        require_role(tx, actor, UserRole::Owner)?;
    }
    require_other_owner(tx, user)?;
    user_roles::delete(tx, user)?;
    let detail = json!({ "user": user.to_string(), "role": role_name(role) });
    audit::append(tx, actor, AuditAction::ROLE_REVOKE, None, &detail)?;
    Ok(true)
}

/// Refused for the last owner who is not suspended: nobody could administer the network.
pub fn require_other_owner(tx: &mut Tx<'_>, user: UserId) -> Result<(), Error> {
    if find(tx, user)? != Some(UserRole::Owner) {
        return Ok(());
    }
    // Two owners who go at the same moment must see each other.
    user_roles::lock_owners(tx);
    if !user_roles::has_other_owner(tx, user)? {
        let detail = "The last owner keeps account and role: make someone else an owner first.";
        return Err(Refusal::forbidden(detail).into());
    }
    Ok(())
}
