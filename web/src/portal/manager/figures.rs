//! Figures of what was shown: the same that apps are answered for the same days.

use std::collections::HashMap;

use ads::field_kind::format_time;
use ads::time_zone::AccountTimeZone;
use base::{Error, Time};
use pages::manager::{Bar, Block, Cell, Charts, Column, Link, Series};
use serde_json::Value;
use store::Tx;

use super::ask::{Desk, items, text};
use super::breakdown::PLACEMENTS;
use super::campaigns::columns;
use super::stand::Stand;
use super::words::{money, whole};

/// Figures that are answered at once.
pub(super) const STATS: &str = "/12/stats/accounts/{}";
const DAY: i64 = 86_400_000;
/// Days that are answered at once.
const AT_ONCE: i64 = 7;
/// Entities that are asked for at once, and whose figures one page shows at most.
const TOGETHER: usize = 20;
const MOST: usize = 100;

/// How many days figures are of, of those that are offered.
pub(super) fn days(stand: &Stand) -> i64 {
    match stand.days {
        Some(days @ (14 | 28)) => i64::from(days),
        _ => AT_ONCE,
    }
}

/// What was shown, what came of it and what that cost, by day.
#[derive(Clone, Default)]
struct Line {
    impressions: Vec<i64>,
    results: Vec<i64>,
    charge: Vec<i64>,
}

impl Line {
    fn of(days: usize) -> Self {
        Self {
            impressions: vec![0; days],
            results: vec![0; days],
            charge: vec![0; days],
        }
    }

    /// Adds what was answered for some days, of which the first is this.
    fn add(&mut self, metrics: &Value, first: usize) {
        for (name, line) in [
            ("impressions", &mut self.impressions),
            ("billed_engagements", &mut self.results),
            ("billed_charge_local_micro", &mut self.charge),
        ] {
            let days = items(metrics, name).iter().filter_map(Value::as_i64);
            for (day, figure) in line.iter_mut().skip(first).zip(days) {
                *day = day.saturating_add(figure);
            }
        }
    }

    /// All of these together.
    fn sum<'l>(lines: impl Iterator<Item = &'l Self>, days: usize) -> Self {
        let mut all = Self::of(days);
        for line in lines {
            let pairs = [
                (&mut all.impressions, &line.impressions),
                (&mut all.results, &line.results),
                (&mut all.charge, &line.charge),
            ];
            for (sums, more) in pairs {
                for (sum, one) in sums.iter_mut().zip(more) {
                    *sum = sum.saturating_add(*one);
                }
            }
        }
        all
    }

    fn sums(&self) -> (i64, i64, i64) {
        let sum = |line: &[i64]| line.iter().fold(0_i64, |sum, one| sum.saturating_add(*one));
        let sums = (&self.impressions, &self.results, &self.charge);
        (sum(sums.0), sum(sums.1), sum(sums.2))
    }
}

/// The days that figures are of: the last of them is today, by the account's clocks.
pub(super) struct Days {
    offset: i64,
    from: i64,
    count: i64,
}

impl Days {
    /// So many, up to today.
    pub(super) fn of(desk: &Desk, count: i64) -> Self {
        let now = desk.asking.now;
        let offset = AccountTimeZone::from_name(desk.account.text("timezone")).utc_offset_ms(now);
        let today = (now.ms() + offset).div_euclid(DAY) * DAY - offset;
        Self {
            offset,
            from: today - (count - 1) * DAY,
            count,
        }
    }

    /// Spans that are asked for at once: their first day, and from when to when.
    pub(super) fn spans(&self) -> impl Iterator<Item = (usize, String, String)> {
        let first = (0..self.count).step_by(7);
        first.map(|first| {
            let last = (first + AT_ONCE).min(self.count);
            let at = |day: i64| format_time(Time::from_ms(self.from + day * DAY));
            (usize::try_from(first).unwrap_or(0), at(first), at(last))
        })
    }

