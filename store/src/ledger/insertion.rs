//! Adds events to the ledger, and to every sum they count towards, in one transaction.

use std::collections::{BTreeMap, HashSet};
use std::sync::LazyLock;

use base::{Fault, PostId};

use super::vocabulary::{METRIC_COLUMNS, PLACEMENT_GROUP_SIZE};
use super::{
    AdEntity, AdEvent, AdEventKind, AdEventOrigin, METRIC_COUNT, Metric, MetricSums, ViewerTraits, hour_start,
};
use crate::Tx;
use crate::db::{InsertableRow, SqlValue};
use crate::views::{self, PostView, hour_number};

/// Rows per statement.
const BATCH_SIZE: usize = 64;

/// Events that exist (same impression and kind) are skipped; returns the ids of those added.
pub fn insert_events(tx: &mut Tx<'_>, events: &[AdEvent]) -> Result<HashSet<i64>, Fault> {
    let mut added = HashSet::with_capacity(events.len());
    let (batches, rest) = events.as_chunks::<BATCH_SIZE>();
    for batch in batches {
        insert_batch(tx, batch, &mut added)?;
    }
    for one in rest {
        insert_batch(tx, std::slice::from_ref(one), &mut added)?;
    }
    let new = events.iter().filter(|event| added.contains(&event.id));
    update_sums(tx, new)?;
    Ok(added)
}

fn insert_batch(tx: &mut Tx<'_>, events: &[AdEvent], added: &mut HashSet<i64>) -> Result<(), Fault> {
    static ONE: LazyLock<String> = LazyLock::new(|| insert_sql(1));
    static MANY: LazyLock<String> = LazyLock::new(|| insert_sql(BATCH_SIZE));
    let sql = if events.len() == 1 { &*ONE } else { &*MANY };
    let now = tx.now();
    let recorded_at = |event: &AdEvent| if event.origin == AdEventOrigin::Simulated { event.at } else { now };
    let values = events
        .iter()
        .map(|event| [event.to_values(), event.viewer_traits.to_values(), vec![recorded_at(event).into()]].concat());
    let args: Vec<SqlValue<'_>> = values.flatten().collect();
    added.extend(tx.query_rows::<i64>(sql, &args)?);
    Ok(())
}

fn insert_sql(rows: usize) -> String {
    let columns = [AdEvent::INSERTED, ViewerTraits::INSERTED, &["recorded_at"]].concat();
    let marks = |row: usize| -> String {
        let placeholders = (1..=columns.len()).map(|place| format!("${}", row * columns.len() + place));
        format!("({})", placeholders.collect::<Vec<_>>().join(", "))
    };
    let all: Vec<String> = (0..rows).map(marks).collect();
    let (columns, all) = (columns.join(", "), all.join(", "));
    format!("INSERT INTO ad_event ({columns}) VALUES {all} ON CONFLICT DO NOTHING RETURNING id")
}

/// The entities an event counts towards.
pub(super) fn counted_entities(event: &AdEvent) -> impl Iterator<Item = (AdEntity, i64)> {
    let post = event.creative == AdEntity::PromotedPost && event.subject_id != 0;
    let own = [
        (AdEntity::Account, event.account_id),
        (AdEntity::Funding, event.funding_id),
        (AdEntity::Campaign, event.campaign_id),
        (AdEntity::LineItem, event.line_item_id),
        (event.creative, event.creative_id),
    ];
    let post = post.then_some((AdEntity::Post, event.subject_id));
    let simulated = post.filter(|_| event.origin == AdEventOrigin::Simulated);
    own.into_iter().chain(post).chain(simulated.map(|(_, id)| (AdEntity::SimulatedPost, id)))
}

/// First and last event time, and a bit mask of placement groups.
type ActivityTimes = (i64, i64, i64);

/// The bit of a placement group, by its number, in a mask.
pub(super) const fn group_bit(group: i64) -> i64 {
    1 << (group / PLACEMENT_GROUP_SIZE)
}

