//! Simulated events for developers who need statistics to draw: what an audience that nobody stores would see and do
//! (docs/decisions/0045). Who sees what is decided as in serving, by the same evaluator and auction; a row of the
//! ledger stands for many people.
//!
//! Time passes in steps; what happens in a step depends on the seed, and on what was spent before.

mod audience;
mod conversions;
mod dice;
mod outcomes;
mod simulated_day;

use std::collections::HashMap;
use std::sync::Arc;

use ads::budget::budget_limits;
use ads::resources::cards::CARD;
use ads::resources::funding_instruments::FUNDING_INSTRUMENT;
use ads::resources::line_items::LINE_ITEM;
use ads::resources::poll_cards::POLL_CARD;
use ads::resources::promoted_posts;
use ads::resources::servability;
use ads_engine::{AccountContext, AccountTimeZone, AdsConfig, AdsRecord};
use base::time::DAY_MS;
use base::{Error, Fault, Time, UserId, sorted_distinct};
use parking_lot::Mutex;
use store::ledger::{self, AdEntity, AdEventKind, Placement, SimulatedPeriod};
use store::{Tx, records};

use crate::eligibility::{AdvertiserFilter, filter_targeted};
use crate::evaluator::{Evaluator, TargetedAudience};
use crate::ledger::{LedgerState, ViewerProfiles, records_by_ids};
use crate::serving::{AdCreative, DeliveryState, creative_from_record, list_creatives, matches_placement};
use audience::ViewerGroup;
use conversions::SimulatedTag;
use dice::Dice;
use outcomes::CreativeFacts;
use simulated_day::SimulatedDay;

/// At most one group of viewers looks in a step.
pub const STEP_MS: i64 = 600_000;
/// How often viewers look at a placement, relative to the others.
const PLACEMENT_SHARES: [(Placement, i64); 12] = [
    (Placement::Timeline, 500),
    (Placement::Search, 120),
    (Placement::Profile, 60),
    (Placement::Replies, 90),
    (Placement::Publishers, 120),
    (Placement::Banner, 50),
    (Placement::Full, 40),
    (Placement::FullLandscape, 20),
    (Placement::Native, 60),
    (Placement::Rectangle, 40),
    (Placement::Spotlight, 60),
    (Placement::Trend, 60),
];

#[derive(Clone, Copy, Debug)]
pub struct SimulationOptions {
    pub seed: u64,
    /// The number of people in the audience.
    pub viewers: i64,
}

/// A creative and what it offers.
type SimulatedCreative = (AdEntity, AdsRecord, CreativeFacts);

struct SimulatedItem {
    record: AdsRecord,
    creatives: Vec<SimulatedCreative>,
    /// Whether each group of viewers is reached, in the order of the groups.
    reached: Vec<bool>,
    /// The number of people in these groups.
    people: i64,
}

type VisibleCreatives = Arc<Vec<AdCreative>>;

/// An account's line items that can be shown, and the audience.
pub struct Simulation {
    account: AdsRecord,
    zone: AccountTimeZone,
    config: AdsConfig,
    seed: i64,
    items: HashMap<i64, SimulatedItem>,
    groups: Vec<ViewerGroup>,
    placements: Vec<(Placement, i64)>,
    tags: Vec<SimulatedTag>,
    /// By line item and user; 0 for those who are not signed in.
    visible_creatives: Mutex<HashMap<(i64, i64), VisibleCreatives>>,
}

impl std::fmt::Debug for Simulation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Simulation").field("account", &self.account.id).finish_non_exhaustive()
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SimulatedCounts {
    /// Ledger rows.
    pub rows: i64,
    pub impressions: i64,
}

impl SimulatedCounts {
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self { rows: self.rows + other.rows, impressions: self.impressions + other.impressions }
    }
}

/// The end of the last complete step.
pub fn last_step_end(now: Time) -> Time {
    Time::from_ms(now.ms().div_euclid(STEP_MS) * STEP_MS)
}

impl Simulation {
    pub fn load(
        tx: &mut Tx<'_>,
        (evaluator, config): (&Evaluator, &AdsConfig),
        account: &AdsRecord,
        options: SimulationOptions,
    ) -> Result<Self, Error> {
        let seed = i64::try_from(options.seed & (u64::MAX >> 1)).unwrap_or(0);
        let groups = audience::load_groups(tx, account, seed, options.viewers)?;
        let mut ctx = AccountContext::new_for_operator(tx, UserId::new(0), account.clone());
        let rows = records::list_by_account(ctx.tx, LINE_ITEM.name, account.id)?;
        let mut records = AdsRecord::from_rows(&LINE_ITEM, rows)?;
        records.retain(|record| {
            !record.deleted && record.text("entity_status") == "ACTIVE" && servability::is_complete(record)
        });
        let mut viewers = Vec::new();
        for viewer in sorted_distinct(groups.iter().map(|group| group.user)) {
            viewers.push((viewer, AdvertiserFilter::load(ctx.tx, viewer, records.iter())?));
        }
        evaluator.refresh(ctx.tx)?;
        let mut items = HashMap::new();
        for record in records {
            items.insert(record.id, SimulatedItem::load(&mut ctx, evaluator, record, (&groups, &viewers))?);
        }
        let tags = conversions::load_tags(ctx.tx, account.id)?;
        let is_used = |placement: Placement| items.values().any(|item| matches_placement(&item.record, placement));
        Ok(Self {
            placements: PLACEMENT_SHARES.into_iter().filter(|(placement, _)| is_used(*placement)).collect(),
            account: account.clone(),
            zone: AccountTimeZone::from_name(account.text("timezone")),
            config: config.clone(),
            seed,
            items,
            groups,
            tags,
            visible_creatives: Mutex::default(),
        })
    }

