//! JSON schemas of kinds, parameters and bodies.

use base::VocabularyWord;
use serde_json::{Map, Value, json};

use crate::{DefaultValue, Kind, Parameter, ValueKind};

/// The schema of a path or query parameter.
pub fn parameter_schema(parameter: &Parameter) -> Value {
    let is_plain = |schema: &Value| *schema == json!({ "type": "string" });
    let mut schema = match (parameter.kind.list, parameter.kind.value) {
        (None, ValueKind::Money) => ValueKind::Int(1, i64::MAX).schema(),
        (None, ValueKind::Url) => text_schema(8, 2048),
        (None, ValueKind::Custom(kind)) if is_plain(&kind.schema()) => text_schema(1, 64),
        (Some(_), ValueKind::Text(..)) => LIST_TEXT.schema(),
        (Some(_), ValueKind::Custom(kind)) if is_plain(&kind.schema()) => LIST_TEXT.schema(),
        (Some((min, max)), value) => array_schema(&value.schema(), min, max),
        (None, value) => value.schema(),
    };
    if let (Some(default), Some(schema)) = (documented_default(parameter), schema.as_object_mut()) {
        schema.insert("default".into(), default);
    }
    schema
}

/// What an omitted parameter means. Generated clients send it.
fn documented_default(parameter: &Parameter) -> Option<Value> {
    if parameter.is_required() || parameter.kind.is_list() {
        return None;
    }
    match parameter.default_value {
        DefaultValue::Number(number) => Some(number.into()),
        DefaultValue::Word(word) => Some(word.into()),
        DefaultValue::Flag(flag) => Some(flag.into()),
        DefaultValue::Empty => None,
    }
}

/// A list that is documented as the text that contains it.
const LIST_TEXT: ValueKind = ValueKind::Text(0, 100_000);

impl Kind {
    pub fn schema(self) -> Value {
        self.list.map_or_else(|| self.value.schema(), |(min, max)| array_schema(&self.value.schema(), min, max))
    }

    /// Without the format of ids and minimums, which the Ads API does not document.
    pub fn loose_schema(self) -> Value {
        let value = match self.value {
            ValueKind::Id | ValueKind::Long => json!({ "type": "string" }),
            ValueKind::Text(_, max) => text_schema(0, max),
            value => value.schema(),
        };
        self.list.map_or_else(|| value.clone(), |(_, max)| array_schema(&value, 0, max))
    }
}

impl ValueKind {
    fn schema(self) -> Value {
        match self {
            Self::Bool => json!({ "type": "boolean" }),
            Self::Int(min, max) => json!({ "type": "integer", "minimum": min, "maximum": max }),
            Self::Money => json!({ "type": "integer", "minimum": 1 }),
            Self::Id | Self::Long => id_schema(),
            Self::Text(min, max) => text_schema(min, max),
            Self::Pattern(pattern) => json!({ "type": "string", "pattern": pattern.regex }),
            Self::OneOf(words) => words_schema(words),
            Self::Word(words) => words_schema(&words.iter().map(|word| word.post).collect::<Vec<_>>()),
            Self::Time => json!({ "type": "string", "format": "date-time" }),
            Self::Url => json!({ "type": "string", "format": "uri" }),
            Self::Object(members) => closed_object_schema(members),
            Self::Json => json!({}),
            Self::Custom(kind) => kind.schema(),
        }
    }
}

pub fn words_schema(words: &[&str]) -> Value {
    json!({ "type": "string", "enum": words })
}

pub fn id_schema() -> Value {
    json!({ "type": "string", "pattern": "^[0-9]{1,19}$" })
}

pub fn text_schema(min: usize, max: usize) -> Value {
    add_bounds(Map::from_iter([("type".into(), "string".into())]), "Length", min, max)
}

pub fn array_schema(items: &Value, min: usize, max: usize) -> Value {
    let schema = [("type".into(), "array".into()), ("items".into(), items.clone())];
    add_bounds(Map::from_iter(schema), "Items", min, max)
}

/// Omits bounds that do not restrict.
fn add_bounds(mut schema: Map<String, Value>, of: &str, min: usize, max: usize) -> Value {
    if min > 0 {
        schema.insert(format!("min{of}"), min.into());
    }
    if max < usize::MAX {
        schema.insert(format!("max{of}"), max.into());
    }
    schema.into()
}

pub fn closed_object_schema(members: &[Parameter]) -> Value {
    let property = |member: &Parameter| {
        let mut schema = member.kind.schema();
        add_description(&mut schema, member.name, "");
        (member.name.post.to_owned(), schema)
    };
    let properties: Map<_, _> = members.iter().map(property).collect();
    let mut schema = json!({ "type": "object", "properties": properties, "additionalProperties": false });
    add_required(&mut schema, members.iter());
    schema
}

/// An object of the Ads API, which may contain other members.
pub fn loose_object_schema<'p>(members: impl Iterator<Item = &'p Parameter> + Clone) -> Value {
    let properties = members.clone().map(|member| (member.name.post.to_owned(), member.kind.loose_schema()));
    let mut schema = json!({ "type": "object", "properties": properties.collect::<Map<_, _>>() });
    add_required(&mut schema, members);
    schema
}

fn add_required<'p>(schema: &mut Value, members: impl Iterator<Item = &'p Parameter>) {
    let required: Vec<_> = members.filter(|member| member.is_required()).map(|member| member.name.post).collect();
    if let Some(schema) = schema.as_object_mut().filter(|_| !required.is_empty()) {
        schema.insert("required".into(), required.into());
    }
}

/// Adds a description and the name in the other vocabulary.
pub fn add_description(schema: &mut Value, name: VocabularyWord, description: &str) {
    let Some(schema) = schema.as_object_mut() else {
        return;
    };
    if !description.is_empty() {
        schema.insert("description".into(), description.into());
    }
    if name.post != name.tweet && !name.tweet.is_empty() {
        schema.insert("x-alias".into(), json!([name.tweet]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_declared_default_is_documented() {
        let default_of = |parameter: Parameter| parameter_schema(&parameter).get("default").cloned();
        let days = || Parameter::query("days", Kind::int(1, 30), "");
        assert_eq!(default_of(days()), None);
        assert_eq!(default_of(days().default_number(7)), Some(json!(7)));
        assert_eq!(default_of(days().default_number(7).as_required()), None);
        let flag = Parameter { default_value: DefaultValue::Flag(false), ..Parameter::query("all", Kind::BOOL, "") };
        assert_eq!(default_of(flag), Some(json!(false)));
    }
}
