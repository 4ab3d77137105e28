//! Configuration: the table of keys and the layers their values come from.
//!
//! Precedence: flags, environment, configuration file, default.

mod config_file;
mod display;
mod environment;
mod key;
mod keys;
mod layers;
mod parse;
mod settings;
mod values;
mod webhooks;

pub(crate) use display::config_rows;
pub(crate) use key::{ConfigKey, ConfigValueKind, KeyDefault, RunMode};
pub(crate) use keys::KEYS;
pub(crate) use layers::{ConfigSources, configured_data_dir, load};
pub(crate) use parse::{RateLimitPolicy, parse_duration, validate_value};
pub(crate) use settings::{ServerSettings, local_url};
pub(crate) use values::ConfigValues;
