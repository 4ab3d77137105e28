use std::sync::{Arc, Barrier, Mutex, mpsc};
use std::time::Duration;

use base::{Error, Fault};
use store::{DatabaseLocation, Store, Tx, event_log, meta};
use tempfile::TempDir;

use base::Clock;
use test_stores::{START, World, create_database, each_engine, options};

#[each_engine]
async fn failed_write_is_rolled_back_without_affecting_its_group(world: World) {
    let mut all = tokio::task::JoinSet::new();
    for number in 0..50 {
        let store = world.store.clone();
        all.spawn(async move {
            let work = move |tx: &mut Tx<'_>| {
                meta::set(tx, &format!("fact {number}"), "set")?;
                match number % 5 {
                    0 => Err(Error::Failed(Fault::new("on purpose"))),
                    1 => panic!("on purpose"),
                    _ => Ok(()),
                }
            };
            (number, store.write(work).await.is_ok())
        });
    }
    for (number, done) in all.join_all().await {
        assert_eq!(done, number % 5 > 1);
        let fact = move |tx: &mut Tx<'_>| Ok(meta::get(tx, &format!("fact {number}"))?);
        assert_eq!(world.store.read(fact).await.unwrap().is_some(), number % 5 > 1);
    }
}

const LOG_TIMEOUT: Duration = Duration::from_secs(10);

#[each_engine]
async fn event_log_is_read_in_order_and_pruned_behind_its_consumers(world: World) {
    world
        .write(|tx| {
            for number in 0..10 {
                event_log::append(tx, "test", number, 0, "")?;
            }
            Ok(())
        })
        .await;
    world.store.wait_for_log_end(LOG_TIMEOUT).await.unwrap();
    let all = read_from(&world, 0, 11).await;
    assert_eq!(all.len(), 10);
    assert!(all.is_sorted_by(|one, next| one.seq < next.seq));
    assert_eq!(actors(&all), (0..10).collect::<Vec<_>>());
    let some = read_from(&world, all[1].seq, 5).await;
    assert_eq!(actors(&some), [2, 3, 4, 5, 6]);

    let (reader, before) = (all[3].seq, START.plus_ms(1));
    let pruned = world.write(move |tx| {
        event_log::set_cursor(tx, "reader", reader)?;
        Ok(event_log::prune(tx, before, 100)?)
    });
    assert_eq!(pruned.await, 4);
    let end = world.store.read(|tx| Ok(event_log::end_cursor(tx)?)).await.unwrap();
    assert!(end >= all[9].seq);
    assert_eq!(read_from(&world, end, 10).await.len(), 0);
}

