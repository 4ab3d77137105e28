//! Success responses of handlers.

use std::fmt;
use std::sync::Arc;

use base::Error;
use bytes::Bytes;
use edge::{Body, BodyError};
use futures_util::{Stream, StreamExt as _};
use http::HeaderValue;
use serde_json::{Map, Value, json};
use view::ResponsePayload;

use super::RequestContext;
use crate::access_log;
use crate::error_formats;
use crate::pagination::PageTokens;
use crate::reply::{HttpReply, JSON_UTF8};

impl RequestContext {
    /// A response that lasts as long as the client reads it. The app's limit on connections replaces that of the
    /// client's address.
    pub fn respond_stream(&self, feed: impl Stream<Item = Bytes> + Send + 'static) -> HttpReply {
        HttpReply::stream(JSON_UTF8, Body::stream(feed.map(Ok)).without_address_limit())
    }

    /// A response that is made while it is sent.
    pub fn respond_parts<E: fmt::Display>(
        &self,
        kind: HeaderValue,
        parts: impl Stream<Item = Result<Bytes, E>> + Send + 'static,
    ) -> HttpReply {
        HttpReply::stream(kind, self.body_of_parts(parts))
    }

    /// A failure is logged and breaks the response off.
    pub(crate) fn body_of_parts<E: fmt::Display>(
        &self,
        parts: impl Stream<Item = Result<Bytes, E>> + Send + 'static,
    ) -> Body {
        let (head, route) = (Arc::clone(&self.head), self.endpoint.path);
        let parts = parts.map(move |part| {
            part.map_err(|fault| {
                access_log::log_fault(&fault, &head.id, route);
                BodyError::Broken
            })
        });
        Body::stream(parts)
    }

    /// Wraps `data` in an object.
    #[expect(clippy::needless_pass_by_value, reason = "callers pass a temporary")]
    pub fn respond_data(&self, data: Value) -> Result<HttpReply, Error> {
        self.respond_json(&json!({ "data": data }))
    }

    /// Sends `body` without an envelope.
    pub fn respond_json(&self, body: &Value) -> Result<HttpReply, Error> {
        Ok(HttpReply::json(self.endpoint.success_status, body))
    }

    /// Sends `data`, `includes` and partial `errors`.
    pub fn respond(&self, payload: &ResponsePayload) -> Result<HttpReply, Error> {
        self.respond_with_meta(payload, None)
    }

    /// Adds `meta` with the result count and the page tokens.
    pub fn respond_page(&self, payload: &ResponsePayload, tokens: &PageTokens) -> Result<HttpReply, Error> {
        self.respond_with_meta(payload, Some(tokens.to_meta(payload.count)))
    }

    /// Like [`Self::respond_page`], with `newest_id` and `oldest_id` in `meta`.
    pub fn respond_timeline(&self, payload: &ResponsePayload, tokens: &PageTokens) -> Result<HttpReply, Error> {
        let mut meta = tokens.to_meta(payload.count);
        for (name, id) in [("newest_id", payload.newest_id), ("oldest_id", payload.oldest_id)] {
            if let Some(id) = id {
                meta.insert(name.to_owned(), Value::String(id.to_string()));
            }
        }
        self.respond_with_meta(payload, Some(meta))
    }

    pub fn respond_with_meta(
        &self,
        payload: &ResponsePayload,
        meta: Option<Map<String, Value>>,
    ) -> Result<HttpReply, Error> {
        if let Some(caller) = &self.caller {
            self.state.post_reads.record(caller.app_id, &payload.posts);
            if let Some(user) = caller.user.filter(|_| self.endpoint.method == "GET") {
                self.state.views.record(user, &payload.viewed_posts, self.now());
            }
        }
        let base = &self.state.problem_base;
        let errors = payload.errors.iter().map(|refusal| error_formats::render_partial_error(refusal, base)).collect();
        let errors = Value::Array(errors).to_string();
        let meta = meta.map(|meta| Value::Object(meta).to_string()).unwrap_or_default();
        let parts = [
            ("data", payload.data.as_str()),
            ("includes", &payload.includes),
            ("errors", if payload.errors.is_empty() { "" } else { &errors }),
            ("meta", &meta),
        ];
        let length: usize = parts.iter().map(|(_, json)| json.len() + 16).sum();
        let mut text = String::with_capacity(length);
        for (name, json) in parts.into_iter().filter(|(_, json)| !json.is_empty()) {
            text.push_str(if text.is_empty() { "{\"" } else { ",\"" });
            text.push_str(name);
            text.push_str("\":");
            text.push_str(json);
        }
        text.push_str(if text.is_empty() { "{}" } else { "}" });
        self.respond_bytes(text)
    }

    /// `body` must be JSON.
    pub fn respond_bytes(&self, body: impl Into<Bytes>) -> Result<HttpReply, Error> {
        Ok(HttpReply::bytes(self.endpoint.success_status, JSON_UTF8, body))
    }
}
