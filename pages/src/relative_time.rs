//! Times and durations for people.

use base::Time;

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// For example "5 minutes ago", or the date after 30 days.
pub fn time_ago(at: Time, now: Time) -> String {
    let seconds = now.seconds().saturating_sub(at.seconds());
    match seconds {
        ..60 => "just now".to_owned(),
        60..2_592_000 => format!("{} ago", format_duration(seconds)),
        _ => format_date(at),
    }
}

pub fn time_until(at: Time, now: Time) -> String {
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

/// `21 November 2026`.
pub(crate) fn format_date(at: Time) -> String {
    let iso = at.to_string();
    let mut parts = iso.split(['-', 'T']);
    let year = parts.next().unwrap_or_default();
    let month = parts.next().and_then(|month| month.parse::<usize>().ok());
    let day = parts.next().unwrap_or_default().trim_start_matches('0');
    let month = month.and_then(|month| MONTHS.get(month.checked_sub(1)?));
    format!("{day} {} {year}", month.copied().unwrap_or_default())
}

/// [`time_ago`] for templates, which pass references.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "templates pass references")]
pub(crate) fn render_time_ago(at: &Time, now: &Time) -> String {
    time_ago(*at, *now)
}

/// [`time_until`] for templates, which pass references.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "templates pass references")]
pub(crate) fn render_time_until(at: &Time, now: &Time) -> String {
    time_until(*at, *now)
}

/// `21 November 2026, 04:05 UTC`.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "templates pass references")]
pub(crate) fn exact_time(at: &Time) -> String {
    let iso = at.to_string();
    let clock = iso.split_once('T').map_or("", |(_, clock)| clock);
    format!("{}, {} UTC", format_date(*at), clock.get(..5).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_said_in_the_largest_unit() {
        let now = Time::parse("2026-11-21T04:05:06Z").unwrap();
        let ago = |seconds: i64| time_ago(now.plus_ms(-1000 * seconds), now);
        assert_eq!(ago(-5), "just now");
        assert_eq!(ago(59), "just now");
        assert_eq!(ago(60), "1 minute ago");
        assert_eq!(ago(7_300), "2 hours ago");
        assert_eq!(ago(86_400 * 29), "29 days ago");
        assert_eq!(ago(86_400 * 50), "2 October 2026");
        assert_eq!(time_until(now.plus_ms(61_000), now), "in 1 minute");
        assert_eq!(time_until(now, now), "now");
        assert_eq!(exact_time(&now), "21 November 2026, 04:05 UTC");
    }
}
