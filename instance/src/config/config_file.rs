//! Parses the configuration file and records the line of every value.

use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::values::{ConfigValue, LayerEntry, ValueOrigin};

pub(super) fn parse_file(path: &Path, text: &str) -> Result<Vec<LayerEntry>, Vec<String>> {
    let (table, errors) = DeTable::parse_recoverable(text);
    if !errors.is_empty() {
        let lines = errors.iter().map(|error| {
            let line = error.span().map_or(1, |span| line_number(text, span.start));
            format!("{}:{line}: {}", path.display(), error.message())
        });
        return Err(lines.collect());
    }
    let mut reader = TomlFlattener { path, text, entries: Vec::new(), errors: Vec::new() };
    reader.flatten_table("", table.get_ref());
    if reader.errors.is_empty() { Ok(reader.entries) } else { Err(reader.errors) }
}

struct TomlFlattener<'a> {
    path: &'a Path,
    text: &'a str,
    entries: Vec<LayerEntry>,
    errors: Vec<String>,
}

impl TomlFlattener<'_> {
    fn flatten_table(&mut self, prefix: &str, table: &DeTable<'_>) {
        for (key, value) in table {
            let name =
                if prefix.is_empty() { key.get_ref().to_string() } else { format!("{prefix}.{}", key.get_ref()) };
            let line = line_number(self.text, key.span().start);
            match value.get_ref() {
                DeValue::Table(inner) => self.flatten_table(&name, inner),
                _ => match value_as_text(value) {
                    Some(text) => self.entries.push(LayerEntry {
                        name,
                        value: ConfigValue { text, origin: ValueOrigin::Line(self.path.to_owned(), line) },
                    }),
                    None => self.errors.push(format!(
                        "{}:{line}: {name} must be a string, an integer, a boolean or a list of strings",
                        self.path.display()
                    )),
                },
            }
        }
    }
}

fn value_as_text(value: &Spanned<DeValue<'_>>) -> Option<String> {
    match value.get_ref() {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) => Some(number.to_string()),
        DeValue::Boolean(switch) => Some(switch.to_string()),
        DeValue::Array(items) => {
            let items: Option<Vec<_>> = items
                .iter()
                .map(|item| match item.get_ref() {
                    DeValue::String(text) if !text.contains(',') => Some(text.to_string()),
                    _ => None,
                })
                .collect();
            items.map(|items| items.join(","))
        }
        DeValue::Float(_) | DeValue::Datetime(_) | DeValue::Table(_) => None,
    }
}

fn line_number(text: &str, offset: usize) -> usize {
    text.bytes().take(offset).filter(|byte| *byte == b'\n').count() + 1
}
