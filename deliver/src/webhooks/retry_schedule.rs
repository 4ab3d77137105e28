//! When webhook retries are due.

use std::time::Duration;

use base::{Fault, Rng, Time};

/// The delay after each failed attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetrySchedule(Vec<Duration>);

/// The maximum jitter as a divisor of the delay: an eighth, so that receivers are not retried in step.
const JITTER: i64 = 8;
/// The maximum `Retry-After` honoured.
const MAX_RETRY_AFTER_MS: i64 = 3600 * 1000;

impl Default for RetrySchedule {
    fn default() -> Self {
        const MINUTE: u64 = 60;
        const HOUR: u64 = 60 * MINUTE;
        let seconds = [5, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 10 * HOUR];
        Self(seconds.map(Duration::from_secs).to_vec())
    }
}

/// A failed attempt.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FailedTry {
    /// Attempts so far, including this one.
    pub(crate) tries: i64,
    /// The time of the first attempt.
    pub(crate) first_at: Time,
    /// The time of the failure.
    pub(crate) now: Time,
    /// The `Retry-After` of the response, in milliseconds.
    pub(crate) retry_after_ms: Option<i64>,
}

impl RetrySchedule {
    /// An empty list means no retries.
    pub fn new(waits: Vec<Duration>) -> Self {
        Self(waits)
    }

    /// The schedule of replays, which can be requested again (contract core §10.1).
    pub fn replay_schedule() -> Self {
        Self([1, 5, 25].map(Duration::from_secs).to_vec())
    }

    fn wait_ms(&self, index: usize) -> Option<i64> {
        let wait = self.0.get(index)?;
        Some(i64::try_from(wait.as_millis()).unwrap_or(i64::MAX))
    }

    /// The minimum time over which attempts are made.
    fn total_ms(&self) -> i64 {
        let waits = (0..self.0.len()).filter_map(|index| self.wait_ms(index));
        waits.fold(0, i64::saturating_add)
    }

    /// The time of the next attempt; `None` to give up. Attempts made early because the receiver was back for
    /// a moment do not shorten the total time.
    pub(crate) fn next_retry(&self, failed: &FailedTry, rng: &Rng) -> Result<Option<Time>, Fault> {
        let index = usize::try_from(failed.tries.saturating_sub(1)).unwrap_or(usize::MAX);
        let spent = failed.now.ms().saturating_sub(failed.first_at.ms());
        let wait = match self.wait_ms(index) {
            Some(wait) => wait,
            None if spent >= self.total_ms() => return Ok(None),
            None => self.wait_ms(self.0.len().saturating_sub(1)).unwrap_or(0),
        };
        let jitter = random_jitter(wait / JITTER, rng)?;
        let requested = failed.retry_after_ms.unwrap_or(0).clamp(0, MAX_RETRY_AFTER_MS);
        let wait = wait.saturating_add(jitter).max(requested);
        Ok(Some(failed.now.plus_ms(wait)))
    }
}

/// A random number of milliseconds between zero and `max`.
pub(crate) fn random_jitter(max: i64, rng: &Rng) -> Result<i64, Fault> {
    let random = u32::from_le_bytes(rng.random_bytes()?);
    Ok(max.saturating_mul(i64::from(random >> 8)) >> 24)
}

#[cfg(test)]
mod tests {
    use base::{Rng, Time};

    use super::{FailedTry, RetrySchedule};

    const START: Time = Time::from_seconds(1_780_315_200);

    #[test]
    fn tries_are_spread_over_more_than_a_day_and_end() {
        let (schedule, chance) = (RetrySchedule::default(), Rng::from_seed(1));
        let mut now = START;
        let mut waits = Vec::new();
        for tries in 1..100 {
            let failed = FailedTry { tries, first_at: START, now, retry_after_ms: None };
            let Some(retry_at) = schedule.next_retry(&failed, &chance).unwrap() else {
                break;
            };
            waits.push((retry_at.ms() - now.ms()) / 1000);
            now = retry_at;
        }
        let minimum = [5, 300, 1800, 7200, 18_000, 36_000, 36_000];
        assert_eq!(waits.len(), minimum.len(), "{waits:?}");
        for (wait, minimum) in waits.iter().zip(minimum) {
            assert!((minimum..=minimum + minimum / 8).contains(wait), "{waits:?}");
        }
        let mut others = waits.iter().zip(minimum).map(|(wait, minimum)| wait - minimum);
        assert!(others.any(|jitter| jitter > 0), "no jitter: {waits:?}");
    }

    #[test]
    fn early_tries_do_not_bring_the_end_nearer_and_receivers_may_ask_for_patience() {
        let (schedule, chance) = (RetrySchedule::default(), Rng::from_seed(1));
        let mut failed = FailedTry { tries: 50, first_at: START, now: START.plus_ms(3_600_000), retry_after_ms: None };
        assert!(schedule.next_retry(&failed, &chance).unwrap().is_some());
        failed.now = START.plus_ms(28 * 3_600_000);
        assert!(schedule.next_retry(&failed, &chance).unwrap().is_none());
        failed.tries = 1;
        failed.retry_after_ms = Some(60_000);
        let retry_at = schedule.next_retry(&failed, &chance).unwrap().unwrap();
        assert_eq!(retry_at.ms() - failed.now.ms(), 60_000);
        failed.retry_after_ms = Some(i64::MAX);
        let retry_at = schedule.next_retry(&failed, &chance).unwrap().unwrap();
        assert_eq!(retry_at.ms() - failed.now.ms(), 3_600_000);
        let none = RetrySchedule::new(Vec::new());
        assert!(none.next_retry(&failed, &chance).unwrap().is_none());
    }
}
