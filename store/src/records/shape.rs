//! What of a body is searched: expressions over its fields, the indexes over them, and statements
//! that are put together from declared names only.

use std::collections::HashSet;

use base::Fault;
use parking_lot::Mutex;

use crate::{Tx, meta};

/// An index over a declared field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Index {
    /// Records of a kind by a field's value, in order of creation.
    Filter(&'static str, &'static str),
    /// Records of a kind in the order of a field.
    Sort(&'static str, &'static str),
    /// Records of a kind in every account, in the order of a field.
    Due(&'static str, &'static str),
}

impl Index {
    /// Its name.
    fn name(self) -> String {
        match self {
            Self::Filter(kind, field) => format!("ads_{kind}_of_{field}"),
            Self::Sort(kind, field) => format!("ads_{kind}_sort_{field}"),
            Self::Due(kind, field) => format!("ads_{kind}_due_{field}"),
        }
    }

    fn statement(self) -> String {
        let name = self.name();
        match self {
            // The field comes first: what does not name it must not be tempted to count here.
            Self::Filter(kind, name_of) => format!(
                "CREATE INDEX IF NOT EXISTS {name} ON ads_record (({}), account_id, level, \
                 created_at, id) WHERE kind = '{kind}'",
                field(name_of)
            ),
            Self::Sort(kind, name_of) => format!(
                "CREATE INDEX IF NOT EXISTS {name} ON ads_record (account_id, ({}), id) \
                 WHERE kind = '{kind}' AND level = 0",
                ordered(name_of)
            ),
            Self::Due(kind, name_of) => format!(
                "CREATE INDEX IF NOT EXISTS {name} ON ads_record (({}), id) \
                 WHERE kind = '{kind}' AND level = 0",
                ordered(name_of)
            ),
        }
    }
}

const MADE: &str = "ads_indexes";

/// Makes the indexes that are declared and not there yet. What is there already is remembered, so
/// that starting touches nothing.
pub fn prepare(tx: &mut Tx<'_>, indexes: &[Index]) -> Result<(), Fault> {
    if tx.on_server() {
        // Nodes that start at the same time make each index once.
        let sql = "SELECT CAST(CAST(pg_advisory_xact_lock(7305) AS TEXT) AS TEXT)";
        tx.row(sql, &[], |_| Ok(()))?;
    }
    let made = meta::get(tx, MADE)?.unwrap_or_default();
    let mut names: Vec<String> = made.split_whitespace().map(str::to_owned).collect();
    let missing: Vec<Index> = indexes
        .iter()
        .filter(|index| !names.contains(&index.name()))
        .copied()
        .collect();
    for index in &missing {
        tx.exec(interned(index.statement()), &[])?;
        names.push(index.name());
    }
    if !missing.is_empty() {
        meta::set(tx, MADE, &names.join(" "))?;
    }
    Ok(())
}

/// A field of the body as a number. The same text in statements and indexes.
pub(super) fn field(name: &str) -> String {
    format!("CAST(body ->> '{name}' AS BIGINT)")
}

/// The same for an order, where what is not there comes before everything else.
pub(super) fn ordered(name: &str) -> String {
    format!("COALESCE(CAST(body ->> '{name}' AS BIGINT), -1)")
}

/// A statement that lives as long as the process. There are only as many as declarations lead to:
/// what callers write never becomes part of one.
pub(crate) fn interned(sql: String) -> &'static str {
    static ALL: Mutex<Option<HashSet<&'static str>>> = Mutex::new(None);
    let mut all = ALL.lock();
    let all = all.get_or_insert_default();
    if let Some(known) = all.get(sql.as_str()) {
        return known;
    }
    let kept: &'static str = String::leak(sql);
    all.insert(kept);
    kept
}
