//! Configuration keys: types and defaults.

use std::fmt;

/// Fixed when the data directory is created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunMode {
    /// The development server: well-known credentials, loopback only.
    Dev,
    /// The production server.
    Serve,
}

impl RunMode {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Dev => "dev",
            Self::Serve => "serve",
        }
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        [Self::Dev, Self::Serve].into_iter().find(|mode| mode.name() == text)
    }
}

impl fmt::Display for RunMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[derive(Debug)]
pub(crate) struct ConfigKey {
    /// `area.name`
    pub(crate) name: &'static str,
    pub(crate) kind: ConfigValueKind,
    pub(crate) dev: KeyDefault,
    pub(crate) serve: KeyDefault,
    pub(crate) description: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyDefault {
    Literal(&'static str),
    Unset,
    /// The server does not start without a value.
    Required,
    /// The key does not exist in this mode.
    Absent,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConfigValueKind {
    Text,
    /// Never shown; `NAME_file` may name a file that contains it.
    Secret,
    /// The password is never shown; `NAME_file` may name a file that contains it.
    Database,
    Path,
    Paths,
    Origin,
    Origins,
    Address,
    Hosts,
    /// Also accepts `1`/`0`, `yes`/`no` and `on`/`off`.
    Boolean,
    /// Inclusive bounds.
    Count(u64, u64),
    Duration,
    Durations,
    Blocks,
    Size,
    OneOf(&'static [&'static str]),
    RateLimits,
    /// In micros of a common unit: `EUR=1080000`.
    CurrencyWorths,
}

impl ConfigValueKind {
    pub(crate) const fn is_secret(self) -> bool {
        matches!(self, Self::Secret | Self::Database)
    }

    pub(crate) fn type_name(self) -> String {
        match self {
            Self::Text => "text".to_owned(),
            Self::Secret => "secret".to_owned(),
            Self::Database => "`sqlite`, a path, or `postgres://…`".to_owned(),
            Self::Path => "path".to_owned(),
            Self::Paths => "paths".to_owned(),
            Self::Origin => "`http(s)://host[:port]`".to_owned(),
            Self::Origins => "list of `http(s)://host[:port]`".to_owned(),
            Self::Address => "`ip:port`".to_owned(),
            Self::Hosts => "list of IP addresses".to_owned(),
            Self::Boolean => "`true` or `false`".to_owned(),
            Self::Count(low, high) => format!("{low}–{high}"),
            Self::Duration => "duration (`500ms`, `10s`, `2h`)".to_owned(),
            Self::Durations => "list of durations".to_owned(),
            Self::Blocks => "list of CIDR blocks (`10.1.0.0/16`), or `all`".to_owned(),
            Self::Size => "bytes (`64KiB`, `1MiB`)".to_owned(),
            Self::OneOf(words) => format!("`{}`", words.join("`, `")),
            Self::RateLimits => "`table`, `off` or `scale=N`".to_owned(),
            Self::CurrencyWorths => "list of `EUR=1080000`".to_owned(),
        }
    }
}

impl ConfigKey {
    pub(crate) const fn default_for_mode(&self, mode: RunMode) -> KeyDefault {
        match mode {
            RunMode::Dev => self.dev,
            RunMode::Serve => self.serve,
        }
    }

    pub(crate) fn env_variable(&self) -> String {
        format!("LOCUM_{}", self.name.to_ascii_uppercase().replace('.', "__"))
    }

    pub(crate) fn is_dangerous(&self) -> bool {
        self.name.split('.').next_back().is_some_and(|last| last.starts_with("danger_"))
    }
}
