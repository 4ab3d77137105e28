//! Liveness and readiness checks.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use base::Error;
use edge::Shutdown;
use http::Uri;
use post_search::SearchBackend;
use store::nodes::NodeProblem;
use store::{NodeRole, NodeRoles, Store, meta};
use tokio::time::timeout;

use crate::reply::HttpReply;

/// Bytes; with less room in the data folder, the server is not ready. A commit takes less, and so does the index.
const MIN_AVAILABLE_SPACE: u64 = 4 << 20;
/// A store that does not answer a small read within this time is not ready.
const READY_TIMEOUT: Duration = Duration::from_secs(2);

/// A node that should get no new requests but ends those in progress. With `http-check disable-on-404`, a balancer tells it
/// apart from a node that failed, whose connections it closes.
const DRAINING_STATUS: u16 = 404;

pub(crate) const HEALTH_ROUTES: [&str; 2] = ["/livez", "/readyz"];

/// Why the public address cannot be used at the moment; `None` if it can.
pub type AddressCheck = Arc<dyn Fn() -> Option<String> + Send + Sync>;

#[derive(Clone)]
pub struct HealthChecks {
    store: Arc<Store>,
    drain: Shutdown,
    roles: NodeRoles,
    search: Option<SearchBackend>,
    address: Arc<OnceLock<AddressCheck>>,
}

impl HealthChecks {
    pub fn new(store: Arc<Store>, drain: Shutdown, roles: NodeRoles, search: Option<SearchBackend>) -> Self {
        Self { store, drain, roles, search, address: Arc::default() }
    }

    pub(crate) const fn search(&self) -> Option<&SearchBackend> {
        self.search.as_ref()
    }

    /// Adds a condition of readiness. Later ones are ignored.
    pub fn set_address_check(&self, check: AddressCheck) {
        let _first = self.address.set(check);
    }

    pub fn match_route(path: &str) -> Option<&'static str> {
        HEALTH_ROUTES.into_iter().find(|route| *route == path)
    }

    /// None if the request is not a health check.
    pub async fn respond(&self, method: &str, uri: &Uri) -> Option<HttpReply> {
        if !matches!(method, "GET" | "HEAD") {
            return None;
        }
        match uri.path() {
            // Only tells that the process responds: a restart does not help a stuck store.
            "/livez" => Some(HttpReply::bytes(200, TEXT_UTF8, "ok\n")),
            "/readyz" => Some(self.check_readiness(uri.query().unwrap_or_default()).await),
            _ => None,
        }
    }

    /// Whether the node is ready for the roles that the query names; without any, whether it works at all.
    async fn check_readiness(&self, query: &str) -> HttpReply {
        let Some(roles) = roles_in_query(query) else {
            return HttpReply::bytes(400, TEXT_UTF8, "role: expected api, stream, search or deliver\n");
        };
        if self.drain.is_announced() {
            return HttpReply::bytes(DRAINING_STATUS, TEXT_UTF8, "draining\n");
        }
        if let Some(problem) = self.store.context().node.problem() {
            let status = if problem == NodeProblem::Draining { DRAINING_STATUS } else { 503 };
            return HttpReply::bytes(status, TEXT_UTF8, problem_text(problem));
        }
        let read = self.store.read(|tx| meta::get(tx, "ready").map_err(Error::Failed));
        if !matches!(timeout(READY_TIMEOUT, read).await, Ok(Ok(_))) {
            return HttpReply::bytes(503, TEXT_UTF8, "the database does not respond\n");
        }
        if self.store.available_space().is_ok_and(|bytes| bytes < MIN_AVAILABLE_SPACE) {
            return HttpReply::bytes(503, TEXT_UTF8, "the disk is full\n");
        }
        if let Some(problem) = self.address.get().and_then(|check| check()) {
            return HttpReply::bytes(503, TEXT_UTF8, format!("{problem}\n"));
        }
        match roles.into_iter().find_map(|role| self.role_problem(role)) {
            Some(problem) => HttpReply::bytes(503, TEXT_UTF8, problem),
            None => HttpReply::bytes(200, TEXT_UTF8, "ok\n"),
        }
    }

    fn role_problem(&self, role: NodeRole) -> Option<String> {
        if !self.roles.contains(role) {
            return Some(format!("this node does not have the role {}\n", role.name()));
        }
        let is_built = || self.search.as_ref().is_some_and(SearchBackend::has_built_index);
        (role == NodeRole::Search && !is_built())
            .then(|| "the search index is being built, or cannot be updated\n".to_owned())
    }
}

/// None if a role is unknown.
fn roles_in_query(query: &str) -> Option<Vec<NodeRole>> {
    query.split('&').filter_map(|pair| pair.strip_prefix("role=")).map(NodeRole::parse).collect()
}

fn problem_text(problem: NodeProblem) -> String {
    match problem {
        NodeProblem::LeaseLost => "this node's lease on its number is not valid\n".to_owned(),
        NodeProblem::Draining => "draining\n".to_owned(),
        NodeProblem::ClockOffset(ms) => format!("the clock is {ms} ms ahead of the database's\n"),
    }
}

const TEXT_UTF8: http::HeaderValue = http::HeaderValue::from_static("text/plain; charset=utf-8");
