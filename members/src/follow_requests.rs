//! `/notifications/requests`: those who ask to follow a protected account. Buttons accept and decline.

use base::{Fault, UserId};
use network::follows;
use pages::members::{FOLLOW_REQUESTS_PATH, FollowRequestsPage, PersonCard};
use portal::{MemberVisit, PageExit, PageQuery};
use store::Tx;
use store::posts::PageRange;
use web::request_context::{HttpReply, RequestContext};

use crate::page_ranges::{build_pager, cursor_of, range_before};
use crate::people::load_edge_cards;
use crate::post_cards::CardViewer;

pub(crate) async fn show(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = MemberVisit::from_call(&call).await?;
    let user = visit.person.user.id;
    let query = PageQuery::from_call(&call).unwrap_or_default();
    let (viewer, range) = (CardViewer::new(&call, &visit), range_before(&query));
    let (people, next) = call.read(move |tx| Ok(load_requests(tx, viewer, user, &range)?)).await?;
    let pager = build_pager(FOLLOW_REQUESTS_PATH, cursor_of(&query).is_none(), next);
    let page = FollowRequestsPage { frame: visit.page_frame(&call), people, pager };
    Ok(visit.render_page(&call, &page)?)
}

fn load_requests(
    tx: &mut Tx<'_>,
    viewer: CardViewer,
    user: UserId,
    range: &PageRange,
) -> Result<(Vec<PersonCard>, Option<i64>), Fault> {
    let edges = follows::list_requests(tx, user, &PageRange { limit: range.limit + 1, ..*range })?;
    let (mut people, next) = load_edge_cards(tx, viewer, edges)?;
    for person in &mut people {
        person.actions = vec![("approve".into(), "Accept"), ("deny".into(), "Decline")];
    }
    Ok((people, next))
}
