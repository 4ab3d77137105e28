//! The subcommands.

use std::path::PathBuf;

use clap::Subcommand;

use crate::arguments::{
    CaCommand, ConfigCommand, DevArgs, EnterSandboxArgs, EnvArgs, HealthArgs, InitArgs, LimitProcessArgs,
    MigrateCommand, RestoreArgs, RoutesArgs, RunArgs, ServeArgs,
};
use crate::command::{
    AdsCommand, AnnotationCommand, AppCommand, AuditCommand, BackupArgs, CommunityCommand, ExportArgs, FollowCommand,
    FsckArgs, ImportCommand, InviteArgs, KeysCommand, LinkCommand, MessageCommand, MetricsCommand, ModerationCommand,
    NewsCommand, NodeCommand, NoteCommand, PlaceCommand, PollCommand, PostCommand, RoleCommand, SignCommand,
    SiteCommand, SpaceCommand, TokenCommand, TriggerArgs, UserCommand, WebhookCommand,
};
use crate::testing::TestingCommand;
use crate::tools::WebhookListenArgs;

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
    #[command(hide = true)]
    EnterSandbox(EnterSandboxArgs),
    /// Become a program with bounded resources
    #[command(hide = true)]
    LimitProcess(LimitProcessArgs),
    /// Print the development server's address and credentials as environment variables
    Env(EnvArgs),
    /// Show, find or renew the certificate authority of the development server
    #[command(subcommand)]
    Ca(CaCommand),
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
    /// Manage what is known about the pages that links lead to
    #[command(subcommand)]
    Link(LinkCommand),
    /// Manage places
    #[command(subcommand)]
    Place(PlaceCommand),
    /// Manage the catalogue of entities that posts are annotated with
    #[command(subcommand)]
    Annotation(AnnotationCommand),
    /// Manage apps and their keys
    #[command(subcommand)]
    App(AppCommand),
    /// Manage advertising: what the Ads API has no endpoint for
    #[command(subcommand)]
    Ads(AdsCommand),
    /// Manage access tokens
    #[command(subcommand)]
    Token(TokenCommand),
    /// Moderate: read reports, act on posts and accounts, decide appeals
    #[command(subcommand)]
    Mod(ModerationCommand),
    /// Show or change the settings of the site
    #[command(subcommand)]
    Site(SiteCommand),
    /// Manage who may moderate and administer the site
    #[command(subcommand)]
    Role(RoleCommand),
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
    /// List and drain the nodes on a PostgreSQL database
    #[command(subcommand)]
    Node(NodeCommand),
    /// Trigger an event on a development server by performing the action it reports
    Trigger(TriggerArgs),
    /// Add to the metrics of posts on a development server
    #[command(subcommand)]
    Metrics(MetricsCommand),
    #[command(flatten)]
    Testing(TestingCommand),
    /// Debug OAuth 1.0a signatures
    #[command(subcommand)]
    Sign(SignCommand),
    /// Import users and posts
    #[command(subcommand)]
    Import(ImportCommand),
    /// Export everything as JSON Lines
    Export(ExportArgs),
    /// Back up the database and media files while they are in use
    Backup(BackupArgs),
    /// Check a backup, and restore the database and media files from it
    Restore(RestoreArgs),
    /// Recompute all counters, compare the search index with the database and report differences
    Fsck(FsckArgs),
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

#[derive(Debug, Subcommand)]
pub(crate) enum WebhookCliCommand {
    /// Start a local receiver that answers challenges and prints deliveries
    Listen(WebhookListenArgs),
    #[command(flatten)]
    Command(WebhookCommand),
}
