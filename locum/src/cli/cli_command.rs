//! The subcommands.

use std::path::PathBuf;

use clap::Subcommand;

use crate::testing::TestingCommand;
use instance::arguments::{
    CaCommand, ConfigCommand, DevArgs, EnvArgs, HealthArgs, InitArgs, LimitProcessArgs, MigrateCommand, RestoreArgs,
    RoutesArgs, RunArgs, ServeArgs,
};
use instance::command::AdminCommand;

#[derive(Debug, Subcommand)]
pub(crate) enum CliCommand {
    /// Start the development server with sample data
    Dev(DevArgs),
    /// Start a production server
    Serve(ServeArgs),
    /// Print a starting configuration for a production server
    Init(InitArgs),
    /// Run a program whose requests to the public hosts arrive at a development server
    Run(RunArgs),
    /// Enter the sandbox of `locum run`
    #[cfg(target_os = "linux")]
    #[command(hide = true)]
    EnterSandbox(instance::arguments::EnterSandboxArgs),
    /// Become a program with bounded resources
    #[command(hide = true)]
    LimitProcess(LimitProcessArgs),
    /// Print the development server's address and credentials as environment variables
    Env(EnvArgs),
    /// Show, find or renew the certificate authority of the development server
    #[command(subcommand)]
    Ca(CaCommand),
    #[command(flatten)]
    Admin(AdminCommand),
    #[command(flatten)]
    Testing(TestingCommand),
    /// Check a backup, and restore the database and media files from it
    Restore(RestoreArgs),
    /// Manage the database schema
    #[command(subcommand)]
    Migrate(MigrateCommand),
    /// Check the health of the running server
    Health(HealthArgs),
    /// Check the configuration and environment for problems
    Doctor,
    /// Check and show the configuration
    #[command(subcommand)]
    Conf(ConfigCommand),
    /// List the API's endpoints
    Routes(RoutesArgs),
    /// Print the OpenAPI document
    Openapi,
    /// Print the version
    Version,
    /// Print a shell completion script
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Write the manual pages of all commands into a directory
    #[command(hide = true)]
    ManualPages {
        /// The directory
        folder: PathBuf,
    },
    /// Print the reference of all commands
    #[command(hide = true)]
    Reference,
}

impl CliCommand {
    /// Whether `--url` can name the server that the command asks.
    pub(crate) const fn may_ask_server(&self) -> bool {
        matches!(self, Self::Env(_) | Self::Admin(_) | Self::Testing(_) | Self::Health(_))
    }
}
