//! The indexer: reads the event log and keeps the index up to date.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ::search::PostIndex;
use base::{Error, Fault, clock};
use futures_util::future::BoxFuture;
use store::{Store, event_log};

use crate::PostSearch;
use crate::index_changes::{IndexChanges, find_loss, gather_changes, reindex_posts};
use crate::progress::IndexProgress;

/// How long indexed posts may remain unsearchable while no search waits.
const MAX_COMMIT_DELAY: Duration = Duration::from_millis(400);
/// How often the indexer looks whether a commit is due, and the delay after a failure.
const COMMIT_CHECK_INTERVAL: Duration = Duration::from_millis(500);
/// Wakeups replace polling; this is a fallback.
const FALLBACK_INTERVAL: Duration = Duration::from_secs(30);
/// How long to collect events after waking up.
const COLLECT_DELAY: Duration = Duration::from_millis(100);
/// Uncommitted changes that force a commit.
const MAX_PENDING_POSTS: usize = 20_000;
/// Steps for which searches wait while authors are indexed again.
const MAX_HELD_STEPS: u32 = 8;
/// The index writer's memory is released after this long without changes.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);
/// Requested posts indexed per step.
const MAX_REQUESTED_POSTS: usize = 500;
/// Failed steps without a commit after which the node is not ready for searches.
const MAX_FAILURES: u32 = 3;
/// How often the cursor is committed if no events affect the index.
const PROGRESS_INTERVAL: Duration = Duration::from_mins(5);

pub(super) struct IndexerState {
    /// Progress including uncommitted changes.
    progress: IndexProgress,
    /// Progress of the last commit.
    committed_progress: IndexProgress,
    /// Uncommitted changes.
    pending: usize,
    committed_at: Instant,
    /// Waiting searches.
    waiters: usize,
    /// Steps taken while authors are indexed again.
    held_steps: u32,
    /// Whether the log was checked for pruned entries.
    is_log_checked: bool,
    /// The end of the log when the index was opened: before it is there, it lacks what happened meanwhile.
    published_from: i64,
    /// Failed steps while there are changes that are not committed.
    pub(super) failures: u32,
    /// Whether the index is a copy that may lack imported posts.
    pub(super) is_copy: bool,
    /// Whether the index writer may hold memory.
    is_writing: bool,
    pub(super) rebuild_requested: bool,
    /// Posts to index again.
    requested_posts: Vec<i64>,
}

impl IndexerState {
    pub(super) fn new(progress: IndexProgress) -> Self {
        Self {
            committed_progress: progress.clone(),
            progress,
            pending: 0,
            committed_at: clock::monotonic_now(),
            waiters: 0,
            held_steps: 0,
            is_log_checked: false,
            published_from: 0,
            failures: 0,
            is_copy: false,
            is_writing: false,
            rebuild_requested: false,
            requested_posts: Vec::new(),
        }
    }

    pub(super) fn progress(&self) -> &IndexProgress {
        &self.progress
    }

    /// The progress of what is searchable.
    pub(super) fn searchable_progress(&self) -> &IndexProgress {
        if self.pending == 0 { &self.progress } else { &self.committed_progress }
    }

    pub(super) fn reset_to(&mut self, progress: IndexProgress) {
        *self = Self {
            waiters: self.waiters,
            is_log_checked: self.is_log_checked,
            published_from: self.published_from,
            failures: self.failures,
            is_copy: self.is_copy,
            rebuild_requested: self.rebuild_requested,
            requested_posts: std::mem::take(&mut self.requested_posts),
            ..Self::new(progress)
        };
    }
}

/// A waiting search, until it is dropped.
pub(super) struct SearchWaiter<'a>(&'a PostSearch);

impl Drop for SearchWaiter<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        state.waiters = state.waiters.saturating_sub(1);
    }
}

