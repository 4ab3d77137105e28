//! What the others in a conversation are told besides messages: that one reads, that one types.

use base::refusal::Subject;
use base::{Refusal, Stop, UserId};
use store::messages::{self, DmConversation, MessageEventKind};
use store::{Tx, event_log};

use super::{others, reached, seen, unknown, whereto};
use crate::users;
use crate::visibility::may_message;

/// Notes that a user has read a conversation up to an event, or all of it; the event and whether
/// that is news.
pub fn mark_read(
    tx: &mut Tx<'_>,
    conversation: &DmConversation,
    user: UserId,
    event: Option<i64>,
) -> Result<(Option<i64>, bool), Stop> {
    check_inside(tx, conversation, user)?;
    let event = match event {
        Some(id) => {
            let found = seen(tx, user, id)?;
            let here = found.filter(|event| {
                event.conversation == *conversation && event.kind == MessageEventKind::Message
            });
            let missing = || Refusal::NotFound(Subject::new("dm_event", "event", id));
            Some(here.ok_or_else(missing)?.id)
        }
        None => messages::newest_message(tx, user, conversation.id)?,
    };
    let Some(id) = event else {
        return Ok((None, false));
    };
    let news = messages::set_last_read(tx, conversation.id, user, id)?;
    if news {
        let body = readers(tx, conversation, user)?;
        event_log::append(tx, "dm.read", user.get(), id, &body)?;
    }
    Ok((Some(id), news))
}

/// Tells the others that a user is typing. To somebody who takes no messages of them nobody types.
pub fn typing(tx: &mut Tx<'_>, conversation: &DmConversation, user: UserId) -> Result<(), Stop> {
    check_inside(tx, conversation, user)?;
    if conversation.pair.is_some() {
        for other in others(tx, conversation.id, user)? {
            let other = users::named(tx, other, "conversation")?;
            may_message(tx, user, &other)?;
        }
    }
    let body = readers(tx, conversation, user)?;
    let kind = "dm.indicate_typing";
    Ok(event_log::append(
        tx,
        kind,
        user.get(),
        conversation.id,
        &body,
    )?)
}

fn check_inside(tx: &mut Tx<'_>, conversation: &DmConversation, user: UserId) -> Result<(), Stop> {
    messages::lock_conversation(tx, conversation.id)?;
    users::active(tx, user)?;
    if messages::is_participant(tx, conversation.id, user)? {
        return Ok(());
    }
    Err(unknown("conversation", &conversation.to_string()))
}

fn readers(
    tx: &mut Tx<'_>,
    conversation: &DmConversation,
    user: UserId,
) -> Result<String, base::Fault> {
    let others = others(tx, conversation.id, user)?;
    Ok(whereto(conversation, &reached(tx, user, &others)?))
}
