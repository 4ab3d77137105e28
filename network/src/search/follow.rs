//! Keeping the index up to date: one reader of the log in each process.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ::search::Index;
use base::{Fault, Stop, clock};
use store::Store;

use super::Search;
use super::gather::{Changes, gather, is_lost};
use super::progress::Progress;

/// How long what was filed may wait to be found while nobody asks.
const LONGEST: Duration = Duration::from_millis(400);
/// How often the log is looked at where other processes write to it.
const LOOK_EACH: Duration = Duration::from_millis(500);
/// How long a reader that was woken collects what comes.
const COLLECT: Duration = Duration::from_millis(100);
/// Posts that may wait to be found.
const MOST: usize = 20_000;
/// Steps that an author's posts may take before searches wait for them no more.
const HELD: u32 = 4;
/// After so long without anything to write the memory for writing is given back.
const IDLE: Duration = Duration::from_secs(30);
/// How often it is noted how far the log was read where nothing in it concerned the index.
const NOTE_EACH: Duration = Duration::from_mins(5);

/// Where the reader is.
pub(super) struct State {
    /// With everything that was added.
    progress: Progress,
    /// With what can be found.
    kept: Progress,
    /// Changes that cannot be found yet.
    pending: usize,
    committed: Instant,
    /// Searches that wait.
    waiting: usize,
    /// Steps taken while authors were looked at again.
    held: u32,
    /// It was looked whether the log still reaches back.
    checked: bool,
    /// The index is writing, or was not long ago.
    awake: bool,
    /// Everything is to be thrown away.
    pub(super) renew: bool,
}

impl State {
    pub(super) fn new(progress: Progress) -> Self {
        Self {
            kept: progress.clone(),
            progress,
            pending: 0,
            committed: clock::instant(),
            waiting: 0,
            held: 0,
            checked: false,
            awake: false,
            renew: false,
        }
    }

    fn go_back_to(&mut self, progress: Progress) {
        *self = Self {
            waiting: self.waiting,
            checked: self.checked,
            renew: self.renew,
            ..Self::new(progress)
        };
    }
}

/// Somebody who waits for the index.
pub(super) struct Waiting<'a>(&'a Search);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        state.waiting = state.waiting.saturating_sub(1);
    }
}

