//! `/messages`: direct messages, under the rules of the API.

use std::collections::HashMap;

use base::{Error, Fault, MediaId, Refusal, UserId, sorted_distinct};
use network::interactions::count_unread;
use network::messages::{self, ConversationTarget};
use network::visibility::{Visibility, may_message, profile_visibility};
use pages::members::{
    ComposeBox, ConversationItem, ConversationListPage, MESSAGES_PATH, MessageItem, MessageThreadPage, PostTextPart,
};
use portal::submitted_forms::new_form_id;
use portal::{BrowserVisit, MemberVisit, PageExit, PageQuery, found_or_exit};
use store::Tx;
use store::media::Media;
use store::messages::{self as stored, DmConversation, MessageEvent, MessageEventKind};
use store::posts::PageRange;
use store::users::{self, User};
use web::HttpReply;
use web::request_context::RequestContext;
use web::security_headers::allow_scripts;

use crate::message_forms::{MessageDraft, refuse_messages};
use crate::message_media::{SubtitledMedia, build_message_media, describe_media, load_media_of};
use crate::page_ranges::{PAGE_SIZE, build_pager, cursor_of, cut_page, range_before};
use crate::post_cards::{CardViewer, linked_parts, own_picture};

/// Names in the title of a group.
const MAX_TITLE_NAMES: usize = 3;

pub(crate) async fn list(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = MemberVisit::from_call(&call).await?;
    let user = visit.person.user.id;
    let query = PageQuery::from_call(&call).unwrap_or_default();
    let (viewer, below) = (CardViewer::new(&call, &visit), range_before(&query).below);
    let read = call.read(move |tx| {
        let limit = usize::try_from(PAGE_SIZE).unwrap_or(0);
        let found = messages::list_conversations(tx, user, below, limit)?;
        let newest = &found.newest_events;
        let media = load_media_of(tx, newest.iter().filter(|event| event.text.is_empty()))?;
        let ids: Vec<i64> = newest.iter().map(|event| event.conversation.id).collect();
        let mut participants = stored::participants_of(tx, &ids)?;
        participants.retain(|(_, participant)| *participant != user);
        let ids = participants.iter().map(|(_, participant)| *participant);
        let names = ShownNames::load(tx, user, ids.chain(newest.iter().flat_map(named_users)))?;
        let items = newest.iter().map(|event| {
            let media = event.media_id.and_then(|id| media.get(&id)).map(|(media, _)| media);
            let there = participants.iter().filter(|(conversation, _)| *conversation == event.conversation.id);
            let others: Vec<UserId> = there.map(|(_, participant)| *participant).collect();
            let unread = stored::count_unread(tx, user, event.conversation.id)?;
            Ok(conversation_item(viewer, user, (event, media), (&names, &others), unread))
        });
        Ok((items.collect::<Result<Vec<_>, Fault>>()?, found.next))
    });
    let (conversations, next) = read.await?;
    let page = ConversationListPage {
        frame: visit.page_frame(&call),
        conversations,
        pager: build_pager(MESSAGES_PATH, cursor_of(&query).is_none(), next),
    };
    Ok(visit.render_page(&call, &page)?)
}

fn conversation_item(
    viewer: CardViewer,
    user: UserId,
    (newest, media): (&MessageEvent, Option<&Media>),
    (names, others): (&ShownNames, &[UserId]),
    unread: usize,
) -> ConversationItem {
    let other = others.first().filter(|_| newest.conversation.pair.is_some());
    let other = other.and_then(|other| names.users.get(other));
    ConversationItem {
        path: format!("{MESSAGES_PATH}/{}", newest.conversation),
        title: names.title(others),
        username: other.map(|other| other.username.clone()),
        avatar: other.map(|other| own_picture(&other.profile_image_url, viewer.site)).unwrap_or_default(),
        text: match names.describe(newest) {
            Some(text) => text,
            None if newest.text.is_empty() => describe_media(media).to_owned(),
            None => newest.text.clone(),
        },
        is_own: newest.sender_id == user && newest.kind == MessageEventKind::Message,
        unread,
        at: base::Id::<()>::new(newest.id).created_at(),
    }
}

