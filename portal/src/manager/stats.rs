//! Statistics in tables and charts, with the same numbers as the Ads API.

use ads_delivery::analytics::results::StatsRow;
use ads_delivery::analytics::{DayRange, LINE_ITEM_PLACEMENTS};
use ads_engine::{AdsRecord, RecordView, RequiredRole, ResourceVerb};
use std::collections::HashMap;

use ads::resources::campaigns::CAMPAIGN;
use ads::resources::funding_instruments::FUNDING_INSTRUMENT;
use base::{Error, Time};
use pages::Notice;
use pages::manager::{DailyBar, DailyCharts, DailySeries, NavLink, PageBlock, TableCell, TableColumn};
use serde_json::Value;
use store::Tx;
use store::ledger::{self, AdEntity, Metric, MetricSums};

use super::labels::{format_integer, format_money, shorten_integer, shorten_money};
use super::request::ManagerAccount;
use super::tables::{number_column, text_column};

pub(super) const STATS_PATH: &str = "/12/stats/accounts/{}";
const MAX_ENTITIES: usize = 100;
const PERIODS: [i64; 3] = [7, 14, 28];

/// 7, 14 or 28.
pub(super) fn selected_days(asked: Option<&str>) -> i64 {
    let asked = asked.and_then(|days| days.parse().ok());
    asked.filter(|days| PERIODS.contains(days)).unwrap_or(7)
}

/// Links to the same page for each number of days.
pub(super) fn period_links(selected: i64, path: impl Fn(i64) -> String) -> Vec<NavLink> {
    let link = |days| NavLink { current: days == selected, ..NavLink::new(format!("{days} days"), path(days)) };
    PERIODS.map(link).into()
}

/// Days that end today.
pub(super) fn selected_range(ctx: &ManagerAccount) -> DayRange {
    DayRange::ending_at(&ctx.zone, ctx.request.now, ctx.request.days)
}

fn load_rows(
    tx: &mut Tx<'_>,
    ctx: &ManagerAccount,
    entity: AdEntity,
    records: &[&AdsRecord],
) -> Result<HashMap<i64, Vec<StatsRow>>, Error> {
    let mut account = ctx.open_context(tx, RequiredRole::StatsReader, false)?;
    selected_range(ctx).load_rows(&mut account, entity, records)
}

pub(super) fn sum_all<'s>(all: impl IntoIterator<Item = &'s MetricSums>) -> MetricSums {
    let mut total = MetricSums::default();
    all.into_iter().for_each(|sums| total.merge(sums));
    total
}

fn sum_rows<'r>(all: impl IntoIterator<Item = &'r StatsRow>) -> StatsRow {
    let mut total = StatsRow::default();
    all.into_iter().for_each(|row| total.merge(row));
    total
}

fn are_available(ctx: &ManagerAccount) -> bool {
    ctx.may_call("GET", STATS_PATH) && ctx.may(ResourceVerb::List, &CAMPAIGN)
}

/// Refuses roles that may not read statistics.
pub(super) fn require_access(ctx: &ManagerAccount) -> Result<(), Error> {
    if ctx.may_call("GET", STATS_PATH) { Ok(()) } else { Err(ads_engine::role_not_allowed()) }
}

pub(super) fn stats_columns(name: &'static str, third: &'static str, has_stats: bool) -> Vec<TableColumn> {
    let mut all = vec![text_column(name), text_column("Status"), text_column(third)];
    if has_stats {
        all.extend(["Spend", "Results", "Cost per result"].map(number_column));
    }
    all
}

/// Whether figures of a period include simulated events.
pub(super) fn are_simulated(tx: &mut Tx<'_>, ctx: &ManagerAccount, span: (Time, Time)) -> Result<bool, Error> {
    Ok(ledger::has_simulated_events(tx, ctx.record.id, span)?)
}

/// For pages whose figures include simulated events.
pub(super) fn simulation_notice(is_simulated: bool) -> Option<Notice> {
    is_simulated.then(|| Notice::info("These figures include simulated events."))
}

/// The heading and the cell of a last column of a CSV file whose figures include simulated events.
pub(super) fn simulation_cell(is_simulated: bool, text: &str) -> Option<String> {
    is_simulated.then(|| text.to_owned())
}

/// `None` if the role may not read statistics.
pub(super) struct EntityStats {
    days: i64,
    by_entity: Option<HashMap<i64, Vec<StatsRow>>>,
}

impl EntityStats {
    pub(super) fn load(
        tx: &mut Tx<'_>,
        ctx: &ManagerAccount,
        entity: AdEntity,
        rows: &[RecordView],
    ) -> Result<Self, Error> {
        let records: Vec<&AdsRecord> = rows.iter().take(MAX_ENTITIES).map(|row| &row.record).collect();
        let load = || load_rows(tx, ctx, entity, &records);
        Ok(Self { days: ctx.request.days, by_entity: are_available(ctx).then(load).transpose()? })
    }

    pub(super) fn caption(&self) -> String {
        if self.by_entity.is_some() { format!("Statistics for the last {} days.", self.days) } else { String::new() }
    }

    /// `third` is the name of the column before the statistics.
    pub(super) fn table_columns(&self, name: &'static str, third: &'static str) -> Vec<TableColumn> {
        stats_columns(name, third, self.by_entity.is_some())
    }

