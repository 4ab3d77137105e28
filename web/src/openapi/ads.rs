//! What the declarations of advertising say beyond the common: bodies, and what is answered.

use ads::Does;
use ads::declare::{Field, Need, Resource, Start, Verb};
use ads::kind::Kind;
use ads::operations::Place;
use serde_json::{Map, Value, json};

use super::schema::array;

/// The body that an operation takes; none where it takes parameters.
pub(super) fn body(operation: &ads::Operation) -> Option<Value> {
    if !operation.takes_json() {
        return None;
    }
    let schema = match operation.does {
        Does::Batch(of) => {
            let operations: Vec<&str> = [Verb::Create, Verb::Update, Verb::Delete]
                .into_iter()
                .filter(|verb| of.can(*verb))
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
            array(&item, 1, of.batch)
        }
        _ => members(operation),
    };
    let content = json!({ "application/json": { "schema": schema } });
    Some(json!({ "required": true, "content": content }))
}

const fn verb_name(verb: Verb) -> &'static str {
    match verb {
        Verb::Create => "Create",
        Verb::Update => "Update",
        _ => "Delete",
    }
}

/// The members of a JSON object that is sent. An operation that looks at the whole body by itself
/// names none.
fn members(operation: &ads::Operation) -> Value {
    let sent = operation.params.iter();
    let sent = sent.filter(|param| param.place == Place::Sent);
    let mut properties = Map::new();
    let mut required: Vec<&str> = Vec::new();
    for param in sent {
        properties.insert(param.name.post.to_owned(), value(param.kind));
        if param.need == Need::Must {
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

/// What an operation answers.
pub(super) fn answer(operation: &ads::Operation) -> Value {
    let one = |of: &Resource| json!({ "$ref": format!("#/components/schemas/{}", name(of)) });
    let data = match operation.does {
        Does::Verb(of, Verb::List) | Does::Batch(of) => array(&one(of), 0, usize::MAX),
        Does::Verb(of, _) => one(of),
        Does::Custom(_) | Does::Reference(_) => json!({}),
    };
    let request = match operation.does {
        Does::Batch(_) => json!({ "type": "array", "items": { "type": "object" } }),
        _ => json!({ "type": "object" }),
    };
    let mut properties = json!({ "request": request, "data": data });
    let is_list = matches!(
        operation.does,
        Does::Verb(_, Verb::List) | Does::Reference(_)
    );
    if let Some(properties) = properties.as_object_mut().filter(|_| is_list) {
        properties.insert(
            "next_cursor".to_owned(),
            json!({ "type": ["string", "null"] }),
        );
        properties.insert("total_count".to_owned(), json!({ "type": "integer" }));
    }
    let schema = json!({
        "type": "object",
        "required": ["request", "data"],
        "properties": properties,
    });
    json!({ "application/json": { "schema": schema } })
}

/// The resource whose records an operation answers.
pub(super) fn resource(operation: &ads::Operation) -> Option<&'static Resource> {
    match operation.does {
        Does::Verb(of, _) | Does::Batch(of) => Some(of),
        Does::Custom(_) | Does::Reference(_) => None,
    }
}

/// What its schema is called: `AdsLineItem`.
pub(super) fn name(of: &Resource) -> String {
    let words = of.name.split('_').map(|word| {
        let mut letters = word.chars();
        let first = letters.next().map(|letter| letter.to_ascii_uppercase());
        first.into_iter().chain(letters).collect::<String>()
    });
    format!("Ads{}", words.collect::<String>())
}

/// The schema of a record. What is worked out for each is not declared, and may be there too.
pub(super) fn record(of: &Resource) -> Value {
    let mut properties = Map::new();
    if of.shows.is_none() {
        properties.insert("id".to_owned(), json!({ "type": "string" }));
    }
    for field in of.fields.iter().filter(|field| field.shown) {
        let schema = if may_be_nothing(field) {
            or_null(value(field.kind))
        } else {
            value(field.kind)
        };
        properties.insert(field.name.post.to_owned(), schema);
    }
    for time in ["created_at", "updated_at"] {
        properties.insert(time.to_owned(), value(Kind::Time));
    }
    if of.shows_deleted {
        properties.insert("deleted".to_owned(), value(Kind::Bool));
    }
    json!({ "type": "object", "properties": properties })
}

fn may_be_nothing(field: &Field) -> bool {
    field.create != Need::Must && matches!(field.default, Start::Nothing) && !field.kind.is_list()
}

fn or_null(mut schema: Value) -> Value {
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

/// What a field holds, as it is answered; and what it is sent as in JSON.
fn value(kind: Kind) -> Value {
    let text = || json!({ "type": "string" });
    match kind {
        Kind::Text(_, most) => json!({ "type": "string", "maxLength": most }),
        Kind::Url => json!({ "type": "string", "format": "uri" }),
        Kind::Bool => json!({ "type": "boolean" }),
        Kind::Int(least, most) => {
            json!({ "type": "integer", "minimum": least, "maximum": most })
        }
        Kind::Money => json!({ "type": "integer", "minimum": 1 }),
        Kind::OneOf(words) => json!({ "type": "string", "enum": words }),
        Kind::Word(words) => {
            let words: Vec<&str> = words.iter().map(|word| word.post).collect();
            json!({ "type": "string", "enum": words })
        }
        Kind::SomeOf(words) => array(&json!({ "type": "string", "enum": words }), 0, usize::MAX),
        Kind::Texts(most, length) => {
            array(&json!({ "type": "string", "maxLength": length }), 0, most)
        }
        Kind::Reference(..) | Kind::Account | Kind::User | Kind::Long | Kind::MediaKey => text(),
        Kind::Ids(_, most) | Kind::Longs(most) | Kind::MediaKeys(most) | Kind::CardUris(most) => {
            array(&text(), 0, most)
        }
        Kind::Time => json!({ "type": "string", "format": "date-time" }),
        Kind::Shape(_) => json!({}),
    }
}
