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

use crate::cli::Common;
use crate::exit::Exit;

/// A status and a body.
type Reply = (u16, Bytes);

/// Where a server listens, and the token that opens its control interface.
#[derive(Clone, Debug)]
pub(crate) enum Where {
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

impl Where {
    /// The control socket of a data folder.
    pub(crate) fn socket(folder: &Path) -> Self {
        Self::Socket {
            path: folder.join("control.sock"),
            token: folder.join("control.token"),
        }
    }

    /// The control address that `--url` names.
    pub(super) fn remote(common: &Common) -> Result<Self, Exit> {
        let url = common.url.as_deref().unwrap_or_default();
        let authority = url.strip_prefix("http://").ok_or_else(|| {
            Exit::Usage(format!("--url {url}: write it as http://127.0.0.1:PORT"))
        })?;
        Ok(Self::Address {
            authority: authority.trim_end_matches('/').to_owned(),
            token: common.token_file.clone(),
        })
    }

    /// Whether somebody answers at the socket.
    pub(super) fn is_served(&self) -> bool {
        match self {
            Self::Socket { path, .. } => Probe::connect(crate::run::short(path)).is_ok(),
            Self::Address { .. } => true,
        }
    }

    fn token(&self) -> Result<Option<String>, Exit> {
        let path = match self {
            Self::Socket { token, .. } => Some(token),
            Self::Address { token, .. } => token.as_ref(),
        };
        let Some(path) = path else { return Ok(None) };
        let text = std::fs::read_to_string(path)
            .map_err(|error| Exit::Failed(format!("{}: {error}", path.display())))?;
        Ok(Some(text.trim().to_owned()))
    }

    fn host(&self) -> &str {
        match self {
            Self::Socket { .. } => "localhost",
            Self::Address { authority, .. } => authority,
        }
    }
}

/// Posts JSON.
pub(super) fn post(to: &Where, path: &str, body: Vec<u8>) -> Result<Reply, Exit> {
    call(to, Method::POST, path, body)
}

/// Gets a path.
pub(crate) fn get(from: &Where, path: &str) -> Result<Reply, Exit> {
    call(from, Method::GET, path, Vec::new())
}

fn call(to: &Where, method: Method, path: &str, body: Vec<u8>) -> Result<Reply, Exit> {
    let mut request = Request::builder()
        .method(method)
        .uri(path)
        .header(HOST, to.host())
        .header(CONTENT_TYPE, "application/json");
    if let Some(token) = to.token()? {
        request = request.header(AUTHORIZATION, format!("Bearer {token}"));
    }
    let request = request
        .body(Full::new(Bytes::from(body)))
        .map_err(|error| Exit::Usage(format!("that is no address to ask: {error}")))?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = runtime.map_err(|error| Exit::Failed(format!("starting: {error}")))?;
    runtime.block_on(async {
        match to {
            Where::Socket { path, .. } => {
                let socket = UnixStream::connect(crate::run::short(path)).await;
                let socket = socket.map_err(|error| unreachable(&path.display(), &error))?;
                speak(TokioIo::new(socket), request).await
            }
            Where::Address { authority, .. } => {
                let socket = TcpStream::connect(authority).await;
                let socket = socket.map_err(|error| unreachable(authority, &error))?;
                speak(TokioIo::new(socket), request).await
            }
        }
    })
}

fn unreachable(place: &dyn std::fmt::Display, error: &dyn std::fmt::Display) -> Exit {
    Exit::Unreachable(format!("no server answers at {place}: {error}"))
}

async fn speak(
    io: impl Read + Write + Unpin + Send + 'static,
    request: Request<Full<Bytes>>,
) -> Result<Reply, Exit> {
    let broken = |error: hyper::Error| Exit::Unreachable(format!("the connection broke: {error}"));
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
