//! The Ads API's part of the OpenAPI document: bodies and responses.

use ads_engine::operations::pascal_case;
use ads_engine::{FieldSpec, OperationAction, Resource, ResourceVerb};
use schema::json_schema::{array_schema, loose_object_schema};
use schema::{DefaultValue, FieldRequirement, Kind, ParameterLocation};
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
    let sent = operation.params.iter().filter(|param| param.location == ParameterLocation::Query);
    if sent.clone().next().is_none() { json!({}) } else { loose_object_schema(sent) }
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
            if is_nullable(field) { make_nullable(field.kind.loose_schema()) } else { field.kind.loose_schema() };
        properties.insert(field.name.post.to_owned(), schema);
    }
    for time in ["created_at", "updated_at"] {
        properties.insert(time.to_owned(), Kind::TIME.schema());
    }
    if of.shows_deleted {
        properties.insert("deleted".to_owned(), Kind::BOOL.schema());
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
