//! Ledger queries, answered from sums where possible and from events otherwise.

use base::{Fault, Time, UserId};

use super::vocabulary::{PLACEMENT_GROUP_SIZE, metric_columns};
use super::{AdEntity, AdEvent, AdEventKind, AdEventOrigin, METRIC_COUNT, MetricSums, Placement, ViewerTraits};
use crate::Tx;
use crate::db::SqlRow;

fn sums_from_row(row: &SqlRow<'_, '_>, from: usize) -> Result<MetricSums, Fault> {
    let mut all = [0; METRIC_COUNT];
    for (place, sum) in all.iter_mut().enumerate() {
        *sum = row.int(from + place)?;
    }
    Ok(MetricSums(all))
}

/// Entity, start of the hour, and sums, in a period and placement group. Empty hours are omitted.
pub fn hourly_sums(
    tx: &mut Tx<'_>,
    entity: AdEntity,
    ids: &[i64],
    (from, to): (Time, Time),
    group: Placement,
) -> Result<Vec<(i64, i64, MetricSums)>, Fault> {
    let sql = concat!(
        "SELECT ",
        metric_columns!(),
        "entity_id, hour FROM ad_hour WHERE entity_id = $1 AND entity = $2 AND hour >= $3 \
         AND hour < $4 AND placement = $5"
    );
    let more = [entity.to_number().into(), from.into(), to.into(), group.to_number().into()];
    tx.query_by_keys(sql, ids, &more, |row| {
        Ok((row.int(METRIC_COUNT)?, row.int(METRIC_COUNT + 1)?, sums_from_row(row, 0)?))
    })
}

/// Entity, total sums, and the uncharged thousandths of a micro; entities without events are omitted.
pub fn total_sums_by_entity(
    tx: &mut Tx<'_>,
    entity: AdEntity,
    ids: &[i64],
) -> Result<Vec<(i64, MetricSums, i64)>, Fault> {
    let sql =
        concat!("SELECT ", metric_columns!(), "entity_id, owed FROM ad_total WHERE entity_id = $1 AND entity = $2");
    tx.query_by_keys(sql, ids, &[entity.to_number().into()], |row| {
        Ok((row.int(METRIC_COUNT)?, sums_from_row(row, 0)?, row.int(METRIC_COUNT + 1)?))
    })
}

pub fn total_sums(tx: &mut Tx<'_>, entity: AdEntity, id: i64) -> Result<MetricSums, Fault> {
    let found = total_sums_by_entity(tx, entity, &[id])?;
    Ok(found.first().map(|(_, sums, _)| *sums).unwrap_or_default())
}

/// Micros per entity; entities without events are omitted.
pub fn total_spend(tx: &mut Tx<'_>, entity: AdEntity, ids: &[i64]) -> Result<Vec<(i64, i64)>, Fault> {
    let sql = "SELECT entity_id, charge_micro FROM ad_total WHERE entity_id = $1 AND entity = $2";
    tx.query_by_keys(sql, ids, &[entity.to_number().into()], |row| Ok((row.int(0)?, row.int(1)?)))
}

/// Micros per entity between the starts of two hours.
pub fn spend_between(
    tx: &mut Tx<'_>,
    entity: AdEntity,
    ids: &[i64],
    (from, to): (Time, Time),
) -> Result<Vec<(i64, i64)>, Fault> {
    let sql = "SELECT entity_id, CAST(SUM(charge_micro) AS BIGINT) FROM ad_hour \
               WHERE entity_id = $1 AND entity = $2 AND hour >= $3 AND hour < $4 \
               GROUP BY entity_id";
    let more = [entity.to_number().into(), from.into(), to.into()];
    tx.query_by_keys(sql, ids, &more, |row| Ok((row.int(0)?, row.int(1)?)))
}

macro_rules! columns {
    () => {
        "line_item_id, event_time, id, kind, account_id, funding_instrument_id, campaign_id, \
         creative, creative_id, subject, viewer, placement, platform, country, metro, age, gender, \
         price_micro, billed, charge_micro, origin, once"
    };
}

