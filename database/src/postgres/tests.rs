//! On a real server, where `LOCUM_TEST_POSTGRES` names one.

mod partitions;
mod pipeline;

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use base::clock::monotonic_now;
use base::{Error, Fault};
use parking_lot::Mutex;
use tempfile::TempDir;
use tokio::task::{JoinHandle, JoinSet};

use super::PostgresConnection;
use super::job_queue::MAX_WAITING;
use super::server_checks::ServerIdentity;
use super::session::SessionLimits;
use super::tls::ConnectionTarget;
use crate::test_stores::{locations, options};
use crate::{DatabaseLocation, Store, StoreOptions, Tx, meta};
use crate::{QueryLimits, assign_queries_to_user, limit_queries};

const LIMITS: QueryLimits = QueryLimits {
    timeout: Duration::from_secs(10),
    max_rows: 1_000,
    transaction_timeout: Duration::from_millis(1_500),
};

/// With four connections for reads and eight for writes.
fn on_server(test: impl AsyncFn(&Arc<Store>)) {
    let folder = TempDir::new().unwrap();
    let Some(location @ DatabaseLocation::Server(_)) = locations(&folder).pop() else {
        return;
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let options = StoreOptions { connections: 4, ..options(location, &folder) };
    let store = Arc::new(runtime.block_on(Store::open(options)).unwrap());
    runtime.block_on(test(&store));
    Arc::into_inner(store).unwrap().close();
}

fn assert_transient<T>(outcome: Result<T, Error>) -> Fault {
    match outcome {
        Err(Error::Failed(fault)) if fault.is_transient() => fault,
        Err(error) => panic!("{error:?}"),
        Ok(_) => panic!("it succeeded"),
    }
}

fn set_fact(key: &'static str, value: &'static str) -> impl Fn(&mut Tx<'_>) -> Result<(), Error> + Send + 'static {
    move |tx| Ok(meta::set(tx, key, value)?)
}

async fn fact(store: &Store, key: &'static str) -> Option<String> {
    store.read(move |tx| Ok(meta::get(tx, key)?)).await.unwrap()
}

/// Work that signals its start, and waits until the sender is dropped.
fn blocking_work(
    first: impl Fn(&mut Tx<'_>) -> Result<(), Error> + Send + 'static,
) -> (impl Fn(&mut Tx<'_>) -> Result<(), Error> + Send + 'static, mpsc::Receiver<()>, mpsc::Sender<()>) {
    let (started, wait_for_start) = mpsc::channel();
    let (release, wait_for_release) = mpsc::channel::<()>();
    let wait_for_release = Mutex::new(wait_for_release);
    let work = move |tx: &mut Tx<'_>| {
        first(tx)?;
        // Statements before a query are sent with it.
        meta::get(tx, "sent")?;
        started.send(()).unwrap();
        let _released = wait_for_release.lock().recv();
        Ok(())
    };
    (work, wait_for_start, release)
}

#[expect(clippy::disallowed_methods, reason = "a test is the home of its own tasks")]
fn spawn_task<T: Send + 'static>(task: impl Future<Output = T> + Send + 'static) -> JoinHandle<T> {
    tokio::spawn(task)
}

/// Holds the lock of a row in the background until the sender is dropped.
fn lock_fact(store: &Arc<Store>, key: &'static str) -> (JoinHandle<Result<(), Error>>, mpsc::Sender<()>) {
    let (work, started, release) = blocking_work(set_fact(key, "locked"));
    let store = Arc::clone(store);
    let holder = spawn_task(async move { store.write(work).await });
    started.recv().unwrap();
    (holder, release)
}

async fn as_user<T>(user: i64, work: impl Future<Output = T>) -> T {
    let work = async {
        assign_queries_to_user(user);
        work.await
    };
    limit_queries(LIMITS, work).await
}

#[test]
fn user_whose_row_is_locked_delays_nobody_else() {
    on_server(async |store| {
        let (holder, release) = lock_fact(store, "hot");
        let mut blocked = JoinSet::new();
        for _ in 0..20 {
            let store = Arc::clone(store);
            blocked.spawn(as_user(1, async move { store.write(set_fact("hot", "too late")).await }));
        }
        // All of them are queued before the others come.
        tokio::task::yield_now().await;
        let started = monotonic_now();
        as_user(2, store.write(set_fact("cold", "written"))).await.unwrap();
        let read = as_user(1, store.read(|tx| Ok(meta::get(tx, "cold")?))).await.unwrap();
        assert_eq!(read.as_deref(), Some("written"));
        assert!(started.elapsed() < Duration::from_secs(1), "{:?}", started.elapsed());
        for outcome in blocked.join_all().await {
            assert_transient(outcome);
        }
        assert!(started.elapsed() < LIMITS.transaction_timeout * 2, "{:?}", started.elapsed());
        drop(release);
        holder.await.unwrap().unwrap();
        assert_eq!(fact(store, "hot").await.as_deref(), Some("locked"));
    });
}

#[test]
fn of_concurrent_transactions_the_first_to_commit_decides_a_fact() {
    on_server(async |store| {
        let (work, started, release) = blocking_work(|tx| Ok(meta::get_or_insert(tx, "fact", "first").map(drop)?));
        let holder = spawn_task({
            let store = Arc::clone(store);
            async move { store.write(work).await }
        });
        started.recv().unwrap();
        let second = spawn_task({
            let store = Arc::clone(store);
            async move { store.write(|tx| Ok(meta::get_or_insert(tx, "fact", "second")?)).await }
        });
        let waiting = "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND \
                       wait_event_type = 'Lock'";
        let count = || store.read(move |tx| Ok(tx.query_row::<i64>(waiting, &[])?));
        while count().await.unwrap() != Some(1) {
            assert!(!second.is_finished());
        }
        drop(release);
        holder.await.unwrap().unwrap();
        assert_eq!(second.await.unwrap().unwrap(), "first");
    });
}

#[test]
fn transaction_is_not_committed_after_its_deadline() {
    on_server(async |store| {
        let (work, _started, release) = blocking_work(set_fact("late", "committed"));
        assert_transient(as_user(1, store.write(work)).await);
        drop(release);
        // Runs after it, as it needs the same lock.
        store.write(set_fact("late", "after")).await.unwrap();
        assert_eq!(fact(store, "late").await.as_deref(), Some("after"));
    });
}

#[test]
fn full_queue_refuses_at_once_and_expired_jobs_never_run() {
    on_server(async |store| {
        let mut blocked = Vec::new();
        for _ in 0..4 {
            let (work, started, release) = blocking_work(|_| Ok(()));
            let store = Arc::clone(store);
            let reader = spawn_task(limit_queries(LIMITS, async move { store.read(work).await }));
            started.recv().unwrap();
            blocked.push((reader, release));
        }
        let runs = Arc::new(AtomicU32::new(0));
        let mut waiting = JoinSet::new();
        for _ in 0..MAX_WAITING + 50 {
            let (store, runs) = (Arc::clone(store), Arc::clone(&runs));
            let work = move |_: &mut Tx<'_>| Ok(runs.fetch_add(1, Ordering::SeqCst));
            waiting.spawn(limit_queries(LIMITS, async move {
                let started = monotonic_now();
                (store.read(work).await, started.elapsed())
            }));
        }
        let mut refused = 0;
        for (outcome, time) in waiting.join_all().await {
            if assert_transient(outcome).to_string().contains("too many jobs") {
                assert!(time < Duration::from_secs(1), "{time:?}");
                refused += 1;
            }
        }
        assert_eq!(refused, 50);
        for (reader, release) in blocked {
            drop(release);
            assert_transient(reader.await.unwrap());
        }
        limit_queries(LIMITS, store.read(|tx| Ok(meta::get(tx, "hot")?))).await.unwrap();
        assert_eq!(runs.load(Ordering::SeqCst), 0);
    });
}

#[test]
fn statements_of_a_read_see_one_snapshot() {
    on_server(async |store| {
        store.write(set_fact("counted", "before")).await.unwrap();
        for _ in 0..2 {
            let (reached, at_write) = mpsc::channel::<()>();
            let (release, released) = mpsc::channel::<()>();
            let released = Mutex::new(released);
            let reading = Arc::clone(store);
            let both = spawn_task(async move {
                reading
                    .read(move |tx| {
                        let first = meta::get(tx, "counted")?;
                        let _gone = reached.send(());
                        let _released = released.lock().recv();
                        Ok((first, meta::get(tx, "counted")?))
                    })
                    .await
            });
            at_write.recv().unwrap();
            store.write(set_fact("counted", "after")).await.unwrap();
            drop(release);
            let (first, second) = both.await.unwrap().unwrap();
            assert_eq!(first, second);
        }
    });
}

fn open_error(runtime: &tokio::runtime::Runtime, options: StoreOptions) -> String {
    match runtime.block_on(Store::open(options)) {
        Ok(_) => panic!("the server was accepted"),
        Err(fault) => fault.to_string(),
    }
}

#[test]
fn former_primary_and_another_server_are_refused() {
    let folder = TempDir::new().unwrap();
    let Some(location @ DatabaseLocation::Server(_)) = locations(&folder).pop() else {
        return;
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(Store::open(options(location.clone(), &folder))).unwrap().close();
    let file = folder.path().join("database-server");
    let identity = std::fs::read_to_string(&file).unwrap();
    let (system, timeline) = identity.trim().split_once(' ').unwrap();
    assert!(timeline.parse::<i64>().unwrap() > 0, "{identity}");

    std::fs::write(&file, format!("{system} 999999\n")).unwrap();
    let refused = open_error(&runtime, options(location.clone(), &folder));
    assert!(refused.contains("former primary"), "{refused}");
    std::fs::write(&file, format!("1{system} {timeline}\n")).unwrap();
    let refused = open_error(&runtime, options(location.clone(), &folder));
    assert!(refused.contains("is not the one that this node used"), "{refused}");

    std::fs::write(&file, format!("{system} 0\n")).unwrap();
    runtime.block_on(Store::open(options(location, &folder))).unwrap().close();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), identity, "a later timeline is remembered");
}

#[test]
fn former_primary_is_not_migrated() {
    let (folder, other) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let (Some(known), Some(empty @ DatabaseLocation::Server(_))) = (locations(&folder).pop(), locations(&other).pop())
    else {
        return;
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(Store::open(options(known, &folder))).unwrap().close();
    let identity = std::fs::read_to_string(folder.path().join("database-server")).unwrap();
    let (system, _) = identity.split_once(' ').unwrap();
    std::fs::write(other.path().join("database-server"), format!("{system} 999999\n")).unwrap();
    let DatabaseLocation::Server(url) = &empty else { return };
    let mut client = postgres::Client::connect(url, postgres::NoTls).unwrap();
    let refused = open_error(&runtime, options(empty, &other));
    assert!(refused.contains("former primary"), "{refused}");
    let tables: i64 =
        client.query_one("SELECT COUNT(*) FROM pg_tables WHERE schemaname = 'public'", &[]).unwrap().get(0);
    assert_eq!(tables, 0);
}

#[test]
fn background_job_waits_for_a_connection_if_no_further_one_can_be_opened() {
    on_server(async |store| {
        let named = "SELECT CAST(current_database() AS TEXT)";
        let name = store.read(move |tx| Ok(tx.query_row::<String>(named, &[])?)).await.unwrap().unwrap();
        let server = std::env::var("LOCUM_TEST_POSTGRES").unwrap();
        let allow = |is_allowed| {
            let allow = format!("ALTER DATABASE {name} ALLOW_CONNECTIONS {is_allowed}");
            let run = || postgres::Client::connect(&server, postgres::NoTls).unwrap().batch_execute(&allow).unwrap();
            tokio::task::block_in_place(run);
        };
        let (holder, release) = lock_fact(store, "hot");
        allow(false);
        let waiting = spawn_task({
            let store = Arc::clone(store);
            async move { fact(&store, "cold").await }
        });
        tokio::time::sleep(Duration::from_millis(300)).await;
        drop(release);
        holder.await.unwrap().unwrap();
        let read = waiting.await;
        allow(true);
        assert_eq!(read.unwrap(), None);
    });
}

#[test]
fn no_connection_goes_back_to_a_former_primary() {
    let folder = TempDir::new().unwrap();
    let Some(location @ DatabaseLocation::Server(_)) = locations(&folder).pop() else {
        return;
    };
    let DatabaseLocation::Server(url) = &location else { return };
    let mut client = postgres::Client::connect(url, postgres::NoTls).unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let store = runtime.block_on(Store::open(options(location.clone(), &folder))).unwrap();
    let system = "SELECT system_identifier || ' 999999' FROM pg_control_system()";
    let promoted: String = client.query_one(system, &[]).unwrap().get(0);
    // Another server was promoted, and this one is reached again.
    let known = store.db.server.as_ref().unwrap().known_server.as_ref().unwrap();
    known.check(ServerIdentity::parse(&promoted).unwrap()).unwrap();
    let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
               WHERE datname = current_database() AND pid <> pg_backend_pid()";
    client.execute(end, &[]).unwrap();
    let expired = "SELECT (SELECT COUNT(*) FROM node WHERE until > EXTRACT(EPOCH FROM clock_timestamp()) * 1000) + \
                   (SELECT COUNT(*) FROM event_sequencer WHERE until > EXTRACT(EPOCH FROM clock_timestamp()) * 1000)";
    let started = monotonic_now();
    while client.query_one(expired, &[]).unwrap().get::<_, i64>(0) > 0 || store.context().node.problem().is_none() {
        assert!(started.elapsed() < Duration::from_secs(20), "a lease is renewed");
        std::thread::sleep(Duration::from_millis(20));
    }
    let read = || assert_transient(runtime.block_on(store.read(|tx| Ok(meta::get(tx, "x")?))));
    // The first one notices that the connection is gone.
    let (_lost, refused) = (read(), read());
    assert!(refused.to_string().contains("former primary"), "{refused}");
    store.close();
}

/// `PgBouncer` in front of the server of a URL, gone with the test.
struct Pooler(std::process::Child);

impl Pooler {
    const PROGRAM: &str = "/usr/sbin/pgbouncer";

    fn start(folder: &TempDir, mode: &str, server: &str) -> (Self, String) {
        let (_, address) = server.split_once('@').unwrap();
        let (address, database) = address.split_once('/').unwrap();
        let (host, server_port) = address.split_once(':').unwrap();
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let config = folder.path().join(format!("{mode}.ini"));
        let text = format!(
            "[databases]\n* = host={host} port={server_port} user=locum\n[pgbouncer]\nlisten_addr = 127.0.0.1\n\
             listen_port = {port}\nunix_socket_dir =\nauth_type = any\npool_mode = {mode}\n"
        );
        std::fs::write(&config, text).unwrap();
        // It refuses to run as root.
        std::fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let is_root = std::os::unix::fs::MetadataExt::uid(&std::fs::metadata("/proc/self").unwrap()) == 0;
        let mut command = std::process::Command::new(if is_root { "setpriv" } else { Self::PROGRAM });
        if is_root {
            command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups", Self::PROGRAM]);
        }
        let log = std::fs::File::create(folder.path().join("pooler.log")).unwrap();
        let child = command.arg("--quiet").arg(config).stderr(log).spawn().unwrap();
        let pooler = Self(child);
        let started = monotonic_now();
        while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(started.elapsed() < Duration::from_secs(20), "PgBouncer does not listen");
            std::thread::sleep(Duration::from_millis(10));
        }
        (pooler, format!("postgres://locum@127.0.0.1:{port}/{database}"))
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

#[test]
fn pooler_that_shares_sessions_is_refused() {
    let folder = TempDir::new().unwrap();
    let Some(DatabaseLocation::Server(url)) = locations(&folder).pop() else {
        return;
    };
    if !std::path::Path::new(Pooler::PROGRAM).exists() {
        eprintln!("no PgBouncer: not run");
        return;
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (_pooler, shared) = Pooler::start(&folder, "transaction", &url);
    let refused = open_error(&runtime, options(DatabaseLocation::Server(shared), &folder));
    assert!(refused.contains("pool_mode=session"), "{refused}");
    let (_pooler, own) = Pooler::start(&folder, "session", &url);
    runtime.block_on(Store::open(options(DatabaseLocation::Server(own), &folder))).unwrap().close();
}

#[test]
fn host_that_does_not_answer_is_passed_over() {
    let folder = TempDir::new().unwrap();
    let Some(DatabaseLocation::Server(url)) = locations(&folder).pop() else {
        return;
    };
    // Connections to it wait in its queue.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let (scheme, rest) = url.split_once("://").unwrap();
    let (login, hosts) = rest.split_once('@').map_or(("", rest), |(login, hosts)| (login, hosts));
    let at = if login.is_empty() { "" } else { "@" };
    let url = format!("{scheme}://{login}{at}{},{hosts}", silent.local_addr().unwrap());
    let target = Arc::new(ConnectionTarget::parse(&url).unwrap());
    PostgresConnection::connect(&target, SessionLimits::BACKGROUND).unwrap();
}
