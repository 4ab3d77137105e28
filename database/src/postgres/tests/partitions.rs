//! The migration that partitions tables, on a database with rows.

use std::sync::Arc;
use std::time::Duration;

use postgres::{Client, NoTls};
use tempfile::TempDir;

use crate::migrate::{all_missing, all_scripts, apply_missing};
use crate::postgres::{ConnectionTarget, PostgresMigrator};
use crate::test_stores::{locations, options};
use crate::{DatabaseLocation, Store, event_log};

#[test]
fn rows_of_an_older_database_are_in_the_first_partitions() {
    let folder = TempDir::new().unwrap();
    let Some(location @ DatabaseLocation::Server(_)) = locations(&folder).pop() else { return };
    let DatabaseLocation::Server(url) = &location else { return };
    let version = all_missing().unwrap().iter().position(|one| one.name == "event_partitions").unwrap();
    let target = Arc::new(ConnectionTarget::parse(url).unwrap());
    apply_missing(&mut PostgresMigrator::open(&target).unwrap(), &all_scripts()[..version], 0).unwrap();
    let mut client = Client::connect(url, NoTls).unwrap();
    let later = 4_000_000_000_000_i64;
    client
        .batch_execute(&format!(
            "INSERT INTO event (seq, at, kind, actor_id, subject_id)
                 SELECT n, n, 'test', n, n FROM generate_series(1, 1000) n;
             UPDATE event_sequencer SET last_seq = 1000;
             INSERT INTO delivery (webhook_id, event_id, order_key, at, body, due_at)
                 SELECT 1, 'e' || n, 1, {later}, '', n FROM generate_series(1, 1000) n;
             INSERT INTO delivery_attempt (webhook_id, delivery_seq, at, status, took_ms, sent)
                 SELECT 1, n, n, 200, 1, '' FROM generate_series(1, 1000) n;
             INSERT INTO post_read SELECT 1, 20604, n FROM generate_series(1, 1000) n;"
        ))
        .unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let store = runtime.block_on(Store::open(options(location.clone(), &folder))).unwrap();
    for sql in [
        "SELECT seq FROM event ORDER BY seq",
        "SELECT seq FROM delivery ORDER BY seq",
        "SELECT seq FROM delivery_attempt ORDER BY seq",
        "SELECT post_id FROM post_read ORDER BY post_id",
    ] {
        let rows: Vec<i64> = client.query(sql, &[]).unwrap().iter().map(|row| row.get(0)).collect();
        assert_eq!(rows, (1..=1000).collect::<Vec<i64>>(), "{sql}");
    }
    // Numbers go on, and the same event is not enqueued again.
    runtime.block_on(store.write(|tx| Ok(event_log::append(tx, "test", 1, 1, "")?))).unwrap();
    assert_eq!(runtime.block_on(store.wait_for_log_end(Duration::from_secs(10))).unwrap(), 1001);
    let sql = "INSERT INTO delivery (webhook_id, event_id, order_key, at, body, due_at) VALUES (1, $1, 1, $2, '', $2) \
               ON CONFLICT DO NOTHING";
    let insert = |event: &'static str| store.write(move |tx| Ok(tx.execute(sql, &[event.into(), later.into()])?));
    let is_new = |event| runtime.block_on(insert(event)).unwrap() > 0;
    assert!(is_new("new") && !is_new("new") && !is_new("e7"));
    let highest: i64 = client.query_one("SELECT MAX(seq) FROM delivery", &[]).unwrap().get(0);
    assert!(highest > 1000);
    let sql = "SELECT COUNT(*) FROM pg_class WHERE relkind = 'i' AND relname LIKE '%_initial%' AND relispartition";
    let attached: i64 = client.query_one(sql, &[]).unwrap().get(0);
    assert_eq!(attached, 1 + 6 + 2 + 2, "no index is missing or there twice");
    store.close();
}
