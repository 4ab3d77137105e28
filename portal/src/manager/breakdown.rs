//! Statistics by day, placement, platform, age or gender, as a table and as CSV.

use ads_engine::RequiredRole;
use std::collections::BTreeMap;

use ads::resources::campaigns::CAMPAIGN;
use ads::resources::line_items::LINE_ITEM;
use ads_delivery::analytics::SegmentedSums;
use base::Error;
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
const COUNTS: [(&str, Metric); 4] = [
    ("Impressions", Metric::Impressions),
    ("Engagements", Metric::Engagements),
    ("Clicks", Metric::Clicks),
    ("Results", Metric::Billed),
];

type BreakdownRows = Vec<(String, MetricSums)>;

pub(super) struct StatsBreakdown {
    name: String,
    /// Of the entity, below the account.
    path: String,
    currency: String,
    dimension: &'static (&'static str, &'static str, &'static str),
    rows: BreakdownRows,
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
        let asked = ctx.request.breakdown_by.as_deref();
        let dimension = DIMENSIONS.iter().find(|(name, ..)| Some(*name) == asked);
        let Some(dimension) = dimension.or(DIMENSIONS.first()) else {
            return Ok(None);
        };
        let of = (entity, one.record.id);
        let mut rows = match dimension.0 {
            "day" => daily_rows(tx, ctx, of)?,
            "placement" => placement_rows(tx, ctx, of)?,
            _ => segment_rows(tx, ctx, of, dimension.2)?,
        };
        if dimension.0 != "day" || rows.iter().all(|(_, sums)| is_zero(sums)) {
            rows.retain(|(_, sums)| !is_zero(sums));
        }
        Ok(Some(Self {
            name: record_name(&one),
            path: format!("/{section}/{id}"),
            currency: one.text("currency").to_owned(),
            dimension,
            rows,
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
        columns.push(number_column("Cost per result"));
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

    fn counts_row(&self, (name, sums): &(String, MetricSums)) -> TableRow {
        let spend = format_money(sums.get(Metric::Charge), &self.currency);
        let counts = COUNTS.map(|(_, metric)| format_integer(sums.get(metric)));
        let each = stats::cost_per_result(sums, &self.currency);
        let cells = [name.clone(), spend].into_iter().chain(counts).chain([each]);
        TableRow { name: name.clone(), cells: cells.map(TableCell::from_text).collect(), action_buttons: Vec::new() }
    }

    pub(super) fn to_csv(&self) -> String {
        let heads = [self.dimension.1, "Currency", "Spend"].into_iter().chain(COUNTS.map(|(label, _)| label));
        let mut text = csv_line(heads.chain(["Cost per result"]));
        for (name, sums) in &self.rows {
            let charge = sums.get(Metric::Charge);
            let each = charge.checked_div(sums.get(Metric::Billed)).map(format_amount);
            let cells = [name.clone(), self.currency.clone(), format_amount(charge)].into_iter();
            let cells = cells.chain(COUNTS.map(|(_, metric)| sums.get(metric).to_string()));
            text.push_str(&csv_line(cells.chain([each.unwrap_or_default()])));
        }
        text
    }
}

fn is_zero(sums: &MetricSums) -> bool {
    [Metric::Impressions, Metric::Engagements, Metric::Charge].iter().all(|metric| sums.get(*metric) == 0)
}

/// A CSV line (RFC 4180).
fn csv_line(cells: impl Iterator<Item = impl AsRef<str>>) -> String {
    let cells: Vec<String> = cells.map(|cell| csv_cell(cell.as_ref())).collect();
    format!("{}\r\n", cells.join(","))
}

/// Escapes a cell, also so that no spreadsheet runs it as a formula.
fn csv_cell(cell: &str) -> String {
    let formula = cell.starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠']);
    let plain = if formula { format!("'{cell}") } else { cell.to_owned() };
    if plain.contains(['"', ',', ';', '\n', '\r', '\t']) || formula {
        return format!("\"{}\"", plain.replace('"', "\"\""));
    }
    plain
}

fn daily_rows(tx: &mut Tx<'_>, ctx: &ManagerAccount, (entity, id): (AdEntity, i64)) -> Result<BreakdownRows, Error> {
    let days = DayRange::selected(ctx);
    let sums = days.load_sums(tx, entity, &[id], PLACEMENTS)?.remove(&id);
    Ok(days.iso_dates().zip(sums.unwrap_or_default()).collect())
}

fn placement_rows(
    tx: &mut Tx<'_>,
    ctx: &ManagerAccount,
    (entity, id): (AdEntity, i64),
) -> Result<BreakdownRows, Error> {
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

fn segment_rows(
    tx: &mut Tx<'_>,
    ctx: &ManagerAccount,
    (entity, id): (AdEntity, i64),
    segments: &str,
) -> Result<BreakdownRows, Error> {
    let mut rows: BTreeMap<String, MetricSums> = BTreeMap::new();
    let mut records = ctx.open_context(tx, RequiredRole::StatsReader, false)?;
    let span = DayRange::selected(ctx).span();
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

#[cfg(test)]
mod tests {
    use super::{csv_cell, csv_line};

    #[test]
    fn no_cell_is_a_formula() {
        for (cell, written) in [
            ("Spring", "Spring"),
            ("12.50", "12.50"),
            ("=1+1", "\"'=1+1\""),
            ("+351", "\"'+351\""),
            ("-2", "\"'-2\""),
            ("@SUM(A1)", "\"'@SUM(A1)\""),
            ("\t=1", "\"'\t=1\""),
            ("a,b", "\"a,b\""),
            ("say \"hi\"", "\"say \"\"hi\"\"\""),
            ("two\nlines", "\"two\nlines\""),
        ] {
            assert_eq!(csv_cell(cell), written);
        }
        assert_eq!(csv_line(["a", "b,c"].iter()), "a,\"b,c\"\r\n");
    }
}
