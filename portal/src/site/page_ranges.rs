//! Pages of collections whose links contain the key that the next page begins after.

use std::fmt::Display;

use pages::Pager;

/// `path` may have a query; `next` is none on the last page.
pub fn build_pager(path: &str, parameter: &str, is_first: bool, next: Option<impl Display>) -> Pager {
    let mark = if path.contains('?') { '&' } else { '?' };
    Pager {
        previous: (!is_first).then(|| path.to_owned()),
        next: next.map(|key| format!("{path}{mark}{parameter}={key}")),
    }
}

/// Removes the rows beyond the page; the key of its last row if there were some.
pub fn cut_page<T, K>(rows: &mut Vec<T>, size: i64, key: impl Fn(&T) -> K) -> Option<K> {
    let size = usize::try_from(size).unwrap_or(usize::MAX);
    let more = rows.len() > size;
    rows.truncate(size);
    rows.last().map(key).filter(|_| more)
}
