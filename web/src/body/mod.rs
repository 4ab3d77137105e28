//! Request bodies: closed JSON objects and forms, checked against an operation's declaration.

mod form;
mod json;
mod members;

use base::refusal::InvalidParameter;
use base::{Refusal, Vocabulary};
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderMap};
use schema::{ObjectProblem, Parameter, ViolationKind};
use serde_json::{Map, Value};

pub use json::parse_json;
pub use members::{BodyMembers, MemberName};

use crate::endpoint::{BodySpec, Endpoint};

#[derive(Clone, Debug, Default)]
pub struct ParsedBody {
    members: Map<String, Value>,
    /// The only vocabulary that the keys belong to, if there is one.
    pub vocabulary_hint: Option<Vocabulary>,
}

impl ParsedBody {
    pub fn members(&self) -> BodyMembers<'_> {
        BodyMembers::new(&self.members)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyContentType {
    Absent,
    Json,
    Form,
    Other,
}

impl BodyContentType {
    pub fn from_headers(headers: &HeaderMap) -> Self {
        let Some(value) = headers.get(CONTENT_TYPE) else {
            return Self::Absent;
        };
        let text = value.to_str().unwrap_or_default();
        let content_type = text.split(';').next().unwrap_or_default().trim();
        if content_type.eq_ignore_ascii_case("application/json") {
            Self::Json
        } else if content_type.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
            Self::Form
        } else {
            Self::Other
        }
    }
}

/// Parses the body as `endpoint` declares it; `vocabulary` names missing members.
pub fn parse_body(
    endpoint: &Endpoint,
    content_type: BodyContentType,
    bytes: &Bytes,
    vocabulary: Vocabulary,
) -> Result<ParsedBody, Refusal> {
    let read = match (endpoint.body, content_type) {
        (BodySpec::None | BodySpec::Raw, _) | (BodySpec::Multipart(_), BodyContentType::Other) => {
            return Ok(ParsedBody::default());
        }
        (BodySpec::Multipart(members), BodyContentType::Form) => {
            form::check_form(members, form::parse(bytes)?, vocabulary)
        }
        (BodySpec::Json(members) | BodySpec::Multipart(members), _) if bytes.is_empty() => {
            check_object(members, Map::new(), vocabulary)
        }
        // Libraries that encode JSON themselves leave the type out.
        (BodySpec::Json(members), BodyContentType::Absent)
        | (BodySpec::Json(members) | BodySpec::Multipart(members), BodyContentType::Json) => {
            check_object(members, json::parse_object(bytes)?, vocabulary)
        }
        (BodySpec::Multipart(_), BodyContentType::Absent) => {
            return Err(Refusal::UnsupportedMediaType { expected: "multipart/form-data or application/json" });
        }
        (BodySpec::Json(_), _) => {
            return Err(Refusal::UnsupportedMediaType { expected: "application/json" });
        }
        (BodySpec::Form(members), BodyContentType::Json) if !bytes.is_empty() => {
            form::check_form(members, form::flatten_json(json::parse_object(bytes)?)?, vocabulary)
        }
        (BodySpec::Form(members), content_type) if bytes.is_empty() || content_type == BodyContentType::Form => {
            form::check_form(members, form::parse(bytes)?, vocabulary)
        }
        (BodySpec::Form(_), _) => {
            let expected = "application/x-www-form-urlencoded";
            return Err(Refusal::UnsupportedMediaType { expected });
        }
    };
    read.map_err(Refusal::InvalidParameters)
}

fn check_object(
    members: &[Parameter],
    object: Map<String, Value>,
    vocabulary: Vocabulary,
) -> Result<ParsedBody, Vec<InvalidParameter>> {
    match schema::check_object(members, &object, vocabulary, &form::READING) {
        Ok(vocabulary_hint) => Ok(ParsedBody { members: object, vocabulary_hint }),
        Err(problems) => Err(problems.into_iter().map(render_problem).collect()),
    }
}

fn render_problem(problem: ObjectProblem) -> InvalidParameter {
    let message = format!("$.{}: {}", problem.path, describe_violation(problem.kind));
    InvalidParameter { parameter: problem.path.into(), values: problem.value.into_iter().collect(), message }
}

/// Contract core §3.3.
fn describe_violation(kind: ViolationKind) -> String {
    let bound = |count: usize, (min, max): (usize, usize), unit: &str| {
        let (which, bound) = if count < min { ("minimum", min) } else { ("maximum", max) };
        format!("must have a {which} of {bound} {unit}s")
    };
    match kind {
        ViolationKind::Malformed | ViolationKind::IllegalId => {
            "does not match the regex pattern ^[0-9]{1,19}$".to_owned()
        }
        ViolationKind::Mismatch(regex) => format!("does not match the regex pattern {regex}"),
        ViolationKind::WrongType(found, expected) => format!("{found} found, {expected} expected"),
        ViolationKind::NotOneOf(words) => format!("does not have a value in the enumeration [{}]", words.join(", ")),
        ViolationKind::NotInRange(min, _, true) => format!("must have a minimum value of {min}"),
        ViolationKind::NotInRange(_, max, _) => format!("must have a maximum value of {max}"),
        ViolationKind::Length(length, min, max) => bound(length, (min, max), "character"),
        ViolationKind::Count(count, min, max) => bound(count, (min, max), "item"),
        ViolationKind::Missing => "is missing but it is required".to_owned(),
        ViolationKind::Unknown => {
            "is not defined in the schema and the schema does not allow additional properties".to_owned()
        }
        ViolationKind::Duplicate(name) => format!("`{name}` says the same"),
    }
}

/// A refusal of the body as a whole, not of one parameter.
pub fn invalid_body(message: impl Into<String>) -> Refusal {
    let invalid = InvalidParameter { parameter: "".into(), values: Vec::new(), message: message.into() };
    Refusal::InvalidParameters(vec![invalid])
}

#[cfg(test)]
mod tests;
