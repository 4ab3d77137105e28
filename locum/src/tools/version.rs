//! `locum version`.

use std::sync::LazyLock;

use serde_json::json;

use instance::output::OutputOptions;

/// The version of the public API that this release is compatible with.
const COMPATIBLE_API_VERSION: &str = "2026-11";

/// Set by `scripts/release`.
const COMMIT: Option<&str> = option_env!("LOCUM_COMMIT");

/// With the commit that a release was built from.
pub(crate) static VERSION_AND_COMMIT: LazyLock<String> = LazyLock::new(|| {
    let version = env!("CARGO_PKG_VERSION");
    COMMIT.map_or_else(|| version.to_owned(), |commit| format!("{version} (commit {commit})"))
});

pub(crate) fn print_version(output: OutputOptions) {
    let version = env!("CARGO_PKG_VERSION");
    let value = json!({"version": version, "commit": COMMIT, "compat": COMPATIBLE_API_VERSION});
    output.print_value_or_text(&value, || format!("locum {} (API {COMPATIBLE_API_VERSION})", *VERSION_AND_COMMIT));
}
