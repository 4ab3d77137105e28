//! Candidates for auctions: running line items within their pace and with a bid, independent of the viewer.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use ads::budget::{self, BudgetLimits, BudgetSpent};
use ads::resources::ab_tests;
use ads::resources::ab_tests::user_groups::{AudienceShare, UserGroup};
use ads::resources::accounts::{ACCOUNT, PRODUCTION_ID_BASE};
use ads::resources::bidding_rules::bid_bounds;
use ads::resources::campaigns::CAMPAIGN;
use ads::resources::line_items::LINE_ITEM;
use ads::resources::servability::{self, DeliveryResources};
use ads_engine::{AccountTimeZone, AdsConfig, AdsRecord};
use base::time::{DAY_MS, HOUR_MS};
use base::{Error, Time, sorted_distinct};
use store::ledger::{self, AdEntity, AdEvent, Metric, MetricSums, Placement};
use store::{Tx, records};

use crate::ledger::{pays_for, records_by_ids};

/// Line items considered per request, in an equal share for each account.
const MAX_LINE_ITEMS: i64 = 2000;
const MILLION: i64 = 1_000_000;
/// The weight of the prior rate, in impressions.
const PRIOR_IMPRESSIONS: i64 = 100;

#[derive(Clone, Debug)]
pub(crate) struct AuctionCandidate {
    pub(crate) account: Arc<AdsRecord>,
    pub(crate) campaign: Arc<AdsRecord>,
    pub(crate) item: Arc<AdsRecord>,
    /// In micros, for the event the line item pays for.
    pub(crate) bid: i64,
    /// Paid events per impression, in millionths.
    pub(crate) expected_rate: i64,
    /// What may be spent now, by the budgets and their pace, in micros; `None` without limits.
    pub(crate) allowance: Option<i64>,
    /// The currency's smallest step in micros.
    pub(super) currency_step: i64,
    /// The market in which bids are compared; see [`CurrencyRates`](ads_engine::CurrencyRates).
    pub(super) market: String,
    /// The value of one unit of the currency in the market.
    pub(super) currency_rate: i64,
    /// The people who may see it, by the A/B tests that its campaign or line item takes part in.
    pub(super) shares: Vec<AudienceShare>,
}

impl AuctionCandidate {
    /// Whether the A/B tests that it takes part in show it to a viewer, by their id in the ledger.
    pub(crate) fn is_shown_to(&self, viewer: i64) -> bool {
        self.shares.iter().all(|share| share.includes(viewer))
    }

    /// The value of an impression: bid times expected rate, at the currency's rate.
    pub(crate) fn score(&self) -> i128 {
        i128::from(self.bid).saturating_mul(self.weight())
    }

    /// The score of an impression for which a millionth of the currency's smallest step is bid.
    pub(super) fn impression_unit(&self) -> i128 {
        i128::from(self.currency_step) * i128::from(self.currency_rate.max(1))
    }

    /// The score for each millionth of the bid.
    pub(super) fn weight(&self) -> i128 {
        i128::from(self.expected_rate.max(1)) * i128::from(self.currency_rate.max(1))
    }
}

/// All candidates, highest score first; of more than [`MAX_LINE_ITEMS`], a sample that depends on `seed`.
pub(super) fn find_candidates(
    tx: &mut Tx<'_>,
    config: &AdsConfig,
    placement: Placement,
    seed: i64,
) -> Result<Vec<AuctionCandidate>, Error> {
    let now = tx.now();
    let terms = (MAX_LINE_ITEMS, seed);
    // Sandbox accounts never serve.
    let ids = records::sample_ids_above(tx, LINE_ITEM.name, ("serves", now.ms()), PRODUCTION_ID_BASE, terms)?;
    let mut items = AdsRecord::from_rows(&LINE_ITEM, records::find_by_ids(tx, LINE_ITEM.name, &ids)?)?;
    items.retain(|item| matches_placement(item, placement) && item.time("start_time").is_none_or(|at| at <= now));
    let accounts = sorted_distinct(items.iter().map(|item| item.account_id));
    let mut accounts = records_by_ids(tx, &ACCOUNT, &accounts)?;
    accounts.retain(|_, account| !account.deleted && !account.flag("sandbox"));
    let delivery = DeliveryState::load(tx, accounts, items, now)?;
    let mut found = delivery.candidates(config, |_| true, now);
    found.sort_by_key(|one| (std::cmp::Reverse(one.score()), one.item.id));
    Ok(found)
}

