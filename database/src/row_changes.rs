//! Compares the rows of two SQLite databases.

use std::path::Path;

use base::Fault;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, Row};
use serde::Serialize;

/// The differences of one table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TableChanges {
    pub table: String,
    pub added: u64,
    pub removed: u64,
    pub changed: u64,
    /// The first of them.
    pub rows: Vec<RowChange>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RowChange {
    /// `added`, `removed` or `changed`.
    pub kind: &'static str,
    /// Column and value: of all columns, or of the key and the columns that changed.
    pub columns: Vec<ColumnChange>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ColumnChange {
    pub column: String,
    pub before: Option<String>,
    pub after: Option<String>,
}

/// Rows of one table that are compared at most; further ones are only counted.
const MAX_COMPARED_ROWS: usize = 10_000;
/// Longer values are cut.
const MAX_VALUE_CHARS: usize = 200;
/// Books of the server itself, which change while nobody does anything.
const IGNORED_TABLES: [&str; 3] = ["migration", "node", "task_lease"];

/// Tables with differences, in alphabetical order, with at most `max_rows` rows each. Both files must be closed or
/// checkpointed copies of the same schema.
pub fn compare_databases(before: &Path, after: &Path, max_rows: usize) -> Result<Vec<TableChanges>, Fault> {
    let fault = |error| Fault::from_cause("comparing the databases".to_owned(), error);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_URI;
    let conn = Connection::open_with_flags(":memory:", flags).map_err(fault)?;
    for (file, name) in [(before, "before"), (after, "after")] {
        let file = file.to_str().ok_or_else(|| Fault::new("the path is not UTF-8"))?;
        conn.execute(&format!("ATTACH DATABASE $1 AS {name}"), [file]).map_err(fault)?;
    }
    let mut found = Vec::new();
    for table in list_tables(&conn).map_err(fault)? {
        let changes = compare_table(&conn, &table, max_rows).map_err(fault)?;
        if changes.added + changes.removed + changes.changed > 0 {
            found.push(changes);
        }
    }
    Ok(found)
}

fn list_tables(conn: &Connection) -> rusqlite::Result<Vec<String>> {
    let sql = "SELECT name FROM after.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'
        AND name IN (SELECT name FROM before.sqlite_schema) ORDER BY name";
    let mut statement = conn.prepare(sql)?;
    let names = statement.query_map([], |row| row.get::<_, String>(0))?;
    let names: rusqlite::Result<Vec<String>> = names.collect();
    Ok(names?.into_iter().filter(|name| !IGNORED_TABLES.contains(&name.as_str())).collect())
}

struct TableColumns {
    all: Vec<String>,
    key: Vec<String>,
}

fn table_columns(conn: &Connection, table: &str) -> rusqlite::Result<TableColumns> {
    let mut statement = conn.prepare("SELECT name, pk FROM pragma_table_info($1, 'after') ORDER BY cid")?;
    let columns = statement.query_map([table], |row| Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?)))?;
    let columns: Vec<(String, i64)> = columns.collect::<rusqlite::Result<_>>()?;
    let key = columns.iter().filter(|(_, pk)| *pk > 0).map(|(name, _)| name.clone());
    let (all, mut key): (Vec<_>, Vec<_>) = (columns.iter().map(|(name, _)| name.clone()).collect(), key.collect());
    if key.is_empty() {
        key.clone_from(&all);
    }
    Ok(TableColumns { all, key })
}

fn compare_table(conn: &Connection, table: &str, max_rows: usize) -> rusqlite::Result<TableChanges> {
    let columns = table_columns(conn, table)?;
    let same = |columns: &[String]| {
        let pairs = columns.iter().map(|column| format!("b.\"{column}\" IS a.\"{column}\""));
        pairs.collect::<Vec<_>>().join(" AND ")
    };
    let (key, all) = (same(&columns.key), same(&columns.all));
    let (from_before, from_after) = (format!("before.\"{table}\" b"), format!("after.\"{table}\" a"));
    let select = |prefixes: &[&str]| {
        let lists =
            prefixes.iter().flat_map(|prefix| columns.all.iter().map(move |column| format!("{prefix}.\"{column}\"")));
        lists.collect::<Vec<_>>().join(", ")
    };
    let mut changes = TableChanges { table: table.to_owned(), ..TableChanges::default() };
    let added = format!(
        "SELECT {} FROM {from_after} WHERE NOT EXISTS (SELECT 1 FROM {from_before} WHERE {key})",
        select(&["a"])
    );
    changes.added = visit_rows(conn, &added, &mut changes.rows, max_rows, |row| whole_row(row, &columns.all, "added"))?;
    let removed = format!(
        "SELECT {} FROM {from_before} WHERE NOT EXISTS (SELECT 1 FROM {from_after} WHERE {key})",
        select(&["b"])
    );
    changes.removed =
        visit_rows(conn, &removed, &mut changes.rows, max_rows, |row| whole_row(row, &columns.all, "removed"))?;
    let changed =
        format!("SELECT {} FROM {from_after} JOIN {from_before} ON {key} WHERE NOT ({all})", select(&["b", "a"]));
    changes.changed = visit_rows(conn, &changed, &mut changes.rows, max_rows, |row| changed_row(row, &columns))?;
    Ok(changes)
}

