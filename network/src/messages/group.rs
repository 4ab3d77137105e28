//! Groups: begun by one, joined and left.

use base::{Fault, Refusal, Stop, UserId};
use store::messages::{self, DmConversation, MessageEvent, MessageEventKind};
use store::{Tx, event_log};

use super::{NewMessage, Sender, check_length, others, post, unknown, whereto, written};
use crate::users;
use crate::visibility::may_message;

/// Users in a group, its creator among them.
pub const MOST_PEOPLE: usize = 50;
/// Users whom a new group is begun with.
const PEOPLE: std::ops::RangeInclusive<usize> = 2..=49;

/// Begins a group with its first message, among users who all take messages of its creator.
pub fn begin(
    tx: &mut Tx<'_>,
    sender: &Sender,
    people: &[UserId],
    new: &NewMessage,
) -> Result<MessageEvent, Stop> {
    users::active(tx, sender.user_id)?;
    check_length(new)?;
    let mut people = people.to_vec();
    people.sort_unstable();
    people.dedup();
    if !PEOPLE.contains(&people.len()) {
        let message = format!(
            "The number of values in the `participant_ids` query parameter list [{}] is not \
             between {} and {}",
            people.len(),
            PEOPLE.start(),
            PEOPLE.end()
        );
        return Err(Refusal::invalid("participant_ids", people.len(), message).into());
    }
    people.retain(|user| *user != sender.user_id);
    for user in &people {
        let user = users::named(tx, *user, "participant_ids")?;
        may_message(tx, sender.user_id, &user)?;
    }
    let written = written(tx, sender.user_id, new)?;
    let group = DmConversation {
        id: tx.next_id::<()>().get(),
        pair: None,
    };
    messages::insert_conversation(tx, &group)?;
    people.insert(0, sender.user_id);
    for user in &people {
        messages::add_participant(tx, group.id, *user)?;
    }
    let came = change(
        tx,
        group,
        MessageEventKind::Join,
        sender.user_id,
        people.clone(),
    );
    announce(tx, &came, &people)?;
    post(tx, sender, group, written)
}

/// Lets a user into a group, on the word of one who is in it; false when they are in it already.
/// They see what happens from now on.
pub fn join(
    tx: &mut Tx<'_>,
    group: &DmConversation,
    user: UserId,
    by: UserId,
) -> Result<bool, Stop> {
    check_group(tx, group)?;
    users::active(tx, by)?;
    if !messages::is_participant(tx, group.id, by)? {
        return Err(unknown("conversation", &group.to_string()));
    }
    if messages::is_participant(tx, group.id, user)? {
        return Ok(false);
    }
    let newcomer = users::named(tx, user, "user")?;
    may_message(tx, by, &newcomer)?;
    let mut people = others(tx, group.id, user)?;
    if people.len() >= MOST_PEOPLE {
        let detail = format!("at most {MOST_PEOPLE} users are in a group");
        return Err(Refusal::forbidden(detail).into());
    }
    messages::add_participant(tx, group.id, user)?;
    people.push(user);
    let came = change(tx, *group, MessageEventKind::Join, by, vec![user]);
    announce(tx, &came, &people)?;
    Ok(true)
}

/// Takes a user out of a group, and all of it from them; false when they are not in it.
pub fn leave(tx: &mut Tx<'_>, group: &DmConversation, user: UserId) -> Result<bool, Stop> {
    check_group(tx, group)?;
    if !messages::remove_participant(tx, group.id, user)? {
        return Ok(false);
    }
    let left = change(tx, *group, MessageEventKind::Leave, user, vec![user]);
    let people = others(tx, group.id, user)?;
    announce(tx, &left, &people)?;
    Ok(true)
}

/// Only groups change; others wait until what follows is done.
fn check_group(tx: &mut Tx<'_>, group: &DmConversation) -> Result<(), Stop> {
    if group.pair.is_some() {
        let detail = format!("conversation [{group}] is not a group");
        return Err(Refusal::forbidden(detail).into());
    }
    Ok(messages::lock_conversation(tx, group.id)?)
}

fn change(
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
fn announce(tx: &mut Tx<'_>, event: &MessageEvent, people: &[UserId]) -> Result<(), Fault> {
    if !people.is_empty() {
        messages::insert_event(tx, event, people)?;
    }
    let kind = match event.kind {
        MessageEventKind::Leave => "dm.leave",
        MessageEventKind::Join | MessageEventKind::Message => "dm.join",
    };
    for user in &event.participant_ids {
        let body = whereto(&event.conversation, people);
        event_log::append(tx, kind, user.get(), event.id, &body)?;
    }
    Ok(())
}
