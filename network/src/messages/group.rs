//! Groups: begun by one, joined and left.

use base::{Error, Fault, Refusal, UserId};
use store::messages::{self, DmConversation, MessageEvent, MessageEventKind};
use store::{Tx, event_log};

use super::{
    MessageSender, NewMessage, compose_message, conversation_not_found, list_other_participants, recipients_body,
    store_message, validate_message,
};
use crate::users;
use crate::visibility::require_may_message;

/// Users in a group, its creator among them.
pub const MAX_GROUP_SIZE: usize = 50;
/// Users whom a new group is begun with.
const NEW_GROUP_SIZE: std::ops::RangeInclusive<usize> = 2..=49;

/// Begins a group with its first message, among users who all take messages of its creator.
pub fn create_group(
    tx: &mut Tx<'_>,
    sender: &MessageSender,
    people: &[UserId],
    new: &NewMessage,
) -> Result<MessageEvent, Error> {
    users::find_active(tx, sender.user_id)?;
    validate_message(new)?;
    let mut people = people.to_vec();
    people.sort_unstable();
    people.dedup();
    if !NEW_GROUP_SIZE.contains(&people.len()) {
        let message = format!(
            "The number of values in the `participant_ids` query parameter list [{}] is not \
             between {} and {}",
            people.len(),
            NEW_GROUP_SIZE.start(),
            NEW_GROUP_SIZE.end()
        );
        return Err(Refusal::invalid_parameter("participant_ids", people.len(), message).into());
    }
    people.retain(|user| *user != sender.user_id);
    for user in &people {
        let user = users::find_target(tx, *user, "participant_ids")?;
        require_may_message(tx, sender.user_id, &user)?;
    }
    let written = compose_message(tx, sender.user_id, new)?;
    let group = DmConversation {
        id: tx.next_id::<()>().get(),
        pair: None,
    };
    messages::insert_conversation(tx, &group)?;
    people.insert(0, sender.user_id);
    for user in &people {
        messages::add_participant(tx, group.id, *user)?;
    }
    let came = build_membership_event(tx, group, MessageEventKind::Join, sender.user_id, people.clone());
    announce_membership(tx, &came, &people)?;
    store_message(tx, sender, group, written)
}

/// Lets a user into a group, on the word of one who is in it; false when they are in it already.
/// They see what happens from now on.
pub fn join_group(tx: &mut Tx<'_>, group: &DmConversation, user: UserId, by: UserId) -> Result<bool, Error> {
    lock_group(tx, group)?;
    users::find_active(tx, by)?;
    if !messages::is_participant(tx, group.id, by)? {
        return Err(conversation_not_found("conversation", &group.to_string()));
    }
    if messages::is_participant(tx, group.id, user)? {
        return Ok(false);
    }
    let newcomer = users::find_target(tx, user, "user")?;
    require_may_message(tx, by, &newcomer)?;
    let mut people = list_other_participants(tx, group.id, user)?;
    if people.len() >= MAX_GROUP_SIZE {
        let detail = format!("at most {MAX_GROUP_SIZE} users are in a group");
        return Err(Refusal::forbidden(detail).into());
    }
    messages::add_participant(tx, group.id, user)?;
    people.push(user);
    let came = build_membership_event(tx, *group, MessageEventKind::Join, by, vec![user]);
    announce_membership(tx, &came, &people)?;
    Ok(true)
}

/// Takes a user out of a group, and all of it from them; false when they are not in it.
pub fn leave_group(tx: &mut Tx<'_>, group: &DmConversation, user: UserId) -> Result<bool, Error> {
    lock_group(tx, group)?;
    if !messages::remove_participant(tx, group.id, user)? {
        return Ok(false);
    }
    let left = build_membership_event(tx, *group, MessageEventKind::Leave, user, vec![user]);
    let people = list_other_participants(tx, group.id, user)?;
    announce_membership(tx, &left, &people)?;
    Ok(true)
}

/// Only groups change; others wait until what follows is done.
fn lock_group(tx: &mut Tx<'_>, group: &DmConversation) -> Result<(), Error> {
    if group.pair.is_some() {
        let detail = format!("conversation [{group}] is not a group");
        return Err(Refusal::forbidden(detail).into());
    }
    Ok(messages::lock_conversation(tx, group.id)?)
}

fn build_membership_event(
    tx: &Tx<'_>,
    conversation: DmConversation,
    kind: MessageEventKind,
    by: UserId,
    people: Vec<UserId>,
) -> MessageEvent {
    MessageEvent {
        id: tx.next_id::<()>().get(),
        conversation,
        kind,
        sender_id: by,
        app_id: None,
        text: String::new(),
        entities: String::new(),
        media_id: None,
        media_key: String::new(),
        post_ids: Vec::new(),
        participant_ids: people,
    }
}

/// Tells everyone who is in the group now; one that nobody is in keeps nothing.
fn announce_membership(tx: &mut Tx<'_>, event: &MessageEvent, people: &[UserId]) -> Result<(), Fault> {
    if !people.is_empty() {
        messages::insert_event(tx, event, people)?;
    }
    let kind = match event.kind {
        MessageEventKind::Leave => "dm.leave",
        MessageEventKind::Join | MessageEventKind::Message => "dm.join",
    };
    for user in &event.participant_ids {
        let body = recipients_body(&event.conversation, people);
        event_log::append(tx, kind, user.get(), event.id, &body)?;
    }
    Ok(())
}
