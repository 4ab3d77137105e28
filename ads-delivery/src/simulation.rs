//! Simulated events for developers who need statistics to render: ordinary rows, marked as simulated. The same
//! seed and hour give the same events, recorded once.

use ads::budget::{self, BudgetLimits, BudgetSpent};
use ads::resources::bidding_rules::bid_bounds;
use ads::resources::campaigns::CAMPAIGN;
use ads::resources::funding_instruments::FUNDING_INSTRUMENT;
use ads::resources::line_items::LINE_ITEM;
use ads::resources::media_creatives::MEDIA_CREATIVE;
use ads::resources::promoted_accounts::PROMOTED_ACCOUNT;
use ads::resources::promoted_posts::{self, PROMOTED_POST};
use ads::resources::servability;
use ads_engine::{AccountContext, AccountTimeZone, AdsRecord};
use base::{Error, Fault, Rng, Time, UserId};
use store::Tx;
use store::ledger::{AdEntity, AdEventKind, AdEventOrigin, Placement, ViewerTraits};

use crate::eligibility::is_eligible;
use crate::evaluator::Evaluator;
use crate::ledger::{LedgerEvent, record_events, records_by_ids};
use crate::serving::hash_to_id;

const HOUR: i64 = 3_600_000;
/// Users examined for an audience.
const MAX_SAMPLED_USERS: usize = 2000;
/// Viewers of a line item.
const MAX_VIEWERS: usize = 500;
/// Impressions of a line item per hour.
const MAX_HOURLY_IMPRESSIONS: i64 = 200;

#[derive(Clone, Debug)]
pub struct SimulatedLineItem {
    item: AdsRecord,
    campaign: AdsRecord,
    /// The type and id of each creative, and the id of its post or user.
    creatives: Vec<(AdEntity, i64, i64)>,
    audience: Vec<i64>,
}

/// The line items of an account that can be simulated, each with the users it reaches.
pub fn load_simulated_items(
    tx: &mut Tx<'_>,
    evaluator: &Evaluator,
    account: &AdsRecord,
) -> Result<Vec<SimulatedLineItem>, Error> {
    let rows = store::records::list_by_account(tx, LINE_ITEM.name, account.id)?;
    let items: Result<Vec<AdsRecord>, Fault> = rows.iter().map(|row| AdsRecord::from_stored(&LINE_ITEM, row)).collect();
    let items = items?;
    let ids: Vec<i64> = items.iter().filter_map(|item| item.int("campaign_id")).collect();
    let campaigns = records_by_ids(tx, &CAMPAIGN, &ids)?;
    let users = list_users(tx)?;
    let mut plays = Vec::new();
    for item in items {
        let campaign = campaigns.get(&item.int("campaign_id").unwrap_or(0));
        let Some(campaign) = campaign.filter(|one| is_running(one)) else {
            continue;
        };
        if !is_running(&item) || !servability::is_complete(&item) {
            continue;
        }
        let mut ctx = AccountContext::new_for_operator(tx, UserId::new(0), account.clone());
        let creatives = item_creatives(&mut ctx, &item)?;
        let mut audience = Vec::new();
        for user in &users {
            if audience.len() < MAX_VIEWERS && is_eligible(&mut ctx, evaluator, &item, Some(*user))? {
                audience.push(user.get());
            }
        }
        if !creatives.is_empty() && !audience.is_empty() {
            plays.push(SimulatedLineItem { item, campaign: campaign.clone(), creatives, audience });
        }
    }
    Ok(plays)
}

fn is_running(record: &AdsRecord) -> bool {
    !record.deleted && record.text("entity_status") == "ACTIVE"
}

fn list_users(tx: &mut Tx<'_>) -> Result<Vec<UserId>, Fault> {
    let mut all: Vec<UserId> = Vec::new();
    while all.len() < MAX_SAMPLED_USERS {
        let last = all.last().copied().unwrap_or(UserId::new(0));
        let some = store::users::list(tx, last, 500)?;
        if some.is_empty() {
            break;
        }
        all.extend(some.iter().map(|user| user.id));
    }
    Ok(all)
}

