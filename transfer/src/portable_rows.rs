//! Rows of portable tables as lines, and back.

use archive::{ArchiveRecord, ExportRow};
use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};
use serde_json::Value;
use store::portable_tables::{self, CellValue, ColumnType, PortableColumn, PortableTable};

/// No valid text is longer.
const MAX_CELL_BYTES: usize = 100_000;

pub(crate) struct PortableRow {
    pub(crate) table: &'static PortableTable,
    pub(crate) cells: Vec<CellValue>,
}

/// The key in a line, where `kind` is the kind of the record.
fn column_key(column: &PortableColumn) -> &'static str {
    match column.name {
        "kind" => "type",
        name => name,
    }
}

/// Null cells are left out.
pub(crate) fn to_line(table: &PortableTable, cells: &[CellValue]) -> ArchiveRecord {
    let set_cells = table.columns.iter().zip(cells);
    let set_cells = set_cells.filter(|(_, cell)| **cell != CellValue::Null);
    ArchiveRecord::Row(ExportRow {
        kind: table.name.to_owned(),
        cells: set_cells
            .map(|(column, cell)| (column_key(column).to_owned(), cell_to_json(column.kind, cell)))
            .collect(),
    })
}

fn cell_to_json(kind: ColumnType, cell: &CellValue) -> Value {
    match (kind, cell) {
        (_, CellValue::Null) => Value::Null,
        (ColumnType::Switch, CellValue::Int(number)) => (*number != 0).into(),
        (
            ColumnType::Number | ColumnType::InRange(..) | ColumnType::Time | ColumnType::OptTime,
            CellValue::Int(number),
        ) => (*number).into(),
        (_, CellValue::Int(id)) => id.to_string().into(),
        (ColumnType::Users | ColumnType::Posts, CellValue::Text(ids)) => {
            let ids = ids.split(',').filter(|id| !id.is_empty());
            ids.map(Value::from).collect()
        }
        (_, CellValue::Text(text)) => text.as_str().into(),
        (_, CellValue::Bytes(bytes)) => HEXLOWER.encode(bytes).into(),
    }
}

pub(crate) fn from_line(line: &ExportRow, max_id: i64) -> Result<PortableRow, String> {
    let known = portable_tables::find_table(&line.kind);
    let table = known.ok_or_else(|| format!("unknown kind {:?}", line.kind))?;
    let cells = table.columns.iter().map(|column| {
        let cell = line.cells.iter().find(|(name, _)| name == column_key(column));
        let value = cell.map_or(&Value::Null, |(_, value)| value);
        parse_cell(column, value, max_id).ok_or_else(|| format!("its {} is invalid", column.name))
    });
    Ok(PortableRow { table, cells: cells.collect::<Result<_, _>>()? })
}

fn parse_cell(column: &PortableColumn, value: &Value, max_id: i64) -> Option<CellValue> {
    let in_range = |low: i64, high: i64| {
        let number = parse_number(value)?;
        (low <= number && number <= high).then_some(CellValue::Int(number))
    };
    match column.kind {
        ColumnType::OptTime | ColumnType::OptReference(_) if value.is_null() => Some(CellValue::Null),
        ColumnType::Id
        | ColumnType::User
        | ColumnType::Post
        | ColumnType::Reference(_)
        | ColumnType::OptReference(_) => in_range(1, max_id),
        ColumnType::Stamp | ColumnType::UserOrNone => in_range(0, max_id),
        ColumnType::Number | ColumnType::Foreign => parse_number(value).map(CellValue::Int),
        ColumnType::InRange(low, high) => in_range(low, high),
        ColumnType::Switch if value.is_null() => Some(CellValue::Int(0)),
        ColumnType::Switch => value.as_bool().map(|on| CellValue::Int(i64::from(on))),
        ColumnType::Time | ColumnType::OptTime => in_range(0, i64::MAX),
        ColumnType::Users | ColumnType::Posts => parse_id_list(value, max_id).map(CellValue::Text),
        ColumnType::Bytes => parse_hex(value.as_str()?).map(CellValue::Bytes),
        ColumnType::OneOf(words) => {
            let text = parse_text(value)?;
            words.contains(&text).then(|| CellValue::Text(text.to_owned()))
        }
        ColumnType::Json => {
            let text = parse_text(value)?;
            let is_valid = text.is_empty() || serde_json::from_str::<Value>(text).is_ok();
            is_valid.then(|| CellValue::Text(text.to_owned()))
        }
        ColumnType::Text => parse_text(value).map(|text| CellValue::Text(text.to_owned())),
    }
}

fn parse_number(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| value.as_str()?.parse().ok())
}

/// `None` for a text that the database does not accept; a missing text is empty.
fn parse_text(value: &Value) -> Option<&str> {
    let text = if value.is_null() { "" } else { value.as_str()? };
    (text.len() <= MAX_CELL_BYTES && !text.contains('\0')).then_some(text)
}

fn parse_id_list(value: &Value, max_id: i64) -> Option<String> {
    if value.is_null() {
        return Some(String::new());
    }
    let ids = value.as_array()?.iter().map(|id| {
        let id = parse_number(id).filter(|id| *id > 0 && *id <= max_id)?;
        Some(id.to_string())
    });
    let ids: Option<Vec<String>> = ids.collect();
    ids.map(|ids| ids.join(",")).filter(|ids| ids.len() <= MAX_CELL_BYTES)
}

fn parse_hex(hex: &str) -> Option<Vec<u8>> {
    let bytes = HEXLOWER_PERMISSIVE.decode(hex.as_bytes()).ok();
    bytes.filter(|bytes| bytes.len() <= MAX_CELL_BYTES)
}

impl PortableRow {
    pub(crate) fn user_ids(&self) -> Vec<i64> {
        let mut user_ids = Vec::new();
        for (column, cell) in self.table.columns.iter().zip(&self.cells) {
            match (column.kind, cell) {
                (ColumnType::User | ColumnType::UserOrNone, CellValue::Int(id)) if *id > 0 => user_ids.push(*id),
                (ColumnType::Users, CellValue::Text(ids)) => {
                    user_ids.extend(ids.split(',').filter_map(|id| id.parse::<i64>().ok()));
                }
                _ => {}
            }
        }
        user_ids
    }

    /// The posts that must exist, at least as placeholders.
    pub(crate) fn required_post_ids(&self) -> impl Iterator<Item = i64> {
        let cells = self.table.columns.iter().zip(&self.cells);
        cells.filter_map(|(column, cell)| cell.as_int().filter(|_| column.kind == ColumnType::Post))
    }

    pub(crate) fn estimated_size(&self) -> usize {
        let texts = self.cells.iter().filter_map(CellValue::as_text);
        200 + texts.map(str::len).sum::<usize>()
    }

    pub(crate) fn report_label(&self) -> String {
        let key = self.table.row_key(&self.cells);
        let key = key.iter().filter_map(CellValue::as_int).map(|id| id.to_string());
        format!("{} {}", self.table.name, key.collect::<Vec<_>>().join("/"))
    }
}
