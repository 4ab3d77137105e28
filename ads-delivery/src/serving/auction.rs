//! Second-price auctions: the price is the next bid plus one step.
//!
//! Bids are compared within a market: one currency, or all currencies with an operator-defined rate. The order
//! of markets is random, so that no currency is preferred; slots left free by one market go to the next.

use std::collections::{BTreeMap, HashMap};

use ads_engine::{AccountContext, AdsConfig, AdsRecord};
use base::{Error, Time};
use store::Tx;
use store::ledger::{self, AdEntity, AuctionBid};

use super::candidates::{self, AuctionCandidate};
use super::creatives::{self, AdCreative};
use super::{AdRequest, hash_to_id, invariant_broken, video_placements};
use crate::eligibility::is_eligible;
use crate::evaluator::Evaluator;

#[derive(Clone, Debug)]
pub(super) struct AuctionWinner {
    pub(super) campaign: AdsRecord,
    pub(super) item: AdsRecord,
    pub(super) creative: AdCreative,
    pub(super) price: i64,
}

#[derive(Clone, Debug, Default)]
pub(super) struct AuctionResult {
    /// Best first.
    pub(super) winners: Vec<AuctionWinner>,
    /// Outcomes of manual bids.
    pub(super) bid_outcomes: Vec<AuctionBid>,
}

const DAY: i64 = 86_400_000;
/// Losers sampled to estimate the winning bid; each represents those left out.
const MAX_SAMPLED_LOSERS: usize = 8;

pub(super) fn run_auctions(
    tx: &mut Tx<'_>,
    (evaluator, config): (&Evaluator, &AdsConfig),
    request: &AdRequest,
) -> Result<AuctionResult, Error> {
    let all = candidates::find_candidates(tx, config, request.placement)?;
    let mut room = AuctionContext {
        evaluator,
        request,
        frequency_history: load_frequency_history(tx, request, &all)?,
        used_creatives: Vec::new(),
        rotation: rotation_seed(tx),
    };
    let mut markets: BTreeMap<String, Vec<AuctionCandidate>> = BTreeMap::new();
    for one in all {
        markets.entry(one.market.clone()).or_default().push(one);
    }
    let mut markets: Vec<Vec<AuctionCandidate>> = markets.into_values().collect();
    if !markets.is_empty() {
        let first = room.rotation % markets.len();
        markets.rotate_left(first);
    }
    let slots = usize::try_from(request.slots).map_err(|_| invariant_broken("negative number of slots"))?;
    let mut result = AuctionResult::default();
    for market in markets {
        let free = slots.saturating_sub(result.winners.len());
        if free == 0 {
            break;
        }
        room.run_market_auction(tx, market, free, &mut result)?;
    }
    Ok(result)
}

/// A number that differs between requests.
fn rotation_seed(tx: &Tx<'_>) -> usize {
    let id = tx.next_id::<()>().get();
    usize::try_from(hash_to_id(&id.to_be_bytes())).unwrap_or(0)
}

struct AuctionContext<'a> {
    evaluator: &'a Evaluator,
    request: &'a AdRequest,
    frequency_history: FrequencyHistory,
    used_creatives: Vec<(AdEntity, i64)>,
    rotation: usize,
}

impl AuctionContext<'_> {
    /// Runs the auction of one market; candidates are sorted best first.
    fn run_market_auction(
        &mut self,
        tx: &mut Tx<'_>,
        market: Vec<AuctionCandidate>,
        slots: usize,
        result: &mut AuctionResult,
    ) -> Result<(), Error> {
        // One more than there are slots: the first loser sets the last winner's price.
        let mut ranked: Vec<(AuctionCandidate, AdCreative)> = Vec::new();
        let mut rest = Vec::new();
        for candidate in market {
            if ranked.len() > slots {
                rest.push(candidate);
            } else if let Some(creative) = self.choose_creative(tx, &candidate)? {
                self.used_creatives.push((creative.kind, creative.subject));
                ranked.push((candidate, creative));
            }
        }
        let scores: Vec<i128> = ranked.iter().map(|(one, _)| one.score()).collect();
        let score = |place: usize| scores.get(place).copied().unwrap_or(0);
        for (place, (candidate, _)) in ranked.iter().enumerate() {
            let won = place < slots;
            // A winner must beat the first loser; a loser must beat the last winner.
            let above = if won { slots } else { slots.saturating_sub(1) };
            result.bid_outcomes.extend(bid_outcome(candidate, score(above), won, 1));
        }
        let last = score(slots.saturating_sub(1));
        result.bid_outcomes.extend(self.sample_losers(tx, rest, last)?);
        let next = scores.iter().copied().skip(1).chain(std::iter::once(0));
        let won = ranked.into_iter().zip(next).take(slots);
        result.winners.extend(won.map(|((candidate, creative), next)| AuctionWinner {
            price: second_price(&candidate, next),
            campaign: candidate.campaign,
            item: candidate.item,
            creative,
        }));
        Ok(())
    }

    /// Records a sample of the losers, a different one each time, so that the cost does not depend on their
    /// number.
    fn sample_losers(
        &self,
        tx: &mut Tx<'_>,
        mut rest: Vec<AuctionCandidate>,
        last: i128,
    ) -> Result<Vec<AuctionBid>, Error> {
        rest.retain(has_manual_bid);
        let stride = rest.len().div_ceil(MAX_SAMPLED_LOSERS).max(1);
        let times = i64::try_from(stride).unwrap_or(1);
        let mut bids = Vec::new();
        for candidate in rest.iter().skip(self.rotation % stride).step_by(stride) {
            if self.choose_creative(tx, candidate)?.is_some() {
                bids.extend(bid_outcome(candidate, last, false, times));
            }
        }
        Ok(bids)
    }

    /// Chooses the creative of a candidate for the viewer; `None` if none may be shown.
    fn choose_creative(&self, tx: &mut Tx<'_>, candidate: &AuctionCandidate) -> Result<Option<AdCreative>, Error> {
        let (item, viewer) = (&candidate.item, self.request.viewer.user);
        if is_capped(item, &self.frequency_history, tx.now()) {
            return Ok(None);
        }
        let account = candidate.account.clone();
        let mut ctx = AccountContext::new_for_operator(tx, base::UserId::new(0), account);
        if !video_placements::fits_video_placement(&mut ctx, item, self.request)?
            || !is_eligible(&mut ctx, self.evaluator, item, viewer)?
        {
            return Ok(None);
        }
        creatives::choose_creative(&mut ctx, item, viewer, (self.rotation, &self.used_creatives))
    }
}

