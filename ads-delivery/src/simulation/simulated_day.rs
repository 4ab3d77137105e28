//! One of an account's days while it is simulated: the auctions of each step, and what people do with the ads that won.

use std::collections::HashMap;

use ads_engine::AdsRecord;
use base::{Error, Fault, Time};
use store::Tx;
use store::ledger::{AdConversion, AdEntity, AdEvent, AdEventKind, AdEventOrigin, Metric, Placement};

use super::audience::{self, ViewerGroup};
use super::conversions::{self, SimulatedConversion};
use super::dice::{Dice, MILLION};
use super::outcomes::SimulatedImpression;
use super::{DAY_MS, STEP_MS, SimulatedItem, Simulation};
use crate::ledger::{LedgerEvent, LedgerState};
use crate::serving::{
    AdCreative, AuctionCandidate, AuctionTerms, Competition, CreativeChooser, DeliveryState, FrequencyHistory,
    hash_to_id, is_capped, load_frequency_history, matches_placement, run_market_auctions,
};

/// What follows an impression happens within the same step.
const LATEST_IN_STEP_MS: i64 = STEP_MS - 60_000;
/// After the impression.
const CONVERSION_DELAY_MS: i64 = 50_000;
/// Clicks that lead to a site or app.
const LEADING_CLICKS: [AdEventKind; 4] =
    [AdEventKind::UrlClick, AdEventKind::CardClick, AdEventKind::AppClick, AdEventKind::VideoCta];
const MAX_SLOTS: usize = 20;
/// What others typically bid for an impression: millionths of the currency's smallest step, and thousandths of the own
/// bid on top.
const LEAST_COMPETING_BID: i64 = 15_000;
const COMPETING_SHARE: i64 = 250;

pub(super) struct SimulatedDay<'s> {
    pub(super) simulation: &'s Simulation,
    pub(super) day: (Time, Time),
    /// Thousandths.
    pub(super) noise: i64,
    pub(super) item_noise: HashMap<i64, i64>,
    pub(super) funds: HashMap<i64, i64>,
    pub(super) delivery: DeliveryState,
    pub(super) books: LedgerState,
    /// Periods simulated before, by line item.
    pub(super) simulated: HashMap<i64, Vec<(Time, Time)>>,
    pub(super) histories: HashMap<i64, FrequencyHistory>,
    pub(super) facts: Vec<AdEvent>,
    /// What the conversions among the facts are, by id.
    pub(super) conversions: HashMap<i64, AdConversion>,
}

