//! Error pages. None of them links to the requested redirect target.

use base::clock::wall_time;
use base::{Fault, Refusal};
use edge::Body;
use http::header::{HeaderValue, RETRY_AFTER};
use pages::{CallbackDiff, ErrorPage, HtmlPage, PageErrorKind};

use super::forms::PageQuery;
use super::{BrowserVisit, PageContext, PageExit};
use crate::access_log::RequestId;
use crate::reply::HttpReply;
use crate::request_context::RequestContext;

pub(crate) fn render_page(
    call: &RequestContext,
    visit: &BrowserVisit,
    kind: PageErrorKind,
    app: Option<String>,
) -> Result<HttpReply, Fault> {
    render_callback_mismatch(call, visit, kind, app, Vec::new())
}

/// Ends a handler with an error page.
pub(crate) fn exit_page(call: &RequestContext, visit: &BrowserVisit, kind: PageErrorKind) -> PageExit {
    match render_page(call, visit, kind, None) {
        Ok(reply) => reply.into(),
        Err(fault) => fault.into(),
    }
}

/// The query of a request, or an error page if it is malformed.
pub(super) fn require_query(call: &RequestContext, visit: &BrowserVisit) -> Result<PageQuery, PageExit> {
    PageQuery::from_call(call).map_err(|advice| exit_page(call, visit, PageErrorKind::InvalidRequest(advice)))
}

/// As [`render_page`], with a comparison with the app's registered callback URLs.
pub(super) fn render_callback_mismatch(
    call: &RequestContext,
    visit: &BrowserVisit,
    kind: PageErrorKind,
    app: Option<String>,
    compared: Vec<CallbackDiff>,
) -> Result<HttpReply, Fault> {
    let status = status_code(&kind);
    let page = ErrorPage {
        frame: visit.page_frame(call),
        kind,
        app,
        comparisons: compared,
        reference: Some(call.head().id.as_str().to_owned()),
    };
    Ok(visit.render_page(call, &page)?.status(status))
}

/// Replaces the body of a refusal's response with a page; status and headers stay.
pub(crate) fn render_refusal(
    page_context: &PageContext,
    reply: HttpReply,
    refusal: &Refusal,
    wait: Option<i64>,
    id: &RequestId,
) -> HttpReply {
    let wait = wait.filter(|_| *refusal == Refusal::RateLimited);
    let kind = match (refusal, wait) {
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
    replace_body(page_context, reply, kind, id)
}

pub(crate) fn render_failure(page_context: &PageContext, reply: HttpReply, id: &RequestId) -> HttpReply {
    replace_body(page_context, reply, PageErrorKind::InternalError, id)
}

/// Does not look up who is signed in: that lookup may be what failed.
fn replace_body(page_context: &PageContext, plain: HttpReply, kind: PageErrorKind, id: &RequestId) -> HttpReply {
    let page = ErrorPage {
        frame: page_context.page_frame(wall_time()),
        kind,
        app: None,
        comparisons: Vec::new(),
        reference: Some(id.as_str().to_owned()),
    };
    match page.render_html() {
        Ok(html) => HttpReply { body: Body::full(html), ..plain },
        Err(_) => plain,
    }
}

const fn status_code(kind: &PageErrorKind) -> u16 {
    match kind {
        PageErrorKind::FormExpired | PageErrorKind::Forbidden => 403,
        PageErrorKind::TooManyAttempts(_) => 429,
        PageErrorKind::NotFound => 404,
        PageErrorKind::MethodNotAllowed => 405,
        PageErrorKind::Overloaded => 503,
        PageErrorKind::InternalError => 500,
        _ => 400,
    }
}
