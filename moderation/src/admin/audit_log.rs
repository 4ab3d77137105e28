//! The audit log.

use base::Error;
use network::audit::{self, AuditEntry, AuditFilter};
use network::user_roles::UserRole;
use pages::{AdminAuditPage, AuditItem, Pager};
use portal::{BrowserVisit, PageQuery, run_page};
use store::Tx;
use web::endpoint::HandlerFuture;
use web::request_context::RequestContext;

use super::AUDIT_PATH;
use crate::access::require_staff;

const PAGE_SIZE: i64 = 100;

/// `GET /admin/audit`.
pub(crate) fn show(call: RequestContext) -> HandlerFuture {
    run_page(async move {
        let visit = BrowserVisit::from_call(&call).await?;
        require_staff(&call, &visit, UserRole::Admin)?;
        let query = PageQuery::from_call(&call).unwrap_or_default();
        let before: Option<i64> = query.get("before").and_then(|text| text.parse().ok());
        let filter = AuditFilter { before, ..AuditFilter::default() };
        let found = call.read(move |tx: &mut Tx<'_>| Ok::<_, Error>(audit::list(tx, filter, PAGE_SIZE)?)).await?;
        let is_full = i64::try_from(found.len()).is_ok_and(|count| count >= PAGE_SIZE);
        let next = found.last().filter(|_| is_full).map(|last| format!("{AUDIT_PATH}?before={}", last.seq));
        let page = AdminAuditPage {
            frame: visit.page_frame(&call),
            entries: found.into_iter().map(audit_item).collect(),
            pager: Pager { previous: before.map(|_| AUDIT_PATH.to_owned()), next },
        };
        Ok(visit.render_page(&call, &page)?)
    })
}

fn audit_item(entry: AuditEntry) -> AuditItem {
    let actor = match entry.actor {
        Some(user) => user.to_string(),
        None if entry.operator => "operator".to_owned(),
        None => String::new(),
    };
    AuditItem { at: entry.at, kind: entry.kind, actor, detail: entry.detail }
}
