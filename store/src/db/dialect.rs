//! The true differences between the two engines' schema languages; all of them.

/// A migration's text as SQLite wants it.
pub(crate) fn to_sqlite(script: &str) -> String {
    let statements = script.replace("SERIAL_KEY", "INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT");
    let statements = statements
        .replace("BIGINT", "INTEGER")
        .replace("BYTES", "BLOB")
        .replace("COMMIT_ORDER", "")
        .replace("DOCUMENT", "TEXT")
        .replace("CREATE VOLATILE TABLE", "CREATE TABLE")
        .replace(") EDGE;", ") WITHOUT ROWID, STRICT;");
    // The closing line of a table's columns stands alone in a migration.
    statements.replace("\n);", "\n) STRICT;")
}

/// A migration's text as PostgreSQL wants it.
pub(crate) fn to_postgres(script: &str) -> String {
    script
        .replace("SERIAL_KEY", "BIGSERIAL NOT NULL PRIMARY KEY")
        .replace("BYTES", "BYTEA")
        // The transaction that wrote a row, so that a reader never passes one not yet committed.
        .replace(
            "COMMIT_ORDER",
            ", xid BIGINT NOT NULL DEFAULT (CAST(CAST(pg_current_xact_id() AS TEXT) AS BIGINT))",
        )
        .replace("CREATE VOLATILE TABLE", "CREATE UNLOGGED TABLE")
        .replace("DOCUMENT", "JSON")
        .replace(") EDGE;", ");")
}
