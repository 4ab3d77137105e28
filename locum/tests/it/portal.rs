//! The developer portal as a browser meets it.

use std::collections::BTreeMap;

use crate::harness::{
    OAuth1Credentials, TestRequest, TestResponse, TestServer, percent_encode, shared_server, unique_number, wait_until,
};
use crate::pages::browser::Browser;

fn between<'t>(text: &'t str, before: &str, after: &str) -> &'t str {
    let (_, rest) = text.split_once(before).unwrap_or_else(|| panic!("no {before:?}: {text}"));
    rest.split_once(after).unwrap().0
}

fn fields(pairs: &[(&str, &str)]) -> String {
    let pairs = pairs.iter().map(|(name, value)| format!("{name}={}", percent_encode(value)));
    pairs.collect::<Vec<_>>().join("&")
}

/// A browser in which a new developer is signed in.
fn developer<'s>(server: &'s TestServer, name: &str) -> Browser<'s> {
    let created = ["user", "create", name, "--password", "a long secret"];
    server.run_cli(&created).assert_success();
    let mut browser = Browser::new(server);
    let response = browser.sign_in(name, "a long secret", "/");
    assert_eq!(response.status, 303, "{}", response.text());
    browser
}

/// The token of the forms that a browser is shown.
fn csrf(browser: &mut Browser<'_>) -> String {
    let page = browser.get("/developer/apps/new");
    between(&page.text(), "name=\"csrf\" value=\"", "\"").to_owned()
}

fn post(browser: &mut Browser<'_>, path: &str, pairs: &[(&str, &str)]) -> TestResponse {
    let csrf = csrf(browser);
    let mut all = vec![("csrf", csrf.as_str())];
    all.extend(pairs);
    browser.send(TestRequest::post(path).form(fields(&all)))
}

/// Makes an app; the path of its settings, and what was shown once.
fn make(browser: &mut Browser<'_>, name: &str) -> (String, BTreeMap<String, String>) {
    let form = form(name, "web", "https://a.example/cb");
    let response = post(browser, "/developer/apps", &pairs(&form));
    assert_eq!(response.status, 200, "{}", response.text());
    let text = response.text();
    let id = between(&text, "App ID <code>", "<");
    (format!("/developer/apps/{id}"), once(&response))
}

/// What is shown once, by name.
fn once(response: &TestResponse) -> BTreeMap<String, String> {
    assert!(response.header("cache-control").contains("no-store"));
    let text = response.text();
    let list = between(&text, "<dl class=\"values\">", "</dl>");
    let values = list.split("<dt>").skip(1).map(|piece| {
        let name = piece.split("</dt>").next().unwrap().to_owned();
        let value = between(piece, "<code class=\"block select\">", "</code>");
        (name, value.to_owned())
    });
    values.collect()
}

fn form(name: &str, kind: &str, callbacks: &str) -> Vec<(&'static str, String)> {
    [
        ("name", name),
        ("description", "What it does."),
        ("website", "https://a.example"),
        ("kind", kind),
        ("permission", "read-write"),
        ("callbacks", callbacks),
        ("sign_in", "on"),
    ]
    .map(|(name, value)| (name, value.to_owned()))
    .into()
}

