//! Pages of listings with few matches: all matches are read from a covering index and sorted in memory. Reading along
//! the order would visit many records that do not match.

use std::collections::HashMap;

use base::Fault;

use super::super::find_by_ids;
use super::{
    OrderValue, RecordListing, RecordOrder, RecordPage, SqlQueryBuilder, compare_cursors, field_sql,
    prefix_upper_bound, read_order_values,
};
use crate::Tx;
use crate::db::record_indexes::{covering_index_name, name_index_name};
use crate::records::RecordRow;

/// The maximum number of matches to gather.
const MAX_GATHERED: i64 = 2_000;
/// The maximum if a total is requested as well.
const MAX_GATHERED_WITH_TOTAL: i64 = 10_000;
/// Reading so many matches costs less than counting them.
const FEW_MATCHES: i64 = 1_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GatherIndex {
    Name,
    /// Index into `number_filters`.
    Field(usize),
}

/// The most selective index; none if the page should be read along its order.
pub(super) fn choose_index(
    tx: &mut Tx<'_>,
    listing: &RecordListing<'_>,
    totals: bool,
) -> Result<Option<GatherIndex>, Fault> {
    let Some(fields) = listing.indexed_fields else {
        return Ok(None);
    };
    // A field's index is in this order itself.
    let is_plain = listing.name_prefix.is_empty() && listing.orders == [RecordOrder::NEWEST];
    let mut leads = Vec::new();
    if !listing.name_prefix.is_empty() {
        leads.push(GatherIndex::Name);
    }
    for (place, (name, _)) in listing.number_filters.iter().enumerate() {
        if fields.contains(name) && !is_plain {
            leads.push(GatherIndex::Field(place));
        }
    }
    for lead in &leads {
        if !has_more_matches(tx, listing, *lead, FEW_MATCHES)? {
            return Ok(Some(*lead));
        }
    }
    let mut least = if totals { MAX_GATHERED_WITH_TOTAL } else { MAX_GATHERED };
    let mut best = None;
    for lead in leads {
        let count = count_matches(tx, listing, lead, least)?;
        if count < least {
            (least, best) = (count, Some(lead));
        }
    }
    Ok(best)
}

fn has_more_matches(tx: &mut Tx<'_>, listing: &RecordListing<'_>, lead: GatherIndex, than: i64) -> Result<bool, Fault> {
    let upper = prefix_upper_bound(listing.name_prefix.as_bytes());
    let mut query = matches_query(tx, listing, lead, "SELECT 1", &upper);
    let than = query.bind_value(than);
    query.push_sql(&format!(" LIMIT 1 OFFSET {than}"));
    tx.row_exists(&query.sql, &query.args)
}

/// The number of matches in an index, up to a limit.
fn count_matches(tx: &mut Tx<'_>, listing: &RecordListing<'_>, lead: GatherIndex, most: i64) -> Result<i64, Fault> {
    let upper = prefix_upper_bound(listing.name_prefix.as_bytes());
    let mut query = matches_query(tx, listing, lead, "SELECT COUNT(*) FROM (SELECT 1", &upper);
    let most = query.bind_value(most);
    query.push_sql(&format!(" LIMIT {most}) AS found"));
    tx.query_number(&query.sql, &query.args)
}

/// The matches of one filter, without the other filters.
fn matches_query<'a>(
    tx: &Tx<'_>,
    listing: &'a RecordListing<'_>,
    lead: GatherIndex,
    select: &str,
    upper: &'a [u8],
) -> SqlQueryBuilder<'a> {
    let mut query = indexed_query(tx, listing, lead, select);
    match lead {
        GatherIndex::Name => query.push_name_range("name_key", listing.name_prefix, upper),
        GatherIndex::Field(place) => {
            if let Some((name, values)) = listing.number_filters.get(place) {
                query.push_one_of(&field_sql(name), values.iter().map(|value| (*value).into()));
            }
        }
    }
    query
}

/// The page and the total count.
pub(super) fn gather_page(
    tx: &mut Tx<'_>,
    listing: &RecordListing<'_>,
    lead: GatherIndex,
) -> Result<(RecordPage, Option<i64>), Fault> {
    let orders = listing.orders;
    let keys: Vec<String> = orders.iter().map(|order| order.key.order_sql(true)).collect();
    let upper = prefix_upper_bound(listing.name_prefix.as_bytes());
    let select = format!("SELECT id, {}", keys.join(", "));
    let mut query = indexed_query(tx, listing, lead, &select);
    query.push_filters(listing, listing.number_filters);
    if !listing.name_prefix.is_empty() {
        query.push_name_range("name_key", listing.name_prefix, &upper);
    }
    let mut found: Vec<(Vec<OrderValue>, i64)> = tx.map_rows(&query.sql, &query.args, |cells| {
        let id = cells.read()?;
        Ok((read_order_values(cells, orders)?, id))
    })?;
    let total = i64::try_from(found.len()).ok();
    if let Some((at, id)) = &listing.after {
        found.retain(|(here, own)| compare_cursors(orders, (here, *own), (at, *id)).is_gt());
    }
    let compare = |(one_at, one): &(Vec<OrderValue>, i64), (other_at, other): &(Vec<OrderValue>, i64)| {
        compare_cursors(orders, (one_at, *one), (other_at, *other))
    };
    let limit = usize::try_from(listing.limit).unwrap_or(usize::MAX);
    if limit < found.len() {
        found.select_nth_unstable_by(limit, compare);
        found.truncate(limit);
    }
    found.sort_unstable_by(compare);
    let ids: Vec<i64> = found.iter().map(|(_, id)| *id).collect();
    let stored = find_by_ids(tx, listing.kind, &ids)?;
    let mut stored: HashMap<i64, RecordRow> = stored.into_iter().map(|row| (row.id, row)).collect();
    let rows = found.into_iter();
    let rows = rows.filter_map(|(at, id)| Some((at, stored.remove(&id)?)));
    Ok((rows.collect(), total))
}

/// The statement up to the condition on levels. SQLite needs the index hint because it has no statistics.
fn indexed_query<'a>(tx: &Tx<'_>, listing: &RecordListing<'_>, lead: GatherIndex, select: &str) -> SqlQueryBuilder<'a> {
    let kind = listing.kind;
    let index = match lead {
        GatherIndex::Name => name_index_name(kind),
        GatherIndex::Field(place) => {
            let name = listing.number_filters.get(place).map_or("", |(name, _)| *name);
            covering_index_name(kind, name)
        }
    };
    let hint = if tx.is_postgres() { String::new() } else { format!(" INDEXED BY {index}") };
    let mut query =
        SqlQueryBuilder { sql: format!("{select} FROM ads_record{hint} WHERE kind = '{kind}'"), args: Vec::new() };
    let account = query.bind_value(listing.account);
    query.push_sql(&format!(" AND account_id = {account}"));
    query.push_sql(match (listing.include_deleted, listing.include_drafts) {
        (false, false) => " AND level = 0",
        (false, true) => " AND level IN (0, 1)",
        (true, false) => " AND level IN (0, 2)",
        (true, true) => " AND level IN (0, 1, 2)",
    });
    query
}
