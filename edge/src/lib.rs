//! The HTTP listener: sockets, timeouts, limits and graceful shutdown, independent of routes. A
//! [`Handler`] answers requests; hostile and slow clients (silence, partial heads, contradictory
//! lengths, too many connections) are dealt with here.

mod admission;
mod body;
mod body_drain;
mod connection;
mod connection_state;
mod error_response;
pub mod gzip;
mod handler;
mod http1_framing;
mod limits;
mod listener;
mod monitored_stream;
mod serve;
mod shutdown;
mod stats;

pub use body::{Body, BodyError, BodySender};
pub use handler::{Handler, Peer};
pub use limits::{Http2Limits, ListenerLimits};
pub use listener::{Listener, bind, bind_unix};
pub use serve::serve;
pub use shutdown::Shutdown;
pub use stats::{ListenerStats, ListenerStatsSnapshot};