/// Whether a line item serves at a placement or at all of its group.
pub(crate) fn matches_placement(item: &AdsRecord, placement: Placement) -> bool {
    [placement, placement.group()].iter().any(|one| item.has("placements", one.name()))
}

/// Line items with all that decides about their bids.
pub(crate) struct DeliveryState {
    accounts: HashMap<i64, DeliveryAccount>,
    campaigns: HashMap<i64, Arc<AdsRecord>>,
    items: Vec<Arc<AdsRecord>>,
    resources: DeliveryResources,
    spent: SpentByEntity,
    sums: HashMap<i64, MetricSums>,
    shares: TestedShares,
}

struct DeliveryAccount {
    record: Arc<AdsRecord>,
    /// The bounds of the day, in the account's time zone, whose spending was loaded.
    day: (Time, Time),
}

/// The shares of people that A/B tests show an entity to, each with the test's period.
type TestedShares = HashMap<(AdEntity, i64), Vec<((Time, Time), AudienceShare)>>;

impl DeliveryState {
    /// For the day that contains `at`. Line items of other accounts are omitted. The number of queries depends on the
    /// number of time zones only.
    pub(crate) fn load(
        tx: &mut Tx<'_>,
        accounts: HashMap<i64, AdsRecord>,
        mut items: Vec<AdsRecord>,
        at: Time,
    ) -> Result<Self, Error> {
        let accounts: HashMap<i64, DeliveryAccount> = accounts
            .into_iter()
            .map(|(id, record)| {
                let day = AccountTimeZone::from_name(record.text("timezone")).day_bounds(at);
                (id, DeliveryAccount { record: Arc::new(record), day })
            })
            .collect();
        items.retain(|item| accounts.contains_key(&item.account_id));
        let ids = sorted_distinct(items.iter().filter_map(|item| item.int("campaign_id")));
        let campaigns = records_by_ids(tx, &CAMPAIGN, &ids)?;
        let resources = servability::load_funding(tx, campaigns.values().chain(&items))?;
        let spent = load_spending(tx, &accounts, &campaigns, &items)?;
        let item_ids: Vec<i64> = items.iter().map(|item| item.id).collect();
        let sums = ledger::total_sums_by_entity(tx, AdEntity::LineItem, &item_ids)?;
        let shares = load_tested_shares(tx, &accounts)?;
        Ok(Self {
            accounts,
            campaigns: campaigns.into_iter().map(|(id, campaign)| (id, Arc::new(campaign))).collect(),
            items: items.into_iter().map(Arc::new).collect(),
            resources,
            spent,
            sums: sums.into_iter().map(|(id, sums, _)| (id, sums)).collect(),
            shares,
        })
    }

    fn shares_at(&self, campaign: &AdsRecord, item: &AdsRecord, now: Time) -> Vec<AudienceShare> {
        let entities = [(AdEntity::Campaign, campaign.id), (AdEntity::LineItem, item.id)];
        let shares = entities.iter().filter_map(|entity| self.shares.get(entity)).flatten();
        let live = shares.filter(|((start, end), _)| (*start..*end).contains(&now));
        live.map(|(_, share)| *share).collect()
    }

    /// Counts a ledger row of the day that was loaded.
    pub(crate) fn count_fact(&mut self, fact: &AdEvent) {
        let sums = self.sums.entry(fact.line_item_id).or_default();
        sums.count_events(fact.kind, fact.weight, fact.billed, fact.charge_micro);
        for key in [(AdEntity::Campaign, fact.campaign_id), (AdEntity::LineItem, fact.line_item_id)] {
            let spent = self.spent.entry(key).or_default();
            spent.total = spent.total.saturating_add(fact.charge_micro);
            spent.today = spent.today.saturating_add(fact.charge_micro);
        }
    }

    pub(crate) fn sums(&self, item: i64) -> MetricSums {
        self.sums.get(&item).copied().unwrap_or_default()
    }

