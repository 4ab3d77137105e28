//! The settings of the site that its owners change while it runs, and the terms that they block.

use base::Fault;

use crate::Tx;
use crate::db::{row, select, stored_enum};

/// None if it was never set.
pub fn get(tx: &mut Tx<'_>, name: &str) -> Result<Option<String>, Fault> {
    tx.query_row("SELECT value FROM site_setting WHERE name = $1", &[name.into()])
}

/// Names of the settings that are not empty, in no particular order.
pub fn list_set_names(tx: &mut Tx<'_>) -> Result<Vec<String>, Fault> {
    tx.query_rows("SELECT name FROM site_setting WHERE value <> ''", &[])
}

pub fn set(tx: &mut Tx<'_>, name: &str, value: &str) -> Result<(), Fault> {
    let sql = "INSERT INTO site_setting (name, value, updated_at) VALUES ($1, $2, $3) \
               ON CONFLICT (name) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at";
    tx.execute_later(sql, &[name.into(), value.into(), tx.now().into()])
}

stored_enum! {
    pub enum BlockedTermKind {
        Word = 1,
        LinkHost = 2,
        EmailDomain = 3,
    }
}

row! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct BlockedTerm from "blocked_term" {
        pub kind: BlockedTermKind,
        /// In lower case.
        pub term: String,
        /// Whether it is held for a moderator rather than refused.
        pub hold: bool,
    }
}

/// By kind and term.
pub fn list_terms(tx: &mut Tx<'_>, limit: i64) -> Result<Vec<BlockedTerm>, Fault> {
    tx.query_rows(select!(BlockedTerm, "ORDER BY kind, term LIMIT $1"), &[limit.into()])
}

/// Announces [`list_terms`], so that it is asked together with what follows.
pub fn prefetch_terms(tx: &mut Tx<'_>, limit: i64) -> Result<(), Fault> {
    tx.prefetch(select!(BlockedTerm, "ORDER BY kind, term LIMIT $1"), &[limit.into()])
}

/// By term.
pub fn list_terms_of_kind(tx: &mut Tx<'_>, kind: BlockedTermKind, limit: i64) -> Result<Vec<BlockedTerm>, Fault> {
    let sql = select!(BlockedTerm, "WHERE kind = $1 ORDER BY term LIMIT $2");
    tx.query_rows(sql, &[kind.to_number().into(), limit.into()])
}

pub fn count_terms(tx: &mut Tx<'_>) -> Result<i64, Fault> {
    Ok(tx.query_row("SELECT COUNT(*) FROM blocked_term", &[])?.unwrap_or(0))
}

pub fn set_term(tx: &mut Tx<'_>, term: &BlockedTerm) -> Result<(), Fault> {
    let sql = "INSERT INTO blocked_term (kind, term, hold, created_at) VALUES ($1, $2, $3, $4) \
               ON CONFLICT (kind, term) DO UPDATE SET hold = excluded.hold";
    let args = [term.kind.to_number().into(), term.term.as_str().into(), term.hold.into(), tx.now().into()];
    tx.execute_later(sql, &args)
}

/// Returns false if it is not blocked.
pub fn delete_term(tx: &mut Tx<'_>, kind: BlockedTermKind, term: &str) -> Result<bool, Fault> {
    let sql = "DELETE FROM blocked_term WHERE kind = $1 AND term = $2";
    Ok(tx.execute(sql, &[kind.to_number().into(), term.into()])? > 0)
}
