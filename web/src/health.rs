//! Whether the process lives, and whether it can serve.

use std::sync::Arc;
use std::time::Duration;

use base::Error;
use edge::Shutdown;
use store::{Store, meta};
use tokio::time::timeout;

use crate::reply::HttpReply;

/// A store that does not answer a small read within this is not ready.
const READY_TIMEOUT: Duration = Duration::from_secs(2);

/// What is asked to know.
#[derive(Clone)]
pub struct HealthChecks {
    store: Arc<Store>,
    drain: Shutdown,
}

impl HealthChecks {
    /// Health of a store and of a process that `drain` ends.
    pub const fn new(store: Arc<Store>, drain: Shutdown) -> Self {
        Self { store, drain }
    }

    /// The path, if it is one of health.
    pub fn match_route(path: &str) -> Option<&'static str> {
        ["/livez", "/readyz"].into_iter().find(|route| *route == path)
    }

    /// The answer for a path, if the path is one of health.
    pub async fn respond(&self, method: &str, path: &str) -> Option<HttpReply> {
        if !matches!(method, "GET" | "HEAD") {
            return None;
        }
        match path {
            // The process answers: that is all it says. A stuck store is no reason to restart.
            "/livez" => Some(HttpReply::bytes(200, TEXT_UTF8, "ok\n")),
            "/readyz" => Some(self.check_readiness().await),
            _ => None,
        }
    }

    async fn check_readiness(&self) -> HttpReply {
        if self.drain.is_triggered() {
            return HttpReply::bytes(503, TEXT_UTF8, "draining\n");
        }
        let read = self.store.read(|tx| meta::get(tx, "ready").map_err(Error::Failed));
        match timeout(READY_TIMEOUT, read).await {
            Ok(Ok(_)) => HttpReply::bytes(200, TEXT_UTF8, "ok\n"),
            Ok(Err(_)) | Err(_) => HttpReply::bytes(503, TEXT_UTF8, "the store does not answer\n"),
        }
    }
}

const TEXT_UTF8: http::HeaderValue = http::HeaderValue::from_static("text/plain; charset=utf-8");
