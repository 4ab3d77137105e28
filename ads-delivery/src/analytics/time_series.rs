//! Statistics as time series.

use std::collections::{BTreeMap, HashMap};

use ads::gazetteer::gazetteer;
use base::{Fault, PostId, Time};
use serde_json::{Map, Value, json};
use store::Tx;
use store::analytics::{self, MetricSeries};
use store::ledger::{self, AdEntity, Metric, MetricSums, ReportFilter, ReportRow, ReportSegment};
use store::views::{self, HOUR_MS, hour_number};

use super::metrics::{NamedMetric, metrics_of_group};
use super::stats_query::StatsQuery;
use crate::ledger::line_items_by_entity;

/// Metric sums per bucket.
type MetricBuckets = Vec<MetricSums>;

/// The number of buckets and the data of each entity.
pub(super) fn load_stats(tx: &mut Tx<'_>, query: &StatsQuery) -> Result<(usize, Value), Fault> {
    let count = query.bucket_count();
    let names: Vec<NamedMetric> =
        query.groups.iter().flat_map(|group| metrics_of_group(group, &query.kind, query.vocabulary)).collect();
    if query.segments.is_some() {
        let series = sum_by_segment(tx, query)?;
        return Ok((count, segments_json(query, &names, &series)));
    }
    let series = if query.kind == "ORGANIC_POST" { sum_organic(tx, query)? } else { sum_by_entity(tx, query)? };
    let empty = vec![MetricSums::default(); count];
    let entities = query.ids.iter().map(|id| {
        let buckets = series.get(id).unwrap_or(&empty);
        let metrics = metrics_json(&names, buckets);
        let one = json!({ "segment": null, "metrics": metrics });
        json!({ "id": query.format_entity_id(*id), "id_data": [one] })
    });
    Ok((count, entities.collect()))
}

/// Metrics that count nothing in any bucket are `null`; others are zero where they count nothing.
fn metrics_json(names: &[NamedMetric], buckets: &[MetricSums]) -> Map<String, Value> {
    let values = |metric: &Option<Metric>| -> Value {
        let Some(metric) = metric else {
            return Value::Null;
        };
        let all: Vec<i64> = buckets.iter().map(|sums| sums.get(*metric)).collect();
        if all.iter().all(|value| *value == 0) { Value::Null } else { all.into() }
    };
    names.iter().map(|(name, metric)| (name.clone(), values(metric))).collect()
}

fn sum_by_entity(tx: &mut Tx<'_>, query: &StatsQuery) -> Result<HashMap<i64, MetricBuckets>, Fault> {
    let count = query.bucket_count();
    let span = (query.from, query.to);
    let mut series: HashMap<i64, MetricBuckets> = HashMap::new();
    for (id, hour, sums) in ledger::hourly_sums(tx, query.ledger_entity(), &query.ids, span, query.placement_group())? {
        let buckets = series.entry(id).or_insert_with(|| vec![MetricSums::default(); count]);
        if let Some(bucket) = buckets.get_mut(query.bucket_index(Time::from_ms(hour))) {
            bucket.merge(&sums);
        }
    }
    Ok(series)
}

/// Engagement with posts, minus what is attributed to their promotion.
fn sum_organic(tx: &mut Tx<'_>, query: &StatsQuery) -> Result<HashMap<i64, MetricBuckets>, Fault> {
    let (length, count) = (query.interval_ms(), query.bucket_count());
    let promoted = sum_by_entity(tx, query)?;
    let empty = vec![MetricSums::default(); count];
    let mut lines = HashMap::new();
    for id in &query.ids {
        let mut buckets = empty.clone();
        for (series, metric) in [
            (MetricSeries::Likes, Metric::Likes),
            (MetricSeries::Replies, Metric::Replies),
            (MetricSeries::Reposts, Metric::Reposts),
        ] {
            let span = (query.from, query.to);
            for (place, number) in analytics::count_post_series(tx, series, PostId::new(*id), span, length)? {
                if let Some(sums) = buckets.get_mut(query.bucket_of_interval(place)) {
                    sums.add(metric, number);
                }
            }
        }
        add_hourly_counts(tx, query, PostId::new(*id), &mut buckets)?;
        let attributed = promoted.get(id).unwrap_or(&empty);
        for (sums, less) in buckets.iter_mut().zip(attributed) {
            let mut own = MetricSums::default();
            own.add(Metric::Impressions, (sums.get(Metric::Impressions) - less.get(Metric::Impressions)).max(0));
            own.add(Metric::UrlClicks, sums.get(Metric::UrlClicks));
            own.add(Metric::Clicks, sums.get(Metric::UrlClicks));
            own.add(Metric::Engagements, sums.get(Metric::UrlClicks));
            for metric in [Metric::Likes, Metric::Replies, Metric::Reposts] {
                let number = (sums.get(metric) - less.get(metric)).max(0);
                own.add(metric, number);
                own.add(Metric::Engagements, number);
            }
            *sums = own;
        }
        lines.insert(*id, buckets);
    }
    Ok(lines)
}

/// Impressions, and link clicks except those on ads.
fn add_hourly_counts(
    tx: &mut Tx<'_>,
    query: &StatsQuery,
    post: PostId,
    buckets: &mut [MetricSums],
) -> Result<(), Fault> {
    let hours = (hour_number(query.from), hour_number(query.to));
    for (counts, hour) in views::hourly_counts(tx, post, hours)? {
        if let Some(sums) = buckets.get_mut(query.bucket_index(Time::from_ms(hour.saturating_mul(HOUR_MS)))) {
            sums.add(Metric::Impressions, counts.impressions);
            sums.add(Metric::UrlClicks, counts.link_clicks);
        }
    }
    Ok(())
}

