//! Responses that the edge itself sends.

use http::header::{CONNECTION, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderValue, Response, StatusCode, Version};

use crate::body::Body;

const PLAIN_TEXT: &str = "text/plain; charset=utf-8";

pub(crate) fn problem_response(status: StatusCode, version: Version, close: bool) -> Response<Body> {
    let mut response = Response::new(Body::full(problem_json(status)));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
    if status == StatusCode::SERVICE_UNAVAILABLE {
        headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
    }
    if close && version < Version::HTTP_2 {
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

/// The same response as bytes, for a connection without a parsed request.
pub(crate) fn raw_problem_response(status: StatusCode) -> Vec<u8> {
    raw_response(status, "application/problem+json", &problem_json(status))
}

pub(crate) fn raw_text_response(status: StatusCode, text: &str) -> Vec<u8> {
    raw_response(status, PLAIN_TEXT, text)
}

pub(crate) fn text_response(status: StatusCode, text: String) -> Response<Body> {
    let mut response = Response::new(Body::full(text));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(PLAIN_TEXT));
    response
}

fn raw_response(status: StatusCode, content_type: &str, body: &str) -> Vec<u8> {
    let date = httpdate::fmt_http_date(system_now());
    let retry = if status == StatusCode::SERVICE_UNAVAILABLE { "retry-after: 1\r\n" } else { "" };
    format!(
        "HTTP/1.1 {} {}\r\ncontent-type: {content_type}\r\ncontent-length: {}\r\n\
         {retry}connection: close\r\ndate: {date}\r\n\r\n{body}",
        status.as_u16(),
        reason_phrase(status),
        body.len(),
    )
    .into_bytes()
}

#[expect(clippy::disallowed_methods, reason = "a Date header is the real time")]
fn system_now() -> std::time::SystemTime {
    std::time::SystemTime::now()
}

fn reason_phrase(status: StatusCode) -> &'static str {
    status.canonical_reason().unwrap_or("Error")
}

fn problem_json(status: StatusCode) -> String {
    let (name, code) = (reason_phrase(status), status.as_u16());
    format!(
        r#"{{"title":"{name}","type":"about:blank","status":{code},"detail":"{name}","errors":[{{"message":"{name}"}}]}}"#
    )
}
