//! Auction statistics of line items, by the hour; their cost does not depend on the number of auctions.

use std::collections::BTreeMap;

use base::{Fault, Time};

use super::{HOUR_MS, hour_start};
use crate::Tx;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuctionBid {
    pub line_item_id: i64,
    /// The lowest bid that would have won, in micros.
    pub price_micro: i64,
    pub won: bool,
    /// The number of auctions it stands for when sampled.
    pub weight: i64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuctionStatistics {
    pub entered: i64,
    pub won: i64,
    /// Prices (micros) and how often they occurred, lowest first.
    prices: Vec<(i64, i64)>,
}

impl AuctionStatistics {
    /// A bid (micros) that would have won half of the auctions: at least the median price, and at most an eighth more.
    pub fn median_bid(&self) -> Option<i64> {
        let mut passed = 0_i64;
        let mut prices = self.prices.iter();
        let middle = prices.find(|(_, times)| {
            passed = passed.saturating_add(*times);
            passed.saturating_mul(2) >= self.entered
        });
        middle.map(|(price, _)| *price)
    }
}

/// Eight buckets per doubling.
fn price_bucket(price: i64) -> i64 {
    let price = price.max(1);
    let double = i64::from(price.ilog2());
    let eighths = (i128::from(price) * 8) >> double;
    double * 8 + i64::try_from(eighths).unwrap_or(8) - 8
}

pub fn record_auction(tx: &mut Tx<'_>, bids: &[AuctionBid]) -> Result<(), Fault> {
    let hour = hour_start(tx.now().ms(), 0);
    let mut rows: BTreeMap<(i64, i64), (i64, i64, i64)> = BTreeMap::new();
    for bid in bids {
        let row = rows.entry((bid.line_item_id, price_bucket(bid.price_micro)));
        let row = row.or_default();
        let won = if bid.won { bid.weight } else { 0 };
        *row = (row.0 + bid.weight, row.1 + won, row.2.max(bid.price_micro));
    }
    let sql = "INSERT INTO ad_auction (line_item_id, hour, step, entered, won, highest) VALUES ($1, $2, $3, $4, $5, \
               $6) ON CONFLICT (line_item_id, hour, step) DO UPDATE \
               SET entered = ad_auction.entered + excluded.entered, won = ad_auction.won + excluded.won, highest = \
               CASE WHEN excluded.highest > ad_auction.highest THEN excluded.highest ELSE ad_auction.highest END";
    // A fixed order, so that concurrent transactions do not deadlock.
    for ((item, step), (entered, won, highest)) in rows {
        let args = [item, hour, step, entered, won, highest].map(Into::into);
        tx.execute_later(sql, &args)?;
    }
    Ok(())
}

/// Statistics since the hour of a time; line items without auctions are omitted.
pub fn load_auction_statistics(
    tx: &mut Tx<'_>,
    line_items: &[i64],
    since: Time,
) -> Result<BTreeMap<i64, AuctionStatistics>, Fault> {
    load_auction_statistics_between(tx, line_items, (since, Time::from_ms(i64::MAX)))
}

/// As [`load_auction_statistics`], up to the hour of the second time.
pub fn load_auction_statistics_between(
    tx: &mut Tx<'_>,
    line_items: &[i64],
    (since, until): (Time, Time),
) -> Result<BTreeMap<i64, AuctionStatistics>, Fault> {
    let sql = "SELECT line_item_id, step, CAST(SUM(entered) AS BIGINT), CAST(SUM(won) AS BIGINT), MAX(highest) \
               FROM ad_auction WHERE line_item_id = $1 AND hour >= $2 AND hour < $3 \
               GROUP BY line_item_id, step";
    // Where days begin within an hour, each has the hour that it begins in, and only the last the one that it ends in.
    let within_hour = since.ms() - hour_start(since.ms(), 0);
    let (since, until) = (since.plus_ms(-within_hour), until.plus_ms(-within_hour));
    let mut rows: Vec<[i64; 5]> = tx.query_by_keys(sql, line_items, &[since.into(), until.into()])?;
    rows.sort_unstable();
    let mut all: BTreeMap<i64, AuctionStatistics> = BTreeMap::new();
    for [item, _, entered, won, highest] in rows {
        let statistics = all.entry(item).or_default();
        statistics.entered = statistics.entered.saturating_add(entered);
        statistics.won = statistics.won.saturating_add(won);
        statistics.prices.push((highest, entered));
    }
    Ok(all)
}

/// The reporting period and a day more.
const RETENTION_MS: i64 = 8 * 24 * HOUR_MS;

/// Returns how many rows were deleted.
pub fn prune_auctions(tx: &mut Tx<'_>, limit: i64) -> Result<u64, Fault> {
    let sql = "DELETE FROM ad_auction WHERE (line_item_id, hour, step) IN \
               (SELECT line_item_id, hour, step FROM ad_auction WHERE hour < $1 LIMIT $2)";
    let before = tx.now().plus_ms(-RETENTION_MS);
    tx.execute(sql, &[before.into(), limit.into()])
}

#[cfg(test)]
mod tests {
    use super::{AuctionStatistics, price_bucket};

    #[test]
    fn steps_rise_with_the_price_and_are_an_eighth_wide() {
        let mut last = price_bucket(1);
        assert_eq!(last, 0);
        for price in 2..5_000 {
            let next = price_bucket(price);
            assert!(next >= last, "{price}");
            // Whatever shares a step is within an eighth of it.
            assert!(price_bucket(price + price / 7 + 1) > next, "{price}");
            last = next;
        }
        assert!(price_bucket(i64::MAX) > price_bucket(i64::MAX / 2));
    }

    #[test]
    fn the_median_wins_half() {
        let of = |prices: &[(i64, i64)]| AuctionStatistics {
            entered: prices.iter().map(|(_, times)| times).sum(),
            won: 0,
            prices: prices.to_vec(),
        };
        assert_eq!(of(&[]).median_bid(), None);
        assert_eq!(of(&[(10, 1)]).median_bid(), Some(10));
        assert_eq!(of(&[(10, 1), (20, 1)]).median_bid(), Some(10));
        assert_eq!(of(&[(10, 1), (20, 1), (40, 1)]).median_bid(), Some(20));
        assert_eq!(of(&[(10, 1), (20, 2), (40, 7)]).median_bid(), Some(40));
    }
}
