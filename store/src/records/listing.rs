//! Pages of records: filtered, ordered, and continued behind a place in that order.

mod gather;

use std::cmp::Ordering;

use base::Fault;

use super::shape::{field, interned, ordered};
use super::{Stored, columns, read};
use crate::Tx;
use crate::db::{Row, Value};

/// What records are ordered by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
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
pub struct Order {
    /// By what.
    pub by: By,
    /// The highest first.
    pub falling: bool,
}

impl Order {
    /// The newest first.
    pub const NEWEST: Self = Self {
        by: By::Created,
        falling: true,
    };

    const fn way(self) -> &'static str {
        if self.falling { "DESC" } else { "ASC" }
    }

    const fn sign(self) -> char {
        if self.falling { '<' } else { '>' }
    }
}

/// A record's place in some orders, and its id, which breaks ties in the direction of the last.
pub type Place = (Vec<At>, i64);

/// Which of two places comes first.
pub fn before(orders: &[Order], one: (&[At], i64), other: (&[At], i64)) -> Ordering {
    let way = |falling: bool, ordering: Ordering| {
        if falling {
            ordering.reverse()
        } else {
            ordering
        }
    };
    let keys = orders.iter().zip(one.0.iter().zip(other.0));
    let mut ordered = keys.map(|(order, (one, other))| way(order.falling, one.cmp(other)));
    let first = ordered.find(|ordering| ordering.is_ne());
    let last = orders.last().is_some_and(|order| order.falling);
    first.unwrap_or_else(|| way(last, one.1.cmp(&other.1)))
}

/// Records, each with its place in the orders that were asked for.
pub type Rows = Vec<(Vec<At>, Stored)>;

/// A record's place in one order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum At {
    /// Of a number or a moment.
    Number(i64),
    /// Of a name.
    Name(Vec<u8>),
}

/// Which records are listed.
#[derive(Clone, Debug)]
pub struct Listing<'a> {
    /// Their kind.
    pub kind: &'static str,
    /// Their account.
    pub account: i64,
    /// Fields that must have one of some values.
    pub numbers: &'a [(&'static str, Vec<i64>)],
    /// The same for words.
    pub words: &'a [(&'static str, Vec<String>)],
    /// How their name begins, in lower case; or empty.
    pub prefix: &'a str,
    /// Drafts too.
    pub drafts: bool,
    /// Deleted ones too.
    pub deleted: bool,
    /// In which order; where it leaves records together, in the next.
    pub orders: &'a [Order],
    /// Those behind this place only.
    pub after: Option<Place>,
    /// At most so many.
    pub limit: i64,
    /// The fields that have an index with all that lists of the kind ask about, where it has such
    /// indexes.
    pub leads: Option<&'a [&'static str]>,
}

impl By {
    /// The expression of an order. Lists with more than what is shown have an index of their own,
    /// by an expression of its own: it must not be taken for lists that skip what it holds.
    fn sql(self, shown: bool) -> String {
        match self {
            Self::Created if shown => "created_at".to_owned(),
            Self::Created => "(created_at + 0)".to_owned(),
            Self::Updated => "updated_at".to_owned(),
            Self::Deleted => "deleted".to_owned(),
            Self::Name => "name_key".to_owned(),
            Self::Field(name) => ordered(name),
        }
    }
}

/// A statement's text and arguments as they grow.
struct Query<'a> {
    sql: String,
    args: Vec<Value<'a>>,
}

impl<'a> Query<'a> {
    fn bind(&mut self, value: impl Into<Value<'a>>) -> String {
        self.args.push(value.into());
        format!("${}", self.args.len())
    }

    fn push(&mut self, text: &str) {
        self.sql.push_str(text);
    }

    fn one_of(&mut self, subject: &str, values: impl Iterator<Item = Value<'a>>) {
        let marks: Vec<String> = values.map(|value| self.bind(value)).collect();
        match marks.as_slice() {
            [one] => self.push(&format!(" AND {subject} = {one}")),
            _ => self.push(&format!(" AND {subject} IN ({})", marks.join(", "))),
        }
    }

    /// Only what has one of some values in each field.
    fn fit(&mut self, listing: &'a Listing<'_>, numbers: &'a [(&'static str, Vec<i64>)]) {
        for (name, values) in numbers {
            self.one_of(&field(name), values.iter().map(|value| (*value).into()));
        }
        for (name, values) in listing.words {
            let subject = format!("body ->> '{name}'");
            self.one_of(&subject, values.iter().map(Value::from));
        }
    }

    /// Only names from a beginning up to what lies behind it.
    fn begin(&mut self, name: &str, prefix: &'a str, upper: &'a [u8]) {
        let from = self.bind(prefix.as_bytes());
        let to = self.bind(upper);
        self.push(&format!(" AND {name} >= {from} AND {name} < {to}"));
    }
}

/// A page of them, each with its place in the order; and how many there are in all, wherever the page
/// begins, if that is asked for.
pub fn page(
    tx: &mut Tx<'_>,
    listing: &Listing<'_>,
    totals: bool,
) -> Result<(Rows, Option<i64>), Fault> {
    if let Some(lead) = gather::lead(tx, listing, totals)? {
        return gather::page(tx, listing, lead);
    }
    let rows = walked(tx, listing)?;
    let count = i64::try_from(rows.len()).unwrap_or(i64::MAX);
    let total = match (totals, &listing.after) {
        (false, _) => None,
        (true, None) if count < listing.limit => Some(count),
        (true, _) => Some(total(tx, listing)?),
    };
    Ok((rows, total))
}

