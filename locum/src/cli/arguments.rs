//! The subcommands and their arguments.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::global_args::ConfigFlag;
use crate::command::{
    AdsCommand, AppCommand, AuditCommand, BackupArgs, CommunityCommand, ExportArgs, FollowCommand, ImportCommand,
    InviteArgs, KeysCommand, MessageCommand, NewsCommand, NoteCommand, PlaceCommand, PollCommand, PostCommand,
    SignCommand, SpaceCommand, TokenCommand, TriggerArgs, UserCommand, WebhookCommand,
};
use crate::tools::WebhookListenArgs;

#[derive(Debug, Subcommand)]
pub(crate) enum CliCommand {
    /// Start the development server with sample data
    Dev(DevArgs),
    /// Start a production server
    Serve(ServeArgs),
    /// Print a starting configuration for a production server
    Init(InitArgs),
    /// Print the development server's address and credentials as environment variables
    Env(EnvArgs),
    /// Manage users
    #[command(subcommand)]
    User(UserCommand),
    /// Manage follow requests
    #[command(subcommand)]
    Follow(FollowCommand),
    /// Manage posts
    #[command(subcommand)]
    Post(PostCommand),
    /// Manage polls
    #[command(subcommand)]
    Poll(PollCommand),
    /// Manage communities
    #[command(subcommand)]
    Community(CommunityCommand),
    /// Manage community notes
    #[command(subcommand)]
    Note(NoteCommand),
    /// Manage news stories
    #[command(subcommand)]
    News(NewsCommand),
    /// Manage places
    #[command(subcommand)]
    Place(PlaceCommand),
    /// Manage apps and their keys
    #[command(subcommand)]
    App(AppCommand),
    /// Manage advertising: what the Ads API has no endpoint for
    #[command(subcommand)]
    Ads(AdsCommand),
    /// Manage access tokens
    #[command(subcommand)]
    Token(TokenCommand),
    /// Create a single-use invitation link, valid for 7 days
    Invite(InviteArgs),
    /// Read the audit log
    #[command(subcommand)]
    Audit(AuditCommand),
    /// Manage the master key that encrypts stored secrets
    #[command(subcommand)]
    Keys(KeysCommand),
    /// Manage spaces and their participants
    #[command(subcommand)]
    Space(SpaceCommand),
    /// Manage direct messages: what the API has no endpoint for
    #[command(subcommand)]
    Message(MessageCommand),
    /// Inspect webhooks and their deliveries
    #[command(subcommand)]
    Webhook(WebhookCliCommand),
    /// Trigger an event on a development server by performing the action it reports
    Trigger(TriggerArgs),
    /// Debug OAuth 1.0a signatures
    #[command(subcommand)]
    Sign(SignCommand),
    /// Import users and posts
    #[command(subcommand)]
    Import(ImportCommand),
    /// Export everything as JSON Lines
    Export(ExportArgs),
    /// Write a consistent backup of the database while it is in use
    Backup(BackupArgs),
    /// Restore the database from a backup
    Restore(RestoreArgs),
    /// Recompute all counters and report differences
    Fsck,
    /// Rebuild the search index from the database
    Reindex,
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
    /// Print the reference of all commands
    #[command(hide = true)]
    Reference,
}

#[derive(Args, Clone, Debug, Default)]
pub(crate) struct ListenArgs {
    /// The port to listen on; 0 picks a free port
    #[arg(long)]
    pub(crate) port: Option<u16>,
    /// The address to listen on, `ip:port`
    #[arg(long, value_name = "ADDR")]
    listen: Option<String>,
    /// The control API's port on the loopback address; 0 picks a free port
    #[arg(long, value_name = "PORT")]
    control_port: Option<u16>,
    /// A second port that serves the Ads API sandbox; 0 picks a free port
    #[arg(long, value_name = "PORT")]
    ads_sandbox_port: Option<u16>,
    /// The base URL that clients use
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// The vocabulary when the request does not imply one: posts or tweets
    #[arg(long, value_name = "WORD")]
    vocabulary: Option<String>,
    /// Rate limits: table (as published), off or scale=N
    #[arg(long, value_name = "HOW")]
    rate_limits: Option<String>,
    /// The log format: pretty or json
    #[arg(long, value_name = "FORMAT")]
    log_format: Option<String>,
    /// The log level: error, warn, info, debug, trace, or a filter
    #[arg(long, value_name = "LEVEL")]
    log_level: Option<String>,
    /// A file descriptor to write a line to when the server is ready
    #[arg(long, value_name = "N")]
    pub(crate) ready_fd: Option<i32>,
}