/// Automatic bids are computed by the platform; there is nothing to recommend.
fn has_manual_bid(candidate: &AuctionCandidate) -> bool {
    candidate.item.text("bid_strategy") == "MAX"
}

fn bid_outcome(candidate: &AuctionCandidate, above: i128, won: bool, times: i64) -> Option<AuctionBid> {
    has_manual_bid(candidate).then(|| AuctionBid {
        line_item_id: candidate.item.id,
        price_micro: price_to_beat(candidate, above),
        won,
        weight: times,
    })
}

/// The bid in micros that beats a score by one step.
fn price_to_beat(candidate: &AuctionCandidate, other: i128) -> i64 {
    let step = i128::from(candidate.currency_step.max(1));
    let second = other / candidate.weight() / step * step + step;
    i64::try_from(second).unwrap_or(i64::MAX)
}

/// The price in micros that beats the next score; never more than the bid.
fn second_price(candidate: &AuctionCandidate, next: i128) -> i64 {
    price_to_beat(candidate, next).min(candidate.bid).max(1)
}

type FrequencyHistory = HashMap<i64, Vec<Time>>;

/// The viewer's impressions of line items with a frequency cap.
fn load_frequency_history(
    tx: &mut Tx<'_>,
    request: &AdRequest,
    all: &[AuctionCandidate],
) -> Result<FrequencyHistory, Error> {
    let capped = all.iter().filter_map(|one| frequency_cap(&one.item));
    let Some(days) = capped.map(|(_, days)| days).max() else {
        return Ok(FrequencyHistory::new());
    };
    let since = tx.now().plus_ms(-days * DAY);
    let mut history = FrequencyHistory::new();
    for (item, at) in ledger::list_line_item_impressions(tx, request.viewer.ledger_id, since)? {
        history.entry(item).or_default().push(at);
    }
    Ok(history)
}

fn frequency_cap(item: &AdsRecord) -> Option<(i64, i64)> {
    let days = item.int("duration_in_days").unwrap_or(1);
    Some((item.int("frequency_cap")?, days))
}

/// Whether the viewer has reached the frequency cap.
fn is_capped(item: &AdsRecord, history: &FrequencyHistory, now: Time) -> bool {
    let Some((most, days)) = frequency_cap(item) else {
        return false;
    };
    let since = now.plus_ms(-days * DAY);
    let times = history.get(&item.id).map_or(0, |times| times.iter().filter(|at| **at > since).count());
    i64::try_from(times).unwrap_or(i64::MAX) >= most
}

#[cfg(test)]
mod tests {
    use base::Time;

    use super::{AuctionCandidate, second_price};
    use ads::resources::accounts::ACCOUNT;
    use ads::resources::campaigns::CAMPAIGN;
    use ads::resources::line_items::LINE_ITEM;
    use ads_engine::{AdsRecord, RATE_ONE};

    #[test]
    fn the_second_price_is_paid_and_never_more_than_the_bid() {
        let now = Time::from_ms(0);
        let candidate = |bid: i64, rate: i64| AuctionCandidate {
            account: AdsRecord::new(&ACCOUNT, 1, 1, now),
            campaign: AdsRecord::new(&CAMPAIGN, 1, 1, now),
            item: AdsRecord::new(&LINE_ITEM, 1, 1, now),
            bid,
            expected_rate: rate,
            currency_step: 10_000,
            market: "USD".to_owned(),
            currency_rate: RATE_ONE,
        };
        let (first, second) = (candidate(500_000, 20_000), candidate(300_000, 10_000));
        assert!(first.score() > second.score());
        // Worth 150,000 at the first one's rate.
        assert_eq!(second_price(&first, second.score()), 160_000);
        assert_eq!(second_price(&second, 0), 10_000);
        assert_eq!(second_price(&second, second.score()), 300_000);
        // A bid in a currency that is worth a hundredth counts for as much less.
        let yen = AuctionCandidate {
            currency_rate: RATE_ONE / 100,
            currency_step: 1_000_000,
            ..candidate(40_000_000, 20_000)
        };
        assert!(yen.score() < first.score() && yen.score() > second.score());
        // Each pays in its own currency: 400,000 and a step, and in yen fifteen and a step.
        assert_eq!(second_price(&first, yen.score()), 410_000);
        assert_eq!(second_price(&yen, second.score()), 16_000_000);
    }
}
