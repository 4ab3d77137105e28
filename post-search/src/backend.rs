//! Where searches are answered: by the index of this process, or by a search node.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use ::search::protocol::{IndexAnswer, IndexQuestion, MAX_HITS_PER_ANSWER, read_message};
use ::search::{AuthorLanguage, PostIndexReader, QueryPlan, SearchHit, SearchWindow, TimeBuckets};
use base::{Error, Fault, Refusal};
use futures_util::future::BoxFuture;
use serde_json::json;
use store::Store;
use tokio::runtime::Handle;

use crate::{CATCH_UP_TIMEOUT, PostSearch};

pub type SearchNodeAnswer<'a> = Pin<Box<dyn Future<Output = Result<Vec<u8>, Fault>> + Send + 'a>>;

/// The nodes that have an index.
pub trait SearchNodes: Send + Sync {
    fn has_nodes(&self) -> bool;

    /// The answer of one of them within a few seconds, or else a transient fault.
    fn ask(&self, question: Vec<u8>) -> SearchNodeAnswer<'_>;
}

/// The index of this process if it is built, and otherwise those of search nodes.
#[derive(Clone)]
pub struct SearchBackend {
    local: Option<Arc<PostSearch>>,
    remote: Option<RemotePostSearch>,
}

impl SearchBackend {
    /// Search nodes are asked on a runtime.
    pub fn new(local: Option<Arc<PostSearch>>, nodes: Option<(Arc<dyn SearchNodes>, Handle)>) -> Self {
        let remote = nodes.map(|(nodes, runtime)| RemotePostSearch { nodes, runtime, position: Arc::default() });
        Self { local, remote }
    }

    /// Waits until everything written before is searchable. Refused as unavailable if it is not within a few seconds.
    pub fn catch_up<'a>(&'a self, store: &'a Store) -> BoxFuture<'a, Result<Arc<dyn PostIndexReader>, Error>> {
        Box::pin(async move {
            match (self.usable_local(), &self.remote) {
                (Some(local), _) => {
                    local.catch_up(store).await?;
                    let reader: Arc<dyn PostIndexReader> = local.snapshot();
                    Ok(reader)
                }
                (None, Some(remote)) => remote.catch_up(store).await,
                (None, None) => Err(Refusal::Unavailable.into()),
            }
        })
    }

    /// What is searchable now, and at least what an earlier search of this process had to see.
    pub fn reader(&self) -> Result<Arc<dyn PostIndexReader>, Fault> {
        match (self.usable_local(), &self.remote) {
            (Some(local), _) => Ok(local.snapshot()),
            (None, Some(remote)) => Ok(Arc::new(remote.reader())),
            (None, None) => Err(Fault::new("there is no search index")),
        }
    }

    /// Whether this process has an index, and searches by it.
    pub fn has_built_index(&self) -> bool {
        self.local.as_ref().is_some_and(|local| local.is_built())
    }

    /// How far in the event log the index of this process is; none without an index, and while it is built.
    pub fn indexed_position(&self) -> Option<i64> {
        self.local.as_ref()?.indexed_position()
    }

    fn usable_local(&self) -> Option<&Arc<PostSearch>> {
        let has_others = || self.remote.as_ref().is_some_and(|remote| remote.nodes.has_nodes());
        self.local.as_ref().filter(|local| local.is_built() || !has_others())
    }
}

impl From<Arc<PostSearch>> for SearchBackend {
    fn from(local: Arc<PostSearch>) -> Self {
        Self::new(Some(local), None)
    }
}

impl std::fmt::Debug for SearchBackend {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SearchBackend").field("local", &self.local).finish_non_exhaustive()
    }
}

#[derive(Clone)]
struct RemotePostSearch {
    nodes: Arc<dyn SearchNodes>,
    runtime: Handle,
    /// The highest log position that a search had to see.
    position: Arc<AtomicI64>,
}

impl RemotePostSearch {
    async fn catch_up(&self, store: &Store) -> Result<Arc<dyn PostIndexReader>, Error> {
        let deadline = tokio::time::Instant::now() + CATCH_UP_TIMEOUT;
        let end = store.wait_for_log_end(CATCH_UP_TIMEOUT).await?;
        self.position.fetch_max(end, Ordering::Relaxed);
        let reader = self.reader();
        // Waits before the transaction begins, instead of within it.
        match tokio::time::timeout_at(deadline, reader.ask_async(&IndexQuestion::Readiness)).await {
            Ok(Ok(_)) => return Ok(Arc::new(reader)),
            Ok(Err(fault)) => tracing::warn!(error = %fault, "no search node answered"),
            Err(_) => tracing::warn!("no search node answered in time"),
        }
        Err(Refusal::Unavailable.into())
    }

