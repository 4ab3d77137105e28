//! JSON schemas of parameters, bodies and objects.

use base::VocabularyWord;
use serde_json::{Map, Value, json};
use view::{FieldInclusion, JsonFieldType, ObjectKind};

use crate::endpoint::{Kind, Member, Shape};

/// What a parameter may hold.
pub(super) fn kind(kind: Kind) -> Value {
    match kind {
        Kind::Id => id(),
        Kind::Ids(least, most) => array(&id(), least, most),
        Kind::Username => username(),
        Kind::Usernames(least, most) => array(&username(), least, most),
        Kind::Int(least, most, default) => {
            json!({ "type": "integer", "minimum": least, "maximum": most, "default": default })
        }
        Kind::OneOf(words) => json!({ "type": "string", "enum": words }),
        Kind::SomeOf(words) => array(&json!({ "type": "string", "enum": words }), 1, usize::MAX),
        Kind::Fields(of) => array(&words(&of.field_names()), 1, usize::MAX),
        Kind::Expansions(of) => array(&words(&of.expansion_names()), 1, usize::MAX),
        Kind::Time => json!({ "type": "string", "format": "date-time" }),
        Kind::PageToken => text(1, usize::MAX),
        Kind::Bool => json!({ "type": "boolean" }),
        Kind::Text(least, most) => text(least, most),
        Kind::Pattern(of) => json!({ "type": "string", "pattern": of.text }),
        Kind::Patterns(of, least, most) => array(
            &json!({ "type": "string", "pattern": of.text }),
            least,
            most,
        ),
    }
}

fn words(names: &[&str]) -> Value {
    json!({ "type": "string", "enum": names })
}

fn id() -> Value {
    json!({ "type": "string", "pattern": "^[0-9]{1,19}$" })
}

fn username() -> Value {
    json!({ "type": "string", "pattern": "^[A-Za-z0-9_]{1,15}$" })
}

fn text(least: usize, most: usize) -> Value {
    bounded(
        Map::from_iter([("type".into(), "string".into())]),
        "Length",
        least,
        most,
    )
}

/// An array of such items.
pub(super) fn array(items: &Value, least: usize, most: usize) -> Value {
    let facts = [
        ("type".into(), "array".into()),
        ("items".into(), items.clone()),
    ];
    bounded(Map::from_iter(facts), "Items", least, most)
}

/// Adds the bounds that bind.
fn bounded(mut facts: Map<String, Value>, of: &str, least: usize, most: usize) -> Value {
    if least > 0 {
        facts.insert(format!("min{of}"), least.into());
    }
    if most < usize::MAX {
        facts.insert(format!("max{of}"), most.into());
    }
    facts.into()
}

/// An object with these members and no others.
pub(super) fn closed(members: &[Member]) -> Value {
    let mut properties = Map::new();
    for member in members {
        let mut schema = shape(member.shape);
        describe(&mut schema, member.name, "");
        properties.insert(member.name.post.to_owned(), schema);
    }
    let required = members.iter().filter(|member| member.required);
    let required: Vec<_> = required.map(|member| member.name.post).collect();
    let mut facts = Map::new();
    facts.insert("type".into(), "object".into());
    facts.insert("properties".into(), properties.into());
    facts.insert("additionalProperties".into(), false.into());
    if !required.is_empty() {
        facts.insert("required".into(), required.into());
    }
    facts.into()
}

fn shape(of: Shape) -> Value {
    match of {
        Shape::Id => id(),
        Shape::Text(least, most) => text(least, most),
        Shape::Bool => json!({ "type": "boolean" }),
        Shape::Int(least, most) => json!({ "type": "integer", "minimum": least, "maximum": most }),
        Shape::OneOf(words) => json!({ "type": "string", "enum": words }),
        Shape::Object(members) => closed(members),
        Shape::Array(items, least, most) => array(&shape(*items), least, most),
        Shape::Any => json!({}),
    }
}

/// An object's name among the schemas.
pub(super) fn schema_name(object: ObjectKind) -> &'static str {
    object.schema_name().post
}

/// An object's schema, from its projection.
pub(super) fn schema_of(object: ObjectKind) -> Value {
    let shown = object
        .fields()
        .iter()
        .filter(|field| !field.name.post.is_empty());
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for field in shown {
        let mut schema = held(field.json_type);
        describe(&mut schema, field.name, field.description);
        if field.inclusion == FieldInclusion::Always && !field.may_be_absent {
            required.push(field.name.post);
        }
        properties.insert(field.name.post.to_owned(), schema);
    }
    json!({ "type": "object", "required": required, "properties": properties })
}

fn held(json: JsonFieldType) -> Value {
    match json {
        JsonFieldType::Text => json!({ "type": "string" }),
        JsonFieldType::Id => id(),
        JsonFieldType::Time => json!({ "type": "string", "format": "date-time" }),
        JsonFieldType::Int => json!({ "type": "integer" }),
        JsonFieldType::Real => json!({ "type": "number" }),
        JsonFieldType::Bool => json!({ "type": "boolean" }),
        JsonFieldType::OneOf(words) => json!({ "type": "string", "enum": words }),
        JsonFieldType::List(items) => array(&held(*items), 0, usize::MAX),
        JsonFieldType::Object(members) => {
            let member = |member: &view::JsonMember| {
                let mut schema = held(member.json_type);
                describe(&mut schema, member.name, "");
                (member.name.post.to_owned(), schema)
            };
            let spoken = members.iter().filter(|member| !member.name.post.is_empty());
            let properties: Map<_, _> = spoken.map(member).collect();
            json!({ "type": "object", "properties": properties })
        }
        JsonFieldType::Any => json!({ "type": "object" }),
    }
}

fn describe(schema: &mut Value, name: VocabularyWord, about: &str) {
    let Some(schema) = schema.as_object_mut() else {
        return;
    };
    if !about.is_empty() {
        schema.insert("description".into(), about.into());
    }
    if name.post != name.tweet && !name.tweet.is_empty() {
        schema.insert("x-alias".into(), json!([name.tweet]));
    }
}
