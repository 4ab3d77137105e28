//! Every page of the table: where it leads, what guards it, and which host it believes.

use web::endpoint::{Endpoint, ErrorFormat};

use super::browser::{Browser, app, hidden, posted, text};
use crate::harness::{TestRequest, TestResponse, TestServer, percent_encode, shared_server, unique_number};

fn pages(method: &'static str) -> impl Iterator<Item = &'static Endpoint> {
    let all = [portal::ENDPOINTS, members::ENDPOINTS, moderation::ENDPOINTS].concat().into_iter();
    let all = all.chain([portal::DEVELOPMENT]).flatten();
    all.filter(move |page| {
        // To everyone but moderators, the administration does not exist. A stream ends when its page is closed.
        let is_elsewhere = ["/assets/", "/admin", "/home/live"].iter().any(|prefix| page.path.starts_with(prefix));
        page.error_format == ErrorFormat::Page && page.method == method && !is_elsewhere
    })
}

fn filled(path: &str, id: &str) -> String {
    let mut path = path.replace("{id}", id).replace("{kind}", "api");
    while let Some((before, rest)) = path.split_once('{') {
        let (_, after) = rest.split_once('}').unwrap();
        path = format!("{before}1{after}");
    }
    path
}

const ELSEWHERE: &[&str] = &[
    "https://evil.example/",
    "//evil.example/",
    "/\\evil.example/",
    "\\\\evil.example",
    "https:evil.example",
    "javascript:alert(1)",
    "/%2f/evil.example",
    "/\t/evil.example",
    "/.//evil.example",
];

/// Every name under which some program expects an address.
const NAMES: &[&str] = &[
    "next",
    "redirect_uri",
    "oauth_callback",
    "callback",
    "return_to",
    "url",
    "continue",
    "iss",
    "client_id",
    "oauth_token",
    "denied",
    "state",
];

#[track_caller]
fn stays_here(response: &TestResponse, what: &str) {
    assert!(response.status < 500, "{what}: {}", response.text());
    let to = response.header("location");
    if to.is_empty() {
        assert!(!(300..400).contains(&response.status), "{what}");
        return;
    }
    let own = to.starts_with('/') && !to.starts_with("//") && !to.starts_with("/\\");
    let plain = !to.contains(|email: char| email.is_control() || email == '\\');
    assert!(own && plain, "{what} leads to {to:?}");
}

#[test]
fn no_page_redirects_to_another_site() {
    let server = shared_server();
    let (mut user, _) = Browser::of_someone(server);
    let mut nobody = Browser::new(server);
    for page in pages("GET") {
        let path = filled(page.path, "1");
        for elsewhere in ELSEWHERE {
            let query: Vec<_> = NAMES.iter().map(|name| format!("{name}={}", percent_encode(elsewhere))).collect();
            let target = format!("{path}?{}", query.join("&"));
            for browser in [&mut nobody, &mut user] {
                stays_here(&browser.get(target.clone()), &target);
            }
        }
    }
}

#[test]
fn no_form_redirects_to_another_site() {
    let server = shared_server();
    let mut signed_in: Option<Browser<'_>> = None;
    // Signing in has a test of its own, and counts attempts.
    for page in pages("POST").filter(|page| page.path != "/login") {
        let path = filled(page.path, "1");
        for elsewhere in ELSEWHERE {
            let mut browser = match signed_in.take() {
                Some(browser) => browser,
                None => Browser::of_someone(server).0,
            };
            let shown = browser.get("/settings/account");
            let csrf = hidden(&shown.text(), "/settings/account/password")["csrf"].clone();
            let mut fields: std::collections::BTreeMap<_, _> =
                NAMES.iter().map(|name| ((*name).to_owned(), (*elsewhere).to_owned())).collect();
            fields.insert("csrf".to_owned(), csrf);
            fields.insert("decision".to_owned(), "deny".to_owned());
            // `send` accepts no other redirect within the site than 303.
            let response = browser.send(posted(&path, &fields));
            stays_here(&response, &format!("{path} with {elsewhere:?}"));
            let still = browser.get("/settings/account").status == 200;
            signed_in = Some(browser).filter(|_| still);
        }
    }
}

#[test]
fn every_form_needs_its_token_and_same_origin() {
    let server = shared_server();
    let (mut browser, _) = Browser::of_someone(server);
    let shown = browser.get("/settings/account");
    let csrf = hidden(&shown.text(), "/settings/account/password")["csrf"].clone();
    let own = app(server, &["--callback", "https://client.example/cb"]);
    let mut tried = 0;
    // What receives webhooks is no page.
    for page in pages("POST").filter(|page| !page.path.starts_with("/webhook-sink/")) {
        let path = filled(page.path, text(&own, "id"));
        let with = TestRequest::post(&path).form(format!("csrf={}", percent_encode(&csrf)));
        for request in [
            TestRequest::post(&path).form("a=b"),
            TestRequest::post(&path).form("csrf=wrong"),
            with.clone().header("origin", "https://evil.example"),
            with.clone().header("sec-fetch-site", "cross-site"),
        ] {
            let response = browser.send(request);
            // The app is somebody else's: there it is not found, which tells as little.
            let refused = response.status == 403 || page.path.contains("{id}") && response.status == 404;
            assert!(refused, "{path}: {} {}", response.status, response.text());
            assert_eq!(response.header("location"), "", "{path}");
            tried += 1;
        }
    }
    assert!(tried > 60, "{tried}");
    assert_eq!(browser.get("/settings/account").status, 200, "still signed in");
}

#[test]
fn pages_of_an_app_have_security_headers_and_form_tokens() {
    let server = shared_server();
    let (mut browser, name) = Browser::of_someone(server);
    let created = ["app", "create", "Guarded", "--owner", &name];
    let created = server.run_cli(&created).json();
    let mut seen = 0;
    // What does not end is read elsewhere.
    let ends = |page: &&Endpoint| page.path.contains('{') && !page.path.ends_with("/events");
    for page in pages("GET").filter(ends) {
        let path = filled(page.path, text(&created, "id"));
        let response = browser.get(path.clone());
        assert!(matches!(response.status, 200 | 404), "{path}: {}", response.status);
        super::headers::is_guarded(&response, &path);
        seen += 1;
    }
    assert!(seen >= 6, "{seen}");
}

/// A letter's link leads to the address of the configuration, not to the one that was asked.
#[test]
fn email_links_use_the_configured_address_for_any_host_header() {
    // Its own: one address gets few letters in an hour.
    let server = &TestServer::start(&["--world", "empty"]);
    for name in ["host", "x-forwarded-host", "forwarded", "x-host", "x-original-host"] {
        let user = format!("letter{}", unique_number());
        let address = format!("{user}@mail.example");
        let created = ["user", "create", &user, "--password", "a long secret", "--email", &address];
        server.run_cli(&created).assert_success();
        let mut browser = Browser::new(server);
        let page = browser.get("/forgotten-password");
        let mut fields = hidden(&page.text(), "/forgotten-password");
        fields.insert("email".to_owned(), address.clone());
        let value = if name == "forwarded" { "host=evil.example" } else { "evil.example" };
        let request = posted("/forgotten-password", &fields).header(name, value);
        let response = browser.send(request);
        assert!(!response.text().contains("evil.example"), "{name}");
        let list = server.send(TestRequest::get("/mailbox")).text();
        let Some((before, _)) = list.split_once(&address) else {
            // Not taken at all is as good.
            assert!(response.status >= 400, "{name}: {}", response.text());
            continue;
        };
        let path = before.rsplit_once("href=\"").unwrap().1;
        let email = server.send(TestRequest::get(path.split('"').next().unwrap())).text();
        assert!(!email.contains("evil.example"), "{name}: {email}");
        assert!(email.contains("/account/reset?token="), "{email}");
    }
    // Nor does a page, nor the way to it.
    for path in ["/login", "/developer/apps", "/.well-known/oauth-authorization-server"] {
        let response = server.send(TestRequest::get(path).header("host", "evil.example"));
        assert!(!response.text().contains("evil.example"), "{path}");
        assert!(!response.header("location").contains("evil.example"), "{path}");
    }
}
