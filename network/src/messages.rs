//! Direct messages (contract §7.11): who may write to whom, and who sees what was written.
//!
//! Only those who are in a conversation learn that it is there. Each has their own copy of what
//! happened in it since they came: to remove one is nobody else's concern, and to leave a group is
//! to lose all of them.

mod group;
mod signals;

use base::id::marker;
use base::refusal::ResourceRef;
use base::{AppId, Error, Fault, Id, PostId, Refusal, UserId};
use serde_json::json;
use store::graph::{self, RelationKind};
use store::messages::{self, DmConversation, MessageEvent, MessageEventKind};
use store::{Tx, event_log};

pub use self::group::{MAX_GROUP_SIZE, create_group, join_group, leave_group};
pub use self::signals::{indicate_typing, mark_read};
use crate::compose::{self, PostTextDraft};
use crate::visibility::{find_post_denial, require_may_message};
use crate::{follows, media, users};

/// Characters of a message.
pub const TEXT_LENGTH: usize = 10_000;
/// Posts that one text refers to; further links are links only.
const MAX_LINKED_POSTS: usize = 10;

/// Who writes, and through what.
#[derive(Clone, Copy, Debug)]
pub struct MessageSender {
    /// The user.
    pub user_id: UserId,
    /// The app.
    pub app_id: Option<AppId>,
}

/// A new message.
#[derive(Clone, Debug, Default)]
pub struct NewMessage {
    /// The text; may be empty where it carries a media.
    pub text: String,
    /// The media that it carries.
    pub media: Option<Id<marker::MediaMarker>>,
}

/// A message, read and checked.
struct ComposedMessage {
    text: String,
    entities: String,
    media: Option<store::media::Media>,
    posts: Vec<PostId>,
}

/// Sends a message to a user. The conversation of the two begins with their first.
pub fn send_to_user(
    tx: &mut Tx<'_>,
    sender: &MessageSender,
    target: UserId,
    new: &NewMessage,
) -> Result<MessageEvent, Error> {
    users::find_active(tx, sender.user_id)?;
    validate_message(new)?;
    if target == sender.user_id {
        return Err(message_not_accepted().into());
    }
    // A block that comes at the same time comes before or after.
    follows::lock_user_pair(tx, sender.user_id, target)?;
    let other = users::find_target(tx, target, "participant_id")?;
    require_may_message(tx, sender.user_id, &other)?;
    let written = compose_message(tx, sender.user_id, new)?;
    let conversation = get_or_create_conversation(tx, sender.user_id, target)?;
    store_message(tx, sender, conversation, written)
}

/// Sends a message to a conversation by its name: to a group that the sender is in, or to the
/// other of two.
pub fn send_to_conversation(
    tx: &mut Tx<'_>,
    sender: &MessageSender,
    name: &str,
    new: &NewMessage,
) -> Result<MessageEvent, Error> {
    users::find_active(tx, sender.user_id)?;
    match find_conversation(tx, sender.user_id, name)? {
        None => Err(conversation_not_found("dm_conversation_id", name)),
        Some(ConversationTarget::Direct(other, _)) => send_to_user(tx, sender, other, new),
        Some(ConversationTarget::Group(group)) => {
            validate_message(new)?;
            // Whoever is in it stays until this transaction ends.
            messages::lock_conversation(tx, group.id)?;
            if !messages::is_participant(tx, group.id, sender.user_id)? {
                return Err(conversation_not_found("dm_conversation_id", name));
            }
            let written = compose_message(tx, sender.user_id, new)?;
            store_message(tx, sender, group, written)
        }
    }
}

/// A conversation that a user may look into.
#[derive(Clone, Copy, Debug)]
pub enum ConversationTarget {
    /// With this user; they may not have written to each other yet.
    Direct(UserId, Option<DmConversation>),
    /// A group that they are in.
    Group(DmConversation),
}

