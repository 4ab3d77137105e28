//! What a page says before an app reads the email address with OAuth 1.0a.

use serde_json::Value;

use super::browser::{Browser, param, text};
use super::oauth1::{ACTION, CALLBACK, begin, consumer, exchange, pairs};
use crate::harness::{OAuth1Credentials, TestRequest, TestServer, shared_server, unique_number};

const ASKED: &str = "See your confirmed email address";
const CONNECTED_APPS: &str = "/settings/apps";

/// A browser of somebody new with this confirmed address, and the username.
fn member<'s>(server: &'s TestServer, address: &str) -> (Browser<'s>, String) {
    let name = format!("mail{}", unique_number());
    let created = ["user", "create", &name, "--password", "a long secret", "--email", address];
    server.run_cli(&created).assert_success();
    let mut browser = Browser::new(server);
    assert_eq!(browser.sign_in(&name, "a long secret", "/").status, 303);
    (browser, name)
}

/// An app for signing in.
fn asking_app(server: &TestServer, owner: &str, more: &[&str]) -> Value {
    let name = format!("App {}", unique_number());
    let created = ["app", "create", &name, "--owner", owner, "--callback", CALLBACK, "--sign-in"];
    server.run_cli(&[&created[..], more].concat()).json()
}

/// Changes in the developer portal whether the app requests email addresses.
fn request_email(developer: &mut Browser<'_>, app: &Value, on: bool) {
    let path = format!("/developer/apps/{}", text(app, "id"));
    let page = developer.get(&*path);
    let mut fields = vec![
        ("name", text(app, "name")),
        ("description", "Reads addresses."),
        ("website", "https://a.example"),
        ("kind", "web"),
        ("permission", "read-write"),
        ("callbacks", CALLBACK),
        ("sign_in", "on"),
    ];
    fields.extend(on.then_some(("email", "on")));
    let saved = developer.submit(&page, &path, &fields);
    assert!(saved.status < 400 && !saved.text().contains("class=\"wrong\""), "{}", saved.text());
}

/// The access token and its secret after the page has led back to the app.
fn access(server: &TestServer, app: &Value, request: &(String, String), location: &str) -> (String, String) {
    let verifier = param(location, "oauth_verifier").unwrap_or_else(|| panic!("no verifier in {location}"));
    let (status, body) = exchange(server, app, request, &verifier);
    assert_eq!(status, 200, "{body}");
    let get = pairs(&body);
    (get("oauth_token"), get("oauth_token_secret"))
}

/// The address as both versions of the API return it.
fn disclosed(server: &TestServer, app: &Value, token: &(String, String)) -> [Value; 2] {
    let ask = |target: &str| {
        let request = TestRequest::get(target);
        let (consumer, token) = (consumer(app), (token.0.as_str(), token.1.as_str()));
        let key = OAuth1Credentials { consumer, token, ..OAuth1Credentials::default() };
        let header = request.oauth1_header(&key, &server.url);
        server.send(request.authorization(header)).assert_status(200)
    };
    let legacy = ask("/1.1/account/verify_credentials.json?include_email=true")["email"].clone();
    [legacy, ask("/2/users/me?user.fields=confirmed_email")["data"]["confirmed_email"].clone()]
}

