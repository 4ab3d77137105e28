//! A request in parts that can be changed one by one.

use serde_json::Value;

use crate::harness::{TestRequest, percent_encode};

/// Who sends a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Caller {
    Owner,
    App,
    /// Somebody who owns nothing of what is named.
    Stranger,
    /// The stranger, with a signature.
    Signed,
    /// A client with its id and secret.
    Client,
    Browser,
    Nobody,
}

impl Caller {
    pub(super) const ALL: [Self; 7] =
        [Self::Owner, Self::App, Self::Stranger, Self::Signed, Self::Client, Self::Browser, Self::Nobody];
}

#[derive(Clone, Debug)]
pub(super) enum CaseBody {
    Empty,
    Json(Value),
    /// Names and values as they are sent.
    Form(Vec<(String, String)>),
    Multipart(Vec<(String, Vec<u8>)>),
    Bytes(&'static str, Vec<u8>),
}

#[derive(Clone, Debug)]
pub(super) struct Case {
    pub(super) caller: Caller,
    pub(super) method: &'static str,
    /// As it is sent.
    pub(super) path: String,
    /// Names and values as they are sent.
    pub(super) query: Vec<(String, String)>,
    pub(super) body: CaseBody,
    pub(super) headers: Vec<(&'static str, String)>,
    /// Only the head of its response is read.
    pub(super) is_stream: bool,
}

/// The client library refuses longer ones. The server's limit is below.
const MAX_TARGET: usize = 60_000;
const BOUNDARY: &str = "------------------------7f3a";

pub(super) fn split_pairs(text: &str) -> Vec<(String, String)> {
    let parts = text.split('&').filter(|part| !part.is_empty());
    let pair = |part: &str| {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        (name.to_owned(), value.to_owned())
    };
    parts.map(pair).collect()
}

fn join_pairs(pairs: &[(String, String)]) -> String {
    let pairs: Vec<String> = pairs.iter().map(|(name, value)| format!("{name}={value}")).collect();
    pairs.join("&")
}

impl Case {
    pub(super) fn new(caller: Caller, request: &TestRequest) -> Self {
        let (path, query) = request.target.split_once('?').unwrap_or((&request.target, ""));
        let kind = request.headers.iter().find(|(name, _)| *name == "content-type");
        let kind = kind.map(|(_, value)| String::from_utf8_lossy(value).into_owned()).unwrap_or_default();
        let text = String::from_utf8_lossy(&request.body).into_owned();
        let body = match kind.as_str() {
            "application/json" => CaseBody::Json(serde_json::from_str(&text).unwrap()),
            kind if kind.contains("form-urlencoded") => CaseBody::Form(split_pairs(&text)),
            _ => CaseBody::Empty,
        };
        Self {
            caller,
            method: request.method,
            path: path.to_owned(),
            query: split_pairs(query),
            body,
            headers: Vec::new(),
            is_stream: false,
        }
    }

    pub(super) fn with_body(mut self, body: CaseBody) -> Self {
        self.body = body;
        self
    }

    /// The request without credentials.
    pub(super) fn to_request(&self) -> TestRequest {
        let mark = if self.query.is_empty() { "" } else { "?" };
        let mut target = sendable(&format!("{}{mark}{}", self.path, join_pairs(&self.query)));
        target.truncate(MAX_TARGET);
        let request = TestRequest::new(self.method, target);
        let mut request = match &self.body {
            CaseBody::Empty => request,
            CaseBody::Json(value) => request.json(value),
            CaseBody::Form(pairs) => request.form(join_pairs(pairs)),
            CaseBody::Multipart(parts) => {
                let kind = "multipart/form-data; boundary=------------------------7f3a";
                request.body(kind, multipart(parts))
            }
            CaseBody::Bytes(kind, bytes) => request.body(kind, bytes.clone()),
        };
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        request
    }
}

fn multipart(parts: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut body = Vec::new();
    for (name, value) in parts {
        let file = if ["media", "list"].contains(&name.as_str()) { "; filename=\"file\"" } else { "" };
        let head = format!("--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"{file}\r\n\r\n");
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(value);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(format!("--{BOUNDARY}--\r\n").as_bytes());
    body
}

/// The client library refuses targets with characters outside of RFC 3986 §2.
fn sendable(target: &str) -> String {
    let mut text = String::with_capacity(target.len());
    for letter in target.chars() {
        let plain = letter.is_ascii_graphic() && !"\"<>\\^`{|}#".contains(letter);
        if plain {
            text.push(letter);
        } else {
            text.push_str(&percent_encode(&letter.to_string()));
        }
    }
    text
}
