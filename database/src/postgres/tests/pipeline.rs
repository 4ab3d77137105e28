//! Statements whose answers are not waited for one by one.

use super::*;
use crate::count_round_trips;
use crate::insert;

const INSERT: &str = "INSERT INTO meta (key, value) VALUES ($1, $2)";

/// Runs the work several times, so that its statements are prepared; returns the round trips of the last time.
async fn count_after_warm_up(
    store: &Store,
    work: impl Fn(&mut Tx<'_>) -> Result<(), Error> + Clone + Send + 'static,
) -> u64 {
    let mut least = u64::MAX;
    for _ in 0..20 {
        let counted = limit_queries(LIMITS, async {
            store.write(work.clone()).await.unwrap();
            count_round_trips()
        });
        least = least.min(counted.await);
    }
    least
}

#[test]
fn statements_without_a_result_are_sent_with_the_commit() {
    on_server(async |store| {
        let count = count_after_warm_up(store, |tx| {
            for key in ["one", "two", "three"] {
                meta::set(tx, key, "set")?;
            }
            Ok(())
        });
        assert_eq!(count.await, 1);
        assert_eq!(fact(store, "three").await.as_deref(), Some("set"));
    });
}

#[test]
fn failure_of_a_statement_that_was_not_waited_for_undoes_the_transaction() {
    on_server(async |store| {
        let outcome = store.write(|tx: &mut Tx<'_>| {
            meta::set(tx, "before", "set")?;
            tx.execute_later("SELECT 1 / CAST($1 AS BIGINT)", &[0_i64.into()])?;
            Ok(meta::set(tx, "after", "set")?)
        });
        let Err(Error::Failed(fault)) = outcome.await else {
            panic!("it was committed");
        };
        assert!(fault.to_string().contains("SELECT 1 /"), "{fault}");
        assert_eq!((fact(store, "before").await, fact(store, "after").await), (None, None));
        store.write(set_fact("later", "set")).await.unwrap();
        assert_eq!(fact(store, "later").await.as_deref(), Some("set"));
    });
}

#[test]
fn transaction_is_repeated_if_another_one_inserted_its_row() {
    on_server(async |store| {
        store.write(set_fact("taken", "first")).await.unwrap();
        let attempts = Arc::new(AtomicU32::new(0));
        let counted = Arc::clone(&attempts);
        let work = move |tx: &mut Tx<'_>| {
            let key = if counted.fetch_add(1, Ordering::Relaxed) == 0 { "taken" } else { "free" };
            Ok(tx.execute_later(INSERT, &[key.into(), "second".into()])?)
        };
        store.write(work).await.unwrap();
        assert_eq!(attempts.load(Ordering::Relaxed), 2);
        assert_eq!(fact(store, "taken").await.as_deref(), Some("first"));
        assert_eq!(fact(store, "free").await.as_deref(), Some("second"));
    });
}

#[test]
fn inserted_rows_are_sent_together_and_before_what_reads_them() {
    on_server(async |store| {
        let count = count_after_warm_up(store, |tx| {
            tx.execute_later("DELETE FROM meta WHERE key LIKE 'row%'", &[])?;
            for number in 0..3_000 {
                let key = format!("row{number}");
                insert!(tx, "meta", key = &key, value = "a 'quoted', {braced} \\ value")?;
            }
            let sql = "SELECT COUNT(*) FROM meta WHERE key LIKE 'row%' AND value = $1";
            assert_eq!(tx.query_number(sql, &["a 'quoted', {braced} \\ value".into()])?, 3_000);
            Ok(())
        });
        // The query, and the commit.
        assert_eq!(count.await, 2);
    });
}

#[test]
fn announced_queries_share_a_round_trip_and_do_not_outlive_a_write() {
    on_server(async |store| {
        store.write(set_fact("one", "first")).await.unwrap();
        let sql = "SELECT value FROM meta WHERE key = $1";
        let count = count_after_warm_up(store, move |tx| {
            meta::set(tx, "one", "first")?;
            for key in ["one", "two"] {
                tx.prefetch(sql, &[key.into()])?;
            }
            assert_eq!(meta::get(tx, "one")?.as_deref(), Some("first"));
            assert_eq!(meta::get(tx, "two")?, None);
            Ok(())
        });
        assert_eq!(count.await, 2);
        let work = move |tx: &mut Tx<'_>| {
            tx.prefetch(sql, &["one".into()])?;
            meta::set(tx, "one", "second")?;
            assert_eq!(meta::get(tx, "one")?.as_deref(), Some("second"));
            tx.prefetch(sql, &["one".into()])?;
            tx.query_row::<String>("UPDATE meta SET value = 'third' WHERE key = 'one' RETURNING key", &[])?;
            assert_eq!(meta::get(tx, "one")?.as_deref(), Some("third"));
            Ok(())
        };
        store.write(work).await.unwrap();
    });
}

#[test]
fn announced_queries_of_a_read_are_in_its_snapshot() {
    on_server(async |store| {
        store.write(set_fact("seen", "1")).await.unwrap();
        let sql = "SELECT value FROM meta WHERE key = $1";
        let work = move |tx: &mut Tx<'_>| {
            tx.prefetch(sql, &["seen".into()])?;
            let level: Option<String> = tx.query_row("SELECT current_setting('transaction_isolation')", &[])?;
            Ok((level, meta::get(tx, "seen")?))
        };
        for _ in 0..3 {
            let (level, seen) = store.read(work).await.unwrap();
            assert_eq!(level.as_deref(), Some("repeatable read"));
            assert_eq!(seen.as_deref(), Some("1"));
        }
        // Announced and never asked for.
        for _ in 0..8 {
            let unused = store.read(move |tx: &mut Tx<'_>| Ok(tx.prefetch(sql, &["unused".into()])?));
            unused.await.unwrap();
        }
        assert_eq!(fact(store, "seen").await.as_deref(), Some("1"));
    });
}
