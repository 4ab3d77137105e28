//! Days and hours in an account's time zone.

use jiff::tz::{self, TimeZone};
use jiff::{Span, Timestamp, Zoned};

use crate::Time;
use crate::time::{DAY_MS, HOUR_MS};

/// Of the names that are offered: the continents and oceans of the IANA database, without its other aliases.
const REGIONS: [&str; 10] =
    ["Africa", "America", "Antarctica", "Arctic", "Asia", "Atlantic", "Australia", "Europe", "Indian", "Pacific"];

/// By IANA name; unknown names are UTC, and so is the default.
#[derive(Clone, Debug)]
pub struct AccountTimeZone(TimeZone);

impl Default for AccountTimeZone {
    fn default() -> Self {
        Self(TimeZone::UTC)
    }
}

impl AccountTimeZone {
    pub fn from_name(name: &str) -> Self {
        Self(TimeZone::get(name).unwrap_or(TimeZone::UTC))
    }

    pub fn is_known(name: &str) -> bool {
        TimeZone::get(name).is_ok()
    }

    /// The names that people choose from: UTC, then by region and place in alphabetical order.
    pub fn list_names() -> Vec<String> {
        let is_offered = |name: &str| name.split_once('/').is_some_and(|(region, _)| REGIONS.contains(&region));
        let names = tz::db().available().map(|name| name.as_str().to_owned());
        let mut names: Vec<String> = names.filter(|name| is_offered(name)).collect();
        names.sort_unstable();
        names.insert(0, "UTC".to_owned());
        names
    }

    pub fn name(&self) -> &str {
        self.0.iana_name().unwrap_or("UTC")
    }

    fn zoned(&self, at: Time) -> Zoned {
        Timestamp::from_millisecond(at.ms()).unwrap_or_default().to_zoned(self.0.clone())
    }

    /// The UTC offset at a moment, in milliseconds.
    pub fn utc_offset_ms(&self, at: Time) -> i64 {
        i64::from(self.zoned(at).offset().seconds()) * 1000
    }

    /// The offset of its full hours from those of UTC, in milliseconds.
    pub fn hour_shift_ms(&self, at: Time) -> i64 {
        (-self.utc_offset_ms(at)).rem_euclid(HOUR_MS)
    }

    /// Whether a moment begins an hour of the zone.
    pub fn is_full_hour(&self, at: Time) -> bool {
        (at.ms() - self.hour_shift_ms(at)).rem_euclid(HOUR_MS) == 0
    }

    /// The start of the day that contains a moment, and of the next day.
    pub fn day_bounds(&self, at: Time) -> (Time, Time) {
        let zoned = self.zoned(at);
        let from = zoned.start_of_day().map(|day| day.timestamp());
        let to = zoned.tomorrow().and_then(|next| next.start_of_day());
        if let (Ok(from), Ok(to)) = (from, to) {
            let to = to.timestamp().as_millisecond();
            return (Time::from_ms(from.as_millisecond()), Time::from_ms(to));
        }
        // Beyond the calendar's end every day is UTC's.
        let from = at.ms().div_euclid(DAY_MS) * DAY_MS;
        (Time::from_ms(from), Time::from_ms(from + DAY_MS))
    }

    /// The start of the week, on a Monday, that contains a moment.
    pub fn week_start(&self, at: Time) -> Time {
        let days = (at.ms() + self.utc_offset_ms(at)).div_euclid(DAY_MS);
        // The epoch was a Thursday.
        let passed = (days + 3).rem_euclid(7);
        (0..passed).fold(self.day_bounds(at).0, |day, _| self.day_bounds(day.plus_ms(-1)).0)
    }

    pub fn next_week_start(&self, at: Time) -> Time {
        (0..7).fold(self.week_start(at), |day, _| self.day_bounds(day).1)
    }

    /// The same local time some months later, on the last day of the month if that is shorter.
    pub fn plus_months(&self, at: Time, months: i32) -> Time {
        let zoned = self.zoned(at);
        let later = Span::new().try_months(months).and_then(|span| zoned.checked_add(span));
        // Beyond the calendar's end every month has 31 days.
        later.map_or_else(
            |_| at.plus_ms(i64::from(months).saturating_mul(31 * DAY_MS)),
            |later| Time::from_ms(later.timestamp().as_millisecond()),
        )
    }

    /// A moment in the zone, such as `2026-03-01 14:05 PST`.
    pub fn format_time(&self, at: Time) -> String {
        self.zoned(at).strftime("%Y-%m-%d %H:%M %Z").to_string()
    }

    /// The date of a moment in the zone, such as `Sun 1 Mar`.
    pub fn format_day(&self, at: Time) -> String {
        self.zoned(at).strftime("%a %-d %b").to_string()
    }

    /// A moment in the zone, such as `1 March 2026, 14:05 PST`.
    pub fn format_long(&self, at: Time) -> String {
        self.zoned(at).strftime("%-d %B %Y, %H:%M %Z").to_string()
    }

