//! Translation of migration scripts to each engine's schema language; every difference is here.

pub(crate) fn to_sqlite(script: &str) -> String {
    let statements = script.replace("SERIAL_KEY", "INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT");
    let statements = statements
        .replace("BIGINT", "INTEGER")
        .replace("BYTES", "BLOB")
        .replace("COMMIT_ORDER", "")
        .replace("DOCUMENT", "TEXT")
        .replace("CREATE VOLATILE TABLE", "CREATE TABLE")
        .replace(") EDGE;", ") WITHOUT ROWID, STRICT;");
    // A table definition ends with this line in every migration.
    statements.replace("\n);", "\n) STRICT;")
}

pub(crate) fn to_postgres(script: &str) -> String {
    script
        .replace("SERIAL_KEY", "BIGSERIAL NOT NULL PRIMARY KEY")
        .replace("BYTES", "BYTEA")
        // The writing transaction, so that a reader never passes one that has not committed.
        .replace("COMMIT_ORDER", ", xid BIGINT NOT NULL DEFAULT (CAST(CAST(pg_current_xact_id() AS TEXT) AS BIGINT))")
        .replace("CREATE VOLATILE TABLE", "CREATE UNLOGGED TABLE")
        .replace("DOCUMENT", "JSON")
        .replace(") EDGE;", ");")
}
