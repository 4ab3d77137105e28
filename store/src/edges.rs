//! Pages of rows in a span of their ids, newest first; most are edges: what hangs on a user, a post
//! or a list, ordered by the edges' own ids.

use base::{Fault, Id};

use crate::Tx;
use crate::db::{SqlRow, SqlValue};
use crate::posts::PageRange;

/// One end of an edge, and the edge's own id, which is what it is ordered by.
pub type Edge = (i64, i64);

/// The query of a page, from the new end on and from the old one.
#[derive(Clone, Copy)]
pub(crate) struct DirectionalQuery {
    pub(crate) descending: &'static str,
    pub(crate) ascending: &'static str,
}

/// A query in both directions: what stands before the direction, and what after.
macro_rules! directional_query {
    ($before:expr, $after:literal) => {
        $crate::edges::DirectionalQuery {
            descending: concat!($before, " DESC", $after),
            ascending: concat!($before, " ASC", $after),
        }
    };
}

/// The query of a page of what hangs on `$1`: all but the bounds, which are on a column `id`.
macro_rules! edge_page_query {
    ($select:expr) => {
        $crate::edges::directional_query!(concat!($select, " AND id > $2 AND id < $3 ORDER BY id"), " LIMIT $4")
    };
}

pub(crate) use {directional_query, edge_page_query};

impl DirectionalQuery {
    /// The query for the direction of a span.
    pub(crate) const fn select_direction(self, span: &PageRange) -> &'static str {
        if span.ascending {
            self.ascending
        } else {
            self.descending
        }
    }
}

/// A page of rows. The query takes `of`, the two bounds and the limit.
pub(crate) fn query_page<T>(
    tx: &mut Tx<'_>,
    of: &[SqlValue<'_>],
    span: &PageRange,
    sql: DirectionalQuery,
    read: impl FnMut(&SqlRow<'_, '_>) -> Result<T, Fault>,
) -> Result<Vec<T>, Fault> {
    let bounds = [span.above, span.below, span.limit].map(SqlValue::from);
    let mut rows = tx.query_rows(sql.select_direction(span), &[of, &bounds].concat(), read)?;
    if span.ascending {
        rows.reverse();
    }
    Ok(rows)
}

/// A page of the edges at `of`.
pub(crate) fn edge_page(
    tx: &mut Tx<'_>,
    of: impl Into<SqlValue<'static>>,
    span: &PageRange,
    sql: DirectionalQuery,
) -> Result<Vec<Edge>, Fault> {
    let end = |row: &SqlRow<'_, '_>| Ok((row.int(0)?, row.int(1)?));
    query_page(tx, &[of.into()], span, sql, end)
}

/// A page of the edges at `of`, their ends as ids of what they are.
pub(crate) fn typed_edge_page<K>(
    tx: &mut Tx<'_>,
    of: impl Into<SqlValue<'static>>,
    span: &PageRange,
    sql: DirectionalQuery,
) -> Result<Vec<(Id<K>, i64)>, Fault> {
    let end = |row: &SqlRow<'_, '_>| Ok((row.id(0)?, row.int(1)?));
    query_page(tx, &[of.into()], span, sql, end)
}

/// What of a page that was put together from several queries is nearest to where it starts; the
/// newest comes first.
pub(crate) fn trim_page<T>(mut rows: Vec<T>, span: &PageRange) -> Vec<T> {
    let limit = usize::try_from(span.limit).unwrap_or(0);
    if span.ascending {
        let surplus = rows.len().saturating_sub(limit);
        rows.drain(..surplus);
    } else {
        rows.truncate(limit);
    }
    rows
}
