//! The control address: health, metrics, and commands for holders of the control token.

use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use base::Secret;
use base::secret::constant_time_eq;
use bytes::Bytes;
use edge::{Body, BodyError, Handler, Peer};
use futures_util::future::BoxFuture;
use http::header::{
    ALLOW, AUTHORIZATION, CACHE_CONTROL, HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN, WWW_AUTHENTICATE,
};
use http::request::Parts;
use http::{Method, Request, Response};
use store::Store;

use crate::ApiServer;
use crate::health::HealthChecks;
use crate::metrics::ServerMetrics;
use crate::reply::HttpReply;

const API_PREFIX: &str = "/control/v1/";
/// Names a world of a development server.
pub const WORLD_HEADER: HeaderName = HeaderName::from_static("x-locum-world");
const MAX_COMMAND_BYTES: usize = 64 * 1024 * 1024;
const COMMAND_TIMEOUT: Duration = Duration::from_mins(1);
const METRICS_TEXT: HeaderValue =
    HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");
const PLAIN: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");

pub type CommandFuture = Pin<Box<dyn Future<Output = HttpReply> + Send>>;

#[derive(Clone)]
pub struct ControlCommand {
    /// `/_control/command`, for example.
    pub path: &'static str,
    /// Called with the request body.
    pub handler: Arc<dyn Fn(Bytes) -> CommandFuture + Send + Sync>,
}

#[derive(Clone)]
pub struct ControlServer {
    shared: Arc<ControlState>,
}

struct ControlState {
    health: HealthChecks,
    metrics: Arc<ServerMetrics>,
    store: Arc<Store>,
    token: Secret,
    commands: Vec<ControlCommand>,
    /// The control API of a development server.
    api: Option<ApiServer>,
}

impl ControlServer {
    pub fn new(
        health: HealthChecks,
        metrics: Arc<ServerMetrics>,
        store: Arc<Store>,
        token: Secret,
        commands: Vec<ControlCommand>,
        api: Option<ApiServer>,
    ) -> Self {
        Self { shared: Arc::new(ControlState { health, metrics, store, token, commands, api }) }
    }

    async fn handle_request(&self, parts: &Parts, body: Body) -> HttpReply {
        let (method, path) = (&parts.method, parts.uri.path());
        if let Some(reply) = self.shared.health.respond(method.as_str(), &parts.uri).await {
            return reply;
        }
        if let Err(reply) = refuse_foreign_pages(parts) {
            return *reply;
        }
        if self.shared.api.is_none() && parts.headers.contains_key(WORLD_HEADER) {
            return error_reply(421, "a production server has one world\n");
        }
        if path == "/metrics" && method == Method::GET {
            self.shared.metrics.refresh_backlog(&self.shared.store, self.shared.health.search()).await;
            return match self.shared.metrics.render_text() {
                Ok(text) => HttpReply::bytes(200, METRICS_TEXT, text),
                Err(fault) => {
                    tracing::error!(target: "fault", "{fault}");
                    error_reply(500, "failed to encode the metrics\n")
                }
            };
        }
        let Some(command) = self.shared.commands.iter().find(|command| command.path == path) else {
            return error_reply(404, "not found\n");
        };
        if method != Method::POST {
            return error_reply(405, "commands require POST\n");
        }
        if !self.has_valid_token(&parts.headers) {
            return error_reply(401, "commands require the control token\n");
        }
        match body.collect_bytes(MAX_COMMAND_BYTES, COMMAND_TIMEOUT).await {
            Ok(bytes) => (command.handler)(bytes).await,
            Err(BodyError::TooLarge) => error_reply(413, "the command is too large\n"),
            Err(_) => error_reply(400, "failed to read the command\n"),
        }
    }

    /// The control API, if the request is for it and may use it.
    fn authorize_api_call(&self, parts: &Parts) -> Result<Option<&ApiServer>, Box<HttpReply>> {
        let Some(api) = self.shared.api.as_ref().filter(|_| parts.uri.path().starts_with(API_PREFIX)) else {
            return Ok(None);
        };
        refuse_foreign_pages(parts)?;
        if !self.has_valid_token(&parts.headers) {
            return Err(Box::new(error_reply(401, "the control API requires the control token\n")));
        }
        Ok(Some(api))
    }

    fn has_valid_token(&self, headers: &HeaderMap) -> bool {
        let header = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        let token = header.and_then(|header| header.strip_prefix("Bearer "));
        let expected = self.shared.token.expose_secret();
        // An empty token grants no access.
        !expected.is_empty() && token.is_some_and(|token| constant_time_eq(token.as_bytes(), expected.as_bytes()))
    }
}

impl Handler for ControlServer {
    fn call(&self, request: Request<Body>) -> BoxFuture<'static, Response<Body>> {
        let server = self.clone();
        Box::pin(async move { server.answer(request).await })
    }
}

impl ControlServer {
    async fn answer(&self, request: Request<Body>) -> Response<Body> {
        let (mut parts, body) = request.into_parts();
        let reply = match self.authorize_api_call(&parts) {
            Ok(Some(api)) => {
                // A control token is no credential of the API.
                parts.headers.remove(AUTHORIZATION);
                return api.call(Request::from_parts(parts, body)).await;
            }
            Ok(None) => self.handle_request(&parts, body).await,
            Err(reply) => *reply,
        };
        reply.header(CACHE_CONTROL, HeaderValue::from_static("no-store")).into()
    }
}

fn error_reply(status: u16, message: &'static str) -> HttpReply {
    let reply = HttpReply::bytes(status, PLAIN, message);
    match status {
        401 => reply.header(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer")),
        405 => reply.header(ALLOW, HeaderValue::from_static("POST")),
        _ => reply,
    }
}

/// Against DNS rebinding: a web page can reach loopback under its own host name.
fn refuse_foreign_pages(parts: &Parts) -> Result<(), Box<HttpReply>> {
    if is_local(parts) && !parts.headers.contains_key(ORIGIN) {
        return Ok(());
    }
    Err(Box::new(error_reply(403, "this host name is not allowed\n")))
}

/// Whether the request came over a Unix socket or names a loopback host.
fn is_local(parts: &Parts) -> bool {
    let over_socket = parts.extensions.get::<Peer>().is_some_and(|peer| peer.addr.is_none());
    let host = parts.headers.get(HOST).and_then(|host| host.to_str().ok());
    let host = host.or_else(|| parts.uri.authority().map(http::uri::Authority::as_str));
    over_socket || host.is_some_and(is_loopback)
}

fn is_loopback(host: &str) -> bool {
    let name = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((name, _)) => name,
        None => host.split(':').next().unwrap_or_default(),
    };
    name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::is_loopback;

    #[test]
    fn only_loopback_names_are_local() {
        for host in ["localhost", "LOCALHOST:8079", "127.0.0.1:8079", "127.0.0.9", "[::1]:80", "[::1]"] {
            assert!(is_loopback(host), "{host}");
        }
        for host in ["", "a.example", "localhost.a.example", "127.0.0.1.nip.io", "10.0.0.1", "[::2]:1", "::1x"] {
            assert!(!is_loopback(host), "{host}");
        }
    }
}
