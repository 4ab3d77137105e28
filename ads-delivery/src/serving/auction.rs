//! Second-price auctions: the price is the next bid plus one step.
//!
//! Bids are compared within a market: one currency, or all currencies with an operator-defined rate. The order
//! of markets is random, so that no currency is preferred; slots left free by one market go to the next.

use std::collections::{BTreeMap, HashMap};

use ads_engine::{AccountContext, AdsConfig, AdsRecord};
use base::time::DAY_MS;
use base::{Error, Time, UserId};
use store::Tx;
use store::ledger::{self, AdEntity, AuctionBid};

use super::candidates::{self, AuctionCandidate};
use super::creatives::{self, AdCreative};
use super::video_placements::VideoPlacement;
use super::{AdRequest, hash_to_id, invariant_broken};
use crate::eligibility::{AdvertiserFilter, AudienceReader, filter_targeted};
use crate::evaluator::Evaluator;

#[derive(Clone, Debug)]
pub(crate) struct AuctionWinner {
    pub(crate) candidate: AuctionCandidate,
    pub(crate) creative: AdCreative,
    /// In micros, for the event the line item pays for.
    pub(crate) price: i64,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct AuctionResult {
    /// Best first.
    pub(crate) winners: Vec<AuctionWinner>,
    /// Outcomes of manual bids.
    pub(crate) bid_outcomes: Vec<AuctionBid>,
}

/// Decides what of a candidate may be shown to the viewer of an auction.
pub(crate) trait CreativeChooser {
    /// `None` if nothing may be shown; `used` are the creatives of candidates before it.
    fn choose_creative(
        &mut self,
        tx: &mut Tx<'_>,
        candidate: &AuctionCandidate,
        used: &[(AdEntity, i64)],
    ) -> Result<Option<AdCreative>, Error>;
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct AuctionTerms {
    /// The maximum number of winners.
    pub(crate) slots: usize,
    /// Differs between auctions: which market comes first, and which losers are sampled.
    pub(crate) rotation: usize,
    pub(crate) competition: Competition,
}

/// What others bid for an impression; nothing by default.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Competition {
    /// In millionths of the currency's smallest step.
    pub(crate) bid: i64,
    /// More than that, in thousandths of a candidate's own bid.
    pub(crate) share: i64,
}

impl Competition {
    /// The score that a candidate must reach.
    fn score_against(self, candidate: &AuctionCandidate) -> i128 {
        let bid = i128::from(self.bid).saturating_mul(candidate.impression_unit());
        bid.saturating_add(candidate.score().saturating_mul(i128::from(self.share)) / 1000)
    }
}

/// Losers sampled to estimate the winning bid; each represents those left out.
const MAX_SAMPLED_LOSERS: usize = 8;

pub(super) fn run_auctions(
    tx: &mut Tx<'_>,
    (evaluator, config): (&Evaluator, &AdsConfig),
    request: &AdRequest,
) -> Result<AuctionResult, Error> {
    let rotation = rotation_seed(tx);
    let seed = i64::try_from(rotation).unwrap_or(0);
    let mut all = candidates::find_candidates(tx, config, request.placement, seed)?;
    let slots = usize::try_from(request.slots).map_err(|_| invariant_broken("negative number of slots"))?;
    let (viewer, now) = (&request.viewer, tx.now());
    let advertisers = AdvertiserFilter::load(tx, viewer.user, all.iter().map(|one| &*one.item))?;
    all.retain(|one| one.is_shown_to(viewer.ledger_id) && advertisers.admits(&one.item));
    let history = load_frequency_history(tx, viewer.ledger_id, all.iter().map(|one| &*one.item), now)?;
    all.retain(|one| !is_capped(&one.item, &history, now));
    let audiences = AudienceReader::new(tx, all.iter().map(|one| &*one.item))?;
    evaluator.refresh(tx)?;
    let video = VideoPlacement::load(tx, request.video_post_id)?;
    let mut chooser = RequestChooser { evaluator, viewer: viewer.user, audiences, video, rotation };
    run_market_auctions(tx, &mut chooser, all, AuctionTerms { slots, rotation, competition: Competition::default() })
}

/// Runs the auctions of all markets; candidates are sorted best first.
pub(crate) fn run_market_auctions(
    tx: &mut Tx<'_>,
    chooser: &mut impl CreativeChooser,
    all: Vec<AuctionCandidate>,
    terms: AuctionTerms,
) -> Result<AuctionResult, Error> {
    let mut markets: BTreeMap<String, Vec<AuctionCandidate>> = BTreeMap::new();
    for one in all {
        markets.entry(one.market.clone()).or_default().push(one);
    }
    let mut markets: Vec<Vec<AuctionCandidate>> = markets.into_values().collect();
    if !markets.is_empty() {
        let first = terms.rotation % markets.len();
        markets.rotate_left(first);
    }
    let mut room = AuctionContext { chooser, terms, used_creatives: Vec::new() };
    let mut result = AuctionResult::default();
    for market in markets {
        let free = terms.slots.saturating_sub(result.winners.len());
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

struct AuctionContext<'a, C> {
    chooser: &'a mut C,
    terms: AuctionTerms,
    used_creatives: Vec<(AdEntity, i64)>,
}

impl<C: CreativeChooser> AuctionContext<'_, C> {
    fn run_market_auction(
        &mut self,
        tx: &mut Tx<'_>,
        market: Vec<AuctionCandidate>,
        slots: usize,
        result: &mut AuctionResult,
    ) -> Result<(), Error> {
        let competition = self.terms.competition;
        // One more than there are slots: the first loser sets the last winner's price.
        let mut ranked: Vec<(AuctionCandidate, AdCreative)> = Vec::new();
        let mut rest = Vec::new();
        for candidate in market {
            if ranked.len() > slots {
                rest.push(candidate);
            } else if let Some(creative) = self.chooser.choose_creative(tx, &candidate, &self.used_creatives)? {
                self.used_creatives.push((creative.kind, creative.subject));
                ranked.push((candidate, creative));
            }
        }
        let scores: Vec<i128> = ranked.iter().map(|(one, _)| one.score()).collect();
        let score = |place: usize| scores.get(place).copied().unwrap_or(0);
        for (place, (candidate, _)) in ranked.iter().enumerate() {
            let competing = competition.score_against(candidate);
            let won = place < slots && candidate.score() >= competing;
            // A winner must beat the first loser; a loser must beat the last winner.
            let above = if won { slots } else { slots.saturating_sub(1) };
            result.bid_outcomes.extend(bid_outcome(candidate, score(above).max(competing), won, 1));
        }
        let last = score(slots.saturating_sub(1));
        result.bid_outcomes.extend(self.sample_losers(tx, rest, last)?);
        let next = scores.iter().copied().skip(1).chain(std::iter::once(0));
        for ((candidate, creative), next) in ranked.into_iter().zip(next).take(slots) {
            let competing = competition.score_against(&candidate);
            if candidate.score() >= competing {
                let price = second_price(&candidate, next.max(competing));
                result.winners.push(AuctionWinner { candidate, creative, price });
            }
        }
        Ok(())
    }

    /// Records a sample of the losers, a different one each time, so that the cost does not depend on their
    /// number.
    fn sample_losers(
        &mut self,
        tx: &mut Tx<'_>,
        mut rest: Vec<AuctionCandidate>,
        last: i128,
    ) -> Result<Vec<AuctionBid>, Error> {
        rest.retain(has_manual_bid);
        let stride = rest.len().div_ceil(MAX_SAMPLED_LOSERS).max(1);
        let times = i64::try_from(stride).unwrap_or(1);
        let mut bids = Vec::new();
        for candidate in rest.iter().skip(self.terms.rotation % stride).step_by(stride) {
            if self.chooser.choose_creative(tx, candidate, &self.used_creatives)?.is_some() {
                bids.extend(bid_outcome(candidate, last, false, times));
            }
        }
        Ok(bids)
    }
}

/// Chooses for the viewer of a request.
struct RequestChooser<'a> {
    evaluator: &'a Evaluator,
    viewer: Option<UserId>,
    audiences: AudienceReader,
    video: Option<VideoPlacement>,
    rotation: usize,
}

