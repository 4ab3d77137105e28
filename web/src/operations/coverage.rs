//! How much of the published list of operations is declared and built.

use std::fmt::Write;

use base::Vocabulary;

use super::ENDPOINTS;
use crate::endpoint::{Accent, Endpoint};
use crate::router::spell;

/// The published list: document, section, group, method, path.
const LIST: &str = include_str!("endpoints.tsv");

/// A line of the published list and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
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
    pub status: Status,
}

/// How far an operation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It works.
    Built,
    /// It is declared.
    Planned,
    /// There is none.
    Missing,
}

impl Status {
    fn of(endpoint: Option<&Endpoint>) -> Self {
        match endpoint {
            Some(Endpoint { act: Some(_), .. }) => Self::Built,
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
pub fn coverage() -> Vec<Row> {
    LIST.lines().skip(1).filter_map(row).collect()
}

fn row(line: &'static str) -> Option<Row> {
    let mut cells = line.split('\t');
    let mut next = || cells.next();
    let (document, section, group) = (next()?, next()?, next()?);
    let (method, path) = (next()?, next()?);
    let wanted = shape(path.trim_start_matches("SANDBOX:"));
    let endpoint = all().find(|endpoint| {
        endpoint.method == method && paths(endpoint).any(|path| shape(&path) == wanted)
    });
    Some(Row {
        document,
        section,
        group,
        method,
        path,
        operation_id: endpoint.map(|endpoint| endpoint.id),
        status: Status::of(endpoint),
    })
}

fn all() -> impl Iterator<Item = &'static Endpoint> {
    ENDPOINTS.iter().copied().flatten()
}

fn paths(endpoint: &Endpoint) -> impl Iterator<Item = String> {
    std::iter::once(&endpoint.path)
        .chain(endpoint.aliases)
        .map(|path| spell(path, Vocabulary::Post))
}

/// The path with its parameters unnamed, whether they are written `:id` or `{id}`.
fn shape(path: &str) -> String {
    let part = |part: &str| match part.chars().next() {
        Some(':' | '{') => "*".to_owned(),
        _ => part.to_owned(),
    };
    path.split('/').map(part).collect::<Vec<_>>().join("/")
}

/// The coverage as a page.
pub fn coverage_markdown() -> String {
    let rows = coverage();
    let listed =
        |endpoint: &&Endpoint| !rows.iter().any(|row| row.operation_id == Some(endpoint.id));
    // Pages are for people, and their style changes its path with its content.
    let shown = |endpoint: &&Endpoint| endpoint.accent != Accent::Page;
    let further: Vec<_> = all().filter(listed).filter(shown).collect();
    let mut page = String::from(
        "# Coverage\n\nWritten by a test; do not edit. `LOCUM_WRITE_GENERATED=1 cargo test -p web \
         coverage` writes it anew.\n\n",
    );
    page.push_str("| Operations | Built | Planned | Missing |\n|---|---|---|---|\n");
    for document in ["core", "ads"] {
        let of_it = rows.iter().filter(|row| row.document == document);
        page.push_str(&sums(
            document,
            &of_it.map(|row| row.status).collect::<Vec<_>>(),
        ));
    }
    let statuses: Vec<_> = further
        .iter()
        .map(|endpoint| Status::of(Some(endpoint)))
        .collect();
    page.push_str(&sums("further", &statuses));
    for row in groups(&rows) {
        page.push_str(&row);
    }
    page.push_str("\n## Further operations\n\n");
    page.push_str(HEAD);
    for endpoint in further {
        let path = spell(endpoint.path, Vocabulary::Post);
        let status = Status::of(Some(endpoint));
        page.push_str(&line(endpoint.method, &path, Some(endpoint.id), status));
    }
    page
}

const HEAD: &str = "| Method | Path | Operation | Status |\n|---|---|---|---|\n";

/// A table for each heading of the list.
fn groups(rows: &[Row]) -> Vec<String> {
    let same = |one: &Row, other: &Row| one.document == other.document && one.group == other.group;
    rows.chunk_by(same).map(table).collect()
}

fn table(rows: &[Row]) -> String {
    let mut text = String::new();
    if let Some(first) = rows.first() {
        let _infallible = write!(text, "\n## {}: {}\n\n{HEAD}", first.document, first.group);
    }
    for row in rows {
        text.push_str(&line(row.method, row.path, row.operation_id, row.status));
    }
    text
}

fn line(method: &str, path: &str, id: Option<&str>, status: Status) -> String {
    let (id, status) = (id.unwrap_or("none"), status.name());
    format!("| {method} | `{path}` | {id} | {status} |\n")
}

fn sums(name: &str, statuses: &[Status]) -> String {
    let count = |wanted| statuses.iter().filter(|status| **status == wanted).count();
    let [built, planned, missing] = [Status::Built, Status::Planned, Status::Missing].map(count);
    format!("| {name} | {built} | {planned} | {missing} |\n")
}

#[cfg(test)]
mod tests {
    use super::{Status, coverage, coverage_markdown};

    #[test]
    fn nothing_of_the_published_list_is_missing() {
        let rows = coverage();
        assert_eq!(rows.len(), 182);
        let missing: Vec<_> = rows
            .iter()
            .filter(|row| row.status == Status::Missing)
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
        assert!(
            kept == page,
            "set LOCUM_WRITE_GENERATED=1 to write {path} anew"
        );
    }
}
