//! Reports: metrics of an account's campaigns, line items or promoted posts, by day or segment, compared with the
//! time before, as a table and as CSV.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use ads::resources::line_items::LINE_ITEM;
use ads_delivery::analytics::results::{EntityResults, StatsRow};
use ads_delivery::analytics::{DayRange, LINE_ITEM_PLACEMENTS};
use ads_engine::{AdsRecord, RecordView, RequiredRole};
use base::csv::csv_line;
use base::refusal::AdsProblem;
use base::{Error, Refusal, Time, order_by_keys};
use pages::FormField;
use pages::manager::{
    AdsManagerPage, DataTable, EmptyState, FormInput, FormInputKind, NavLink, PageBlock, QueryForm, TableCell, TableRow,
};
use serde_json::json;
use store::Tx;
use store::ledger::{AdEntity, Metric, MetricSums, Placement, list_active_entities};
use store::records::RecordVisibility;

use super::labels::{post_excerpt, record_name, word_label};
use super::report_choices::{BREAKDOWNS, Breakdown, BreakdownChoice, LEVELS, LevelChoice};
use super::report_columns::{COLUMNS, ReportColumn};
use super::request::ManagerAccount;
use super::stats;
use super::tables::{number_column, text_column};

const MAX_DAYS: i64 = 90;
/// Segments are counted from single events, so their reports are shorter (contract ads §6) and have fewer rows.
const MAX_SEGMENTED_DAYS: i64 = 45;
const MAX_ENTITIES: usize = 100;
const MAX_SEGMENTED_ENTITIES: usize = 20;
/// Per call of the API (contract ads §1.5).
const MAX_LISTED_IDS: usize = 200;
/// The name of the id in the query, if a report is about one entity.
const ONLY: &str = "only";
const ALL_PLACEMENTS: [Placement; 4] =
    [Placement::AllOn, Placement::Publishers, Placement::Spotlight, Placement::Trend];

/// What a report is about, as the query says.
struct ReportQuery {
    level: &'static LevelChoice,
    breakdown: &'static BreakdownChoice,
    columns: Vec<&'static ReportColumn>,
    range: DayRange,
    /// The same number of days before.
    previous: Option<DayRange>,
    /// The first and the last day in the form, as `YYYY-MM-DD` unless something else was asked for.
    dates: (String, String),
    /// What is wrong with the dates that were asked for, of which there is no report.
    date_error: Option<&'static str>,
}

impl ReportQuery {
    fn parse(ctx: &ManagerAccount) -> Self {
        let query = &ctx.request.query;
        let level = LEVELS.iter().find(|level| Some(level.name) == query.get("level")).unwrap_or(&LEVELS[0]);
        let breakdown = BREAKDOWNS.iter().find(|one| Some(one.name) == query.get("by")).unwrap_or(&BREAKDOWNS[0]);
        let chosen = COLUMNS.iter().filter(|column| query.get(column.name).is_some());
        let mut columns: Vec<_> = chosen.collect();
        if columns.is_empty() {
            columns = COLUMNS.iter().filter(|column| column.is_default).collect();
        }
        let max_days = if breakdown.by.is_segment() { MAX_SEGMENTED_DAYS } else { MAX_DAYS };
        let date = |name: &str| query.get(name).filter(|date| !date.is_empty());
        let today = format_date(ctx, ctx.request.now);
        let asked = match (date("from"), date("to")) {
            (None, None) => None,
            (None, Some(to)) => Some(days_between(ctx, to, to).map(|(last, _)| (last, 7))),
            (Some(from), to) => Some(days_between(ctx, from, to.unwrap_or(&today))),
        };
        let (last, days, date_error) = match asked {
            None => (ctx.request.now, ctx.request.days, None),
            Some(None) => (ctx.request.now, 7, Some("Enter two dates, the earlier one first.")),
            Some(Some((last, days))) if days > max_days => {
                let message = match max_days {
                    MAX_DAYS => "A report covers at most 90 days.",
                    _ => "A report by platform, age or gender covers at most 45 days.",
                };
                (last, max_days, Some(message))
            }
            Some(Some((last, days))) => (last, days, None),
        };
        let range = DayRange::ending_at(&ctx.zone, last, days);
        let compares = query.get("compare") == Some("previous");
        let previous = compares.then(|| DayRange::ending_at(&ctx.zone, range.span().0.plus_ms(-1), days));
        let (from, to) = range.span();
        let shown = |name, at| match date_error {
            Some(_) => date(name).unwrap_or_default().to_owned(),
            None => format_date(ctx, at),
        };
        let dates = (shown("from", from), shown("to", to.plus_ms(-1)));
        Self { level, breakdown, columns, range, previous, dates, date_error }
    }