#[each_engine]
async fn log_entry_of_a_late_commit_is_not_missed(world: World) {
    if !world.store.is_shared() {
        return; // one writer: nothing overlaps
    }
    let (early, late) = (Arc::new(Barrier::new(2)), Arc::new(Barrier::new(2)));
    // The first has its number before the second, and appends after it.
    let first = {
        let (early, late) = (early.clone(), late.clone());
        world.store.write(move |tx| {
            meta::set(tx, "one", "1")?;
            early.wait();
            late.wait();
            Ok(event_log::append(tx, "test", 1, 0, "")?)
        })
    };
    let (end, released) = mpsc::channel::<()>();
    let released = Mutex::new(released);
    let second = world.store.write(move |tx| {
        early.wait();
        event_log::append(tx, "test", 2, 0, "")?;
        late.wait();
        released.lock().unwrap().recv().ok();
        Ok(())
    });
    let reading = async {
        let mut seen: Vec<i64> = Vec::new();
        let mut seq = 0;
        while seen.len() < 2 {
            let found = read_from(&world, seq, 10).await;
            seq = found.last().map_or(seq, |event| event.seq);
            seen.extend(actors(&found));
            if seen == [1] {
                end.send(()).ok(); // only now may the second end
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        seen
    };
    let (first, second, seen) = tokio::join!(first, second, reading);
    first.unwrap();
    second.unwrap();
    assert_eq!(seen, [1, 2]);
}

/// Ends every connection to a database but the one it is asked by.
fn drop_everyone(server: &str, name: &str) {
    let mut client = postgres::Client::connect(server, postgres::NoTls).unwrap();
    let all = format!("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'");
    client.batch_execute(&all).unwrap();
}

/// Sets two keys at once, again and again: which number of which writer was told to be stored.
async fn write_on(store: Arc<Store>, writer: usize) -> Vec<(usize, usize, bool)> {
    let mut response = Vec::new();
    for number in 0..100 {
        let work = move |tx: &mut Tx<'_>| {
            meta::set(tx, &format!("one {writer} {number}"), "set")?;
            Ok(meta::set(tx, &format!("other {writer} {number}"), "set")?)
        };
        response.push((writer, number, store.write(work).await.is_ok()));
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    response
}

#[tokio::test(flavor = "multi_thread")]
async fn store_reconnects_after_lost_connections_without_partial_writes() {
    let Ok(server) = std::env::var("LOCUM_TEST_POSTGRES") else {
        return;
    };
    let created = server.clone();
    let location = tokio::task::spawn_blocking(move || create_database(&created));
    let location = location.await.unwrap();
    let DatabaseLocation::Server(url) = &location else { panic!("no server") };
    let name = url.rsplit('/').next().unwrap().to_owned();
    let world = World::open(location, TempDir::new().unwrap()).await;
    let mut writers = tokio::task::JoinSet::new();
    for writer in 0..4 {
        writers.spawn(write_on(world.store.clone(), writer));
    }
    for _ in 0..5 {
        tokio::time::sleep(Duration::from_millis(80)).await;
        let (server, name) = (server.clone(), name.clone());
        let dropped = tokio::task::spawn_blocking(move || drop_everyone(&server, &name));
        dropped.await.unwrap();
    }
    let response = writers.join_all().await.concat();
    // It works on by itself.
    let mut last = false;
    for _ in 0..300 {
        let work = |tx: &mut Tx<'_>| Ok(meta::set(tx, "last", "set")?);
        last = world.store.write(work).await.is_ok();
        if last {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert!(last);
    let good = response.iter().filter(|(_, _, done)| *done).count();
    assert!(good > 100, "{good} of {} were done", response.len());
    let read = move |tx: &mut Tx<'_>| {
        let mut found = Vec::new();
        for (writer, number, done) in &response {
            let one = meta::get(tx, &format!("one {writer} {number}"))?.is_some();
            let other = meta::get(tx, &format!("other {writer} {number}"))?.is_some();
            found.push((*done, one, other));
        }
        Ok(found)
    };
    for (done, one, other) in world.store.read(read).await.unwrap() {
        assert!(one == other && (one || !done));
    }
}

async fn read_from(world: &World, seq: i64, limit: i64) -> Vec<event_log::LogEvent> {
    let read = world.store.read(move |tx| Ok(event_log::list_after(tx, seq, limit)?));
    read.await.unwrap()
}

fn actors(events: &[event_log::LogEvent]) -> Vec<i64> {
    events.iter().map(|event| event.actor_id).collect()
}

#[tokio::test]
async fn second_process_newer_schema_or_wrong_key_is_refused() {
    let folder = TempDir::new().unwrap();
    let file = DatabaseLocation::File(folder.path().join("locum.db"));
    let clock = Clock::frozen_at(START);
    let store = Store::open(options(file.clone(), folder.path(), &clock)).await.unwrap();
    let second = Store::open(options(file.clone(), folder.path(), &clock)).await;
    assert!(second.err().unwrap().to_string().contains("another process"));
    store.close();

    let mut wrong = options(file.clone(), folder.path(), &clock);
    let key = base::encryption::MasterKey::generate(&base::Rng::from_seed(2)).unwrap();
    wrong.keyring = base::encryption::Keyring::new(key, Vec::new());
    let refused = Store::open(wrong).await.err().unwrap().to_string();
    assert!(refused.contains("not the one"), "{refused}");

    require_newer_program(folder.path());
    let newer = Store::open(options(file, folder.path(), &clock)).await;
    assert!(newer.err().unwrap().to_string().contains("newer than this program"));
}

fn require_newer_program(folder: &std::path::Path) {
    let conn = rusqlite::Connection::open(folder.join("locum.db")).unwrap();
    let newer = "INSERT INTO migration VALUES (999, 'later', 'x', 0); \
                 UPDATE meta SET value = '999' WHERE key = 'schema_compatible_from'";
    conn.execute_batch(newer).unwrap();
}

#[tokio::test]
async fn wrong_key_is_detected_before_a_migration() {
    let folder = TempDir::new().unwrap();
    let file = DatabaseLocation::File(folder.path().join("locum.db"));
    let clock = Clock::frozen_at(START);
    let store = Store::open(options(file.clone(), folder.path(), &clock)).await.unwrap();
    store.close();
    let path = folder.path().join("locum.db");
    let conn = rusqlite::Connection::open(&path).unwrap();
    let last = "DELETE FROM migration WHERE version = (SELECT MAX(version) FROM migration)";
    assert_eq!(conn.execute(last, []).unwrap(), 1);
    drop(conn);
    let before = std::fs::read(&path).unwrap();

    let mut wrong = options(file, folder.path(), &clock);
    let key = base::encryption::MasterKey::generate(&base::Rng::from_seed(2)).unwrap();
    wrong.keyring = base::encryption::Keyring::new(key, Vec::new());
    let refused = Store::open(wrong).await.err().unwrap().to_string();
    assert!(refused.contains("not the one"), "{refused}");
    assert!(std::fs::read(&path).unwrap() == before, "the file was touched");
}
