use std::collections::BTreeSet;
use std::time::Duration;

use base::{Error, Fault};
use postgres::{Client, NoTls};
use tempfile::TempDir;

use crate::test_stores::{locations, options};
use crate::{DatabaseLocation, Store, StoreOptions, Tx, meta, nodes};

/// The clock of a lost lease runs until the next renewal, and a taken number may be one of a node that must expire.
const MAX_WAIT: Duration = Duration::from_secs(20);

/// Not run without a database server.
fn with_database(test: impl AsyncFn(&str)) {
    let folder = TempDir::new().unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    for location in locations(&folder) {
        if let DatabaseLocation::Server(url) = location {
            runtime.block_on(test(&url));
        }
    }
}

async fn open_node(url: &str) -> (Store, TempDir) {
    let folder = TempDir::new().unwrap();
    let options = StoreOptions { connections: 2, ..options(DatabaseLocation::Server(url.to_owned()), &folder) };
    (Store::open(options).await.unwrap(), folder)
}

async fn close(store: Store) {
    tokio::task::spawn_blocking(move || store.close()).await.unwrap();
}

fn run_sql(url: &str, sql: &str) {
    Client::connect(url, NoTls).unwrap().batch_execute(sql).unwrap();
}

fn incarnation(store: &Store) -> i64 {
    store.context().node.incarnation()
}

fn number(store: &Store) -> i64 {
    store.context().ids.next::<()>().get() >> 12 & 0x3ff
}

async fn write_fact(store: &Store, key: &'static str) -> Result<(), Error> {
    store.write(move |tx| Ok(meta::set(tx, key, "written")?)).await
}

async fn has_fact(store: &Store, key: &'static str) -> bool {
    store.read(move |tx| Ok(meta::get(tx, key)?)).await.unwrap().is_some()
}

