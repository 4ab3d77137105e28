//! Statistics in tables and charts, with the same numbers as the Ads API.

use std::collections::HashMap;

use ads_engine::AccountTimeZone;
use ads_engine::field_kind::format_time;
use base::{Error, Time};
use pages::manager::{DailyBar, DailyCharts, DailySeries, NavLink, PageBlock, TableCell, TableColumn};
use serde_json::Value;
use store::Tx;

use super::breakdown::PLACEMENTS;
use super::campaigns::stats_columns;
use super::labels::{format_integer, format_money};
use super::request::{ManagerAccount, json_array, json_text};
use super::route::ManagerRoute;

pub(super) const STATS_PATH: &str = "/12/stats/accounts/{}";
const DAY_MS: i64 = 86_400_000;
/// Limit of one synchronous request.
const DAYS_PER_REQUEST: i64 = 7;
/// Limit of one synchronous request.
const ENTITIES_PER_REQUEST: usize = 20;
const MAX_ENTITIES: usize = 100;

/// 7, 14 or 28.
pub(super) fn selected_days(route: &ManagerRoute) -> i64 {
    match route.days {
        Some(days @ (14 | 28)) => i64::from(days),
        _ => DAYS_PER_REQUEST,
    }
}

/// Per day; `charge` is in micros of the entity's currency.
#[derive(Clone, Default)]
struct DailyStats {
    impressions: Vec<i64>,
    results: Vec<i64>,
    charge: Vec<i64>,
}

impl DailyStats {
    fn new(days: usize) -> Self {
        Self { impressions: vec![0; days], results: vec![0; days], charge: vec![0; days] }
    }

    fn add_metrics(&mut self, metrics: &Value, first: usize) {
        for (name, line) in [
            ("impressions", &mut self.impressions),
            ("billed_engagements", &mut self.results),
            ("billed_charge_local_micro", &mut self.charge),
        ] {
            let days = json_array(metrics, name).iter().filter_map(Value::as_i64);
            for (day, figure) in line.iter_mut().skip(first).zip(days) {
                *day = day.saturating_add(figure);
            }
        }
    }

    fn sum_all<'l>(lines: impl Iterator<Item = &'l Self>, days: usize) -> Self {
        let mut all = Self::new(days);
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

    fn totals(&self) -> (i64, i64, i64) {
        let sum = |line: &[i64]| line.iter().fold(0_i64, |sum, one| sum.saturating_add(*one));
        let sums = (&self.impressions, &self.results, &self.charge);
        (sum(sums.0), sum(sums.1), sum(sums.2))
    }
}

/// Days that end today, in the account's time zone.
pub(super) struct DayRange {
    offset: i64,
    from: i64,
    count: i64,
}

impl DayRange {
    pub(super) fn last_days(ctx: &ManagerAccount, count: i64) -> Self {
        let now = ctx.request.now;
        let offset = AccountTimeZone::from_name(ctx.record.text("timezone")).utc_offset_ms(now);
        let today = (now.ms() + offset).div_euclid(DAY_MS) * DAY_MS - offset;
        Self { offset, from: today - (count - 1) * DAY_MS, count }
    }

    /// Index of the first day, start and end of each request.
    pub(super) fn request_spans(&self) -> impl Iterator<Item = (usize, String, String)> {
        let first = (0..self.count).step_by(7);
        first.map(|first| {
            let last = (first + DAYS_PER_REQUEST).min(self.count);
            let at = |day: i64| format_time(Time::from_ms(self.from + day * DAY_MS));
            (usize::try_from(first).unwrap_or(0), at(first), at(last))
        })
    }

    pub(super) fn full_span(&self) -> (String, String) {
        let at = |day: i64| format_time(Time::from_ms(self.from + day * DAY_MS));
        (at(0), at(self.count))
    }

    /// For example `2026-11-21`.
    pub(super) fn iso_dates(&self) -> Vec<String> {
        let date = |day: i64| {
            let written = Time::from_ms(self.from + self.offset + day * DAY_MS).to_string();
            written.get(..10).unwrap_or_default().to_owned()
        };
        (0..self.count).map(date).collect()
    }

    /// For example `21 Nov`.
    fn day_labels(&self) -> Vec<String> {
        const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
        let name = |day: i64| {
            let written = Time::from_ms(self.from + self.offset + day * DAY_MS).to_string();
            let month = written.get(5..7).and_then(|month| month.parse::<usize>().ok());
            let month = month.and_then(|month| MONTHS.get(month.checked_sub(1)?));
            let day = written.get(8..10).unwrap_or_default().trim_start_matches('0');
            format!("{day} {}", month.copied().unwrap_or_default())
        };
        (0..self.count).map(name).collect()
    }
}

fn are_available(ctx: &ManagerAccount) -> bool {
    ctx.may_call("GET", STATS_PATH) && ctx.may_call("GET", "campaigns")
}

fn load_daily_stats(
    tx: &mut Tx<'_>,
    ctx: &ManagerAccount,
    entity: &str,
    ids: &[&str],
    days: &DayRange,
) -> Result<HashMap<String, DailyStats>, Error> {
    let mut lines: HashMap<String, DailyStats> = HashMap::new();
    let count = usize::try_from(days.count).unwrap_or(0);
    let shown = ids.get(..MAX_ENTITIES).unwrap_or(ids);
    for some in shown.chunks(ENTITIES_PER_REQUEST) {
        for (placement, (first, from, to)) in
            PLACEMENTS.into_iter().flat_map(|placement| days.request_spans().map(move |span| (placement, span)))
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
            let answer = ctx.call_api(tx, "GET", STATS_PATH, &[], &pairs)?;
            for one in json_array(&answer, "data") {
                let line = lines.entry(json_text(one, "id").to_owned()).or_insert_with(|| DailyStats::new(count));
                if let Some(metrics) = one.pointer("/id_data/0/metrics") {
                    line.add_metrics(metrics, first);
                }
            }
        }
    }
    Ok(lines)
}

