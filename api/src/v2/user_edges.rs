//! Lists of users linked to a user: followers, blocks, affiliates.

use base::refusal::ResourceRef;
use base::{Error, Fault, Refusal, UserId};
use network::timelines::timeline_visibility;
use network::visibility::{Viewer, Visibility};
use store::Tx;
use store::follows::UserEdge;
use store::posts::PageRange;
use store::users;
use web::request_context::{HttpReply, RequestContext};

use super::edge_pages::{keep_all_users, respond_users};

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
    let viewer = call.viewer();
    let read = move |tx: &mut Tx<'_>, range: &PageRange| {
        check_list_access(tx, viewer, id, viewers)?;
        Ok(read(tx, id, range)?)
    };
    respond_users(call, read, keep_all_users).await
}

fn check_list_access(tx: &mut Tx<'_>, viewer: Viewer, id: UserId, viewers: ListViewers) -> Result<(), Error> {
    let subject = ResourceRef::new("user", "id", id);
    let Some(user) = users::find_by_id(tx, id)? else {
        return Err(Refusal::NotFound(subject).into());
    };
    match timeline_visibility(tx, viewer, &user)? {
        Visibility::Visible => Ok(()),
        Visibility::Forbidden if viewers == ListViewers::Anyone => Ok(()),
        Visibility::Forbidden => Err(Refusal::NotVisible(subject).into()),
        Visibility::Suspended => Err(Refusal::Suspended(subject).into()),
        Visibility::Missing => Err(Refusal::NotFound(subject).into()),
    }
}
