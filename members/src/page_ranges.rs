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

pub(crate) fn build_pager(path: &str, is_first: bool, oldest: Option<i64>) -> Pager {
    portal::build_pager(path, "before", is_first, oldest)
}

pub(crate) fn cut_page<T>(rows: &mut Vec<T>, key: impl Fn(&T) -> i64) -> Option<i64> {
    portal::cut_page(rows, PAGE_SIZE, key)
}
