//! Errors as an HTML page: a small one, and the one in the site's frame that replaces it. Neither links to the
//! requested redirect target.

use base::Refusal;
use base::clock::wall_time;
use edge::Body;
use http::header::{HeaderValue, RETRY_AFTER};
use pages::{ErrorPage, HtmlPage, PageErrorKind};

use crate::access_log::RequestId;
use crate::page_context::PageContext;
use crate::reply::HttpReply;

pub(super) fn render(refusal: &Refusal) -> HttpReply {
    let status = super::refusal_status(refusal);
    render_page(status, super::status_reason(status), error_message(refusal))
}

pub fn error_message(refusal: &Refusal) -> &str {
    match refusal {
        Refusal::InvalidParameters(parameters) => parameters.first().map_or("", |invalid| invalid.message.as_str()),
        Refusal::Forbidden { detail, .. } => detail,
        Refusal::Legacy { message, .. } | Refusal::NamedReason { message, .. } => message,
        Refusal::OAuth2 { description, .. } => description,
        Refusal::RateLimited => "Too many attempts. Try again later.",
        Refusal::Ads(declined) => declined.first_message(),
        Refusal::Unavailable => "Try again in a moment.",
        Refusal::RouteNotFound | Refusal::NotFound(_) => "There is nothing here.",
        _ => "The request failed.",
    }
}

/// Replaces the body of a refusal's response with a page; status and headers stay.
pub(crate) fn render_refusal_page(
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
        (other, _) => PageErrorKind::Refused(error_message(other).to_owned()),
    };
    let reply = match wait {
        Some(wait) => reply.header(RETRY_AFTER, HeaderValue::from(wait)),
        None => reply,
    };
    replace_body(page_context, reply, kind, id)
}

pub(crate) fn render_failure_page(page_context: &PageContext, reply: HttpReply, id: &RequestId) -> HttpReply {
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

/// Loads no resources, so that the strictest content security policy fits.
pub(super) fn render_page(status: u16, title: &str, detail: &str) -> HttpReply {
    let (title, detail) = (escape_html(title), escape_html(detail));
    let page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>{title}</title>\n\
         <h1>{title}</h1>\n<p>{detail}</p>\n</html>\n"
    );
    HttpReply::html(status, page)
}

fn escape_html(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            character => escaped.push(character),
        }
    }
    escaped
}
