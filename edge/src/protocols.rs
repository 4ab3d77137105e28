//! What a listener answers besides plain HTTP.

use std::fmt::Debug;
use std::sync::Arc;

use rustls::ServerConfig;

/// The protocol of connections that only show an ACME server a certificate (ALPN, RFC 8737 §4); they end after the
/// handshake.
pub const ACME_TLS_ALPN: &[u8] = b"acme-tls/1";

/// Plain HTTP alone by default.
#[derive(Clone, Debug, Default)]
pub struct ListenerProtocols {
    pub tls: Option<Arc<dyn TlsConfigSource>>,
    /// Whether, and for which hosts, the listener is a proxy: `CONNECT`, and targets in absolute form.
    pub proxy: Option<Arc<dyn ProxyPolicy>>,
    /// With TLS, plain HTTP is answered 400.
    pub requires_tls: bool,
}

pub trait TlsConfigSource: Debug + Send + Sync {
    /// The configuration for the name that the client asks for (SNI), in lower case. `None` refuses the handshake.
    fn tls_config(&self, server_name: Option<&str>) -> Option<Arc<ServerConfig>>;
}

pub trait ProxyPolicy: Debug + Send + Sync {
    /// `host` is a name in lower case or an address, IPv6 in brackets. `port` is `None` if the target has none.
    fn decide(&self, host: &str, port: Option<u16>) -> ProxyDecision;
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProxyDecision {
    /// The handler answers for this host.
    Serve,
    /// `CONNECT` reaches the real host.
    PassThrough,
    /// 403 with this text.
    Refuse(String),
}
