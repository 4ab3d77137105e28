//! Pages of records: filtered, ordered, and continued after a cursor.

mod gather;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;

use base::Fault;

use super::RecordRow;
use crate::Tx;
use crate::db::record_indexes::{field_sql, sort_field_sql};
use crate::db::{DeclaredRow, RowCells, SqlValue};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordOrderKey {
    Created,
    Updated,
    Deleted,
    /// In lower case.
    Name,
    /// A numeric field.
    Field(&'static str),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordOrder {
    pub key: RecordOrderKey,
    pub descending: bool,
}

impl RecordOrder {
    pub const NEWEST: Self = Self { key: RecordOrderKey::Created, descending: true };

    const fn sql_direction(self) -> &'static str {
        if self.descending { "DESC" } else { "ASC" }
    }

    const fn sql_operator(self) -> char {
        if self.descending { '<' } else { '>' }
    }
}

/// Values of the orders and the id, which breaks ties in the direction of the last order.
pub type RecordCursor = (Vec<OrderValue>, i64);

pub fn compare_cursors(orders: &[RecordOrder], one: (&[OrderValue], i64), other: (&[OrderValue], i64)) -> Ordering {
    let way = |falling: bool, ordering: Ordering| {
        if falling { ordering.reverse() } else { ordering }
    };
    let keys = orders.iter().zip(one.0.iter().zip(other.0));
    let mut ordered = keys.map(|(order, (one, other))| way(order.descending, one.cmp(other)));
    let first = ordered.find(|ordering| ordering.is_ne());
    let last = orders.last().is_some_and(|order| order.descending);
    first.unwrap_or_else(|| way(last, one.1.cmp(&other.1)))
}

/// Records with their values of the requested orders.
pub type RecordPage = Vec<(Vec<OrderValue>, RecordRow)>;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OrderValue {
    Number(i64),
    Name(Vec<u8>),
}

/// A numeric field whose value is at least `min` and at most `max`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldRange {
    pub field: &'static str,
    pub min: i64,
    pub max: i64,
}

#[derive(Clone, Debug)]
pub struct RecordListing<'a> {
    pub kind: &'static str,
    pub account: i64,
    /// Fields that must have one of some values.
    pub number_filters: &'a [(&'static str, Vec<i64>)],
    /// Fields that must have one of some values.
    pub text_filters: &'a [(&'static str, Vec<String>)],
    pub number_ranges: &'a [FieldRange],
    /// In lower case; may be empty.
    pub name_prefix: &'a str,
    pub include_drafts: bool,
    pub include_deleted: bool,
    /// Each order breaks ties of the previous one.
    pub orders: &'a [RecordOrder],
    /// Only records after this one.
    pub after: Option<RecordCursor>,
    pub limit: i64,
    /// The fields with a covering index, if the kind has such indexes.
    pub indexed_fields: Option<&'a [&'static str]>,
}

impl RecordOrderKey {
    /// The order's expression. Lists that include unlisted records have an index of their own, over a different
    /// expression, so that it is not used for other lists.
    fn order_sql(self, shown: bool) -> String {
        match self {
            Self::Created if shown => "created_at".to_owned(),
            Self::Created => "(created_at + 0)".to_owned(),
            Self::Updated if shown => "updated_at".to_owned(),
            Self::Updated => "(updated_at + 0)".to_owned(),
            Self::Deleted => "deleted".to_owned(),
            Self::Name => "name_key".to_owned(),
            Self::Field(name) => sort_field_sql(name),
        }
    }
}

struct SqlQueryBuilder<'a> {
    sql: String,
    args: Vec<SqlValue<'a>>,
}

impl<'a> SqlQueryBuilder<'a> {
    fn bind_value(&mut self, value: impl Into<SqlValue<'a>>) -> String {
        self.args.push(value.into());
        format!("${}", self.args.len())
    }

    fn push_sql(&mut self, text: &str) {
        self.sql.push_str(text);
    }

