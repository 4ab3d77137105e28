//! Results of campaigns, line items and creatives: what the goals of their line items count (contract ads §4.5).

use std::collections::HashMap;

use ads::resources::campaigns::CAMPAIGN;
use ads::resources::line_items::{LINE_ITEM, result_metric};
use ads_engine::{AccountContext, AdsRecord};
use base::Error;
use store::ledger::{Metric, MetricSums};

#[derive(Clone, Copy, Debug)]
pub struct StatsRow {
    pub sums: MetricSums,
    /// `None` if nothing records what a goal counts.
    pub results: Option<i64>,
}

impl Default for StatsRow {
    fn default() -> Self {
        Self { sums: MetricSums::default(), results: Some(0) }
    }
}

impl StatsRow {
    pub fn merge(&mut self, other: &Self) {
        self.sums.merge(&other.sums);
        self.results = self.results.zip(other.results).map(|(one, other)| one.saturating_add(other));
    }

    /// In micros; `None` without results.
    pub fn cost_per_result(&self) -> Option<i64> {
        self.sums.get(Metric::Charge).checked_div(self.results?)
    }
}

/// The metrics that count an entity's results.
#[derive(Clone, Debug, Default)]
pub struct EntityResults {
    /// Line items by what their goals count.
    groups: Vec<(Option<Metric>, Vec<i64>)>,
}

impl EntityResults {
    /// Of campaigns, line items, or records that belong to a line item.
    pub fn load(ctx: &mut AccountContext<'_, '_>, records: &[&AdsRecord]) -> Result<HashMap<i64, Self>, Error> {
        let mut all = HashMap::new();
        for record in records {
            let items = if record.resource.name == CAMPAIGN.name {
                ctx.list_records(&LINE_ITEM, "campaign_id", record.id)?
            } else if record.resource.name == LINE_ITEM.name {
                vec![(*record).clone()]
            } else {
                ctx.find_records(&LINE_ITEM, &Vec::from_iter(record.int("line_item_id")))?
            };
            all.insert(record.id, Self::from_line_items(&items));
        }
        Ok(all)
    }

    pub fn from_line_items(items: &[AdsRecord]) -> Self {
        let mut groups: Vec<(Option<Metric>, Vec<i64>)> = Vec::new();
        for item in items {
            let metric = result_metric(item.text("goal"));
            match groups.iter_mut().find(|(known, _)| *known == metric) {
                Some((_, ids)) => ids.push(item.id),
                None => groups.push((metric, vec![item.id])),
            }
        }
        Self { groups }
    }

    /// Adds the results to an entity's sums; `load_line_items` returns the sums of line items together, by the same
    /// keys.
    pub fn add_to<K: PartialEq>(
        &self,
        rows: Vec<(K, MetricSums)>,
        mut load_line_items: impl FnMut(&[i64]) -> Result<Vec<(K, MetricSums)>, Error>,
    ) -> Result<Vec<(K, StatsRow)>, Error> {
        if let [(metric, _)] = self.groups.as_slice() {
            let row = |(key, sums): (K, MetricSums)| {
                let results = metric.map(|metric| sums.get(metric));
                (key, StatsRow { sums, results })
            };
            return Ok(rows.into_iter().map(row).collect());
        }
        let rows = rows.into_iter().map(|(key, sums)| (key, StatsRow { sums, ..StatsRow::default() }));
        let mut rows: Vec<(K, StatsRow)> = rows.collect();
        for (metric, items) in &self.groups {
            let Some(metric) = metric else {
                for (_, row) in &mut rows {
                    row.results = None;
                }
                continue;
            };
            for (key, sums) in load_line_items(items)? {
                if let Some((_, row)) = rows.iter_mut().find(|(known, _)| *known == key) {
                    row.results = row.results.map(|results| results.saturating_add(sums.get(*metric)));
                }
            }
        }
        Ok(rows)
    }
}