fn event_from_row(row: &SqlRow<'_, '_>) -> Result<AdEvent, Fault> {
    let unknown = || Fault::new("unknown number in a ledger row");
    Ok(AdEvent {
        line_item_id: row.int(0)?,
        at: row.time(1)?,
        id: row.int(2)?,
        kind: AdEventKind::from_number(row.int(3)?).ok_or_else(unknown)?,
        account_id: row.int(4)?,
        funding_id: row.int(5)?,
        campaign_id: row.int(6)?,
        creative: AdEntity::from_number(row.int(7)?).ok_or_else(unknown)?,
        creative_id: row.int(8)?,
        subject_id: row.int(9)?,
        viewer_id: row.int(10)?,
        placement: Placement::from_number(row.int(11)?).ok_or_else(unknown)?,
        viewer_traits: ViewerTraits {
            platform: row.opt_int(12)?,
            country: row.text(13)?,
            metro: row.text(14)?,
            age: row.opt_int(15)?,
            gender: row.opt_int(16)?,
        },
        price_micro: row.int(17)?,
        billed: row.bool(18)?,
        charge_micro: row.int(19)?,
        origin: AdEventOrigin::from_number(row.int(20)?).ok_or_else(unknown)?,
        impression_id: row.int(21)?,
        hour_offset_ms: 0,
    })
}

/// Pairs of impression and event kind.
pub fn event_kinds_by_impressions(tx: &mut Tx<'_>, impressions: &[i64]) -> Result<Vec<(i64, AdEventKind)>, Fault> {
    let sql = "SELECT once, kind FROM ad_event WHERE once = $1";
    let rows = tx.query_by_keys(sql, impressions, &[], |row| Ok((row.int(0)?, row.int(1)?)))?;
    let kinds_by_id = rows.into_iter();
    Ok(kinds_by_id.filter_map(|(once, kind)| Some((once, AdEventKind::from_number(kind)?))).collect())
}

/// Latest first, at most 1000.
pub fn list_impressions_of_viewer(tx: &mut Tx<'_>, viewer: i64, since: Time) -> Result<Vec<AdEvent>, Fault> {
    let sql = concat!(
        "SELECT ",
        columns!(),
        " FROM ad_event WHERE viewer = $1 AND event_time > $2 AND kind = 0 \
         ORDER BY event_time DESC LIMIT 1000"
    );
    tx.query_rows(sql, &[viewer.into(), since.into()], event_from_row)
}

/// Line items and times of a viewer's impressions.
pub fn list_line_item_impressions(tx: &mut Tx<'_>, viewer: i64, since: Time) -> Result<Vec<(i64, Time)>, Fault> {
    let sql = "SELECT line_item_id, event_time FROM ad_event \
               WHERE viewer = $1 AND event_time > $2 AND kind = 0";
    tx.query_rows(sql, &[viewer.into(), since.into()], |row| Ok((row.int(0)?, row.time(1)?)))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ViewerImpressions {
    pub line_item_id: i64,
    pub viewer: i64,
    pub impressions: i64,
}

pub fn count_viewer_impressions(
    tx: &mut Tx<'_>,
    line_items: &[i64],
    (from, to): (Time, Time),
) -> Result<Vec<ViewerImpressions>, Fault> {
    let sql = "SELECT line_item_id, viewer, COUNT(*) FROM ad_event WHERE line_item_id = $1 \
               AND event_time >= $2 AND event_time < $3 AND kind = 0 \
               GROUP BY line_item_id, viewer";
    tx.query_by_keys(sql, line_items, &[from.into(), to.into()], |row| {
        Ok(ViewerImpressions { line_item_id: row.int(0)?, viewer: row.int(1)?, impressions: row.int(2)? })
    })
}

/// Users with events of these kinds, in id order.
pub fn list_viewers(
    tx: &mut Tx<'_>,
    line_items: &[i64],
    kinds: &[AdEventKind],
    since: Time,
) -> Result<Vec<UserId>, Fault> {
    let sql = "SELECT DISTINCT viewer, kind FROM ad_event WHERE line_item_id = $1 \
               AND event_time >= $2 AND viewer > 0";
    let rows = tx.query_by_keys(sql, line_items, &[since.into()], |row| Ok((row.int(0)?, row.int(1)?)))?;
    let wanted = |kind: i64| kinds.iter().any(|one| one.to_number() == kind);
    let mut all: Vec<UserId> =
        rows.into_iter().filter(|(_, kind)| wanted(*kind)).map(|(viewer, _)| UserId::new(viewer)).collect();
    all.sort_unstable();
    all.dedup();
    Ok(all)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportSegment {
    None,
    Age,
    Gender,
    Metro,
    Platform,
}

#[derive(Clone, Debug)]
pub struct ReportFilter<'a> {
    /// Inclusive.
    pub from: Time,
    /// Exclusive.
    pub to: Time,
    /// The length of an interval, in milliseconds.
    pub interval_ms: i64,
    pub group: Placement,
    pub segment: ReportSegment,
    /// Only this country, if not empty.
    pub country: &'a str,
    pub platform: Option<i64>,
}

/// Events of one creative, interval, segment and kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportRow {
    pub line_item_id: i64,
    pub creative: (AdEntity, i64),
    /// The interval's index.
    pub interval: i64,
    /// Empty if unknown.
    pub segment: String,
    pub kind: AdEventKind,
    pub count: i64,
    pub billed: i64,
    /// Micros.
    pub charge: i64,
}

