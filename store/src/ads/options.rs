//! Targeting options that an operator adds: interests, events, conversations, ….

use base::Fault;

use crate::Tx;
use crate::db::{row, select};

row! {
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct TargetingOption from "ads_option" {
        /// The type of criteria: `INTEREST`, `EVENT`, ….
        pub kind: String,
        pub value: String,
        pub name: String,
        /// Further facts (a JSON object): how it is shown, and which users match.
        pub details: String,
    }
}

pub fn upsert(tx: &mut Tx<'_>, option: &TargetingOption) -> Result<(), Fault> {
    let sql = "INSERT INTO ads_option (kind, value, name, details) VALUES ($1, $2, $3, $4) ON CONFLICT (kind, value) \
               DO UPDATE SET name = excluded.name, details = excluded.details";
    let args = [(&option.kind).into(), (&option.value).into(), (&option.name).into(), (&option.details).into()];
    tx.execute_later(sql, &args)
}

/// Returns false if there is none.
pub fn remove(tx: &mut Tx<'_>, kind: &str, value: &str) -> Result<bool, Fault> {
    let sql = "DELETE FROM ads_option WHERE kind = $1 AND value = $2";
    Ok(tx.execute(sql, &[kind.into(), value.into()])? > 0)
}

pub fn find(tx: &mut Tx<'_>, kind: &str, value: &str) -> Result<Option<TargetingOption>, Fault> {
    let sql = select!(TargetingOption, "WHERE kind = $1 AND value = $2");
    tx.query_row(sql, &[kind.into(), value.into()])
}

/// In the order of their values.
pub fn list_by_kind(tx: &mut Tx<'_>, kind: &str) -> Result<Vec<TargetingOption>, Fault> {
    let sql = select!(TargetingOption, "WHERE kind = $1 ORDER BY value");
    tx.query_rows(sql, &[kind.into()])
}
