//! The headers that every response has.

use edge::{Body, gzip};
use http::header::{CACHE_CONTROL, CONTENT_LENGTH, HeaderMap, HeaderName, HeaderValue, X_CONTENT_TYPE_OPTIONS};
use http::{Method, Response};

use super::{RequestTrace, ServerState};
use crate::endpoint::ErrorFormat;
use crate::reply::HttpReply;
use crate::request_context::RequestHead;
use crate::security_headers::{add_security_headers, is_html, require_tls};

/// The version of the public API that this server implements.
const VERSION: HeaderValue = HeaderValue::from_static("2.167");
const NO_CACHE: HeaderValue = HeaderValue::from_static("no-cache, no-store, max-age=0");
const API_VERSION: HeaderName = HeaderName::from_static("api-version");
const RESPONSE_TIME: HeaderName = HeaderName::from_static("x-response-time");
const TRANSACTION_ID: HeaderName = HeaderName::from_static("x-transaction-id");
const TRANSACTION: HeaderName = HeaderName::from_static("x-transaction");
const CURRENT_VERSION: HeaderName = HeaderName::from_static("x-current-api-version");
const WARN: HeaderName = HeaderName::from_static("x-api-warn");
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const EXPLANATION: HeaderName = HeaderName::from_static("x-locum-explain");
const INJECTED_FAULT: HeaderName = HeaderName::from_static("x-locum-fault");
const DEPRECATION: HeaderName = HeaderName::from_static("deprecation");
const ACCESS_LEVEL: HeaderName = HeaderName::from_static("x-access-level");

impl ServerState {
    pub(super) fn add_response_headers(
        &self,
        reply: HttpReply,
        head: &RequestHead,
        trace: &RequestTrace,
    ) -> Response<Body> {
        let HttpReply { status, mut headers, body, streamed } = reply;
        headers.reserve(14);
        if let Some(rate_limit) = &trace.rate_limit {
            rate_limit.write_headers(&mut headers);
        }
        if let Some(rate_limit) = &trace.account_rate_limit {
            rate_limit.write_account_headers(&mut headers);
        }
        if trace.error_format == ErrorFormat::V2 && !trace.is_health {
            headers.insert(API_VERSION, VERSION);
        }
        if trace.error_format == ErrorFormat::Ads {
            add_ads_headers(&mut headers, head);
        }
        if trace.is_deprecated {
            headers.insert(DEPRECATION, HeaderValue::from_static("true"));
        }
        if let Some(level) = trace.access_level {
            headers.insert(ACCESS_LEVEL, HeaderValue::from_static(level));
        }
        if let Some(url) = trace.explanation_url.as_deref().and_then(|url| HeaderValue::from_str(url).ok()) {
            headers.insert(EXPLANATION, url);
        }
        if let Some((rule, effect)) = &trace.injected_fault
            && let Ok(fault) = HeaderValue::from_str(&format!("{rule} {effect}"))
        {
            headers.insert(INJECTED_FAULT, fault);
        }
        if trace.error_format == ErrorFormat::Page || is_html(&headers) {
            add_security_headers(&mut headers, self.app_state.page_context.is_tls());
        }
        if !self.config.dev && head.peer.is_some_and(|peer| peer.is_tls) {
            require_tls(&mut headers);
        }
        headers.entry(CACHE_CONTROL).or_insert(NO_CACHE);
        // Many responses repeat what a caller sent: browsers must not guess another type.
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        headers.insert(TRANSACTION_ID, head.id.header_value());
        if head.id.client_chosen {
            headers.insert(REQUEST_ID, head.id.header_value());
        }
        self.cors.add_cors_headers(trace.error_format, &head.headers, &mut headers);
        let elapsed_ms = u64::try_from(trace.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        headers.insert(RESPONSE_TIME, HeaderValue::from(elapsed_ms));
        let response = HttpReply { status, headers, body, streamed }.into();
        let response = if streamed {
            gzip::compress_stream(&head.headers, response)
        } else {
            gzip::compress_full(&head.headers, response)
        };
        if head.method == Method::HEAD { strip_body(response) } else { response }
    }
}

/// Older versions of the Ads API get a deprecation warning.
fn add_ads_headers(headers: &mut HeaderMap, head: &RequestHead) {
    headers.insert(CURRENT_VERSION, HeaderValue::from_static("12"));
    headers.insert(TRANSACTION, head.id.header_value());
    if matches!(head.route_path().split('/').nth(1), Some("11" | "5")) {
        let warning = "This version is deprecated; the current version is 12";
        headers.insert(WARN, HeaderValue::from_static(warning));
    }
}

/// Keeps the length that the body would have.
fn strip_body(response: Response<Body>) -> Response<Body> {
    let (mut parts, body) = response.into_parts();
    if let Some(bytes) = body.as_bytes() {
        parts.headers.insert(CONTENT_LENGTH, HeaderValue::from(bytes.len()));
    }
    Response::from_parts(parts, Body::empty())
}
