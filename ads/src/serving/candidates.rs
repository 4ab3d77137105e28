//! Line items that could be shown now, whoever looks: running, within their pace, with a bid.

use std::collections::{BTreeMap, HashMap};

use base::{Error, Time};
use store::ledger::{self, AdEntity, Metric, MetricSums, Placement};
use store::{Tx, records};

use crate::desk::Desk;
use crate::house::House;
use crate::ledger::purse::{self, Limits, Spent};
use crate::ledger::{all, pays_for};
use crate::record::Record;
use crate::resources::accounts::ACCOUNT;
use crate::resources::bidding::bounds;
use crate::resources::campaigns::CAMPAIGN;
use crate::resources::line_items::LINE_ITEM;
use crate::resources::servability;
use crate::zone::Zone;

/// Line items that one request looks at.
const LOOKS: i64 = 2000;
const MILLION: i64 = 1_000_000;
/// Impressions that what a line item is expected to come to counts as.
const PRIOR: i64 = 100;

/// A line item that could be shown.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) account: Record,
    pub(super) campaign: Record,
    pub(super) item: Record,
    /// What it bids for what it pays for.
    pub(super) bid: i64,
    /// How often an impression comes to what it pays for, in millionths.
    pub(super) rate: i64,
    /// The least step of its currency.
    pub(super) step: i64,
    /// With what its bids are compared: those in its own currency, or in any that has a rate.
    pub(super) market: String,
    /// What one unit of its currency counts for there.
    pub(super) worth: i64,
}

impl Candidate {
    /// What an impression is worth to it.
    pub(super) fn score(&self) -> i128 {
        i128::from(self.bid).saturating_mul(self.weight())
    }

    /// What each millionth that it bids counts for.
    pub(super) fn weight(&self) -> i128 {
        i128::from(self.rate.max(1)) * i128::from(self.worth.max(1))
    }
}

/// All of them, those that bid most for an impression first.
pub(super) fn find(
    tx: &mut Tx<'_>,
    house: &House,
    placement: Placement,
) -> Result<Vec<Candidate>, Error> {
    let now = tx.now();
    let rows = records::list_above(tx, LINE_ITEM.name, ("serves", now.ms()), LOOKS)?;
    let mut by_account: BTreeMap<i64, Vec<Record>> = BTreeMap::new();
    for row in &rows {
        let item = Record::stored(&LINE_ITEM, row)?;
        if is_placed(&item, placement) && item.time("start_time").is_none_or(|at| at <= now) {
            by_account.entry(item.account_id).or_default().push(item);
        }
    }
    let accounts: Vec<i64> = by_account.keys().copied().collect();
    let accounts = all(tx, &ACCOUNT, &accounts)?;
    let mut found = Vec::new();
    for (id, items) in by_account {
        // What is tried out is shown to nobody.
        let account = accounts.get(&id);
        let Some(account) = account.filter(|one| !one.deleted && !one.flag("sandbox")) else {
            continue;
        };
        found.extend(of_account(tx, house, account, items)?);
    }
    found.sort_by_key(|one| (std::cmp::Reverse(one.score()), one.item.id));
    Ok(found)
}

/// Whether a line item is shown at a placement.
pub(super) fn is_placed(item: &Record, placement: Placement) -> bool {
    if item.has("placements", placement.name()) {
        return true;
    }
    let all_on = placement.group() == Placement::AllOn;
    all_on && item.has("placements", Placement::AllOn.name())
}

/// Those of an account that may be served now.
pub(super) fn of_account(
    tx: &mut Tx<'_>,
    house: &House,
    account: &Record,
    items: Vec<Record>,
) -> Result<Vec<Candidate>, Error> {
    let now = tx.now();
    let ids = ids_of(items.iter().filter_map(|item| item.int("campaign_id")));
    let campaigns = all(tx, &CAMPAIGN, &ids)?;
    let mut both: Vec<Record> = campaigns.values().cloned().collect();
    both.extend(items.iter().cloned());
    let mut desk = Desk::of_operator(tx, base::UserId::new(0), account.clone());
    // What is shown is looked at when it is chosen.
    let means = servability::means_to_spend(&mut desk, &both)?;
    let approval = account.text("approval_status");
    let day = Zone::named(account.text("timezone")).day(now);
    let spent = spending(desk.tx, &campaigns, &items, day)?;
    let item_ids: Vec<i64> = items.iter().map(|item| item.id).collect();
    let sums: HashMap<i64, MetricSums> =
        ledger::total_sums_by_entity(desk.tx, AdEntity::LineItem, &item_ids)?
            .into_iter()
            .map(|(id, sums, _)| (id, sums))
            .collect();
    let mut found = Vec::new();
    for item in items {
        let campaign = campaigns.get(&item.int("campaign_id").unwrap_or(0));
        let Some(campaign) = campaign else {
            continue;
        };
        let state = servability::of_line_item(&item, campaign, approval, &means, now);
        if !state.reasons.is_empty() {
            continue;
        }
        let purses = [
            budget(AdEntity::Campaign, campaign, &spent),
            budget(AdEntity::LineItem, &item, &spent),
        ];
        let paced = [campaign, &item]
            .iter()
            .any(|record| record.flag("standard_delivery"));
        if paced
            && !purses
                .iter()
                .all(|purse| is_in_pace(*purse, &item, now, day))
        {
            continue;
        }
        let sums = sums.get(&item.id).copied().unwrap_or_default();
        let bid = bid(&item, &purses, &sums, now, day);
        let currency = item.text("currency").to_owned();
        let (market, worth) = house.rates.market(&currency);
        found.push(Candidate {
            account: account.clone(),
            campaign: campaign.clone(),
            rate: rate(&item, &sums),
            item,
            bid,
            step: bounds(&currency).step,
            market: market.to_owned(),
            worth,
        });
    }
    Ok(found)
}

