//! Parsing of values with units and other formats of our own.

use std::time::Duration;

use base::{Time, clock};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;
use web::limits::RateLimitMode;

/// An integer with an optional unit; without a unit, seconds.
pub fn parse_duration(text: &str) -> Option<Duration> {
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

/// For settings, where `24` may be meant as hours. Zero needs no unit.
pub(super) fn parse_duration_with_unit(text: &str) -> Option<Duration> {
    parse_duration(text).filter(|span| span.is_zero() || !text.ends_with(|last: char| last.is_ascii_digit()))
}

/// An integer with an optional unit; without a unit, bytes.
pub(super) fn parse_byte_size(text: &str) -> Option<usize> {
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

/// The last day of a new demo world.
#[derive(Clone, Copy, Debug)]
pub enum WorldDay {
    Today,
    /// Noon of the day, UTC.
    Past(Time),
}

/// The demo world's first users joined 400 days before its day, and ids start in November 2010.
pub(super) fn parse_world_date(text: &str) -> Option<WorldDay> {
    if text == "today" {
        return Some(WorldDay::Today);
    }
    let noon = Time::parse(&format!("{text}T12:00:00Z"))?;
    let earliest = Time::parse("2014-01-01T00:00:00Z")?;
    (noon >= earliest && noon <= clock::wall_time()).then_some(WorldDay::Past(noon))
}

pub(super) fn parse_rate_limits(text: &str) -> Option<RateLimitMode> {
    match text {
        "table" => Some(RateLimitMode::Table),
        "relaxed" => Some(RateLimitMode::Relaxed),
        "off" => Some(RateLimitMode::Off),
        _ => {
            let times = text.strip_prefix("scale=")?.parse().ok()?;
            (times > 0).then_some(RateLimitMode::Scale(times))
        }
    }
}

fn split_unit(text: &str) -> Option<(u64, &str)> {
    let end = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at_checked(end)?;
    Some((number.parse().ok()?, unit.trim()))
}

pub(super) fn is_database_url(text: &str) -> bool {
    let server = text.starts_with("postgres://") || text.starts_with("postgresql://");
    server || (!text.is_empty() && !text.contains("://"))
}

/// With a host; the rest is the client's to judge.
pub(super) fn is_redis_url(text: &str) -> bool {
    let url = text.parse::<http::Uri>().ok();
    url.is_some_and(|url| {
        matches!(url.scheme_str(), Some("redis" | "rediss")) && url.host().is_some_and(|host| !host.is_empty())
    })
}

pub(super) fn is_origin(text: &str) -> bool {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    rest.is_some_and(|rest| {
        let authority: Result<http::uri::Authority, _> = rest.parse();
        authority.is_ok_and(|authority| !authority.as_str().contains('@'))
    })
}

/// Without the default port of its scheme, as browsers write it.
pub(super) fn parse_origin(text: &str) -> Option<String> {
    let port = if text.starts_with("https://") { ":443" } else { ":80" };
    let origin = text.strip_suffix(port).unwrap_or(text);
    is_origin(origin).then(|| origin.to_owned())
}

/// Without a user, password or query.
pub(super) fn is_https_url(text: &str) -> bool {
    let (origin, rest) = text.split_at_checked(8).unwrap_or_default();
    let authority = rest.split('/').next().unwrap_or_default();
    origin == "https://"
        && is_origin(&format!("{origin}{authority}"))
        && !text.contains(['?', '#'])
        && text.parse::<http::Uri>().is_ok()
}

/// ASCII without spaces, which needs no quotes in a `mailto:` URL.
pub(super) fn is_email_address(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b".+-_".contains(&byte);
    text.split_once('@')
        .is_some_and(|(name, host)| !name.is_empty() && name.bytes().all(is_plain) && is_host_name(host))
}

/// Words without a target must be levels: the filter's own parser takes any other word for a target, of which
/// nothing is ever logged.
pub(super) fn is_log_filter(text: &str) -> bool {
    let is_level = |word: &str| word.contains(['=', '[']) || word.parse::<LevelFilter>().is_ok();
    text.split(',').all(|word| is_level(word.trim())) && EnvFilter::try_new(text).is_ok()
}

/// At most 253 letters, digits and hyphens in labels of at most 63, separated by dots; no port.
pub(super) fn is_host_name(text: &str) -> bool {
    let is_label = |label: &str| {
        let fits = label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        fits && (1..=63).contains(&label.len()) && !label.starts_with('-') && !label.ends_with('-')
    };
    text.len() <= 253 && text.split('.').all(is_label)
}

#[cfg(test)]
mod tests {
    use super::{is_email_address, is_https_url, parse_byte_size, parse_duration, parse_rate_limits};
    use crate::config::text::from_text;
    use crate::config::types::{AddressBlocks, BackupInterval, DatabaseUrl, ExchangeRates, Origin, RedisUrl, TimeSpan};
    use serde::de::DeserializeOwned;
    use std::net::IpAddr;
    use std::path::PathBuf;
    use std::time::Duration;
    use web::limits::RateLimitMode;

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
        fn is_valid<T: DeserializeOwned>(text: &str) -> bool {
            from_text::<T>(text).is_ok()
        }
        let origin = is_valid::<Origin>;
        assert!(origin("https://social.example") && origin("http://127.0.0.1:8080"));
        for text in ["social.example", "https://a/b", "https://u@a", "ftp://a", "https://", ""] {
            assert!(!origin(text), "{text}");
        }
        let parsed = |text| from_text::<Origin>(text).unwrap().0;
        assert_eq!(parsed("https://social.example:443"), "https://social.example");
        assert_eq!(parsed("http://[::1]:80"), "http://[::1]");
        for text in ["https://social.example:80", "http://social.example:443", "https://social.example:8443"] {
            assert_eq!(parsed(text), text);
        }
        let hosts = is_valid::<Vec<IpAddr>>;
        assert!(hosts("10.0.0.1, ::1") && hosts(""));
        assert!(!hosts("10.0.0.0/8") && !hosts("localhost"));
        let blocks = is_valid::<AddressBlocks>;
        assert!(blocks("all") && blocks("10.0.0.0/8, ::1") && blocks(""));
        assert!(!blocks("10.0.0.0/40") && !blocks("localhost"));
        let spans = is_valid::<Vec<TimeSpan>>;
        assert!(spans("5s, 5m,2h") && spans("") && spans("0") && !spans("5s, soon") && !spans("5s, 5"));
        let interval = is_valid::<BackupInterval>;
        assert!(interval("1s") && interval("24h") && interval("1500ms"));
        assert!(!interval("0") && !interval("0s") && !interval("999ms") && !interval("24"));
        let database = is_valid::<DatabaseUrl>;
        assert!(database("sqlite") && database("postgres://u:p@h/d"));
        assert!(!database("mysql://h/d"));
        let redis = is_valid::<RedisUrl>;
        assert!(redis("redis://:p@h:6379/0") && redis("rediss://h") && redis("redis://[::1]:6379"));
        assert!(!redis("redis://") && !redis("redis://:p@/0") && !redis("h:6379") && !redis("redis://a b"));
        assert!(!is_valid::<Option<PathBuf>>("") && !is_valid::<ExchangeRates>("") && is_valid::<bool>("yes"));
        assert_eq!(parse_rate_limits("scale=10"), Some(RateLimitMode::Scale(10)));
        assert_eq!(parse_rate_limits("relaxed"), Some(RateLimitMode::Relaxed));
        assert_eq!(parse_rate_limits("scale=0"), None);
    }

    #[test]
    fn urls_are_https_and_have_a_host() {
        for text in ["https://a.example/directory", "https://a.example", "https://127.0.0.1:14000/dir"] {
            assert!(is_https_url(text), "{text}");
        }
        for text in
            ["", "https://", "https:///a", "http://a.example/", "https://a@b.example/", "https://a.example/?b", "ü"]
        {
            assert!(!is_https_url(text), "{text}");
        }
    }

    #[test]
    fn email_addresses_need_no_quotes() {
        assert!(is_email_address("ada.lovelace+acme@mail.example"));
        for text in ["", "ada", "@a.example", "ada@", "a b@c.example", "a@b@c.example", "a?b@c.example"] {
            assert!(!is_email_address(text), "{text}");
        }
    }
}