    const fn max_entities(&self) -> usize {
        if self.breakdown.by.is_segment() { MAX_SEGMENTED_ENTITIES } else { MAX_ENTITIES }
    }
}

/// `YYYY-MM-DD`, in the time zone of the account.
fn format_date(ctx: &ManagerAccount, at: Time) -> String {
    ctx.zone.format_local(at).chars().take(10).collect()
}

/// The last day and the number of days.
fn days_between(ctx: &ManagerAccount, from: &str, to: &str) -> Option<(Time, i64)> {
    const DAY_MS: i64 = 86_400_000;
    let (first, last) = (ctx.zone.midnight_of_date(from)?, ctx.zone.midnight_of_date(to)?);
    // A day may have 23 or 25 hours.
    let days = (last.ms() - first.ms() + DAY_MS / 2).div_euclid(DAY_MS) + 1;
    (days >= 1).then_some((last, days))
}

struct ReportRow {
    entity: String,
    id: String,
    /// Itself, or what it belongs to.
    is_deleted: bool,
    currency: String,
    /// The day or segment; empty without a breakdown.
    part: String,
    stats: StatsRow,
    previous: Option<StatsRow>,
}

pub(super) struct Report {
    query: ReportQuery,
    rows: Vec<ReportRow>,
    /// Whether the account has more than a report shows.
    is_cut: bool,
    pub(super) is_simulated: bool,
}

impl Report {
    pub(super) fn load(tx: &mut Tx<'_>, ctx: &ManagerAccount) -> Result<Self, Error> {
        stats::require_access(ctx)?;
        let query = ReportQuery::parse(ctx);
        if query.date_error.is_some() {
            return Ok(Self { query, rows: Vec::new(), is_cut: false, is_simulated: false });
        }
        let (found, is_cut) = if let Some(id) = ctx.request.query.get(ONLY) {
            (vec![ctx.get(tx, query.level.resource, id)?], false)
        } else {
            list_by_spend(tx, ctx, &query)?
        };
        let names = entity_names(tx, &found)?;
        let records: Vec<&AdsRecord> = found.iter().map(|row| &row.record).collect();
        let mut parts = load_parts(tx, ctx, &query, &query.range, &records)?;
        let mut previous = match &query.previous {
            Some(range) => Some(load_parts(tx, ctx, &query, range, &records)?),
            None => None,
        };
        let mut rows = Vec::new();
        let currencies = currencies(tx, ctx, &found)?;
        for ((record, name), currency) in found.iter().zip(names).zip(currencies) {
            let own = parts.remove(&record.record.id).unwrap_or_default();
            let mut before = previous.as_mut().and_then(|all| all.remove(&record.record.id)).unwrap_or_default();
            for (place, (part, stats)) in own.into_iter().enumerate() {
                let earlier = query.previous.is_some().then(|| {
                    // Days are compared by their place in the range, segments by their name.
                    let found = match query.breakdown.by {
                        Breakdown::Day => before.get(place).map(|(_, stats)| *stats),
                        _ => before.iter().position(|(name, _)| *name == part).map(|at| before.swap_remove(at).1),
                    };
                    found.unwrap_or_default()
                });
                if stats.sums.is_empty() && earlier.is_none_or(|earlier| earlier.sums.is_empty()) {
                    continue;
                }
                rows.push(ReportRow {
                    entity: name.clone(),
                    id: record.id(),
                    is_deleted: record.record.level == RecordVisibility::Hidden,
                    currency: currency.clone(),
                    part,
                    stats,
                    previous: earlier,
                });
            }
        }
        let mut is_simulated = false;
        for range in std::iter::once(&query.range).chain(&query.previous) {
            is_simulated |= stats::are_simulated(tx, ctx, range.span())?;
        }
        Ok(Self { query, rows, is_cut, is_simulated })
    }