fn item_creatives(ctx: &mut AccountContext<'_, '_>, item: &AdsRecord) -> Result<Vec<(AdEntity, i64, i64)>, Error> {
    let mut found = Vec::new();
    for (kind, of, subject) in [
        (AdEntity::PromotedPost, &PROMOTED_POST, "post_id"),
        (AdEntity::PromotedAccount, &PROMOTED_ACCOUNT, "user_id"),
        (AdEntity::MediaCreative, &MEDIA_CREATIVE, ""),
    ] {
        for record in ctx.list_visible_records(of, "line_item_id", item.id)? {
            let shown = match kind {
                AdEntity::PromotedPost => {
                    let visible = promoted_posts::find_visible_post(ctx.tx, record.int(subject).unwrap_or(0))?;
                    let Some(visible) = visible else {
                        continue;
                    };
                    visible.id.get()
                }
                _ if subject.is_empty() => 0,
                _ => record.int(subject).unwrap_or(0),
            };
            found.push((kind, record.id, shown));
        }
    }
    Ok(found)
}

/// The starts of the hours before a moment, oldest first; the current hour is the last.
pub fn past_hours(now: Time, count: i64) -> Vec<Time> {
    let last = now.ms().div_euclid(HOUR);
    (0..count).rev().map(|back| Time::from_ms((last - back) * HOUR)).collect()
}

/// Simulates an hour; returns the number of new events.
pub fn simulate_hour(
    tx: &mut Tx<'_>,
    account: &AdsRecord,
    plays: &[SimulatedLineItem],
    (hour, seed): (Time, u64),
) -> Result<usize, Fault> {
    let zone = AccountTimeZone::from_name(account.text("timezone"));
    let mut events = Vec::new();
    for one in plays {
        let item = &one.item;
        let has_started = item.time("start_time").is_none_or(|at| at <= hour);
        let over = item.time("end_time").is_some_and(|at| at <= hour);
        if !has_started || over {
            continue;
        }
        let day = zone.day_bounds(hour);
        let budgets = load_item_budgets(tx, one, day)?;
        if budgets.iter().any(|(limits, spent)| limits.are_exhausted(*spent)) {
            continue;
        }
        events.extend(simulate_events(tx, one, &budgets, (hour, seed))?);
    }
    Ok(record_events(tx, &events)?.len())
}

fn load_item_budgets(
    tx: &mut Tx<'_>,
    simulated: &SimulatedLineItem,
    day: (Time, Time),
) -> Result<Vec<(BudgetLimits, BudgetSpent)>, Fault> {
    let funding = simulated.item.int("funding_instrument_id").unwrap_or(0);
    let funding = records_by_ids(tx, &FUNDING_INSTRUMENT, &[funding])?;
    let mut found = Vec::new();
    let own = [(AdEntity::Campaign, &simulated.campaign), (AdEntity::LineItem, &simulated.item)];
    let paying = funding.values().map(|record| (AdEntity::Funding, record));
    for (entity, record) in own.into_iter().chain(paying) {
        let spent = budget::load_spent(tx, entity, &[record.id], day)?;
        let spent = spent.get(&record.id).copied().unwrap_or_default();
        found.push((budget::budget_limits(entity, record), spent));
    }
    Ok(found)
}

/// The price of one paid event, in micros.
fn simulated_price(item: &AdsRecord) -> i64 {
    let bounds = bid_bounds(item.text("currency"));
    let default_bid = bounds.step.saturating_mul(10);
    let bid = item.int("bid_amount_local_micro").unwrap_or(default_bid);
    (bid.saturating_mul(7) / 10 / bounds.step * bounds.step).max(bounds.step)
}

/// Impressions per hour that the daily budget allows.
fn impressions_per_hour(item: &AdsRecord, budgets: &[(BudgetLimits, BudgetSpent)], price: i64) -> i64 {
    let daily = budgets.iter().filter_map(|(limits, _)| limits.daily).min();
    let Some(daily) = daily else {
        return MAX_HOURLY_IMPRESSIONS / 2;
    };
    // One in twenty impressions is paid for; impressions themselves per thousand.
    let rate = match item.text("pay_by") {
        "IMPRESSION" => price / 1000,
        _ => price / 20,
    };
    (daily / 24 / rate.max(1)).clamp(1, MAX_HOURLY_IMPRESSIONS)
}

