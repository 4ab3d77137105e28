//! One request, and its answer.

use std::io::{Read, Write};

use base::Secret;
use base::oauth1::{OAuth1Request, OAuth1Signer, RequestOrigin};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;
use ureq::http::{self, HeaderMap, HeaderValue};

use super::{exchange_to_close, page_rules, response_log, unique_number};

const FORM: &str = "application/x-www-form-urlencoded";

/// A request to be sent.
#[derive(Clone, Debug)]
pub(crate) struct TestRequest {
    pub(crate) method: &'static str,
    /// Path and query, as they go over the wire.
    pub(crate) target: String,
    pub(crate) headers: Vec<(&'static str, Vec<u8>)>,
    pub(crate) body: Vec<u8>,
}

/// Percent-encodes a value.
pub(crate) fn percent_encode(text: &str) -> String {
    base::percent::encode(text).to_string()
}

impl TestRequest {
    pub(crate) fn new(method: &'static str, target: impl Into<String>) -> Self {
        let target = target.into();
        Self { method, target, headers: Vec::new(), body: Vec::new() }
    }

    pub(crate) fn get(target: impl Into<String>) -> Self {
        Self::new("GET", target)
    }

    pub(crate) fn post(target: impl Into<String>) -> Self {
        Self::new("POST", target)
    }

    pub(crate) fn delete(target: impl Into<String>) -> Self {
        Self::new("DELETE", target)
    }

    #[must_use]
    pub(crate) fn header(mut self, name: &'static str, value: impl AsRef<[u8]>) -> Self {
        self.headers.retain(|(known, _)| *known != name);
        self.headers.push((name, value.as_ref().to_vec()));
        self
    }

    #[must_use]
    pub(crate) fn authorization(self, value: impl AsRef<[u8]>) -> Self {
        self.header("authorization", value)
    }

    #[must_use]
    pub(crate) fn bearer(self, token: &str) -> Self {
        self.authorization(format!("Bearer {token}"))
    }

    #[must_use]
    pub(crate) fn basic(self, user: &str, password: &str) -> Self {
        let pair = format!("{}:{}", percent_encode(user), percent_encode(password));
        self.authorization(format!("Basic {}", BASE64_STANDARD.encode(pair)))
    }

    #[must_use]
    pub(crate) fn body(mut self, kind: &'static str, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self.header("content-type", kind)
    }

    #[must_use]
    pub(crate) fn json(self, value: &Value) -> Self {
        self.body("application/json", value.to_string())
    }

    #[must_use]
    pub(crate) fn form(self, text: impl Into<String>) -> Self {
        self.body(FORM, text.into())
    }

    /// The `Authorization` header of this request, signed as if it were sent to `origin`.
    pub(crate) fn oauth1_header(&self, key: &OAuth1Credentials<'_>, origin: &str) -> String {
        self.try_oauth1_header(key, origin).unwrap()
    }

    /// None for parameters that are no text.
    pub(crate) fn try_oauth1_header(&self, key: &OAuth1Credentials<'_>, origin: &str) -> Option<String> {
        let (path, query) = self.target.split_once('?').unwrap_or((&self.target, ""));
        let is_form = self.headers.iter().any(|(_, value)| value.starts_with(FORM.as_bytes()));
        let request = OAuth1Request {
            method: self.method,
            path,
            query,
            authorization: None,
            form: is_form.then_some(self.body.as_slice()),
        };
        let nonce = key.nonce.clone().unwrap_or_else(nonce);
        let now = base::clock::wall_time().ms() / 1000;
        let (consumer_secret, secret) = (Secret::new(key.consumer.1), Secret::new(key.token.1));
        let signer = OAuth1Signer {
            consumer_key: key.consumer.0,
            consumer_secret: &consumer_secret,
            token: (!key.token.0.is_empty()).then_some((key.token.0, &secret)),
            nonce: &nonce,
            timestamp: now + key.skew,
            extra_parameters: &[],
        };
        signer.sign(&request, &RequestOrigin::parse(origin).unwrap()).ok()
    }

    pub(super) fn send(self, agent: &ureq::Agent, url: &str) -> TestResponse {
        let shown = format!("{} {}", self.method, self.target);
        self.try_send(agent, url).unwrap_or_else(|error| panic!("{shown}: {error}"))
    }

    pub(super) fn try_send(self, agent: &ureq::Agent, url: &str) -> Result<TestResponse, ureq::Error> {
        let (method, target) = (self.method, self.target.clone());
        let mut response = self.begin(agent, url)?;
        let body = response.body_mut().read_to_vec()?;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        response_log::record_response(method, &target, status, &headers, &body);
        Ok(TestResponse::read(format!("{method} {target}"), status, headers, body))
    }

    pub(super) fn try_send_for_head(self, agent: &ureq::Agent, url: &str) -> Result<u16, ureq::Error> {
        self.begin(agent, url).map(|response| response.status().as_u16())
    }

