//! Configuration: the declared keys and the layers their values come from.
//!
//! Precedence: flags, environment, configuration file, default.

mod acme;
mod config_file;
mod display;
mod environment;
mod key;
pub mod keys;
mod layers;
mod parse;
mod settings;
mod text;
mod types;
mod values;
mod webhooks;

pub use acme::AcmeSettings;
pub use display::config_rows;
pub use key::{ConfigKey, KeyDefault, RunMode};
pub use keys::KEYS;
pub use layers::{ConfigSources, configured_data_dir, implied_mode, load, names_database_server};
pub use parse::parse_duration;
pub use settings::{DATABASE_FILE, ServerSettings, local_url};
pub use text::from_text;
pub use types::{
    ConfigType, DatabaseUrl, LogFormat, Origin, PlainPkce, RegistrationName, TimeSpan, WorldName, is_world_file,
};
pub use values::ConfigValues;
