use base::{Fault, Stop};
use store::{Location, Store, Tx, log, meta};
use tempfile::TempDir;

use crate::world::{START, on_each_engine, options};
use base::Clock;

#[test]
fn what_fails_leaves_nothing_and_its_neighbours_stay() {
    on_each_engine(async |world| {
        let mut all = tokio::task::JoinSet::new();
        for number in 0..50 {
            let store = world.store.clone();
            all.spawn(async move {
                let work = move |tx: &mut Tx<'_>| {
                    meta::set(tx, &format!("fact {number}"), "set")?;
                    match number % 5 {
                        0 => Err(Stop::Failed(Fault::new("on purpose"))),
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
            assert_eq!(
                world.store.read(fact).await.unwrap().is_some(),
                number % 5 > 1
            );
        }
    });
}

#[test]
fn the_log_is_read_in_order_and_pruned_behind_its_readers() {
    on_each_engine(async |world| {
        world
            .write(|tx| {
                for number in 0..10 {
                    log::append(tx, "test", number, 0, "")?;
                }
                Ok(log::set_cursor(tx, "reader", 4)?)
            })
            .await;
        let read = |tx: &mut Tx<'_>| Ok(log::after(tx, 2, 5)?);
        let events = world.store.read(read).await.unwrap();
        assert_eq!(
            events.iter().map(|event| event.seq).collect::<Vec<_>>(),
            [3, 4, 5, 6, 7]
        );
        assert_eq!(events[0].actor_id, 2);
        let before = START.plus_ms(1);
        assert_eq!(
            world
                .write(move |tx| Ok(log::prune(tx, before, 100)?))
                .await,
            4
        );
        assert_eq!(world.store.read(|tx| Ok(log::end(tx)?)).await.unwrap(), 10);
    });
}

#[tokio::test]
async fn a_second_process_a_newer_schema_and_a_wrong_key_are_refused() {
    let folder = TempDir::new().unwrap();
    let file = Location::File(folder.path().join("locum.db"));
    let clock = Clock::frozen(START);
    let store = Store::open(options(file.clone(), folder.path(), &clock))
        .await
        .unwrap();
    let second = Store::open(options(file.clone(), folder.path(), &clock)).await;
    assert!(
        second
            .err()
            .unwrap()
            .to_string()
            .contains("another process")
    );
    store.close();

    let mut wrong = options(file.clone(), folder.path(), &clock);
    let key = base::seal::MasterKey::new(&base::Chance::seeded(2)).unwrap();
    wrong.keyring = base::seal::Keyring::new(key, Vec::new());
    let refused = Store::open(wrong).await.err().unwrap().to_string();
    assert!(refused.contains("not the one"), "{refused}");

    let conn = rusqlite_exec(folder.path());
    assert!(conn, "the schema was made newer");
    let newer = Store::open(options(file, folder.path(), &clock)).await;
    assert!(
        newer
            .err()
            .unwrap()
            .to_string()
            .contains("newer than this program")
    );
}

/// Makes the schema look newer, from outside.
fn rusqlite_exec(folder: &std::path::Path) -> bool {
    let conn = rusqlite::Connection::open(folder.join("locum.db")).unwrap();
    conn.execute("INSERT INTO migration VALUES (999, 'later', 'x', 0)", [])
        .is_ok()
}

#[tokio::test]
async fn a_wrong_key_is_found_out_before_a_migration() {
    let folder = TempDir::new().unwrap();
    let file = Location::File(folder.path().join("locum.db"));
    let clock = Clock::frozen(START);
    let store = Store::open(options(file.clone(), folder.path(), &clock))
        .await
        .unwrap();
    store.close();
    let path = folder.path().join("locum.db");
    let conn = rusqlite::Connection::open(&path).unwrap();
    let last = "DELETE FROM migration WHERE version = (SELECT MAX(version) FROM migration)";
    assert_eq!(conn.execute(last, []).unwrap(), 1);
    drop(conn);
    let before = std::fs::read(&path).unwrap();

    let mut wrong = options(file, folder.path(), &clock);
    let key = base::seal::MasterKey::new(&base::Chance::seeded(2)).unwrap();
    wrong.keyring = base::seal::Keyring::new(key, Vec::new());
    let refused = Store::open(wrong).await.err().unwrap().to_string();
    assert!(refused.contains("not the one"), "{refused}");
    assert!(
        std::fs::read(&path).unwrap() == before,
        "the file was touched"
    );
}
