//! Programs of two versions on one database: this one, and one that knows more migrations.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use base::Fault;
use base::clock::monotonic_now;
use postgres::{Client, NoTls};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::super::script::{MigrationScript, all_scripts};
use super::super::{AppliedMigration, apply_missing, schema_version};
use crate::postgres::{ConnectionTarget, PostgresMigrator};
use crate::record_indexes::{RecordIndex, RecordIndexBuild};
use crate::sqlite::SqliteMigrator;
use crate::test_stores::{locations, options};
use crate::{DatabaseLocation, Store, meta};

/// What the next version knows.
fn next_version(texts: &[&'static str]) -> Vec<MigrationScript> {
    let mut all = all_scripts().to_vec();
    for (version, text) in (schema_version() + 1..).zip(texts) {
        all.push(MigrationScript { version, name: "next", text });
    }
    all
}

fn contraction() -> &'static str {
    format!("-- contraction, compatible from {}\nDROP TABLE test_note;\n", schema_version() + 1).leak()
}

pub(super) fn migrate(
    location: &DatabaseLocation,
    scripts: &[MigrationScript],
) -> Result<Vec<AppliedMigration>, Fault> {
    match location {
        DatabaseLocation::File(path) => apply_missing(&mut SqliteMigrator::open(path)?, scripts, 0),
        DatabaseLocation::Server(url) => {
            let target = Arc::new(ConnectionTarget::parse(url)?);
            apply_missing(&mut PostgresMigrator::open(&target)?, scripts, 0)
        }
    }
}

fn write_fact(runtime: &Runtime, store: &Store, value: &'static str) {
    runtime.block_on(store.write(move |tx| Ok(meta::set(tx, "test", value)?))).unwrap();
}

const NOTES: &str = "CREATE TABLE test_note (\n    id BIGINT NOT NULL PRIMARY KEY\n);\n\
                     ALTER TABLE meta ADD COLUMN test_mark BIGINT NOT NULL DEFAULT 0;\n";
const WAITING_INDEX: &str = "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() \
                             AND query LIKE '%INDEX CONCURRENTLY%' AND wait_event_type = 'Lock'";
const INDEX: &str = "CREATE INDEX CONCURRENTLY IF NOT EXISTS test_meta_value ON meta (value);\n";

#[test]
fn program_goes_on_and_restarts_after_an_expansion_and_not_after_a_contraction() {
    let (folder, runtime) = (TempDir::new().unwrap(), Runtime::new().unwrap());
    for location in locations(&folder) {
        let open = || runtime.block_on(Store::open(options(location.clone(), &folder)));
        let is_server = matches!(location, DatabaseLocation::Server(_));
        let store = open().unwrap();
        assert_eq!(migrate(&location, &next_version(&[NOTES, INDEX])).unwrap().len(), 2);
        write_fact(&runtime, &store, "after the migration");
        let all = next_version(&[NOTES, INDEX, contraction()]);
        if is_server {
            // It waits for the node.
            assert_eq!(migrate(&location, &all).unwrap().len(), 0);
            let more = next_version(&[NOTES, INDEX, contraction(), NOTES]);
            assert!(migrate(&location, &more).unwrap_err().to_string().contains("have stopped"));
        }
        store.close();
        let store = open().unwrap();
        write_fact(&runtime, &store, "after a restart");
        store.close();
        assert_eq!(migrate(&location, &all).unwrap().len(), 1);
        let refused = open().err().unwrap().to_string();
        assert!(refused.contains("newer than this program") && refused.contains("restore the backup"), "{refused}");
    }
}

/// A new database on a server, and a connection of another program.
struct ServerDatabase {
    runtime: Runtime,
    store: Store,
    location: DatabaseLocation,
    url: String,
    other: Client,
    _folder: TempDir,
}

impl ServerDatabase {
    fn create() -> Option<Self> {
        let (folder, runtime) = (TempDir::new().unwrap(), Runtime::new().unwrap());
        let DatabaseLocation::Server(url) = locations(&folder).pop()? else { return None };
        let location = DatabaseLocation::Server(url.clone());
        let store = runtime.block_on(Store::open(options(location.clone(), &folder))).unwrap();
        let other = Client::connect(&url, NoTls).unwrap();
        Some(Self { runtime, store, location, url, other, _folder: folder })
    }
}

fn query_number(url: &str, sql: &str) -> i64 {
    Client::connect(url, NoTls).unwrap().query_one(sql, &[]).unwrap().get(0)
}

