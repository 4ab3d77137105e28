//! What each kind of value may look like.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use deliver::webhooks::AddressBlock;

use super::key::Kind;

/// How the published rate limits are held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RateLimits {
    /// As published.
    Table,
    /// Not at all.
    Off,
    /// Each so many times over.
    Scale(u32),
}

/// Whether `text` is a value of the kind; otherwise what it should be.
pub(crate) fn check(kind: Kind, text: &str) -> Result<(), String> {
    let fits = match kind {
        Kind::Text | Kind::Secret | Kind::Path => !text.is_empty(),
        Kind::Database => database(text),
        Kind::Paths => items(text).all(|item| !item.is_empty()),
        Kind::Origin => origin(text),
        Kind::Origins => items(text).all(origin),
        Kind::Address => text.parse::<SocketAddr>().is_ok(),
        Kind::Hosts => items(text).all(|item| item.parse::<IpAddr>().is_ok()),
        Kind::Switch => switch(text).is_some(),
        Kind::Count(low, high) => text
            .parse()
            .is_ok_and(|number: u64| (low..=high).contains(&number)),
        Kind::Span => span(text).is_some(),
        Kind::Spans => items(text).all(|item| span(item).is_some()),
        Kind::Blocks => blocks(text).is_some(),
        Kind::Size => size(text).is_some(),
        Kind::OneOf(words) => words.contains(&text),
        Kind::RateLimits => rate_limits(text).is_some(),
        Kind::Worths => ads::config::CurrencyRates::parse(text).is_some(),
    };
    if fits { Ok(()) } else { Err(kind.name()) }
}

/// The items of a list, as they stand between commas.
pub(crate) fn items(text: &str) -> impl Iterator<Item = &str> {
    text.split(',')
        .map(str::trim)
        .filter(|item| !item.is_empty())
}

/// `true` or `false`.
pub(crate) fn switch(text: &str) -> Option<bool> {
    match text {
        "true" | "1" | "yes" | "on" => Some(true),
        "false" | "0" | "no" | "off" => Some(false),
        _ => None,
    }
}

/// A time: a whole number and its unit; without a unit, seconds.
pub(crate) fn span(text: &str) -> Option<Duration> {
    let (number, unit) = number_and_unit(text)?;
    let ms: u64 = match unit {
        "ms" => 1,
        "" | "s" => 1000,
        "m" | "min" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return None,
    };
    number.checked_mul(ms).map(Duration::from_millis)
}

/// Blocks of IP addresses.
pub(crate) fn blocks(text: &str) -> Option<Vec<AddressBlock>> {
    if text == "all" {
        return Some(AddressBlock::ALL.to_vec());
    }
    items(text).map(|item| item.parse().ok()).collect()
}

/// A number of bytes: a whole number and its unit.
pub(crate) fn size(text: &str) -> Option<usize> {
    let (number, unit) = number_and_unit(text)?;
    let bytes: u64 = match unit {
        "" | "B" => 1,
        "kB" => 1000,
        "KiB" => 1024,
        "MB" => 1_000_000,
        "MiB" => 1024 * 1024,
        _ => return None,
    };
    number
        .checked_mul(bytes)
        .and_then(|bytes| usize::try_from(bytes).ok())
}

/// `table`, `off` or `scale=N`.
pub(crate) fn rate_limits(text: &str) -> Option<RateLimits> {
    match text {
        "table" => Some(RateLimits::Table),
        "off" => Some(RateLimits::Off),
        _ => {
            let times = text.strip_prefix("scale=")?.parse().ok()?;
            (times > 0).then_some(RateLimits::Scale(times))
        }
    }
}

fn number_and_unit(text: &str) -> Option<(u64, &str)> {
    let end = text
        .find(|letter: char| !letter.is_ascii_digit())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at_checked(end)?;
    Some((number.parse().ok()?, unit.trim()))
}

fn database(text: &str) -> bool {
    let server = text.starts_with("postgres://") || text.starts_with("postgresql://");
    server || (!text.is_empty() && !text.contains("://"))
}

fn origin(text: &str) -> bool {
    let rest = text
        .strip_prefix("https://")
        .or_else(|| text.strip_prefix("http://"));
    rest.is_some_and(|rest| {
        let authority: Result<http::uri::Authority, _> = rest.parse();
        authority.is_ok_and(|authority| !authority.as_str().contains('@'))
    })
}

#[cfg(test)]
mod tests {
    use super::{RateLimits, check, rate_limits, size, span};
    use crate::config::Kind;
    use std::time::Duration;

    #[test]
    fn times_and_sizes_have_units() {
        let second = Duration::from_secs(1);
        assert_eq!(span("500ms"), Some(second / 2));
        assert_eq!(span("10 s"), Some(second * 10));
        assert_eq!(span("2h"), Some(second * 7200));
        assert_eq!(span("30"), Some(second * 30));
        for text in ["", "s", "1.5s", "-1s", "10 years", "99999999999999999999s"] {
            assert_eq!(span(text), None, "{text}");
        }
        assert_eq!(size("1MiB"), Some(1_048_576));
        assert_eq!(size("1 mib"), None);
    }

    #[test]
    fn kinds_refuse_what_they_are_not() {
        let origin = |text| check(Kind::Origin, text).is_ok();
        assert!(origin("https://social.example") && origin("http://127.0.0.1:8080"));
        for text in [
            "social.example",
            "https://a/b",
            "https://u@a",
            "ftp://a",
            "https://",
        ] {
            assert!(!origin(text), "{text}");
        }
        let hosts = |text| check(Kind::Hosts, text).is_ok();
        assert!(hosts("10.0.0.1, ::1") && hosts(""));
        assert!(!hosts("10.0.0.0/8") && !hosts("localhost"));
        let blocks = |text| check(Kind::Blocks, text).is_ok();
        assert!(blocks("all") && blocks("10.0.0.0/8, ::1") && blocks(""));
        assert!(!blocks("10.0.0.0/40") && !blocks("localhost"));
        let spans = |text| check(Kind::Spans, text).is_ok();
        assert!(spans("5s, 5m,2h") && spans("") && !spans("5s, soon"));
        let database = |text| check(Kind::Database, text).is_ok();
        assert!(database("sqlite") && database("postgres://u:p@h/d"));
        assert!(!database("mysql://h/d"));
        assert_eq!(rate_limits("scale=10"), Some(RateLimits::Scale(10)));
        assert_eq!(rate_limits("scale=0"), None);
    }
}
