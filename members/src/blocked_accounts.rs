//! `/settings/blocked` and `/settings/muted`. Buttons undo it.

use base::{Fault, UserId};
use pages::members::{BlockedAccountsPage, BlockedAccountsTab, PersonCard};
use portal::{MemberVisit, PageExit, PageQuery};
use store::Tx;
use store::graph::{self, RelationKind};
use store::posts::PageRange;
use web::request_context::{HttpReply, RequestContext};

use crate::lists::one_more;
use crate::page_ranges::{build_pager, cursor_of, range_before};
use crate::people::load_edge_cards;
use crate::post_cards::CardViewer;

pub(crate) async fn show_blocked(call: RequestContext) -> Result<HttpReply, PageExit> {
    show(call, BlockedAccountsTab::Blocked).await
}

pub(crate) async fn show_muted(call: RequestContext) -> Result<HttpReply, PageExit> {
    show(call, BlockedAccountsTab::Muted).await
}

async fn show(call: RequestContext, tab: BlockedAccountsTab) -> Result<HttpReply, PageExit> {
    let visit = MemberVisit::from_call(&call).await?;
    let user = visit.person.user.id;
    let query = PageQuery::from_call(&call).unwrap_or_default();
    let (viewer, range) = (CardViewer::new(&call, &visit), one_more(&range_before(&query)));
    let (people, next) = call.read(move |tx| Ok(load_accounts(tx, viewer, user, tab, &range)?)).await?;
    let pager = build_pager(tab.path(), cursor_of(&query).is_none(), next);
    let page = BlockedAccountsPage { frame: visit.page_frame(&call), tab, people, pager };
    Ok(visit.render_page(&call, &page)?)
}

fn load_accounts(
    tx: &mut Tx<'_>,
    viewer: CardViewer,
    user: UserId,
    tab: BlockedAccountsTab,
    range: &PageRange,
) -> Result<(Vec<PersonCard>, Option<i64>), Fault> {
    let (kind, action) = match tab {
        BlockedAccountsTab::Blocked => (RelationKind::Block, ("unblock", "Unblock")),
        BlockedAccountsTab::Muted => (RelationKind::Mute, ("unmute", "Unmute")),
    };
    let edges = graph::target_page(tx, kind, user, range)?;
    let (mut people, next) = load_edge_cards(tx, viewer, edges)?;
    for person in &mut people {
        person.actions = vec![(action.0.into(), action.1)];
    }
    Ok((people, next))
}