    pub fn line_item_count(&self) -> usize {
        self.items.len()
    }

    /// A span of time in parts that begin and end with the account's days.
    pub fn split_by_day(&self, (from, until): (Time, Time)) -> Vec<(Time, Time)> {
        let mut all = Vec::new();
        let mut begin = from;
        while begin < until {
            let end = self.zone.day_bounds(begin).1.min(until);
            all.push((begin, end));
            begin = end;
        }
        all
    }

    /// Simulates the steps that begin in a part of one of the account's days, except those that were simulated with the
    /// seed before.
    pub fn simulate(&self, tx: &mut Tx<'_>, (from, until): (Time, Time)) -> Result<SimulatedCounts, Error> {
        let day = self.zone.day_bounds(from);
        let mut ids: Vec<i64> = self.items.keys().copied().collect();
        ids.sort_unstable();
        let books = LedgerState::lock_and_load(tx, &ids, ViewerProfiles::default())?;
        let records = ids.iter().filter_map(|id| self.items.get(id)).map(|item| item.record.clone()).collect();
        let mut simulated: HashMap<i64, Vec<(Time, Time)>> = HashMap::new();
        for period in ledger::list_simulated_periods(tx, self.account.id, self.seed)? {
            simulated.entry(period.line_item_id).or_default().push((period.from, period.until));
        }
        let item_noise: Result<_, Fault> = ids.iter().map(|id| Ok((*id, self.day_noise(*id, 130, day.0)?))).collect();
        let mut run = SimulatedDay {
            simulation: self,
            day,
            noise: self.day_noise(self.account.id, 90, day.0)?,
            item_noise: item_noise?,
            funds: self.load_funds(tx)?,
            delivery: DeliveryState::load(
                tx,
                HashMap::from([(self.account.id, self.account.clone())]),
                records,
                day.0,
            )?,
            books,
            simulated,
            histories: HashMap::new(),
            facts: Vec::new(),
            conversions: HashMap::new(),
        };
        let first = from.ms().div_euclid(STEP_MS) * STEP_MS;
        let mut step = Time::from_ms(if first < from.ms() { first + STEP_MS } else { first });
        while step < until {
            run.simulate_step(tx, step)?;
            step = step.plus_ms(STEP_MS);
        }
        let SimulatedDay { books, facts, conversions, simulated, .. } = run;
        let added = books.insert_facts(tx, &facts)?;
        let new = facts.iter().filter(|fact| added.contains(&fact.id));
        let converted: Vec<_> = new.filter_map(|fact| Some((fact, *conversions.get(&fact.id)?))).collect();
        ledger::insert_conversions(tx, &converted)?;
        for id in &ids {
            let known = simulated.get(id).map_or(&[][..], Vec::as_slice);
            self.record_periods(tx, *id, (from, until), known)?;
        }
        let impressions = facts.iter().filter(|fact| fact.kind == AdEventKind::Impression);
        Ok(SimulatedCounts {
            impressions: impressions.map(|fact| fact.weight).sum(),
            rows: i64::try_from(facts.len()).unwrap_or(i64::MAX),
        })
    }

    /// Only while the line item runs, so that what is added to its flight is simulated later.
    fn record_periods(
        &self,
        tx: &mut Tx<'_>,
        id: i64,
        (from, until): (Time, Time),
        known: &[(Time, Time)],
    ) -> Result<(), Fault> {
        let Some(item) = self.items.get(&id).map(|item| &item.record) else {
            return Ok(());
        };
        let from = item.time("start_time").map_or(from, |start| start.max(from));
        let until = item.time("end_time").map_or(until, |end| end.min(until));
        for (from, until) in remaining_periods((from, until), known) {
            let (account_id, seed) = (self.account.id, self.seed);
            let period = SimulatedPeriod { account_id, line_item_id: id, seed, from, until };
            ledger::record_simulated_period(tx, &period)?;
        }
        Ok(())
    }

    /// What is left to pay with by funding instrument, in micros; unlimited if it is not there.
    fn load_funds(&self, tx: &mut Tx<'_>) -> Result<HashMap<i64, i64>, Fault> {
        let ids = sorted_distinct(self.items.values().filter_map(|item| item.record.int("funding_instrument_id")));
        let spent: HashMap<i64, i64> = ledger::total_spend(tx, AdEntity::Funding, &ids)?.into_iter().collect();
        let instruments = records_by_ids(tx, &FUNDING_INSTRUMENT, &ids)?;
        let left = instruments.iter().filter_map(|(id, record)| {
            let limit = budget_limits(AdEntity::Funding, record).total?;
            Some((*id, limit.saturating_sub(spent.get(id).copied().unwrap_or(0))))
        });
        Ok(left.collect())
    }

