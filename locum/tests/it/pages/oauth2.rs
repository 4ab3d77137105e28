//! OAuth 2.0 with PKCE, through the pages.

use base::pkce::ChallengeMethod;
use serde_json::Value;

use super::browser::{Browser, app, hidden, param, posted, someone, text};
use crate::harness::{TestRequest, TestResponse, TestServer, percent_encode, shared_server};

const CALLBACK: &str = "https://client.example/cb";
const ACTION: &str = "/i/oauth2/authorize";
const VERIFIER: &str = "correct-horse-battery-staple-correct-horse-battery";

fn query(pairs: &[(&str, &str)]) -> String {
    let pairs = pairs.iter().map(|(name, value)| format!("{name}={}", percent_encode(value)));
    pairs.collect::<Vec<_>>().join("&")
}

/// The address at which an app asks, with some parameters changed; an empty one is left out.
fn address(app: &Value, changed: &[(&str, &str)]) -> String {
    let challenge = ChallengeMethod::S256.derive_challenge(VERIFIER);
    let mut pairs = vec![
        ("response_type", "code"),
        ("client_id", text(app, "client_id")),
        ("redirect_uri", CALLBACK),
        ("scope", "tweet.read users.read offline.access"),
        ("state", "a state & more"),
        ("code_challenge", &challenge),
        ("code_challenge_method", "S256"),
    ];
    for (name, value) in changed {
        pairs.retain(|(known, _)| known != name);
        pairs.push((name, value));
    }
    pairs.retain(|(_, value)| !value.is_empty());
    format!("{ACTION}?{}", query(&pairs))
}

fn token(server: &TestServer, app: &Value, pairs: &[(&str, &str)]) -> TestResponse {
    let mut pairs = pairs.to_vec();
    let secret = app["client_secret"].as_str().filter(|text| !text.is_empty());
    let id = text(app, "client_id");
    if secret.is_none() {
        pairs.push(("client_id", id));
    }
    let request = TestRequest::post("/2/oauth2/token").form(query(&pairs));
    server.send(match secret {
        Some(secret) => request.basic(id, secret),
        None => request,
    })
}

fn whole_flow(kind: &str, mut browser: Browser<'_>) {
    let server = browser.server;
    let app = app(server, &["--callback", CALLBACK, "--kind", kind]);
    let name = someone(server);
    let requested = address(&app, &[]);
    let page = browser.get(requested.replace("/i/oauth2", "/2/oauth2"));
    assert_eq!(page.status, 200, "{}", page.text());
    let fields = [("login", name.as_str()), ("password", "a long secret")];
    let back = browser.submit(&page, "/login", &fields);
    assert_eq!(back.status, 303);
    let page = browser.get(back.header("location"));
    assert!(page.text().contains(text(&app, "name")), "{}", page.text());
    let policy = page.header("content-security-policy");
    assert!(policy.contains("base-uri 'none'") && !policy.contains("form-action"), "{policy}");
    let response = browser.submit(&page, ACTION, &[("decision", "allow")]);
    assert_eq!(response.status, 302, "{}", response.text());
    let to = response.header("location");
    assert!(to.starts_with(&format!("{CALLBACK}?")), "{to}");
    assert_eq!(param(to, "state").as_deref(), Some("a state & more"));
    assert!(param(to, "iss").is_none());
    let code = param(to, "code").unwrap();
    let exchange = [
        ("grant_type", "authorization_code"),
        ("code", code.as_str()),
        ("redirect_uri", CALLBACK),
        ("code_verifier", VERIFIER),
    ];
    let granted = token(server, &app, &exchange).assert_status(200);
    let me = server.send(TestRequest::get("/2/users/me").bearer(text(&granted, "access_token")));
    assert_eq!(me.assert_status(200)["data"]["username"], name.as_str());
    // In the query, as a released client library sends it.
    let mut refresh = vec![("grant_type", "refresh_token"), ("refresh_token", text(&granted, "refresh_token"))];
    let secret = app["client_secret"].as_str().filter(|secret| !secret.is_empty());
    refresh.push(("client_id", text(&app, "client_id")));
    refresh.extend(secret.map(|secret| ("client_secret", secret)));
    let fresh = server.send(TestRequest::post(format!("/2/oauth2/token?{}", query(&refresh)))).assert_status(200);
    server.send(TestRequest::get("/2/users/me").bearer(text(&fresh, "access_token"))).assert_status(200);
    let page = browser.get("/settings/apps");
    assert_eq!(browser.submit(&page, "/settings/apps/revoke", &[]).status, 303);
    let dead = server.send(TestRequest::get("/2/users/me").bearer(text(&fresh, "access_token")));
    assert_eq!(dead.status, 401);
}

#[test]
fn confidential_client_is_authorized() {
    whole_flow("web", Browser::new(shared_server()));
}

#[test]
fn client_with_the_public_addresses_is_authorized() {
    for host in ["x.com", "twitter.com", "api.x.com"] {
        whole_flow("web", Browser::on_emulated_host(shared_server(), host));
    }
}

#[test]
fn public_client_is_authorized() {
    whole_flow("native", Browser::new(shared_server()));
}

