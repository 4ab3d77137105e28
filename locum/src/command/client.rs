//! Speaks HTTP to a running server: to its control interface, or to its front door.

use std::os::unix::net::UnixStream as Probe;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use futures_util::future::join;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use http::{Method, Request};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1;
use hyper::rt::{Read, Write};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpStream, UnixStream};

use crate::cli::GlobalArgs;
use crate::command_error::CommandError;

/// A status and a body.
type ControlReply = (u16, Bytes);

/// Where a server listens, and the token that opens its control interface.
#[derive(Clone, Debug)]
pub(crate) enum ControlEndpoint {
    /// A socket file in the data folder.
    Socket {
        /// The socket.
        path: PathBuf,
        /// The file that holds the token.
        token: PathBuf,
    },
    /// An address.
    Address {
        /// `host:port`.
        authority: String,
        /// The file that holds the token, where one is needed.
        token: Option<PathBuf>,
    },
}

impl ControlEndpoint {
    /// The control socket of a data folder.
    pub(crate) fn data_folder_socket(folder: &Path) -> Self {
        Self::Socket {
            path: folder.join("control.sock"),
            token: folder.join("control.token"),
        }
    }

    /// The control address that `--url` names.
    pub(super) fn from_url_flag(common: &GlobalArgs) -> Result<Self, CommandError> {
        let url = common.url.as_deref().unwrap_or_default();
        let authority = url
            .strip_prefix("http://")
            .ok_or_else(|| CommandError::Usage(format!("--url {url}: write it as http://127.0.0.1:PORT")))?;
        Ok(Self::Address {
            authority: authority.trim_end_matches('/').to_owned(),
            token: common.token_file.clone(),
        })
    }

    /// Whether somebody answers at the socket.
    pub(super) fn is_reachable(&self) -> bool {
        match self {
            Self::Socket { path, .. } => Probe::connect(crate::runtime::shorten_socket_path(path)).is_ok(),
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

/// Posts JSON.
pub(super) fn post_json(to: &ControlEndpoint, path: &str, body: Vec<u8>) -> Result<ControlReply, CommandError> {
    send_request(to, Method::POST, path, body)
}

/// Gets a path.
pub(crate) fn get(from: &ControlEndpoint, path: &str) -> Result<ControlReply, CommandError> {
    send_request(from, Method::GET, path, Vec::new())
}

fn send_request(to: &ControlEndpoint, method: Method, path: &str, body: Vec<u8>) -> Result<ControlReply, CommandError> {
    let mut request = Request::builder()
        .method(method)
        .uri(path)
        .header(HOST, to.host_header())
        .header(CONTENT_TYPE, "application/json");
    if let Some(token) = to.read_token()? {
        request = request.header(AUTHORIZATION, format!("Bearer {token}"));
    }
    let request = request
        .body(Full::new(Bytes::from(body)))
        .map_err(|error| CommandError::Usage(format!("that is no address to ask: {error}")))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| CommandError::Failed(format!("starting: {error}")))?;
    runtime.block_on(async {
        match to {
            ControlEndpoint::Socket { path, .. } => {
                let socket = UnixStream::connect(crate::runtime::shorten_socket_path(path)).await;
                let socket = socket.map_err(|error| unreachable_error(&path.display(), &error))?;
                exchange_http(TokioIo::new(socket), request).await
            }
            ControlEndpoint::Address { authority, .. } => {
                let socket = TcpStream::connect(authority).await;
                let socket = socket.map_err(|error| unreachable_error(authority, &error))?;
                exchange_http(TokioIo::new(socket), request).await
            }
        }
    })
}

fn unreachable_error(place: &dyn std::fmt::Display, error: &dyn std::fmt::Display) -> CommandError {
    CommandError::Unreachable(format!("no server answers at {place}: {error}"))
}

async fn exchange_http(
    io: impl Read + Write + Unpin + Send + 'static,
    request: Request<Full<Bytes>>,
) -> Result<ControlReply, CommandError> {
    let broken = |error: hyper::Error| CommandError::Unreachable(format!("the connection broke: {error}"));
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
