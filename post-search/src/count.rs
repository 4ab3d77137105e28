//! Counts of matching posts by time.

use ::search::{PostIndexReader, QueryPlan, SearchHit, TimeBuckets};
use base::{Error, Refusal};
use store::Tx;

use crate::find::{PostSearchRequest, filter_matching_hits, resolve_query_names};
use network::visibility::Viewer;

/// Posts examined if the index alone cannot decide.
const MAX_VERIFIED_POSTS: usize = 200_000;
/// Posts per batch.
const BATCH_SIZE: usize = 1_000;

/// Counts matching public posts by time. Fails if too many posts would have to be examined.
pub fn count(
    tx: &mut Tx<'_>,
    index: &dyn PostIndexReader,
    request: &PostSearchRequest,
    buckets: TimeBuckets,
) -> Result<Vec<u64>, Error> {
    let lookups = resolve_query_names(tx, &request.query)?;
    let plan = QueryPlan::new(&request.query, &lookups);
    if plan.is_exact() {
        return Ok(index.count_in_buckets(&plan, &request.window, buckets)?);
    }
    let mut counts = vec![0; buckets.count];
    for hit in verify_hits(tx, index, &plan, request)? {
        if let Some(count) = buckets.index_of(hit.created_at_ms).and_then(|bucket| counts.get_mut(bucket)) {
            *count += 1;
        }
    }
    Ok(counts)
}

/// In no particular order.
pub fn collect_hits(
    tx: &mut Tx<'_>,
    index: &dyn PostIndexReader,
    request: &PostSearchRequest,
) -> Result<Vec<SearchHit>, Error> {
    let lookups = resolve_query_names(tx, &request.query)?;
    let plan = QueryPlan::new(&request.query, &lookups);
    if !plan.is_exact() {
        return verify_hits(tx, index, &plan, request);
    }
    Ok(index.all_hits(&plan, &request.window, usize::MAX)?.unwrap_or_default())
}

/// Matching posts if the index alone cannot decide.
fn verify_hits(
    tx: &mut Tx<'_>,
    index: &dyn PostIndexReader,
    plan: &QueryPlan,
    request: &PostSearchRequest,
) -> Result<Vec<SearchHit>, Error> {
    let hits = index.all_hits(plan, &request.window, MAX_VERIFIED_POSTS)?;
    let hits = hits.ok_or_else(|| query_too_broad(request))?;
    let mut found = Vec::new();
    for batch in hits.chunks(BATCH_SIZE) {
        let posts = filter_matching_hits(tx, Viewer::anonymous(), &request.query, batch)?;
        found.extend(posts.iter().map(|post| SearchHit { id: post.id.get(), created_at_ms: post.created_at.ms() }));
    }
    Ok(found)
}

/// Clauses on counters and places are evaluated post by post, which is limited.
fn query_too_broad(request: &PostSearchRequest) -> Refusal {
    let query = request.query.to_string();
    let message = format!(
        "There were errors processing your request: more than {MAX_VERIFIED_POSTS} posts would have to be \
         looked at one by one; use clauses that match fewer posts, or a shorter time"
    );
    Refusal::invalid_parameter("query", query, message)
}
