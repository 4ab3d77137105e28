//! The configuration file, with the line of every value.

use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::load::Found;
use super::values::Origin;

/// What a file sets, or the lines that cannot be read.
pub(super) fn read(path: &Path, text: &str) -> Result<Vec<Found>, Vec<String>> {
    let (table, errors) = DeTable::parse_recoverable(text);
    if !errors.is_empty() {
        let lines = errors.iter().map(|error| {
            let line = error.span().map_or(1, |span| line(text, span.start));
            format!("{}:{line}: {}", path.display(), error.message())
        });
        return Err(lines.collect());
    }
    let mut reader = Reader {
        path,
        text,
        found: Vec::new(),
        wrong: Vec::new(),
    };
    reader.table("", table.get_ref());
    if reader.wrong.is_empty() {
        Ok(reader.found)
    } else {
        Err(reader.wrong)
    }
}

struct Reader<'a> {
    path: &'a Path,
    text: &'a str,
    found: Vec<Found>,
    wrong: Vec<String>,
}

impl Reader<'_> {
    fn table(&mut self, prefix: &str, table: &DeTable<'_>) {
        for (key, value) in table {
            let name = if prefix.is_empty() {
                key.get_ref().to_string()
            } else {
                format!("{prefix}.{}", key.get_ref())
            };
            let line = line(self.text, key.span().start);
            match value.get_ref() {
                DeValue::Table(inner) => self.table(&name, inner),
                _ => match plain(value) {
                    Some(text) => self.found.push(Found {
                        name,
                        text,
                        origin: Origin::Line(self.path.to_owned(), line),
                    }),
                    None => self.wrong.push(format!(
                        "{}:{line}: {name} is neither a text, a number, a switch nor a list of texts",
                        self.path.display()
                    )),
                },
            }
        }
    }
}

fn plain(value: &Spanned<DeValue<'_>>) -> Option<String> {
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

fn line(text: &str, offset: usize) -> usize {
    text.bytes()
        .take(offset)
        .filter(|byte| *byte == b'\n')
        .count()
        + 1
}
