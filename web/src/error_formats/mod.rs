//! Renders a refusal in the error format of the operation: status, headers and body.

mod ads;
mod codes;
mod legacy;
mod oauth2;
mod page;
mod v2;

use base::refusal::{AuthenticationProblem, RefusalKind, StreamConnectionRefusal};
use base::{AppId, Refusal};
use http::header::{ALLOW, CONNECTION, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use serde_json::Value;

pub use ads::error_body as ads_error_body;
pub use codes::find_code as legacy_code;
pub use page::{api_message, error_message};
pub(crate) use page::{render_failure_page, render_refusal_page};

use crate::endpoint::ErrorFormat;
use crate::reply::HttpReply;

#[derive(Clone, Copy, Debug)]
pub struct ErrorContext<'v> {
    /// Base of the problem type URLs: `https://api.x.com`.
    pub problem_base: &'v str,
    pub app: Option<AppId>,
}

pub fn render(format: ErrorFormat, refusal: &Refusal, context: ErrorContext<'_>) -> HttpReply {
    let reply = match format {
        ErrorFormat::V2 => v2::render(refusal, context),
        ErrorFormat::Legacy => legacy::render(refusal),
        ErrorFormat::OAuth2 => oauth2::render(refusal),
        ErrorFormat::Ads => ads::render(refusal),
        ErrorFormat::Page => page::render(refusal),
    };
    add_error_headers(reply, format, refusal)
}

/// The response to an internal error, which reveals nothing about the cause.
pub fn render_internal_error(format: ErrorFormat, context: ErrorContext<'_>) -> HttpReply {
    match format {
        ErrorFormat::V2 => v2::render_status(500, context),
        ErrorFormat::Legacy => legacy::render_envelope(500, 131, "Internal error."),
        ErrorFormat::OAuth2 => oauth2::render_error(500, "server_error", "Something went wrong."),
        ErrorFormat::Ads => ads::render_error(500, "INTERNAL_ERROR", "Something went wrong."),
        ErrorFormat::Page => page::render_page(500, "Something went wrong", "This is our fault. Try again later."),
    }
}

/// An error with this status and no more details than the status has.
pub(crate) fn render_status(format: ErrorFormat, status: u16, context: ErrorContext<'_>) -> HttpReply {
    let refusal = match status {
        401 => Refusal::Unauthenticated(AuthenticationProblem::Token),
        404 => Refusal::RouteNotFound,
        408 => Refusal::BodyTimeout,
        429 => Refusal::RateLimited,
        500 => return render_internal_error(format, context),
        503 => Refusal::Unavailable,
        _ => return render_plain_status(format, status, context),
    };
    render(format, &refusal, context).status(status)
}

fn render_plain_status(format: ErrorFormat, status: u16, context: ErrorContext<'_>) -> HttpReply {
    let (is_ours, reason) = (status >= 500, status_reason(status));
    match format {
        ErrorFormat::V2 => v2::render_status(status, context),
        ErrorFormat::Legacy => legacy::render_envelope(status, if is_ours { 131 } else { 200 }, reason),
        ErrorFormat::OAuth2 => {
            oauth2::render_error(status, if is_ours { "server_error" } else { "invalid_request" }, reason)
        }
        ErrorFormat::Ads => {
            ads::render_error(status, if is_ours { "INTERNAL_ERROR" } else { "INVALID_PARAMETER" }, reason)
        }
        ErrorFormat::Page => page::render_page(status, reason, "The request failed."),
    }
}

/// An item of `errors` in a response that otherwise succeeded (contract core §3.4).
pub fn render_partial_error(refusal: &Refusal, problem_base: &str) -> Value {
    v2::render_partial_error(refusal, ErrorContext { problem_base, app: None })
}

