//! Views of posts by users: recorded in memory while a response is rendered, and stored in batches. A view counts once
//! per viewer, post and hour. What is not stored yet is lost if the process is killed.

use std::fmt;
use std::hash::{BuildHasher, RandomState};

use base::{Error, Fault, PostId, Time, UserId, sorted_distinct};
use parking_lot::Mutex;
use store::views::{self, PostView, hour_number};
use store::{Store, Tx};

/// Views that are known to be recorded, so that they are not stored again; the latest of those with the same place is
/// remembered. 8 MiB, of which only what is used takes memory.
const RECENT_PLACES: usize = 1 << 20;
const FEW_PLACES: usize = 1 << 14;
/// Views that wait to be stored.
const MAX_WAITING: usize = 50_000;
/// Views per transaction, so that it does not block other writers for long.
const BATCH_SIZE: usize = 500;
/// How long it is known who has viewed a post; longer than views wait to be stored.
const VIEW_HOURS: i64 = 3;
/// How long counts by hour are kept.
const COUNT_HOURS: i64 = 90 * 24;

pub struct ViewRecorder {
    hasher: RandomState,
    waiting: Mutex<WaitingViews>,
}

struct WaitingViews {
    recent: Vec<u64>,
    queue: Vec<PostView>,
    dropped: u64,
}

impl Default for ViewRecorder {
    fn default() -> Self {
        Self::with_places(RECENT_PLACES)
    }
}

impl fmt::Debug for ViewRecorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ViewRecorder").field("waiting", &self.waiting.lock().queue.len()).finish_non_exhaustive()
    }
}

impl ViewRecorder {
    /// For a development server, which may have many worlds: takes little memory, and stores more views again.
    pub fn for_few_viewers() -> Self {
        Self::with_places(FEW_PLACES)
    }

    fn with_places(places: usize) -> Self {
        let waiting = WaitingViews { recent: vec![0; places], queue: Vec::new(), dropped: 0 };
        Self { hasher: RandomState::new(), waiting: Mutex::new(waiting) }
    }

    /// Records that posts were delivered to a user. Views are dropped while too many wait.
    pub fn record(&self, viewer: UserId, posts: &[PostId], now: Time) {
        if posts.is_empty() {
            return;
        }
        let hour = hour_number(now);
        let mut waiting = self.waiting.lock();
        for post in posts {
            let view = PostView { hour, post_id: *post, viewer_id: viewer.get() };
            let hash = self.hasher.hash_one((hour, view.post_id.get(), view.viewer_id));
            waiting.push(view, hash);
        }
    }

    /// How many views were not counted.
    pub fn dropped_count(&self) -> u64 {
        self.waiting.lock().dropped
    }

    /// Stores the views recorded so far; on failure they stay in memory.
    pub async fn flush(&self, store: &Store) -> Result<(), Error> {
        loop {
            let batch = self.waiting.lock().take_batch();
            if batch.is_empty() {
                return Ok(());
            }
            let views = batch.clone();
            let outcome = store.write(move |tx| Ok(views::record_views(tx, &views)?)).await;
            if let Err(error) = outcome {
                self.waiting.lock().put_back(batch);
                return Err(error);
            }
        }
    }
}

impl WaitingViews {
    fn push(&mut self, view: PostView, hash: u64) {
        let places = u64::try_from(self.recent.len()).unwrap_or(u64::MAX).max(1);
        let place = usize::try_from(hash % places).unwrap_or(0);
        let Some(recent) = self.recent.get_mut(place).filter(|recent| **recent != hash) else { return };
        if self.queue.len() < MAX_WAITING {
            *recent = hash;
            self.queue.push(view);
        } else {
            self.dropped = self.dropped.saturating_add(1);
        }
    }

    /// In the order in which transactions store them, each once.
    fn take_batch(&mut self) -> Vec<PostView> {
        let start = self.queue.len().saturating_sub(BATCH_SIZE);
        sorted_distinct(self.queue.split_off(start))
    }

    fn put_back(&mut self, mut batch: Vec<PostView>) {
        let room = MAX_WAITING.saturating_sub(self.queue.len());
        let dropped = u64::try_from(batch.len().saturating_sub(room)).unwrap_or(0);
        self.dropped = self.dropped.saturating_add(dropped);
        batch.truncate(room);
        self.queue.append(&mut batch);
    }
}

/// Since 1970.
pub(crate) fn first_kept_hour(now: Time) -> i64 {
    hour_number(now) - VIEW_HOURS
}

/// Deletes old views and playbacks, and counts by hour; returns how many rows.
pub(crate) fn prune(tx: &mut Tx<'_>, limit: i64) -> Result<u64, Fault> {
    let (now, first) = (hour_number(tx.now()), first_kept_hour(tx.now()));
    Ok(views::prune_views(tx, first, limit)?
        + store::playbacks::prune(tx, first, limit)?
        + views::prune_counts(tx, now - COUNT_HOURS, limit)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Time = Time::from_ms(1_780_315_200_000);

    fn posts(ids: std::ops::Range<i64>) -> Vec<PostId> {
        ids.map(PostId::new).collect()
    }

    fn waiting_count(recorder: &ViewRecorder) -> usize {
        recorder.waiting.lock().queue.len()
    }

    #[test]
    fn post_is_recorded_once_per_viewer_and_hour() {
        let recorder = ViewRecorder::default();
        for _ in 0..3 {
            recorder.record(UserId::new(1), &posts(1..21), NOW);
        }
        assert_eq!(waiting_count(&recorder), 20);
        recorder.record(UserId::new(2), &posts(1..2), NOW);
        recorder.record(UserId::new(1), &posts(1..2), NOW.plus_ms(3_600_000));
        assert_eq!(waiting_count(&recorder), 22);
    }

    #[test]
    fn view_whose_place_was_taken_is_recorded_again_and_stored_once() {
        let recorder = ViewRecorder::with_places(1);
        for _ in 0..2 {
            recorder.record(UserId::new(1), &posts(1..3), NOW);
        }
        assert_eq!(waiting_count(&recorder), 4);
        assert_eq!(recorder.waiting.lock().take_batch().len(), 2);
    }

    #[test]
    fn views_over_the_bound_are_dropped_and_recorded_later() {
        let recorder = ViewRecorder::default();
        let many = posts(1..i64::try_from(MAX_WAITING).unwrap() + 11);
        recorder.record(UserId::new(1), &many, NOW);
        let batch = recorder.waiting.lock().take_batch();
        assert_eq!((waiting_count(&recorder), batch.len()), (MAX_WAITING - BATCH_SIZE, BATCH_SIZE));
        let dropped = recorder.dropped_count();
        assert!(dropped >= 10, "{dropped}");
        recorder.record(UserId::new(1), &many[many.len() - 10..], NOW);
        assert_eq!(waiting_count(&recorder), MAX_WAITING - BATCH_SIZE + 10);
        recorder.waiting.lock().put_back(batch);
        assert_eq!((waiting_count(&recorder), recorder.dropped_count()), (MAX_WAITING, dropped + 10));
    }
}