pub fn load_report(tx: &mut Tx<'_>, line_items: &[i64], filter: &ReportFilter<'_>) -> Result<Vec<ReportRow>, Fault> {
    let segment = match filter.segment {
        ReportSegment::None => "''",
        ReportSegment::Age => "COALESCE(CAST(age AS TEXT), '')",
        ReportSegment::Gender => "COALESCE(CAST(gender AS TEXT), '')",
        ReportSegment::Metro => "metro",
        ReportSegment::Platform => "COALESCE(CAST(platform AS TEXT), '')",
    };
    // Statements are cached by their text: segments times the two filters.
    let country = if filter.country.is_empty() { "country >= $6" } else { "country = $6" };
    let platform = if filter.platform.is_some() { "platform = $7" } else { "CAST(0 AS BIGINT) > $7" };
    let sql = format!(
        "WITH own AS (SELECT * FROM ad_event WHERE line_item_id = $1 AND event_time >= $2 \
         AND event_time < $3 AND placement >= $4 AND placement < $5 AND {country} AND {platform}) \
         SELECT line_item_id, creative, creative_id, (event_time - $2) / $8 AS span, \
         {segment} AS segment, kind, COUNT(*), CAST(SUM(billed) AS BIGINT), \
         CAST(SUM(charge_micro) AS BIGINT) FROM own GROUP BY 1, 2, 3, 4, 5, 6"
    );
    let group = filter.group.to_number();
    let more = [
        filter.from.into(),
        filter.to.into(),
        group.into(),
        (group + PLACEMENT_GROUP_SIZE).into(),
        filter.country.into(),
        filter.platform.unwrap_or(-1).into(),
        filter.interval_ms.into(),
    ];
    let rows = tx.query_by_keys(&sql, line_items, &more, |row| {
        let unknown = || Fault::new("unknown number in a ledger row");
        Ok(ReportRow {
            line_item_id: row.int(0)?,
            creative: (AdEntity::from_number(row.int(1)?).ok_or_else(unknown)?, row.int(2)?),
            interval: row.int(3)?,
            segment: row.text(4)?,
            kind: AdEventKind::from_number(row.int(5)?).ok_or_else(unknown)?,
            count: row.int(6)?,
            billed: row.int(7)?,
            charge: row.int(8)?,
        })
    })?;
    Ok(rows)
}

/// An entity with events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActiveEntity {
    pub entity_id: i64,
    pub first: Time,
    pub last: Time,
    pub groups: Vec<Placement>,
}

/// Entities of an account with events that were recorded in a range of hours.
pub fn list_active_entities(
    tx: &mut Tx<'_>,
    account: i64,
    entity: AdEntity,
    (from, to): (Time, Time),
) -> Result<Vec<ActiveEntity>, Fault> {
    let sql = "SELECT entity_id, first_at, last_at, placements FROM ad_active \
               WHERE account_id = $1 AND entity = $2 AND hour >= $3 AND hour < $4";
    let args = [account.into(), entity.to_number().into(), from.into(), to.into()];
    let rows = tx.query_rows(sql, &args, |row| Ok((row.int(0)?, row.time(1)?, row.time(2)?, row.int(3)?)))?;
    // Rows are in the order of hours, so those of one entity are not adjacent.
    let mut all: std::collections::BTreeMap<i64, (Time, Time, i64)> = std::collections::BTreeMap::new();
    for (id, first, last, mask) in rows {
        let active = all.entry(id).or_insert((first, last, mask));
        *active = (active.0.min(first), active.1.max(last), active.2 | mask);
    }
    let groups = |mask: i64| {
        let all = Placement::ALL.iter().copied();
        let own = all.filter(|one| one.group() == *one);
        own.filter(|one| mask >> (one.to_number() / PLACEMENT_GROUP_SIZE) & 1 == 1).collect()
    };
    let active = all.into_iter().map(|(entity_id, (first, last, mask))| ActiveEntity {
        entity_id,
        first,
        last,
        groups: groups(mask),
    });
    Ok(active.collect())
}
