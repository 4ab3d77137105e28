//! Times in world files, which may be relative to the creation of the world.

use base::time::{DAY_MS, HOUR_MS, MINUTE_MS};
use base::{Error, Refusal, Time};

const MAX_AGE_DAYS: i64 = 36_500;

/// `-90s`, `-15m`, `-2h`, `-3d`, `+30d`, or `now`.
pub(super) fn relative_time(text: &str, now: Time) -> Option<Time> {
    if text == "now" {
        return Some(now);
    }
    let (sign, rest) = match text.split_at_checked(1)? {
        ("-", rest) => (-1, rest),
        ("+", rest) => (1, rest),
        _ => return None,
    };
    let (number, unit) = rest.split_at_checked(rest.len().checked_sub(1)?)?;
    let unit = match unit {
        "s" => 1000,
        "m" => MINUTE_MS,
        "h" => HOUR_MS,
        "d" => DAY_MS,
        _ => return None,
    };
    let number: i64 = number.parse().ok().filter(|number| (0..=MAX_AGE_DAYS).contains(number))?;
    Some(now.plus_ms(sign * number * unit))
}

/// A relative time, or one as in the API; never in the future.
pub(super) fn parse_moment(field: &'static str, text: &str, now: Time) -> Result<Time, Error> {
    let found = relative_time(text, now).or_else(|| Time::parse(text));
    found.filter(|found| *found <= now && *found >= now.plus_ms(-MAX_AGE_DAYS * DAY_MS)).ok_or_else(|| {
        let message = format!(
            "`{field}`: [{text}] is neither a past time (`-90s`, `-15m`, `-2h`, `-3d`, `now`) nor an RFC 3339 time in \
             the past"
        );
        Refusal::invalid_parameter(field, text, message).into()
    })
}

#[cfg(test)]
mod tests {
    use base::Time;

    use super::{parse_moment, relative_time};

    #[test]
    fn times_are_relative_to_now_and_never_later() {
        let now = Time::from_seconds(1_800_000_000);
        let parse = |text| parse_moment("at", text, now).ok();
        assert_eq!(parse("-2h"), Some(now.plus_ms(-7_200_000)));
        assert_eq!(parse("now"), Some(now));
        for wrong in ["2h", "+2h", "-2w", "-h", "tomorrow", "2099-01-01T00:00:00Z", "-", ""] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
        assert_eq!(relative_time("+2h", now), Some(now.plus_ms(7_200_000)));
    }
}
