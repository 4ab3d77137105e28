//! What cannot go on. None of these pages leads to where the request wanted to go.

use base::clock::wall_time;
use base::{Fault, Refusal};
use edge::Body;
use http::header::{HeaderValue, RETRY_AFTER};
use pages::{CallbackDiff, ErrorPage, HtmlPage, PageErrorKind};

use super::{BrowserVisit, PageContext};
use crate::access_log::RequestId;
use crate::reply::HttpReply;
use crate::request_context::RequestContext;

/// The page that says so.
pub(crate) fn render_page(
    call: &RequestContext,
    visit: &BrowserVisit,
    wrong: PageErrorKind,
    app: Option<String>,
) -> Result<HttpReply, Fault> {
    render_callback_mismatch(call, visit, wrong, app, Vec::new())
}

/// The same, with how an address compares with those that an app has registered.
pub(super) fn render_callback_mismatch(
    call: &RequestContext,
    visit: &BrowserVisit,
    wrong: PageErrorKind,
    app: Option<String>,
    compared: Vec<CallbackDiff>,
) -> Result<HttpReply, Fault> {
    let status = status_code(&wrong);
    let page = ErrorPage {
        frame: visit.page_frame(call),
        kind: wrong,
        app,
        comparisons: compared,
        reference: Some(call.head().id.as_str().to_owned()),
    };
    Ok(visit.render_page(call, &page)?.status(status))
}

/// The page for a refusal that no handler has put into words, with the status and the headers that
/// it was spoken with.
pub(crate) fn render_refusal(
    front: &PageContext,
    reply: HttpReply,
    refusal: &Refusal,
    wait: Option<i64>,
    id: &RequestId,
) -> HttpReply {
    let wait = wait.filter(|_| *refusal == Refusal::RateLimited);
    let wrong = match (refusal, wait) {
        (Refusal::RouteNotFound | Refusal::NotFound(_), _) => PageErrorKind::NotFound,
        (Refusal::MethodNotAllowed { .. }, _) => PageErrorKind::MethodNotAllowed,
        (Refusal::RateLimited, Some(wait)) => PageErrorKind::TooManyAttempts(wait),
        (Refusal::Unavailable, _) => PageErrorKind::Overloaded,
        (other, _) => PageErrorKind::Refused(crate::error_formats::error_message(other).to_owned()),
    };
    let reply = match wait {
        Some(wait) => reply.header(RETRY_AFTER, HeaderValue::from(wait)),
        None => reply,
    };
    replace_body(front, reply, wrong, id)
}

/// The page for a failure of ours.
pub(crate) fn render_failure(front: &PageContext, reply: HttpReply, id: &RequestId) -> HttpReply {
    replace_body(front, reply, PageErrorKind::InternalError, id)
}

/// A page in the place of a plain one. Who is signed in is not asked: asking may be what failed.
fn replace_body(front: &PageContext, plain: HttpReply, wrong: PageErrorKind, id: &RequestId) -> HttpReply {
    let page = ErrorPage {
        frame: front.page_frame(wall_time()),
        kind: wrong,
        app: None,
        comparisons: Vec::new(),
        reference: Some(id.as_str().to_owned()),
    };
    match page.render_html() {
        Ok(html) => HttpReply {
            body: Body::full(html),
            ..plain
        },
        Err(_) => plain,
    }
}

const fn status_code(wrong: &PageErrorKind) -> u16 {
    match wrong {
        PageErrorKind::FormExpired | PageErrorKind::Forbidden => 403,
        PageErrorKind::TooManyAttempts(_) => 429,
        PageErrorKind::NotFound => 404,
        PageErrorKind::MethodNotAllowed => 405,
        PageErrorKind::Overloaded => 503,
        PageErrorKind::InternalError => 500,
        _ => 400,
    }
}
