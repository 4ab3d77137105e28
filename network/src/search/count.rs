//! How many posts a query finds, by when they were written.

use ::search::{Hit, Plan, Snapshot};
use base::{Refusal, Stop};
use store::Tx;

use super::find::{Asked, known, matching};

/// Posts that are looked at where the index alone does not decide.
const LOOKED_AT: usize = 200_000;
/// The same at once.
const AT_ONCE: usize = 1_000;

/// Counts the posts that a query matches by their times: `place` says into which figure a time goes,
/// and what lies between two times goes between their figures. Who asks does not count: what is
/// counted is what everybody may see.
pub fn count(
    tx: &mut Tx<'_>,
    snapshot: &Snapshot,
    asked: &Asked,
    place: impl Fn(i64) -> Option<usize>,
    figures: &mut [u64],
) -> Result<(), Stop> {
    let known = known(tx, &asked.query)?;
    let plan = Plan::new(&asked.query, &known);
    if plan.is_decided() {
        snapshot.spread(&plan, &asked.window, place, figures)?;
        return Ok(());
    }
    for hit in looked_at(tx, snapshot, &plan, asked)? {
        if let Some(figure) = place(hit.at).and_then(|place| figures.get_mut(place)) {
            *figure += 1;
        }
    }
    Ok(())
}

/// All posts that a query matches, in no particular order.
pub fn hits(tx: &mut Tx<'_>, snapshot: &Snapshot, asked: &Asked) -> Result<Vec<Hit>, Stop> {
    let known = known(tx, &asked.query)?;
    let plan = Plan::new(&asked.query, &known);
    if !plan.is_decided() {
        return looked_at(tx, snapshot, &plan, asked);
    }
    let mut hits = Vec::new();
    snapshot.each(&plan, &asked.window, |hit| hits.push(hit))?;
    Ok(hits)
}

/// The posts that match where the index alone does not decide.
fn looked_at(
    tx: &mut Tx<'_>,
    snapshot: &Snapshot,
    plan: &Plan,
    asked: &Asked,
) -> Result<Vec<Hit>, Stop> {
    let mut hits: Vec<Hit> = Vec::new();
    snapshot.each(plan, &asked.window, |hit| hits.push(hit))?;
    if hits.len() > LOOKED_AT {
        return Err(too_broad(asked).into());
    }
    let mut found = Vec::new();
    for some in hits.chunks(AT_ONCE) {
        let posts = matching(tx, &asked.query, some)?;
        found.extend(posts.iter().map(|post| Hit {
            id: post.id.get(),
            at: post.created_at.ms(),
        }));
    }
    Ok(found)
}

/// Counters of posts and places are compared post by post, which has a bound.
fn too_broad(asked: &Asked) -> Refusal {
    let query = asked.query.to_string();
    let message = format!(
        "There were errors processing your request: more than {LOOKED_AT} posts would have to be \
         looked at one by one; use clauses that match fewer posts, or a shorter time"
    );
    Refusal::invalid("query", query, message)
}
