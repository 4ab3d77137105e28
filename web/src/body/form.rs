//! `application/x-www-form-urlencoded` bodies: undeclared parameters are ignored (RFC 6749 §3.2), repeated ones
//! refused.

use base::refusal::InvalidParameter;
use base::{Refusal, Time, Vocabulary};
use schema::{Kind, Parameter, RawParam, ReadingRules, ValueKind, truncate_for_echo};
use serde_json::{Map, Value};

use super::{ParsedBody, invalid_body};

/// Refuses a name that occurs twice.
pub(super) fn parse(bytes: &[u8]) -> Result<Map<String, Value>, Refusal> {
    let pairs = base::percent::parse_form(bytes)
        .map_err(|bad| invalid_body(format!("The request body is not a form: {bad}.")))?;
    let mut form = Map::new();
    for (name, value) in pairs {
        if value.contains('\0') {
            return Err(Refusal::invalid_value(truncate_for_echo(&name).into_owned(), ""));
        }
        if form.contains_key(&name) {
            let name = truncate_for_echo(&name);
            return Err(invalid_body(format!("The parameter [{name}] must not be included twice.")));
        }
        form.insert(name, Value::String(value));
    }
    Ok(form)
}

/// Accepts a form sent as a JSON object, as one client library does.
pub(super) fn flatten_json(object: Map<String, Value>) -> Result<Map<String, Value>, Refusal> {
    let text = |(name, value): (String, Value)| match value {
        Value::String(_) => Ok((name, value)),
        Value::Bool(_) | Value::Number(_) => Ok((name, Value::String(value.to_string()))),
        _ => Err(Refusal::invalid_value(truncate_for_echo(&name).into_owned(), "")),
    };
    object.into_iter().map(text).collect()
}

pub(super) fn check_form(
    members: &[Parameter],
    form: Map<String, Value>,
    vocabulary: Vocabulary,
) -> Result<ParsedBody, Vec<InvalidParameter>> {
    let mut invalid = Vec::new();
    for member in members {
        let name = member.name;
        let value = form.get(name.post).or_else(|| form.get(name.tweet)).and_then(Value::as_str);
        match value {
            None | Some("") if member.is_required() => invalid.push(missing_parameter(name.name_in(vocabulary))),
            Some(text) if !text.is_empty() && !matches_kind(member.kind, text) => {
                invalid.push(invalid_parameter(name.name_in(vocabulary)));
            }
            _ => {}
        }
    }
    if invalid.is_empty() { Ok(ParsedBody { members: form, vocabulary_hint: None }) } else { Err(invalid) }
}

pub(super) const READING: ReadingRules = ReadingRules {
    parse_bool: |text| text.parse().ok(),
    parse_time: Time::parse,
    accepts_plus_sign: true,
    is_lenient: false,
};

fn matches_kind(kind: Kind, text: &str) -> bool {
    let is_json_only = kind.is_list() || matches!(kind.value, ValueKind::Object(_));
    !is_json_only && schema::read(kind, RawParam::Text(&[text.to_owned()]), &READING).is_ok()
}

fn missing_parameter(name: &'static str) -> InvalidParameter {
    let message = format!("Missing required parameter [{name}].");
    InvalidParameter { parameter: name.into(), values: Vec::new(), message }
}

fn invalid_parameter(name: &'static str) -> InvalidParameter {
    let message = format!("Value passed for the parameter [{name}] was invalid.");
    // Empty in place of the value, which may be a secret.
    InvalidParameter { parameter: name.into(), values: vec![String::new()], message }
}
