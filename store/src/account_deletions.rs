//! Deletions of accounts: when their data is erased, and how far that is.

mod rows;

use base::{Fault, Time, UserId};

use crate::Tx;
use crate::db::{insert_new, select, table};

pub use rows::{anonymize_ad_events, delete_remaining_rows, delete_rows, erase_account, release_files};

table! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct AccountDeletion in "account_deletion" {
        pub user_id: UserId,
        pub requested_at: Time,
        /// Whether the account's owner asked for it.
        pub by_owner: bool,
        pub erase_at: Time,
    }
    read_only {
        /// None while the account can be restored.
        pub started_at: Option<Time>,
        /// Steps of the erasure that are done.
        pub step: i64,
        pub finished_at: Option<Time>,
    }
}

pub fn find(tx: &mut Tx<'_>, user: UserId) -> Result<Option<AccountDeletion>, Fault> {
    tx.query_row(select!(AccountDeletion, "WHERE user_id = $1"), &[user.into()])
}

/// Returns false if there is one of this account.
pub fn insert(tx: &mut Tx<'_>, deletion: &AccountDeletion) -> Result<bool, Fault> {
    insert_new!(tx, AccountDeletion, deletion)
}

pub fn set_erase_at(tx: &mut Tx<'_>, user: UserId, at: Time) -> Result<(), Fault> {
    let sql = "UPDATE account_deletion SET erase_at = $1 WHERE user_id = $2 AND started_at IS NULL";
    tx.execute_later(sql, &[at.into(), user.into()])
}

/// Returns false if the erasure has begun, or there is none.
pub fn cancel(tx: &mut Tx<'_>, user: UserId) -> Result<bool, Fault> {
    let sql = "DELETE FROM account_deletion WHERE user_id = $1 AND started_at IS NULL";
    Ok(tx.execute(sql, &[user.into()])? > 0)
}

/// The unfinished one that is due for the longest.
pub fn find_due(tx: &mut Tx<'_>) -> Result<Option<AccountDeletion>, Fault> {
    let sql =
        select!(AccountDeletion, "WHERE finished_at IS NULL AND erase_at <= $1 ORDER BY erase_at, user_id LIMIT 1");
    tx.query_row(sql, &[tx.now().into()])
}

/// After now.
pub fn next_due(tx: &mut Tx<'_>) -> Result<Option<Time>, Fault> {
    let sql = "SELECT MIN(erase_at) FROM account_deletion WHERE finished_at IS NULL AND erase_at > $1";
    Ok(tx.query_row::<Option<Time>>(sql, &[tx.now().into()])?.flatten())
}

/// Locks an unfinished one that is due until the end of the transaction, and marks it as begun; none if it was
/// cancelled or finished meanwhile.
pub fn begin(tx: &mut Tx<'_>, user: UserId) -> Result<Option<AccountDeletion>, Fault> {
    let sql = "UPDATE account_deletion SET started_at = COALESCE(started_at, $1) \
               WHERE user_id = $2 AND finished_at IS NULL AND erase_at <= $1";
    let now = tx.now();
    if tx.execute(sql, &[now.into(), user.into()])? == 0 {
        return Ok(None);
    }
    find(tx, user)
}

/// Has others go first.
pub fn postpone(tx: &mut Tx<'_>, user: UserId, until: Time) -> Result<(), Fault> {
    let sql = "UPDATE account_deletion SET erase_at = $1 WHERE user_id = $2 AND finished_at IS NULL";
    tx.execute_later(sql, &[until.into(), user.into()])
}

/// Has finished ones go on that have done fewer steps; returns how many.
pub fn reopen(tx: &mut Tx<'_>, steps: i64) -> Result<u64, Fault> {
    let sql = "UPDATE account_deletion SET finished_at = NULL WHERE finished_at IS NOT NULL AND step < $1";
    tx.execute(sql, &[steps.into()])
}

pub fn set_step(tx: &mut Tx<'_>, user: UserId, step: i64) -> Result<(), Fault> {
    let sql = "UPDATE account_deletion SET step = $1 WHERE user_id = $2";
    tx.execute_later(sql, &[step.into(), user.into()])
}

pub fn finish(tx: &mut Tx<'_>, user: UserId) -> Result<(), Fault> {
    let sql = "UPDATE account_deletion SET finished_at = $1 WHERE user_id = $2";
    let now = tx.now();
    tx.execute_later(sql, &[now.into(), user.into()])
}
