//! The types of configuration values.

use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::path::PathBuf;
use std::time::Duration;

use ads_engine::CurrencyRates;
use base::{Secret, Time, Vocabulary};
use deliver::webhooks::AddressBlock;
use identity::registration::RegistrationPolicy;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use store::NodeRole;
use web::limits::RateLimitMode;

use super::key::KeySecrecy;
use super::parse::{
    WorldDay, is_database_url, is_email_address, is_host_name, is_https_url, is_log_filter, is_redis_url,
    parse_byte_size, parse_duration_with_unit, parse_origin, parse_rate_limits, parse_world_date,
};
use super::text::from_text;

pub trait ConfigType: DeserializeOwned {
    const SECRECY: KeySecrecy = KeySecrecy::Public;

    /// For the reference and for errors.
    fn type_name() -> String;

    fn list_name() -> String {
        format!("list of {}", Self::type_name())
    }
}

impl<T: ConfigType> ConfigType for Option<T> {
    const SECRECY: KeySecrecy = T::SECRECY;

    fn type_name() -> String {
        T::type_name()
    }
}

impl<T: ConfigType> ConfigType for Vec<T> {
    fn type_name() -> String {
        T::list_name()
    }
}

macro_rules! name_types {
    ($($type:ty = $name:expr $(; $list:literal)? $(=> $secrecy:ident)?,)+) => {
        $(impl ConfigType for $type {
            $(const SECRECY: KeySecrecy = KeySecrecy::$secrecy;)?

            fn type_name() -> String {
                $name.into()
            }

            $(fn list_name() -> String {
                $list.into()
            })?
        })+
    };
}

name_types! {
    String = "text",
    SecretText = "secret" => Secret,
    DatabaseUrl = "`sqlite`, a path, or `postgres://…`" => Password,
    RedisUrl = "`redis://…` or `rediss://…`" => Password,
    PathBuf = "path"; "paths",
    Origin = "`http(s)://host[:port]`",
    SocketAddr = "`ip:port`",
    IpAddr = "IP address"; "list of IP addresses",
    bool = "`true` or `false`",
    u16 = "number",
    u64 = "number",
    usize = "number",
    i64 = "number",
    TimeSpan = "duration (`500ms`, `10s`, `2h`)"; "list of durations",
    PositiveTimeSpan = "duration above 0 (`500ms`, `10s`, `2h`)",
    BackupInterval = "duration of at least `1s` (`90m`, `24h`)",
    AddressBlocks = "list of CIDR blocks (`10.1.0.0/16`), or `all`",
    ByteSize = "bytes (`64KiB`, `1MiB`)",
    PositiveByteSize = "bytes above 0 (`64KiB`, `1MiB`)",
    FfmpegSetting = "`auto`, `off` or a path",
    RateLimits = "`table`, `relaxed`, `off` or `scale=N`",
    ExchangeRates = "list of `EUR=1080000`",
    HostName = "host name"; "list of host names",
    HttpsUrl = "`https://host[:port]/path`",
    LogFilter = "level or filter (`info`, `info,web=debug`)",
    EmailAddress = "`name@host`",
    WorldName = "`demo`, `ads`, `empty`, or a `.jsonl` or `.toml` file",
    WorldDate = "`today` or a date since 2014 that is not in the future (`2026-10-01`)",
}

/// Defines types around another one, parsed from text by a function that returns an option.
macro_rules! parsed_types {
    ($($type:ident($inner:ty) = $parse:expr;)+) => {
        $(#[derive(Clone, Debug, Deserialize)]
        #[serde(try_from = "String")]
        pub struct $type(pub $inner);

        impl TryFrom<String> for $type {
            type Error = &'static str;

            fn try_from(text: String) -> Result<Self, Self::Error> {
                $parse(text).map(Self).ok_or("invalid")
            }
        })+
    };
}

/// Whether a world's source is a file and not the name of a built-in world or snapshot.
pub fn is_world_file(source: &str) -> bool {
    let ending = Path::new(source).extension().and_then(|ending| ending.to_str());
    matches!(ending, Some("jsonl" | "toml"))
}

