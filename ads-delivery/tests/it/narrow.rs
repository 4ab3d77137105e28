//! Audiences that are too narrow: found after three days, widened as the tree says.

use ads::resources::line_items::LINE_ITEM;
use ads_delivery::ledger::{LedgerEvent, record_events};
use serde_json::{Value, json};
use store::ledger::{AdEntity, AdEventKind, AdEventOrigin, Placement, ViewerTraits};

use crate::shop::Shop;
use crate::world::{World, each_engine};

const DAY: i64 = 86_400_000;
/// Portugal, as the gazetteer has it.
const PORTUGAL: &str = "3c65374ea675483e";

async fn targets(world: &World, shop: &Shop, item: &str, kind: &str, value: &str) -> String {
    let params = [("line_item_id", item), ("targeting_type", kind), ("targeting_value", value)];
    shop.make(world, "A/targeting_criteria", &params).await
}

/// A line item that is for those who write a word.
async fn about(world: &World, shop: &Shop, word: &str) -> String {
    let campaign = shop.campaign(world).await;
    let item = shop.item(world, &campaign, "150000").await;
    targets(world, shop, &item, "PHRASE_KEYWORD", word).await;
    item
}

async fn open(world: &World, shop: &Shop) -> Option<Value> {
    world.settled().await;
    world.advise_on(shop.instrument, false).await;
    let list = shop.call(world, "GET", "A/recommendations", &[]).await;
    let id = list["data"][0]["id"].as_str()?.to_owned();
    Some(one(world, shop, &id).await)
}

async fn one(world: &World, shop: &Shop, id: &str) -> Value {
    let path = format!("A/recommendations/{id}");
    shop.call(world, "GET", &path, &[]).await["data"].clone()
}

/// The changes of the criteria, as they stand in the tree.
fn changes(recommendation: &Value) -> Vec<Value> {
    let item = &recommendation["changes"]["dependent_entities"][0];
    assert_eq!(item["entity_type"], "line_items", "{recommendation}");
    assert_eq!(item["operation_type"], Value::Null);
    item["dependent_entities"].as_array().unwrap().clone()
}

#[each_engine]
async fn recommendation_widens_an_audience_by_related_keywords(world: World) {
    let shop = Shop::open(&world, "ana").await;
    let item = about(&world, &shop, "bike").await;
    assert_eq!(open(&world, &shop).await, None, "it has just begun");
    world.pass(2 * DAY);
    for number in 0..4 {
        let rider = world.user(format!("rider{number}")).await;
        let text = format!("My bike wants a helmet, {number}");
        world.say(rider, &text).await;
    }
    for number in 0..6 {
        let other = world.user(format!("other{number}")).await;
        world.say(other, &format!("A helmet of wool, {number}")).await;
        world.say(other, &format!("It rains, {number}")).await;
    }
    assert_eq!(open(&world, &shop).await, None, "not for three days");
    world.pass(DAY);
    let found = open(&world, &shop).await.unwrap();
    assert_eq!(found["message"], "Less than 30% of the budget was spent: the criteria reach few users");
    let new = changes(&found);
    assert!((1..=10).contains(&new.len()), "{new:?}");
    let words: Vec<&str> = new.iter().map(|one| one["params"]["targeting_value"].as_str().unwrap()).collect();
    assert!(words.contains(&"helmet") && !words.contains(&"bike"), "{words:?}");
    assert_eq!(
        new[0]["params"],
        json!({
            "line_item_id": item, "targeting_type": "PHRASE_KEYWORD",
            "targeting_value": words[0], "operator_type": "EQ",
        })
    );
    // As they stand, they are items of a batch.
    let (first, rest) = new.split_first().unwrap();
    shop.batch(&world, "targeting_criteria", json!([first])).await;
    if !rest.is_empty() {
        world.advise_on(shop.instrument, false).await;
        let half = one(&world, &shop, found["id"].as_str().unwrap()).await;
        assert_ne!(half["status"], "APPLIED", "only in part");
    }
    shop.batch(&world, "targeting_criteria", json!(new)).await;
    world.advise_on(shop.instrument, false).await;
    let done = one(&world, &shop, found["id"].as_str().unwrap()).await;
    assert_eq!(done["status"], "APPLIED");
}

