//! Events that are made up, for developers who need figures to draw: rows like all others, marked as
//! simulated. The same seed at the same time makes the same events, and makes them once.

use base::{Error, Fault, Rng, Time, UserId};
use store::Tx;
use store::ledger::{AdEntity, AdEventKind, AdEventOrigin, Placement, ViewerTraits};

use crate::desk::Desk;
use crate::eligible::eligible;
use crate::evaluator::Evaluator;
use crate::ledger::purse::{self, Limits, Spent};
use crate::ledger::{Event, all, record};
use crate::record::Record;
use crate::resources::bidding::bounds;
use crate::resources::campaigns::CAMPAIGN;
use crate::resources::funding_instruments::FUNDING_INSTRUMENT;
use crate::resources::line_items::LINE_ITEM;
use crate::resources::media_creatives::MEDIA_CREATIVE;
use crate::resources::promoted_accounts::PROMOTED_ACCOUNT;
use crate::resources::promoted_posts::{self, PROMOTED_POST};
use crate::resources::servability;
use crate::serving::hashed;
use crate::zone::Zone;

const HOUR: i64 = 3_600_000;
/// Users that are looked at for an audience.
const LOOKS: usize = 2000;
/// Viewers of a line item.
const AUDIENCE: usize = 500;
/// Impressions of a line item in an hour, at most.
const MOST: i64 = 200;

/// What is simulated of a line item.
#[derive(Clone, Debug)]
pub struct Play {
    item: Record,
    campaign: Record,
    /// What is shown: what kind, which, and the post or user that it shows.
    creatives: Vec<(AdEntity, i64, i64)>,
    audience: Vec<i64>,
}

/// The line items of an account that something can be made up for, each with whom it reaches.
pub fn plays(tx: &mut Tx<'_>, evaluator: &Evaluator, account: &Record) -> Result<Vec<Play>, Error> {
    let rows = store::records::list_by_account(tx, LINE_ITEM.name, account.id)?;
    let items: Result<Vec<Record>, Fault> = rows
        .iter()
        .map(|row| Record::stored(&LINE_ITEM, row))
        .collect();
    let items = items?;
    let ids: Vec<i64> = items
        .iter()
        .filter_map(|item| item.int("campaign_id"))
        .collect();
    let campaigns = all(tx, &CAMPAIGN, &ids)?;
    let users = users(tx)?;
    let mut plays = Vec::new();
    for item in items {
        let campaign = campaigns.get(&item.int("campaign_id").unwrap_or(0));
        let Some(campaign) = campaign.filter(|one| runs(one)) else {
            continue;
        };
        if !runs(&item) || !servability::is_complete(&item) {
            continue;
        }
        let mut desk = Desk::of_operator(tx, UserId::new(0), account.clone());
        let creatives = creatives(&mut desk, &item)?;
        let mut audience = Vec::new();
        for user in &users {
            if audience.len() < AUDIENCE && eligible(&mut desk, evaluator, &item, Some(*user))? {
                audience.push(user.get());
            }
        }
        if !creatives.is_empty() && !audience.is_empty() {
            plays.push(Play {
                item,
                campaign: campaign.clone(),
                creatives,
                audience,
            });
        }
    }
    Ok(plays)
}

fn runs(record: &Record) -> bool {
    !record.deleted && record.text("entity_status") == "ACTIVE"
}

fn users(tx: &mut Tx<'_>) -> Result<Vec<UserId>, Fault> {
    let mut all: Vec<UserId> = Vec::new();
    while all.len() < LOOKS {
        let last = all.last().copied().unwrap_or(UserId::new(0));
        let some = store::users::list(tx, last, 500)?;
        if some.is_empty() {
            break;
        }
        all.extend(some.iter().map(|user| user.id));
    }
    Ok(all)
}

