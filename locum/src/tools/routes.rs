//! `locum routes` and `locum openapi`.

use base::Vocabulary;
use serde_json::{Value, json};
use web::router::spell_path;

use crate::operations::{ENDPOINTS, coverage};
use instance::arguments::RoutesArgs;
use instance::output::{OutputOptions, print_line};

/// With `--coverage`, includes operations that are not implemented.
pub(crate) fn print_routes(args: RoutesArgs, output: OutputOptions) {
    let rows: Value = if args.coverage {
        let row = |row: coverage::CoverageRow| {
            json!({
                "method": row.method,
                "path": row.path,
                "status": row.status.name(),
                "operation": row.operation_id,
                "section": format!("{} {}", row.document, row.section),
            })
        };
        coverage::coverage_rows().into_iter().map(row).collect()
    } else {
        let all = ENDPOINTS.iter().copied().flatten();
        all.map(|endpoint| {
            json!({
                "method": endpoint.method,
                "path": spell_path(endpoint.path, Vocabulary::Post),
                "status": if endpoint.handler.is_some() { "built" } else { "planned" },
                "operation": endpoint.id,
            })
        })
        .collect()
    };
    output.print_value(&rows);
}

pub(crate) fn print_openapi() {
    let document = web::openapi::document(&ENDPOINTS, false);
    print_line(&serde_json::to_string_pretty(&document).unwrap_or_default());
}
