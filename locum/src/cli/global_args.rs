//! What every command takes, and the configuration that it leads to.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::command_error::CommandError;
use crate::config::{self, ConfigSources, ConfigValues, RunMode, ServerSettings};
use crate::instance;

/// Arguments of every command.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct GlobalArgs {
    /// Answers as JSON
    #[arg(long, global = true, help_heading = "Everywhere")]
    pub(crate) json: bool,
    /// Says nothing but errors
    #[arg(long, short, global = true, help_heading = "Everywhere")]
    pub(crate) quiet: bool,
    /// The folder that everything is kept in
    #[arg(long, global = true, value_name = "DIR", help_heading = "Everywhere")]
    pub(crate) data_dir: Option<PathBuf>,
    /// The configuration file [default: locum.toml, if it is there]
    #[arg(
        long,
        global = true,
        value_name = "FILE",
        env = "LOCUM_CONFIG",
        help_heading = "Everywhere"
    )]
    pub(crate) config: Option<PathBuf>,
    /// The database: `sqlite`, a path, or `postgres://…`
    #[arg(long, global = true, value_name = "URL", help_heading = "Everywhere")]
    pub(crate) db: Option<String>,
    /// Sets any key of the configuration
    #[arg(long = "set", global = true, value_name = "KEY=VALUE", help_heading = "Everywhere")]
    pub(crate) sets: Vec<String>,
    /// The control address of a running server, instead of the socket in the data folder
    #[arg(long, global = true, value_name = "URL", help_heading = "Everywhere")]
    pub(crate) url: Option<String>,
    /// The file that holds the token for it
    #[arg(long, global = true, value_name = "FILE", help_heading = "Everywhere")]
    pub(crate) token_file: Option<PathBuf>,
}

/// A flag's key, its value and its name.
pub(crate) type ConfigFlag = (&'static str, String, String);

impl GlobalArgs {
    /// The configuration for a mode, with the flags of one command on top.
    pub(crate) fn config_values(&self, mode: RunMode, flags: Vec<ConfigFlag>) -> Result<ConfigValues, CommandError> {
        config::load(&self.config_sources(flags), mode)
    }

    /// The configuration of the data folder that the arguments lead to: its mode is the one that
    /// it was made with.
    pub(crate) fn load_settings(&self) -> Result<ServerSettings, CommandError> {
        ServerSettings::from_values(&self.values_of_data_folder()?)
    }

    /// The same before it is typed.
    pub(crate) fn values_of_data_folder(&self) -> Result<ConfigValues, CommandError> {
        let sources = self.config_sources(Vec::new());
        let folder = config::configured_data_dir(&sources);
        let found = match &folder {
            Some(folder) => instance::mode_from_manifest(folder)?,
            None => None,
        };
        // Without a word on where, the test platform of this folder comes before the real network.
        let usual = if Path::new("./.locum").exists() {
            RunMode::Dev
        } else if Path::new("/var/lib/locum").exists() {
            RunMode::Serve
        } else {
            RunMode::Dev
        };
        config::load(&sources, found.unwrap_or(usual))
    }

    /// Whether a server somewhere else is meant.
    pub(crate) fn is_remote(&self) -> bool {
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
