//! Times in an archive, as milliseconds since 1970.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

/// Ids up to this one were sequential, not made from the clock.
const LAST_COUNTED_ID: i64 = 29_700_859_247;
const SNOWFLAKE_EPOCH_MS: i64 = 1_288_834_974_657;

/// The creation time in an id, in ms; `None` for the sequential ids of the first years.
pub(crate) fn from_id(id: i64) -> Option<i64> {
    (id > LAST_COUNTED_ID).then_some((id >> 22) + SNOWFLAKE_EPOCH_MS)
}

/// Parses `Sat Feb 18 12:33:11 +0000 2023`, `2023-02-18T12:33:11.123Z` and `2014-01-31 12:00:00 +0000`.
pub(crate) fn parse(text: &str) -> Option<i64> {
    let ms = parse_legacy(text).or_else(|| parse_iso(text))?.as_millisecond();
    (ms >= 0).then_some(ms)
}

/// The name of the day is not checked.
fn parse_legacy(text: &str) -> Option<Timestamp> {
    let (_, date) = text.trim().split_once(' ')?;
    Timestamp::strptime("%b %d %H:%M:%S %z %Y", date).ok()
}

/// In UTC if there is no offset.
fn parse_iso(text: &str) -> Option<Timestamp> {
    let (date, time) = text.split_once(['T', ' '])?;
    let text = format!("{date}T{}", time.trim_end_matches("UTC").replace(' ', ""));
    text.parse().or_else(|_| text.parse().and_then(|local: DateTime| TimeZone::UTC.to_timestamp(local))).ok()
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
            ("2023-02-18 12:33:11", Some(1_676_723_591_000)),
            ("2023-02-18 14:33:11 +0200", Some(1_676_723_591_000)),
            ("2023-02-18 12:33:11 UTC", Some(1_676_723_591_000)),
            ("2023-02-18", None),
            ("1969-12-31T00:00:00Z", None),
            ("2023-02-30T00:00:00Z", None),
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
