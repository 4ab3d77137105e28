//! Forms. What is not declared is passed over (RFC 6749 §3.2); what is declared comes once.

use base::refusal::InvalidParameter;
use base::{Refusal, Vocabulary};
use serde_json::{Map, Value};

use super::{Read, whole};
use crate::endpoint::{Member, Shape};
use crate::params::shown;

/// Reads the encoding; a name that stands twice is refused.
pub(super) fn parse(bytes: &[u8]) -> Result<Map<String, Value>, Refusal> {
    let pairs = base::percent::parse_form(bytes)
        .map_err(|bad| whole(format!("The request body is not a form: {bad}.")))?;
    let mut form = Map::new();
    for (name, value) in pairs {
        if value.contains('\0') {
            return Err(Refusal::invalid_value(shown(&name).into_owned(), ""));
        }
        if form.contains_key(&name) {
            let name = shown(&name);
            return Err(whole(format!(
                "The parameter [{name}] must not be included twice."
            )));
        }
        form.insert(name, Value::String(value));
    }
    Ok(form)
}

/// A form that came as a JSON object, as one client library sends it.
pub(super) fn flat(object: Map<String, Value>) -> Result<Map<String, Value>, Refusal> {
    let text = |(name, value): (String, Value)| match value {
        Value::String(_) => Ok((name, value)),
        Value::Bool(_) | Value::Number(_) => Ok((name, Value::String(value.to_string()))),
        _ => Err(Refusal::invalid_value(shown(&name).into_owned(), "")),
    };
    object.into_iter().map(text).collect()
}

/// Checks what is declared.
pub(super) fn check(
    members: &[Member],
    form: Map<String, Value>,
    speech: Vocabulary,
) -> Result<Read, Vec<InvalidParameter>> {
    let mut wrong = Vec::new();
    for member in members {
        let name = member.name;
        let value = form
            .get(name.post)
            .or_else(|| form.get(name.tweet))
            .and_then(Value::as_str);
        match value {
            None | Some("") if member.required => wrong.push(missing(name.name_in(speech))),
            Some(text) if !text.is_empty() && !fits(member.shape, text) => {
                wrong.push(not_valid(name.name_in(speech)));
            }
            _ => {}
        }
    }
    if wrong.is_empty() {
        Ok(Read {
            members: form,
            betrayed: None,
        })
    } else {
        Err(wrong)
    }
}

fn fits(shape: Shape, text: &str) -> bool {
    match shape {
        Shape::Id => base::Id::<()>::parse(text).is_some(),
        Shape::Text(least, most) => (least..=most).contains(&text.chars().count()),
        Shape::Bool => matches!(text, "true" | "false"),
        Shape::Int(low, high) => text
            .parse()
            .is_ok_and(|number| (low..=high).contains(&number)),
        Shape::OneOf(words) => words.contains(&text),
        Shape::Any => true,
        Shape::Object(_) | Shape::Array(..) => false,
    }
}

fn missing(name: &'static str) -> InvalidParameter {
    let message = format!("Missing required parameter [{name}].");
    InvalidParameter {
        parameter: name.into(),
        values: Vec::new(),
        message,
    }
}

fn not_valid(name: &'static str) -> InvalidParameter {
    // The value may be a secret: it is not repeated.
    let message = format!("Value passed for the parameter [{name}] was invalid.");
    InvalidParameter {
        parameter: name.into(),
        values: Vec::new(),
        message,
    }
}
