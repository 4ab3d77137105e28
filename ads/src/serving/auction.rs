//! Who is shown, and at what price: the second price, and one step more.

use std::collections::HashMap;

use base::{Stop, Time};
use store::Tx;
use store::ledger;

use super::candidates::{self, Candidate};
use super::creatives::{self, Creative};
use super::{Ask, broken, videos};
use crate::desk::Desk;
use crate::eligible::eligible;
use crate::evaluator::Evaluator;
use crate::record::Record;

/// A line item that is shown.
#[derive(Clone, Debug)]
pub(super) struct Won {
    pub(super) campaign: Record,
    pub(super) item: Record,
    pub(super) creative: Creative,
    pub(super) price: i64,
}

const DAY: i64 = 86_400_000;

/// Finds who is shown in each slot.
pub(super) fn hold(tx: &mut Tx<'_>, evaluator: &Evaluator, ask: &Ask) -> Result<Vec<Won>, Stop> {
    let all = candidates::find(tx, ask.placement)?;
    let seen = seen(tx, ask, &all)?;
    let slots = usize::try_from(ask.slots).map_err(|_| broken("slots below nothing"))?;
    // One more than there are slots: whoever comes after the last makes its price.
    let mut ranked: Vec<(Candidate, Creative)> = Vec::new();
    let mut taken = Vec::new();
    for candidate in all {
        if ranked.len() > slots {
            break;
        }
        if is_capped(&candidate.item, &seen, tx.now()) {
            continue;
        }
        let mut desk = Desk::of_operator(tx, base::UserId::new(0), candidate.account.clone());
        let item = &candidate.item;
        if !videos::admits(&mut desk, item, ask)?
            || !eligible(&mut desk, evaluator, item, ask.viewer.user)?
        {
            continue;
        }
        let turn = desk.tx.next_id::<()>().get();
        let viewer = ask.viewer.user;
        let Some(creative) = creatives::choose(&mut desk, item, viewer, (turn, &taken))? else {
            continue;
        };
        taken.push((creative.kind, creative.subject));
        ranked.push((candidate, creative));
    }
    let scores: Vec<i64> = ranked.iter().map(|(one, _)| one.score()).collect();
    let next = scores.into_iter().skip(1).chain(std::iter::once(0));
    let won = ranked.into_iter().zip(next).take(slots);
    Ok(won
        .map(|((candidate, creative), next)| Won {
            price: price(&candidate, next),
            campaign: candidate.campaign,
            item: candidate.item,
            creative,
        })
        .collect())
}

/// What it takes to be worth more than the next, and one step; never more than was bid.
fn price(of: &Candidate, next: i64) -> i64 {
    let second = next / of.rate.max(1) / of.step * of.step;
    second.saturating_add(of.step).min(of.bid).max(1)
}

type Seen = HashMap<i64, Vec<Time>>;

/// What the viewer was shown of what may not be shown too often.
fn seen(tx: &mut Tx<'_>, ask: &Ask, all: &[Candidate]) -> Result<Seen, Stop> {
    let capped = all.iter().filter_map(|one| cap(&one.item));
    let Some(days) = capped.map(|(_, days)| days).max() else {
        return Ok(Seen::new());
    };
    let since = tx.now().plus_ms(-days * DAY);
    let mut seen = Seen::new();
    for (item, at) in ledger::impressions_of(tx, ask.viewer.number, since)? {
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
        };
        let (first, second) = (of(500_000, 20_000), of(300_000, 10_000));
        assert!(first.score() > second.score());
        // Worth 150,000 at the first one's rate.
        assert_eq!(price(&first, second.score()), 160_000);
        assert_eq!(price(&second, 0), 10_000);
        assert_eq!(price(&second, second.score()), 300_000);
    }
}
