//! Adding to the ledger: rows, and every sum that they belong to, in one transaction.

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
/// Rows of one statement.
const BATCH_SIZE: usize = 64;

/// Adds what happened, but what is there already: an impression has one of each kind. Answers which
/// were added.
pub fn insert_events(tx: &mut Tx<'_>, facts: &[AdEvent]) -> Result<HashSet<i64>, Fault> {
    let mut added = HashSet::with_capacity(facts.len());
    let (whole, rest) = facts.as_chunks::<BATCH_SIZE>();
    for some in whole {
        insert_batch(tx, some, &mut added)?;
    }
    for one in rest {
        insert_batch(tx, std::slice::from_ref(one), &mut added)?;
    }
    let new = facts.iter().filter(|fact| added.contains(&fact.id));
    update_sums(tx, new)?;
    Ok(added)
}

fn insert_batch(tx: &mut Tx<'_>, facts: &[AdEvent], added: &mut HashSet<i64>) -> Result<(), Fault> {
    static ONE: LazyLock<String> = LazyLock::new(|| insert_sql(1));
    static MANY: LazyLock<String> = LazyLock::new(|| insert_sql(BATCH_SIZE));
    let sql = if facts.len() == 1 { &*ONE } else { &*MANY };
    let now = tx.now();
    let args: Vec<SqlValue<'_>> = facts.iter().flat_map(|fact| event_to_values(fact, now)).collect();
    let ids = tx.query_rows(sql, &args, |row| row.int(0))?;
    added.extend(ids);
    Ok(())
}

fn insert_sql(rows: usize) -> String {
    let marks = |row: usize| -> String {
        let of = (1..=COLUMN_COUNT).map(|place| format!("${}", row * COLUMN_COUNT + place));
        format!("({})", of.collect::<Vec<_>>().join(", "))
    };
    let all: Vec<String> = (0..rows).map(marks).collect();
    format!(
        "INSERT INTO ad_event ({EVENT_COLUMNS}) VALUES {} ON CONFLICT DO NOTHING RETURNING id",
        all.join(", ")
    )
}

fn event_to_values(fact: &AdEvent, now: base::Time) -> [SqlValue<'_>; COLUMN_COUNT] {
    let looks = &fact.viewer_traits;
    [
        fact.line_item_id.into(),
        fact.at.into(),
        fact.id.into(),
        now.into(),
        fact.kind.to_number().into(),
        fact.account_id.into(),
        fact.funding_id.into(),
        fact.campaign_id.into(),
        fact.creative.to_number().into(),
        fact.creative_id.into(),
        fact.subject_id.into(),
        fact.viewer_id.into(),
        fact.placement.to_number().into(),
        looks.platform.into(),
        (&looks.country).into(),
        (&looks.metro).into(),
        looks.age.into(),
        looks.gender.into(),
        fact.price_micro.into(),
        fact.billed.into(),
        fact.charge_micro.into(),
        fact.origin.to_number().into(),
        fact.impression_id.into(),
    ]
}

/// What a fact counts for.
fn counted_entities(fact: &AdEvent) -> impl Iterator<Item = (AdEntity, i64)> {
    let post = fact.creative == AdEntity::PromotedPost && fact.subject_id != 0;
    let own = [
        (AdEntity::Account, fact.account_id),
        (AdEntity::Funding, fact.funding_id),
        (AdEntity::Campaign, fact.campaign_id),
        (AdEntity::LineItem, fact.line_item_id),
        (fact.creative, fact.creative_id),
    ];
    let post = post.then_some((AdEntity::Post, fact.subject_id));
    own.into_iter().chain(post)
}

/// What of an entity an hour tells: the first and last of its times, and the placements.
type ActivityTimes = (i64, i64, i64);

fn update_sums<'f>(tx: &mut Tx<'_>, facts: impl Iterator<Item = &'f AdEvent>) -> Result<(), Fault> {
    let mut hours: BTreeMap<(i64, i64, i64, i64), MetricSums> = BTreeMap::new();
    let mut totals: BTreeMap<(i64, i64), MetricSums> = BTreeMap::new();
    let mut active: BTreeMap<(i64, i64, i64, i64), ActivityTimes> = BTreeMap::new();
    let mut seen: BTreeMap<i64, i64> = BTreeMap::new();
    let now = tx.now().ms();
    for fact in facts {
        let (at, group) = (fact.at.ms(), fact.placement.group().to_number());
        let (hour, recorded) = (
            hour_start(at, fact.hour_offset_ms),
            hour_start(now, fact.hour_offset_ms),
        );
        let billed = i64::from(fact.billed);
        for (entity, id) in counted_entities(fact) {
            let entity = entity.to_number();
            let by_hour = hours.entry((entity, id, hour, group)).or_default();
            by_hour.count_events(fact.kind, 1, billed, fact.charge_micro);
            let total = totals.entry((entity, id)).or_default();
            total.count_events(fact.kind, 1, billed, fact.charge_micro);
            let key = (fact.account_id, entity, recorded, id);
            let told = active.entry(key).or_insert((at, at, 0));
            *told = (told.0.min(at), told.1.max(at), told.2 | 1 << (group / 16));
        }
        let shown = fact.kind == AdEventKind::Impression && fact.creative == AdEntity::PromotedPost;
        if shown && fact.origin == AdEventOrigin::Served {
            *seen.entry(fact.subject_id).or_default() += 1;
        }
    }
    // In one order everywhere, so that two who add at once wait for each other and do not clash.
    for ((entity, id, hour, group), sums) in &hours {
        add_hourly_sums(tx, [*entity, *id, *hour, *group], sums)?;
    }
    for ((entity, id), sums) in &totals {
        add_total_sums(tx, [*entity, *id], sums)?;
    }
    for ((account, entity, hour, id), told) in &active {
        add_activity(tx, [*account, *entity, *hour, *id], *told)?;
    }
    for (post, times) in &seen {
        let sql = "UPDATE post SET impression_count = impression_count + $1 WHERE id = $2";
        tx.execute(sql, &[(*times).into(), (*post).into()])?;
    }
    Ok(())
}

/// An addition to the sums of a table with these keys.
fn upsert_sums_sql(table: &str, keys: &str, count: usize) -> String {
    let columns = metric_columns!().trim_end_matches(", ");
    let marks: Vec<String> = (1..=count + METRIC_COUNT).map(|n| format!("${n}")).collect();
    let sums: Vec<String> = Metric::ALL
        .iter()
        .map(|metric| format!("{0} = {table}.{0} + excluded.{0}", metric.name()))
        .collect();
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
    let told = [first, last, places];
    let numbers = key.iter().chain(&told);
    let args: Vec<SqlValue<'_>> = numbers.map(|n| (*n).into()).collect();
    tx.execute(sql, &args).map(|_| ())
}

/// Notes the part of a micro that a line item's impressions have come to and that is not charged
/// yet.
pub fn set_owed(tx: &mut Tx<'_>, line_item: i64, thousandths: i64) -> Result<(), Fault> {
    let sql = "UPDATE ad_total SET owed = $1 WHERE entity = $2 AND entity_id = $3";
    let args = [
        thousandths.into(),
        AdEntity::LineItem.to_number().into(),
        line_item.into(),
    ];
    tx.execute(sql, &args).map(|_| ())
}
