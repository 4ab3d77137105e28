//! `locum routes` and `locum openapi`.

use base::Vocabulary;
use serde_json::{Value, json};
use web::operations::{ENDPOINTS, coverage};
use web::router::spell;

use crate::cli::{Output, RoutesArgs, print};

/// Every operation, or every line of the contract with what became of it.
pub(crate) fn routes(args: RoutesArgs, output: Output) {
    let rows: Value = if args.coverage {
        let row = |row: coverage::Row| {
            json!({
                "method": row.method,
                "path": row.path,
                "status": row.status.name(),
                "operation": row.operation_id,
                "section": format!("{} {}", row.document, row.section),
            })
        };
        coverage::coverage().into_iter().map(row).collect()
    } else {
        let all = ENDPOINTS.iter().copied().flatten();
        all.map(|endpoint| {
            json!({
                "method": endpoint.method,
                "path": spell(endpoint.path, Vocabulary::Post),
                "status": if endpoint.act.is_some() { "built" } else { "planned" },
                "operation": endpoint.id,
            })
        })
        .collect()
    };
    output.value(&rows);
}

/// The OpenAPI document of what is built.
pub(crate) fn openapi() {
    let document = web::openapi::document(&ENDPOINTS, false);
    print(&serde_json::to_string_pretty(&document).unwrap_or_default());
}
