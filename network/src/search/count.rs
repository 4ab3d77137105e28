//! Counts of matching posts by time.

use ::search::{IndexSnapshot, QueryPlan, SearchHit};
use base::{Error, Refusal};
use store::Tx;

use super::find::{PostSearchRequest, filter_matching_hits, resolve_query_names};

/// Posts examined if the index alone cannot decide.
const MAX_VERIFIED_POSTS: usize = 200_000;
/// Posts per batch.
const BATCH_SIZE: usize = 1_000;

/// Counts matching public posts by time. `bucket_of` maps a time to an index of `counts`; it must be monotonic. Fails
/// if too many posts would have to be examined.
pub fn count(
    tx: &mut Tx<'_>,
    snapshot: &IndexSnapshot,
    request: &PostSearchRequest,
    bucket_of: impl Fn(i64) -> Option<usize>,
    counts: &mut [u64],
) -> Result<(), Error> {
    let lookups = resolve_query_names(tx, &request.query)?;
    let plan = QueryPlan::new(&request.query, &lookups);
    if plan.is_exact() {
        snapshot.count_by_time(&plan, &request.window, bucket_of, counts)?;
        return Ok(());
    }
    for hit in verify_hits(tx, snapshot, &plan, request)? {
        if let Some(count) = bucket_of(hit.created_at_ms).and_then(|bucket| counts.get_mut(bucket)) {
            *count += 1;
        }
    }
    Ok(())
}

/// In no particular order.
pub fn collect_hits(
    tx: &mut Tx<'_>,
    snapshot: &IndexSnapshot,
    request: &PostSearchRequest,
) -> Result<Vec<SearchHit>, Error> {
    let lookups = resolve_query_names(tx, &request.query)?;
    let plan = QueryPlan::new(&request.query, &lookups);
    if !plan.is_exact() {
        return verify_hits(tx, snapshot, &plan, request);
    }
    let mut hits = Vec::new();
    snapshot.visit_hits(&plan, &request.window, |hit| hits.push(hit))?;
    Ok(hits)
}

/// Matching posts if the index alone cannot decide.
fn verify_hits(
    tx: &mut Tx<'_>,
    snapshot: &IndexSnapshot,
    plan: &QueryPlan,
    request: &PostSearchRequest,
) -> Result<Vec<SearchHit>, Error> {
    let mut hits: Vec<SearchHit> = Vec::new();
    snapshot.visit_hits(plan, &request.window, |hit| hits.push(hit))?;
    if hits.len() > MAX_VERIFIED_POSTS {
        return Err(query_too_broad(request).into());
    }
    let mut found = Vec::new();
    for batch in hits.chunks(BATCH_SIZE) {
        let posts = filter_matching_hits(tx, &request.query, batch)?;
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
