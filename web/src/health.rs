//! Whether the process lives, and whether it can serve.

use std::sync::Arc;
use std::time::Duration;

use base::Error;
use edge::Shutdown;
use store::{Store, meta};
use tokio::time::timeout;

use crate::reply::Reply;

/// A store that does not answer a small read within this is not ready.
const PATIENCE: Duration = Duration::from_secs(2);

/// What is asked to know.
#[derive(Clone)]
pub struct Health {
    store: Arc<Store>,
    drain: Shutdown,
}

impl Health {
    /// Health of a store and of a process that `drain` ends.
    pub const fn new(store: Arc<Store>, drain: Shutdown) -> Self {
        Self { store, drain }
    }

    /// The path, if it is one of health.
    pub fn route(path: &str) -> Option<&'static str> {
        ["/livez", "/readyz"]
            .into_iter()
            .find(|route| *route == path)
    }

    /// The answer for a path, if the path is one of health.
    pub async fn answer(&self, method: &str, path: &str) -> Option<Reply> {
        if !matches!(method, "GET" | "HEAD") {
            return None;
        }
        match path {
            // The process answers: that is all it says. A stuck store is no reason to restart.
            "/livez" => Some(Reply::bytes(200, PLAIN, "ok\n")),
            "/readyz" => Some(self.ready().await),
            _ => None,
        }
    }

    async fn ready(&self) -> Reply {
        if self.drain.is_triggered() {
            return Reply::bytes(503, PLAIN, "draining\n");
        }
        let read = self
            .store
            .read(|tx| meta::get(tx, "ready").map_err(Error::Failed));
        match timeout(PATIENCE, read).await {
            Ok(Ok(_)) => Reply::bytes(200, PLAIN, "ok\n"),
            Ok(Err(_)) | Err(_) => Reply::bytes(503, PLAIN, "the store does not answer\n"),
        }
    }
}

const PLAIN: http::HeaderValue = http::HeaderValue::from_static("text/plain; charset=utf-8");
