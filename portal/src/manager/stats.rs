//! Statistics in tables and charts, with the same numbers as the Ads API.

use ads_engine::{AccountTimeZone, RecordView, ResourceVerb};
use std::collections::HashMap;

use ads::resources::campaigns::CAMPAIGN;
use ads::resources::funding_instruments::FUNDING_INSTRUMENT;
use base::{Error, Time};
use pages::manager::{DailyBar, DailyCharts, DailySeries, NavLink, PageBlock, TableCell, TableColumn};
use serde_json::Value;
use store::Tx;
use store::ledger::{self, AdEntity, Metric, MetricSums, Placement};

use super::labels::{format_day, format_integer, format_iso_date, format_money};
use super::request::ManagerAccount;
use super::tables::{number_column, text_column};

const STATS_PATH: &str = "/12/stats/accounts/{}";
const DAY_MS: i64 = 86_400_000;
const MAX_ENTITIES: usize = 100;
/// The placements that line items can have.
pub(super) const PLACEMENTS: &[Placement] = &[Placement::AllOn, Placement::Publishers];
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

/// Days that end today, in the account's time zone.
pub(super) struct DayRange {
    offset: i64,
    from: i64,
    count: i64,
}

impl DayRange {
    pub(super) fn selected(ctx: &ManagerAccount) -> Self {
        let (now, count) = (ctx.request.now, ctx.request.days);
        let offset = AccountTimeZone::from_name(ctx.record.text("timezone")).utc_offset_ms(now);
        let today = (now.ms() + offset).div_euclid(DAY_MS) * DAY_MS - offset;
        Self { offset, from: today - (count - 1) * DAY_MS, count }
    }

    pub(super) fn span(&self) -> (Time, Time) {
        (Time::from_ms(self.from), Time::from_ms(self.from + self.count * DAY_MS))
    }

    /// The beginning of each day, as if the account's time zone were UTC.
    fn local_days(&self) -> impl Iterator<Item = Time> {
        (0..self.count).map(|day| Time::from_ms(self.from + self.offset + day * DAY_MS))
    }

    pub(super) fn iso_dates(&self) -> impl Iterator<Item = String> {
        self.local_days().map(format_iso_date)
    }

    /// The sums of each day by entity.
    pub(super) fn load_sums(
        &self,
        tx: &mut Tx<'_>,
        entity: AdEntity,
        ids: &[i64],
        placements: &[Placement],
    ) -> Result<HashMap<i64, Vec<MetricSums>>, Error> {
        let none = vec![MetricSums::default(); usize::try_from(self.count).unwrap_or(0)];
        let mut days: HashMap<i64, Vec<MetricSums>> = ids.iter().map(|id| (*id, none.clone())).collect();
        for placement in placements {
            for (id, hour, sums) in ledger::hourly_sums(tx, entity, ids, self.span(), *placement)? {
                let day = usize::try_from((hour - self.from) / DAY_MS).unwrap_or(usize::MAX);
                if let Some(total) = days.get_mut(&id).and_then(|days| days.get_mut(day)) {
                    total.merge(&sums);
                }
            }
        }
        Ok(days)
    }
}

pub(super) fn sum_all<'s>(all: impl IntoIterator<Item = &'s MetricSums>) -> MetricSums {
    let mut total = MetricSums::default();
    all.into_iter().for_each(|sums| total.merge(sums));
    total
}

fn are_available(ctx: &ManagerAccount) -> bool {
    ctx.may_call("GET", STATS_PATH) && ctx.may(ResourceVerb::List, &CAMPAIGN)
}

/// Refuses roles that may not read statistics.
pub(super) fn require_access(ctx: &ManagerAccount) -> Result<(), Error> {
    if ctx.may_call("GET", STATS_PATH) { Ok(()) } else { Err(super::forms::action_not_allowed()) }
}

pub(super) fn stats_columns(name: &'static str, third: &'static str, has_stats: bool) -> Vec<TableColumn> {
    let mut all = vec![text_column(name), text_column("Status"), text_column(third)];
    if has_stats {
        all.extend(["Spend", "Results", "Cost per result"].map(number_column));
    }
    all
}

/// `None` if the role may not read statistics.
pub(super) struct EntityStats {
    days: i64,
    by_entity: Option<HashMap<i64, Vec<MetricSums>>>,
}

impl EntityStats {
    pub(super) fn load(tx: &mut Tx<'_>, ctx: &ManagerAccount, entity: AdEntity, ids: &[i64]) -> Result<Self, Error> {
        let ids = ids.get(..MAX_ENTITIES).unwrap_or(ids);
        let load = || DayRange::selected(ctx).load_sums(tx, entity, ids, PLACEMENTS);
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
        let total = sum_all(days);
        vec![
            TableCell::from_text(format_money(total.get(Metric::Charge), currency)),
            TableCell::from_text(format_integer(total.get(Metric::Billed)))
                .with_subtext(format!("{} impressions", format_integer(total.get(Metric::Impressions)))),
            TableCell::from_text(cost_per_result(&total, currency)),
        ]
    }
}

pub(super) fn cost_per_result(sums: &MetricSums, currency: &str) -> String {
    let each = sums.get(Metric::Charge).checked_div(sums.get(Metric::Billed));
    each.map_or_else(|| "–".to_owned(), |each| format_money(each, currency))
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
    chart_block(tx, ctx, (AdEntity::Funding, &ids), currency, "").map(Some)
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
    chart_block(tx, ctx, (entity, &[one.record.id]), one.text("currency"), here).map(Some)
}

fn chart_block(
    tx: &mut Tx<'_>,
    ctx: &ManagerAccount,
    (entity, ids): (AdEntity, &[i64]),
    currency: &str,
    here: &str,
) -> Result<PageBlock, Error> {
    let (days, count) = (DayRange::selected(ctx), ctx.request.days);
    let by_entity = days.load_sums(tx, entity, ids, PLACEMENTS)?;
    let daily = (0..).zip(days.local_days());
    let daily = daily.map(|(place, day)| {
        let all = by_entity.values().filter_map(|days: &Vec<MetricSums>| days.get::<usize>(place));
        (format_day(day), sum_all(all))
    });
    let daily: Vec<(String, MetricSums)> = daily.collect();
    let total = sum_all(daily.iter().map(|(_, sums)| sums));
    let series = |label: &str, figure: &dyn Fn(&MetricSums) -> (i64, String)| DailySeries {
        label: label.to_owned(),
        total: figure(&total).1,
        bars: daily
            .iter()
            .map(|(day, sums)| {
                let (value, formatted) = figure(sums);
                DailyBar { day: day.clone(), value: u64::try_from(value).unwrap_or(0), formatted }
            })
            .collect(),
    };
    let charge = |sums: &MetricSums| sums.get(Metric::Charge);
    let impressions = |sums: &MetricSums| sums.get(Metric::Impressions);
    let more = NavLink::new("Breakdown", ctx.page_path(&format!("{here}/figures?days={count}")));
    Ok(PageBlock::Charts(DailyCharts {
        title: format!("Last {count} days"),
        actions: Some(more).filter(|_| !here.is_empty()).into_iter().collect(),
        spans: period_links(count, |days| ctx.page_path(&format!("{here}?days={days}"))),
        series: vec![
            series("Spend", &|sums| (charge(sums), format_money(charge(sums), currency))),
            series("Impressions", &|sums| (impressions(sums), format_integer(impressions(sums)))),
            series("Cost per result", &|sums| {
                (charge(sums).checked_div(sums.get(Metric::Billed)).unwrap_or(0), cost_per_result(sums, currency))
            }),
        ],
    }))
}
