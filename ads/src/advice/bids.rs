//! Bids that lose most auctions.

use std::collections::HashMap;

use base::Error;
use serde_json::json;
use store::ledger::{self, AdEntity, MetricSums};

use super::tree::{changed, kept};
use super::{Advice, Branch, DAILY, DAY, DAYS, TOTAL};
use crate::desk::Desk;
use crate::record::Record;
use crate::resources::bidding::bounds;
use crate::serving;

const BID: &str = "bid_amount_local_micro";
/// Fewer auctions say little.
const ENOUGH: i64 = 20;
/// Of five auctions one is won, or the bid is low.
const ONE_OF: i64 = 5;
const MILLION: i128 = 1_000_000;

/// Bids that win less than a fifth of the auctions that they are in.
pub(super) fn low(desk: &mut Desk<'_, '_>, branches: &[Branch]) -> Result<Vec<Advice>, Error> {
    let active = |record: &Record| record.text("entity_status") == "ACTIVE";
    let pairs: Vec<(&Record, &Record)> = branches
        .iter()
        .filter(|branch| active(&branch.campaign))
        .flat_map(|branch| branch.items.iter().map(|item| (&branch.campaign, item)))
        .filter(|(_, item)| active(item) && item.text("bid_strategy") == "MAX")
        .collect();
    let ids: Vec<i64> = pairs.iter().map(|(_, item)| item.id).collect();
    let since = desk.now().plus_ms(-DAYS * DAY);
    let contests = ledger::load_auction_statistics(desk.tx, &ids, since)?;
    let sums: HashMap<i64, MetricSums> =
        ledger::total_sums_by_entity(desk.tx, AdEntity::LineItem, &ids)?
            .into_iter()
            .map(|(id, sums, _)| (id, sums))
            .collect();
    let mut all = Vec::new();
    for (campaign, item) in pairs {
        let Some(contest) = contests.get(&item.id) else {
            continue;
        };
        let few = contest.entered < ENOUGH;
        if few || contest.won.saturating_mul(ONE_OF) >= contest.entered {
            continue;
        }
        let higher = contest
            .median_bid()
            .filter(|bid| may_bid(campaign, item, *bid));
        let Some(higher) = higher else {
            continue;
        };
        let params = json!({ "line_item_id": item.written_id(), BID: higher });
        let share = contest.won.saturating_mul(100) / contest.entered;
        // Half of the auctions would be won, and what is paid for comes as often as before.
        let more = i128::from(contest.entered / 2 - contest.won);
        let rate = serving::rate(item, &sums.get(&item.id).copied().unwrap_or_default());
        let gain = more * i128::from(rate) * i128::from(higher) / MILLION;
        all.push(Advice {
            subject: format!("bid {}", item.id),
            gain: i64::try_from(gain)
                .unwrap_or(i64::MAX)
                .min(week(campaign, item)),
            message: format!("Bid won {share}% of the auctions of the last {DAYS} days"),
            changes: kept(
                "campaigns",
                campaign,
                &[changed("line_items", "Update", &params)],
            ),
        });
    }
    Ok(all)
}

/// Whether a bid is higher, and one that the line item may have.
fn may_bid(campaign: &Record, item: &Record, bid: i64) -> bool {
    let bounds = bounds(item.text("currency"));
    let most = [campaign.int(DAILY), campaign.int(TOTAL), Some(bounds.most)];
    let most = most.into_iter().flatten().min().unwrap_or(bounds.most);
    item.int(BID).is_some_and(|now| now < bid) && bid <= most && bid % bounds.step == 0
}

/// What may be spent in the days that are looked at.
fn week(campaign: &Record, item: &Record) -> i64 {
    let of = |record: &Record| {
        let daily = record.int(DAILY).map(|daily| daily.saturating_mul(DAYS));
        daily.into_iter().chain(record.int(TOTAL)).min()
    };
    let both = of(campaign).into_iter().chain(of(item));
    both.min().unwrap_or(i64::MAX)
}
