//! The start of a connection, until it is known to be HTTP: TLS, `CONNECT`, or neither.

use std::io;
use std::sync::Arc;

use http::StatusCode;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_rustls::LazyConfigAcceptor;

use crate::connect_request::{FirstRequest, TunnelTarget, read_first_request};
use crate::error_response;
use crate::limits::ListenerLimits;
use crate::protocols::{ACME_TLS_ALPN, ListenerProtocols, ProxyDecision, ProxyPolicy, TlsConfigSource};
use crate::socket_stream::{ReplayedStream, SocketStream};
use crate::stats::ListenerStats;

/// How many connections are passed through at the same time.
const MAX_TUNNELS: usize = 64;
/// The first byte of a TLS record with a handshake message.
const TLS_HANDSHAKE: u8 = 0x16;
/// A fatal alert `unrecognized_name` (RFC 6066 §3), as sent before any keys.
const UNRECOGNIZED_NAME: [u8; 7] = [0x15, 3, 3, 0, 2, 2, 112];
const TLS_ONLY: &str = "This port accepts TLS only; use https.\n";
const ESTABLISHED: &[u8] = b"HTTP/1.1 200 Connection established\r\n\r\n";

#[derive(Debug)]
pub(crate) struct ConnectionSetup {
    protocols: ListenerProtocols,
    tunnels: Arc<Semaphore>,
}

/// What is left to do with a connection that was set up.
#[derive(Debug)]
pub(crate) enum SetUpConnection {
    Http(SocketStream),
    PassThrough(Tunnel),
    /// Answered; what the client still sends is to be discarded.
    Answered(SocketStream),
    Closed,
}

#[derive(Debug)]
pub(crate) struct Tunnel {
    pub(crate) client: TcpStream,
    pub(crate) host: TcpStream,
    _permit: OwnedSemaphorePermit,
}

impl ConnectionSetup {
    pub(crate) fn new(protocols: ListenerProtocols) -> Self {
        Self { protocols, tunnels: Arc::new(Semaphore::new(MAX_TUNNELS)) }
    }

    /// Whether connections are plain HTTP without a look at them.
    pub(crate) const fn is_trivial(&self) -> bool {
        self.protocols.tls.is_none() && self.protocols.proxy.is_none()
    }

    pub(crate) async fn set_up(
        &self,
        stream: TcpStream,
        limits: &ListenerLimits,
        stats: &ListenerStats,
    ) -> io::Result<SetUpConnection> {
        let stream = ReplayedStream::new(stream, bytes::Bytes::new());
        match (stream.peek_byte().await?, &self.protocols.proxy) {
            (Some(b'C'), Some(proxy)) => self.set_up_tunnel(stream, &**proxy, limits, stats).await,
            _ => self.set_up_http(stream, stats).await,
        }
    }

    async fn set_up_http(&self, stream: ReplayedStream, stats: &ListenerStats) -> io::Result<SetUpConnection> {
        match (stream.peek_byte().await?, &self.protocols.tls) {
            (None, _) => Ok(SetUpConnection::Closed),
            (Some(TLS_HANDSHAKE), Some(tls)) => {
                let accepted = accept_tls(stream, &**tls).await;
                let count = if accepted.is_ok() { &stats.tls_handshakes } else { &stats.tls_failures };
                count.increment();
                accepted
            }
            (_, Some(_)) if self.protocols.requires_tls => {
                stats.bad_requests.increment();
                let (client, _) = stream.into_parts();
                answer(client, &error_response::raw_text_response(StatusCode::BAD_REQUEST, TLS_ONLY)).await
            }
            _ => Ok(SetUpConnection::Http(stream.into())),
        }
    }

    async fn set_up_tunnel(
        &self,
        stream: ReplayedStream,
        proxy: &dyn ProxyPolicy,
        limits: &ListenerLimits,
        stats: &ListenerStats,
    ) -> io::Result<SetUpConnection> {
        let (mut client, _) = stream.into_parts();
        let (target, read_after) = match read_first_request(&mut client, limits).await? {
            FirstRequest::Other(bytes) => return Ok(SetUpConnection::Http(ReplayedStream::new(client, bytes).into())),
            FirstRequest::Rejected(status) => {
                stats.bad_requests.increment();
                return answer(client, &error_response::raw_problem_response(status)).await;
            }
            FirstRequest::Connect { target, read_after } => (target, read_after),
        };
        stats.requests.increment();
        match proxy.decide(&target.host, Some(target.port)) {
            ProxyDecision::Serve => {
                client.write_all(ESTABLISHED).await?;
                self.set_up_http(ReplayedStream::new(client, read_after), stats).await
            }
            ProxyDecision::PassThrough => self.pass_through(client, &target, &read_after).await,
            ProxyDecision::Refuse(text) => {
                stats.refused_hosts.increment();
                answer(client, &error_response::raw_text_response(StatusCode::FORBIDDEN, &text)).await
            }
        }
    }

    async fn pass_through(
        &self,
        mut client: TcpStream,
        target: &TunnelTarget,
        read_after: &[u8],
    ) -> io::Result<SetUpConnection> {
        let Ok(permit) = Arc::clone(&self.tunnels).try_acquire_owned() else {
            return answer(client, &error_response::raw_problem_response(StatusCode::SERVICE_UNAVAILABLE)).await;
        };
        let address = (target.host.trim_matches(['[', ']']), target.port);
        match TcpStream::connect(address).await {
            Ok(mut host) => {
                client.write_all(ESTABLISHED).await?;
                host.write_all(read_after).await?;
                Ok(SetUpConnection::PassThrough(Tunnel { client, host, _permit: permit }))
            }
            Err(error) => {
                let text = format!("Cannot connect to {}:{}: {error}\n", target.host, target.port);
                answer(client, &error_response::raw_text_response(StatusCode::BAD_GATEWAY, &text)).await
            }
        }
    }
}

async fn accept_tls(stream: ReplayedStream, tls: &dyn TlsConfigSource) -> io::Result<SetUpConnection> {
    let mut start = LazyConfigAcceptor::new(rustls::server::Acceptor::default(), stream).await?;
    let name = start.client_hello().server_name().map(str::to_ascii_lowercase);
    let Some(config) = tls.tls_config(name.as_deref()) else {
        tracing::warn!(server_name = name.as_deref().unwrap_or("none"), "refused TLS for an unknown server name");
        start.io.write_all(&UNRECOGNIZED_NAME).await?;
        start.io.shutdown().await?;
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let mut stream = start.into_stream(config).await?;
    if stream.get_ref().1.alpn_protocol() == Some(ACME_TLS_ALPN) {
        stream.shutdown().await?;
        return Ok(SetUpConnection::Closed);
    }
    Ok(SetUpConnection::Http(SocketStream::Tls(Box::new(stream))))
}

async fn answer(mut client: TcpStream, response: &[u8]) -> io::Result<SetUpConnection> {
    client.write_all(response).await?;
    client.shutdown().await?;
    Ok(SetUpConnection::Answered(SocketStream::Tcp(client)))
}

/// Otherwise the kernel would reset the connection and the response with it.
pub(crate) async fn discard_incoming(stream: &mut SocketStream) -> io::Result<()> {
    let mut ignored = [0_u8; 1024];
    while stream.read(&mut ignored).await? > 0 {}
    Ok(())
}
