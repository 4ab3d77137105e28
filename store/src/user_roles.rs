//! Who may moderate and administer the site.

use base::{Fault, UserId};

use crate::Tx;
use crate::db::stored_enum;
use crate::locks::{LockMode, LockedResource};

stored_enum! {
    /// Each may do what the one before may.
    pub enum UserRole {
        Moderator = 1,
        Admin = 2,
        Owner = 3,
    }
}

/// None for a member.
pub fn find(tx: &mut Tx<'_>, user: UserId) -> Result<Option<UserRole>, Fault> {
    tx.query_row("SELECT role FROM user_role WHERE user_id = $1", &[user.into()])
}

pub fn set(tx: &mut Tx<'_>, user: UserId, role: UserRole) -> Result<(), Fault> {
    let sql = "INSERT INTO user_role (user_id, role, granted_at) VALUES ($1, $2, $3) \
               ON CONFLICT (user_id) DO UPDATE SET role = excluded.role, granted_at = excluded.granted_at";
    tx.execute_later(sql, &[user.into(), role.to_number().into(), tx.now().into()])
}

/// Returns false if the user has none.
pub fn delete(tx: &mut Tx<'_>, user: UserId) -> Result<bool, Fault> {
    Ok(tx.execute("DELETE FROM user_role WHERE user_id = $1", &[user.into()])? > 0)
}

/// Highest role first, at most 1,000.
pub fn list(tx: &mut Tx<'_>) -> Result<Vec<(UserId, UserRole)>, Fault> {
    let sql = "SELECT user_id, role FROM user_role ORDER BY role DESC, user_id LIMIT 1000";
    tx.query_rows(sql, &[])
}

pub fn count_owners(tx: &mut Tx<'_>) -> Result<i64, Fault> {
    Ok(tx.query_row("SELECT COUNT(*) FROM user_role WHERE role = 3", &[])?.unwrap_or(0))
}

/// Whether there is an active owner besides the user.
pub fn has_other_owner(tx: &mut Tx<'_>, user: UserId) -> Result<bool, Fault> {
    let sql = "SELECT 1 FROM user_role JOIN users ON id = user_id WHERE role = 3 AND state = 0 AND user_id <> $1";
    tx.row_exists(sql, &[user.into()])
}

/// Makes transactions that decide by whether there is an owner follow each other.
pub fn lock_owners(tx: &mut Tx<'_>) {
    tx.lock(LockedResource::User, 0, LockMode::Exclusive);
}