impl SimulatedDay<'_> {
    pub(super) fn simulate_step(&mut self, tx: &mut Tx<'_>, step: Time) -> Result<(), Error> {
        let simulation = self.simulation;
        let dice = Dice::from_parts(&[simulation.seed, simulation.account.id, step.ms()]);
        let group_index = dice.index_below(simulation.groups.len())?;
        let at = step.plus_ms(dice.below(LATEST_IN_STEP_MS)?);
        let Some(group) = simulation.groups.get(group_index) else {
            return Ok(());
        };
        if dice.below(1000)? >= audience::presence(group, at) * self.noise / 1000 {
            return Ok(());
        }
        let Some(placement) = self.draw_placement(&dice)? else {
            return Ok(());
        };
        let is_wanted = |item: &AdsRecord| {
            let known = self.simulated.get(&item.id).map_or(&[][..], Vec::as_slice);
            matches_placement(item, placement) && !known.iter().any(|(from, until)| (*from..*until).contains(&step))
        };
        let mut candidates = self.delivery.candidates(&simulation.config, is_wanted, at);
        candidates.retain(|candidate| candidate.is_shown_to(group.ledger_id));
        candidates.sort_by_key(|one| (std::cmp::Reverse(one.score()), one.item.id));
        let competition = self.draw_competition(&dice, at)?;
        let rotation = dice.index_below(usize::MAX)?;
        let mut chooser = GroupChooser { day: self, group, group_index, at, rotation };
        let terms = AuctionTerms { slots: MAX_SLOTS, rotation, competition };
        for won in run_market_auctions(tx, &mut chooser, candidates, terms)?.winners {
            self.show(tx, (group, placement, at), (&won.candidate, &won.creative, won.price))?;
        }
        Ok(())
    }

    fn draw_placement(&self, dice: &Dice) -> Result<Option<Placement>, Fault> {
        let all = &self.simulation.placements;
        let mut share = dice.below(all.iter().map(|(_, share)| share).sum())?;
        let drawn = all.iter().find(|(_, own)| {
            share -= own;
            share < 0
        });
        Ok(drawn.map(|(placement, _)| *placement))
    }

    /// More by day and on weekdays in the account's time zone.
    fn draw_competition(&self, dice: &Dice, at: Time) -> Result<Competition, Fault> {
        /// Of a log-normal distribution, in thousandths.
        const QUANTILES: [i64; 16] =
            [225, 348, 446, 538, 629, 725, 827, 939, 1064, 1209, 1379, 1589, 1860, 2243, 2870, 4440];
        let (hour, weekday) = audience::local_hour(&self.simulation.zone, at);
        let hourly = if (9..22).contains(&hour) { 1100 } else { 850 };
        let demand = audience::weekday_factor(weekday) * hourly / 1000;
        let quantile = QUANTILES.get(dice.index_below(QUANTILES.len())?).copied().unwrap_or(1000);
        let level = quantile * demand / 1000 * (900 + dice.below(200)?) / 1000;
        Ok(Competition { bid: LEAST_COMPETING_BID * level / 1000, share: COMPETING_SHARE * level / 1000 })
    }

    /// Records what the people of a group do with an ad that won.
    fn show(
        &mut self,
        tx: &mut Tx<'_>,
        (group, placement, at): (&ViewerGroup, Placement, Time),
        (candidate, creative, price): (&AuctionCandidate, &AdCreative, i64),
    ) -> Result<(), Error> {
        let (simulation, item) = (self.simulation, &candidate.item);
        let Some(own) = simulation.items.get(&item.id) else {
            return Ok(());
        };
        let dice = Dice::from_parts(&[simulation.seed, item.id, at.ms()]);
        let people = self.draw_impressions(&dice, group, (candidate, price), at)?;
        if people == 0 {
            return Ok(());
        }
        let facts = own.creatives.iter().find(|(kind, record, _)| (*kind, record.id) == (creative.kind, creative.id));
        let impression = SimulatedImpression {
            objective: item.text("objective"),
            creative: creative.kind,
            facts: facts.map(|(_, _, facts)| *facts).unwrap_or_default(),
            placement,
            platform: group.traits.platform,
            people,
            appeal: self.appeal(own, creative, at)?,
        };
        let key = format!("simulated:{}:{}:{}", simulation.seed, item.id, at.ms());
        let outcomes = impression.draw_outcomes(&dice)?;
        let clicks = outcomes.iter().filter(|(kind, ..)| LEADING_CLICKS.contains(kind));
        let clicks = clicks.map(|(_, _, people)| *people).sum::<i64>().min(people);
        let impression_id = -1 - hash_to_id(key.as_bytes());
        let template = LedgerEvent {
            kind: AdEventKind::Impression,
            at,
            line_item_id: item.id,
            creative: creative.kind,
            creative_id: creative.id,
            subject: creative.subject,
            viewer: group.ledger_id,
            placement,
            viewer_traits: group.traits.clone(),
            price,
            origin: AdEventOrigin::Simulated,
            id: 0,
            impression_id,
            weight: 0,
        };
        for (kind, later, weight) in outcomes {
            let id = tx.next_id::<()>().get();
            self.record(tx, &LedgerEvent { kind, at: at.plus_ms(later), id, weight, ..template.clone() })?;
        }
        for conversion in conversions::draw(&dice, item, &simulation.tags, (people, clicks))? {
            self.convert(tx, &template, conversion)?;
        }
        if let Some(history) = self.histories.get_mut(&group.ledger_id) {
            history.entry(item.id).or_default().push(at);
        }
        Ok(())
    }

    /// Returns the id of the fact.
    fn record(&mut self, tx: &mut Tx<'_>, event: &LedgerEvent) -> Result<Option<i64>, Error> {
        let Some(fact) = self.books.build_fact(tx, event)? else {
            return Ok(None);
        };
        self.delivery.count_fact(&fact);
        if let Some(left) = self.funds.get_mut(&fact.funding_id) {
            *left = left.saturating_sub(fact.charge_micro);
        }
        let id = fact.id;
        self.facts.push(fact);
        Ok(Some(id))
    }

    fn convert(
        &mut self,
        tx: &mut Tx<'_>,
        impression: &LedgerEvent,
        conversion: SimulatedConversion,
    ) -> Result<(), Error> {
        let SimulatedConversion { tag, path, people, sales } = conversion;
        let key = format!("simulated:{}:{}:{}", impression.impression_id, tag.id, path.to_number());
        let event = LedgerEvent {
            kind: AdEventKind::Conversion,
            at: impression.at.plus_ms(CONVERSION_DELAY_MS),
            // As real conversions, which say nothing about who converted.
            viewer: 0,
            price: 0,
            id: tx.next_id::<()>().get(),
            impression_id: -1 - hash_to_id(key.as_bytes()),
            weight: people,
            ..impression.clone()
        };
        if let Some(id) = self.record(tx, &event)? {
            let detail = AdConversion {
                source: tag.source,
                kind: tag.kind,
                tag_id: tag.id,
                path,
                impression_id: impression.impression_id,
                order_quantity: if sales > 0 { people } else { 0 },
                sale_amount_micro: Some(sales.saturating_mul(MILLION)),
            };
            self.conversions.insert(id, detail);
        }
        Ok(())
    }

    /// How many of the group see the ad: by the audience of the moment, the line item's learning, trend and noise, and
    /// what may be spent now.
    fn draw_impressions(
        &self,
        dice: &Dice,
        group: &ViewerGroup,
        (candidate, price): (&AuctionCandidate, i64),
        at: Time,
    ) -> Result<i64, Fault> {
        let item = &candidate.item;
        let age = days_of_running(item, at);
        let slope = Dice::from_parts(&[self.simulation.seed, item.id]).below(9)? - 3;
        let trend = (1000 + slope * age).clamp(650, 1500);
        let noise = self.item_noise.get(&item.id).copied().unwrap_or(1000);
        let share = (450 + dice.below(400)?) * learning(age, 400) / 1000 * trend / 1000 * noise / 1000;
        let people = (group.people * share / 1000).clamp(1, group.people);
        let funds = item.int("funding_instrument_id").and_then(|id| self.funds.get(&id)).copied();
        let Some(allowance) = candidate.allowance.into_iter().chain(funds).min() else {
            return Ok(people);
        };
        // A price of impressions is for a thousand, and so is their expected rate.
        let paid_unit = if item.text("pay_by") == "IMPRESSION" { price / 1000 } else { price };
        if allowance < paid_unit.max(1) {
            return Ok(0);
        }
        let cost = i128::from(price) * i128::from(candidate.expected_rate.max(1));
        let affordable = i128::from(allowance) * i128::from(MILLION) * 6 / 5 / cost.max(1);
        Ok(people.min(i64::try_from(affordable).unwrap_or(i64::MAX)))
    }

    /// How much likelier than usual people are to engage, in thousandths: by the creative, its day, how much the line
    /// item has learned, and how often they have seen it.
    fn appeal(&self, item: &SimulatedItem, creative: &AdCreative, at: Time) -> Result<i64, Fault> {
        let seed = self.simulation.seed;
        let quality = Dice::from_parts(&[seed, creative.id]).factor(220)?;
        let day = self.day.0.ms().div_euclid(DAY_MS);
        let noise = Dice::from_parts(&[seed, creative.id, day]).factor(140)?;
        let shown = self.delivery.sums(item.record.id).get(Metric::Impressions);
        // Half as much after twenty impressions for each person.
        let frequency = shown.saturating_mul(1000) / item.people.max(1);
        let fatigue = (20_000_000 / frequency.saturating_add(20_000)).max(450);
        let learned = learning(days_of_running(&item.record, at), 700);
        Ok(quality * noise / 1000 * fatigue / 1000 * learned / 1000)
    }
}