fn creatives(desk: &mut Desk<'_, '_>, item: &Record) -> Result<Vec<(AdEntity, i64, i64)>, Error> {
    let mut found = Vec::new();
    for (kind, of, subject) in [
        (AdEntity::PromotedPost, &PROMOTED_POST, "post_id"),
        (AdEntity::PromotedAccount, &PROMOTED_ACCOUNT, "user_id"),
        (AdEntity::MediaCreative, &MEDIA_CREATIVE, ""),
    ] {
        for record in desk.shown(of, "line_item_id", item.id)? {
            let shown = match kind {
                AdEntity::PromotedPost => {
                    let seen = promoted_posts::seen(desk.tx, record.int(subject).unwrap_or(0))?;
                    let Some(seen) = seen else {
                        continue;
                    };
                    seen.id.get()
                }
                _ if subject.is_empty() => 0,
                _ => record.int(subject).unwrap_or(0),
            };
            found.push((kind, record.id, shown));
        }
    }
    Ok(found)
}

/// The beginnings of the hours before a moment, oldest first; the hour that it is in is the last.
pub fn hours(now: Time, count: i64) -> Vec<Time> {
    let last = now.ms().div_euclid(HOUR);
    (0..count)
        .rev()
        .map(|back| Time::from_ms((last - back) * HOUR))
        .collect()
}

/// Makes an hour up; how many events are new.
pub fn play(
    tx: &mut Tx<'_>,
    account: &Record,
    plays: &[Play],
    (hour, seed): (Time, u64),
) -> Result<usize, Fault> {
    let zone = Zone::named(account.text("timezone"));
    let mut events = Vec::new();
    for one in plays {
        let item = &one.item;
        let begun = item.time("start_time").is_none_or(|at| at <= hour);
        let over = item.time("end_time").is_some_and(|at| at <= hour);
        if !begun || over {
            continue;
        }
        let day = zone.day(hour);
        let purses = purses(tx, one, day)?;
        if purses
            .iter()
            .any(|(limits, spent)| limits.are_reached(*spent))
        {
            continue;
        }
        events.extend(made_up(tx, one, &purses, (hour, seed))?);
    }
    Ok(record(tx, &events)?.len())
}

fn purses(tx: &mut Tx<'_>, of: &Play, day: (Time, Time)) -> Result<Vec<(Limits, Spent)>, Fault> {
    let funding = of.item.int("funding_instrument_id").unwrap_or(0);
    let funding = all(tx, &FUNDING_INSTRUMENT, &[funding])?;
    let mut found = Vec::new();
    let own = [
        (AdEntity::Campaign, &of.campaign),
        (AdEntity::LineItem, &of.item),
    ];
    let paying = funding.values().map(|record| (AdEntity::Funding, record));
    for (entity, record) in own.into_iter().chain(paying) {
        let spent = purse::spent(tx, entity, &[record.id], day)?;
        let spent = spent.get(&record.id).copied().unwrap_or_default();
        found.push((purse::limits(entity, record), spent));
    }
    Ok(found)
}

/// What a line item pays for each of what it pays for.
fn price(item: &Record) -> i64 {
    let bounds = bounds(item.text("currency"));
    let usual = bounds.step.saturating_mul(10);
    let bid = item.int("bid_amount_local_micro").unwrap_or(usual);
    (bid.saturating_mul(7) / 10 / bounds.step * bounds.step).max(bounds.step)
}

/// How many impressions an hour has: as many as the day's budget allows for.
fn impressions(item: &Record, purses: &[(Limits, Spent)], price: i64) -> i64 {
    let daily = purses.iter().filter_map(|(limits, _)| limits.daily).min();
    let Some(daily) = daily else {
        return MOST / 2;
    };
    // Of what is shown, one in twenty is paid for; of impressions, each a thousandth.
    let each = match item.text("pay_by") {
        "IMPRESSION" => price / 1000,
        _ => price / 20,
    };
    (daily / 24 / each.max(1)).clamp(1, MOST)
}

/// Numbers that follow from a seed.
struct Dice(Rng);

impl Dice {
    fn of(parts: &[i64]) -> Self {
        let text: Vec<String> = parts.iter().map(i64::to_string).collect();
        let seed = hashed(text.join(":").as_bytes());
        Self(Rng::from_seed(seed.unsigned_abs()))
    }

    /// A number below another.
    fn below(&self, most: i64) -> Result<i64, Fault> {
        let bytes = self.0.random_bytes::<8>()?;
        Ok((i64::from_be_bytes(bytes) & i64::MAX) % most.max(1))
    }

    /// Whether something happens that happens so often in a thousand times.
    fn happens(&self, in_thousand: i64) -> Result<bool, Fault> {
        Ok(self.below(1000)? < in_thousand)
    }

