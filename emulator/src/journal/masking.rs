//! Removes secrets from what the journal stores.

use std::borrow::Cow;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, AhoCorasickKind};
use http::{HeaderMap, HeaderName};

pub const MASK: &str = "***";

/// Secret wherever they appear: in queries, forms and JSON.
const SECRET_NAMES: [&str; 34] = [
    "access_token",
    "access_token_secret",
    "api_key_secret",
    "api_secret",
    "api_secret_key",
    "assertion",
    "auth_token",
    "authenticity_token",
    "bearer_token",
    "client_assertion",
    "client_secret",
    "code_verifier",
    "consumer_secret",
    "csrf",
    "csrf_token",
    "current_password",
    "download_url",
    "id_token",
    "new_password",
    "oauth_signature",
    "oauth_token",
    "oauth_token_secret",
    "oauth_verifier",
    "passwd",
    "password",
    "private_key",
    "refresh_token",
    "secret",
    "session_password",
    "subject_token",
    "token",
    "token_secret",
    "upload_url",
    "x_auth_password",
];

/// Secret in queries and forms, as is any name that ends in `password`; JSON has error codes of the same name.
const SECRET_FIELDS: [&str; 7] = ["code", "codes_code", "current", "off_code", "otp", "passkey_code", "pin"];

const SECRET_HEADERS: [&str; 4] = ["x-csrf-token", "x-guest-token", "x-api-key", "x-auth-token"];

/// Parameters of an OAuth 1.0a header that are no secrets.
const SHOWN_OAUTH_PARAMETERS: [&str; 6] =
    ["realm", "oauth_consumer_key", "oauth_nonce", "oauth_signature_method", "oauth_timestamp", "oauth_version"];

const SCHEMES: [&str; 4] = ["Bearer", "Basic", "Digest", "Token"];

static NAME_SEARCHER: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    let names = SECRET_NAMES.iter().map(|name| format!("{name}\""));
    let escaped = SECRET_NAMES.iter().map(|name| format!("{name}\\\""));
    // JSON has the rare letters of these names everywhere, so that looking for those first costs more than it saves.
    AhoCorasickBuilder::new().kind(Some(AhoCorasickKind::DFA)).prefilter(false).build(names.chain(escaped)).ok()
});

/// The text of a header's value without its secrets.
pub fn mask_header<'v>(name: &HeaderName, value: &'v str) -> Cow<'v, str> {
    match name.as_str() {
        // What most requests and responses have.
        "accept"
        | "accept-encoding"
        | "api-version"
        | "cache-control"
        | "connection"
        | "content-length"
        | "content-type"
        | "date"
        | "host"
        | "user-agent"
        | "x-content-type-options"
        | "x-rate-limit-limit"
        | "x-rate-limit-remaining"
        | "x-rate-limit-reset"
        | "x-response-time"
        | "x-transaction-id" => value.into(),
        "authorization" | "proxy-authorization" => mask_authorization(value).into(),
        "cookie" => mask_cookies(value).into(),
        "set-cookie" => mask_set_cookie(value).into(),
        "location" | "referer" | "link" => mask_url(value),
        name if SECRET_HEADERS.contains(&name) => MASK.into(),
        name if ["token", "secret", "password"].iter().any(|word| name.contains(word)) => MASK.into(),
        _ => value.into(),
    }
}

/// One `name: value` a line.
pub(super) fn mask_headers(headers: &HeaderMap, lines: &mut String) {
    for (name, value) in headers {
        let value = value.to_str().map_or_else(|_| String::from_utf8_lossy(value.as_bytes()), Cow::Borrowed);
        lines.push_str(name.as_str());
        lines.push_str(": ");
        lines.push_str(&mask_header(name, &value));
        lines.push('\n');
    }
}

fn mask_authorization(value: &str) -> String {
    let Some((scheme, rest)) = value.trim().split_once(' ') else {
        return MASK.to_owned();
    };
    if scheme.eq_ignore_ascii_case("OAuth") {
        let parameters = rest.split(',').map(|parameter| mask_oauth_parameter(parameter.trim()));
        return format!("OAuth {}", parameters.collect::<Vec<_>>().join(", "));
    }
    let known = SCHEMES.iter().find(|known| known.eq_ignore_ascii_case(scheme));
    known.map_or_else(|| MASK.to_owned(), |known| format!("{known} {MASK}"))
}

fn mask_oauth_parameter(parameter: &str) -> String {
    match parameter.split_once('=') {
        Some((name, _)) if SHOWN_OAUTH_PARAMETERS.contains(&name) => parameter.to_owned(),
        Some((name, _)) if name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') => {
            format!("{name}=\"{MASK}\"")
        }
        _ => MASK.to_owned(),
    }
}

