//! The conversations of a user, by what happened in them last.

use std::collections::HashSet;

use base::{Fault, UserId};
use store::Tx;
use store::messages::{self, MessageEvent, MessageEventKind};
use store::posts::PageRange;

const CHUNK: i64 = 200;
/// Chunks of events that are read for a page.
const MAX_CHUNKS: usize = 10;

#[derive(Clone, Debug, Default)]
pub struct RecentConversations {
    /// The newest event of each conversation of which the user has a copy, newest first.
    pub newest_events: Vec<MessageEvent>,
    /// What the next page begins below; none on the last page.
    pub next: Option<i64>,
}

/// Conversations whose newest event is below an id. There can be fewer than `limit` before the last page, since at most
/// 2,000 events are read.
pub fn list_conversations(
    tx: &mut Tx<'_>,
    user: UserId,
    below: i64,
    limit: usize,
) -> Result<RecentConversations, Fault> {
    let mut seen: HashSet<i64> = HashSet::new();
    let mut newest: Vec<i64> = Vec::new();
    let mut next = Some(below);
    for _ in 0..MAX_CHUNKS {
        let range = PageRange { below: next.unwrap_or(below), ..PageRange::newest(CHUNK) };
        let copies = messages::inbox_with_conversations(tx, user, &range)?;
        for (event, conversation) in &copies {
            // A conversation with a newer event is on an earlier page.
            if !seen.insert(*conversation) || find_newest_event(tx, user, *conversation)? != Some(*event) {
                continue;
            }
            if newest.len() >= limit {
                let next = newest.last().copied();
                return Ok(RecentConversations { newest_events: load_events(tx, &newest)?, next });
            }
            newest.push(*event);
        }
        let is_full = i64::try_from(copies.len()).is_ok_and(|count| count == CHUNK);
        next = copies.last().map(|(event, _)| *event).filter(|_| is_full);
        if next.is_none() {
            break;
        }
    }
    Ok(RecentConversations { newest_events: load_events(tx, &newest)?, next })
}

fn find_newest_event(tx: &mut Tx<'_>, user: UserId, conversation: i64) -> Result<Option<i64>, Fault> {
    let range = PageRange::newest(1);
    let found = messages::inbox_page(tx, user, Some(conversation), &MessageEventKind::ALL, &range)?;
    Ok(found.first().copied())
}

fn load_events(tx: &mut Tx<'_>, ids: &[i64]) -> Result<Vec<MessageEvent>, Fault> {
    let mut events = messages::find_events(tx, ids)?;
    events.sort_unstable_by_key(|event| std::cmp::Reverse(event.id));
    Ok(events)
}
