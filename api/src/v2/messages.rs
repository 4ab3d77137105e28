//! Direct messages: send, list and delete.

use base::id::first_snowflake_at;
use base::refusal::ResourceRef;
use base::{Error, Fault, Id, Refusal, UserId};
use network::messages::{self, ConversationTarget, MessageSender, NewMessage};
use serde_json::json;
use store::Tx;
use store::messages::{self as stored, DmConversation, MessageEvent, MessageEventKind};
use store::posts::PageRange;
use view::{ObjectKind, ResponsePayload};
use web::body::BodyMembers;
use web::media_files::{MediaFileReaders, send_media_file};
use web::pagination::{PageRequest, PageTokens};
use web::reply::HttpReply;
use web::request_context::RequestContext;

use super::edge_pages::{refusal_answer, respond};
use super::page_range;

/// How far back a user's events are listed.
const LISTING_REACH_MS: i64 = 30 * 24 * 3600 * 1000;

pub(crate) async fn create_conversation(call: RequestContext) -> Result<HttpReply, Error> {
    let (sender, body) = (message_sender(&call)?, call.body());
    let message = body.optional_object("message");
    let new = message.map(parse_message).unwrap_or_default();
    let people: Vec<UserId> = body.id_array("participant_ids");
    let sent = call.write(move |tx| messages::create_group(tx, &sender, &people, &new));
    respond_sent(&call, &sent.await?)
}

pub(crate) async fn send_to_user(call: RequestContext) -> Result<HttpReply, Error> {
    let target: UserId = call.path_id("participant_id")?;
    let (sender, new) = (message_sender(&call)?, parse_message(call.body()));
    let sent = call.write(move |tx| messages::send_to_user(tx, &sender, target, &new));
    respond_sent(&call, &sent.await?)
}

pub(crate) async fn send(call: RequestContext) -> Result<HttpReply, Error> {
    let name = call.path_text("dm_conversation_id")?.to_owned();
    let (sender, new) = (message_sender(&call)?, parse_message(call.body()));
    let sent = call.write(move |tx| messages::send_to_conversation(tx, &sender, &name, &new));
    respond_sent(&call, &sent.await?)
}

pub(crate) async fn list_events(call: RequestContext) -> Result<HttpReply, Error> {
    respond_events(call, DmEventQuery::AllConversations).await
}

pub(crate) async fn list_conversation_events(call: RequestContext) -> Result<HttpReply, Error> {
    let name = call.path_text("id")?.to_owned();
    respond_events(call, DmEventQuery::Conversation(name)).await
}

pub(crate) async fn list_events_with_user(call: RequestContext) -> Result<HttpReply, Error> {
    let other = call.path_id("participant_id")?;
    respond_events(call, DmEventQuery::WithUser(other)).await
}

pub(crate) async fn get_event(call: RequestContext) -> Result<HttpReply, Error> {
    let id = call.path_id::<()>("event_id")?.get();
    let user = call.require_user()?;
    let request = call.render_request(ObjectKind::DM_EVENT);
    let found = call.read(move |tx| {
        let found = messages::find_event(tx, user, id)?;
        let lookup = view::LookupKeys { parameter: "event_id", values: &[id] };
        Ok(view::render_message_event(tx, &request, found, lookup)?)
    });
    call.respond(&found.await?)
}

pub(crate) async fn delete_event(call: RequestContext) -> Result<HttpReply, Error> {
    let (id, user) = (call.path_id::<()>("event_id")?, call.require_user()?);
    super::wait_for_events_of(&call, id).await;
    call.write(move |tx| messages::delete_event(tx, user, id.get())).await?;
    call.respond_data(json!({ "deleted": true }))
}

pub(crate) async fn download_media(call: RequestContext) -> Result<HttpReply, Error> {
    let name = call.path_text("resource_id")?.to_owned();
    let missing = || {
        let subject = ResourceRef::new("media", "resource_id", &name);
        Error::from(Refusal::NotFound(subject))
    };
    let event = Id::<()>::parse(call.path_text("dm_id")?).ok_or_else(missing)?;
    let media = Id::parse(call.path_text("media_id")?).ok_or_else(missing)?;
    let user = call.require_user()?;
    let found = call.read(move |tx| Ok(messages::find_attached_media(tx, user, event.get())?));
    let found = found.await?.filter(|found| found.id == media).ok_or_else(missing)?;
    let path = found.find_path(&name).ok_or_else(missing)?;
    let sent = send_media_file(&call, &found, &path, MediaFileReaders::Caller, None).await?;
    sent.ok_or_else(missing)
}

