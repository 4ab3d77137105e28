//! Signing in and out, and creating an account.

use super::browser::{Browser, hidden, posted, someone};
use crate::harness::{TestRequest, TestServer, shared_server, unique_number};

#[test]
fn user_signs_in_and_out() {
    let (mut browser, name) = Browser::of_someone(shared_server());
    let page = browser.get("/settings/account");
    assert_eq!(page.status, 200);
    assert!(page.text().contains(&name));
    let requested = browser.get("/logout");
    let before = browser.cookies.clone();
    let out = browser.submit(&requested, "/logout", &[]);
    assert_eq!((out.status, out.header("location")), (303, "/login"));
    assert!(!browser.cookies.contains_key("locum"));
    // The session itself is over, not only its cookie.
    browser.cookies = before;
    let page = browser.get("/settings/account");
    assert_eq!((page.status, page.header("location")), (303, "/login?next=%2Fsettings%2Faccount"));
}

#[test]
fn users_of_the_demo_world_sign_in() {
    let mut browser = Browser::new(shared_server());
    let response = browser.sign_in("ada", "dev", "/settings/sessions");
    assert_eq!((response.status, response.header("location")), (303, "/settings/sessions"));
    let cookie = response.header("set-cookie");
    assert!(cookie.starts_with("locum="), "{cookie}");
    for part in ["; Path=/", "; HttpOnly", "; SameSite=Lax"] {
        assert!(cookie.contains(part), "{cookie}");
    }
}

#[test]
fn wrong_password_and_unknown_name_look_alike_and_are_rate_limited() {
    let server = TestServer::start(&[]);
    let name = someone(&server);
    let mut browser = Browser::new(&server);
    let wrong = browser.sign_in(&name, "not it", "/");
    let unknown = browser.sign_in("nobody_at_all", "not it", "/");
    assert_eq!((wrong.status, unknown.status), (400, 400));
    let response = |text: String| text.replace(&name, "N").replace("nobody_at_all", "N");
    let (wrong, unknown) = (response(wrong.text()), response(unknown.text()));
    assert_eq!(wrong, unknown);
    assert!(wrong.contains("Wrong username or password."), "{wrong}");
    let statuses: Vec<_> = (0..3).map(|_| browser.sign_in(&name, "not it", "/")).collect();
    let last = statuses.last().unwrap();
    assert_eq!(last.status, 429);
    assert!(last.header_number("retry-after") > 0);
    assert!(last.text().contains("Too many attempts. Wait "), "{}", last.text());
}

#[test]
fn session_is_renewed_when_the_user_signs_in() {
    let server = shared_server();
    let name = someone(server);
    let mut browser = Browser::new(server);
    let planted = "a".repeat(44);
    browser.cookies.insert("locum".to_owned(), planted.clone());
    browser.sign_in(&name, "a long secret", "/");
    assert_ne!(browser.cookies["locum"], planted);
    let first = browser.cookies["locum"].clone();
    let page = browser.get("/login?switch=1");
    let fields = [("login", name.as_str()), ("password", "a long secret")];
    browser.submit(&page, "/login", &fields);
    let mut old = Browser::new(server);
    old.cookies.insert("locum".to_owned(), first);
    assert_eq!(old.get("/settings/account").status, 303);
    assert_eq!(browser.get("/settings/account").status, 200);
}

#[test]
fn cross_site_form_is_refused() {
    let server = shared_server();
    let name = someone(server);
    let mut browser = Browser::new(server);
    let page = browser.get("/login");
    let mut fields = hidden(&page.text(), "/login");
    fields.insert("login".to_owned(), name.clone());
    fields.insert("password".to_owned(), "a long secret".to_owned());
    let request = || posted("/login", &fields);
    for request in [
        request().header("origin", "https://evil.example"),
        request().header("origin", format!("{}.evil.example", server.url)),
        request().header("sec-fetch-site", "cross-site"),
        request().header("origin", "null").header("sec-fetch-site", "same-site"),
    ] {
        let response = browser.send(request);
        assert_eq!(response.status, 403);
        assert!(response.header("set-cookie").is_empty());
    }
    for csrf in [None, Some(""), Some("wrong")] {
        let mut fields = fields.clone();
        fields.remove("csrf");
        fields.extend(csrf.map(|csrf| ("csrf".to_owned(), csrf.to_owned())));
        assert_eq!(browser.send(posted("/login", &fields)).status, 403);
    }
    // The token of another browser.
    let mut other = Browser::new(server);
    other.get("/login");
    assert_eq!(other.send(request()).status, 403);
    let good = request().header("origin", "null").header("sec-fetch-site", "same-origin");
    assert_eq!(browser.send(good).status, 303);
}