fn update_sums<'f>(tx: &mut Tx<'_>, events: impl Iterator<Item = &'f AdEvent>) -> Result<(), Fault> {
    let mut hours: BTreeMap<(i64, i64, i64, i64), MetricSums> = BTreeMap::new();
    let mut totals: BTreeMap<(i64, i64), MetricSums> = BTreeMap::new();
    let mut active: BTreeMap<(i64, i64, i64, i64), ActivityTimes> = BTreeMap::new();
    let mut post_impressions: BTreeMap<PostView, i64> = BTreeMap::new();
    let now = tx.now().ms();
    for event in events {
        let (at, group) = (event.at.ms(), event.placement.group().to_number());
        // Simulated events are recorded as if they had just happened.
        let recorded = if event.origin == AdEventOrigin::Simulated { at } else { now };
        let (hour, recorded) = (hour_start(at, event.hour_offset_ms), hour_start(recorded, event.hour_offset_ms));
        for (entity, id) in counted_entities(event) {
            let entity = entity.to_number();
            let by_hour = hours.entry((entity, id, hour, group)).or_default();
            by_hour.count_events(event.kind, event.weight, event.billed, event.charge_micro);
            let total = totals.entry((entity, id)).or_default();
            total.count_events(event.kind, event.weight, event.billed, event.charge_micro);
            let key = (event.account_id, entity, recorded, id);
            let times = active.entry(key).or_insert((at, at, 0));
            *times = (times.0.min(at), times.1.max(at), times.2 | group_bit(group));
        }
        let shown = event.kind == AdEventKind::Impression && event.creative == AdEntity::PromotedPost;
        if shown && event.origin == AdEventOrigin::Served {
            let (post_id, viewer_id) = (PostId::new(event.subject_id), event.viewer_id);
            let view = PostView { hour: hour_number(event.at), post_id, viewer_id };
            *post_impressions.entry(view).or_default() += 1;
        }
    }
    // A fixed order, so that concurrent transactions do not deadlock.
    for ((entity, id, hour, group), sums) in &hours {
        add_hourly_sums(tx, [*entity, *id, *hour, *group], sums)?;
    }
    for ((entity, id), sums) in &totals {
        add_total_sums(tx, [*entity, *id], sums)?;
    }
    for ((account, entity, hour, id), times) in &active {
        add_activity(tx, [*account, *entity, *hour, *id], *times)?;
    }
    views::record_ad_impressions(tx, &post_impressions)
}

/// An upsert that adds to the sums of a table with these key columns.
fn upsert_sums_sql(table: &str, keys: &str, count: usize) -> String {
    let marks: Vec<String> = (1..=count + METRIC_COUNT).map(|n| format!("${n}")).collect();
    let sums: Vec<String> =
        Metric::ALL.iter().map(|metric| format!("{0} = {table}.{0} + excluded.{0}", metric.name())).collect();
    let conflict = keys.trim_end_matches(", owed");
    format!(
        "INSERT INTO {table} ({keys}, {METRIC_COLUMNS}) VALUES ({}) ON CONFLICT ({conflict}) DO UPDATE SET {}",
        marks.join(", "),
        sums.join(", ")
    )
}

fn add_hourly_sums(tx: &mut Tx<'_>, key: [i64; 4], sums: &MetricSums) -> Result<(), Fault> {
    static SQL: LazyLock<String> =
        LazyLock::new(|| upsert_sums_sql("ad_hour", "entity, entity_id, hour, placement", 4));
    let args: Vec<SqlValue<'_>> = key.iter().chain(&sums.0).map(|n| (*n).into()).collect();
    tx.execute_later(&SQL, &args)
}

fn add_total_sums(tx: &mut Tx<'_>, key: [i64; 2], sums: &MetricSums) -> Result<(), Fault> {
    static SQL: LazyLock<String> = LazyLock::new(|| upsert_sums_sql("ad_total", "entity, entity_id, owed", 3));
    let numbers = key.iter().chain(&[0]).chain(&sums.0);
    let args: Vec<SqlValue<'_>> = numbers.map(|n| (*n).into()).collect();
    tx.execute_later(&SQL, &args)
}

/// `key` is the account, entity, hour of recording and the entity's id.
pub(super) fn add_activity(tx: &mut Tx<'_>, key: [i64; 4], (first, last, places): ActivityTimes) -> Result<(), Fault> {
    let sql = "INSERT INTO ad_active (account_id, entity, hour, entity_id, first_at, last_at, placements) VALUES ($1, \
               $2, $3, $4, $5, $6, $7) ON CONFLICT (account_id, entity, hour, entity_id) DO UPDATE SET first_at = \
               CASE WHEN excluded.first_at < ad_active.first_at THEN excluded.first_at ELSE ad_active.first_at END, \
               last_at = CASE WHEN excluded.last_at > ad_active.last_at THEN excluded.last_at \
               ELSE ad_active.last_at END, placements = ad_active.placements | excluded.placements";
    let times = [first, last, places];
    let numbers = key.iter().chain(&times);
    let args: Vec<SqlValue<'_>> = numbers.map(|n| (*n).into()).collect();
    tx.execute_later(sql, &args)
}

/// Sets the uncharged fraction of a line item's impressions, in thousandths of a micro.
pub fn set_owed(tx: &mut Tx<'_>, line_item: i64, thousandths: i64) -> Result<(), Fault> {
    let sql = "UPDATE ad_total SET owed = $1 WHERE entity = $2 AND entity_id = $3";
    let args = [thousandths.into(), AdEntity::LineItem.to_number().into(), line_item.into()];
    tx.execute_later(sql, &args)
}
