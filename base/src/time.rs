//! A moment in milliseconds since 1970, and its two formats in the API.

use std::fmt;

/// Milliseconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(i64);

pub const MINUTE_MS: i64 = 60_000;
pub const HOUR_MS: i64 = 60 * MINUTE_MS;
pub const DAY_MS: i64 = 24 * HOUR_MS;
/// Years are written with four digits.
const YEAR_10000_MS: i64 = 253_402_300_800_000;
const SECONDS_PER_DAY: i64 = DAY_MS / 1000;

impl Time {
    pub const fn from_ms(ms: i64) -> Self {
        Self(ms)
    }

    pub const fn from_seconds(seconds: i64) -> Self {
        Self(seconds.saturating_mul(1000))
    }

    pub const fn ms(self) -> i64 {
        self.0
    }

    /// Rounded down.
    pub const fn seconds(self) -> i64 {
        self.0.div_euclid(1000)
    }

    /// Whole seconds from here to an end, rounded up; 0 if it has passed.
    pub const fn seconds_until(self, end: Self) -> i64 {
        let left = end.0.saturating_sub(self.0);
        if left > 0 { left.saturating_add(999) / 1000 } else { 0 }
    }

    #[must_use]
    pub const fn plus_ms(self, ms: i64) -> Self {
        Self(self.0.saturating_add(ms))
    }

    /// Parses RFC 3339 (`2026-11-21T04:05:06Z`, optional fraction, `Z` or a numeric offset). `None`
    /// for a leap second, a year outside 1970–9999 or a field out of range.
    pub fn parse(text: &str) -> Option<Self> {
        let (date, rest) = text.split_once(['T', 't'])?;
        let days = parse_date(date)?;
        let zone_at = rest.find(['Z', 'z', '+', '-'])?;
        let (clock, zone) = rest.split_at_checked(zone_at)?;
        let ms = parse_clock(clock)?.checked_sub(parse_zone(zone)?)?;
        let total = days.checked_mul(DAY_MS)?.checked_add(ms)?;
        (0..YEAR_10000_MS).contains(&total).then_some(Self(total))
    }

    /// `YYYY-MM-DD`, UTC.
    pub fn to_date_string(self) -> String {
        let (year, month, day) = civil_from_days(self.seconds().div_euclid(SECONDS_PER_DAY));
        format!("{year:04}-{month:02}-{day:02}")
    }

    /// `Wed Aug 27 13:08:45 +0000 2008`, the format of the v1.1 API.
    pub fn to_legacy_string(self) -> String {
        // 1970-01-01 was a Thursday.
        const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
        const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
        fn word_at(words: &[&'static str], at: i64) -> &'static str {
            usize::try_from(at).ok().and_then(|at| words.get(at).copied()).unwrap_or_default()
        }
        let days = self.seconds().div_euclid(SECONDS_PER_DAY);
        let (year, month, day) = civil_from_days(days);
        let (weekday, month) = (word_at(&DAYS, days.rem_euclid(7)), word_at(&MONTHS, month - 1));
        let in_day = self.seconds().rem_euclid(SECONDS_PER_DAY);
        let (hours, minutes, seconds) = (in_day / 3600, in_day / 60 % 60, in_day % 60);
        format!("{weekday} {month} {day:02} {hours:02}:{minutes:02}:{seconds:02} +0000 {year:04}")
    }

    /// Appends `YYYY-MM-DDTHH:MM:SS.mmmZ`, the format of the v2 API.
    pub fn write_iso(self, out: &mut String) {
        let seconds = self.seconds();
        let (year, month, day) = civil_from_days(seconds.div_euclid(SECONDS_PER_DAY));
        // Divisions of small positive numbers are cheaper.
        let small = |number: i64| u32::try_from(number).unwrap_or(0);
        let (year, month, day) = (small(year), small(month), small(day));
        let in_day = small(seconds.rem_euclid(SECONDS_PER_DAY));
        let ms = small(self.0.rem_euclid(1000));
        let [c1, c2] = two_digits(year / 100);
        let [y1, y2] = two_digits(year);
        let [n1, n2] = two_digits(month);
        let [d1, d2] = two_digits(day);
        let [h1, h2] = two_digits(in_day / 3600);
        let [m1, m2] = two_digits(in_day / 60 % 60);
        let [s1, s2] = two_digits(in_day % 60);
        let [i1, i2] = two_digits(ms / 10);
        let [_, i3] = two_digits(ms % 10);
        let text = [
            c1, c2, y1, y2, b'-', n1, n2, b'-', d1, d2, b'T', h1, h2, b':', m1, m2, b':', s1, s2, b'.', i1, i2, i3,
            b'Z',
        ];
        out.push_str(str::from_utf8(&text).unwrap_or_default());
    }
}

/// `YYYY-MM-DDTHH:MM:SS.mmmZ`.
impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::with_capacity(24);
        self.write_iso(&mut text);
        f.write_str(&text)
    }
}