impl ListenArgs {
    pub(crate) fn config_flags(&self) -> Vec<ConfigFlag> {
        let control = self.control_port.map(|port| format!("127.0.0.1:{port}"));
        let sandbox = self.ads_sandbox_port.map(|port| port.to_string());
        let all = [
            ("listen.addr", &self.listen, "--listen"),
            ("listen.control_addr", &control, "--control-port"),
            ("listen.ads_sandbox_port", &sandbox, "--ads-sandbox-port"),
            ("core.base_url", &self.base_url, "--base-url"),
            ("core.vocabulary", &self.vocabulary, "--vocabulary"),
            ("limits.rate_limits", &self.rate_limits, "--rate-limits"),
            ("observe.log_format", &self.log_format, "--log-format"),
            ("observe.log_level", &self.log_level, "--log-level"),
        ];
        let set = all.into_iter().filter_map(|(key, value, name)| {
            let value = value.clone()?;
            Some((key, value, name.to_owned()))
        });
        set.collect()
    }
}

#[derive(Args, Clone, Debug, Default)]
pub(crate) struct DevArgs {
    #[command(flatten)]
    pub(crate) listen: ListenArgs,
    /// The initial data of a new data directory: demo, ads (demo plus ad campaigns) or empty
    #[arg(long)]
    world: Option<String>,
    /// The seed of the generated ids and keys
    #[arg(long)]
    seed: Option<u64>,
    /// Allow listening on non-loopback addresses despite the well-known credentials
    #[arg(long)]
    expose: bool,
}

impl DevArgs {
    pub(crate) fn config_flags(&self) -> Vec<ConfigFlag> {
        let mut flags = self.listen.config_flags();
        if let Some(world) = &self.world {
            flags.push(("core.world", world.clone(), "--world".to_owned()));
        }
        if let Some(seed) = self.seed {
            flags.push(("core.seed", seed.to_string(), "--seed".to_owned()));
        }
        if self.expose {
            flags.push(("core.expose", "true".to_owned(), "--expose".to_owned()));
        }
        flags
    }
}

#[derive(Args, Clone, Debug, Default)]
pub(crate) struct ServeArgs {
    #[command(flatten)]
    pub(crate) listen: ListenArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum WebhookCliCommand {
    /// Start a local receiver that answers challenges and prints deliveries
    Listen(WebhookListenArgs),
    #[command(flatten)]
    Command(WebhookCommand),
}

#[derive(Args, Clone, Debug)]
pub(crate) struct InitArgs {
    /// The base URL that clients will use
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: String,
    /// The master key file; created with mode 0600 if it does not exist
    #[arg(long, value_name = "FILE")]
    pub(crate) master_key: Option<PathBuf>,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct EnvArgs {
    /// The output format
    #[arg(long, value_enum, default_value_t = EnvFormat::Sh)]
    pub(crate) shell: EnvFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum EnvFormat {
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
pub(crate) struct RestoreArgs {
    /// The backup file
    pub(crate) file: PathBuf,
    /// Recompute all counters of the backup before restoring it
    #[arg(long)]
    pub(crate) verify: bool,
    /// Move an existing database aside
    #[arg(long)]
    pub(crate) replace: bool,
    /// Verify the backup without restoring it
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Clone, Copy, Debug, Subcommand)]
pub(crate) enum MigrateCommand {
    /// Show applied and pending migrations
    Status,
    /// Apply pending migrations
    Up,
}

#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct HealthArgs {
    /// Check readiness (including the database), not only liveness
    #[arg(long)]
    pub(crate) ready: bool,
}

#[derive(Clone, Copy, Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Validate the configuration
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
pub(crate) struct RoutesArgs {
    /// List every operation of the API contract and whether it is implemented
    #[arg(long)]
    pub(crate) coverage: bool,
}