    /// The servable line items within their pace that are wanted, at a time of the day that was loaded.
    pub(crate) fn candidates(
        &self,
        config: &AdsConfig,
        is_wanted: impl Fn(&AdsRecord) -> bool,
        now: Time,
    ) -> Vec<AuctionCandidate> {
        let campaigns = self.campaigns.values().map(|campaign| (AdEntity::Campaign, &**campaign));
        let items = self.items.iter().map(|item| (AdEntity::LineItem, &**item));
        let resources = self.resources.with_spending(campaigns.chain(items), &self.spent);
        let mut found = Vec::new();
        for item in self.items.iter().filter(|item| is_wanted(item)) {
            let account = self.accounts.get(&item.account_id);
            let campaign = self.campaigns.get(&item.int("campaign_id").unwrap_or(0));
            let (Some(DeliveryAccount { record: account, day }), Some(campaign)) = (account, campaign) else {
                continue;
            };
            let (approval, day) = (account.text("approval_status"), *day);
            let state = servability::line_item_servability(item, campaign, approval, &resources, now);
            if !state.reasons.is_empty() {
                continue;
            }
            let budgets = [
                budget_and_spent(AdEntity::Campaign, campaign, &self.spent),
                budget_and_spent(AdEntity::LineItem, item, &self.spent),
            ];
            let paced = is_delivery_standard(campaign, item);
            let periods = [servability::campaign_period(campaign), item.int("start_time").zip(item.int("end_time"))];
            let pace =
                budgets.iter().zip(periods).filter_map(|(budget, period)| pace_allowance(*budget, period, now, day));
            let pace = pace.min();
            if paced && pace.is_some_and(|pace| pace <= 0) {
                continue;
            }
            let remaining = budgets.iter().filter_map(|budget| remaining_budget(*budget, |left| left)).min();
            let today = budgets.iter().zip(periods).filter_map(|(budget, period)| {
                remaining_budget(*budget, |left| share_of_today(left, period, now, day))
            });
            let today = today.min();
            let sums = self.sums(item.id);
            let currency = item.text("currency");
            let (market, worth) = config.rates.market_and_rate(currency);
            found.push(AuctionCandidate {
                account: Arc::clone(account),
                campaign: Arc::clone(campaign),
                bid: effective_bid(item, today, &sums, now, day),
                expected_rate: expected_rate(item, &sums),
                allowance: pace.filter(|_| paced).into_iter().chain(remaining).min(),
                item: Arc::clone(item),
                currency_step: bid_bounds(currency).step,
                market: market.to_owned(),
                currency_rate: worth,
                shares: self.shares_at(campaign, item, now),
            });
        }
        found
    }
}

/// Of the tests that do not end before the day.
fn load_tested_shares(tx: &mut Tx<'_>, accounts: &HashMap<i64, DeliveryAccount>) -> Result<TestedShares, Error> {
    let mut all = TestedShares::new();
    let Some(start) = accounts.values().map(|account| account.day.0).min() else {
        return Ok(all);
    };
    let ids = sorted_distinct(accounts.keys().copied());
    for test in ab_tests::list_unfinished(tx, &ids, start)? {
        let (kind, period) = (ab_tests::entity_kind(&test), ab_tests::period(&test));
        for (entities, share) in UserGroup::list_shares(&test) {
            for id in entities {
                all.entry((kind, id)).or_default().push((period, share));
            }
        }
    }
    Ok(all)
}

type SpentByEntity = HashMap<(AdEntity, i64), BudgetSpent>;

fn load_spending(
    tx: &mut Tx<'_>,
    accounts: &HashMap<i64, DeliveryAccount>,
    campaigns: &HashMap<i64, AdsRecord>,
    items: &[AdsRecord],
) -> Result<SpentByEntity, Error> {
    let campaigns = campaigns.values().map(|record| (AdEntity::Campaign, record));
    let items = items.iter().map(|record| (AdEntity::LineItem, record));
    // Days differ between time zones.
    let mut by_day: BTreeMap<(AdEntity, (Time, Time)), Vec<i64>> = BTreeMap::new();
    for (entity, record) in campaigns.chain(items) {
        if let Some(account) = accounts.get(&record.account_id) {
            by_day.entry((entity, account.day)).or_default().push(record.id);
        }
    }
    let mut all = SpentByEntity::new();
    for ((entity, day), ids) in by_day {
        let spent = budget::load_spent(tx, entity, &ids, day)?;
        all.extend(spent.into_iter().map(|(id, spent)| ((entity, id), spent)));
    }
    Ok(all)
}