    pub(super) fn into_page(self, ctx: &ManagerAccount) -> AdsManagerPage {
        let query = &self.query;
        let mut columns = vec![text_column("Name")];
        if query.breakdown.by != Breakdown::Nothing {
            columns.push(text_column(query.breakdown.label));
        }
        columns.extend(query.columns.iter().map(|column| number_column(column.label)));
        let rows: Vec<TableRow> = self.rows.iter().map(|row| self.table_row(ctx, row)).collect();
        let csv =
            NavLink::new("Download as CSV", ctx.page_path(&format!("/reports/figures.csv?{}", query_string(ctx))));
        let zone = ctx.record.text("timezone");
        let lead = if self.is_cut {
            format!(
                "Days in {zone}. Only the {} {} with the highest spend.",
                query.max_entities(),
                query.level.label.to_lowercase()
            )
        } else {
            format!("Days in {zone}.")
        };
        let table = DataTable {
            title: query.level.label.to_owned(),
            lead,
            actions: Some(csv).filter(|_| !rows.is_empty()).into_iter().collect(),
            columns,
            rows,
            empty: EmptyState::new("No data for this period", "Choose other dates or another level.", None),
            ..DataTable::default()
        };
        let table = Some(PageBlock::Table(table)).filter(|_| query.date_error.is_none());
        AdsManagerPage {
            heading: "Reports".to_owned(),
            lead: "Metrics of what this account promotes. The address of this page keeps the report.".to_owned(),
            blocks: std::iter::once(PageBlock::Query(self.query_form(ctx))).chain(table).collect(),
            ..AdsManagerPage::default()
        }
    }

    fn table_row(&self, ctx: &ManagerAccount, row: &ReportRow) -> TableRow {
        let note = if row.is_deleted { " · deleted" } else { "" };
        let mut first = TableCell::from_text(row.entity.clone()).with_subtext(format!("{}{note}", row.id));
        if self.query.level.entity != AdEntity::PromotedPost && !row.is_deleted {
            first = first.with_link(ctx.page_path(&format!("/{}/{}", self.query.level.name, row.id)));
        }
        let part = Some(&row.part).filter(|_| self.query.breakdown.by != Breakdown::Nothing);
        let part = part.map(|part| TableCell::from_text(part.clone()));
        let values = self.query.columns.iter().map(|ReportColumn { column, .. }| {
            let cell = TableCell::from_text(column.label(&row.stats, &row.currency));
            match &row.previous {
                Some(previous) => cell.with_subtext(column.change_label(&row.stats, previous, &row.currency)),
                None => cell,
            }
        });
        TableRow {
            name: row.entity.clone(),
            cells: std::iter::once(first).chain(part).chain(values).collect(),
            ..TableRow::default()
        }
    }

    fn query_form(&self, ctx: &ManagerAccount) -> QueryForm {
        let query = &self.query;
        let choice = |name, label: &str, value: &str, all: Vec<(&str, &str)>| FormInput {
            name,
            label: label.to_owned(),
            field: FormField::new(value),
            kind: FormInputKind::Choice(all.iter().map(|(value, text)| ((*value).into(), (*text).into())).collect()),
            ..FormInput::default()
        };
        let date = |name, label: &str, value: &str, error: Option<&str>| FormInput {
            name,
            label: label.to_owned(),
            field: FormField { value: value.to_owned(), error: error.map(str::to_owned) },
            kind: FormInputKind::Date,
            ..FormInput::default()
        };
        let boxes =
            COLUMNS.iter().map(|column| (column.name, column.label.to_owned(), query.columns.contains(&column)));
        let compare = if query.previous.is_some() { "previous" } else { "" };
        QueryForm {
            action: ctx.page_path("/reports"),
            inputs: vec![
                choice(
                    "level",
                    "Report on",
                    query.level.name,
                    LEVELS.iter().map(|one| (one.name, one.label)).collect(),
                ),
                choice(
                    "by",
                    "Break down by",
                    query.breakdown.name,
                    BREAKDOWNS.iter().map(|one| (one.name, one.label)).collect(),
                ),
                date("from", "From", &query.dates.0, query.date_error),
                date("to", "To", &query.dates.1, None),
                choice("compare", "Compare with", compare, vec![("", "Nothing"), ("previous", "The days before")]),
                FormInput {
                    name: "columns",
                    label: "Columns".to_owned(),
                    kind: FormInputKind::Boxes(boxes.collect()),
                    ..FormInput::default()
                },
            ],
            hidden: ctx.request.query.get(ONLY).map(|id| (ONLY, id.to_owned())).into_iter().collect(),
            submit: "Show report",
            reset: Some(NavLink::new("Reset", ctx.page_path("/reports"))),
            ..QueryForm::default()
        }
    }

