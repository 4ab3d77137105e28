//! Group conversations: creation, joining and leaving.

use base::{Error, Fault, Refusal, UserId};
use store::messages::{self, DmConversation, MessageEvent, MessageEventKind};
use store::{Tx, event_log};

use super::{
    MessageSender, NewMessage, compose_message, conversation_not_found, list_other_participants, recipients_body,
    store_message, validate_message,
};
use crate::users;
use crate::visibility::require_may_add_to_group;

/// Including the creator.
pub const MAX_GROUP_SIZE: usize = 50;
/// Users besides the creator who are invited at creation.
const NEW_GROUP_SIZE: std::ops::RangeInclusive<usize> = 2..=49;

/// Refused if one of the users does not accept messages from the creator.
pub fn create_group(
    tx: &mut Tx<'_>,
    sender: &MessageSender,
    participants: &[UserId],
    new: &NewMessage,
) -> Result<MessageEvent, Error> {
    users::find_writer(tx, sender.user_id)?;
    validate_message(new)?;
    let mut participants = participants.to_vec();
    participants.sort_unstable();
    participants.dedup();
    participants.retain(|user| *user != sender.user_id);
    if !NEW_GROUP_SIZE.contains(&participants.len()) {
        let message = format!(
            "The number of values in the `participant_ids` query parameter list [{}] is not \
             between {} and {}",
            participants.len(),
            NEW_GROUP_SIZE.start(),
            NEW_GROUP_SIZE.end()
        );
        return Err(Refusal::invalid_parameter("participant_ids", participants.len(), message).into());
    }
    for user in &participants {
        let user = users::find_target(tx, *user, "participant_ids")?;
        require_may_add_to_group(tx, sender.user_id, &user)?;
    }
    let message = compose_message(tx, sender.user_id, new)?;
    let group = DmConversation { id: tx.next_id::<()>().get(), pair: None };
    messages::insert_conversation(tx, &group)?;
    participants.insert(0, sender.user_id);
    for user in &participants {
        messages::add_participant(tx, group.id, *user)?;
    }
    let join_event = build_membership_event(tx, group, MessageEventKind::Join, sender.user_id, participants.clone());
    announce_membership(tx, &join_event, &participants)?;
    store_message(tx, sender, group, message)
}

/// Adds a user on behalf of a participant; returns false if they are already in the group. They see events from now
/// on.
pub fn join_group(tx: &mut Tx<'_>, group: &DmConversation, user: UserId, actor: UserId) -> Result<bool, Error> {
    lock_group(tx, group)?;
    users::find_writer(tx, actor)?;
    if !messages::is_participant(tx, group.id, actor)? {
        return Err(conversation_not_found("conversation", &group.to_string()));
    }
    if messages::is_participant(tx, group.id, user)? {
        return Ok(false);
    }
    let newcomer = users::find_target(tx, user, "user")?;
    require_may_add_to_group(tx, actor, &newcomer)?;
    let mut participants = list_other_participants(tx, group.id, user)?;
    if participants.len() >= MAX_GROUP_SIZE {
        let detail = format!("at most {MAX_GROUP_SIZE} users are in a group");
        return Err(Refusal::forbidden(detail).into());
    }
    messages::add_participant(tx, group.id, user)?;
    participants.push(user);
    let join_event = build_membership_event(tx, *group, MessageEventKind::Join, actor, vec![user]);
    announce_membership(tx, &join_event, &participants)?;
    Ok(true)
}

/// Also removes the user's copies; returns false if they are not in the group.
pub fn leave_group(tx: &mut Tx<'_>, group: &DmConversation, user: UserId) -> Result<bool, Error> {
    lock_group(tx, group)?;
    if !messages::remove_participant(tx, group.id, user)? {
        return Ok(false);
    }
    let leave_event = build_membership_event(tx, *group, MessageEventKind::Leave, user, vec![user]);
    let participants = list_other_participants(tx, group.id, user)?;
    announce_membership(tx, &leave_event, &participants)?;
    Ok(true)
}

/// Refuses direct conversations.
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
    actor: UserId,
    participants: Vec<UserId>,
) -> MessageEvent {
    MessageEvent {
        id: tx.next_id::<()>().get(),
        conversation,
        kind,
        sender_id: actor,
        app_id: None,
        text: String::new(),
        entities: String::new(),
        media_id: None,
        media_key: String::new(),
        post_ids: Vec::new(),
        participant_ids: participants,
    }
}

/// Stores the event for all current participants; an empty group stores nothing.
fn announce_membership(tx: &mut Tx<'_>, event: &MessageEvent, participants: &[UserId]) -> Result<(), Fault> {
    if !participants.is_empty() {
        messages::insert_event(tx, event, participants)?;
    }
    let kind = match event.kind {
        MessageEventKind::Leave => "dm.leave",
        MessageEventKind::Join | MessageEventKind::Message => "dm.join",
    };
    for user in &event.participant_ids {
        let body = recipients_body(&event.conversation, participants);
        event_log::append(tx, kind, user.get(), event.id, &body)?;
    }
    Ok(())
}
