//! Letters of a development world, which leaves none out of the house.

use pages::{Letter, LetterPage, Mailbox, Pager};
use store::emails;

use super::not_found;
use crate::call::Call;
use crate::endpoint::Pending;
use crate::pages::forms::Query;
use crate::pages::front::LINKS;
use crate::pages::{Visit, run};

/// Letters on one page.
const PAGE: usize = 50;

/// `GET /mailbox`.
pub(crate) fn list(call: Call) -> Pending {
    run(async move {
        let visit = Visit::of(&call).await?;
        let query = Query::of(&call).ok();
        let before = query.and_then(|query| query.get("before")?.parse().ok());
        let work = move |tx: &mut store::Tx<'_>| Ok(emails::list(tx, before, 51)?);
        let mut found = call.read(work).await?;
        let more = found.len() > PAGE;
        found.truncate(PAGE);
        let last = found.last().map(|letter| letter.id).filter(|_| more);
        let pager = Pager {
            previous: before.map(|_| LINKS.mailbox.to_owned()),
            next: last.map(|id| format!("{}?before={id}", LINKS.mailbox)),
        };
        let shown = found.into_iter().map(|letter| Letter {
            path: format!("{}/{}", LINKS.mailbox, letter.id),
            to: letter.recipient,
            subject: letter.subject,
            sent: letter.created_at,
        });
        let mut frame = visit.frame(&call);
        // Letters follow the machine's clock.
        frame.now = base::clock::wall_time();
        let page = Mailbox {
            frame,
            letters: shown.collect(),
            pager,
        };
        Ok(visit.page(&call, &page)?)
    })
}

/// `GET /mailbox/{id}`.
pub(crate) fn letter(call: Call) -> Pending {
    run(async move {
        let visit = Visit::of(&call).await?;
        let id: Option<i64> = call.path_text("id")?.parse().ok();
        let id = id.and_then(|id| Some((id, id.checked_add(1)?)));
        let Some((id, after)) = id else {
            return Err(not_found(&call, &visit));
        };
        let work = move |tx: &mut store::Tx<'_>| Ok(emails::list(tx, Some(after), 1)?);
        let found = call.read(work).await?.pop();
        let Some(found) = found.filter(|letter| letter.id == id) else {
            return Err(not_found(&call, &visit));
        };
        let front = &call.home.front;
        let mut frame = visit.frame(&call);
        frame.now = base::clock::wall_time();
        let body = found.text.as_ref().map(base::Secret::expose_secret);
        let gone = match found.sent_at {
            Some(_) => "It was handed to the mail server; its text is not kept.".to_owned(),
            None => format!("It was not sent: {}.", found.problem),
        };
        let page = LetterPage {
            frame,
            from: front.site.name().to_owned(),
            to: found.recipient,
            subject: found.subject,
            sent: found.created_at,
            body: body.unwrap_or(&gone).to_owned(),
        };
        Ok(visit.page(&call, &page)?)
    })
}
