//! How a configuration key is declared.

use std::fmt;
use std::ops::RangeInclusive;

/// Fixed when the data directory is created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunMode {
    /// The development server: well-known credentials, loopback only.
    Dev,
    /// The production server.
    Serve,
}

impl RunMode {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Dev => "dev",
            Self::Serve => "serve",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        [Self::Dev, Self::Serve].into_iter().find(|mode| mode.name() == text)
    }
}

impl fmt::Display for RunMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyDefault {
    Literal(&'static str),
    Unset,
    /// The server does not start without a value.
    Required,
    /// The key does not exist in this mode; its value is always this one, or none if this is empty.
    Absent(&'static str),
}

/// What `locum conf show` and error messages print of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeySecrecy {
    Public,
    /// All but the password of a URL. As for [`Self::Secret`], `NAME_file` may name a file that contains the value.
    Password,
    Secret,
}

#[derive(Debug)]
pub struct ConfigKey {
    pub(super) section: &'static str,
    /// Within its section.
    pub(super) short_name: &'static str,
    /// `section.short_name`
    pub name: &'static str,
    pub description: &'static str,
    pub(super) dev: KeyDefault,
    pub(super) serve: KeyDefault,
    pub(super) secrecy: KeySecrecy,
    /// Of an integer.
    pub(super) bounds: Option<RangeInclusive<u64>>,
    pub(super) has_type: fn(&str) -> bool,
    pub(super) type_name: fn() -> String,
}

impl ConfigKey {
    pub const fn default_for_mode(&self, mode: RunMode) -> KeyDefault {
        match mode {
            RunMode::Dev => self.dev,
            RunMode::Serve => self.serve,
        }
    }

    pub(super) const fn is_absent(&self, mode: RunMode) -> bool {
        matches!(self.default_for_mode(mode), KeyDefault::Absent(_))
    }

    pub(super) fn accepts(&self, text: &str) -> bool {
        let within = |bounds: &RangeInclusive<u64>| text.parse().is_ok_and(|number| bounds.contains(&number));
        (self.has_type)(text) && self.bounds.as_ref().is_none_or(within)
    }

    pub fn expected_values(&self) -> String {
        match &self.bounds {
            Some(bounds) => format!("{}–{}", bounds.start(), bounds.end()),
            None => (self.type_name)(),
        }
    }

    pub(super) fn env_variable(&self) -> String {
        format!("LOCUM_{}", self.name.to_ascii_uppercase().replace('.', "__"))
    }

    pub(super) fn is_dangerous(&self) -> bool {
        self.short_name.starts_with("danger_")
    }
}

/// Declares sections of keys: description, name, type, bounds of an integer, and the default in both modes or in
/// `dev` and `serve`. Defines a struct for each section, `Config` with all sections, and the table `KEYS`.
macro_rules! config_keys {
    ($($section:ident: $struct:ident {
        $($(#[doc = $line:literal])+ $key:ident: $type:ty $([$bounds:expr])? = $dev:expr $(, $serve:expr)?;)+
    })+) => {
        $(
            #[derive(Clone, Debug, serde::Deserialize)]
            pub struct $struct {
                $($(#[doc = $line])+ pub $key: $type,)+
            }
        )+

        #[derive(Clone, Debug, serde::Deserialize)]
        pub struct Config {
            $(pub $section: $struct,)+
        }

        pub static KEYS: &[ConfigKey] = &[$($(ConfigKey {
            section: stringify!($section),
            short_name: stringify!($key),
            name: concat!(stringify!($section), ".", stringify!($key)),
            description: concat!($($line),+).trim_ascii(),
            dev: $dev,
            serve: config_keys!(@last $dev $(, $serve)?),
            secrecy: <$type as ConfigType>::SECRECY,
            bounds: config_keys!(@optional $($bounds)?),
            has_type: |text| from_text::<$type>(text).is_ok(),
            type_name: <$type as ConfigType>::type_name,
        },)+)+];
    };
    (@last $only:expr) => { $only };
    (@last $first:expr, $second:expr) => { $second };
    (@optional) => { None };
    (@optional $value:expr) => { Some($value) };
}

pub(super) use config_keys;
