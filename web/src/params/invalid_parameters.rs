//! Invalid parameters (contract core §3.3).

use std::borrow::Cow;

use base::refusal::InvalidParameter;

use crate::endpoint::{Endpoint, EndpointParamLocation};

/// Longer values are truncated in refusals.
const MAX_ECHOED_CHARS: usize = 256;

fn problem(name: impl Into<Cow<'static, str>>, values: Vec<String>, message: String) -> InvalidParameter {
    InvalidParameter { parameter: name.into(), values, message }
}

pub(super) fn unknown_parameter(endpoint: &Endpoint, name: &str, raw: &str) -> InvalidParameter {
    let params = endpoint.params.iter().copied().flatten();
    let known = params.filter(|param| param.location == EndpointParamLocation::Query).map(|param| param.name);
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
    problem(name, Vec::new(), message)
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
    let shown = truncate_for_echo(raw);
    invalid_parameter(name, raw, format!("The `{name}` query parameter value [{shown}] is not valid"))
}

pub(super) fn value_not_allowed(name: &'static str, raw: &str, words: &[&str]) -> InvalidParameter {
    let (shown, words) = (truncate_for_echo(raw), words.join(","));
    let message = format!("The `{name}` query parameter value [{shown}] is not one of [{words}]");
    invalid_parameter(name, raw, message)
}

pub(super) fn invalid_parameter(name: &'static str, raw: &str, message: String) -> InvalidParameter {
    problem(name, vec![truncate_for_echo(raw).into_owned()], message)
}

pub fn truncate_for_echo(raw: &str) -> Cow<'_, str> {
    match raw.char_indices().nth(MAX_ECHOED_CHARS).and_then(|(end, _)| raw.get(..end)) {
        Some(start) => Cow::Owned(format!("{start}…")),
        None => Cow::Borrowed(raw),
    }
}
