//! Path and query parameters, parsed as an operation declares them.

mod invalid_parameters;

use base::refusal::InvalidParameter;
use base::{Refusal, Time, Vocabulary};
use view::{FieldSelection, ObjectKind};

pub use invalid_parameters::truncate_for_echo;
use invalid_parameters::{
    duplicate_parameter, empty_parameter, empty_text_parameter, invalid_parameter, invalid_value, malformed_parameter,
    unknown_parameter, value_not_allowed,
};

use crate::endpoint::{Endpoint, EndpointParam, EndpointParamLocation, ErrorFormat, ParamType, TextPattern};

#[derive(Clone, Debug, PartialEq)]
pub enum ParamValue {
    Id(i64),
    Ids(Vec<i64>),
    Int(i64),
    Flag(bool),
    Time(Time),
    /// A text, a word, a username or a page token.
    Text(String),
    Texts(Vec<String>),
}

#[derive(Clone, Debug)]
pub struct ReceivedParam {
    pub param: &'static EndpointParam,
    pub name_used: &'static str,
    /// Percent-decoded.
    pub raw: String,
    pub value: ParamValue,
}

#[derive(Clone, Debug, Default)]
pub struct RequestParams {
    received: Vec<ReceivedParam>,
    field_selection: Option<FieldSelection>,
}

impl RequestParams {
    /// Reports all invalid parameters at once.
    pub fn parse(endpoint: &'static Endpoint, path: Vec<(&'static str, String)>, query: &str) -> Result<Self, Refusal> {
        let mut reader = ParamReader { endpoint, received: Vec::with_capacity(path.len()), invalid: Vec::new() };
        for (name, raw) in path {
            reader.add_param(EndpointParamLocation::Path, name, raw);
        }
        match base::percent::parse_form(query) {
            Ok(pairs) => {
                for (name, raw) in pairs {
                    reader.add_param(EndpointParamLocation::Query, &name, raw);
                }
                reader.report_missing();
            }
            Err(bad) => reader.invalid.push(malformed_parameter(bad.parameter_name())),
        }
        let selection = reader.parse_field_selection();
        if reader.invalid.is_empty() {
            Ok(Self { received: reader.received, field_selection: selection })
        } else {
            Err(Refusal::InvalidParameters(reader.invalid))
        }
    }

    /// Path parameters only, for an operation that parses the others itself.
    pub fn from_path(endpoint: &'static Endpoint, path: Vec<(&'static str, String)>) -> Self {
        let received = path.into_iter().filter_map(|(name, raw)| {
            let (param, name_used) = find_declared(endpoint, EndpointParamLocation::Path, name)?;
            Some(ReceivedParam { param, name_used, value: ParamValue::Text(raw.clone()), raw })
        });
        Self { received: received.collect(), field_selection: None }
    }

    pub fn get(&self, name: &str) -> Option<&ReceivedParam> {
        self.received.iter().find(|received| received.param.name == name)
    }

    /// None if the operation has no field parameters.
    pub const fn field_selection(&self) -> Option<&FieldSelection> {
        self.field_selection.as_ref()
    }

    /// The only vocabulary that the requested fields and expansions belong to, if there is one.
    pub fn vocabulary_hint(&self) -> Option<Vocabulary> {
        self.field_selection.as_ref().and_then(FieldSelection::detected_vocabulary)
    }

    /// Path parameters first.
    pub fn iter(&self) -> impl Iterator<Item = &ReceivedParam> {
        self.received.iter()
    }
}

struct ParamReader {
    endpoint: &'static Endpoint,
    received: Vec<ReceivedParam>,
    invalid: Vec<InvalidParameter>,
}