fn pairs<'f>(form: &'f [(&'static str, String)]) -> Vec<(&'static str, &'f str)> {
    let pairs = form.iter().map(|(name, value)| (*name, value.as_str()));
    pairs.collect()
}

fn bearer(server: &TestServer, key: &str, secret: &str) -> TestResponse {
    let request = TestRequest::post("/oauth2/token").form("grant_type=client_credentials");
    server.send(request.basic(key, secret))
}

#[test]
fn app_is_created_and_its_keys_work_until_regenerated() {
    let server = TestServer::start(&["--world", "empty"]);
    let mut browser = developer(&server, "grace");
    assert!(browser.get("/developer/apps").text().contains("No apps yet"));
    let (app, keys) = make(&mut browser, "First");
    let listed = browser.get("/developer/apps").text();
    assert!(listed.contains("First") && !listed.contains(&keys["API secret"]));

    let (key, secret) = (&keys["API key"], &keys["API secret"]);
    let token = bearer(&server, key, secret).assert_status(200)["access_token"].clone();
    assert_eq!(token.as_str().unwrap(), keys["Bearer token"]);
    let look = TestRequest::get("/2/users/by/username/grace").bearer(token.as_str().unwrap());
    server.send(look.clone()).assert_status(200);

    let page = browser.get(format!("{app}/keys")).text();
    for value in ["API secret", "Bearer token", "Client secret"] {
        assert!(!page.contains(&keys[value]), "{value} is shown again");
    }
    let path = format!("{app}/keys/api/regenerate");
    let requested = browser.get(&path).text();
    assert!(requested.contains("Regenerate"), "{requested}");
    bearer(&server, key, secret).assert_status(200);
    let created = once(&post(&mut browser, &path, &[]));
    assert_eq!(&created["API key"], key);
    assert_ne!(&created["API secret"], secret);
    bearer(&server, key, secret).assert_legacy_code(403, 99);
    bearer(&server, key, &created["API secret"]).assert_status(200);

    let created = once(&post(&mut browser, &format!("{app}/keys/bearer/regenerate"), &[]));
    server.send(look).assert_status(401);
    let look = TestRequest::get("/2/users/by/username/grace").bearer(&created["Bearer token"]);
    server.send(look).assert_status(200);
    own_token(&mut browser, &app);
    public_client(&mut browser);

    let used = browser.get(format!("{app}/usage"));
    assert_eq!(used.status, 200, "{}", used.text());
    the_end(&mut browser, &app, &created["Bearer token"]);
}

fn own_token(browser: &mut Browser<'_>, app: &str) {
    let path = format!("{app}/keys/access/regenerate");
    assert!(browser.get(&path).text().contains("Create"));
    let first = once(&post(browser, &path, &[]));
    let second = once(&post(browser, &path, &[]));
    assert_ne!(first["Access token"], second["Access token"]);
    assert!(browser.get(&path).text().contains("Regenerate"));
    let api = once(&post(browser, &format!("{app}/keys/api/regenerate"), &[]));
    for (created, status) in [(&first, 401), (&second, 200)] {
        let request = TestRequest::get("/2/users/by/username/grace");
        let key = OAuth1Credentials {
            consumer: (&api["API key"], &api["API secret"]),
            token: (&created["Access token"], &created["Access token secret"]),
            ..OAuth1Credentials::default()
        };
        let header = request.oauth1_header(&key, &browser.server.url);
        browser.server.send(request.authorization(header)).assert_status(status);
    }
}

fn public_client(browser: &mut Browser<'_>) {
    let form = form("Phone", "native", "");
    let response = post(browser, "/developer/apps", &pairs(&form));
    let (keys, text) = (once(&response), response.text());
    assert!(!keys.contains_key("Client secret"));
    let id = between(&text, "App ID <code>", "<");
    let path = format!("/developer/apps/{id}/keys/client/regenerate");
    assert_eq!(browser.get(&path).status, 404);
    assert_eq!(post(browser, &path, &[]).status, 404);
}

fn the_end(browser: &mut Browser<'_>, app: &str, token: &str) {
    let path = format!("{app}/delete");
    assert_eq!(browser.get(&path).status, 200);
    assert_eq!(post(browser, &path, &[("name", "Second")]).status, 400);
    for _ in 0..2 {
        let response = post(browser, &path, &[("name", "First")]);
        assert_eq!((response.status, response.header("location")), (303, "/developer/apps"));
    }
    assert_eq!(browser.get(app).status, 404);
    let look = TestRequest::get("/2/users/by/username/grace").bearer(token);
    browser.server.send(look).assert_status(401);
}

#[test]
fn app_settings_are_bounded() {
    let server = TestServer::start(&["--world", "empty"]);
    let mut browser = developer(&server, "alan");
    let (app, _) = make(&mut browser, "Limits");
    let save = |browser: &mut Browser<'_>, callbacks: &str| {
        let form = form("Renamed <b>", "web", callbacks);
        post(browser, &app, &pairs(&form))
    };
    let urls = |count: usize| {
        let urls = (0..count).map(|at| format!("https://a.example/{at}\r\n"));
        urls.collect::<String>()
    };
    let response = save(&mut browser, &urls(11));
    assert_eq!(response.status, 400);
    assert!(!browser.get(&app).text().contains("Renamed"));
    assert_eq!(save(&mut browser, "javascript:alert(1)").status, 400);
    let response = save(&mut browser, &urls(10));
    assert_eq!(response.status, 303, "{}", response.text());
    let text = browser.get(response.header("location")).text();
    assert!(text.contains("https://a.example/9") && text.contains("were saved"));
    assert!(text.contains("Renamed &#60;b&#62;") && !text.contains("<b>"), "{text}");
    for (name, kind) in [("", "web"), (&"x".repeat(33), "web"), ("Fine", "toaster")] {
        let form = form(name, kind, "");
        assert_eq!(post(&mut browser, &app, &pairs(&form)).status, 400, "{name} {kind}");
        assert_eq!(post(&mut browser, "/developer/apps", &pairs(&form)).status, 400);
    }

    let mut tried = |url: &str| {
        let response = post(&mut browser, &format!("{app}/callbacks"), &[("url", url)]);
        assert_eq!(response.status, 200);
        response.text()
    };
    let text = tried("https://a.example/9");
    assert!(text.contains("Accepted by OAuth 1.0a") && text.contains("Accepted by OAuth 2.0"));
    let text = tried("https://a.example/9?x=1");
    assert!(text.contains("Accepted by OAuth 1.0a") && text.contains("Rejected by OAuth 2.0"));
    let text = tried("https://a.example/9/");
    assert!(text.contains("Rejected by OAuth 1.0a") && text.contains("Rejected by OAuth 2.0"));
    assert!(tried("javascript:alert(1)").contains("not allowed"));
}

