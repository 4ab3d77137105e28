//! Sandbox accounts beside production accounts: they neither serve nor have events.

use ads::resources::accounts::{self, NewAdsAccount};
use ads::resources::line_items::LINE_ITEM;
use ads::resources::promoted_posts::PROMOTED_POST;
use ads_delivery::attribution::{ATTRIBUTION_READER, attribute_entries};
use base::UserId;
use network::posts::{NewPost, PostAuthor};
use serde_json::{Value, json};
use store::ledger::{self, AdEntity, Metric};
use store::records::{self, RecordRow};
use store::{Tx, posts};

use crate::auctions::shown;
use crate::shop::Shop;
use crate::world::{World, each_engine};

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

#[each_engine]
async fn line_items_of_sandbox_accounts_leave_production_its_place(world: World) {
    let shop = Shop::open(&world, "ana").await;
    let campaign = shop.campaign(&world).await;
    let item = shop.item(&world, &campaign, "150000").await;
    let account = sandbox(&world, shop.owner).await;
    let id = LINE_ITEM.id_format.parse(&item).unwrap();
    // They are the first whose time ends.
    let end = json!({ "serves": world.clock.now().plus_ms(86_400_000).ms() });
    copy_record(&world, (LINE_ITEM.name, id), (account, 1_000_000..1_002_000), end).await;
    assert_eq!(shown(&world, 1).await, item);
}

#[each_engine]
async fn account_with_most_line_items_leaves_the_others_their_place(world: World) {
    let (shop, large) = (Shop::open(&world, "ana").await, Shop::open(&world, "bob").await);
    let campaign = shop.campaign(&world).await;
    let item = shop.item(&world, &campaign, "150000").await;
    let id = LINE_ITEM.id_format.parse(&item).unwrap();
    // They end first, and nothing is left to show in them.
    let end = json!({ "serves": world.clock.now().plus_ms(86_400_000).ms(), "campaign_id": 0 });
    copy_record(&world, (LINE_ITEM.name, id), (large.account.id, 1_000_000..1_002_000), end).await;
    // Also if it ends.
    let path = format!("A/line_items/{item}");
    for (viewer, end) in (0..).zip(["", "2027-01-01T00:00:00Z"]) {
        shop.call(&world, "PUT", &path, &[("end_time", end)]).await;
        assert_eq!(shown(&world, viewer).await, item);
    }
}

#[each_engine]
async fn engagement_counts_for_the_production_account_that_promotes_the_post(world: World) {
    let shop = Shop::open(&world, "ana").await;
    let campaign = shop.campaign(&world).await;
    let item = shop.item(&world, &campaign, "150000").await;
    let by = PostAuthor { user_id: shop.owner, app_id: None, self_serve: false };
    let new = NewPost { text: "Only where promoted".to_owned(), nullcast: true, ..NewPost::default() };
    let post = world.write(move |tx| network::posts::create(tx, &by, &new)).await.id;
    let params = [("line_item_id", item.as_str()), ("post_ids", &post.to_string())];
    let promoted = shop.make(&world, "A/promoted_<posts>", &params).await;
    let promoted = PROMOTED_POST.id_format.parse(&promoted).unwrap();
    let account = sandbox(&world, shop.owner).await;
    world.pass(1_000);
    copy_record(&world, (PROMOTED_POST.name, promoted), (account, 1_000_000..1_000_150), json!({})).await;
    world.settled().await;
    world.write(|tx| Ok(ATTRIBUTION_READER.process_batch(tx, attribute_entries)?)).await;
    let fan = world.user("fan".to_owned()).await;
    world.write(move |tx| network::likes::like(tx, fan, post)).await;
    world.settled().await;
    world.write(|tx| Ok(ATTRIBUTION_READER.process_batch(tx, attribute_entries)?)).await;
    let likes = move |tx: &mut Tx<'_>| {
        assert!(posts::find_by_id(tx, post)?.unwrap().nullcast);
        let sums = ledger::total_sums_by_entity(tx, AdEntity::PromotedPost, &[promoted])?;
        Ok(sums.first().map_or(0, |(_, sums, _)| sums.get(Metric::Likes)))
    };
    assert_eq!(world.store.read(likes).await.unwrap(), 1);
}
