//! JSON schemas of objects.

use schema::json_schema::{add_description, array_schema, id_schema, words_schema};
use serde_json::{Map, Value, json};
use view::{FieldInclusion, JsonFieldType, ObjectKind};

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
        JsonFieldType::Text | JsonFieldType::CountText => json!({ "type": "string" }),
        JsonFieldType::Id => id_schema(),
        JsonFieldType::Time => json!({ "type": "string", "format": "date-time" }),
        JsonFieldType::Int => json!({ "type": "integer" }),
        JsonFieldType::Real => json!({ "type": "number" }),
        JsonFieldType::Bool => json!({ "type": "boolean" }),
        JsonFieldType::OneOf(words) => words_schema(words),
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
