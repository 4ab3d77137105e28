//! Lists of a resource: filters, sort orders and pagination.

use base::refusal::AdsProblem;
use base::{Error, Fault};
use serde_json::{Map, Value};
use store::records::{self, FieldRange, OrderValue, RecordListing, RecordOrder, RecordOrderKey, RecordVisibility};

use crate::account_context::AccountContext;
use crate::cursor::{self, CursorPosition};
use crate::declaration::{ListExtension, Resource};
use crate::engine::ensure_valid_params;
use crate::output::OperationOutput;
use crate::parsed_params::ParsedParams;
use crate::record::AdsRecord;

#[derive(Clone)]
struct AdsListQuery {
    ids: Option<Vec<i64>>,
    numbers: Vec<(&'static str, Vec<i64>)>,
    words: Vec<(&'static str, Vec<String>)>,
    ranges: Vec<FieldRange>,
    prefix: String,
    with_drafts: bool,
    with_deleted: bool,
    orders: Vec<RecordOrder>,
    after: Option<records::RecordCursor>,
    count: usize,
}

pub fn list(
    ctx: &mut AccountContext<'_, '_>,
    resource: &'static Resource,
    params: &ParsedParams,
) -> Result<OperationOutput, Error> {
    ensure_valid_params(params)?;
    let totals = params.flag("with_total_count");
    if totals && params.has("cursor") {
        return Err(exclusive_params("cursor", "with_total_count"));
    }
    if let Some(guard) = resource.list_guard {
        guard(ctx, params)?;
    }
    let scope = cursor_scope(ctx, &params.echo);
    let mut query = parse_list_query(ctx, resource, params, &scope)?;
    if let Some(ranges) = resource.list_ranges {
        query.ranges = ranges(ctx, params)?;
    }
    let (mut rows, mut total) = match &query.ids {
        Some(ids) => list_rows_by_ids(ctx, resource, &query, ids)?,
        None => list_account_rows(ctx, resource, &query, totals)?,
    };
    if let Some(extension) = resource.list_extension.as_ref().filter(|extension| params.flag(extension.flag)) {
        let (more, more_total) = list_extension_rows(ctx, extension, query.clone(), totals)?;
        rows.extend(more);
        total = total.zip(more_total).map(|(own, more)| own.saturating_add(more));
        sort_rows(&mut rows, &query.orders);
        rows.truncate(query.count + 1);
    }
    let total = total.filter(|_| totals);
    render_page(ctx, rows, &query, &scope, total)
}

/// Records filtered at a time when each must be checked in memory.
const CHUNK_ROWS: usize = 500;

/// A page of the records that pass a filter for which there is no index.
pub fn list_matching(
    ctx: &mut AccountContext<'_, '_>,
    resource: &'static Resource,
    params: &ParsedParams,
    keeps: &dyn Fn(&AdsRecord) -> bool,
) -> Result<OperationOutput, Error> {
    let mut params = params.clone();
    // The filter itself handles the name prefix.
    params.remove("q");
    let (records, next) = find_matching(ctx, resource, &params, keeps)?;
    let mut output = OperationOutput::from_records(ctx, records)?;
    output.next_cursor = Some(next);
    Ok(output)
}

/// Like [`list_matching`], but returns records and the next cursor.
pub fn find_matching(
    ctx: &mut AccountContext<'_, '_>,
    resource: &'static Resource,
    params: &ParsedParams,
    keeps: &dyn Fn(&AdsRecord) -> bool,
) -> Result<(Vec<AdsRecord>, Option<String>), Error> {
    ensure_valid_params(params)?;
    let scope = cursor_scope(ctx, &params.echo);
    let mut query = parse_list_query(ctx, resource, params, &scope)?;
    let count = std::mem::replace(&mut query.count, CHUNK_ROWS);
    let mut rows = Vec::new();
    loop {
        let (found, _) = list_account_rows(ctx, resource, &query, false)?;
        let is_last = found.len() <= CHUNK_ROWS;
        query.after = found.last().map(|(at, record)| (at.clone(), record.id));
        rows.extend(found.into_iter().filter(|(_, record)| keeps(record)));
        if is_last || rows.len() > count {
            break;
        }
    }
    Ok(take_page(ctx, rows, count, &scope)?)
}

/// Cuts rows to a page and builds the next cursor.
fn take_page(
    ctx: &AccountContext<'_, '_>,
    mut rows: Vec<(Vec<OrderValue>, AdsRecord)>,
    count: usize,
    scope: &str,
) -> Result<(Vec<AdsRecord>, Option<String>), Fault> {
    let more = rows.len() > count;
    rows.truncate(count);
    let next = rows.last().filter(|_| more);
    let next = next.map(|(at, record)| cursor::encode_multi(&ctx.cursor_key, scope, at, record.id));
    Ok((rows.into_iter().map(|(_, record)| record).collect(), next.transpose()?))
}

fn render_page(
    ctx: &mut AccountContext<'_, '_>,
    rows: Vec<(Vec<OrderValue>, AdsRecord)>,
    query: &AdsListQuery,
    scope: &str,
    total: Option<i64>,
) -> Result<OperationOutput, Error> {
    let (records, next) = take_page(ctx, rows, query.count, scope)?;
    let mut output = OperationOutput::from_records(ctx, records)?;
    output.next_cursor = Some(next);
    output.total_count = total;
    Ok(output)
}

/// The error for two mutually exclusive parameters.
pub fn exclusive_params(one: &'static str, other: &str) -> Error {
    let message = format!("{one} and {other} cannot be used together");
    AdsProblem::at_parameter(one, "EXCLUSIVE_PARAMETERS", message).into()
}

/// What a cursor is bound to: the operation and all parameters except those of pagination.
pub fn cursor_scope(ctx: &AccountContext<'_, '_>, echo: &Map<String, Value>) -> String {
    let mut echo = echo.clone();
    for name in ["count", "cursor", "with_total_count"] {
        echo.remove(name);
    }
    format!("{} {}", ctx.cursor_scope, Value::Object(echo))
}

pub fn parse_cursor(
    ctx: &AccountContext<'_, '_>,
    scope: &str,
    params: &ParsedParams,
) -> Result<Option<CursorPosition>, AdsProblem> {
    let Some(text) = params.text("cursor") else {
        return Ok(None);
    };
    let place = cursor::decode(&ctx.cursor_key, scope, text);
    place.map(Some).ok_or_else(|| foreign_cursor(text))
}

fn foreign_cursor(cursor: &str) -> AdsProblem {
    AdsProblem::invalid_parameter("cursor", cursor, "The cursor does not belong to this list")
}

fn parse_list_query(
    ctx: &AccountContext<'_, '_>,
    resource: &'static Resource,
    params: &ParsedParams,
    scope: &str,
) -> Result<AdsListQuery, Error> {
    let mut query = AdsListQuery {
        ids: None,
        numbers: Vec::new(),
        words: Vec::new(),
        ranges: Vec::new(),
        prefix: params.text("q").unwrap_or_default().to_lowercase(),
        with_drafts: params.flag("with_draft"),
        with_deleted: params.flag("with_deleted"),
        orders: parse_sort_orders(resource, params)?,
        after: None,
        count: usize::try_from(params.int("count").unwrap_or(resource.page_size.0)).unwrap_or(1),
    };
    if let Some(text) = params.text("cursor") {
        let place = cursor::decode_multi(&ctx.cursor_key, scope, text);
        // The sort orders are part of the cursor's scope.
        let place = place.filter(|(at, _)| at.len() == query.orders.len());
        query.after = Some(place.ok_or_else(|| foreign_cursor(text))?);
    }
    // Filters without a field are handled by their declaring resource.
    let filters = resource.filters.iter().filter(|filter| !filter.field.is_empty());
    for filter in filters.filter(|filter| params.has(filter.parameter.name.post)) {
        let name = filter.parameter.name.post;
        match filter.field {
            "id" => {
                let mut ids = params.ints(name);
                // Ids may be restricted by two parameters.
                ids.retain(|id| query.ids.as_ref().is_none_or(|known| known.contains(id)));
                query.ids = Some(ids);
            }
            field if filter.parameter.kind.is_number() => query.numbers.push((field, params.ints(name))),
            field => query.words.push((field, params.texts(name))),
        }
    }
    Ok(query)
}

/// Parses `attribute-asc` or `attribute-desc`; each further order breaks ties of the earlier ones.
fn parse_sort_orders(resource: &'static Resource, params: &ParsedParams) -> Result<Vec<RecordOrder>, AdsProblem> {
    let sorts = params.texts("sort_by");
    let mut orders: Vec<RecordOrder> = Vec::new();
    for text in &sorts {
        if is_constant_sort(resource, text) {
            continue;
        }
        let known = text.rsplit_once('-').and_then(|(name, way)| {
            Some(RecordOrder { key: sort_column(resource, name)?, descending: is_descending(way)? })
        });
        let wrong = || {
            let message = format!("Expected an attribute and -asc or -desc, got \"{text}\" for sort_by");
            AdsProblem::invalid_parameter("sort_by", text, message)
        };
        let order = known.ok_or_else(wrong)?;
        // A repeated attribute cannot break ties.
        if orders.iter().all(|known| known.key != order.key) {
            orders.push(order);
        }
    }
    if orders.is_empty() {
        orders.push(RecordOrder::NEWEST);
    }
    Ok(orders)
}

fn is_descending(way: &str) -> Option<bool> {
    match way {
        "asc" => Some(false),
        "desc" => Some(true),
        _ => None,
    }
}

/// Whether an order is by an attribute that is the same for all records.
fn is_constant_sort(resource: &Resource, order: &str) -> bool {
    let order = order.rsplit_once('-').filter(|(_, way)| is_descending(way).is_some());
    order.is_some_and(|(name, _)| resource.constant_sorts.contains(&name))
}

fn sort_column(resource: &'static Resource, name: &str) -> Option<RecordOrderKey> {
    match name {
        "created_at" => Some(RecordOrderKey::Created),
        "updated_at" => Some(RecordOrderKey::Updated),
        "deleted" => Some(RecordOrderKey::Deleted),
        name if name == resource.name_field => resource.field(name).map(|_| RecordOrderKey::Name),
        _ => {
            let known = resource.sort_fields.iter().find(|known| **known == name);
            known.map(|name| RecordOrderKey::Field(name))
        }
    }
}

type ListedRows = (Vec<(Vec<OrderValue>, AdsRecord)>, Option<i64>);

fn list_account_rows(
    ctx: &mut AccountContext<'_, '_>,
    resource: &'static Resource,
    query: &AdsListQuery,
    totals: bool,
) -> Result<ListedRows, Error> {
    let leads = resource.has_wide_listing().then(|| resource.indexed_number_fields());
    let listing = RecordListing {
        kind: resource.name,
        account: ctx.account_id()?,
        number_filters: &query.numbers,
        text_filters: &query.words,
        number_ranges: &query.ranges,
        name_prefix: &query.prefix,
        include_drafts: query.with_drafts,
        include_deleted: query.with_deleted,
        orders: &query.orders,
        after: query.after.clone(),
        limit: i64::try_from(query.count + 1).unwrap_or(i64::MAX),
        indexed_fields: leads.as_deref(),
    };
    let is_empty = |(_, values): &(&str, Vec<i64>)| values.is_empty();
    if query.numbers.iter().any(is_empty) || query.words.iter().any(|(_, words)| words.is_empty()) {
        return Ok((Vec::new(), Some(0)));
    }
    let (rows, total) = records::page_with_total(ctx.tx, &listing, totals)?;
    let rows = rows.into_iter();
    let rows: Result<Vec<_>, _> =
        rows.map(|(at, row)| Ok::<_, Fault>((at, AdsRecord::from_stored(resource, row)?))).collect();
    Ok((rows?, total))
}

/// The rows of other resources that belong on the same page.
fn list_extension_rows(
    ctx: &mut AccountContext<'_, '_>,
    extension: &ListExtension,
    mut query: AdsListQuery,
    totals: bool,
) -> Result<ListedRows, Error> {
    if let Some(ids) = query.ids.take() {
        query.numbers.push((extension.id_field, ids));
    }
    let (mut rows, mut total) = (Vec::new(), Some(0_i64));
    for resource in extension.resources {
        let (found, count) = list_account_rows(ctx, resource, &query, totals)?;
        rows.extend(found);
        total = total.zip(count).map(|(sum, count)| sum.saturating_add(count));
    }
    Ok((rows, total))
}

fn sort_rows(rows: &mut [(Vec<OrderValue>, AdsRecord)], orders: &[RecordOrder]) {
    rows.sort_by(|(one_at, one), (other_at, other)| {
        records::compare_cursors(orders, (one_at, one.id), (other_at, other.id))
    });
}

/// A page of records that are already loaded, filtered in memory.
pub fn list_in_memory(
    ctx: &mut AccountContext<'_, '_>,
    resource: &'static Resource,
    params: &ParsedParams,
    records: Vec<AdsRecord>,
) -> Result<OperationOutput, Error> {
    ensure_valid_params(params)?;
    let totals = params.flag("with_total_count");
    if totals && params.has("cursor") {
        return Err(exclusive_params("cursor", "with_total_count"));
    }
    let scope = cursor_scope(ctx, &params.echo);
    let query = parse_list_query(ctx, resource, params, &scope)?;
    let (rows, total) = filter_and_page(records, &query);
    render_page(ctx, rows, &query, &scope, total.filter(|_| totals))
}

/// Loads records by id (at most 200) and filters in memory.
fn list_rows_by_ids(
    ctx: &mut AccountContext<'_, '_>,
    resource: &'static Resource,
    query: &AdsListQuery,
    ids: &[i64],
) -> Result<ListedRows, Error> {
    let account = ctx.account_id()?;
    let mut records = Vec::new();
    for row in records::find_by_ids(ctx.tx, resource.name, ids)? {
        if row.account_id == account {
            records.push(AdsRecord::from_stored(resource, row)?);
        }
    }
    Ok(filter_and_page(records, query))
}

/// Filters and sorts; returns one record more than the page, and the total count.
fn filter_and_page(records: Vec<AdsRecord>, query: &AdsListQuery) -> ListedRows {
    let rows = records.into_iter().filter_map(|record| {
        let name_key = record.name_key();
        let fits = matches_query(&record, &name_key, query);
        let orders = query.orders.iter();
        let place: Vec<OrderValue> = orders.map(|order| sort_key(&record, &name_key, order.key)).collect();
        fits.then_some((place, record))
    });
    let mut rows: Vec<(Vec<OrderValue>, AdsRecord)> = rows.collect();
    let total = i64::try_from(rows.len()).ok();
    let orders = &query.orders;
    sort_rows(&mut rows, orders);
    if let Some((at, id)) = &query.after {
        rows.retain(|(here, record)| records::compare_cursors(orders, (here, record.id), (at, *id)).is_gt());
    }
    rows.truncate(query.count + 1);
    (rows, total)
}

fn matches_query(record: &AdsRecord, name_key: &[u8], query: &AdsListQuery) -> bool {
    let level = match record.level {
        RecordVisibility::Listed => true,
        RecordVisibility::Draft => query.with_drafts,
        RecordVisibility::Hidden => query.with_deleted,
    };
    let number =
        |(field, values): &(&'static str, Vec<i64>)| record.int(field).is_some_and(|value| values.contains(&value));
    let word = |(field, values): &(&'static str, Vec<String>)| values.iter().any(|value| value == record.text(field));
    let in_range =
        |range: &FieldRange| record.int(range.field).is_some_and(|value| (range.min..=range.max).contains(&value));
    level
        && name_key.starts_with(query.prefix.as_bytes())
        && query.numbers.iter().all(number)
        && query.words.iter().all(word)
        && query.ranges.iter().all(in_range)
}

fn sort_key(record: &AdsRecord, name_key: &[u8], by: RecordOrderKey) -> OrderValue {
    match by {
        RecordOrderKey::Created => OrderValue::Number(record.created_at.ms()),
        RecordOrderKey::Updated => OrderValue::Number(record.updated_at.ms()),
        RecordOrderKey::Deleted => OrderValue::Number(record.deleted.into()),
        RecordOrderKey::Name => OrderValue::Name(name_key.to_vec()),
        RecordOrderKey::Field(name) => OrderValue::Number(record.int(name).unwrap_or(-1)),
    }
}
