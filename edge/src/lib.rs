//! The listener: sockets, timeouts, limits and shutdown; it knows no routes.
//!
//! A [`Handler`] answers requests; everything a hostile or slow client may do before that
//! (silence, half a head, two lengths, too many connections) is dealt with here.

mod admit;
mod answer;
mod body;
mod connection;
pub mod gzip;
mod head;
mod life;
mod limits;
mod listen;
mod plain;
mod rest;
mod serve;
mod shutdown;
mod stats;
mod wire;

pub use answer::{Handler, Peer};
pub use body::{Body, BodyError, Sender};
pub use limits::{Http2Limits, Limits};
pub use listen::{Listener, bind, bind_unix};
pub use serve::serve;
pub use shutdown::Shutdown;
pub use stats::{Stats, StatsView};
