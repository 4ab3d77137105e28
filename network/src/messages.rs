//! Direct messages (contract core §7.11): who may write to whom, and who sees what.
//!
//! Only participants learn that a conversation exists. Each has their own copy of every event since they joined:
//! removing a copy does not affect others, and leaving a group removes all copies.

mod conversations;
mod group;
mod signals;
mod watchers;

use base::refusal::ResourceRef;
use base::{AppId, Error, Fault, Id, MediaId, PostId, Refusal, UserId};
use serde_json::json;
use store::graph::{self, RelationKind};
use store::messages::{self, DmConversation, MessageEvent, MessageEventKind};
use store::posts::PageRange;
use store::{Tx, event_log};

pub use self::conversations::{RecentConversations, list_conversations};
pub use self::group::{MAX_GROUP_SIZE, create_group, join_group, leave_group};
pub use self::signals::{indicate_typing, mark_read};
pub use self::watchers::{MessageWatcher, MessageWatchers};
use crate::compose::{self, PostTextDraft};
use crate::reports::{self, HeldSubject, SubjectKind};
use crate::visibility::{find_post_denial, require_may_message};
use crate::{blocked_terms, follows, media, users};

/// Characters.
pub const TEXT_LENGTH: usize = 10_000;
/// Posts referenced by a text; further links are plain links.
const MAX_LINKED_POSTS: usize = 10;

#[derive(Clone, Copy, Debug)]
pub struct MessageSender {
    pub user_id: UserId,
    pub app_id: Option<AppId>,
}

#[derive(Clone, Debug, Default)]
pub struct NewMessage {
    /// May be empty for a message with media.
    pub text: String,
    pub media: Option<MediaId>,
}

/// A validated message with resolved entities.
struct ComposedMessage {
    text: String,
    entities: String,
    media: Option<store::media::Media>,
    posts: Vec<PostId>,
    /// The blocked term because of which a moderator reads the message.
    held: Option<String>,
}

/// The first message creates the conversation.
pub fn send_to_user(
    tx: &mut Tx<'_>,
    sender: &MessageSender,
    target: UserId,
    new: &NewMessage,
) -> Result<MessageEvent, Error> {
    users::find_writer(tx, sender.user_id)?;
    validate_message(new)?;
    if target == sender.user_id {
        return Err(message_not_accepted().into());
    }
    // Serializes with a concurrent block.
    follows::lock_user_and_target(tx, sender.user_id, target)?;
    let other = users::find_target(tx, target, "participant_id")?;
    require_may_message(tx, sender.user_id, &other)?;
    let message = compose_message(tx, sender.user_id, new)?;
    let conversation = get_or_create_conversation(tx, sender.user_id, target)?;
    store_message(tx, sender, conversation, message)
}

/// Sends to a group that the sender is in, or to the other user of a direct conversation.
pub fn send_to_conversation(
    tx: &mut Tx<'_>,
    sender: &MessageSender,
    name: &str,
    new: &NewMessage,
) -> Result<MessageEvent, Error> {
    users::find_writer(tx, sender.user_id)?;
    match find_conversation(tx, sender.user_id, name)? {
        None => Err(conversation_not_found("dm_conversation_id", name)),
        Some(ConversationTarget::Direct(other, _)) => send_to_user(tx, sender, other, new),
        Some(ConversationTarget::Group(group)) => {
            validate_message(new)?;
            // Participants cannot leave until the transaction ends.
            messages::lock_conversation(tx, group.id)?;
            if !messages::is_participant(tx, group.id, sender.user_id)? {
                return Err(conversation_not_found("dm_conversation_id", name));
            }
            let message = compose_message(tx, sender.user_id, new)?;
            store_message(tx, sender, group, message)
        }
    }
}

/// A conversation visible to a user.
#[derive(Clone, Copy, Debug)]
pub enum ConversationTarget {
    /// With this user; the conversation may not exist yet.
    Direct(UserId, Option<DmConversation>),
    /// A group that the user is in.
    Group(DmConversation),
}

