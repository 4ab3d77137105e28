//! The link that makes someone the first owner.

use network::user_roles;
use pages::TextPage;
use portal::{BrowserVisit, PageQuery, accept_form, redirect_to, run_page};
use store::Tx;
use web::endpoint::HandlerFuture;
use web::request_context::RequestContext;

pub(crate) const PATH: &str = "/setup";

/// `GET /setup?token=…`. Opening the page does not use the link up, since programs fetch links too.
pub(crate) fn show(call: RequestContext) -> HandlerFuture {
    run_page(async move {
        let visit = BrowserVisit::from_call(&call).await?;
        visit.require_sign_in(&call)?;
        let query = PageQuery::from_call(&call).unwrap_or_default();
        let token = query.get("token").unwrap_or_default();
        // The secret consists of letters and digits; nothing else is put into the page.
        let is_secret = !token.is_empty() && token.chars().all(|c| c.is_ascii_alphanumeric());
        let frame = visit.page_frame(&call);
        let html = if is_secret {
            format!(
                "<p>You become the owner of this site, who may change everything about it.</p>\
                 <form method=\"post\" action=\"{PATH}\"><input type=\"hidden\" name=\"csrf\" value=\"{}\">\
                 <input type=\"hidden\" name=\"token\" value=\"{token}\">\
                 <div class=\"actions\"><button type=\"submit\" class=\"button\">Become the owner</button></div></form>",
                frame.csrf
            )
        } else {
            "<p>The link is incomplete.</p>".to_owned()
        };
        Ok(visit.render_page(&call, &TextPage { frame, title: "Set up this site".to_owned(), html })?)
    })
}

/// `POST /setup`.
pub(crate) fn submit(call: RequestContext) -> HandlerFuture {
    run_page(async move {
        let visit = BrowserVisit::from_call(&call).await?;
        let person = visit.require_sign_in(&call)?;
        let sent = accept_form(&call, &visit).await?;
        let (actor, token) = (person.audit_actor(&visit), sent.text("token"));
        call.write(move |tx: &mut Tx<'_>| user_roles::accept_setup(tx, &actor, &token)).await?;
        Ok(redirect_to(crate::admin::SITE_PATH))
    })
}
