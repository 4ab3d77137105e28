//! Builds the payload of a subscription, if it may receive it.

use std::collections::HashMap;

use base::{AppId, Fault, UserId};
use network::activity::{self as rules, ActivityEntry, ActivityEventKind, AffectedUser, EventAccess, EventPayloadKind};
use network::visibility::{Viewer, find_post_denial, is_public_post};
use network::{news, post_facts};
use query::{MatchMode, PostFeatures};
use serde_json::Value;
use store::activity::ActivitySubscription;
use store::{Tx, messages, news_stories, posts, users};
use view::{EventPayload, EventRenderer, LikeEvent};

use super::account_events::{message_event, read_event, typing_event};
use super::matching::parse_keyword;

/// Builds payloads for one log entry, rendering each at most once.
pub(super) struct PayloadBuilder<'e> {
    entry: &'e ActivityEntry<'e>,
    rendered: HashMap<PayloadKey, Option<EventPayload>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct PayloadKey {
    kind: &'static str,
    user: UserId,
    tweet_vocabulary: bool,
    both_metric_names: bool,
}

impl<'e> PayloadBuilder<'e> {
    pub(super) fn new(entry: &'e ActivityEntry<'e>) -> Self {
        Self { entry, rendered: HashMap::new() }
    }

    /// The post in the payload of an event kind.
    pub(super) fn shown_post_id(&self, kind: &ActivityEventKind) -> Option<base::PostId> {
        matches!(kind.payload, EventPayloadKind::Post | EventPayloadKind::Like).then(|| self.entry.post_id())
    }

    /// The payload for a subscription; `None` if it may not receive it or its keyword does not match.
    pub(super) fn build_payload(
        &mut self,
        tx: &mut Tx<'_>,
        subscription: &ActivitySubscription,
        concern: &AffectedUser,
        shared: EventRenderer,
    ) -> Result<Option<EventPayload>, Fault> {
        if !self.may_receive(tx, subscription, concern)? || !self.matches_keyword(tx, subscription, concern.kind)? {
            return Ok(None);
        }
        let key = PayloadKey {
            kind: concern.kind.name,
            user: concern.user,
            tweet_vocabulary: shared.options.vocabulary == base::Vocabulary::Tweet,
            both_metric_names: shared.options.both_metric_names,
        };
        if let Some(payload) = self.rendered.get(&key) {
            return Ok(payload.clone());
        }
        let payload = self.render_payload(tx, concern, shared)?;
        self.rendered.insert(key, payload.clone());
        Ok(payload)
    }

    /// Whether the app and user behind a subscription may see the subject of the entry.
    fn may_receive(
        &self,
        tx: &mut Tx<'_>,
        subscription: &ActivitySubscription,
        concern: &AffectedUser,
    ) -> Result<bool, Fault> {
        let kind = concern.kind;
        let reader = if kind.is_private() { Some(concern.user) } else { subscription.authorizing_user_id };
        match kind.payload {
            EventPayloadKind::Post | EventPayloadKind::Like => match reader {
                Some(reader) => self.can_see_post(tx, reader),
                None => Ok(true),
            },
            // Deletions of what was not public are not disclosed.
            EventPayloadKind::PostDeleted => is_public_post(tx, self.entry.post_id()),
            EventPayloadKind::Relationship if kind.access == EventAccess::Public => {
                Self::can_see_relation(tx, subscription.app_id, concern.user)
            }
            _ => Ok(true),
        }
    }

    fn can_see_post(&self, tx: &mut Tx<'_>, reader: UserId) -> Result<bool, Fault> {
        let Some(post) = posts::find_by_id(tx, self.entry.post_id())? else {
            return Ok(false);
        };
        if find_post_denial(tx, reader, &post)?.is_some() {
            return Ok(false);
        }
        let Some(original) = post.repost_of_id else {
            return Ok(true);
        };
        let original = posts::find_by_id(tx, original)?;
        Ok(match original {
            Some(original) => find_post_denial(tx, reader, &original)?.is_none(),
            None => false,
        })
    }

    /// Relations of a protected user are visible to apps the user has authorized.
    fn can_see_relation(tx: &mut Tx<'_>, app: AppId, user: UserId) -> Result<bool, Fault> {
        Ok(!is_protected(tx, user)? || rules::is_authorized(tx, app, user)?)
    }