/// In the order of joining.
fn list_others(tx: &mut Tx<'_>, user: UserId, conversation: i64) -> Result<Vec<UserId>, Fault> {
    let all = stored::list_participants(tx, conversation)?;
    Ok(all.into_iter().map(|(participant, _)| participant).filter(|participant| *participant != user).collect())
}

fn named_users(event: &MessageEvent) -> impl Iterator<Item = UserId> {
    event.participant_ids.iter().copied().chain([event.sender_id])
}

/// The people of a conversation whose accounts are available, as its reader sees them.
struct ShownNames {
    reader: UserId,
    users: HashMap<UserId, User>,
}

/// Names of other writing directions keep their place, in a page's title too.
fn join_isolated(names: &[String]) -> String {
    names.iter().map(|name| format!("\u{2068}{name}\u{2069}")).collect::<Vec<_>>().join(", ")
}

impl ShownNames {
    fn load(tx: &mut Tx<'_>, reader: UserId, ids: impl IntoIterator<Item = UserId>) -> Result<Self, Fault> {
        let ids: Vec<UserId> = sorted_distinct(ids);
        let found = users::find_by_ids(tx, &ids)?.into_iter();
        let found = found.filter(|user| profile_visibility(user) == Visibility::Visible);
        Ok(Self { reader, users: found.map(|user| (user.id, user)).collect() })
    }

    fn name(&self, id: UserId) -> String {
        match self.users.get(&id) {
            _ if id == self.reader => "You".to_owned(),
            Some(user) => user.name.clone(),
            None => "An unavailable account".to_owned(),
        }
    }

    fn title(&self, others: &[UserId]) -> String {
        let shown: Vec<String> = others.iter().take(MAX_TITLE_NAMES).map(|id| self.name(*id)).collect();
        let shown = if let [one] = &*shown { one.clone() } else { join_isolated(&shown) };
        match others.len().saturating_sub(MAX_TITLE_NAMES) {
            0 if shown.is_empty() => "A group without others".to_owned(),
            0 => shown,
            more => format!("{shown} and {more} more"),
        }
    }

    /// Who joined or left; none for a message.
    fn describe(&self, event: &MessageEvent) -> Option<String> {
        let others = event.participant_ids.iter().filter(|id| **id != event.sender_id);
        let others: Vec<String> =
            others.map(|id| if *id == self.reader { "you".to_owned() } else { self.name(*id) }).collect();
        let actor = self.name(event.sender_id);
        match event.kind {
            MessageEventKind::Message => None,
            MessageEventKind::Leave => Some(format!("{actor} left")),
            MessageEventKind::Join if others.is_empty() => Some(format!("{actor} joined")),
            MessageEventKind::Join => Some(format!("{actor} added {}", others.join(", "))),
        }
    }

    fn message_item(&self, event: &MessageEvent, media: &HashMap<MediaId, SubtitledMedia>) -> MessageItem {
        let notice = self.describe(event);
        let is_membership = notice.is_some();
        MessageItem {
            id: event.id.to_string(),
            name: self.name(event.sender_id),
            username: self.users.get(&event.sender_id).map(|user| user.username.clone()).unwrap_or_default(),
            text: match notice {
                Some(text) => vec![PostTextPart { text, url: None }],
                None => linked_parts(&event.text, &event.entities),
            },
            media: event.media_id.map(|id| build_message_media(event.id, media.get(&id))),
            is_own: event.sender_id == self.reader,
            at: base::Id::<()>::new(event.id).created_at(),
            is_membership,
        }
    }
}

struct LoadedConversation {
    title: String,
    /// Name and username.
    others: Vec<(String, String)>,
    messages: Vec<MessageItem>,
    /// What the next page begins below.
    next: Option<i64>,
    closed_because: Option<String>,
    /// The newest message of the page, if it is unread.
    newest_unread: Option<(DmConversation, i64)>,
}

pub(crate) async fn show(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = MemberVisit::from_call(&call).await?;
    let user = visit.person.user.id;
    match show_conversation(&call, &visit, user, MessageDraft::default()).await {
        Err(PageExit::Error(stop)) => found_or_exit(&call, &visit, Err(stop)),
        shown => shown,
    }
}

