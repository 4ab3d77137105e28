//! Recommendations as time passes: one is open at a time, followed, over, turned down or overtaken.

use ads::resources::line_items::LINE_ITEM;
use ads_engine::{AccountContext, IdFormat};
use base::UserId;
use serde_json::{Value, json};
use store::ledger::{AuctionBid, record_auction};

use crate::shop::Shop;
use crate::world::{World, each_engine};

const DAY: i64 = 86_400_000;
const MAIL: &str = "owner@shop.example";

/// A line item was in some auctions, and won some.
async fn auctions(world: &World, item: &str, price: i64, (lost, won): (i64, i64)) {
    let id = LINE_ITEM.id_format.parse(item).unwrap();
    let bid = move |won: bool, times: i64| AuctionBid { line_item_id: id, price_micro: price, won, weight: times };
    let bids = [bid(false, lost), bid(true, won)];
    let bids: Vec<AuctionBid> = bids.into_iter().filter(|bid| bid.weight > 0).collect();
    world.write(move |tx| Ok(record_auction(tx, &bids)?)).await;
}

async fn open(world: &World, shop: &Shop) -> Option<Value> {
    let list = shop.call(world, "GET", "A/recommendations", &[]).await;
    let all = list["data"].as_array().unwrap();
    assert!(all.len() <= 1, "{list}");
    let id = all.first()?["id"].as_str().unwrap().to_owned();
    Some(one(world, shop, &id).await)
}

async fn one(world: &World, shop: &Shop, id: &str) -> Value {
    let path = format!("A/recommendations/{id}");
    shop.call(world, "GET", &path, &[]).await["data"].clone()
}

/// What has become of one that was open.
async fn status(world: &World, shop: &Shop, was: &Value) -> String {
    let now = one(world, shop, was["id"].as_str().unwrap()).await;
    now["status"].as_str().unwrap().to_owned()
}

fn item_of(recommendation: &Value) -> &str {
    let below = &recommendation["changes"]["dependent_entities"][0];
    below["params"]["line_item_id"].as_str().unwrap()
}

/// A shop that gets emails, and two line items of one campaign.
async fn shop_with_items(world: &World) -> (Shop, [String; 2]) {
    let shop = Shop::open(world, "ana").await;
    shop.subscribe(world, MAIL, "PERFORMANCE_IMPROVEMENT").await;
    let campaign = shop.campaign(world).await;
    let items = [shop.item(world, &campaign, "150000").await, shop.item(world, &campaign, "150000").await];
    (shop, items)
}

/// Lets a line item lose most auctions; the recommendation for it.
async fn recommend(world: &World, shop: &Shop, item: &str) -> Value {
    auctions(world, item, 300_000, (900, 0)).await;
    world.advise().await;
    let recommendation = open(world, shop).await.unwrap();
    assert_eq!(item_of(&recommendation), item);
    recommendation
}

#[each_engine]
async fn recommendation_opens_once_most_auctions_are_lost_and_stays(world: World) {
    let (shop, [item, other]) = shop_with_items(&world).await;
    let response = async || world.letters(MAIL).await.len();
    // Too few auctions say nothing, and a fifth won is enough.
    auctions(&world, &item, 200_000, (19, 0)).await;
    auctions(&world, &other, 200_000, (80, 20)).await;
    assert_eq!(world.advise().await, 1);
    assert_eq!(open(&world, &shop).await, None);
    assert_eq!(response().await, 0);
    auctions(&world, &item, 200_000, (2, 0)).await;
    assert_eq!(world.advise().await, 0, "a day later only");
    world.pass(DAY);
    assert_eq!(world.advise().await, 1);
    let first = open(&world, &shop).await.unwrap();
    assert_eq!(item_of(&first), item);
    let update = &first["changes"]["dependent_entities"][0];
    assert_eq!(
        *update,
        json!({
            "entity_type": "line_items",
            "operation_type": "Update",
            "params": { "line_item_id": item, "bid_amount_local_micro": 200_000 },
            "dependent_entities": [],
        })
    );
    assert_eq!(response().await, 1);
    // It stays as long as nothing is worth more.
    world.pass(DAY);
    world.advise().await;
    assert_eq!(open(&world, &shop).await.unwrap()["id"], first["id"]);
    assert_eq!(response().await, 1);
}

#[each_engine]
async fn recommendation_is_overtaken_by_a_more_valuable_one(world: World) {
    let (shop, [item, other]) = shop_with_items(&world).await;
    auctions(&world, &item, 200_000, (21, 0)).await;
    world.advise().await;
    let first = open(&world, &shop).await.unwrap();
    assert_eq!(item_of(&first), item);
    auctions(&world, &other, 300_000, (900, 0)).await;
    world.pass(DAY);
    world.advise().await;
    let second = open(&world, &shop).await.unwrap();
    assert_eq!(item_of(&second), other);
    assert_eq!(status(&world, &shop, &first).await, "DISMISSED");
    assert_eq!(world.letters(MAIL).await.len(), 2);
}