#[each_engine]
async fn recommendation_removes_the_criterion_that_excludes_most_users(world: World) {
    let shop = Shop::open(&world, "ana").await;
    let item = about(&world, &shop, "kayak").await;
    let place = targets(&world, &shop, &item, "LOCATION", PORTUGAL).await;
    world.pass(3 * DAY);
    for (number, place) in ["Lisbon, Portugal", "Berlin", "Tokyo"].iter().enumerate() {
        let user = world.user(format!("paddler{number}")).await;
        world.live_at(user, place).await;
        world.say(user, "kayak").await;
    }
    let found = open(&world, &shop).await.unwrap();
    let new = changes(&found);
    assert_eq!(
        new,
        [json!({
            "entity_type": "targeting_criteria",
            "operation_type": "Delete",
            "params": { "targeting_criterion_id": place },
            "dependent_entities": [],
        })]
    );
    shop.batch(&world, "targeting_criteria", json!(new)).await;
    assert_eq!(open(&world, &shop).await, None, "there is nothing left to widen");
    let done = one(&world, &shop, found["id"].as_str().unwrap()).await;
    assert_eq!(done["status"], "APPLIED");
}

#[each_engine]
async fn spending_or_paused_line_item_gets_no_recommendation(world: World) {
    let (busy, slow) = (Shop::open(&world, "ana").await, Shop::open(&world, "ben").await);
    let mut busiest = String::new();
    for (shop, word) in [(&busy, "kayak"), (&slow, "canoe")] {
        let item = about(&world, shop, word).await;
        targets(&world, shop, &item, "LOCATION", PORTUGAL).await;
        let path = format!("A/line_items/{item}");
        for (number, place) in ["Lisbon, Portugal", "Berlin"].iter().enumerate() {
            let user = world.user(format!("{word}{number}")).await;
            world.live_at(user, place).await;
            world.say(user, word).await;
        }
        if word == "kayak" {
            busiest = item;
        } else {
            world.pass(DAY);
            for status in ["PAUSED", "ACTIVE"] {
                let params = [("entity_status", status)];
                shop.call(&world, "PUT", &path, &params).await;
            }
        }
    }
    world.pass(2 * DAY + DAY / 2);
    // Three of ten parts of three days.
    spend(&world, &busiest, 18_000_000).await;
    assert_eq!(open(&world, &busy).await, None, "it spends");
    assert_eq!(open(&world, &slow).await, None, "it was paused");
    world.pass(DAY);
    // Of four days the same is less.
    assert!(open(&world, &busy).await.is_some());
    assert!(open(&world, &slow).await.is_some());
}

pub(crate) async fn spend(world: &World, item: &str, amount: i64) {
    let item = LINE_ITEM.id_format.parse(item).unwrap();
    world
        .write(move |tx| {
            let event = |kind: AdEventKind| LedgerEvent {
                kind,
                at: tx.now(),
                line_item_id: item,
                creative: AdEntity::PromotedPost,
                creative_id: 1,
                subject: 1,
                viewer: -1,
                placement: Placement::Timeline,
                viewer_traits: ViewerTraits::default(),
                price: amount,
                origin: AdEventOrigin::Served,
                id: tx.next_id::<()>().get(),
                impression_id: 1,
                weight: 1,
            };
            record_events(tx, &[event(AdEventKind::Impression), event(AdEventKind::UrlClick)])?;
            Ok(())
        })
        .await;
}

#[each_engine]
async fn criterion_has_the_id_of_a_place_in_lower_case_however_it_is_sent(world: World) {
    let shop = Shop::open(&world, "ana").await;
    let campaign = shop.campaign(&world).await;
    let item = shop.item(&world, &campaign, "150000").await;
    let first = targets(&world, &shop, &item, "LOCATION", &PORTUGAL.to_ascii_uppercase()).await;
    targets(&world, &shop, &item, "LANGUAGE", "EN").await;
    assert_eq!(targets(&world, &shop, &item, "LOCATION", PORTUGAL).await, first);
    let all = shop.call(&world, "GET", "A/targeting_criteria", &[("line_item_ids", &item)]).await;
    let all = all["data"].as_array().unwrap();
    let mut values: Vec<&str> = all.iter().map(|one| one["targeting_value"].as_str().unwrap()).collect();
    values.sort_unstable();
    assert_eq!(values, [PORTUGAL, "en"]);
}
