//! Path and query parameters, parsed as an operation declares them.

mod invalid_parameters;

use base::refusal::InvalidParameter;
use base::{Refusal, Time, Vocabulary};
use schema::{Parameter, ParameterLocation, RawParam, ReadingRules, ValueKind};
use serde_json::Value;
use view::{FieldSelection, ObjectKind};

use crate::endpoint::{BodySpec, Endpoint, ErrorFormat, ExpansionNames, FieldNames};
use invalid_parameters::{
    duplicate_parameter, empty_parameter, empty_text_parameter, invalid_value, malformed_parameter, render_violation,
    unknown_parameter,
};

#[derive(Clone, Debug)]
pub struct ReceivedParam {
    pub param: &'static Parameter,
    pub name_used: &'static str,
    /// Percent-decoded.
    pub raw: String,
    /// In its stored form; null if it is invalid.
    pub value: Value,
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
            reader.add_param(ParameterLocation::Path, name, raw);
        }
        let is_page = endpoint.error_format == ErrorFormat::Page;
        if is_page && !reader.invalid.is_empty() {
            return Err(Refusal::RouteNotFound);
        }
        // What was added to a shared link is ignored like unknown parameters.
        let pairs =
            if is_page { Ok(base::percent::parse_form_leniently(query)) } else { base::percent::parse_form(query) };
        match pairs {
            Ok(pairs) => {
                for (name, raw) in pairs {
                    reader.add_param(ParameterLocation::Query, &name, raw);
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
            let (param, name_used) = find_declared(endpoint, ParameterLocation::Path, name)?;
            Some(ReceivedParam { param, name_used, value: raw.as_str().into(), raw })
        });
        Self { received: received.collect(), field_selection: None }
    }

    pub fn get(&self, name: &str) -> Option<&ReceivedParam> {
        self.received.iter().find(|received| received.param.name.post == name)
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
    fn add_param(&mut self, location: ParameterLocation, name: &str, raw: String) {
        if self.invalid.len() >= schema::MAX_PROBLEMS {
            return;
        }
        let Some((param, name_used)) = find_declared(self.endpoint, location, name) else {
            // Credentials are checked by the authenticator, pages and operations that issue tokens ignore unknown
            // parameters (RFC 6749 §3.1, §3.2), as v1.1 does, and the router yields declared path parameters only.
            let is_ignored = location == ParameterLocation::Path
                || name.starts_with("oauth_")
                || matches!(self.endpoint.error_format, ErrorFormat::Page | ErrorFormat::Legacy)
                || self.endpoint.permit.open && matches!(self.endpoint.body, BodySpec::Form(_));
            if !is_ignored {
                self.invalid.push(unknown_parameter(self.endpoint, name, &raw));
            }
            return;
        };
        let issues_tokens = self.endpoint.permit.open
            && matches!(self.endpoint.error_format, ErrorFormat::Legacy | ErrorFormat::OAuth2);
        if raw.is_empty() && issues_tokens {
            // As if it were missing (RFC 6749 §3.1, §3.2).
            return;
        }
        let earlier = self.received.iter().find(|received| std::ptr::eq(received.param, param));
        match earlier {
            // `post.fields` and `tweet.fields`: a client that sends both vocabularies.
            Some(earlier) if earlier.name_used != name_used && is_mergeable(param) => {}
            Some(_) => return self.invalid.push(duplicate_parameter(name_used, &raw)),
            None => {}
        }
        let mut received = ReceivedParam { param, name_used, raw, value: Value::Null };
        let reading = if self.endpoint.error_format == ErrorFormat::Legacy { &LEGACY_READING } else { &READING };
        match parse_value(&received, reading) {
            Ok(value) => received.value = value,
            Err(problems) => self.invalid.extend(problems),
        }
        self.received.push(received);
    }

    fn parse_field_selection(&mut self) -> Option<FieldSelection> {
        let mut selection = FieldSelection::defaults(root_object(self.endpoint)?);
        for received in self.received.iter().filter(|received| !received.raw.is_empty()) {
            let kind = received.param.kind;
            let result = if let Some(FieldNames(object)) = kind.downcast() {
                selection.add_fields_param(*object, received.name_used, &received.raw)
            } else if kind.downcast::<ExpansionNames>().is_some() {
                selection.add_expansions_param(received.name_used, &received.raw)
            } else {
                Ok(())
            };
            if let Err(Refusal::InvalidParameters(problem)) = result {
                self.invalid.extend(problem);
            }
        }
        Some(selection)
    }

    fn report_missing(&mut self) {
        for param in self.endpoint.parameters() {
            let is_present = self.received.iter().any(|received| std::ptr::eq(received.param, param));
            if param.is_required() && !is_present && param.location == ParameterLocation::Query {
                self.invalid.push(empty_parameter(param.name.post, &[]));
            }
        }
    }
}

/// The object that an operation returns: the one it expands, else the first it has fields of.
fn root_object(endpoint: &Endpoint) -> Option<ObjectKind> {
    let expanded = endpoint.parameters().find_map(|param| param.kind.downcast::<ExpansionNames>());
    let object = expanded.map(|ExpansionNames(object)| *object);
    object.or_else(|| endpoint.parameters().find_map(|param| param.kind.downcast()).map(|FieldNames(object)| *object))
}

fn is_mergeable(param: &Parameter) -> bool {
    param.kind.downcast::<FieldNames>().is_some() || param.kind.downcast::<ExpansionNames>().is_some()
}

fn find_declared(
    endpoint: &'static Endpoint,
    location: ParameterLocation,
    name: &str,
) -> Option<(&'static Parameter, &'static str)> {
    let mut params = endpoint.parameters().filter(|param| param.location == location);
    params.find_map(|param| param.names().find(|known| *known == name).map(|known| (param, known)))
}

const READING: ReadingRules = ReadingRules {
    // Python clients send `True` and `False`.
    parse_bool: |text| match text {
        "true" | "True" => Some(true),
        "false" | "False" => Some(false),
        _ => None,
    },
    parse_time: Time::parse,
    accepts_plus_sign: false,
    is_lenient: false,
};

const LEGACY_READING: ReadingRules = ReadingRules { parse_bool: schema::parse_flag, ..READING };

fn parse_value(received: &ReceivedParam, reading: &ReadingRules) -> Result<Value, Vec<InvalidParameter>> {
    let (name, raw, kind) = (received.name_used, &received.raw, received.param.kind);
    if raw.is_empty() {
        return Err(vec![match kind.value {
            ValueKind::Text(..) => empty_text_parameter(name),
            _ => empty_parameter(name, &[raw]),
        }]);
    }
    if raw.contains('\0') {
        return Err(vec![invalid_value(name, raw)]);
    }
    let read = schema::read(kind, RawParam::Text(std::slice::from_ref(raw)), reading);
    read.map_err(|violations| violations.iter().map(|violation| render_violation(name, violation)).collect())
}

#[cfg(test)]
mod tests;
