//! Attributed conversions: what they were, and hourly sums of them by entity, kind and tag.
//!
//! Each has an event of kind [`super::AdEventKind::Conversion`] in the ledger, which counts it and says where the ad was
//! shown, but not to whom. The sums here are a table of their own, because most entities have few of the kinds of
//! conversions. A sum of sales ends at the highest number: visitors' browsers report them, and must not stop others.

use std::collections::BTreeMap;

use base::{Fault, Time};

use super::insertion::{add_activity, counted_entities, group_bit};
use super::{AdEntity, AdEvent, ConversionKind, ConversionPath, ConversionSource, Placement, ReportFilter, hour_start};
use crate::Tx;
use crate::db::{DeclaredRow, insert, insert_new, row, select};

/// What the conversion of an event was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdConversion {
    pub source: ConversionSource,
    pub kind: ConversionKind,
    /// The web or app event tag.
    pub tag_id: i64,
    pub path: ConversionPath,
    /// The impression or promoted post that it is attributed to.
    pub impression_id: i64,
    /// Of all people that the event stands for.
    pub order_quantity: i64,
    /// Micros of the account's currency, of all people that the event stands for; `None` if there is no exchange rate.
    pub sale_amount_micro: Option<i64>,
}

row! {
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct ConversionTotals {
        pub post_view: i64,
        pub post_engagement: i64,
        /// Attributed to other ads, after the viewer had been shown this one.
        pub assisted: i64,
        pub order_quantity: i64,
        /// Micros of the account's currency.
        pub sale_amount_micro: i64,
        /// Conversions with a sale that is not in the amount, because there is no exchange rate.
        pub unconverted_sales: i64,
    }
}

impl ConversionTotals {
    pub fn merge(&mut self, other: &Self) {
        let sums = [
            (&mut self.post_view, other.post_view),
            (&mut self.post_engagement, other.post_engagement),
            (&mut self.assisted, other.assisted),
            (&mut self.order_quantity, other.order_quantity),
            (&mut self.sale_amount_micro, other.sale_amount_micro),
            (&mut self.unconverted_sales, other.unconverted_sales),
        ];
        for (sum, more) in sums {
            *sum = sum.saturating_add(more);
        }
    }

    /// `people` is the weight of the event.
    fn of(conversion: &AdConversion, people: i64) -> Self {
        let (post_view, post_engagement) = match conversion.path {
            ConversionPath::View => (people, 0),
            ConversionPath::Engagement => (0, people),
        };
        Self {
            post_view,
            post_engagement,
            assisted: 0,
            order_quantity: conversion.order_quantity,
            sale_amount_micro: conversion.sale_amount_micro.unwrap_or(0),
            unconverted_sales: if conversion.sale_amount_micro.is_none() { people } else { 0 },
        }
    }
}

row! {
    /// The sums of an entity in an hour.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct ConversionSums from "ad_conversion_hour" {
        pub entity_id: i64,
        pub hour: Time,
        pub source: ConversionSource,
        pub kind: ConversionKind,
        pub tag_id: i64,
        pub totals: ConversionTotals as "post_view, post_engagement, assisted, order_quantity, \
            sale_amount_micro, unconverted_sales",
    }
}

type SumKey = (i64, i64, i64, i64, i64, i64, i64);

fn sum_key(event: &AdEvent, (entity, id): (AdEntity, i64), conversion: &AdConversion) -> SumKey {
    let hour = hour_start(event.at.ms(), event.hour_offset_ms);
    (
        entity.to_number(),
        id,
        hour,
        event.placement.group().to_number(),
        conversion.source.to_number(),
        conversion.kind.to_number(),
        conversion.tag_id,
    )
}