/// A page, found along its order.
fn walked(tx: &mut Tx<'_>, listing: &Listing<'_>) -> Result<Rows, Fault> {
    // Where one field may have several values, each is walked by itself, so that no value's
    // records are read beyond the page.
    let Some(several) = listing
        .numbers
        .iter()
        .position(|(_, values)| values.len() > 1)
    else {
        return page_of(tx, listing, listing.numbers);
    };
    let (name, values) = listing
        .numbers
        .get(several)
        .cloned()
        .unwrap_or(("", Vec::new()));
    let mut all = Vec::new();
    for value in values {
        let mut numbers = listing.numbers.to_vec();
        if let Some(place) = numbers.get_mut(several) {
            *place = (name, vec![value]);
        }
        all.extend(page_of(tx, listing, &numbers)?);
    }
    all.sort_by(|(one_at, one), (other_at, other)| {
        before(listing.orders, (one_at, one.id), (other_at, other.id))
    });
    all.dedup_by_key(|(_, row)| row.id);
    all.truncate(usize::try_from(listing.limit).unwrap_or(usize::MAX));
    Ok(all)
}

fn page_of<'a>(
    tx: &mut Tx<'_>,
    listing: &'a Listing<'_>,
    numbers: &'a [(&'static str, Vec<i64>)],
) -> Result<Rows, Fault> {
    let mut upper = Vec::new();
    let orders = listing.orders;
    let shown = !listing.drafts && !listing.deleted;
    let keys: Vec<String> = orders.iter().map(|order| order.by.sql(shown)).collect();
    let columns = format!("{}, {}", columns!(), keys.join(", "));
    let by_name = orders.first().is_some_and(|order| order.by == By::Name);
    let mut query = filtered(listing, numbers, (&columns, by_name), &mut upper);
    if let Some(place) = &listing.after {
        behind_place(&mut query, orders, &keys, place);
    }
    let ways = keys
        .iter()
        .zip(orders)
        .map(|(key, order)| format!("{key} {}", order.way()));
    let ways = ways.collect::<Vec<_>>().join(", ");
    let last = orders.last().map_or("ASC", |order| order.way());
    let limit = query.bind(listing.limit);
    query.push(&format!(" ORDER BY {ways}, id {last} LIMIT {limit}"));
    tx.rows(interned(query.sql), &query.args, |row| {
        Ok((places(row, orders, 8)?, read(row)?))
    })
}

/// A record's places in some orders, which stand in a row's columns from one on.
fn places(row: &Row<'_, '_>, orders: &[Order], first: usize) -> Result<Vec<At>, Fault> {
    let places = orders.iter().zip(first..);
    let places = places.map(|(order, column)| match order.by {
        By::Name => row.bytes(column).map(At::Name),
        _ => row.int(column).map(At::Number),
    });
    places.collect()
}

/// Only what comes behind a place. Of several orders the first one leads to it, and the others
/// decide among those that it leaves together.
fn behind_place<'a>(query: &mut Query<'a>, orders: &[Order], keys: &[String], place: &'a Place) {
    let (at, id) = place;
    let marks: Vec<String> = at
        .iter()
        .map(|at| match at {
            At::Number(number) => query.bind(*number),
            At::Name(name) => query.bind(name),
        })
        .collect();
    let id = query.bind(*id);
    if let ([order], [key], [mark]) = (orders, keys, marks.as_slice()) {
        query.push(&format!(" AND ({key}, id) {} ({mark}, {id})", order.sign()));
        return;
    }
    let last = orders.last().map_or('>', |order| order.sign());
    let mut sql = format!("id {last} {id}");
    for ((order, key), mark) in orders.iter().zip(keys).zip(&marks).rev() {
        sql = format!(
            "({key} {} {mark} OR ({key} = {mark} AND {sql}))",
            order.sign()
        );
    }
    if let (Some(order), Some(key), Some(mark)) = (orders.first(), keys.first(), marks.first()) {
        query.push(&format!(" AND {key} {}= {mark}", order.sign()));
    }
    query.push(&format!(" AND {sql}"));
}

/// How many there are of them, wherever a page begins.
fn total(tx: &mut Tx<'_>, listing: &Listing<'_>) -> Result<i64, Fault> {
    let mut upper = Vec::new();
    let query = filtered(listing, listing.numbers, ("COUNT(*)", true), &mut upper);
    let count = tx.row(interned(query.sql), &query.args, |row| row.int(0))?;
    Ok(count.unwrap_or(0))
}

fn filtered<'a>(
    listing: &'a Listing<'_>,
    numbers: &'a [(&'static str, Vec<i64>)],
    (columns, by_name): (&str, bool),
    upper: &'a mut Vec<u8>,
) -> Query<'a> {
    let kind = listing.kind;
    let mut query = Query {
        sql: format!("SELECT {columns} FROM ads_record WHERE kind = '{kind}'"),
        args: Vec::new(),
    };
    let account = query.bind(listing.account);
    query.push(&format!(" AND account_id = {account}"));
    query.push(match (listing.deleted, listing.drafts) {
        (false, false) => " AND level = 0",
        (false, true) => " AND level < 2",
        (true, false) => " AND level <> 1",
        (true, true) => "",
    });
    query.fit(listing, numbers);
    if !listing.prefix.is_empty() {
        *upper = behind(listing.prefix.as_bytes());
        // Where another order holds, names are looked at on the way: sorting all that begin alike
        // costs more.
        let name = if by_name {
            "name_key"
        } else {
            "COALESCE(name_key, name_key)"
        };
        query.begin(name, listing.prefix, upper);
    }
    query
}

/// The first bytes behind all that begin with these. UTF-8 has no byte that is the highest.
fn behind(prefix: &[u8]) -> Vec<u8> {
    let mut bytes = prefix.to_vec();
    if let Some(last) = bytes.last_mut() {
        *last = last.saturating_add(1);
    }
    bytes
}