    fn push_one_of(&mut self, subject: &str, values: impl Iterator<Item = SqlValue<'a>>) {
        let marks: Vec<String> = values.map(|value| self.bind_value(value)).collect();
        match marks.as_slice() {
            [one] => self.push_sql(&format!(" AND {subject} = {one}")),
            _ => self.push_sql(&format!(" AND {subject} IN ({})", marks.join(", "))),
        }
    }

    /// Restricts each field to one of its values, and to its range.
    fn push_filters(&mut self, listing: &'a RecordListing<'_>, numbers: &'a [(&'static str, Vec<i64>)]) {
        for (name, values) in numbers {
            self.push_one_of(&field_sql(name), values.iter().map(|value| (*value).into()));
        }
        for (name, values) in listing.text_filters {
            let subject = format!("body ->> '{name}'");
            self.push_one_of(&subject, values.iter().map(SqlValue::from));
        }
        for range in listing.number_ranges {
            let (min, max) = (self.bind_value(range.min), self.bind_value(range.max));
            self.push_sql(&format!(" AND {} BETWEEN {min} AND {max}", field_sql(range.field)));
        }
    }

    /// Restricts names to a prefix; `upper` is its upper bound.
    fn push_name_range(&mut self, name: &str, prefix: &'a str, upper: &'a [u8]) {
        let from = self.bind_value(prefix.as_bytes());
        let to = self.bind_value(upper);
        self.push_sql(&format!(" AND {name} >= {from} AND {name} < {to}"));
    }
}

/// A page with the records' order values and, if `totals`, the total count of the listing.
pub fn page_with_total(
    tx: &mut Tx<'_>,
    listing: &RecordListing<'_>,
    totals: bool,
) -> Result<(RecordPage, Option<i64>), Fault> {
    if let Some(lead) = gather::choose_index(tx, listing, totals)? {
        return gather::gather_page(tx, listing, lead);
    }
    let rows = page_by_order(tx, listing)?;
    let count = i64::try_from(rows.len()).unwrap_or(i64::MAX);
    let total = match (totals, &listing.after) {
        (false, _) => None,
        (true, None) if count < listing.limit => Some(count),
        (true, _) => Some(total_count(tx, listing)?),
    };
    Ok((rows, total))
}

/// Reads the page along its order.
fn page_by_order(tx: &mut Tx<'_>, listing: &RecordListing<'_>) -> Result<RecordPage, Fault> {
    // Where one field may have several values, each is walked by itself, so that no value's
    // records are read beyond the page.
    let Some(several) = listing.number_filters.iter().position(|(_, values)| values.len() > 1) else {
        return page_by_filters(tx, listing, listing.number_filters);
    };
    let (name, values) = listing.number_filters.get(several).cloned().unwrap_or(("", Vec::new()));
    let mut all = Vec::new();
    for value in values {
        let mut numbers = listing.number_filters.to_vec();
        if let Some(place) = numbers.get_mut(several) {
            *place = (name, vec![value]);
        }
        all.extend(page_by_filters(tx, listing, &numbers)?);
    }
    all.sort_by(|(one_at, one), (other_at, other)| {
        compare_cursors(listing.orders, (one_at, one.id), (other_at, other.id))
    });
    all.dedup_by_key(|(_, row)| row.id);
    all.truncate(usize::try_from(listing.limit).unwrap_or(usize::MAX));
    Ok(all)
}

fn page_by_filters<'a>(
    tx: &mut Tx<'_>,
    listing: &'a RecordListing<'_>,
    numbers: &'a [(&'static str, Vec<i64>)],
) -> Result<RecordPage, Fault> {
    let mut upper = Vec::new();
    let orders = listing.orders;
    let shown = !listing.include_drafts && !listing.include_deleted;
    let keys: Vec<String> = orders.iter().map(|order| order.key.order_sql(shown)).collect();
    let columns = format!("{}, {}", RecordRow::COLUMNS, keys.join(", "));
    let by_name = orders.first().is_some_and(|order| order.key == RecordOrderKey::Name);
    let mut query = filtered_query(listing, numbers, (&columns, by_name), &mut upper);
    if let Some(place) = &listing.after {
        push_after_cursor(&mut query, orders, &keys, place);
    }
    let ways = keys.iter().zip(orders).map(|(key, order)| format!("{key} {}", order.sql_direction()));
    let ways = ways.collect::<Vec<_>>().join(", ");
    let last = orders.last().map_or("ASC", |order| order.sql_direction());
    let limit = query.bind_value(listing.limit);
    query.push_sql(&format!(" ORDER BY {ways}, id {last} LIMIT {limit}"));
    tx.map_rows(&query.sql, &query.args, |cells| {
        let row = cells.read()?;
        Ok((read_order_values(cells, orders)?, row))
    })
}

