//! Answers for people and for programs.

use std::io::{IsTerminal, Write};

use serde_json::{Map, Value};

use super::Common;

/// How answers are written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Output {
    /// As JSON.
    pub(crate) json: bool,
    /// Not at all.
    pub(crate) quiet: bool,
}

impl Output {
    /// What the arguments ask for.
    pub(crate) const fn of(common: &Common) -> Self {
        Self {
            json: common.json,
            quiet: common.quiet,
        }
    }

    /// Whether someone watches who would like to see how far it is.
    pub(crate) fn is_watched(self) -> bool {
        !self.quiet && !self.json && std::io::stderr().is_terminal()
    }

    /// Shows an answer.
    pub(crate) fn value(self, value: &Value) {
        if self.json {
            print(&serde_json::to_string_pretty(value).unwrap_or_default());
        } else if !self.quiet {
            print(render(value).trim_end());
        }
    }

    /// Shows text as it is.
    pub(crate) fn text(self, text: &str) {
        if !self.quiet {
            print(text.trim_end());
        }
    }

    /// Shows the table of keys.
    pub(crate) fn markdown(self, text: &str, keys: &[crate::config::Key]) {
        if self.json {
            let names = keys.iter().map(|key| {
                serde_json::json!({"name": key.name, "takes": key.kind.name(), "about": key.about})
            });
            self.value(&names.collect());
        } else {
            self.text(text);
        }
    }
}

/// A line to stdout; whoever closed it wanted no more.
pub(crate) fn print(text: &str) {
    let _closed = writeln!(std::io::stdout().lock(), "{text}");
}

/// A value as aligned text: a list of objects is a table, an object a column of names.
pub(crate) fn render(value: &Value) -> String {
    match value {
        Value::Array(items) if items.is_empty() => "nothing".to_owned(),
        Value::Array(items) => match objects(items) {
            Some(rows) => table(&rows),
            None => items.iter().map(cell).collect::<Vec<_>>().join("\n"),
        },
        Value::Object(map) => column(map),
        other => cell(other),
    }
}

/// What a thing is known by comes first; the rest by name.
const FIRST: [&str; 12] = [
    "id", "username", "name", "key", "method", "path", "status", "state", "version", "file",
    "value", "says",
];

fn ordered(map: &Map<String, Value>) -> Vec<(&String, &Value)> {
    let mut pairs: Vec<_> = map.iter().collect();
    let place = |name: &str| FIRST.iter().position(|first| *first == name);
    pairs.sort_by_key(|(name, _)| place(name).unwrap_or(FIRST.len()));
    pairs
}

fn objects(items: &[Value]) -> Option<Vec<&Map<String, Value>>> {
    items.iter().map(Value::as_object).collect()
}

fn column(map: &Map<String, Value>) -> String {
    let width = map
        .keys()
        .map(|name| name.chars().count())
        .max()
        .unwrap_or(0);
    let mut text = String::new();
    for (name, value) in ordered(map) {
        match value {
            Value::Array(items) if objects(items).is_some_and(|rows| !rows.is_empty()) => {
                text.extend(["\n", name, "\n", &render(value), "\n"]);
            }
            Value::Array(items) if items.is_empty() => {
                let line = format!(
                    "{name:width$}  none
"
                );
                text.push_str(&line);
            }
            _ => {
                let line = format!("{name:width$}  {}\n", cell(value));
                text.push_str(&line);
            }
        }
    }
    text
}

fn table(rows: &[&Map<String, Value>]) -> String {
    let names: Vec<&String> = rows
        .first()
        .map(|row| ordered(row).into_iter().map(|(name, _)| name).collect())
        .unwrap_or_default();
    let heads = names
        .iter()
        .map(|name| name.to_uppercase().replace('_', " "));
    let mut lines: Vec<Vec<String>> = vec![heads.collect()];
    for row in rows {
        let cells = names
            .iter()
            .map(|name| row.get(*name).map_or_else(String::new, cell));
        lines.push(cells.collect());
    }
    aligned(&lines)
}

/// Lines of cells with columns of one width.
pub(crate) fn aligned(lines: &[Vec<String>]) -> String {
    let columns = lines.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = lines.iter().filter_map(|line| line.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let lines = lines.iter().map(|line| {
        let cells = line.iter().zip(&widths);
        let padded: Vec<String> = cells
            .map(|(cell, width)| format!("{cell:width$}"))
            .collect();
        padded.join("  ").trim_end().to_owned()
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => "—".to_owned(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::String(text) => text.replace('\n', " "),
        Value::Number(number) => number.to_string(),
        Value::Array(items) => items.iter().map(cell).collect::<Vec<_>>().join(", "),
        Value::Object(map) => {
            let pairs = map
                .iter()
                .map(|(name, value)| format!("{name} {}", cell(value)));
            pairs.collect::<Vec<_>>().join(", ")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::render;
    use serde_json::json;

    #[test]
    fn a_list_of_things_is_a_table() {
        let value = json!([
            {"id": "1", "name": "ada", "protected": false},
            {"id": "20", "name": "bob", "protected": true},
        ]);
        assert_eq!(
            render(&value),
            "ID  NAME  PROTECTED\n1   ada   no\n20  bob   yes"
        );
        assert_eq!(render(&json!([])), "nothing");
    }

    #[test]
    fn a_thing_is_a_column() {
        let value = json!({"id": "1", "urls": ["a", "b"], "until": null});
        assert_eq!(render(&value), "id     1\nuntil  —\nurls   a, b\n");
    }
}
