//! Direct messages, one-to-one and in groups.

use super::ElementError;
use super::entities::RawUrl;
use crate::lenient::{LenientList, LenientNumber, LenientText};
use crate::text::{TextDraft, unescape_entities};
use crate::{ArchiveRecord, ArchivedMessage, ConversationEventKind, time};
use serde::Deserialize;

/// A conversation; exactly one member of each event is set.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct RawConversation<'a> {
    #[serde(borrow)]
    conversation_id: LenientText<'a>,
    messages: LenientList<RawConversationEvent<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct RawConversationEvent<'a> {
    #[serde(borrow, alias = "welcomeMessageCreate")]
    message_create: Option<RawMessage<'a>>,
    join_conversation: Option<RawParticipantsChange<'a>>,
    participants_join: Option<RawParticipantsChange<'a>>,
    participants_leave: Option<RawParticipantsChange<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct RawMessage<'a> {
    id: LenientNumber,
    sender_id: LenientNumber,
    recipient_id: LenientNumber,
    #[serde(borrow)]
    text: LenientText<'a>,
    created_at: LenientText<'a>,
    urls: LenientList<RawUrl<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct RawParticipantsChange<'a> {
    initiating_user_id: LenientNumber,
    user_ids: LenientList<LenientNumber>,
    participants_snapshot: LenientList<LenientNumber>,
    #[serde(borrow)]
    created_at: LenientText<'a>,
}

impl RawConversation<'_> {
    /// Appends the events that can be stored; group names and reactions are not.
    pub(crate) fn append_events(&self, records: &mut Vec<ArchiveRecord>) -> Result<(), ElementError> {
        if self.conversation_id.is_empty() {
            return Err(ElementError::unreadable("a conversation without an id"));
        }
        for event in self.messages.iter() {
            let message = match event {
                RawConversationEvent { message_create: Some(message), .. } => message.to_message(),
                RawConversationEvent { join_conversation: Some(change), .. }
                | RawConversationEvent { participants_join: Some(change), .. } => {
                    change.to_message(ConversationEventKind::Join)
                }
                RawConversationEvent { participants_leave: Some(change), .. } => {
                    change.to_message(ConversationEventKind::Leave)
                }
                _ => continue,
            };
            if let Some(message) = message {
                records.push(ArchiveRecord::Message(Box::new(ArchivedMessage {
                    conversation: self.conversation_id.to_text(),
                    ..message
                })));
            }
        }
        Ok(())
    }
}

impl RawMessage<'_> {
    fn to_message(&self) -> Option<ArchivedMessage> {
        let mut draft =
            TextDraft { text: unescape_entities(&self.text), urls: self.urls.iter().map(RawUrl::to_url).collect() };
        draft.expand_links();
        let id = self.id.0?;
        Some(ArchivedMessage {
            id: Some(id),
            happening: ConversationEventKind::Said,
            sender: Some(self.sender_id.0?),
            people: self.recipient_id.0.into_iter().collect(),
            text: draft.text,
            at_ms: time::from_id(id).or_else(|| time::parse(&self.created_at))?,
            ..ArchivedMessage::default()
        })
    }
}

impl RawParticipantsChange<'_> {
    fn to_message(&self, happening: ConversationEventKind) -> Option<ArchivedMessage> {
        let all = self.user_ids.iter().chain(self.participants_snapshot.iter());
        let mut people: Vec<i64> = all.filter_map(|id| id.0).collect();
        people.sort_unstable();
        people.dedup();
        let initiator = self.initiating_user_id.0;
        Some(ArchivedMessage {
            happening,
            sender: Some(initiator.or_else(|| people.first().copied())?),
            people,
            at_ms: time::parse(&self.created_at)?,
            ..ArchivedMessage::default()
        })
    }
}
