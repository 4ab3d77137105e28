//! Words and phrases that members have muted.

use base::{Fault, Time, UserId};

use crate::Tx;
use crate::db::{insert, select, table};

table! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct MutedWord in "muted_word" {
        pub id: i64,
        pub user_id: UserId,
        /// In lower case.
        pub phrase: String,
        /// None if it is muted for good.
        pub expires_at: Option<Time>,
    }
}

/// Those that are muted now, by phrase.
pub fn list_by_user(tx: &mut Tx<'_>, user: UserId, limit: i64) -> Result<Vec<MutedWord>, Fault> {
    let now = tx.now();
    let sql =
        select!(MutedWord, "WHERE user_id = $1 AND (expires_at IS NULL OR expires_at > $2) ORDER BY phrase LIMIT $3");
    tx.query_rows(sql, &[user.into(), now.into(), limit.into()])
}

/// The caller has deleted an earlier one with the same phrase.
pub fn insert(tx: &mut Tx<'_>, word: &MutedWord) -> Result<(), Fault> {
    insert!(tx, MutedWord, word)
}

pub fn delete_phrase(tx: &mut Tx<'_>, user: UserId, phrase: &str) -> Result<(), Fault> {
    tx.execute_later("DELETE FROM muted_word WHERE user_id = $1 AND phrase = $2", &[user.into(), phrase.into()])
}

/// Returns false if the user has muted nothing with this id.
pub fn delete(tx: &mut Tx<'_>, user: UserId, id: i64) -> Result<bool, Fault> {
    Ok(tx.execute("DELETE FROM muted_word WHERE id = $1 AND user_id = $2", &[id.into(), user.into()])? > 0)
}

/// Deletes those that are not muted any longer; returns how many.
pub fn prune(tx: &mut Tx<'_>, limit: i64) -> Result<u64, Fault> {
    let now = tx.now();
    let sql = "DELETE FROM muted_word WHERE id IN (SELECT id FROM muted_word WHERE expires_at IS NOT NULL \
               AND expires_at <= $1 ORDER BY expires_at LIMIT $2)";
    tx.execute(sql, &[now.into(), limit.into()])
}
