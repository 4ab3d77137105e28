//! The second step of signing in: a code of the authenticator app, or a recovery code.

use crate::site::PageExit;
use base::{Error, Secret};
use http::header::{HeaderValue, RETRY_AFTER};
use identity::pending_sign_ins::{self, SecondFactorAttempt, SecondFactorOutcome};
use pages::{FormField, SignInCodePage};
use web::page_context::{DEFAULT_PATH, SITE_LINKS};
use web::reply::HttpReply;
use web::request_context::RequestContext;

use super::errors::{retry_seconds, throttled_message};
use super::forms::{self, PageQuery};
use super::return_target::ReturnTarget;
use super::sign_in::switch_account_path;
use super::{BrowserVisit, redirect_to, session};

pub(crate) const CODE_PATH: &str = "/login/code";

pub(super) const WRONG_CODE: &str = "This code is wrong, or was used before";

/// Where a browser goes whose password was right, with the cookie of the sign-in.
pub(super) fn ask_for_code(call: &RequestContext, next: &str, pending: &Secret) -> HttpReply {
    let reply = redirect_to(&format!("{CODE_PATH}?next={}", base::percent::encode(next)));
    session::set_pending_cookie(call, reply, pending)
}

pub(crate) async fn show(call: RequestContext) -> Result<HttpReply, PageExit> {
    let visit = BrowserVisit::from_call(&call).await?;
    let query = PageQuery::from_call(&call).ok();
    let next = query.as_ref().and_then(|query| query.get("next"));
    let next = next.and_then(forms::local_path).unwrap_or(DEFAULT_PATH);
    let pending = session::pending_sign_in(&call);
    let is_pending = move |tx: &mut store::Tx<'_>| match &pending {
        Some(secret) => Ok(pending_sign_ins::is_pending(tx, secret.expose_secret())?),
        None => Ok(false),
    };
    if !call.read(is_pending).await? {
        return Ok(start_again(&call, next));
    }
    Ok(code_page(&call, &visit, next, FormField::default(), None).await?)
}

pub(crate) async fn submit(call: RequestContext) -> Result<HttpReply, PageExit> {
    let (visit, sent) = BrowserVisit::accept_form(&call).await?;
    let next = sent.return_path().unwrap_or_else(|| DEFAULT_PATH.to_owned());
    let Some(pending) = session::pending_sign_in(&call) else {
        return Ok(start_again(&call, &next));
    };
    let attempt = SecondFactorAttempt {
        pending,
        code: Secret::new(sent.text("code")),
        client_info: visit.client_info.clone(),
        existing_session: visit.session_digest,
    };
    let page_context = &call.state.page_context;
    match page_context.sign_in_gate.complete_sign_in(&page_context.site, &attempt).await? {
        SecondFactorOutcome::Accepted { text, session: started } => {
            Ok(session::begin_session(&call, &next, &text, started.user_id).await?)
        }
        SecondFactorOutcome::Wrong => {
            let field = FormField::invalid("", WRONG_CODE);
            Ok(code_page(&call, &visit, &next, field, None).await?.status(400))
        }
        SecondFactorOutcome::Throttled { retry_ms } => {
            let seconds = retry_seconds(retry_ms);
            let failure = Some(throttled_message(seconds));
            let reply = code_page(&call, &visit, &next, FormField::default(), failure).await?;
            Ok(reply.status(429).header(RETRY_AFTER, HeaderValue::from(seconds)))
        }
        SecondFactorOutcome::Expired => Ok(start_again(&call, &next)),
    }
}

fn start_again(call: &RequestContext, next: &str) -> HttpReply {
    let next = base::percent::encode(next);
    session::clear_pending_cookie(call, redirect_to(&format!("{}?next={next}", SITE_LINKS.sign_in)))
}

async fn code_page(
    call: &RequestContext,
    visit: &BrowserVisit,
    next: &str,
    code: FormField,
    failure: Option<String>,
) -> Result<HttpReply, Error> {
    let target = ReturnTarget::from_path(call, next).await?;
    let mut frame = visit.page_frame(call);
    frame.failure = failure;
    let page = SignInCodePage {
        frame,
        action: CODE_PATH.to_owned(),
        next: next.to_owned(),
        app: target.app.clone(),
        code,
        restart: switch_account_path(next),
    };
    let reply = visit.render_page(call, &page)?;
    Ok(target.allow_redirects(reply))
}
