//! What of a body is searched: expressions over its fields, the indexes over them, and statements
//! that are put together from declared names only.

use std::collections::HashSet;

use base::Fault;

use crate::{Tx, meta};

/// An index over a declared field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordIndex {
    /// Records of a kind by a field's value, in order of creation.
    Filter(&'static str, &'static str),
    /// Records of a kind in the order of a field.
    Sort(&'static str, &'static str),
    /// Records of a kind in every account, in the order of a field.
    GlobalSort(&'static str, &'static str),
    /// What [`Index::Filter`] leads to, with all that lists of the kind ask about beside it, so that
    /// they look at no record that they do not show.
    CoveringFilter(&'static str, &'static str, IndexedFields),
    /// The same of records by their names.
    CoveringName(&'static str, IndexedFields),
}

/// The fields that lists of a kind are filtered by, and those that they are ordered by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexedFields {
    /// Filtered by.
    pub filter_fields: Vec<&'static str>,
    /// Ordered by.
    pub sort_fields: Vec<&'static str>,
}

impl IndexedFields {
    /// The columns, behind others.
    fn columns_sql(&self, but: &str) -> String {
        let filters = self.filter_fields.iter().filter(|name| **name != but);
        let filters = filters.map(|name| field_sql(name));
        let all = filters.chain(self.sort_fields.iter().map(|name| sort_field_sql(name)));
        let all: Vec<String> = all.map(|column| format!(", ({column})")).collect();
        all.concat()
    }
}

/// The index of [`Index::Under`].
pub(super) fn covering_index_name(kind: &str, field: &str) -> String {
    format!("ads_{kind}_under_{field}")
}

/// The index of [`Index::Names`].
pub(super) fn name_index_name(kind: &str) -> String {
    format!("ads_{kind}_names")
}

impl RecordIndex {
    /// Its name.
    fn name(&self) -> String {
        match self {
            Self::Filter(kind, field) => format!("ads_{kind}_of_{field}"),
            Self::Sort(kind, field) => format!("ads_{kind}_sort_{field}"),
            Self::GlobalSort(kind, field) => format!("ads_{kind}_due_{field}"),
            Self::CoveringFilter(kind, field, _) => covering_index_name(kind, field),
            Self::CoveringName(kind, _) => name_index_name(kind),
        }
    }

    fn create_sql(&self) -> String {
        let name = self.name();
        match self {
            // The field comes first: what does not name it must not be tempted to count here.
            Self::Filter(kind, name_of) => format!(
                "CREATE INDEX IF NOT EXISTS {name} ON ads_record (({}), account_id, level, \
                 created_at, id) WHERE kind = '{kind}'",
                field_sql(name_of)
            ),
            Self::Sort(kind, name_of) => format!(
                "CREATE INDEX IF NOT EXISTS {name} ON ads_record (account_id, ({}), id) \
                 WHERE kind = '{kind}' AND level = 0",
                sort_field_sql(name_of)
            ),
            Self::GlobalSort(kind, name_of) => format!(
                "CREATE INDEX IF NOT EXISTS {name} ON ads_record (({}), id) \
                 WHERE kind = '{kind}' AND level = 0",
                sort_field_sql(name_of)
            ),
            Self::CoveringFilter(kind, name_of, beside) => format!(
                "CREATE INDEX IF NOT EXISTS {name} ON ads_record (({}), account_id, level, \
                 created_at, id, updated_at, deleted, name_key{}) WHERE kind = '{kind}'",
                field_sql(name_of),
                beside.columns_sql(name_of)
            ),
            Self::CoveringName(kind, beside) => format!(
                "CREATE INDEX IF NOT EXISTS {name} ON ads_record (account_id, level, name_key, id, \
                 created_at, updated_at, deleted{}) WHERE kind = '{kind}'",
                beside.columns_sql("")
            ),
        }
    }
}

const INDEXES_KEY: &str = "ads_indexes";

/// Makes the indexes that are declared and not there yet, and removes those that are not declared
/// any more. What is there already is remembered, so that starting touches nothing.
pub fn sync_indexes(tx: &mut Tx<'_>, indexes: &[RecordIndex]) -> Result<(), Fault> {
    if tx.is_postgres() {
        // Nodes that start at the same time make each index once.
        let sql = "SELECT CAST(CAST(pg_advisory_xact_lock(7305) AS TEXT) AS TEXT)";
        tx.query_row(sql, &[], |_| Ok(()))?;
    }
    let made = meta::get(tx, INDEXES_KEY)?.unwrap_or_default();
    let names: Vec<String> = made.split_whitespace().map(str::to_owned).collect();
    let before = names.len();
    let declared: HashSet<String> = indexes.iter().map(RecordIndex::name).collect();
    let (mut names, over): (Vec<String>, Vec<String>) = names.into_iter().partition(|name| declared.contains(name));
    let kept = names.len();
    for index in indexes {
        if !names.contains(&index.name()) {
            tx.execute(&index.create_sql(), &[])?;
            names.push(index.name());
        }
    }
    for name in over {
        tx.execute(&format!("DROP INDEX IF EXISTS {name}"), &[])?;
    }
    if before != kept || names.len() != kept {
        meta::set(tx, INDEXES_KEY, &names.join(" "))?;
    }
    Ok(())
}

/// A field of the body as a number. The same text in statements and indexes.
pub(super) fn field_sql(name: &str) -> String {
    format!("CAST(body ->> '{name}' AS BIGINT)")
}

/// The same for an order, where what is not there comes before everything else.
pub(super) fn sort_field_sql(name: &str) -> String {
    format!("COALESCE(CAST(body ->> '{name}' AS BIGINT), -1)")
}