#[test]
fn sign_in_form_needs_its_token() {
    let (mut browser, _) = Browser::of_someone(shared_server());
    for path in [
        "/login",
        "/logout",
        "/join",
        "/forgotten-password",
        "/account/reset",
        "/account/confirm",
        "/settings/account/password",
        "/settings/account/email",
        "/settings/account/email/resend",
        "/settings/account/email/cancel",
        "/settings/account/about",
        "/login/code",
        "/settings/security/two-factor",
        "/settings/security/two-factor/confirm",
        "/settings/security/two-factor/off",
        "/settings/security/recovery-codes",
        "/login/passkey",
        "/login/passkey/challenge",
        "/settings/security/passkeys",
        "/settings/security/passkeys/confirm",
        "/settings/security/passkeys/remove",
        "/settings/sessions/revoke",
        "/settings/sessions/revoke-others",
        "/settings/apps/revoke",
        "/oauth/authorize",
        "/i/oauth2/authorize",
    ] {
        let response = browser.send(TestRequest::post(path).form("a=b"));
        assert_eq!(response.status, 403, "{path}: {}", response.text());
        assert_eq!(response.header("location"), "", "{path}");
    }
    assert_eq!(browser.get("/settings/account").status, 200);
}

#[test]
fn sign_in_redirects_to_own_pages_only() {
    let server = shared_server();
    let name = someone(server);
    for next in [
        "//evil.example",
        "///evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "https://evil.example",
        "https:evil.example",
        "javascript:alert(1)",
        "/\t/evil.example",
        "%2f%2fevil.example",
        "/a\r\nlocation: https://evil.example",
        "evil.example",
        "?next=//evil.example",
    ] {
        let mut browser = Browser::new(server);
        let response = browser.sign_in(&name, "a long secret", next);
        assert_eq!((response.status, response.header("location")), (303, "/home"), "{next:?}");
        // Past the page, straight to the form; and once more when signed in.
        let page = browser.get("/login?switch=1");
        let fields = [("login", name.as_str()), ("password", "a long secret"), ("next", next)];
        let response = browser.submit(&page, "/login", &fields);
        assert_eq!(response.header("location"), "/home", "{next:?}");
        let response = browser.get(format!("/login?next={}", crate::harness::percent_encode(next)));
        assert_eq!(response.header("location"), "/home", "{next:?}");
    }
}

#[test]
fn user_registers_an_account() {
    let server = TestServer::start(&[]);
    let mut browser = Browser::new(&server);
    let page = browser.get("/join?next=%2Fsettings%2Fsessions");
    let name = format!("joined{}", unique_number());
    let email = format!("{name}@example.org");
    let fields = |password: &'static str| {
        [
            ("username", name.clone()),
            ("name", "<b>Jo</b>".to_owned()),
            ("email", email.clone()),
            ("password", password.to_owned()),
        ]
    };
    let join = |browser: &mut Browser<'_>, password| {
        let fields = fields(password);
        let fields: Vec<_> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
        browser.submit(&page, "/join", &fields)
    };
    let weak = join(&mut browser, "short");
    assert_eq!(weak.status, 400);
    assert!(weak.text().contains("at least 8 characters"), "{}", weak.text());
    assert!(!weak.text().contains("<b>Jo</b>"));
    let created = join(&mut browser, "tr4ms stop here");
    assert_eq!((created.status, created.header("location")), (303, "/settings/sessions"), "{}", created.text());
    assert!(browser.get("/settings/account").text().contains(&email));
}
