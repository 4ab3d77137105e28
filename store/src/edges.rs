//! Pages of rows in a span of their ids, newest first; most are edges: what hangs on a user, a post
//! or a list, ordered by the edges' own ids.

use base::{Fault, Id};

use crate::Tx;
use crate::db::{Row, Value};
use crate::posts::Span;

/// One end of an edge, and the edge's own id, which is what it is ordered by.
pub type Edge = (i64, i64);

/// The query of a page, from the new end on and from the old one.
#[derive(Clone, Copy)]
pub(crate) struct BothWays {
    pub(crate) falling: &'static str,
    pub(crate) rising: &'static str,
}

/// A query in both directions: what stands before the direction, and what after.
macro_rules! both_ways {
    ($before:expr, $after:literal) => {
        $crate::edges::BothWays {
            falling: concat!($before, " DESC", $after),
            rising: concat!($before, " ASC", $after),
        }
    };
}

/// The query of a page of what hangs on `$1`: all but the bounds, which are on a column `id`.
macro_rules! hanging {
    ($select:expr) => {
        $crate::edges::both_ways!(
            concat!($select, " AND id > $2 AND id < $3 ORDER BY id"),
            " LIMIT $4"
        )
    };
}

pub(crate) use {both_ways, hanging};

impl BothWays {
    /// The query for the direction of a span.
    pub(crate) const fn of(self, span: &Span) -> &'static str {
        if span.rising {
            self.rising
        } else {
            self.falling
        }
    }
}

/// A page of rows. The query takes `of`, the two bounds and the limit.
pub(crate) fn page_of<T>(
    tx: &mut Tx<'_>,
    of: &[Value<'_>],
    span: &Span,
    sql: BothWays,
    read: impl FnMut(&Row<'_, '_>) -> Result<T, Fault>,
) -> Result<Vec<T>, Fault> {
    let bounds = [span.above, span.below, span.limit].map(Value::from);
    let mut rows = tx.rows(sql.of(span), &[of, &bounds].concat(), read)?;
    if span.rising {
        rows.reverse();
    }
    Ok(rows)
}

/// A page of the edges at `of`.
pub(crate) fn page(
    tx: &mut Tx<'_>,
    of: impl Into<Value<'static>>,
    span: &Span,
    sql: BothWays,
) -> Result<Vec<Edge>, Fault> {
    let end = |row: &Row<'_, '_>| Ok((row.int(0)?, row.int(1)?));
    page_of(tx, &[of.into()], span, sql, end)
}

/// A page of the edges at `of`, their ends as ids of what they are.
pub(crate) fn page_to<K>(
    tx: &mut Tx<'_>,
    of: impl Into<Value<'static>>,
    span: &Span,
    sql: BothWays,
) -> Result<Vec<(Id<K>, i64)>, Fault> {
    let end = |row: &Row<'_, '_>| Ok((row.id(0)?, row.int(1)?));
    page_of(tx, &[of.into()], span, sql, end)
}

/// What of a page that was put together from several queries is nearest to where it starts; the
/// newest comes first.
pub(crate) fn trimmed<T>(mut rows: Vec<T>, span: &Span) -> Vec<T> {
    let limit = usize::try_from(span.limit).unwrap_or(0);
    if span.rising {
        let surplus = rows.len().saturating_sub(limit);
        rows.drain(..surplus);
    } else {
        rows.truncate(limit);
    }
    rows
}
