//! Adds events to the ledger, and to every sum they count towards, in one transaction.

use std::collections::{BTreeMap, HashSet};
use std::sync::LazyLock;

use base::Fault;

use super::vocabulary::metric_columns;
use super::{AdEntity, AdEvent, AdEventKind, AdEventOrigin, METRIC_COUNT, Metric, MetricSums, hour_start};
use crate::Tx;
use crate::db::SqlValue;

const EVENT_COLUMNS: &str = "line_item_id, event_time, id, recorded_at, kind, account_id, \
     funding_instrument_id, campaign_id, creative, creative_id, subject, viewer, placement, \
     platform, country, metro, age, gender, price_micro, billed, charge_micro, origin, once";
const COLUMN_COUNT: usize = 23;
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
    let args: Vec<SqlValue<'_>> = events.iter().flat_map(|event| event_to_values(event, now)).collect();
    let ids = tx.query_rows(sql, &args, |row| row.int(0))?;
    added.extend(ids);
    Ok(())
}

fn insert_sql(rows: usize) -> String {
    let marks = |row: usize| -> String {
        let placeholders = (1..=COLUMN_COUNT).map(|place| format!("${}", row * COLUMN_COUNT + place));
        format!("({})", placeholders.collect::<Vec<_>>().join(", "))
    };
    let all: Vec<String> = (0..rows).map(marks).collect();
    format!("INSERT INTO ad_event ({EVENT_COLUMNS}) VALUES {} ON CONFLICT DO NOTHING RETURNING id", all.join(", "))
}

fn event_to_values(event: &AdEvent, now: base::Time) -> [SqlValue<'_>; COLUMN_COUNT] {
    let traits = &event.viewer_traits;
    [
        event.line_item_id.into(),
        event.at.into(),
        event.id.into(),
        now.into(),
        event.kind.to_number().into(),
        event.account_id.into(),
        event.funding_id.into(),
        event.campaign_id.into(),
        event.creative.to_number().into(),
        event.creative_id.into(),
        event.subject_id.into(),
        event.viewer_id.into(),
        event.placement.to_number().into(),
        traits.platform.into(),
        (&traits.country).into(),
        (&traits.metro).into(),
        traits.age.into(),
        traits.gender.into(),
        event.price_micro.into(),
        event.billed.into(),
        event.charge_micro.into(),
        event.origin.to_number().into(),
        event.impression_id.into(),
    ]
}

/// The entities an event counts towards.
fn counted_entities(event: &AdEvent) -> impl Iterator<Item = (AdEntity, i64)> {
    let post = event.creative == AdEntity::PromotedPost && event.subject_id != 0;
    let own = [
        (AdEntity::Account, event.account_id),
        (AdEntity::Funding, event.funding_id),
        (AdEntity::Campaign, event.campaign_id),
        (AdEntity::LineItem, event.line_item_id),
        (event.creative, event.creative_id),
    ];
    let post = post.then_some((AdEntity::Post, event.subject_id));
    own.into_iter().chain(post)
}

/// First and last event time, and a bit mask of placement groups.
type ActivityTimes = (i64, i64, i64);

