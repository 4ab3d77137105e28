//! Statistics by day, placement, platform, age or gender, as a table and as CSV.

use std::collections::BTreeMap;

use base::Error;
use pages::manager::{AdsManagerPage, DataTable, EmptyState, NavLink, PageBlock, TableCell, TableRow};
use serde_json::Value;
use store::Tx;

use super::labels::{format_amount, format_integer, format_money, word_label};
use super::line_items::line_item_name;
use super::request::{ManagerAccount, json_array, json_text};
use super::route::ManagerRoute;
use super::stats::{self, DayRange, STATS_PATH};
use super::{number_column, text_column};

/// Name in the URL, label, and segmentation type of the API.
const DIMENSIONS: &[(&str, &str, &str)] = &[
    ("day", "Day", ""),
    ("placement", "Placement", ""),
    ("platform", "Platform", "PLATFORMS"),
    ("age", "Age", "AGE"),
    ("gender", "Gender", "GENDER"),
];

pub(super) const PLACEMENTS: [&str; 2] = ["ALL_ON_TWITTER", "PUBLISHER_NETWORK"];
const ALL_PLACEMENTS: [&str; 4] = ["ALL_ON_TWITTER", "PUBLISHER_NETWORK", "SPOTLIGHT", "TREND"];

/// `charge` is in micros of the entity's currency.
#[derive(Clone, Copy, Default)]
struct BreakdownCounts {
    impressions: i64,
    engagements: i64,
    clicks: i64,
    results: i64,
    charge: i64,
}

impl BreakdownCounts {
    /// Adds the metrics of one bucket, or of all if `bucket` is `None`.
    fn add_metrics(&mut self, metrics: &Value, bucket: Option<usize>) {
        let of = |name: &str| {
            let all = json_array(metrics, name).iter().enumerate();
            let some = all.filter(|(place, _)| bucket.is_none_or(|bucket| bucket == *place));
            let some = some.filter_map(|(_, value)| value.as_i64());
            some.fold(0_i64, i64::saturating_add)
        };
        for (sum, name) in [
            (&mut self.impressions, "impressions"),
            (&mut self.engagements, "engagements"),
            (&mut self.clicks, "clicks"),
            (&mut self.results, "billed_engagements"),
            (&mut self.charge, "billed_charge_local_micro"),
        ] {
            *sum = sum.saturating_add(of(name));
        }
    }

    const fn is_zero(&self) -> bool {
        self.impressions == 0 && self.engagements == 0 && self.charge == 0
    }
}

pub(super) struct StatsBreakdown {
    heading: String,
    currency: String,
    trail: Vec<NavLink>,
    dimension: &'static (&'static str, &'static str, &'static str),
    days: i64,
    rows: Vec<(String, BreakdownCounts)>,
}

impl StatsBreakdown {
    /// `None` unless the path is that of a campaign or line item.
    pub(super) fn load(tx: &mut Tx<'_>, ctx: &ManagerAccount, route: &ManagerRoute) -> Result<Option<Self>, Error> {
        let (part, id) = (route.path.section.as_str(), route.path.id.as_str());
        let (entity, path) = match part {
            "campaigns" => ("CAMPAIGN", "campaigns/{}"),
            "line-items" => ("LINE_ITEM", "line_items/{}"),
            _ => return Ok(None),
        };
        let of = ctx.get_entity(tx, path, id)?;
        let heading = match part {
            "campaigns" => json_text(&of, "name").to_owned(),
            _ => line_item_name(&of),
        };
        let asked = route.breakdown_by.as_deref().unwrap_or("day");
        let by = DIMENSIONS.iter().find(|(name, ..)| *name == asked);
        let Some(by) = by.or(DIMENSIONS.first()) else {
            return Ok(None);
        };
        let days = stats::selected_days(route);
        let span = DayRange::last_days(ctx, days);
        let rows = match by.0 {
            "day" => daily_rows(tx, ctx, (entity, id), &span)?,
            "placement" => placement_rows(tx, ctx, (entity, id), &span)?,
            _ => segment_rows(tx, ctx, (entity, id), &span, by.2)?,
        };
        Ok(Some(Self {
            trail: vec![
                NavLink::new("Campaigns", ctx.page_path("")),
                NavLink::new(heading.clone(), ctx.page_path(&format!("/{part}/{id}"))),
            ],
            heading,
            currency: json_text(&of, "currency").to_owned(),
            dimension: by,
            days,
            rows,
        }))
    }