fn ids_of(ids: impl Iterator<Item = i64>) -> Vec<i64> {
    let mut ids: Vec<i64> = ids.collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

type Spending = HashMap<(AdEntity, i64), Spent>;

fn spending(
    tx: &mut Tx<'_>,
    campaigns: &HashMap<i64, Record>,
    items: &[Record],
    day: (Time, Time),
) -> Result<Spending, Error> {
    let mut all = Spending::new();
    let campaigns: Vec<i64> = campaigns.keys().copied().collect();
    let items: Vec<i64> = items.iter().map(|item| item.id).collect();
    for (entity, ids) in [(AdEntity::Campaign, campaigns), (AdEntity::LineItem, items)] {
        let spent = purse::spent(tx, entity, &ids, day)?;
        all.extend(spent.into_iter().map(|(id, spent)| ((entity, id), spent)));
    }
    Ok(all)
}

fn budget(entity: AdEntity, record: &Record, spent: &Spending) -> (Limits, Spent) {
    let spent = spent.get(&(entity, record.id)).copied();
    (purse::limits(entity, record), spent.unwrap_or_default())
}

/// Whether what was spent is no more than time that has passed, and an hour beyond, allows for.
fn is_in_pace(
    (limits, spent): (Limits, Spent),
    item: &Record,
    now: Time,
    day: (Time, Time),
) -> bool {
    const HOUR: i64 = 3_600_000;
    let allowed = |budget: i64, from: i64, to: i64| {
        let whole = i128::from((to - from).max(1));
        let passed = i128::from((now.ms() - from + HOUR).clamp(1, (to - from).max(1)));
        i128::from(budget) * passed / whole
    };
    if let Some(daily) = limits.daily {
        return i128::from(spent.today) < allowed(daily, day.0.ms(), day.1.ms());
    }
    match (limits.total, item.int("start_time"), item.int("end_time")) {
        (Some(total), Some(from), Some(to)) => i128::from(spent.total) < allowed(total, from, to),
        _ => true,
    }
}

/// What a line item pays for, in the sums.
fn paid(item: &Record) -> Metric {
    if item.text("pay_by") == "ENGAGEMENT" {
        return Metric::Engagements;
    }
    let mut kinds = ledger::AdEventKind::ALL.iter();
    let paid = kinds.find(|kind| pays_for(item, **kind));
    let first = paid.and_then(|kind| kind.metrics().first());
    first.copied().unwrap_or(Metric::Engagements)
}

/// How often an impression comes to what is paid for, in millionths: what was seen so far, and
/// before that what is usual.
pub(crate) fn rate(item: &Record, sums: &MetricSums) -> i64 {
    let usual = match item.text("pay_by") {
        // A bid is for a thousand of them.
        "IMPRESSION" => return MILLION / 1000,
        "VIEW" => 300_000,
        "FOLLOW" => 2_000,
        _ => 10_000,
    };
    let happened = sums.get(paid(item)).saturating_mul(MILLION);
    let shown = sums.get(Metric::Impressions);
    (happened.saturating_add(usual * PRIOR) / (shown + PRIOR)).clamp(1, MILLION)
}

/// What is bid: what was set, or what is left divided by what may still happen.
fn bid(
    item: &Record,
    purses: &[(Limits, Spent)],
    sums: &MetricSums,
    now: Time,
    day: (Time, Time),
) -> i64 {
    let bounds = bounds(item.text("currency"));
    if let Some(bid) = item.int("bid_amount_local_micro") {
        return bid;
    }
    let left = purses.iter().flat_map(|(limits, spent)| {
        let daily = limits.daily.map(|most| most - spent.today);
        let total = limits.total.map(|most| most - spent.total);
        daily.into_iter().chain(total)
    });
    let Some(left) = left.min() else {
        return bounds.step.saturating_mul(10);
    };
    // As many as there were on an average day; at first a thousand.
    let age = (now.ms() - item.int("start_time").unwrap_or(now.ms())).max(0);
    let days = age / 86_400_000 + 1;
    let daily = (sums.get(paid(item)) / days).max(1000);
    let rest = (day.1.ms() - now.ms()).max(3_600_000);
    let expected = (daily.saturating_mul(rest / 60_000) / (24 * 60)).max(1);
    let bid = left.max(0) / expected;
    let bid = match item.text("pay_by") {
        "IMPRESSION" => bid.saturating_mul(1000),
        _ => bid,
    };
    let whole = bid / bounds.step * bounds.step;
    whole.clamp(bounds.least, bounds.most)
}
