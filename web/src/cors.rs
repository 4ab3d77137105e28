//! Cross-origin calls from browsers: none, unless the configuration names origins.

use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, HeaderMap, HeaderValue, ORIGIN, VARY,
};

use crate::endpoint::Accent;
use crate::reply::Reply;

const EXPOSED: HeaderValue = HeaderValue::from_static(
    "x-rate-limit-limit, x-rate-limit-remaining, x-rate-limit-reset, x-transaction-id, location",
);
const TAKEN: HeaderValue = HeaderValue::from_static("authorization, content-type, x-request-id");
const FOR: HeaderValue = HeaderValue::from_static("600");

/// The origins whose pages may call the v2 interface.
#[derive(Clone, Debug, Default)]
pub struct Cors {
    origins: Vec<String>,
}

impl Cors {
    /// Only these origins; with none, no answer carries a word of it.
    pub const fn new(origins: Vec<String>) -> Self {
        Self { origins }
    }

    /// The answer to a browser that asks first.
    pub fn preflight(&self, accent: Accent, request: &HeaderMap, allowed: &str) -> Option<Reply> {
        self.origin(accent, request)?;
        let methods = HeaderValue::from_str(allowed).ok()?;
        let reply = Reply::empty(204)
            .header(ACCESS_CONTROL_ALLOW_METHODS, methods)
            .header(ACCESS_CONTROL_ALLOW_HEADERS, TAKEN)
            .header(ACCESS_CONTROL_MAX_AGE, FOR);
        Some(reply)
    }

    /// Marks an answer as readable for the page that asked.
    pub fn mark(&self, accent: Accent, request: &HeaderMap, answer: &mut HeaderMap) {
        if self.origins.is_empty() {
            return;
        }
        answer.append(VARY, HeaderValue::from_static("origin"));
        if let Some(origin) = self.origin(accent, request) {
            answer.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
            answer.insert(ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
        }
    }

    /// The asking origin, if it is one of ours. Tokens and pages are never for other pages.
    fn origin<'h>(&self, accent: Accent, request: &'h HeaderMap) -> Option<&'h HeaderValue> {
        let origin = request.get(ORIGIN).filter(|_| accent == Accent::V2)?;
        let known = self
            .origins
            .iter()
            .any(|known| known.as_bytes() == origin.as_bytes());
        known.then_some(origin)
    }
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, HeaderValue};

    use super::Cors;
    use crate::endpoint::Accent;

    fn from(origin: &'static str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert("origin", HeaderValue::from_static(origin));
        headers
    }

    fn marked(cors: &Cors, accent: Accent, origin: &'static str) -> HeaderMap {
        let mut answer = HeaderMap::new();
        cors.mark(accent, &from(origin), &mut answer);
        answer
    }

    #[test]
    fn no_answer_carries_a_word_of_it_by_default() {
        let cors = Cors::default();
        assert!(marked(&cors, Accent::V2, "https://a.example").is_empty());
        assert!(
            cors.preflight(Accent::V2, &from("https://a.example"), "GET")
                .is_none()
        );
    }

    #[test]
    fn only_named_origins_may_read() {
        let cors = Cors::new(vec!["https://a.example".to_owned()]);
        let answer = marked(&cors, Accent::V2, "https://a.example");
        assert_eq!(answer["access-control-allow-origin"], "https://a.example");
        assert!(
            cors.preflight(Accent::V2, &from("https://a.example"), "GET")
                .is_some()
        );
        for (accent, origin) in [
            (Accent::V2, "https://a.example.evil.example"),
            (Accent::V2, "null"),
            (Accent::OAuth2, "https://a.example"),
            (Accent::Page, "https://a.example"),
        ] {
            let answer = marked(&cors, accent, origin);
            assert!(!answer.contains_key("access-control-allow-origin"));
            assert_eq!(answer["vary"], "origin");
            assert!(cors.preflight(accent, &from(origin), "GET").is_none());
        }
    }
}
