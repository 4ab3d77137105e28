//! Cached timelines of many authors: home timelines and list timelines.
//!
//! Post ids are computed once by merging the authors' timelines, then extended by new posts only. Every use compares
//! the version of the reader's follows and mutes, or of the list's members, in the same transaction, so results are
//! never stale.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::sync::Arc;

use base::id::first_snowflake_at;
use base::{Fault, PostId, UserId};
use moka::sync::Cache;
use parking_lot::Mutex;
use store::lists::{self, List};
use store::posts::{self, PageRange};
use store::users::{self, User};
use store::{Tx, follows, graph};

/// Maximum length of a home timeline (contract core §13.18).
const HOME_LENGTH: usize = 3200;
/// Maximum length of a list timeline (contract core §7.8).
const LIST_LENGTH: usize = 800;
/// Posts merged at first; most readers never need more.
const INITIAL_DEPTH: usize = 400;
/// If there are more new posts, merging is cheaper than catching up.
const MAX_CATCH_UP_POSTS: i64 = 20_000;
/// On PostgreSQL a post may become visible after posts with higher ids, while its transaction is open; no transaction
/// is open for longer than this.
const OVERLAP_MS: i64 = 60_000;
/// On PostgreSQL, up to this many authors are queried for new posts; otherwise everyone's new posts are read.
const MAX_AUTHORS_BY_QUERY: usize = 500;
/// Maximum number of an author's ids per query.
const MAX_AUTHOR_BATCH: i64 = 64;
/// Maximum number of ids in memory, over all timelines.
const CACHE_CAPACITY: u64 = 4_000_000;

pub struct HomeTimelines {
    timelines: Cache<TimelineCacheKey, Arc<Mutex<CachedTimeline>>>,
}

impl Default for HomeTimelines {
    fn default() -> Self {
        let weigh = |key: &TimelineCacheKey, _: &Arc<Mutex<CachedTimeline>>| {
            u32::try_from(key.max_length()).unwrap_or(u32::MAX)
        };
        Self { timelines: Cache::builder().max_capacity(CACHE_CAPACITY).weigher(weigh).build() }
    }
}

