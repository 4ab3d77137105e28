//! The fields of a record under their declared names, so that reading a page of records copies no names.

use std::fmt;

use base::Fault;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

use crate::declaration::Resource;

/// Sorted by name.
#[derive(Clone, Debug, Default)]
pub(super) struct RecordFields(Vec<(&'static str, Value)>);

impl RecordFields {
    /// Parses stored fields. Those no longer declared are dropped.
    pub(super) fn parse(resource: &'static Resource, text: &str) -> Result<Self, Fault> {
        let mut reader = serde_json::Deserializer::from_str(text);
        let read = FieldNameSeed(resource).deserialize(&mut reader);
        let mut fields = read.map_err(Fault::context("parsing a record's fields"))?;
        if !fields.is_sorted_by_key(|(name, _)| *name) {
            fields.sort_by_key(|(name, _)| *name);
        }
        Ok(Self(fields))
    }

    pub(super) fn to_json(&self) -> String {
        let fields = self.0.iter();
        let fields = fields.map(|(name, value)| ((*name).to_owned(), value.clone()));
        Value::Object(fields.collect()).to_string()
    }

    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        let found = self.0.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| value)
    }

    pub(super) fn set(&mut self, name: &'static str, value: Value) {
        match self.0.binary_search_by(|(known, _)| (*known).cmp(name)) {
            Ok(place) => {
                if let Some((_, held)) = self.0.get_mut(place) {
                    *held = value;
                }
            }
            Err(place) => self.0.insert(place, (name, value)),
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&'static str, &Value)> {
        self.0.iter().map(|(name, value)| (*name, value))
    }
}

/// Maps each stored name to its declared name.
struct FieldNameSeed(&'static Resource);

impl<'de> DeserializeSeed<'de> for FieldNameSeed {
    type Value = Vec<(&'static str, Value)>;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Self::Value, D::Error> {
        reader.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for FieldNameSeed {
    type Value = Vec<(&'static str, Value)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let declared = self.0.fields;
        let mut fields = Vec::with_capacity(declared.len());
        while let Some(name) = map.next_key::<&str>()? {
            match declared.iter().find(|field| field.name.post == name) {
                Some(field) => fields.push((field.name.post, map.next_value()?)),
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(fields)
    }
}
