//! Every sub-command and its arguments.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::global_args::ConfigFlag;
use crate::command::{
    AdsCommand, AppCommand, AuditCommand, BackupArgs, CommunityCommand, ExportArgs, FollowCommand, ImportCommand,
    InviteArgs, KeysCommand, MessageCommand, NewsCommand, NoteCommand, PlaceCommand, PollCommand, PostCommand,
    SignCommand, SpaceCommand, TokenCommand, TriggerArgs, UserCommand, WebhookCommand,
};
use crate::tools::WebhookListenArgs;

/// What may be asked.
#[derive(Debug, Subcommand)]
pub(crate) enum CliCommand {
    /// Starts the test platform, with a world to try things in
    Dev(DevArgs),
    /// Starts the real network
    Serve(ServeArgs),
    /// Prints a configuration to start a real network with
    Init(InitArgs),
    /// Prints what clients of the test platform need, for a shell to read
    Env(EnvArgs),
    /// People
    #[command(subcommand)]
    User(UserCommand),
    /// Requests to follow
    #[command(subcommand)]
    Follow(FollowCommand),
    /// Posts
    #[command(subcommand)]
    Post(PostCommand),
    /// Polls
    #[command(subcommand)]
    Poll(PollCommand),
    /// Communities
    #[command(subcommand)]
    Community(CommunityCommand),
    /// Community notes
    #[command(subcommand)]
    Note(NoteCommand),
    /// News
    #[command(subcommand)]
    News(NewsCommand),
    /// Places
    #[command(subcommand)]
    Place(PlaceCommand),
    /// Applications and their keys
    #[command(subcommand)]
    App(AppCommand),
    /// Advertising: what the interface has no operation for
    #[command(subcommand)]
    Ads(AdsCommand),
    /// Users' tokens
    #[command(subcommand)]
    Token(TokenCommand),
    /// Makes a link by which one person can join; it works for 7 days
    Invite(InviteArgs),
    /// What was done to accounts and apps, by whom and from where
    #[command(subcommand)]
    Audit(AuditCommand),
    /// The master key that stored secrets are sealed with
    #[command(subcommand)]
    Keys(KeysCommand),
    /// Spaces and who takes part in them
    #[command(subcommand)]
    Space(SpaceCommand),
    /// Direct messages: what the interface has no operation for
    #[command(subcommand)]
    Message(MessageCommand),
    /// Receivers of events, and what is sent to them
    #[command(subcommand)]
    Webhook(WebhookCliCommand),
    /// Makes an event of a kind happen in a test world, by doing what it tells of
    Trigger(TriggerArgs),
    /// Signatures of OAuth 1.0a requests
    #[command(subcommand)]
    Sign(SignCommand),
    /// Takes in posts and people from elsewhere
    #[command(subcommand)]
    Import(ImportCommand),
    /// Writes everything out as JSON Lines
    Export(ExportArgs),
    /// Writes a consistent copy of the database while it is in use
    Backup(BackupArgs),
    /// Puts a copy in the place of the database
    Restore(RestoreArgs),
    /// Counts everything again and compares
    Fsck,
    /// Makes the index of posts anew, from the database
    Reindex,
    /// The database's schema
    #[command(subcommand)]
    Migrate(MigrateCommand),
    /// Asks the running server whether it is well
    Health(HealthArgs),
    /// Looks for what would keep a server from running well
    Doctor,
    /// The configuration
    #[command(subcommand)]
    Conf(ConfigCommand),
    /// The operations of the interface
    Routes(RoutesArgs),
    /// Prints the OpenAPI document
    Openapi,
    /// Prints the version
    Version,
    /// Prints completions for a shell
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
    /// Prints the reference of all commands
    #[command(hide = true)]
    Reference,
}