/// Stores what the conversions of events were. The events are new ones of kind [`super::AdEventKind::Conversion`], inserted in
/// the same transaction.
pub fn insert_conversions(tx: &mut Tx<'_>, conversions: &[(&AdEvent, AdConversion)]) -> Result<(), Fault> {
    let mut sums: BTreeMap<SumKey, ConversionTotals> = BTreeMap::new();
    for (event, conversion) in conversions {
        insert!(
            tx,
            "ad_conversion",
            line_item_id = event.line_item_id,
            event_time = event.at,
            event_id = event.id,
            source = conversion.source.to_number(),
            tag_id = conversion.tag_id,
            kind = conversion.kind.to_number(),
            path = conversion.path.to_number(),
            impression_id = conversion.impression_id,
            order_quantity = conversion.order_quantity,
            sale_amount_micro = conversion.sale_amount_micro.unwrap_or(0),
            unconverted_sales = i64::from(conversion.sale_amount_micro.is_none())
        )?;
        for entity in counted_entities(event) {
            sums.entry(sum_key(event, entity, conversion))
                .or_default()
                .merge(&ConversionTotals::of(conversion, event.weight));
        }
    }
    add_sums(tx, &sums)
}

/// Counts a conversion for the ads that a viewer was shown before the one that it is attributed to, except entities
/// that the two share.
pub fn assist_conversions(
    tx: &mut Tx<'_>,
    conversion: (&AdEvent, AdConversion),
    shown: &[AdEvent],
) -> Result<(), Fault> {
    let (event, conversion) = conversion;
    let own: Vec<(AdEntity, i64)> = counted_entities(event).collect();
    let (at, recorded) = (event.at.ms(), hour_start(tx.now().ms(), event.hour_offset_ms));
    let mut sums: BTreeMap<SumKey, ConversionTotals> = BTreeMap::new();
    let mut active: BTreeMap<[i64; 4], i64> = BTreeMap::new();
    let assisted = ConversionTotals { assisted: 1, ..ConversionTotals::default() };
    for ad in shown {
        let at_event = AdEvent { at: event.at, hour_offset_ms: event.hour_offset_ms, ..ad.clone() };
        for entity in counted_entities(ad).filter(|entity| !own.contains(entity)) {
            sums.insert(sum_key(&at_event, entity, &conversion), assisted);
            let key = [event.account_id, entity.0.to_number(), recorded, entity.1];
            *active.entry(key).or_default() |= group_bit(ad.placement.group().to_number());
        }
    }
    add_sums(tx, &sums)?;
    for (key, groups) in active {
        add_activity(tx, key, (at, at, groups))?;
    }
    Ok(())
}

fn add_sums(tx: &mut Tx<'_>, sums: &BTreeMap<SumKey, ConversionTotals>) -> Result<(), Fault> {
    let sql = "INSERT INTO ad_conversion_hour (entity, entity_id, hour, placement, source, kind, tag_id, post_view, \
               post_engagement, assisted, order_quantity, sale_amount_micro, unconverted_sales) \
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) \
               ON CONFLICT (entity, entity_id, hour, placement, source, kind, tag_id) DO UPDATE SET \
               post_view = ad_conversion_hour.post_view + excluded.post_view, \
               post_engagement = ad_conversion_hour.post_engagement + excluded.post_engagement, \
               assisted = ad_conversion_hour.assisted + excluded.assisted, \
               order_quantity = ad_conversion_hour.order_quantity + excluded.order_quantity, \
               unconverted_sales = ad_conversion_hour.unconverted_sales + excluded.unconverted_sales, \
               sale_amount_micro = CASE \
               WHEN ad_conversion_hour.sale_amount_micro > 9223372036854775807 - excluded.sale_amount_micro \
               THEN 9223372036854775807 ELSE ad_conversion_hour.sale_amount_micro + excluded.sale_amount_micro END";
    // A fixed order, so that concurrent transactions do not deadlock.
    for ((entity, id, hour, placement, source, kind, tag), totals) in sums {
        let key = [*entity, *id, *hour, *placement, *source, *kind, *tag];
        let values = [
            totals.post_view,
            totals.post_engagement,
            totals.assisted,
            totals.order_quantity,
            totals.sale_amount_micro,
            totals.unconverted_sales,
        ];
        let args: Vec<_> = key.into_iter().chain(values).map(Into::into).collect();
        tx.execute_later(sql, &args)?;
    }
    Ok(())
}

