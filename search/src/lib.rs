//! The full-text index of posts: searched with the query language, counted by time.
//!
//! A post is indexed by the features that [`query::matches()`] compares, so both find the same
//! posts; a [`QueryPlan`] tells when the index may find more. Posts are nearly ordered by id, and
//! the newest are examined first: a page of results for a common word reads a few thousand posts,
//! however many there are. No SQL, no HTTP, no clock.

mod document;
mod exclusion;
mod find;
mod index;
mod inspection;
mod plan;
pub mod protocol;
mod reader;
mod schema;
mod snapshot;

pub use document::IndexDocument;
pub use find::{SearchHit, SearchWindow};
pub use index::{CommittedFiles, PostIndex};
pub use plan::{QueryPlan, SearchLookups};
pub use reader::{AuthorLanguage, PostIndexReader, TimeBuckets};
pub use snapshot::IndexSnapshot;

fn index_error(message: &'static str) -> impl Fn(tantivy::TantivyError) -> base::Fault {
    move |error| base::Fault::context(message)(error)
}