/// None if the conversation does not exist or the user is not in it.
pub fn find_conversation(tx: &mut Tx<'_>, user: UserId, name: &str) -> Result<Option<ConversationTarget>, Fault> {
    let Some((lower, higher)) = name.split_once('-') else {
        let number = Id::<()>::parse(name).map_or(0, Id::get);
        let Some(group) = messages::find_group(tx, number)? else {
            return Ok(None);
        };
        let is_participant = messages::is_participant(tx, group.id, user)?;
        return Ok(is_participant.then_some(ConversationTarget::Group(group)));
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

/// The conversation with another user, if it exists or the other user does.
pub fn find_direct_conversation(
    tx: &mut Tx<'_>,
    user: UserId,
    other: UserId,
) -> Result<Option<ConversationTarget>, Fault> {
    let conversation = messages::find_direct(tx, user, other)?;
    if conversation.is_none() {
        let known = store::users::find_by_id(tx, other)?;
        let exists = known.is_some_and(|other| {
            crate::visibility::profile_visibility(&other) != crate::visibility::Visibility::Missing
        });
        if !exists {
            return Ok(None);
        }
    }
    Ok(Some(ConversationTarget::Direct(other, conversation)))
}

/// The newest event of a conversation after another one, among those that the user has a copy of. Refused if the user
/// is not in the conversation.
pub fn find_newer_event(tx: &mut Tx<'_>, user: UserId, name: &str, after: i64) -> Result<Option<i64>, Error> {
    let target = find_conversation(tx, user, name)?;
    let target = target.ok_or_else(|| conversation_not_found("dm_conversation_id", name))?;
    let (ConversationTarget::Direct(_, Some(conversation)) | ConversationTarget::Group(conversation)) = target else {
        return Ok(None);
    };
    let range = PageRange { above: after, ..PageRange::newest(1) };
    let found = messages::inbox_page(tx, user, Some(conversation.id), &MessageEventKind::ALL, &range)?;
    Ok(found.first().copied())
}

/// None if the user has no copy of the event.
pub fn find_event(tx: &mut Tx<'_>, user: UserId, id: i64) -> Result<Option<MessageEvent>, Fault> {
    let Some(event) = messages::find_event(tx, id)? else {
        return Ok(None);
    };
    Ok(messages::has_event(tx, user, &event)?.then_some(event))
}

/// The picture or video of a message; none if the user has no copy of the message.
pub fn find_attached_media(tx: &mut Tx<'_>, user: UserId, event: i64) -> Result<Option<store::media::Media>, Fault> {
    match find_event(tx, user, event)?.and_then(|event| event.media_id) {
        Some(id) => store::media::find_by_id(tx, id),
        None => Ok(None),
    }
}

/// Other participants keep their copies.
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
    blocked_terms::prefetch(tx)?;
    let media = new.media.map(|id| media::find_sendable_media(tx, user, id));
    let media = media.transpose()?;
    let draft = PostTextDraft::parse(&new.text);
    let known = compose::resolve_mentions(tx, &draft)?;
    let composed = draft.compose(&known, false, "");
    Ok(ComposedMessage {
        held: blocked_terms::check_text(tx, "message", &composed.text, &composed.entities)?,
        posts: list_linked_posts(tx, user, &draft)?,
        text: composed.text,
        entities: composed.entities,
        media,
    })
}

/// Linked posts that the user may see.
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

/// The post of a URL `/<user>/status/<id>`, on any host.
fn parse_post_url(url: &str) -> Option<PostId> {
    let plain = url.split(['?', '#']).next()?;
    let (_, id) = plain.rsplit_once("/status/")?;
    PostId::parse(id.split('/').next()?)
}

/// The direct conversation of two users, created if necessary.
fn get_or_create_conversation(tx: &mut Tx<'_>, one: UserId, other: UserId) -> Result<DmConversation, Error> {
    if let Some(found) = messages::find_direct(tx, one, other)? {
        return Ok(found);
    }
    let conversation = DmConversation { id: tx.next_id::<()>().get(), pair: Some((one.min(other), one.max(other))) };
    if messages::insert_conversation(tx, &conversation)? {
        messages::add_participant(tx, conversation.id, one)?;
        messages::add_participant(tx, conversation.id, other)?;
        return Ok(conversation);
    }
    let found = messages::find_direct(tx, one, other)?;
    found.ok_or_else(|| Fault::new("a conversation exists but cannot be found").into())
}

/// Stores a message for the sender and everyone it reaches.
fn store_message(
    tx: &mut Tx<'_>,
    sender: &MessageSender,
    conversation: DmConversation,
    message: ComposedMessage,
) -> Result<MessageEvent, Error> {
    messages::lock_conversation(tx, conversation.id)?;
    if tx.is_shared()
        && let Some(newest) = messages::newest_message(tx, sender.user_id, conversation.id)?
    {
        // It may come from a node whose clock is ahead, and messages are in the order of their ids.
        tx.keep_ids_above(Id::<()>::new(newest));
    }
    let others = list_other_participants(tx, conversation.id, sender.user_id)?;
    let mut readers = filter_reachable_users(tx, sender.user_id, &others)?;
    let event = MessageEvent {
        id: tx.next_id::<()>().get(),
        conversation,
        kind: MessageEventKind::Message,
        sender_id: sender.user_id,
        app_id: sender.app_id,
        text: message.text,
        entities: message.entities,
        media_id: message.media.as_ref().map(|media| media.id),
        media_key: message.media.map(|media| media.media_key).unwrap_or_default(),
        post_ids: message.posts,
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
    if let Some(term) = message.held {
        let subject = HeldSubject::new(SubjectKind::Message, event.id, event.sender_id);
        reports::report_held(tx, &HeldSubject { evidence: event.text.clone(), ..subject }, &term)?;
    }
    Ok(event)
}

fn list_other_participants(tx: &mut Tx<'_>, conversation: i64, except: UserId) -> Result<Vec<UserId>, Fault> {
    let all = messages::list_participants(tx, conversation)?;
    let all = all.into_iter().map(|(user, _)| user);
    Ok(all.filter(|user| *user != except).collect())
}

/// The users reached by a user's actions in a conversation; in a group, not those who block the user or their
/// messages.
fn filter_reachable_users(tx: &mut Tx<'_>, user: UserId, others: &[UserId]) -> Result<Vec<UserId>, Fault> {
    let mut unreachable = graph::filter_blockers(tx, others, user)?;
    unreachable.extend(graph::filter_sources(tx, RelationKind::DmBlock, others, user)?);
    let others = others.iter().copied();
    Ok(others.filter(|other| !unreachable.contains(other)).collect())
}

/// The log entry contains sender, event, conversation and recipients, but never the text.
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
