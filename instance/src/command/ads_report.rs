//! `locum ads report`.

use std::collections::{BTreeMap, BTreeSet};

use ads::budget::format_amount;
use ads::resources::line_items::LINE_ITEM;
use ads_delivery::analytics::results::{EntityResults, StatsRow};
use ads_delivery::analytics::{DayRange, LINE_ITEM_PLACEMENTS};
use ads_engine::{AccountContext, AccountTimeZone, AdsRecord};
use base::csv::csv_line;
use base::time::DAY_MS;
use base::{Error, Time, UserId};
use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};
use store::Tx;
use store::ledger::{self, AdEntity, Metric, MetricSums};
use store::records::RecordVisibility;

use super::ads_accounts::{find_account, invalid_parameter};
use super::ads_tree::find_campaigns;

const MAX_DAYS: usize = 90;
const DEFAULT_DAYS: i64 = 7;
const MAX_CAMPAIGNS: usize = 1000;
const COUNTS: [(&str, Metric); 6] = [
    ("impressions", Metric::Impressions),
    ("engagements", Metric::Engagements),
    ("clicks", Metric::Clicks),
    ("url_clicks", Metric::UrlClicks),
    ("follows", Metric::Follows),
    ("video_views", Metric::VideoViews),
];
/// In the order of the columns of a CSV file; those that a report does not have are left out.
const COLUMNS: [&str; 15] = [
    "id",
    "name",
    "status",
    "campaign",
    "day",
    "segment",
    "currency",
    "spend",
    "impressions",
    "engagements",
    "clicks",
    "url_clicks",
    "follows",
    "video_views",
    "results",
];

#[derive(Args, Clone, Debug)]
pub struct AdsReportArgs {
    /// The account's id
    account: String,
    /// What a row is about; `day` sums up all campaigns
    #[arg(long, value_enum, default_value_t = ReportRows::Campaign)]
    by: ReportRows,
    /// The first day, in the account's time zone: `2026-03-01` [default: the last seven days]
    #[arg(long, value_name = "DATE")]
    from: Option<String>,
    /// The last day [default: today]
    #[arg(long, value_name = "DATE")]
    to: Option<String>,
    /// A campaign's id; repeatable [default: all, deleted ones included; rows of the newest 1,000]
    #[arg(long = "campaign", value_name = "CAMPAIGN")]
    campaigns: Vec<String>,
    /// Split campaigns or line items
    #[arg(long, value_enum)]
    breakdown: Option<ReportBreakdown>,
    /// Print CSV, unless JSON is printed
    #[arg(long)]
    pub(super) csv: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ReportRows {
    Campaign,
    LineItem,
    Day,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ReportBreakdown {
    Placement,
    Platform,
    Age,
    Gender,
    Metro,
}

impl ReportBreakdown {
    /// The segmentation type of the API; `None` for placements.
    const fn segments(self) -> Option<&'static str> {
        match self {
            Self::Placement => None,
            Self::Platform => Some("PLATFORMS"),
            Self::Age => Some("AGE"),
            Self::Gender => Some("GENDER"),
            Self::Metro => Some("METROS"),
        }
    }
}

fn report_days(zone: AccountTimeZone, now: Time, args: &AdsReportArgs) -> Result<DayRange, Error> {
    let parse = |name: &'static str, date: &Option<String>| match date {
        None => Ok(None),
        Some(date) => {
            let wrong = || {
                let message = format!("Expected a date such as 2026-03-01 for --{name}, got {date:?}");
                invalid_parameter(name, date, &message)
            };
            zone.midnight_of_date(date).map(Some).ok_or_else(wrong)
        }
    };
    let last = parse("to", &args.to)?.unwrap_or(now);
    // Noon, since days differ in length.
    let default_first = zone.day_bounds(last).0.plus_ms(DAY_MS / 2 - (DEFAULT_DAYS - 1) * DAY_MS);
    let mut day = zone.day_bounds(parse("from", &args.from)?.unwrap_or(default_first));
    let end = zone.day_bounds(last).1;
    let mut starts = Vec::new();
    while day.0 < end {
        if starts.len() == MAX_DAYS {
            let message = format!("A report covers at most {MAX_DAYS} days: --from is too early");
            return Err(invalid_parameter("from", args.from.as_deref().unwrap_or_default(), &message));
        }
        starts.push(day.0);
        day = zone.day_bounds(day.1);
    }
    if starts.is_empty() {
        let to = args.to.as_deref().unwrap_or_default();
        return Err(invalid_parameter("to", to, "The last day (--to) must not be before the first"));
    }
    starts.push(end);
    Ok(DayRange::new(zone, starts))
}

