//! On a real server, where `LOCUM_TEST_POSTGRES` names one.

use base::Error;
use tempfile::TempDir;

use crate::test_stores::{locations, options};
use crate::{DatabaseLocation, Store, Tx, event_log, meta};

/// More events than the first partition of a new database takes.
const EVENTS: i64 = 2_500_000;

fn append(tx: &mut Tx<'_>, text: &str) -> Result<(), Error> {
    tx.execute("UPDATE sqlite_sequence SET seq = $1 WHERE name = 'event'", &[(EVENTS - 1).into()])?;
    tx.execute("DELETE FROM event", &[])?;
    event_log::append(tx, "post.create", 1, 2, text)?;
    meta::set(tx, "network_id", text)?;
    Ok(meta::set(tx, "ads_indexes", "some_index")?)
}

#[test]
fn failed_copy_leaves_no_network_and_a_repeated_one_continues_all_numbers() {
    let folder = TempDir::new().unwrap();
    let mut locations = locations(&folder);
    let (Some(server @ DatabaseLocation::Server(_)), Some(file)) = (locations.pop(), locations.pop()) else {
        return;
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let open = |location: &DatabaseLocation| runtime.block_on(Store::open(options(location.clone(), &folder))).unwrap();
    let DatabaseLocation::File(path) = &file else { panic!("not a file") };
    let import = || Store::import_sqlite(&options(server.clone(), &folder), path);
    let has_network = || runtime.block_on(Store::has_network(server.clone())).unwrap();

    let missing = import().unwrap_err().to_string();
    assert!(missing.starts_with("there is no SQLite database"), "{missing}");
    // PostgreSQL stores no NUL in a text.
    for (text, is_copied) in [("a\0b", false), ("ab", true)] {
        let store = open(&file);
        runtime.block_on(store.write(move |tx| append(tx, text))).unwrap();
        store.close();
        assert_eq!((import().map(drop).is_ok(), has_network()), (is_copied, is_copied), "{text:?}");
    }
    let again = import().unwrap_err().to_string();
    assert!(again.contains("contains a network already"), "{again}");

    let store = open(&server);
    let read = store.read(|tx| {
        let sequencer = event_log::end_cursor(tx)?;
        let unplaced = tx.query_number("SELECT COUNT(*) FROM event_default", &[])?;
        Ok::<_, Error>((sequencer, unplaced, meta::get(tx, "ads_indexes")?, meta::get(tx, "network_id")?))
    });
    assert_eq!(runtime.block_on(read).unwrap(), (EVENTS, 0, None, Some("ab".to_owned())));
    store.close();
}