    /// Sends it and reads the head of the response.
    fn begin(self, agent: &ureq::Agent, url: &str) -> Result<http::Response<ureq::Body>, ureq::Error> {
        let mut request = http::Request::builder().method(self.method).uri(format!("{url}{}", self.target));
        for (name, value) in &self.headers {
            request = request.header(*name, HeaderValue::from_bytes(value).unwrap());
        }
        let sends = !self.body.is_empty() || matches!(self.method, "POST" | "PUT" | "PATCH");
        if sends { agent.run(request.body(self.body)?) } else { agent.run(request.body(())?) }
    }
}

/// Who signs a request.
#[derive(Clone, Debug, Default)]
pub(crate) struct OAuth1Credentials<'k> {
    /// The app's key and secret.
    pub(crate) consumer: (&'k str, &'k str),
    /// The token and its secret; empty for none.
    pub(crate) token: (&'k str, &'k str),
    /// Seconds by which the client's clock is ahead.
    pub(crate) skew: i64,
    /// Instead of one that was never used.
    pub(crate) nonce: Option<String>,
}

fn nonce() -> String {
    format!("{}x{}x{}", std::process::id(), base::clock::wall_time().ms(), unique_number())
}

/// An answer.
#[derive(Debug)]
pub(crate) struct TestResponse {
    request_line: String,
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl TestRequest {
    /// Over a connection of its own.
    pub(super) fn send_raw(self, host: &str, stream: &mut (impl Read + Write)) -> TestResponse {
        let Self { method, target, headers, body } = self;
        let mut bytes = format!("{method} {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n").into_bytes();
        for (name, value) in &headers {
            bytes.extend([name.as_bytes(), b": ", value, b"\r\n"].concat());
        }
        bytes.extend(format!("Content-Length: {}\r\n\r\n", body.len()).into_bytes());
        bytes.extend(body);
        let text = exchange_to_close(stream, bytes);
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{method} {target}: {text:?}"));
        let fields = head.lines().skip(1).filter_map(|line| line.split_once(": "));
        let headers = fields.map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
        let status = head[9..12].parse().unwrap();
        TestResponse::read(format!("{method} {target}"), status, headers, body.as_bytes().to_vec())
    }
}

impl TestResponse {
    fn read(request_line: String, status: u16, headers: HeaderMap, body: Vec<u8>) -> Self {
        page_rules::check_response(&request_line, status, &headers, &body);
        Self { request_line, status, headers, body }
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{}: {error}: {}", self.request_line, self.text()))
    }

    /// It has this status; its body.
    #[track_caller]
    pub(crate) fn assert_status(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}: {}", self.request_line, self.text());
        self.json()
    }

    /// It was refused, with these words somewhere in the answer.
    #[track_caller]
    pub(crate) fn assert_refused(&self, status: u16, words: &str) {
        let text = self.text();
        assert_eq!(self.status, status, "{}: {text}", self.request_line);
        assert!(text.contains(words), "{}: no {words:?} in {text}", self.request_line);
    }

    /// It is a page with this status; its HTML.
    #[track_caller]
    pub(crate) fn assert_page(&self, status: u16) -> String {
        assert_eq!(self.status, status, "{}", self.text());
        let kind = self.header("content-type");
        assert!(kind.starts_with("text/html"), "{kind}: {}", self.text());
        self.text()
    }

    /// It was carried out; its body.
    #[track_caller]
    pub(crate) fn assert_accepted(&self) -> Value {
        assert!((200..300).contains(&self.status), "{}: {} {}", self.request_line, self.status, self.text());
        self.json()
    }

    /// It has this status and this legacy code.
    #[track_caller]
    pub(crate) fn assert_legacy_code(&self, status: u16, code: u64) {
        let errors = &self.assert_status(status)["errors"];
        assert_eq!(errors[0]["code"], code, "{}: {errors}", self.request_line);
    }

    /// It refuses the request with this sentence among others.
    #[track_caller]
    pub(crate) fn assert_error(&self, status: u16, sentence: &str) {
        let body = self.assert_status(status);
        let message = self.error_messages();
        assert!(message.iter().any(|message| message == sentence), "{}: {body}", self.request_line);
    }

    /// It is a problem of this type.
    #[track_caller]
    pub(crate) fn assert_problem(&self, status: u16, kind: &str) -> Value {
        let body = self.assert_status(status);
        let of = body["type"].as_str().unwrap_or_default();
        assert_eq!(of.rsplit('/').next(), Some(kind), "{}: {body}", self.request_line);
        assert!(self.header("content-type").starts_with("application/problem+json"), "{body}");
        body
    }

    /// Every sentence in it.
    pub(crate) fn error_messages(&self) -> Vec<String> {
        let body = self.json();
        let errors = body["errors"].as_array().cloned().unwrap_or_default();
        let all = errors.iter().chain([&body]);
        let texts = all.flat_map(|error| [error["message"].as_str(), error["detail"].as_str()]);
        texts.flatten().map(str::to_owned).collect()
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// A header that is a number.
    #[track_caller]
    pub(crate) fn header_number(&self, name: &str) -> i64 {
        let value = self.header(name);
        value.parse().unwrap_or_else(|_| panic!("{}: {name} is {value:?}", self.request_line))
    }
}
