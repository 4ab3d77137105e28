//! Times and durations for people.

use base::{AccountTimeZone, Time};

use crate::ZonedTime;

/// For example "5 minutes ago", or the date after 30 days.
fn time_ago(zone: &AccountTimeZone, at: Time, now: Time) -> String {
    let seconds = now.seconds().saturating_sub(at.seconds());
    match seconds {
        ..60 => "just now".to_owned(),
        60..2_592_000 => format!("{} ago", format_duration(seconds)),
        _ => zone.format_date(at),
    }
}

pub(crate) fn time_until(at: Time, now: Time) -> String {
    let seconds = at.seconds().saturating_sub(now.seconds());
    if seconds < 1 { "now".to_owned() } else { format!("in {}", format_duration(seconds)) }
}

/// In the largest whole unit, rounded down.
pub(crate) fn format_duration(seconds: i64) -> String {
    let (count, unit) = match seconds {
        ..60 => (seconds, "second"),
        60..3_600 => (seconds / 60, "minute"),
        3_600..86_400 => (seconds / 3_600, "hour"),
        _ => (seconds / 86_400, "day"),
    };
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {unit}{plural}")
}

/// [`time_ago`] for templates, which pass references; dates are those of the viewer's zone.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "templates pass references")]
pub(crate) fn render_time_ago(at: &Time, now: &ZonedTime) -> String {
    time_ago(&now.zone, *at, now.at)
}

/// [`time_until`] for templates, which pass references.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "templates pass references")]
pub(crate) fn render_time_until(at: &Time, now: &ZonedTime) -> String {
    time_until(*at, now.at)
}

/// `21 November 2026, 04:05 UTC`, in the viewer's zone.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "templates pass references")]
pub(crate) fn exact_time(at: &Time, now: &ZonedTime) -> String {
    now.zone.format_long(*at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_times_and_dates_are_those_of_the_viewers_zone() {
        let at = Time::parse("2026-11-21T23:05:06Z").unwrap();
        let zone = AccountTimeZone::from_name("Europe/Berlin");
        let now = ZonedTime { at: at.plus_ms(86_400_000 * 50), zone };
        assert_eq!(exact_time(&at, &now), "22 November 2026, 00:05 CET");
        assert_eq!(render_time_ago(&at, &now), "22 November 2026");
        assert_eq!(time_ago(&AccountTimeZone::default(), at, now.at), "21 November 2026");
    }

    #[test]
    fn moments_are_said_in_the_largest_unit() {
        let now = Time::parse("2026-11-21T04:05:06Z").unwrap();
        let ago = |seconds: i64| time_ago(&AccountTimeZone::default(), now.plus_ms(-1000 * seconds), now);
        assert_eq!(ago(-5), "just now");
        assert_eq!(ago(59), "just now");
        assert_eq!(ago(60), "1 minute ago");
        assert_eq!(ago(7_300), "2 hours ago");
        assert_eq!(ago(86_400 * 29), "29 days ago");
        assert_eq!(ago(86_400 * 50), "2 October 2026");
        assert_eq!(time_until(now.plus_ms(61_000), now), "in 1 minute");
        assert_eq!(time_until(now, now), "now");
        assert_eq!(exact_time(&now, &ZonedTime::default()), "21 November 2026, 04:05 UTC");
    }
}
