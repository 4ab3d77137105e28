//! How the clock of a development world runs, and the spans of time by which it is moved.

use std::fmt::{self, Write as _};

use crate::Time;
use crate::clock::wall_time;
use crate::id::EPOCH_MS;
use crate::time::{DAY_MS, HOUR_MS, MINUTE_MS};

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum ClockMode {
    /// The machine's time.
    #[default]
    Live,
    Frozen {
        at: Time,
    },
    /// Runs as fast as the machine's clock.
    Offset {
        /// Ahead of the machine's clock, or behind it if negative.
        ms: i64,
    },
    /// Runs `factor` times as fast, from a time that was read at a time of the machine.
    Scaled {
        from: Time,
        wall: Time,
        factor: f64,
    },
}

/// The earliest time of a world: ids begin there.
pub const EARLIEST_TIME: Time = Time::from_ms(EPOCH_MS);
/// The latest time of a world, 2080-01-01: ids have room for half a year more.
pub const LATEST_TIME: Time = Time::from_seconds(3_471_292_800);
pub const MIN_FACTOR: f64 = 0.001;
pub const MAX_FACTOR: f64 = 100_000.0;

impl ClockMode {
    /// `live`, `frozen`, `offset` or `scaled`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Frozen { .. } => "frozen",
            Self::Offset { .. } => "offset",
            Self::Scaled { .. } => "scaled",
        }
    }

    /// What the world's clock reads at a time of the machine; never after [`LATEST_TIME`].
    pub fn time_at(self, wall: Time) -> Time {
        match self {
            Self::Live => wall,
            Self::Frozen { at } => at,
            Self::Offset { ms } => wall.plus_ms(ms).min(LATEST_TIME),
            Self::Scaled { from, wall: start, factor } => {
                from.plus_ms(scale_ms(wall.ms().saturating_sub(start.ms()), factor)).min(LATEST_TIME)
            }
        }
    }

    /// The same mode, reading `time` at a time of the machine.
    #[must_use]
    pub const fn moved_to(self, time: Time, wall: Time) -> Self {
        match self {
            Self::Live | Self::Offset { .. } => Self::running_from(time, wall),
            Self::Frozen { .. } => Self::Frozen { at: time },
            Self::Scaled { factor, .. } => Self::Scaled { from: time, wall, factor },
        }
    }

    /// As fast as the machine's clock, reading `time` at a time of the machine.
    pub const fn running_from(time: Time, wall: Time) -> Self {
        match time.ms().saturating_sub(wall.ms()) {
            0 => Self::Live,
            ms => Self::Offset { ms },
        }
    }

    /// Reads what its `Display` writes.
    pub fn parse(text: &str) -> Option<Self> {
        let mut words = text.split(' ');
        let mode = words.next()?;
        let mut time = || words.next()?.parse().ok().map(Time::from_ms);
        Some(match mode {
            "live" => Self::Live,
            "frozen" => Self::Frozen { at: time()? },
            "offset" => Self::Offset { ms: time()?.ms() },
            "scaled" => Self::Scaled {
                from: time()?,
                wall: time()?,
                factor: words.next()?.parse().ok().filter(|factor| is_factor(*factor))?,
            },
            _ => return None,
        })
    }
}

/// The form in which a world's database keeps it.
impl fmt::Display for ClockMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Live => f.write_str("live"),
            Self::Frozen { at } => write!(f, "frozen {}", at.ms()),
            Self::Offset { ms } => write!(f, "offset {ms}"),
            Self::Scaled { from, wall, factor } => write!(f, "scaled {} {} {factor}", from.ms(), wall.ms()),
        }
    }
}

pub fn is_factor(factor: f64) -> bool {
    (MIN_FACTOR..=MAX_FACTOR).contains(&factor)
}

#[expect(
    clippy::as_conversions,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "milliseconds are exact in an f64 for 285,000 years, and a cast saturates"
)]
fn scale_ms(ms: i64, factor: f64) -> i64 {
    (ms as f64 * factor) as i64
}

const UNITS: [(&str, i64); 5] = [("d", DAY_MS), ("h", HOUR_MS), ("ms", 1), ("m", MINUTE_MS), ("s", 1000)];

/// Parses `8d`, `90s`, `2h`, `1d12h` or `500ms`: whole numbers with units, each unit once, the largest first. In
/// milliseconds.
pub fn parse_span(text: &str) -> Option<i64> {
    let (mut rest, mut total, mut smallest) = (text, 0_i64, i64::MAX);
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let digits = rest.find(|letter: char| !letter.is_ascii_digit()).filter(|digits| (1..=15).contains(digits))?;
        let (number, unit) = rest.split_at(digits);
        let (name, ms) = UNITS.iter().find(|(name, _)| unit.starts_with(name))?;
        if *ms >= smallest {
            return None;
        }
        smallest = *ms;
        total = total.checked_add(number.parse::<i64>().ok()?.checked_mul(*ms)?)?;
        rest = unit.strip_prefix(name)?;
    }
    Some(total)
}

