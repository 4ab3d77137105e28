//! Errors as an HTML page: a small one, and the one in the site's frame that replaces it. Neither links to the
//! requested redirect target.

use base::Refusal;
use base::clock::wall_time;
use base::text::escape_html;
use edge::Body;
use http::header::{HeaderValue, RETRY_AFTER};
use pages::{ErrorPage, HtmlPage, PageErrorKind};

use crate::access_log::RequestId;
use crate::page_context::PageContext;
use crate::reply::HttpReply;

pub(super) fn render(refusal: &Refusal) -> HttpReply {
    // A page does not tell that there is something that its reader may not see.
    let status = if matches!(refusal, Refusal::NotVisible(_)) { 404 } else { super::refusal_status(refusal) };
    render_page(status, super::status_reason(status), error_message(refusal))
}

const MEDIA: &str = "A post can have up to four pictures, or one animated picture, or one video.";
const TARGET: &str = "The post that you reply to or quote is not available.";
const INVALID: &str = "What was entered is not valid.";

/// What a text of the API begins with, and the sentence that people read instead.
const SENTENCES: [(&str, &str); 17] = [
    ("The `text` query parameter can not be empty", "Write something first."),
    ("The `reason` query parameter can not be empty", "Give a reason."),
    ("The `username` query parameter value", "A username has 1 to 15 letters, digits and underscores."),
    ("The `name` must have 1 to 50 characters", "A name has 1 to 50 characters, none of them invisible."),
    ("The `name` must have 1 to 32 characters", "A name has 1 to 32 characters, none of them invisible."),
    ("The `website_url` must be", "Enter an address that begins with https:// or http://."),
    ("Your Tweet text is too long", "This is too long for a post. Shorten it."),
    ("Your Tweet text is not valid", "This has characters that a post can’t have."),
    ("You are not allowed to create a Tweet with duplicate content", "You posted the same a short time ago."),
    ("Animated GIFs are not allowed", MEDIA),
    ("The validation of media ids failed", MEDIA),
    ("Your media IDs are invalid", "An attached file is not available any more. Attach it again."),
    ("Your reply tweet ID is invalid", TARGET),
    ("Your quote tweet ID is invalid", TARGET),
    ("You attempted to reply to a Tweet", TARGET),
    ("The original Tweet author restricted who can reply", "The author has limited who can reply to this post."),
    ("The text of your direct message is over the max", "The message is too long. Shorten it."),
];

/// What a page says of a refusal, for people who do not know the API.
pub fn error_message(refusal: &Refusal) -> &str {
    let text = api_message(refusal);
    match SENTENCES.iter().find(|(start, _)| text.starts_with(start)) {
        Some((_, sentence)) => sentence,
        None if text.ends_with("query parameter can not be empty") => "Fill in this field.",
        None if text.contains(" query parameter ") || text.starts_with("$.") => INVALID,
        None => text,
    }
}

/// For developers.
pub fn api_message(refusal: &Refusal) -> &str {
    match refusal {
        Refusal::InvalidParameters(parameters) => parameters.first().map_or("", |invalid| invalid.message.as_str()),
        Refusal::Forbidden { detail, .. } => detail,
        Refusal::Legacy { message, .. } | Refusal::NamedReason { message, .. } => message,
        Refusal::OAuth2 { description, .. } => description,
        Refusal::RateLimited => "Too many attempts. Try again later.",
        Refusal::Ads(declined) => declined.first_message(),
        Refusal::Unavailable => "Try again in a moment.",
        Refusal::RouteNotFound | Refusal::NotFound(_) | Refusal::NotVisible(_) => "There is nothing here.",
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
         <main>\n<h1>{title}</h1>\n<p>{detail}</p>\n</main>\n</html>\n"
    );
    HttpReply::html(status, page)
}