#[test]
fn consent_page_tells_of_an_app_with_a_similar_name() {
    let server = shared_server();
    let (mut browser, owner) = Browser::of_someone(server);
    let foreign = "https://xn--bcher-kva.example/cb";
    let app = app(server, &["--callback", CALLBACK, "--callback", foreign]);
    let page = browser.get(address(&app, &[("redirect_uri", foreign)])).text();
    assert!(page.contains(">xn--bcher-kva.example</bdi> (displayed as <bdi>b\u{fc}cher.example</bdi>)."), "{page}");
    assert!(!page.contains("similar name"), "{page}");
    let copy = text(&app, "name").replace("App", "\u{410}PP-");
    server.run_cli(&["app", "create", &copy, "--owner", &owner]).assert_success();
    let page = browser.get(address(&app, &[])).text();
    assert!(page.contains("<bdi class=\"strong\">client.example</bdi>."), "{page}");
    let rest = page.split_once("Another app has a similar name").unwrap_or_else(|| panic!("{page}")).1;
    assert!(rest.contains(&copy) && rest.contains(&format!("@{owner}")), "{rest}");
}

#[test]
fn denial_and_invalid_request_redirect_with_an_error() {
    let server = shared_server();
    let (mut browser, _) = Browser::of_someone(server);
    let app = app(server, &["--callback", CALLBACK]);
    let page = browser.get(address(&app, &[]));
    let response = browser.submit(&page, ACTION, &[("decision", "deny")]);
    let to = response.header("location");
    assert_eq!(param(to, "error").as_deref(), Some("access_denied"));
    assert_eq!(param(to, "state").as_deref(), Some("a state & more"));
    for (name, value, error) in [
        ("response_type", "token", "unsupported_response_type"),
        ("scope", "no.such", "invalid_scope"),
        ("code_challenge", "", "invalid_request"),
        ("state", "", "invalid_request"),
    ] {
        let response = browser.get(address(&app, &[(name, value)]));
        let to = response.header("location");
        assert!(response.status == 302 && to.starts_with(CALLBACK), "{name}: {to}");
        assert_eq!(param(to, "error").as_deref(), Some(error), "{name}");
    }
}

#[test]
fn unregistered_redirect_uri_is_never_followed() {
    let server = shared_server();
    let (mut browser, _) = Browser::of_someone(server);
    let app = app(server, &["--callback", CALLBACK]);
    for (name, value) in [
        ("client_id", ""),
        ("client_id", "nobody"),
        ("redirect_uri", ""),
        ("redirect_uri", "https://client.example/cb/"),
        ("redirect_uri", "https://client.example/cb?x=1"),
        ("redirect_uri", "https://client.example.evil.example/cb"),
        ("redirect_uri", "https://user@client.example/cb"),
        ("redirect_uri", "https://client.example/cb#x"),
        ("redirect_uri", "//client.example/cb"),
        ("redirect_uri", "javascript:alert(1)"),
    ] {
        let requested = address(&app, &[(name, value)]);
        for browser in [&mut Browser::new(server), &mut browser] {
            let response = browser.get(requested.clone());
            assert_eq!((response.status, response.header("location")), (400, ""), "{name}={value}");
        }
    }
    // What the form sends back is judged again.
    let page = browser.get(address(&app, &[]));
    let mut fields = hidden(&page.text(), ACTION);
    fields.insert("decision".to_owned(), "allow".to_owned());
    fields.insert("redirect_uri".to_owned(), "https://evil.example/".to_owned());
    let response = browser.send(posted(ACTION, &fields));
    assert_eq!((response.status, response.header("location")), (400, ""));
    // A form that another person was shown.
    let (mut other, _) = Browser::of_someone(server);
    let response = other.submit(&page, ACTION, &[("decision", "allow")]);
    assert_eq!((response.status, response.header("location")), (403, ""));
}

/// The server rotates, and the client never learns the new tokens.
#[test]
fn refresh_whose_answer_is_lost_uses_the_refresh_token_up() {
    let server = TestServer::start(&["--set", "auth.refresh_grace=0s"]);
    let mut browser = Browser::new(&server);
    let app = app(&server, &["--callback", CALLBACK, "--kind", "web"]);
    let name = someone(&server);
    let page = browser.sign_in(&name, "a long secret", &address(&app, &[]));
    assert_eq!(page.status, 303, "{}", page.text());
    let page = browser.get(page.header("location"));
    let response = browser.submit(&page, ACTION, &[("decision", "allow")]);
    let code = param(response.header("location"), "code").unwrap();
    let exchange = [
        ("grant_type", "authorization_code"),
        ("code", code.as_str()),
        ("redirect_uri", CALLBACK),
        ("code_verifier", VERIFIER),
    ];
    server.run_cli(&["fault", "add", "--effect", "refresh-lost", "--app", text(&app, "id")]).assert_success();
    let granted = token(&server, &app, &exchange).assert_status(200);
    let form = query(&[("grant_type", "refresh_token"), ("refresh_token", text(&granted, "refresh_token"))]);
    let refresh = || {
        let request = TestRequest::post("/2/oauth2/token").form(form.clone());
        server.try_send(request.basic(text(&app, "client_id"), text(&app, "client_secret")))
    };
    assert!(refresh().is_none(), "the connection is reset");
    assert_eq!(refresh().unwrap().status, 400, "the token is used up");
}