fn days_of_running(item: &AdsRecord, at: Time) -> i64 {
    let start = item.time("start_time").unwrap_or(item.created_at);
    ((at.ms() - start.ms()) / DAY_MS).max(0)
}

/// Thousandths: from `least` on the first day to 1000 after a week.
fn learning(age: i64, least: i64) -> i64 {
    least + (1000 - least) * age.min(7) / 7
}

/// Chooses for a group of viewers.
struct GroupChooser<'a, 's> {
    day: &'a mut SimulatedDay<'s>,
    group: &'a ViewerGroup,
    group_index: usize,
    at: Time,
    rotation: usize,
}

impl CreativeChooser for GroupChooser<'_, '_> {
    fn choose_creative(
        &mut self,
        tx: &mut Tx<'_>,
        candidate: &AuctionCandidate,
        used: &[(AdEntity, i64)],
    ) -> Result<Option<AdCreative>, Error> {
        let simulation = self.day.simulation;
        let item = simulation.items.get(&candidate.item.id);
        let Some(item) = item.filter(|item| item.reached.get(self.group_index) == Some(&true)) else {
            return Ok(None);
        };
        if item.record.int("frequency_cap").is_some() {
            let viewer = self.group.ledger_id;
            if !self.day.histories.contains_key(&viewer) {
                let records = simulation.items.values().map(|item| &item.record);
                let mut history = load_frequency_history(tx, viewer, records, self.at)?;
                // Earlier ones of this day are not stored yet.
                let own = self.day.facts.iter();
                for fact in own.filter(|fact| fact.viewer_id == viewer && fact.kind == AdEventKind::Impression) {
                    history.entry(fact.line_item_id).or_default().push(fact.at);
                }
                self.day.histories.insert(viewer, history);
            }
            if self.day.histories.get(&viewer).is_some_and(|history| is_capped(&item.record, history, self.at)) {
                return Ok(None);
            }
        }
        // Before which video a pre-roll ad is shown is not simulated, only that one fits.
        let creatives = simulation.list_visible_creatives(tx, item, self.group.user)?;
        let first = if creatives.is_empty() { 0 } else { self.rotation % creatives.len() };
        let mut turns = creatives.iter().skip(first).chain(creatives.iter().take(first));
        let is_free =
            |creative: &&AdCreative| creative.subject == 0 || !used.contains(&(creative.kind, creative.subject));
        Ok(turns.find(is_free).cloned())
    }
}
