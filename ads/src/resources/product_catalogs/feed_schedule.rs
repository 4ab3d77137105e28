//! When a scheduled feed is imported.

use ads_engine::{AccountTimeZone, AdsRecord};
use base::refusal::AdsProblem;
use base::time::DAY_MS;
use base::{Error, Time};

/// Hours between imports. All divide a day, so that each day has the same times.
const HOURS: [i64; 7] = [1, 2, 3, 4, 6, 8, 12];
const WEEKDAYS: [&str; 7] = ["MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY", "SUNDAY"];
/// A week, and the days around it.
const SEARCHED_DAYS: usize = 9;

/// Hour and minute of `HH:MM`.
pub(super) fn parse_local_time(text: &str) -> Option<(i64, i64)> {
    let (hour, minute) = text.split_once(':')?;
    let number = |digits: &str| {
        let is_number = digits.len() == 2 && digits.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| digits.parse::<i64>().ok()).flatten()
    };
    let (hour, minute) = (number(hour)?, number(minute)?);
    (hour < 24 && minute < 60).then_some((hour, minute))
}

/// `repeat` is a weekday of weekly feeds, and the hours between imports of hourly ones.
pub(super) fn validate_repeat(feed: &AdsRecord) -> Result<(), Error> {
    let (frequency, repeat) = (feed.text("frequency"), feed.text("repeat"));
    let expected = match frequency {
        "DAILY" if repeat.is_empty() => return Ok(()),
        "DAILY" => "no value".to_owned(),
        _ if repeat.is_empty() => return Err(AdsProblem::missing_parameter("repeat").into()),
        "WEEKLY" if WEEKDAYS.contains(&repeat) => return Ok(()),
        "WEEKLY" => format!("one of {}", WEEKDAYS.join(", ")),
        _ if parse_hours(repeat).is_some() => return Ok(()),
        _ => format!("one of {HOURS:?}"),
    };
    let message = format!("Expected {expected}, got \"{repeat}\" for repeat of a feed that is {frequency}");
    Err(AdsProblem::invalid_parameter("repeat", repeat, message).into())
}

fn parse_hours(repeat: &str) -> Option<i64> {
    repeat.parse().ok().filter(|hours| HOURS.contains(hours))
}

/// The first scheduled time after a moment. A local time that clocks skip is as late as if they had not been changed;
/// of two equal ones it is the first.
pub(crate) fn next_import(feed: &AdsRecord, after: Time) -> Time {
    let zone = AccountTimeZone::from_name(feed.text("time_zone"));
    let (hour, minute) = parse_local_time(feed.text("start_time")).unwrap_or_default();
    let repeat = feed.text("repeat");
    let hours: Vec<i64> = match feed.text("frequency") {
        "HOURLY" => {
            let step = parse_hours(repeat).unwrap_or(24);
            (0..24).filter(|candidate| (candidate - hour).rem_euclid(step) == 0).collect()
        }
        _ => vec![hour],
    };
    let mut day = zone.day_bounds(after.plus_ms(-DAY_MS)).0;
    for _ in 0..SEARCHED_DAYS {
        let local = zone.format_local(day);
        let date = local.split('T').next().unwrap_or_default();
        if feed.text("frequency") != "WEEKLY" || weekday(&zone, day) == repeat {
            let times = hours.iter().filter_map(|hour| zone.parse_local(&format!("{date}T{hour:02}:{minute:02}")));
            if let Some(next) = times.filter(|at| *at > after).min() {
                return next;
            }
        }
        day = zone.day_bounds(day).1;
    }
    // Beyond the calendar's end.
    after.plus_ms(DAY_MS)
}

fn weekday(zone: &AccountTimeZone, day: Time) -> &'static str {
    let days = (day.ms() + zone.utc_offset_ms(day)).div_euclid(DAY_MS);
    // The epoch was a Thursday.
    let place = usize::try_from((days + 3).rem_euclid(7)).unwrap_or(0);
    WEEKDAYS.get(place).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use ads_engine::AdsRecord;
    use base::Time;

    use super::super::scheduled_feeds::SCHEDULED_FEED;
    use super::{next_import, validate_repeat};

    fn feed(frequency: &str, repeat: &str, start_time: &str, time_zone: &str) -> AdsRecord {
        let mut feed = AdsRecord::new(&SCHEDULED_FEED, 1, 0, Time::from_ms(0));
        let values =
            [("frequency", frequency), ("repeat", repeat), ("start_time", start_time), ("time_zone", time_zone)];
        for (name, value) in values {
            feed.set(name, value);
        }
        feed
    }

    #[test]
    fn next_import_is_the_first_scheduled_time_in_the_zone() {
        for ((frequency, repeat, start_time, zone), after, next) in [
            (("DAILY", "", "01:30", "America/New_York"), "2026-01-05T06:29:59Z", "2026-01-05T06:30:00.000Z"),
            (("DAILY", "", "01:30", "America/New_York"), "2026-01-05T06:30:00Z", "2026-01-06T06:30:00.000Z"),
            // Clocks are advanced that night, and an hour is skipped.
            (("DAILY", "", "02:30", "America/New_York"), "2026-03-08T05:00:00Z", "2026-03-08T07:30:00.000Z"),
            // Clocks are set back that night: the hour comes twice, and counts once.
            (("DAILY", "", "01:30", "America/New_York"), "2026-11-01T05:30:00Z", "2026-11-02T06:30:00.000Z"),
            (("WEEKLY", "SATURDAY", "01:30", "UTC"), "2026-01-03T01:30:00Z", "2026-01-10T01:30:00.000Z"),
            (("WEEKLY", "MONDAY", "00:00", "Asia/Tokyo"), "2026-01-03T01:30:00Z", "2026-01-04T15:00:00.000Z"),
            (("HOURLY", "6", "02:15", "UTC"), "2026-01-03T02:15:00Z", "2026-01-03T08:15:00.000Z"),
            (("HOURLY", "6", "02:15", "UTC"), "2026-01-03T21:00:00Z", "2026-01-04T02:15:00.000Z"),
            (("HOURLY", "1", "23:45", "Asia/Kolkata"), "2026-01-03T00:00:00Z", "2026-01-03T00:15:00.000Z"),
        ] {
            let feed = feed(frequency, repeat, start_time, zone);
            let found = next_import(&feed, Time::parse(after).unwrap());
            assert_eq!(found.to_string(), next, "{frequency} {repeat} {start_time} {zone}");
        }
    }

    #[test]
    fn repeat_suits_the_frequency() {
        for (frequency, repeat, is_valid) in [
            ("DAILY", "", true),
            ("DAILY", "1", false),
            ("WEEKLY", "SUNDAY", true),
            ("WEEKLY", "", false),
            ("WEEKLY", "1", false),
            ("HOURLY", "12", true),
            ("HOURLY", "5", false),
            ("HOURLY", "", false),
        ] {
            assert_eq!(
                validate_repeat(&feed(frequency, repeat, "00:00", "UTC")).is_ok(),
                is_valid,
                "{frequency} {repeat}"
            );
        }
    }
}