    /// From when to when they are.
    pub(super) fn whole(&self) -> (String, String) {
        let at = |day: i64| format_time(Time::from_ms(self.from + day * DAY));
        (at(0), at(self.count))
    }

    /// The days as dates: `2026-11-21`.
    pub(super) fn dates(&self) -> Vec<String> {
        let date = |day: i64| {
            let written = Time::from_ms(self.from + self.offset + day * DAY).to_string();
            written.get(..10).unwrap_or_default().to_owned()
        };
        (0..self.count).map(date).collect()
    }

    /// What the days are called: `21 Nov`.
    fn names(&self) -> Vec<String> {
        const MONTHS: [&str; 12] = [
            "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
        ];
        let name = |day: i64| {
            let written = Time::from_ms(self.from + self.offset + day * DAY).to_string();
            let month = written
                .get(5..7)
                .and_then(|month| month.parse::<usize>().ok());
            let month = month.and_then(|month| MONTHS.get(month.checked_sub(1)?));
            let day = written
                .get(8..10)
                .unwrap_or_default()
                .trim_start_matches('0');
            format!("{day} {}", month.copied().unwrap_or_default())
        };
        (0..self.count).map(name).collect()
    }
}

/// Whether there are figures, and the role may see them.
fn are_open(desk: &Desk) -> bool {
    desk.may("GET", STATS) && desk.may("GET", "campaigns")
}

fn lines(
    tx: &mut Tx<'_>,
    desk: &Desk,
    entity: &str,
    ids: &[&str],
    days: &Days,
) -> Result<HashMap<String, Line>, Error> {
    let mut lines: HashMap<String, Line> = HashMap::new();
    let count = usize::try_from(days.count).unwrap_or(0);
    let shown = ids.get(..MOST).unwrap_or(ids);
    for some in shown.chunks(TOGETHER) {
        for (placement, (first, from, to)) in PLACEMENTS
            .into_iter()
            .flat_map(|placement| days.spans().map(move |span| (placement, span)))
        {
            let pairs = [
                ("entity", entity.to_owned()),
                ("entity_ids", some.join(",")),
                ("start_time", from),
                ("end_time", to),
                ("granularity", "DAY".to_owned()),
                ("metric_groups", "ENGAGEMENT,BILLING".to_owned()),
                ("placement", placement.to_owned()),
            ];
            let answer = desk.ask(tx, "GET", STATS, &[], &pairs)?;
            for one in items(&answer, "data") {
                let line = lines
                    .entry(text(one, "id").to_owned())
                    .or_insert_with(|| Line::of(count));
                if let Some(metrics) = one.pointer("/id_data/0/metrics") {
                    line.add(metrics, first);
                }
            }
        }
    }
    Ok(lines)
}

/// Spend and results of some entities.
pub(super) struct Figures {
    known: bool,
    days: i64,
    lines: HashMap<String, Line>,
}

impl Figures {
    /// Of these entities.
    pub(super) fn of(
        tx: &mut Tx<'_>,
        desk: &Desk,
        entity: &str,
        ids: &[&str],
        days: i64,
    ) -> Result<Self, Error> {
        let known = are_open(desk);
        let lines = if known {
            lines(tx, desk, entity, ids, &Days::of(desk, days))?
        } else {
            HashMap::new()
        };
        Ok(Self { known, days, lines })
    }

    /// Whether there are any.
    pub(super) const fn are_known(&self) -> bool {
        self.known
    }

    /// Of which days they are.
    pub(super) fn said(&self) -> String {
        if self.known {
            format!("Figures of the last {} days.", self.days)
        } else {
            String::new()
        }
    }

    /// The columns of a table with them.
    pub(super) fn columns(&self, name: &'static str) -> Vec<Column> {
        columns(name, self.known)
    }

