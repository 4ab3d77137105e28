//! Statistics by day, placement, platform, age or gender, as a table and as CSV.

use ads_engine::RequiredRole;
use std::collections::BTreeMap;

use ads::resources::campaigns::CAMPAIGN;
use ads::resources::line_items::LINE_ITEM;
use ads_delivery::analytics::SegmentedSums;
use ads_delivery::analytics::results::{EntityResults, StatsRow};
use base::csv::csv_line;
use base::{Error, Time};
use pages::manager::{AdsManagerPage, DataTable, EmptyState, NavLink, PageBlock, TableCell, TableRow};
use store::Tx;
use store::ledger::{AdEntity, Metric, MetricSums, Placement};

use super::labels::{format_amount, format_integer, format_money, record_name, word_label};
use super::request::ManagerAccount;
use super::stats::{self, DayRange, PLACEMENTS};
use super::tables::{number_column, text_column};

/// Name in the URL, label, and segmentation type of the API.
const DIMENSIONS: &[(&str, &str, &str)] = &[
    ("day", "Day", ""),
    ("placement", "Placement", ""),
    ("platform", "Platform", "PLATFORMS"),
    ("age", "Age", "AGE"),
    ("gender", "Gender", "GENDER"),
];

const ALL_PLACEMENTS: [Placement; 4] =
    [Placement::AllOn, Placement::Publishers, Placement::Spotlight, Placement::Trend];
const COUNTS: [(&str, Metric); 3] =
    [("Impressions", Metric::Impressions), ("Engagements", Metric::Engagements), ("Clicks", Metric::Clicks)];

type SumsByKey = Vec<(String, MetricSums)>;

pub(super) struct StatsBreakdown {
    name: String,
    /// Of the entity, below the account.
    path: String,
    currency: String,
    dimension: &'static (&'static str, &'static str, &'static str),
    rows: Vec<(String, StatsRow)>,
    pub(super) is_simulated: bool,
}

impl StatsBreakdown {
    /// `None` unless the section is that of campaigns or line items.
    pub(super) fn load(tx: &mut Tx<'_>, ctx: &ManagerAccount, section: &str, id: &str) -> Result<Option<Self>, Error> {
        let (entity, resource) = match section {
            "campaigns" => (AdEntity::Campaign, &CAMPAIGN),
            "line-items" => (AdEntity::LineItem, &LINE_ITEM),
            _ => return Ok(None),
        };
        let one = ctx.get(tx, resource, id)?;
        stats::require_access(ctx)?;
        let asked = ctx.request.query.get("by");
        let dimension = DIMENSIONS.iter().find(|(name, ..)| Some(*name) == asked);
        let Some(dimension) = dimension.or(DIMENSIONS.first()) else {
            return Ok(None);
        };
        let load = |tx: &mut Tx<'_>, of| match dimension.0 {
            "day" => load_days(tx, ctx, of),
            "placement" => load_placements(tx, ctx, of),
            _ => load_segments(tx, ctx, of, (dimension.2, DayRange::selected(ctx).span())),
        };
        let sums = load(tx, (entity, one.record.id))?;
        let mut records = ctx.open_context(tx, RequiredRole::StatsReader, false)?;
        let results = EntityResults::load(&mut records, &[&one.record])?.remove(&one.record.id).unwrap_or_default();
        let mut rows = results.add_to(sums, |items| {
            let mut all = SumsByKey::new();
            for item in items {
                all.extend(load(tx, (AdEntity::LineItem, *item))?);
            }
            Ok(all)
        })?;
        if dimension.0 != "day" || rows.iter().all(|(_, row)| is_zero(&row.sums)) {
            rows.retain(|(_, row)| !is_zero(&row.sums));
        }
        Ok(Some(Self {
            name: record_name(&one),
            path: format!("/{section}/{id}"),
            currency: one.text("currency").to_owned(),
            dimension,
            rows,
            is_simulated: stats::are_simulated(tx, ctx, DayRange::selected(ctx).span())?,
        }))
    }

    pub(super) fn into_page(self, ctx: &ManagerAccount) -> AdsManagerPage {
        let (by, selected) = (self.dimension.0, ctx.request.days);
        let here =
            |file: &str, by: &str, days: i64| ctx.page_path(&format!("{}/{file}?by={by}&days={days}", self.path));
        let views = DIMENSIONS.iter().map(|(name, label, _)| NavLink {
            current: *name == by,
            ..NavLink::new(*label, here("figures", name, selected))
        });
        let rows: Vec<TableRow> = self.rows.iter().map(|row| self.counts_row(row)).collect();
        let file = NavLink::new("Download as CSV", here("figures.csv", by, selected));
        let mut columns = vec![text_column(self.dimension.1), number_column("Spend")];
        columns.extend(COUNTS.map(|(label, _)| number_column(label)));
        columns.extend(["Results", "Cost per result"].map(number_column));
        AdsManagerPage {
            trail: ctx.trail(&[("Campaigns", ""), (&self.name, &self.path)]),
            heading: format!("Statistics for {}", self.name),
            blocks: vec![PageBlock::Table(DataTable {
                title: format!("By {}", self.dimension.1.to_lowercase()),
                views: vec![
                    ("Break down by", views.collect()),
                    ("Date range", stats::period_links(selected, |days| here("figures", by, days))),
                ],
                actions: Some(file).filter(|_| !rows.is_empty()).into_iter().collect(),
                columns,
                rows,
                empty: EmptyState::new(
                    "No data for this period",
                    "Choose a longer period, or check why it isn’t running.",
                    None,
                ),
                ..DataTable::default()
            })],
            ..AdsManagerPage::default()
        }
    }

    fn counts_row(&self, (name, row): &(String, StatsRow)) -> TableRow {
        let spend = format_money(row.sums.get(Metric::Charge), &self.currency);
        let counts = COUNTS.map(|(_, metric)| format_integer(row.sums.get(metric)));
        let results = [stats::format_results(row), stats::cost_per_result(row, &self.currency)];
        let cells = [name.clone(), spend].into_iter().chain(counts).chain(results);
        TableRow { name: name.clone(), cells: cells.map(TableCell::from_text).collect(), ..TableRow::default() }
    }

    pub(super) fn to_csv(&self) -> String {
        let heads = [self.dimension.1, "Currency", "Spend"].into_iter().chain(COUNTS.map(|(label, _)| label));
        let mark = stats::simulation_cell(self.is_simulated, "Simulated");
        let mut text = csv_line(heads.chain(["Results", "Cost per result"]).map(str::to_owned).chain(mark));
        for (name, row) in &self.rows {
            let charge = format_amount(row.sums.get(Metric::Charge));
            let results = row.results.map(|results| results.to_string());
            let each = row.cost_per_result().map(format_amount);
            let cells = [name.clone(), self.currency.clone(), charge].into_iter();
            let cells = cells.chain(COUNTS.map(|(_, metric)| row.sums.get(metric).to_string()));
            let cells = cells.chain([results, each].map(Option::unwrap_or_default));
            text.push_str(&csv_line(cells.chain(stats::simulation_cell(self.is_simulated, "yes"))));
        }
        text
    }
}

