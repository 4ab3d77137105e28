//! Line items that were deleted, which do not burden the campaign that they belonged to.

use store::QueryLimits;

use crate::shop::Shop;
use crate::world::on_each_engine;

const ITEMS: usize = 30;
/// Of any statement.
const MAX_ROWS: usize = 20;

#[test]
fn work_on_a_campaign_reads_no_deleted_line_items() {
    on_each_engine(async |world| {
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
    });
}
