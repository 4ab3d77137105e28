//! The platform's clock, and the only place that reads the machine's.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant, SystemTime};

use crate::Time;

#[derive(Clone, Debug, Default)]
pub enum Clock {
    #[default]
    System,
    Test(Arc<TestClock>),
}

#[derive(Debug)]
pub struct TestClock {
    /// Milliseconds added to the machine's time, or the whole time when `frozen`.
    value: AtomicI64,
    frozen: bool,
}

impl Clock {
    /// Stands at `time` until it is set.
    pub fn frozen_at(time: Time) -> Self {
        Self::Test(Arc::new(TestClock { value: AtomicI64::new(time.ms()), frozen: true }))
    }

    /// Runs `ms` milliseconds ahead of the machine's clock.
    pub fn offset_from_system(ms: i64) -> Self {
        Self::Test(Arc::new(TestClock { value: AtomicI64::new(ms), frozen: false }))
    }

    /// The time that posts, ids and tokens are stamped with.
    pub fn now(&self) -> Time {
        match self {
            Self::System => wall_time(),
            Self::Test(test) if test.frozen => Time::from_ms(test.value.load(Ordering::Relaxed)),
            Self::Test(test) => wall_time().plus_ms(test.value.load(Ordering::Relaxed)),
        }
    }

    /// Sets a frozen clock, or shifts a running one so that it reads `time` now. The system clock
    /// cannot be set.
    pub fn set(&self, time: Time) {
        if let Self::Test(test) = self {
            let value = if test.frozen { time.ms() } else { time.ms() - wall_time().ms() };
            test.value.store(value, Ordering::Relaxed);
        }
    }
}

/// The machine's time, whatever the [`Clock`] says. Request signatures and rate windows follow it
/// because clients compare them with their own clocks.
#[expect(clippy::disallowed_methods, reason = "the only place that reads the machine's time")]
pub fn wall_time() -> Time {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO);
    Time::from_ms(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

#[expect(clippy::disallowed_methods, reason = "the only place that reads the monotonic clock")]
pub fn monotonic_now() -> Instant {
    Instant::now()
}