#[derive(Clone, Copy, Debug)]
pub enum TimelineSource<'a> {
    /// Those whom a user follows and has not muted, and the user.
    Reader(&'a User),
    /// The members of a list.
    List(&'a List),
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum TimelineCacheKey {
    Reader(UserId),
    List(i64),
}

impl TimelineCacheKey {
    const fn max_length(self) -> usize {
        match self {
            Self::Reader(_) => HOME_LENGTH,
            Self::List(_) => LIST_LENGTH,
        }
    }
}

impl TimelineSource<'_> {
    const fn cache_key(self) -> TimelineCacheKey {
        match self {
            Self::Reader(user) => TimelineCacheKey::Reader(user.id),
            Self::List(list) => TimelineCacheKey::List(list.id),
        }
    }

    /// Changes with every change of the authors.
    const fn version(self) -> i64 {
        match self {
            Self::Reader(user) => user.following_version,
            Self::List(list) => list.member_version,
        }
    }

    fn load_authors(self, tx: &mut Tx<'_>) -> Result<HashSet<UserId>, Fault> {
        match self {
            Self::Reader(user) => {
                let mut authors: HashSet<_> = follows::list_followed(tx, user.id)?.into_iter().collect();
                for muted in graph::list_muted(tx, user.id)? {
                    authors.remove(&muted);
                }
                authors.insert(user.id);
                Ok(authors)
            }
            Self::List(list) => Ok(lists::list_member_ids(tx, list.id)?.into_iter().collect()),
        }
    }
}

struct CachedTimeline {
    /// The version of the authors that `ids` were computed for.
    version: Option<i64>,
    authors: HashSet<UserId>,
    /// Newest first.
    ids: Vec<PostId>,
    /// No older posts are left to merge.
    complete: bool,
    depth: usize,
    /// All posts up to this one have been considered.
    newest_seen: PostId,
}

impl Default for CachedTimeline {
    fn default() -> Self {
        Self {
            version: None,
            authors: HashSet::new(),
            ids: Vec::new(),
            complete: false,
            depth: 0,
            newest_seen: PostId::new(0),
        }
    }
}

impl HomeTimelines {
    /// Ids within a range, newest first, at most `range.limit`; posts deleted since may be among them. The second
    /// value says whether there are more.
    pub fn page(
        &self,
        tx: &mut Tx<'_>,
        source: TimelineSource<'_>,
        range: &PageRange,
    ) -> Result<(Vec<PostId>, bool), Fault> {
        let max_length = source.cache_key().max_length();
        let timeline = self.timelines.get_with(source.cache_key(), Arc::default);
        let mut timeline = timeline.lock();
        timeline.refresh(tx, source)?;
        loop {
            let (page, more) = timeline.slice_page(range);
            if more || timeline.complete || timeline.depth >= max_length {
                return Ok((page, more));
            }
            let depth = (timeline.depth * 4).min(max_length);
            timeline.merge_newest(tx, source, depth)?;
        }
    }
}

impl CachedTimeline {
    fn refresh(&mut self, tx: &mut Tx<'_>, source: TimelineSource<'_>) -> Result<(), Fault> {
        if self.version != Some(source.version()) {
            self.authors = source.load_authors(tx)?;
            self.version = Some(source.version());
            return self.merge_newest(tx, source, INITIAL_DEPTH);
        }
        let overlap = first_snowflake_at(self.newest_seen.created_at().plus_ms(-OVERLAP_MS));
        let above = if tx.is_shared() { PostId::new(overlap) } else { self.newest_seen };
        let recent = if tx.is_shared() && self.authors.len() <= MAX_AUTHORS_BY_QUERY {
            let authors: Vec<UserId> = self.authors.iter().copied().collect();
            posts::list_recent_by_authors(tx, &authors, above, MAX_CATCH_UP_POSTS)?
        } else {
            posts::list_recent(tx, above, MAX_CATCH_UP_POSTS)?
        };
        if i64::try_from(recent.len()).unwrap_or(i64::MAX) >= MAX_CATCH_UP_POSTS {
            return self.merge_newest(tx, source, self.depth);
        }
        let Some(newest) = recent.iter().map(|(id, _)| *id).max() else {
            return Ok(());
        };
        self.newest_seen = limit_to_now(tx, self.newest_seen.max(newest));
        let mut new: Vec<PostId> =
            recent.iter().filter(|(_, author)| self.authors.contains(author)).map(|(id, _)| *id).collect();
        if tx.is_shared() {
            new.retain(|id| self.ids.binary_search_by_key(&Reverse(*id), |id| Reverse(*id)).is_err());
            new.append(&mut self.ids);
            new.sort_unstable_by_key(|id| Reverse(*id));
            self.ids = new;
        } else {
            new.append(&mut self.ids);
            self.ids = new;
        }
        self.ids.truncate(source.cache_key().max_length());
        Ok(())
    }

    /// Merges the newest `depth` posts of all authors. The cost per author does not depend on how much they wrote.
    fn merge_newest(&mut self, tx: &mut Tx<'_>, source: TimelineSource<'_>, depth: usize) -> Result<(), Fault> {
        let highest = posts::highest_id(tx)?;
        self.newest_seen = limit_to_now(tx, highest);
        let authors: Vec<UserId> = self.authors.iter().copied().collect();
        let newest = users::most_recent_posts(tx, &authors)?;
        let mut next: BinaryHeap<(PostId, UserId)> = newest.into_iter().collect();
        let mut backlogs: HashMap<UserId, AuthorBacklog> = HashMap::new();
        let mut ids = Vec::with_capacity(depth);
        while let Some((id, author)) = next.pop() {
            ids.push(id);
            if ids.len() >= depth {
                break;
            }
            let backlog = backlogs.entry(author).or_default();
            if let Some(older) = backlog.pop_older(tx, author, id)? {
                next.push((older, author));
            }
        }
        self.complete = ids.len() < depth;
        self.ids = ids;
        self.depth = depth;
        self.version = Some(source.version());
        Ok(())
    }

    /// The ids of a range, and whether there are more of it in `ids`.
    fn slice_page(&self, range: &PageRange) -> (Vec<PostId>, bool) {
        let limit = usize::try_from(range.limit).unwrap_or(0);
        let inside = |id: &&PostId| id.get() > range.above && id.get() < range.below;
        let within = || self.ids.iter().filter(inside).copied();
        if range.ascending {
            let mut page: Vec<PostId> = self.ids.iter().rev().filter(inside).copied().take(limit).collect();
            page.reverse();
            let more = within().count() > page.len();
            return (page, more);
        }
        let page: Vec<PostId> = within().take(limit).collect();
        let more = within().nth(limit).is_some();
        (page, more)
    }
}

/// With several nodes, a post of one whose clock is fast is no reason to skip the later posts of the others.
fn limit_to_now(tx: &Tx<'_>, newest: PostId) -> PostId {
    if tx.is_shared() { newest.min(PostId::new(first_snowflake_at(tx.now()))) } else { newest }
}

/// An author's posts below the last one taken, read in batches of growing size.
#[derive(Default)]
struct AuthorBacklog {
    /// Oldest first.
    ids: Vec<PostId>,
    batch_size: i64,
    is_exhausted: bool,
}

impl AuthorBacklog {
    fn pop_older(&mut self, tx: &mut Tx<'_>, author: UserId, id: PostId) -> Result<Option<PostId>, Fault> {
        if self.ids.is_empty() && !self.is_exhausted {
            self.batch_size = (self.batch_size * 2).clamp(1, MAX_AUTHOR_BATCH);
            self.ids = posts::list_ids_by_author(tx, author, id.get(), self.batch_size)?;
            self.ids.reverse();
            self.is_exhausted = i64::try_from(self.ids.len()).unwrap_or(0) < self.batch_size;
        }
        Ok(self.ids.pop())
    }
}
