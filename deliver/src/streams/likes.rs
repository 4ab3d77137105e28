//! Likes as they are given, or a share of them (contract §9.4).

use base::{PostId, UserId};
use serde_json::Value;
use store::event_log::LogEvent;
use view::LikeShown;

use super::share::mix;
use super::{Endpoint, Session};

impl Endpoint {
    /// Hundredths of all likes that it carries, and in how many parts; none for one that does not
    /// carry likes.
    const fn likes(self) -> Option<(u64, u64)> {
        match self {
            Self::LikesFirehose => Some((100, 20)),
            Self::LikesSample10 => Some((10, 2)),
            _ => None,
        }
    }

    /// Whether what it carries are likes.
    pub const fn is_of_likes(self) -> bool {
        self.likes().is_some()
    }
}

/// The like that an entry of the log tells of, if it does.
pub(super) fn of(event: &LogEvent) -> Option<LikeShown> {
    if event.kind != "like.create" {
        return None;
    }
    let body: Value = serde_json::from_str(&event.body).ok()?;
    let number = |name: &str| body.get(name)?.as_str()?.parse().ok();
    Some(LikeShown {
        id: number("id")?,
        user: UserId::new(event.actor_id),
        post: PostId::new(event.subject_id),
        author: UserId::new(number("author_id")?),
        at: event.at,
    })
}

/// Whether a session's stream carries a like.
pub(super) fn takes(session: &Session, like: &LikeShown) -> bool {
    let mixed = mix(like.id);
    session.endpoint().likes().is_some_and(|(percent, parts)| {
        mixed % 100 < percent && mixed / 100 % parts + 1 == u64::from(session.partition())
    })
}
