//! What a key of the configuration is.

use std::fmt;

/// The two ways a data folder is used; fixed when it is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunMode {
    /// The test platform: fixed credentials, open doors, this machine only.
    Dev,
    /// The real network.
    Serve,
}

impl RunMode {
    /// The sub-command that the mode is.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Dev => "dev",
            Self::Serve => "serve",
        }
    }

    /// Reads the name.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        [Self::Dev, Self::Serve].into_iter().find(|mode| mode.name() == text)
    }
}

impl fmt::Display for RunMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One key: its name, what it may hold, and what holds when nobody sets it.
#[derive(Debug)]
pub(crate) struct ConfigKey {
    /// `area.name`.
    pub(crate) name: &'static str,
    /// What it may hold.
    pub(crate) kind: ConfigValueKind,
    /// In `dev`.
    pub(crate) dev: KeyDefault,
    /// In `serve`.
    pub(crate) serve: KeyDefault,
    /// One sentence.
    pub(crate) description: &'static str,
}

/// What holds when nobody sets the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyDefault {
    /// This value.
    Literal(&'static str),
    /// Nothing.
    Unset,
    /// The mode does not start without it.
    Required,
    /// The mode does not have the key at all.
    Absent,
}

/// What a key may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConfigValueKind {
    /// Any text.
    Text,
    /// A text that is never shown; `NAME_file` names a file that holds it.
    Secret,
    /// Where the database is; its password is never shown. `NAME_file` as well.
    Database,
    /// A path.
    Path,
    /// Paths.
    Paths,
    /// An address of this server as clients see it: `http(s)://host[:port]`.
    Origin,
    /// Several of them.
    Origins,
    /// `ip:port`.
    Address,
    /// IP addresses.
    Hosts,
    /// `true` or `false`.
    Boolean,
    /// A whole number between two bounds.
    Count(u64, u64),
    /// A time, `500ms`, `10s`, `2h`, `30d`.
    Duration,
    /// Several of them.
    Durations,
    /// Blocks of IP addresses, or `all`.
    Blocks,
    /// A number of bytes, `1MiB`.
    Size,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// `table`, `off` or `scale=N`.
    RateLimits,
    /// What units of currencies are worth: `EUR=1080000`.
    CurrencyWorths,
}

impl ConfigValueKind {
    /// Whether the value is masked, and a file may hold it.
    pub(crate) const fn is_secret(self) -> bool {
        matches!(self, Self::Secret | Self::Database)
    }

    /// What a person reads in the list of keys.
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
            Self::Duration => "time (`500ms`, `10s`, `2h`)".to_owned(),
            Self::Durations => "list of times".to_owned(),
            Self::Blocks => "list of blocks (`10.1.0.0/16`), or `all`".to_owned(),
            Self::Size => "bytes (`64KiB`, `1MiB`)".to_owned(),
            Self::OneOf(words) => format!("`{}`", words.join("`, `")),
            Self::RateLimits => "`table`, `off` or `scale=N`".to_owned(),
            Self::CurrencyWorths => "list of `EUR=1080000`".to_owned(),
        }
    }
}

impl ConfigKey {
    /// What holds in a mode when nobody sets the key.
    pub(crate) const fn default_for_mode(&self, mode: RunMode) -> KeyDefault {
        match mode {
            RunMode::Dev => self.dev,
            RunMode::Serve => self.serve,
        }
    }

    /// The name of its variable: `LOCUM_AREA__NAME`.
    pub(crate) fn env_variable(&self) -> String {
        format!("LOCUM_{}", self.name.to_ascii_uppercase().replace('.', "__"))
    }

    /// Whether it opens something that stays shut unless asked for.
    pub(crate) fn is_dangerous(&self) -> bool {
        self.name
            .split('.')
            .next_back()
            .is_some_and(|last| last.starts_with("danger_"))
    }
}