fn read_order_values(cells: &mut RowCells<'_, '_, '_>, orders: &[RecordOrder]) -> Result<Vec<OrderValue>, Fault> {
    let values = orders.iter().map(|order| match order.key {
        RecordOrderKey::Name => cells.read().map(OrderValue::Name),
        _ => cells.read().map(OrderValue::Number),
    });
    values.collect()
}

/// Restricts to rows after a cursor. The first order gives an indexable bound, the others break ties.
fn push_after_cursor<'a>(
    query: &mut SqlQueryBuilder<'a>,
    orders: &[RecordOrder],
    keys: &[String],
    place: &'a RecordCursor,
) {
    let (at, id) = place;
    let marks: Vec<String> = at
        .iter()
        .map(|at| match at {
            OrderValue::Number(number) => query.bind_value(*number),
            OrderValue::Name(name) => query.bind_value(name),
        })
        .collect();
    let id = query.bind_value(*id);
    if let ([order], [key], [mark]) = (orders, keys, marks.as_slice()) {
        query.push_sql(&format!(" AND ({key}, id) {} ({mark}, {id})", order.sql_operator()));
        return;
    }
    let last = orders.last().map_or('>', |order| order.sql_operator());
    let mut sql = format!("id {last} {id}");
    for ((order, key), mark) in orders.iter().zip(keys).zip(&marks).rev() {
        sql = format!("({key} {} {mark} OR ({key} = {mark} AND {sql}))", order.sql_operator());
    }
    if let (Some(order), Some(key), Some(mark)) = (orders.first(), keys.first(), marks.first()) {
        query.push_sql(&format!(" AND {key} {}= {mark}", order.sql_operator()));
    }
    query.push_sql(&format!(" AND {sql}"));
}

fn total_count(tx: &mut Tx<'_>, listing: &RecordListing<'_>) -> Result<i64, Fault> {
    let mut upper = Vec::new();
    let query = filtered_query(listing, listing.number_filters, ("COUNT(*)", true), &mut upper);
    tx.query_number(&query.sql, &query.args)
}

fn filtered_query<'a>(
    listing: &'a RecordListing<'_>,
    numbers: &'a [(&'static str, Vec<i64>)],
    (columns, by_name): (&str, bool),
    upper: &'a mut Vec<u8>,
) -> SqlQueryBuilder<'a> {
    let kind = listing.kind;
    let mut query =
        SqlQueryBuilder { sql: format!("SELECT {columns} FROM ads_record WHERE kind = '{kind}'"), args: Vec::new() };
    let account = query.bind_value(listing.account);
    query.push_sql(&format!(" AND account_id = {account}"));
    query.push_sql(match (listing.include_deleted, listing.include_drafts) {
        (false, false) => " AND level = 0",
        (false, true) => " AND level < 2",
        (true, false) => " AND level <> 1",
        (true, true) => "",
    });
    query.push_filters(listing, numbers);
    if !listing.name_prefix.is_empty() {
        *upper = prefix_upper_bound(listing.name_prefix.as_bytes());
        // Where another order holds, names are looked at on the way: sorting all that begin alike
        // costs more.
        let name = if by_name { "name_key" } else { "COALESCE(name_key, name_key)" };
        query.push_name_range(name, listing.name_prefix, upper);
    }
    query
}

/// An upper bound of all strings with a prefix. The highest byte value does not occur in UTF-8.
fn prefix_upper_bound(prefix: &[u8]) -> Vec<u8> {
    let mut bytes = prefix.to_vec();
    if let Some(last) = bytes.last_mut() {
        *last = last.saturating_add(1);
    }
    bytes
}