/// The conversation that a name stands for, if the user is in it. One that is not theirs and one
/// that is not there are the same.
pub fn find_conversation(tx: &mut Tx<'_>, user: UserId, name: &str) -> Result<Option<ConversationTarget>, Fault> {
    let Some((lower, higher)) = name.split_once('-') else {
        let number = Id::<()>::parse(name).map_or(0, Id::get);
        let Some(group) = messages::find_group(tx, number)? else {
            return Ok(None);
        };
        let inside = messages::is_participant(tx, group.id, user)?;
        return Ok(inside.then_some(ConversationTarget::Group(group)));
    };
    let (Some(lower), Some(higher)) = (UserId::parse(lower), UserId::parse(higher)) else {
        return Ok(None);
    };
    let other = match user {
        _ if lower >= higher || format!("{lower}-{higher}") != name => return Ok(None),
        user if user == lower => higher,
        user if user == higher => lower,
        _ => return Ok(None),
    };
    find_direct_conversation(tx, user, other)
}

/// The conversation of a user with another who is known here, or was when they wrote.
pub fn find_direct_conversation(
    tx: &mut Tx<'_>,
    user: UserId,
    other: UserId,
) -> Result<Option<ConversationTarget>, Fault> {
    let conversation = messages::find_direct(tx, user, other)?;
    if conversation.is_none() {
        let known = store::users::find_by_id(tx, other)?;
        let there = known.is_some_and(|other| {
            crate::visibility::profile_visibility(&other) != crate::visibility::Visibility::Missing
        });
        if !there {
            return Ok(None);
        }
    }
    Ok(Some(ConversationTarget::Direct(other, conversation)))
}

/// The event with an id, if the user has it.
pub fn find_event(tx: &mut Tx<'_>, user: UserId, id: i64) -> Result<Option<MessageEvent>, Fault> {
    let Some(event) = messages::find_event(tx, id)? else {
        return Ok(None);
    };
    Ok(messages::has_event(tx, user, &event)?.then_some(event))
}

/// Removes an event for a user; the others keep theirs.
pub fn delete_event(tx: &mut Tx<'_>, user: UserId, id: i64) -> Result<(), Error> {
    let missing = || Error::from(Refusal::NotFound(ResourceRef::new("dm_event", "event_id", id)));
    let event = messages::find_event(tx, id)?.ok_or_else(missing)?;
    messages::lock_conversation(tx, event.conversation.id)?;
    if !messages::remove_copy(tx, user, &event)? {
        return Err(missing());
    }
    let body = json!({ "conversation_id": event.conversation.to_string() }).to_string();
    Ok(event_log::append(tx, "dm.delete", user.get(), id, &body)?)
}

fn validate_message(new: &NewMessage) -> Result<(), Refusal> {
    if new.text.chars().count() > TEXT_LENGTH {
        let detail = "The text of your direct message is over the max character limit.";
        return Err(Refusal::forbidden_with_code(354, detail));
    }
    if new.text.trim().is_empty() && new.media.is_none() {
        return Err(Refusal::missing_parameter("text"));
    }
    Ok(())
}

fn compose_message(tx: &mut Tx<'_>, user: UserId, new: &NewMessage) -> Result<ComposedMessage, Error> {
    let media = new.media.map(|id| media::find_sendable_media(tx, user, id));
    let media = media.transpose()?;
    let draft = PostTextDraft::parse(&new.text);
    let known = compose::resolve_mentions(tx, &draft)?;
    let reading = draft.compose(&known, false, "");
    Ok(ComposedMessage {
        posts: list_linked_posts(tx, user, &draft)?,
        text: reading.text,
        entities: reading.entities,
        media,
    })
}

/// The posts that a text links to, as far as its writer may see them.
fn list_linked_posts(tx: &mut Tx<'_>, user: UserId, draft: &PostTextDraft) -> Result<Vec<PostId>, Fault> {
    let mut ids: Vec<PostId> = Vec::new();
    for id in draft.linked_urls().filter_map(parse_post_url).take(MAX_LINKED_POSTS) {
        if ids.contains(&id) {
            continue;
        }
        if let Some(post) = store::posts::find_by_id(tx, id)?
            && find_post_denial(tx, user, &post)?.is_none()
        {
            ids.push(id);
        }
    }
    Ok(ids)
}

/// The post whose address this is, on whatever host: `/<user>/status/<id>`.
fn parse_post_url(url: &str) -> Option<PostId> {
    let plain = url.split(['?', '#']).next()?;
    let (_, id) = plain.rsplit_once("/status/")?;
    PostId::parse(id.split('/').next()?)
}

