//! Finds the world of each request and lets it answer.

use std::cell::RefCell;
use std::sync::Arc;

use base::Error;
use edge::{Body, Handler, Shutdown};
use futures_util::future::BoxFuture;
use http::{Request, Response, StatusCode};

use super::control::name_missing_key;
use super::registry::WorldRegistry;
use super::request_world::{self, CONSOLE_PREFIX};
use super::slot::{WorldLease, WorldSlot};
use crate::runtime::ServedWorld;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WorldInterface {
    Public,
    AdsSandbox,
    Control,
}

#[derive(Clone)]
pub(crate) struct WorldHandler {
    worlds: Arc<WorldRegistry>,
    interface: WorldInterface,
}

tokio::task_local! {
    /// The lease of the request that runs, if it is one of the testing tools'.
    static REQUEST_LEASE: RefCell<Option<WorldLease>>;
}

/// A request that replaces its world must not wait for its own end.
pub(super) fn release_request_lease() {
    let _outside_of_requests = REQUEST_LEASE.try_with(|lease| lease.borrow_mut().take());
}

impl WorldHandler {
    pub(crate) fn new(worlds: &Arc<WorldRegistry>, interface: WorldInterface) -> Self {
        Self { worlds: Arc::clone(worlds), interface }
    }

    /// None for the main world. The request's form is read if it alone may contain credentials.
    async fn find_name(&self, request: &mut Request<Body>) -> Option<String> {
        if !self.worlds.allows_further_worlds {
            return None;
        }
        let named = match self.interface {
            WorldInterface::Public => request_world::named_by_path(request),
            WorldInterface::AdsSandbox | WorldInterface::Control => None,
        };
        let named = named.or_else(|| request_world::named_by_host(request));
        if named.is_some() || self.interface == WorldInterface::Control || !self.worlds.has_further_worlds() {
            return named;
        }
        // Boxed, since moving a future of this size would cost all requests.
        Box::pin(request_world::named_by_credentials(request, &self.worlds)).await
    }

    async fn lease(&self, slot: &Arc<WorldSlot>) -> Result<WorldLease, Response<Body>> {
        match slot.try_lease() {
            Some(lease) => Ok(lease),
            None => Box::pin(self.worlds.lease(slot)).await.map_err(|error| {
                tracing::error!(target: "fault", world = slot.name, %error, "failed to open a world");
                let text = match name_missing_key(error) {
                    Error::Refused(refusal) => format!("this world cannot be opened: {refusal}\n"),
                    Error::Failed(_) => "this world cannot be opened at the moment\n".to_owned(),
                };
                refuse(StatusCode::SERVICE_UNAVAILABLE, text)
            }),
        }
    }

    async fn dispatch(&self, world: &ServedWorld, request: Request<Body>) -> Response<Body> {
        match self.interface {
            WorldInterface::Public => world.api_server().call(request).await,
            WorldInterface::AdsSandbox => world.api_server().sandbox_server().call(request).await,
            WorldInterface::Control => world.control_server().call(request).await,
        }
    }

    /// Whether the request may be one of the testing tools', which replace worlds.
    fn is_tool_request(&self, request: &Request<Body>) -> bool {
        self.interface == WorldInterface::Control || request.uri().path().starts_with(CONSOLE_PREFIX)
    }
}

impl Handler for WorldHandler {
    fn call(&self, request: Request<Body>) -> BoxFuture<'static, Response<Body>> {
        let handler = self.clone();
        Box::pin(async move { handler.answer(request).await })
    }
}

impl WorldHandler {
    async fn answer(&self, mut request: Request<Body>) -> Response<Body> {
        let name = self.find_name(&mut request).await;
        let Some(slot) = self.worlds.find(name.as_deref()) else {
            return refuse(
                StatusCode::NOT_FOUND,
                "no world has this name: `locum world list` shows those that there are\n",
            );
        };
        let lease = match self.lease(&slot).await {
            Ok(lease) => lease,
            Err(refusal) => return refusal,
        };
        let (abort, world) = (slot.abort_signal(), Arc::clone(&lease));
        let is_tool_request = self.is_tool_request(&request);
        // Pinned, since moving a future of this size would cost all requests.
        let answering = std::pin::pin!(self.dispatch(&world, request));
        if is_tool_request {
            let answering = REQUEST_LEASE.scope(RefCell::new(Some(lease)), answering);
            return await_unless_aborted(answering, &abort).await;
        }
        await_unless_aborted(answering, &abort).await
    }
}

async fn await_unless_aborted(answering: impl Future<Output = Response<Body>>, abort: &Shutdown) -> Response<Body> {
    tokio::select! {
        biased;
        response = answering => response,
        () = abort.wait() => {
            refuse(StatusCode::SERVICE_UNAVAILABLE, "the world was replaced before it could answer\n")
        }
    }
}

fn refuse(status: StatusCode, text: impl Into<Body>) -> Response<Body> {
    let mut response = Response::new(text.into());
    *response.status_mut() = status;
    let kind = http::HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(http::header::CONTENT_TYPE, kind);
    if status == StatusCode::SERVICE_UNAVAILABLE {
        response.headers_mut().insert(http::header::RETRY_AFTER, http::HeaderValue::from_static("1"));
    }
    response
}