    /// Refused if the dates are wrong.
    pub(super) fn to_csv(&self) -> Result<String, Refusal> {
        let query = &self.query;
        if let Some(problem) = query.date_error {
            let message = format!("{problem} Change the parameters “from” and “to”.");
            return Err(AdsProblem::invalid_parameter("from", &query.dates.0, message).into());
        }
        let by = Some(query.breakdown.label).filter(|_| query.breakdown.by != Breakdown::Nothing);
        let previous = query.previous.is_some();
        let labels = query.columns.iter().flat_map(|column| {
            let before = previous.then(|| format!("{} (days before)", column.label));
            std::iter::once(column.label.to_owned()).chain(before)
        });
        let heads = ["ID", "Name"].into_iter().chain(by).chain(["Currency"]).map(str::to_owned);
        let mut text = csv_line(heads.chain(labels).chain(stats::simulation_cell(self.is_simulated, "Simulated")));
        for row in &self.rows {
            let part = Some(&row.part).filter(|_| by.is_some());
            let names = [&row.id, &row.entity].into_iter().chain(part).chain([&row.currency]).cloned();
            let values = query.columns.iter().flat_map(|ReportColumn { column, .. }| {
                let before = row.previous.as_ref().map(|stats| column.plain(stats));
                std::iter::once(column.plain(&row.stats)).chain(before)
            });
            let mark = stats::simulation_cell(self.is_simulated, "yes");
            text.push_str(&csv_line(names.chain(values).chain(mark)));
        }
        Ok(text)
    }
}

/// The query of the page, without what a redirect has added.
fn query_string(ctx: &ManagerAccount) -> String {
    let query = &ctx.request.query;
    let pairs = query.names().filter(|name| *name != "done").filter_map(|name| Some((name, query.get(name)?)));
    let pairs = pairs.map(|(name, value)| format!("{}={}", base::percent::encode(name), base::percent::encode(value)));
    pairs.collect::<Vec<_>>().join("&")
}

/// The currency of each record; a promoted post's is its line item's.
fn currencies(tx: &mut Tx<'_>, ctx: &ManagerAccount, records: &[RecordView]) -> Result<Vec<String>, Error> {
    let items: Vec<i64> = records.iter().filter_map(|one| one.int("line_item_id")).collect();
    let items = ctx.open_context(tx, RequiredRole::CampaignReader, false)?.find_records(&LINE_ITEM, &items)?;
    let of_item = |one: &RecordView| items.iter().find(|item| Some(item.id) == one.int("line_item_id"));
    let currency = |one: &RecordView| match one.text("currency") {
        "" => of_item(one).map(|item| item.text("currency").to_owned()).unwrap_or_default(),
        currency => currency.to_owned(),
    };
    Ok(records.iter().map(currency).collect())
}

/// What has figures in the days of the report or those that they are compared with, by spend, and whether that is more
/// than a report shows.
fn list_by_spend(tx: &mut Tx<'_>, ctx: &ManagerAccount, query: &ReportQuery) -> Result<(Vec<RecordView>, bool), Error> {
    let LevelChoice { entity, resource, .. } = *query.level;
    let first = query.previous.as_ref().unwrap_or(&query.range).span().0;
    let active = list_active_entities(tx, ctx.record.id, entity, (first, ctx.request.now.plus_ms(1)))?;
    let ids: Vec<i64> = active.iter().map(|active| active.entity_id).collect();
    let mut spend = Vec::new();
    for ids in ids.chunks(MAX_LISTED_IDS) {
        let mut totals: HashMap<i64, MetricSums> = HashMap::new();
        for range in std::iter::once(&query.range).chain(&query.previous) {
            for (id, days) in range.load_sums(tx, entity, ids, LINE_ITEM_PLACEMENTS)? {
                totals.entry(id).or_default().merge(&stats::sum_all(&days));
            }
        }
        let totals = totals.into_iter().filter(|(_, sums)| !sums.is_empty());
        spend.extend(totals.map(|(id, sums)| (sums.get(Metric::Charge), id)));
    }
    spend.sort_unstable_by_key(|ranked| Reverse(*ranked));
    let mut found = Vec::new();
    for ranked in spend.chunks(MAX_LISTED_IDS) {
        let ids: Vec<i64> = ranked.iter().map(|(_, id)| *id).collect();
        let names: Vec<String> = ids.iter().map(|id| resource.id_format.format(*id)).collect();
        let filter = format!("{}s", resource.id.post);
        let mut rows =
            ctx.list(tx, resource, json!({ filter: names, "count": MAX_LISTED_IDS, "with_deleted": true }))?.rows;
        order_by_keys(&mut rows, &ids, |row| row.record.id);
        found.extend(rows);
        if found.len() > query.max_entities() {
            break;
        }
    }
    let is_cut = found.len() > query.max_entities();
    found.truncate(query.max_entities());
    Ok((found, is_cut))
}

