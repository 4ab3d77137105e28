//! SQL expressions over the fields of a record's body, the indexes over them, and interned statements.

use std::collections::HashSet;

use base::{Error, Fault};

use crate::{Store, Tx, meta};

/// An index over a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordIndex {
    /// Kind and field: by value, in order of creation.
    Filter(&'static str, &'static str),
    /// Kind and field: per account, in the order of the field.
    Sort(&'static str, &'static str),
    /// Kind and field: all accounts, in the order of the field.
    GlobalSort(&'static str, &'static str),
    /// As [`RecordIndex::Filter`], with every column that lists of the kind filter or sort by, so that they read only
    /// matching records.
    CoveringFilter(&'static str, &'static str, IndexedFields),
    /// As [`RecordIndex::CoveringFilter`], by name.
    CoveringName(&'static str, IndexedFields),
}

/// The fields that lists of a kind filter by and sort by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexedFields {
    pub filter_fields: Vec<&'static str>,
    pub sort_fields: Vec<&'static str>,
}

impl IndexedFields {
    /// Further index columns, except the field `but`.
    fn columns_sql(&self, but: &str) -> String {
        let filters = self.filter_fields.iter().filter(|name| **name != but);
        let filters = filters.map(|name| field_sql(name));
        let all = filters.chain(self.sort_fields.iter().map(|name| sort_field_sql(name)));
        let all: Vec<String> = all.map(|column| format!(", ({column})")).collect();
        all.concat()
    }
}

/// The name of [`RecordIndex::CoveringFilter`].
pub fn covering_index_name(kind: &str, field: &str) -> String {
    format!("ads_{kind}_under_{field}")
}

/// The name of [`RecordIndex::CoveringName`].
pub fn name_index_name(kind: &str) -> String {
    format!("ads_{kind}_names")
}

impl RecordIndex {
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
                "CREATE INDEX IF NOT EXISTS {name} ON ads_record (({}), id) WHERE kind = '{kind}' AND level = 0",
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

/// On SQLite, in the table `meta`: the names of those that exist.
const INDEXES_KEY: &str = "ads_indexes";

const VALID_INDEXES_SQL: &str = "SELECT CAST(relname AS TEXT) FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid \
     WHERE indrelid = to_regclass('ads_record') AND indisvalid";
/// 0 for a table without records whose indexes are all valid.
const RECORDS_SQL: &str = "SELECT CAST((SELECT COUNT(*) FROM (SELECT 1 FROM ads_record LIMIT 1) AS any_record) \
     + (SELECT COUNT(*) FROM pg_index WHERE indrelid = to_regclass('ads_record') AND NOT indisvalid) AS BIGINT)";

/// What [`Store::sync_record_indexes`] does about missing indexes on a database server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordIndexBuild {
    /// Only warns of them.
    Never,
    /// Leaves them to a later call if there are records, with which building takes long.
    WithoutRecords,
    Always,
}

impl Store {
    /// Creates missing indexes, on a database server while others write. Those that are not declared are dropped on SQLite;
    /// on a server, a program of another version may need them.
    pub async fn sync_record_indexes(&self, indexes: Vec<RecordIndex>, build: RecordIndexBuild) -> Result<(), Error> {
        if !self.is_shared() {
            return self.write(move |tx| Ok(sync_indexes(tx, &indexes)?)).await;
        }
        let existing = self.read(|tx| Ok(tx.query_rows::<String>(VALID_INDEXES_SQL, &[])?)).await?;
        let missing: Vec<_> = indexes.iter().filter(|index| !existing.contains(&index.name())).collect();
        if missing.is_empty() {
            return Ok(());
        }
        if build == RecordIndexBuild::Never {
            let count = missing.len();
            tracing::warn!(
                count,
                "indexes of advertising records are missing, so that lists of them are slow: run `locum migrate up`"
            );
            return Ok(());
        }
        let has_records = self.read(|tx| Ok(tx.query_number(RECORDS_SQL, &[])? > 0)).await?;
        if has_records && build == RecordIndexBuild::WithoutRecords {
            return Ok(());
        }
        let statements: String = missing.iter().map(|index| index.create_sql() + ";\n").collect();
        let script = if has_records {
            statements.replace("CREATE INDEX", "CREATE INDEX CONCURRENTLY")
        } else {
            format!("BEGIN;\n{statements}COMMIT;")
        };
        Ok(self.build_indexes(script).await?)
    }
}

/// The current set is stored, so that a start without changes does nothing.
fn sync_indexes(tx: &mut Tx<'_>, indexes: &[RecordIndex]) -> Result<(), Fault> {
    let made = meta::get(tx, INDEXES_KEY)?.unwrap_or_default();
    let names: Vec<String> = made.split_whitespace().map(str::to_owned).collect();
    let before = names.len();
    let declared: HashSet<String> = indexes.iter().map(RecordIndex::name).collect();
    let (mut names, over): (Vec<String>, Vec<String>) = names.into_iter().partition(|name| declared.contains(name));
    let kept = names.len();
    for index in indexes {
        if !names.contains(&index.name()) {
            tx.execute_later(&index.create_sql(), &[])?;
            names.push(index.name());
        }
    }
    for name in over {
        tx.execute_later(&format!("DROP INDEX IF EXISTS {name}"), &[])?;
    }
    if before != kept || names.len() != kept {
        meta::set(tx, INDEXES_KEY, &names.join(" "))?;
    }
    Ok(())
}

/// A field of the body as a number; the same text in statements and indexes.
pub fn field_sql(name: &str) -> String {
    format!("CAST(body ->> '{name}' AS BIGINT)")
}

/// As [`field_sql`], for sorting: missing fields come first.
pub fn sort_field_sql(name: &str) -> String {
    format!("COALESCE(CAST(body ->> '{name}' AS BIGINT), -1)")
}
