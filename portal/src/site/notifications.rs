//! Notifications of an account.

use network::notifications;
use pages::{NotificationItem, NotificationsPage, Pager};
use web::endpoint::HandlerFuture;
use web::page_context::SITE_LINKS;
use web::request_context::RequestContext;

use super::forms::PageQuery;
use super::{BrowserVisit, run_page};

const PAGE_SIZE: usize = 50;

/// `GET /notifications`.
pub(crate) fn list(call: RequestContext) -> HandlerFuture {
    run_page(async move {
        let visit = BrowserVisit::from_call(&call).await?;
        let user = visit.require_sign_in(&call)?.user.id;
        let query = PageQuery::from_call(&call).ok();
        let before: Option<i64> = query.and_then(|query| query.get("before")?.parse().ok());
        let below = before.unwrap_or(i64::MAX);
        let work = move |tx: &mut store::Tx<'_>| Ok(notifications::list_before(tx, user, below, 51)?);
        let mut found = call.read(work).await?;
        let more = found.len() > PAGE_SIZE;
        found.truncate(PAGE_SIZE);
        let last = found.last().map(|one| one.id).filter(|_| more);
        let path = SITE_LINKS.notifications;
        let page = NotificationsPage {
            frame: visit.page_frame(&call),
            notifications: found
                .into_iter()
                .map(|one| NotificationItem { at: one.created_at(), text: one.text, path: one.path })
                .collect(),
            pager: Pager {
                previous: before.map(|_| path.to_owned()),
                next: last.map(|id| format!("{path}?before={id}")),
            },
        };
        Ok(visit.render_page(&call, &page)?)
    })
}
