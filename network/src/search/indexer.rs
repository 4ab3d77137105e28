//! Keeping the index up to date: one reader of the log in each process.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ::search::PostIndex;
use base::{Error, Fault, clock};
use store::Store;

use super::PostSearch;
use super::index_changes::{IndexChanges, gather_changes, is_lost};
use super::progress::IndexProgress;

/// How long what was filed may wait to be found while nobody asks.
const MAX_COMMIT_DELAY: Duration = Duration::from_millis(400);
/// How often the log is looked at where other processes write to it.
const POLL_INTERVAL: Duration = Duration::from_millis(500);
/// How long a reader that was woken collects what comes.
const COLLECT_DELAY: Duration = Duration::from_millis(100);
/// Posts that may wait to be found.
const MAX_PENDING_POSTS: usize = 20_000;
/// Steps that an author's posts may take before searches wait for them no more.
const MAX_HELD_STEPS: u32 = 4;
/// After so long without anything to write the memory for writing is given back.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);
/// How often it is noted how far the log was read where nothing in it concerned the index.
const PROGRESS_INTERVAL: Duration = Duration::from_mins(5);

/// Where the reader is.
pub(super) struct IndexerState {
    /// With everything that was added.
    progress: IndexProgress,
    /// With what can be found.
    committed_progress: IndexProgress,
    /// Changes that cannot be found yet.
    pending: usize,
    committed_at: Instant,
    /// Searches that wait.
    waiters: usize,
    /// Steps taken while authors were looked at again.
    held_steps: u32,
    /// It was looked whether the log still reaches back.
    is_log_checked: bool,
    /// The index is writing, or was not long ago.
    is_writing: bool,
    /// Everything is to be thrown away.
    pub(super) rebuild_requested: bool,
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
            is_writing: false,
            rebuild_requested: false,
        }
    }

    fn reset_to(&mut self, progress: IndexProgress) {
        *self = Self {
            waiters: self.waiters,
            is_log_checked: self.is_log_checked,
            rebuild_requested: self.rebuild_requested,
            ..Self::new(progress)
        };
    }
}

/// Somebody who waits for the index.
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

    /// Follows the log for ever.
    pub async fn run_indexer(&self, store: &Store) {
        let mut wake = store.subscribe_events();
        loop {
            match self.index_step(store).await {
                Ok(true) => continue,
                Ok(false) => {}
                Err(stop) => {
                    tracing::warn!(?stop, "the index was not kept up; it is tried again");
                    self.roll_back();
                    tokio::time::sleep(POLL_INTERVAL).await;
                }
            }
            tokio::select! {
                () = self.wakeup.notified() => continue,
                _ = wake.changed() => {}
                () = tokio::time::sleep(POLL_INTERVAL) => {}
            }
            tokio::select! {
                () = self.wakeup.notified() => {}
                () = tokio::time::sleep(COLLECT_DELAY) => {}
            }
            wake.mark_unchanged();
        }
    }

    /// Reads to the end of the log and of everything else there is to do.
    pub async fn drain_log(&self, store: &Store) -> Result<(), Error> {
        while self.index_step(store).await? {}
        Ok(self.commit().await?)
    }

    /// Takes one step; whether there may be more.
    async fn index_step(&self, store: &Store) -> Result<bool, Error> {
        self.check_index(store).await?;
        let progress = self.state.lock().progress.clone();
        let snapshot = self.snapshot();
        let found = store
            .read(move |tx| Ok(gather_changes(tx, &progress, &snapshot)?))
            .await?;
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

    /// An index that is told to, or that missed a part of the log, begins anew.
    async fn check_index(&self, store: &Store) -> Result<(), Error> {
        let (checked, progress) = {
            let mut state = self.state.lock();
            if state.rebuild_requested {
                state.reset_to(IndexProgress::default());
                state.rebuild_requested = false;
            }
            (state.is_log_checked, state.progress.clone())
        };
        if checked {
            return Ok(());
        }
        let lost = store.read(move |tx| Ok(is_lost(tx, &progress)?)).await?;
        let mut state = self.state.lock();
        if lost {
            tracing::info!("the index missed a part of the log and is made anew");
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
        let now = {
            let mut state = self.state.lock();
            state.pending += count;
            state.held_steps = if progress.authors.is_empty() {
                0
            } else {
                state.held_steps.saturating_add(1)
            };
            state.is_writing |= count > 0;
            state.progress = progress;
            let due = state.waiters > 0 || state.committed_at.elapsed() >= MAX_COMMIT_DELAY;
            state.pending >= MAX_PENDING_POSTS || due && state.pending > 0 && state.progress.build.is_none()
        };
        if now {
            self.commit().await?;
        } else {
            self.publish_progress();
        }
        Ok(())
    }

    /// There is nothing to read: what was added is made to be found when it is time.
    async fn commit_when_due(&self) -> Result<(), Fault> {
        let (due, note, idle) = {
            let state = self.state.lock();
            let since = state.committed_at.elapsed();
            let made = state.committed_progress.build.is_some() || state.committed_progress.seq.is_none();
            let due = state.pending > 0 && (made || state.waiters > 0 || since >= MAX_COMMIT_DELAY);
            let note = state.progress != state.committed_progress && since >= PROGRESS_INTERVAL;
            (due, note || made, state.is_writing && since >= IDLE_TIMEOUT)
        };
        if due || note {
            return self.commit().await;
        }
        self.publish_progress();
        let pending = self.state.lock().pending;
        if idle && pending == 0 {
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
        let (index, mark) = (Arc::clone(&self.index), progress.to_json());
        run_blocking(move || index.commit(&mark)).await?;
        {
            let mut state = self.state.lock();
            state.committed_progress = progress;
            state.pending = 0;
            state.is_writing = true;
            state.committed_at = clock::monotonic_now();
        }
        self.publish_progress();
        Ok(())
    }

    /// Says how far everything can be found.
    fn publish_progress(&self) {
        let state = self.state.lock();
        let reached = if state.pending == 0 {
            &state.progress
        } else {
            &state.committed_progress
        };
        // Who has few posts is searched as they are now; who has many keeps nobody waiting.
        if !reached.authors.is_empty() && state.held_steps <= MAX_HELD_STEPS {
            return;
        }
        let made = reached.build.is_none() && !state.rebuild_requested;
        let passed = reached.seq.filter(|_| made);
        self.searchable_through.send_if_modified(|told| {
            let news = *told != passed;
            *told = passed;
            news
        });
    }

    /// Goes back to what can be found.
    fn roll_back(&self) {
        self.index.release_writer();
        let mut state = self.state.lock();
        let kept = state.committed_progress.clone();
        state.reset_to(kept);
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

/// Files are written on a thread that may wait for them.
async fn run_blocking(work: impl FnOnce() -> Result<(), Fault> + Send + 'static) -> Result<(), Fault> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(Fault::context("writing the index"))?
}
