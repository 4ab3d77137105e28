//! What a subscription is told of an entry, where it may be told.

use std::collections::HashMap;

use base::{AppId, Fault, UserId};
use network::activity::{self as rules, ActivityEventKind, EventAccess, EventPayloadKind};
use network::visibility::{Viewer, find_post_denial};
use network::{news, post_facts};
use query::{MatchMode, PostFeatures};
use serde_json::Value;
use store::activity::ActivitySubscription;
use store::{Tx, messages, news_stories, posts, users};
use view::{LikeShown, Shared, Told};

use super::account::{message_event, read_event, typing_event};
use super::concern::{Concern, Entry};
use super::matching::parsed;

/// Tells of one entry, each thing worked out once.
pub(super) struct Teller<'e> {
    entry: &'e Entry<'e>,
    told: HashMap<Telling, Option<Told>>,
}

/// What is told, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Telling {
    kind: &'static str,
    user: UserId,
    older_words: bool,
    both_counts: bool,
}

impl<'e> Teller<'e> {
    pub(super) fn new(entry: &'e Entry<'e>) -> Self {
        Self {
            entry,
            told: HashMap::new(),
        }
    }

    /// The post that a kind shows.
    pub(super) fn shown(&self, kind: &ActivityEventKind) -> Option<base::PostId> {
        matches!(
            kind.payload,
            EventPayloadKind::Post | EventPayloadKind::Like
        )
        .then(|| self.entry.post())
    }

    /// What a subscription is told; nothing where it may not be, or where its keyword is not met.
    pub(super) fn tell(
        &mut self,
        tx: &mut Tx<'_>,
        one: &ActivitySubscription,
        concern: &Concern,
        shared: Shared,
    ) -> Result<Option<Told>, Fault> {
        if !self.may(tx, one, concern)? || !self.says(tx, one, concern.kind)? {
            return Ok(None);
        }
        let telling = Telling {
            kind: concern.kind.name,
            user: concern.user,
            older_words: shared.spoken.speech == base::Vocabulary::Tweet,
            both_counts: shared.spoken.both_metrics,
        };
        if let Some(told) = self.told.get(&telling) {
            return Ok(told.clone());
        }
        let told = self.payload(tx, concern, shared)?;
        self.told.insert(telling, told.clone());
        Ok(told)
    }

    /// Whether those who stand behind a subscription may see what the entry is about.
    fn may(
        &self,
        tx: &mut Tx<'_>,
        one: &ActivitySubscription,
        concern: &Concern,
    ) -> Result<bool, Fault> {
        let kind = concern.kind;
        let reader = if kind.is_private() {
            Some(concern.user)
        } else {
            one.authorizing_user_id
        };
        match kind.payload {
            EventPayloadKind::Post | EventPayloadKind::Like => match reader {
                Some(reader) => self.sees_post(tx, reader),
                None => Ok(true),
            },
            // Of what only followers may see, others are told nothing, not even that it goes.
            EventPayloadKind::PostDeleted => Ok(!is_protected(tx, concern.user)?),
            EventPayloadKind::Relationship if kind.access == EventAccess::Public => {
                Self::may_see_tie(tx, one.app_id, concern.user)
            }
            _ => Ok(true),
        }
    }

