//! Coverage of the published list of operations.

use base::Vocabulary;
use web::endpoint::{Endpoint, ErrorFormat};
use web::router::spell_path;

use super::ENDPOINTS;

/// Columns: document, section, group, method, path.
const PUBLISHED_LIST: &str = include_str!("endpoints.tsv");

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CoverageRow {
    pub(crate) document: &'static str,
    pub(crate) section: &'static str,
    pub(crate) group: &'static str,
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
    pub(crate) operation_id: Option<&'static str>,
    pub(crate) status: CoverageStatus,
}

base::named_enum! {
    pub(crate) enum CoverageStatus {
        Built = "built",
        Planned = "planned",
        Missing = "missing",
    }
}

impl CoverageStatus {
    pub(crate) fn from_endpoint(endpoint: Option<&Endpoint>) -> Self {
        match endpoint {
            Some(Endpoint { handler: Some(_), .. }) => Self::Built,
            Some(_) => Self::Planned,
            None => Self::Missing,
        }
    }
}

pub(crate) fn coverage_rows() -> Vec<CoverageRow> {
    PUBLISHED_LIST.lines().skip(1).filter_map(parse_row).collect()
}

/// Operations of the API that are not in the published list.
pub(crate) fn further_operations(rows: &[CoverageRow]) -> Vec<&'static Endpoint> {
    let is_further = |endpoint: &&Endpoint| !rows.iter().any(|row| row.operation_id == Some(endpoint.id));
    // Pages are not part of the API, and asset paths depend on their content.
    let is_shown = |endpoint: &&Endpoint| endpoint.error_format != ErrorFormat::Page;
    all_endpoints().filter(is_further).filter(is_shown).collect()
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
    std::iter::once(&endpoint.path).chain(endpoint.aliases).map(|path| spell_path(path, Vocabulary::Post))
}

/// The path with unnamed parameters, whether written `:id` or `{id}`.
fn path_shape(path: &str) -> String {
    let part = |part: &str| match part.chars().next() {
        Some(':' | '{') => "*".to_owned(),
        _ => part.to_owned(),
    };
    path.split('/').map(part).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests;
