//! How many posts a query finds, by when they were written.

use ::search::{IndexSnapshot, QueryPlan, SearchHit};
use base::{Error, Refusal};
use store::Tx;

use super::find::{PostSearchRequest, filter_matching_hits, resolve_query_names};

/// Posts that are looked at where the index alone does not decide.
const MAX_VERIFIED_POSTS: usize = 200_000;
/// The same at once.
const BATCH_SIZE: usize = 1_000;

/// Counts the posts that a query matches by their times: `place` says into which figure a time goes,
/// and what lies between two times goes between their figures. Who asks does not count: what is
/// counted is what everybody may see.
pub fn count(
    tx: &mut Tx<'_>,
    snapshot: &IndexSnapshot,
    asked: &PostSearchRequest,
    place: impl Fn(i64) -> Option<usize>,
    figures: &mut [u64],
) -> Result<(), Error> {
    let known = resolve_query_names(tx, &asked.query)?;
    let plan = QueryPlan::new(&asked.query, &known);
    if plan.is_exact() {
        snapshot.count_by_time(&plan, &asked.window, place, figures)?;
        return Ok(());
    }
    for hit in verify_hits(tx, snapshot, &plan, asked)? {
        if let Some(figure) = place(hit.created_at_ms).and_then(|place| figures.get_mut(place)) {
            *figure += 1;
        }
    }
    Ok(())
}

/// All posts that a query matches, in no particular order.
pub fn collect_hits(
    tx: &mut Tx<'_>,
    snapshot: &IndexSnapshot,
    asked: &PostSearchRequest,
) -> Result<Vec<SearchHit>, Error> {
    let known = resolve_query_names(tx, &asked.query)?;
    let plan = QueryPlan::new(&asked.query, &known);
    if !plan.is_exact() {
        return verify_hits(tx, snapshot, &plan, asked);
    }
    let mut hits = Vec::new();
    snapshot.visit_hits(&plan, &asked.window, |hit| hits.push(hit))?;
    Ok(hits)
}

/// The posts that match where the index alone does not decide.
fn verify_hits(
    tx: &mut Tx<'_>,
    snapshot: &IndexSnapshot,
    plan: &QueryPlan,
    asked: &PostSearchRequest,
) -> Result<Vec<SearchHit>, Error> {
    let mut hits: Vec<SearchHit> = Vec::new();
    snapshot.visit_hits(plan, &asked.window, |hit| hits.push(hit))?;
    if hits.len() > MAX_VERIFIED_POSTS {
        return Err(query_too_broad(asked).into());
    }
    let mut found = Vec::new();
    for some in hits.chunks(BATCH_SIZE) {
        let posts = filter_matching_hits(tx, &asked.query, some)?;
        found.extend(posts.iter().map(|post| SearchHit {
            id: post.id.get(),
            created_at_ms: post.created_at.ms(),
        }));
    }
    Ok(found)
}

/// Counters of posts and places are compared post by post, which has a bound.
fn query_too_broad(asked: &PostSearchRequest) -> Refusal {
    let query = asked.query.to_string();
    let message = format!(
        "There were errors processing your request: more than {MAX_VERIFIED_POSTS} posts would have to be \
         looked at one by one; use clauses that match fewer posts, or a shorter time"
    );
    Refusal::invalid_parameter("query", query, message)
}
