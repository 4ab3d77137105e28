use http::HeaderMap;
use http::header::{COOKIE, HeaderValue};
use web::PublicOrigin;

use super::forms::{PageQuery, is_loopback, is_trusted_origin, local_path};
use super::session::{CookieNames, find_cookie, format_set_cookie};

#[test]
fn next_is_one_of_our_own_paths() {
    for good in ["/", "/a", "/oauth/authorize?oauth_token=a&x=https://b", "/a//b"] {
        assert_eq!(local_path(good), Some(good));
    }
    for bad in [
        "",
        "a",
        "//evil.example",
        "///evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "https://evil.example",
        "https:evil.example",
        "javascript:alert(1)",
        "data:text/html,x",
        " /a",
        "/\t/evil.example",
        "/\n/evil.example",
        "\u{a0}//evil.example",
        "/a\r\nset-cookie: a=b",
        "/é",
        &format!("/{}", "a".repeat(8000)),
    ] {
        assert_eq!(local_path(bad), None, "{bad:?}");
    }
}

#[test]
fn a_form_is_taken_from_our_own_pages_only() {
    let known = |origin: &str| origin == "https://own.example";
    for (site, origin, holds) in [
        (None, None, true),
        (None, Some("https://own.example"), true),
        (Some("same-origin"), Some("null"), true),
        (Some("none"), None, true),
        (None, Some("null"), true),
        (None, Some("https://evil.example"), false),
        (None, Some("https://own.example.evil.example"), false),
        (Some("cross-site"), Some("null"), false),
        (Some("same-site"), Some("null"), false),
        (Some("cross-site"), Some("https://own.example"), false),
        (Some("cross-site"), None, false),
        (Some("?"), None, false),
    ] {
        assert_eq!(is_trusted_origin(site, origin, known), holds, "{site:?} {origin:?}");
    }
    let used = |scheme, host| PublicOrigin { scheme, host: Some(host) };
    assert!(is_loopback("http://127.0.0.1:80", used("http", "127.0.0.1:80")));
    assert!(is_loopback("https://localhost:80", used("https", "localhost:80")));
    assert!(!is_loopback("https://127.0.0.1:80", used("http", "127.0.0.1:80")));
    assert!(!is_loopback("http://127.0.0.1:81", used("http", "127.0.0.1:80")));
    assert!(!is_loopback("http://evil.example", used("http", "evil.example")));
}

#[test]
fn cookies_are_held_to_this_host() {
    let line = format_set_cookie(CookieNames::TLS.session, "a", Some(60), true);
    assert_eq!(line, "__Host-locum=a; Path=/; HttpOnly; SameSite=Lax; Max-Age=60; Secure");
    let line = format_set_cookie(CookieNames::PLAIN.visitor, "b", None, false);
    assert_eq!(line, "locum-visitor=b; Path=/; HttpOnly; SameSite=Lax");
    let mut headers = HeaderMap::new();
    headers.append(COOKIE, HeaderValue::from_static("xlocum=1; locum-visitor=2;locum=3"));
    headers.append(COOKIE, HeaderValue::from_static("other=4; locum=5"));
    assert_eq!(find_cookie(&headers, "locum").as_deref(), Some("3"));
    assert_eq!(find_cookie(&headers, "locum-visitor").as_deref(), Some("2"));
    assert_eq!(find_cookie(&headers, "ocum"), None);
}

#[test]
fn a_query_holds_everything_once() {
    let query = PageQuery::parse("a=1&b=&c").unwrap();
    assert_eq!((query.get("a"), query.get("b"), query.get_raw("b")), (Some("1"), None, Some("")));
    assert_eq!((query.get_raw("c"), query.get_raw("d")), (Some(""), None));
    assert!(PageQuery::parse("a=1&a=2").is_err());
    assert!(PageQuery::parse("a=%zz").is_err());
    assert!(PageQuery::parse("a=%00").is_err());
}
