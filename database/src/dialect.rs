//! Translation of migration scripts to each engine's schema language; every difference is here. Within other statements,
//! a comment `/*! … */` contains what PostgreSQL executes and SQLite ignores.

use std::borrow::Cow;

/// Begins a line that concerns PostgreSQL only.
const POSTGRES_ONLY: &str = "POSTGRES ";
/// Begins a line that concerns SQLite only.
const SQLITE_ONLY: &str = "SQLITE ";
/// Ends a table that is partitioned on PostgreSQL.
const BY_HOUR: &str = " BY_HOUR;";

pub(crate) fn to_sqlite(script: &str) -> String {
    let statements = script.replace("SERIAL_KEY", "INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT");
    let is_shared_by_both = |line: &&str| !line.starts_with(POSTGRES_ONLY);
    let statements: String = statements.split_inclusive('\n').filter(is_shared_by_both).collect();
    let statements = statements
        .replace(SQLITE_ONLY, "")
        .replace(BY_HOUR, ";")
        .replace("BIGINT", "INTEGER")
        .replace("BYTES", "BLOB")
        .replace("COMMIT_ORDER", "")
        .replace("INDEX CONCURRENTLY", "INDEX")
        .replace("DOCUMENT", "TEXT")
        .replace("CREATE VOLATILE TABLE", "CREATE TABLE")
        .replace(") EDGE;", ") WITHOUT ROWID, STRICT;");
    // A table definition ends with this line in every migration.
    statements.replace("\n);", "\n) STRICT;")
}

pub(crate) fn to_postgres(script: &str) -> String {
    let is_shared_by_both = |line: &&str| !line.starts_with(SQLITE_ONLY);
    let statements: String = script.split_inclusive('\n').filter(is_shared_by_both).collect();
    statements
        .replace("SERIAL_KEY", "BIGSERIAL NOT NULL PRIMARY KEY")
        .replace("BYTES", "BYTEA")
        .replace("COMMIT_ORDER", "")
        .replace(POSTGRES_ONLY, "")
        .replace("CREATE VOLATILE TABLE", "CREATE UNLOGGED TABLE")
        .replace("DOCUMENT", "JSON")
        .replace(") EDGE BY_HOUR;", ") PARTITION BY RANGE (hour);")
        .replace(") EDGE;", ");")
}

pub(crate) fn statement_to_postgres(sql: &str) -> Cow<'_, str> {
    if sql.contains("/*!") { Cow::Owned(sql.replace("/*!", "").replace("*/", "")) } else { Cow::Borrowed(sql) }
}
