//! Cached timelines of many authors: home timelines and list timelines.
//!
//! Post ids are computed once by merging the authors' timelines, then extended by new posts only, which the event log
//! has for all timelines together. Every use compares the version of the reader's follows and mutes, or of the list's
//! members, and reads what is committed of the log, in the same transaction, so results are never stale.

mod recent_posts;
mod watchers;

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use base::{Error, Fault, PostId, UserId, sorted_distinct};
use parking_lot::Mutex;
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use store::event_log::CreatedPosts;
use store::lists::{self, List};
use store::posts::{self, PageRange};
use store::users::{self, User};
use store::{Store, Tx, follows, graph};
use tokio::sync::watch;

use recent_posts::RecentPosts;
pub use watchers::HomeWatcher;
use watchers::WatcherCounts;
pub(crate) use watchers::{MAX_WATCHERS, MAX_WATCHERS_PER_READER};

/// Maximum length of a home timeline (contract core §13.18).
const HOME_LENGTH: usize = 3200;
/// Maximum length of a list timeline (contract core §7.8).
const LIST_LENGTH: usize = 800;
/// Posts merged at first; most readers never need more.
const INITIAL_DEPTH: usize = 400;
/// If so many new posts are not in memory yet, merging is cheaper than reading them.
const MAX_CATCH_UP_POSTS: i64 = 20_000;
/// New posts that are read together while nobody waits.
const READ_BATCH: i64 = 1_000;
/// Collects new entries into one batch.
const COLLECT_DELAY: Duration = Duration::from_millis(20);
/// Wakeups replace polling; this is a fallback.
const FALLBACK_INTERVAL: Duration = Duration::from_secs(30);
const RETRY_DELAY: Duration = Duration::from_secs(1);
/// How many times more posts are read at once than are merged: it saves rounds if some authors wrote more than others.
const READ_SURPLUS: usize = 4;
/// Maximum number of ids in memory, over all timelines.
const CACHE_CAPACITY: u64 = 4_000_000;
/// Timelines that fit into the cache.
const EXPECTED_TIMELINES: usize = 1_250;

pub struct HomeTimelines {
    timelines: Cache<TimelineCacheKey, Arc<Mutex<CachedTimeline>>, TimelineWeighter>,
    recent: Arc<RecentPosts>,
    /// The log entry of the newest post in `recent`.
    newest_entry: watch::Sender<i64>,
    watchers: WatcherCounts,
}

