//! What the others in a conversation are told besides messages: that one reads, that one types.

use base::refusal::Subject;
use base::{Refusal, Stop, UserId};
use store::messages::{self, Conversation, Kind};
use store::{Tx, log};

use super::{others, reached, seen, unknown, whereto};
use crate::users;
use crate::visibility::may_message;

/// Notes that a user has read a conversation up to an event, or all of it; the event and whether
/// that is news.
pub fn mark_read(
    tx: &mut Tx<'_>,
    conversation: &Conversation,
    user: UserId,
    event: Option<i64>,
) -> Result<(Option<i64>, bool), Stop> {
    check_inside(tx, conversation, user)?;
    let event = match event {
        Some(id) => {
            let found = seen(tx, user, id)?;
            let here = found
                .filter(|event| event.conversation == *conversation && event.kind == Kind::Message);
            let missing = || Refusal::NotFound(Subject::new("dm_event", "event", id));
            Some(here.ok_or_else(missing)?.id)
        }
        None => messages::newest(tx, user, conversation.id)?,
    };
    let Some(id) = event else {
        return Ok((None, false));
    };
    let news = messages::set_read(tx, conversation.id, user, id)?;
    if news {
        let body = readers(tx, conversation, user)?;
        log::append(tx, "dm.read", user.get(), id, &body)?;
    }
    Ok((Some(id), news))
}

/// Tells the others that a user is typing. To somebody who takes no messages of them nobody types.
pub fn typing(tx: &mut Tx<'_>, conversation: &Conversation, user: UserId) -> Result<(), Stop> {
    check_inside(tx, conversation, user)?;
    if conversation.pair.is_some() {
        for other in others(tx, conversation.id, user)? {
            let other = users::named(tx, other, "conversation")?;
            may_message(tx, user, &other)?;
        }
    }
    let body = readers(tx, conversation, user)?;
    let kind = "dm.indicate_typing";
    Ok(log::append(tx, kind, user.get(), conversation.id, &body)?)
}

fn check_inside(tx: &mut Tx<'_>, conversation: &Conversation, user: UserId) -> Result<(), Stop> {
    messages::lock(tx, conversation.id)?;
    users::active(tx, user)?;
    if messages::is_in(tx, conversation.id, user)? {
        return Ok(());
    }
    Err(unknown("conversation", &conversation.to_string()))
}

fn readers(
    tx: &mut Tx<'_>,
    conversation: &Conversation,
    user: UserId,
) -> Result<String, base::Fault> {
    let others = others(tx, conversation.id, user)?;
    Ok(whereto(conversation, &reached(tx, user, &others)?))
}
