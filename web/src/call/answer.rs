//! What a handler says when all went well.

use base::Error;
use bytes::Bytes;
use deliver::streams::SessionFeed;
use edge::Body;
use futures_util::StreamExt as _;
use serde_json::{Map, Value as Json, json};
use view::ResponsePayload;

use super::Call;
use crate::accents;
use crate::page::Tokens;
use crate::reply::{JSON, Reply};

impl Call {
    /// An answer that goes on for as long as somebody reads it.
    pub fn stream(&self, feed: SessionFeed) -> Reply {
        Reply::stream(JSON, Body::stream(feed.map(Ok)))
    }

    /// A success whose `data` is this.
    #[expect(clippy::needless_pass_by_value, reason = "what is said is said")]
    pub fn say(&self, data: Json) -> Result<Reply, Error> {
        self.say_whole(&json!({ "data": data }))
    }

    /// A success whose body is this, with nothing put around it.
    pub fn say_whole(&self, body: &Json) -> Result<Reply, Error> {
        Ok(Reply::json(self.endpoint.success, body))
    }

    /// A success with what was asked for, what it leads to, and what is not shown and why.
    pub fn answer(&self, answer: &ResponsePayload) -> Result<Reply, Error> {
        self.answer_with(answer, None)
    }

    /// The same for a page: its size and the tokens of its neighbours.
    pub fn answer_page(&self, answer: &ResponsePayload, tokens: &Tokens) -> Result<Reply, Error> {
        self.answer_with(answer, Some(tokens.meta(answer.count)))
    }

    /// The same for a page of posts in time: also their highest and lowest id.
    pub fn answer_timeline(
        &self,
        answer: &ResponsePayload,
        tokens: &Tokens,
    ) -> Result<Reply, Error> {
        let mut meta = tokens.meta(answer.count);
        for (name, id) in [
            ("newest_id", answer.newest_id),
            ("oldest_id", answer.oldest_id),
        ] {
            if let Some(id) = id {
                meta.insert(name.to_owned(), Json::String(id.to_string()));
            }
        }
        self.answer_with(answer, Some(meta))
    }

    /// The same with a `meta` of the operation's own.
    pub fn answer_with(
        &self,
        answer: &ResponsePayload,
        meta: Option<Map<String, Json>>,
    ) -> Result<Reply, Error> {
        if let Some(caller) = &self.caller {
            self.home.reads.record(caller.app_id, &answer.posts);
        }
        let base = &self.home.problem_base;
        let errors = answer
            .errors
            .iter()
            .map(|refusal| accents::partial(refusal, base))
            .collect();
        let errors = Json::Array(errors).to_string();
        let meta = meta
            .map(|meta| Json::Object(meta).to_string())
            .unwrap_or_default();
        let parts = [
            ("data", answer.data.as_str()),
            ("includes", &answer.includes),
            (
                "errors",
                if answer.errors.is_empty() {
                    ""
                } else {
                    &errors
                },
            ),
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
        self.say_bytes(text)
    }

    /// A success in bytes that are JSON already.
    pub fn say_bytes(&self, body: impl Into<Bytes>) -> Result<Reply, Error> {
        Ok(Reply::bytes(self.endpoint.success, JSON, body))
    }
}
