//! Ledger queries, answered from sums where possible and from events otherwise.

use std::collections::BTreeMap;

use base::{Fault, PostId, Time, UserId, sorted_distinct};

use super::vocabulary::{METRIC_COLUMNS, PLACEMENT_GROUP_SIZE};
use super::{AdEntity, AdEvent, AdEventKind, MetricSums, Placement};
use crate::Tx;
use crate::db::{DeclaredRow, SqlValue, row, select, sql};

/// Entity, start of the hour, and sums, in a period and placement group. Empty hours are omitted.
pub fn hourly_sums(
    tx: &mut Tx<'_>,
    entity: AdEntity,
    ids: &[i64],
    (from, to): (Time, Time),
    group: Placement,
) -> Result<Vec<(i64, i64, MetricSums)>, Fault> {
    let sql = sql!(
        "SELECT entity_id, hour, ",
        METRIC_COLUMNS,
        " FROM ad_hour WHERE entity_id = $1 AND entity = $2 AND hour >= $3 AND hour < $4 AND placement = $5"
    );
    let more = [entity.to_number().into(), from.into(), to.into(), group.to_number().into()];
    tx.query_by_keys(sql, ids, &more)
}

/// Starts of hours and sums, a row for each placement group.
fn hourly_sums_of_all_groups(
    tx: &mut Tx<'_>,
    entity: AdEntity,
    id: i64,
    (from, to): (Time, Time),
) -> Result<Vec<(Time, MetricSums)>, Fault> {
    let sql = sql!(
        "SELECT hour, ",
        METRIC_COLUMNS,
        " FROM ad_hour WHERE entity_id = $1 AND entity = $2 AND hour >= $3 AND hour < $4"
    );
    tx.query_rows(sql, &[id.into(), entity.to_number().into(), from.into(), to.into()])
}

/// Starts of hours and sums of the promotion of a post in all placement groups, without what was simulated.
pub fn hourly_sums_of_post(
    tx: &mut Tx<'_>,
    post: PostId,
    span: (Time, Time),
) -> Result<BTreeMap<Time, MetricSums>, Fault> {
    let mut all: BTreeMap<Time, MetricSums> = BTreeMap::new();
    for (hour, sums) in hourly_sums_of_all_groups(tx, AdEntity::Post, post.get(), span)? {
        all.entry(hour).or_default().merge(&sums);
    }
    for (hour, sums) in hourly_sums_of_all_groups(tx, AdEntity::SimulatedPost, post.get(), span)? {
        all.entry(hour).or_default().subtract(&sums);
    }
    Ok(all)
}

/// Sums by entity in a period, over all placement groups; entities without events are omitted.
pub fn sums_between(
    tx: &mut Tx<'_>,
    entity: AdEntity,
    ids: &[i64],
    (from, to): (Time, Time),
) -> Result<BTreeMap<i64, MetricSums>, Fault> {
    let sql = sql!(
        "SELECT entity_id, ",
        METRIC_COLUMNS,
        " FROM ad_hour WHERE entity_id = $1 AND entity = $2 AND hour >= $3 AND hour < $4"
    );
    let more = [entity.to_number().into(), from.into(), to.into()];
    let mut all: BTreeMap<i64, MetricSums> = BTreeMap::new();
    for (id, sums) in tx.query_by_keys::<(i64, MetricSums)>(sql, ids, &more)? {
        all.entry(id).or_default().merge(&sums);
    }
    Ok(all)
}

/// Entity, total sums, and the uncharged thousandths of a micro; entities without events are omitted.
pub fn total_sums_by_entity(
    tx: &mut Tx<'_>,
    entity: AdEntity,
    ids: &[i64],
) -> Result<Vec<(i64, MetricSums, i64)>, Fault> {
    let sql = sql!("SELECT entity_id, ", METRIC_COLUMNS, ", owed FROM ad_total WHERE entity_id = $1 AND entity = $2");
    tx.query_by_keys(sql, ids, &[entity.to_number().into()])
}

/// Micros per entity; entities without events are omitted.
pub fn total_spend(tx: &mut Tx<'_>, entity: AdEntity, ids: &[i64]) -> Result<Vec<(i64, i64)>, Fault> {
    let sql = "SELECT entity_id, charge_micro FROM ad_total WHERE entity_id = $1 AND entity = $2";
    tx.query_by_keys(sql, ids, &[entity.to_number().into()])
}

