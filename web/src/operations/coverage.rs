//! How much of the published list of operations is declared and built.

use std::fmt::Write;

use base::Vocabulary;

use super::ENDPOINTS;
use crate::endpoint::{Endpoint, ErrorFormat};
use crate::router::spell_path;

/// The published list: document, section, group, method, path.
const PUBLISHED_LIST: &str = include_str!("endpoints.tsv");

/// A line of the published list and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoverageRow {
    /// Which document it stands in.
    pub document: &'static str,
    /// Where in the document.
    pub section: &'static str,
    /// Under which heading.
    pub group: &'static str,
    /// The HTTP method.
    pub method: &'static str,
    /// The path as the list has it.
    pub path: &'static str,
    /// The operation that answers it.
    pub operation_id: Option<&'static str>,
    /// How far it is.
    pub status: CoverageStatus,
}

/// How far an operation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CoverageStatus {
    /// It works.
    Built,
    /// It is declared.
    Planned,
    /// There is none.
    Missing,
}

impl CoverageStatus {
    fn from_endpoint(endpoint: Option<&Endpoint>) -> Self {
        match endpoint {
            Some(Endpoint { handler: Some(_), .. }) => Self::Built,
            Some(_) => Self::Planned,
            None => Self::Missing,
        }
    }

    /// The status in one word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Built => "built",
            Self::Planned => "planned",
            Self::Missing => "missing",
        }
    }
}

/// Every line of the published list, in its order.
pub fn coverage_rows() -> Vec<CoverageRow> {
    PUBLISHED_LIST.lines().skip(1).filter_map(parse_row).collect()
}

fn parse_row(line: &'static str) -> Option<CoverageRow> {
    let mut cells = line.split('\t');
    let mut next = || cells.next();
    let (document, section, group) = (next()?, next()?, next()?);
    let (method, path) = (next()?, next()?);
    let wanted = path_shape(path.trim_start_matches("SANDBOX:"));
    let endpoint = all_endpoints()
        .find(|endpoint| endpoint.method == method && endpoint_paths(endpoint).any(|path| path_shape(&path) == wanted));
    Some(CoverageRow {
        document,
        section,
        group,
        method,
        path,
        operation_id: endpoint.map(|endpoint| endpoint.id),
        status: CoverageStatus::from_endpoint(endpoint),
    })
}

fn all_endpoints() -> impl Iterator<Item = &'static Endpoint> {
    ENDPOINTS.iter().copied().flatten()
}

fn endpoint_paths(endpoint: &Endpoint) -> impl Iterator<Item = String> {
    std::iter::once(&endpoint.path)
        .chain(endpoint.aliases)
        .map(|path| spell_path(path, Vocabulary::Post))
}

/// The path with its parameters unnamed, whether they are written `:id` or `{id}`.
fn path_shape(path: &str) -> String {
    let part = |part: &str| match part.chars().next() {
        Some(':' | '{') => "*".to_owned(),
        _ => part.to_owned(),
    };
    path.split('/').map(part).collect::<Vec<_>>().join("/")
}

/// The coverage as a page.
pub fn coverage_markdown() -> String {
    let rows = coverage_rows();
    let listed = |endpoint: &&Endpoint| !rows.iter().any(|row| row.operation_id == Some(endpoint.id));
    // Pages are for people, and their style changes its path with its content.
    let shown = |endpoint: &&Endpoint| endpoint.error_format != ErrorFormat::Page;
    let further: Vec<_> = all_endpoints().filter(listed).filter(shown).collect();
    let mut page = String::from(
        "# Coverage\n\nWritten by a test; do not edit. `LOCUM_WRITE_GENERATED=1 cargo test -p web \
         coverage` writes it anew.\n\n",
    );
    page.push_str("| Operations | Built | Planned | Missing |\n|---|---|---|---|\n");
    for document in ["core", "ads"] {
        let of_it = rows.iter().filter(|row| row.document == document);
        page.push_str(&render_totals(
            document,
            &of_it.map(|row| row.status).collect::<Vec<_>>(),
        ));
    }
    let statuses: Vec<_> = further
        .iter()
        .map(|endpoint| CoverageStatus::from_endpoint(Some(endpoint)))
        .collect();
    page.push_str(&render_totals("further", &statuses));
    for row in render_groups(&rows) {
        page.push_str(&row);
    }
    page.push_str("\n## Further operations\n\n");
    page.push_str(HEAD);
    for endpoint in further {
        let path = spell_path(endpoint.path, Vocabulary::Post);
        let status = CoverageStatus::from_endpoint(Some(endpoint));
        page.push_str(&render_line(endpoint.method, &path, Some(endpoint.id), status));
    }
    page
}

const HEAD: &str = "| Method | Path | Operation | Status |\n|---|---|---|---|\n";

/// A table for each heading of the list.
fn render_groups(rows: &[CoverageRow]) -> Vec<String> {
    let same = |one: &CoverageRow, other: &CoverageRow| one.document == other.document && one.group == other.group;
    rows.chunk_by(same).map(render_table).collect()
}

fn render_table(rows: &[CoverageRow]) -> String {
    let mut text = String::new();
    if let Some(first) = rows.first() {
        let _infallible = write!(text, "\n## {}: {}\n\n{HEAD}", first.document, first.group);
    }
    for row in rows {
        text.push_str(&render_line(row.method, row.path, row.operation_id, row.status));
    }
    text
}

fn render_line(method: &str, path: &str, id: Option<&str>, status: CoverageStatus) -> String {
    let (id, status) = (id.unwrap_or("none"), status.name());
    format!("| {method} | `{path}` | {id} | {status} |\n")
}

fn render_totals(name: &str, statuses: &[CoverageStatus]) -> String {
    let count = |wanted| statuses.iter().filter(|status| **status == wanted).count();
    let [built, planned, missing] =
        [CoverageStatus::Built, CoverageStatus::Planned, CoverageStatus::Missing].map(count);
    format!("| {name} | {built} | {planned} | {missing} |\n")
}

#[cfg(test)]
mod tests {
    use super::{CoverageStatus, coverage_markdown, coverage_rows};

    #[test]
    fn nothing_of_the_published_list_is_missing() {
        let rows = coverage_rows();
        assert_eq!(rows.len(), 182);
        let missing: Vec<_> = rows
            .iter()
            .filter(|row| row.status == CoverageStatus::Missing)
            .collect();
        assert!(missing.is_empty(), "{missing:#?}");
    }

    #[test]
    fn the_coverage_page_is_up_to_date() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/api/coverage.md");
        let page = coverage_markdown();
        if std::env::var_os("LOCUM_WRITE_GENERATED").is_some() {
            std::fs::write(path, &page).unwrap();
        }
        let kept = std::fs::read_to_string(path).unwrap_or_default();
        assert!(kept == page, "set LOCUM_WRITE_GENERATED=1 to write {path} anew");
    }
}
