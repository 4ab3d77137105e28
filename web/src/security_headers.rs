//! Security headers of pages.

use base::sorted_distinct;
use http::HeaderMap;
use http::header::{
    CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderValue, REFERRER_POLICY, STRICT_TRANSPORT_SECURITY,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};

use crate::reply::HttpReply;

/// Nothing on these pages connects; what audits a page reads `/robots.txt` from it.
const CONTENT_POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'self'; img-src 'self' https: data:; media-src 'self' https:; connect-src 'self'; \
     form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
);

const SCRIPT_POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'self'; img-src 'self' https: data:; media-src 'self' https:; script-src 'self'; \
     connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
);

pub(crate) fn is_html(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes);
    kind.is_some_and(|kind| kind.starts_with(b"text/html"))
}

/// Headers that are already set stay.
pub(crate) fn add_security_headers(headers: &mut HeaderMap, is_tls: bool) {
    let plain = [
        (CONTENT_SECURITY_POLICY, CONTENT_POLICY),
        (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
        (REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    ];
    for (name, value) in plain {
        headers.entry(name).or_insert(value);
    }
    if is_tls {
        require_tls(headers);
    }
}

/// For a year.
pub(crate) fn require_tls(headers: &mut HeaderMap) {
    let year = HeaderValue::from_static("max-age=31536000");
    headers.entry(STRICT_TRANSPORT_SECURITY).or_insert(year);
}

/// Lets the scripts of this site run on a page, and connect to this site.
pub fn allow_scripts(reply: HttpReply) -> HttpReply {
    reply.header(CONTENT_SECURITY_POLICY, SCRIPT_POLICY)
}

/// Lets the forms of a page lead to another site, also if scripts are allowed: browsers apply `form-action` to every
/// redirect after a form, and those of an app are unknown.
pub fn allow_form_redirects(mut reply: HttpReply) -> HttpReply {
    let own = reply.headers.get(CONTENT_SECURITY_POLICY).cloned().unwrap_or(CONTENT_POLICY);
    let policy = own.to_str().unwrap_or_default().replace("form-action 'self'; ", "");
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        reply.headers.insert(CONTENT_SECURITY_POLICY, policy);
    }
    reply
}

/// Policy of a page that this site and the origins of `urls` may frame. Such a page has no form and no session data.
pub fn frame_ancestors_policy(urls: &[String]) -> String {
    let sources = sorted_distinct(urls.iter().filter_map(|url| csp_origin(url)));
    let sources = [vec!["'self'".to_owned()], sources].concat().join(" ");
    let own = CONTENT_POLICY;
    let own = own.to_str().unwrap_or_default();
    own.replace("frame-ancestors 'none'", &format!("frame-ancestors {sources}"))
}

/// The origin of a web address, if a policy can express it.
fn csp_origin(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let scheme = scheme.to_ascii_lowercase();
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let fits = |letter: char| letter.is_ascii_alphanumeric() || "-._:".contains(letter);
    let is_plain = !authority.is_empty() && authority.chars().all(fits);
    (is_plain && matches!(scheme.as_str(), "http" | "https")).then(|| format!("{scheme}://{authority}"))
}

#[cfg(test)]
mod tests {
    use super::csp_origin;

    #[test]
    fn a_policy_names_a_web_address_by_its_origin() {
        for (url, named) in [
            ("https://a.example/cb?x=1", Some("https://a.example")),
            ("http://127.0.0.1:8080", Some("http://127.0.0.1:8080")),
            ("http://[::1]:8080/cb", None),
            ("https://a.example;script-src/", None),
            ("myapp://cb", None),
            ("com.example:/cb", None),
            ("a b://c", None),
            ("nothing", None),
        ] {
            assert_eq!(csp_origin(url).as_deref(), named, "{url}");
        }
    }
}