parsed_types! {
    SecretText(Secret) = |text| Some(Secret::new(text));
    DatabaseUrl(Secret) = |text: String| is_database_url(&text).then(|| Secret::new(text));
    RedisUrl(Secret) = |text: String| is_redis_url(&text).then(|| Secret::new(text));
    Origin(String) = |text: String| parse_origin(&text);
    HostName(String) = |text: String| is_host_name(&text).then(|| text.to_ascii_lowercase());
    HttpsUrl(String) = |text: String| is_https_url(&text).then_some(text);
    EmailAddress(String) = |text: String| is_email_address(&text).then_some(text);
    WorldName(String) = |text: String| {
        let is_known = ["demo", "ads", "empty"].contains(&text.as_str());
        (is_known || is_world_file(&text)).then_some(text)
    };
    WorldDate(WorldDay) = |text: String| parse_world_date(&text);
    LogFilter(String) = |text: String| is_log_filter(&text).then_some(text);
    TimeSpan(Duration) = |text: String| parse_duration_with_unit(&text);
    PositiveTimeSpan(Duration) = |text: String| parse_duration_with_unit(&text).filter(|span| !span.is_zero());
    BackupInterval(Duration) = |text: String| parse_duration_with_unit(&text).filter(|span| span.as_secs() > 0);
    ByteSize(usize) = |text: String| parse_byte_size(&text);
    PositiveByteSize(usize) = |text: String| parse_byte_size(&text).filter(|bytes| *bytes > 0);
    RateLimits(RateLimitMode) = |text: String| parse_rate_limits(&text);
}

/// How ffmpeg is found.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "String")]
pub enum FfmpegSetting {
    /// On PATH, if it is there.
    Auto,
    Off,
    Path(PathBuf),
}

impl From<String> for FfmpegSetting {
    fn from(text: String) -> Self {
        match text.as_str() {
            "auto" => Self::Auto,
            "off" => Self::Off,
            _ => Self::Path(text.into()),
        }
    }
}

impl WorldDate {
    /// Noon of the date, or of yesterday.
    pub fn creation_time(&self, now: Time) -> Time {
        const DAY: i64 = 86_400_000;
        match self.0 {
            WorldDay::Today => Time::from_ms(now.ms().div_euclid(DAY) * DAY - DAY / 2),
            WorldDay::Past(noon) => noon,
        }
    }
}

impl TimeSpan {
    pub fn as_ms(&self) -> i64 {
        duration_ms(self.0)
    }
}

impl PositiveTimeSpan {
    pub fn as_ms(&self) -> i64 {
        duration_ms(self.0)
    }
}

fn duration_ms(span: Duration) -> i64 {
    i64::try_from(span.as_millis()).unwrap_or(i64::MAX)
}

/// Defines enums whose words are the names of their variants in lower case.
macro_rules! word_types {
    ($($type:ident { $($variant:ident),+ })+) => {
        $(#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
        #[serde(rename_all = "lowercase")]
        pub enum $type {
            $($variant,)+
        }

        impl ConfigType for $type {
            fn type_name() -> String {
                from_text::<Self>("").err().map(|words| words.to_string()).unwrap_or_default()
            }
        })+
    };
}

word_types! {
    VocabularyName { Posts, Tweets }
    RegistrationName { Open, Approval, Invite, Closed }
    PlainPkce { Allow, Warn }
    CountedVideos { Monetized, Posts }
    LogFormat { Pretty, Json }
    RoleName { Api, Stream, Search, Deliver }
}

impl From<RoleName> for NodeRole {
    fn from(name: RoleName) -> Self {
        match name {
            RoleName::Api => Self::Api,
            RoleName::Stream => Self::Stream,
            RoleName::Search => Self::Search,
            RoleName::Deliver => Self::Deliver,
        }
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Vec<String>")]
pub struct AddressBlocks(pub Vec<AddressBlock>);

/// CIDR blocks or single addresses; `all` means every private block.
impl TryFrom<Vec<String>> for AddressBlocks {
    type Error = base::Fault;

    fn try_from(items: Vec<String>) -> Result<Self, Self::Error> {
        if items == ["all"] {
            return Ok(Self(AddressBlock::ALL.to_vec()));
        }
        items.iter().map(|item| item.parse()).collect::<Result<_, _>>().map(Self)
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Option<String>")]
pub struct ExchangeRates(pub CurrencyRates);

impl TryFrom<Option<String>> for ExchangeRates {
    type Error = &'static str;

    fn try_from(text: Option<String>) -> Result<Self, Self::Error> {
        let rates = text.map_or_else(|| Some(CurrencyRates::default()), |text| CurrencyRates::parse(&text));
        rates.map(Self).ok_or("invalid")
    }
}

impl From<VocabularyName> for Vocabulary {
    fn from(name: VocabularyName) -> Self {
        match name {
            VocabularyName::Posts => Self::Post,
            VocabularyName::Tweets => Self::Tweet,
        }
    }
}

impl From<RegistrationName> for RegistrationPolicy {
    fn from(name: RegistrationName) -> Self {
        match name {
            RegistrationName::Open => Self::Open,
            RegistrationName::Approval => Self::Approval,
            RegistrationName::Invite => Self::Invite,
            RegistrationName::Closed => Self::Closed,
        }
    }
}