impl ParamReader {
    fn add_param(&mut self, location: EndpointParamLocation, name: &str, raw: String) {
        let Some((param, name_used)) = find_declared(self.endpoint, location, name) else {
            match location {
                // Credentials, checked by the authenticator.
                EndpointParamLocation::Query if name.starts_with("oauth_") => {}
                // Pages ignore unknown parameters (RFC 6749 §3.1).
                EndpointParamLocation::Query if self.endpoint.error_format == ErrorFormat::Page => {}
                EndpointParamLocation::Query => self.invalid.push(unknown_parameter(self.endpoint, name, &raw)),
                // Unreachable: the router yields declared path parameters only.
                EndpointParamLocation::Path => {}
            }
            return;
        };
        let earlier = self.received.iter().find(|received| std::ptr::eq(received.param, param));
        match earlier {
            // `post.fields` and `tweet.fields`: a client that sends both vocabularies.
            Some(earlier) if earlier.name_used != name_used && param.param_type.is_mergeable() => {}
            Some(_) => return self.invalid.push(duplicate_parameter(name_used, &raw)),
            None => {}
        }
        let value = match parse_value(param, name_used, &raw) {
            Ok(value) => value,
            Err(problem) => {
                self.invalid.extend(problem);
                ParamValue::Text(String::new())
            }
        };
        self.received.push(ReceivedParam { param, name_used, raw, value });
    }

    fn parse_field_selection(&mut self) -> Option<FieldSelection> {
        let mut selection = FieldSelection::defaults(root_object(self.endpoint)?);
        for received in self.received.iter().filter(|received| !received.raw.is_empty()) {
            let result = match received.param.param_type {
                ParamType::Fields(object) => selection.add_fields_param(object, received.name_used, &received.raw),
                ParamType::Expansions(_) => selection.add_expansions_param(received.name_used, &received.raw),
                _ => Ok(()),
            };
            if let Err(Refusal::InvalidParameters(problem)) = result {
                self.invalid.extend(problem);
            }
        }
        Some(selection)
    }

    fn report_missing(&mut self) {
        for param in self.endpoint.params.iter().copied().flatten() {
            let is_present = self.received.iter().any(|received| std::ptr::eq(received.param, param));
            if param.required && !is_present && param.location == EndpointParamLocation::Query {
                self.invalid.push(empty_parameter(param.name, &[]));
            }
        }
    }
}

/// The object that an operation returns: the one it expands, else the first it has fields of.
fn root_object(endpoint: &Endpoint) -> Option<ObjectKind> {
    let kinds = || endpoint.params.iter().copied().flatten().map(|param| param.param_type);
    let expanded = kinds().find_map(|kind| match kind {
        ParamType::Expansions(object) => Some(object),
        _ => None,
    });
    let fielded = || {
        kinds().find_map(|kind| match kind {
            ParamType::Fields(object) => Some(object),
            _ => None,
        })
    };
    expanded.or_else(fielded)
}

impl ParamType {
    fn is_mergeable(self) -> bool {
        matches!(self, Self::Fields(_) | Self::Expansions(_))
    }
}

fn find_declared(
    endpoint: &'static Endpoint,
    location: EndpointParamLocation,
    name: &str,
) -> Option<(&'static EndpointParam, &'static str)> {
    let params = endpoint.params.iter().copied().flatten();
    params.filter(|param| param.location == location).find_map(|param| {
        let mut names = std::iter::once(&param.name).chain(param.aliases);
        names.find(|known| **known == name).map(|known| (param, *known))
    })
}

fn parse_value(param: &EndpointParam, name: &'static str, raw: &str) -> Result<ParamValue, Vec<InvalidParameter>> {
    if raw.is_empty() {
        return Err(vec![match param.param_type {
            ParamType::Text(..) => empty_text_parameter(name),
            _ => empty_parameter(name, &[raw]),
        }]);
    }
    if raw.contains('\0') {
        return Err(vec![invalid_value(name, raw)]);
    }
    match param.param_type {
        ParamType::Id => parse_id(raw).map(ParamValue::Id).ok_or_else(|| vec![invalid_value(name, raw)]),
        ParamType::Ids(min, max) => {
            let ids = parse_list(name, raw, min, max, |item| parse_id(item).ok_or_else(|| invalid_value(name, item)));
            ids.map(ParamValue::Ids)
        }
        ParamType::Username => parse_username(name, raw).map(ParamValue::Text).map_err(|problem| vec![problem]),
        ParamType::Usernames(min, max) => {
            parse_list(name, raw, min, max, |item| parse_username(name, item)).map(ParamValue::Texts)
        }
        ParamType::Int(low, high, _) => parse_int(name, raw, low, high),
        ParamType::OneOf(words) => parse_word(name, raw, words).map(ParamValue::Text).map_err(|problem| vec![problem]),
        ParamType::SomeOf(words) => {
            parse_list(name, raw, 1, usize::MAX, |item| parse_word(name, item, words)).map(ParamValue::Texts)
        }
        ParamType::Time => {
            let time = Time::parse(raw).map(ParamValue::Time);
            time.ok_or_else(|| vec![invalid_value(name, raw)])
        }
        ParamType::PageToken | ParamType::Fields(_) | ParamType::Expansions(_) => Ok(ParamValue::Text(raw.to_owned())),
        // Python clients send `True` and `False`.
        ParamType::Bool => match raw {
            "true" | "True" => Ok(ParamValue::Flag(true)),
            "false" | "False" => Ok(ParamValue::Flag(false)),
            _ => Err(vec![value_not_allowed(name, raw, &["true", "false"])]),
        },
        ParamType::Text(min, max) => parse_text(name, raw, min, max),
        ParamType::Pattern(pattern) => {
            match_pattern(name, raw, pattern).map(ParamValue::Text).map_err(|problem| vec![problem])
        }
        ParamType::Patterns(pattern, min, max) => {
            parse_list(name, raw, min, max, |item| match_pattern(name, item, pattern)).map(ParamValue::Texts)
        }
    }
}

