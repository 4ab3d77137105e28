//! Errors as a small HTML page.

use base::Refusal;

use crate::reply::HttpReply;

pub(super) fn render(refusal: &Refusal) -> HttpReply {
    let status = super::refusal_status(refusal);
    render_page(status, super::status_reason(status), error_message(refusal))
}

pub(crate) fn error_message(refusal: &Refusal) -> &str {
    match refusal {
        Refusal::InvalidParameters(parameters) => parameters.first().map_or("", |invalid| invalid.message.as_str()),
        Refusal::Forbidden { detail, .. } => detail,
        Refusal::Legacy { message, .. } | Refusal::NamedReason { message, .. } => message,
        Refusal::OAuth2 { description, .. } => description,
        Refusal::RateLimited => "Too many requests. Try again later.",
        Refusal::Ads(declined) => declined.first_message(),
        Refusal::Unavailable => "Try again in a moment.",
        Refusal::RouteNotFound | Refusal::NotFound(_) => "There is nothing here.",
        _ => "The request failed.",
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
