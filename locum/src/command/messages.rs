//! `locum message`: what happens around direct messages and has no operation in the interface.
//! What they say is for those who are in a conversation, and is not shown here.

use base::{Error, Id, UserId};
use clap::{Args, Subcommand};
use network::audit::AuditActor;
use network::{messages, profiles};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::Tx;
use store::messages::{self as stored, DmConversation};

use super::find;
use crate::instance::Instance;

/// What may be done about messages.
#[derive(Clone, Debug, Serialize, Deserialize, Subcommand)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum MessageCommand {
    /// Shows who is in a conversation, and how far each has read it
    Show {
        /// The conversation's id: two users' ids with a hyphen, or a group's
        conversation: String,
    },
    /// Notes that a user has read a conversation
    Read {
        #[command(flatten)]
        who: ConversationUserArgs,
        /// Up to this message; the newest by default
        #[arg(long, value_name = "ID")]
        event: Option<String>,
    },
    /// Tells the others in a conversation that a user is typing
    Typing(ConversationUserArgs),
    /// Lets a user into a group
    Join {
        #[command(flatten)]
        who: ConversationUserArgs,
        /// Who lets them in, and is in it: @username or id
        #[arg(long, value_name = "USER")]
        by: String,
    },
    /// Lets a user leave a group; it takes from them what they have of it
    Leave(ConversationUserArgs),
    /// Makes a user take messages of everyone
    Open {
        /// @username or id
        user: String,
    },
    /// Makes a user take messages of those only whom they follow
    Close {
        /// @username or id
        user: String,
    },
}

/// A conversation and a user.
#[derive(Args, Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct ConversationUserArgs {
    /// The conversation's id: two users' ids with a hyphen, or a group's
    conversation: String,
    /// @username or id
    user: String,
}

impl ConversationUserArgs {
    fn resolve(&self, tx: &mut Tx<'_>) -> Result<(DmConversation, UserId), Error> {
        let conversation = find_conversation(tx, &self.conversation)?;
        Ok((conversation, find::user(tx, &self.user)?.id))
    }
}

/// Does it.
pub(super) async fn execute(instance: &Instance, command: MessageCommand) -> Result<Value, Error> {
    let work = move |tx: &mut Tx<'_>| match &command {
        MessageCommand::Show { conversation: name } => {
            let conversation = find_conversation(tx, name)?;
            show_conversation(tx, &conversation)
        }
        MessageCommand::Read { who, event } => {
            let (conversation, user) = who.resolve(tx)?;
            let event = event.as_deref().map(parse_id).transpose()?;
            let (last, changed) = messages::mark_read(tx, &conversation, user, event)?;
            let last = last.map(|id| id.to_string());
            Ok(json!({ "last_read_event_id": last, "changed": changed }))
        }
        MessageCommand::Typing(who) => {
            let (conversation, user) = who.resolve(tx)?;
            messages::indicate_typing(tx, &conversation, user)?;
            Ok(json!({ "typing": true }))
        }
        MessageCommand::Join { who, by } => {
            let (conversation, user) = who.resolve(tx)?;
            let by = find::user(tx, by)?.id;
            let changed = messages::join_group(tx, &conversation, user, by)?;
            render_change(tx, &conversation, changed)
        }
        MessageCommand::Open { user } => set_dm_policy(tx, user, true),
        MessageCommand::Close { user } => set_dm_policy(tx, user, false),
        MessageCommand::Leave(who) => {
            let (conversation, user) = who.resolve(tx)?;
            let changed = messages::leave_group(tx, &conversation, user)?;
            render_change(tx, &conversation, changed)
        }
    };
    instance.store.write(work).await
}

fn set_dm_policy(tx: &mut Tx<'_>, user: &str, everyone: bool) -> Result<Value, Error> {
    let user = find::user(tx, user)?.id;
    let user = profiles::set_receives_dm(tx, &AuditActor::operator(), user, everyone)?;
    Ok(json!({ "user": user.username, "takes_messages_of_everyone": user.receives_dm }))
}

fn parse_id(text: &str) -> Result<i64, Error> {
    let id = Id::<()>::parse(text).map(Id::get);
    id.ok_or_else(|| find::not_found("event", text))
}

fn find_conversation(tx: &mut Tx<'_>, name: &str) -> Result<DmConversation, Error> {
    let found = match name.split_once('-') {
        Some((one, other)) => match (UserId::parse(one), UserId::parse(other)) {
            (Some(one), Some(other)) => stored::find_direct(tx, one, other)?,
            _ => None,
        },
        None => stored::find_group(tx, Id::<()>::parse(name).map_or(0, Id::get))?,
    };
    found.ok_or_else(|| find::not_found("conversation", name))
}

fn show_conversation(tx: &mut Tx<'_>, conversation: &DmConversation) -> Result<Value, Error> {
    let participants = stored::list_participants(tx, conversation.id)?;
    let participants = participants.iter().map(|(user, read)| {
        let read = (*read > 0).then(|| read.to_string());
        json!({ "user_id": user.to_string(), "last_read_event_id": read })
    });
    let kind = conversation.pair.map_or("Group", |_| "OneToOne");
    let participants: Vec<Value> = participants.collect();
    Ok(json!({ "id": conversation.to_string(), "type": kind, "participants": participants }))
}

fn render_change(tx: &mut Tx<'_>, conversation: &DmConversation, changed: bool) -> Result<Value, Error> {
    let mut shown = show_conversation(tx, conversation)?;
    if let Some(members) = shown.as_object_mut() {
        members.insert("changed".to_owned(), changed.into());
    }
    Ok(shown)
}
