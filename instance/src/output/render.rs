//! Renders values as tables and columns of text.

use serde_json::{Map, Value};

/// Renders a list of objects as a table and an object as a column of names and values.
pub(super) fn render_value(value: &Value) -> String {
    match value {
        Value::Array(items) if items.is_empty() => "none".to_owned(),
        Value::Array(items) => match as_objects(items) {
            Some(rows) => render_table(&rows),
            None => items.iter().map(render_cell).collect::<Vec<_>>().join("\n"),
        },
        Value::Object(map) => render_fields(map),
        other => render_cell(other),
    }
}

/// Identifying fields come first; the rest are sorted by name.
const LEADING_FIELDS: [&str; 12] =
    ["id", "username", "name", "key", "method", "path", "status", "state", "version", "file", "value", "says"];

fn ordered_fields(map: &Map<String, Value>) -> Vec<(&String, &Value)> {
    let mut pairs: Vec<_> = map.iter().collect();
    let place = |name: &str| LEADING_FIELDS.iter().position(|first| *first == name);
    pairs.sort_by_key(|(name, _)| place(name).unwrap_or(LEADING_FIELDS.len()));
    pairs
}

fn as_objects(items: &[Value]) -> Option<Vec<&Map<String, Value>>> {
    items.iter().map(Value::as_object).collect()
}

fn render_fields(map: &Map<String, Value>) -> String {
    let width = map.keys().map(|name| name.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for (name, value) in ordered_fields(map) {
        match value {
            Value::Array(items) if as_objects(items).is_some_and(|rows| !rows.is_empty()) => {
                text.extend(["\n", name, "\n", &render_value(value), "\n"]);
            }
            Value::Array(items) if items.is_empty() => {
                let line = format!(
                    "{name:width$}  none
"
                );
                text.push_str(&line);
            }
            _ => {
                let line = format!("{name:width$}  {}\n", render_cell(value));
                text.push_str(&line);
            }
        }
    }
    text
}

fn render_table(rows: &[&Map<String, Value>]) -> String {
    let names: Vec<&String> =
        rows.first().map(|row| ordered_fields(row).into_iter().map(|(name, _)| name).collect()).unwrap_or_default();
    let heads = names.iter().map(|name| name.to_uppercase().replace('_', " "));
    let mut lines: Vec<Vec<String>> = vec![heads.collect()];
    for row in rows {
        let cells = names.iter().map(|name| row.get(*name).map_or_else(String::new, render_cell));
        lines.push(cells.collect());
    }
    align_columns(&lines)
}

pub(super) fn align_columns(lines: &[Vec<String>]) -> String {
    let columns = lines.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = lines.iter().filter_map(|line| line.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let lines = lines.iter().map(|line| {
        let cells = line.iter().zip(&widths);
        let padded: Vec<String> = cells.map(|(cell, width)| format!("{cell:width$}")).collect();
        padded.join("  ").trim_end().to_owned()
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn render_cell(value: &Value) -> String {
    match value {
        Value::Null => "—".to_owned(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::String(text) => text.replace('\n', " "),
        Value::Number(number) => number.to_string(),
        Value::Array(items) => items.iter().map(render_cell).collect::<Vec<_>>().join(", "),
        Value::Object(map) => {
            let pairs = map.iter().map(|(name, value)| format!("{name} {}", render_cell(value)));
            pairs.collect::<Vec<_>>().join(", ")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::render_value;
    use serde_json::json;

    #[test]
    fn a_list_of_things_is_a_table() {
        let value = json!([
            {"id": "1", "name": "ada", "protected": false},
            {"id": "20", "name": "bob", "protected": true},
        ]);
        assert_eq!(render_value(&value), "ID  NAME  PROTECTED\n1   ada   no\n20  bob   yes");
        assert_eq!(render_value(&json!([])), "none");
    }

    #[test]
    fn a_thing_is_a_column() {
        let value = json!({"id": "1", "urls": ["a", "b"], "until": null});
        assert_eq!(render_value(&value), "id     1\nuntil  —\nurls   a, b\n");
    }
}
