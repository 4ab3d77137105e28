//! Liveness and readiness checks.

use std::sync::Arc;
use std::time::Duration;

use base::Error;
use edge::Shutdown;
use store::nodes::NodeProblem;
use store::{Store, meta};
use tokio::time::timeout;

use crate::reply::HttpReply;

/// Bytes; with less room in the data folder, the server is not ready. A commit takes less, and so does the index.
const MIN_AVAILABLE_SPACE: u64 = 4 << 20;
/// A store that does not answer a small read within this time is not ready.
const READY_TIMEOUT: Duration = Duration::from_secs(2);

#[derive(Clone)]
pub struct HealthChecks {
    store: Arc<Store>,
    drain: Shutdown,
}

impl HealthChecks {
    pub const fn new(store: Arc<Store>, drain: Shutdown) -> Self {
        Self { store, drain }
    }

    pub fn match_route(path: &str) -> Option<&'static str> {
        ["/livez", "/readyz"].into_iter().find(|route| *route == path)
    }

    /// None if the request is not a health check.
    pub async fn respond(&self, method: &str, path: &str) -> Option<HttpReply> {
        if !matches!(method, "GET" | "HEAD") {
            return None;
        }
        match path {
            // Only tells that the process responds: a restart does not help a stuck store.
            "/livez" => Some(HttpReply::bytes(200, TEXT_UTF8, "ok\n")),
            "/readyz" => Some(self.check_readiness().await),
            _ => None,
        }
    }

    async fn check_readiness(&self) -> HttpReply {
        if self.drain.is_triggered() {
            return HttpReply::bytes(503, TEXT_UTF8, "draining\n");
        }
        if let Some(problem) = self.store.context().node.problem() {
            return HttpReply::bytes(503, TEXT_UTF8, problem_text(problem));
        }
        let read = self.store.read(|tx| meta::get(tx, "ready").map_err(Error::Failed));
        if !matches!(timeout(READY_TIMEOUT, read).await, Ok(Ok(_))) {
            return HttpReply::bytes(503, TEXT_UTF8, "the database does not respond\n");
        }
        if self.store.available_space().is_ok_and(|bytes| bytes < MIN_AVAILABLE_SPACE) {
            return HttpReply::bytes(503, TEXT_UTF8, "the disk is full\n");
        }
        HttpReply::bytes(200, TEXT_UTF8, "ok\n")
    }
}

fn problem_text(problem: NodeProblem) -> String {
    match problem {
        NodeProblem::LeaseLost => "this node's lease on its number is not valid\n".to_owned(),
        NodeProblem::Draining => "draining\n".to_owned(),
        NodeProblem::ClockOffset(ms) => format!("the clock is {ms} ms ahead of the database's\n"),
    }
}

const TEXT_UTF8: http::HeaderValue = http::HeaderValue::from_static("text/plain; charset=utf-8");
