//! An HTTP client for a running server's control API and public API.

use std::os::unix::net::UnixStream as Probe;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::join;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use http::{Method, Request};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1;
use hyper::rt::{Read, Write};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpStream, UnixStream};
use tokio::time::timeout;

use crate::arguments::GlobalArgs;
use crate::command_error::CommandError;

type ControlReply = (u16, Bytes);

#[derive(Clone, Debug)]
pub enum ControlEndpoint {
    Socket { path: PathBuf, token: PathBuf, world: Option<String> },
    Address { authority: String, token: Option<PathBuf>, world: Option<String> },
}

impl ControlEndpoint {
    pub fn data_folder_socket(folder: &Path) -> Self {
        Self::Socket { path: folder.join("control.sock"), token: folder.join("control.token"), world: None }
    }

    pub fn from_url_flag(common: &GlobalArgs) -> Result<Self, CommandError> {
        let url = common.url.as_deref().unwrap_or_default();
        let authority = url
            .strip_prefix("http://")
            .ok_or_else(|| CommandError::Usage(format!("--url {url}: expected http://127.0.0.1:PORT")))?;
        let authority = authority.trim_end_matches('/').to_owned();
        Ok(Self::Address { authority, token: common.token_file.clone(), world: common.world.clone() })
    }

    /// The one of a development server that is meant.
    #[must_use]
    pub fn with_world(mut self, name: Option<&String>) -> Self {
        let (Self::Socket { world, .. } | Self::Address { world, .. }) = &mut self;
        *world = name.cloned();
        self
    }

    fn world(&self) -> Option<&str> {
        let (Self::Socket { world, .. } | Self::Address { world, .. }) = self;
        world.as_deref()
    }

    pub fn is_reachable(&self) -> bool {
        match self {
            Self::Socket { path, .. } => Probe::connect(crate::shorten_socket_path(path)).is_ok(),
            Self::Address { .. } => true,
        }
    }

    fn read_token(&self) -> Result<Option<String>, CommandError> {
        let path = match self {
            Self::Socket { token, .. } => Some(token),
            Self::Address { token, .. } => token.as_ref(),
        };
        let Some(path) = path else { return Ok(None) };
        let text = std::fs::read_to_string(path)
            .map_err(|error| CommandError::Failed(format!("{}: {error}", path.display())))?;
        Ok(Some(text.trim().to_owned()))
    }

    fn host_header(&self) -> &str {
        match self {
            Self::Socket { .. } => "localhost",
            Self::Address { authority, .. } => authority,
        }
    }
}

pub(super) fn post_json(to: &ControlEndpoint, path: &str, body: Vec<u8>) -> Result<ControlReply, CommandError> {
    send_request(to, Method::POST, path, body)
}

pub fn get(from: &ControlEndpoint, path: &str) -> Result<ControlReply, CommandError> {
    send_request(from, Method::GET, path, Vec::new())
}

/// As [`get`], for an answer that comes soon if all is well: at most `limit` is waited.
pub fn get_within(from: &ControlEndpoint, path: &str, limit: Duration) -> Result<ControlReply, CommandError> {
    exchange(from, Method::GET, path, Vec::new(), limit)
}

pub fn send_request(
    to: &ControlEndpoint,
    method: Method,
    path: &str,
    body: Vec<u8>,
) -> Result<ControlReply, CommandError> {
    exchange(to, method, path, body, Duration::MAX)
}

fn exchange(
    to: &ControlEndpoint,
    method: Method,
    path: &str,
    body: Vec<u8>,
    limit: Duration,
) -> Result<ControlReply, CommandError> {
    let mut request = Request::builder()
        .method(method)
        .uri(path)
        .header(HOST, to.host_header())
        .header(CONTENT_TYPE, "application/json");
    if let Some(token) = to.read_token()? {
        request = request.header(AUTHORIZATION, format!("Bearer {token}"));
    }
    if let Some(world) = to.world() {
        request = request.header(web::control::WORLD_HEADER, world);
    }
    let request = request
        .body(Full::new(Bytes::from(body)))
        .map_err(|error| CommandError::Usage(format!("invalid request: {error}")))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| CommandError::Failed(format!("starting: {error}")))?;
    let answer = async {
        match to {
            ControlEndpoint::Socket { path, .. } => {
                let socket = UnixStream::connect(crate::shorten_socket_path(path)).await;
                let socket = socket.map_err(|error| unreachable_error(&path.display(), &error))?;
                exchange_http(TokioIo::new(socket), request).await
            }
            ControlEndpoint::Address { authority, .. } => {
                let socket = TcpStream::connect(authority).await;
                let socket = socket.map_err(|error| unreachable_error(authority, &error))?;
                exchange_http(TokioIo::new(socket), request).await
            }
        }
    };
    runtime.block_on(async { timeout(limit, answer).await }).unwrap_or_else(|_| {
        let waited = limit.as_secs();
        Err(CommandError::Unreachable(format!("{path} had no response within {waited} s")))
    })
}

fn unreachable_error(place: &dyn std::fmt::Display, error: &dyn std::fmt::Display) -> CommandError {
    CommandError::Unreachable(format!("no server responds at {place}: {error}"))
}

async fn exchange_http(
    io: impl Read + Write + Unpin + Send + 'static,
    request: Request<Full<Bytes>>,
) -> Result<ControlReply, CommandError> {
    let broken = |error: hyper::Error| CommandError::Unreachable(format!("the connection failed: {error}"));
    let (mut sender, connection) = http1::handshake(io).await.map_err(broken)?;
    let answer = async move {
        let response = sender.send_request(request).await?;
        let status = response.status().as_u16();
        let body = response.into_body().collect().await?.to_bytes();
        drop(sender);
        Ok((status, body))
    };
    let (answer, _closed) = join(answer, connection).await;
    answer.map_err(broken)
}
