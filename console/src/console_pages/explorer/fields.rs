//! The fields of an operation's form, and how their texts become values.

use pages::FormField;
use pages::console::{ExplorerField, ExplorerFieldSet, ExplorerInput, SelectOption};
use schema::json_schema::parameter_schema;
use schema::{Kind, Parameter, ParameterLocation, ValueKind};
use serde_json::Value;
use web::endpoint::{BodySpec, Endpoint};

use base::Vocabulary;

/// Where an operation takes its members from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BodyKind {
    None,
    Json,
    Form,
}

pub(super) fn body_kind(endpoint: &Endpoint) -> BodyKind {
    if let Some(operation) = endpoint.ads {
        return if operation.takes_json() { BodyKind::Json } else { BodyKind::None };
    }
    match endpoint.body {
        BodySpec::None => BodyKind::None,
        BodySpec::Form(_) => BodyKind::Form,
        BodySpec::Json(_) | BodySpec::Multipart(_) | BodySpec::Raw => BodyKind::Json,
    }
}

/// A parameter with the name of its field in the form.
#[derive(Clone, Copy)]
pub(super) struct OperationField {
    pub(super) place: FieldPlace,
    pub(super) parameter: &'static Parameter,
}

base::named_enum! {
    pub(super) enum FieldPlace {
        Path = "path",
        Query = "query",
        Body = "body",
    }
}

impl FieldPlace {
    const fn title(self) -> &'static str {
        match self {
            Self::Path => "Path",
            Self::Query => "Query",
            Self::Body => "Body",
        }
    }
}

impl OperationField {
    /// `query.max_results`, for example; the same in both vocabularies.
    pub(super) fn form_name(&self) -> String {
        format!("{}.{}", self.place.name(), self.parameter.name.post)
    }

    pub(super) fn wire_name(&self, vocabulary: Vocabulary) -> &'static str {
        self.parameter.name.name_in(vocabulary)
    }
}

pub(super) fn operation_fields(endpoint: &'static Endpoint) -> Vec<OperationField> {
    let is_json = body_kind(endpoint) == BodyKind::Json;
    let declared = endpoint.parameters().map(|parameter| {
        let place = match parameter.location {
            ParameterLocation::Path => FieldPlace::Path,
            ParameterLocation::Query if endpoint.ads.is_some() && is_json => FieldPlace::Body,
            ParameterLocation::Query => FieldPlace::Query,
            ParameterLocation::Body => FieldPlace::Body,
        };
        OperationField { place, parameter }
    });
    let members: &'static [Parameter] = match endpoint.body {
        BodySpec::Json(members) | BodySpec::Form(members) | BodySpec::Multipart(members) => members,
        BodySpec::None | BodySpec::Raw => &[],
    };
    let members = members.iter().map(|parameter| OperationField { place: FieldPlace::Body, parameter });
    declared.chain(members).collect()
}

/// `value` gives what was entered for a form name.
pub(super) fn render_field_sets(
    fields: &[OperationField],
    vocabulary: Vocabulary,
    value: impl Fn(&str) -> FormField,
) -> Vec<ExplorerFieldSet> {
    let render = |field: &OperationField| render_field(*field, vocabulary, value(&field.form_name()));
    let sets = FieldPlace::ALL.into_iter().map(|place| {
        let mut own: Vec<_> = fields.iter().filter(|field| field.place == place).map(render).collect();
        own.sort_by_key(|field| !field.is_required);
        ExplorerFieldSet { title: place.title(), fields: own }
    });
    sets.filter(|set| !set.fields.is_empty()).collect()
}

fn render_field(field: OperationField, vocabulary: Vocabulary, entered: FormField) -> ExplorerField {
    let parameter = field.parameter;
    let schema = parameter_schema(parameter);
    let words = enum_words(&schema);
    let is_list = schema.get("type").is_some_and(|kind| kind == "array");
    let is_required = parameter.is_required() || field.place == FieldPlace::Path;
    let input = if is_list {
        ExplorerInput::Text
    } else if !words.is_empty() {
        ExplorerInput::Select(select_options(&words, is_required, &entered.value))
    } else if schema.get("type").is_some_and(|kind| kind == "boolean") {
        ExplorerInput::Select(select_options(&["true".to_owned(), "false".to_owned()], is_required, &entered.value))
    } else if matches!(parameter.kind.value, ValueKind::Object(_) | ValueKind::Json) || is_long_text(&schema) {
        ExplorerInput::Area
    } else {
        ExplorerInput::Text
    };
    ExplorerField {
        name: field.form_name(),
        label: field.wire_name(vocabulary).to_owned(),
        kind: describe_schema(&schema),
        help: parameter.summary.to_owned(),
        items: if is_list { words } else { Vec::new() },
        is_required,
        input,
        field: entered,
    }
}

