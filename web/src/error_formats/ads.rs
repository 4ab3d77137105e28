//! The Ads API's error envelope.

use base::Refusal;
use base::refusal::{AdsProblem, AdsRefusal, InvalidParameter, ProblemLocation, StreamConnectionRefusal};
use http::header::{HeaderName, HeaderValue};
use serde_json::{Value, json};

use crate::reply::{ADS_JSON, HttpReply};

pub(super) fn render(refusal: &Refusal) -> HttpReply {
    let status = status_code(refusal);
    let reply = HttpReply::bytes(status, ADS_JSON, error_body(refusal).to_string());
    let headers = if let Refusal::Ads(declined) = refusal { declined.headers.as_slice() } else { &[] };
    headers.iter().fold(reply, |reply, (name, value)| match HeaderValue::from_str(value) {
        Ok(value) => reply.header(HeaderName::from_static(name), value),
        Err(_) => reply,
    })
}

fn status_code(refusal: &Refusal) -> u16 {
    match refusal {
        // Client libraries know no other status for a wrong body.
        Refusal::BodyTooLarge { .. } | Refusal::UnsupportedMediaType { .. } => 400,
        _ => super::refusal_status(refusal),
    }
}

/// The error envelope alone.
pub fn error_body(refusal: &Refusal) -> Value {
    match refusal {
        Refusal::Ads(declined) => declined_body(declined),
        Refusal::InvalidParameters(parameters) => envelope(parameters.iter().map(parameter_error_json).collect()),
        _ => {
            let message = refusal_message(refusal, status_code(refusal));
            envelope(vec![json!({ "code": refusal_code(refusal), "message": message })])
        }
    }
}

pub(super) fn render_error(status: u16, code: &str, message: &str) -> HttpReply {
    let body = envelope(vec![json!({ "code": code, "message": message })]);
    HttpReply::bytes(status, ADS_JSON, body.to_string())
}

fn envelope(errors: Vec<Value>) -> Value {
    json!({ "errors": errors, "request": { "params": {} } })
}

/// Repeats the parameters that were understood; for a batch, also lists the errors of each item.
fn declined_body(declined: &AdsRefusal) -> Value {
    let all = |problems: &[AdsProblem]| problems.iter().map(problem_json).collect::<Vec<_>>();
    let request = serde_json::from_str(&declined.request);
    let request = request.unwrap_or_else(|_| json!({ "params": {} }));
    let mut body = json!({ "request": request });
    if let Some(body) = body.as_object_mut() {
        let items = &declined.items;
        if items.is_empty() || !declined.problems.is_empty() {
            body.insert("errors".to_owned(), all(&declined.problems).into());
        }
        if !items.is_empty() {
            let items: Vec<Value> = items.iter().map(|item| all(item).into()).collect();
            body.insert("operation_errors".to_owned(), items.into());
        }
    }
    body
}

fn problem_json(problem: &AdsProblem) -> Value {
    let mut error = json!({ "code": problem.code, "message": problem.message });
    let (key, name) = match &problem.location {
        ProblemLocation::Request => return error,
        ProblemLocation::Parameter(name) => ("parameter", name),
        ProblemLocation::Attribute(name) => ("attribute", name),
    };
    if let Some(members) = error.as_object_mut() {
        members.insert(key.to_owned(), json!(name));
        if let Some(value) = &problem.value {
            members.insert("value".to_owned(), json!(value));
        }
    }
    error
}

fn parameter_error_json(invalid: &InvalidParameter) -> Value {
    if invalid.parameter.is_empty() {
        return json!({ "code": "INVALID_PARAMETER", "message": invalid.message });
    }
    let code = if invalid.values.is_empty() { "MISSING_PARAMETER" } else { "INVALID_PARAMETER" };
    json!({ "code": code, "message": invalid.message, "parameter": invalid.parameter })
}

/// Decided by the first problem; 400 if there is none.
pub(super) fn declined_status(declined: &AdsRefusal) -> u16 {
    match declined.problems.first() {
        Some(problem) => code_status(problem.code),
        None => 400,
    }
}

fn code_status(code: &str) -> u16 {
    match code {
        "UNAUTHORIZED_ACCESS" => 401,
        "ACCOUNT_LOCKED_OUT"
        | "ACCOUNT_NOT_FOUND"
        | "ACTION_NOT_ALLOWED"
        | "CURRENT_USER_SUSPENDED"
        | "FUNDING_INSTRUMENT_ACCESS_NOT_ALLOWED"
        | "FUNDING_INSTRUMENT_EXCEEDS_AVAILABLE_CREDIT_LIMIT"
        | "GENERIC_TWEET_ERROR"
        | "INVALID_ACCOUNT_SERVICE_LEVEL"
        | "MALWARE_STATUS"
        | "READONLY_CLIENT_APPLICATION"
        | "TWEET_IS_SPAM"
        | "UNAUTHORIZED_CLIENT_APPLICATION"
        | "USER_NOT_FOUND" => 403,
        "INVALID_APP_ID"
        | "INVALID_APP_STORE"
        | "INVALID_IAB_CATEGORY"
        | "INVALID_ID_ILLEGAL_CHARACTERS"
        | "NO_PROVIDER_AVAILABLE_FOR_THIS_CLIENT_APPLICATION" => 404,
        "METHOD_NOT_ALLOWED" => 405,
        "TOO_MANY_REQUESTS" | "TWEET_RATE_LIMIT_EXCEEDED" => 429,
        code if code.ends_with("NOT_FOUND") => 404,
        _ => 400,
    }
}

