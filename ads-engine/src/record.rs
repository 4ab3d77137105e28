//! A record in memory: fields by name, and rendering.

mod fields;

use std::fmt::Write as _;

use base::{Fault, Time, Vocabulary};
use schema::{Kind, write_time};
use serde_json::{Map, Value};
use store::Tx;
use store::records::{self, RecordRow, RecordVisibility};

use crate::declaration::{FieldSpec, Resource};
use fields::RecordFields;

#[derive(Clone, Debug)]
pub struct AdsRecord {
    pub resource: &'static Resource,
    pub id: i64,
    pub account_id: i64,
    pub level: RecordVisibility,
    pub deleted: bool,
    pub created_at: Time,
    pub updated_at: Time,
    fields: RecordFields,
}

impl AdsRecord {
    pub fn new(resource: &'static Resource, id: i64, account_id: i64, now: Time) -> Self {
        Self {
            resource,
            id,
            account_id,
            level: RecordVisibility::Listed,
            deleted: false,
            created_at: now,
            updated_at: now,
            fields: RecordFields::new(resource),
        }
    }

    pub fn from_stored(resource: &'static Resource, row: RecordRow) -> Result<Self, Fault> {
        Ok(Self {
            resource,
            id: row.id,
            account_id: row.account_id,
            level: row.level,
            deleted: row.deleted,
            created_at: row.created_at,
            updated_at: row.updated_at,
            fields: RecordFields::parse(resource, row.body)?,
        })
    }

    pub fn from_rows(resource: &'static Resource, rows: Vec<RecordRow>) -> Result<Vec<Self>, Fault> {
        rows.into_iter().map(|row| Self::from_stored(resource, row)).collect()
    }

    /// Of any account; also a deleted one.
    pub fn find(tx: &mut Tx<'_>, resource: &'static Resource, id: i64) -> Result<Option<Self>, Fault> {
        let row = records::find_by_id(tx, resource.name, id)?;
        row.map(|row| Self::from_stored(resource, row)).transpose()
    }

    /// The lowercase name used for search and sorting; empty if there is none.
    pub fn name_key(&self) -> Vec<u8> {
        let position = self.fields.position(self.resource.name_field);
        let name = position.and_then(|position| self.fields.value(position)?.as_str());
        name.unwrap_or_default().to_lowercase().into_bytes()
    }

    pub fn to_stored(&self) -> RecordRow {
        RecordRow {
            id: self.id,
            account_id: self.account_id,
            level: self.level,
            deleted: self.deleted,
            created_at: self.created_at,
            updated_at: self.updated_at,
            body: self.fields.to_json(),
        }
    }

    /// False if there is one with this id already.
    pub fn insert(&self, tx: &mut Tx<'_>) -> Result<bool, Fault> {
        records::insert(tx, self.resource.name, &self.name_key(), &self.to_stored())
    }

    pub fn update(&self, tx: &mut Tx<'_>) -> Result<(), Fault> {
        records::update(tx, self.resource.name, &self.name_key(), &self.to_stored())
    }

    fn position(&self, name: &str) -> Option<usize> {
        let position = self.fields.position(name);
        debug_assert!(position.is_some(), "{} has no field {name}", self.resource.name);
        position
    }