/// The inverse of [`parse_span`], with the two largest units that apply: `8d4h`.
pub fn format_span(ms: i64) -> String {
    let mut units = UNITS;
    units.sort_by_key(|(_, size)| -size);
    let (mut rest, mut text, mut count) = (ms.unsigned_abs(), String::new(), 0);
    for (name, size) in units {
        let amount = rest / size.unsigned_abs();
        if amount > 0 && count < 2 {
            let _infallible = write!(text, "{amount}{name}");
            count += 1;
        }
        rest %= size.unsigned_abs();
    }
    if text.is_empty() { "0s".to_owned() } else { text }
}

/// One sentence for people: `frozen at 2027-01-31T09:00:00.000Z`.
pub fn describe_clock(mode: ClockMode, wall: Time) -> String {
    let now = mode.time_at(wall);
    match mode {
        ClockMode::Live => "live".to_owned(),
        ClockMode::Frozen { .. } => format!("frozen at {now}"),
        ClockMode::Offset { ms: ms @ 0.. } => format!("{} ahead, at {now}", format_span(ms)),
        ClockMode::Offset { ms } => format!("{} behind, at {now}", format_span(ms)),
        ClockMode::Scaled { factor, .. } => format!("{factor} times as fast, at {now}"),
    }
}

/// Parses a time that a tester gives: RFC 3339, or `now` for the machine's time.
pub fn parse_time_or_now(text: &str) -> Option<Time> {
    if text == "now" { Some(wall_time()) } else { Time::parse(text) }
}

#[cfg(test)]
mod tests {
    use super::{ClockMode, LATEST_TIME, describe_clock, format_span, parse_span};
    use crate::{Clock, Time};

    const START: Time = Time::from_seconds(1_800_000_000);

    #[test]
    fn mode_is_read_as_it_was_written() {
        for mode in [
            ClockMode::Live,
            ClockMode::Frozen { at: START },
            ClockMode::Offset { ms: -12 },
            ClockMode::Scaled { from: START, wall: Time::from_ms(7), factor: 0.5 },
        ] {
            assert_eq!(ClockMode::parse(&mode.to_string()), Some(mode));
        }
        for text in ["", "frozen", "frozen x", "scaled 1 2 0", "scaled 1 2 NaN", "later"] {
            assert_eq!(ClockMode::parse(text), None, "{text}");
        }
    }

    #[test]
    fn clock_runs_as_its_mode_says() {
        let wall = START.plus_ms(1_000);
        let scaled = ClockMode::Scaled { from: Time::from_seconds(5), wall: START, factor: 60.0 };
        assert_eq!(scaled.time_at(wall), Time::from_seconds(65));
        assert_eq!(ClockMode::Offset { ms: -500 }.time_at(wall), START.plus_ms(500));
        assert_eq!(ClockMode::Frozen { at: START }.time_at(wall), START);
        assert_eq!(ClockMode::Offset { ms: i64::MAX }.time_at(wall), LATEST_TIME);
    }

    #[test]
    fn mode_stays_when_the_clock_is_moved() {
        let to = START.plus_ms(86_400_000);
        for mode in [ClockMode::Live, ClockMode::Frozen { at: START }, ClockMode::Offset { ms: 5 }] {
            assert_eq!(mode.moved_to(to, START).time_at(START), to);
        }
        assert_eq!(ClockMode::Live.moved_to(START, START), ClockMode::Live);
        let clock = Clock::frozen_at(START);
        clock.set(to);
        assert!(clock.is_frozen() && clock.now() == to);
    }

    #[test]
    fn span_has_each_unit_once_the_largest_first() {
        let day = 86_400_000;
        for (text, ms) in [
            ("8d", 8 * day),
            ("90s", 90_000),
            ("2h", day / 12),
            ("1d12h", day * 3 / 2),
            ("500ms", 500),
            ("1m5ms", 60_005),
        ] {
            assert_eq!(parse_span(text), Some(ms), "{text}");
        }
        for text in ["", "8", "d", "1h1d", "1d1d", "-1d", "1.5h", "1 d", "1w", "99999999999999d", "é"] {
            assert_eq!(parse_span(text), None, "{text}");
        }
        assert_eq!(format_span(8 * day + 4 * 3_600_000 + 59_000), "8d4h");
        assert_eq!((format_span(0), format_span(250)), ("0s".to_owned(), "250ms".to_owned()));
    }

    #[test]
    fn clock_is_described_in_words() {
        assert_eq!(describe_clock(ClockMode::Live, START), "live");
        let ahead = describe_clock(ClockMode::Offset { ms: 8 * 86_400_000 }, START);
        assert_eq!(ahead, "8d ahead, at 2027-01-23T08:00:00.000Z");
        assert_eq!(describe_clock(ClockMode::Frozen { at: START }, START), "frozen at 2027-01-15T08:00:00.000Z");
    }
}
