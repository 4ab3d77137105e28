//! OAuth 1.0a in three steps, through the pages.

use serde_json::Value;

use super::browser::{Browser, app, param, text};
use crate::harness::{OAuth1Credentials, TestRequest, TestServer, percent_encode, shared_server};

pub(super) const CALLBACK: &str = "https://client.example/cb";
pub(super) const ACTION: &str = "/oauth/authorize";

pub(super) fn pairs(body: &str) -> impl Fn(&str) -> String + use<> {
    let url = format!("?{body}");
    move |name| param(&url, name).unwrap_or_else(|| panic!("no {name} in {url}"))
}

pub(super) fn consumer(app: &Value) -> (&str, &str) {
    (text(app, "api_key"), text(app, "api_secret"))
}

/// A request token and its secret.
pub(super) fn begin(server: &TestServer, app: &Value, callback: &str) -> (String, String) {
    let request = TestRequest::post(format!("/oauth/request_token?oauth_callback={}", percent_encode(callback)));
    let key = OAuth1Credentials { consumer: consumer(app), ..OAuth1Credentials::default() };
    let header = request.oauth1_header(&key, &server.url);
    let response = server.send(request.authorization(header));
    assert_eq!(response.status, 200, "{}", response.text());
    let get = pairs(&response.text());
    (get("oauth_token"), get("oauth_token_secret"))
}

/// The status and the body of the exchange.
pub(super) fn exchange(server: &TestServer, app: &Value, pair: &(String, String), verifier: &str) -> (u16, String) {
    let request = TestRequest::post("/oauth/access_token").form(format!("oauth_verifier={}", percent_encode(verifier)));
    let key = OAuth1Credentials { consumer: consumer(app), token: (&pair.0, &pair.1), ..OAuth1Credentials::default() };
    let header = request.oauth1_header(&key, &server.url);
    let response = server.send(request.authorization(header));
    (response.status, response.text())
}

fn web_app(server: &TestServer) -> Value {
    app(server, &["--callback", CALLBACK, "--sign-in"])
}

#[test]
fn request_token_is_exchanged_with_a_signature_of_the_app_alone() {
    let server = shared_server();
    let app = web_app(server);
    let (mut browser, _) = Browser::of_someone(server);
    let approve = |browser: &mut Browser<'_>| {
        let (token, _) = begin(server, &app, CALLBACK);
        let page = browser.get(format!("{ACTION}?oauth_token={token}"));
        let back = browser.submit(&page, ACTION, &[("decision", "allow")]);
        let verifier = param(back.header("location"), "oauth_verifier").unwrap();
        format!("/oauth/access_token?oauth_verifier={verifier}&oauth_token={token}")
    };
    let key = OAuth1Credentials { consumer: consumer(&app), ..OAuth1Credentials::default() };
    let other = OAuth1Credentials { consumer: (text(&app, "api_key"), "another"), ..OAuth1Credentials::default() };
    for signed_query in [true, false] {
        let address = approve(&mut browser);
        let send = |key: &OAuth1Credentials<'_>| {
            let signed = TestRequest::post(if signed_query { &address } else { "/oauth/access_token" });
            let header = signed.oauth1_header(key, &server.url);
            server.send(TestRequest::post(&address).authorization(header))
        };
        assert_eq!(send(&other).status, 401);
        let exchanged = send(&key);
        assert_eq!(exchanged.status, 200, "{}", exchanged.text());
        assert!(exchanged.text().contains("screen_name="));
        assert_eq!(send(&key).status, 401, "it is used up");
    }
}