pub(super) struct EntityStats {
    is_available: bool,
    days: i64,
    by_entity: HashMap<String, DailyStats>,
}

impl EntityStats {
    pub(super) fn load(
        tx: &mut Tx<'_>,
        ctx: &ManagerAccount,
        entity: &str,
        ids: &[&str],
        days: i64,
    ) -> Result<Self, Error> {
        let known = are_available(ctx);
        let lines = if known {
            load_daily_stats(tx, ctx, entity, ids, &DayRange::last_days(ctx, days))?
        } else {
            HashMap::new()
        };
        Ok(Self { is_available: known, days, by_entity: lines })
    }

    pub(super) const fn has_stats(&self) -> bool {
        self.is_available
    }

    pub(super) fn caption(&self) -> String {
        if self.is_available { format!("Statistics for the last {} days.", self.days) } else { String::new() }
    }

    pub(super) fn table_columns(&self, name: &'static str) -> Vec<TableColumn> {
        stats_columns(name, self.is_available)
    }

    /// Spend, results, cost per result.
    pub(super) fn table_cells(&self, id: &str, currency: &str) -> Vec<TableCell> {
        if !self.is_available {
            return Vec::new();
        }
        let Some(line) = self.by_entity.get(id) else {
            return vec![TableCell::from_text("–"), TableCell::from_text("–"), TableCell::from_text("–")];
        };
        let (impressions, results, charge) = line.totals();
        vec![
            TableCell::from_text(format_money(charge, currency)),
            TableCell::from_text(format_integer(results))
                .with_subtext(format!("{} impressions", format_integer(impressions))),
            TableCell::from_text(cost_per_result(charge, results, currency)),
        ]
    }
}

fn cost_per_result(charge: i64, results: i64, currency: &str) -> String {
    match charge.checked_div(results) {
        Some(each) => format_money(each, currency),
        None => "–".to_owned(),
    }
}

/// Statistics of all funding instruments in the first one's currency.
pub(super) fn account_charts(
    tx: &mut Tx<'_>,
    ctx: &ManagerAccount,
    route: &ManagerRoute,
) -> Result<Option<PageBlock>, Error> {
    if !are_available(ctx) {
        return Ok(None);
    }
    let pays = ctx.list_entities(tx, "funding_instruments", &[])?;
    let Some(first) = pays.rows.first() else {
        return Ok(None);
    };
    let currency = json_text(first, "currency");
    let same = pays.rows.iter().filter(|one| json_text(one, "currency") == currency);
    let ids: Vec<&str> = same.map(|one| json_text(one, "id")).collect();
    chart_block(tx, ctx, route, ("FUNDING_INSTRUMENT", &ids), currency, "").map(Some)
}

pub(super) fn entity_charts(
    tx: &mut Tx<'_>,
    ctx: &ManagerAccount,
    route: &ManagerRoute,
    entity: &str,
    of: &Value,
    here: &str,
) -> Result<Option<PageBlock>, Error> {
    if !are_available(ctx) {
        return Ok(None);
    }
    let ids = [json_text(of, "id")];
    let currency = json_text(of, "currency");
    chart_block(tx, ctx, route, (entity, &ids), currency, here).map(Some)
}

fn chart_block(
    tx: &mut Tx<'_>,
    ctx: &ManagerAccount,
    route: &ManagerRoute,
    (entity, ids): (&str, &[&str]),
    currency: &str,
    here: &str,
) -> Result<PageBlock, Error> {
    let count = selected_days(route);
    let days = DayRange::last_days(ctx, count);
    let lines = load_daily_stats(tx, ctx, entity, ids, &days)?;
    let all = DailyStats::sum_all(lines.values(), usize::try_from(count).unwrap_or(0));
    let names = days.day_labels();
    let (impressions, results, charge) = all.totals();
    let series = |label: &str, total: String, figures: Vec<(i64, String)>| DailySeries {
        label: label.to_owned(),
        total,
        bars: names
            .iter()
            .zip(figures)
            .map(|(day, (value, written))| DailyBar {
                day: day.clone(),
                value: u64::try_from(value).unwrap_or(0),
                formatted: written,
            })
            .collect(),
    };
    let spent = all.charge.iter().map(|one| (*one, format_money(*one, currency)));
    let shown = all.impressions.iter().map(|one| (*one, format_integer(*one)));
    let cost = all.charge.iter().zip(&all.results).map(|(charge, results)| {
        let cost = charge.checked_div(*results).unwrap_or(0);
        (cost, cost_per_result(*charge, *results, currency))
    });
    let spans = [7, 14, 28].map(|span: i64| NavLink {
        current: span == count,
        ..NavLink::new(format!("{span} days"), ctx.page_path(&format!("{here}?days={span}")))
    });
    let more = format!("{here}/figures?days={count}");
    let more = NavLink::new("Breakdown", ctx.page_path(&more));
    Ok(PageBlock::Charts(DailyCharts {
        title: format!("Last {count} days"),
        actions: Some(more).filter(|_| !here.is_empty()).into_iter().collect(),
        spans: spans.into(),
        series: vec![
            series("Spend", format_money(charge, currency), spent.collect()),
            series("Impressions", format_integer(impressions), shown.collect()),
            series("Cost per result", cost_per_result(charge, results, currency), cost.collect()),
        ],
    }))
}
