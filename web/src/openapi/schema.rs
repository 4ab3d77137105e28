//! JSON schemas of parameters, bodies and objects.

use base::VocabularyWord;
use serde_json::{Map, Value, json};
use view::{FieldInclusion, JsonFieldType, ObjectKind};

use crate::endpoint::{BodyMember, MemberShape, ParamType};

pub(super) fn param_schema(kind: ParamType) -> Value {
    match kind {
        ParamType::Id => id_schema(),
        ParamType::Ids(min, max) => array_schema(&id_schema(), min, max),
        ParamType::Username => username_schema(),
        ParamType::Usernames(min, max) => array_schema(&username_schema(), min, max),
        ParamType::Int(min, max, default) => {
            json!({ "type": "integer", "minimum": min, "maximum": max, "default": default })
        }
        ParamType::OneOf(words) => json!({ "type": "string", "enum": words }),
        ParamType::SomeOf(words) => array_schema(&json!({ "type": "string", "enum": words }), 1, usize::MAX),
        ParamType::Fields(of) => array_schema(&enum_schema(&of.field_names()), 1, usize::MAX),
        ParamType::Expansions(of) => array_schema(&enum_schema(&of.expansion_names()), 1, usize::MAX),
        ParamType::Time => json!({ "type": "string", "format": "date-time" }),
        ParamType::PageToken => text_schema(1, usize::MAX),
        ParamType::Bool => json!({ "type": "boolean" }),
        ParamType::Text(min, max) => text_schema(min, max),
        ParamType::Pattern(of) => json!({ "type": "string", "pattern": of.regex }),
        ParamType::Patterns(of, min, max) => array_schema(&json!({ "type": "string", "pattern": of.regex }), min, max),
    }
}

fn enum_schema(names: &[&str]) -> Value {
    json!({ "type": "string", "enum": names })
}

fn id_schema() -> Value {
    json!({ "type": "string", "pattern": "^[0-9]{1,19}$" })
}

fn username_schema() -> Value {
    json!({ "type": "string", "pattern": "^[A-Za-z0-9_]{1,15}$" })
}

fn text_schema(min: usize, max: usize) -> Value {
    add_bounds(Map::from_iter([("type".into(), "string".into())]), "Length", min, max)
}

pub(super) fn array_schema(items: &Value, min: usize, max: usize) -> Value {
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

pub(super) fn closed_object_schema(members: &[BodyMember]) -> Value {
    let mut properties = Map::new();
    for member in members {
        let mut schema = member_schema(member.shape);
        add_description(&mut schema, member.name, "");
        properties.insert(member.name.post.to_owned(), schema);
    }
    let required = members.iter().filter(|member| member.required);
    let required: Vec<_> = required.map(|member| member.name.post).collect();
    let mut schema = Map::new();
    schema.insert("type".into(), "object".into());
    schema.insert("properties".into(), properties.into());
    schema.insert("additionalProperties".into(), false.into());
    if !required.is_empty() {
        schema.insert("required".into(), required.into());
    }
    schema.into()
}

fn member_schema(shape: MemberShape) -> Value {
    match shape {
        MemberShape::Id => id_schema(),
        MemberShape::Text(min, max) => text_schema(min, max),
        MemberShape::Bool => json!({ "type": "boolean" }),
        MemberShape::Int(min, max) => {
            json!({ "type": "integer", "minimum": min, "maximum": max })
        }
        MemberShape::OneOf(words) => json!({ "type": "string", "enum": words }),
        MemberShape::Object(members) => closed_object_schema(members),
        MemberShape::Array(items, min, max) => array_schema(&member_schema(*items), min, max),
        MemberShape::Any => json!({}),
    }
}

pub(super) fn schema_name(object: ObjectKind) -> &'static str {
    object.schema_name().post
}

pub(super) fn object_schema(object: ObjectKind) -> Value {
    let shown = object.fields().filter(|field| !field.name.post.is_empty());
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for field in shown {
        let mut schema = field_schema(field.json_type);
        add_description(&mut schema, field.name, field.description);
        if field.inclusion == FieldInclusion::Always && !field.may_be_absent {
            required.push(field.name.post);
        }
        properties.insert(field.name.post.to_owned(), schema);
    }
    json!({ "type": "object", "required": required, "properties": properties })
}

fn field_schema(json: JsonFieldType) -> Value {
    match json {
        JsonFieldType::Text => json!({ "type": "string" }),
        JsonFieldType::Id => id_schema(),
        JsonFieldType::Time => json!({ "type": "string", "format": "date-time" }),
        JsonFieldType::Int => json!({ "type": "integer" }),
        JsonFieldType::Real => json!({ "type": "number" }),
        JsonFieldType::Bool => json!({ "type": "boolean" }),
        JsonFieldType::OneOf(words) => json!({ "type": "string", "enum": words }),
        JsonFieldType::List(items) => array_schema(&field_schema(*items), 0, usize::MAX),
        JsonFieldType::Object(members) => {
            let member = |member: &view::JsonMember| {
                let mut schema = field_schema(member.json_type);
                add_description(&mut schema, member.name, "");
                (member.name.post.to_owned(), schema)
            };
            let named = members.iter().filter(|member| !member.name.post.is_empty());
            let properties: Map<_, _> = named.map(member).collect();
            json!({ "type": "object", "properties": properties })
        }
        JsonFieldType::Any => json!({ "type": "object" }),
    }
}

fn add_description(schema: &mut Value, name: VocabularyWord, description: &str) {
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
