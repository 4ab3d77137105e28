//! Administration: one command, executed the same way whether the command line has the data folder
//! to itself or a running server does it on its behalf.

mod account_settings;
pub(crate) mod ads;
mod apps;
mod ask;
mod audit;
mod backup;
mod client;
mod communities;
mod execute;
mod export;
mod find;
mod follows;
mod import;
mod invite;
mod keys;
mod messages;
pub(crate) mod news;
mod notes;
mod options;
mod places;
mod polls;
mod posts;
mod profiles;
mod publishers;
mod reindex;
mod sign;
mod simulation;
mod spaces;
mod tokens;
mod trigger;
mod users;
mod webhooks;

pub(crate) use ads::AdsCommand;
pub(crate) use apps::AppCommand;
pub(crate) use ask::{ask, done};
pub(crate) use audit::AuditCommand;
pub(crate) use backup::Backup;
pub(crate) use client::{Where, get};
pub(crate) use communities::CommunityCommand;
use execute::{Answer, execute};
pub(crate) use execute::{answer, check};
pub(crate) use export::Export;
pub(crate) use follows::FollowCommand;
pub(crate) use import::ImportCommand;
pub(crate) use invite::Invite;
pub(crate) use keys::KeysCommand;
pub(crate) use messages::MessageCommand;
pub(crate) use news::NewsCommand;
pub(crate) use notes::NoteCommand;
pub(crate) use places::PlaceCommand;
pub(crate) use polls::PollCommand;
pub(crate) use posts::PostCommand;
pub(crate) use sign::SignCommand;
pub(crate) use spaces::SpaceCommand;
pub(crate) use tokens::TokenCommand;
pub(crate) use trigger::Trigger;
pub(crate) use users::UserCommand;
pub(crate) use webhooks::WebhookCommand;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::exit::Exit;

/// What may be done to a world.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Command {
    /// People.
    User(UserCommand),
    /// Who follows whom.
    Follow(FollowCommand),
    /// Posts.
    Post(PostCommand),
    /// Polls.
    Poll(PollCommand),
    /// Communities.
    Community(CommunityCommand),
    /// Community notes.
    Note(NoteCommand),
    /// News.
    News(NewsCommand),
    /// Places.
    Place(PlaceCommand),
    /// Applications.
    App(AppCommand),
    /// Advertising.
    Ads(AdsCommand),
    /// Users' tokens.
    Token(TokenCommand),
    /// An invitation.
    Invite(Invite),
    /// The record of acts.
    Audit(AuditCommand),
    /// Spaces and who takes part in them.
    Space(SpaceCommand),
    /// Direct messages.
    Message(MessageCommand),
    /// Receivers of events.
    Webhook(WebhookCommand),
    /// An event that is made to happen.
    Trigger(Trigger),
    /// Signatures of requests.
    Sign(SignCommand),
    /// Posts and people from elsewhere.
    Import(ImportCommand),
    /// Everything as JSON Lines.
    Export(Export),
    /// A copy of the database.
    Backup(Backup),
    /// The master key.
    Keys(KeysCommand),
    /// Counts everything again.
    Fsck,
    /// Makes the index of posts anew.
    Reindex,
}

impl Command {
    /// What is shown while it runs.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::User(_) => "user",
            Self::Follow(_) => "follow",
            Self::Post(_) => "post",
            Self::Poll(_) => "poll",
            Self::Community(_) => "community",
            Self::Note(_) => "note",
            Self::News(_) => "news",
            Self::Place(_) => "place",
            Self::App(_) => "app",
            Self::Ads(_) => "ads",
            Self::Token(_) => "token",
            Self::Invite(_) => "invite",
            Self::Audit(_) => "audit",
            Self::Sign(_) => "sign",
            Self::Space(_) => "space",
            Self::Message(_) => "message",
            Self::Webhook(_) => "webhook",
            Self::Trigger(_) => "trigger",
            Self::Import(_) => "importing",
            Self::Export(_) => "exporting",
            Self::Backup(_) => "copying",
            Self::Keys(_) => "sealing",
            Self::Fsck => "counting",
            Self::Reindex => "indexing",
        }
    }
}

impl Command {
    /// Reads what only the process can read that the command was given to.
    fn prepare(&mut self) -> Result<(), Exit> {
        match self {
            Self::User(command) => command.prepare(),
            Self::Audit(AuditCommand::Export { file }) => absolute(file),
            Self::Post(_)
            | Self::Poll(_)
            | Self::Community(_)
            | Self::Note(_)
            | Self::News(_)
            | Self::Place(_)
            | Self::App(_)
            | Self::Ads(_)
            | Self::Follow(_)
            | Self::Invite(_)
            | Self::Audit(_)
            | Self::Space(_)
            | Self::Message(_)
            | Self::Webhook(_)
            | Self::Trigger(_)
            | Self::Keys(_)
            | Self::Fsck
            | Self::Reindex => Ok(()),
            Self::Token(command) => command.prepare(),
            Self::Sign(command) => command.prepare(),
            Self::Import(command) => absolute(command.path_mut()),
            Self::Export(export) => export.file.as_mut().map_or(Ok(()), absolute),
            Self::Backup(backup) => absolute(&mut backup.file),
        }
    }
}

/// A server has another working folder.
fn absolute(path: &mut PathBuf) -> Result<(), Exit> {
    *path = std::path::absolute(&path)
        .map_err(|error| Exit::Usage(format!("{}: {error}", path.display())))?;
    Ok(())
}
