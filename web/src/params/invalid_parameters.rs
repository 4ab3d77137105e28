//! Invalid parameters (contract core §3.3).

use std::borrow::Cow;

use base::refusal::InvalidParameter;
use schema::{ParameterLocation, Violation, ViolationKind, truncate_for_echo};

use crate::endpoint::Endpoint;

fn problem(name: impl Into<Cow<'static, str>>, values: Vec<String>, message: String) -> InvalidParameter {
    InvalidParameter { parameter: name.into(), values, message }
}

pub(super) fn unknown_parameter(endpoint: &Endpoint, name: &str, raw: &str) -> InvalidParameter {
    let params = endpoint.parameters().filter(|param| param.location == ParameterLocation::Query);
    let known = params.map(|param| param.name.post);
    let known = known.collect::<Vec<_>>().join(",");
    let name = truncate_for_echo(name).into_owned();
    let message = format!("The query parameter [{name}] is not one of [{known}]");
    problem(name, vec![truncate_for_echo(raw).into_owned()], message)
}

pub(super) fn duplicate_parameter(name: &'static str, raw: &str) -> InvalidParameter {
    let message = format!("Duplicate parameters are not allowed: the `{name}` query parameter");
    invalid_parameter(name, raw, message)
}

pub(super) fn malformed_parameter(name: Option<&str>) -> InvalidParameter {
    let name = name.unwrap_or_default().to_owned();
    let message = format!("The `{name}` query parameter value is not percent-encoded UTF-8");
    // Without a value, it would be missing.
    problem(name, vec![String::new()], message)
}

pub(super) fn empty_parameter(name: &'static str, values: &[&str]) -> InvalidParameter {
    let message = format!("The `{name}` query parameter can not be empty");
    let values = values.iter().map(ToString::to_string).collect();
    problem(name, values, message)
}

pub(super) fn empty_text_parameter(name: &'static str) -> InvalidParameter {
    let message = format!("Invalid '{name}':''. '{name}' must be a non-empty string");
    invalid_parameter(name, "", message)
}

pub(super) fn invalid_value(name: &'static str, raw: &str) -> InvalidParameter {
    render_violation(name, &Violation { text: raw.to_owned(), kind: ViolationKind::Malformed })
}

pub(super) fn render_violation(name: &'static str, violation: &Violation) -> InvalidParameter {
    let raw = violation.text.as_str();
    let value = || format!("The `{name}` query parameter value [{}]", truncate_for_echo(raw));
    let message = match violation.kind {
        ViolationKind::NotOneOf(words) => format!("{} is not one of [{}]", value(), words.join(",")),
        ViolationKind::Mismatch(regex) => format!("{} does not match {regex}", value()),
        ViolationKind::NotInRange(min, max, _) => format!("{} is not between {min} and {max}", value()),
        ViolationKind::Length(length, min, max) => {
            format!("The length of the `{name}` query parameter value [{length}] is not between {min} and {max}")
        }
        ViolationKind::Count(count, min, max) => format!(
            "The number of values in the `{name}` query parameter list [{count}] is not between {min} and {max}"
        ),
        _ => format!("{} is not valid", value()),
    };
    invalid_parameter(name, raw, message)
}

fn invalid_parameter(name: &'static str, raw: &str, message: String) -> InvalidParameter {
    problem(name, vec![truncate_for_echo(raw).into_owned()], message)
}
