//! What can be asked of an index, whether it is in this process or on another node.

use base::Fault;
use serde::{Deserialize, Serialize};

use crate::{IndexSnapshot, QueryPlan, SearchHit, SearchWindow};

/// Buckets of one length for counts by time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimeBuckets {
    /// The beginning of the first bucket, in milliseconds since 1970.
    pub start_ms: i64,
    /// The length of each bucket in milliseconds.
    pub step_ms: i64,
    pub count: usize,
}

impl TimeBuckets {
    /// None before the first bucket. The result may be beyond the last one.
    pub fn index_of(&self, at_ms: i64) -> Option<usize> {
        let place = at_ms.saturating_sub(self.start_ms).checked_div_euclid(self.step_ms)?;
        usize::try_from(place).ok()
    }
}

/// How many posts of an author are in a language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct AuthorLanguage {
    pub author: i64,
    /// A [`query::LanguageNumber`].
    pub language: u8,
    pub posts: u32,
}

pub trait PostIndexReader: Send + Sync {
    /// Up to `limit` posts of a window, the highest ids first.
    fn newest_hits(&self, plan: &QueryPlan, window: &SearchWindow, limit: usize) -> Result<Vec<SearchHit>, Fault>;

    /// All posts of a window, in no particular order; none if there are more than `max`.
    fn all_hits(&self, plan: &QueryPlan, window: &SearchWindow, max: usize) -> Result<Option<Vec<SearchHit>>, Fault>;

    fn count_in_buckets(
        &self,
        plan: &QueryPlan,
        window: &SearchWindow,
        buckets: TimeBuckets,
    ) -> Result<Vec<u64>, Fault>;

    fn count_hits(&self, plan: &QueryPlan, window: &SearchWindow) -> Result<u64, Fault>;

    /// The hits among about `max` of the newest posts of a window, and the number of posts examined.
    fn count_sample(&self, plan: &QueryPlan, window: &SearchWindow, max: u64) -> Result<(u64, u64), Fault>;

    /// The number of posts in a window, including recently deleted ones.
    fn window_size(&self, window: &SearchWindow) -> Result<u64, Fault>;

    /// Those of some posts that are indexed.
    fn find_indexed(&self, ids: &[i64]) -> Result<Vec<i64>, Fault>;

    /// The languages of about `max_posts` of the newest posts of each author, ordered by author.
    fn author_languages(&self, max_posts: u32) -> Result<Vec<AuthorLanguage>, Fault>;
}

impl PostIndexReader for IndexSnapshot {
    fn newest_hits(&self, plan: &QueryPlan, window: &SearchWindow, limit: usize) -> Result<Vec<SearchHit>, Fault> {
        Self::newest_hits(self, plan, window, limit)
    }

    fn all_hits(&self, plan: &QueryPlan, window: &SearchWindow, max: usize) -> Result<Option<Vec<SearchHit>>, Fault> {
        let mut hits = Vec::new();
        self.visit_hits(plan, window, |hit| {
            if hits.len() <= max {
                hits.push(hit);
            }
        })?;
        Ok(Some(hits).filter(|hits| hits.len() <= max))
    }

    fn count_in_buckets(
        &self,
        plan: &QueryPlan,
        window: &SearchWindow,
        buckets: TimeBuckets,
    ) -> Result<Vec<u64>, Fault> {
        let mut counts = vec![0; buckets.count];
        self.count_by_time(plan, window, |at| buckets.index_of(at), &mut counts)?;
        Ok(counts)
    }

    fn count_hits(&self, plan: &QueryPlan, window: &SearchWindow) -> Result<u64, Fault> {
        Self::count_hits(self, plan, window)
    }

    fn count_sample(&self, plan: &QueryPlan, window: &SearchWindow, max: u64) -> Result<(u64, u64), Fault> {
        Self::count_sample(self, plan, window, max)
    }

    fn window_size(&self, window: &SearchWindow) -> Result<u64, Fault> {
        Ok(Self::window_size(self, window))
    }

    fn find_indexed(&self, ids: &[i64]) -> Result<Vec<i64>, Fault> {
        let mut found = Vec::new();
        for id in ids {
            if self.contains_post(*id)? {
                found.push(*id);
            }
        }
        Ok(found)
    }

    fn author_languages(&self, max_posts: u32) -> Result<Vec<AuthorLanguage>, Fault> {
        self.count_author_languages(max_posts)
    }
}
