//! Pauses of background work that looks for something to do: on a shared database they are longer while nothing
//! happens, since each node looks.

use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::{Instant, timeout};

use crate::Store;

/// Without requests and events for this long, a node is idle.
const IDLE_AFTER: Duration = Duration::from_secs(5);
/// By how much pauses are longer then.
const IDLE_FACTOR: u32 = 10;

/// When the number of requests and events last changed.
pub(crate) struct ActivityClock(Mutex<(u64, Instant)>);

impl ActivityClock {
    pub(crate) fn new() -> Self {
        Self(Mutex::new((0, Instant::now())))
    }

    fn is_idle(&self, count: u64) -> bool {
        let mut last = self.0.lock();
        if last.0 != count {
            *last = (count, Instant::now());
        }
        last.1.elapsed() >= IDLE_AFTER
    }
}

impl Store {
    /// Whether a node on a shared database has had no requests and no events for some seconds.
    pub fn is_idle(&self) -> bool {
        self.is_shared() && self.activity.is_idle(self.db.activity_count())
    }

    /// Waits for the interval; while a node on a shared database has no requests and there are no events, for up to
    /// ten times as long. It ends within the interval when that changes.
    ///
    /// It ends at once when the world's clock is set, since something may be due then.
    pub async fn pause_background_work(&self, interval: Duration) {
        let mut clock = self.subscribe_clock();
        for _ in 0..IDLE_FACTOR {
            if let Ok(Ok(())) = timeout(interval, clock.changed()).await {
                return;
            }
            if !self.is_idle() {
                return;
            }
        }
    }
}