/// The names of records; a promoted post's is the beginning of its text.
fn entity_names(tx: &mut Tx<'_>, records: &[RecordView]) -> Result<Vec<String>, Error> {
    let posts: Vec<base::PostId> = records.iter().filter_map(|one| one.int("post_id").map(base::PostId::new)).collect();
    let posts = store::posts::find_by_ids(tx, &posts)?;
    let texts: HashMap<i64, String> = posts.iter().map(|post| (post.id.get(), post_excerpt(post, 80))).collect();
    let names = records.iter().map(|one| match one.int("post_id") {
        None => record_name(one),
        Some(post) => match texts.get(&post).filter(|text| !text.is_empty()) {
            Some(text) => text.clone(),
            None => format!("Post {post}"),
        },
    });
    Ok(names.collect())
}

/// The statistics of each entity, by day or segment.
type PartsByEntity = HashMap<i64, Vec<(String, StatsRow)>>;

fn load_parts(
    tx: &mut Tx<'_>,
    ctx: &ManagerAccount,
    query: &ReportQuery,
    range: &DayRange,
    records: &[&AdsRecord],
) -> Result<PartsByEntity, Error> {
    let ids: Vec<i64> = records.iter().map(|record| record.id).collect();
    let mut sums = load_sums(tx, ctx, query, range, (query.level.entity, &ids))?;
    let results = EntityResults::load(&mut ctx.open_context(tx, RequiredRole::StatsReader, false)?, records)?;
    let mut all = PartsByEntity::new();
    for (id, results) in results {
        let parts = results.add_to(sums.remove(&id).unwrap_or_default(), |items| {
            let by_item = load_sums(tx, ctx, query, range, (AdEntity::LineItem, items))?;
            Ok(by_item.into_values().flatten().collect())
        })?;
        all.insert(id, parts);
    }
    Ok(all)
}

/// The sums of each entity, by day or segment.
fn load_sums(
    tx: &mut Tx<'_>,
    ctx: &ManagerAccount,
    query: &ReportQuery,
    range: &DayRange,
    (entity, ids): (AdEntity, &[i64]),
) -> Result<HashMap<i64, Vec<(String, MetricSums)>>, Error> {
    let mut all = HashMap::new();
    if let Breakdown::Segment(segmentation) = query.breakdown.by {
        let mut account = ctx.open_context(tx, RequiredRole::StatsReader, false)?;
        for id in ids {
            let sums = range.load_segments(&mut account, (entity, *id), segmentation)?;
            let sums: BTreeMap<String, MetricSums> =
                sums.into_iter().map(|(name, sums)| (segment_label(name), sums)).collect();
            all.insert(*id, sums.into_iter().collect());
        }
        return Ok(all);
    }
    if query.breakdown.by == Breakdown::Placement {
        for placement in ALL_PLACEMENTS {
            for (id, days) in range.load_sums(tx, entity, ids, &[placement])? {
                let parts: &mut Vec<_> = all.entry(id).or_default();
                parts.push((placement_label(placement), stats::sum_all(&days)));
            }
        }
        return Ok(all);
    }
    for (id, days) in range.load_sums(tx, entity, ids, LINE_ITEM_PLACEMENTS)? {
        let parts = match query.breakdown.by {
            Breakdown::Day => range.iso_dates().zip(days).collect(),
            _ => vec![(String::new(), stats::sum_all(&days))],
        };
        all.insert(id, parts);
    }
    Ok(all)
}

fn segment_label(name: String) -> String {
    match name.strip_prefix("AGE_") {
        Some(age) => word_label(age).to_lowercase(),
        None => name,
    }
}

fn placement_label(placement: Placement) -> String {
    match placement {
        Placement::AllOn => "On this network".to_owned(),
        other => word_label(other.name()),
    }
}
