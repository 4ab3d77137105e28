//! The v1.1 error envelope, used on `/1.1/…` and `/oauth…`.

use std::borrow::Cow;

use base::Refusal;
use base::refusal::{AuthenticationProblem, ResourceRef, StreamConnectionRefusal};
use serde_json::json;

use identity::oauth1_flow::PLAIN_TEXT;

use super::{codes, refusal_status};
use crate::reply::{HttpReply, JSON_UTF8, TEXT_UTF8};

pub(super) fn render(refusal: &Refusal) -> HttpReply {
    if matches!(refusal, Refusal::AppOnlyTokenRefused) {
        let (code, label) = (99, "authenticity_token_error");
        let message = "Unable to verify your credentials";
        let body = json!({ "errors": [{ "code": code, "label": label, "message": message }] });
        return HttpReply::bytes(403, JSON_UTF8, body.to_string());
    }
    if let Refusal::Legacy { code: PLAIN_TEXT, message } = refusal {
        return HttpReply::bytes(401, TEXT_UTF8, message.as_bytes().to_vec());
    }
    let (code, message) = code_and_message(refusal);
    let message = message.unwrap_or_else(|| codes::find_code(code).map_or("", |(_, text)| text).into());
    render_envelope(legacy_status(refusal, code), code, &message)
}

pub(super) fn render_envelope(status: u16, code: u16, message: &str) -> HttpReply {
    let body = json!({ "errors": [{ "code": code, "message": message }] });
    HttpReply::bytes(status, JSON_UTF8, body.to_string())
}

/// The code decides the status, except for errors of the HTTP layer.
fn legacy_status(refusal: &Refusal, code: u16) -> u16 {
    match refusal {
        Refusal::MethodNotAllowed { .. }
        | Refusal::NotImplemented { .. }
        | Refusal::BodyTooLarge { .. }
        | Refusal::BodyTimeout
        | Refusal::UnsupportedMediaType { .. } => refusal_status(refusal),
        Refusal::Forbidden { .. } => codes::find_code(code).map_or(403, |(status, _)| status),
        _ => codes::find_code(code).map_or_else(|| refusal_status(refusal), |(status, _)| status),
    }
}

fn code_and_message(refusal: &Refusal) -> (u16, Option<Cow<'_, str>>) {
    let custom = |code, text: String| (code, Some(Cow::Owned(text)));
    match refusal {
        Refusal::InvalidParameters(parameters) => match parameters.first() {
            Some(invalid) if invalid.values.is_empty() && !invalid.parameter.is_empty() => {
                custom(38, format!("{} parameter is missing.", invalid.parameter))
            }
            Some(invalid) if invalid.parameter.is_empty() => custom(44, invalid.message.clone()),
            Some(invalid) => custom(44, format!("{} parameter is invalid.", invalid.parameter)),
            None => (44, None),
        },
        Refusal::NotFound(ResourceRef { resource, .. }) => match *resource {
            "user" => (50, None),
            "tweet" => (144, None),
            _ => (34, None),
        },
        Refusal::NotVisible(ResourceRef { resource: "tweet", .. }) => (179, None),
        Refusal::Suspended(_) => (63, None),
        Refusal::Forbidden { detail, code } => (code.unwrap_or(200), Some(detail.as_ref().into())),
        Refusal::Unauthenticated(AuthenticationProblem::Missing) => (215, None),
        Refusal::NotVisible(_)
        | Refusal::FieldNotVisible { .. }
        | Refusal::WrongCredential { .. }
        | Refusal::ScopeMissing => (220, None),
        Refusal::InsufficientAccessLevel => (261, None),
        Refusal::NotEnrolled { .. } => (87, None),
        Refusal::Legacy { code, message } => (*code, Some(message.as_ref().into())),
        Refusal::OAuth2 { description, .. } => (215, Some(description.as_ref().into())),
        Refusal::NamedReason { code, message, .. } => (code.unwrap_or(214), Some(message.as_ref().into())),
        Refusal::RouteNotFound => (34, None),
        Refusal::MethodNotAllowed { allowed } => custom(34, format!("This path takes only {allowed}.")),
        Refusal::NotImplemented { operation } => custom(131, format!("{operation} is declared, but not built yet.")),
        Refusal::BodyTooLarge { limit } => custom(44, format!("The request body is larger than {limit} bytes.")),
        Refusal::BodyTimeout => custom(44, "The request body did not arrive in time.".to_owned()),
        Refusal::UnsupportedMediaType { expected } => custom(44, format!("The request body must be {expected}.")),
        Refusal::RuleLimitReached { .. }
        | Refusal::InvalidRule { .. }
        | Refusal::DuplicateRule { .. }
        | Refusal::Connection(StreamConnectionRefusal::NoRules) => (44, None),
        Refusal::Connection(StreamConnectionRefusal::TooManyConnections) => (88, None),
        Refusal::Unavailable => (130, None),
        Refusal::Ads(declined) => (44, Some(declined.first_message().into())),
        Refusal::Unauthenticated(_) | Refusal::RateLimited | Refusal::AppOnlyTokenRefused => {
            (super::refusal_code(refusal).unwrap_or(200), None)
        }
    }
}