#[test]
fn app_pages_are_for_their_developer_and_need_form_tokens() {
    let server = TestServer::start(&["--world", "empty"]);
    let mut browser = developer(&server, "mine");
    let mut other = developer(&server, "theirs");
    let (app, _) = make(&mut browser, "Mine");
    let tails = ["", "/keys", "/callbacks", "/webhooks", "/usage", "/delete", "/keys/api/regenerate"];
    for tail in tails {
        let path = format!("{app}{tail}");
        assert_eq!(browser.get(&path).status, 200, "{path}");
        let response = other.get(&path);
        assert_eq!(response.status, 404, "{path}");
        assert!(!response.text().contains("Mine"));
        if !matches!(tail, "/keys" | "/usage") {
            assert_eq!(post(&mut other, &path, &[("name", "Mine")]).status, 404, "{path}");
            let forged = [("name", "Mine"), ("csrf", &csrf(&mut other))];
            let forged = browser.send(TestRequest::post(&path).form(fields(&forged)));
            assert_eq!(forged.status, 403, "{path}");
        }
        let response = server.send(TestRequest::get(&path));
        assert_eq!(response.status, 303, "{path}");
        assert!(response.header("location").starts_with("/login?next="));
    }
    assert_eq!(browser.get("/developer/apps/x").status, 404);
    assert_eq!(browser.get(format!("{app}/keys/x/regenerate")).status, 404);
    let csrf = csrf(&mut browser);
    let request = TestRequest::post(format!("{app}/delete")).form(fields(&[("csrf", &csrf), ("name", "Mine")]));
    let response = browser.send(request.header("origin", "https://evil.example"));
    assert_eq!(response.status, 403);
    assert_eq!(browser.get(&app).status, 200);
    for name in ["content-security-policy", "x-frame-options", "referrer-policy"] {
        assert!(!browser.get(&app).header(name).is_empty(), "{name}");
    }
    let response = server.send(TestRequest::get("/developer"));
    assert_eq!((response.status, response.header("location")), (303, "/developer/apps"));
}

