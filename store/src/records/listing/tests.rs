use tempfile::TempDir;

use super::{RecordListing, RecordOrder, RecordOrderKey, page_with_total};
use crate::test_stores::{locations, options};
use crate::{Store, Tx};

/// More than any connection keeps.
const SHAPES: usize = 2_000;

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
        number_ranges: &[],
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
