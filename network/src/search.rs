//! Search over posts: an index that follows the log, what is found in it, and counts of it.
//!
//! The index holds posts that everybody may see: live, of nobody who is protected, suspended or
//! gone, in their latest version, for everyone; no reposts, and none that is for promotion only. It
//! keeps how far it has read the log together with what it read from there, so that a lost index,
//! one of another format and one that was away for too long are made anew.

mod count;
mod find;
mod index_changes;
mod indexer;
mod progress;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use ::search::{IndexSnapshot, PostIndex};
use base::{Error, Fault, Refusal};
use parking_lot::Mutex;
use store::{Store, event_log};
use tokio::sync::{Notify, watch};
use tokio::time::timeout;

pub use ::search::SearchWindow;
pub use count::{collect_hits, count};
pub(crate) use find::resolve_query_names;
pub use find::{PostSearchPage, PostSearchRequest, find, find_ranked};

use indexer::IndexerState;
use progress::IndexProgress;

/// How long a search waits for what was written before it.
const CATCH_UP_TIMEOUT: Duration = Duration::from_secs(1);

/// The index of posts of one process.
pub struct PostSearch {
    index: Arc<PostIndex>,
    state: Mutex<IndexerState>,
    /// The place of the log up to which everything can be found; none while the index is made.
    searchable_through: watch::Sender<Option<i64>>,
    /// Somebody waits.
    wakeup: Notify,
}

impl std::fmt::Debug for PostSearch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let passed = *self.searchable_through.borrow();
        f.debug_struct("Search")
            .field("passed", &passed)
            .finish_non_exhaustive()
    }
}

impl PostSearch {
    /// Opens the index in a folder, or makes one.
    pub fn open(folder: &Path) -> Result<Arc<Self>, Fault> {
        let index = PostIndex::open(folder)?;
        let progress = index.checkpoint().and_then(|mark| IndexProgress::parse(&mark));
        Ok(Arc::new(Self {
            index: Arc::new(index),
            state: Mutex::new(IndexerState::new(progress.unwrap_or_default())),
            searchable_through: watch::Sender::new(None),
            wakeup: Notify::new(),
        }))
    }

    /// What can be found now.
    pub fn snapshot(&self) -> Arc<IndexSnapshot> {
        self.index.snapshot()
    }

    /// Waits until everything can be found that was written before, at most a second. While the
    /// index is being made there is nothing to search.
    pub async fn catch_up(&self, store: &Store) -> Result<(), Error> {
        let end = store.read(|tx| Ok(event_log::highest_seq(tx)?)).await?;
        let is_there = |passed: &Option<i64>| passed.is_some_and(|passed| passed >= end);
        let mut passed = self.searchable_through.subscribe();
        if is_there(&passed.borrow()) {
            return Ok(());
        }
        let waiting = self.register_waiter();
        // What is waited for comes with a lock on it, which is let go at once.
        drop(timeout(CATCH_UP_TIMEOUT, passed.wait_for(is_there)).await);
        drop(waiting);
        if self.searchable_through.borrow().is_none() {
            return Err(Refusal::Unavailable.into());
        }
        Ok(())
    }

    /// Makes the index anew, beside everything else; nothing is found until it is made.
    pub fn rebuild(&self) {
        self.state.lock().rebuild_requested = true;
        self.searchable_through.send_replace(None);
        self.wakeup.notify_one();
    }

    /// Waits until the index is made; calls with how many posts it holds from time to time.
    pub async fn wait_until_built(&self, mut told: impl FnMut(u64)) {
        const EACH: Duration = Duration::from_millis(200);
        let mut passed = self.searchable_through.subscribe();
        while timeout(EACH, passed.wait_for(Option::is_some)).await.is_err() {
            told(self.snapshot().len());
        }
    }
}