fn update_sums<'f>(tx: &mut Tx<'_>, events: impl Iterator<Item = &'f AdEvent>) -> Result<(), Fault> {
    let mut hours: BTreeMap<(i64, i64, i64, i64), MetricSums> = BTreeMap::new();
    let mut totals: BTreeMap<(i64, i64), MetricSums> = BTreeMap::new();
    let mut active: BTreeMap<(i64, i64, i64, i64), ActivityTimes> = BTreeMap::new();
    let mut post_impressions: BTreeMap<i64, i64> = BTreeMap::new();
    let now = tx.now().ms();
    for event in events {
        let (at, group) = (event.at.ms(), event.placement.group().to_number());
        let (hour, recorded) = (hour_start(at, event.hour_offset_ms), hour_start(now, event.hour_offset_ms));
        let billed = i64::from(event.billed);
        for (entity, id) in counted_entities(event) {
            let entity = entity.to_number();
            let by_hour = hours.entry((entity, id, hour, group)).or_default();
            by_hour.count_events(event.kind, 1, billed, event.charge_micro);
            let total = totals.entry((entity, id)).or_default();
            total.count_events(event.kind, 1, billed, event.charge_micro);
            let key = (event.account_id, entity, recorded, id);
            let times = active.entry(key).or_insert((at, at, 0));
            *times = (times.0.min(at), times.1.max(at), times.2 | 1 << (group / 16));
        }
        let shown = event.kind == AdEventKind::Impression && event.creative == AdEntity::PromotedPost;
        if shown && event.origin == AdEventOrigin::Served {
            *post_impressions.entry(event.subject_id).or_default() += 1;
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
    for (post, impressions) in &post_impressions {
        let sql = "UPDATE post SET impression_count = impression_count + $1 WHERE id = $2";
        tx.execute(sql, &[(*impressions).into(), (*post).into()])?;
    }
    Ok(())
}

/// An upsert that adds to the sums of a table with these key columns.
fn upsert_sums_sql(table: &str, keys: &str, count: usize) -> String {
    let columns = metric_columns!().trim_end_matches(", ");
    let marks: Vec<String> = (1..=count + METRIC_COUNT).map(|n| format!("${n}")).collect();
    let sums: Vec<String> =
        Metric::ALL.iter().map(|metric| format!("{0} = {table}.{0} + excluded.{0}", metric.name())).collect();
    let conflict = keys.trim_end_matches(", owed");
    format!(
        "INSERT INTO {table} ({keys}, {columns}) VALUES ({}) ON CONFLICT ({conflict}) \
         DO UPDATE SET {}",
        marks.join(", "),
        sums.join(", ")
    )
}

fn add_hourly_sums(tx: &mut Tx<'_>, key: [i64; 4], sums: &MetricSums) -> Result<(), Fault> {
    static SQL: LazyLock<String> =
        LazyLock::new(|| upsert_sums_sql("ad_hour", "entity, entity_id, hour, placement", 4));
    let args: Vec<SqlValue<'_>> = key.iter().chain(&sums.0).map(|n| (*n).into()).collect();
    tx.execute(&SQL, &args).map(|_| ())
}

fn add_total_sums(tx: &mut Tx<'_>, key: [i64; 2], sums: &MetricSums) -> Result<(), Fault> {
    static SQL: LazyLock<String> = LazyLock::new(|| upsert_sums_sql("ad_total", "entity, entity_id, owed", 3));
    let numbers = key.iter().chain(&[0]).chain(&sums.0);
    let args: Vec<SqlValue<'_>> = numbers.map(|n| (*n).into()).collect();
    tx.execute(&SQL, &args).map(|_| ())
}

fn add_activity(tx: &mut Tx<'_>, key: [i64; 4], (first, last, places): ActivityTimes) -> Result<(), Fault> {
    let sql = "INSERT INTO ad_active (account_id, entity, hour, entity_id, first_at, last_at, \
               placements) VALUES ($1, $2, $3, $4, $5, $6, $7) \
               ON CONFLICT (account_id, entity, hour, entity_id) DO UPDATE SET \
               first_at = CASE WHEN excluded.first_at < ad_active.first_at \
               THEN excluded.first_at ELSE ad_active.first_at END, \
               last_at = CASE WHEN excluded.last_at > ad_active.last_at \
               THEN excluded.last_at ELSE ad_active.last_at END, \
               placements = ad_active.placements | excluded.placements";
    let times = [first, last, places];
    let numbers = key.iter().chain(&times);
    let args: Vec<SqlValue<'_>> = numbers.map(|n| (*n).into()).collect();
    tx.execute(sql, &args).map(|_| ())
}

/// Sets the uncharged fraction of a line item's impressions, in thousandths of a micro.
pub fn set_owed(tx: &mut Tx<'_>, line_item: i64, thousandths: i64) -> Result<(), Fault> {
    let sql = "UPDATE ad_total SET owed = $1 WHERE entity = $2 AND entity_id = $3";
    let args = [thousandths.into(), AdEntity::LineItem.to_number().into(), line_item.into()];
    tx.execute(sql, &args).map(|_| ())
}