fn mask_cookies(value: &str) -> String {
    let names = value.split(';').map(|cookie| match cookie.trim().split_once('=') {
        Some((name, _)) => format!("{name}={MASK}"),
        None => MASK.to_owned(),
    });
    names.collect::<Vec<_>>().join("; ")
}

fn mask_set_cookie(value: &str) -> String {
    let (cookie, attributes) = value.split_once(';').unwrap_or((value, ""));
    let name = cookie.split_once('=').map_or("", |(name, _)| name);
    if attributes.is_empty() { format!("{name}={MASK}") } else { format!("{name}={MASK};{attributes}") }
}

/// With the query and fragment masked.
pub(super) fn mask_url(url: &str) -> Cow<'_, str> {
    match url.find(['?', '#']).and_then(|at| url.split_at_checked(at)) {
        Some((path, rest)) => {
            let mut parts = rest.chars();
            let mark = parts.next().unwrap_or('?');
            format!("{path}{mark}{}", mask_form(parts.as_str())).into()
        }
        None => url.into(),
    }
}

/// A path in which the segments of secret parameters of `route` are masked.
pub(super) fn mask_path<'p>(route: &str, path: &'p str) -> Cow<'p, str> {
    if !route.contains("{token}") && !route.contains("{code}") {
        return path.into();
    }
    let declared = route.split('/').chain(std::iter::repeat(""));
    let segments = path.split('/').zip(declared);
    let masked = segments.map(|(segment, name)| if matches!(name, "{token}" | "{code}") { MASK } else { segment });
    masked.collect::<Vec<_>>().join("/").into()
}

/// A query or a form.
pub fn mask_form(text: &str) -> Cow<'_, str> {
    if !text.split('&').any(is_secret_pair) {
        return text.into();
    }
    let pairs = text.split('&').map(|pair| match pair.split_once('=') {
        Some((name, _)) if is_secret_pair(pair) => format!("{name}={MASK}"),
        _ => pair.to_owned(),
    });
    pairs.collect::<Vec<_>>().join("&").into()
}

/// Whether it is the name, in lower case, of a secret field of a query or form.
pub(super) fn is_secret_name(name: &str) -> bool {
    SECRET_NAMES.contains(&name) || SECRET_FIELDS.contains(&name) || name.ends_with("password")
}

fn is_secret_pair(pair: &str) -> bool {
    let Some((name, value)) = pair.split_once('=') else {
        return false;
    };
    let name = base::percent::decode(name).unwrap_or(name.into()).to_ascii_lowercase();
    if is_secret_name(&name) {
        return true;
    }
    if !value.contains("%3D") && !value.contains("%3d") {
        return false;
    }
    // A path to return to may have a query of its own.
    let inner = base::percent::decode(value).unwrap_or(value.into());
    let pairs = inner.split(['?', '&', '#']).filter_map(|pair| pair.split_once('='));
    let mut names = pairs.map(|(name, value)| (name.to_ascii_lowercase(), value));
    names.any(|(name, value)| is_secret_name(&name) || value.contains("%3D") || value.contains("%3d"))
}

/// JSON, which may break off. Values of secret names are replaced wherever they are, in JSON inside of texts too.
pub fn mask_json(text: &str) -> Cow<'_, str> {
    let Some(searcher) = NAME_SEARCHER.as_ref() else {
        return MASK.into();
    };
    let mut masked = String::new();
    let mut done = 0;
    for found in searcher.find_iter(text) {
        if found.start() < done || !is_member_name(text, found.start()) {
            continue;
        }
        let Some(value) = secret_value(text, found.end()) else {
            continue;
        };
        masked.push_str(text.get(done..value.start).unwrap_or_default());
        masked.push_str(MASK);
        done = value.end;
    }
    if done == 0 {
        return text.into();
    }
    masked.push_str(text.get(done..).unwrap_or_default());
    masked.into()
}

/// Whether a quotation mark is before it.
fn is_member_name(text: &str, start: usize) -> bool {
    text.get(..start).is_some_and(|before| before.ends_with('"'))
}