/// Micros per entity between the starts of two hours.
pub fn spend_between(
    tx: &mut Tx<'_>,
    entity: AdEntity,
    ids: &[i64],
    (from, to): (Time, Time),
) -> Result<Vec<(i64, i64)>, Fault> {
    let sql = "SELECT entity_id, CAST(SUM(charge_micro) AS BIGINT) FROM ad_hour WHERE entity_id = $1 AND entity = $2 \
               AND hour >= $3 AND hour < $4 GROUP BY entity_id";
    let more = [entity.to_number().into(), from.into(), to.into()];
    tx.query_by_keys(sql, ids, &more)
}

/// Pairs of impression and event kind.
pub fn event_kinds_by_impressions(tx: &mut Tx<'_>, impressions: &[i64]) -> Result<Vec<(i64, AdEventKind)>, Fault> {
    let sql = "SELECT once, kind FROM ad_event WHERE once = $1";
    tx.query_by_keys(sql, impressions, &[])
}

/// All events of impressions, the impressions included.
pub fn list_events_by_impressions(tx: &mut Tx<'_>, impressions: &[i64]) -> Result<Vec<AdEvent>, Fault> {
    let sql = select!(AdEvent, "WHERE once = $1");
    tx.query_by_keys(sql, impressions, &[])
}

/// Impressions after a time and not after another one, latest first, at most 1000.
pub fn list_impressions_of_viewer(
    tx: &mut Tx<'_>,
    viewer: i64,
    (after, until): (Time, Time),
) -> Result<Vec<AdEvent>, Fault> {
    let sql = select!(
        AdEvent,
        "WHERE viewer = $1 AND event_time > $2 AND event_time <= $3 AND kind = 0 ORDER BY event_time DESC LIMIT 1000"
    );
    tx.query_rows(sql, &[viewer.into(), after.into(), until.into()])
}

/// As [`list_impressions_of_viewer`], of ads of one account, among the viewer's newest 20,000.
pub fn list_account_impressions_of_viewer(
    tx: &mut Tx<'_>,
    (account, viewer): (i64, i64),
    (after, until): (Time, Time),
) -> Result<Vec<AdEvent>, Fault> {
    let newest = select!(
        AdEvent,
        "WHERE viewer = $1 AND event_time > $2 AND event_time <= $3 AND kind = 0 ORDER BY event_time DESC LIMIT 20000"
    );
    let sql = format!("SELECT * FROM ({newest}) AS shown WHERE account_id = $4 ORDER BY event_time DESC LIMIT 1000");
    tx.query_rows(&sql, &[viewer.into(), after.into(), until.into(), account.into()])
}

/// Line items and times of a viewer's impressions.
pub fn list_line_item_impressions(tx: &mut Tx<'_>, viewer: i64, since: Time) -> Result<Vec<(i64, Time)>, Fault> {
    let sql = "SELECT line_item_id, event_time FROM ad_event WHERE viewer = $1 AND event_time > $2 AND kind = 0";
    tx.query_rows(sql, &[viewer.into(), since.into()])
}

row! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct ViewerImpressions from "ad_event" {
        pub line_item_id: i64,
        pub viewer: i64,
        pub impressions: i64 as "CAST(SUM(weight) AS BIGINT)",
        /// How many people the viewer stands for.
        pub people: i64 as "MAX(weight)",
    }
}

pub fn count_viewer_impressions(
    tx: &mut Tx<'_>,
    line_items: &[i64],
    (from, to): (Time, Time),
) -> Result<Vec<ViewerImpressions>, Fault> {
    let sql = select!(
        ViewerImpressions,
        "WHERE line_item_id = $1 AND event_time >= $2 AND event_time < $3 AND kind = 0 GROUP BY line_item_id, viewer"
    );
    tx.query_by_keys(sql, line_items, &[from.into(), to.into()])
}