impl PostSearch {
    pub(super) fn register_waiter(&self) -> SearchWaiter<'_> {
        self.state.lock().waiters += 1;
        self.wakeup.notify_one();
        SearchWaiter(self)
    }

    pub(super) fn request_reindex(&self, ids: Vec<i64>) {
        self.state.lock().requested_posts.extend(ids);
        self.wakeup.notify_one();
    }

    /// Whether everything up to a log position is searchable, and nothing remains to be indexed.
    pub(super) fn is_settled(&self, end: i64) -> bool {
        let state = self.state.lock();
        let progress = state.searchable_progress();
        let has_backlog = progress.build.is_some() || !progress.authors.is_empty() || !progress.imported.is_empty();
        let has_request = state.rebuild_requested || !state.requested_posts.is_empty();
        state.is_log_checked && !has_backlog && !has_request && progress.seq.is_some_and(|seq| seq >= end)
    }

    /// Follows the log in an endless loop.
    pub fn run_indexer<'a>(&'a self, store: &'a Store) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let mut events = store.subscribe_events();
            loop {
                match self.index_step(store).await {
                    Ok(true) => continue,
                    Ok(false) => {}
                    Err(error) => {
                        tracing::warn!(%error, "failed to update the search index; will retry");
                        self.roll_back();
                        self.publish_progress();
                        tokio::time::sleep(COMMIT_CHECK_INTERVAL).await;
                    }
                }
                let has_pending = self.state.lock().pending > 0;
                let delay = if has_pending { COMMIT_CHECK_INTERVAL } else { FALLBACK_INTERVAL };
                tokio::select! {
                    () = self.wakeup.notified() => continue,
                    _ = events.changed() => {}
                    () = tokio::time::sleep(delay) => {}
                }
                tokio::select! {
                    () = self.wakeup.notified() => {}
                    () = tokio::time::sleep(COLLECT_DELAY) => {}
                }
                events.mark_unchanged();
            }
        })
    }

    /// Reads to the end of the log, finishes all backlogs and commits.
    pub fn drain_log<'a>(&'a self, store: &'a Store) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(async move {
            while self.index_step(store).await? {}
            Ok(self.commit().await?)
        })
    }

    /// Returns whether there may be more to do.
    async fn index_step(&self, store: &Store) -> Result<bool, Error> {
        self.check_index(store).await?;
        let (progress, requested) = {
            let state = self.state.lock();
            (state.progress.clone(), state.requested_posts.iter().take(MAX_REQUESTED_POSTS).copied().collect())
        };
        if !Vec::is_empty(&requested) {
            self.reindex_requested(store, progress, requested).await?;
            return Ok(true);
        }
        let snapshot = self.snapshot();
        // Every other step.
        let turn_of_authors = self.state.lock().held_steps % 2 == 1;
        let found = store.read(move |tx| Ok(gather_changes(tx, &progress, turn_of_authors, &snapshot)?)).await?;
        match found {
            None => {
                self.commit_when_due().await?;
                Ok(false)
            }
            Some(changes) => {
                self.apply_changes(changes).await?;
                Ok(true)
            }
        }
    }

    async fn reindex_requested(&self, store: &Store, progress: IndexProgress, ids: Vec<i64>) -> Result<(), Error> {
        let count = ids.len();
        let changes = store.read(move |tx| Ok(reindex_posts(tx, &progress, &ids)?)).await?;
        self.apply_changes(changes).await?;
        self.commit().await?;
        tracing::info!(posts = count, "indexed posts again on request");
        self.state.lock().requested_posts.drain(..count);
        Ok(())
    }

    /// Resets an index whose rebuild was requested or that missed log entries.
    pub(super) async fn check_index(&self, store: &Store) -> Result<(), Error> {
        let (is_checked, progress) = {
            let mut state = self.state.lock();
            if state.rebuild_requested {
                tracing::info!("rebuilding the search index on request");
                state.reset_to(IndexProgress::default());
                state.rebuild_requested = false;
            }
            (state.is_log_checked, state.progress.clone())
        };
        if is_checked {
            return Ok(());
        }
        let (loss, end) = store.read(move |tx| Ok((find_loss(tx, &progress)?, event_log::end_cursor(tx)?))).await?;
        let mut state = self.state.lock();
        state.published_from = end;
        if let Some(reason) = loss {
            tracing::warn!(reason, "the search index cannot be used; rebuilding it");
            state.reset_to(IndexProgress::default());
        }
        state.is_log_checked = true;
        Ok(())
    }

    async fn apply_changes(&self, changes: IndexChanges) -> Result<(), Fault> {
        let (count, progress) = (changes.count(), changes.progress.clone());
        if changes.clear_first || count > 0 {
            let index = Arc::clone(&self.index);
            run_blocking(move || write_changes(&index, &changes)).await?;
        }
        let should_commit = {
            let mut state = self.state.lock();
            state.pending += count;
            state.held_steps = if progress.authors.is_empty() { 0 } else { state.held_steps.saturating_add(1) };
            state.is_writing |= count > 0;
            state.progress = progress;
            let due = state.waiters > 0 || state.committed_at.elapsed() >= MAX_COMMIT_DELAY;
            state.pending >= MAX_PENDING_POSTS || due && state.pending > 0 && state.progress.build.is_none()
        };
        if should_commit {
            self.commit().await?;
        } else {
            self.publish_progress();
        }
        Ok(())
    }

    /// Called without new changes: commits when due, and releases the writer when idle.
    async fn commit_when_due(&self) -> Result<(), Fault> {
        let (due, save_progress, is_idle) = {
            let state = self.state.lock();
            let elapsed = state.committed_at.elapsed();
            let is_building = state.committed_progress.build.is_some() || state.committed_progress.seq.is_none();
            let due = state.pending > 0 && (is_building || state.waiters > 0 || elapsed >= MAX_COMMIT_DELAY);
            let save_progress = state.progress != state.committed_progress && elapsed >= PROGRESS_INTERVAL;
            (due, save_progress || is_building, state.is_writing && elapsed >= IDLE_TIMEOUT)
        };
        if due || save_progress {
            return self.commit().await;
        }
        let pending = {
            let mut state = self.state.lock();
            if state.pending == 0 {
                state.failures = 0;
            }
            state.pending
        };
        self.publish_progress();
        if is_idle && pending == 0 {
            self.state.lock().is_writing = false;
            let index = Arc::clone(&self.index);
            run_blocking(move || {
                index.release_writer();
                Ok(())
            })
            .await?;
        }
        Ok(())
    }

    async fn commit(&self) -> Result<(), Fault> {
        let progress = self.state.lock().progress.clone();
        let (index, checkpoint) = (Arc::clone(&self.index), progress.to_json());
        run_blocking(move || index.commit(&checkpoint)).await?;
        {
            let mut state = self.state.lock();
            state.committed_progress = progress;
            state.pending = 0;
            state.failures = 0;
            state.is_writing = true;
            state.committed_at = clock::monotonic_now();
        }
        self.publish_progress();
        Ok(())
    }

    /// Publishes the position up to which everything is searchable.
    pub(super) fn publish_progress(&self) {
        let mut state = self.state.lock();
        let searchable = state.searchable_progress();
        // Searches wait until authors with few posts are indexed again, but not for authors with many.
        if !searchable.authors.is_empty() && state.held_steps <= MAX_HELD_STEPS {
            return;
        }
        let is_built = searchable.build.is_none() && !state.rebuild_requested;
        let position = searchable.seq.filter(|seq| is_built && *seq >= state.published_from);
        let is_complete = searchable.imported.is_empty();
        // Imported posts come last; an index that follows imports shows what it has.
        state.is_copy &= position.is_none() || !is_complete;
        // Other nodes are searched instead of one that cannot follow.
        let position = position.filter(|_| !state.is_copy && state.failures < MAX_FAILURES);
        self.searchable_through.send_if_modified(|published| {
            let is_changed = *published != position;
            *published = position;
            is_changed
        });
    }

    /// Returns to the last commit.
    fn roll_back(&self) {
        self.index.release_writer();
        let stored = self.index.checkpoint().and_then(|checkpoint| IndexProgress::parse(&checkpoint));
        let mut state = self.state.lock();
        let committed = state.committed_progress.clone();
        state.failures = state.failures.saturating_add(1);
        state.reset_to(committed);
        // An index that is to be rebuilt has no position.
        let is_followed = state.progress.seq.is_some();
        if let Some(stored) = stored.filter(|stored| is_followed && *stored != state.progress) {
            // Committed, but not visible yet: the next commit shows it.
            state.progress = stored;
            state.pending = 1;
        }
    }
}

fn write_changes(index: &PostIndex, changes: &IndexChanges) -> Result<(), Fault> {
    if changes.clear_first {
        index.clear()?;
    }
    if let Some(author) = changes.author {
        index.remove_author_posts(author)?;
    }
    if !changes.removed.is_empty() {
        index.remove_posts(&changes.removed)?;
    }
    index.add_documents(&changes.added, true)?;
    index.add_documents(&changes.updated, false)
}

/// Index files are written on a blocking thread.
pub(super) async fn run_blocking(work: impl FnOnce() -> Result<(), Fault> + Send + 'static) -> Result<(), Fault> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(Fault::context("writing the search index"))?
}
