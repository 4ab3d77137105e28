//! The text index: documents of posts, found by the query language, counted by time.
//!
//! A post is filed under the numbers by which [`query::matches`] compares, so that the index finds
//! what the evaluator does; a [`Plan`] says when it may find more. Posts lie nearly in the order of
//! their ids, and the newest are looked at first: a page of a common word reads a few thousand of
//! them, however many there are. No SQL, no HTTP, no time of its own.

mod document;
mod exclusion;
mod find;
mod index;
mod plan;
mod schema;
mod snapshot;

pub use document::IndexDocument;
pub use find::{SearchHit, SearchWindow};
pub use index::PostIndex;
pub use plan::{QueryPlan, SearchLookups};
pub use snapshot::IndexSnapshot;

/// Says what failed.
fn index_error(what: &'static str) -> impl Fn(tantivy::TantivyError) -> base::Fault {
    move |error| base::Fault::context(what)(error)
}
