//! Administration commands, executed identically in the command line process and by a running server.

mod account_settings;
pub(crate) mod ads;
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
mod links;
mod messages;
mod metrics;
mod moderation;
pub(crate) mod news;
mod nodes;
mod notes;
mod output_file;
mod places;
mod polls;
mod posts;
mod profile_edits;
pub(crate) mod publishers;
mod reindex;
mod roles;
mod sign;
pub(crate) mod simulation;
mod site;
mod spaces;
mod targeting_options;
mod tokens;
mod trigger;
mod users;
mod webhooks;

pub(crate) use ads::AdsCommand;
pub(crate) use annotations::AnnotationCommand;
pub(crate) use apps::AppCommand;
pub(crate) use audit::AuditCommand;
pub(crate) use backup::BackupArgs;
pub(crate) use client::{ControlEndpoint, get, send_request};
pub(crate) use communities::CommunityCommand;
pub(crate) use dispatch::{run_and_print, run_command};
pub(crate) use execute::answer_request;
use execute::{CommandAnswer, execute};
pub(crate) use export::ExportArgs;
pub(crate) use follows::FollowCommand;
pub(crate) use fsck::{FsckArgs, check_consistency};
pub(crate) use import::ImportCommand;
pub(crate) use invite::{InviteArgs, email_site};
pub(crate) use keys::KeysCommand;
pub(crate) use links::LinkCommand;
pub(crate) use messages::MessageCommand;
pub(crate) use metrics::MetricsCommand;
pub(crate) use moderation::ModerationCommand;
pub(crate) use news::NewsCommand;
pub(crate) use nodes::NodeCommand;
pub(crate) use notes::NoteCommand;
pub(crate) use places::PlaceCommand;
pub(crate) use polls::PollCommand;
pub(crate) use posts::PostCommand;
pub(crate) use roles::RoleCommand;
pub(crate) use sign::SignCommand;
pub(crate) use site::SiteCommand;
pub(crate) use spaces::SpaceCommand;
pub(crate) use tokens::TokenCommand;
pub(crate) use trigger::TriggerArgs;
pub(crate) use users::UserCommand;
pub(crate) use webhooks::WebhookCommand;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::command_error::CommandError;

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum AdminCommand {
    User(UserCommand),
    Follow(FollowCommand),
    Post(PostCommand),
    Poll(PollCommand),
    Community(CommunityCommand),
    Note(NoteCommand),
    News(NewsCommand),
    Link(LinkCommand),
    Place(PlaceCommand),
    Annotation(AnnotationCommand),
    App(AppCommand),
    Ads(AdsCommand),
    Token(TokenCommand),
    Mod(ModerationCommand),
    Site(SiteCommand),
    Role(RoleCommand),
    Invite(InviteArgs),
    Audit(AuditCommand),
    Space(SpaceCommand),
    Message(MessageCommand),
    Webhook(WebhookCommand),
    Node(NodeCommand),
    Trigger(TriggerArgs),
    Metrics(MetricsCommand),
    Sign(SignCommand),
    Import(ImportCommand),
    Export(ExportArgs),
    Backup(BackupArgs),
    Keys(KeysCommand),
    Fsck(FsckArgs),
    Reindex,
}

impl AdminCommand {
    pub(crate) const fn progress_label(&self) -> &'static str {
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

    /// Reads stdin and local files here, before the command is sent to a running server.
    fn read_local_inputs(&mut self) -> Result<(), CommandError> {
        match self {
            Self::User(command) => command.read_stdin_inputs(),
            Self::Audit(AuditCommand::Export { file }) => make_absolute(file),
            Self::Site(command) => command.read_file(),
            Self::Token(command) => command.read_stdin_inputs(),
            Self::Sign(command) => command.read_stdin_inputs(),
            Self::Annotation(command) => command.path_mut().map_or(Ok(()), make_absolute),
            Self::Import(command) => make_absolute(command.path_mut()),
            Self::Export(export) => export.file.as_mut().map_or(Ok(()), make_absolute),
            Self::Backup(backup) => backup.make_absolute(),
            Self::Link(command) => command.path_mut().map_or(Ok(()), make_absolute),
            _ => Ok(()),
        }
    }
}

/// The running server has a different working directory.
fn make_absolute(path: &mut PathBuf) -> Result<(), CommandError> {
    *path = std::path::absolute(&path).map_err(|error| CommandError::Usage(format!("{}: {error}", path.display())))?;
    Ok(())
}