fn is_zero(sums: &MetricSums) -> bool {
    [Metric::Impressions, Metric::Engagements, Metric::Charge].iter().all(|metric| sums.get(*metric) == 0)
}

fn load_days(tx: &mut Tx<'_>, ctx: &ManagerAccount, (entity, id): (AdEntity, i64)) -> Result<SumsByKey, Error> {
    let days = DayRange::selected(ctx);
    let sums = days.load_sums(tx, entity, &[id], PLACEMENTS)?.remove(&id);
    Ok(days.iso_dates().zip(sums.unwrap_or_default()).collect())
}

fn load_placements(tx: &mut Tx<'_>, ctx: &ManagerAccount, (entity, id): (AdEntity, i64)) -> Result<SumsByKey, Error> {
    let days = DayRange::selected(ctx);
    let mut rows = Vec::new();
    for placement in ALL_PLACEMENTS {
        let name = match placement {
            Placement::AllOn => "On this network".to_owned(),
            other => word_label(other.name()),
        };
        let sums = days.load_sums(tx, entity, &[id], &[placement])?;
        rows.push((name, stats::sum_all(sums.values().flatten())));
    }
    Ok(rows)
}

/// The sums of an entity by the label of the segment.
pub(super) fn load_segments(
    tx: &mut Tx<'_>,
    ctx: &ManagerAccount,
    (entity, id): (AdEntity, i64),
    (segments, span): (&str, (Time, Time)),
) -> Result<SumsByKey, Error> {
    let mut rows: BTreeMap<String, MetricSums> = BTreeMap::new();
    let mut records = ctx.open_context(tx, RequiredRole::StatsReader, false)?;
    for placement in PLACEMENTS {
        let query = SegmentedSums { entity, id, span, segments, placement: placement.name() };
        for (name, sums) in query.load(&mut records)? {
            let name = match name.strip_prefix("AGE_") {
                Some(age) => word_label(age).to_lowercase(),
                None => name,
            };
            rows.entry(name).or_default().merge(&sums);
        }
    }
    Ok(rows.into_iter().collect())
}
