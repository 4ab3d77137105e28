//! What is wrong with a parameter, in the contract's words (§3.3).

use std::borrow::Cow;

use base::refusal::InvalidParameter;

use crate::endpoint::{Endpoint, Place};

/// Longer values are cut before a refusal repeats them.
const ECHOED: usize = 256;

pub(super) fn unknown(endpoint: &Endpoint, name: &str, raw: &str) -> InvalidParameter {
    let params = endpoint.params.iter().copied().flatten();
    let known = params
        .filter(|param| param.place == Place::Query)
        .map(|param| param.name);
    let known = known.collect::<Vec<_>>().join(",");
    let name = shown(name).into_owned();
    let message = format!("The query parameter [{name}] is not one of [{known}]");
    InvalidParameter {
        parameter: name.into(),
        values: vec![shown(raw).into_owned()],
        message,
    }
}

pub(super) fn repeated(name: &'static str, raw: &str) -> InvalidParameter {
    let message = format!("Duplicate parameters are not allowed: the `{name}` query parameter");
    wrong(name, raw, message)
}

pub(super) fn garbled(name: Option<&str>) -> InvalidParameter {
    let name = name.unwrap_or_default().to_owned();
    let message = format!("The `{name}` query parameter value is not percent-encoded UTF-8");
    InvalidParameter {
        parameter: name.into(),
        values: Vec::new(),
        message,
    }
}

pub(super) fn empty(name: &'static str, values: &[&str]) -> InvalidParameter {
    let message = format!("The `{name}` query parameter can not be empty");
    let values = values.iter().map(ToString::to_string).collect();
    InvalidParameter {
        parameter: name.into(),
        values,
        message,
    }
}

pub(super) fn no_text(name: &'static str) -> InvalidParameter {
    let message = format!("Invalid '{name}':''. '{name}' must be a non-empty string");
    wrong(name, "", message)
}

pub(super) fn invalid(name: &'static str, raw: &str) -> InvalidParameter {
    let shown = shown(raw);
    wrong(
        name,
        raw,
        format!("The `{name}` query parameter value [{shown}] is not valid"),
    )
}

pub(super) fn not_one_of(name: &'static str, raw: &str, words: &[&str]) -> InvalidParameter {
    let (shown, words) = (shown(raw), words.join(","));
    let message = format!("The `{name}` query parameter value [{shown}] is not one of [{words}]");
    wrong(name, raw, message)
}

pub(super) fn wrong(name: &'static str, raw: &str, message: String) -> InvalidParameter {
    InvalidParameter {
        parameter: name.into(),
        values: vec![shown(raw).into_owned()],
        message,
    }
}

/// A value as a refusal repeats it: not longer than a line.
pub(crate) fn shown(raw: &str) -> Cow<'_, str> {
    match raw
        .char_indices()
        .nth(ECHOED)
        .and_then(|(end, _)| raw.get(..end))
    {
        Some(start) => Cow::Owned(format!("{start}…")),
        None => Cow::Borrowed(raw),
    }
}