impl Search {
    pub(super) fn wait(&self) -> Waiting<'_> {
        self.state.lock().waiting += 1;
        self.wanted.notify_one();
        Waiting(self)
    }

    /// Follows the log for ever.
    pub async fn run(&self, store: &Store) {
        let mut wake = store.subscribe_events();
        loop {
            match self.turn(store).await {
                Ok(true) => continue,
                Ok(false) => {}
                Err(stop) => {
                    tracing::warn!(?stop, "the index was not kept up; it is tried again");
                    self.forget();
                    tokio::time::sleep(LOOK_EACH).await;
                }
            }
            tokio::select! {
                () = self.wanted.notified() => continue,
                _ = wake.changed() => {}
                () = tokio::time::sleep(LOOK_EACH) => {}
            }
            tokio::select! {
                () = self.wanted.notified() => {}
                () = tokio::time::sleep(COLLECT) => {}
            }
            wake.mark_unchanged();
        }
    }

    /// Reads to the end of the log and of everything else there is to do.
    pub async fn finish(&self, store: &Store) -> Result<(), Stop> {
        while self.turn(store).await? {}
        Ok(self.commit().await?)
    }

    /// Takes one step; whether there may be more.
    async fn turn(&self, store: &Store) -> Result<bool, Stop> {
        self.check(store).await?;
        let progress = self.state.lock().progress.clone();
        let snapshot = self.snapshot();
        let found = store
            .read(move |tx| Ok(gather(tx, &progress, &snapshot)?))
            .await?;
        match found {
            None => {
                self.settle().await?;
                Ok(false)
            }
            Some(changes) => {
                self.apply(changes).await?;
                Ok(true)
            }
        }
    }

    /// An index that is told to, or that missed a part of the log, begins anew.
    async fn check(&self, store: &Store) -> Result<(), Stop> {
        let (checked, progress) = {
            let mut state = self.state.lock();
            if state.renew {
                state.go_back_to(Progress::default());
                state.renew = false;
            }
            (state.checked, state.progress.clone())
        };
        if checked {
            return Ok(());
        }
        let lost = store.read(move |tx| Ok(is_lost(tx, &progress)?)).await?;
        let mut state = self.state.lock();
        if lost {
            tracing::info!("the index missed a part of the log and is made anew");
            state.go_back_to(Progress::default());
        }
        state.checked = true;
        Ok(())
    }

    async fn apply(&self, changes: Changes) -> Result<(), Fault> {
        let (count, progress) = (changes.count(), changes.progress.clone());
        if changes.anew || count > 0 {
            let index = Arc::clone(&self.index);
            blocking(move || write(&index, &changes)).await?;
        }
        let now = {
            let mut state = self.state.lock();
            state.pending += count;
            state.held = if progress.authors.is_empty() {
                0
            } else {
                state.held.saturating_add(1)
            };
            state.awake |= count > 0;
            state.progress = progress;
            let due = state.waiting > 0 || state.committed.elapsed() >= LONGEST;
            state.pending >= MOST || due && state.pending > 0 && state.progress.build.is_none()
        };
        if now {
            self.commit().await?;
        } else {
            self.pass();
        }
        Ok(())
    }

    /// There is nothing to read: what was added is made to be found when it is time.
    async fn settle(&self) -> Result<(), Fault> {
        let (due, note, idle) = {
            let state = self.state.lock();
            let since = state.committed.elapsed();
            let made = state.kept.build.is_some() || state.kept.seq.is_none();
            let due = state.pending > 0 && (made || state.waiting > 0 || since >= LONGEST);
            let note = state.progress != state.kept && since >= NOTE_EACH;
            (due, note || made, state.awake && since >= IDLE)
        };
        if due || note {
            return self.commit().await;
        }
        self.pass();
        let pending = self.state.lock().pending;
        if idle && pending == 0 {
            self.state.lock().awake = false;
            let index = Arc::clone(&self.index);
            blocking(move || {
                index.rest();
                Ok(())
            })
            .await?;
        }
        Ok(())
    }

    async fn commit(&self) -> Result<(), Fault> {
        let progress = self.state.lock().progress.clone();
        let (index, mark) = (Arc::clone(&self.index), progress.write());
        blocking(move || index.commit(&mark)).await?;
        {
            let mut state = self.state.lock();
            state.kept = progress;
            state.pending = 0;
            state.awake = true;
            state.committed = clock::instant();
        }
        self.pass();
        Ok(())
    }

    /// Says how far everything can be found.
    fn pass(&self) {
        let state = self.state.lock();
        let reached = if state.pending == 0 {
            &state.progress
        } else {
            &state.kept
        };
        // Who has few posts is searched as they are now; who has many keeps nobody waiting.
        if !reached.authors.is_empty() && state.held <= HELD {
            return;
        }
        let made = reached.build.is_none() && !state.renew;
        let passed = reached.seq.filter(|_| made);
        self.passed.send_if_modified(|told| {
            let news = *told != passed;
            *told = passed;
            news
        });
    }

    /// Goes back to what can be found.
    fn forget(&self) {
        self.index.rest();
        let mut state = self.state.lock();
        let kept = state.kept.clone();
        state.go_back_to(kept);
    }
}

fn write(index: &Index, changes: &Changes) -> Result<(), Fault> {
    if changes.anew {
        index.clear()?;
    }
    if let Some(author) = changes.author {
        index.remove_author(author)?;
    }
    if !changes.gone.is_empty() {
        index.remove(&changes.gone)?;
    }
    index.add(&changes.new, true)?;
    index.add(&changes.again, false)
}

/// Files are written on a thread that may wait for them.
async fn blocking(work: impl FnOnce() -> Result<(), Fault> + Send + 'static) -> Result<(), Fault> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(Fault::when("writing the index"))?
}
