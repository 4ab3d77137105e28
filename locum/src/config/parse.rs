//! Parsing and validation of configuration values.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use deliver::webhooks::AddressBlock;

use super::key::ConfigValueKind;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RateLimitPolicy {
    Table,
    Off,
    Scale(u32),
}

/// On failure, returns a description of the expected value.
pub(crate) fn validate_value(kind: ConfigValueKind, text: &str) -> Result<(), String> {
    let fits = match kind {
        ConfigValueKind::Text | ConfigValueKind::Secret | ConfigValueKind::Path => !text.is_empty(),
        ConfigValueKind::Database => is_database_url(text),
        ConfigValueKind::Paths => list_items(text).all(|item| !item.is_empty()),
        ConfigValueKind::Origin => is_origin(text),
        ConfigValueKind::Origins => list_items(text).all(is_origin),
        ConfigValueKind::Address => text.parse::<SocketAddr>().is_ok(),
        ConfigValueKind::Hosts => list_items(text).all(|item| item.parse::<IpAddr>().is_ok()),
        ConfigValueKind::Boolean => parse_bool(text).is_some(),
        ConfigValueKind::Count(low, high) => text.parse().is_ok_and(|number: u64| (low..=high).contains(&number)),
        ConfigValueKind::Duration => parse_duration(text).is_some(),
        ConfigValueKind::Durations => list_items(text).all(|item| parse_duration(item).is_some()),
        ConfigValueKind::Blocks => parse_ip_blocks(text).is_some(),
        ConfigValueKind::Size => parse_byte_size(text).is_some(),
        ConfigValueKind::OneOf(words) => words.contains(&text),
        ConfigValueKind::RateLimits => parse_rate_limits(text).is_some(),
        ConfigValueKind::CurrencyWorths => ads_engine::CurrencyRates::parse(text).is_some(),
    };
    if fits { Ok(()) } else { Err(kind.type_name()) }
}

pub(crate) fn list_items(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|item| !item.is_empty())
}

/// Also accepts `1`/`0`, `yes`/`no` and `on`/`off`.
pub(crate) fn parse_bool(text: &str) -> Option<bool> {
    match text {
        "true" | "1" | "yes" | "on" => Some(true),
        "false" | "0" | "no" | "off" => Some(false),
        _ => None,
    }
}

/// An integer with an optional unit; without a unit, seconds.
pub(crate) fn parse_duration(text: &str) -> Option<Duration> {
    let (number, unit) = split_unit(text)?;
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

/// CIDR blocks or single addresses; `all` means every private block.
pub(crate) fn parse_ip_blocks(text: &str) -> Option<Vec<AddressBlock>> {
    if text == "all" {
        return Some(AddressBlock::ALL.to_vec());
    }
    list_items(text).map(|item| item.parse().ok()).collect()
}

/// An integer with an optional unit; without a unit, bytes.
pub(crate) fn parse_byte_size(text: &str) -> Option<usize> {
    let (number, unit) = split_unit(text)?;
    let bytes: u64 = match unit {
        "" | "B" => 1,
        "kB" => 1000,
        "KiB" => 1024,
        "MB" => 1_000_000,
        "MiB" => 1024 * 1024,
        _ => return None,
    };
    number.checked_mul(bytes).and_then(|bytes| usize::try_from(bytes).ok())
}

pub(crate) fn parse_rate_limits(text: &str) -> Option<RateLimitPolicy> {
    match text {
        "table" => Some(RateLimitPolicy::Table),
        "off" => Some(RateLimitPolicy::Off),
        _ => {
            let times = text.strip_prefix("scale=")?.parse().ok()?;
            (times > 0).then_some(RateLimitPolicy::Scale(times))
        }
    }
}

fn split_unit(text: &str) -> Option<(u64, &str)> {
    let end = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at_checked(end)?;
    Some((number.parse().ok()?, unit.trim()))
}

fn is_database_url(text: &str) -> bool {
    let server = text.starts_with("postgres://") || text.starts_with("postgresql://");
    server || (!text.is_empty() && !text.contains("://"))
}

fn is_origin(text: &str) -> bool {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    rest.is_some_and(|rest| {
        let authority: Result<http::uri::Authority, _> = rest.parse();
        authority.is_ok_and(|authority| !authority.as_str().contains('@'))
    })
}

#[cfg(test)]
mod tests {
    use super::{RateLimitPolicy, parse_byte_size, parse_duration, parse_rate_limits, validate_value};
    use crate::config::ConfigValueKind;
    use std::time::Duration;

    #[test]
    fn times_and_sizes_have_units() {
        let second = Duration::from_secs(1);
        assert_eq!(parse_duration("500ms"), Some(second / 2));
        assert_eq!(parse_duration("10 s"), Some(second * 10));
        assert_eq!(parse_duration("2h"), Some(second * 7200));
        assert_eq!(parse_duration("30"), Some(second * 30));
        for text in ["", "s", "1.5s", "-1s", "10 years", "99999999999999999999s"] {
            assert_eq!(parse_duration(text), None, "{text}");
        }
        assert_eq!(parse_byte_size("1MiB"), Some(1_048_576));
        assert_eq!(parse_byte_size("1 mib"), None);
    }

    #[test]
    fn kinds_refuse_what_they_are_not() {
        let origin = |text| validate_value(ConfigValueKind::Origin, text).is_ok();
        assert!(origin("https://social.example") && origin("http://127.0.0.1:8080"));
        for text in ["social.example", "https://a/b", "https://u@a", "ftp://a", "https://"] {
            assert!(!origin(text), "{text}");
        }
        let hosts = |text| validate_value(ConfigValueKind::Hosts, text).is_ok();
        assert!(hosts("10.0.0.1, ::1") && hosts(""));
        assert!(!hosts("10.0.0.0/8") && !hosts("localhost"));
        let blocks = |text| validate_value(ConfigValueKind::Blocks, text).is_ok();
        assert!(blocks("all") && blocks("10.0.0.0/8, ::1") && blocks(""));
        assert!(!blocks("10.0.0.0/40") && !blocks("localhost"));
        let spans = |text| validate_value(ConfigValueKind::Durations, text).is_ok();
        assert!(spans("5s, 5m,2h") && spans("") && !spans("5s, soon"));
        let database = |text| validate_value(ConfigValueKind::Database, text).is_ok();
        assert!(database("sqlite") && database("postgres://u:p@h/d"));
        assert!(!database("mysql://h/d"));
        assert_eq!(parse_rate_limits("scale=10"), Some(RateLimitPolicy::Scale(10)));
        assert_eq!(parse_rate_limits("scale=0"), None);
    }
}
