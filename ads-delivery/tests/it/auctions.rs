//! Outcomes of auctions: counted as they were, whoever is looked at, and forgotten.

use std::sync::Arc;

use ads::resources::funding_instruments::FUNDING_INSTRUMENT;
use ads::resources::line_items::LINE_ITEM;
use ads_delivery::serving::{self, AdRequest, AdViewer};
use ads_engine::AdsConfig;
use serde_json::Value;
use store::Tx;
use store::ledger::{self, AuctionStatistics, Placement};

use crate::narrow::spend;
use crate::shop::Shop;
use crate::world::{World, each_engine};

const DAY: i64 = 86_400_000;

/// Somebody looks; which line item is shown.
pub(crate) async fn shown(world: &World, viewer: i64) -> String {
    let answer = serve(world, AdViewer { ledger_id: -1 - viewer, ..AdViewer::default() }).await;
    answer["line_item_id"].as_str().unwrap().to_owned()
}

/// The ad that a viewer is shown.
pub(crate) async fn serve(world: &World, viewer: AdViewer) -> Value {
    let request = AdRequest { viewer, placement: Placement::Timeline, slots: 1, video_post_id: None };
    let evaluator = Arc::clone(&world.evaluator);
    let look =
        move |tx: &mut Tx<'_>| serving::serve_ads(tx, (&evaluator, &AdsConfig::default()), (&[0; 32], ""), &request);
    let served = world.store.read(look).await.unwrap();
    let bids = served.bid_outcomes;
    // One more than is shown, and eight of the others at most.
    assert!(bids.len() <= 10, "{bids:?}");
    world.write(move |tx| Ok(ledger::record_auction(tx, &bids)?)).await;
    served.answer["data"][0].clone()
}

async fn contest(world: &World, item: &str) -> AuctionStatistics {
    let id = LINE_ITEM.id_format.parse(item).unwrap();
    let since = world.clock.now().plus_ms(-DAY);
    let read = move |tx: &mut Tx<'_>| Ok(ledger::load_auction_statistics(tx, &[id], since)?);
    let mut found = world.store.read(read).await.unwrap();
    found.remove(&id).unwrap_or_default()
}

#[each_engine]
async fn bid_counts_once_for_each_auction(world: World) {
    let shop = Shop::open(&world, "ana").await;
    let campaign = shop.campaign(&world).await;
    let mut items = Vec::new();
    for number in 0..24 {
        let bid = (number + 1) * 10_000;
        items.push(shop.item(&world, &campaign, &bid.to_string()).await);
    }
    let best = items.last().unwrap().clone();
    let rounds = 150;
    for viewer in 0..rounds {
        world.pass(1);
        assert_eq!(shown(&world, viewer).await, best);
    }
    let won = contest(&world, &best).await;
    assert_eq!((won.entered, won.won), (rounds, rounds));
    // The second bids 230,000.
    assert_eq!(won.median_bid(), Some(240_000));
    let second = contest(&world, &items[22]).await;
    assert_eq!((second.entered, second.won), (rounds, 0));
    // A place went for more than the best bid, in its own terms.
    assert_eq!(second.median_bid(), Some(250_000));
    // Of the others a third is looked at each time, and counts for three.
    let mut sum = 0;
    for item in &items[..22] {
        let lost = contest(&world, item).await;
        assert_eq!((lost.won, lost.entered % 3), (0, 0));
        assert!((60..=250).contains(&lost.entered), "{lost:?}");
        assert_eq!(lost.median_bid(), Some(250_000));
        sum += lost.entered;
    }
    assert!((sum - 22 * rounds).abs() < 22 * rounds / 20, "{sum}");
    // After eight days nothing is left of it.
    let forget = |tx: &mut Tx<'_>| Ok(ledger::prune_auctions(tx, 1_000)?);
    world.pass(8 * DAY - 3_600_000);
    assert_eq!(world.write(forget).await, 0);
    world.pass(2 * 3_600_000);
    assert!(world.write(forget).await >= 24);
    assert_eq!(world.write(forget).await, 0);
    assert_eq!(contest(&world, &best).await, AuctionStatistics::default());
}

#[each_engine]
async fn line_item_spreads_its_own_budget_over_the_day_by_default(world: World) {
    let shop = Shop::open(&world, "ana").await;
    let instrument = FUNDING_INSTRUMENT.id_format.format(shop.instrument);
    let params =
        [("funding_instrument_id", instrument.as_str()), ("name", "Spring"), ("budget_optimization", "LINE_ITEM")];
    let campaign = shop.make(&world, "A/campaigns", &params).await;
    let daily = ("daily_budget_amount_local_micro", "20000000");
    let slow = shop.item_with(&world, &campaign, "300000", &[daily]).await;
    let fast = shop.item_with(&world, &campaign, "100000", &[daily, ("standard_delivery", "false")]).await;
    assert_eq!(shown(&world, 1).await, slow);
    // Of the day, five hours have passed.
    spend(&world, &slow, 12_000_000).await;
    assert_eq!(shown(&world, 2).await, fast);
}
