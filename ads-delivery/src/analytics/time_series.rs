//! Statistics as time series.

use std::collections::{BTreeMap, HashMap};

use ads::gazetteer::gazetteer;
use ads::resources::web_event_tags::WEB_EVENT_TAG;
use ads::targeting_values::PLATFORMS;
use base::{Fault, PostId, Time, sorted_distinct};
use serde_json::{Map, Value, json};
use store::Tx;
use store::analytics::{self, MetricSeries};
use store::ledger::{
    self, AdEntity, ConversionKind, ConversionSource, ConversionTotals, Metric, MetricSums, ReportFilter, ReportSegment,
};
use store::views::{self, HOUR_MS, hour_number};

use super::metrics::{MetricSource, NamedMetric, metrics_of_group};
use super::small_segments::{is_demographic, withhold_small_segments};
use super::stats_query::StatsQuery;
use crate::ledger::{line_items_by_entity, records_by_ids};

/// Metric sums per bucket.
type MetricBuckets = Vec<MetricSums>;

/// Conversions per bucket, by where and what they are.
type ConversionBuckets = BTreeMap<(ConversionSource, ConversionKind), Vec<ConversionTotals>>;

/// The numbers of an entity, or of a segment of one.
#[derive(Clone, Debug, Default)]
struct EntitySeries {
    sums: MetricBuckets,
    conversions: ConversionBuckets,
}

impl EntitySeries {
    fn new(buckets: usize) -> Self {
        Self { sums: vec![MetricSums::default(); buckets], conversions: ConversionBuckets::new() }
    }

    fn add_conversions(&mut self, bucket: usize, kind: (ConversionSource, ConversionKind), totals: &ConversionTotals) {
        let count = self.sums.len();
        let buckets = self.conversions.entry(kind).or_insert_with(|| vec![ConversionTotals::default(); count]);
        if let Some(sums) = buckets.get_mut(bucket) {
            sums.merge(totals);
        }
    }
}

/// The number of buckets and the data of each entity.
pub(super) fn load_stats(tx: &mut Tx<'_>, query: &StatsQuery) -> Result<(usize, Value), Fault> {
    let count = query.bucket_count();
    let names: Vec<NamedMetric> =
        query.groups.iter().flat_map(|group| metrics_of_group(group, &query.kind, query.vocabulary)).collect();
    if query.segments.is_some() {
        let series = sum_by_segment(tx, query)?;
        let tags = load_tag_names(tx, query, &series)?;
        return Ok((count, segments_json(query, &names, &series, &tags)));
    }
    let series = load_unsegmented(tx, query, has_conversions(&names))?;
    let empty = EntitySeries::new(count);
    let entities = query.ids.iter().map(|id| {
        let metrics = metrics_json(query, &names, series.get(id).unwrap_or(&empty));
        let one = json!({ "segment": null, "metrics": metrics });
        json!({ "id": query.format_entity_id(*id), "id_data": [one] })
    });
    Ok((count, entities.collect()))
}

fn load_unsegmented(
    tx: &mut Tx<'_>,
    query: &StatsQuery,
    has_conversions: bool,
) -> Result<HashMap<i64, EntitySeries>, Fault> {
    if query.counts_events() {
        let series = sum_by_segment(tx, query)?.into_iter();
        return Ok(series.filter_map(|(id, segments)| Some((id, segments.into_values().next()?))).collect());
    }
    let mut sums = if query.kind == "ORGANIC_POST" { sum_organic(tx, query)? } else { sum_by_entity(tx, query)? };
    let mut entities: HashMap<i64, EntitySeries> = HashMap::new();
    for id in &query.ids {
        let mut one = EntitySeries::new(query.bucket_count());
        if let Some(sums) = sums.remove(id) {
            one.sums = sums;
        }
        entities.insert(*id, one);
    }
    if has_conversions {
        add_hourly_conversions(tx, query, &mut entities)?;
    }
    Ok(entities)
}

fn has_conversions(names: &[NamedMetric]) -> bool {
    names.iter().any(|(_, source)| matches!(source, MetricSource::Conversions(..)))
}

fn add_hourly_conversions(
    tx: &mut Tx<'_>,
    query: &StatsQuery,
    entities: &mut HashMap<i64, EntitySeries>,
) -> Result<(), Fault> {
    let span = (query.from, query.to);
    for sums in ledger::hourly_conversions(tx, query.ledger_entity(), &query.ids, span, query.placement_group())? {
        if let Some(series) = entities.get_mut(&sums.entity_id) {
            series.add_conversions(query.bucket_index(sums.hour), (sums.source, sums.kind), &sums.totals);
        }
    }
    Ok(())
}

