//! The advertising interface's envelope.

use base::Refusal;
use base::refusal::Connecting;
use serde_json::{Value, json};

use crate::reply::{JSON, Reply};

pub(super) fn speak(refusal: &Refusal) -> Reply {
    let status = super::status(refusal);
    let errors: Vec<Value> = match refusal {
        Refusal::Invalid(wrongs) => wrongs
            .iter()
            .map(|wrong| {
                let missing = wrong.values.is_empty() && !wrong.parameter.is_empty();
                let code = if missing {
                    "MISSING_PARAMETER"
                } else {
                    "INVALID_PARAMETER"
                };
                if wrong.parameter.is_empty() {
                    return json!({ "code": code, "message": wrong.message });
                }
                json!({ "code": code, "message": wrong.message, "parameter": wrong.parameter })
            })
            .collect(),
        _ => vec![json!({ "code": code(refusal), "message": message(refusal, status) })],
    };
    envelope(status, errors)
}

pub(super) fn error(status: u16, code: &str, message: &str) -> Reply {
    envelope(status, vec![json!({ "code": code, "message": message })])
}

fn envelope(status: u16, errors: Vec<Value>) -> Reply {
    let body = json!({ "errors": errors, "request": { "params": {} } });
    Reply::bytes(status, JSON, body.to_string())
}

fn message(refusal: &Refusal, status: u16) -> String {
    match refusal {
        Refusal::Forbidden { detail, .. } => detail.to_string(),
        Refusal::Legacy { message, .. } | Refusal::Worded { message, .. } => message.to_string(),
        Refusal::NotFound(subject) => {
            format!(
                "Could not find {} with {}: [{}].",
                subject.resource, subject.parameter, subject.value
            )
        }
        _ => super::name(status).to_owned(),
    }
}

fn code(refusal: &Refusal) -> &'static str {
    match refusal {
        Refusal::Invalid(_)
        | Refusal::Connection(Connecting::NoRules)
        | Refusal::RuleCap { .. }
        | Refusal::InvalidRule { .. }
        | Refusal::DuplicateRule { .. }
        | Refusal::TooLarge { .. }
        | Refusal::UnsupportedMedia { .. }
        | Refusal::Legacy { .. }
        | Refusal::Worded { .. }
        | Refusal::OAuth2 { .. } => "INVALID_PARAMETER",
        Refusal::NotFound(subject) => match subject.resource {
            "tweet" => "TWEET_NOT_FOUND",
            "user" => "USER_NOT_FOUND",
            "media" => "MEDIA_NOT_FOUND",
            _ => "NOT_FOUND",
        },
        Refusal::Suspended(_) => "CURRENT_USER_SUSPENDED",
        Refusal::NotVisible(_) | Refusal::FieldNotVisible { .. } | Refusal::Forbidden { .. } => {
            "ACTION_NOT_ALLOWED"
        }
        Refusal::Unauthenticated(_) | Refusal::BearerRefused => "UNAUTHORIZED_ACCESS",
        Refusal::AccessLevel => "READONLY_CLIENT_APPLICATION",
        Refusal::WrongCredential { .. } | Refusal::ScopeMissing | Refusal::NotEnrolled { .. } => {
            "UNAUTHORIZED_CLIENT_APPLICATION"
        }
        Refusal::TooMany | Refusal::Connection(Connecting::TooMany) => "TOO_MANY_REQUESTS",
        Refusal::NoSuchPath => "ROUTE_NOT_FOUND",
        Refusal::MethodNotAllowed { .. } => "METHOD_NOT_ALLOWED",
        Refusal::NotBuilt { .. } => "INTERNAL_ERROR",
        Refusal::TooSlow => "CANCELLED_REQUEST",
        Refusal::Unavailable => "OVER_CAPACITY",
    }
}
