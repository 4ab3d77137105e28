use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use base::{Error, Fault};
use futures_util::{StreamExt, stream};
use tempfile::TempDir;

use super::{QueryLimits, limit_queries, limit_stream_queries};
use crate::test_stores::{locations, options};
use crate::{Store, Tx, meta};

/// Takes hours.
const SLOW: &str = "WITH RECURSIVE n (i) AS (SELECT CAST(1 AS BIGINT) UNION ALL SELECT i + 1 FROM n \
                    WHERE i < 100000000000) SELECT MAX(i) FROM n";
const SLOW_INSERT: &str = "INSERT INTO meta (key, value) WITH RECURSIVE n (i) AS (SELECT CAST(1 AS BIGINT) UNION ALL \
                           SELECT i + 1 FROM n WHERE i < 100000000000) SELECT 'slow', CAST(MAX(i) AS TEXT) FROM n";
const TEN_ROWS: &str = "WITH RECURSIVE n (i) AS (SELECT CAST(1 AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < 10) \
                        SELECT i FROM n";
const SHORT: QueryLimits = QueryLimits { max_rows: 9, timeout: Duration::from_millis(50), ..LONG };
const LONG: QueryLimits =
    QueryLimits { timeout: Duration::from_hours(1), max_rows: 10, transaction_timeout: Duration::from_hours(1) };

fn on_each_engine(test: impl AsyncFn(&Arc<Store>)) {
    let folder = TempDir::new().unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    for location in locations(&folder) {
        let store = Arc::new(runtime.block_on(Store::open(options(location, &folder))).unwrap());
        runtime.block_on(test(&store));
        Arc::into_inner(store).unwrap().close();
    }
}

fn transient_fault<T>(outcome: Result<T, Error>) -> Fault {
    match outcome {
        Err(Error::Failed(fault)) if fault.is_transient() => fault,
        Err(error) => panic!("{error:?}"),
        Ok(_) => panic!("the query was not limited"),
    }
}

fn read_ten(tx: &mut Tx<'_>) -> Result<usize, Error> {
    Ok(tx.query_rows::<i64>(TEN_ROWS, &[])?.len())
}

#[test]
fn query_of_a_request_is_limited_in_time_and_rows() {
    on_each_engine(async |store| {
        let read = store.read(|tx| Ok(tx.query_number(SLOW, &[])?));
        let fault = transient_fault(limit_queries(SHORT, read).await);
        assert!(fault.to_string().contains("RECURSIVE"), "{fault}");
        let fault = transient_fault(limit_queries(SHORT, store.read(read_ten)).await);
        assert!(fault.to_string().contains("more than 9 rows"), "{fault}");
        assert_eq!(limit_queries(LONG, store.read(read_ten)).await.unwrap(), 10);
        assert_eq!(store.read(read_ten).await.unwrap(), 10, "no request, no limit");
    });
}

#[test]
fn query_of_a_response_that_is_being_sent_is_limited() {
    on_each_engine(async |store| {
        let parts = stream::iter(["SELECT CAST(1 AS BIGINT)", SLOW])
            .then(|sql| store.read(move |tx| Ok(tx.query_number(sql, &[])?)));
        let outcomes: Vec<_> = limit_stream_queries(SHORT, Box::pin(parts)).collect().await;
        let [first, second] = <[_; 2]>::try_from(outcomes).unwrap();
        first.unwrap();
        transient_fault(second);
    });
}

/// Writes ten facts at once, of which the sixth takes too long; none of the others may be missing.
async fn write_beside(store: &Arc<Store>, slow: &'static str) {
    let mut all = tokio::task::JoinSet::new();
    for number in 0..10 {
        let store = Arc::clone(store);
        let work = move |tx: &mut Tx<'_>| {
            meta::set(tx, &format!("fact {number}"), slow)?;
            if number == 5 {
                tx.execute(slow, &[])?;
            }
            Ok(())
        };
        all.spawn(limit_queries(SHORT, async move { (number, store.write(work).await) }));
    }
    for (number, outcome) in all.join_all().await {
        if number == 5 {
            transient_fault(outcome);
        } else {
            outcome.unwrap();
        }
        let fact = move |tx: &mut Tx<'_>| Ok(meta::get(tx, &format!("fact {number}"))?);
        assert_eq!(store.read(fact).await.unwrap().is_some_and(|fact| fact == slow), number != 5);
    }
}

#[test]
fn write_that_takes_too_long_leaves_nothing_and_spares_others() {
    on_each_engine(async |store| {
        write_beside(store, SLOW).await;
        write_beside(store, SLOW_INSERT).await;
    });
}

#[test]
fn read_that_nobody_waits_for_is_cancelled_and_a_queued_one_never_runs() {
    on_each_engine(async |store| {
        let started = Arc::new(tokio::sync::Notify::new());
        let reports = Arc::clone(&started);
        let running = limit_queries(LONG, {
            store.read(move |tx| {
                reports.notify_one();
                Ok(tx.query_number(SLOW, &[])?)
            })
        });
        let has_run = Arc::new(AtomicBool::new(false));
        let runs = Arc::clone(&has_run);
        let queued = limit_queries(LONG, {
            store.read(move |_| {
                runs.store(true, Ordering::SeqCst);
                Ok(())
            })
        });
        tokio::select! {
            biased;
            outcome = running => panic!("{outcome:?}"),
            outcome = queued => panic!("{outcome:?}"),
            () = started.notified() => {}
        }
        // There is one connection.
        assert_eq!(store.read(read_ten).await.unwrap(), 10);
        assert!(!has_run.load(Ordering::SeqCst));
    });
}