    /// The cells of a row: spend, results, cost per result.
    pub(super) fn cells(&self, id: &str, currency: &str) -> Vec<Cell> {
        if !self.known {
            return Vec::new();
        }
        let Some(line) = self.lines.get(id) else {
            return vec![Cell::of("–"), Cell::of("–"), Cell::of("–")];
        };
        let (impressions, results, charge) = line.sums();
        vec![
            Cell::of(money(charge, currency)),
            Cell::of(whole(results)).below(format!("{} impressions", whole(impressions))),
            Cell::of(each(charge, results, currency)),
        ]
    }
}

/// What one result cost.
fn each(charge: i64, results: i64, currency: &str) -> String {
    match charge.checked_div(results) {
        Some(each) => money(each, currency),
        None => "–".to_owned(),
    }
}

/// The whole account's figures by day: of all that pays in its first currency.
pub(super) fn of_account(
    tx: &mut Tx<'_>,
    desk: &Desk,
    stand: &Stand,
) -> Result<Option<Block>, Error> {
    if !are_open(desk) {
        return Ok(None);
    }
    let pays = desk.list(tx, "funding_instruments", &[])?;
    let Some(first) = pays.rows.first() else {
        return Ok(None);
    };
    let currency = text(first, "currency");
    let same = pays
        .rows
        .iter()
        .filter(|one| text(one, "currency") == currency);
    let ids: Vec<&str> = same.map(|one| text(one, "id")).collect();
    charts(tx, desk, stand, ("FUNDING_INSTRUMENT", &ids), currency, "").map(Some)
}

/// The figures of one campaign or line item by day.
pub(super) fn of_one(
    tx: &mut Tx<'_>,
    desk: &Desk,
    stand: &Stand,
    entity: &str,
    of: &Value,
    here: &str,
) -> Result<Option<Block>, Error> {
    if !are_open(desk) {
        return Ok(None);
    }
    let ids = [text(of, "id")];
    let currency = text(of, "currency");
    charts(tx, desk, stand, (entity, &ids), currency, here).map(Some)
}

fn charts(
    tx: &mut Tx<'_>,
    desk: &Desk,
    stand: &Stand,
    (entity, ids): (&str, &[&str]),
    currency: &str,
    here: &str,
) -> Result<Block, Error> {
    let count = days(stand);
    let days = Days::of(desk, count);
    let lines = lines(tx, desk, entity, ids, &days)?;
    let all = Line::sum(lines.values(), usize::try_from(count).unwrap_or(0));
    let names = days.names();
    let (impressions, results, charge) = all.sums();
    let series = |label: &str, total: String, figures: Vec<(i64, String)>| Series {
        label: label.to_owned(),
        total,
        bars: names
            .iter()
            .zip(figures)
            .map(|(day, (value, written))| Bar {
                day: day.clone(),
                value: u64::try_from(value).unwrap_or(0),
                written,
            })
            .collect(),
    };
    let spent = all.charge.iter().map(|one| (*one, money(*one, currency)));
    let seen = all.impressions.iter().map(|one| (*one, whole(*one)));
    let cost = all
        .charge
        .iter()
        .zip(&all.results)
        .map(|(charge, results)| {
            let cost = charge.checked_div(*results).unwrap_or(0);
            (cost, each(*charge, *results, currency))
        });
    let spans = [7, 14, 28].map(|span: i64| Link {
        current: span == count,
        ..Link::to(
            format!("{span} days"),
            desk.path(&format!("{here}?days={span}")),
        )
    });
    let more = format!("{here}/figures?days={count}");
    let more = Link::to("Breakdown", desk.path(&more));
    Ok(Block::Charts(Charts {
        title: format!("Last {count} days"),
        actions: Some(more)
            .filter(|_| !here.is_empty())
            .into_iter()
            .collect(),
        spans: spans.into(),
        series: vec![
            series("Spend", money(charge, currency), spent.collect()),
            series("Impressions", whole(impressions), seen.collect()),
            series(
                "Cost per result",
                each(charge, results, currency),
                cost.collect(),
            ),
        ],
    }))
}