/// Rows of a period with simulated events have the member `simulated`.
pub(super) fn build_report(tx: &mut Tx<'_>, args: &AdsReportArgs) -> Result<Value, Error> {
    let account = find_account(tx, &args.account)?;
    let id = account.id;
    let zone = AccountTimeZone::from_name(account.text("timezone"));
    let days = report_days(zone, tx.now(), args)?;
    let mut rows = build_rows(tx, args, account, &days)?;
    if ledger::has_simulated_events(tx, id, days.span())? {
        mark_simulated(&mut rows);
    }
    Ok(rows)
}

pub(super) fn mark_simulated(rows: &mut Value) {
    for row in rows.as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
        row.insert("simulated".to_owned(), true.into());
    }
}

fn build_rows(tx: &mut Tx<'_>, args: &AdsReportArgs, account: AdsRecord, days: &DayRange) -> Result<Value, Error> {
    if args.by == ReportRows::Day && args.breakdown.is_some() {
        return Err(invalid_parameter("breakdown", "", "Days have no --breakdown"));
    }
    let mut ctx = AccountContext::new_for_operator(tx, UserId::new(0), account);
    let mut campaigns = find_campaigns(&mut ctx, &args.campaigns)?;
    let currencies: BTreeSet<String> = campaigns.iter().map(|one| one.text("currency").to_owned()).collect();
    let ids: Vec<i64> = campaigns.iter().map(|campaign| campaign.id).collect();
    let active = ledger::sums_between(ctx.tx, AdEntity::Campaign, &ids, days.span())?;
    campaigns.retain(|campaign| active.contains_key(&campaign.id));
    if args.by == ReportRows::Day {
        return report_by_day(&mut ctx, (&campaigns, currencies), days);
    }
    let mut rows = Vec::new();
    for campaign in campaigns.iter().take(MAX_CAMPAIGNS) {
        let (entity, records) = match args.by {
            ReportRows::LineItem => (AdEntity::LineItem, ctx.list_records(&LINE_ITEM, "campaign_id", campaign.id)?),
            _ => (AdEntity::Campaign, vec![campaign.clone()]),
        };
        for record in &records {
            for (segment, row) in load_segments(&mut ctx, (entity, record), days, args.breakdown)? {
                if !is_empty(&row) {
                    rows.push(entity_row(record, campaign, segment, &row));
                }
            }
        }
    }
    Ok(rows.into())
}

fn is_empty(row: &StatsRow) -> bool {
    [Metric::Impressions, Metric::Engagements, Metric::Charge].iter().all(|metric| row.sums.get(*metric) == 0)
}

/// The rows of an entity, by the name of the segment; without a breakdown there is one.
fn load_segments(
    ctx: &mut AccountContext<'_, '_>,
    (entity, record): (AdEntity, &AdsRecord),
    days: &DayRange,
    breakdown: Option<ReportBreakdown>,
) -> Result<Vec<(Option<String>, StatsRow)>, Error> {
    let results = EntityResults::load(ctx, &[record])?.remove(&record.id).unwrap_or_default();
    let sums = load_segment_sums(ctx, entity, &[record.id], (days, breakdown))?;
    results.add_to(sums, |items| load_segment_sums(ctx, AdEntity::LineItem, items, (days, breakdown)))
}