    /// The date of a moment in the zone, such as `1 March 2026`.
    pub fn format_date(&self, at: Time) -> String {
        self.zoned(at).strftime("%-d %B %Y").to_string()
    }

    /// A moment as a `datetime-local` value in the zone, such as `2026-03-01T14:05`.
    pub fn format_local(&self, at: Time) -> String {
        self.zoned(at).strftime("%Y-%m-%dT%H:%M").to_string()
    }

    /// The moment of a `datetime-local` value in the zone. Of two moments with the same local time, the first; a time
    /// that clocks skip is taken as if they had not been changed.
    pub fn parse_local(&self, text: &str) -> Option<Time> {
        let local: jiff::civil::DateTime = text.parse().ok()?;
        let at = local.to_zoned(self.0.clone()).ok()?.timestamp().as_millisecond();
        (at >= 0).then(|| Time::from_ms(at))
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
    use super::{AccountTimeZone, HOUR_MS};
    use crate::Time;

    #[test]
    fn months_later_is_the_same_day_unless_the_month_is_shorter() {
        for (from, until) in [
            ("2026-04-02T09:05:00.123Z", "2027-05-02T09:05:00.123Z"),
            ("2026-12-31T23:59:59.000Z", "2028-01-31T23:59:59.000Z"),
            ("2027-01-31T00:00:00.000Z", "2028-02-29T00:00:00.000Z"),
            ("2026-01-31T00:00:00.000Z", "2027-02-28T00:00:00.000Z"),
        ] {
            let later = AccountTimeZone::default().plus_months(Time::parse(from).unwrap(), 13);
            assert_eq!(later, Time::parse(until).unwrap(), "{from}");
        }
    }

    #[test]
    fn days_follow_the_clocks_of_the_zone() {
        let time = |text: &str| Time::parse(text).unwrap();
        let zone = AccountTimeZone::from_name("America/Los_Angeles");
        let (from, to) = zone.day_bounds(time("2026-03-08T20:00:00Z"));
        // The day on which clocks are set forward has 23 hours.
        assert_eq!(from, time("2026-03-08T08:00:00Z"));
        assert_eq!(to.ms() - from.ms(), 23 * HOUR_MS);
        assert_eq!(zone.hour_shift_ms(from), 0);
        let zone = AccountTimeZone::from_name("Asia/Kolkata");
        assert_eq!(zone.hour_shift_ms(from), HOUR_MS / 2);
        assert_eq!(zone.midnight_of_date("2026-03-08"), Some(time("2026-03-07T18:30:00Z")));
        assert!(zone.is_full_hour(time("2026-03-07T18:30:00Z")) && !zone.is_full_hour(from));
        assert!(!AccountTimeZone::is_known("Nowhere/At_All"));
        assert_eq!(AccountTimeZone::from_name("Nowhere/At_All").utc_offset_ms(from), 0);
    }

    #[test]
    fn local_times_are_read_as_they_are_written() {
        let zone = AccountTimeZone::from_name("America/Los_Angeles");
        let at = Time::parse("2026-03-08T20:05:00Z").unwrap();
        assert_eq!(zone.format_time(at), "2026-03-08 13:05 PDT");
        assert_eq!(zone.format_local(at), "2026-03-08T13:05");
        assert_eq!(zone.format_day(at), "Sun 8 Mar");
        assert_eq!(zone.parse_local("2026-03-08T13:05"), Some(at));
        assert_eq!(zone.parse_local("2026-03-08T13:05:00"), Some(at));
        // The hour that is skipped, and the hour that comes twice.
        assert_eq!(zone.parse_local("2026-03-08T02:30"), Time::parse("2026-03-08T10:30:00Z"));
        assert_eq!(zone.parse_local("2026-11-01T01:30"), Time::parse("2026-11-01T08:30:00Z"));
        assert_eq!(zone.parse_local("tomorrow"), None);
        assert_eq!(zone.parse_local("1969-01-01T00:00"), None);
        assert_eq!(AccountTimeZone::from_name("UTC").format_time(at), "2026-03-08 20:05 UTC");
        assert_eq!(zone.format_long(at), "8 March 2026, 13:05 PDT");
        assert_eq!(zone.format_date(Time::parse("2026-03-08T07:05:00Z").unwrap()), "7 March 2026");
    }

    #[test]
    fn offered_names_are_known_and_in_order() {
        let names = AccountTimeZone::list_names();
        assert_eq!(names[0], "UTC");
        assert!(names[1..].is_sorted() && names.len() > 300, "{names:?}");
        for name in ["Europe/Berlin", "America/Argentina/Buenos_Aires", "Asia/Kolkata"] {
            assert!(names.iter().any(|known| known == name), "{name}");
        }
        assert!(names.iter().all(|name| AccountTimeZone::from_name(name).name() == name));
        assert!(!names.iter().any(|name| name == "Etc/GMT+3" || name == "localtime"));
        assert_eq!(AccountTimeZone::default().name(), "UTC");
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
