//! What deleted line items, and the deletion of many, cost.

use store::QueryLimits;

use crate::shop::Shop;
use crate::world::{World, each_engine};

const ITEMS: usize = 30;
/// Of any statement.
const MAX_ROWS: usize = 20;

#[each_engine]
async fn work_on_a_campaign_reads_no_deleted_line_items(world: World) {
    let shop = Shop::open(&world, "ana").await;
    let campaign = shop.campaign(&world).await;
    for _ in 0..ITEMS {
        let item = shop.item(&world, &campaign, "150000").await;
        shop.call(&world, "DELETE", &format!("A/line_items/{item}"), &[]).await;
    }
    let work = async {
        shop.item(&world, &campaign, "150000").await;
        let budget = [("daily_budget_amount_local_micro", "30000000")];
        shop.call(&world, "PUT", &format!("A/campaigns/{campaign}"), &budget).await;
    };
    store::limit_queries(QueryLimits { max_rows: MAX_ROWS, ..QueryLimits::default() }, work).await;
}

/// However many line items are below the campaign; statements are prepared meanwhile.
const MAX_ROUND_TRIPS: u64 = 70;

#[each_engine]
async fn campaign_is_deleted_with_as_many_statements_whatever_is_below_it(world: World) {
    let shop = Shop::open(&world, "ana").await;
    let campaign = shop.campaign(&world).await;
    for _ in 0..ITEMS {
        shop.item(&world, &campaign, "150000").await;
    }
    let work = async {
        shop.call(&world, "DELETE", &format!("A/campaigns/{campaign}"), &[]).await;
        store::count_round_trips()
    };
    let round_trips = store::limit_queries(QueryLimits::default(), work).await;
    assert!(round_trips <= MAX_ROUND_TRIPS, "{round_trips}");
    for kind in ["line_items", "promoted_<posts>"] {
        let listed = shop.call(&world, "GET", &format!("A/{kind}"), &[]).await;
        assert_eq!(listed["data"], serde_json::json!([]), "{kind}");
    }
}
