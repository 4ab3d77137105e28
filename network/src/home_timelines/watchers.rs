//! Open pages that wait for new posts of a home timeline. They are woken by the one reader of the event log, and look for
//! their posts in memory, so that waiting costs no queries.

use std::sync::Arc;
use std::time::Duration;

use base::UserId;
use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use super::{HomeTimelines, TimelineCacheKey};

/// Per node.
pub(crate) const MAX_WATCHERS: usize = 10_000;
pub(crate) const MAX_WATCHERS_PER_READER: usize = 4;

#[derive(Default)]
pub(super) struct WatcherCounts(Mutex<FxHashMap<UserId, usize>>);

impl WatcherCounts {
    fn try_add(&self, reader: UserId) -> bool {
        let mut counts = self.0.lock();
        let is_full = counts.values().sum::<usize>() >= MAX_WATCHERS;
        if is_full || counts.get(&reader).is_some_and(|count| *count >= MAX_WATCHERS_PER_READER) {
            return false;
        }
        *counts.entry(reader).or_default() += 1;
        true
    }

    fn remove(&self, reader: UserId) {
        let mut counts = self.0.lock();
        if let Some(count) = counts.get_mut(&reader) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&reader);
            }
        }
    }
}

/// One open page.
pub struct HomeWatcher {
    timelines: Arc<HomeTimelines>,
    reader: UserId,
    newest_entry: watch::Receiver<i64>,
    /// Posts up to this entry of the event log were looked at; none before the first wait.
    checked: Option<i64>,
}

impl HomeWatcher {
    /// None if too many pages are open.
    pub fn open(timelines: &Arc<HomeTimelines>, reader: UserId) -> Option<Self> {
        let is_added = timelines.watchers.try_add(reader);
        is_added.then(|| Self {
            timelines: Arc::clone(timelines),
            reader,
            newest_entry: timelines.newest_entry.subscribe(),
            checked: None,
        })
    }

    /// Waits for posts that may be in the reader's timeline; false if there were none for `limit`. The first time, there
    /// may have been some before.
    pub async fn wait_for_posts(&mut self, limit: Duration) -> bool {
        let deadline = Instant::now() + limit;
        if self.checked.is_none() {
            self.checked = Some(*self.newest_entry.borrow_and_update());
            return true;
        }
        while matches!(timeout_at(deadline, self.newest_entry.changed()).await, Ok(Ok(()))) {
            let through = *self.newest_entry.borrow_and_update();
            let after = self.checked.replace(through).unwrap_or(through);
            if self.timelines.may_have_new_posts(self.reader, after, through) {
                return true;
            }
        }
        false
    }
}

impl Drop for HomeWatcher {
    fn drop(&mut self) {
        self.timelines.watchers.remove(self.reader);
    }
}

impl HomeTimelines {
    /// Whether a log entry after one up to another is a post by somebody whom the reader followed at the last read. True
    /// where it is not known.
    fn may_have_new_posts(&self, reader: UserId, after: i64, through: i64) -> bool {
        let Some(timeline) = self.timelines.get(&TimelineCacheKey::Reader(reader)) else { return true };
        // Not waited for, since whoever reads it reads from the database.
        let Some(timeline) = timeline.try_lock() else { return true };
        let new = self.recent.list_between(after, through, &timeline.authors);
        new.is_none_or(|new| !new.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use base::UserId;

    use super::{HomeTimelines, HomeWatcher, MAX_WATCHERS_PER_READER};

    #[test]
    fn pages_of_a_reader_are_limited_until_one_is_closed() {
        let timelines = Arc::new(HomeTimelines::default());
        let open = |reader| HomeWatcher::open(&timelines, UserId::new(reader));
        let mut pages: Vec<_> = (0..MAX_WATCHERS_PER_READER).map(|_| open(1)).collect();
        assert!(pages.iter().all(Option::is_some) && open(1).is_none());
        assert!(open(2).is_some());
        pages.pop();
        assert!(open(1).is_some());
    }

    #[tokio::test]
    async fn page_looks_once_at_first_and_then_waits() {
        let timelines = Arc::new(HomeTimelines::default());
        let mut page = HomeWatcher::open(&timelines, UserId::new(1)).unwrap();
        let short = Duration::from_millis(10);
        assert!(page.wait_for_posts(short).await);
        assert!(!page.wait_for_posts(short).await);
        timelines.newest_entry.send_replace(7);
        assert!(page.wait_for_posts(short).await, "it is not in memory which posts these were");
    }
}
