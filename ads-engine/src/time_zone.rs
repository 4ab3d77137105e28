//! Days and hours in an account's time zone.

use base::Time;
use jiff::Timestamp;
use jiff::tz::TimeZone;

const HOUR: i64 = 3_600_000;
const DAY: i64 = 86_400_000;

/// By IANA name; unknown names are UTC.
#[derive(Clone, Debug)]
pub struct AccountTimeZone(TimeZone);

impl AccountTimeZone {
    pub fn from_name(name: &str) -> Self {
        Self(TimeZone::get(name).unwrap_or(TimeZone::UTC))
    }

    pub fn is_known(name: &str) -> bool {
        TimeZone::get(name).is_ok()
    }

    /// The UTC offset at a moment, in milliseconds.
    pub fn utc_offset_ms(&self, at: Time) -> i64 {
        let moment = Timestamp::from_millisecond(at.ms()).unwrap_or_default();
        i64::from(self.0.to_offset(moment).seconds()) * 1000
    }

    /// The offset of its full hours from those of UTC, in milliseconds.
    pub fn hour_shift_ms(&self, at: Time) -> i64 {
        (-self.utc_offset_ms(at)).rem_euclid(HOUR)
    }

    /// The start of the day that contains a moment, and of the next day.
    pub fn day_bounds(&self, at: Time) -> (Time, Time) {
        let moment = Timestamp::from_millisecond(at.ms()).unwrap_or_default();
        let zoned = moment.to_zoned(self.0.clone());
        let from = zoned.start_of_day().map(|day| day.timestamp());
        let to = zoned.tomorrow().and_then(|next| next.start_of_day());
        if let (Ok(from), Ok(to)) = (from, to) {
            let to = to.timestamp().as_millisecond();
            return (Time::from_ms(from.as_millisecond()), Time::from_ms(to));
        }
        // Beyond the calendar's end every day is UTC's.
        let from = at.ms().div_euclid(DAY) * DAY;
        (Time::from_ms(from), Time::from_ms(from + DAY))
    }

    /// The start of the week, on a Monday, that contains a moment.
    pub fn week_start(&self, at: Time) -> Time {
        let days = (at.ms() + self.utc_offset_ms(at)).div_euclid(DAY);
        // The epoch was a Thursday.
        let passed = (days + 3).rem_euclid(7);
        (0..passed).fold(self.day_bounds(at).0, |day, _| self.day_bounds(day.plus_ms(-1)).0)
    }

    pub fn next_week_start(&self, at: Time) -> Time {
        (0..7).fold(self.week_start(at), |day, _| self.day_bounds(day).1)
    }

    /// Midnight of a date (`2026-03-01`) in the zone.
    pub fn midnight_of_date(&self, date: &str) -> Option<Time> {
        let date: jiff::civil::Date = date.parse().ok()?;
        let start = date.to_zoned(self.0.clone()).ok()?;
        let ms = start.timestamp().as_millisecond();
        (ms >= 0).then(|| Time::from_ms(ms))
    }
}

#[cfg(test)]
mod tests {
    use base::Time;

    use super::{AccountTimeZone, HOUR};

    #[test]
    fn days_follow_the_clocks_of_the_zone() {
        let time = |text: &str| Time::parse(text).unwrap();
        let zone = AccountTimeZone::from_name("America/Los_Angeles");
        let (from, to) = zone.day_bounds(time("2026-03-08T20:00:00Z"));
        // The day on which clocks are set forward has 23 hours.
        assert_eq!(from, time("2026-03-08T08:00:00Z"));
        assert_eq!(to.ms() - from.ms(), 23 * HOUR);
        assert_eq!(zone.hour_shift_ms(from), 0);
        let zone = AccountTimeZone::from_name("Asia/Kolkata");
        assert_eq!(zone.hour_shift_ms(from), HOUR / 2);
        assert_eq!(zone.midnight_of_date("2026-03-08"), Some(time("2026-03-07T18:30:00Z")));
        assert!(!AccountTimeZone::is_known("Nowhere/At_All"));
        assert_eq!(AccountTimeZone::from_name("Nowhere/At_All").utc_offset_ms(from), 0);
    }

    #[test]
    fn weeks_begin_on_monday_where_the_account_is() {
        // A Sunday evening in California, a Monday in UTC.
        let at = Time::from_ms(1_763_944_200_000);
        let local = AccountTimeZone::from_name("America/Los_Angeles");
        let local_date =
            |at: Time| at.plus_ms(local.utc_offset_ms(at)).to_string().chars().take(10).collect::<String>();
        assert_eq!(local_date(at), "2025-11-23");
        assert_eq!(local_date(local.week_start(at)), "2025-11-17");
        assert_eq!(local_date(local.next_week_start(at)), "2025-11-24");
        let utc = AccountTimeZone::from_name("UTC");
        assert_eq!(utc.week_start(at).to_string(), "2025-11-24T00:00:00.000Z");
        assert_eq!(utc.next_week_start(at).to_string(), "2025-12-01T00:00:00.000Z");
        // The week in which clocks are set back is an hour longer.
        let autumn = local.week_start(Time::from_ms(1_761_900_000_000));
        let hours = (local.next_week_start(autumn).ms() - autumn.ms()) / 3_600_000;
        assert_eq!(hours, 169);
    }
}
