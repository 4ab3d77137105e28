//! What a person was told that is said nowhere else.

use network::notifications;
use pages::{Notification, Notifications, Pager};

use super::forms::Query;
use super::front::LINKS;
use super::{Visit, run};
use crate::call::Call;
use crate::endpoint::Pending;

/// Notifications on one page.
const PAGE: usize = 50;

/// `GET /notifications`.
pub(crate) fn list(call: Call) -> Pending {
    run(async move {
        let visit = Visit::of(&call).await?;
        let user = visit.signed_in(&call)?.user.id;
        let query = Query::of(&call).ok();
        let before: Option<i64> = query.and_then(|query| query.get("before")?.parse().ok());
        let below = before.unwrap_or(i64::MAX);
        let work =
            move |tx: &mut store::Tx<'_>| Ok(notifications::list_before(tx, user, below, 51)?);
        let mut found = call.read(work).await?;
        let more = found.len() > PAGE;
        found.truncate(PAGE);
        let last = found.last().map(|one| one.id).filter(|_| more);
        let path = LINKS.notifications;
        let page = Notifications {
            frame: visit.frame(&call),
            notifications: found
                .into_iter()
                .map(|one| Notification {
                    at: one.created_at(),
                    text: one.text,
                    path: one.path,
                })
                .collect(),
            pager: Pager {
                previous: before.map(|_| path.to_owned()),
                next: last.map(|id| format!("{path}?before={id}")),
            },
        };
        Ok(visit.page(&call, &page)?)
    })
}
