//! The world's clock, as testers move it.

use std::sync::Arc;
use std::time::Duration;

use base::clock_mode::{
    ClockMode, LATEST_TIME, MAX_FACTOR, MIN_FACTOR, format_span, is_factor, parse_span, parse_time_or_now,
};
use base::{Refusal, Time};
use parking_lot::Mutex;

use crate::worlds::WorldFuture;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ClockOrder {
    /// Moves to a time if there is one, and stops there.
    Freeze(Option<Time>),
    /// Moves to a time; the mode stays.
    Set(Time),
    /// Moves forward by milliseconds; the mode stays.
    Advance(i64),
    /// Runs this many times as fast as the machine's clock.
    Scale(f64),
    /// Runs as fast as the machine's clock: with it, unless it is ahead.
    Live,
}

impl ClockOrder {
    pub fn parse_freeze(time: Option<&str>) -> Result<Self, Refusal> {
        Ok(Self::Freeze(time.map(parse_time).transpose()?))
    }

    pub fn parse_set(time: &str) -> Result<Self, Refusal> {
        parse_time(time).map(Self::Set)
    }

    pub fn parse_advance(by: &str) -> Result<Self, Refusal> {
        let span = parse_span(by).map(Self::Advance);
        span.ok_or_else(|| {
            let message = format!("`{by}` is not a span of time: give one such as 8d, 90s, 2h, 1d12h or 500ms");
            Refusal::invalid_parameter("by", by, message)
        })
    }

    pub fn parse_scale(factor: &str) -> Result<Self, Refusal> {
        let parsed = factor.parse().ok().filter(|factor| is_factor(*factor)).map(Self::Scale);
        parsed.ok_or_else(|| {
            let message = format!(
                "`{factor}` is no factor: give a number from {MIN_FACTOR} to {MAX_FACTOR}; 1 is the machine's speed"
            );
            Refusal::invalid_parameter("factor", factor, message)
        })
    }

    /// Where the clock is moved to, from `now`, before its mode changes. Refused if that is before `now`.
    pub fn target(self, now: Time, wall: Time) -> Result<Time, Refusal> {
        let (parameter, target) = match self {
            Self::Freeze(Some(time)) | Self::Set(time) => ("time", time),
            Self::Freeze(None) | Self::Scale(_) => return Ok(now),
            Self::Advance(ms) => ("by", now.plus_ms(ms)),
            Self::Live => return Ok(now.max(wall)),
        };
        if target < now {
            let message = format!(
                "the clock only moves forward: give a time from {now} on; to go back, load a snapshot that was saved \
                 before"
            );
            return Err(Refusal::invalid_parameter(parameter, target, message));
        }
        if target > LATEST_TIME {
            let left = format_span(LATEST_TIME.ms().saturating_sub(now.ms()));
            let message = format!("the last time of a world is {LATEST_TIME}, {left} from now");
            return Err(Refusal::invalid_parameter(parameter, target, message));
        }
        Ok(target)
    }

    /// The mode after the clock has moved to `now` from a mode.
    pub fn mode_after(self, before: ClockMode, now: Time, wall: Time) -> ClockMode {
        match self {
            Self::Freeze(_) => ClockMode::Frozen { at: now },
            Self::Set(_) | Self::Advance(_) => before.moved_to(now, wall),
            Self::Scale(factor) if (factor - 1.0).abs() > f64::EPSILON => ClockMode::Scaled { from: now, wall, factor },
            Self::Scale(_) => ClockMode::running_from(now, wall),
            // A machine's clock may have moved on meanwhile.
            Self::Live => ClockMode::running_from(now.max(wall), wall),
        }
    }
}

fn parse_time(text: &str) -> Result<Time, Refusal> {
    parse_time_or_now(text).ok_or_else(|| {
        let message =
            format!("`{text}` is no time: give one such as 2027-01-31T09:00:00Z, or now for the machine's time");
        Refusal::invalid_parameter("time", text, message)
    })
}

