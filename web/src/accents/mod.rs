//! A refusal spoken in the dialect of the operation that was called: status, headers and body.

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

pub use codes::of as legacy_code;
pub(crate) use page::detail;

use crate::endpoint::Accent;
use crate::reply::Reply;

/// What a refusal is spoken with beside itself.
#[derive(Clone, Copy, Debug)]
pub struct Voice<'v> {
    /// Under which problem types stand: `https://api.x.com`.
    pub problem_base: &'v str,
    /// The calling app.
    pub app: Option<AppId>,
}

/// Speaks a refusal.
pub fn speak(accent: Accent, refusal: &Refusal, voice: Voice<'_>) -> Reply {
    let reply = match accent {
        Accent::V2 => v2::speak(refusal, voice),
        Accent::Legacy => legacy::speak(refusal),
        Accent::OAuth2 => oauth2::speak(refusal),
        Accent::Ads => ads::speak(refusal),
        Accent::Page => page::speak(refusal),
    };
    with_headers(reply, accent, refusal)
}

/// Speaks of a failure of ours, of which nothing is told.
pub fn excuse(accent: Accent, voice: Voice<'_>) -> Reply {
    match accent {
        Accent::V2 => v2::excuse(voice),
        Accent::Legacy => legacy::envelope(500, 131, "Internal error."),
        Accent::OAuth2 => oauth2::error(500, "server_error", "Something went wrong."),
        Accent::Ads => ads::error(500, "INTERNAL_ERROR", "Something went wrong."),
        Accent::Page => page::page(
            500,
            "Something went wrong",
            "This is our fault. Try again later.",
        ),
    }
}

/// An item of `errors` in an answer that succeeded otherwise (contract §3.4).
pub fn partial(refusal: &Refusal, problem_base: &str) -> Value {
    v2::partial(
        refusal,
        Voice {
            problem_base,
            app: None,
        },
    )
}

fn with_headers(reply: Reply, accent: Accent, refusal: &Refusal) -> Reply {
    match refusal {
        Refusal::MethodNotAllowed { allowed } => match HeaderValue::from_str(allowed) {
            Ok(allowed) => reply.header(ALLOW, allowed),
            Err(_) => reply,
        },
        Refusal::Unavailable => reply.header(RETRY_AFTER, HeaderValue::from_static("1")),
        // What is left of the body is not waited for.
        Refusal::BodyTimeout => reply.header(CONNECTION, HeaderValue::from_static("close")),
        Refusal::Unauthenticated(_) if accent == Accent::V2 => {
            reply.header(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))
        }
        _ => reply,
    }
}

/// The status of a refusal where a dialect does not have its own idea.
fn status(refusal: &Refusal) -> u16 {
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
        Refusal::RateLimited | Refusal::Connection(StreamConnectionRefusal::TooManyConnections) => {
            429
        }
        Refusal::Connection(StreamConnectionRefusal::NoRules) => 409,
        Refusal::NamedReason { kind: no, .. } => match no {
            RefusalKind::Invalid => 400,
            RefusalKind::Forbidden => 403,
            RefusalKind::NotFound => 404,
            RefusalKind::Conflict => 409,
        },
        Refusal::Legacy { code, .. } => codes::of(*code).map_or(403, |(status, _)| status),
        Refusal::OAuth2 { error, .. } => oauth2::status(error),
        Refusal::MethodNotAllowed { .. } => 405,
        Refusal::NotImplemented { .. } => 501,
        Refusal::BodyTooLarge { .. } => 413,
        Refusal::BodyTimeout => 408,
        Refusal::UnsupportedMediaType { .. } => 415,
        Refusal::Unavailable => 503,
        Refusal::Ads(declined) => ads::status_of(declined),
    }
}

/// The legacy code of a refusal that has one whatever the dialect.
fn code(refusal: &Refusal) -> Option<u16> {
    match refusal {
        Refusal::Forbidden { code, .. } | Refusal::NamedReason { code, .. } => *code,
        Refusal::Unauthenticated(unproven) => match unproven {
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

/// A status's name, as titles have it.
fn name(status: u16) -> &'static str {
    let status = http::StatusCode::from_u16(status).ok();
    status
        .and_then(|status| status.canonical_reason())
        .unwrap_or("Error")
}

#[cfg(test)]
mod tests;
