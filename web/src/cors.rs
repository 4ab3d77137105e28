//! Cross-origin requests: refused unless the configuration names the origin.

use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, HeaderMap, HeaderValue, ORIGIN, VARY,
};

use crate::endpoint::ErrorFormat;
use crate::reply::HttpReply;

const EXPOSED_HEADERS: HeaderValue = HeaderValue::from_static(
    "x-rate-limit-limit, x-rate-limit-remaining, x-rate-limit-reset, x-app-limit-24hour-limit, \
     x-app-limit-24hour-remaining, x-app-limit-24hour-reset, x-user-limit-24hour-limit, \
     x-user-limit-24hour-remaining, x-user-limit-24hour-reset, retry-after, x-transaction-id, location",
);
// Browsers ask for `user-agent` where the page's client sets it.
const ALLOWED_HEADERS: HeaderValue = HeaderValue::from_static("authorization, content-type, user-agent, x-request-id");
const MAX_AGE: HeaderValue = HeaderValue::from_static("600");

/// Origins whose pages may call the v2 API.
#[derive(Clone, Debug, Default)]
pub struct CorsPolicy {
    origins: Vec<String>,
}

impl CorsPolicy {
    /// Without origins, no response has CORS headers.
    pub const fn new(origins: Vec<String>) -> Self {
        Self { origins }
    }

    pub fn preflight(&self, format: ErrorFormat, request: &HeaderMap, allowed: &str) -> Option<HttpReply> {
        self.allowed_origin(format, request)?;
        let methods = HeaderValue::from_str(allowed).ok()?;
        let reply = HttpReply::empty(204)
            .header(ACCESS_CONTROL_ALLOW_METHODS, methods)
            .header(ACCESS_CONTROL_ALLOW_HEADERS, ALLOWED_HEADERS)
            .header(ACCESS_CONTROL_MAX_AGE, MAX_AGE);
        Some(reply)
    }

    pub fn add_cors_headers(&self, format: ErrorFormat, request: &HeaderMap, response: &mut HeaderMap) {
        if self.origins.is_empty() {
            return;
        }
        response.append(VARY, HeaderValue::from_static("origin"));
        if let Some(origin) = self.allowed_origin(format, request) {
            response.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
            response.insert(ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED_HEADERS);
        }
    }

    /// Only v2 operations allow other origins; tokens and pages never do.
    fn allowed_origin<'h>(&self, format: ErrorFormat, request: &'h HeaderMap) -> Option<&'h HeaderValue> {
        let origin = request.get(ORIGIN).filter(|_| format == ErrorFormat::V2)?;
        let known = self.origins.iter().any(|known| known.as_bytes() == origin.as_bytes());
        known.then_some(origin)
    }
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, HeaderValue};

    use super::CorsPolicy;
    use crate::endpoint::ErrorFormat;

    fn from(origin: &'static str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert("origin", HeaderValue::from_static(origin));
        headers
    }

    fn marked(cors: &CorsPolicy, accent: ErrorFormat, origin: &'static str) -> HeaderMap {
        let mut answer = HeaderMap::new();
        cors.add_cors_headers(accent, &from(origin), &mut answer);
        answer
    }

    #[test]
    fn no_answer_carries_a_word_of_it_by_default() {
        let cors = CorsPolicy::default();
        assert!(marked(&cors, ErrorFormat::V2, "https://a.example").is_empty());
        assert!(cors.preflight(ErrorFormat::V2, &from("https://a.example"), "GET").is_none());
    }

    #[test]
    fn only_named_origins_may_read() {
        let cors = CorsPolicy::new(vec!["https://a.example".to_owned()]);
        let answer = marked(&cors, ErrorFormat::V2, "https://a.example");
        assert_eq!(answer["access-control-allow-origin"], "https://a.example");
        assert!(cors.preflight(ErrorFormat::V2, &from("https://a.example"), "GET").is_some());
        for (accent, origin) in [
            (ErrorFormat::V2, "https://a.example.evil.example"),
            (ErrorFormat::V2, "null"),
            (ErrorFormat::OAuth2, "https://a.example"),
            (ErrorFormat::Page, "https://a.example"),
        ] {
            let answer = marked(&cors, accent, origin);
            assert!(!answer.contains_key("access-control-allow-origin"));
            assert_eq!(answer["vary"], "origin");
            assert!(cors.preflight(accent, &from(origin), "GET").is_none());
        }
    }
}
