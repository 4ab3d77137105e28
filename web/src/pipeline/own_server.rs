//! A server's reference to itself.

use std::sync::{Arc, OnceLock, Weak};

use base::{Error, Fault};
use edge::{Body, Handler};
use futures_util::future::BoxFuture;
use http::{Request, Response};

use super::{ApiServer, Interface, ServerState};

/// Weak, since the server owns the state that contains it.
#[derive(Default)]
pub struct OwnServer(OnceLock<Weak<ServerState>>);

impl OwnServer {
    pub(super) fn set(&self, server: &Arc<ServerState>) {
        self.0.get_or_init(|| Arc::downgrade(server));
    }

    /// Handles a request like one that arrived at the public address.
    pub fn handle_request(&self, request: Request<Body>) -> BoxFuture<'_, Result<Response<Body>, Error>> {
        Box::pin(async move {
            let shared = self.0.get().and_then(Weak::upgrade);
            let shared = shared.ok_or_else(|| Fault::new("the server is not running"))?;
            let server = ApiServer { shared, interface: Interface::Public };
            Ok(server.call(request).await)
        })
    }
}