/// Metrics that count nothing in any bucket are `null`; others are zero where they count nothing.
fn metrics_json(query: &StatsQuery, names: &[NamedMetric], series: &EntitySeries) -> Map<String, Value> {
    let values = |source: &MetricSource| match source {
        MetricSource::Events(metric) => {
            let all: Vec<i64> = series.sums.iter().map(|sums| sums.get(*metric)).collect();
            if all.iter().all(|value| *value == 0) { Value::Null } else { all.into() }
        }
        MetricSource::Conversions(source, kind) => {
            let buckets = series.conversions.get(&(*source, *kind));
            buckets.map_or(Value::Null, |buckets| conversions_json(buckets, !query.counts_events()))
        }
        MetricSource::Untracked => Value::Null,
    };
    names.iter().map(|(name, source)| (name.clone(), values(source))).collect()
}

/// Only sums know the ads that assisted, single events do not. An amount that lacks a sale is not told.
fn conversions_json(buckets: &[ConversionTotals], has_assists: bool) -> Value {
    let values = |number: fn(&ConversionTotals) -> i64| buckets.iter().map(number).collect::<Vec<i64>>();
    let is_converted = buckets.iter().all(|totals| totals.unconverted_sales == 0);
    let sale_amount = is_converted.then(|| values(|totals| totals.sale_amount_micro));
    let assisted = has_assists.then(|| values(|totals| totals.assisted));
    json!({
        "post_view": values(|totals| totals.post_view),
        "post_engagement": values(|totals| totals.post_engagement),
        "assisted": assisted,
        "order_quantity": values(|totals| totals.order_quantity),
        "sale_amount": sale_amount,
    })
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

/// Engagement with posts, minus what is attributed to their promotion in any placement.
fn sum_organic(tx: &mut Tx<'_>, query: &StatsQuery) -> Result<HashMap<i64, MetricBuckets>, Fault> {
    let (length, count) = (query.interval_ms(), query.bucket_count());
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
        let mut attributed = empty.clone();
        for (hour, sums) in ledger::hourly_sums_of_post(tx, PostId::new(*id), (query.from, query.to))? {
            if let Some(bucket) = attributed.get_mut(query.bucket_index(hour)) {
                bucket.merge(&sums);
            }
        }
        for (sums, less) in buckets.iter_mut().zip(&attributed) {
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

/// Impressions, and link clicks except those on ads. They are counted by hours of UTC, which another time zone may divide:
/// each counts where it ends, so that it is in one of two windows or intervals that meet.
fn add_hourly_counts(
    tx: &mut Tx<'_>,
    query: &StatsQuery,
    post: PostId,
    buckets: &mut [MetricSums],
) -> Result<(), Fault> {
    let hours = (hour_number(query.from), hour_number(query.to));
    for (counts, hour) in views::hourly_counts(tx, post, hours)? {
        let end = Time::from_ms((hour + 1).saturating_mul(HOUR_MS));
        if let Some(sums) = buckets.get_mut(query.bucket_index(end.plus_ms(-1))) {
            sums.add(Metric::Impressions, counts.impressions);
            sums.add(Metric::UrlClicks, counts.link_clicks);
        }
    }
    Ok(())
}

type SegmentedSeries = BTreeMap<i64, BTreeMap<String, EntitySeries>>;

/// Aggregates from event rows, because the stored sums do not know the viewers.
fn sum_by_segment(tx: &mut Tx<'_>, query: &StatsQuery) -> Result<SegmentedSeries, Fault> {
    if query.segments.as_deref() == Some("CONVERSION_TAGS") {
        return sum_by_tag(tx, query);
    }
    let (length, count) = (query.interval_ms(), query.bucket_count());
    let entity = query.ledger_entity();
    let attributed = line_items_by_entity(tx, query.account, entity, &query.ids)?;
    let items = sorted_distinct(attributed.values().flatten().copied());
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
    let mut series = SegmentedSeries::new();
    for part in ledger::load_report(tx, &items, &cut)? {
        for id in matching_entities(entity, (part.line_item_id, part.creative), &attributed) {
            let segments = series.entry(id).or_default();
            let own = segments.entry(part.segment.clone()).or_insert_with(|| EntitySeries::new(count));
            if let Some(sums) = own.sums.get_mut(query.bucket_of_interval(part.interval)) {
                sums.count_events(part.kind, part.count, part.billed, part.charge);
            }
        }
    }
    let entities_of = |event| matching_entities(entity, event, &attributed);
    let conversions = ["WEB_CONVERSION", "MOBILE_CONVERSION", "LIFE_TIME_VALUE_MOBILE_CONVERSION"];
    if query.groups.iter().any(|group| conversions.contains(&group.as_str())) {
        for part in ledger::load_conversion_report(tx, &items, &cut)? {
            for id in entities_of((part.line_item_id, part.creative)) {
                let segments = series.entry(id).or_default();
                let own = segments.entry(part.segment.clone()).or_insert_with(|| EntitySeries::new(count));
                let bucket = query.bucket_of_interval(part.interval);
                own.add_conversions(bucket, (part.source, part.kind), &part.totals);
            }
        }
    }
    if query.min_viewers > 1 && is_demographic(cut.segment) {
        withhold_small_segments(tx, (&items, &cut), query.min_viewers, entities_of, &mut series)?;
    }
    Ok(series)
}

/// Web conversions by the id of their tag.
fn sum_by_tag(tx: &mut Tx<'_>, query: &StatsQuery) -> Result<SegmentedSeries, Fault> {
    let (span, count) = ((query.from, query.to), query.bucket_count());
    let mut series = SegmentedSeries::new();
    for sums in ledger::hourly_conversions(tx, query.ledger_entity(), &query.ids, span, query.placement_group())? {
        if sums.source == ConversionSource::Web {
            let tag = WEB_EVENT_TAG.id_format.format(sums.tag_id);
            let segments = series.entry(sums.entity_id).or_default();
            let own = segments.entry(tag).or_insert_with(|| EntitySeries::new(count));
            own.add_conversions(query.bucket_index(sums.hour), (sums.source, sums.kind), &sums.totals);
        }
    }
    Ok(series)
}

fn matching_entities(
    entity: AdEntity,
    (line_item, shown): (i64, (AdEntity, i64)),
    attributed: &BTreeMap<i64, Vec<i64>>,
) -> Vec<i64> {
    let creative = matches!(entity, AdEntity::PromotedPost | AdEntity::PromotedAccount | AdEntity::MediaCreative);
    let own =
        attributed.iter().filter(|(id, items)| items.contains(&line_item) && (!creative || shown == (entity, **id)));
    own.map(|(id, _)| *id).collect()
}

/// The names of web event tags by their ids.
fn load_tag_names(
    tx: &mut Tx<'_>,
    query: &StatsQuery,
    series: &SegmentedSeries,
) -> Result<HashMap<String, String>, Fault> {
    if query.segments.as_deref() != Some("CONVERSION_TAGS") {
        return Ok(HashMap::new());
    }
    let ids = series.values().flat_map(BTreeMap::keys).filter_map(|id| WEB_EVENT_TAG.id_format.parse(id));
    let tags = records_by_ids(tx, &WEB_EVENT_TAG, &ids.collect::<Vec<i64>>())?;
    Ok(tags.into_values().map(|tag| (tag.formatted_id(), tag.text("name").to_owned())).collect())
}

fn segments_json(
    query: &StatsQuery,
    names: &[NamedMetric],
    series: &SegmentedSeries,
    tags: &HashMap<String, String>,
) -> Value {
    let none = BTreeMap::new();
    let entities = query.ids.iter().map(|id| {
        let segments = series.get(id).unwrap_or(&none).iter();
        let data: Vec<Value> = segments
            .map(|(value, series)| {
                json!({
                    "segment": {
                        "segment_name":
                            tags.get(value).cloned().unwrap_or_else(|| segment_name(query.ledger_segment(), value)),
                        "segment_value": segment_value(value),
                    },
                    "metrics": metrics_json(query, names, series),
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
    let named = segments.filter_map(|(value, series)| {
        let name = segment_name(query.ledger_segment(), &value);
        Some((name, series.sums.into_iter().next()?))
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
        (ReportSegment::Platform, _) => {
            let platform = PLATFORMS.iter().find(|(known, _)| *known == value);
            platform.map_or(value, |(_, name)| *name)
        }
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