/// What happened while the clock was moved.
#[derive(Clone, Debug, Default)]
pub struct ClockReport {
    pub from: Time,
    pub to: Time,
    /// How often it stood still on the way, because something was due.
    pub steps: usize,
    /// Entries appended to the event log.
    pub events: i64,
    pub duration: Duration,
    /// What each background job did, without those that did nothing.
    pub jobs: Vec<JobReport>,
    /// What was not waited for, and what failed.
    pub notes: Vec<String>,
}

#[derive(Clone, Debug)]
pub struct JobReport {
    pub name: &'static str,
    pub count: u64,
}

/// Something that is due at a time after now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DueInstant {
    pub what: &'static str,
    pub at: Time,
}

pub trait ClockControl: Send + Sync {
    fn mode(&self) -> ClockMode;

    fn now(&self) -> Time;

    /// Whether an order is carried out.
    fn is_moving(&self) -> bool;

    /// Refused as a conflict while another order is carried out, which ends even if its caller leaves.
    fn apply(&self, order: ClockOrder) -> WorldFuture<ClockReport>;

    /// The next instant of each kind at which something is due, earliest first.
    fn list_due_instants(&self) -> WorldFuture<Vec<DueInstant>>;

    /// Of the last order that moved the clock since the server started.
    fn last_report(&self) -> Option<ClockReport>;
}

#[cfg(test)]
mod tests {
    use base::Time;
    use base::clock_mode::{ClockMode, LATEST_TIME};

    use super::ClockOrder;

    const NOW: Time = Time::from_seconds(1_800_000_000);

    #[test]
    fn clock_only_moves_forward() {
        for order in [ClockOrder::Set(NOW.plus_ms(-1)), ClockOrder::Freeze(Some(Time::from_ms(0)))] {
            let refused = format!("{:?}", order.target(NOW, NOW).unwrap_err());
            assert!(refused.contains("load a snapshot") && refused.contains(&NOW.to_string()), "{refused}");
        }
        assert!(ClockOrder::Set(LATEST_TIME.plus_ms(1)).target(NOW, NOW).is_err());
        assert!(ClockOrder::Advance(i64::MAX).target(NOW, NOW).is_err());
        assert_eq!(ClockOrder::Set(NOW).target(NOW, NOW).ok(), Some(NOW));
        assert_eq!(ClockOrder::Advance(5).target(NOW, NOW).ok(), Some(NOW.plus_ms(5)));
    }

    #[test]
    fn live_clock_that_is_ahead_stays_ahead() {
        let ahead = NOW.plus_ms(86_400_000);
        assert_eq!(ClockOrder::Live.target(ahead, NOW).ok(), Some(ahead));
        assert_eq!(ClockOrder::Live.mode_after(ClockMode::Live, ahead, NOW), ClockMode::Offset { ms: 86_400_000 });
        let behind = ClockOrder::Live.target(NOW, ahead).unwrap();
        assert_eq!(ClockOrder::Live.mode_after(ClockMode::Frozen { at: NOW }, behind, ahead), ClockMode::Live);
    }

    #[test]
    fn wrong_orders_name_what_is_accepted() {
        for (refused, word) in [
            (ClockOrder::parse_set("tomorrow"), "2027-01-31T09:00:00Z"),
            (ClockOrder::parse_advance("2 weeks"), "1d12h"),
            (ClockOrder::parse_scale("0"), "0.001"),
            (ClockOrder::parse_scale("NaN"), "100000"),
        ] {
            let refused = format!("{:?}", refused.unwrap_err());
            assert!(refused.contains(word), "{refused}");
        }
    }
}

/// Who moves the clock of the world that is open; none while it is closed.
#[derive(Default)]
pub struct CurrentClockControl(Mutex<Option<Arc<dyn ClockControl>>>);

impl CurrentClockControl {
    /// Replaces that of the world before.
    pub fn set(&self, control: Arc<dyn ClockControl>) {
        *self.0.lock() = Some(control);
    }

    pub fn find(&self) -> Option<Arc<dyn ClockControl>> {
        self.0.lock().clone()
    }

    pub fn clear(&self) {
        *self.0.lock() = None;
    }
}