/// Comma-separated values; reports every invalid one.
fn parse_list<T>(
    name: &'static str,
    raw: &str,
    min: usize,
    max: usize,
    parse: impl Fn(&str) -> Result<T, InvalidParameter>,
) -> Result<Vec<T>, Vec<InvalidParameter>> {
    let count = raw.split(',').count();
    if count < min || count > max {
        let message = format!(
            "The number of values in the `{name}` query parameter list [{count}] is not between \
             {min} and {max}"
        );
        return Err(vec![invalid_parameter(name, raw, message)]);
    }
    let (mut values, mut problems) = (Vec::with_capacity(count), Vec::new());
    for item in raw.split(',') {
        match parse(item) {
            Ok(value) => values.push(value),
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() { Ok(values) } else { Err(problems) }
}

fn parse_id(raw: &str) -> Option<i64> {
    base::Id::<()>::parse(raw).map(base::Id::get)
}

fn parse_username(name: &'static str, raw: &str) -> Result<String, InvalidParameter> {
    match_pattern(name, raw, &USERNAME)
}

const USERNAME: TextPattern = TextPattern {
    regex: "^[A-Za-z0-9_]{1,15}$",
    matches: |text| {
        let plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        plain && (1..=15).contains(&text.len())
    },
};

fn match_pattern(name: &'static str, raw: &str, pattern: &TextPattern) -> Result<String, InvalidParameter> {
    if (pattern.matches)(raw) {
        return Ok(raw.to_owned());
    }
    let (shown, pattern) = (truncate_for_echo(raw), pattern.regex);
    let message = format!("The `{name}` query parameter value [{shown}] does not match {pattern}");
    Err(invalid_parameter(name, raw, message))
}

fn parse_int(name: &'static str, raw: &str, low: i64, high: i64) -> Result<ParamValue, Vec<InvalidParameter>> {
    let digits = raw.strip_prefix('-').unwrap_or(raw);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(vec![invalid_value(name, raw)]);
    }
    let number = raw.parse::<i64>().ok().filter(|number| (low..=high).contains(number));
    number.map(ParamValue::Int).ok_or_else(|| {
        let shown = truncate_for_echo(raw);
        let message = format!("The `{name}` query parameter value [{shown}] is not between {low} and {high}");
        vec![invalid_parameter(name, raw, message)]
    })
}

fn parse_word(name: &'static str, raw: &str, words: &[&str]) -> Result<String, InvalidParameter> {
    if words.contains(&raw) { Ok(raw.to_owned()) } else { Err(value_not_allowed(name, raw, words)) }
}

fn parse_text(name: &'static str, raw: &str, min: usize, max: usize) -> Result<ParamValue, Vec<InvalidParameter>> {
    let length = raw.chars().count();
    if (min..=max).contains(&length) {
        return Ok(ParamValue::Text(raw.to_owned()));
    }
    let message = format!(
        "The length of the `{name}` query parameter value [{length}] is not between {min} and \
         {max}"
    );
    Err(vec![invalid_parameter(name, raw, message)])
}

#[cfg(test)]
mod tests;