    fn sees_post(&self, tx: &mut Tx<'_>, reader: UserId) -> Result<bool, Fault> {
        let Some(post) = posts::find_by_id(tx, self.entry.post())? else {
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

    /// Whom a protected user follows, and who follows them, is for apps that they let see it.
    fn may_see_tie(tx: &mut Tx<'_>, app: AppId, user: UserId) -> Result<bool, Fault> {
        Ok(!is_protected(tx, user)? || rules::is_authorized(tx, app, user)?)
    }

    /// Whether what happened says what a keyword asks for.
    fn says(
        &self,
        tx: &mut Tx<'_>,
        one: &ActivitySubscription,
        kind: &ActivityEventKind,
    ) -> Result<bool, Fault> {
        if one.keyword.is_empty() {
            return Ok(true);
        }
        let Some(query) = parsed(&one.keyword) else {
            return Ok(false);
        };
        let matches = |post: &query::QueryablePost<'_>| {
            query::matches(&query, &PostFeatures::new(post, MatchMode::Stream))
        };
        let text = match kind.payload {
            EventPayloadKind::Post | EventPayloadKind::Like => {
                let found = post_facts::load_post_facts(tx, &[self.entry.post()], false)?;
                return Ok(found
                    .first()
                    .is_some_and(|post| post.map_query_post(matches)));
            }
            EventPayloadKind::Change => self.entry.text("after").to_owned(),
            EventPayloadKind::Message => {
                let message = messages::find_event(tx, self.entry.event.subject_id)?;
                message.map(|message| message.text).unwrap_or_default()
            }
            _ => return Ok(false),
        };
        Ok(matches(&query::QueryablePost {
            text: &text,
            ..query::QueryablePost::default()
        }))
    }

    fn payload(
        &self,
        tx: &mut Tx<'_>,
        concern: &Concern,
        shared: Shared,
    ) -> Result<Option<Told>, Fault> {
        let entry = self.entry;
        match concern.kind.payload {
            EventPayloadKind::Post => shared.post(tx, entry.post()),
            EventPayloadKind::PostDeleted => {
                Ok(Some(shared.post_gone(entry.post(), entry.actor())))
            }
            EventPayloadKind::Like => match like(entry) {
                Some(like) => shared.like(tx, like),
                None => Ok(None),
            },
            EventPayloadKind::Relationship => {
                let target = UserId::new(entry.event.subject_id);
                shared.tie(tx, entry.actor(), target)
            }
            EventPayloadKind::Change => {
                let told = shared.change(entry.text("before"), entry.text("after"));
                Ok(Some(told))
            }
            EventPayloadKind::Message => message(tx, entry, concern, shared),
            EventPayloadKind::Read => {
                let event = read_event(entry, concern.user);
                signal(
                    tx,
                    "direct_message_mark_read_events",
                    &event,
                    concern,
                    entry,
                    shared,
                )
            }
            EventPayloadKind::Typing => {
                let event = typing_event(entry, concern.user);
                let name = "direct_message_indicate_typing_events";
                signal(tx, name, &event, concern, entry, shared)
            }
            EventPayloadKind::Space => {
                let (space, kind) = (entry.event.subject_id, concern.kind.name);
                shared.space(tx, concern.user, space, kind)
            }
            EventPayloadKind::Story | EventPayloadKind::Revoke | EventPayloadKind::Nothing => {
                Ok(None)
            }
        }
    }
}

fn is_protected(tx: &mut Tx<'_>, user: UserId) -> Result<bool, Fault> {
    Ok(users::find_by_id(tx, user)?.is_none_or(|user| user.protected))
}

/// The like of an entry.
pub(super) fn like(entry: &Entry<'_>) -> Option<LikeShown> {
    Some(LikeShown {
        id: entry.number("id")?,
        user: entry.actor(),
        post: entry.post(),
        author: UserId::new(entry.number("author_id")?),
        at: entry.event.at,
    })
}

/// The story of an entry, as it is told now.
pub(super) fn story(
    tx: &mut Tx<'_>,
    entry: &Entry<'_>,
) -> Result<Option<news_stories::NewsStoryDetails>, Fault> {
    news::find_published(tx, Viewer::anonymous(), entry.event.subject_id)
}

/// Whom a message of an entry went to, as its sender or one who received it sees it.
pub(super) fn addressee(entry: &Entry<'_>, user: UserId) -> UserId {
    if user == entry.actor() {
        let recipients = entry.users("recipient_ids");
        return recipients.first().copied().unwrap_or(user);
    }
    user
}

fn message(
    tx: &mut Tx<'_>,
    entry: &Entry<'_>,
    concern: &Concern,
    shared: Shared,
) -> Result<Option<Told>, Fault> {
    let Some(message) = messages::find_event(tx, entry.event.subject_id)? else {
        return Ok(None);
    };
    let to = addressee(entry, concern.user);
    let event = message_event(&message, to);
    let people = [message.sender_id, to];
    let told = shared.message(tx, "direct_message_events", &event, &people)?;
    Ok(Some(told))
}

fn signal(
    tx: &mut Tx<'_>,
    name: &'static str,
    event: &Value,
    concern: &Concern,
    entry: &Entry<'_>,
    shared: Shared,
) -> Result<Option<Told>, Fault> {
    let people = [entry.actor(), concern.user];
    shared.message(tx, name, event, &people).map(Some)
}