fn refusal_message(refusal: &Refusal, status: u16) -> String {
    match refusal {
        Refusal::Forbidden { detail, .. } => detail.to_string(),
        Refusal::Legacy { message, .. } | Refusal::NamedReason { message, .. } => message.to_string(),
        Refusal::Unauthenticated(_) => "This request is not properly authenticated".to_owned(),
        Refusal::RouteNotFound => "The requested resource does not exist; the current version of \
                                this interface is 12"
            .to_owned(),
        Refusal::BodyTooLarge { limit } => format!("The request body is larger than {limit} bytes"),
        Refusal::UnsupportedMediaType { expected } => format!("The request body must be {expected}"),
        Refusal::NotFound(subject) => {
            format!("Could not find {} with {}: [{}].", subject.resource, subject.parameter, subject.value)
        }
        Refusal::ScopeMissing => "The access token does not have the scope that this request needs".to_owned(),
        Refusal::InsufficientAccessLevel => "The access token may only read".to_owned(),
        Refusal::WrongCredential { .. } => "This request needs another type of access token".to_owned(),
        Refusal::NotEnrolled { required } => format!("This request needs an app with the entitlement {required}"),
        _ => super::status_reason(status).to_owned(),
    }
}

fn refusal_code(refusal: &Refusal) -> &'static str {
    match refusal {
        Refusal::Forbidden { code: Some(187), .. } => "DUPLICATE_TWEET",
        Refusal::Ads(_)
        | Refusal::InvalidParameters(_)
        | Refusal::Connection(StreamConnectionRefusal::NoRules)
        | Refusal::RuleLimitReached { .. }
        | Refusal::InvalidRule { .. }
        | Refusal::DuplicateRule { .. }
        | Refusal::UnsupportedMediaType { .. }
        | Refusal::Legacy { .. }
        | Refusal::NamedReason { .. }
        | Refusal::OAuth2 { .. } => "INVALID_PARAMETER",
        Refusal::BodyTooLarge { .. } => "REQUEST_TOO_COMPLEX",
        Refusal::NotFound(subject) => match subject.resource {
            "tweet" => "TWEET_NOT_FOUND",
            "user" => "USER_NOT_FOUND",
            "media" => "MEDIA_NOT_FOUND",
            _ => "NOT_FOUND",
        },
        Refusal::Suspended(_) | Refusal::Forbidden { code: Some(64), .. } => "CURRENT_USER_SUSPENDED",
        Refusal::NotVisible(_) | Refusal::FieldNotVisible { .. } | Refusal::Forbidden { .. } => "ACTION_NOT_ALLOWED",
        Refusal::Unauthenticated(_) | Refusal::AppOnlyTokenRefused => "UNAUTHORIZED_ACCESS",
        Refusal::InsufficientAccessLevel => "READONLY_CLIENT_APPLICATION",
        Refusal::WrongCredential { .. } | Refusal::ScopeMissing | Refusal::NotEnrolled { .. } => {
            "UNAUTHORIZED_CLIENT_APPLICATION"
        }
        Refusal::RateLimited | Refusal::Connection(StreamConnectionRefusal::TooManyConnections) => "TOO_MANY_REQUESTS",
        Refusal::RouteNotFound => "ROUTE_NOT_FOUND",
        Refusal::MethodNotAllowed { .. } => "METHOD_NOT_ALLOWED",
        Refusal::NotImplemented { .. } => "INTERNAL_ERROR",
        Refusal::BodyTimeout => "CANCELLED_REQUEST",
        Refusal::Unavailable => "OVER_CAPACITY",
    }
}

#[cfg(test)]
mod tests {
    use base::Refusal;
    use base::refusal::{AdsProblem, AdsRefusal};

    use super::render;

    #[test]
    fn refusal_is_answered_with_its_headers() {
        let problems = vec![AdsProblem::new("TOO_MANY_REQUESTS", "Too many jobs")];
        let headers = vec![("x-concurrent-job-limit", "100".to_owned())];
        let reply = render(&Refusal::Ads(Box::new(AdsRefusal { problems, headers, ..AdsRefusal::default() })));
        assert_eq!(reply.status, 429);
        assert_eq!(reply.headers.get("x-concurrent-job-limit").unwrap(), "100");
    }
}
