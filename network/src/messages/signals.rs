//! Read receipts and typing indicators.

use base::refusal::ResourceRef;
use base::{Error, Refusal, UserId};
use store::messages::{self, DmConversation, MessageEventKind};
use store::{Tx, event_log, graph};

use super::{conversation_not_found, filter_reachable_users, find_event, list_other_participants, recipients_body};
use crate::users;
use crate::visibility::require_may_message;

/// Marks a conversation as read up to an event, or completely; returns the event and whether it was unread.
pub fn mark_read(
    tx: &mut Tx<'_>,
    conversation: &DmConversation,
    user: UserId,
    event: Option<i64>,
) -> Result<(Option<i64>, bool), Error> {
    require_participant(tx, conversation, user)?;
    let event = match event {
        Some(id) => {
            let found = find_event(tx, user, id)?;
            let event_in_conversation =
                found.filter(|event| event.conversation == *conversation && event.kind == MessageEventKind::Message);
            let missing = || Refusal::NotFound(ResourceRef::new("dm_event", "event", id));
            Some(event_in_conversation.ok_or_else(missing)?.id)
        }
        None => messages::newest_message(tx, user, conversation.id)?,
    };
    let Some(id) = event else {
        return Ok((None, false));
    };
    let is_new = messages::set_last_read(tx, conversation.id, user, id)?;
    if is_new {
        let body = build_recipients_body(tx, conversation, user)?;
        event_log::append(tx, "dm.read", user.get(), id, &body)?;
    }
    Ok((Some(id), is_new))
}

/// Refused in direct conversations if the other user does not accept messages.
pub fn indicate_typing(tx: &mut Tx<'_>, conversation: &DmConversation, user: UserId) -> Result<(), Error> {
    require_participant(tx, conversation, user)?;
    if conversation.pair.is_some() {
        for other in list_other_participants(tx, conversation.id, user)? {
            let other = users::find_target(tx, other, "conversation")?;
            require_may_message(tx, user, &other)?;
        }
    }
    let body = build_recipients_body(tx, conversation, user)?;
    let kind = "dm.indicate_typing";
    Ok(event_log::append(tx, kind, user.get(), conversation.id, &body)?)
}

fn require_participant(tx: &mut Tx<'_>, conversation: &DmConversation, user: UserId) -> Result<(), Error> {
    messages::lock_conversation(tx, conversation.id)?;
    users::find_active(tx, user)?;
    if messages::is_participant(tx, conversation.id, user)? {
        return Ok(());
    }
    Err(conversation_not_found("conversation", &conversation.to_string()))
}

fn build_recipients_body(tx: &mut Tx<'_>, conversation: &DmConversation, user: UserId) -> Result<String, base::Fault> {
    let mut others = list_other_participants(tx, conversation.id, user)?;
    if conversation.pair.is_some() {
        // Someone who is blocked does not learn what is read.
        let blocked = graph::filter_blocked(tx, user, &others)?;
        others.retain(|other| !blocked.contains(other));
    }
    Ok(recipients_body(conversation, &filter_reachable_users(tx, user, &others)?))
}
