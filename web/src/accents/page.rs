//! A small page for a person.

use base::Refusal;

use crate::reply::Reply;

pub(super) fn speak(refusal: &Refusal) -> Reply {
    let status = super::status(refusal);
    page(status, super::name(status), detail(refusal))
}

/// What a person is told.
pub(crate) fn detail(refusal: &Refusal) -> &str {
    match refusal {
        Refusal::InvalidParameters(wrong) => {
            wrong.first().map_or("", |wrong| wrong.message.as_str())
        }
        Refusal::Forbidden { detail, .. } => detail,
        Refusal::Legacy { message, .. } | Refusal::NamedReason { message, .. } => message,
        Refusal::OAuth2 { description, .. } => description,
        Refusal::RateLimited => "That was too often. Try again in a while.",
        Refusal::Ads(declined) => declined.first_message(),
        Refusal::Unavailable => "Try again in a moment.",
        Refusal::RouteNotFound | Refusal::NotFound(_) => "There is nothing here.",
        _ => "That did not work.",
    }
}

/// Nothing on it is loaded from elsewhere, so that the strictest policy fits it.
pub(super) fn page(status: u16, title: &str, detail: &str) -> Reply {
    let (title, detail) = (escape(title), escape(detail));
    let page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>{title}</title>\n\
         <h1>{title}</h1>\n<p>{detail}</p>\n</html>\n"
    );
    Reply::html(status, page)
}

fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            letter => escaped.push(letter),
        }
    }
    escaped
}
