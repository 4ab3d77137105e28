use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, StatementStatus};
use tempfile::TempDir;

use super::{CACHE_KIB, STATEMENT_CACHE_SIZE, exec, file_fault, open_connection};

#[test]
fn unusable_file_is_named_with_what_to_do() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("locum.db");
    let opened = |path: &Path| open_connection(path, CACHE_KIB).map(drop).map_err(|fault| fault.to_string());
    opened(&path).unwrap();
    let conn = Connection::open_with_flags(&path, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let fault = exec(&conn, "CREATE TABLE a (b)", &[]).unwrap_err().to_string();
    let named = path.display();
    let expected = format!("the database file {named} cannot be written: make it and its directory writable");
    assert!(fault.contains(&expected), "{fault}");

    std::fs::write(&path, "no database, and longer than the header of one ".repeat(10)).unwrap();
    let fault = opened(&path).unwrap_err();
    let expected = format!("the database file {named} is damaged or no SQLite database: restore a backup");
    assert!(fault.starts_with(&expected), "{fault}");

    let other = file_fault(&path, rusqlite::Error::InvalidQuery).to_string();
    assert!(other.starts_with(&format!("the database file {named} cannot be opened: ")), "{other}");
}

#[test]
fn lock_of_another_program_passes() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("locum.db");
    let (ours, other) = (open_connection(&path, 64).unwrap(), open_connection(&path, 64).unwrap());
    ours.busy_timeout(Duration::from_millis(10)).unwrap();
    exec(&other, "BEGIN IMMEDIATE", &[]).unwrap();
    assert!(exec(&ours, "BEGIN IMMEDIATE", &[]).unwrap_err().is_transient());
    exec(&other, "ROLLBACK", &[]).unwrap();
    exec(&ours, "BEGIN IMMEDIATE", &[]).unwrap();
}

#[test]
fn statement_that_was_not_used_for_long_is_closed() {
    let folder = TempDir::new().unwrap();
    let conn = open_connection(&folder.path().join("locum.db"), 64).unwrap();
    let sql = |number: usize| format!("PRAGMA user_version = {number}");
    let runs_before = |number: usize| {
        let runs = conn.prepare_cached(&sql(number)).unwrap().get_status(StatementStatus::Run);
        exec(&conn, &sql(number), &[]).unwrap();
        runs
    };
    for number in 0..=STATEMENT_CACHE_SIZE {
        assert_eq!(runs_before(number), 0);
    }
    assert_eq!(runs_before(0), 0, "the oldest one was closed");
    assert_eq!(runs_before(STATEMENT_CACHE_SIZE), 1, "the newest one was kept");
}
