//! What else leads to a session: the pages that authorize apps, and a password reset.

use super::{CODE, PASSWORD, enrolled, is_signed_in};
use crate::harness::{OAuth1Credentials, TestRequest, TestResponse, TestServer, percent_encode};
use crate::pages::browser::{Browser, param, text};

const CALLBACK: &str = "https://client.example/cb";

/// Signs in on a page that authorizes an app, and returns the page that asks for the code.
fn sign_in_for_app(browser: &mut Browser<'_>, page: &TestResponse, name: &str) -> TestResponse {
    let fields = [("login", name), ("password", PASSWORD)];
    let response = browser.submit(page, "/login", &fields);
    assert!(response.header("location").starts_with(CODE), "{}", response.header("location"));
    let page = browser.get(response.header("location"));
    let policy = page.header("content-security-policy");
    assert!(policy.contains("base-uri 'none'") && !policy.contains("form-action"), "{policy}");
    page
}

#[test]
fn oauth2_authorization_needs_the_code() {
    let server = TestServer::start(&["--world", "empty"]);
    let (_, mut authenticator, name) = enrolled(&server);
    let app = created_app(&server, &name);
    let challenge = base::pkce::ChallengeMethod::S256.derive_challenge(&"v".repeat(43));
    let target = format!(
        "/i/oauth2/authorize?response_type=code&client_id={}&redirect_uri={}&scope=users.read%20tweet.read&state=s\
         &code_challenge={challenge}&code_challenge_method=S256",
        text(&app, "client_id"),
        percent_encode(CALLBACK)
    );
    let mut browser = Browser::new(&server);
    let page = browser.get(target.clone());
    let page = sign_in_for_app(&mut browser, &page, &name);
    // Not without the code.
    assert!(browser.get(target.clone()).text().contains("name=\"password\""));
    let back = browser.submit(&page, CODE, &[("code", &authenticator.code())]);
    assert_eq!(back.status, 303, "{}", back.text());
    let page = browser.get(back.header("location"));
    let response = browser.submit(&page, "/i/oauth2/authorize", &[("decision", "allow")]);
    assert!(param(response.header("location"), "code").is_some(), "{}", response.text());
}

#[test]
fn oauth1_authorization_with_forced_login_needs_the_code() {
    let server = TestServer::start(&["--world", "empty"]);
    let (mut browser, mut authenticator, name) = enrolled(&server);
    let app = created_app(&server, &name);
    let request = TestRequest::post(format!("/oauth/request_token?oauth_callback={}", percent_encode(CALLBACK)));
    let consumer = (text(&app, "api_key"), text(&app, "api_secret"));
    let key = OAuth1Credentials { consumer, ..OAuth1Credentials::default() };
    let header = request.oauth1_header(&key, &server.url);
    let body = format!("?{}", server.send(request.authorization(header)).text());
    let token = param(&body, "oauth_token").unwrap();
    let page = browser.get(format!("/oauth/authenticate?oauth_token={token}&force_login=true"));
    let page = sign_in_for_app(&mut browser, &page, &name);
    let back = browser.submit(&page, CODE, &[("code", &authenticator.code())]);
    assert_eq!(back.header("location"), format!("/oauth/authorize?oauth_token={token}"), "{}", back.text());
    let page = browser.get(back.header("location"));
    let response = browser.submit(&page, "/oauth/authorize", &[("decision", "allow")]);
    assert!(param(response.header("location"), "oauth_verifier").is_some(), "{}", response.text());
}

fn created_app(server: &TestServer, owner: &str) -> serde_json::Value {
    server.run_cli(&["app", "create", "Reader", "--owner", owner, "--callback", CALLBACK, "--sign-in"]).json()
}

#[test]
fn password_reset_does_not_bypass_the_code() {
    let server = TestServer::start(&["--world", "empty"]);
    let name = "resetter";
    let email = "resetter@mail.example";
    server.run_cli(&["user", "create", name, "--password", PASSWORD, "--email", email]).assert_success();
    let mut owner = Browser::new(&server);
    owner.sign_in(name, PASSWORD, "/");
    super::Authenticator::enrol(&mut owner, PASSWORD);
    // A sign-in that waits for its code ends with the password.
    let mut waiting = Browser::new(&server);
    let old = super::asked_for_code(&mut waiting, name);
    let mut browser = Browser::new(&server);
    let page = browser.get("/forgotten-password");
    browser.submit(&page, "/forgotten-password", &[("email", email)]);
    let list = server.send(TestRequest::get("/mailbox")).text();
    let path = list.split("href=\"/mailbox/").nth(1).unwrap().split('"').next().unwrap().to_owned();
    let letter = server.send(TestRequest::get(format!("/mailbox/{path}"))).text();
    let link = letter.split("/account/reset?token=").nth(1).unwrap();
    let token: String = link.chars().take_while(char::is_ascii_alphanumeric).collect();
    let page = browser.get(format!("/account/reset?token={token}"));
    let new = "tr4ms stop here";
    let done = browser.submit(&page, "/account/reset", &[("token", &token), ("password", new)]);
    assert_eq!(done.header("location"), "/login?done=reset", "{}", done.text());
    assert!(!browser.cookies.contains_key("locum") && !is_signed_in(&mut browser));
    assert!(!is_signed_in(&mut owner));
    assert_eq!(waiting.submit(&old, CODE, &[("code", "000000")]).status, 303);
    let response = browser.sign_in(name, new, "/");
    assert!(response.header("location").starts_with(CODE), "{}", response.header("location"));
    assert!(!browser.cookies.contains_key("locum"));
}