    pub(super) fn into_page(self, ctx: &ManagerAccount, route: &ManagerRoute) -> AdsManagerPage {
        let (part, id) = (&route.path.section, &route.path.id);
        let here = |file: &str, by: &str, days: i64| ctx.page_path(&format!("/{part}/{id}/{file}?by={by}&days={days}"));
        let views = DIMENSIONS.iter().map(|(name, label, _)| NavLink {
            current: *name == self.dimension.0,
            ..NavLink::new(*label, here("figures", name, self.days))
        });
        let spans = [7, 14, 28].map(|days| NavLink {
            current: days == self.days,
            ..NavLink::new(format!("{days} days"), here("figures", self.dimension.0, days))
        });
        let rows: Vec<TableRow> = self.rows.iter().map(|row| self.counts_row(row)).collect();
        let file = here("figures.csv", self.dimension.0, self.days);
        let file = NavLink::new("Download as CSV", file);
        AdsManagerPage {
            trail: self.trail,
            heading: format!("Statistics for {}", self.heading),
            blocks: vec![PageBlock::Table(DataTable {
                title: format!("By {}", self.dimension.1.to_lowercase()),
                views: vec![("Break down by", views.collect()), ("Date range", spans.into())],
                actions: Some(file).filter(|_| !rows.is_empty()).into_iter().collect(),
                columns: vec![
                    text_column(self.dimension.1),
                    number_column("Spend"),
                    number_column("Impressions"),
                    number_column("Engagements"),
                    number_column("Clicks"),
                    number_column("Results"),
                    number_column("Cost per result"),
                ],
                rows,
                empty: EmptyState {
                    title: "No data for this period".to_owned(),
                    text: "Choose a longer period, or check why it isn’t running.".to_owned(),
                    link: None,
                },
                ..DataTable::default()
            })],
            ..AdsManagerPage::default()
        }
    }

    fn counts_row(&self, (name, counts): &(String, BreakdownCounts)) -> TableRow {
        let each = counts.charge.checked_div(counts.results);
        let each = each.map_or_else(|| "–".to_owned(), |each| format_money(each, &self.currency));
        TableRow {
            name: name.clone(),
            cells: vec![
                TableCell::from_text(name.clone()),
                TableCell::from_text(format_money(counts.charge, &self.currency)),
                TableCell::from_text(format_integer(counts.impressions)),
                TableCell::from_text(format_integer(counts.engagements)),
                TableCell::from_text(format_integer(counts.clicks)),
                TableCell::from_text(format_integer(counts.results)),
                TableCell::from_text(each),
            ],
            action_buttons: Vec::new(),
        }
    }

    pub(super) fn to_csv(&self) -> String {
        let mut text = csv_line(&[
            self.dimension.1,
            "Currency",
            "Spend",
            "Impressions",
            "Engagements",
            "Clicks",
            "Results",
            "Cost per result",
        ]);
        for (name, counts) in &self.rows {
            let each = counts.charge.checked_div(counts.results);
            let each = each.map(format_amount).unwrap_or_default();
            let figures = [counts.impressions, counts.engagements, counts.clicks, counts.results];
            let [shown, engaged, clicks, results] = figures.map(|figure| figure.to_string());
            let spend = format_amount(counts.charge);
            text.push_str(&csv_line(&[name, &self.currency, &spend, &shown, &engaged, &clicks, &results, &each]));
        }
        text
    }
}

