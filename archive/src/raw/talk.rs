//! Direct messages, of two and of groups.

use super::Fault;
use super::entities::RawUrl;
use crate::lenient::{Items, Number, Text};
use crate::text::{Draft, unescape};
use crate::{Happening, Message, Record, time};
use serde::Deserialize;

/// A conversation; each of its events has one member.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct RawTalk<'a> {
    #[serde(borrow)]
    conversation_id: Text<'a>,
    #[serde(borrow)]
    messages: Items<RawEvent<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct RawEvent<'a> {
    #[serde(borrow, alias = "welcomeMessageCreate")]
    message_create: Option<RawMessage<'a>>,
    #[serde(borrow)]
    join_conversation: Option<RawChange<'a>>,
    #[serde(borrow)]
    participants_join: Option<RawChange<'a>>,
    #[serde(borrow)]
    participants_leave: Option<RawChange<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct RawMessage<'a> {
    id: Number,
    sender_id: Number,
    recipient_id: Number,
    #[serde(borrow)]
    text: Text<'a>,
    #[serde(borrow)]
    created_at: Text<'a>,
    #[serde(borrow)]
    urls: Items<RawUrl<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct RawChange<'a> {
    initiating_user_id: Number,
    user_ids: Items<Number>,
    participants_snapshot: Items<Number>,
    #[serde(borrow)]
    created_at: Text<'a>,
}

impl RawTalk<'_> {
    /// What happened in the conversation, as far as it can be kept: names and reactions are not.
    pub(crate) fn events(&self, records: &mut Vec<Record>) -> Result<(), Fault> {
        if self.conversation_id.is_empty() {
            return Err(Fault::bad("a conversation without an id"));
        }
        for event in self.messages.iter() {
            let message = match event {
                RawEvent {
                    message_create: Some(message),
                    ..
                } => message.message(),
                RawEvent {
                    join_conversation: Some(change),
                    ..
                }
                | RawEvent {
                    participants_join: Some(change),
                    ..
                } => change.message(Happening::Join),
                RawEvent {
                    participants_leave: Some(change),
                    ..
                } => change.message(Happening::Leave),
                _ => continue,
            };
            if let Some(message) = message {
                records.push(Record::Message(Box::new(Message {
                    conversation: self.conversation_id.owned(),
                    ..message
                })));
            }
        }
        Ok(())
    }
}

impl RawMessage<'_> {
    fn message(&self) -> Option<Message> {
        let mut draft = Draft {
            text: unescape(&self.text),
            urls: self.urls.iter().map(RawUrl::url).collect(),
        };
        draft.expand();
        let id = self.id.0?;
        Some(Message {
            id: Some(id),
            happening: Happening::Said,
            sender: Some(self.sender_id.0?),
            people: self.recipient_id.0.into_iter().collect(),
            text: draft.text,
            at_ms: time::of_id(id).or_else(|| time::parse(&self.created_at))?,
            ..Message::default()
        })
    }
}

impl RawChange<'_> {
    fn message(&self, happening: Happening) -> Option<Message> {
        let all = self
            .user_ids
            .iter()
            .chain(self.participants_snapshot.iter());
        let mut people: Vec<i64> = all.filter_map(|id| id.0).collect();
        people.sort_unstable();
        people.dedup();
        let by = self.initiating_user_id.0;
        Some(Message {
            happening,
            sender: Some(by.or_else(|| people.first().copied())?),
            people,
            at_ms: time::parse(&self.created_at)?,
            ..Message::default()
        })
    }
}