/// The last two, in ASCII.
fn two_digits(number: u32) -> [u8; 2] {
    let pair = u8::try_from(number % 100).unwrap_or(0);
    [b'0' + pair / 10, b'0' + pair % 10]
}

fn parse_digits(text: &str, width: usize) -> Option<i64> {
    let plain = text.len() == width && text.bytes().all(|byte| byte.is_ascii_digit());
    if plain { text.parse().ok() } else { None }
}

fn parse_date(text: &str) -> Option<i64> {
    let mut parts = text.splitn(3, '-');
    let year = parse_digits(parts.next()?, 4)?;
    let month = parse_digits(parts.next()?, 2)?;
    let day = parse_digits(parts.next()?, 2)?;
    if year < 1970 || !(1..=12).contains(&month) || day < 1 {
        return None;
    }
    let days = days_from_civil(year, month, day);
    (civil_from_days(days) == (year, month, day)).then_some(days)
}

/// Milliseconds since midnight.
fn parse_clock(text: &str) -> Option<i64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let mut parts = whole.splitn(3, ':');
    let hour = parse_digits(parts.next()?, 2).filter(|hour| *hour < 24)?;
    let minute = parse_digits(parts.next()?, 2).filter(|minute| *minute < 60)?;
    let second = parse_digits(parts.next()?, 2).filter(|second| *second < 60)?;
    let digits = fraction.bytes().all(|byte| byte.is_ascii_digit());
    if fraction.is_empty() || fraction.len() > 9 || !digits {
        return None;
    }
    let ms: i64 = fraction.chars().chain("00".chars()).take(3).collect::<String>().parse().ok()?;
    Some((hour * 3600 + minute * 60 + second) * 1000 + ms)
}

/// Milliseconds east of UTC.
fn parse_zone(text: &str) -> Option<i64> {
    if text.eq_ignore_ascii_case("z") {
        return Some(0);
    }
    let (sign, rest) = match text.split_at_checked(1)? {
        ("+", rest) => (1, rest),
        ("-", rest) => (-1, rest),
        _ => return None,
    };
    let (hours, minutes) = rest.split_once(':')?;
    let hours = parse_digits(hours, 2).filter(|hours| *hours < 24)?;
    let minutes = parse_digits(minutes, 2).filter(|minutes| *minutes < 60)?;
    Some(sign * (hours * 60 + minutes) * 60_000)
}

/// Days since 1970 of a proleptic Gregorian date (Hinnant's algorithm).
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::Time;

    #[test]
    fn the_older_form_names_day_and_month() {
        let time = Time::parse("2008-08-27T13:08:45Z").unwrap();
        assert_eq!(time.to_legacy_string(), "Wed Aug 27 13:08:45 +0000 2008");
        assert_eq!(Time::from_seconds(-1).to_legacy_string(), "Wed Dec 31 23:59:59 +0000 1969");
    }

    #[test]
    fn seconds_until_an_end_are_rounded_up() {
        let start = Time::from_ms(5000);
        for (end, seconds) in [(0, 0), (5000, 0), (5001, 1), (6000, 1), (86_404_999, 86_400)] {
            assert_eq!(start.seconds_until(Time::from_ms(end)), seconds, "{end}");
        }
    }

    #[test]
    fn reads_what_it_writes() {
        for text in ["1970-01-01T00:00:00.000Z", "2024-02-29T23:59:59.999Z", "9999-12-31T00:00:00.001Z"] {
            assert_eq!(Time::parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn reads_offsets_and_fractions() {
        let same = Time::parse("2026-11-21T04:05:06.5Z").unwrap();
        assert_eq!(Time::parse("2026-11-21T05:05:06.500+01:00"), Some(same));
        assert_eq!(Time::parse("2026-11-20T23:35:06.5-04:30"), Some(same));
    }

    #[test]
    fn refuses_what_is_no_moment() {
        for text in [
            "",
            "2026-11-21",
            "2026-11-21T04:05Z",
            "2026-02-30T00:00:00Z",
            "2026-11-21T24:00:00Z",
            "2016-12-31T23:59:60Z",
            "0000-01-01T00:00:00Z",
            "2026-11-21T04:05:06",
            "2026-1-21T04:05:06Z",
            "2026-11-21T04:05:06.Z",
            "+026-11-21T04:05:06Z",
            "2026-11-21T04:05:06+0100",
            "9999-12-31T23:59:59-08:00",
        ] {
            assert_eq!(Time::parse(text), None, "{text}");
        }
    }
}
