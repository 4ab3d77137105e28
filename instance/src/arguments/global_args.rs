//! Arguments common to all commands, and the configuration they select.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::command_error::CommandError;
use crate::config::{self, ConfigSources, ConfigValues, RunMode, ServerSettings};
use crate::output::OutputOptions;

#[derive(Args, Clone, Debug, Default)]
pub struct GlobalArgs {
    /// Print output as JSON
    #[arg(long, global = true, help_heading = "Everywhere")]
    pub json: bool,
    /// Print nothing but errors
    #[arg(long, short, global = true, help_heading = "Everywhere")]
    pub quiet: bool,
    /// The data directory
    #[arg(long, global = true, value_name = "DIR", help_heading = "Everywhere")]
    pub data_dir: Option<PathBuf>,
    /// The configuration file [default: locum.toml, if it exists]
    #[arg(long, global = true, value_name = "FILE", env = "LOCUM_CONFIG", help_heading = "Everywhere")]
    pub config: Option<PathBuf>,
    /// The database: `sqlite`, a path, or `postgres://…`
    #[arg(long, global = true, value_name = "URL", help_heading = "Everywhere")]
    pub db: Option<String>,
    /// Set a configuration key
    #[arg(long = "set", global = true, value_name = "KEY=VALUE", help_heading = "Everywhere")]
    pub sets: Vec<String>,
    /// The control URL of a running server, instead of the socket in the data directory
    #[arg(long, global = true, value_name = "URL", help_heading = "Everywhere")]
    pub url: Option<String>,
    /// The file that contains the control token
    #[arg(long, global = true, value_name = "FILE", help_heading = "Everywhere")]
    pub token_file: Option<PathBuf>,
    /// The world of a running development server, if it is not the main one
    #[arg(long, global = true, value_name = "NAME", help_heading = "Everywhere")]
    pub world: Option<String>,
}

/// The key, the value and the name of the flag.
pub type ConfigFlag = (&'static str, String, String);

impl GlobalArgs {
    pub const fn output_options(&self) -> OutputOptions {
        OutputOptions { json: self.json, quiet: self.quiet }
    }

    pub fn config_values(&self, mode: RunMode, flags: Vec<ConfigFlag>) -> Result<ConfigValues, CommandError> {
        config::load(&self.config_sources(flags), mode)
    }

    /// Needs no file of a secret but that of the URL.
    pub fn names_database_server(&self) -> bool {
        config::names_database_server(&self.config_sources(Vec::new()))
    }

    /// Uses the mode the data directory was created with.
    pub fn load_settings(&self) -> Result<ServerSettings, CommandError> {
        ServerSettings::from_values(&self.values_of_data_folder()?)
    }

    pub fn values_of_data_folder(&self) -> Result<ConfigValues, CommandError> {
        let sources = self.config_sources(Vec::new());
        let folder = config::configured_data_dir(&sources);
        let found = match &folder {
            Some(folder) => crate::mode_from_manifest(folder)?,
            None => None,
        };
        let implied = || config::implied_mode(&sources);
        // Without an explicit location, a development directory here takes precedence over production.
        let usual = || {
            let is_production = !Path::new("./.locum").exists() && Path::new("/var/lib/locum").exists();
            if is_production { RunMode::Serve } else { RunMode::Dev }
        };
        config::load(&sources, found.or_else(implied).unwrap_or_else(usual))
    }

    pub fn is_remote(&self) -> bool {
        self.url.is_some()
    }

    fn config_sources(&self, mut flags: Vec<ConfigFlag>) -> ConfigSources {
        let mut set = |key, value: Option<String>, name: &str| {
            if let Some(value) = value {
                flags.push((key, value, name.to_owned()));
            }
        };
        let folder = self.data_dir.as_ref().map(|path| path.display().to_string());
        set("core.data_dir", folder, "--data-dir");
        set("db.url", self.db.clone(), "--db");
        let variables =
            std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
        ConfigSources {
            flags,
            set_flags: self.sets.clone(),
            variables: variables.collect(),
            file: self.config.clone(),
            default_file: Some(PathBuf::from("locum.toml")),
        }
    }
}