#[test]
fn development_portal_explains_signatures_and_shows_emails() {
    let server = shared_server();
    let user = server.new_user("exp");
    let mut browser = Browser::new(server);
    let page = browser.get("/developer/explain");
    let csrf = between(&page.text(), "name=\"csrf\" value=\"", "\"").to_owned();
    let header = TestRequest::get("/2/users/me").oauth1_header(&user.oauth1_credentials(), &server.url);
    let url = format!("{}/2/users/me", server.url);
    let mut send = |csrf: &str, method: &str, header: &str| {
        let form = fields(&[
            ("csrf", csrf),
            ("method", method),
            ("url", &url),
            ("authorization", header),
            ("base_string", "GET&x"),
        ]);
        let request = TestRequest::post("/developer/explain").form(form);
        browser.send(request)
    };
    let text = send(&csrf, "GET", &header).text();
    assert!(text.contains("The signature is valid"), "{text}");
    assert!(text.contains("They differ at character 5"), "{text}");
    let text = send(&csrf, "POST", &header).text();
    assert!(text.contains("is not valid") && text.contains("It was signed for GET."));
    assert_eq!(send(&csrf, "GET", "Bearer x").status, 400);
    assert_eq!(send("forged", "GET", &header).status, 403);

    assert_eq!(server.send(TestRequest::get("/mailbox")).status, 200);
    assert_eq!(server.send(TestRequest::get("/mailbox/9223372036854775807")).status, 404);
    assert_eq!(server.send(TestRequest::get("/mailbox/x")).status, 404);
}

#[test]
fn mailbox_of_a_development_server_shows_sent_emails() {
    let server = shared_server();
    let name = format!("reader{}", unique_number());
    let address = format!("{name}@mail.example");
    let created = ["user", "create", &name, "--password", "a long secret", "--email", &address];
    server.run_cli(&created).assert_success();
    let mut browser = Browser::new(server);
    let page = browser.get("/forgotten-password");
    let response = browser.submit(&page, "/forgotten-password", &[("email", &address)]);
    assert!(response.status < 400, "{}", response.text());
    let text = server.send(TestRequest::get("/mailbox")).text();
    let (before, _) = text.split_once(&address).unwrap_or_else(|| panic!("{text}"));
    let (_, path) = before.rsplit_once("href=\"").unwrap();
    let email = server.send(TestRequest::get(path.split('"').next().unwrap()));
    assert_eq!(email.status, 200);
    assert!(email.text().contains("/account/reset?token="), "{}", email.text());
}

#[test]
fn usage_is_shown_with_its_limits() {
    let server = TestServer::start(&["--world", "empty", "--rate-limits", "table"]);
    let mut browser = developer(&server, "busy");
    let (app, keys) = make(&mut browser, "Busy");
    assert!(browser.get(format!("{app}/usage")).text().contains("No requests"));
    for _ in 0..3 {
        let look = TestRequest::get("/2/users/by/username/busy").bearer(&keys["Bearer token"]);
        server.send(look).assert_status(200);
    }
    let text = browser.get(format!("{app}/usage")).text();
    assert!(text.contains("GET /2/users/by/username/{username}"), "{text}");
    assert!(text.contains("3 of 300") && text.contains("the app"), "{text}");
    let page = format!("{app}/keys");
    assert_eq!(browser.get(&page).text().matches("never used").count(), 3);
    wait_until("the last use is written down", || browser.get(&page).text().matches("last used").count() == 1);
}

#[test]
fn form_that_is_sent_twice_creates_one_app() {
    let server = shared_server();
    let (mut browser, _) = Browser::of_someone(server);
    let page = browser.get("/developer/apps/new");
    let form = form("Only one", "web", "https://a.example/cb");
    let mut wrong = pairs(&form);
    wrong.retain(|(name, _)| *name != "website");
    wrong.push(("website", "a.example"));
    let refused = browser.submit(&page, "/developer/apps", &wrong).assert_page(400);
    assert!(refused.contains("The website must be an http or https address."), "{refused}");
    assert_eq!(browser.submit(&page, "/developer/apps", &pairs(&form)).status, 200);
    let again = browser.submit(&page, "/developer/apps", &pairs(&form));
    assert_eq!(again.status, 303, "{}", again.text());
    let listed = browser.get(again.header("location")).assert_page(200);
    assert_eq!(listed.matches("<bdi>Only one</bdi>").count(), 1, "{listed}");
    assert!(listed.contains("one app was created"));
}

#[test]
fn share_form_that_is_sent_twice_posts_once() {
    let server = shared_server();
    let (mut browser, name) = Browser::of_someone(server);
    let page = browser.get("/intent/post?text=Shared%20once");
    let first = browser.submit(&page, "/intent/post", &[("text", "Shared once")]);
    assert!(first.header("location").starts_with("/intent/written"), "{}", first.text());
    let again = browser.submit(&page, "/intent/post", &[("text", "Shared once")]);
    assert_eq!((again.status, again.header("location")), (303, format!("/{name}").as_str()), "{}", again.text());
}