    /// A factor in thousandths for a day, which resembles that of the day before.
    fn day_noise(&self, id: i64, deviation: i64, day: Time) -> Result<i64, Fault> {
        let number = day.ms().div_euclid(DAY_MS);
        let draw = |number: i64| Dice::from_parts(&[self.seed, id, number]).factor(deviation);
        Ok((draw(number)? * 3 + draw(number - 1)? * 2) / 5)
    }

    fn list_visible_creatives(
        &self,
        tx: &mut Tx<'_>,
        item: &SimulatedItem,
        viewer: Option<UserId>,
    ) -> Result<VisibleCreatives, Error> {
        let key = (item.record.id, viewer.map_or(0, UserId::get));
        if let Some(known) = self.visible_creatives.lock().get(&key) {
            return Ok(Arc::clone(known));
        }
        let mut ctx = AccountContext::new_for_operator(tx, UserId::new(0), self.account.clone());
        let mut found = Vec::new();
        for (kind, record, _) in &item.creatives {
            found.extend(creative_from_record(&mut ctx, &item.record, (*kind, record), viewer)?);
        }
        let found = Arc::new(found);
        self.visible_creatives.lock().insert(key, Arc::clone(&found));
        Ok(found)
    }
}

impl SimulatedItem {
    fn load(
        ctx: &mut AccountContext<'_, '_>,
        evaluator: &Evaluator,
        record: AdsRecord,
        (groups, viewers): (&[ViewerGroup], &[(Option<UserId>, AdvertiserFilter)]),
    ) -> Result<Self, Error> {
        let audience = TargetedAudience::from_line_item(ctx, record.id)?;
        let admitted = viewers.iter().filter(|(_, advertisers)| advertisers.admits(&record));
        let admitted = admitted.map(|(viewer, _)| *viewer).collect();
        let eligible = filter_targeted(ctx.tx, evaluator, &audience, admitted)?;
        let is_reached = |group: &ViewerGroup| {
            eligible.binary_search(&group.user).is_ok() && audience::fit_criteria(&audience, &group.traits)
        };
        let reached: Vec<bool> = groups.iter().map(is_reached).collect();
        let people = groups.iter().zip(&reached).filter(|(_, reached)| **reached).map(|(group, _)| group.people);
        let people = people.sum();
        Ok(Self { creatives: load_creatives(ctx, &record)?, record, reached, people })
    }
}

fn load_creatives(ctx: &mut AccountContext<'_, '_>, item: &AdsRecord) -> Result<Vec<SimulatedCreative>, Error> {
    let mut all = Vec::new();
    for (kind, record) in list_creatives(ctx, item)? {
        let mut facts = CreativeFacts::default();
        if kind == AdEntity::PromotedPost
            && let Some(post) = promoted_posts::find_visible_post(ctx.tx, record.int("post_id").unwrap_or(0))?
        {
            let card = post.card_uri.strip_prefix("card://").and_then(|id| id.parse().ok()).unwrap_or(0);
            let is_poll = card != 0 && records::find_by_id(ctx.tx, POLL_CARD.name, card)?.is_some();
            let body = records::find_by_id(ctx.tx, CARD.name, card)?.map(|row| row.body).unwrap_or_default();
            facts = CreativeFacts {
                has_video: post
                    .media_keys
                    .split(',')
                    .any(|key| ["7_", "13_", "16_"].iter().any(|kind| key.starts_with(kind))),
                has_card: !post.card_uri.is_empty() && !is_poll,
                has_carousel: body.contains("SWIPEABLE_MEDIA"),
                has_poll: is_poll || post.poll_id.is_some(),
            };
        }
        all.push((kind, record, facts));
    }
    Ok(all)
}

/// The parts of a period outside of others, in order.
fn remaining_periods((from, until): (Time, Time), known: &[(Time, Time)]) -> Vec<(Time, Time)> {
    let mut known = known.to_vec();
    known.sort_unstable();
    let (mut all, mut begin) = (Vec::new(), from);
    for (start, end) in known {
        if start >= until {
            break;
        }
        if start > begin {
            all.push((begin, start));
        }
        begin = begin.max(end);
    }
    if begin < until {
        all.push((begin, until));
    }
    all
}

#[cfg(test)]
mod tests {
    use base::Time;

    use super::remaining_periods;

    #[test]
    fn simulated_periods_are_left_out() {
        let at = Time::from_ms;
        let whole = (at(10), at(50));
        assert_eq!(remaining_periods(whole, &[]), [whole]);
        let known = [(at(40), at(60)), (at(0), at(15)), (at(20), at(30)), (at(25), at(35))];
        assert_eq!(remaining_periods(whole, &known), [(at(15), at(20)), (at(35), at(40))]);
        assert_eq!(remaining_periods(whole, &[(at(0), at(60))]), []);
    }
}
