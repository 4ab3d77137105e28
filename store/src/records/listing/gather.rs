//! Pages of what few records fit: all of them are found by an index that holds whatever is asked
//! about, and put in order here. To walk along the order would mean to look at many that do not fit.

use std::collections::HashMap;

use base::Fault;

use super::super::by_ids;
use super::super::shape::{names, under};
use super::{At, Listing, Order, Query, Rows, before, behind, field, interned, places};
use crate::Tx;
use crate::records::Stored;

/// Records that are found rather than walked by.
const FEW: i64 = 2_000;
/// The same where all must be counted anyway.
const COUNTED: i64 = 10_000;

/// What records are found by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lead {
    /// How their names begin.
    Names,
    /// The field with this place in the list's numbers.
    Number(usize),
}

/// By what a page's records are found; none where its order leads to them.
pub(super) fn lead(
    tx: &mut Tx<'_>,
    listing: &Listing<'_>,
    totals: bool,
) -> Result<Option<Lead>, Fault> {
    let Some(fields) = listing.leads else {
        return Ok(None);
    };
    // A field's index is in this order itself.
    let is_plain = listing.prefix.is_empty() && listing.orders == [Order::NEWEST];
    let mut leads = Vec::new();
    if !listing.prefix.is_empty() {
        leads.push(Lead::Names);
    }
    for (place, (name, _)) in listing.numbers.iter().enumerate() {
        if fields.contains(name) && !is_plain {
            leads.push(Lead::Number(place));
        }
    }
    let mut least = if totals { COUNTED } else { FEW };
    let mut best = None;
    for lead in leads {
        let count = count(tx, listing, lead, least)?;
        if count < least {
            (least, best) = (count, Some(lead));
        }
    }
    Ok(best)
}

/// How many records a lead leads to, up to a bound.
fn count(tx: &mut Tx<'_>, listing: &Listing<'_>, lead: Lead, most: i64) -> Result<i64, Fault> {
    let upper = behind(listing.prefix.as_bytes());
    let mut query = led(tx, listing, lead, "SELECT COUNT(*) FROM (SELECT 1");
    match lead {
        Lead::Names => query.begin("name_key", listing.prefix, &upper),
        Lead::Number(place) => {
            if let Some((name, values)) = listing.numbers.get(place) {
                query.one_of(&field(name), values.iter().map(|value| (*value).into()));
            }
        }
    }
    let most = query.bind(most);
    query.push(&format!(" LIMIT {most}) AS found"));
    let found = tx.row(interned(query.sql), &query.args, |row| row.int(0))?;
    Ok(found.unwrap_or(0))
}

/// A page, and how many records fit in all.
pub(super) fn page(
    tx: &mut Tx<'_>,
    listing: &Listing<'_>,
    lead: Lead,
) -> Result<(Rows, Option<i64>), Fault> {
    let orders = listing.orders;
    let keys: Vec<String> = orders.iter().map(|order| order.by.sql(true)).collect();
    let upper = behind(listing.prefix.as_bytes());
    let select = format!("SELECT id, {}", keys.join(", "));
    let mut query = led(tx, listing, lead, &select);
    query.fit(listing, listing.numbers);
    if !listing.prefix.is_empty() {
        query.begin("name_key", listing.prefix, &upper);
    }
    let mut found: Vec<(Vec<At>, i64)> = tx.rows(interned(query.sql), &query.args, |row| {
        Ok((places(row, orders, 1)?, row.int(0)?))
    })?;
    let total = i64::try_from(found.len()).ok();
    if let Some((at, id)) = &listing.after {
        found.retain(|(here, own)| before(orders, (here, *own), (at, *id)).is_gt());
    }
    found.sort_unstable_by(|(one_at, one), (other_at, other)| {
        before(orders, (one_at, *one), (other_at, *other))
    });
    found.truncate(usize::try_from(listing.limit).unwrap_or(usize::MAX));
    let ids: Vec<i64> = found.iter().map(|(_, id)| *id).collect();
    let stored = by_ids(tx, listing.kind, &ids)?;
    let mut stored: HashMap<i64, Stored> = stored.into_iter().map(|row| (row.id, row)).collect();
    let rows = found.into_iter();
    let rows = rows.filter_map(|(at, id)| Some((at, stored.remove(&id)?)));
    Ok((rows.collect(), total))
}

/// The beginning of a statement, up to the levels. SQLite is told which index leads, since it knows
/// nothing of how many records fit; a server knows.
fn led<'a>(tx: &Tx<'_>, listing: &Listing<'_>, lead: Lead, select: &str) -> Query<'a> {
    let kind = listing.kind;
    let index = match lead {
        Lead::Names => names(kind),
        Lead::Number(place) => {
            let name = listing.numbers.get(place).map_or("", |(name, _)| *name);
            under(kind, name)
        }
    };
    let hint = if tx.on_server() {
        String::new()
    } else {
        format!(" INDEXED BY {index}")
    };
    let mut query = Query {
        sql: format!("{select} FROM ads_record{hint} WHERE kind = '{kind}'"),
        args: Vec::new(),
    };
    let account = query.bind(listing.account);
    query.push(&format!(" AND account_id = {account}"));
    query.push(match (listing.deleted, listing.drafts) {
        (false, false) => " AND level = 0",
        (false, true) => " AND level IN (0, 1)",
        (true, false) => " AND level IN (0, 2)",
        (true, true) => " AND level IN (0, 1, 2)",
    });
    query
}
