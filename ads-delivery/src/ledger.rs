//! The ledger: the only place that records and charges ad events (contract ads §8.6).

mod budget_state;
mod viewer_profiles;

use std::collections::{BTreeMap, HashMap, HashSet};

use ads::resources::accounts::ACCOUNT;
use ads::resources::campaigns::CAMPAIGN;
use ads::resources::funding_instruments::FUNDING_INSTRUMENT;
use ads::resources::line_items::LINE_ITEM;
use ads_engine::{AccountTimeZone, AdsRecord};
use base::{Fault, PostId, Time, sorted_distinct};
use store::ledger::{self, AdConversion, AdEntity, AdEvent, AdEventKind, AdEventOrigin, Placement, ViewerTraits};
use store::{Tx, records};

use crate::serving::AdImpression;

use budget_state::BudgetState;
pub(crate) use viewer_profiles::ViewerProfiles;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerEvent {
    pub kind: AdEventKind,
    pub at: Time,
    pub line_item_id: i64,
    pub creative: AdEntity,
    /// The creative's id.
    pub creative_id: i64,
    /// The id of the promoted post or user; 0 if there is none.
    pub subject: i64,
    /// The user id; negative for a viewer who is not signed in.
    pub viewer: i64,
    pub placement: Placement,
    pub viewer_traits: ViewerTraits,
    /// The charge in micros of the account's currency if the line item pays for this kind; 0 for none.
    pub price: i64,
    pub origin: AdEventOrigin,
    /// The event id.
    pub id: i64,
    /// The impression the event belongs to; it has at most one event of each kind.
    pub impression_id: i64,
    /// The number of impressions or engagements it stands for, each by another person; 1 unless simulated.
    pub weight: i64,
}

impl LedgerEvent {
    pub(crate) fn from_impression(
        impression: &AdImpression,
        (kind, at): (AdEventKind, Time),
        origin: AdEventOrigin,
        id: i64,
    ) -> Self {
        Self {
            kind,
            at,
            line_item_id: impression.line_item_id,
            creative: impression.creative,
            creative_id: impression.creative_id,
            subject: impression.subject,
            viewer: impression.viewer,
            placement: impression.placement,
            viewer_traits: impression.viewer_traits.clone(),
            price: impression.price,
            origin,
            id,
            impression_id: impression.id,
            weight: 1,
        }
    }

    /// What is attributed to a recorded event.
    pub(crate) fn from_touch(touch: &AdEvent, (kind, at): (AdEventKind, Time), id: i64) -> Self {
        Self {
            kind,
            at,
            line_item_id: touch.line_item_id,
            creative: touch.creative,
            creative_id: touch.creative_id,
            subject: touch.subject_id,
            viewer: touch.viewer_id,
            placement: touch.placement,
            viewer_traits: touch.viewer_traits.clone(),
            price: touch.price_micro,
            origin: AdEventOrigin::Attributed,
            id,
            impression_id: touch.impression_id,
            weight: 1,
        }
    }
}

/// Whether a line item pays for a kind of event.
pub fn pays_for(item: &AdsRecord, kind: AdEventKind) -> bool {
    match item.text("pay_by") {
        "IMPRESSION" => kind == AdEventKind::Impression,
        "VIEW" => {
            kind == match item.text("goal") {
                "VIEW_3S_100PCT" => AdEventKind::Video3,
                "VIEW_6S" => AdEventKind::Video6,
                "VIEW_15S" => AdEventKind::Video15,
                "PREROLL_STARTS" => AdEventKind::VideoStart,
                _ => AdEventKind::VideoView,
            }
        }
        "LINK_CLICK" => matches!(kind, AdEventKind::UrlClick | AdEventKind::CardClick),
        "APP_CLICK" => kind == AdEventKind::AppClick,
        "FOLLOW" => kind == AdEventKind::Follow,
        _ => kind.is_engagement(),
    }
}