/// Until someone waits.
fn wait_for_count(url: &str, sql: &str) {
    let started = monotonic_now();
    while query_number(url, sql) == 0 {
        assert!(started.elapsed() < Duration::from_mins(1), "nobody waits: {sql}");
    }
}

#[test]
fn index_is_built_beside_transactions_and_again_after_an_interruption() {
    let Some(ServerDatabase { runtime, store, location, url, mut other, .. }) = ServerDatabase::create() else {
        return;
    };
    other.batch_execute("BEGIN; UPDATE meta SET value = value WHERE key = 'test'").unwrap();
    let all = next_version(&[INDEX]);
    thread::scope(|scope| {
        let killed = scope.spawn(|| migrate(&location, &all));
        wait_for_count(&url, WAITING_INDEX);
        let kill = WAITING_INDEX.replace("COUNT(*)", "COUNT(pg_terminate_backend(pid))");
        assert_eq!(query_number(&url, &kill), 1);
        assert!(killed.join().unwrap().is_err());
        assert_eq!(query_number(&url, "SELECT COUNT(*) FROM pg_index WHERE NOT indisvalid"), 1);
        // The one that waits for the other must not be waited for by it.
        let both = [(); 2].map(|()| scope.spawn(|| migrate(&location, &all).unwrap().len()));
        wait_for_count(&url, WAITING_INDEX);
        write_fact(&runtime, &store, "beside the index");
        other.batch_execute("COMMIT").unwrap();
        assert_eq!(both.map(|one| one.join().unwrap()).iter().sum::<usize>(), 1);
    });
    let built = "SELECT COUNT(*) FROM pg_index JOIN pg_attribute ON attrelid = indexrelid \
                 WHERE indexrelid = CAST('test_meta_value' AS regclass) AND indisvalid AND attname = 'value'";
    assert_eq!(query_number(&url, built), 1);
    store.close();
}

#[test]
fn migration_that_waits_for_a_lock_lets_others_go_first() {
    let Some(ServerDatabase { runtime, store, location, url, mut other, .. }) = ServerDatabase::create() else {
        return;
    };
    other.batch_execute("BEGIN; SELECT * FROM meta").unwrap();
    let all = next_version(&[NOTES]);
    thread::scope(|scope| {
        let migration = scope.spawn(|| migrate(&location, &all).unwrap().len());
        let waiting = "SELECT COUNT(*) FROM pg_locks WHERE relation = CAST('meta' AS regclass) AND NOT granted";
        wait_for_count(&url, waiting);
        // It would wait for longer than a migration may wait.
        write_fact(&runtime, &store, "before the migration");
        other.batch_execute("COMMIT").unwrap();
        assert_eq!(migration.join().unwrap(), 1);
    });
    store.close();
}

#[test]
fn contraction_waits_for_a_node_that_starts_meanwhile() {
    let Some(ServerDatabase { store, location, url, mut other, .. }) = ServerDatabase::create() else { return };
    store.close();
    migrate(&location, &next_version(&[NOTES])).unwrap();
    let all = next_version(&[NOTES, contraction()]);
    let start = "BEGIN; SELECT pg_advisory_xact_lock_shared(7270); \
                 UPDATE node SET schema_version = 1, until = 99999999999999 WHERE number = 3";
    other.batch_execute(start).unwrap();
    thread::scope(|scope| {
        let migration = scope.spawn(|| migrate(&location, &all).map(|applied| applied.len()));
        wait_for_count(
            &url,
            "SELECT COUNT(*) FROM pg_locks JOIN pg_database ON pg_database.oid = database \
             WHERE datname = current_database() AND locktype = 'advisory' AND NOT granted",
        );
        other.batch_execute("COMMIT").unwrap();
        assert_eq!(migration.join().unwrap().unwrap(), 0);
    });
    other.batch_execute("UPDATE node SET until = 0 WHERE number = 3").unwrap();
    assert_eq!(migrate(&location, &all).unwrap().len(), 1);
}

