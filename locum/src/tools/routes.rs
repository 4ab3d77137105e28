//! `locum routes` and `locum openapi`.

use base::Vocabulary;
use serde_json::{Value, json};
use web::endpoint::Endpoint;
use web::router::spell_path;

use crate::operations::ENDPOINTS;
use crate::operations::coverage::{self, CoverageRow, CoverageStatus};
use instance::arguments::RoutesArgs;
use instance::output::{OutputOptions, print_line};

/// With `--coverage`, the published list, also what is not implemented of it, and the further operations.
pub(crate) fn print_routes(args: RoutesArgs, output: OutputOptions) {
    let rows: Value = if args.coverage {
        let published = coverage::coverage_rows();
        let further = coverage::further_operations(&published);
        published.into_iter().map(published_row).chain(further.into_iter().map(further_row)).collect()
    } else {
        ENDPOINTS.iter().copied().flatten().map(endpoint_row).collect()
    };
    output.print_value(&rows);
}

fn published_row(row: CoverageRow) -> Value {
    json!({
        "method": row.method,
        "path": row.path,
        "status": row.status.name(),
        "operation": row.operation_id,
        "section": format!("{} {}", row.document, row.section),
    })
}

fn further_row(endpoint: &Endpoint) -> Value {
    let mut row = endpoint_row(endpoint);
    if let Some(members) = row.as_object_mut() {
        members.insert("section".to_owned(), "further".into());
    }
    row
}

fn endpoint_row(endpoint: &Endpoint) -> Value {
    json!({
        "method": endpoint.method,
        "path": spell_path(endpoint.path, Vocabulary::Post),
        "status": CoverageStatus::from_endpoint(Some(endpoint)).name(),
        "operation": endpoint.id,
    })
}

pub(crate) fn print_openapi() {
    let document = web::openapi::document(&ENDPOINTS, false);
    print_line(&serde_json::to_string_pretty(&document).unwrap_or_default());
}
