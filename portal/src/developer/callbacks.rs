//! The callback tester.

use identity::developer_apps;
use pages::{AppTab, CallbackDiff, CallbackTesterPage, CallbackVerdict, FormField};
use web::reply::HttpReply;
use web::request_context::RequestContext;

use super::OwnedApp;
use crate::site::PageExit;
use crate::site::forms::accept_form;

pub(crate) async fn show_tester(call: RequestContext) -> Result<HttpReply, PageExit> {
    let own = OwnedApp::from_call(&call).await?;
    tester_page(&call, &own, FormField::default(), None)
}

/// `POST /developer/apps/{id}/callbacks`. Nothing changes.
pub(crate) async fn test(call: RequestContext) -> Result<HttpReply, PageExit> {
    let own = OwnedApp::from_call(&call).await?;
    let sent = accept_form(&call, &own.visit).await?;
    let url = sent.text("url");
    if url.is_empty() {
        let url = FormField::invalid(url, "Enter a callback URL.");
        return Ok(tester_page(&call, &own, url, None)?.status(400));
    }
    let tested = developer_apps::test_callback(&own.app, &url, call.state.oauth_settings.ports);
    let compared = tested.comparisons.into_iter().map(|one| CallbackDiff {
        registered: one.registered,
        submitted: url.clone(),
        oauth1: one.oauth1,
        oauth2: one.oauth2,
    });
    let verdict = CallbackVerdict {
        oauth1: tested.oauth1,
        oauth2: tested.oauth2,
        rejection: tested.unfit,
        comparisons: compared.collect(),
    };
    tester_page(&call, &own, FormField::new(&url), Some(verdict))
}

fn tester_page(
    call: &RequestContext,
    own: &OwnedApp,
    url: FormField,
    verdict: Option<CallbackVerdict>,
) -> Result<HttpReply, PageExit> {
    let app = own.app_ref();
    let urls = own.app.callback_urls.lines();
    let page = CallbackTesterPage {
        frame: own.visit.page_frame(call),
        action: AppTab::Callbacks.path_for_app(&app),
        app,
        url,
        registered: urls.filter(|url| !url.is_empty()).count(),
        verdict,
    };
    Ok(own.visit.render_page(call, &page)?)
}
