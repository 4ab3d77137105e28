//! Open connections that receive posts and events as they happen.
//!
//! The [`Hub`] holds a node's connections, independent of what they carry:
//!
//! ```text
//! let session = hub.open(ConnectionRequest { app, endpoint, partition, … }).await?;   // or TooManyConnections
//! let feed = session.feed();              // the bytes of the response body, keep-alives included;
//!                                         // dropping it frees the slot
//! let feed = feed.after_backfill(past);   // reads another stream first
//! session.send(bytes);                    // one message with its line end; never waits
//! hub.visit_sessions(app, endpoint, |session| …);
//! session.end(DisconnectReason::Killed);  // sends the disconnect message and ends
//! ```
//!
//! Senders never wait for a client: the buffer of a session is bounded, and a client that reads too slowly is
//! disconnected. Sessions have no tasks; their connections poll them.

mod compliance_events;
mod endpoint;
mod format;
mod hub;
mod injected_faults;
mod likes;
mod linked_webhooks;
mod posts;
mod replay;
mod rule_index;
mod sampling;
mod session;
mod status;

pub use endpoint::StreamEndpoint;
pub use format::{RefusalRenderer, StreamFormat};
pub use hub::{ConnectionRequest, Hub, HubMetrics, StreamSettings};
pub(crate) use linked_webhooks::LINK_READER;
pub use posts::PostStreams;
pub use replay::ReplayWindow;
pub use session::{DisconnectReason, SessionFeed, StreamSession};
pub use status::{EndedStream, StreamStatus};

#[cfg(test)]
mod tests;
