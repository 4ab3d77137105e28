//! Pages of edges: what hangs on a user or a post, ordered by the edges' own ids.

use base::Fault;

use crate::Tx;
use crate::posts::Span;

/// One end of an edge, and the edge's own id, which is what it is ordered by.
pub type Edge = (i64, i64);

/// A page of the edges at `of`. Both queries take `of`, the two bounds and the limit.
pub(crate) fn page(
    tx: &mut Tx<'_>,
    of: i64,
    span: &Span,
    falling: &'static str,
    rising: &'static str,
) -> Result<Vec<Edge>, Fault> {
    let args = [
        of.into(),
        span.above.into(),
        span.below.into(),
        span.limit.into(),
    ];
    let sql = if span.rising { rising } else { falling };
    let mut edges = tx.rows(sql, &args, |row| Ok((row.int(0)?, row.int(1)?)))?;
    if span.rising {
        edges.reverse();
    }
    Ok(edges)
}
