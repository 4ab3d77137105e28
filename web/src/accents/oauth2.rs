//! RFC 6749 §5.2.

use base::Refusal;
use serde_json::json;

use crate::reply::{JSON, Reply};

pub(super) fn speak(refusal: &Refusal) -> Reply {
    let other = super::status(refusal);
    match refusal {
        Refusal::OAuth2 {
            error: name,
            description,
        } => error(status(name), name, description),
        Refusal::InvalidParameters(wrong) => {
            let first = wrong.first().map_or("", |wrong| wrong.message.as_str());
            error(400, "invalid_request", first)
        }
        Refusal::Unauthenticated(_) | Refusal::AppOnlyTokenRefused => error(
            401,
            "unauthorized_client",
            "Missing valid authorization header",
        ),
        Refusal::RateLimited | Refusal::Unavailable => {
            error(other, "temporarily_unavailable", super::name(other))
        }
        Refusal::NotImplemented { .. } => error(other, "server_error", super::name(other)),
        Refusal::UnsupportedMediaType { expected } => error(
            other,
            "invalid_request",
            &format!("The request body must be {expected}."),
        ),
        Refusal::Forbidden { detail, .. } => error(other, "access_denied", detail),
        Refusal::Legacy { message, .. } => error(other, "invalid_request", message),
        _ => error(other, "invalid_request", super::name(other)),
    }
}

pub(super) fn error(status: u16, name: &str, description: &str) -> Reply {
    let body = json!({ "error": name, "error_description": description });
    Reply::bytes(status, JSON, body.to_string())
}

pub(super) fn status(error: &str) -> u16 {
    match error {
        "invalid_client" | "unauthorized_client" => 401,
        "server_error" => 500,
        "temporarily_unavailable" => 503,
        _ => 400,
    }
}
