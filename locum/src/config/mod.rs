//! Configuration: the declared keys and the layers their values come from.
//!
//! Precedence: flags, environment, configuration file, default.

mod acme;
mod config_file;
mod display;
mod environment;
mod key;
mod keys;
mod layers;
mod parse;
mod settings;
mod text;
mod types;
mod values;
mod webhooks;

pub(crate) use acme::AcmeSettings;
pub(crate) use display::config_rows;
pub(crate) use key::{ConfigKey, KeyDefault, RunMode};
pub(crate) use keys::KEYS;
pub(crate) use layers::{ConfigSources, configured_data_dir, implied_mode, load, names_database_server};
pub(crate) use parse::parse_duration;
pub(crate) use settings::{DATABASE_FILE, ServerSettings, local_url};
pub(crate) use text::from_text;
pub(crate) use types::{ConfigType, DatabaseUrl, LogFormat, Origin, PlainPkce, RegistrationName, TimeSpan, WorldName};
pub(crate) use values::ConfigValues;
