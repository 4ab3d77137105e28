//! The text index: documents of posts, found by the query language, counted by time.
//!
//! A post is filed under the numbers by which [`query::matches`] compares, so that the index finds
//! what the evaluator does; a [`Plan`] says when it may find more. Posts lie nearly in the order of
//! their ids, and the newest are looked at first: a page of a common word reads a few thousand of
//! them, however many there are. No SQL, no HTTP, no time of its own.

mod document;
mod except;
mod find;
mod index;
mod plan;
mod schema;
mod snapshot;

pub use document::Entry;
pub use find::{Hit, Window};
pub use index::Index;
pub use plan::{Known, Plan};
pub use snapshot::Snapshot;

/// Says what failed.
fn broken(what: &'static str) -> impl Fn(tantivy::TantivyError) -> base::Fault {
    move |error| base::Fault::when(what)(error)
}
