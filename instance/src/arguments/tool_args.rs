//! Arguments of the commands in `tools`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use http::StatusCode;

#[derive(Args, Clone, Debug)]
pub struct InitArgs {
    /// The base URL that clients will use
    #[arg(long, value_name = "URL")]
    pub base_url: String,
    /// The master key file; created with mode 0600 if it does not exist
    #[arg(long, value_name = "FILE")]
    pub master_key: Option<PathBuf>,
}

#[derive(Args, Clone, Debug)]
pub struct EnvArgs {
    /// The output format
    #[arg(long, value_enum, default_value_t = EnvFormat::Sh)]
    pub shell: EnvFormat,
    /// Add what leads requests to the public hosts to the running server, as a proxy
    #[arg(long)]
    pub intercept: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EnvFormat {
    /// bash, dash, zsh
    Sh,
    /// fish
    Fish,
    /// PowerShell
    Pwsh,
    /// A .env file
    Dotenv,
    /// JSON
    Json,
}

#[derive(Args, Clone, Debug)]
pub struct RestoreArgs {
    /// The backup file, or the folder or `s3://bucket/prefix` of several backups
    pub source: String,
    /// The id of the backup [default: the newest]
    #[arg(long, value_name = "ID")]
    pub backup: Option<String>,
    /// Check the backup completely in a scratch folder without restoring it
    #[arg(long)]
    pub verify: bool,
    /// Move an existing database aside
    #[arg(long)]
    pub replace: bool,
    /// Restore although media files are missing from the backup or damaged
    #[arg(long)]
    pub allow_missing_media: bool,
    /// Decrypt the master key in the backup with the passphrase in this file; it is written to the key file if there
    /// is none
    #[arg(long, value_name = "FILE")]
    pub key_passphrase_file: Option<PathBuf>,
    /// A new file for the decrypted master key
    #[arg(long, value_name = "FILE", requires = "key_passphrase_file")]
    pub master_key: Option<PathBuf>,
}

#[derive(Clone, Debug, Subcommand)]
pub enum MigrateCommand {
    /// Show applied and pending migrations
    Status,
    /// Apply pending migrations
    Up,
    /// Copy the SQLite database of a stopped server into the empty PostgreSQL database that `db.url` names
    FromSqlite {
        /// The SQLite file; `locum.db` in the data directory by default
        file: Option<PathBuf>,
    },
}

#[derive(Args, Clone, Copy, Debug)]
pub struct HealthArgs {
    /// Check readiness (including the database), not only liveness
    #[arg(long)]
    pub ready: bool,
}

#[derive(Clone, Copy, Debug, Subcommand)]
pub enum CaCommand {
    /// Describe the certificate authority
    Show,
    /// Print the path of its certificate, for clients to trust
    Path,
    /// Replace it; clients have to trust the new one
    Renew,
}

#[derive(Clone, Copy, Debug, Subcommand)]
pub enum ConfigCommand {
    /// Validate the configuration, with the keys, certificates and programs that it names
    Check,
    /// Print the effective configuration, with secrets masked
    Show {
        /// Show where each value comes from
        #[arg(long)]
        origin: bool,
    },
    /// List all configuration keys with their defaults and descriptions
    Keys,
}

#[derive(Args, Clone, Copy, Debug)]
pub struct RoutesArgs {
    /// List every operation of the API contract and whether it is implemented, and the further ones
    #[arg(long)]
    pub coverage: bool,
}

#[derive(Args, Clone, Debug)]
pub struct LimitProcessArgs {
    /// The process that ends this one when it ends
    #[arg(long)]
    pub parent: u32,
    #[arg(long)]
    pub cpu_seconds: u64,
    /// Of address space
    #[arg(long)]
    pub memory_bytes: u64,
    /// Of each file that is written
    #[arg(long)]
    pub file_bytes: u64,
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    pub command: Vec<OsString>,
}

#[derive(Args, Clone, Debug)]
pub struct WebhookListenArgs {
    /// The port to listen on at the loopback address; 0 picks a free port
    #[arg(long, default_value_t = 5000)]
    pub port: u16,
    /// A file with the app's API key secret [default: the development server's app]
    #[arg(long, value_name = "FILE")]
    pub secret_file: Option<PathBuf>,
    /// The response status for deliveries
    #[arg(long, default_value = "200", value_name = "N")]
    pub status: StatusCode,
    /// Exit after this many deliveries
    #[arg(long, value_name = "N")]
    pub count: Option<u32>,
}