/// Line items and budgets while events are recorded.
pub(crate) struct LedgerState {
    items: HashMap<i64, AdsRecord>,
    zones: HashMap<i64, AccountTimeZone>,
    budgets: HashMap<(AdEntity, i64), BudgetState>,
    amounts_owed: HashMap<i64, i64>,
    viewer_profiles: ViewerProfiles,
}

/// Records events atomically, skipping those already recorded, and returns the new ones. Nothing is charged
/// once a budget is exhausted, so it is overdrawn by less than one event.
pub fn record_events(tx: &mut Tx<'_>, events: &[LedgerEvent]) -> Result<Vec<AdEvent>, Fault> {
    let ids: Vec<i64> = sorted_distinct(events.iter().map(|event| event.line_item_id));
    let profiles = ViewerProfiles::load(tx, events)?;
    let mut books = LedgerState::lock_and_load(tx, &ids, profiles)?;
    let mut known = recorded_events(tx, events)?;
    let mut events: Vec<&LedgerEvent> = events.iter().collect();
    events.sort_by_key(|event| (event.at, event.id));
    let mut facts = Vec::with_capacity(events.len());
    for event in events {
        let click = event.kind.equivalent_click().map(|click| (event.impression_id, click));
        if click.is_none_or(|click| !known.contains(&click))
            && known.insert((event.impression_id, event.kind))
            && let Some(fact) = books.build_fact(tx, event)?
        {
            facts.push(fact);
        }
    }
    let added = books.insert_facts(tx, &facts)?;
    facts.retain(|fact| added.contains(&fact.id));
    record_video_placements(tx, &books.items, &facts)?;
    Ok(facts)
}

/// As [`record_events`], for events of kind [`AdEventKind::Conversion`], each with what it was.
pub fn record_conversions(tx: &mut Tx<'_>, conversions: &[(LedgerEvent, AdConversion)]) -> Result<Vec<AdEvent>, Fault> {
    let events: Vec<LedgerEvent> = conversions.iter().map(|(event, _)| event.clone()).collect();
    let facts = record_events(tx, &events)?;
    let details: HashMap<i64, AdConversion> = conversions.iter().map(|(event, detail)| (event.id, *detail)).collect();
    let details = facts.iter().filter_map(|fact| Some((fact, *details.get(&fact.id)?)));
    ledger::insert_conversions(tx, &details.collect::<Vec<_>>())?;
    Ok(facts)
}

/// Records before which videos ads were shown.
fn record_video_placements(tx: &mut Tx<'_>, items: &HashMap<i64, AdsRecord>, facts: &[AdEvent]) -> Result<(), Fault> {
    let goes_before = |fact: &&AdEvent| {
        let item = items.get(&fact.line_item_id);
        fact.kind == AdEventKind::Impression
            && fact.origin == AdEventOrigin::Served
            && fact.creative == AdEntity::MediaCreative
            && fact.subject_id != 0
            && item.is_some_and(|item| item.text("objective") == "PREROLL_VIEWS")
    };
    let mut videos: BTreeMap<i64, Time> = BTreeMap::new();
    for fact in facts.iter().filter(goes_before) {
        let at = videos.entry(fact.subject_id).or_insert(fact.at);
        *at = fact.at.max(*at);
    }
    for (post, at) in videos {
        ledger::record_video_ad(tx, PostId::new(post), at)?;
    }
    Ok(())
}

fn recorded_events(tx: &mut Tx<'_>, events: &[LedgerEvent]) -> Result<HashSet<(i64, AdEventKind)>, Fault> {
    let impressions = sorted_distinct(events.iter().map(|event| event.impression_id));
    Ok(ledger::event_kinds_by_impressions(tx, &impressions)?.into_iter().collect())
}