impl Default for HomeTimelines {
    fn default() -> Self {
        Self {
            timelines: Cache::with_weighter(EXPECTED_TIMELINES, CACHE_CAPACITY, TimelineWeighter),
            recent: Arc::default(),
            newest_entry: watch::Sender::default(),
            watchers: WatcherCounts::default(),
        }
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

/// The weight of a timeline is the number of ids that it may contain.
#[derive(Clone)]
struct TimelineWeighter;

impl Weighter<TimelineCacheKey, Arc<Mutex<CachedTimeline>>> for TimelineWeighter {
    fn weight(&self, key: &TimelineCacheKey, _timeline: &Arc<Mutex<CachedTimeline>>) -> u64 {
        u64::try_from(key.max_length()).unwrap_or(u64::MAX)
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

    /// In ascending order.
    fn load_authors(self, tx: &mut Tx<'_>) -> Result<Vec<UserId>, Fault> {
        let authors = match self {
            Self::Reader(user) => {
                let muted: HashSet<_> = graph::list_muted(tx, user.id)?.into_iter().collect();
                let mut authors = follows::list_followed(tx, user.id)?;
                authors.retain(|author| !muted.contains(author));
                authors.push(user.id);
                authors
            }
            Self::List(list) => lists::list_member_ids(tx, list.id)?,
        };
        Ok(sorted_distinct(authors))
    }
}

#[derive(Default)]
struct CachedTimeline {
    /// The version of the authors that `ids` were computed for.
    version: Option<i64>,
    /// In ascending order.
    authors: Vec<UserId>,
    /// Newest first.
    ids: Vec<PostId>,
    /// No older posts are left to merge.
    complete: bool,
    depth: usize,
    /// All posts up to this entry of the event log have been considered.
    log_position: i64,
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
        let created = self.recent.read_new(tx, MAX_CATCH_UP_POSTS)?;
        let timeline = self.timelines.get_or_insert_with(&source.cache_key(), || Ok::<_, Fault>(Arc::default()))?;
        let mut timeline = timeline.lock();
        timeline.refresh(tx, source, &self.recent, &created)?;
        loop {
            let (page, more) = timeline.slice_page(range);
            // A page in ascending order begins at the range's start, which may be older than all that is in memory.
            let reaches_page =
                !range.ascending || timeline.ids.last().is_some_and(|oldest| oldest.get() <= range.above);
            if more && reaches_page || timeline.complete || timeline.depth >= max_length {
                return Ok((page, more));
            }
            let depth = (timeline.ids.len() * 4).min(max_length);
            if depth == max_length {
                // The last step: deleted posts make room for older ones.
                timeline.merge_anew(tx, source, depth, created.log_end)?;
            } else {
                timeline.deepen(tx, depth)?;
                // What another reader has read of the log meanwhile may not be visible in this transaction.
                timeline.log_position = timeline.log_position.min(created.log_end);
            }
        }
    }

    /// Reads new posts from the event log in an endless loop, so that requests find them in memory.
    pub async fn follow_log(&self, store: &Store) {
        follow_log(store, "posts for home timelines", || self.read_log(store)).await;
    }

    /// Reads new posts up to the end of the event log and wakes those who wait for some, provided that anybody has read a
    /// timeline.
    pub async fn read_log(&self, store: &Store) -> Result<(), Error> {
        while self.recent.is_in_use() {
            let recent = Arc::clone(&self.recent);
            let created = store.read(move |tx| Ok(recent.read_new(tx, READ_BATCH)?)).await?;
            if created.through >= created.log_end {
                break;
            }
        }
        let newest = self.recent.newest_entry();
        self.newest_entry.send_if_modified(|known| std::mem::replace(known, newest) != newest);
        Ok(())
    }
}

/// Calls `read` whenever the event log has grown, in an endless loop.
pub(crate) async fn follow_log<F: Future<Output = Result<(), Error>>>(
    store: &Store,
    subject: &str,
    read: impl Fn() -> F,
) {
    let mut events = store.subscribe_events();
    loop {
        if let Err(error) = read().await {
            tracing::warn!(%error, "failed to read new {subject}; will retry");
            tokio::time::sleep(RETRY_DELAY).await;
            continue;
        }
        let _either = tokio::time::timeout(FALLBACK_INTERVAL, events.changed()).await;
        tokio::time::sleep(COLLECT_DELAY).await;
        events.mark_unchanged();
    }
}

impl CachedTimeline {
    fn refresh(
        &mut self,
        tx: &mut Tx<'_>,
        source: TimelineSource<'_>,
        recent: &RecentPosts,
        created: &CreatedPosts,
    ) -> Result<(), Fault> {
        if self.version != Some(source.version()) {
            self.authors = source.load_authors(tx)?;
            return self.merge_anew(tx, source, INITIAL_DEPTH, created.log_end);
        }
        // What others have read of the log meanwhile may not be visible in this transaction.
        let new = recent.list_between(self.log_position, created.log_end, &self.authors);
        let Some(mut new) = new.filter(|_| created.is_complete) else {
            return self.merge_anew(tx, source, self.depth, created.log_end);
        };
        let waiting = created.waiting.iter().filter(|post| self.authors.binary_search(&post.author).is_ok());
        new.extend(waiting.map(|post| post.id));
        self.insert_new(new, source.cache_key().max_length());
        self.log_position = self.log_position.max(created.log_end);
        Ok(())
    }

    /// In any order; ids that are there already are skipped.
    fn insert_new(&mut self, mut new: Vec<PostId>, max_length: usize) {
        // Below the oldest one, posts are merged when they are asked for.
        let oldest = self.ids.last().copied().filter(|_| !self.complete);
        new.retain(|id| {
            oldest.is_none_or(|oldest| *id > oldest)
                && self.ids.binary_search_by_key(&Reverse(*id), |id| Reverse(*id)).is_err()
        });
        if !new.is_empty() {
            new.append(&mut self.ids);
            new.sort_by_key(|id| Reverse(*id));
            new.dedup();
            self.complete &= new.len() <= max_length;
            new.truncate(max_length);
            self.ids = new;
        }
    }

    /// Merges the newest `depth` posts of all authors, whose log had ended before with `log_end`.
    fn merge_anew(
        &mut self,
        tx: &mut Tx<'_>,
        source: TimelineSource<'_>,
        depth: usize,
        log_end: i64,
    ) -> Result<(), Fault> {
        *self = Self { authors: std::mem::take(&mut self.authors), ..Self::default() };
        self.deepen(tx, depth)?;
        self.log_position = log_end;
        self.version = Some(source.version());
        Ok(())
    }

    /// Adds older posts until there are `depth`. The cost per author does not depend on how much they wrote.
    fn deepen(&mut self, tx: &mut Tx<'_>, depth: usize) -> Result<(), Fault> {
        let oldest = self.ids.last().map_or(i64::MAX, |id| id.get());
        let newest = users::most_recent_posts(tx, &self.authors)?;
        let mut ids: BTreeSet<Reverse<PostId>> = self.ids.iter().copied().map(Reverse).collect();
        ids.extend(newest.iter().map(|(id, _)| Reverse(*id)));
        // Of each author, all posts from this one on are among the ids.
        let mut known: HashMap<UserId, i64> =
            newest.into_iter().map(|(id, author)| (author, id.get().min(oldest))).collect();
        loop {
            while ids.len() > depth {
                ids.pop_last();
            }
            let above = ids.last().filter(|_| ids.len() == depth).map_or(0, |id| id.0.get());
            known.retain(|_, first| *first > above);
            if known.is_empty() {
                break;
            }
            let limit = (depth * READ_SURPLUS / known.len()).clamp(1, depth);
            let unread: Vec<_> = known.drain().collect();
            let read = posts::list_ids_by_authors(tx, &unread, above, i64::try_from(limit).unwrap_or(i64::MAX))?;
            known = list_unfinished(&read, limit);
            ids.extend(read.into_iter().map(|(_, id)| Reverse(id)));
        }
        self.complete = ids.len() < depth;
        self.ids = ids.into_iter().map(|id| id.0).collect();
        self.depth = depth;
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

/// The authors of as many posts as were asked for, with the oldest of these.
fn list_unfinished(read: &[(UserId, PostId)], limit: usize) -> HashMap<UserId, i64> {
    let mut of_authors: HashMap<UserId, (usize, i64)> = HashMap::new();
    for (author, id) in read {
        let (count, oldest) = of_authors.entry(*author).or_insert((0, i64::MAX));
        *count += 1;
        *oldest = (*oldest).min(id.get());
    }
    let unfinished = of_authors.into_iter().filter(|(_, (count, _))| *count == limit);
    unfinished.map(|(author, (_, oldest))| (author, oldest)).collect()
}
