//! What a tester changes about the limits of a running development server.

use base::{Error, Time};

use super::{
    CounterKey, CounterKeys, LimitCounter, RateLimitMode, RateLimitSubject, RateLimiter, WindowCount, WindowUsage,
};
use crate::endpoint::RateWindow;

impl RateLimiter {
    pub fn mode(&self) -> RateLimitMode {
        self.mode.load()
    }

    /// Calls counted so far stay counted.
    pub fn set_mode(&self, mode: RateLimitMode) {
        self.mode.store(mode);
    }

    /// Uses up one of a counter's `windows` for a subject, so that its next call is refused. None if `window` is not one
    /// of them.
    pub fn exhaust(
        &self,
        (subject, counter): (RateLimitSubject, LimitCounter),
        windows: &[RateWindow],
        window: RateWindow,
        now: Time,
    ) -> Option<WindowUsage> {
        let index = windows.iter().position(|one| *one == window)?;
        let own = CounterKey { subject, counter };
        let count = self.update_slots(CounterKeys { own, common: None }, now, |slots| {
            self.renew_windows(&mut slots.own, windows, now.ms());
            let count = slots.own.counts.get_mut(index)?;
            let end_ms = count.start_ms.saturating_add(window.length_ms());
            let used = count.used.max(self.allowed_calls(window));
            *count = WindowCount { used, leased: 0, retry_ms: end_ms, start_ms: count.start_ms };
            Some(*count)
        });
        count.map(|count| self.window_usage(own, window, count))
    }

    /// Forgets the calls that were counted for the pairs of subject and counter for which `is_reset` is true; returns
    /// the number of pairs. `windows` looks up the windows of a subject and an operation.
    pub async fn reset(
        &self,
        is_reset: impl Fn(RateLimitSubject, LimitCounter) -> bool,
        windows: impl Fn(RateLimitSubject, usize) -> &'static [RateWindow],
    ) -> Result<usize, Error> {
        let mut removed = Vec::new();
        for shard in &self.shards {
            let mut shard = shard.lock();
            let matching = shard.extract_if(|key, _| is_reset(key.subject, key.counter));
            removed.extend(matching.map(|(key, _)| key));
        }
        if let Some(shared) = &self.shared {
            let counted = removed.iter().flat_map(|key| {
                let windows = match key.counter {
                    LimitCounter::Operation(number) => windows(key.subject, number),
                    LimitCounter::Shared(shared) => std::slice::from_ref(&shared.window),
                };
                windows.iter().map(|window| (*key, *window))
            });
            shared.forget(counted.collect()).await?;
        }
        Ok(removed.len())
    }
}
