//! Search over posts: an index that follows the event log, queries, counts and keyword insights.
//!
//! The index contains public posts: live and in their latest version, by authors who are neither protected, suspended
//! nor deleted, without reposts. It stores its log cursor with its content, so that a missing or
//! outdated index, or one with a different format, is rebuilt.

mod backend;
mod comparison;
mod count;
mod find;
mod index_changes;
mod index_copies;
mod indexer;
pub mod insights;
pub mod keywords;
pub mod likelihood;
mod progress;
mod questions;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ::search::{IndexSnapshot, PostIndex};
use base::{Error, Fault, Refusal, clock};
use parking_lot::Mutex;
use store::Store;
use tokio::sync::{Notify, Semaphore, watch};
use tokio::time::{timeout, timeout_at};

pub use ::search::{PostIndexReader, SearchWindow, TimeBuckets};
pub use backend::{SearchBackend, SearchNodeAnswer, SearchNodes};
pub use comparison::{DayCounts, IndexComparison, IndexDifference, MAX_INDEX_DIFFERENCES};
pub use count::{collect_hits, count};
pub(crate) use find::resolve_query_names;
pub use find::{PostSearchPage, PostSearchRequest, find, find_ranked};
pub use index_copies::IndexCopy;

use indexer::IndexerState;
use progress::IndexProgress;
use questions::CountedLanguages;

/// How long a search waits for earlier writes to be indexed; longer than the lease of a sequencer that is frozen.
const CATCH_UP_TIMEOUT: Duration = Duration::from_secs(4);

pub struct PostSearch {
    index: Arc<PostIndex>,
    state: Mutex<IndexerState>,
    /// The log position up to which everything is searchable; none while the index is built, or lacks what happened before
    /// it was opened.
    searchable_through: watch::Sender<Option<i64>>,
    /// Wakes the indexer.
    wakeup: Notify,
    counted_languages: Mutex<CountedLanguages>,
    question_turns: Arc<Semaphore>,
}

impl std::fmt::Debug for PostSearch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let searchable_through = *self.searchable_through.borrow();
        f.debug_struct("Search").field("passed", &searchable_through).finish_non_exhaustive()
    }
}

impl PostSearch {
    /// Opens the index in a folder, or creates one.
    pub fn open(folder: &Path) -> Result<Arc<Self>, Fault> {
        let index = PostIndex::open(folder)?;
        if let Some(reason) = index.discard_reason() {
            tracing::warn!(reason, "the search index cannot be used; rebuilding it");
        }
        let checkpoint = index.checkpoint();
        let progress = checkpoint.as_deref().and_then(IndexProgress::parse);
        if checkpoint.is_some() && progress.is_none() {
            tracing::warn!(reason = "its position cannot be read", "the search index cannot be used; rebuilding it");
        }
        Ok(Arc::new(Self {
            index: Arc::new(index),
            state: Mutex::new(IndexerState::new(progress.unwrap_or_default())),
            searchable_through: watch::Sender::new(None),
            wakeup: Notify::new(),
            counted_languages: Mutex::default(),
            question_turns: Arc::new(Semaphore::new(questions::max_concurrent())),
        }))
    }

    /// The files of the index whose content is not what was written.
    pub fn find_damaged_files(&self) -> Result<Vec<PathBuf>, Fault> {
        self.index.find_damaged_files()
    }

    pub fn snapshot(&self) -> Arc<IndexSnapshot> {
        self.index.snapshot()
    }

    /// Waits, for at most four seconds, until everything written before is searchable. Refused as unavailable if it is
    /// not searchable then.
    pub async fn catch_up(&self, store: &Store) -> Result<(), Error> {
        let deadline = clock::monotonic_now() + CATCH_UP_TIMEOUT;
        let end = store.wait_for_log_end(CATCH_UP_TIMEOUT).await?;
        self.wait_until_searchable(end, deadline).await
    }

    /// Whether everything up to some position of the log is searchable.
    pub fn is_built(&self) -> bool {
        self.searchable_through.borrow().is_some()
    }

    /// How far in the event log changes are searchable; none while the index is built.
    fn indexed_position(&self) -> Option<i64> {
        self.state.lock().searchable_progress().seq
    }

    async fn wait_until_searchable(&self, end: i64, deadline: Instant) -> Result<(), Error> {
        let is_there = |searchable_through: &Option<i64>| {
            searchable_through.is_some_and(|searchable_through| searchable_through >= end)
        };
        let mut searchable_through = self.searchable_through.subscribe();
        if is_there(&searchable_through.borrow()) {
            return Ok(());
        }
        let waiter = self.register_waiter();
        // The returned guard holds a lock, so it must end with the statement.
        let is_searchable =
            matches!(timeout_at(deadline.into(), searchable_through.wait_for(is_there)).await, Ok(Ok(_)));
        drop(waiter);
        if is_searchable { Ok(()) } else { Err(Refusal::Unavailable.into()) }
    }

    /// Rebuilds the index in the background; searches are refused until it is done.
    pub fn rebuild(&self) {
        self.state.lock().rebuild_requested = true;
        self.searchable_through.send_replace(None);
        self.wakeup.notify_one();
    }

    /// Waits until the index is built; reports the number of indexed posts from time to time.
    pub async fn wait_until_built(&self, mut report: impl FnMut(u64)) {
        const REPORT_INTERVAL: Duration = Duration::from_millis(200);
        let mut searchable_through = self.searchable_through.subscribe();
        while timeout(REPORT_INTERVAL, searchable_through.wait_for(Option::is_some)).await.is_err() {
            report(self.snapshot().len());
        }
    }
}
