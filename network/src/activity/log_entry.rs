//! The users affected by a log entry, derived from the entry alone.

use base::{PostId, UserId};
use serde_json::Value;
use store::activity::ActivityDirection;
use store::event_log::LogEvent;

use super::event_kinds::{ActivityEventKind, EventParticipant, event_kinds_for_log_kind};

pub struct ActivityEntry<'e> {
    pub event: &'e LogEvent,
    body: Value,
}

#[derive(Clone, Copy, Debug)]
pub struct AffectedUser {
    pub kind: &'static ActivityEventKind,
    pub user: UserId,
    pub direction: ActivityDirection,
}

impl<'e> ActivityEntry<'e> {
    /// `None` if no event kind derives from the entry.
    pub fn parse(event: &'e LogEvent) -> Option<Self> {
        event_kinds_for_log_kind(&event.kind).next()?;
        let body =
            if event.body.is_empty() { Value::Null } else { serde_json::from_str(&event.body).unwrap_or_default() };
        Some(Self { event, body })
    }

    pub const fn actor(&self) -> UserId {
        UserId::new(self.event.actor_id)
    }

    /// The post the entry is about.
    pub const fn post_id(&self) -> PostId {
        PostId::new(self.event.subject_id)
    }

    /// Empty if the member is missing.
    pub fn text_field(&self, name: &str) -> &str {
        let text = self.body.get(name).and_then(Value::as_str);
        text.unwrap_or_default()
    }

    /// A post that is only shown as an advertisement.
    pub fn is_nullcast(&self) -> bool {
        self.body.get("nullcast").and_then(Value::as_bool).unwrap_or(false)
    }

    pub fn number_field(&self, name: &str) -> Option<i64> {
        self.text_field(name).parse().ok()
    }

    pub fn number_list(&self, name: &str) -> Vec<i64> {
        let one = self.number_field(name).into_iter();
        let many = self.body.get(name).and_then(Value::as_array);
        let many = many.into_iter().flatten();
        one.chain(many.filter_map(|id| id.as_str()?.parse().ok())).collect()
    }

    pub fn user_list(&self, name: &str) -> Vec<UserId> {
        self.number_list(name).into_iter().map(UserId::new).collect()
    }

    fn resolve_users(&self, whom: EventParticipant) -> Vec<UserId> {
        match whom {
            EventParticipant::Actor => vec![self.actor()],
            EventParticipant::Subject => vec![UserId::new(self.event.subject_id)],
            EventParticipant::Author => self.user_list("author_id"),
            EventParticipant::Named(name) => {
                let mut users = self.user_list(name);
                users.retain(|user| *user != self.actor());
                users
            }
        }
    }

    /// Every event kind that derives from the entry, with the affected users.
    pub fn affected_users(&self) -> Vec<AffectedUser> {
        let mut all = Vec::new();
        for kind in event_kinds_for_log_kind(&self.event.kind) {
            for (whom, direction) in kind.concerned_users {
                let users = self.resolve_users(*whom).into_iter();
                all.extend(users.map(|user| AffectedUser { kind, user, direction: *direction }));
            }
        }
        all
    }
}
