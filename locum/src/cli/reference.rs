//! Reference documentation of commands and configuration keys, generated from their declarations.

use std::path::Path;

use base::Fault;
use serde_json::json;

use instance::config::{ConfigKey, KEYS, KeyDefault, RunMode};
use instance::output::{OutputOptions, print_line};

pub(super) fn print_completions(shell: clap_complete::Shell, root: &mut clap::Command) {
    let mut script = Vec::new();
    clap_complete::generate(shell, root, "locum", &mut script);
    print_line(String::from_utf8_lossy(&script).trim_end());
}

/// A page for each command, as `locum-dev.1`.
pub(super) fn write_manual_pages(root: clap::Command, folder: &Path) -> Result<(), Fault> {
    clap_mangen::generate_to(root, folder).map_err(Fault::context("writing the manual pages"))
}

pub(super) fn print_config_reference(output: OutputOptions) {
    let keys =
        KEYS.iter().map(|key| json!({"name": key.name, "takes": key.expected_values(), "about": key.description}));
    output.print_value_or_text(&keys.collect(), config_reference);
}

/// The table in `docs/configuration.md`.
fn config_reference() -> String {
    let mut text = String::from("| Key | Type | dev | serve | Description |\n|---|---|---|---|---|\n");
    for key in KEYS {
        let row = format!(
            "| `{}` | {} | {} | {} | {} |\n",
            key.name,
            key.expected_values(),
            default_text(key, RunMode::Dev),
            default_text(key, RunMode::Serve),
            key.description
        );
        text.push_str(&row);
    }
    text
}

fn default_text(key: &ConfigKey, mode: RunMode) -> String {
    match key.default_for_mode(mode) {
        KeyDefault::Literal(text) => format!("`{text}`"),
        KeyDefault::Unset => "—".to_owned(),
        KeyDefault::Required => "required".to_owned(),
        KeyDefault::Absent(_) => "unavailable".to_owned(),
    }
}

/// The table in `docs/cli.md`.
pub(super) fn command_reference(root: &clap::Command) -> String {
    let mut text = String::from("| Command | Description |\n|---|---|\n");
    append_commands("locum", root, &mut text);
    text
}

fn append_commands(path: &str, command: &clap::Command, text: &mut String) {
    let seen = command.get_subcommands().filter(|inner| !inner.is_hide_set());
    for inner in seen.filter(|inner| inner.get_name() != "help") {
        let path = format!("{path} {}", inner.get_name());
        if inner.get_subcommands().next().is_none() {
            let about = inner.get_about().map(ToString::to_string).unwrap_or_default();
            let row = format!("| `{path}{}` | {about} |\n", describe_arguments(inner));
            text.push_str(&row);
        }
        append_commands(&path, inner, text);
    }
}

fn describe_arguments(command: &clap::Command) -> String {
    let own = command
        .get_arguments()
        .filter(|argument| !argument.is_global_set() && !argument.is_hide_set() && argument.get_id() != "help");
    let mut text = String::new();
    for argument in own {
        let value = argument
            .get_value_names()
            .and_then(|names| names.first())
            .map_or_else(|| argument.get_id().as_str().to_uppercase(), ToString::to_string);
        let takes = argument.get_action().takes_values();
        let word = match argument.get_long() {
            Some(long) if takes => format!("--{long} {value}"),
            Some(long) => format!("--{long}"),
            None => value,
        };
        let shown = if argument.is_required_set() { format!(" {word}") } else { format!(" [{word}]") };
        text.push_str(&shown);
    }
    text
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    /// Compares the table in a page of `docs` with `table`, or writes it with `LOCUM_WRITE_GENERATED=1`.
    fn check_table(page: &str, table: &str) {
        let path = format!("{}/../docs/{page}", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(&path).unwrap();
        let header = table.lines().next().unwrap();
        let (before, rest) = text.split_once(header).unwrap_or_else(|| panic!("{path}: no table {header}"));
        let after = rest.split_once("\n\n").map_or("", |(_, after)| after);
        let separator = if after.is_empty() { "" } else { "\n" };
        let updated = format!("{before}{table}{separator}{after}");
        if updated == text {
            return;
        }
        assert!(
            std::env::var_os("LOCUM_WRITE_GENERATED").is_some(),
            "{path} is out of date; set LOCUM_WRITE_GENERATED=1 to rewrite its table"
        );
        std::fs::write(&path, updated).unwrap();
    }

    #[test]
    fn the_documents_hold_what_is_declared() {
        check_table("cli.md", &super::command_reference(&crate::cli::Cli::command()));
        check_table("configuration.md", &super::config_reference());
    }
}