fn budget_and_spent(entity: AdEntity, record: &AdsRecord, spent: &SpentByEntity) -> (BudgetLimits, BudgetSpent) {
    let spent = spent.get(&(entity, record.id)).copied();
    (budget::budget_limits(entity, record), spent.unwrap_or_default())
}

/// Whether spending is spread over the period of the budget (pacing), as the level that has it says.
fn is_delivery_standard(campaign: &AdsRecord, item: &AdsRecord) -> bool {
    if campaign.text("budget_optimization") == "LINE_ITEM" {
        // Absent from line items of older versions, and of campaigns that had the budget before.
        return item.int("standard_delivery") != Some(0);
    }
    campaign.flag("standard_delivery")
}

/// What may still be spent when spending is at most proportional to elapsed time plus one hour, in micros; `None`
/// without a budget that has a period. A total budget is spread over the period, a daily one over the day.
fn pace_allowance(
    (limits, spent): (BudgetLimits, BudgetSpent),
    period: Option<(i64, i64)>,
    now: Time,
    day: (Time, Time),
) -> Option<i64> {
    let allowed = |budget: i64, from: i64, to: i64| {
        let whole = i128::from((to - from).max(1));
        let passed = i128::from((now.ms() - from + HOUR_MS).clamp(1, (to - from).max(1)));
        i64::try_from(i128::from(budget) * passed / whole).unwrap_or(i64::MAX)
    };
    if let Some(daily) = limits.daily {
        return Some(allowed(daily, day.0.ms(), day.1.ms()) - spent.today);
    }
    let (from, to) = period?;
    Some(allowed(limits.total?, from, to) - spent.total)
}

/// What is left of a budget, in micros: the least of its daily limit's rest and `share` of its total's.
fn remaining_budget((limits, spent): (BudgetLimits, BudgetSpent), share: impl Fn(i64) -> i64) -> Option<i64> {
    let daily = limits.daily.map(|most| most - spent.today);
    let total = limits.total.map(|most| share(most - spent.total));
    daily.into_iter().chain(total).min()
}

/// The part of an amount for the rest of today, when it is spread evenly over the rest of a period.
fn share_of_today(amount: i64, period: Option<(i64, i64)>, now: Time, day: (Time, Time)) -> i64 {
    let today = remaining_ms(now, day);
    let whole = period.map_or(today, |(_, to)| (to - now.ms()).max(1));
    let part = i128::from(amount) * i128::from(today.min(whole)) / i128::from(whole);
    i64::try_from(part).unwrap_or(amount)
}

/// The rest of the day for which automatic bids plan; at least an hour.
fn remaining_ms(now: Time, day: (Time, Time)) -> i64 {
    (day.1.ms() - now.ms()).max(HOUR_MS)
}

/// The metric that a line item pays for.
fn paid_metric(item: &AdsRecord) -> Metric {
    if item.text("pay_by") == "ENGAGEMENT" {
        return Metric::Engagements;
    }
    let mut kinds = ledger::AdEventKind::ALL.iter();
    let paid = kinds.find(|kind| pays_for(item, **kind));
    let first = paid.and_then(|kind| kind.metrics().first());
    first.copied().unwrap_or(Metric::Engagements)
}

/// Paid events per impression in millionths: observed so far, blended with a prior.
pub(crate) fn expected_rate(item: &AdsRecord, sums: &MetricSums) -> i64 {
    let prior = match item.text("pay_by") {
        // Bids are for a thousand impressions.
        "IMPRESSION" => return MILLION / 1000,
        "VIEW" => 300_000,
        "FOLLOW" => 2_000,
        _ => 10_000,
    };
    let happened = sums.get(paid_metric(item)).saturating_mul(MILLION);
    let shown = sums.get(Metric::Impressions);
    (happened.saturating_add(prior * PRIOR_IMPRESSIONS) / (shown + PRIOR_IMPRESSIONS)).clamp(1, MILLION)
}

