//! Power failures on SQLite: only what was flushed is left.

use std::path::Path;
use std::process::Command;

use serde_json::json;

use super::count_shown_posts;
use crate::harness::{DatabaseEngine, TestServer, suite_engine, suite_setting, wait_until};

const POSTS: usize = 20;
/// Writes and flushes of the database that its creation takes at least.
const CREATION_CALLS: u64 = 1_300;

/// Builds the library that is preloaded, in the folder.
fn build_preloaded_library(folder: &Path) -> &'static str {
    let library = folder.join("file_calls.so");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/durability/file_calls.c");
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let built = Command::new(compiler).args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library).arg(source).status();
    assert!(built.unwrap().success());
    library.display().to_string().leak()
}

/// Acknowledged posts that are missing after the WAL was cut back to what had been flushed when they were acknowledged.
fn count_posts_lost_without_power(variables: &[(&'static str, &'static str)]) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("flushes");
    let mut server = TestServer::prepare(&["--world", "empty"]);
    server.set_variable("LD_PRELOAD", build_preloaded_library(folder.path()));
    server.set_variable("SYNC_LOG", log.display().to_string().leak());
    for (name, value) in variables {
        server.set_variable(name, value);
    }
    server.restart();
    let user = server.new_user("unpowered");
    let texts: Vec<String> = (0..POSTS).map(|number| format!("Entry {number} before the power fails")).collect();
    let mut flushed = Vec::new();
    for text in &texts {
        user.publish_text(text);
        let lengths = std::fs::read_to_string(&log).unwrap_or_default();
        flushed.push(lengths.lines().last().map_or(0, |length| length.parse::<usize>().unwrap()));
    }
    let id = user.id.clone();
    server.kill();
    let wal = std::fs::read(server.data_dir().join("locum.db-wal")).unwrap();
    let lost = flushed.iter().enumerate().step_by(POSTS / 4).map(|(index, length)| {
        let shown = count_shown_posts(&server, &wal[..*length], &id, &texts).unwrap_or(0);
        (index + 1).saturating_sub(shown)
    });
    lost.sum()
}

#[test]
fn acknowledged_posts_survive_a_power_failure() {
    if suite_engine() == DatabaseEngine::Postgres {
        return;
    }
    assert_eq!(count_posts_lost_without_power(&[]), 0);
    // The test would notice: without flushes, everything is lost.
    assert!(count_posts_lost_without_power(&[("OMIT_SYNC", "1")]) > 0);
}

/// The process ends before a write or flush of the database while it creates it; `LOCUM_MIGRATION_KILLS` sets how
/// often (6).
#[test]
fn migrations_continue_after_a_kill_before_any_write() {
    if suite_engine() == DatabaseEngine::Postgres {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let library = build_preloaded_library(folder.path());
    let kills = suite_setting("LOCUM_MIGRATION_KILLS", 6);
    let mut killed = 0;
    for kill in 0..kills {
        let call = 1 + kill * CREATION_CALLS / kills;
        let mut server = TestServer::prepare(&["--world", "empty"]);
        server.set_variable("LD_PRELOAD", library);
        server.set_variable("EXIT_AT_CALL", call.to_string().leak());
        server.spawn();
        wait_until("the server ends", || !server.is_running());
        killed += u64::from(server.wait_for_exit().0 == Some(137));
        server.set_variable("EXIT_AT_CALL", "1000000000");
        server.restart();
        server.new_user("migrated").publish_text("The schema is complete");
        super::is_sound(&server);
    }
    println!("figure: {}", json!({ "figure": "migrations killed", "kills": killed, "failed": 0 }));
    assert_eq!(killed, kills);
}