/// Arguments of both ways to run a server.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct ListenArgs {
    /// The port to listen on; 0 takes a free one
    #[arg(long)]
    pub(crate) port: Option<u16>,
    /// The address to listen on, `ip:port`
    #[arg(long, value_name = "ADDR")]
    listen: Option<String>,
    /// The control port on this machine; 0 takes a free one
    #[arg(long, value_name = "PORT")]
    control_port: Option<u16>,
    /// A second port, where the sandbox of the advertising interface is; 0 takes a free one
    #[arg(long, value_name = "PORT")]
    ads_sandbox_port: Option<u16>,
    /// The address that clients use
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// The vocabulary where nothing in a request decides it: posts or tweets
    #[arg(long, value_name = "WORD")]
    vocabulary: Option<String>,
    /// Published rate limits: table, off or scale=N
    #[arg(long, value_name = "HOW")]
    rate_limits: Option<String>,
    /// How the log is written: pretty or json
    #[arg(long, value_name = "FORMAT")]
    log_format: Option<String>,
    /// What is logged: error, warn, info, debug, trace, or a filter
    #[arg(long, value_name = "LEVEL")]
    log_level: Option<String>,
    /// A file descriptor that gets a line when the server is ready
    #[arg(long, value_name = "N")]
    pub(crate) ready_fd: Option<i32>,
}

impl ListenArgs {
    /// The keys that these flags set.
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

/// Arguments of `dev`.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct DevArgs {
    #[command(flatten)]
    pub(crate) listen: ListenArgs,
    /// What a new data folder begins with: demo, ads (the same with campaigns) or empty
    #[arg(long)]
    world: Option<String>,
    /// Where a new world's ids and keys come from
    #[arg(long)]
    seed: Option<u64>,
    /// Listens beyond this machine, with all its open doors
    #[arg(long)]
    expose: bool,
}

impl DevArgs {
    /// The keys that these flags set.
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

/// Arguments of `serve`.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct ServeArgs {
    #[command(flatten)]
    pub(crate) listen: ListenArgs,
}

/// What `webhook` is asked.
#[derive(Debug, Subcommand)]
pub(crate) enum WebhookCliCommand {
    /// Starts a receiver on this machine that answers challenges and prints what it gets
    Listen(WebhookListenArgs),
    #[command(flatten)]
    Command(WebhookCommand),
}

/// Arguments of `init`.
#[derive(Args, Clone, Debug)]
pub(crate) struct InitArgs {
    /// The address that clients will use
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: String,
    /// Where the master key will be; made there, mode 0600, unless it is there already
    #[arg(long, value_name = "FILE")]
    pub(crate) master_key: Option<PathBuf>,
}

/// Arguments of `env`.
#[derive(Args, Clone, Debug)]
pub(crate) struct EnvArgs {
    /// What reads it
    #[arg(long, value_enum, default_value_t = EnvFormat::Sh)]
    pub(crate) shell: EnvFormat,
}

/// What reads the variables.
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

/// Arguments of `restore`.
#[derive(Args, Clone, Debug)]
pub(crate) struct RestoreArgs {
    /// The copy
    pub(crate) file: PathBuf,
    /// Counts everything in the copy again before it is put in place
    #[arg(long)]
    pub(crate) verify: bool,
    /// Moves a database that is there aside
    #[arg(long)]
    pub(crate) replace: bool,
    /// Only proves the copy; puts nothing in place
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// Arguments of `migrate`.
#[derive(Clone, Copy, Debug, Subcommand)]
pub(crate) enum MigrateCommand {
    /// What is applied and what is missing
    Status,
    /// Applies what is missing
    Up,
}

/// Arguments of `health`.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct HealthArgs {
    /// Asks for readiness (the database too), not only for life
    #[arg(long)]
    pub(crate) ready: bool,
}

/// Arguments of `conf`.
#[derive(Clone, Copy, Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Reads every layer and says what is wrong
    Check,
    /// The values that hold, secrets masked
    Show {
        /// With where each came from
        #[arg(long)]
        origin: bool,
    },
    /// Every key, its default and what it is for
    Keys,
}

/// Arguments of `routes`.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct RoutesArgs {
    /// Every operation of the contract, and whether it is built
    #[arg(long)]
    pub(crate) coverage: bool,
}
