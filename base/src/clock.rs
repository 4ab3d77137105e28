//! The platform's clock, and the only place that reads the machine's.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use parking_lot::RwLock;

use crate::Time;
use crate::clock_mode::ClockMode;

#[derive(Debug)]
pub struct WorldClock {
    mode: RwLock<ClockMode>,
}

#[derive(Clone, Debug, Default)]
pub enum Clock {
    #[default]
    System,
    /// Of a development world or a test.
    World(Arc<WorldClock>),
}

impl Clock {
    pub fn with_mode(mode: ClockMode) -> Self {
        Self::World(Arc::new(WorldClock { mode: RwLock::new(mode) }))
    }

    /// Stands at `time` until it is set.
    pub fn frozen_at(time: Time) -> Self {
        Self::with_mode(ClockMode::Frozen { at: time })
    }

    /// The time that posts, ids and tokens are stamped with.
    pub fn now(&self) -> Time {
        match self {
            Self::System => wall_time(),
            Self::World(world) => world.mode.read().time_at(wall_time()),
        }
    }

    /// Always live for the system's clock.
    pub fn mode(&self) -> ClockMode {
        match self {
            Self::System => ClockMode::Live,
            Self::World(world) => *world.mode.read(),
        }
    }

    pub fn is_frozen(&self) -> bool {
        match self {
            Self::System => false,
            Self::World(world) => matches!(*world.mode.read(), ClockMode::Frozen { .. }),
        }
    }

    /// The system's clock has no other mode. Whether the time would go back is up to the caller.
    pub fn set_mode(&self, mode: ClockMode) {
        if let Self::World(world) = self {
            *world.mode.write() = mode;
        }
    }

    /// Sets a frozen clock, or shifts a running one so that it reads `time` now. The system clock
    /// cannot be set.
    pub fn set(&self, time: Time) {
        if let Self::World(world) = self {
            let mut mode = world.mode.write();
            *mode = mode.moved_to(time, wall_time());
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