#[test]
fn user_authorizes_and_revokes_an_oauth1_app() {
    let server = shared_server();
    let app = web_app(server);
    let pair = begin(server, &app, &format!("{CALLBACK}?kept=1"));
    let mut browser = Browser::new(server);
    let name = super::browser::someone(server);
    let address = format!("{ACTION}?oauth_token={}", pair.0);
    let page = browser.get(format!("{address}&screen_name=%22%3E{name}&force_login"));
    assert_eq!(page.status, 200);
    assert!(page.text().contains(&format!("&#34;&#62;{name}")), "{}", page.text());
    assert!(!page.header("content-security-policy").contains("form-action"));
    let fields = [("login", name.as_str()), ("password", "a long secret")];
    let back = browser.submit(&page, "/login", &fields);
    assert_eq!((back.status, back.header("location")), (303, address.as_str()));
    let page = browser.get(address.clone());
    assert!(page.text().contains(text(&app, "name")));
    let response = browser.submit(&page, ACTION, &[("decision", "allow")]);
    assert_eq!(response.status, 302, "{}", response.text());
    let to = response.header("location");
    assert!(to.starts_with("https://client.example/cb?kept=1&oauth_token="), "{to}");
    let verifier = param(to, "oauth_verifier").unwrap();
    let (status, body) = exchange(server, &app, &pair, &verifier);
    assert_eq!(status, 200, "{body}");
    let get = pairs(&body);
    assert_eq!(get("screen_name"), name);
    let me = TestRequest::get("/2/users/me");
    let (token, secret) = (get("oauth_token"), get("oauth_token_secret"));
    let key = OAuth1Credentials { consumer: consumer(&app), token: (&token, &secret), ..OAuth1Credentials::default() };
    let header = me.oauth1_header(&key, &server.url);
    server.send(me.clone().authorization(header)).assert_status(200);
    // Used up: a page, never a redirect.
    let used = browser.get(address);
    assert_eq!((used.status, used.header("location")), (400, ""));
    // And out again.
    let page = browser.get("/settings/apps");
    assert!(page.text().contains(text(&app, "name")), "{}", page.text());
    assert_eq!(browser.submit(&page, "/settings/apps/revoke", &[]).status, 303);
    let header = me.oauth1_header(&key, &server.url);
    assert_eq!(server.send(me.authorization(header)).status, 401);
}

#[test]
fn withdrawn_callback_is_refused_without_a_redirect() {
    let server = shared_server();
    let app = web_app(server);
    let (mut browser, _) = Browser::of_someone(server);
    let address = format!("{ACTION}?oauth_token={}", begin(server, &app, CALLBACK).0);
    let page = browser.get(address.clone());
    server.run_cli(&["app", "callbacks", text(&app, "id"), "https://client.example/other"]).assert_success();
    let mut refused = vec![browser.get(address)];
    refused.extend(["allow", "deny"].map(|decision| browser.submit(&page, ACTION, &[("decision", decision)])));
    for response in refused {
        assert_eq!((response.status, response.header("location")), (400, ""));
        assert!(response.text().contains("a URL that is not registered for it"), "{}", response.text());
    }
}

#[test]
fn out_of_band_app_gets_a_pin() {
    let server = shared_server();
    let app = app(server, &[]);
    let pair = begin(server, &app, "oob");
    let (mut browser, name) = Browser::of_someone(server);
    let form = browser.get(format!("{ACTION}?oauth_token={}", pair.0));
    browser.submit(&form, ACTION, &[("decision", "allow")]);
    // A button that is pressed twice shows the second answer.
    let page = browser.submit(&form, ACTION, &[("decision", "allow")]);
    assert_eq!(page.status, 200, "{}", page.text());
    let digits: String = pin(&page.text());
    assert_eq!(exchange(server, &app, &pair, "0000000").0, 401);
    let (status, body) = exchange(server, &app, &pair, &digits);
    assert_eq!(status, 200, "{digits}: {body}");
    assert_eq!(pairs(&body)("screen_name"), name);
    assert_eq!(browser.submit(&form, ACTION, &[("decision", "allow")]).status, 400, "it is used up");
}

/// The seven digits of a page, whatever stands between them.
pub(super) fn pin(html: &str) -> String {
    let main = html.split("class=\"pin\"").nth(1);
    let main = main.unwrap_or_else(|| panic!("no PIN on {html}"));
    let mut depth = 0;
    let mut digits = String::new();
    for email in main.split_once('>').unwrap().1.chars() {
        match email {
            '<' => depth += 1,
            '>' => depth -= 1,
            '0'..='9' if depth == 0 => digits.push(email),
            _ => {}
        }
        if digits.len() == 7 {
            break;
        }
    }
    digits
}

#[test]
fn oauth1_app_is_denied_without_signing_in() {
    let server = shared_server();
    let app = web_app(server);
    let mut browser = Browser::new(server);
    for (callback, response) in [(CALLBACK, 302), ("oob", 200)] {
        let pair = begin(server, &app, callback);
        let page = browser.get(format!("{ACTION}?oauth_token={}", pair.0));
        assert!(page.text().contains("name=\"password\""));
        let yes = browser.submit(&page, ACTION, &[("decision", "allow")]);
        assert!(yes.header("location").starts_with(ACTION));
        let no = browser.submit(&page, ACTION, &[("decision", "deny")]);
        assert_eq!(no.status, response, "{}", no.text());
        if response == 302 {
            let denied = param(no.header("location"), "denied");
            assert_eq!(denied.as_deref(), Some(pair.0.as_str()));
        }
        assert_eq!(browser.submit(&page, ACTION, &[("decision", "deny")]).status, 400);
    }
}