/// The sums of entities in a period and placement group; hours without conversions are omitted.
pub fn hourly_conversions(
    tx: &mut Tx<'_>,
    entity: AdEntity,
    ids: &[i64],
    (from, to): (Time, Time),
    group: Placement,
) -> Result<Vec<ConversionSums>, Fault> {
    let sql =
        select!(ConversionSums, "WHERE entity_id = $1 AND entity = $2 AND hour >= $3 AND hour < $4 AND placement = $5");
    let more = [entity.to_number().into(), from.into(), to.into(), group.to_number().into()];
    tx.query_by_keys(sql, ids, &more)
}

row! {
    /// Conversions of one creative, interval, segment, source and kind.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct ConversionReportRow {
        pub line_item_id: i64,
        pub creative: (AdEntity, i64) as "creative, creative_id",
        /// The interval's index.
        pub interval: i64 as "(event_time - $2) / $8",
        /// Empty if unknown.
        pub segment: String,
        pub source: ConversionSource,
        pub kind: ConversionKind,
        pub totals: ConversionTotals as "CAST(SUM(CASE WHEN path = 1 THEN weight ELSE 0 END) AS BIGINT), \
            CAST(SUM(CASE WHEN path = 2 THEN weight ELSE 0 END) AS BIGINT), CAST(0 AS BIGINT), \
            CAST(SUM(order_quantity) AS BIGINT), CAST(CASE WHEN SUM(sale_amount_micro / 1000000) >= 9000000000000 \
            THEN 9223372036854775807 ELSE SUM(sale_amount_micro / 1000000) * 1000000 \
            + SUM(sale_amount_micro % 1000000) END AS BIGINT), \
            CAST(SUM(unconverted_sales * weight) AS BIGINT)",
    }
}

/// As [`super::load_report`]; assists are not segmented.
pub fn load_conversion_report(
    tx: &mut Tx<'_>,
    line_items: &[i64],
    filter: &ReportFilter<'_>,
) -> Result<Vec<ConversionReportRow>, Fault> {
    let (own, more) = filter.select_events();
    let columns = ConversionReportRow::COLUMNS;
    let sql = format!(
        "WITH own AS ({own}), found AS (SELECT own.line_item_id, own.event_time, own.creative, own.creative_id, \
         own.segment, own.weight, what.source, what.kind, what.path, what.order_quantity, \
         what.sale_amount_micro, what.unconverted_sales \
         FROM own JOIN ad_conversion what ON what.line_item_id = own.line_item_id \
         AND what.event_time = own.event_time AND what.event_id = own.id) \
         SELECT {columns} FROM found GROUP BY 1, 2, 3, 4, 5, 6, 7"
    );
    tx.query_by_keys(&sql, line_items, &more)
}

/// Notes that a tag got the conversion with this digest of its id; false if it had got it before.
pub fn record_conversion_key(tx: &mut Tx<'_>, tag: i64, digest: i64) -> Result<bool, Fault> {
    let now = tx.now();
    insert_new!(tx, "conversion_key", tag_id = tag, digest = digest, recorded_at = now)
}

pub fn has_conversion_key(tx: &mut Tx<'_>, tag: i64, digest: i64) -> Result<bool, Fault> {
    let sql = "SELECT 1 FROM conversion_key WHERE tag_id = $1 AND digest = $2";
    tx.row_exists(sql, &[tag.into(), digest.into()])
}

/// Returns how many rows were deleted.
pub fn prune_conversion_keys(tx: &mut Tx<'_>, before: Time, limit: i64) -> Result<u64, Fault> {
    let sql = "DELETE FROM conversion_key WHERE (tag_id, digest) IN \
               (SELECT tag_id, digest FROM conversion_key WHERE recorded_at < $1 LIMIT $2)";
    tx.execute(sql, &[before.into(), limit.into()])
}
