//! The mailbox of a development server, which sends no emails.

use pages::{EmailPage, MailboxItem, MailboxPage};
use store::emails;
use web::page_context::SITE_LINKS;
use web::request_context::{HttpReply, RequestContext};

use super::not_found_page;
use crate::site::forms::PageQuery;
use crate::site::page_ranges::{build_pager, cut_page};
use crate::site::{BrowserVisit, PageExit};

const PAGE_SIZE: i64 = 50;

pub(crate) async fn list(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = BrowserVisit::from_call(&call).await?;
    let query = PageQuery::from_call(&call).ok();
    let before = query.and_then(|query| query.get("before")?.parse().ok());
    let work = move |tx: &mut store::Tx<'_>| Ok(emails::list(tx, before, PAGE_SIZE + 1)?);
    let mut found = call.read(work).await?;
    let next = cut_page(&mut found, PAGE_SIZE, |email| email.id);
    let pager = build_pager(SITE_LINKS.mailbox, "before", before.is_none(), next);
    let shown = found.into_iter().map(|email| MailboxItem {
        path: format!("{}/{}", SITE_LINKS.mailbox, email.id),
        to: email.recipient,
        subject: email.subject,
        sent: email.created_at,
    });
    let frame = visit.page_frame(&call);
    let page = MailboxPage { frame, emails: shown.collect(), pager };
    Ok(visit.render_page(&call, &page)?)
}

pub(crate) async fn show(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = BrowserVisit::from_call(&call).await?;
    let id: Option<i64> = call.path_text("id")?.parse().ok();
    let id = id.and_then(|id| Some((id, id.checked_add(1)?)));
    let Some((id, after)) = id else {
        return Err(not_found_page(&call, &visit));
    };
    let work = move |tx: &mut store::Tx<'_>| Ok(emails::list(tx, Some(after), 1)?);
    let found = call.read(work).await?.pop();
    let Some(found) = found.filter(|email| email.id == id) else {
        return Err(not_found_page(&call, &visit));
    };
    let page_context = &call.state.page_context;
    let frame = visit.page_frame(&call);
    let body = found.text.as_ref().map(base::Secret::expose_secret);
    let gone = match found.sent_at {
        Some(_) => "This email was handed to the mail server; its text was not kept.".to_owned(),
        None => format!("This email was not sent: {}.", found.problem),
    };
    let page = EmailPage {
        frame,
        from: page_context.site.name().to_string(),
        to: found.recipient,
        subject: found.subject,
        sent: found.created_at,
        body: body.unwrap_or(&gone).to_owned(),
    };
    Ok(visit.render_page(&call, &page)?)
}
