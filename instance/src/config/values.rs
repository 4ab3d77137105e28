//! Configuration values and their origins.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use super::key::{ConfigKey, RunMode};
use super::keys::{Config, KEYS};
use super::text::{TextValue, from_sections};
use crate::command_error::CommandError;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueOrigin {
    Flag(String),
    Variable(String),
    Line(PathBuf, usize),
    /// The file that a secret's `_file` variant named, and the origin of that variant.
    SecretFile(PathBuf, Box<ValueOrigin>),
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

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigValue {
    /// Lists are separated by commas.
    pub text: String,
    pub origin: ValueOrigin,
}

/// The value of a key in one layer.
#[derive(Debug)]
pub(super) struct LayerEntry {
    pub(super) name: String,
    pub(super) value: ConfigValue,
}

/// Contains only valid values; unset keys are absent.
#[derive(Debug)]
pub struct ConfigValues {
    pub mode: RunMode,
    pub(super) by_name: BTreeMap<&'static str, ConfigValue>,
}

impl ConfigValues {
    pub fn get(&self, name: &str) -> Option<&ConfigValue> {
        self.by_name.get(name)
    }

    pub fn get_text(&self, name: &str) -> Option<&str> {
        self.get(name).map(|value| value.text.as_str())
    }

    pub fn is_set(&self, name: &str) -> bool {
        self.get(name).is_some_and(|value| !matches!(value.origin, ValueOrigin::Default(_)))
    }

    pub(super) fn to_config(&self) -> Result<Config, CommandError> {
        let pairs = |keys: &'static [ConfigKey]| {
            keys.iter().map(|key| (key.short_name, TextValue(self.get_text(key.name)))).collect::<Vec<_>>()
        };
        let sections = KEYS.chunk_by(|one, next| one.section == next.section);
        from_sections(sections.filter_map(|keys| Some((keys.first()?.section, pairs(keys)))))
            .map_err(|error| CommandError::Usage(error.to_string()))
    }
}