#[test]
fn migration_in_a_circle_of_locks_is_applied_afterwards() {
    let Some(ServerDatabase { store, location, url, mut other, .. }) = ServerDatabase::create() else { return };
    store.close();
    // The migration finds the circle first.
    other.batch_execute("SET deadlock_timeout = '1min'; BEGIN; SELECT * FROM meta").unwrap();
    let all = next_version(&["ALTER TABLE app ADD COLUMN test_mark BIGINT;\nALTER TABLE meta ADD COLUMN mark BIGINT;"]);
    thread::scope(|scope| {
        let migration = scope.spawn(|| migrate(&location, &all).map(|applied| applied.len()));
        let waiting = "SELECT COUNT(*) FROM pg_locks WHERE relation = CAST('meta' AS regclass) AND NOT granted";
        wait_for_count(&url, waiting);
        other.batch_execute("SELECT COUNT(*) FROM app; COMMIT").unwrap();
        assert_eq!(migration.join().unwrap().unwrap(), 1);
    });
}

#[test]
fn records_stay_and_their_indexes_are_made_again_when_the_table_gets_row_ids() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("locum.db");
    let location = DatabaseLocation::File(file.clone());
    let before = all_scripts().iter().position(|script| script.name == "ads_record_rowid").unwrap();
    migrate(&location, &all_scripts()[..before]).unwrap();
    let connection = rusqlite::Connection::open(&file).unwrap();
    let record = "INSERT INTO ads_record VALUES ('campaign', 7, 8, 0, 0, x'61', 1, 2, '{\"name\":\"A\"}');
                  INSERT INTO meta (key, value) VALUES ('ads_indexes', 'ads_campaign_names')";
    connection.execute_batch(record).unwrap();
    migrate(&location, all_scripts()).unwrap();
    let count = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    let found = "SELECT COUNT(*) FROM ads_record WHERE kind = 'campaign' AND id = 7 AND body = '{\"name\":\"A\"}'";
    assert_eq!((count(found), count("SELECT rowid FROM ads_record")), (1, 1));
    assert_eq!(count("SELECT COUNT(*) FROM meta WHERE key = 'ads_indexes'"), 0);
}

const RECORD: &str = "INSERT INTO ads_record VALUES ('campaign', $1, 8, 0, 0, '', 1, 2, '{\"name\":\"A\"}')";

fn record_indexes(field: &'static str) -> Vec<RecordIndex> {
    vec![RecordIndex::Filter("campaign", field)]
}

#[test]
fn index_of_records_is_built_while_others_write_and_only_if_migrations_are_applied() {
    let Some(ServerDatabase { runtime, store, url, mut other, _folder, .. }) = ServerDatabase::create() else { return };
    let sync = |build| runtime.block_on(store.sync_record_indexes(record_indexes("budget"), build)).unwrap();
    let built = "SELECT COUNT(*) FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid \
                 WHERE relname = 'ads_campaign_of_budget' AND indisvalid";
    other.batch_execute(&RECORD.replace("$1", "1")).unwrap();
    for build in [RecordIndexBuild::Never, RecordIndexBuild::WithoutRecords] {
        sync(build);
        assert_eq!(query_number(&url, built), 0);
    }
    other.batch_execute("BEGIN; UPDATE ads_record SET level = 0").unwrap();
    thread::scope(|scope| {
        let building = scope.spawn(|| sync(RecordIndexBuild::Always));
        wait_for_count(&url, WAITING_INDEX);
        let mut writer = Client::connect(&url, NoTls).unwrap();
        writer.batch_execute(&format!("SET lock_timeout = '2s'; {}", RECORD.replace("$1", "2"))).unwrap();
        other.batch_execute("COMMIT").unwrap();
        building.join().unwrap();
    });
    assert_eq!(query_number(&url, built), 1);
    store.close();
}

#[test]
fn index_of_records_that_only_another_version_declares_stays_on_a_server() {
    let (folder, runtime) = (TempDir::new().unwrap(), Runtime::new().unwrap());
    for location in locations(&folder) {
        let store = runtime.block_on(Store::open(options(location.clone(), &folder))).unwrap();
        for field in ["budget", "bid", "budget"] {
            let synced = store.sync_record_indexes(record_indexes(field), RecordIndexBuild::WithoutRecords);
            runtime.block_on(synced).unwrap();
        }
        store.close();
        let named = "LIKE 'ads_campaign_of_%'";
        match &location {
            DatabaseLocation::Server(url) => {
                let count = format!("SELECT COUNT(*) FROM pg_class WHERE relname {named}");
                assert_eq!(query_number(url, &count), 2);
            }
            DatabaseLocation::File(path) => {
                let count = format!("SELECT COUNT(*) FROM sqlite_schema WHERE name {named}");
                let connection = rusqlite::Connection::open(path).unwrap();
                assert_eq!(connection.query_row(&count, [], |row| row.get::<_, i64>(0)).unwrap(), 1);
            }
        }
    }
}
