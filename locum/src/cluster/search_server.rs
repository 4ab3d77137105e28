//! Answers the questions of other nodes from the search index of this one.

use std::sync::Arc;
use std::time::Duration;

use base::{Error, Refusal};
use edge::{Body, Handler, ListenerLimits};
use futures_util::future::BoxFuture;
use http::header::{AUTHORIZATION, HeaderValue};
use http::{Method, Request, Response};
use post_search::PostSearch;
use store::Store;
use tokio::sync::Semaphore;
use web::HttpReply;

use super::{ClusterKey, MAX_MESSAGE_BYTES, SEARCH_PATH};

const BODY_TIMEOUT: Duration = Duration::from_secs(2);
/// Questions that are answered at a time; more are refused, and asked of another node.
const MAX_QUESTIONS: usize = 1_024;
const PLAIN: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");
const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// All connections come from few addresses.
pub(crate) fn listener_limits() -> ListenerLimits {
    let limits = ListenerLimits::default();
    ListenerLimits {
        max_connections_per_ip: limits.max_connections,
        max_body_memory_per_ip: limits.max_body_memory,
        shutdown_grace: BODY_TIMEOUT,
        ..limits
    }
}

#[derive(Clone)]
pub(crate) struct ClusterServer {
    store: Arc<Store>,
    search: Arc<PostSearch>,
    key: ClusterKey,
    slots: Arc<Semaphore>,
}

impl ClusterServer {
    pub(crate) fn new(store: Arc<Store>, search: Arc<PostSearch>, key: ClusterKey) -> Self {
        Self { store, search, key, slots: Arc::new(Semaphore::new(MAX_QUESTIONS)) }
    }

    async fn answer(&self, request: Request<Body>) -> HttpReply {
        let (parts, body) = request.into_parts();
        let header = parts.headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let context = self.store.context();
        let digest = self.key.authorized_digest(header, context.node.incarnation(), context.clock.now());
        let Some(digest) = digest else {
            return text_reply(401, "only other nodes may ask\n");
        };
        if parts.method != Method::POST || parts.uri.path() != SEARCH_PATH {
            return text_reply(404, "not found\n");
        }
        let Ok(_slot) = self.slots.try_acquire() else {
            return text_reply(503, "too many questions\n");
        };
        let Ok(body) = body.collect_bytes(MAX_MESSAGE_BYTES, BODY_TIMEOUT).await else {
            return text_reply(400, "the question cannot be read\n");
        };
        if !digest.is_of(&body) {
            return text_reply(401, "only other nodes may ask\n");
        }
        match Arc::clone(&self.search).answer_question(&body).await {
            Ok(answer) => HttpReply::bytes(200, JSON, answer),
            Err(Error::Refused(Refusal::Unavailable)) => text_reply(503, "the index is not far enough\n"),
            Err(Error::Refused(_)) => text_reply(400, "the question cannot be read\n"),
            Err(Error::Failed(fault)) => {
                tracing::error!(target: "fault", "{fault}");
                text_reply(500, "the question could not be answered\n")
            }
        }
    }
}

impl Handler for ClusterServer {
    fn call(&self, request: Request<Body>) -> BoxFuture<'static, Response<Body>> {
        let server = self.clone();
        Box::pin(async move { server.answer(request).await.into() })
    }
}

fn text_reply(status: u16, message: &'static str) -> HttpReply {
    HttpReply::bytes(status, PLAIN, message)
}
