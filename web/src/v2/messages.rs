//! Direct messages: sent, read, removed.

use base::id::first_snowflake_at;
use base::refusal::ResourceRef;
use base::{Error, Fault, Id, Refusal, UserId, VocabularyWord};
use network::messages::{self, ConversationTarget, MessageSender, NewMessage};
use serde_json::json;
use store::Tx;
use store::messages::{self as stored, DmConversation, MessageEvent, MessageEventKind};
use store::posts::PageRange;
use view::{ObjectKind, ResponsePayload};

use super::media::serve;
use super::span;
use crate::body::Members;
use crate::call::Call;
use crate::endpoint::Pending;
use crate::page::{Page, Tokens};
use crate::reply::Reply;

/// How far back a user's events are listed.
const LISTED_MS: i64 = 30 * 24 * 3600 * 1000;

/// `POST /2/dm_conversations`.
pub(crate) fn begin_group(call: Call) -> Pending {
    Box::pin(async move {
        let (sender, body) = (sender(&call)?, call.body());
        let message = body.object(VocabularyWord::same_in_both("message"));
        let new = message.map(new_message).unwrap_or_default();
        let people: Vec<UserId> = body.ids(VocabularyWord::same_in_both("participant_ids"));
        let sent = call.write(move |tx| messages::create_group(tx, &sender, &people, &new));
        say(&call, &sent.await?)
    })
}

/// `POST /2/dm_conversations/with/{participant_id}/messages`.
pub(crate) fn send_to(call: Call) -> Pending {
    Box::pin(async move {
        let target: UserId = call.path_id("participant_id")?;
        let (sender, new) = (sender(&call)?, new_message(call.body()));
        let sent = call.write(move |tx| messages::send_to_user(tx, &sender, target, &new));
        say(&call, &sent.await?)
    })
}

/// `POST /2/dm_conversations/{dm_conversation_id}/messages`.
pub(crate) fn send(call: Call) -> Pending {
    Box::pin(async move {
        let name = call.path_text("dm_conversation_id")?.to_owned();
        let (sender, new) = (sender(&call)?, new_message(call.body()));
        let sent = call.write(move |tx| messages::send_to_conversation(tx, &sender, &name, &new));
        say(&call, &sent.await?)
    })
}

/// `GET /2/dm_events`.
pub(crate) fn events(call: Call) -> Pending {
    Box::pin(list(call, Asked::Everything))
}

/// `GET /2/dm_conversations/{id}/dm_events`.
pub(crate) fn of_conversation(call: Call) -> Pending {
    Box::pin(async move {
        let name = call.path_text("id")?.to_owned();
        list(call, Asked::Conversation(name)).await
    })
}

/// `GET /2/dm_conversations/with/{participant_id}/dm_events`.
pub(crate) fn with_user(call: Call) -> Pending {
    Box::pin(async move {
        let other = call.path_id("participant_id")?;
        list(call, Asked::With(other)).await
    })
}

/// `GET /2/dm_events/{event_id}`.
pub(crate) fn by_id(call: Call) -> Pending {
    Box::pin(async move {
        let id = call.path_id::<()>("event_id")?.get();
        let user = call.user()?;
        let (viewer, wants, spoken) = (
            call.viewer(),
            call.wants(ObjectKind::DmEvent),
            call.spoken(),
        );
        let found = call.read(move |tx| {
            let found = messages::find_event(tx, user, id)?;
            let asked = view::LookupKeys {
                parameter: "event_id",
                values: &[id],
            };
            Ok(view::render_message_event(
                tx, viewer, found, &wants, spoken, asked,
            )?)
        });
        call.answer(&found.await?)
    })
}

/// `DELETE /2/dm_events/{event_id}`.
pub(crate) fn remove(call: Call) -> Pending {
    Box::pin(async move {
        let (id, user) = (call.path_id::<()>("event_id")?.get(), call.user()?);
        call.write(move |tx| messages::delete_event(tx, user, id))
            .await?;
        call.say(json!({ "deleted": true }))
    })
}

/// `GET /2/dm_conversations/media/{dm_id}/{media_id}/{resource_id}`.
pub(crate) fn media(call: Call) -> Pending {
    Box::pin(async move {
        let name = call.path_text("resource_id")?.to_owned();
        let missing = || {
            let subject = ResourceRef::new("media", "resource_id", &name);
            Error::from(Refusal::NotFound(subject))
        };
        let event = Id::<()>::parse(call.path_text("dm_id")?).ok_or_else(missing)?;
        let media = Id::parse(call.path_text("media_id")?).ok_or_else(missing)?;
        let user = call.user()?;
        let found = call.read(move |tx| {
            let event = messages::find_event(tx, user, event.get())?;
            let carried = event.and_then(|event| event.media_id);
            match carried.filter(|carried| *carried == media) {
                Some(media) => Ok(store::media::find_by_id(tx, media)?),
                None => Ok(None),
            }
        });
        let found = found.await?.ok_or_else(missing)?;
        let named = |path: &String| path.rsplit('/').next() == Some(name.as_str());
        let path = found
            .file_paths()
            .into_iter()
            .find(named)
            .ok_or_else(missing)?;
        let sent = serve::send(&call, &found, &path, serve::CALLER).await?;
        sent.ok_or_else(missing)
    })
}