    /// Whether the content of the event matches a keyword.
    fn matches_keyword(
        &self,
        tx: &mut Tx<'_>,
        subscription: &ActivitySubscription,
        kind: &ActivityEventKind,
    ) -> Result<bool, Fault> {
        if subscription.keyword.is_empty() {
            return Ok(true);
        }
        let Some(query) = parse_keyword(&subscription.keyword) else {
            return Ok(false);
        };
        let matches =
            |post: &query::QueryablePost<'_>| query::matches(&query, &PostFeatures::new(post, MatchMode::Stream));
        let text = match kind.payload {
            EventPayloadKind::Post | EventPayloadKind::Like => {
                let found = post_facts::load_post_facts(tx, &[self.entry.post_id()], false)?;
                return Ok(found.first().is_some_and(|post| post.map_query_post(matches)));
            }
            EventPayloadKind::Change => self.entry.text_field("after").to_owned(),
            EventPayloadKind::Message => {
                let message = messages::find_event(tx, self.entry.event.subject_id)?;
                message.map(|message| message.text).unwrap_or_default()
            }
            _ => return Ok(false),
        };
        Ok(matches(&query::QueryablePost { text: &text, ..query::QueryablePost::default() }))
    }

    fn render_payload(
        &self,
        tx: &mut Tx<'_>,
        concern: &AffectedUser,
        shared: EventRenderer,
    ) -> Result<Option<EventPayload>, Fault> {
        let entry = self.entry;
        match concern.kind.payload {
            EventPayloadKind::Post => shared.render_post(tx, entry.post_id()),
            EventPayloadKind::PostDeleted => Ok(Some(shared.render_deleted_post(entry.post_id(), entry.actor()))),
            EventPayloadKind::Like => match like_from_entry(entry) {
                Some(like) => shared.render_like(tx, like),
                None => Ok(None),
            },
            EventPayloadKind::Relationship => {
                let target = UserId::new(entry.event.subject_id);
                shared.render_relation(tx, entry.actor(), target)
            }
            EventPayloadKind::Change => {
                let payload = shared.render_change(entry.text_field("before"), entry.text_field("after"));
                Ok(Some(payload))
            }
            EventPayloadKind::Message => render_message(tx, entry, concern, shared),
            EventPayloadKind::Read => {
                let event = read_event(entry, concern.user);
                render_message_signal(tx, "direct_message_mark_read_events", &event, concern, entry, shared)
            }
            EventPayloadKind::Typing => {
                let event = typing_event(entry, concern.user);
                let name = "direct_message_indicate_typing_events";
                render_message_signal(tx, name, &event, concern, entry, shared)
            }
            EventPayloadKind::Space => {
                let (space, kind) = (entry.event.subject_id, concern.kind.name);
                shared.render_space(tx, concern.user, space, kind)
            }
            EventPayloadKind::Story | EventPayloadKind::Revoke | EventPayloadKind::Nothing => Ok(None),
        }
    }
}

fn is_protected(tx: &mut Tx<'_>, user: UserId) -> Result<bool, Fault> {
    Ok(users::find_by_id(tx, user)?.is_none_or(|user| user.protected))
}

pub(super) fn like_from_entry(entry: &ActivityEntry<'_>) -> Option<LikeEvent> {
    Some(LikeEvent {
        id: entry.number_field("id")?,
        user: entry.actor(),
        post: entry.post_id(),
        author: UserId::new(entry.number_field("author_id")?),
        at: entry.event.at,
    })
}

/// The current version of the story.
pub(super) fn load_story(
    tx: &mut Tx<'_>,
    entry: &ActivityEntry<'_>,
) -> Result<Option<news_stories::NewsStoryDetails>, Fault> {
    news::find_published(tx, Viewer::anonymous(), entry.event.subject_id)
}

/// The other participant of a message, from the view of the sender or a recipient.
pub(super) fn message_recipient(entry: &ActivityEntry<'_>, user: UserId) -> UserId {
    if user == entry.actor() {
        let recipients = entry.user_list("recipient_ids");
        return recipients.first().copied().unwrap_or(user);
    }
    user
}

fn render_message(
    tx: &mut Tx<'_>,
    entry: &ActivityEntry<'_>,
    concern: &AffectedUser,
    shared: EventRenderer,
) -> Result<Option<EventPayload>, Fault> {
    // None once the user has deleted their copy, or left the group.
    let Some(mut message) = network::messages::find_event(tx, concern.user, entry.event.subject_id)? else {
        return Ok(None);
    };
    view::shorten_message_links(&mut message, shared.site);
    let recipient = message_recipient(entry, concern.user);
    let event = message_event(tx, &message, recipient, shared.site)?;
    let people = [message.sender_id, recipient];
    let payload = shared.render_message(tx, "direct_message_events", &event, &people)?;
    Ok(Some(payload))
}

fn render_message_signal(
    tx: &mut Tx<'_>,
    name: &'static str,
    event: &Value,
    concern: &AffectedUser,
    entry: &ActivityEntry<'_>,
    shared: EventRenderer,
) -> Result<Option<EventPayload>, Fault> {
    let people = [entry.actor(), concern.user];
    shared.render_message(tx, name, event, &people).map(Some)
}