#[each_engine]
async fn dismissed_recommendation_is_not_repeated_for_fourteen_days(world: World) {
    let (shop, [item, other]) = shop_with_items(&world).await;
    auctions(&world, &item, 200_000, (21, 0)).await;
    let second = recommend(&world, &shop, &other).await;
    dismiss(&world, &shop, &second).await;
    assert_eq!(status(&world, &shop, &second).await, "DISMISSED");
    world.advise_on(shop.instrument, false).await;
    let third = open(&world, &shop).await.unwrap();
    assert_eq!(item_of(&third), item);
    // Auctions of eight days ago say nothing any more.
    world.pass(8 * DAY);
    world.advise().await;
    assert_eq!(status(&world, &shop, &third).await, "EXPIRED");
    assert_eq!(open(&world, &shop).await, None);
    auctions(&world, &other, 300_000, (900, 0)).await;
    world.advise_on(shop.instrument, false).await;
    assert_eq!(open(&world, &shop).await, None, "it was turned down");
    world.pass(6 * DAY);
    world.advise().await;
    let fourth = open(&world, &shop).await.unwrap();
    assert_eq!(item_of(&fourth), other);
}

#[each_engine]
async fn recommendation_expires_after_fourteen_days_and_is_made_again(world: World) {
    let (shop, [_, other]) = shop_with_items(&world).await;
    let fourth = recommend(&world, &shop, &other).await;
    for day in 0..14 {
        assert_eq!(status(&world, &shop, &fourth).await, "PENDING", "{day}");
        world.pass(DAY);
        auctions(&world, &other, 300_000, (900, 0)).await;
        world.advise().await;
    }
    assert_eq!(status(&world, &shop, &fourth).await, "EXPIRED");
    world.pass(DAY);
    world.advise().await;
    let fifth = open(&world, &shop).await.unwrap();
    assert_eq!(item_of(&fifth), other);
}

#[each_engine]
async fn recommendation_that_was_carried_out_is_applied(world: World) {
    let (shop, [_, other]) = shop_with_items(&world).await;
    let fifth = recommend(&world, &shop, &other).await;
    let update = fifth["changes"]["dependent_entities"][0].clone();
    let done = shop.batch(&world, "line_items", json!([update])).await;
    assert_eq!(done["data"][0]["bid_amount_local_micro"], 300_000, "{done}");
    world.pass(DAY);
    world.advise().await;
    assert_eq!(status(&world, &shop, &fifth).await, "APPLIED");
    assert_eq!(open(&world, &shop).await, None);
}

async fn dismiss(world: &World, shop: &Shop, one: &Value) {
    let id = one["id"].as_str().unwrap();
    let id = IdFormat::Twelve.parse(id).unwrap();
    let account = shop.account.clone();
    let dismissed = world
        .write(move |tx| {
            let mut ctx = AccountContext::new_for_operator(tx, UserId::new(0), account.clone());
            ads_delivery::recommendations::dismiss(&mut ctx, id)
        })
        .await;
    assert!(dismissed);
}

#[each_engine]
async fn interrupted_recommendation_is_announced_once_by_one_node(world: World) {
    let shop = Shop::open(&world, "ana").await;
    shop.subscribe(&world, MAIL, "PERFORMANCE_IMPROVEMENT").await;
    let quiet = Shop::open(&world, "ben").await;
    quiet.subscribe(&world, "ben@shop.example", "ACCOUNT_PERFORMANCE").await;
    let item = shop.item(&world, &shop.campaign(&world).await, "150000").await;
    auctions(&world, &item, 200_000, (50, 1)).await;
    let id = shop.instrument;
    let (looks, fails, again) = (world.adviser(), world.adviser(), world.adviser());
    let found = world.store.read(move |tx| looks.find_improvements(tx, id)).await.unwrap();
    let first = found.clone();
    let cut = world.store.write(move |tx| {
        fails.publish_findings(tx, id, true, &first)?;
        Err::<(), _>(base::Fault::new("the power is cut").into())
    });
    assert!(cut.await.is_err());
    assert_eq!(world.letters(MAIL).await.len(), 0);
    assert_eq!(open(&world, &shop).await, None);
    // Two nodes that found the same.
    for _ in 0..2 {
        let (adviser, found) = (again.clone(), found.clone());
        world.write(move |tx| adviser.publish_findings(tx, id, true, &found)).await;
    }
    let emails = world.letters(MAIL).await;
    let [(subject, text)] = emails.as_slice() else {
        panic!("{emails:?}");
    };
    assert_eq!(subject, "New recommendation for Shop of ana on Town");
    let open = open(&world, &shop).await.unwrap();
    assert!(text.contains(open["message"].as_str().unwrap()), "{text}");
    assert!(text.contains(open["id"].as_str().unwrap()), "{text}");
    assert_eq!(open["message"], "Bid won 1% of the auctions of the last 7 days");
    assert_eq!(world.letters("ben@shop.example").await.len(), 0);
}
