//! What a handler says when all went well.

use base::Error;
use bytes::Bytes;
use deliver::streams::SessionFeed;
use edge::Body;
use futures_util::StreamExt as _;
use serde_json::{Map, Value as Json, json};
use view::ResponsePayload;

use super::RequestContext;
use crate::error_formats;
use crate::pagination::PageTokens;
use crate::reply::{HttpReply, JSON_UTF8};

impl RequestContext {
    /// An answer that goes on for as long as somebody reads it.
    pub fn respond_stream(&self, feed: SessionFeed) -> HttpReply {
        HttpReply::stream(JSON_UTF8, Body::stream(feed.map(Ok)))
    }

    /// A success whose `data` is this.
    #[expect(clippy::needless_pass_by_value, reason = "what is said is said")]
    pub fn respond_data(&self, data: Json) -> Result<HttpReply, Error> {
        self.respond_json(&json!({ "data": data }))
    }

    /// A success whose body is this, with nothing put around it.
    pub fn respond_json(&self, body: &Json) -> Result<HttpReply, Error> {
        Ok(HttpReply::json(self.endpoint.success_status, body))
    }

    /// A success with what was asked for, what it leads to, and what is not shown and why.
    pub fn respond(&self, answer: &ResponsePayload) -> Result<HttpReply, Error> {
        self.respond_with_meta(answer, None)
    }

    /// The same for a page: its size and the tokens of its neighbours.
    pub fn respond_page(&self, answer: &ResponsePayload, tokens: &PageTokens) -> Result<HttpReply, Error> {
        self.respond_with_meta(answer, Some(tokens.to_meta(answer.count)))
    }

    /// The same for a page of posts in time: also their highest and lowest id.
    pub fn respond_timeline(&self, answer: &ResponsePayload, tokens: &PageTokens) -> Result<HttpReply, Error> {
        let mut meta = tokens.to_meta(answer.count);
        for (name, id) in [("newest_id", answer.newest_id), ("oldest_id", answer.oldest_id)] {
            if let Some(id) = id {
                meta.insert(name.to_owned(), Json::String(id.to_string()));
            }
        }
        self.respond_with_meta(answer, Some(meta))
    }

    /// The same with a `meta` of the operation's own.
    pub fn respond_with_meta(
        &self,
        answer: &ResponsePayload,
        meta: Option<Map<String, Json>>,
    ) -> Result<HttpReply, Error> {
        if let Some(caller) = &self.caller {
            self.state.post_reads.record(caller.app_id, &answer.posts);
        }
        let base = &self.state.problem_base;
        let errors = answer
            .errors
            .iter()
            .map(|refusal| error_formats::render_partial_error(refusal, base))
            .collect();
        let errors = Json::Array(errors).to_string();
        let meta = meta.map(|meta| Json::Object(meta).to_string()).unwrap_or_default();
        let parts = [
            ("data", answer.data.as_str()),
            ("includes", &answer.includes),
            ("errors", if answer.errors.is_empty() { "" } else { &errors }),
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

    /// A success in bytes that are JSON already.
    pub fn respond_bytes(&self, body: impl Into<Bytes>) -> Result<HttpReply, Error> {
        Ok(HttpReply::bytes(self.endpoint.success_status, JSON_UTF8, body))
    }
}