/// The sums of several entities together.
fn load_segment_sums(
    ctx: &mut AccountContext<'_, '_>,
    entity: AdEntity,
    ids: &[i64],
    (days, breakdown): (&DayRange, Option<ReportBreakdown>),
) -> Result<Vec<(Option<String>, MetricSums)>, Error> {
    let mut all: BTreeMap<Option<String>, MetricSums> = BTreeMap::new();
    if let Some(segments) = breakdown.and_then(ReportBreakdown::segments) {
        for id in ids {
            for (name, sums) in days.load_segments(ctx, (entity, *id), segments)? {
                all.entry(Some(name)).or_default().merge(&sums);
            }
        }
        return Ok(all.into_iter().collect());
    }
    for placement in LINE_ITEM_PLACEMENTS {
        let total = all.entry(breakdown.map(|_| placement.name().to_owned())).or_default();
        let by_entity = days.load_sums(ctx.tx, entity, ids, &[*placement])?;
        by_entity.values().flatten().for_each(|sums| total.merge(sums));
    }
    Ok(all.into_iter().collect())
}

/// One row for each day and currency, also for days without events.
fn report_by_day(
    ctx: &mut AccountContext<'_, '_>,
    (campaigns, currencies): (&[AdsRecord], BTreeSet<String>),
    days: &DayRange,
) -> Result<Value, Error> {
    let none = vec![StatsRow::default(); days.day_count()];
    let mut totals: BTreeMap<String, Vec<StatsRow>> =
        currencies.into_iter().map(|currency| (currency, none.clone())).collect();
    let by_campaign = days.load_rows(ctx, AdEntity::Campaign, &campaigns.iter().collect::<Vec<_>>())?;
    for campaign in campaigns {
        let total = totals.entry(campaign.text("currency").to_owned()).or_default();
        for (day, row) in total.iter_mut().zip(by_campaign.get(&campaign.id).into_iter().flatten()) {
            day.merge(row);
        }
    }
    let mut rows = Vec::new();
    for (currency, total) in totals {
        for (date, row) in days.iso_dates().zip(total) {
            let mut cells = metric_cells(&row, &currency);
            cells.insert("day".to_owned(), date.into());
            rows.push(Value::Object(cells));
        }
    }
    Ok(rows.into())
}

fn entity_row(record: &AdsRecord, campaign: &AdsRecord, segment: Option<String>, row: &StatsRow) -> Value {
    let mut cells = metric_cells(row, record.text("currency"));
    let name = Some(record.text("name")).filter(|name| !name.is_empty());
    cells.insert("id".to_owned(), record.formatted_id().into());
    cells.insert("name".to_owned(), name.into());
    let is_deleted = record.level == RecordVisibility::Hidden;
    let status = if is_deleted { "DELETED" } else { record.text("entity_status") };
    cells.insert("status".to_owned(), status.into());
    if record.resource.name != campaign.resource.name {
        cells.insert("campaign".to_owned(), campaign.text("name").into());
    }
    if let Some(segment) = segment {
        cells.insert("segment".to_owned(), segment.into());
    }
    Value::Object(cells)
}

fn metric_cells(row: &StatsRow, currency: &str) -> Map<String, Value> {
    let mut cells = Map::new();
    for (name, metric) in COUNTS {
        cells.insert(name.to_owned(), row.sums.get(metric).into());
    }
    cells.insert("currency".to_owned(), currency.into());
    cells.insert("spend".to_owned(), format_amount(row.sums.get(Metric::Charge)).into());
    cells.insert("results".to_owned(), json!(row.results));
    cells.insert("cost_per_result".to_owned(), json!(row.cost_per_result().map(format_amount)));
    cells
}

/// The rows of a report as CSV, with a line of column names.
pub(super) fn render_csv(rows: &Value) -> String {
    let rows: Vec<&Map<String, Value>> = rows.as_array().into_iter().flatten().filter_map(Value::as_object).collect();
    let has = |name: &&str| rows.iter().any(|row| row.contains_key(*name));
    let columns: Vec<&str> = COLUMNS.into_iter().chain(["cost_per_result", "simulated"]).filter(has).collect();
    let mut text = csv_line(columns.iter());
    for row in rows {
        text.push_str(&csv_line(columns.iter().map(|name| match row.get(*name) {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        })));
    }
    text
}
