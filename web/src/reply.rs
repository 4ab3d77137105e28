//! Responses of handlers, before the pipeline adds its headers.

use std::borrow::Cow;

use bytes::Bytes;
use edge::Body;
use http::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION};
use http::{Response, StatusCode};
use serde_json::Value;

/// As the v2 API labels JSON.
pub const JSON_UTF8: HeaderValue = HeaderValue::from_static("application/json; charset=utf-8");
/// As the Ads API labels JSON.
pub const ADS_JSON: HeaderValue = HeaderValue::from_static("application/json;charset=utf-8");
pub const PROBLEM_JSON: HeaderValue = HeaderValue::from_static("application/problem+json; charset=utf-8");
/// Also used by the OAuth 1.0a operations.
pub const HTML_UTF8: HeaderValue = HeaderValue::from_static("text/html; charset=utf-8");
pub const TEXT_UTF8: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");

#[derive(Debug)]
pub struct HttpReply {
    pub status: u16,
    /// In addition to those that the pipeline sets.
    pub headers: HeaderMap,
    pub body: Body,
    /// Whether each chunk must be sent as soon as it is available.
    pub streamed: bool,
}

impl From<HttpReply> for Response<Body> {
    fn from(reply: HttpReply) -> Self {
        let mut response = Self::new(reply.body);
        *response.status_mut() = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        *response.headers_mut() = reply.headers;
        response
    }
}

impl HttpReply {
    pub fn empty(status: u16) -> Self {
        Self { status, headers: HeaderMap::new(), body: Body::empty(), streamed: false }
    }

    pub fn bytes(status: u16, kind: HeaderValue, bytes: impl Into<Bytes>) -> Self {
        Self { body: Body::full(bytes), ..Self::empty(status) }.header(CONTENT_TYPE, kind)
    }

    pub fn json(status: u16, value: &Value) -> Self {
        Self::bytes(status, JSON_UTF8, value.to_string())
    }

    pub fn html(status: u16, page: impl Into<Bytes>) -> Self {
        Self::bytes(status, HTML_UTF8, page)
    }

    /// Form-encoded, with the content type of the OAuth 1.0a operations.
    pub fn form(text: String) -> Self {
        Self::bytes(200, HTML_UTF8, text)
    }

    pub fn stream(kind: HeaderValue, body: Body) -> Self {
        let reply = Self { body, streamed: true, ..Self::empty(200) };
        reply.header(CONTENT_TYPE, kind)
    }

    pub fn redirect(to: &str) -> Self {
        Self::empty(302).location(to)
    }

    #[must_use]
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.append(name, value);
        self
    }

    /// Escapes bytes that a header cannot hold.
    #[must_use]
    pub fn location(mut self, to: &str) -> Self {
        let safe = |byte: u8| byte.is_ascii_graphic();
        let to = if to.bytes().all(safe) {
            Cow::Borrowed(to)
        } else {
            Cow::Owned(to.chars().map(percent_escape).collect::<String>())
        };
        if let Ok(value) = HeaderValue::from_str(&to) {
            self.headers.insert(LOCATION, value);
        }
        self
    }

    #[must_use]
    pub fn status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }
}

fn percent_escape(letter: char) -> String {
    if letter.is_ascii_graphic() {
        return letter.to_string();
    }
    let mut bytes = [0; 4];
    let bytes = letter.encode_utf8(&mut bytes).bytes();
    let escaped: Vec<String> = bytes.map(|byte| format!("%{byte:02X}")).collect();
    escaped.concat()
}

#[cfg(test)]
mod tests {
    use super::HttpReply;

    #[test]
    fn a_location_holds_no_line_break() {
        let reply = HttpReply::redirect("https://a.example/cb?x=1\r\nset-cookie: a=b&é");
        let location = reply.headers.get("location").unwrap().to_str().unwrap();
        assert_eq!(location, "https://a.example/cb?x=1%0D%0Aset-cookie:%20a=b&%C3%A9");
        assert_eq!(reply.status, 302);
    }
}