fn visit_rows(
    conn: &Connection,
    sql: &str,
    shown: &mut Vec<RowChange>,
    max_rows: usize,
    read: impl Fn(&Row<'_>) -> rusqlite::Result<RowChange>,
) -> rusqlite::Result<u64> {
    let mut statement = conn.prepare(&format!("{sql} LIMIT {MAX_COMPARED_ROWS}"))?;
    let mut rows = statement.query([])?;
    let mut count = 0;
    while let Some(row) = rows.next()? {
        count += 1;
        if shown.len() < max_rows {
            shown.push(read(row)?);
        }
    }
    Ok(count)
}

fn whole_row(row: &Row<'_>, columns: &[String], kind: &'static str) -> rusqlite::Result<RowChange> {
    let mut found = Vec::new();
    for (index, column) in columns.iter().enumerate() {
        let value = render_value(row.get_ref(index)?);
        let (before, after) = if kind == "added" { (None, Some(value)) } else { (Some(value), None) };
        found.push(ColumnChange { column: column.clone(), before, after });
    }
    Ok(RowChange { kind, columns: found })
}

fn changed_row(row: &Row<'_>, columns: &TableColumns) -> rusqlite::Result<RowChange> {
    let mut found = Vec::new();
    for (index, column) in columns.all.iter().enumerate() {
        let (before, after) = (row.get_ref(index)?, row.get_ref(index + columns.all.len())?);
        if before != after || columns.key.contains(column) {
            let (before, after) = (Some(render_value(before)), Some(render_value(after)));
            found.push(ColumnChange { column: column.clone(), before, after });
        }
    }
    Ok(RowChange { kind: "changed", columns: found })
}

/// Binary values are digests and encrypted secrets.
fn render_value(value: ValueRef<'_>) -> String {
    let text = match value {
        ValueRef::Null => "null".to_owned(),
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) => number.to_string(),
        ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned(),
        ValueRef::Blob(bytes) => format!("({} bytes)", bytes.len()),
    };
    match text.char_indices().nth(MAX_VALUE_CHARS) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::compare_databases;

    #[test]
    fn rows_that_were_added_removed_and_changed_are_found_by_key() {
        let folder = tempfile::TempDir::new().unwrap();
        let [one, two] = ["one.db", "two.db"].map(|name| folder.path().join(name));
        let fill = |path, rows: &str| {
            let conn = Connection::open(path).unwrap();
            conn.execute_batch(&format!(
                "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, secret BLOB); CREATE TABLE same (x TEXT);
                 INSERT INTO item VALUES {rows};"
            ))
            .unwrap();
        };
        fill(&one, "(1, 'a', x'00'), (2, 'b', NULL), (3, 'c', NULL)");
        fill(&two, "(1, 'a', x'01'), (3, 'c', NULL), (4, 'd', NULL)");
        let found = compare_databases(&one, &two, 10).unwrap();
        let [item] = &found[..] else { panic!("{found:?}") };
        assert_eq!((item.table.as_str(), item.added, item.removed, item.changed), ("item", 1, 1, 1));
        let kinds: Vec<_> = item.rows.iter().map(|row| row.kind).collect();
        assert_eq!(kinds, ["added", "removed", "changed"]);
        assert_eq!(item.rows[2].columns[1].after.as_deref(), Some("(1 bytes)"));
        assert_eq!(compare_databases(&one, &two, 1).unwrap()[0].rows.len(), 1);
    }
}
