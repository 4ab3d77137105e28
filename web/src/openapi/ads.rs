//! The Ads API's part of the OpenAPI document: bodies and responses.

use ads_engine::operations::pascal_case;
use ads_engine::{
    DefaultValue, FieldKind, FieldRequirement, FieldSpec, OperationAction, OperationParamLocation, Resource,
    ResourceVerb,
};
use schema::json_schema::array_schema;
use serde_json::{Map, Value, json};

/// None if the operation takes parameters instead.
pub(super) fn json_body(operation: &ads_engine::AdsOperation) -> Option<Value> {
    if !operation.takes_json() {
        return None;
    }
    let schema = match operation.action {
        OperationAction::Batch(of) => {
            let operations: Vec<&str> = [ResourceVerb::Create, ResourceVerb::Update, ResourceVerb::Delete]
                .into_iter()
                .filter(|verb| of.supports(*verb))
                .map(verb_name)
                .collect();
            let item = json!({
                "type": "object",
                "required": ["operation_type", "params"],
                "properties": {
                    "operation_type": { "type": "string", "enum": operations },
                    "params": { "type": "object" },
                },
            });
            array_schema(&item, 1, of.max_batch_items)
        }
        _ => body_schema(operation),
    };
    let content = json!({ "application/json": { "schema": schema } });
    Some(json!({ "required": true, "content": content }))
}

const fn verb_name(verb: ResourceVerb) -> &'static str {
    match verb {
        ResourceVerb::Create => "Create",
        ResourceVerb::Update => "Update",
        _ => "Delete",
    }
}

/// Empty if the operation checks the body itself.
fn body_schema(operation: &ads_engine::AdsOperation) -> Value {
    let sent = operation.params.iter();
    let sent = sent.filter(|param| param.location == OperationParamLocation::Input);
    let mut properties = Map::new();
    let mut required: Vec<&str> = Vec::new();
    for param in sent {
        properties.insert(param.name.post.to_owned(), field_schema(param.kind));
        if param.requirement == FieldRequirement::Required {
            required.push(param.name.post);
        }
    }
    if properties.is_empty() {
        return json!({});
    }
    let mut schema = json!({ "type": "object", "properties": properties });
    if let Some(schema) = schema.as_object_mut().filter(|_| !required.is_empty()) {
        schema.insert("required".to_owned(), json!(required));
    }
    schema
}

pub(super) fn success_content(operation: &ads_engine::AdsOperation) -> Value {
    let one = |of: &Resource| json!({ "$ref": format!("#/components/schemas/{}", resource_schema_name(of)) });
    let data = match operation.action {
        OperationAction::Verb(of, ResourceVerb::List) | OperationAction::Batch(of) => {
            array_schema(&one(of), 0, usize::MAX)
        }
        OperationAction::Verb(of, _) => one(of),
        OperationAction::Custom(_) | OperationAction::Reference(_) => json!({}),
    };
    let request = match operation.action {
        OperationAction::Batch(_) => json!({ "type": "array", "items": { "type": "object" } }),
        _ => json!({ "type": "object" }),
    };
    let mut properties = json!({ "request": request, "data": data });
    let is_list =
        matches!(operation.action, OperationAction::Verb(_, ResourceVerb::List) | OperationAction::Reference(_));
    if let Some(properties) = properties.as_object_mut().filter(|_| is_list) {
        properties.insert("next_cursor".to_owned(), json!({ "type": ["string", "null"] }));
        properties.insert("total_count".to_owned(), json!({ "type": "integer" }));
    }
    let schema = json!({
        "type": "object",
        "required": ["request", "data"],
        "properties": properties,
    });
    json!({ "application/json": { "schema": schema } })
}

pub(super) fn response_resource(operation: &ads_engine::AdsOperation) -> Option<&'static Resource> {
    match operation.action {
        OperationAction::Verb(of, _) | OperationAction::Batch(of) => Some(of),
        OperationAction::Custom(_) | OperationAction::Reference(_) => None,
    }
}

/// `AdsLineItem`, for example.
pub(super) fn resource_schema_name(of: &Resource) -> String {
    format!("Ads{}", pascal_case(of.name))
}

/// Computed members are not declared and may occur as well.
pub(super) fn resource_schema(of: &Resource) -> Value {
    let mut properties = Map::new();
    if of.shows_id {
        properties.insert("id".to_owned(), json!({ "type": "string" }));
    }
    for field in of.fields.iter().filter(|field| field.is_shown) {
        let schema =
            if is_nullable(field) { make_nullable(field_schema(field.kind)) } else { field_schema(field.kind) };
        properties.insert(field.name.post.to_owned(), schema);
    }
    for time in ["created_at", "updated_at"] {
        properties.insert(time.to_owned(), field_schema(FieldKind::Time));
    }
    if of.shows_deleted {
        properties.insert("deleted".to_owned(), field_schema(FieldKind::Bool));
    }
    json!({ "type": "object", "properties": properties })
}

fn is_nullable(field: &FieldSpec) -> bool {
    field.create != FieldRequirement::Required
        && matches!(field.default_value, DefaultValue::Empty)
        && !field.kind.is_list()
}

fn make_nullable(mut schema: Value) -> Value {
    let Some(members) = schema.as_object_mut() else {
        return schema;
    };
    if let Some(Value::Array(words)) = members.get_mut("enum") {
        words.push(Value::Null);
    }
    if let Some(kind) = members.get_mut("type") {
        *kind = json!([kind.take(), "null"]);
    }
    schema
}

fn field_schema(kind: FieldKind) -> Value {
    let text = || json!({ "type": "string" });
    match kind {
        FieldKind::Text(_, max) => json!({ "type": "string", "maxLength": max }),
        FieldKind::Url => json!({ "type": "string", "format": "uri" }),
        FieldKind::Bool => json!({ "type": "boolean" }),
        FieldKind::Int(min, max) => {
            json!({ "type": "integer", "minimum": min, "maximum": max })
        }
        FieldKind::Money => json!({ "type": "integer", "minimum": 1 }),
        FieldKind::OneOf(words) => json!({ "type": "string", "enum": words }),
        FieldKind::Word(words) => {
            let words: Vec<&str> = words.iter().map(|word| word.post).collect();
            json!({ "type": "string", "enum": words })
        }
        FieldKind::SomeOf(words) => array_schema(&json!({ "type": "string", "enum": words }), 0, usize::MAX),
        FieldKind::Texts(max, length) => array_schema(&json!({ "type": "string", "maxLength": length }), 0, max),
        FieldKind::Reference(..) | FieldKind::Account | FieldKind::User | FieldKind::Long | FieldKind::MediaKey => {
            text()
        }
        FieldKind::Ids(_, max) | FieldKind::Longs(max) | FieldKind::MediaKeys(max) | FieldKind::CardUris(max) => {
            array_schema(&text(), 0, max)
        }
        FieldKind::Time => json!({ "type": "string", "format": "date-time" }),
        FieldKind::Shape(_) => json!({}),
    }
}
