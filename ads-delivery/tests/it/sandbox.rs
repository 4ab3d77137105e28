//! Sandbox accounts beside production accounts: they never serve.

use ads::resources::accounts::{self, NewAdsAccount};
use ads::resources::line_items::LINE_ITEM;
use base::UserId;
use serde_json::{Value, json};
use store::records::{self, RecordRow};
use store::Tx;

use crate::auctions::shown;
use crate::shop::Shop;
use crate::world::{World, on_each_engine};

async fn sandbox(world: &World, owner: UserId) -> i64 {
    let new = NewAdsAccount { name: "Trial".to_owned(), sandbox: true, ..NewAdsAccount::default() };
    world.write(move |tx| accounts::insert(tx, owner, &new)).await.id
}

/// Copies a record to another account, under other ids.
async fn copy_record(
    world: &World,
    (kind, id): (&'static str, i64),
    (account, ids): (i64, std::ops::Range<i64>),
    fields: Value,
) {
    let work = move |tx: &mut Tx<'_>| {
        let row = records::find_by_id(tx, kind, id)?.unwrap();
        let mut body: Value = serde_json::from_str(&row.body).unwrap();
        for (name, value) in fields.as_object().unwrap() {
            body[name] = value.clone();
        }
        for id in ids.clone() {
            let copy =
                RecordRow { id, account_id: account, created_at: tx.now(), body: body.to_string(), ..row.clone() };
            assert!(records::insert(tx, kind, b"", &copy)?);
        }
        Ok(())
    };
    world.write(work).await;
}

#[test]
fn line_items_of_sandbox_accounts_leave_production_its_place() {
    on_each_engine(async |world| {
        let shop = Shop::open(&world, "ana").await;
        let campaign = shop.campaign(&world).await;
        let item = shop.item(&world, &campaign, "150000").await;
        let account = sandbox(&world, shop.owner).await;
        let id = LINE_ITEM.id_format.parse(&item).unwrap();
        // They are the first whose time ends.
        let end = json!({ "serves": world.clock.now().plus_ms(86_400_000).ms() });
        copy_record(&world, (LINE_ITEM.name, id), (account, 1_000_000..1_002_000), end).await;
        assert_eq!(shown(&world, 1).await, item);
    });
}
