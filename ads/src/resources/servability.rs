//! Decides whether a campaign or line item can be served, and if not, why; nothing else does
//! (contract ads §8.5).

use std::collections::{HashMap, HashSet};

use ads_engine::{AccountContext, AccountTimeZone, AdsRecord};
use base::refusal::AdsProblem;
use base::{Error, Time, sorted_distinct};
use serde_json::{Value, json};
use store::ledger::AdEntity;
use store::{Tx, records};

use crate::budget;
use crate::resources::funding_instruments::{self, FUNDING_INSTRUMENT};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Servability {
    /// In the contract's order; empty if it can be served.
    pub reasons: Vec<&'static str>,
    pub effective: &'static str,
    deleted: bool,
}

impl Servability {
    /// `null` for deleted entities.
    pub fn servable_value(&self) -> Value {
        if self.deleted { Value::Null } else { self.reasons.is_empty().into() }
    }
}

/// Which instruments can pay, which budgets are exhausted, and which entities have nothing visible to show.
#[derive(Clone, Debug, Default)]
pub struct DeliveryResources {
    funding: HashMap<i64, bool>,
    /// Instruments whose amount limits campaigns that have no budget.
    orders: HashSet<i64>,
    exhausted: HashSet<(&'static str, i64)>,
    /// Line items and campaigns whose creatives are all invisible now.
    unseen: HashSet<(&'static str, i64)>,
}

/// A line item in its campaign's summary: its run time, and whether it counts.
#[derive(Clone, Copy, Debug)]
struct LineItemFlight {
    id: i64,
    start: Option<i64>,
    end: Option<i64>,
    complete: bool,
    draft: bool,
    has_budget: bool,
}

pub fn flights_to_json(items: &[&AdsRecord]) -> Value {
    let entry = |item: &&AdsRecord| {
        json!([
            item.int("start_time"),
            item.int("end_time"),
            i64::from(is_complete(item)),
            i64::from(item.text("entity_status") == "DRAFT"),
            item.id,
            i64::from(has_own_budget(item)),
        ])
    };
    items.iter().map(entry).collect()
}

/// Accepts anything: the field is never sent by clients.
pub fn accept_any_shape(value: &Value) -> Result<Value, AdsProblem> {
    Ok(value.clone())
}

fn parse_flights(campaign: &AdsRecord) -> Vec<LineItemFlight> {
    let entry = |flight: &Value| {
        let number = |place: usize| flight.get(place).and_then(Value::as_i64);
        LineItemFlight {
            start: number(0),
            end: number(1),
            complete: number(2) == Some(1),
            draft: number(3) == Some(1),
            id: number(4).unwrap_or(0),
            // Absent from the summaries of older versions.
            has_budget: number(5) != Some(0),
        }
    };
    campaign.items("flights").iter().map(entry).collect()
}

/// The flights by which a campaign has started and ended. Drafts count only if there is nothing else.
fn counted_flights(campaign: &AdsRecord) -> Vec<LineItemFlight> {
    let mut flights = parse_flights(campaign);
    if flights.iter().any(|flight| !flight.draft) {
        flights.retain(|flight| !flight.draft);
    }
    flights
}

/// When the last of a campaign's line items ends, in milliseconds; `None` if one of them has no end.
pub fn campaign_end(campaign: &AdsRecord) -> Option<i64> {
    let ends: Option<Vec<i64>> = counted_flights(campaign).iter().map(|flight| flight.end).collect();
    ends?.into_iter().max()
}

/// From the first start to the last end of a campaign's line items, in milliseconds; `None` if one of them has no end.
pub fn campaign_period(campaign: &AdsRecord) -> Option<(i64, i64)> {
    let mut flights = parse_flights(campaign);
    flights.retain(|flight| !flight.draft);
    let ends: Option<Vec<i64>> = flights.iter().map(|flight| flight.end).collect();
    Some((flights.iter().filter_map(|flight| flight.start).min()?, ends?.into_iter().max()?))
}

/// Whether a line item has a suitable creative, an audience, and keywords if it needs some.
pub fn is_complete(item: &AdsRecord) -> bool {
    item.int("creatives").unwrap_or(0) > 0 && !item.flag("unreached") && !item.flag("lacks_keywords")
}

fn has_own_budget(record: &AdsRecord) -> bool {
    ["daily_budget_amount_local_micro", "total_budget_amount_local_micro"].iter().any(|name| record.has_value(name))
}

/// Loads the resources of campaigns, or of line items and their campaigns.
pub fn load_delivery_resources(
    ctx: &mut AccountContext<'_, '_>,
    records: &[AdsRecord],
) -> Result<DeliveryResources, Error> {
    let day = AccountTimeZone::from_name(ctx.account()?.record.text("timezone")).day_bounds(ctx.now());
    let mut resources = load_funding(ctx.tx, records)?;
    for entity in [AdEntity::Campaign, AdEntity::LineItem] {
        let kind = resource_name(entity);
        let own: Vec<&AdsRecord> = records.iter().filter(|one| one.resource.name == kind).collect();
        let ids: Vec<i64> = own.iter().map(|record| record.id).collect();
        let spent = budget::load_spent(ctx.tx, entity, &ids, day)?;
        let reached = own.iter().filter(|record| {
            let spent = spent.get(&record.id).copied().unwrap_or_default();
            budget::budget_limits(entity, record).are_exhausted(spent)
        });
        resources.exhausted.extend(reached.map(|record| (kind, record.id)));
    }
    mark_unseen(ctx, records, &mut resources)?;
    Ok(resources)
}

/// Finds entities with nothing visible to show: posts are deleted and authors suspended independently of
/// advertisers.
fn mark_unseen(
    ctx: &mut AccountContext<'_, '_>,
    records: &[AdsRecord],
    resources: &mut DeliveryResources,
) -> Result<(), Error> {
    let sandbox = ctx.account()?.record.flag("sandbox");
    let mut open: Vec<((&'static str, i64), Vec<i64>)> = Vec::new();
    for record in records {
        let items = if record.resource.name == resource_name(AdEntity::Campaign) {
            let flights = parse_flights(record).into_iter();
            let shows = flights.filter(|one| one.complete && !one.draft && one.id > 0);
            shows.map(|flight| flight.id).collect()
        } else if is_complete(record) {
            vec![record.id]
        } else {
            Vec::new()
        };
        if !items.is_empty() {
            open.push(((record.resource.name, record.id), items));
        }
    }
    // A campaign needs one visible line item; the others are checked only if the first is not.
    let mut count = 1;
    while !open.is_empty() {
        let ids = open.iter().flat_map(|(_, items)| items.iter().take(count));
        let ids: HashSet<i64> = ids.copied().collect();
        let ids: Vec<i64> = ids.into_iter().collect();
        let visible = records::servable_line_items(ctx.tx, &ids, sandbox)?;
        let visible: HashSet<i64> = visible.into_iter().collect();
        open.retain_mut(|(key, items)| {
            if items.iter().take(count).any(|item| visible.contains(item)) {
                return false;
            }
            items.drain(..count.min(items.len()));
            if items.is_empty() {
                resources.unseen.insert(*key);
            }
            !items.is_empty()
        });
        count *= 4;
    }
    Ok(())
}

/// Which instruments can pay; for callers that check budgets and creatives themselves. Records may be of several
/// accounts.
pub fn load_funding<'r>(
    tx: &mut Tx<'_>,
    records: impl IntoIterator<Item = &'r AdsRecord>,
) -> Result<DeliveryResources, Error> {
    let ids = sorted_distinct(records.into_iter().filter_map(|record| record.int("funding_instrument_id")));
    let now = tx.now();
    let mut resources = DeliveryResources::default();
    let spent: HashMap<i64, i64> = store::ledger::total_spend(tx, AdEntity::Funding, &ids)?.into_iter().collect();
    for row in records::find_by_ids(tx, FUNDING_INSTRUMENT.name, &ids)? {
        let record = AdsRecord::from_stored(&FUNDING_INSTRUMENT, row)?;
        let spent = spent.get(&record.id).copied().unwrap_or(0);
        let able = funding_instruments::reasons_not_able_to_fund(&record, spent, now).is_empty();
        resources.funding.insert(record.id, able);
        let limits = budget::budget_limits(AdEntity::Funding, &record);
        if funding_instruments::is_order(&record) && limits.total.is_some() {
            resources.orders.insert(record.id);
        }
    }
    Ok(resources)
}

const fn resource_name(entity: AdEntity) -> &'static str {
    match entity {
        AdEntity::Campaign => "campaign",
        _ => "line_item",
    }
}

impl DeliveryResources {
    /// The same resources after other amounts were spent.
    #[must_use]
    pub fn with_spending<'r>(
        &self,
        records: impl Iterator<Item = (AdEntity, &'r AdsRecord)>,
        spent: &HashMap<(AdEntity, i64), budget::BudgetSpent>,
    ) -> Self {
        let is_exhausted = |(entity, record): &(AdEntity, &AdsRecord)| {
            let spent = spent.get(&(*entity, record.id)).copied().unwrap_or_default();
            budget::budget_limits(*entity, record).are_exhausted(spent)
        };
        let exhausted = records.filter(is_exhausted).map(|(entity, record)| (resource_name(entity), record.id));
        Self { exhausted: exhausted.collect(), ..self.clone() }
    }

    fn has_nothing_to_show(&self, record: &AdsRecord) -> bool {
        self.unseen.contains(&(record.resource.name, record.id))
    }

    /// Whether the campaign itself limits what its line items spend.
    fn has_campaign_budget(&self, campaign: &AdsRecord) -> bool {
        let instrument = campaign.int("funding_instrument_id").unwrap_or(0);
        has_own_budget(campaign) || self.orders.contains(&instrument)
    }

    fn is_exhausted(&self, record: &AdsRecord) -> bool {
        self.exhausted.contains(&(record.resource.name, record.id))
    }
}

pub fn campaign_servability(
    campaign: &AdsRecord,
    approval: &str,
    resources: &DeliveryResources,
    now: Time,
) -> Servability {
    let flights = counted_flights(campaign);
    let now = now.ms();
    let started = |flight: &LineItemFlight| flight.start.is_none_or(|start| start <= now);
    let ended = |flight: &LineItemFlight| flight.end.is_some_and(|end| end <= now);
    let mut reasons = common_reasons(campaign, approval);
    if !flights.is_empty() && flights.iter().all(ended) {
        reasons.push("EXPIRED");
    }
    if !flights.is_empty() && !flights.iter().any(started) {
        reasons.push("STARTS_IN_FUTURE");
    }
    if campaign.text("entity_status") != "ACTIVE" {
        reasons.push("PAUSED_BY_ADVERTISER");
    }
    let has_budget = resources.has_campaign_budget(campaign);
    let shows = flights.iter().any(|flight| flight.complete && !flight.draft && (has_budget || flight.has_budget));
    if !shows || resources.has_nothing_to_show(campaign) {
        reasons.push("INCOMPLETE");
    }
    if !can_pay(campaign, resources) {
        reasons.push("FUNDING_PROBLEM");
    }
    if resources.is_exhausted(campaign) {
        reasons.push("BUDGET_EXHAUSTED");
    }
    build_servability(campaign, reasons)
}

pub fn line_item_servability(
    item: &AdsRecord,
    campaign: &AdsRecord,
    approval: &str,
    resources: &DeliveryResources,
    now: Time,
) -> Servability {
    let above = campaign_servability(campaign, approval, resources, now);
    let has_budget = has_own_budget(item) || resources.has_campaign_budget(campaign);
    let own = |reason: &str| match reason {
        "DELETED" => item.deleted,
        "EXPIRED" => item.time("end_time").is_some_and(|end| end <= now),
        "STARTS_IN_FUTURE" => item.time("start_time").is_some_and(|start| start > now),
        "PAUSED_BY_ADVERTISER" => item.text("entity_status") != "ACTIVE",
        "INCOMPLETE" => !is_complete(item) || !has_budget || resources.has_nothing_to_show(item),
        "BUDGET_EXHAUSTED" => resources.is_exhausted(item),
        _ => false,
    };
    let inherited = |reason: &str| reason != "INCOMPLETE" && above.reasons.contains(&reason);
    let reasons = REASON_ORDER.iter().copied();
    let reasons = reasons.filter(|reason| own(reason) || inherited(reason));
    build_servability(item, reasons.collect())
}

const REASON_ORDER: [&str; 9] = [
    "DELETED",
    "ACCOUNT_REJECTED",
    "ACCOUNT_UNDER_REVIEW",
    "EXPIRED",
    "STARTS_IN_FUTURE",
    "PAUSED_BY_ADVERTISER",
    "INCOMPLETE",
    "FUNDING_PROBLEM",
    "BUDGET_EXHAUSTED",
];

fn common_reasons(record: &AdsRecord, approval: &str) -> Vec<&'static str> {
    let mut reasons = Vec::new();
    if record.deleted {
        reasons.push("DELETED");
    }
    match approval {
        "REJECTED" => reasons.push("ACCOUNT_REJECTED"),
        "UNDER_REVIEW" => reasons.push("ACCOUNT_UNDER_REVIEW"),
        _ => {}
    }
    reasons
}

fn can_pay(record: &AdsRecord, resources: &DeliveryResources) -> bool {
    let id = record.int("funding_instrument_id").unwrap_or(0);
    resources.funding.get(&id).copied().unwrap_or(false)
}

fn build_servability(record: &AdsRecord, reasons: Vec<&'static str>) -> Servability {
    let has = |reason: &str| reasons.contains(&reason);
    let effective = if record.text("entity_status") == "DRAFT" {
        "DRAFT"
    } else if record.deleted || has("INCOMPLETE") {
        "UNKNOWN"
    } else if has("EXPIRED") {
        "EXPIRED"
    } else if has("PAUSED_BY_ADVERTISER")
        || has("ACCOUNT_REJECTED")
        || has("ACCOUNT_UNDER_REVIEW")
        || has("FUNDING_PROBLEM")
    {
        "PAUSED"
    } else if has("STARTS_IN_FUTURE") {
        "SCHEDULED"
    } else if has("BUDGET_EXHAUSTED") {
        "EXHAUSTED"
    } else {
        "RUNNING"
    };
    Servability { reasons, effective, deleted: record.deleted }
}
