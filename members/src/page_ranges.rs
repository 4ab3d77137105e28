//! Pages of twenty, whose links contain the id that the next page begins below.

use pages::Pager;
use portal::PageQuery;
use store::posts::PageRange;

pub(crate) const PAGE_SIZE: i64 = 20;

/// The part of a collection that the query's `before` asks for.
pub(crate) fn range_before(query: &PageQuery) -> PageRange {
    PageRange { below: cursor_of(query).unwrap_or(i64::MAX), ..PageRange::newest(PAGE_SIZE) }
}

pub(crate) fn cursor_of(query: &PageQuery) -> Option<i64> {
    query.get("before")?.parse().ok().filter(|id| *id > 0)
}

/// `path` may have a query; `oldest` is none on the last page.
pub(crate) fn build_pager(path: &str, is_first: bool, oldest: Option<i64>) -> Pager {
    let mark = if path.contains('?') { '&' } else { '?' };
    Pager { previous: (!is_first).then(|| path.to_owned()), next: oldest.map(|id| format!("{path}{mark}before={id}")) }
}

/// Removes the rows beyond the page; the key of its last row if there were some.
pub(crate) fn cut_page<T>(rows: &mut Vec<T>, key: impl Fn(&T) -> i64) -> Option<i64> {
    let size = usize::try_from(PAGE_SIZE).unwrap_or(usize::MAX);
    let more = rows.len() > size;
    rows.truncate(size);
    rows.last().map(key).filter(|_| more)
}