#[test]
fn user_denies_an_oauth1_app() {
    let server = shared_server();
    let (mut browser, _) = Browser::of_someone(server);
    let app = web_app(server);
    let pair = begin(server, &app, CALLBACK);
    let page = browser.get(format!("{ACTION}?oauth_token={}", pair.0));
    let response = browser.submit(&page, ACTION, &[("decision", "deny")]);
    let to = format!("{CALLBACK}?denied={}", pair.0);
    assert_eq!((response.status, response.header("location")), (302, to.as_str()));
    assert_eq!(exchange(server, &app, &pair, "x").0, 401);
    let pair = begin(server, &app, "oob");
    let page = browser.get(format!("{ACTION}?oauth_token={}", pair.0));
    let response = browser.submit(&page, ACTION, &[("decision", "deny")]);
    assert_eq!((response.status, response.header("location")), (200, ""));
    let page = browser.get(format!("{ACTION}?oauth_token={}", begin(server, &app, "oob").0));
    assert_eq!(browser.submit(&page, ACTION, &[("decision", "?")]).status, 400);
}

#[test]
fn authenticate_skips_consent_for_an_authorized_app() {
    let server = shared_server();
    let (mut browser, _) = Browser::of_someone(server);
    let app = web_app(server);
    let mut visit = |path: &str, more: &str| {
        let pair = begin(server, &app, CALLBACK);
        let page = browser.get(format!("{path}?oauth_token={}{more}", pair.0));
        (page, pair)
    };
    let (page, pair) = visit("/oauth/authenticate", "");
    assert_eq!(page.status, 200, "it was not approved before");
    browser.submit(&page, ACTION, &[("decision", "allow")]);
    let _ = pair;
    let mut visit = |path: &str, more: &str| {
        let pair = begin(server, &app, CALLBACK);
        let page = browser.get(format!("{path}?oauth_token={}{more}", pair.0));
        (page, pair)
    };
    for path in ["/oauth/authenticate", "/i/oauth/authenticate"] {
        let (response, pair) = visit(path, "");
        assert_eq!(response.status, 302, "{}", response.text());
        let verifier = param(response.header("location"), "oauth_verifier").unwrap();
        assert_eq!(exchange(server, &app, &pair, &verifier).0, 200);
    }
    assert_eq!(visit("/oauth/authenticate", "&force_login=false").0.status, 302);
    assert_eq!(visit("/oauth/authorize", "").0.status, 200);
    for forced in ["&force_login", "&force_login=true", "&force_login="] {
        let page = visit("/oauth/authenticate", forced).0;
        assert_eq!(page.status, 200);
        assert!(page.text().contains("name=\"password\""), "{forced}");
        assert!(page.text().contains("/oauth/authorize?oauth_token="), "asked again after {forced}");
    }
    let mut nobody = Browser::new(server);
    let pair = begin(server, &app, CALLBACK);
    let page = nobody.get(format!("/oauth/authenticate?oauth_token={}", pair.0));
    assert!(page.text().contains("name=\"password\""));
}

#[test]
fn invalid_oauth1_request_redirects_nowhere() {
    let server = shared_server();
    let (mut user, _) = Browser::of_someone(server);
    let app = web_app(server);
    let (token, _) = begin(server, &app, CALLBACK);
    for query in [
        String::new(),
        "?oauth_token=".to_owned(),
        "?oauth_token=nothing&oauth_callback=https://evil.example".to_owned(),
        format!("?oauth_token={token}&oauth_token={token}"),
        "?oauth_token=%zz".to_owned(),
        "?denied=https://evil.example".to_owned(),
    ] {
        for path in ["/oauth/authorize", "/oauth/authenticate"] {
            for browser in [&mut Browser::new(server), &mut user] {
                let response = browser.get(format!("{path}{query}"));
                assert_eq!((response.status, response.header("location")), (400, ""), "{query}");
            }
        }
    }
    // What is unknown is passed over, the callback that was asked for first holds.
    let page = user.get(format!("{ACTION}?oauth_token={token}&oauth_callback=https://evil.example&x=y"));
    let response = user.submit(&page, ACTION, &[("decision", "allow")]);
    assert!(response.header("location").starts_with(CALLBACK));
}
