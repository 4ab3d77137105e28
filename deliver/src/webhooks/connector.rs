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

use http::Uri;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpStream, lookup_host};
use tower_service::Service;

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
            Self::Custom(_) => "Told",
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
}

impl TargetConnector {
    pub(crate) fn new(targets: AllowedTargets, resolver: NameResolver) -> Self {
        Self { targets: Arc::new(targets), resolver }
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
                    return Ok(TokioIo::new(stream));
                }
                Ok(Err(error)) => last = error,
                Err(_) => last = io::ErrorKind::TimedOut.into(),
            }
        }
        Err(last)
    }
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