async fn wait_for_lease(store: &Store, lost: i64) {
    let started = base::clock::monotonic_now();
    while incarnation(store) == lost || store.context().node.problem().is_some() {
        assert!(started.elapsed() < MAX_WAIT, "no lease was taken");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn transient_fault(outcome: Result<(), Error>) -> Fault {
    match outcome {
        Err(Error::Failed(fault)) if fault.is_transient() => fault,
        outcome => panic!("{outcome:?}"),
    }
}

#[test]
fn nodes_have_numbers_of_their_own_and_give_them_back() {
    with_database(async |url| {
        let (first, _folder) = open_node(url).await;
        let (second, _folder) = open_node(url).await;
        assert_eq!([number(&first), number(&second)], [0, 1]);
        let listed = first.read(|tx| Ok(nodes::list(tx)?)).await.unwrap();
        assert_eq!(listed.iter().map(|node| node.number).collect::<Vec<_>>(), [0, 1]);
        assert!(listed.iter().all(|node| node.has_lease && node.purpose == "server" && node.webhook_count == 0));
        assert_ne!(incarnation(&first), incarnation(&second));
        close(first).await;
        let (third, _folder) = open_node(url).await;
        assert_eq!(number(&third), 0);
        close(second).await;
        close(third).await;
    });
}

#[test]
fn nodes_that_start_together_get_different_numbers() {
    with_database(async |url| {
        let (first, _folder) = open_node(url).await;
        let mut starting = tokio::task::JoinSet::new();
        for _ in 0..6 {
            let url = url.to_owned();
            starting.spawn(async move { open_node(&url).await });
        }
        let others = starting.join_all().await;
        let numbers: BTreeSet<i64> = others.iter().map(|(store, _)| number(store)).collect();
        assert_eq!(numbers, (1..7).collect());
        for (store, _folder) in others {
            close(store).await;
        }
        close(first).await;
    });
}

#[test]
fn transaction_of_a_node_whose_number_was_taken_is_not_committed() {
    with_database(async |url| {
        let (store, _folder) = open_node(url).await;
        let lost = incarnation(&store);
        // The node is frozen in a transaction for so long that its lease ends and another one takes its number.
        let address = url.to_owned();
        let frozen = store.write(move |tx| {
            meta::set(tx, "frozen", "written")?;
            let ended = format!("UPDATE node SET until = 0 WHERE incarnation = {lost}");
            run_sql(&address, &ended);
            let taken = "UPDATE node SET incarnation = 77, until = 99999999999999 WHERE number = 0";
            run_sql(&address, taken);
            Ok(())
        });
        let fault = transient_fault(frozen.await);
        assert!(fault.to_string().contains("lease"), "{fault}");
        assert!(!has_fact(&store, "frozen").await);
        wait_for_lease(&store, lost).await;
        assert_eq!(number(&store), 1);
        write_fact(&store, "later").await.unwrap();
        assert!(has_fact(&store, "later").await);
        close(store).await;
    });
}

#[test]
fn node_whose_lease_ended_writes_nothing_until_it_has_another() {
    with_database(async |url| {
        let (store, _folder) = open_node(url).await;
        let lost = incarnation(&store);
        // The database is away for longer than the lease lasts.
        let address = url.to_owned();
        let (back, is_back) = std::sync::mpsc::channel::<()>();
        let away = std::thread::spawn(move || {
            let mut client = Client::connect(&address, NoTls).unwrap();
            let lock = "BEGIN; LOCK TABLE node IN ACCESS EXCLUSIVE MODE; UPDATE node SET until = 1 WHERE until > 0";
            client.batch_execute(lock).unwrap();
            is_back.recv().unwrap();
            client.batch_execute("COMMIT").unwrap();
        });
        let started = base::clock::monotonic_now();
        while store.context().node.problem().is_none() {
            assert!(started.elapsed() < MAX_WAIT, "the lease was trusted for too long");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert!(!store.context().node.may_send_as(lost));
        let refused = transient_fault(write_fact(&store, "refused").await);
        assert!(refused.to_string().contains("lease"), "{refused}");
        back.send(()).unwrap();
        away.join().unwrap();
        wait_for_lease(&store, lost).await;
        assert_eq!(number(&store), 0, "nobody else had the number");
        assert!(!has_fact(&store, "refused").await);
        write_fact(&store, "accepted").await.unwrap();
        close(store).await;
    });
}

#[test]
fn drained_node_gets_no_work() {
    with_database(async |url| {
        let (first, _folder) = open_node(url).await;
        let (second, _folder) = open_node(url).await;
        let drain = |tx: &mut Tx<'_>| Ok((nodes::drain(tx, 1)?, nodes::drain(tx, 5)?));
        assert_eq!(first.write(drain).await.unwrap(), (true, false));
        let started = base::clock::monotonic_now();
        while second.context().node.problem() != Some(nodes::NodeProblem::Draining)
            || first.context().node.worker_count() != 1
        {
            assert!(started.elapsed() < MAX_WAIT, "it is not drained");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert!((0..100).all(|key| first.context().node.is_preferred_for(key)));
        assert!(!second.context().node.accepts_work());
        // Its requests are still answered.
        write_fact(&second, "still").await.unwrap();
        close(first).await;
        close(second).await;
    });
}

async fn run_sql_there(url: &str, sql: &'static str) {
    let url = url.to_owned();
    tokio::task::spawn_blocking(move || run_sql(&url, sql)).await.unwrap();
}

#[test]
fn node_takes_no_number_on_a_schema_that_is_too_new_for_it() {
    with_database(async |url| {
        let (first, _folder) = open_node(url).await;
        run_sql_there(url, "UPDATE meta SET value = '9999' WHERE key = 'schema_compatible_from'").await;
        let folder = TempDir::new().unwrap();
        let refused = Store::open(options(DatabaseLocation::Server(url.to_owned()), &folder)).await;
        assert!(refused.err().unwrap().to_string().contains("9999"));
        let lost = incarnation(&first);
        run_sql_there(url, "UPDATE node SET until = 0").await;
        let started = base::clock::monotonic_now();
        while first.context().node.problem().is_none() {
            assert!(started.elapsed() < MAX_WAIT, "the lease was not lost");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert_eq!(incarnation(&first), lost);
        run_sql_there(url, "UPDATE meta SET value = '1' WHERE key = 'schema_compatible_from'").await;
        wait_for_lease(&first, lost).await;
        close(first).await;
    });
}

#[test]
fn node_that_starts_during_a_contraction_waits_for_its_outcome() {
    with_database(async |url| {
        let (first, _folder) = open_node(url).await;
        close(first).await;
        let address = url.to_owned();
        let begin = move || {
            let mut client = Client::connect(&address, NoTls).unwrap();
            let begin = "BEGIN; SELECT pg_advisory_xact_lock(7270); \
                         UPDATE meta SET value = '9999' WHERE key = 'schema_compatible_from'";
            client.batch_execute(begin).unwrap();
            client
        };
        let mut client = tokio::task::spawn_blocking(begin).await.unwrap();
        let contraction = std::thread::spawn(move || {
            let waiting = "SELECT COUNT(*) FROM pg_locks JOIN pg_database ON pg_database.oid = database \
                           WHERE datname = current_database() AND locktype = 'advisory' AND NOT granted";
            let started = base::clock::monotonic_now();
            while client.query_one(waiting, &[]).unwrap().get::<_, i64>(0) == 0 {
                assert!(started.elapsed() < MAX_WAIT, "no node waits");
            }
            client.batch_execute("COMMIT").unwrap();
        });
        let folder = TempDir::new().unwrap();
        let opened = Store::open(options(DatabaseLocation::Server(url.to_owned()), &folder)).await;
        contraction.join().unwrap();
        let refused = opened.err().unwrap().to_string();
        assert!(refused.contains("9999"), "{refused}");
    });
}