impl CreativeChooser for RequestChooser<'_> {
    fn choose_creative(
        &mut self,
        tx: &mut Tx<'_>,
        candidate: &AuctionCandidate,
        used: &[(AdEntity, i64)],
    ) -> Result<Option<AdCreative>, Error> {
        let (item, viewer) = (&*candidate.item, self.viewer);
        let is_preroll = item.text("objective") == "PREROLL_VIEWS";
        if is_preroll && self.video.is_none() {
            return Ok(None);
        }
        let audience = self.audiences.audience(tx, item)?;
        if filter_targeted(tx, self.evaluator, &audience, vec![viewer])?.is_empty() {
            return Ok(None);
        }
        let account = (*candidate.account).clone();
        let mut ctx = AccountContext::new_for_operator(tx, UserId::new(0), account);
        if is_preroll
            && let Some(video) = &self.video
            && !video.is_targeted(&mut ctx, item, &audience.criteria)?
        {
            return Ok(None);
        }
        creatives::choose_creative(&mut ctx, item, viewer, (self.rotation, used))
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

/// Times of a viewer's impressions by line item.
pub(crate) type FrequencyHistory = HashMap<i64, Vec<Time>>;

/// A viewer's impressions of line items with a frequency cap.
pub(crate) fn load_frequency_history<'r>(
    tx: &mut Tx<'_>,
    viewer: i64,
    items: impl Iterator<Item = &'r AdsRecord>,
    now: Time,
) -> Result<FrequencyHistory, Error> {
    let Some(days) = items.filter_map(frequency_cap).map(|(_, days)| days).max() else {
        return Ok(FrequencyHistory::new());
    };
    let since = now.plus_ms(-days * DAY_MS);
    let mut history = FrequencyHistory::new();
    for (item, at) in ledger::list_line_item_impressions(tx, viewer, since)? {
        history.entry(item).or_default().push(at);
    }
    Ok(history)
}

fn frequency_cap(item: &AdsRecord) -> Option<(i64, i64)> {
    let days = item.int("duration_in_days").unwrap_or(1);
    Some((item.int("frequency_cap")?, days))
}

/// Whether the viewer has reached the frequency cap.
pub(crate) fn is_capped(item: &AdsRecord, history: &FrequencyHistory, now: Time) -> bool {
    let Some((most, days)) = frequency_cap(item) else {
        return false;
    };
    let since = now.plus_ms(1 - days * DAY_MS);
    let times = history.get(&item.id).map_or(0, |times| times.iter().filter(|at| (since..=now).contains(*at)).count());
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
            account: AdsRecord::new(&ACCOUNT, 1, 1, now).into(),
            campaign: AdsRecord::new(&CAMPAIGN, 1, 1, now).into(),
            item: AdsRecord::new(&LINE_ITEM, 1, 1, now).into(),
            bid,
            expected_rate: rate,
            allowance: None,
            currency_step: 10_000,
            market: "USD".to_owned(),
            currency_rate: RATE_ONE,
            shares: Vec::new(),
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
