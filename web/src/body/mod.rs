//! Request bodies: closed JSON objects and forms, checked against an operation's declaration.

mod form;
mod json;
mod members;
mod shape;

use base::refusal::InvalidParameter;
use base::{Refusal, Vocabulary};
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderMap};
use serde_json::{Map, Value};

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
            shape::check_object(members, Map::new(), vocabulary)
        }
        (BodySpec::Json(members) | BodySpec::Multipart(members), BodyContentType::Json) => {
            shape::check_object(members, json::parse_object(bytes)?, vocabulary)
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

/// A refusal of the body as a whole, not of one parameter.
pub fn invalid_body(message: impl Into<String>) -> Refusal {
    let invalid = InvalidParameter { parameter: "".into(), values: Vec::new(), message: message.into() };
    Refusal::InvalidParameters(vec![invalid])
}

#[cfg(test)]
mod tests;
