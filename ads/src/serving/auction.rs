//! Who is shown, and at what price: the second price, and one step more.
//!
//! Bids are compared within a market: those in one currency, or in any of those that the operator
//! gave rates of. Which market is asked first is left to chance, so that no currency stands before
//! another; places that its line items leave free are the next one's.

use std::collections::{BTreeMap, HashMap};

use base::{Error, Time};
use store::Tx;
use store::ledger::{self, AdEntity, AuctionBid};

use super::candidates::{self, Candidate};
use super::creatives::{self, Creative};
use super::{Ask, broken, hashed, videos};
use crate::desk::Desk;
use crate::eligible::eligible;
use crate::evaluator::Evaluator;
use crate::house::House;
use crate::record::Record;

/// A line item that is shown.
#[derive(Clone, Debug)]
pub(super) struct Won {
    pub(super) campaign: Record,
    pub(super) item: Record,
    pub(super) creative: Creative,
    pub(super) price: i64,
}

/// What an auction came to.
#[derive(Clone, Debug, Default)]
pub(super) struct Held {
    /// Who is shown, best first.
    pub(super) won: Vec<Won>,
    /// What became of those who set their bid themselves.
    pub(super) bids: Vec<AuctionBid>,
}

const DAY: i64 = 86_400_000;
/// Of those who bid too little to be shown, so many are looked at: whether they would have been,
/// had they bid more. Each stands for as many as are left out.
const LOSERS: usize = 8;

/// Finds who is shown in each slot.
pub(super) fn hold(
    tx: &mut Tx<'_>,
    (evaluator, house): (&Evaluator, &House),
    ask: &Ask,
) -> Result<Held, Error> {
    let all = candidates::find(tx, house, ask.placement)?;
    let mut room = Room {
        evaluator,
        ask,
        seen: seen(tx, ask, &all)?,
        taken: Vec::new(),
        turn: turn(tx),
    };
    let mut markets: BTreeMap<String, Vec<Candidate>> = BTreeMap::new();
    for one in all {
        markets.entry(one.market.clone()).or_default().push(one);
    }
    let mut markets: Vec<Vec<Candidate>> = markets.into_values().collect();
    if !markets.is_empty() {
        let first = room.turn % markets.len();
        markets.rotate_left(first);
    }
    let slots = usize::try_from(ask.slots).map_err(|_| broken("slots below nothing"))?;
    let mut held = Held::default();
    for market in markets {
        let free = slots.saturating_sub(held.won.len());
        if free == 0 {
            break;
        }
        room.hold(tx, market, free, &mut held)?;
    }
    Ok(held)
}

/// A number that no two requests share, as good as drawn.
fn turn(tx: &Tx<'_>) -> usize {
    let id = tx.next_id::<()>().get();
    usize::try_from(hashed(&id.to_be_bytes())).unwrap_or(0)
}

/// What all of a request's auctions share.
struct Room<'a> {
    evaluator: &'a Evaluator,
    ask: &'a Ask,
    seen: Seen,
    /// What is shown already.
    taken: Vec<(AdEntity, i64)>,
    turn: usize,
}

impl Room<'_> {
    /// Holds the auction of a market whose candidates stand with the best first.
    fn hold(
        &mut self,
        tx: &mut Tx<'_>,
        market: Vec<Candidate>,
        slots: usize,
        held: &mut Held,
    ) -> Result<(), Error> {
        // One more than there are slots: whoever comes after the last makes its price.
        let mut ranked: Vec<(Candidate, Creative)> = Vec::new();
        let mut rest = Vec::new();
        for candidate in market {
            if ranked.len() > slots {
                rest.push(candidate);
            } else if let Some(creative) = self.fit(tx, &candidate)? {
                self.taken.push((creative.kind, creative.subject));
                ranked.push((candidate, creative));
            }
        }
        let scores: Vec<i128> = ranked.iter().map(|(one, _)| one.score()).collect();
        let score = |place: usize| scores.get(place).copied().unwrap_or(0);
        for (place, (candidate, _)) in ranked.iter().enumerate() {
            let won = place < slots;
            // To have a place, a winner must be worth more than the first who has none, and that
            // one more than the last who has one.
            let above = if won { slots } else { slots.saturating_sub(1) };
            held.bids.extend(bidding(candidate, score(above), won, 1));
        }
        let last = score(slots.saturating_sub(1));
        held.bids.extend(self.lost(tx, rest, last)?);
        let next = scores.iter().copied().skip(1).chain(std::iter::once(0));
        let won = ranked.into_iter().zip(next).take(slots);
        held.won
            .extend(won.map(|((candidate, creative), next)| Won {
                price: price(&candidate, next),
                campaign: candidate.campaign,
                item: candidate.item,
                creative,
            }));
        Ok(())
    }

    /// What became of those who bid less than all who count: some are looked at, a different few
    /// each time, so that this costs the same however many there are.
    fn lost(
        &self,
        tx: &mut Tx<'_>,
        mut rest: Vec<Candidate>,
        last: i128,
    ) -> Result<Vec<AuctionBid>, Error> {
        rest.retain(sets_its_bid);
        let each = rest.len().div_ceil(LOSERS).max(1);
        let times = i64::try_from(each).unwrap_or(1);
        let mut bids = Vec::new();
        for candidate in rest.iter().skip(self.turn % each).step_by(each) {
            if self.fit(tx, candidate)?.is_some() {
                bids.extend(bidding(candidate, last, false, times));
            }
        }
        Ok(bids)
    }

    /// What a candidate shows to whoever looks; nothing where it may not.
    fn fit(&self, tx: &mut Tx<'_>, candidate: &Candidate) -> Result<Option<Creative>, Error> {
        let (item, viewer) = (&candidate.item, self.ask.viewer.user);
        if is_capped(item, &self.seen, tx.now()) {
            return Ok(None);
        }
        let account = candidate.account.clone();
        let mut desk = Desk::of_operator(tx, base::UserId::new(0), account);
        if !videos::admits(&mut desk, item, self.ask)?
            || !eligible(&mut desk, self.evaluator, item, viewer)?
        {
            return Ok(None);
        }
        creatives::choose(&mut desk, item, viewer, (self.turn, &self.taken))
    }
}

