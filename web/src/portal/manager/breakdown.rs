//! Figures taken apart: by day, by where they were shown, and by who saw them; as a table, and as a
//! file for spreadsheets.

use std::collections::BTreeMap;

use base::Error;
use pages::manager::{AdsManager, Block, Cell, Empty, Link, Row, Table};
use serde_json::Value;
use store::Tx;

use super::ask::{Desk, items, text};
use super::figures::{self, Days, STATS};
use super::line_items::name_of;
use super::stand::Stand;
use super::words::{amount, money, said, whole};
use super::{column, numbers};

/// What figures are taken apart by.
const BY: &[(&str, &str, &str)] = &[
    ("day", "Day", ""),
    ("placement", "Placement", ""),
    ("platform", "Platform", "PLATFORMS"),
    ("age", "Age", "AGE"),
    ("gender", "Gender", "GENDER"),
];

/// Where something is shown.
pub(super) const PLACEMENTS: [&str; 2] = ["ALL_ON_TWITTER", "PUBLISHER_NETWORK"];
const ALL_PLACEMENTS: [&str; 4] = ["ALL_ON_TWITTER", "PUBLISHER_NETWORK", "SPOTLIGHT", "TREND"];

/// Figures that are counted.
#[derive(Clone, Copy, Default)]
struct Counts {
    impressions: i64,
    engagements: i64,
    clicks: i64,
    results: i64,
    charge: i64,
}

impl Counts {
    /// Adds what metrics say of one bucket, or of all of them.
    fn add(&mut self, metrics: &Value, bucket: Option<usize>) {
        let of = |name: &str| {
            let all = items(metrics, name).iter().enumerate();
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

    const fn is_nothing(&self) -> bool {
        self.impressions == 0 && self.engagements == 0 && self.charge == 0
    }
}

/// Figures of one thing, taken apart.
pub(super) struct Breakdown {
    heading: String,
    currency: String,
    above: Vec<Link>,
    by: &'static (&'static str, &'static str, &'static str),
    days: i64,
    rows: Vec<(String, Counts)>,
}

impl Breakdown {
    /// Of the campaign or line item of a place; none where there is no such thing.
    pub(super) fn of(tx: &mut Tx<'_>, desk: &Desk, stand: &Stand) -> Result<Option<Self>, Error> {
        let (part, id) = (stand.place.part.as_str(), stand.place.id.as_str());
        let (entity, path) = match part {
            "campaigns" => ("CAMPAIGN", "campaigns/{}"),
            "line-items" => ("LINE_ITEM", "line_items/{}"),
            _ => return Ok(None),
        };
        let of = desk.one(tx, path, id)?;
        let heading = match part {
            "campaigns" => text(&of, "name").to_owned(),
            _ => name_of(&of),
        };
        let asked = stand.by.as_deref().unwrap_or("day");
        let by = BY.iter().find(|(name, ..)| *name == asked);
        let Some(by) = by.or(BY.first()) else {
            return Ok(None);
        };
        let days = figures::days(stand);
        let span = Days::of(desk, days);
        let rows = match by.0 {
            "day" => by_day(tx, desk, (entity, id), &span)?,
            "placement" => by_placement(tx, desk, (entity, id), &span)?,
            _ => by_segment(tx, desk, (entity, id), &span, by.2)?,
        };
        Ok(Some(Self {
            above: vec![
                Link::to("Campaigns", desk.path("")),
                Link::to(heading.clone(), desk.path(&format!("/{part}/{id}"))),
            ],
            heading,
            currency: text(&of, "currency").to_owned(),
            by,
            days,
            rows,
        }))
    }

    /// The page.
    pub(super) fn page(self, desk: &Desk, stand: &Stand) -> AdsManager {
        let (part, id) = (&stand.place.part, &stand.place.id);
        let here = |file: &str, by: &str, days: i64| {
            desk.path(&format!("/{part}/{id}/{file}?by={by}&days={days}"))
        };
        let views = BY.iter().map(|(name, said, _)| Link {
            current: *name == self.by.0,
            ..Link::to(*said, here("figures", name, self.days))
        });
        let spans = [7, 14, 28].map(|days| Link {
            current: days == self.days,
            ..Link::to(format!("{days} days"), here("figures", self.by.0, days))
        });
        let rows: Vec<Row> = self.rows.iter().map(|row| self.row(row)).collect();
        let file = here("figures.csv", self.by.0, self.days);
        let file = Link::to("Download as CSV", file);
        AdsManager {
            trail: self.above,
            heading: format!("Figures of {}", self.heading),
            blocks: vec![Block::Table(Table {
                title: format!("By {}", self.by.1.to_lowercase()),
                views: vec![("Taken apart by", views.collect()), ("Span", spans.into())],
                actions: Some(file)
                    .filter(|_| !rows.is_empty())
                    .into_iter()
                    .collect(),
                columns: vec![
                    column(self.by.1),
                    numbers("Spend"),
                    numbers("Impressions"),
                    numbers("Engagements"),
                    numbers("Clicks"),
                    numbers("Results"),
                    numbers("Cost per result"),
                ],
                rows,
                empty: Empty {
                    title: "Nothing was shown in these days".to_owned(),
                    text: "Choose a longer span, or see on the page before why it does not run."
                        .to_owned(),
                    link: None,
                },
                ..Table::default()
            })],
            ..AdsManager::default()
        }
    }

