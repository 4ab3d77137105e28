//! `locum version`.

use serde_json::json;

use crate::output::OutputOptions;

/// The version of the public API that this release is compatible with.
const COMPATIBLE_API_VERSION: &str = "2026-11";

pub(crate) fn print_version(output: OutputOptions) {
    let version = env!("CARGO_PKG_VERSION");
    if output.json {
        output.print_value(&json!({"version": version, "compat": COMPATIBLE_API_VERSION}));
    } else {
        output.print_text(&format!("locum {version} (API {COMPATIBLE_API_VERSION})"));
    }
}
