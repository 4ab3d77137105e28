//! Rows of carried tables as lines, and back.

use std::fmt::Write as _;

use archive::{Record, Row as Line};
use serde_json::Value;
use store::carried::{self, Cell, Column, Kind, Table};

/// In bytes; no text that anyone wrote is longer.
const LONGEST: usize = 100_000;

/// A row that came as a line.
pub(crate) struct Row {
    pub(crate) table: &'static Table,
    pub(crate) cells: Vec<Cell>,
}

/// What a column is called on a line, where `kind` is the line's own.
fn name(column: &Column) -> &'static str {
    match column.name {
        "kind" => "type",
        name => name,
    }
}

/// A row as a line; what is none is not told.
pub(crate) fn to_line(table: &Table, cells: &[Cell]) -> Record {
    let told = table.columns.iter().zip(cells);
    let told = told.filter(|(_, cell)| **cell != Cell::Null);
    Record::Row(Line {
        kind: table.name.to_owned(),
        cells: told
            .map(|(column, cell)| (name(column).to_owned(), spoken(column.kind, cell)))
            .collect(),
    })
}

fn spoken(kind: Kind, cell: &Cell) -> Value {
    match (kind, cell) {
        (_, Cell::Null) => Value::Null,
        (Kind::Switch, Cell::Int(number)) => (*number != 0).into(),
        (Kind::Number | Kind::Among(..) | Kind::Time | Kind::OptTime, Cell::Int(number)) => {
            (*number).into()
        }
        (_, Cell::Int(id)) => id.to_string().into(),
        (Kind::Users | Kind::Posts, Cell::Text(ids)) => {
            let ids = ids.split(',').filter(|id| !id.is_empty());
            ids.map(Value::from).collect()
        }
        (_, Cell::Text(text)) => text.as_str().into(),
        (_, Cell::Bytes(bytes)) => {
            let hex = bytes.iter().fold(String::new(), |mut hex, byte| {
                let _infallible = write!(hex, "{byte:02x}");
                hex
            });
            hex.into()
        }
    }
}

/// The row that a line tells of, or why it tells of none.
pub(crate) fn from_line(line: &Line, highest: i64) -> Result<Row, String> {
    let known = carried::table(&line.kind);
    let table = known.ok_or_else(|| format!("no kind {:?} is known", line.kind))?;
    let cells = table.columns.iter().map(|column| {
        let told = line.cells.iter().find(|(told, _)| told == name(column));
        let value = told.map_or(&Value::Null, |(_, value)| value);
        read(column, value, highest).ok_or_else(|| format!("its {} is not sound", column.name))
    });
    Ok(Row {
        table,
        cells: cells.collect::<Result<_, _>>()?,
    })
}

fn read(column: &Column, value: &Value, highest: i64) -> Option<Cell> {
    let between = |low: i64, high: i64| {
        let number = number(value)?;
        (low <= number && number <= high).then_some(Cell::Int(number))
    };
    match column.kind {
        Kind::OptTime | Kind::OptOf(_) if value.is_null() => Some(Cell::Null),
        Kind::Id | Kind::User | Kind::Post | Kind::Of(_) | Kind::OptOf(_) => between(1, highest),
        Kind::Stamp | Kind::UserOrNone => between(0, highest),
        Kind::Number | Kind::Foreign => number(value).map(Cell::Int),
        Kind::Among(low, high) => between(low, high),
        Kind::Switch if value.is_null() => Some(Cell::Int(0)),
        Kind::Switch => value.as_bool().map(|on| Cell::Int(i64::from(on))),
        Kind::Time | Kind::OptTime => between(0, i64::MAX),
        Kind::Users | Kind::Posts => ids(value, highest).map(Cell::Text),
        Kind::Bytes => bytes(value.as_str()?).map(Cell::Bytes),
        Kind::OneOf(words) => {
            let text = text(value)?;
            words.contains(&text).then(|| Cell::Text(text.to_owned()))
        }
        Kind::Json => {
            let text = text(value)?;
            let is_sound = text.is_empty() || serde_json::from_str::<Value>(text).is_ok();
            is_sound.then(|| Cell::Text(text.to_owned()))
        }
        Kind::Text => text(value).map(|text| Cell::Text(text.to_owned())),
    }
}

fn number(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| value.as_str()?.parse().ok())
}

/// A text without what no database takes; nothing told is an empty one.
fn text(value: &Value) -> Option<&str> {
    let text = if value.is_null() { "" } else { value.as_str()? };
    (text.len() <= LONGEST && !text.contains('\0')).then_some(text)
}

fn ids(value: &Value, highest: i64) -> Option<String> {
    if value.is_null() {
        return Some(String::new());
    }
    let ids = value.as_array()?.iter().map(|id| {
        let id = number(id).filter(|id| *id > 0 && *id <= highest)?;
        Some(id.to_string())
    });
    let ids: Option<Vec<String>> = ids.collect();
    ids.map(|ids| ids.join(","))
        .filter(|ids| ids.len() <= LONGEST)
}

fn bytes(hex: &str) -> Option<Vec<u8>> {
    let pairs = hex.as_bytes().chunks(2);
    let pairs = pairs.map(|pair| {
        let pair = std::str::from_utf8(pair)
            .ok()
            .filter(|pair| pair.len() == 2)?;
        u8::from_str_radix(pair, 16).ok()
    });
    pairs
        .collect::<Option<Vec<u8>>>()
        .filter(|bytes| bytes.len() <= LONGEST)
}

impl Row {
    /// The accounts that it names.
    pub(crate) fn people(&self) -> Vec<i64> {
        let mut people = Vec::new();
        for (column, cell) in self.table.columns.iter().zip(&self.cells) {
            match (column.kind, cell) {
                (Kind::User | Kind::UserOrNone, Cell::Int(id)) if *id > 0 => people.push(*id),
                (Kind::Users, Cell::Text(ids)) => {
                    people.extend(ids.split(',').filter_map(|id| id.parse::<i64>().ok()));
                }
                _ => {}
            }
        }
        people
    }

    /// The posts that must be there, if only as placeholders.
    pub(crate) fn posts(&self) -> impl Iterator<Item = i64> {
        let cells = self.table.columns.iter().zip(&self.cells);
        cells.filter_map(|(column, cell)| cell.int().filter(|_| column.kind == Kind::Post))
    }

    /// About how much memory it takes.
    pub(crate) fn weight(&self) -> usize {
        let texts = self.cells.iter().filter_map(Cell::text);
        200 + texts.map(str::len).sum::<usize>()
    }

    /// Which it is, for a report.
    pub(crate) fn example(&self) -> String {
        let key = self.table.key_of(&self.cells);
        let key = key.iter().filter_map(Cell::int).map(|id| id.to_string());
        format!("{} {}", self.table.name, key.collect::<Vec<_>>().join("/"))
    }
}