/// The bid in micros: the manual bid, or what remains for today divided by the events still expected.
fn effective_bid(item: &AdsRecord, remaining: Option<i64>, sums: &MetricSums, now: Time, day: (Time, Time)) -> i64 {
    let bounds = bid_bounds(item.text("currency"));
    if let Some(bid) = item.int("bid_amount_local_micro") {
        return bid;
    }
    let Some(remaining) = remaining else {
        return bounds.step.saturating_mul(10);
    };
    // The average number per day, but not less than what is assumed at first; follows are rare.
    let least = if item.text("pay_by") == "FOLLOW" { 200 } else { 1000 };
    let age = (now.ms() - item.int("start_time").unwrap_or(now.ms())).max(0);
    let days = age / DAY_MS + 1;
    let daily = (sums.get(paid_metric(item)) / days).max(least);
    let expected = (daily.saturating_mul(remaining_ms(now, day) / 60_000) / (24 * 60)).max(1);
    let bid = remaining.max(0) / expected;
    let bid = match item.text("pay_by") {
        "IMPRESSION" => bid.saturating_mul(1000),
        _ => bid,
    };
    let whole = bid / bounds.step * bounds.step;
    whole.clamp(bounds.min, bounds.max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budget_of_a_campaign_is_spread_over_all_its_line_items() {
        let mut campaign = AdsRecord::new(&CAMPAIGN, 1, 1, Time::from_ms(0));
        let flights = serde_json::json!([
            [0, 10 * DAY_MS, 1, 0, 1, 1],
            [10 * DAY_MS, 20 * DAY_MS, 1, 0, 2, 1],
            [50 * DAY_MS, 60 * DAY_MS, 1, 1, 3, 1],
        ]);
        campaign.set("flights", flights);
        let period = servability::campaign_period(&campaign);
        assert_eq!(period, Some((0, 20 * DAY_MS)));
        // The first line item spent its half.
        let budget = (BudgetLimits { total: Some(20_000), daily: None }, BudgetSpent { total: 10_000, today: 0 });
        let now = Time::from_ms(11 * DAY_MS);
        assert_eq!(pace_allowance(budget, period, now, (now, now.plus_ms(DAY_MS))), Some(1_041));
        campaign.set("flights", serde_json::json!([[0, null, 1, 0, 1, 1]]));
        assert_eq!(servability::campaign_period(&campaign), None);
    }

    #[test]
    fn automatic_bid_is_made_from_the_share_of_today() {
        let mut item = AdsRecord::new(&LINE_ITEM, 1, 1, Time::from_ms(0));
        item.set("currency", "USD");
        item.set("pay_by", "ENGAGEMENT");
        item.set("start_time", 0);
        let now = Time::from_ms(10 * DAY_MS);
        let day = (now, now.plus_ms(DAY_MS));
        let spent = BudgetSpent { total: 1_000_000_000, today: 10_000_000 };
        let remaining = |daily: Option<i64>, end: Option<i64>| {
            let budget = (BudgetLimits { total: Some(3_000_000_000), daily }, spent);
            remaining_budget(budget, |left| share_of_today(left, end.map(|end| (0, end)), now, day))
        };
        let today = remaining(None, Some(20 * DAY_MS));
        assert_eq!(today, Some(200_000_000));
        assert_eq!(remaining(Some(50_000_000), Some(20 * DAY_MS)), Some(40_000_000));
        for end in [None, Some(10 * DAY_MS + HOUR_MS)] {
            assert_eq!(remaining(None, end), Some(2_000_000_000));
        }
        // A thousand events are expected.
        assert_eq!(effective_bid(&item, today, &MetricSums::default(), now, day), 200_000);
    }

    #[test]
    fn line_item_serves_at_every_placement_of_a_group() {
        let is_served = |at: &str, placement: Placement| {
            let mut item = AdsRecord::new(&LINE_ITEM, 1, 1, Time::from_ms(0));
            item.set("placements", serde_json::json!([at]));
            matches_placement(&item, placement)
        };
        for (group, placement, other) in [
            (Placement::AllOn, Placement::Search, Placement::Banner),
            (Placement::Publishers, Placement::Banner, Placement::Search),
        ] {
            assert!(is_served(group.name(), group) && is_served(group.name(), placement));
            assert!(is_served(placement.name(), placement));
            assert!(!is_served(placement.name(), group) && !is_served(group.name(), other));
        }
    }
}