    fn one_of<T: Copy>(&self, all: &[T]) -> Result<Option<T>, Fault> {
        let count = i64::try_from(all.len()).unwrap_or(1);
        let place = usize::try_from(self.below(count)?).unwrap_or(0);
        Ok(all.get(place).copied())
    }
}

/// What is known of a viewer: the same at every time.
fn looks(viewer: i64, seed: i64) -> Result<ViewerTraits, Fault> {
    let dice = Dice::of(&[seed, viewer]);
    Ok(ViewerTraits {
        platform: dice.one_of(&[0, 1, 1, 3, 4])?,
        country: dice
            .one_of(&["US", "GB", "PT", "JP"])?
            .unwrap_or_default()
            .to_owned(),
        metro: String::new(),
        age: dice.one_of(&[18, 21, 25, 25, 35, 35, 50, 55])?,
        gender: dice.one_of(&[1, 2])?,
    })
}

fn placement(item: &Record) -> Placement {
    let all = item.texts("placements");
    let first = all.first().and_then(|name| Placement::parse(name));
    match first {
        Some(Placement::AllOn) | None => Placement::Timeline,
        Some(other) => other,
    }
}

fn made_up(
    tx: &Tx<'_>,
    of: &Play,
    purses: &[(Limits, Spent)],
    (hour, seed): (Time, u64),
) -> Result<Vec<Event>, Fault> {
    let seed = i64::try_from(seed & (u64::MAX >> 1)).unwrap_or(0);
    let price = price(&of.item);
    let mut events = Vec::new();
    for place in 0..impressions(&of.item, purses, price) {
        let key = [seed, of.item.account_id, of.item.id, hour.ms(), place];
        let dice = Dice::of(&key);
        let at = hour.plus_ms(dice.below(HOUR)?);
        let (Some(viewer), Some(shown)) = (dice.one_of(&of.audience)?, dice.one_of(&of.creatives)?)
        else {
            continue;
        };
        let text: Vec<String> = key.iter().map(i64::to_string).collect();
        let once = -1 - hashed(format!("simulated:{}", text.join(":")).as_bytes());
        let looks = looks(viewer, seed)?;
        for (kind, later) in happenings(&dice, shown.0)? {
            let at = at.plus_ms(later);
            // Nothing has happened that is yet to come.
            if at <= tx.now() {
                events.push(Event {
                    kind,
                    at,
                    line_item_id: of.item.id,
                    creative: shown.0,
                    creative_id: shown.1,
                    subject: shown.2,
                    viewer,
                    placement: placement(&of.item),
                    looks: looks.clone(),
                    price,
                    origin: AdEventOrigin::Simulated,
                    id: tx.next_id::<()>().get(),
                    once,
                });
            }
        }
    }
    Ok(events)
}

/// What comes of an impression, and how much later.
fn happenings(dice: &Dice, creative: AdEntity) -> Result<Vec<(AdEventKind, i64)>, Fault> {
    let mut all = vec![(AdEventKind::Impression, 0)];
    let mut may = |kind: AdEventKind, in_thousand: i64, later: i64| -> Result<bool, Fault> {
        let happens = dice.happens(in_thousand)?;
        if happens {
            all.push((kind, later));
        }
        Ok(happens)
    };
    may(AdEventKind::Qualified, 650, 1000)?;
    match creative {
        AdEntity::PromotedAccount => {
            may(AdEventKind::Click, 20, 3000)?;
            may(AdEventKind::Follow, 12, 5000)?;
        }
        AdEntity::MediaCreative => {
            if may(AdEventKind::VideoStart, 900, 100)? && may(AdEventKind::VideoView, 600, 3000)? {
                may(AdEventKind::Video25, 800, 4000)?;
                may(AdEventKind::Video50, 600, 8000)?;
                may(AdEventKind::Video100, 300, 15_000)?;
            }
            may(AdEventKind::UrlClick, 8, 9000)?;
        }
        _ => {
            may(AdEventKind::Click, 12, 2000)?;
            may(AdEventKind::UrlClick, 10, 3000)?;
            may(AdEventKind::Like, 14, 4000)?;
            may(AdEventKind::Repost, 4, 5000)?;
            may(AdEventKind::Reply, 2, 30_000)?;
        }
    }
    Ok(all)
}
