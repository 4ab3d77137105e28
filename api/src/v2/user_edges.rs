//! Lists of users linked to a user: followers, blocks, affiliates.

use base::refusal::ResourceRef;
use base::{Error, Fault, Refusal, UserId, order_by_keys};
use network::timelines::timeline_visibility;
use network::visibility::{Viewer, Visibility};
use store::Tx;
use store::follows::UserEdge;
use store::posts::PageRange;
use store::users;
use web::pagination::PageTokens;
use web::request_context::{HttpReply, RequestContext};

use super::edge_pages::{edge_range, refusal_answer};
use super::user_render_context;

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
    viewers: ListViewers,
    read: ReadUserEdges,
) -> Result<HttpReply, Error> {
    let page = call.page_request()?;
    let range = edge_range(&page);
    let (viewer, selection, options) = user_render_context(call)?;
    let read = call.read(move |tx| {
        if let Some(refusal) = list_refusal(tx, viewer, id, viewers)? {
            return Ok((refusal_answer(refusal), PageTokens::default()));
        }
        let slice = page.slice_rows(read(tx, id, &range)?, |edge| edge.1);
        let found = load_users(tx, &slice.rows)?;
        let found = view::render_users(tx, viewer, found, &selection, options)?;
        Ok((found, slice.tokens))
    });
    let (found, tokens) = read.await?;
    if !found.errors.is_empty() && found.count == 0 {
        return call.respond(&found);
    }
    call.respond_page(&found, &tokens)
}

fn list_refusal(tx: &mut Tx<'_>, viewer: Viewer, id: UserId, viewers: ListViewers) -> Result<Option<Refusal>, Fault> {
    let subject = ResourceRef::new("user", "id", id);
    let Some(user) = users::find_by_id(tx, id)? else {
        return Ok(Some(Refusal::NotFound(subject)));
    };
    Ok(match timeline_visibility(tx, viewer, &user)? {
        Visibility::Visible => None,
        Visibility::Forbidden if viewers == ListViewers::Anyone => None,
        Visibility::Forbidden => Some(Refusal::NotVisible(subject)),
        Visibility::Suspended => Some(Refusal::Suspended(subject)),
        Visibility::Missing => Some(Refusal::NotFound(subject)),
    })
}

/// In the order of the edges.
pub(super) fn load_users(tx: &mut Tx<'_>, edges: &[UserEdge]) -> Result<Vec<users::User>, Fault> {
    let ids: Vec<UserId> = edges.iter().map(|(user, _)| *user).collect();
    let mut found = users::find_by_ids(tx, &ids)?;
    order_by_keys(&mut found, &ids, |user| user.id);
    Ok(found)
}
