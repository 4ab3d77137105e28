//! The value of every key, and where it came from.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use super::key::RunMode;

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ValueOrigin {
    /// A flag on the command line.
    Flag(String),
    /// A variable of the environment.
    Variable(String),
    /// A line of the configuration file.
    Line(PathBuf, usize),
    /// A file that a secret's twin named, and where that stood.
    SecretFile(PathBuf, Box<ValueOrigin>),
    /// The mode's default.
    Default(RunMode),
}

impl fmt::Display for ValueOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(name) => write!(f, "flag {name}"),
            Self::Variable(name) => write!(f, "env {name}"),
            Self::Line(path, line) => write!(f, "{}:{line}", path.display()),
            Self::SecretFile(path, named) => write!(f, "file {} ({named})", path.display()),
            Self::Default(mode) => write!(f, "default of {mode}"),
        }
    }
}

/// A value before it is parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ConfigValue {
    /// As text; a list with commas.
    pub(crate) text: String,
    /// Where it came from.
    pub(crate) origin: ValueOrigin,
}

/// The values that hold, all valid. A key that nothing sets is not there.
#[derive(Debug)]
pub(crate) struct ConfigValues {
    /// The mode whose defaults hold.
    pub(crate) mode: RunMode,
    pub(super) by_name: BTreeMap<&'static str, ConfigValue>,
}

impl ConfigValues {
    /// The value of a key and where it came from.
    pub(crate) fn get(&self, name: &str) -> Option<&ConfigValue> {
        self.by_name.get(name)
    }

    /// The value of a key as text.
    pub(crate) fn get_text(&self, name: &str) -> Option<&str> {
        self.get(name).map(|value| value.text.as_str())
    }

    /// Whether somebody set the key.
    pub(crate) fn is_set(&self, name: &str) -> bool {
        self.get(name)
            .is_some_and(|value| !matches!(value.origin, ValueOrigin::Default(_)))
    }
}