/// Which events are asked for.
enum Asked {
    /// Of all conversations.
    Everything,
    /// Of the one with a name.
    Conversation(String),
    /// Of the one with a user.
    With(UserId),
}

/// Where they are.
enum Place {
    /// In all conversations, above an id.
    Everywhere(i64),
    /// In one, which may not have begun yet.
    In(Option<DmConversation>),
    /// There is no such place for the caller.
    Nowhere(Refusal),
}

impl Asked {
    fn place(&self, tx: &mut Tx<'_>, user: UserId) -> Result<Place, Fault> {
        let found = match self {
            Self::Everything => {
                let since = first_snowflake_at(tx.now().plus_ms(-LISTED_MS));
                return Ok(Place::Everywhere(since.saturating_sub(1)));
            }
            Self::Conversation(name) => messages::find_conversation(tx, user, name)?,
            Self::With(other) => messages::find_direct_conversation(tx, user, *other)?,
        };
        Ok(match found {
            Some(ConversationTarget::Direct(_, conversation)) => Place::In(conversation),
            Some(ConversationTarget::Group(group)) => Place::In(Some(group)),
            None => Place::Nowhere(Refusal::NotFound(self.subject())),
        })
    }

    fn subject(&self) -> ResourceRef {
        match self {
            Self::Everything => ResourceRef::new("dm_conversation", "id", ""),
            Self::Conversation(name) => ResourceRef::new("dm_conversation", "id", name),
            Self::With(user) => ResourceRef::new("user", "participant_id", user),
        }
    }
}

async fn list(call: Call, asked: Asked) -> Result<Reply, Error> {
    let (page, kinds, user) = (call.page()?, kinds(&call), call.user()?);
    let (viewer, wants, spoken) = (
        call.viewer(),
        call.wants(ObjectKind::DmEvent),
        call.spoken(),
    );
    let found = call.read(move |tx| {
        let (conversation, above) = match asked.place(tx, user)? {
            Place::Everywhere(above) => (None, above),
            Place::In(Some(conversation)) => (Some(conversation.id), 0),
            Place::In(None) => return Ok((ResponsePayload::default(), Some(Tokens::default()))),
            Place::Nowhere(refusal) => {
                let answer = ResponsePayload {
                    errors: vec![refusal],
                    ..ResponsePayload::default()
                };
                return Ok((answer, None));
            }
        };
        let ids = stored::inbox_page(tx, user, conversation, &kinds, &one_more(&page, above))?;
        let cut = page.cut(ids, |id| *id);
        let mut events = stored::find_events(tx, &cut.rows)?;
        events.sort_unstable_by_key(|event| std::cmp::Reverse(event.id));
        let answer = view::render_message_events(tx, viewer, &events, &wants, spoken)?;
        Ok((answer, Some(cut.tokens)))
    });
    match found.await? {
        (answer, Some(tokens)) => call.answer_page(&answer, &tokens),
        (answer, None) => call.answer(&answer),
    }
}

/// The part of a list that a page is, with one row more than it holds.
fn one_more(page: &Page, above: i64) -> PageRange {
    PageRange {
        limit: page.fetch(),
        ..span(page, (above, i64::MAX))
    }
}

/// The kinds that are asked for; all where none is.
fn kinds(call: &Call) -> Vec<MessageEventKind> {
    let asked = call.texts("event_types");
    let wanted =
        |kind: &MessageEventKind| asked.is_empty() || asked.iter().any(|name| name == kind.name());
    MessageEventKind::ALL.into_iter().filter(wanted).collect()
}

fn sender(call: &Call) -> Result<MessageSender, Error> {
    Ok(MessageSender {
        user_id: call.user()?,
        app_id: Some(call.caller()?.app_id),
    })
}

fn new_message(body: Members<'_>) -> NewMessage {
    let text = body
        .text_if(VocabularyWord::same_in_both("text"))
        .unwrap_or_default();
    let mut attachments = body.objects(VocabularyWord::same_in_both("attachments"));
    let media = attachments.next();
    NewMessage {
        text: text.to_owned(),
        media: media.and_then(|media| media.id_if(VocabularyWord::same_in_both("media_id"))),
    }
}

fn say(call: &Call, sent: &MessageEvent) -> Result<Reply, Error> {
    call.say(json!({
        "dm_conversation_id": sent.conversation.to_string(),
        "dm_event_id": sent.id.to_string(),
    }))
}
