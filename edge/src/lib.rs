//! The HTTP listener: sockets, TLS, timeouts, limits and graceful shutdown, independent of routes. A
//! [`Handler`] answers requests; hostile and slow clients (silence, partial heads, contradictory
//! lengths, too many connections) are dealt with here.

mod admission;
mod body;
mod body_drain;
mod body_memory;
mod connect_request;
mod connection;
mod connection_setup;
mod connection_state;
mod error_response;
pub mod gzip;
mod handler;
mod headers;
mod http1_framing;
mod limits;
mod listener;
mod monitored_stream;
mod protocols;
mod serve;
mod shutdown;
mod socket_stream;
mod stats;
mod stream_task;
mod tunnel;

pub use body::{Body, BodyError, BodyStream};
pub use handler::{Handler, Peer, ResetConnection};
pub use headers::find_rare_header;
pub use limits::{Http2Limits, ListenerLimits};
pub use listener::{Listener, bind, bind_unix};
pub use protocols::{ACME_TLS_ALPN, ListenerProtocols, ProxyDecision, ProxyPolicy, TlsConfigSource};
pub use serve::{serve, serve_protocols};
pub use shutdown::Shutdown;
pub use stats::{ListenerStats, ListenerStatsSnapshot};
