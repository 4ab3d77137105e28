//! The landing page.

use crate::site::PageExit;
use identity::registration::RegistrationPolicy;
use pages::LandingPage;
use web::page_context::SITE_LINKS;
use web::request_context::{HttpReply, RequestContext};

use super::{BrowserVisit, registration};

pub(crate) async fn show(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = BrowserVisit::from_call(&call).await?;
    let policy = registration::effective_policy(&call).await?;
    let is_open = matches!(policy, RegistrationPolicy::Open | RegistrationPolicy::Approval);
    let page = LandingPage {
        frame: visit.page_frame(&call),
        sign_up: is_open.then(|| SITE_LINKS.sign_up.to_owned()),
        invited_only: policy == RegistrationPolicy::Invite,
        api: call.site().url.to_owned(),
        description: "/2/openapi.json".to_owned(),
    };
    Ok(visit.render_page(&call, &page)?)
}