/// Users with events of these kinds, in id order.
pub fn list_viewers(
    tx: &mut Tx<'_>,
    line_items: &[i64],
    kinds: &[AdEventKind],
    since: Time,
) -> Result<Vec<UserId>, Fault> {
    let sql = "SELECT DISTINCT viewer, kind FROM ad_event WHERE line_item_id = $1 AND event_time >= $2 AND viewer > 0";
    let rows: Vec<(UserId, AdEventKind)> = tx.query_by_keys(sql, line_items, &[since.into()])?;
    Ok(sorted_distinct(rows.into_iter().filter(|(_, kind)| kinds.contains(kind)).map(|(viewer, _)| viewer)))
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

row! {
    /// Events of one creative, interval, segment and kind.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct ReportRow {
        pub line_item_id: i64,
        pub creative: (AdEntity, i64) as "creative, creative_id",
        /// The interval's index.
        pub interval: i64 as "(event_time - $2) / $8",
        /// Empty if unknown.
        pub segment: String,
        pub kind: AdEventKind,
        pub count: i64 as "CAST(SUM(weight) AS BIGINT)",
        pub billed: i64 as "CAST(SUM(billed) AS BIGINT)",
        /// Micros.
        pub charge: i64 as "CAST(SUM(charge_micro) AS BIGINT)",
    }
}

impl ReportFilter<'_> {
    /// The query of the events of a line item, and its arguments after the line item.
    pub(super) fn select_events(&self) -> (String, [SqlValue<'_>; 7]) {
        let segment = match self.segment {
            ReportSegment::None => "''",
            ReportSegment::Age => "COALESCE(CAST(age AS TEXT), '')",
            ReportSegment::Gender => "COALESCE(CAST(gender AS TEXT), '')",
            ReportSegment::Metro => "metro",
            ReportSegment::Platform => "COALESCE(CAST(platform AS TEXT), '')",
        };
        // Statements are cached by their text: segments times the two filters.
        let country = if self.country.is_empty() { "country >= $6" } else { "country = $6" };
        let platform = if self.platform.is_some() { "platform = $7" } else { "CAST(0 AS BIGINT) > $7" };
        let sql = format!(
            "SELECT *, {segment} AS segment FROM ad_event WHERE line_item_id = $1 AND event_time >= $2 \
             AND event_time < $3 AND placement >= $4 AND placement < $5 AND {country} AND {platform}"
        );
        let group = self.group.to_number();
        let args = [
            self.from.into(),
            self.to.into(),
            group.into(),
            (group + PLACEMENT_GROUP_SIZE).into(),
            self.country.into(),
            self.platform.unwrap_or(-1).into(),
            self.interval_ms.into(),
        ];
        (sql, args)
    }
}

pub fn load_report(tx: &mut Tx<'_>, line_items: &[i64], filter: &ReportFilter<'_>) -> Result<Vec<ReportRow>, Fault> {
    let (own, more) = filter.select_events();
    let sql = format!("WITH own AS ({own}) SELECT {} FROM own GROUP BY 1, 2, 3, 4, 5, 6", ReportRow::COLUMNS);
    tx.query_by_keys(&sql, line_items, &more)
}

row! {
    /// Somebody who caused events of one creative and segment.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct SegmentViewer {
        pub line_item_id: i64,
        pub creative: (AdEntity, i64) as "creative, creative_id",
        /// As in [`ReportRow`].
        pub segment: String,
        pub viewer: i64,
        /// How many people the viewer stands for.
        pub people: i64,
    }
}

/// Viewers of the events that a report is made of, whatever the interval, and at most `limit` of each creative and segment;
/// of conversions nobody is known.
pub fn list_segment_viewers(
    tx: &mut Tx<'_>,
    line_items: &[i64],
    filter: &ReportFilter<'_>,
    limit: i64,
) -> Result<Vec<SegmentViewer>, Fault> {
    let (own, [from, to, first, last, country, platform, _]) = filter.select_events();
    let (columns, part) = (SegmentViewer::COLUMNS, "line_item_id, creative, creative_id, segment");
    let sql = format!(
        "WITH own AS ({own}) SELECT {columns} FROM (SELECT {part}, viewer, MAX(weight) AS people, ROW_NUMBER() OVER \
         (PARTITION BY {part} ORDER BY viewer) AS place FROM own WHERE viewer <> 0 GROUP BY {part}, viewer) AS v \
         WHERE place <= $8"
    );
    tx.query_by_keys(&sql, line_items, &[from, to, first, last, country, platform, limit.into()])
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
    let rows: Vec<(i64, Time, Time, i64)> = tx.query_rows(sql, &args)?;
    // Rows are in the order of hours, so those of one entity are not adjacent.
    let mut all: BTreeMap<i64, (Time, Time, i64)> = BTreeMap::new();
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
