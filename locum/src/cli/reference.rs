//! The references of commands and keys, written from their declarations.

use crate::config::{ConfigKey, KEYS, KeyDefault, RunMode};

/// `docs/configuration.md`'s table.
pub(crate) fn config_reference() -> String {
    let mut text = String::from("| Key | Takes | dev | serve | What it is for |\n|---|---|---|---|---|\n");
    for key in KEYS {
        let row = format!(
            "| `{}` | {} | {} | {} | {} |\n",
            key.name,
            key.kind.type_name(),
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
        KeyDefault::Absent => "does not exist".to_owned(),
    }
}

/// `docs/cli.md`'s table.
pub(crate) fn command_reference(root: &clap::Command) -> String {
    let mut text = String::from("| Command | What it does |\n|---|---|\n");
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
        let shown = if argument.is_required_set() {
            format!(" {word}")
        } else {
            format!(" [{word}]")
        };
        text.push_str(&shown);
    }
    text
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_documents_hold_what_is_declared() {
        let commands = super::command_reference(&crate::cli::Cli::command());
        let pages = [
            (include_str!("../../../docs/cli.md"), commands),
            (
                include_str!("../../../docs/configuration.md"),
                super::config_reference(),
            ),
        ];
        for (page, table) in pages {
            for line in table.lines() {
                assert!(page.contains(line), "write it anew: no line {line}");
            }
        }
    }
}
