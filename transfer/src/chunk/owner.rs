//! Resolves the local user who owns an archive.

use archive::ArchivedAccount;
use base::text::is_valid_username;
use base::{Fault, UserId};
use store::users::{self, User, UserState};
use store::{Tx, imports};

use super::batch_state::ImportBatchState;
use super::user_resolver::{self, HandleClaim};
use crate::options::ArchiveOwner;
use crate::report::ImportReport;
use crate::sanitize;

/// The requested user, or else the user with the account's id or handle, who is created if
/// necessary. The inner error tells why there is no such user.
pub(crate) fn resolve_owner(
    tx: &mut Tx<'_>,
    account: Option<&ArchivedAccount>,
    requested: Option<&ArchiveOwner>,
    report: &mut ImportReport,
) -> Result<Result<Option<UserId>, String>, Fault> {
    let local_user = match requested {
        Some(ArchiveOwner::Id(id)) => match users::find_by_id(tx, *id)? {
            Some(user) => Some(user),
            None => return Ok(Err(format!("there is no user {id}"))),
        },
        Some(ArchiveOwner::Username(name)) if !is_valid_username(name) => {
            return Ok(Err(format!("{name:?} is not a valid handle")));
        }
        Some(ArchiveOwner::Username(name)) => match users::find_by_username(tx, name)? {
            Some(user) => Some(user),
            None => Some(create_user(tx, account, name)?),
        },
        None => None,
    };
    let Some(account) = account else {
        return Ok(Ok(local_user.map(|user| user.id)));
    };
    let known = imports::find_aliases(tx, &[account.id])?;
    let known = known.first().map(|(_, user)| *user);
    let local_user = match local_user {
        Some(user) => user,
        None => match find_local_user(tx, account, known)? {
            Some(user) => user,
            None => create_imported_user(tx, account, report)?,
        },
    };
    if local_user.state == UserState::Deleted {
        return Ok(Err(format!("the account @{} is deleted", local_user.username)));
    }
    match link_account(tx, account, &local_user, report)? {
        Ok(()) => Ok(Ok(Some(local_user.id))),
        Err(reason) => Ok(Err(reason)),
    }
}

/// The user of an earlier import of this account, or with its id, or with its handle unless another account of the source
/// is that user: handles are given away.
fn find_local_user(tx: &mut Tx<'_>, account: &ArchivedAccount, known: Option<UserId>) -> Result<Option<User>, Fault> {
    if let Some(known) = known {
        return users::find_by_id(tx, known);
    }
    let same_id = users::find_by_id(tx, UserId::new(account.id))?;
    if same_id.as_ref().is_some_and(|user| user.state != UserState::Placeholder) {
        return Ok(same_id);
    }
    let same_handle = users::find_by_username(tx, &account.handle)?;
    let same_handle = same_handle.filter(|user| user.state != UserState::Placeholder);
    match same_handle {
        Some(user) if !imports::has_other_alias(tx, user.id, account.id)? => Ok(Some(user)),
        _ => Ok(same_id),
    }
}

fn create_imported_user(tx: &mut Tx<'_>, account: &ArchivedAccount, report: &mut ImportReport) -> Result<User, Fault> {
    let user = create_user(tx, Some(account), &account.handle)?;
    if !user.username.eq_ignore_ascii_case(&account.handle) {
        report.remark(format!(
            "@{} ({}) of the archive is @{} here, since another account has the handle",
            account.handle, account.id, user.username
        ));
    }
    Ok(user)
}

fn create_user(tx: &mut Tx<'_>, account: Option<&ArchivedAccount>, username: &str) -> Result<User, Fault> {
    let id = match account {
        Some(account) if users::find_by_id(tx, UserId::new(account.id))?.is_none() => UserId::new(account.id),
        _ => tx.next_id(),
    };
    let created_at = match account {
        Some(account) if account.created_at_ms > 0 => base::Time::from_ms(account.created_at_ms),
        _ => tx.now(),
    };
    let mut batch = ImportBatchState::new(None);
    let username = user_resolver::claim_handle(tx, &mut batch, id, username, HandleClaim::Account)?;
    let mut user = User::new(id, &username, created_at);
    user.name = sanitize::sanitize_display_name(account.map_or("", |account| &account.name), &username);
    users::insert(tx, &user, "")?;
    tx.keep_ids_above(id);
    Ok(user)
}

/// Makes the user here the local user of the account.
fn link_account(
    tx: &mut Tx<'_>,
    account: &ArchivedAccount,
    target: &User,
    report: &mut ImportReport,
) -> Result<Result<(), String>, Fault> {
    if target.id.get() != account.id {
        match users::find_by_id(tx, UserId::new(account.id))? {
            Some(other) if other.state != UserState::Placeholder => {
                return Ok(Err(format!("the archive's account already exists here as @{}", other.username)));
            }
            Some(other) => {
                let replies = imports::merge_accounts(tx, other.id, target.id)?;
                let users = [other.id.get(), target.id.get()];
                super::append_change_events(tx, Some(target.id), &users, &replies)?;
            }
            None => {}
        }
        report.remark(format!(
            "@{} ({}) of the archive is @{} ({}) here",
            account.handle, account.id, target.username, target.id
        ));
    }
    imports::set_alias(tx, account.id, target.id)?;
    if target.state == UserState::Placeholder {
        let mut user = target.clone();
        let mut batch = ImportBatchState::new(None);
        user.username = user_resolver::claim_handle(tx, &mut batch, target.id, &account.handle, HandleClaim::Account)?;
        user.name = sanitize::sanitize_display_name(&account.name, &user.username);
        user.state = UserState::Active;
        if account.created_at_ms > 0 {
            user.created_at = base::Time::from_ms(account.created_at_ms);
        }
        users::update(tx, &user)?;
        report.placeholders.completed_users += 1;
    }
    Ok(Ok(()))
}
