//! Pages of records: filtered, ordered, and continued behind a place in that order.

mod gather;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;

use base::Fault;

use super::indexes::{field_sql, sort_field_sql};
use super::{RecordRow, columns, record_from_row};
use crate::Tx;
use crate::db::{SqlRow, SqlValue};

/// What records are ordered by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordOrderKey {
    /// When they were made.
    Created,
    /// When they were changed.
    Updated,
    /// Whether they were deleted.
    Deleted,
    /// Their name, in lower case.
    Name,
    /// A declared field that is a number.
    Field(&'static str),
}

/// An order and its direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordOrder {
    /// By what.
    pub key: RecordOrderKey,
    /// The highest first.
    pub descending: bool,
}

impl RecordOrder {
    /// The newest first.
    pub const NEWEST: Self = Self {
        key: RecordOrderKey::Created,
        descending: true,
    };

    const fn sql_direction(self) -> &'static str {
        if self.descending { "DESC" } else { "ASC" }
    }

    const fn sql_operator(self) -> char {
        if self.descending { '<' } else { '>' }
    }
}

/// A record's place in some orders, and its id, which breaks ties in the direction of the last.
pub type RecordCursor = (Vec<OrderValue>, i64);

/// Which of two places comes first.
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

/// Records, each with its place in the orders that were asked for.
pub type RecordPage = Vec<(Vec<OrderValue>, RecordRow)>;

/// A record's place in one order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OrderValue {
    /// Of a number or a moment.
    Number(i64),
    /// Of a name.
    Name(Vec<u8>),
}

/// Which records are listed.
#[derive(Clone, Debug)]
pub struct RecordListing<'a> {
    /// Their kind.
    pub kind: &'static str,
    /// Their account.
    pub account: i64,
    /// Fields that must have one of some values.
    pub number_filters: &'a [(&'static str, Vec<i64>)],
    /// The same for words.
    pub text_filters: &'a [(&'static str, Vec<String>)],
    /// How their name begins, in lower case; or empty.
    pub name_prefix: &'a str,
    /// Drafts too.
    pub include_drafts: bool,
    /// Deleted ones too.
    pub include_deleted: bool,
    /// In which order; where it leaves records together, in the next.
    pub orders: &'a [RecordOrder],
    /// Those behind this place only.
    pub after: Option<RecordCursor>,
    /// At most so many.
    pub limit: i64,
    /// The fields that have an index with all that lists of the kind ask about, where it has such
    /// indexes.
    pub indexed_fields: Option<&'a [&'static str]>,
}

impl RecordOrderKey {
    /// The expression of an order. Lists with more than what is shown have an index of their own,
    /// by an expression of its own: it must not be taken for lists that skip what it holds.
    fn order_sql(self, shown: bool) -> String {
        match self {
            Self::Created if shown => "created_at".to_owned(),
            Self::Created => "(created_at + 0)".to_owned(),
            Self::Updated => "updated_at".to_owned(),
            Self::Deleted => "deleted".to_owned(),
            Self::Name => "name_key".to_owned(),
            Self::Field(name) => sort_field_sql(name),
        }
    }
}

/// A statement's text and arguments as they grow.
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

    /// Only what has one of some values in each field.
    fn push_filters(&mut self, listing: &'a RecordListing<'_>, numbers: &'a [(&'static str, Vec<i64>)]) {
        for (name, values) in numbers {
            self.push_one_of(&field_sql(name), values.iter().map(|value| (*value).into()));
        }
        for (name, values) in listing.text_filters {
            let subject = format!("body ->> '{name}'");
            self.push_one_of(&subject, values.iter().map(SqlValue::from));
        }
    }

    /// Only names from a beginning up to what lies behind it.
    fn push_name_range(&mut self, name: &str, prefix: &'a str, upper: &'a [u8]) {
        let from = self.bind_value(prefix.as_bytes());
        let to = self.bind_value(upper);
        self.push_sql(&format!(" AND {name} >= {from} AND {name} < {to}"));
    }
}

/// A page of them, each with its place in the order; and how many there are in all, wherever the page
/// begins, if that is asked for.
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

/// A page, found along its order.
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
    let columns = format!("{}, {}", columns!(), keys.join(", "));
    let by_name = orders.first().is_some_and(|order| order.key == RecordOrderKey::Name);
    let mut query = filtered_query(listing, numbers, (&columns, by_name), &mut upper);
    if let Some(place) = &listing.after {
        push_after_cursor(&mut query, orders, &keys, place);
    }
    let ways = keys
        .iter()
        .zip(orders)
        .map(|(key, order)| format!("{key} {}", order.sql_direction()));
    let ways = ways.collect::<Vec<_>>().join(", ");
    let last = orders.last().map_or("ASC", |order| order.sql_direction());
    let limit = query.bind_value(listing.limit);
    query.push_sql(&format!(" ORDER BY {ways}, id {last} LIMIT {limit}"));
    tx.query_rows(&query.sql, &query.args, |row| {
        Ok((order_values(row, orders, 8)?, record_from_row(row)?))
    })
}

/// A record's places in some orders, which stand in a row's columns from one on.
fn order_values(row: &SqlRow<'_, '_>, orders: &[RecordOrder], first: usize) -> Result<Vec<OrderValue>, Fault> {
    let places = orders.iter().zip(first..);
    let places = places.map(|(order, column)| match order.key {
        RecordOrderKey::Name => row.bytes(column).map(OrderValue::Name),
        _ => row.int(column).map(OrderValue::Number),
    });
    places.collect()
}

/// Only what comes behind a place. Of several orders the first one leads to it, and the others
/// decide among those that it leaves together.
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

/// How many there are of them, wherever a page begins.
fn total_count(tx: &mut Tx<'_>, listing: &RecordListing<'_>) -> Result<i64, Fault> {
    let mut upper = Vec::new();
    let query = filtered_query(listing, listing.number_filters, ("COUNT(*)", true), &mut upper);
    let count = tx.query_row(&query.sql, &query.args, |row| row.int(0))?;
    Ok(count.unwrap_or(0))
}

fn filtered_query<'a>(
    listing: &'a RecordListing<'_>,
    numbers: &'a [(&'static str, Vec<i64>)],
    (columns, by_name): (&str, bool),
    upper: &'a mut Vec<u8>,
) -> SqlQueryBuilder<'a> {
    let kind = listing.kind;
    let mut query = SqlQueryBuilder {
        sql: format!("SELECT {columns} FROM ads_record WHERE kind = '{kind}'"),
        args: Vec::new(),
    };
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
        let name = if by_name {
            "name_key"
        } else {
            "COALESCE(name_key, name_key)"
        };
        query.push_name_range(name, listing.name_prefix, upper);
    }
    query
}

/// The first bytes behind all that begin with these. UTF-8 has no byte that is the highest.
fn prefix_upper_bound(prefix: &[u8]) -> Vec<u8> {
    let mut bytes = prefix.to_vec();
    if let Some(last) = bytes.last_mut() {
        *last = last.saturating_add(1);
    }
    bytes
}
