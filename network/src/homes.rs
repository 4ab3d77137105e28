//! Home timelines: for each reader the newest posts of everyone they follow and do not mute.
//!
//! The list of ids is worked out once by merging the followed authors' own timelines, and then
//! kept up to date by looking only at what was posted since. It is checked against the reader's
//! follows at every use, in the same transaction, so it is never wrong, only sometimes cold.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};
use std::sync::Arc;

use base::id::first_at;
use base::{Fault, PostId, UserId};
use moka::sync::Cache;
use parking_lot::Mutex;
use store::posts::{self, Span};
use store::users::{self, User};
use store::{Tx, follows, graph};

/// How far back a home timeline reaches (contract §13, row 18).
const REACH: usize = 3200;
/// What is merged at first; most readers never go further.
const SHALLOW: usize = 400;
/// Posts since the last visit up to which catching up is cheaper than merging.
const CATCH_UP: i64 = 20_000;
/// On a database server a post may appear below one that is there already, as long as its
/// transaction was open; none is open for longer.
const OVERLAP_MS: i64 = 60_000;
/// Ids in memory at most, over all readers.
const MEMORY: u64 = 4_000_000;

/// The home timelines of the readers who came lately.
pub struct Homes {
    homes: Cache<UserId, Arc<Mutex<Home>>>,
}

impl Default for Homes {
    fn default() -> Self {
        let weigh = |_: &UserId, _: &Arc<Mutex<Home>>| u32::try_from(REACH).unwrap_or(u32::MAX);
        Self {
            homes: Cache::builder().max_capacity(MEMORY).weigher(weigh).build(),
        }
    }
}

struct Home {
    /// The reader's version of their follows and mutes that this was worked out for.
    version: Option<i64>,
    /// Whose posts belong here: whom the reader follows and does not mute, and the reader.
    followed: HashSet<UserId>,
    /// Newest first.
    ids: Vec<PostId>,
    /// Nothing older is left to be merged.
    complete: bool,
    depth: usize,
    /// Everything up to this post has been looked at.
    seen: PostId,
}

impl Default for Home {
    fn default() -> Self {
        Self {
            version: None,
            followed: HashSet::new(),
            ids: Vec::new(),
            complete: false,
            depth: 0,
            seen: PostId::new(0),
        }
    }
}

impl Homes {
    /// Ids of a reader's home timeline within a span, newest first, at most `span.limit`; posts
    /// that have since been deleted may be among them. The second value says whether the list
    /// goes on beyond them.
    pub fn page(
        &self,
        tx: &mut Tx<'_>,
        reader: &User,
        span: &Span,
    ) -> Result<(Vec<PostId>, bool), Fault> {
        let home = self.homes.get_with(reader.id, Arc::default);
        let mut home = home.lock();
        home.refresh(tx, reader)?;
        loop {
            let (page, more) = home.cut(span);
            if more || home.complete || home.depth >= REACH {
                return Ok((page, more));
            }
            let depth = (home.depth * 4).min(REACH);
            home.merge(tx, reader, depth)?;
        }
    }
}

impl Home {
    fn refresh(&mut self, tx: &mut Tx<'_>, reader: &User) -> Result<(), Fault> {
        if self.version != Some(reader.following_version) {
            self.followed = follows::targets(tx, reader.id)?.into_iter().collect();
            for muted in graph::all_muted(tx, reader.id)? {
                self.followed.remove(&muted);
            }
            self.followed.insert(reader.id);
            self.version = Some(reader.following_version);
            return self.merge(tx, reader, SHALLOW);
        }
        let overlap = first_at(self.seen.created_at().plus_ms(-OVERLAP_MS));
        let above = if tx.is_shared() {
            PostId::new(overlap)
        } else {
            self.seen
        };
        let recent = posts::recent(tx, above, CATCH_UP)?;
        if i64::try_from(recent.len()).unwrap_or(i64::MAX) >= CATCH_UP {
            return self.merge(tx, reader, self.depth);
        }
        let Some((newest, _)) = recent.first() else {
            return Ok(());
        };
        self.seen = self.seen.max(*newest);
        let mut new: Vec<PostId> = recent
            .iter()
            .filter(|(_, author)| self.followed.contains(author))
            .map(|(id, _)| *id)
            .collect();
        if tx.is_shared() {
            new.retain(|id| {
                self.ids
                    .binary_search_by_key(&Reverse(*id), |id| Reverse(*id))
                    .is_err()
            });
            new.append(&mut self.ids);
            new.sort_unstable_by_key(|id| Reverse(*id));
            self.ids = new;
        } else {
            new.append(&mut self.ids);
            self.ids = new;
        }
        self.ids.truncate(REACH);
        Ok(())
    }

    /// Merges the newest `depth` posts of everyone followed. One look at an author costs the
    /// same however much they wrote.
    fn merge(&mut self, tx: &mut Tx<'_>, reader: &User, depth: usize) -> Result<(), Fault> {
        self.seen = posts::highest(tx)?;
        let followed: Vec<UserId> = self.followed.iter().copied().collect();
        let newest = users::most_recent_posts(tx, &followed)?;
        let mut next: BinaryHeap<(PostId, UserId)> = newest.into_iter().collect();
        let mut ids = Vec::with_capacity(depth);
        while let Some((id, author)) = next.pop() {
            ids.push(id);
            if ids.len() >= depth {
                break;
            }
            if let Some(older) = posts::ids_of_author(tx, author, id.get(), 1)?.first() {
                next.push((*older, author));
            }
        }
        self.complete = ids.len() < depth;
        self.ids = ids;
        self.depth = depth;
        self.version = Some(reader.following_version);
        Ok(())
    }

    /// The ids of a span, and whether there are more of it in this list.
    fn cut(&self, span: &Span) -> (Vec<PostId>, bool) {
        let limit = usize::try_from(span.limit).unwrap_or(0);
        let inside = |id: &&PostId| id.get() > span.above && id.get() < span.below;
        let within = || self.ids.iter().filter(inside).copied();
        if span.rising {
            let mut page: Vec<PostId> = self
                .ids
                .iter()
                .rev()
                .filter(inside)
                .copied()
                .take(limit)
                .collect();
            page.reverse();
            let more = within().count() > page.len();
            return (page, more);
        }
        let page: Vec<PostId> = within().take(limit).collect();
        let more = within().nth(limit).is_some();
        (page, more)
    }
}
