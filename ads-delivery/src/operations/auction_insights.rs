//! How line items fared in auctions, from the stored outcomes.

use std::collections::BTreeMap;

use ads::resources::line_items::LINE_ITEM;
use ads_engine::{
    AccountContext, AdsRateClass, CustomOperation, FieldSpec, Kind, OperationOutput, ParsedParams, RequiredRole,
};
use base::Error;
use base::refusal::AdsProblem;
use serde_json::{Value, json};
use store::ledger::{self, AuctionStatistics};

use crate::analytics::TimeBuckets;

const MAX_DAYS: i64 = 7;

pub(super) static OPERATIONS: &[CustomOperation] =
    &[CustomOperation::get("getAdsAuctionInsights", "auction_insights", show_auction_insights)
        .summary("How often line items entered and won auctions, and at which bids. Outcomes are kept for eight days.")
        .requires_role(RequiredRole::CampaignReader)
        .rate_limited(AdsRateClass::Standard)
        .params(&[
            FieldSpec::new("line_item_ids", Kind::custom(&LINE_ITEM).list(1, 200)).required(),
            FieldSpec::text("start_time", 1, 40).required(),
            FieldSpec::text("end_time", 1, 40).required(),
            FieldSpec::one_of("granularity", &["DAY", "TOTAL"]).required(),
            FieldSpec::one_of("placement", &["ALL_ON_TWITTER", "PUBLISHER_NETWORK"]).required(),
        ])];

fn show_auction_insights(ctx: &mut AccountContext<'_, '_>, params: &ParsedParams) -> Result<OperationOutput, Error> {
    let buckets = TimeBuckets::parse(ctx, params, MAX_DAYS)?;
    let ids = params.ints("line_item_ids");
    let known = ctx.find_records(&LINE_ITEM, &ids)?;
    if let Some(missing) = ids.iter().find(|id| known.iter().all(|item| item.id != **id)) {
        let problem: AdsProblem = ctx.not_found_problem(&LINE_ITEM, *missing);
        return Err(problem.into());
    }
    let mut series: Vec<BTreeMap<i64, AuctionStatistics>> = Vec::new();
    for (from, to) in buckets.spans() {
        series.push(ledger::load_auction_statistics_between(ctx.tx, &ids, (from, to))?);
    }
    // Outcomes are not kept by placement; auctions for other networks have none of their own.
    let is_kept = params.text("placement") == Some("ALL_ON_TWITTER");
    let entity = |id: &i64| {
        let of_item: Vec<Option<&AuctionStatistics>> =
            series.iter().map(|bucket| bucket.get(id).filter(|_| is_kept)).collect();
        json!({
            "id": LINE_ITEM.id_format.format(*id),
            "id_data": [{ "segment": null, "metrics": metrics(&of_item) }],
        })
    };
    let mut output = OperationOutput::from_value(ids.iter().map(entity).collect());
    output.extra_members = vec![("time_series_length", series.len().into())];
    Ok(output)
}

/// Metrics without any auction are `null`.
fn metrics(buckets: &[Option<&AuctionStatistics>]) -> Value {
    if buckets.iter().all(Option::is_none) {
        return json!({ "auctions_entered": null, "auctions_won": null, "median_winning_bid_local_micro": null });
    }
    let values = |number: fn(&AuctionStatistics) -> i64| -> Vec<i64> {
        buckets.iter().map(|bucket| bucket.map_or(0, number)).collect()
    };
    let bids = buckets.iter().map(|bucket| bucket.and_then(AuctionStatistics::median_bid));
    json!({
        "auctions_entered": values(|bucket| bucket.entered),
        "auctions_won": values(|bucket| bucket.won),
        "median_winning_bid_local_micro": bids.collect::<Vec<Option<i64>>>(),
    })
}