type SegmentedBuckets = BTreeMap<i64, BTreeMap<String, MetricBuckets>>;

/// Aggregates from event rows, because the stored sums do not know the viewers.
fn sum_by_segment(tx: &mut Tx<'_>, query: &StatsQuery) -> Result<SegmentedBuckets, Fault> {
    let (length, count) = (query.interval_ms(), query.bucket_count());
    let entity = query.ledger_entity();
    let attributed = line_items_by_entity(tx, query.account, entity, &query.ids)?;
    let mut items: Vec<i64> = attributed.values().flatten().copied().collect();
    items.sort_unstable();
    items.dedup();
    // A country may be given as a place id or as two letters.
    let asked = query.country.as_deref().unwrap_or_default();
    let country = match gazetteer().find_by_id(asked) {
        Some(place) => place.country.to_owned(),
        None => asked.to_ascii_uppercase(),
    };
    let platform = query.platform.as_deref();
    let cut = ReportFilter {
        from: query.from,
        to: query.to,
        interval_ms: length,
        group: query.placement_group(),
        segment: query.ledger_segment(),
        country: &country,
        platform: platform.map(|platform| platform.parse().unwrap_or(i64::MAX)),
    };
    let mut series = SegmentedBuckets::new();
    if query.ledger_segment() == ReportSegment::None {
        // Conversions are not recorded.
        return Ok(series);
    }
    for part in ledger::load_report(tx, &items, &cut)? {
        for id in matching_entities(entity, &part, &attributed) {
            let segments = series.entry(id).or_default();
            let buckets = segments.entry(part.segment.clone());
            let buckets = buckets.or_insert_with(|| vec![MetricSums::default(); count]);
            if let Some(sums) = buckets.get_mut(query.bucket_of_interval(part.interval)) {
                sums.count_events(part.kind, part.count, part.billed, part.charge);
            }
        }
    }
    Ok(series)
}

fn matching_entities(entity: AdEntity, part: &ReportRow, attributed: &BTreeMap<i64, Vec<i64>>) -> Vec<i64> {
    let creative = matches!(entity, AdEntity::PromotedPost | AdEntity::PromotedAccount | AdEntity::MediaCreative);
    let own = attributed
        .iter()
        .filter(|(id, items)| items.contains(&part.line_item_id) && (!creative || part.creative == (entity, **id)));
    own.map(|(id, _)| *id).collect()
}

fn segments_json(query: &StatsQuery, names: &[NamedMetric], series: &SegmentedBuckets) -> Value {
    let none = BTreeMap::new();
    let entities = query.ids.iter().map(|id| {
        let segments = series.get(id).unwrap_or(&none).iter();
        let data: Vec<Value> = segments
            .map(|(value, buckets)| {
                json!({
                    "segment": {
                        "segment_name": segment_name(query.ledger_segment(), value),
                        "segment_value": segment_value(value),
                    },
                    "metrics": metrics_json(names, buckets),
                })
            })
            .collect();
        json!({ "id": query.format_entity_id(*id), "id_data": data })
    });
    entities.collect()
}

/// The sums of each segment in the first interval, by its name.
pub(super) fn named_segment_sums(tx: &mut Tx<'_>, query: &StatsQuery) -> Result<Vec<(String, MetricSums)>, Fault> {
    let segments = sum_by_segment(tx, query)?.into_values().flatten();
    let named = segments.filter_map(|(value, buckets)| {
        let name = segment_name(query.ledger_segment(), &value);
        Some((name, buckets.into_iter().next()?))
    });
    Ok(named.collect())
}

fn segment_value(value: &str) -> &str {
    if value.is_empty() { "UNKNOWN" } else { value }
}

/// The minimum age and name of each age segment.
const AGES: &[(i64, &str)] = &[
    (55, "AGE_OVER_55"),
    (50, "AGE_50_TO_54"),
    (35, "AGE_35_TO_49"),
    (25, "AGE_25_TO_34"),
    (21, "AGE_21_TO_24"),
    (18, "AGE_18_TO_20"),
    (13, "AGE_13_TO_17"),
];

/// The minimum age of the segment that contains an age.
pub fn age_bucket(age: i64) -> Option<i64> {
    let mut all = AGES.iter().map(|(min_age, _)| *min_age);
    all.find(|min_age| age >= *min_age)
}

fn segment_name(segment: ReportSegment, value: &str) -> String {
    if value.is_empty() {
        return "Unknown".to_owned();
    }
    let name = match (segment, value) {
        (ReportSegment::Gender, "1") => "Male",
        (ReportSegment::Gender, "2") => "Female",
        (ReportSegment::Platform, "0") => "iOS",
        (ReportSegment::Platform, "1") => "Android",
        (ReportSegment::Platform, "2") => "BlackBerry",
        (ReportSegment::Platform, "3") => "Mobile web and other",
        (ReportSegment::Platform, "4") => "Desktop",
        (ReportSegment::Metro, _) => {
            let place = gazetteer().find_by_id(value);
            place.map_or(value, |place| place.name)
        }
        (ReportSegment::Age, _) => {
            let min_age = value.parse().unwrap_or(0);
            let found = AGES.iter().find(|(bucket, _)| *bucket == min_age);
            found.map_or(value, |(_, name)| *name)
        }
        _ => value,
    };
    name.to_owned()
}
