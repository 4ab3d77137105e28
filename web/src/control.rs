//! The control address: health, metrics, and commands for who holds the token.

use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use base::Secret;
use base::secret::constant_time_eq;
use bytes::Bytes;
use edge::{Body, BodyError, Handler, Peer};
use http::header::{AUTHORIZATION, CACHE_CONTROL, HOST, HeaderMap, HeaderValue, ORIGIN};
use http::request::Parts;
use http::{Method, Request, Response};

use crate::health::Health;
use crate::metrics::Metrics;
use crate::reply::Reply;

/// The largest command.
const MOST: usize = 64 * 1024 * 1024;
const PATIENCE: Duration = Duration::from_mins(1);
const METRICS_TEXT: HeaderValue =
    HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");
const PLAIN: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");

/// A command's answer, in time.
pub type Done = Pin<Box<dyn Future<Output = Reply> + Send>>;

/// A command that the program adds.
#[derive(Clone)]
pub struct Command {
    /// Its path: `/_control/command`.
    pub path: &'static str,
    /// Its function, given the body.
    pub act: Arc<dyn Fn(Bytes) -> Done + Send + Sync>,
}

/// Answers on the control address.
#[derive(Clone)]
pub struct Control {
    shared: Arc<Shared>,
}

struct Shared {
    health: Health,
    metrics: Arc<Metrics>,
    token: Secret,
    commands: Vec<Command>,
}

impl Control {
    /// Health, metrics, and commands for who shows `token`.
    pub fn new(
        health: Health,
        metrics: Arc<Metrics>,
        token: Secret,
        commands: Vec<Command>,
    ) -> Self {
        Self {
            shared: Arc::new(Shared {
                health,
                metrics,
                token,
                commands,
            }),
        }
    }

    async fn reply(&self, parts: &Parts, body: Body) -> Reply {
        let (method, path) = (&parts.method, parts.uri.path());
        if let Some(reply) = self.shared.health.answer(method.as_str(), path).await {
            return reply;
        }
        // A page in a browser reaches loopback under a name of its own choosing.
        if !is_local(parts) || parts.headers.contains_key(ORIGIN) {
            return refuse(403, "this host name is not served here\n");
        }
        if path == "/metrics" && method == Method::GET {
            return match self.shared.metrics.text() {
                Ok(text) => Reply::bytes(200, METRICS_TEXT, text),
                Err(fault) => {
                    tracing::error!(target: "fault", "{fault}");
                    refuse(500, "the metrics could not be written\n")
                }
            };
        }
        let Some(command) = self
            .shared
            .commands
            .iter()
            .find(|command| command.path == path)
        else {
            return refuse(404, "there is nothing here\n");
        };
        if method != Method::POST {
            return refuse(405, "commands are posted\n");
        }
        if !self.is_known(&parts.headers) {
            return refuse(401, "a command needs the control token\n");
        }
        match body.collect_bytes(MOST, PATIENCE).await {
            Ok(bytes) => (command.act)(bytes).await,
            Err(BodyError::TooLarge) => refuse(413, "the command is too large\n"),
            Err(_) => refuse(400, "the command did not arrive\n"),
        }
    }

    fn is_known(&self, headers: &HeaderMap) -> bool {
        let shown = headers
            .get(AUTHORIZATION)
            .and_then(|value| value.to_str().ok());
        let token = shown.and_then(|shown| shown.strip_prefix("Bearer "));
        let real = self.shared.token.expose_secret();
        // An unset token opens nothing.
        !real.is_empty()
            && token.is_some_and(|token| constant_time_eq(token.as_bytes(), real.as_bytes()))
    }
}

impl Handler for Control {
    async fn call(&self, request: Request<Body>) -> Response<Body> {
        let (parts, body) = request.into_parts();
        let Reply {
            status,
            headers,
            body,
            ..
        } = self.reply(&parts, body).await;
        let mut response = Response::new(body);
        *response.status_mut() = http::StatusCode::from_u16(status).unwrap_or_default();
        *response.headers_mut() = headers;
        response
            .headers_mut()
            .insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        response
    }
}

fn refuse(status: u16, why: &'static str) -> Reply {
    Reply::bytes(status, PLAIN, why)
}

/// Whether the request came over a Unix socket, or names the host by a loopback address.
fn is_local(parts: &Parts) -> bool {
    let over_socket = parts
        .extensions
        .get::<Peer>()
        .is_some_and(|peer| peer.addr.is_none());
    let host = parts.headers.get(HOST).and_then(|host| host.to_str().ok());
    let host = host.or_else(|| parts.uri.authority().map(http::uri::Authority::as_str));
    over_socket || host.is_some_and(is_loopback)
}

fn is_loopback(host: &str) -> bool {
    let name = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((name, _)) => name,
        None => host.split(':').next().unwrap_or_default(),
    };
    name.eq_ignore_ascii_case("localhost")
        || name
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::is_loopback;

    #[test]
    fn only_loopback_names_are_local() {
        for host in [
            "localhost",
            "LOCALHOST:8079",
            "127.0.0.1:8079",
            "127.0.0.9",
            "[::1]:80",
            "[::1]",
        ] {
            assert!(is_loopback(host), "{host}");
        }
        for host in [
            "",
            "a.example",
            "localhost.a.example",
            "127.0.0.1.nip.io",
            "10.0.0.1",
            "[::2]:1",
            "::1x",
        ] {
            assert!(!is_loopback(host), "{host}");
        }
    }
}
