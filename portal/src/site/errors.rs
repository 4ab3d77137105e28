//! Error pages. None of them links to the requested redirect target.

use base::{Error, Fault, Refusal};
use pages::{CallbackDiff, ErrorPage, PageErrorKind};
use web::reply::HttpReply;
use web::request_context::RequestContext;

use super::forms::PageQuery;
use super::{BrowserVisit, PageExit};

pub(crate) fn render_page(
    call: &RequestContext,
    visit: &BrowserVisit,
    kind: PageErrorKind,
    app: Option<String>,
) -> Result<HttpReply, Fault> {
    render_callback_mismatch(call, visit, kind, app, Vec::new())
}

/// Ends a handler with an error page.
pub fn exit_page(call: &RequestContext, visit: &BrowserVisit, kind: PageErrorKind) -> PageExit {
    match render_page(call, visit, kind, None) {
        Ok(reply) => reply.into(),
        Err(fault) => fault.into(),
    }
}

/// What a page is about. Members get a page with their navigation if it does not exist.
pub fn found_or_exit<T>(call: &RequestContext, visit: &BrowserVisit, found: Result<T, Error>) -> Result<T, PageExit> {
    found.map_err(|stop| match stop {
        Error::Refused(Refusal::RouteNotFound | Refusal::NotFound(_)) if visit.person.is_some() => {
            exit_page(call, visit, PageErrorKind::NotFound)
        }
        other => other.into(),
    })
}

/// The query of a request, or an error page if a parameter repeats.
pub(super) fn require_query(call: &RequestContext, visit: &BrowserVisit) -> Result<PageQuery, PageExit> {
    PageQuery::from_call(call).map_err(|advice| exit_page(call, visit, PageErrorKind::InvalidRequest(advice)))
}

/// As [`require_query`], also if something is malformed: an app must not lose its `state` unnoticed.
pub(super) fn require_exact_query(call: &RequestContext, visit: &BrowserVisit) -> Result<PageQuery, PageExit> {
    let query = PageQuery::parse(call.head().uri.query().unwrap_or_default());
    query.map_err(|advice| exit_page(call, visit, PageErrorKind::InvalidRequest(advice)))
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

const fn status_code(kind: &PageErrorKind) -> u16 {
    match kind {
        PageErrorKind::FormExpired
        | PageErrorKind::SignedOut(_)
        | PageErrorKind::SignInTooOld(_)
        | PageErrorKind::Forbidden => 403,
        PageErrorKind::TooManyAttempts(_) => 429,
        PageErrorKind::NotFound => 404,
        PageErrorKind::MethodNotAllowed => 405,
        PageErrorKind::Overloaded => 503,
        PageErrorKind::InternalError => 500,
        _ => 400,
    }
}

pub(super) fn retry_seconds(retry_ms: i64) -> i64 {
    (retry_ms.saturating_add(999) / 1000).max(1)
}

pub(super) fn throttled_message(seconds: i64) -> String {
    let unit = if seconds == 1 { "second" } else { "seconds" };
    format!("Too many attempts. Wait {seconds} {unit} and try again.")
}
