//! How many posts a query finds, by when they were written.

use ::search::{Hit, Plan, Snapshot};
use base::{Refusal, Stop};
use store::Tx;

use super::find::{Asked, known, matching};

/// Posts that are looked at where the index alone does not decide.
const LOOKED_AT: usize = 200_000;
/// The same at once.
const AT_ONCE: usize = 1_000;

/// Calls with the time of each post that a query matches. Who asks does not count: what is counted
/// is what everybody may see.
pub fn count(
    tx: &mut Tx<'_>,
    snapshot: &Snapshot,
    asked: &Asked,
    mut call: impl FnMut(i64),
) -> Result<(), Stop> {
    let known = known(tx, &asked.query)?;
    let plan = Plan::new(&asked.query, &known);
    if plan.is_decided() {
        snapshot.times(&plan, &asked.window, call)?;
        return Ok(());
    }
    let mut hits: Vec<Hit> = Vec::new();
    snapshot.each(&plan, &asked.window, |hit| hits.push(hit))?;
    if hits.len() > LOOKED_AT {
        return Err(too_broad(asked).into());
    }
    for some in hits.chunks(AT_ONCE) {
        for post in matching(tx, &asked.query, some)? {
            call(post.created_at.ms());
        }
    }
    Ok(())
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
