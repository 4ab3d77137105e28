//! Questions to the index of another process, and its answers, as JSON.

use base::Fault;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::{AuthorLanguage, PostIndexReader, QueryPlan, SearchHit, SearchWindow, TimeBuckets};

/// Hits in one answer; more are asked for in parts.
pub const MAX_HITS_PER_ANSWER: usize = 100_000;
/// Entries in one answer, but for those of its last author.
pub const MAX_LANGUAGES_PER_ANSWER: usize = 200_000;
/// Buckets in one answer, and posts in one question.
const MAX_ITEMS: usize = 100_000;

/// `P` is a [`QueryPlan`], borrowed by the process that asks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum IndexQuestion<P> {
    /// Only whether the index is far enough.
    Readiness,
    NewestHits {
        plan: P,
        window: SearchWindow,
        limit: usize,
    },
    CountInBuckets {
        plan: P,
        window: SearchWindow,
        buckets: TimeBuckets,
    },
    CountHits {
        plan: P,
        window: SearchWindow,
    },
    CountSample {
        plan: P,
        window: SearchWindow,
        max: u64,
    },
    WindowSize {
        window: SearchWindow,
    },
    FindIndexed {
        ids: Vec<i64>,
    },
    /// The entries of authors above one.
    AuthorLanguages {
        above: i64,
        max_posts: u32,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum IndexAnswer {
    Ready,
    Hits(Vec<SearchHit>),
    Counts(Vec<u64>),
    Ids(Vec<i64>),
    Languages(Vec<AuthorLanguage>),
}

/// Reads a question or an answer of another process of the network.
pub fn read_message<T: DeserializeOwned>(text: &[u8]) -> Result<T, serde_json::Error> {
    let mut reader = serde_json::Deserializer::from_slice(text);
    // A plan takes three levels for each of its query, which the parser limits.
    reader.disable_recursion_limit();
    let message = T::deserialize(&mut reader)?;
    reader.end().map(|()| message)
}

impl IndexQuestion<QueryPlan> {
    /// Answers with at most as much as fits into one answer.
    pub fn answer(&self, index: &dyn PostIndexReader) -> Result<IndexAnswer, Fault> {
        Ok(match self {
            Self::Readiness => IndexAnswer::Ready,
            Self::NewestHits { plan, window, limit } => {
                IndexAnswer::Hits(index.newest_hits(plan, window, (*limit).min(MAX_HITS_PER_ANSWER))?)
            }
            Self::CountInBuckets { plan, window, buckets } => {
                let count = buckets.count.min(MAX_ITEMS);
                IndexAnswer::Counts(index.count_in_buckets(plan, window, TimeBuckets { count, ..*buckets })?)
            }
            Self::CountHits { plan, window } => IndexAnswer::Counts(vec![index.count_hits(plan, window)?]),
            Self::CountSample { plan, window, max } => {
                let (found, examined) = index.count_sample(plan, window, *max)?;
                IndexAnswer::Counts(vec![found, examined])
            }
            Self::WindowSize { window } => IndexAnswer::Counts(vec![index.window_size(window)?]),
            Self::FindIndexed { ids } => IndexAnswer::Ids(index.find_indexed(ids.get(..MAX_ITEMS).unwrap_or(ids))?),
            Self::AuthorLanguages { above, max_posts } => {
                IndexAnswer::Languages(languages_above(&index.author_languages(*max_posts)?, *above))
            }
        })
    }
}

/// The entries of the next authors above one, all of each author's.
pub fn languages_above(all: &[AuthorLanguage], above: i64) -> Vec<AuthorLanguage> {
    let rest = all.get(all.partition_point(|one| one.author <= above)..).unwrap_or_default();
    let mut some = Vec::new();
    for entries in rest.chunk_by(|one, other| one.author == other.author) {
        if some.len() >= MAX_LANGUAGES_PER_ANSWER {
            break;
        }
        some.extend_from_slice(entries);
    }
    some
}
