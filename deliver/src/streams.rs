//! Open connections that receive posts and events as they happen.
//!
//! The [`Hub`] keeps a node's connections and knows nothing of what they carry:
//!
//! ```text
//! let session = hub.open(Opening { app, endpoint, partition, most, … }).await?;   // or TooManyConnections
//! let feed = session.feed();            // the bytes of the answer's body: what is sent, keep-alives,
//!                                       // the farewell; dropping it frees the slot
//! let feed = feed.after(past);          // the same, with a stream of the past to be read first
//! session.send(bytes);                  // one message, its line end included; never waits
//! hub.each(app, endpoint, |session| …); // the open sessions of an app at a stream
//! session.end(Why::Killed);             // its farewell, and the end
//! ```
//!
//! Whoever sends never waits for a reader: a session holds so many bytes and no more, and one that
//! does not read is told so and let go. No session has a task of its own; it is polled by the
//! connection that it answers on.

mod compliance_events;
mod endpoint;
mod format;
mod hub;
mod likes;
mod linked_webhooks;
mod posts;
mod replay;
mod rule_index;
mod sampling;
mod session;

pub use endpoint::StreamEndpoint;
pub use format::{RefusalRenderer, StreamFormat};
pub use hub::{ConnectionRequest, Hub, HubMetrics, StreamSettings};
pub use posts::PostStreams;
pub use replay::ReplayWindow;
pub use session::{DisconnectReason, SessionFeed, StreamSession};

#[cfg(test)]
mod tests;