/// Records of a resource by id, deleted or not.
pub fn records_by_ids(
    tx: &mut Tx<'_>,
    resource: &'static ads_engine::Resource,
    ids: &[i64],
) -> Result<HashMap<i64, AdsRecord>, Fault> {
    let rows = records::find_by_ids(tx, resource.name, ids)?;
    let read = |row: records::RecordRow| Ok((row.id, AdsRecord::from_stored(resource, row)?));
    rows.into_iter().map(read).collect()
}

fn load_ledger_state(
    tx: &mut Tx<'_>,
    items: HashMap<i64, AdsRecord>,
    profiles: ViewerProfiles,
) -> Result<LedgerState, Fault> {
    let ids_of = |name: &'static str| sorted_distinct(items.values().filter_map(|item| item.int(name)));
    let (campaigns, funding) = (ids_of("campaign_id"), ids_of("funding_instrument_id"));
    let campaigns = records_by_ids(tx, &CAMPAIGN, &campaigns)?;
    let funding = records_by_ids(tx, &FUNDING_INSTRUMENT, &funding)?;
    let accounts = sorted_distinct(items.values().map(|item| item.account_id));
    let accounts = records_by_ids(tx, &ACCOUNT, &accounts)?;
    let zones = accounts.iter();
    let zones = zones.map(|(id, account)| (*id, AccountTimeZone::from_name(account.text("timezone"))));
    let mut budgets = HashMap::new();
    for (entity, records) in
        [(AdEntity::Funding, &funding), (AdEntity::Campaign, &campaigns), (AdEntity::LineItem, &items)]
    {
        budget_state::load_budgets(tx, entity, records, &mut budgets)?;
    }
    let ids: Vec<i64> = items.keys().copied().collect();
    let totals = ledger::total_sums_by_entity(tx, AdEntity::LineItem, &ids)?;
    Ok(LedgerState {
        zones: zones.collect(),
        budgets,
        amounts_owed: totals.into_iter().map(|(id, _, owed)| (id, owed)).collect(),
        viewer_profiles: profiles,
        items,
    })
}

impl LedgerState {
    /// Locks the funding instruments, so that others that spend from them see these charges.
    pub(crate) fn lock_and_load(tx: &mut Tx<'_>, ids: &[i64], profiles: ViewerProfiles) -> Result<Self, Fault> {
        let items = records_by_ids(tx, &LINE_ITEM, ids)?;
        let pays = sorted_distinct(items.values().filter_map(|item| item.int("funding_instrument_id")));
        for id in pays {
            records::lock(tx, FUNDING_INSTRUMENT.name, id)?;
        }
        load_ledger_state(tx, items, profiles)
    }

    /// Inserts rows in the order they were built; returns the ids of those that are new.
    pub(crate) fn insert_facts(&self, tx: &mut Tx<'_>, facts: &[AdEvent]) -> Result<HashSet<i64>, Fault> {
        let added = ledger::insert_events(tx, facts)?;
        for (item, owed) in &self.amounts_owed {
            ledger::set_owed(tx, *item, *owed)?;
        }
        Ok(added)
    }