/// A CSV line (RFC 4180).
fn csv_line(cells: &[&str]) -> String {
    let cells: Vec<String> = cells.iter().map(|cell| csv_cell(cell)).collect();
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

fn stats_params(
    (entity, id): (&str, &str),
    (from, to): (String, String),
    granularity: &str,
    placement: &str,
) -> Vec<(&'static str, String)> {
    vec![
        ("entity", entity.to_owned()),
        ("entity_ids", id.to_owned()),
        ("start_time", from),
        ("end_time", to),
        ("granularity", granularity.to_owned()),
        ("metric_groups", "ENGAGEMENT,BILLING".to_owned()),
        ("placement", placement.to_owned()),
    ]
}

fn daily_rows(
    tx: &mut Tx<'_>,
    ctx: &ManagerAccount,
    of: (&str, &str),
    days: &DayRange,
) -> Result<Vec<(String, BreakdownCounts)>, Error> {
    let mut rows: Vec<(String, BreakdownCounts)> =
        days.iso_dates().into_iter().map(|day| (day, BreakdownCounts::default())).collect();
    for placement in PLACEMENTS {
        for (first, from, to) in days.request_spans() {
            let pairs = stats_params(of, (from, to), "DAY", placement);
            let answer = ctx.call_api(tx, "GET", STATS_PATH, &[], &pairs)?;
            let Some(metrics) = answer.pointer("/data/0/id_data/0/metrics") else {
                continue;
            };
            for (place, (_, counts)) in rows.iter_mut().skip(first).take(7).enumerate() {
                counts.add_metrics(metrics, Some(place));
            }
        }
    }
    if rows.iter().all(|(_, counts)| counts.is_zero()) {
        rows.clear();
    }
    Ok(rows)
}

fn placement_rows(
    tx: &mut Tx<'_>,
    ctx: &ManagerAccount,
    of: (&str, &str),
    days: &DayRange,
) -> Result<Vec<(String, BreakdownCounts)>, Error> {
    let mut rows = Vec::new();
    for placement in ALL_PLACEMENTS {
        let mut counts = BreakdownCounts::default();
        for (_, from, to) in days.request_spans() {
            let pairs = stats_params(of, (from, to), "TOTAL", placement);
            let answer = ctx.call_api(tx, "GET", STATS_PATH, &[], &pairs)?;
            if let Some(metrics) = answer.pointer("/data/0/id_data/0/metrics") {
                counts.add_metrics(metrics, None);
            }
        }
        if !counts.is_zero() {
            let name = match placement {
                "ALL_ON_TWITTER" => "On this network".to_owned(),
                other => word_label(other),
            };
            rows.push((name, counts));
        }
    }
    Ok(rows)
}

fn segment_rows(
    tx: &mut Tx<'_>,
    ctx: &ManagerAccount,
    of: (&str, &str),
    days: &DayRange,
    segments: &str,
) -> Result<Vec<(String, BreakdownCounts)>, Error> {
    let mut rows: BTreeMap<String, BreakdownCounts> = BTreeMap::new();
    for placement in PLACEMENTS {
        let mut pairs = stats_params(of, days.full_span(), "TOTAL", placement);
        pairs.push(("segmentation_type", segments.to_owned()));
        let data = ctx.run_stats_job(tx, &pairs)?;
        let all = data.as_array().into_iter().flatten();
        for one in all.flat_map(|one| json_array(one, "id_data")) {
            let name = one.pointer("/segment/segment_name").and_then(Value::as_str);
            let name = match name.unwrap_or("Unknown") {
                age if age.starts_with("AGE_") => word_label(age.trim_start_matches("AGE_")).to_lowercase(),
                name => name.to_owned(),
            };
            let metrics = one.get("metrics").unwrap_or(&Value::Null);
            rows.entry(name).or_default().add_metrics(metrics, None);
        }
    }
    rows.retain(|_, counts| !counts.is_zero());
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
        assert_eq!(csv_line(&["a", "b,c"]), "a,\"b,c\"\r\n");
    }
}
