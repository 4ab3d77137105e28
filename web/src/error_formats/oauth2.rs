//! OAuth 2.0 errors (RFC 6749 §5.2).

use base::Refusal;
use serde_json::json;

use crate::reply::{HttpReply, JSON_UTF8};

pub(super) fn render(refusal: &Refusal) -> HttpReply {
    let status = super::refusal_status(refusal);
    match refusal {
        Refusal::OAuth2 { error: name, description } => render_error(error_status(name), name, description),
        Refusal::InvalidParameters(parameters) => {
            let first = parameters.first().map_or("", |invalid| invalid.message.as_str());
            render_error(400, "invalid_request", first)
        }
        Refusal::Unauthenticated(_) | Refusal::AppOnlyTokenRefused => {
            render_error(401, "unauthorized_client", "Missing valid authorization header")
        }
        Refusal::RateLimited | Refusal::Unavailable => {
            render_error(status, "temporarily_unavailable", super::status_reason(status))
        }
        Refusal::NotImplemented { .. } => render_error(status, "server_error", super::status_reason(status)),
        Refusal::UnsupportedMediaType { expected } => {
            render_error(status, "invalid_request", &format!("The request body must be {expected}."))
        }
        Refusal::Forbidden { detail, .. } => render_error(status, "access_denied", detail),
        Refusal::Legacy { message, .. } => render_error(status, "invalid_request", message),
        _ => render_error(status, "invalid_request", super::status_reason(status)),
    }
}

pub(super) fn render_error(status: u16, name: &str, description: &str) -> HttpReply {
    let body = json!({ "error": name, "error_description": description });
    HttpReply::bytes(status, JSON_UTF8, body.to_string())
}

pub(super) fn error_status(error: &str) -> u16 {
    match error {
        "invalid_client" | "unauthorized_client" => 401,
        "server_error" => 500,
        "temporarily_unavailable" => 503,
        _ => 400,
    }
}
