//! The landing page.

use network::registration::RegistrationPolicy;
use pages::LandingPage;
use web::endpoint::HandlerFuture;
use web::page_context::SITE_LINKS;
use web::request_context::RequestContext;

use super::{BrowserVisit, run_page};

/// `GET /`.
pub(crate) fn show(call: RequestContext) -> HandlerFuture {
    run_page(async move {
        let visit = BrowserVisit::from_call(&call).await?;
        let config = &call.state.page_context.config;
        let is_open = config.registration == RegistrationPolicy::Open;
        let page = LandingPage {
            frame: visit.page_frame(&call),
            sign_up: is_open.then(|| SITE_LINKS.sign_up.to_owned()),
            invited_only: config.registration == RegistrationPolicy::Invite,
            api: call.site().url.to_owned(),
            description: "/2/openapi.json".to_owned(),
        };
        Ok(visit.render_page(&call, &page)?)
    })
}