    fn reader(&self) -> RemoteIndexReader {
        RemoteIndexReader {
            nodes: Arc::clone(&self.nodes),
            runtime: self.runtime.clone(),
            position: self.position.load(Ordering::Relaxed),
        }
    }
}

/// Blocks its thread, which must not be one that runs asynchronous tasks.
struct RemoteIndexReader {
    nodes: Arc<dyn SearchNodes>,
    runtime: Handle,
    position: i64,
}

impl RemoteIndexReader {
    async fn ask_async(&self, question: &IndexQuestion<&QueryPlan>) -> Result<IndexAnswer, Fault> {
        let text = json!({ "position": self.position, "question": question }).to_string();
        let answer = self.nodes.ask(text.into_bytes()).await?;
        read_message(&answer).map_err(Fault::context("reading the answer of a search node"))
    }

    fn ask(&self, question: &IndexQuestion<&QueryPlan>) -> Result<IndexAnswer, Fault> {
        self.runtime.block_on(self.ask_async(question))
    }

    fn ask_for_counts(&self, question: &IndexQuestion<&QueryPlan>) -> Result<Vec<u64>, Fault> {
        match self.ask(question)? {
            IndexAnswer::Counts(counts) => Ok(counts),
            _ => Err(unexpected_answer()),
        }
    }
}

fn unexpected_answer() -> Fault {
    Fault::new("a search node answered another question")
}

impl PostIndexReader for RemoteIndexReader {
    fn newest_hits(&self, plan: &QueryPlan, window: &SearchWindow, limit: usize) -> Result<Vec<SearchHit>, Fault> {
        let (mut window, mut found) = (*window, Vec::new());
        loop {
            let part = (limit - found.len()).min(MAX_HITS_PER_ANSWER);
            let answer = self.ask(&IndexQuestion::NewestHits { plan, window, limit: part })?;
            let IndexAnswer::Hits(hits) = answer else {
                return Err(unexpected_answer());
            };
            let is_full = hits.len() >= part;
            found.extend(hits);
            match found.last().filter(|_| is_full && found.len() < limit) {
                Some(last) => window.before_id = last.id,
                None => return Ok(found),
            }
        }
    }

    fn all_hits(&self, plan: &QueryPlan, window: &SearchWindow, max: usize) -> Result<Option<Vec<SearchHit>>, Fault> {
        let hits = PostIndexReader::newest_hits(self, plan, window, max.saturating_add(1))?;
        Ok(Some(hits).filter(|hits| hits.len() <= max))
    }

    fn count_in_buckets(
        &self,
        plan: &QueryPlan,
        window: &SearchWindow,
        buckets: TimeBuckets,
    ) -> Result<Vec<u64>, Fault> {
        self.ask_for_counts(&IndexQuestion::CountInBuckets { plan, window: *window, buckets })
    }

    fn count_hits(&self, plan: &QueryPlan, window: &SearchWindow) -> Result<u64, Fault> {
        let counts = self.ask_for_counts(&IndexQuestion::CountHits { plan, window: *window })?;
        counts.first().copied().ok_or_else(unexpected_answer)
    }

    fn count_sample(&self, plan: &QueryPlan, window: &SearchWindow, max: u64) -> Result<(u64, u64), Fault> {
        match *self.ask_for_counts(&IndexQuestion::CountSample { plan, window: *window, max })? {
            [found, examined] => Ok((found, examined)),
            _ => Err(unexpected_answer()),
        }
    }

    fn window_size(&self, window: &SearchWindow) -> Result<u64, Fault> {
        let counts = self.ask_for_counts(&IndexQuestion::WindowSize { window: *window })?;
        counts.first().copied().ok_or_else(unexpected_answer)
    }

    fn find_indexed(&self, ids: &[i64]) -> Result<Vec<i64>, Fault> {
        match self.ask(&IndexQuestion::FindIndexed { ids: ids.to_vec() })? {
            IndexAnswer::Ids(found) => Ok(found),
            _ => Err(unexpected_answer()),
        }
    }

    fn author_languages(&self, max_posts: u32) -> Result<Vec<AuthorLanguage>, Fault> {
        let mut all: Vec<AuthorLanguage> = Vec::new();
        loop {
            let above = all.last().map_or(i64::MIN, |last| last.author);
            match self.ask(&IndexQuestion::AuthorLanguages { above, max_posts })? {
                IndexAnswer::Languages(some) if some.is_empty() => return Ok(all),
                IndexAnswer::Languages(some) => all.extend(some),
                _ => return Err(unexpected_answer()),
            }
        }
    }
}