/// The conversation of two, begun if there is none.
fn get_or_create_conversation(tx: &mut Tx<'_>, one: UserId, other: UserId) -> Result<DmConversation, Error> {
    if let Some(found) = messages::find_direct(tx, one, other)? {
        return Ok(found);
    }
    let begun = DmConversation {
        id: tx.next_id::<()>().get(),
        pair: Some((one.min(other), one.max(other))),
    };
    if messages::insert_conversation(tx, &begun)? {
        messages::add_participant(tx, begun.id, one)?;
        messages::add_participant(tx, begun.id, other)?;
        return Ok(begun);
    }
    let found = messages::find_direct(tx, one, other)?;
    found.ok_or_else(|| Fault::new("a conversation is there and is not").into())
}

/// Writes a message down for the sender and for those whom it reaches.
fn store_message(
    tx: &mut Tx<'_>,
    sender: &MessageSender,
    conversation: DmConversation,
    written: ComposedMessage,
) -> Result<MessageEvent, Error> {
    messages::lock_conversation(tx, conversation.id)?;
    let others = list_other_participants(tx, conversation.id, sender.user_id)?;
    let mut readers = filter_reachable_users(tx, sender.user_id, &others)?;
    let event = MessageEvent {
        id: tx.next_id::<()>().get(),
        conversation,
        kind: MessageEventKind::Message,
        sender_id: sender.user_id,
        app_id: sender.app_id,
        text: written.text,
        entities: written.entities,
        media_id: written.media.as_ref().map(|media| media.id),
        media_key: written.media.map(|media| media.media_key).unwrap_or_default(),
        post_ids: written.posts,
        participant_ids: Vec::new(),
    };
    append_message_event(tx, "dm.sent", &event, &others)?;
    if !readers.is_empty() {
        append_message_event(tx, "dm.received", &event, &readers)?;
    }
    readers.push(sender.user_id);
    messages::insert_event(tx, &event, &readers)?;
    if let Some(media) = event.media_id {
        store::media::add_message_use(tx, media)?;
    }
    Ok(event)
}

/// Everyone in a conversation but one.
fn list_other_participants(tx: &mut Tx<'_>, conversation: i64, but: UserId) -> Result<Vec<UserId>, Fault> {
    let all = messages::list_participants(tx, conversation)?;
    let all = all.into_iter().map(|(user, _)| user);
    Ok(all.filter(|user| *user != but).collect())
}

/// Whom what a user does in a conversation reaches: in a group not those who block them, or take
/// no messages of them.
fn filter_reachable_users(tx: &mut Tx<'_>, user: UserId, others: &[UserId]) -> Result<Vec<UserId>, Fault> {
    let mut deaf = graph::filter_blockers(tx, others, user)?;
    deaf.extend(graph::filter_sources(tx, RelationKind::DmBlock, others, user)?);
    let others = others.iter().copied();
    Ok(others.filter(|other| !deaf.contains(other)).collect())
}

/// An entry of the log about an event: who, which, where, and to whom. Never what it says.
fn append_message_event(tx: &mut Tx<'_>, kind: &str, event: &MessageEvent, to: &[UserId]) -> Result<(), Fault> {
    let body = recipients_body(&event.conversation, to);
    event_log::append(tx, kind, event.sender_id.get(), event.id, &body)
}

fn recipients_body(conversation: &DmConversation, to: &[UserId]) -> String {
    let to: Vec<String> = to.iter().map(UserId::to_string).collect();
    json!({ "conversation_id": conversation.to_string(), "recipient_ids": to }).to_string()
}

fn conversation_not_found(parameter: &'static str, name: &str) -> Error {
    Refusal::NotFound(ResourceRef::new("dm_conversation", parameter, name)).into()
}

fn message_not_accepted() -> Refusal {
    Refusal::forbidden_with_code(349, "You cannot send messages to this user.")
}

#[cfg(test)]
mod tests {
    use base::PostId;

    use super::parse_post_url;

    #[test]
    fn an_address_of_a_post_names_it() {
        for (url, id) in [
            ("https://social.example/ada/status/12", Some(12)),
            ("social.example/i/web/status/12?s=20#top", Some(12)),
            ("https://social.example/ada/status/12/photo/1", Some(12)),
            ("https://social.example/ada/status/", None),
            ("https://social.example/ada/status/x", None),
            ("https://social.example/ada?next=/status/12", None),
            ("https://social.example/ada", None),
        ] {
            assert_eq!(parse_post_url(url), id.map(PostId::new), "{url}");
        }
    }
}
