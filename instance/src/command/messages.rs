//! `locum message`: direct message actions that have no API endpoint. Never shows message contents.

use base::{Error, Id, UserId};
use clap::{Args, Subcommand};
use network::audit::AuditActor;
use network::{messages, profiles};
use serde_json::{Value, json};
use store::Tx;
use store::messages::{self as stored, DmConversation};

use super::find;
use crate::Instance;

#[derive(Clone, Debug, Subcommand)]
pub enum MessageCommand {
    /// Show a conversation's participants and their read positions
    Show {
        /// The conversation's id: two user ids joined by a hyphen, or a group's id
        conversation: String,
    },
    /// Mark a conversation as read by a user
    Read {
        #[command(flatten)]
        who: ConversationUserArgs,
        /// The last message read [default: the newest]
        #[arg(long, value_name = "ID")]
        event: Option<String>,
    },
    /// Send a typing indicator to the other participants
    Typing(ConversationUserArgs),
    /// Add a user to a group
    Join {
        #[command(flatten)]
        who: ConversationUserArgs,
        /// The participant who adds them: @username or id
        #[arg(long, value_name = "USER")]
        by: String,
    },
    /// Remove a user from a group, along with their copy of the conversation
    Leave(ConversationUserArgs),
    /// Allow a user to receive messages from everyone
    Open {
        /// @username or id
        user: String,
    },
    /// Restrict a user's messages to accounts they follow
    Close {
        /// @username or id
        user: String,
    },
}

#[derive(Args, Clone, Debug)]
pub struct ConversationUserArgs {
    /// The conversation's id: two user ids joined by a hyphen, or a group's id
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

pub(super) async fn execute(instance: &Instance, command: MessageCommand) -> Result<Value, Error> {
    let is_read = matches!(command, MessageCommand::Show { .. });
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
    if is_read { instance.store.read(work).await } else { instance.write(work).await }
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
