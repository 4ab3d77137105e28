//! Timelines of many authors: for each reader the newest posts of everyone they follow and do
//! not mute, for each list those of everyone on it.
//!
//! The ids are worked out once by merging the authors' own timelines, and then kept up to date by
//! looking only at what was posted since. They are checked against the reader's follows and mutes,
//! or the list's members, at every use, in the same transaction, so they are never wrong, only sometimes
//! cold.

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

/// How far back a home timeline reaches (contract §13, row 18).
const HOME_LENGTH: usize = 3200;
/// How far back the timeline of a list reaches (contract §7.8).
const LIST_LENGTH: usize = 800;
/// What is merged at first; most readers never go further.
const INITIAL_DEPTH: usize = 400;
/// Posts since the last visit up to which catching up is cheaper than merging.
const MAX_CATCH_UP_POSTS: i64 = 20_000;
/// On a database server a post may appear below one that is there already, as long as its
/// transaction was open; none is open for longer.
const OVERLAP_MS: i64 = 60_000;
/// On a database server, so many authors are asked for what they posted since; of more, everyone.
const MAX_AUTHORS_BY_QUERY: usize = 500;
/// Ids of an author that are read at once, at most.
const BATCH: i64 = 64;
/// Ids in memory at most, over all readers and lists.
const CACHE_CAPACITY: u64 = 4_000_000;

/// The home timelines and list timelines that were read lately.
pub struct HomeTimelines {
    timelines: Cache<TimelineCacheKey, Arc<Mutex<CachedTimeline>>>,
}

impl Default for HomeTimelines {
    fn default() -> Self {
        let weigh = |key: &TimelineCacheKey, _: &Arc<Mutex<CachedTimeline>>| {
            u32::try_from(key.max_length()).unwrap_or(u32::MAX)
        };
        Self {
            timelines: Cache::builder().max_capacity(CACHE_CAPACITY).weigher(weigh).build(),
        }
    }
}

/// Whose posts a timeline is made of.
#[derive(Clone, Copy, Debug)]
pub enum TimelineSource<'a> {
    /// Of those whom a reader follows and does not mute, and the reader's own.
    Reader(&'a User),
    /// Of those who are on a list.
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

    /// Raised by every change of whose posts they are.
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
    /// The version of its authors that this was worked out for.
    version: Option<i64>,
    authors: HashSet<UserId>,
    /// Newest first.
    ids: Vec<PostId>,
    /// Nothing older is left to be merged.
    complete: bool,
    depth: usize,
    /// Everything up to this post has been looked at.
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
    /// Ids of a timeline within a span, newest first, at most `span.limit`; posts that have since
    /// been deleted may be among them. The second value says whether it goes on beyond them.
    pub fn page(
        &self,
        tx: &mut Tx<'_>,
        of: TimelineSource<'_>,
        span: &PageRange,
    ) -> Result<(Vec<PostId>, bool), Fault> {
        let reach = of.cache_key().max_length();
        let home = self.timelines.get_with(of.cache_key(), Arc::default);
        let mut home = home.lock();
        home.refresh(tx, of)?;
        loop {
            let (page, more) = home.slice_page(span);
            if more || home.complete || home.depth >= reach {
                return Ok((page, more));
            }
            let depth = (home.depth * 4).min(reach);
            home.merge_newest(tx, of, depth)?;
        }
    }
}

impl CachedTimeline {
    fn refresh(&mut self, tx: &mut Tx<'_>, of: TimelineSource<'_>) -> Result<(), Fault> {
        if self.version != Some(of.version()) {
            self.authors = of.load_authors(tx)?;
            self.version = Some(of.version());
            return self.merge_newest(tx, of, INITIAL_DEPTH);
        }
        let overlap = first_snowflake_at(self.newest_seen.created_at().plus_ms(-OVERLAP_MS));
        let above = if tx.is_shared() {
            PostId::new(overlap)
        } else {
            self.newest_seen
        };
        let recent = if tx.is_shared() && self.authors.len() <= MAX_AUTHORS_BY_QUERY {
            let authors: Vec<UserId> = self.authors.iter().copied().collect();
            posts::list_recent_by_authors(tx, &authors, above, MAX_CATCH_UP_POSTS)?
        } else {
            posts::list_recent(tx, above, MAX_CATCH_UP_POSTS)?
        };
        if i64::try_from(recent.len()).unwrap_or(i64::MAX) >= MAX_CATCH_UP_POSTS {
            return self.merge_newest(tx, of, self.depth);
        }
        let Some(newest) = recent.iter().map(|(id, _)| *id).max() else {
            return Ok(());
        };
        self.newest_seen = self.newest_seen.max(newest);
        let mut new: Vec<PostId> = recent
            .iter()
            .filter(|(_, author)| self.authors.contains(author))
            .map(|(id, _)| *id)
            .collect();
        if tx.is_shared() {
            new.retain(|id| self.ids.binary_search_by_key(&Reverse(*id), |id| Reverse(*id)).is_err());
            new.append(&mut self.ids);
            new.sort_unstable_by_key(|id| Reverse(*id));
            self.ids = new;
        } else {
            new.append(&mut self.ids);
            self.ids = new;
        }
        self.ids.truncate(of.cache_key().max_length());
        Ok(())
    }

    /// Merges the newest `depth` posts of all authors. One look at an author costs the same
    /// however much they wrote.
    fn merge_newest(&mut self, tx: &mut Tx<'_>, of: TimelineSource<'_>, depth: usize) -> Result<(), Fault> {
        self.newest_seen = posts::highest_id(tx)?;
        let authors: Vec<UserId> = self.authors.iter().copied().collect();
        let newest = users::most_recent_posts(tx, &authors)?;
        let mut next: BinaryHeap<(PostId, UserId)> = newest.into_iter().collect();
        let mut shelves: HashMap<UserId, AuthorBacklog> = HashMap::new();
        let mut ids = Vec::with_capacity(depth);
        while let Some((id, author)) = next.pop() {
            ids.push(id);
            if ids.len() >= depth {
                break;
            }
            let shelf = shelves.entry(author).or_default();
            if let Some(older) = shelf.pop_older(tx, author, id)? {
                next.push((older, author));
            }
        }
        self.complete = ids.len() < depth;
        self.ids = ids;
        self.depth = depth;
        self.version = Some(of.version());
        Ok(())
    }

    /// The ids of a span, and whether there are more of it in this list.
    fn slice_page(&self, span: &PageRange) -> (Vec<PostId>, bool) {
        let limit = usize::try_from(span.limit).unwrap_or(0);
        let inside = |id: &&PostId| id.get() > span.above && id.get() < span.below;
        let within = || self.ids.iter().filter(inside).copied();
        if span.ascending {
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

/// What an author wrote below the post that was taken last: the more is taken, the more is read at
/// once.
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
            self.batch_size = (self.batch_size * 2).clamp(1, BATCH);
            self.ids = posts::list_ids_by_author(tx, author, id.get(), self.batch_size)?;
            self.ids.reverse();
            self.is_exhausted = i64::try_from(self.ids.len()).unwrap_or(0) < self.batch_size;
        }
        Ok(self.ids.pop())
    }
}
