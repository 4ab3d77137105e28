//! Copies a SQLite database into one of PostgreSQL that has the same migrations and nothing else.

#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::Arc;

use base::Fault;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};

use super::PostgresConnection;
use super::migrator::NETWORK_SQL;
use super::session::SessionLimits;
use super::tls::ConnectionTarget;
use crate::migrate;
use crate::sqlite::SqliteMigrator;
use crate::value::SqlValue;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CopiedRows {
    pub tables: u64,
    pub rows: u64,
}

/// Until the copy is committed, no server starts on the database.
const BEGIN_SQL: &str = "BEGIN; LOCK TABLE meta IN ACCESS EXCLUSIVE MODE";
/// Without what each database has of its own: its migrations, nodes and leases.
const LIST_TABLES_SQL: &str = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' \
     AND name NOT IN ('migration', 'node', 'task_lease', 'webhook_lease') ORDER BY name";
/// Tables whose keys are numbered by the database: the column, and the last number.
const LIST_SEQUENCES_SQL: &str = "SELECT numbered.name, key.name, numbered.seq FROM sqlite_sequence AS numbered \
     JOIN pragma_table_info(numbered.name) AS key ON key.pk = 1 WHERE numbered.seq > 0";
/// Of advertising records. The next start creates them.
const FORGET_INDEXES_SQL: &str = "DELETE FROM meta WHERE key = 'ads_indexes'";
const CONTINUE_EVENTS_SQL: &str = "UPDATE event_sequencer SET last_seq = $1, floor_id = 0, holder = '', until = 0";
const EVENTS_PER_PARTITION: i64 = 1_000_000;
const READING: &str = "reading the SQLite database";

/// All or nothing. No other process may use the file.
pub(crate) fn import_sqlite(from: &Path, to: &Arc<ConnectionTarget>) -> Result<CopiedRows, Fault> {
    let mut source = SqliteMigrator::open(from)?;
    if migrate::list_status(&mut source)?.iter().any(|migration| migration.applied_at.is_none()) {
        let path = from.display();
        return Err(Fault::new(format!("{path} lacks migrations: start this version with it once, and stop it")));
    }
    let source = source.into_connection();
    let mut target = PostgresConnection::connect(to, SessionLimits::MIGRATION)?;
    target.begin(BEGIN_SQL);
    let copied = copy_all(&source, &mut target).and_then(|copied| target.commit(None).map(|()| copied));
    if copied.is_err() {
        drop(target.roll_back());
    } else if let Err(error) = target.batch_execute("ANALYZE") {
        tracing::warn!(%error, "failed to analyze the copied tables; the server's autovacuum does it later");
    }
    copied
}

fn copy_all(source: &Connection, target: &mut PostgresConnection) -> Result<CopiedRows, Fault> {
    if query_number(target, NETWORK_SQL)? > 0 {
        return Err(Fault::new("the PostgreSQL database contains a network already: create an empty database"));
    }
    let sequences: Vec<(String, String, i64)> =
        query(source, LIST_SEQUENCES_SQL, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let last_event = sequences.iter().find(|(table, ..)| table == "event").map_or(0, |(_, _, last)| *last);
    widen_first_event_partition(target, last_event)?;
    let mut copied = CopiedRows::default();
    for table in query(source, LIST_TABLES_SQL, |row| row.get::<_, String>(0))? {
        copied.rows += copy_table(source, target, &table)?;
        copied.tables += 1;
    }
    for (table, column, last) in sequences {
        target.batch_execute(&format!("SELECT setval(pg_get_serial_sequence('{table}', '{column}'), {last})"))?;
    }
    target.exec(CONTINUE_EVENTS_SQL, &[last_event.into()])?;
    target.exec(FORGET_INDEXES_SQL, &[])?;
    Ok(copied)
}

/// Rows of the default partition would have to be deleted one by one.
fn widen_first_event_partition(target: &mut PostgresConnection, last_event: i64) -> Result<(), Fault> {
    let end = (last_event / EVENTS_PER_PARTITION + 2) * EVENTS_PER_PARTITION;
    target.batch_execute(&format!(
        "ALTER TABLE event DETACH PARTITION event_initial; \
         ALTER TABLE event ATTACH PARTITION event_initial FOR VALUES FROM (MINVALUE) TO ({end})"
    ))
}

/// In place of what the migrations have inserted.
fn copy_table(source: &Connection, target: &mut PostgresConnection, table: &str) -> Result<u64, Fault> {
    let mut statement = source.prepare(&format!("SELECT * FROM {table}")).map_err(Fault::context(READING))?;
    let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
    let width = columns.len();
    let places: Vec<String> = (1..=width).map(|number| format!("${number}")).collect();
    let insert = format!("INSERT INTO {table} ({}) VALUES ({})", columns.join(", "), places.join(", "));
    target.batch_execute(&format!("DELETE FROM {table}"))?;
    let mut count = 0;
    let mut rows = statement.query([]).map_err(Fault::context(READING))?;
    while let Some(row) = rows.next().map_err(Fault::context(READING))? {
        let values = (0..width).map(|cell| to_value(row, cell)).collect::<Result<Vec<_>, _>>()?;
        target.exec_later(&insert, &values)?;
        count += 1;
        if !target.in_flight.is_empty() {
            target.run(&insert, async { Ok(()) })?;
        }
    }
    let stored = query_number(target, &format!("SELECT COUNT(*) FROM {table}"))?;
    if i64::try_from(count) != Ok(stored) {
        return Err(Fault::new(format!("{stored} of {count} rows of the table {table} were stored")));
    }
    Ok(count)
}

fn to_value<'r>(row: &'r Row<'_>, cell: usize) -> Result<SqlValue<'r>, Fault> {
    match row.get_ref(cell).map_err(Fault::context(READING))? {
        ValueRef::Null => Ok(SqlValue::Null),
        ValueRef::Integer(value) => Ok(SqlValue::Int(value)),
        ValueRef::Text(bytes) => std::str::from_utf8(bytes).map(SqlValue::Text).map_err(Fault::context(READING)),
        ValueRef::Blob(bytes) => Ok(SqlValue::Bytes(bytes)),
        ValueRef::Real(_) => Err(Fault::new("no column has fractions")),
    }
}

fn query<T>(
    source: &Connection,
    sql: &str,
    read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<T>, Fault> {
    let mut statement = source.prepare(sql).map_err(Fault::context(READING))?;
    let rows = statement.query_map([], read).and_then(Iterator::collect);
    rows.map_err(Fault::context(READING))
}

fn query_number(target: &mut PostgresConnection, sql: &str) -> Result<i64, Fault> {
    let mut number = 0;
    target.for_each_row(sql, &[], &mut |row| {
        number = row.read()?;
        Ok(true)
    })?;
    Ok(number)
}
