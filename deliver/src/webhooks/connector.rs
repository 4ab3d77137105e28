//! Connects to receivers: resolves the name, filters its addresses, and connects to one of those, so that a
//! changed DNS answer cannot bypass the filter.

use std::fmt;
use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use base::Fault;
use http::Uri;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpStream, lookup_host};
use tower_service::Service;

use super::CertificateAuthorities;
use super::allowed_targets::AllowedTargets;

/// The timeout for one address.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

pub(super) type NameLookup = dyn Fn(&str) -> Vec<IpAddr> + Send + Sync;

#[derive(Clone)]
pub enum NameResolver {
    System,
    /// For tests.
    Custom(Arc<NameLookup>),
}

impl fmt::Debug for NameResolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::System => "System",
            Self::Custom(_) => "Custom",
        })
    }
}

#[derive(Debug)]
pub(crate) struct AddressNotAllowed;

impl fmt::Display for AddressNotAllowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the host has no address that may be connected to")
    }
}

impl std::error::Error for AddressNotAllowed {}

#[derive(Clone, Debug)]
pub(crate) struct TargetConnector {
    targets: Arc<AllowedTargets>,
    resolver: NameResolver,
    /// How long sent data may be unacknowledged.
    timeout: Duration,
}

impl TargetConnector {
    pub(crate) fn new(targets: AllowedTargets, resolver: NameResolver, timeout: Duration) -> Self {
        Self { targets: Arc::new(targets), resolver, timeout }
    }

    /// Connects to http and https targets; loading the system's certificates takes a while.
    pub(crate) fn with_tls(&self, authorities: &CertificateAuthorities) -> Result<HttpsConnector<Self>, Fault> {
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(authorities.client_config()?)
            .https_or_http()
            .enable_http1()
            .wrap_connector(self.clone());
        Ok(connector)
    }

    async fn resolve_addresses(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        if let Ok(address) = bare.parse::<IpAddr>() {
            return Ok(vec![SocketAddr::new(address, port)]);
        }
        Ok(match &self.resolver {
            NameResolver::System => lookup_host((host, port)).await?.collect(),
            NameResolver::Custom(lookup) => {
                let found = lookup(host).into_iter();
                found.map(|ip| SocketAddr::new(ip, port)).collect()
            }
        })
    }

    async fn connect(self, uri: Uri) -> io::Result<TokioIo<TcpStream>> {
        let host = uri.host().unwrap_or_default();
        let plain = uri.scheme_str() == Some("http");
        let port = uri.port_u16().unwrap_or(if plain { 80 } else { 443 });
        let found = self.resolve_addresses(host, port).await?;
        let mut last = io::Error::new(io::ErrorKind::PermissionDenied, AddressNotAllowed);
        for address in found {
            if !self.targets.is_allowed(address.ip()) {
                continue;
            }
            match tokio::time::timeout(CONNECT_TIMEOUT, TcpStream::connect(address)).await {
                Ok(Ok(stream)) => {
                    stream.set_nodelay(true)?;
                    limit_retransmissions(&stream, self.timeout)?;
                    return Ok(TokioIo::new(stream));
                }
                Ok(Err(error)) => last = error,
                Err(_) => last = io::ErrorKind::TimedOut.into(),
            }
        }
        Err(last)
    }
}

/// Otherwise an abandoned request whose network was cut is sent once more when that is over.
#[cfg(target_os = "linux")]
fn limit_retransmissions(stream: &TcpStream, timeout: Duration) -> io::Result<()> {
    let millis = u32::try_from(timeout.as_millis()).unwrap_or(u32::MAX);
    Ok(rustix::net::sockopt::set_tcp_user_timeout(stream, millis)?)
}

#[cfg(not(target_os = "linux"))]
fn limit_retransmissions(_: &TcpStream, _: Duration) -> io::Result<()> {
    Ok(())
}

impl Service<Uri> for TargetConnector {
    type Response = TokioIo<TcpStream>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Self::Response>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        Box::pin(self.clone().connect(uri))
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::net::TcpListener;
    use std::time::Duration;

    use rustix::net::sockopt::tcp_user_timeout;

    use super::{AllowedTargets, NameResolver, TargetConnector};

    #[tokio::test]
    async fn kernel_gives_up_a_request_when_the_client_does() {
        let receiver = TcpListener::bind("127.0.0.1:0").unwrap();
        let targets = AllowedTargets { allow_http: true, private_blocks: vec!["127.0.0.1".parse().unwrap()] };
        let connector = TargetConnector::new(targets, NameResolver::System, Duration::from_secs(7));
        let uri = format!("http://{}", receiver.local_addr().unwrap()).parse().unwrap();
        let stream = connector.connect(uri).await.unwrap().into_inner();
        assert_eq!(tcp_user_timeout(&stream).unwrap(), 7_000);
    }
}