/// A select starts with an empty option, so that the parameter can be left out, even if it is required.
fn select_options(words: &[String], is_required: bool, chosen: &str) -> Vec<SelectOption> {
    let nothing = SelectOption::new("", if is_required { "Choose" } else { "Not sent" });
    let words = words.iter().map(|word| SelectOption::new(word, word).select_value(chosen));
    std::iter::once(nothing).chain(words).collect()
}

fn enum_words(schema: &Value) -> Vec<String> {
    let of = |schema: &Value| schema.get("enum").and_then(Value::as_array).cloned();
    let words = of(schema).or_else(|| schema.get("items").and_then(of)).unwrap_or_default();
    words.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn is_long_text(schema: &Value) -> bool {
    let max = schema.get("maxLength").and_then(Value::as_u64);
    schema.get("type").is_some_and(|kind| kind == "string") && max.is_some_and(|max| max > 2_048)
}

/// For example "integer, 5 to 100".
fn describe_schema(schema: &Value) -> String {
    let number = |name: &str| schema.get(name).and_then(Value::as_i64);
    let range = |(min, max): (Option<i64>, Option<i64>), unit: &str| match (min, max) {
        (Some(min), Some(max)) if max < i64::MAX => format!(", {min} to {max}{unit}"),
        (Some(min), _) if min > 0 => format!(", at least {min}{unit}"),
        (None, Some(max)) if max < 1_000_000 => format!(", at most {max}{unit}"),
        _ => String::new(),
    };
    let kind = schema.get("type").and_then(Value::as_str);
    match kind {
        Some("integer") => format!("integer{}", range((number("minimum"), number("maximum")), "")),
        Some("array") => format!(
            "list, separated by commas{}",
            range((number("minItems").filter(|min| *min > 1), number("maxItems")), " items")
        ),
        Some("string") => match schema.get("format").and_then(Value::as_str) {
            Some("date-time") => "time, such as 2026-11-21T08:00:00Z".to_owned(),
            Some("uri") => "URL".to_owned(),
            _ => format!("text{}", range((number("minLength"), number("maxLength")), " characters")),
        },
        Some("object") => "JSON object".to_owned(),
        Some(other) => other.to_owned(),
        None => "JSON".to_owned(),
    }
}

/// The JSON value of a member of a body. A text that does not fit is sent as it is, so that the operation refuses it.
pub(super) fn json_value(kind: Kind, text: &str) -> Value {
    let parsed = || serde_json::from_str(text).ok();
    if kind.is_list() && !text.trim_start().starts_with('[') {
        return text.split(',').map(|item| scalar_value(kind.value, item.trim())).collect();
    }
    if kind.is_list() { parsed().unwrap_or_else(|| text.into()) } else { scalar_value(kind.value, text) }
}

fn scalar_value(kind: ValueKind, text: &str) -> Value {
    let parsed: Option<Value> = serde_json::from_str(text).ok();
    let fits = |value: &Value| match kind {
        ValueKind::Bool => value.is_boolean(),
        ValueKind::Int(..) | ValueKind::Money => value.is_number(),
        ValueKind::Object(_) | ValueKind::Json => true,
        ValueKind::Custom(_) => value.is_object() || value.is_array(),
        _ => false,
    };
    parsed.filter(fits).unwrap_or_else(|| text.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn texts_become_values_of_the_declared_kind() {
        for (kind, text, value) in [
            (Kind::BOOL, "true", json!(true)),
            (Kind::BOOL, "maybe", json!("maybe")),
            (Kind::text(0, 9), "12", json!("12")),
            (Kind::ID, "12", json!("12")),
        ] {
            assert_eq!(json_value(kind, text), value, "{text}");
        }
    }

    #[test]
    fn schemas_are_described_in_words() {
        for (schema, text) in [
            (json!({"type": "integer", "minimum": 5, "maximum": 100}), "integer, 5 to 100"),
            (json!({"type": "string", "minLength": 1, "maxLength": 64}), "text, 1 to 64 characters"),
            (json!({"type": "string", "format": "date-time"}), "time, such as 2026-11-21T08:00:00Z"),
            (json!({"type": "array", "minItems": 1}), "list, separated by commas"),
            (json!({"type": "array", "minItems": 2, "maxItems": 4}), "list, separated by commas, 2 to 4 items"),
            (json!({}), "JSON"),
        ] {
            assert_eq!(describe_schema(&schema), text);
        }
    }
}
