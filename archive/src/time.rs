//! Times in an archive, as milliseconds since 1970.

/// Ids up to this one were sequential, not made from the clock.
const LAST_COUNTED_ID: i64 = 29_700_859_247;
const SNOWFLAKE_EPOCH_MS: i64 = 1_288_834_974_657;
const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// The creation time in an id, in ms; `None` for the sequential ids of the first years.
pub(crate) fn from_id(id: i64) -> Option<i64> {
    (id > LAST_COUNTED_ID).then_some((id >> 22) + SNOWFLAKE_EPOCH_MS)
}

/// Parses `Sat Feb 18 12:33:11 +0000 2023`, `2023-02-18T12:33:11.123Z` and `2014-01-31 12:00:00
/// +0000`.
pub(crate) fn parse(text: &str) -> Option<i64> {
    parse_legacy(text).or_else(|| parse_iso(text))
}

fn parse_legacy(text: &str) -> Option<i64> {
    let mut words = text.split_ascii_whitespace();
    let (_, month, day) = (words.next()?, words.next()?, words.next()?);
    let (clock, zone, year) = (words.next()?, words.next()?, words.next()?);
    let month = MONTHS.iter().position(|name| *name == month)? + 1;
    let date = days_from_date(year.parse().ok()?, i64::try_from(month).ok()?, day.parse().ok()?)?;
    Some(date * 86_400_000 + parse_time_of_day(clock)? - parse_offset(zone)?)
}

fn parse_iso(text: &str) -> Option<i64> {
    let (date, rest) = text.split_once(['T', ' '])?;
    let mut parts = date.splitn(3, '-');
    let year = parts.next()?.parse().ok()?;
    let date = days_from_date(year, parts.next()?.parse().ok()?, parts.next()?.parse().ok()?)?;
    let zone_at = rest.find([' ', 'Z', '+', '-']).unwrap_or(rest.len());
    let (clock, zone) = rest.split_at_checked(zone_at)?;
    Some(date * 86_400_000 + parse_time_of_day(clock)? - parse_offset(zone.trim())?)
}

fn parse_time_of_day(clock: &str) -> Option<i64> {
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, ""));
    let mut parts = clock.splitn(3, ':').map(|part| part.parse::<u32>().ok());
    let (hour, minute, second) = (parts.next()??, parts.next()??, parts.next()??);
    if hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let digits = fraction.bytes().chain([b'0'; 3]).take(3);
    let ms = digits.fold(0, |sum, digit| sum * 10 + i64::from(digit.saturating_sub(b'0')));
    Some(i64::from(hour * 3600 + minute * 60 + second) * 1000 + ms)
}

fn parse_offset(zone: &str) -> Option<i64> {
    if matches!(zone, "" | "Z" | "+0000" | "UTC") {
        return Some(0);
    }
    let sign = if zone.starts_with('-') { -1 } else { 1 };
    let digits: String = zone.chars().filter(char::is_ascii_digit).collect();
    let value: i64 = digits.parse().ok().filter(|_| digits.len() == 4)?;
    Some(sign * (value / 100 * 60 + value % 100) * 60_000)
}

/// Days from 1970-01-01 to a Gregorian date.
fn days_from_date(year: i64, month: i64, day: i64) -> Option<i64> {
    if !(1970..=9999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let year = if month <= 2 { year - 1 } else { year };
    let month_from_march = (month + 9) % 12;
    let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    Some(year * 365 + year / 4 - year / 100 + year / 400 + day_of_year - 719_468)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_of_writing_a_time_is_read() {
        let table = [
            ("Sat Feb 18 12:33:11 +0000 2023", Some(1_676_723_591_000)),
            ("Thu Jan 01 00:00:00 +0000 1970", Some(0)),
            ("Thu Jan 01 02:00:00 +0200 1970", Some(0)),
            ("2023-02-18T12:33:11.123Z", Some(1_676_723_591_123)),
            ("2023-02-18T12:33:11Z", Some(1_676_723_591_000)),
            ("2023-02-18 12:33:11 +0000", Some(1_676_723_591_000)),
            ("2024-02-29T00:00:00.5Z", Some(1_709_164_800_500)),
            ("2023-02-18", None),
            ("soon", None),
            ("2023-13-18T00:00:00Z", None),
            ("", None),
        ];
        for (text, want) in table {
            assert_eq!(parse(text), want, "{text}");
        }
    }

    #[test]
    fn an_id_tells_its_time() {
        assert_eq!(from_id(20), None);
        assert_eq!(from_id(1_533_272_415_677_353_984), Some(1_654_395_605_378));
    }
}