pub(crate) async fn show_conversation(
    call: &RequestContext,
    visit: &BrowserVisit,
    user: UserId,
    draft: MessageDraft,
) -> Result<HttpReply, PageExit> {
    let name = call.path_text("conversation")?.to_owned();
    let path = format!("{MESSAGES_PATH}/{name}");
    let query = PageQuery::from_call(call).unwrap_or_default();
    let range = range_before(&query);
    let found = call.read(move |tx| load_conversation(tx, user, &name, &range)).await?;
    let found = found.ok_or(Refusal::RouteNotFound)?;
    let mut frame = visit.page_frame(call);
    if let Some((conversation, newest)) = found.newest_unread {
        let write = call.write(move |tx| {
            messages::mark_read(tx, &conversation, user, Some(newest))?;
            Ok(count_unread(tx, user)?.conversations)
        });
        frame.unread_conversations = write.await?;
    }
    let (mut text, mut attachment) = draft.load_fields(call, user).await?;
    if found.closed_because.is_some() {
        // The page has no fields to link to.
        frame.failure = text.error.take().or(attachment.file.error.take());
    }
    let is_newest = cursor_of(&query).is_none();
    let newest = found.messages.last().map_or("0", |message| message.id.as_str());
    let page = MessageThreadPage {
        events: is_newest.then(|| format!("{path}/live?after={newest}")),
        frame,
        title: found.title,
        others: found.others,
        messages: found.messages,
        older: found.next.map(|oldest| format!("{path}?before={oldest}")),
        is_newest,
        path,
        compose: ComposeBox { text, form_id: new_form_id(call)?, help: String::new() },
        attachment,
        closed_because: found.closed_because,
    };
    let reply = visit.render_page(call, &page)?;
    Ok(if is_newest { allow_scripts(reply) } else { reply })
}

/// None unless the user is in the conversation.
fn load_conversation(
    tx: &mut Tx<'_>,
    user: UserId,
    name: &str,
    range: &PageRange,
) -> Result<Option<LoadedConversation>, Error> {
    let Some(target) = messages::find_conversation(tx, user, name)? else { return Ok(None) };
    let (others, conversation) = match target {
        ConversationTarget::Direct(other, conversation) => (vec![other], conversation),
        ConversationTarget::Group(group) => (list_others(tx, user, group.id)?, Some(group)),
    };
    let range = PageRange { limit: PAGE_SIZE + 1, ..*range };
    let mut ids = match conversation {
        Some(conversation) => stored::inbox_page(tx, user, Some(conversation.id), &MessageEventKind::ALL, &range)?,
        None => Vec::new(),
    };
    let next = cut_page(&mut ids, |id| *id);
    let mut events = stored::find_events(tx, &ids)?;
    events.sort_unstable_by_key(|event| event.id);
    let names = ShownNames::load(tx, user, others.iter().copied().chain(events.iter().flat_map(named_users)))?;
    let closed_because = match target {
        ConversationTarget::Direct(other, _) => match names.users.get(&other) {
            Some(other) if may_message(tx, user, other)? => None,
            Some(other) => Some(refuse_messages(&[&other.username])),
            None => Some("This account is not available.".to_owned()),
        },
        ConversationTarget::Group(_) => None,
    };
    let newest_unread = match conversation {
        Some(conversation) => find_newest_unread(tx, user, conversation, &events)?,
        None => None,
    };
    let media = load_media_of(tx, &events)?;
    let shown = others.iter().filter_map(|id| names.users.get(id));
    Ok(Some(LoadedConversation {
        title: names.title(&others),
        others: shown.map(|other| (other.name.clone(), other.username.clone())).collect(),
        messages: events.iter().map(|event| names.message_item(event, &media)).collect(),
        next,
        closed_because,
        newest_unread,
    }))
}

/// Among events that are oldest first. One's own messages need no mark.
fn find_newest_unread(
    tx: &mut Tx<'_>,
    user: UserId,
    conversation: DmConversation,
    events: &[MessageEvent],
) -> Result<Option<(DmConversation, i64)>, Fault> {
    let is_of_others = |event: &&MessageEvent| event.kind == MessageEventKind::Message && event.sender_id != user;
    let Some(newest) = events.iter().rev().find(is_of_others) else { return Ok(None) };
    let last_read = stored::find_last_read(tx, conversation.id, user)?;
    Ok((newest.id > last_read).then_some((conversation, newest.id)))
}
