//! Recommendations for bids that lose most auctions.

use std::collections::HashMap;

use ads::resources::bidding_rules::bid_bounds;
use ads_engine::{AccountContext, AdsRecord};
use base::Error;
use base::time::DAY_MS;
use serde_json::json;
use store::ledger::{self, AdEntity, MetricSums};

use super::change_tree::{change_node, unchanged_node};
use super::{CampaignTree, DAILY, LOOKBACK_DAYS, RecommendationDraft, TOTAL};
use crate::serving;

const BID: &str = "bid_amount_local_micro";
/// Fewer auctions are not significant.
const MIN_AUCTIONS: i64 = 20;
/// A bid is low if it wins fewer than one of this many auctions.
const MAX_AUCTIONS_PER_WIN: i64 = 5;
const MILLION: i128 = 1_000_000;

/// Finds bids that win less than a fifth of their auctions.
pub(super) fn find_low_bids(
    ctx: &mut AccountContext<'_, '_>,
    branches: &[CampaignTree],
) -> Result<Vec<RecommendationDraft>, Error> {
    let active = |record: &AdsRecord| record.text("entity_status") == "ACTIVE";
    let pairs: Vec<(&AdsRecord, &AdsRecord)> = branches
        .iter()
        .filter(|branch| active(&branch.campaign))
        .flat_map(|branch| branch.line_items.iter().map(|item| (&branch.campaign, item)))
        .filter(|(_, item)| active(item) && item.text("bid_strategy") == "MAX")
        .collect();
    let ids: Vec<i64> = pairs.iter().map(|(_, item)| item.id).collect();
    let since = ctx.now().plus_ms(-LOOKBACK_DAYS * DAY_MS);
    let contests = ledger::load_auction_statistics(ctx.tx, &ids, since)?;
    let sums: HashMap<i64, MetricSums> = ledger::total_sums_by_entity(ctx.tx, AdEntity::LineItem, &ids)?
        .into_iter()
        .map(|(id, sums, _)| (id, sums))
        .collect();
    let mut all = Vec::new();
    for (campaign, item) in pairs {
        let Some(contest) = contests.get(&item.id) else {
            continue;
        };
        let few = contest.entered < MIN_AUCTIONS;
        if few || contest.won.saturating_mul(MAX_AUCTIONS_PER_WIN) >= contest.entered {
            continue;
        }
        let higher = contest.median_bid().filter(|bid| is_allowed_bid(campaign, item, *bid));
        let Some(higher) = higher else {
            continue;
        };
        let params = json!({ "line_item_id": item.formatted_id(), BID: higher });
        let share = contest.won.saturating_mul(100) / contest.entered;
        // Assumes half of the auctions won, with the same rate of paid events.
        let additional = i128::from(contest.entered / 2 - contest.won);
        let rate = serving::expected_rate(item, &sums.get(&item.id).copied().unwrap_or_default());
        let gain = additional * i128::from(rate) * i128::from(higher) / MILLION;
        all.push(RecommendationDraft {
            subject: format!("bid {}", item.id),
            estimated_gain: i64::try_from(gain).unwrap_or(i64::MAX).min(spendable_in_lookback(campaign, item)),
            message: format!("Bid won {share}% of the auctions of the last {LOOKBACK_DAYS} days"),
            changes: unchanged_node("campaigns", campaign, &[change_node("line_items", "Update", &params)]),
        });
    }
    Ok(all)
}

/// Whether a bid is higher and valid for the line item.
fn is_allowed_bid(campaign: &AdsRecord, item: &AdsRecord, bid: i64) -> bool {
    let bounds = bid_bounds(item.text("currency"));
    let limit = [campaign.int(DAILY), campaign.int(TOTAL), Some(bounds.max)];
    let limit = limit.into_iter().flatten().min().unwrap_or(bounds.max);
    item.int(BID).is_some_and(|now| now < bid) && bid <= limit && bid % bounds.step == 0
}

/// The amount that may be spent in the examined days, in micros.
fn spendable_in_lookback(campaign: &AdsRecord, item: &AdsRecord) -> i64 {
    let is_valid = |record: &AdsRecord| {
        let daily = record.int(DAILY).map(|daily| daily.saturating_mul(LOOKBACK_DAYS));
        daily.into_iter().chain(record.int(TOTAL)).min()
    };
    let both = is_valid(campaign).into_iter().chain(is_valid(item));
    both.min().unwrap_or(i64::MAX)
}
