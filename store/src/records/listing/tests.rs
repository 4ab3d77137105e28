use std::sync::atomic::{AtomicU32, Ordering};

use base::encryption::{Keyring, MasterKey};
use base::{Clock, Rng};
use tempfile::TempDir;

use super::{RecordListing, RecordOrder, RecordOrderKey, page_with_total};
use crate::{DatabaseLocation, Store, StoreOptions, Tx};

/// More than any connection keeps.
const SHAPES: usize = 2_000;

fn locations(folder: &TempDir) -> Vec<DatabaseLocation> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let file = DatabaseLocation::File(folder.path().join("locum.db"));
    let Ok(server) = std::env::var("LOCUM_TEST_POSTGRES") else {
        eprintln!("LOCUM_TEST_POSTGRES is not set: not run on PostgreSQL");
        return vec![file];
    };
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = format!("store_{}_{number}", std::process::id());
    let mut client = postgres::Client::connect(&server, postgres::NoTls).unwrap();
    for action in ["DROP DATABASE IF EXISTS", "CREATE DATABASE"] {
        client.batch_execute(&format!("{action} {name}")).unwrap();
    }
    let (before, _) = server.rsplit_once('/').unwrap();
    vec![file, DatabaseLocation::Server(format!("{before}/{name}"))]
}

fn options(location: DatabaseLocation, folder: &TempDir) -> StoreOptions {
    let clock = Clock::frozen_at(base::Time::from_seconds(1_780_315_200));
    StoreOptions {
        location,
        data_dir: folder.path().to_owned(),
        connections: 1,
        node: 0,
        migrate: true,
        clock,
        rng: Rng::Os,
        keyring: Keyring::new(MasterKey::generate(&Rng::from_seed(1)).unwrap(), Vec::new()),
    }
}

/// An order that no other number has: the directions of several fields.
fn orders_of(number: usize) -> Vec<RecordOrder> {
    let fields =
        ["budget", "start_time", "end_time", "bid", "goal", "daily", "total", "reach", "days", "rank", "spend"];
    let orders = fields
        .iter()
        .enumerate()
        .map(|(place, field)| RecordOrder { key: RecordOrderKey::Field(field), descending: number >> place & 1 == 1 });
    orders.collect()
}

fn list_in_order(tx: &mut Tx<'_>, number: usize) -> Result<(), base::Fault> {
    let listing = RecordListing {
        kind: "campaign",
        account: 1,
        number_filters: &[],
        text_filters: &[],
        name_prefix: "",
        include_drafts: false,
        include_deleted: false,
        orders: &orders_of(number),
        after: None,
        limit: 10,
        indexed_fields: None,
    };
    let (rows, total) = page_with_total(tx, &listing, true)?;
    assert!(rows.is_empty());
    assert_eq!(total, Some(0));
    Ok(())
}

/// What the connection holds of this on a server; SQLite's own cache has a test of its own.
fn prepared_statements(tx: &mut Tx<'_>) -> Result<i64, base::Fault> {
    if !tx.is_postgres() {
        return Ok(0);
    }
    tx.query_number("SELECT COUNT(*) FROM pg_prepared_statements", &[])
}

#[test]
fn thousands_of_orders_leave_a_bounded_number_of_prepared_statements() {
    let folder = TempDir::new().unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    for location in locations(&folder) {
        let store = runtime.block_on(Store::open(options(location, &folder))).unwrap();
        let count = store.read(|tx| {
            for number in 0..SHAPES {
                list_in_order(tx, number)?;
            }
            Ok(prepared_statements(tx)?)
        });
        assert!(runtime.block_on(count).unwrap() <= 512);
        store.close();
    }
}