/// Deterministic random numbers from a seed.
struct SimulationRng(Rng);

impl SimulationRng {
    fn from_parts(parts: &[i64]) -> Self {
        let text: Vec<String> = parts.iter().map(i64::to_string).collect();
        let seed = hash_to_id(text.join(":").as_bytes());
        Self(Rng::from_seed(seed.unsigned_abs()))
    }

    fn number_below(&self, max: i64) -> Result<i64, Fault> {
        let bytes = self.0.random_bytes::<8>()?;
        Ok((i64::from_be_bytes(bytes) & i64::MAX) % max.max(1))
    }

    fn happens_per_thousand(&self, in_thousand: i64) -> Result<bool, Fault> {
        Ok(self.number_below(1000)? < in_thousand)
    }

    fn pick<T: Copy>(&self, all: &[T]) -> Result<Option<T>, Fault> {
        let count = i64::try_from(all.len()).unwrap_or(1);
        let place = usize::try_from(self.number_below(count)?).unwrap_or(0);
        Ok(all.get(place).copied())
    }
}

/// Traits of a viewer, always the same for a viewer.
fn viewer_traits(viewer: i64, seed: i64) -> Result<ViewerTraits, Fault> {
    let dice = SimulationRng::from_parts(&[seed, viewer]);
    Ok(ViewerTraits {
        platform: dice.pick(&[0, 1, 1, 3, 4])?,
        country: dice.pick(&["US", "GB", "PT", "JP"])?.unwrap_or_default().to_owned(),
        metro: String::new(),
        age: dice.pick(&[18, 21, 25, 25, 35, 35, 50, 55])?,
        gender: dice.pick(&[1, 2])?,
    })
}

fn item_placement(item: &AdsRecord) -> Placement {
    let all = item.texts("placements");
    let first = all.first().and_then(|name| Placement::parse(name));
    match first {
        Some(Placement::AllOn) | None => Placement::Timeline,
        Some(other) => other,
    }
}

fn simulate_events(
    tx: &Tx<'_>,
    simulated: &SimulatedLineItem,
    budgets: &[(BudgetLimits, BudgetSpent)],
    (hour, seed): (Time, u64),
) -> Result<Vec<LedgerEvent>, Fault> {
    let seed = i64::try_from(seed & (u64::MAX >> 1)).unwrap_or(0);
    let price = simulated_price(&simulated.item);
    let mut events = Vec::new();
    for place in 0..impressions_per_hour(&simulated.item, budgets, price) {
        let key = [seed, simulated.item.account_id, simulated.item.id, hour.ms(), place];
        let dice = SimulationRng::from_parts(&key);
        let at = hour.plus_ms(dice.number_below(HOUR)?);
        let (Some(viewer), Some(shown)) = (dice.pick(&simulated.audience)?, dice.pick(&simulated.creatives)?) else {
            continue;
        };
        let text: Vec<String> = key.iter().map(i64::to_string).collect();
        let once = -1 - hash_to_id(format!("simulated:{}", text.join(":")).as_bytes());
        let traits = viewer_traits(viewer, seed)?;
        for (kind, later) in simulate_outcomes(&dice, shown.0)? {
            let at = at.plus_ms(later);
            // Simulated events are never in the future.
            if at <= tx.now() {
                events.push(LedgerEvent {
                    kind,
                    at,
                    line_item_id: simulated.item.id,
                    creative: shown.0,
                    creative_id: shown.1,
                    subject: shown.2,
                    viewer,
                    placement: item_placement(&simulated.item),
                    viewer_traits: traits.clone(),
                    price,
                    origin: AdEventOrigin::Simulated,
                    id: tx.next_id::<()>().get(),
                    impression_id: once,
                });
            }
        }
    }
    Ok(events)
}

/// Engagements that follow an impression, each with its delay in milliseconds.
fn simulate_outcomes(rng: &SimulationRng, creative: AdEntity) -> Result<Vec<(AdEventKind, i64)>, Fault> {
    let mut all = vec![(AdEventKind::Impression, 0)];
    let mut may = |kind: AdEventKind, in_thousand: i64, later: i64| -> Result<bool, Fault> {
        let happens = rng.happens_per_thousand(in_thousand)?;
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
