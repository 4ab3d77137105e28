//! Request bodies: a closed JSON object or a form, checked against what an operation declares.

mod form;
mod json;
mod members;
mod shape;

use base::refusal::InvalidParameter;
use base::{Refusal, Vocabulary};
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderMap};
use serde_json::{Map, Value};

pub use members::Members;

use crate::endpoint::{Body, Endpoint};

/// A body that was read and found in order.
#[derive(Clone, Debug, Default)]
pub struct Read {
    members: Map<String, Value>,
    /// The vocabulary that its keys give away.
    pub betrayed: Option<Vocabulary>,
}

impl Read {
    /// Its members.
    pub fn members(&self) -> Members<'_> {
        Members::new(&self.members)
    }
}

/// What the body says it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContentType {
    /// Nothing is said.
    Absent,
    /// `application/json`.
    Json,
    /// `application/x-www-form-urlencoded`.
    Form,
    /// Something else.
    Other,
}

impl ContentType {
    /// Reads the header.
    pub fn of(headers: &HeaderMap) -> Self {
        let Some(value) = headers.get(CONTENT_TYPE) else {
            return Self::Absent;
        };
        let text = value.to_str().unwrap_or_default();
        let kind = text.split(';').next().unwrap_or_default().trim();
        if kind.eq_ignore_ascii_case("application/json") {
            Self::Json
        } else if kind.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
            Self::Form
        } else {
            Self::Other
        }
    }
}

/// Reads the body as `endpoint` declares it. `speech` is the vocabulary to name a missing
/// member in.
pub fn read(
    endpoint: &Endpoint,
    kind: ContentType,
    bytes: &Bytes,
    speech: Vocabulary,
) -> Result<Read, Refusal> {
    let read = match (endpoint.body, kind) {
        (Body::None | Body::Own, _) | (Body::Parts(_), ContentType::Other) => {
            return Ok(Read::default());
        }
        (Body::Parts(members), ContentType::Form) => {
            form::check(members, form::parse(bytes)?, speech)
        }
        (Body::Json(members) | Body::Parts(members), _) if bytes.is_empty() => {
            shape::check(members, Map::new(), speech)
        }
        (Body::Json(members) | Body::Parts(members), ContentType::Json) => {
            shape::check(members, json::object(bytes)?, speech)
        }
        (Body::Parts(_), ContentType::Absent) => {
            return Err(Refusal::UnsupportedMediaType {
                expected: "multipart/form-data or application/json",
            });
        }
        (Body::Json(_), _) => {
            return Err(Refusal::UnsupportedMediaType {
                expected: "application/json",
            });
        }
        (Body::Form(members), ContentType::Json) if !bytes.is_empty() => {
            form::check(members, form::flat(json::object(bytes)?)?, speech)
        }
        (Body::Form(members), kind) if bytes.is_empty() || kind == ContentType::Form => {
            form::check(members, form::parse(bytes)?, speech)
        }
        (Body::Form(_), _) => {
            let expected = "application/x-www-form-urlencoded";
            return Err(Refusal::UnsupportedMediaType { expected });
        }
    };
    read.map_err(Refusal::InvalidParameters)
}

/// A fault of the body as a whole.
pub(crate) fn whole(message: impl Into<String>) -> Refusal {
    let wrong = InvalidParameter {
        parameter: "".into(),
        values: Vec::new(),
        message: message.into(),
    };
    Refusal::InvalidParameters(vec![wrong])
}

#[cfg(test)]
mod tests;
