//! Compares the index with the database, and indexes again what differs.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use ::search::{IndexDocument, IndexSnapshot, SearchHit};
use base::{Error, Fault, PostId, Refusal, Time, clock};
use futures_util::future::BoxFuture;
use store::{Store, Tx, posts};

use crate::PostSearch;
use crate::index_changes::load_entries;

/// Posts per read.
const BATCH_SIZE: i64 = 500;
/// Of so many posts, the content of one is compared.
const SAMPLE_INTERVAL: usize = 50;
/// Differences that are remembered; an index with more is rebuilt.
pub const MAX_INDEX_DIFFERENCES: usize = 10_000;
/// Comparisons of what differs: a post may change between the reads of the index and of the database.
const REPETITIONS: usize = 3;
/// How long a comparison waits for the index to be up to date.
const SETTLE_TIMEOUT: Duration = Duration::from_mins(5);
const SETTLE_POLL_INTERVAL: Duration = Duration::from_millis(20);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexDifference {
    /// A public post that is not indexed.
    Missing,
    /// An indexed post that is not public, or does not exist.
    Surplus,
    /// A post that is indexed more than once.
    Repeated,
    /// A post whose time, author, flags or words are indexed differently.
    Outdated,
}

/// Public posts in the database and posts in the index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DayCounts {
    pub stored: u64,
    pub indexed: u64,
}

#[derive(Clone, Debug, Default)]
pub struct IndexComparison {
    /// By post id, at most [`MAX_INDEX_DIFFERENCES`].
    pub differences: BTreeMap<i64, IndexDifference>,
    /// By date in UTC.
    pub days: BTreeMap<String, DayCounts>,
    /// Indexed posts.
    pub posts: u64,
}

impl PostSearch {
    /// Compares everything with the database; of the content, a sample. Waits until the index is up to date, and
    /// refuses if it is not after five minutes. Needs a running indexer.
    pub fn compare_with_database<'a>(&'a self, store: &'a Store) -> BoxFuture<'a, Result<IndexComparison, Error>> {
        Box::pin(async move {
            self.wait_until_settled(store).await?;
            let mut found = IndexComparison { posts: self.snapshot().len(), ..IndexComparison::default() };
            let mut next = Some(0);
            while let Some(above) = next {
                let snapshot = self.snapshot();
                let step = store.read(move |tx| {
                    let mut part = IndexComparison::default();
                    let next = compare_batch(tx, &snapshot, above, &mut part)?;
                    Ok((part, next))
                });
                let (part, after) = step.await?;
                found.merge(part);
                next = after.filter(|_| found.differences.len() < MAX_INDEX_DIFFERENCES);
            }
            for _ in 0..REPETITIONS {
                if found.differences.is_empty() {
                    break;
                }
                // What changed meanwhile was not in both at the same time.
                self.wait_until_settled(store).await?;
                let ids: Vec<i64> = found.differences.keys().copied().collect();
                found.differences = self.compare_posts(store, ids).await?;
            }
            Ok(found)
        })
    }

    async fn compare_posts(&self, store: &Store, ids: Vec<i64>) -> Result<BTreeMap<i64, IndexDifference>, Error> {
        let mut found = BTreeMap::new();
        for batch in ids.chunks(BATCH_SIZE.try_into().unwrap_or(1)) {
            let (batch, snapshot) = (batch.to_vec(), self.snapshot());
            let compare = store.read(move |tx| {
                let posts: Vec<PostId> = batch.iter().copied().map(PostId::new).collect();
                let indexed = batch.iter().flat_map(|id| snapshot.list_posts(id - 1, *id)).collect();
                let pair = PostSets { stored: load_entries(tx, &posts)?, indexed };
                Ok(pair.differences(&snapshot, 1)?)
            });
            found.extend(compare.await?);
        }
        Ok(found)
    }

    /// Indexes some posts again as they are in the database, or removes them.
    pub fn reindex_posts<'a>(&'a self, store: &'a Store, ids: Vec<i64>) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(async move {
            self.request_reindex(ids);
            self.wait_until_settled(store).await
        })
    }

    /// Waits until everything that was written before is indexed.
    pub fn wait_until_settled<'a>(&'a self, store: &'a Store) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(async move {
            let end = store.wait_for_log_end(SETTLE_TIMEOUT).await?;
            let waiter = self.register_waiter();
            let deadline = clock::monotonic_now() + SETTLE_TIMEOUT;
            while !self.is_settled(end) {
                if clock::monotonic_now() >= deadline {
                    return Err(Refusal::Unavailable.into());
                }
                tokio::time::sleep(SETTLE_POLL_INTERVAL).await;
            }
            drop(waiter);
            Ok(())
        })
    }
}

impl IndexComparison {
    pub fn is_sound(&self) -> bool {
        self.differences.is_empty()
    }

    fn merge(&mut self, part: Self) {
        self.differences.extend(part.differences);
        for (day, counts) in part.days {
            let total = self.days.entry(day).or_default();
            total.stored += counts.stored;
            total.indexed += counts.indexed;
        }
    }
}

/// The same posts in the database and in the index.
struct PostSets {
    stored: Vec<IndexDocument>,
    indexed: Vec<SearchHit>,
}

impl PostSets {
    /// Compares the content of each post whose number is a multiple of `interval`.
    fn differences(
        &self,
        snapshot: &Arc<IndexSnapshot>,
        interval: usize,
    ) -> Result<BTreeMap<i64, IndexDifference>, Fault> {
        let mut counts: HashMap<i64, u32> = HashMap::new();
        for hit in &self.indexed {
            *counts.entry(hit.id).or_default() += 1;
        }
        let stored: HashSet<i64> = self.stored.iter().map(|document| document.id).collect();
        let surplus = counts.keys().filter(|id| !stored.contains(id));
        let mut found: BTreeMap<_, _> = surplus.map(|id| (*id, IndexDifference::Surplus)).collect();
        for (number, document) in self.stored.iter().enumerate() {
            let difference = match counts.get(&document.id) {
                None => IndexDifference::Missing,
                Some(1) if number % interval != 0 || snapshot.matches_document(document)? => continue,
                Some(1) => IndexDifference::Outdated,
                Some(_) => IndexDifference::Repeated,
            };
            found.insert(document.id, difference);
        }
        Ok(found)
    }
}

/// Compares the next posts above an id; returns the last id compared, or none at the end.
fn compare_batch(
    tx: &mut Tx<'_>,
    snapshot: &Arc<IndexSnapshot>,
    above: i64,
    found: &mut IndexComparison,
) -> Result<Option<i64>, Fault> {
    let ids = posts::list_live_between(tx, above, i64::MAX, BATCH_SIZE)?;
    let is_full = i64::try_from(ids.len()).is_ok_and(|count| count >= BATCH_SIZE);
    let last = ids.last().filter(|_| is_full).map(|last| last.get());
    let indexed = snapshot.list_posts(above, last.unwrap_or(i64::MAX));
    let sets = PostSets { stored: load_entries(tx, &ids)?, indexed };
    for document in &sets.stored {
        found.day_counts(document.created_at_ms).stored += 1;
    }
    for hit in &sets.indexed {
        found.day_counts(hit.created_at_ms).indexed += 1;
    }
    found.differences = sets.differences(snapshot, SAMPLE_INTERVAL)?;
    Ok(last)
}

impl IndexComparison {
    fn day_counts(&mut self, at_ms: i64) -> &mut DayCounts {
        self.days.entry(Time::from_ms(at_ms).to_date_string()).or_default()
    }
}