    /// `None` if the field is null.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.fields.value(self.position(name)?).filter(|value| !value.is_null())
    }

    /// Whether the field is not null.
    pub fn has_value(&self, name: &str) -> bool {
        let position = self.position(name);
        position.is_some_and(|position| match self.fields.stored_json(position) {
            Some(json) => json != "null",
            None => self.fields.value(position).is_some_and(|value| !value.is_null()),
        })
    }

    /// A number, an id, or a time in milliseconds.
    pub fn int(&self, name: &str) -> Option<i64> {
        let position = self.position(name)?;
        match self.fields.stored_json(position) {
            Some(json) => json.parse().ok(),
            None => self.fields.value(position)?.as_i64(),
        }
    }

    pub fn time(&self, name: &str) -> Option<Time> {
        self.int(name).map(Time::from_ms)
    }

    /// Empty if the field is null.
    pub fn text(&self, name: &str) -> &str {
        let Some(position) = self.position(name) else {
            return "";
        };
        let stored = self.fields.stored_json(position).and_then(|json| json.strip_prefix('"')?.strip_suffix('"'));
        match stored.filter(|text| !text.contains('\\')) {
            Some(text) => text,
            None => self.fields.value(position).and_then(Value::as_str).unwrap_or_default(),
        }
    }

    /// False if the field is null.
    pub fn flag(&self, name: &str) -> bool {
        self.int(name).is_some_and(|flag| flag != 0)
    }

    pub fn items(&self, name: &str) -> &[Value] {
        let items = self.get(name).and_then(Value::as_array);
        items.map(Vec::as_slice).unwrap_or_default()
    }

    pub fn texts(&self, name: &str) -> Vec<&str> {
        self.items(name).iter().filter_map(Value::as_str).collect()
    }

    pub fn has(&self, name: &str, word: &str) -> bool {
        self.items(name).iter().any(|item| item == word)
    }

    pub fn set(&mut self, name: &'static str, value: impl Into<Value>) {
        debug_assert!(self.resource.field(name).is_some(), "{} has no field {name}", self.resource.name);
        self.fields.set(name, value.into());
    }

    /// In the order of their declarations.
    pub fn non_null_fields(&self) -> impl Iterator<Item = (&'static str, &Value)> {
        self.fields.iter().filter(|(_, value)| !value.is_null())
    }

    pub fn formatted_id(&self) -> String {
        self.resource.id_format.format(self.id)
    }

    /// With their positions.
    fn visible_fields(&self) -> impl Iterator<Item = (usize, &'static FieldSpec)> {
        self.resource.fields.iter().enumerate().filter(|(_, field)| field.is_shown)
    }

    pub fn render_fields(&self, vocabulary: Vocabulary) -> Map<String, Value> {
        let members = self.visible_fields().map(|(position, field)| {
            let name = field.name.name_in(vocabulary).to_owned();
            let value = self.fields.value(position).unwrap_or(&Value::Null);
            (name, field.kind.render_value(value, vocabulary))
        });
        members.collect()
    }

    /// Writes the record as JSON with additional members.
    pub fn write_json(&self, out: &mut String, vocabulary: Vocabulary, more: &[(&'static str, Value)]) {
        out.push('{');
        if self.resource.shows_id {
            out.push_str("\"id\":\"");
            out.push_str(&self.formatted_id());
            out.push('"');
        }
        for (position, field) in self.visible_fields() {
            write_member_name(out, field.name.name_in(vocabulary));
            self.write_field(out, position, field.kind, vocabulary);
        }
        for (name, value) in more {
            write_member_name(out, name);
            write_value(out, value);
        }
        for (name, time) in [("created_at", self.created_at), ("updated_at", self.updated_at)] {
            write_member_name(out, name);
            out.push('"');
            write_time(out, time);
            out.push('"');
        }
        if self.resource.shows_deleted {
            write_member_name(out, "deleted");
            out.push_str(if self.deleted { "true" } else { "false" });
        }
        out.push('}');
    }

    fn write_field(&self, out: &mut String, position: usize, kind: Kind, vocabulary: Vocabulary) {
        let number;
        let value = match self.fields.stored_json(position) {
            Some(json) if json == "null" || kind.is_rendered_as_stored(vocabulary) => return out.push_str(json),
            Some(json) if let Ok(stored) = json.parse::<i64>() => {
                number = Value::from(stored);
                Some(&number)
            }
            _ => self.fields.value(position),
        };
        write_value(out, &kind.render_cow(value.unwrap_or(&Value::Null), vocabulary));
    }
}

fn write_member_name(out: &mut String, name: &str) {
    if !out.ends_with('{') {
        out.push(',');
    }
    out.push('"');
    out.push_str(name);
    out.push_str("\":");
}

/// Writes simple values without the formatting machinery.
fn write_value(out: &mut String, value: &Value) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::String(text) if text.bytes().all(is_plain) => {
            out.push('"');
            out.push_str(text);
            out.push('"');
        }
        Value::Number(number) if number.is_i64() => {
            out.push_str(itoa::Buffer::new().format(number.as_i64().unwrap_or_default()));
        }
        Value::Array(items) => {
            out.push('[');
            for item in items {
                if !out.ends_with('[') {
                    out.push(',');
                }
                write_value(out, item);
            }
            out.push(']');
        }
        other => {
            // Writing to a string does not fail.
            let _written = write!(out, "{other}");
        }
    }
}

const fn is_plain(byte: u8) -> bool {
    byte >= 0x20 && byte != b'"' && byte != b'\\'
}