    /// The ledger row of an event; `None` if its line item never existed.
    pub(crate) fn build_fact(&mut self, tx: &mut Tx<'_>, event: &LedgerEvent) -> Result<Option<AdEvent>, Fault> {
        let Some(item) = self.items.get(&event.line_item_id) else {
            return Ok(None);
        };
        let id = |name: &str| item.int(name).unwrap_or(0);
        let (campaign, funding) = (id("campaign_id"), id("funding_instrument_id"));
        let account = item.account_id;
        let utc = AccountTimeZone::from_name("UTC");
        let zone = self.zones.get(&account).unwrap_or(&utc).clone();
        let keys = [(AdEntity::Funding, funding), (AdEntity::Campaign, campaign), (AdEntity::LineItem, item.id)];
        let pays = event.price > 0 && pays_for(item, event.kind);
        let by_thousand = item.text("pay_by") == "IMPRESSION";
        let day = zone.day_bounds(event.at);
        let billed = if pays { self.payable_weight(tx, &keys, day, (event, by_thousand))? } else { 0 };
        let amount = event.price.saturating_mul(billed);
        let charge = if by_thousand {
            let owed = self.amounts_owed.entry(event.line_item_id).or_default();
            *owed = owed.saturating_add(amount);
            let charge = *owed / 1000;
            *owed %= 1000;
            charge
        } else {
            amount
        };
        for key in keys {
            if let Some(budget) = self.budgets.get_mut(&key) {
                budget.spend(day.0, charge);
            }
        }
        Ok(Some(AdEvent {
            id: event.id,
            at: event.at,
            kind: event.kind,
            account_id: account,
            funding_id: funding,
            campaign_id: campaign,
            line_item_id: event.line_item_id,
            creative: event.creative,
            creative_id: event.creative_id,
            subject_id: event.subject,
            viewer_id: event.viewer,
            placement: event.placement,
            viewer_traits: self.viewer_profiles.viewer_traits(event),
            price_micro: event.price,
            billed,
            charge_micro: charge,
            origin: event.origin,
            impression_id: event.impression_id,
            weight: event.weight,
            hour_offset_ms: zone.hour_shift_ms(event.at),
        }))
    }

    /// How much of an event's weight is charged. A real event is charged in full or not at all, and may overdraw a
    /// budget; a simulated one stands for many, of which as many are charged as the budgets pay for.
    fn payable_weight(
        &mut self,
        tx: &mut Tx<'_>,
        keys: &[(AdEntity, i64)],
        day: (Time, Time),
        (event, by_thousand): (&LedgerEvent, bool),
    ) -> Result<i64, Fault> {
        let mut remaining: Option<i64> = None;
        for key in keys {
            if let Some(budget) = self.budgets.get_mut(key)
                && let Some(amount) = budget.remaining(tx, day)?
            {
                remaining = Some(remaining.map_or(amount, |least| least.min(amount)));
            }
        }
        let Some(remaining) = remaining else {
            return Ok(event.weight);
        };
        if event.origin != AdEventOrigin::Simulated {
            return Ok(if remaining > 0 { event.weight } else { 0 });
        }
        let affordable = if by_thousand {
            let owed = self.amounts_owed.get(&event.line_item_id).copied().unwrap_or(0);
            remaining.saturating_mul(1000).saturating_sub(owed) / event.price
        } else {
            remaining / event.price
        };
        Ok(affordable.clamp(0, event.weight))
    }
}

/// The line items below an entity of an account; for a creative, its line item.
pub fn line_items_by_entity(
    tx: &mut Tx<'_>,
    account: i64,
    entity: AdEntity,
    ids: &[i64],
) -> Result<BTreeMap<i64, Vec<i64>>, Fault> {
    let mut ids_of: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
    for id in ids {
        let items = match entity {
            AdEntity::LineItem => vec![*id],
            AdEntity::Account => records::list_ids_by_account(tx, LINE_ITEM.name, account)?,
            AdEntity::Campaign => records::list_ids_by_field(tx, LINE_ITEM.name, account, ("campaign_id", *id))?,
            AdEntity::Funding => {
                records::list_ids_by_field(tx, LINE_ITEM.name, account, ("funding_instrument_id", *id))?
            }
            AdEntity::PromotedPost | AdEntity::PromotedAccount | AdEntity::MediaCreative => {
                let kind = entity.name().to_ascii_lowercase();
                let row = records::find_by_id(tx, &kind, *id)?;
                let row = row.filter(|row| row.account_id == account);
                let body = row.map(|row| row.body).unwrap_or_default();
                let body: serde_json::Value = serde_json::from_str(&body).unwrap_or_default();
                let item = body.get("line_item_id").and_then(serde_json::Value::as_i64);
                item.into_iter().collect()
            }
            AdEntity::Post | AdEntity::SimulatedPost => Vec::new(),
        };
        ids_of.insert(*id, items);
    }
    Ok(ids_of)
}
