//! Administration commands, executed identically in the command line process and by a running server.

mod account_settings;
pub mod ads;
mod ads_accounts;
mod ads_report;
mod ads_tree;
mod annotations;
mod apps;
mod audit;
mod backup;
mod blocked_terms;
mod client;
mod communities;
mod dispatch;
mod execute;
mod export;
mod find;
mod follows;
mod fsck;
mod import;
mod invite;
mod keys;
mod limit;
mod links;
mod messages;
mod metrics;
mod moderation;
pub mod news;
mod nodes;
mod notes;
mod output_file;
mod places;
mod polls;
mod posts;
mod profile_edits;
pub mod publishers;
mod reindex;
mod request;
mod roles;
mod sign;
pub mod simulation;
mod site;
mod spaces;
mod targeting_options;
mod tokens;
mod trigger;
mod users;
mod webhooks;

use std::path::Path;

use ads::AdsCommand;
use annotations::AnnotationCommand;
use apps::AppCommand;
use audit::AuditCommand;
use backup::BackupArgs;
pub use client::{ControlEndpoint, get, get_within, send_request};
use communities::CommunityCommand;
pub use dispatch::{run_and_print, run_command};
pub use execute::answer_request;
use execute::{CommandAnswer, execute};
use export::ExportArgs;
use follows::FollowCommand;
pub use fsck::{FsckArgs, check_consistency};
use import::ImportCommand;
pub use invite::{InviteArgs, email_site};
use keys::KeysCommand;
use links::LinkCommand;
use messages::MessageCommand;
use metrics::MetricsCommand;
use moderation::ModerationCommand;
use news::NewsCommand;
use nodes::NodeCommand;
use notes::NoteCommand;
use places::PlaceCommand;
use polls::PollCommand;
use posts::PostCommand;
use roles::RoleCommand;
pub use sign::SignCommand;
use site::SiteCommand;
use spaces::SpaceCommand;
use tokens::TokenCommand;
use trigger::TriggerArgs;
use users::UserCommand;
pub use webhooks::WebhookCommand;

use clap::Subcommand;
use request::LocalInputs;
use serde_json::Value;

use crate::command_error::CommandError;
use crate::output;

#[derive(Clone, Debug, Subcommand)]
pub enum AdminCommand {
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
    Webhook(WebhookCommand),
    /// List and drain the nodes on a PostgreSQL database
    #[command(subcommand)]
    Node(NodeCommand),
    /// Trigger an event on a development server by performing the action it reports
    Trigger(TriggerArgs),
    /// Add to the metrics of posts on a development server
    #[command(subcommand)]
    Metrics(MetricsCommand),
    /// Debug OAuth 1.0a signatures
    #[command(subcommand)]
    Sign(SignCommand),
    /// Import users and posts
    #[command(subcommand)]
    Import(ImportCommand),
    /// Export accounts, posts, relations, messages and lists as JSON Lines, without secrets and files
    Export(ExportArgs),
    /// Back up the database and media files while they are in use
    Backup(BackupArgs),
    /// Recompute all counters, compare the search index with the database and report differences
    Fsck(FsckArgs),
    /// Rebuild the search index from the database
    Reindex,
}

impl AdminCommand {
    pub const fn progress_label(&self) -> &'static str {
        match self {
            Self::Import(_) => "importing",
            Self::Export(_) => "exporting",
            Self::Backup(_) => "copying files",
            Self::Keys(_) => "re-encrypting",
            Self::Fsck(_) => "checking",
            Self::Reindex => "indexing",
            _ => "working",
        }
    }

    /// Describes what people do after the command, from its result.
    fn next_step(&self) -> Option<fn(&Value) -> Option<String>> {
        match self {
            Self::Keys(KeysCommand::Rotate { rewrap: false }) => Some(keys::describe_next_step),
            Self::Import(ImportCommand::Archive(_)) => Some(import::describe_next_step),
            _ => None,
        }
    }

    /// Renders the result for people, where a table of its fields would be hard to read.
    fn describe_result(&self) -> Option<fn(&Value) -> String> {
        match self {
            Self::Import(_) => Some(output::describe_import),
            Self::Export(_) => Some(output::describe_export),
            _ => None,
        }
    }

    /// Reads what the command needs besides its arguments; paths become absolute.
    fn read_local_inputs(&mut self, inputs: &mut LocalInputs) -> Result<(), CommandError> {
        match self {
            Self::User(command) => command.read_password(inputs),
            Self::Audit(AuditCommand::Export { file }) => inputs.make_absolute(file),
            Self::Site(command) => command.read_file(inputs),
            Self::Token(command) => command.read_token(inputs),
            Self::Sign(command) => command.read_header(inputs),
            Self::Annotation(command) => command.path_mut().map_or(Ok(()), |path| inputs.make_absolute(path)),
            Self::Import(command) => inputs.make_absolute(command.path_mut()),
            Self::Export(export) => export.file.as_mut().map_or(Ok(()), |path| inputs.make_absolute(path)),
            Self::Backup(backup) => backup.make_absolute(inputs),
            Self::Link(command) => command.path_mut().map_or(Ok(()), |path| inputs.make_absolute(path)),
            _ => Ok(()),
        }
    }

    /// The file or folder that the command makes.
    fn output_path(&self) -> Option<&Path> {
        match self {
            Self::Audit(AuditCommand::Export { file }) => Some(file),
            Self::Export(export) => export.file.as_deref(),
            Self::Backup(backup) => backup.local_path(),
            _ => None,
        }
    }
}
