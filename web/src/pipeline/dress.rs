//! The headers that every answer has.

use edge::{Body, gzip};
use http::header::{
    CACHE_CONTROL, CONTENT_LENGTH, HeaderMap, HeaderName, HeaderValue, X_CONTENT_TYPE_OPTIONS,
};
use http::{Method, Response, StatusCode};

use super::{Shared, Trace};
use crate::call::Head;
use crate::endpoint::Accent;
use crate::pages::headers::{guard, is_html};
use crate::reply::Reply;

/// The version of the public interface that this is.
const VERSION: HeaderValue = HeaderValue::from_static("2.167");
const FRESH: HeaderValue = HeaderValue::from_static("no-cache, no-store, max-age=0");
const API_VERSION: HeaderName = HeaderName::from_static("api-version");
const RESPONSE_TIME: HeaderName = HeaderName::from_static("x-response-time");
const TRANSACTION_ID: HeaderName = HeaderName::from_static("x-transaction-id");
const TRANSACTION: HeaderName = HeaderName::from_static("x-transaction");
const CURRENT_VERSION: HeaderName = HeaderName::from_static("x-current-api-version");
const WARN: HeaderName = HeaderName::from_static("x-api-warn");
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const ACCESS_LEVEL: HeaderName = HeaderName::from_static("x-access-level");

impl Shared {
    pub(super) fn dress(&self, reply: Reply, head: &Head, trace: &Trace) -> Response<Body> {
        let Reply {
            status,
            mut headers,
            body,
            streamed,
        } = reply;
        headers.reserve(13);
        if let Some(standing) = &trace.standing {
            standing.write(&mut headers);
        }
        if let Some(standing) = &trace.account {
            standing.write_of_account(&mut headers);
        }
        if trace.accent == Accent::V2 && !trace.is_health {
            headers.insert(API_VERSION, VERSION);
        }
        if trace.accent == Accent::Ads {
            ads(&mut headers, head);
        }
        if let Some(level) = trace.access_level {
            headers.insert(ACCESS_LEVEL, HeaderValue::from_static(level));
        }
        if trace.accent == Accent::Page || is_html(&headers) {
            guard(&mut headers, self.home.front.is_tls());
        }
        headers.entry(CACHE_CONTROL).or_insert(FRESH);
        // What a caller wrote comes back in many answers: it is what its type says, and nothing else.
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        headers.insert(TRANSACTION_ID, head.id.value());
        if head.id.given {
            headers.insert(REQUEST_ID, head.id.value());
        }
        self.cors.mark(trace.accent, &head.headers, &mut headers);
        let took = u64::try_from(trace.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        headers.insert(RESPONSE_TIME, HeaderValue::from(took));
        let mut response = Response::new(body);
        *response.status_mut() =
            StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        *response.headers_mut() = headers;
        let response = if streamed {
            gzip::compress_stream(&head.headers, response)
        } else {
            gzip::compress_full(&head.headers, response)
        };
        if head.method == Method::HEAD {
            without_body(response)
        } else {
            response
        }
    }
}

/// The headers of the advertising interface, whose older versions are on their way out.
fn ads(headers: &mut HeaderMap, head: &Head) {
    headers.insert(CURRENT_VERSION, HeaderValue::from_static("12"));
    headers.insert(TRANSACTION, head.id.value());
    if matches!(head.path().split('/').nth(1), Some("11" | "5")) {
        let warning = "This version is deprecated; the current version is 12";
        headers.insert(WARN, HeaderValue::from_static(warning));
    }
}

/// The head of an answer, with the length that its body would have.
fn without_body(response: Response<Body>) -> Response<Body> {
    let (mut parts, body) = response.into_parts();
    if let Some(bytes) = body.as_bytes() {
        parts
            .headers
            .insert(CONTENT_LENGTH, HeaderValue::from(bytes.len()));
    }
    Response::from_parts(parts, Body::empty())
}