fn add_error_headers(reply: HttpReply, format: ErrorFormat, refusal: &Refusal) -> HttpReply {
    match refusal {
        Refusal::MethodNotAllowed { allowed } => match HeaderValue::from_str(allowed) {
            Ok(allowed) => reply.header(ALLOW, allowed),
            Err(_) => reply,
        },
        Refusal::Unavailable => reply.header(RETRY_AFTER, HeaderValue::from_static("1")),
        // The rest of the body is not read.
        Refusal::BodyTimeout => reply.header(CONNECTION, HeaderValue::from_static("close")),
        Refusal::Unauthenticated(_) if format == ErrorFormat::V2 && reply.status == 401 => {
            reply.header(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))
        }
        // RFC 9110 §11.6.1: each 401 names a scheme.
        _ if matches!(format, ErrorFormat::Legacy | ErrorFormat::Ads) && reply.status == 401 => {
            reply.header(WWW_AUTHENTICATE, HeaderValue::from_static("OAuth realm=\"API\""))
        }
        // RFC 6749 §5.2: a client that authenticates by a header learns which scheme to use.
        _ if format == ErrorFormat::OAuth2 && reply.status == 401 => {
            reply.header(WWW_AUTHENTICATE, HeaderValue::from_static("Basic realm=\"OAuth 2.0\""))
        }
        _ => reply,
    }
}

/// The status where the format has none of its own.
pub fn refusal_status(refusal: &Refusal) -> u16 {
    match refusal {
        Refusal::InvalidParameters(_)
        | Refusal::RuleLimitReached { .. }
        | Refusal::InvalidRule { .. }
        | Refusal::DuplicateRule { .. } => 400,
        Refusal::NotFound(_) | Refusal::RouteNotFound => 404,
        Refusal::NotVisible(_)
        | Refusal::Suspended(_)
        | Refusal::FieldNotVisible { .. }
        | Refusal::Forbidden { .. }
        | Refusal::WrongCredential { .. }
        | Refusal::InsufficientAccessLevel
        | Refusal::ScopeMissing
        | Refusal::NotEnrolled { .. }
        | Refusal::AppOnlyTokenRefused => 403,
        Refusal::Unauthenticated(_) => 401,
        Refusal::RateLimited | Refusal::Connection(StreamConnectionRefusal::TooManyConnections) => 429,
        Refusal::Connection(StreamConnectionRefusal::NoRules) => 409,
        Refusal::NamedReason { kind, .. } => match kind {
            RefusalKind::Invalid => 400,
            RefusalKind::Forbidden => 403,
            RefusalKind::NotFound => 404,
            RefusalKind::Conflict => 409,
        },
        Refusal::Legacy { code, .. } => codes::find_code(*code).map_or(403, |(status, _)| status),
        Refusal::OAuth2 { error, .. } => oauth2::error_status(error),
        Refusal::MethodNotAllowed { .. } => 405,
        Refusal::NotImplemented { .. } => 501,
        Refusal::BodyTooLarge { .. } => 413,
        Refusal::BodyTimeout => 408,
        Refusal::UnsupportedMediaType { .. } => 415,
        Refusal::Unavailable => 503,
        Refusal::Ads(declined) => ads::declined_status(declined),
    }
}

/// The legacy code that a refusal has in every format.
fn refusal_code(refusal: &Refusal) -> Option<u16> {
    match refusal {
        Refusal::Forbidden { code, .. } | Refusal::NamedReason { code, .. } => *code,
        Refusal::Unauthenticated(problem) => match problem {
            AuthenticationProblem::Missing => None,
            AuthenticationProblem::Malformed => Some(215),
            AuthenticationProblem::Signature => Some(32),
            AuthenticationProblem::Token => Some(89),
            AuthenticationProblem::Timestamp => Some(135),
            AuthenticationProblem::App => Some(416),
        },
        Refusal::RateLimited => Some(88),
        Refusal::AppOnlyTokenRefused => Some(99),
        Refusal::Legacy { code, .. } => Some(*code),
        _ => None,
    }
}

fn status_reason(status: u16) -> &'static str {
    let status = http::StatusCode::from_u16(status).ok();
    status.and_then(|status| status.canonical_reason()).unwrap_or("Error")
}

#[cfg(test)]
mod tests;
