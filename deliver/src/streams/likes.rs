//! Like streams: all likes or a sample (contract core §9.4).

use base::{PostId, UserId};
use serde_json::Value;
use store::event_log::LogEvent;
use view::LikeEvent;

use super::{StreamEndpoint, StreamSession};
use base::id::mix_id;

impl StreamEndpoint {
    /// The percentage of all likes and the number of partitions; `None` for streams that do not carry likes.
    const fn like_share(self) -> Option<(u64, u64)> {
        match self {
            Self::LikesFirehose => Some((100, 20)),
            Self::LikesSample10 => Some((10, 2)),
            _ => None,
        }
    }

    pub const fn carries_likes(self) -> bool {
        self.like_share().is_some()
    }
}

pub(super) fn like_from_event(event: &LogEvent) -> Option<LikeEvent> {
    if event.kind != "like.create" {
        return None;
    }
    let body: Value = serde_json::from_str(&event.body).ok()?;
    let number = |name: &str| body.get(name)?.as_str()?.parse().ok();
    Some(LikeEvent {
        id: number("id")?,
        user: UserId::new(event.actor_id),
        post: PostId::new(event.subject_id),
        author: UserId::new(number("author_id")?),
        at: event.at,
    })
}

pub(super) fn carries_like(session: &StreamSession, like: &LikeEvent) -> bool {
    let mixed = mix_id(like.id);
    session.endpoint().like_share().is_some_and(|(percent, parts)| {
        mixed % 100 < percent && mixed / 100 % parts + 1 == u64::from(session.partition())
    })
}
