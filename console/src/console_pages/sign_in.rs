//! `POST /console/sign-in`: signs a browser in as any user, without a password.

use base::{Id, Refusal, UserId};
use portal::{BrowserVisit, PageExit, portal_page, sign_in_as};
use web::endpoint::{BodySpec, Endpoint, MAX_TEXT};
use web::page_context::DEFAULT_PATH;
use web::request_context::{HttpReply, RequestContext};
use web::text_members;

pub(super) const PATH: &str = "/console/sign-in";

pub(super) static ENDPOINTS: &[Endpoint] = &[portal_page("consoleSignIn", "POST", PATH, &submit)
    .summary("Signs a browser in as any user.")
    .body(BodySpec::Form(text_members! { MAX_TEXT; csrf user next }))];

async fn submit(call: RequestContext) -> Result<HttpReply, PageExit> {
    let (visit, sent) = BrowserVisit::accept_form(&call).await?;
    let text = sent.text("user");
    let user: Option<UserId> = Id::parse(&text);
    let user = user.ok_or_else(|| Refusal::invalid_value("user", text))?;
    let next = sent.return_path().unwrap_or_else(|| DEFAULT_PATH.to_owned());
    sign_in_as(&call, &visit, user, &next).await
}