    /// Spend, results, cost per result.
    pub(super) fn table_cells(&self, id: i64, currency: &str) -> Vec<TableCell> {
        let Some(by_entity) = &self.by_entity else {
            return Vec::new();
        };
        let Some(days) = by_entity.get(&id) else {
            return vec![TableCell::from_text("–"); 3];
        };
        let total = sum_rows(days);
        vec![
            TableCell::from_text(format_money(total.sums.get(Metric::Charge), currency)),
            TableCell::from_text(format_results(&total))
                .with_subtext(format!("{} impressions", format_integer(total.sums.get(Metric::Impressions)))),
            TableCell::from_text(cost_per_result(&total, currency)),
        ]
    }
}

fn format_results(row: &StatsRow) -> String {
    row.results.map_or_else(|| "–".to_owned(), format_integer)
}

fn cost_per_result(row: &StatsRow, currency: &str) -> String {
    row.cost_per_result().map_or_else(|| "–".to_owned(), |each| format_money(each, currency))
}

/// Statistics of all funding instruments in the first one's currency.
pub(super) fn account_charts(tx: &mut Tx<'_>, ctx: &ManagerAccount) -> Result<Option<PageBlock>, Error> {
    if !are_available(ctx) {
        return Ok(None);
    }
    let pays = ctx.list(tx, &FUNDING_INSTRUMENT, Value::Null)?;
    let Some(currency) = pays.rows.first().map(|first| first.text("currency")) else {
        return Ok(None);
    };
    let same = pays.rows.iter().filter(|one| one.text("currency") == currency);
    let ids: Vec<i64> = same.map(|one| one.record.id).collect();
    let days = selected_range(ctx);
    let by_entity = days.load_sums(tx, AdEntity::Funding, &ids, LINE_ITEM_PLACEMENTS)?;
    let total = (0..days.day_count()).map(|day| {
        let all = by_entity.values().filter_map(|days: &Vec<MetricSums>| days.get(day));
        StatsRow { sums: sum_all(all), results: None }
    });
    // Line items of an account have different goals.
    let thousand: (&str, CostOfRow) = ("Cost per 1,000 impressions", cost_per_thousand);
    Ok(Some(chart_block(ctx, &days, &total.collect::<Vec<_>>(), thousand, (currency, ""))))
}

pub(super) fn entity_charts(
    tx: &mut Tx<'_>,
    ctx: &ManagerAccount,
    entity: AdEntity,
    one: &RecordView,
    here: &str,
) -> Result<Option<PageBlock>, Error> {
    if !are_available(ctx) {
        return Ok(None);
    }
    let days = selected_range(ctx);
    let rows = load_rows(tx, ctx, entity, &[&one.record])?.remove(&one.record.id).unwrap_or_default();
    let cost: (&str, CostOfRow) = ("Cost per result", StatsRow::cost_per_result);
    Ok(Some(chart_block(ctx, &days, &rows, cost, (one.text("currency"), here))))
}

/// In micros; `None` if nothing was bought.
type CostOfRow = fn(&StatsRow) -> Option<i64>;

fn cost_per_thousand(row: &StatsRow) -> Option<i64> {
    row.sums.get(Metric::Charge).saturating_mul(1000).checked_div(row.sums.get(Metric::Impressions))
}

fn chart_block(
    ctx: &ManagerAccount,
    days: &DayRange,
    rows: &[StatsRow],
    (cost_label, cost): (&str, CostOfRow),
    (currency, here): (&str, &str),
) -> PageBlock {
    let count = ctx.request.days;
    let daily: Vec<(String, StatsRow)> = days.day_labels().zip(rows.iter().copied()).collect();
    let total = sum_rows(rows);
    let series = |label: &str, figure: &dyn Fn(&StatsRow) -> (i64, String, String)| DailySeries {
        label: label.to_owned(),
        total: figure(&total).1,
        bars: daily
            .iter()
            .map(|(day, row)| {
                let (value, formatted, short_value) = figure(row);
                DailyBar {
                    day: day.clone(),
                    value: u64::try_from(value).unwrap_or(0),
                    formatted,
                    short_day: day.rsplit_once(' ').map_or("", |(day, _)| day).to_owned(),
                    short_value,
                }
            })
            .collect(),
    };
    let charge = |row: &StatsRow| row.sums.get(Metric::Charge);
    let money = |micros: i64| (micros, format_money(micros, currency), shorten_money(micros));
    let impressions = |row: &StatsRow| row.sums.get(Metric::Impressions);
    let (level, id) = here.trim_start_matches('/').split_once('/').unwrap_or_default();
    let report = format!("/reports?level={level}&only={id}&by=day&days={count}");
    let more = NavLink::new("Breakdown", ctx.page_path(&report));
    PageBlock::Charts(DailyCharts {
        title: format!("Last {count} days"),
        actions: Some(more).filter(|_| !here.is_empty()).into_iter().collect(),
        spans: period_links(count, |days| ctx.page_path(&format!("{here}?days={days}"))),
        series: vec![
            series("Spend", &|row| money(charge(row))),
            series("Impressions", &|row| {
                let count = impressions(row);
                (count, format_integer(count), shorten_integer(count))
            }),
            series(cost_label, &|row| match cost(row) {
                Some(each) => money(each),
                None => (0, "–".to_owned(), "–".to_owned()),
            }),
        ],
    })
}