    fn row(&self, (name, counts): &(String, Counts)) -> Row {
        let each = counts.charge.checked_div(counts.results);
        let each = each.map_or_else(|| "–".to_owned(), |each| money(each, &self.currency));
        Row {
            name: name.clone(),
            cells: vec![
                Cell::of(name.clone()),
                Cell::of(money(counts.charge, &self.currency)),
                Cell::of(whole(counts.impressions)),
                Cell::of(whole(counts.engagements)),
                Cell::of(whole(counts.clicks)),
                Cell::of(whole(counts.results)),
                Cell::of(each),
            ],
            acts: Vec::new(),
        }
    }

    /// The file.
    pub(super) fn file(&self) -> String {
        let mut text = line(&[
            self.by.1,
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
            let each = each.map(amount).unwrap_or_default();
            let figures = [
                counts.impressions,
                counts.engagements,
                counts.clicks,
                counts.results,
            ];
            let [seen, engaged, clicks, results] = figures.map(|figure| figure.to_string());
            let spend = amount(counts.charge);
            text.push_str(&line(&[
                name,
                &self.currency,
                &spend,
                &seen,
                &engaged,
                &clicks,
                &results,
                &each,
            ]));
        }
        text
    }
}

/// A line of the file (RFC 4180).
fn line(cells: &[&str]) -> String {
    let cells: Vec<String> = cells.iter().map(|cell| quoted(cell)).collect();
    format!("{}\r\n", cells.join(","))
}

/// A cell that no spreadsheet takes for a formula, and no line or sign ends too early.
fn quoted(cell: &str) -> String {
    let formula = cell.starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠']);
    let plain = if formula {
        format!("'{cell}")
    } else {
        cell.to_owned()
    };
    if plain.contains(['"', ',', ';', '\n', '\r', '\t']) || formula {
        return format!("\"{}\"", plain.replace('"', "\"\""));
    }
    plain
}

/// What figures are asked for.
fn asked(
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

fn by_day(
    tx: &mut Tx<'_>,
    desk: &Desk,
    of: (&str, &str),
    days: &Days,
) -> Result<Vec<(String, Counts)>, Error> {
    let mut rows: Vec<(String, Counts)> = days
        .dates()
        .into_iter()
        .map(|day| (day, Counts::default()))
        .collect();
    for placement in PLACEMENTS {
        for (first, from, to) in days.spans() {
            let pairs = asked(of, (from, to), "DAY", placement);
            let answer = desk.ask(tx, "GET", STATS, &[], &pairs)?;
            let Some(metrics) = answer.pointer("/data/0/id_data/0/metrics") else {
                continue;
            };
            for (place, (_, counts)) in rows.iter_mut().skip(first).take(7).enumerate() {
                counts.add(metrics, Some(place));
            }
        }
    }
    if rows.iter().all(|(_, counts)| counts.is_nothing()) {
        rows.clear();
    }
    Ok(rows)
}

fn by_placement(
    tx: &mut Tx<'_>,
    desk: &Desk,
    of: (&str, &str),
    days: &Days,
) -> Result<Vec<(String, Counts)>, Error> {
    let mut rows = Vec::new();
    for placement in ALL_PLACEMENTS {
        let mut counts = Counts::default();
        for (_, from, to) in days.spans() {
            let pairs = asked(of, (from, to), "TOTAL", placement);
            let answer = desk.ask(tx, "GET", STATS, &[], &pairs)?;
            if let Some(metrics) = answer.pointer("/data/0/id_data/0/metrics") {
                counts.add(metrics, None);
            }
        }
        if !counts.is_nothing() {
            let name = match placement {
                "ALL_ON_TWITTER" => "On this network".to_owned(),
                other => said(other),
            };
            rows.push((name, counts));
        }
    }
    Ok(rows)
}

fn by_segment(
    tx: &mut Tx<'_>,
    desk: &Desk,
    of: (&str, &str),
    days: &Days,
    segments: &str,
) -> Result<Vec<(String, Counts)>, Error> {
    let mut rows: BTreeMap<String, Counts> = BTreeMap::new();
    for placement in PLACEMENTS {
        let mut pairs = asked(of, days.whole(), "TOTAL", placement);
        pairs.push(("segmentation_type", segments.to_owned()));
        let data = desk.figures(tx, &pairs)?;
        let all = data.as_array().into_iter().flatten();
        for one in all.flat_map(|one| items(one, "id_data")) {
            let name = one.pointer("/segment/segment_name").and_then(Value::as_str);
            let name = match name.unwrap_or("Unknown") {
                age if age.starts_with("AGE_") => {
                    said(age.trim_start_matches("AGE_")).to_lowercase()
                }
                name => name.to_owned(),
            };
            let metrics = one.get("metrics").unwrap_or(&Value::Null);
            rows.entry(name).or_default().add(metrics, None);
        }
    }
    rows.retain(|_, counts| !counts.is_nothing());
    Ok(rows.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::{line, quoted};

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
            assert_eq!(quoted(cell), written);
        }
        assert_eq!(line(&["a", "b,c"]), "a,\"b,c\"\r\n");
    }
}
