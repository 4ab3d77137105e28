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

mod book;
mod endpoint;
mod format;
mod hub;
mod likes;
mod linked;
mod past;
mod posts;
mod session;
mod share;
mod told;

pub use endpoint::Endpoint;
pub use format::{Format, Voice};
pub use hub::{Hub, Opening, Settings, View};
pub use past::Past;
pub use posts::PostStreams;
pub use session::{Feed, Session, Why};

#[cfg(test)]
mod tests;