enum DmEventQuery {
    AllConversations,
    Conversation(String),
    WithUser(UserId),
}

enum DmEventScope {
    /// Only events above this id.
    AllConversations(i64),
    /// None if the conversation has no messages yet.
    Conversation(Option<DmConversation>),
    NotFound(Refusal),
}

impl DmEventQuery {
    fn resolve_scope(&self, tx: &mut Tx<'_>, user: UserId) -> Result<DmEventScope, Fault> {
        let found = match self {
            Self::AllConversations => {
                let since = first_snowflake_at(tx.now().plus_ms(-LISTING_REACH_MS));
                return Ok(DmEventScope::AllConversations(since.saturating_sub(1)));
            }
            Self::Conversation(name) => messages::find_conversation(tx, user, name)?,
            Self::WithUser(other) => messages::find_direct_conversation(tx, user, *other)?,
        };
        Ok(match found {
            Some(ConversationTarget::Direct(_, conversation)) => DmEventScope::Conversation(conversation),
            Some(ConversationTarget::Group(group)) => DmEventScope::Conversation(Some(group)),
            None => DmEventScope::NotFound(Refusal::NotFound(self.resource_ref())),
        })
    }

    fn resource_ref(&self) -> ResourceRef {
        match self {
            Self::AllConversations => ResourceRef::new("dm_conversation", "id", ""),
            Self::Conversation(name) => ResourceRef::new("dm_conversation", "id", name),
            Self::WithUser(user) => ResourceRef::new("user", "participant_id", user),
        }
    }
}

async fn respond_events(call: RequestContext, query: DmEventQuery) -> Result<HttpReply, Error> {
    let (page, kinds, user) = (call.page_request()?, requested_kinds(&call), call.require_user()?);
    let request = call.render_request(ObjectKind::DM_EVENT);
    let found = call.read(move |tx| {
        let (conversation, above) = match query.resolve_scope(tx, user)? {
            DmEventScope::AllConversations(above) => (None, above),
            DmEventScope::Conversation(Some(conversation)) => (Some(conversation.id), 0),
            DmEventScope::Conversation(None) => {
                return Ok((ResponsePayload::default(), Some(PageTokens::default())));
            }
            DmEventScope::NotFound(refusal) => {
                return Ok((refusal_answer(refusal), None));
            }
        };
        let ids = stored::inbox_page(tx, user, conversation, &kinds, &page_range_plus_one(&page, above))?;
        let slice = page.slice_rows(ids, |id| *id);
        let mut events = stored::find_events(tx, &slice.rows)?;
        events.sort_unstable_by_key(|event| std::cmp::Reverse(event.id));
        let answer = view::render_message_events(tx, &request, &events)?;
        Ok((answer, Some(slice.tokens)))
    });
    let (answer, tokens) = found.await?;
    respond(&call, &answer, tokens)
}

fn page_range_plus_one(page: &PageRequest, above: i64) -> PageRange {
    PageRange { limit: page.fetch_limit(), ..page_range(page, (above, i64::MAX)) }
}

/// All kinds if none is requested.
fn requested_kinds(call: &RequestContext) -> Vec<MessageEventKind> {
    let names = call.query_texts("event_types");
    let wanted = |kind: &MessageEventKind| names.is_empty() || names.iter().any(|name| name == kind.name());
    MessageEventKind::ALL.into_iter().filter(wanted).collect()
}

fn message_sender(call: &RequestContext) -> Result<MessageSender, Error> {
    Ok(MessageSender { user_id: call.require_user()?, app_id: Some(call.require_caller()?.app_id) })
}

fn parse_message(body: BodyMembers<'_>) -> NewMessage {
    let text = body.optional_text("text").unwrap_or_default();
    let mut attachments = body.object_array("attachments");
    let media = attachments.next();
    NewMessage { text: text.to_owned(), media: media.and_then(|media| media.optional_id("media_id")) }
}

fn respond_sent(call: &RequestContext, sent: &MessageEvent) -> Result<HttpReply, Error> {
    call.respond_data(json!({
        "dm_conversation_id": sent.conversation.to_string(),
        "dm_event_id": sent.id.to_string(),
    }))
}
