//! Lists of users linked to a user: followers, blocks, affiliates.

use base::refusal::ResourceRef;
use base::{Error, Fault, Refusal, UserId};
use network::timelines::timeline_visibility;
use network::visibility::{Viewer, Visibility};
use store::Tx;
use store::follows::UserEdge;
use store::posts::PageRange;
use store::users;
use view::ResponsePayload;

use super::{neighbour_tokens, page_range, user_field_selection};
use crate::request_context::{HttpReply, RequestContext};

pub(super) type ReadUserEdges = fn(&mut Tx<'_>, UserId, &PageRange) -> Result<Vec<UserEdge>, Fault>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListViewers {
    /// Everyone who may see the owner's profile.
    Anyone,
    /// Everyone who may see the owner's posts.
    Readers,
}

/// Latest edge first.
pub(super) async fn respond_user_list(
    call: &RequestContext,
    id: UserId,
    to: ListViewers,
    read: ReadUserEdges,
) -> Result<HttpReply, Error> {
    let page = call.page_request()?;
    let asked = PageRange {
        limit: page.fetch_limit(),
        ..page_range(&page, (0, i64::MAX))
    };
    let (viewer, wants, spoken) = (call.viewer(), user_field_selection(call)?, call.answer_vocabulary());
    let whole = page.clone();
    let read = call.read(move |tx| {
        if let Some(refusal) = list_refusal(tx, viewer, id, to)? {
            let nothing = ResponsePayload {
                errors: vec![refusal],
                ..ResponsePayload::default()
            };
            return Ok((nothing, None, false));
        }
        let edges = read(tx, id, &asked)?;
        let more = edges.len() > whole.limit;
        let edges = trim_edges(edges, whole.limit, whole.is_backward());
        let looked_at = edges.first().zip(edges.last()).map(|(first, last)| (first.1, last.1));
        let found = load_users(tx, &edges)?;
        let found = view::render_users(tx, viewer, found, &wants, spoken)?;
        Ok((found, looked_at, more))
    });
    let (found, looked_at, more) = read.await?;
    if !found.errors.is_empty() && found.count == 0 {
        return call.respond(&found);
    }
    call.respond_page(&found, &neighbour_tokens(&page, looked_at, more))
}

fn list_refusal(tx: &mut Tx<'_>, viewer: Viewer, id: UserId, to: ListViewers) -> Result<Option<Refusal>, Fault> {
    let subject = ResourceRef::new("user", "id", id);
    let Some(user) = users::find_by_id(tx, id)? else {
        return Ok(Some(Refusal::NotFound(subject)));
    };
    Ok(match timeline_visibility(tx, viewer, &user)? {
        Visibility::Visible => None,
        Visibility::Forbidden if to == ListViewers::Anyone => None,
        Visibility::Forbidden => Some(Refusal::NotVisible(subject)),
        Visibility::Suspended => Some(Refusal::Suspended(subject)),
        Visibility::Missing => Some(Refusal::NotFound(subject)),
    })
}

/// In the order of the edges.
pub(super) fn load_users(tx: &mut Tx<'_>, edges: &[UserEdge]) -> Result<Vec<users::User>, Fault> {
    let ids: Vec<UserId> = edges.iter().map(|(user, _)| *user).collect();
    let found = users::find_by_ids(tx, &ids)?;
    Ok(sort_users(&ids, found))
}

pub(super) fn sort_users(ids: &[UserId], mut found: Vec<users::User>) -> Vec<users::User> {
    let places: std::collections::HashMap<UserId, usize> =
        ids.iter().zip(0..).map(|(id, place)| (*id, place)).collect();
    found.sort_by_key(|user| places.get(&user.id).copied());
    found
}

/// Drops the surplus edge at the far end of the page.
fn trim_edges(mut edges: Vec<UserEdge>, limit: usize, backward: bool) -> Vec<UserEdge> {
    if backward {
        let surplus = edges.len().saturating_sub(limit);
        edges.drain(..surplus);
    } else {
        edges.truncate(limit);
    }
    edges
}
