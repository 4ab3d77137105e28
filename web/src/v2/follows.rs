//! Who follows whom, as lists.

use base::refusal::Subject;
use base::{Fault, Refusal, Stop, UserId};
use network::visibility::{Sight, of_user};
use store::Tx;
use store::follows::{self, Edge};
use store::posts::Span;
use store::users;
use view::Answer;

use super::{neighbours, span, wants_users};
use crate::call::{Call, Reply};
use crate::endpoint::Pending;

type Read = fn(&mut Tx<'_>, UserId, &Span) -> Result<Vec<Edge>, Fault>;

/// `GET /2/users/{id}/followers`.
pub(crate) fn followers(call: Call) -> Pending {
    Box::pin(async move { list(&call, follows::followers).await })
}

/// `GET /2/users/{id}/following`.
pub(crate) fn following(call: Call) -> Pending {
    Box::pin(async move { list(&call, follows::following).await })
}

async fn list(call: &Call, read: Read) -> Result<Reply, Stop> {
    let id: UserId = call.path_id("id")?;
    let page = call.page()?;
    let asked = Span {
        limit: page.fetch(),
        ..span(&page, (0, i64::MAX))
    };
    let (viewer, wants, spoken) = (call.viewer(), wants_users(call)?, call.spoken());
    let whole = page.clone();
    let read = call.read(move |tx| {
        let sight = users::by_id(tx, id)?.map_or(Sight::Missing, |user| of_user(&user));
        if sight != Sight::Visible {
            let subject = Subject::new("user", "id", id);
            let suspended = sight == Sight::Suspended;
            let refusal = if suspended {
                Refusal::Suspended(subject)
            } else {
                Refusal::NotFound(subject)
            };
            let nothing = Answer {
                errors: vec![refusal],
                ..Answer::default()
            };
            return Ok((nothing, None, false));
        }
        let edges = read(tx, id, &asked)?;
        let more = edges.len() > whole.limit;
        let edges = trimmed(edges, whole.limit, whole.is_backward());
        let looked_at = edges
            .first()
            .zip(edges.last())
            .map(|(first, last)| (first.1, last.1));
        let ids: Vec<UserId> = edges.iter().map(|(user, _)| *user).collect();
        let mut found = users::by_ids(tx, &ids)?;
        let place = |user: &users::User| ids.iter().position(|id| *id == user.id);
        found.sort_by_cached_key(place);
        Ok((
            view::users(tx, viewer, found, &wants, spoken)?,
            looked_at,
            more,
        ))
    });
    let (found, looked_at, more) = read.await?;
    if !found.errors.is_empty() && found.count == 0 {
        return call.answer(&found);
    }
    call.answer_page(&found, &neighbours(&page, looked_at, more))
}

/// The edges nearest to where the page starts.
fn trimmed(mut edges: Vec<Edge>, limit: usize, backward: bool) -> Vec<Edge> {
    if backward {
        let surplus = edges.len().saturating_sub(limit);
        edges.drain(..surplus);
    } else {
        edges.truncate(limit);
    }
    edges
}
