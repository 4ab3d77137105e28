//! Keyset pages over ids, newest first; most rows are edges that belong to a user, a post or a list.

use base::{Fault, Id};

use crate::Tx;
use crate::db::{FromCells, SqlValue};
use crate::posts::PageRange;

/// One end of an edge, and the edge's own id, by which edges are ordered.
pub type Edge = (i64, i64);

#[derive(Clone, Copy)]
pub(crate) struct DirectionalQuery {
    pub(crate) descending: &'static str,
    pub(crate) ascending: &'static str,
}

/// Takes the SQL before and after the sort direction.
macro_rules! directional_query {
    ($before:expr, $after:literal) => {
        $crate::edges::DirectionalQuery {
            descending: $crate::db::sql!($before, " DESC", $after),
            ascending: $crate::db::sql!($before, " ASC", $after),
        }
    };
}

/// The query of a page of the edges of `$1`; adds bounds on the column `id`.
macro_rules! edge_page_query {
    ($select:expr) => {
        $crate::edges::directional_query!(
            $crate::db::sql!($select, " AND id > $2 AND id < $3 ORDER BY id"),
            " LIMIT $4"
        )
    };
}

pub(crate) use {directional_query, edge_page_query};

impl DirectionalQuery {
    pub(crate) const fn select_direction(self, range: &PageRange) -> &'static str {
        if range.ascending { self.ascending } else { self.descending }
    }
}

/// The query's arguments are `owner`, the two bounds and the limit.
pub(crate) fn query_page<T: FromCells>(
    tx: &mut Tx<'_>,
    owner: &[SqlValue<'_>],
    range: &PageRange,
    sql: DirectionalQuery,
) -> Result<Vec<T>, Fault> {
    let bounds = [range.above, range.below, range.limit].map(SqlValue::from);
    let mut rows = tx.query_rows(sql.select_direction(range), &[owner, &bounds].concat())?;
    if range.ascending {
        rows.reverse();
    }
    Ok(rows)
}

pub(crate) fn edge_page(
    tx: &mut Tx<'_>,
    owner: impl Into<SqlValue<'static>>,
    range: &PageRange,
    sql: DirectionalQuery,
) -> Result<Vec<Edge>, Fault> {
    query_page(tx, &[owner.into()], range, sql)
}

pub(crate) fn typed_edge_page<K>(
    tx: &mut Tx<'_>,
    owner: impl Into<SqlValue<'static>>,
    range: &PageRange,
    sql: DirectionalQuery,
) -> Result<Vec<(Id<K>, i64)>, Fault> {
    query_page(tx, &[owner.into()], range, sql)
}

/// Trims a page merged from several queries to the rows nearest to its start; newest first.
pub(crate) fn trim_page<T>(mut rows: Vec<T>, range: &PageRange) -> Vec<T> {
    let limit = usize::try_from(range.limit).unwrap_or(0);
    if range.ascending {
        let surplus = rows.len().saturating_sub(limit);
        rows.drain(..surplus);
    } else {
        rows.truncate(limit);
    }
    rows
}
