use std::collections::{BTreeMap, HashMap};

use ads_engine::{AccountContext, AccountTimeZone, AdsRecord};
use base::{Error, Fault, Time};
use store::Tx;
use store::ledger::{self, AdEntity, MetricSums, Placement};

use super::load_segment_sums;
use super::results::{EntityResults, StatsRow};

/// The placements that line items can have.
pub const LINE_ITEM_PLACEMENTS: &[Placement] = &[Placement::AllOn, Placement::Publishers];

/// Days in an account's time zone, for reports of the people who work there.
#[derive(Clone, Debug)]
pub struct DayRange {
    /// The start of each day, and the end of the last.
    starts: Vec<Time>,
    zone: AccountTimeZone,
}

impl DayRange {
    /// `starts` are those of the days, in order, and the end of the last.
    pub const fn new(zone: AccountTimeZone, starts: Vec<Time>) -> Self {
        Self { starts, zone }
    }

    /// Days of which the last contains the moment.
    pub fn ending_at(zone: &AccountTimeZone, moment: Time, count: i64) -> Self {
        let (today, end) = zone.day_bounds(moment);
        let previous = |day: &Time| Some(zone.day_bounds(day.plus_ms(-1)).0);
        let days = usize::try_from(count).unwrap_or(1);
        let mut starts: Vec<Time> = std::iter::successors(Some(today), previous).take(days).collect();
        starts.reverse();
        starts.push(end);
        Self::new(zone.clone(), starts)
    }

    pub fn span(&self) -> (Time, Time) {
        let bound = |at: Option<&Time>| at.copied().unwrap_or(Time::from_ms(0));
        (bound(self.starts.first()), bound(self.starts.last()))
    }

    pub fn day_count(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    fn days(&self) -> impl Iterator<Item = Time> {
        self.starts.iter().copied().take(self.day_count())
    }

    /// For example `Mon 23 Nov`.
    pub fn day_labels(&self) -> impl Iterator<Item = String> {
        self.days().map(|day| self.zone.format_day(day))
    }

    pub fn iso_dates(&self) -> impl Iterator<Item = String> {
        self.days().map(|day| self.zone.format_local(day).chars().take(10).collect())
    }

    /// The statistics of each day by record: of campaigns, line items, or records that belong to a line item.
    pub fn load_rows(
        &self,
        ctx: &mut AccountContext<'_, '_>,
        entity: AdEntity,
        records: &[&AdsRecord],
    ) -> Result<HashMap<i64, Vec<StatsRow>>, Error> {
        let ids: Vec<i64> = records.iter().map(|record| record.id).collect();
        let mut sums = self.load_sums(ctx.tx, entity, &ids, LINE_ITEM_PLACEMENTS)?;
        let mut all = HashMap::new();
        for (id, results) in EntityResults::load(ctx, records)? {
            let days: Vec<(usize, MetricSums)> = sums.remove(&id).unwrap_or_default().into_iter().enumerate().collect();
            let rows = results.add_to(days, |items| {
                let by_item = self.load_sums(ctx.tx, AdEntity::LineItem, items, LINE_ITEM_PLACEMENTS)?;
                Ok(by_item.into_values().flat_map(|days| days.into_iter().enumerate()).collect())
            })?;
            all.insert(id, rows.into_iter().map(|(_, row)| row).collect());
        }
        Ok(all)
    }

    /// The sums of each day by entity.
    pub fn load_sums(
        &self,
        tx: &mut Tx<'_>,
        entity: AdEntity,
        ids: &[i64],
        placements: &[Placement],
    ) -> Result<HashMap<i64, Vec<MetricSums>>, Fault> {
        let none = vec![MetricSums::default(); self.day_count()];
        let mut days: HashMap<i64, Vec<MetricSums>> = ids.iter().map(|id| (*id, none.clone())).collect();
        for placement in placements {
            for (id, hour, sums) in ledger::hourly_sums(tx, entity, ids, self.span(), *placement)? {
                let day = self.starts.partition_point(|start| start.ms() <= hour);
                let total = days.get_mut(&id).and_then(|days| days.get_mut(day.checked_sub(1)?));
                if let Some(total) = total {
                    total.merge(&sums);
                }
            }
        }
        Ok(days)
    }

    /// The sums of an entity by the name of the segment.
    pub fn load_segments(
        &self,
        ctx: &mut AccountContext<'_, '_>,
        (entity, id): (AdEntity, i64),
        segments: &str,
    ) -> Result<BTreeMap<String, MetricSums>, Error> {
        let mut all: BTreeMap<String, MetricSums> = BTreeMap::new();
        for placement in LINE_ITEM_PLACEMENTS {
            for (name, sums) in load_segment_sums(ctx, (entity, id), self.span(), (segments, placement.name()))? {
                all.entry(name).or_default().merge(&sums);
            }
        }
        Ok(all)
    }
}
