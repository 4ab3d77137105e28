//! `locum version`.

use serde_json::json;

use crate::cli::Output;

/// The public interface that this version stands in for.
const COMPAT: &str = "2026-11";

/// Shows both versions.
pub(crate) fn version(output: Output) {
    let version = env!("CARGO_PKG_VERSION");
    if output.json {
        output.value(&json!({"version": version, "compat": COMPAT}));
    } else {
        output.text(&format!("locum {version} (interface of {COMPAT})"));
    }
}