/// The place of the text or number after a member's name; none for objects and lists.
fn secret_value(text: &str, name_end: usize) -> Option<std::ops::Range<usize>> {
    let rest = text.get(name_end..)?;
    let value = rest.trim_start().strip_prefix(':')?.trim_start();
    let begin = text.len().checked_sub(value.len())?;
    if let Some(inner) = value.strip_prefix("\\\"") {
        let length = inner.find("\\\"").unwrap_or(inner.len());
        let start = begin.checked_add(2)?;
        return Some(start..start.checked_add(length)?);
    }
    if let Some(inner) = value.strip_prefix('"') {
        let start = begin.checked_add(1)?;
        return Some(start..start.checked_add(string_length(inner))?);
    }
    if value.is_empty() || value.starts_with(['{', '[']) || value.starts_with("null") {
        return None;
    }
    let length = value.find([',', '}', ']', '\n', ' ']).unwrap_or(value.len());
    Some(begin..begin.checked_add(length)?)
}

/// Up to the closing quotation mark.
fn string_length(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, letter) in text.char_indices() {
        match letter {
            '"' if !is_escaped => return at,
            '\\' => is_escaped = !is_escaped,
            _ => is_escaped = false,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn authorization_of_each_kind_loses_its_secret_parts() {
        let signed =
            r#"OAuth oauth_consumer_key="key", oauth_token="12-abc", oauth_signature="s3cr3t%3D", oauth_nonce="n1""#;
        let cases = [
            ("Bearer abc.def", "Bearer ***"),
            ("bearer abc", "Bearer ***"),
            ("Basic Zm9vOmJhcg==", "Basic ***"),
            ("abcdef", "***"),
            ("s3cr3t word", "***"),
            (signed, r#"OAuth oauth_consumer_key="key", oauth_token="***", oauth_signature="***", oauth_nonce="n1""#),
            (r#"OAuth "loose text""#, "OAuth ***"),
        ];
        for (value, expected) in cases {
            assert_eq!(mask_authorization(value), expected, "{value}");
        }
    }

    #[test]
    fn queries_and_forms_lose_secret_values_only() {
        let cases = [
            ("max_results=5&pagination_token=abc", "max_results=5&pagination_token=abc"),
            ("grant_type=authorization_code&code=s3cr3t&state=x", "grant_type=authorization_code&code=***&state=x"),
            ("oauth%5Ftoken=s3cr3t&a=b", "oauth%5Ftoken=***&a=b"),
            ("Password=s3cr3t", "Password=***"),
            ("next=%2Foauth%2Fauthorize%3Foauth_token%3Ds3cr3t", "next=***"),
            ("next=%2Fa%3Fb%3Dc", "next=%2Fa%3Fb%3Dc"),
            ("flag&a=1", "flag&a=1"),
        ];
        for (text, expected) in cases {
            assert_eq!(mask_form(text), expected, "{text}");
        }
        assert_eq!(mask_url("https://a.example/cb?code=s3cr3t#x"), "https://a.example/cb?code=***");
        assert_eq!(mask_url("/plain"), "/plain");
    }

    #[test]
    fn json_loses_secret_values_even_if_it_breaks_off() {
        let cases = [
            (r#"{"access_token":"s3cr3t","expires_in":7200}"#, r#"{"access_token":"***","expires_in":7200}"#),
            (r#"{"password" : "a\"s3cr3t\\", "x":1}"#, r#"{"password" : "***", "x":1}"#),
            (r#"{"token":12345}"#, r#"{"token":***}"#),
            (
                r#"{"meta":{"next_token":"abc"},"errors":[{"code":"X"}]}"#,
                r#"{"meta":{"next_token":"abc"},"errors":[{"code":"X"}]}"#,
            ),
            (r#"{"client_secret":"s3c"#, r#"{"client_secret":"***"#),
            (r#"{"body":"{\"access_token\":\"s3cr3t\"}"}"#, r#"{"body":"{\"access_token\":\"***\"}"}"#),
            (r#"{"text":"my token and password"}"#, r#"{"text":"my token and password"}"#),
            (r#"{"token":{"a":1}}"#, r#"{"token":{"a":1}}"#),
            (r#"{"secret":"é\u00e9","access_token":"b"}"#, r#"{"secret":"***","access_token":"***"}"#),
        ];
        for (text, expected) in cases {
            assert_eq!(mask_json(text), expected, "{text}");
        }
    }

    #[test]
    fn secret_path_segments_and_cookies_are_masked() {
        assert_eq!(mask_path("/compliance/results/{token}", "/compliance/results/s3cr3t"), "/compliance/results/***");
        assert_eq!(mask_path("/2/users/{id}", "/2/users/7"), "/2/users/7");
        assert_eq!(mask_cookies("session=s3cr3t; theme=s3cr3t"), "session=***; theme=***");
        assert_eq!(mask_set_cookie("session=s3cr3t; Path=/; HttpOnly"), "session=***; Path=/; HttpOnly");
    }
}