/// Others bid what the platform works out: there is nothing to recommend to them.
fn sets_its_bid(candidate: &Candidate) -> bool {
    candidate.item.text("bid_strategy") == "MAX"
}

fn bidding(of: &Candidate, above: i128, won: bool, times: i64) -> Option<AuctionBid> {
    sets_its_bid(of).then(|| AuctionBid {
        line_item_id: of.item.id,
        price_micro: more_than(of, above),
        won,
        weight: times,
    })
}

/// What it takes to be worth more than another, and one step.
fn more_than(of: &Candidate, other: i128) -> i64 {
    let step = i128::from(of.step.max(1));
    let second = other / of.weight() / step * step + step;
    i64::try_from(second).unwrap_or(i64::MAX)
}

/// What it takes to be worth more than the next; never more than was bid.
fn price(of: &Candidate, next: i128) -> i64 {
    more_than(of, next).min(of.bid).max(1)
}

type Seen = HashMap<i64, Vec<Time>>;

/// What the viewer was shown of what may not be shown too often.
fn seen(tx: &mut Tx<'_>, ask: &Ask, all: &[Candidate]) -> Result<Seen, Error> {
    let capped = all.iter().filter_map(|one| cap(&one.item));
    let Some(days) = capped.map(|(_, days)| days).max() else {
        return Ok(Seen::new());
    };
    let since = tx.now().plus_ms(-days * DAY);
    let mut seen = Seen::new();
    for (item, at) in ledger::list_line_item_impressions(tx, ask.viewer.number, since)? {
        seen.entry(item).or_default().push(at);
    }
    Ok(seen)
}

fn cap(item: &Record) -> Option<(i64, i64)> {
    let days = item.int("duration_in_days").unwrap_or(1);
    Some((item.int("frequency_cap")?, days))
}

/// Whether the viewer was shown a line item as often as it may be.
fn is_capped(item: &Record, seen: &Seen, now: Time) -> bool {
    let Some((most, days)) = cap(item) else {
        return false;
    };
    let since = now.plus_ms(-days * DAY);
    let times = seen
        .get(&item.id)
        .map_or(0, |times| times.iter().filter(|at| **at > since).count());
    i64::try_from(times).unwrap_or(i64::MAX) >= most
}

#[cfg(test)]
mod tests {
    use base::Time;

    use super::{Candidate, price};
    use crate::house::ONE;
    use crate::record::Record;
    use crate::resources::accounts::ACCOUNT;
    use crate::resources::campaigns::CAMPAIGN;
    use crate::resources::line_items::LINE_ITEM;

    #[test]
    fn the_second_price_is_paid_and_never_more_than_the_bid() {
        let now = Time::from_ms(0);
        let of = |bid: i64, rate: i64| Candidate {
            account: Record::new(&ACCOUNT, 1, 1, now),
            campaign: Record::new(&CAMPAIGN, 1, 1, now),
            item: Record::new(&LINE_ITEM, 1, 1, now),
            bid,
            rate,
            step: 10_000,
            market: "USD".to_owned(),
            worth: ONE,
        };
        let (first, second) = (of(500_000, 20_000), of(300_000, 10_000));
        assert!(first.score() > second.score());
        // Worth 150,000 at the first one's rate.
        assert_eq!(price(&first, second.score()), 160_000);
        assert_eq!(price(&second, 0), 10_000);
        assert_eq!(price(&second, second.score()), 300_000);
        // A bid in a currency that is worth a hundredth counts for as much less.
        let yen = Candidate {
            worth: ONE / 100,
            step: 1_000_000,
            ..of(40_000_000, 20_000)
        };
        assert!(yen.score() < first.score() && yen.score() > second.score());
        // Each pays in its own: 400,000 and a step, and of yen fifteen and a step.
        assert_eq!(price(&first, yen.score()), 410_000);
        assert_eq!(price(&yen, second.score()), 16_000_000);
    }
}