#[test]
fn app_reads_the_address_of_a_member_only_after_a_page_said_so() {
    let server = shared_server();
    let (mut developer, owner) = Browser::of_someone(server);
    let app = asking_app(server, &owner, &[]);
    let address = format!("reader{}@example.org", unique_number());
    let (mut browser, username) = member(server, &address);

    let request = begin(server, &app, CALLBACK);
    let page = browser.get(format!("{ACTION}?oauth_token={}", request.0));
    assert!(!page.text().contains(ASKED));
    // The switch is turned on while the page is open.
    request_email(&mut developer, &app, true);
    let back = browser.submit(&page, ACTION, &[("decision", "allow")]);
    let token = access(server, &app, &request, back.header("location"));
    assert_eq!(disclosed(server, &app, &token), [Value::Null, Value::Null]);
    assert!(!browser.get(CONNECTED_APPS).text().contains(ASKED));

    // Whoever signs in again is asked first.
    let request = begin(server, &app, CALLBACK);
    let page = browser.get(format!("/oauth/authenticate?oauth_token={}", request.0));
    assert!(page.status == 200 && page.text().contains(ASKED), "{}", page.text());
    let back = browser.submit(&page, ACTION, &[("decision", "allow")]);
    assert_eq!(access(server, &app, &request, back.header("location")), token);
    assert_eq!(disclosed(server, &app, &token), [(); 2].map(|()| Value::from(address.as_str())));
    let page = browser.get(CONNECTED_APPS).text();
    assert!(page.contains(ASKED) && page.contains("Read and write · email address"), "{page}");
    let request = begin(server, &app, CALLBACK);
    let back = browser.get(format!("/oauth/authenticate?oauth_token={}", request.0));
    assert_eq!(back.status, 302, "it was approved");

    let minted = server.run_cli(&["token", "mint", "--app", text(&app, "id"), "--user", &username]).json();
    let disclosed_by_scope = || {
        let ask = TestRequest::get("/2/users/me?user.fields=confirmed_email").bearer(text(&minted, "token"));
        server.send(ask).assert_status(200)["data"]["confirmed_email"].clone()
    };
    assert_eq!(disclosed_by_scope(), address.as_str());
    request_email(&mut developer, &app, false);
    assert_eq!(disclosed(server, &app, &token), [Value::Null, Value::Null]);
    assert_eq!(disclosed_by_scope(), Value::Null);
    assert!(!browser.get(CONNECTED_APPS).text().contains(ASKED));
}

#[test]
fn app_that_stops_asking_for_addresses_while_a_page_is_open_gets_none_later() {
    let server = shared_server();
    let (mut developer, owner) = Browser::of_someone(server);
    let app = asking_app(server, &owner, &["--request-email"]);
    let address = format!("reader{}@example.org", unique_number());
    let (mut browser, _) = member(server, &address);
    let request = begin(server, &app, CALLBACK);
    let page = browser.get(format!("{ACTION}?oauth_token={}", request.0));
    assert!(page.text().contains(ASKED));
    request_email(&mut developer, &app, false);
    let back = browser.submit(&page, ACTION, &[("decision", "allow")]);
    let token = access(server, &app, &request, back.header("location"));
    request_email(&mut developer, &app, true);
    assert_eq!(disclosed(server, &app, &token), [Value::Null, Value::Null]);
}

/// What a page shows once under a name.
fn shown_once(page: &str, name: &str) -> String {
    let rest = page.split_once(&format!("<dt>{name}</dt>")).unwrap_or_else(|| panic!("no {name}: {page}")).1;
    let rest = rest.split_once("<code class=\"block select\">").unwrap().1;
    rest.split_once('<').unwrap().0.to_owned()
}

#[test]
fn owner_of_an_app_agrees_by_making_a_token_in_the_portal() {
    let server = shared_server();
    let address = format!("owner{}@example.org", unique_number());
    let (mut owner, name) = member(server, &address);
    let app = asking_app(server, &name, &[]);
    let request = begin(server, &app, CALLBACK);
    let page = owner.get(format!("{ACTION}?oauth_token={}", request.0));
    owner.submit(&page, ACTION, &[("decision", "allow")]);
    request_email(&mut owner, &app, true);
    let path = format!("/developer/apps/{}/keys/access/regenerate", text(&app, "id"));
    let page = owner.get(&*path);
    let page = owner.submit(&page, &path, &[]).text();
    let token = (shown_once(&page, "Access token"), shown_once(&page, "Access token secret"));
    assert_eq!(disclosed(server, &app, &token), [(); 2].map(|()| Value::from(address.as_str())));
}
