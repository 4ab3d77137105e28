//! The only place that asks the machine for the time.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant, SystemTime};

use crate::Time;

/// What "now" means to the platform: the machine's time, or a world's own.
#[derive(Clone, Debug, Default)]
pub enum Clock {
    /// The machine's time.
    #[default]
    System,
    /// A test world's time.
    Test(Arc<TestClock>),
}

/// A clock that a test platform may hold still or move.
#[derive(Debug)]
pub struct TestClock {
    /// Milliseconds added to the machine's time; the whole time when `frozen`.
    value: AtomicI64,
    frozen: bool,
}

impl Clock {
    /// A clock that stands at `time` until it is set.
    pub fn frozen_at(time: Time) -> Self {
        Self::Test(Arc::new(TestClock {
            value: AtomicI64::new(time.ms()),
            frozen: true,
        }))
    }

    /// A clock that runs `ms` milliseconds ahead of the machine's.
    pub fn offset_from_system(ms: i64) -> Self {
        Self::Test(Arc::new(TestClock {
            value: AtomicI64::new(ms),
            frozen: false,
        }))
    }

    /// The platform's time: what posts, ids, tokens and windows follow.
    pub fn now(&self) -> Time {
        match self {
            Self::System => wall_time(),
            Self::Test(world) if world.frozen => Time::from_ms(world.value.load(Ordering::Relaxed)),
            Self::Test(world) => wall_time().plus_ms(world.value.load(Ordering::Relaxed)),
        }
    }

    /// Sets a frozen clock; a running one is moved so that it reads `time` now.
    pub fn set(&self, time: Time) {
        if let Self::Test(world) = self {
            let value = if world.frozen {
                time.ms()
            } else {
                time.ms() - wall_time().ms()
            };
            world.value.store(value, Ordering::Relaxed);
        }
    }
}

/// The machine's time, which request signatures and rate windows follow whatever the world's
/// clock says: clients compare those with their own.
#[expect(clippy::disallowed_methods, reason = "the one home of the machine's time")]
pub fn wall_time() -> Time {
    let since = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or(Duration::ZERO);
    Time::from_ms(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// A monotonic reading, for measuring and for time-outs.
#[expect(clippy::disallowed_methods, reason = "the one home of the monotonic clock")]
pub fn monotonic_now() -> Instant {
    Instant::now()
}
