//! Records with their computed fields, as operations return them.

use base::{Time, Vocabulary};
use serde_json::Value;

use crate::record::AdsRecord;

#[derive(Clone, Debug)]
pub struct RecordView {
    pub record: AdsRecord,
    pub computed: Vec<(&'static str, Value)>,
}

impl RecordView {
    pub fn id(&self) -> String {
        self.record.formatted_id()
    }

    /// A computed or stored value; `None` if it is null or the resource has no such field.
    pub fn get(&self, name: &str) -> Option<&Value> {
        let computed = self.computed.iter().find(|(known, _)| *known == name);
        match computed {
            Some((_, value)) => Some(value).filter(|value| !value.is_null()),
            None => self.record.resource.field(name).and_then(|_| self.record.get(name)),
        }
    }

    /// Empty if it is not a text.
    pub fn text(&self, name: &str) -> &str {
        self.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    pub fn int(&self, name: &str) -> Option<i64> {
        self.get(name)?.as_i64()
    }

    pub fn flag(&self, name: &str) -> bool {
        let value = self.get(name);
        value.is_some_and(|value| value.as_bool().unwrap_or_else(|| value.as_i64().is_some_and(|flag| flag != 0)))
    }

    pub fn time(&self, name: &str) -> Option<Time> {
        match name {
            "created_at" => Some(self.record.created_at),
            "updated_at" => Some(self.record.updated_at),
            _ => self.int(name).map(Time::from_ms),
        }
    }

    pub fn items(&self, name: &str) -> &[Value] {
        let items = self.get(name).and_then(Value::as_array);
        items.map(Vec::as_slice).unwrap_or_default()
    }

    pub fn texts(&self, name: &str) -> Vec<&str> {
        self.items(name).iter().filter_map(Value::as_str).collect()
    }

    /// The value as responses contain it.
    pub fn rendered(&self, name: &str) -> Option<Value> {
        let value = self.get(name)?;
        Some(match self.record.resource.field(name) {
            Some(field) => field.kind.render_value(value, Vocabulary::Post),
            None => value.clone(),
        })
    }

    /// The value as responses contain it; empty if it is not a text there.
    pub fn rendered_text(&self, name: &str) -> String {
        let value = self.rendered(name).unwrap_or_default();
        value.as_str().unwrap_or_default().to_owned()
    }

    pub fn write_json(&self, out: &mut String, vocabulary: Vocabulary) {
        self.record.write_json(out, vocabulary, &self.computed);
    }
}
