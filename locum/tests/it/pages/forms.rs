//! Every form that links lead to, filled in with what looks like HTML. What is not shown as text breaks a rule of the
//! harness.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use web::endpoint::ErrorFormat;

use super::browser::{Browser, posted, text};
use crate::harness::{Document, Element, TestRequest, TestResponse, TestServer, percent_encode};

const HOSTILE: &str = "\"><script>x()</script>";
const ESCAPED: &str = "&#34;&#62;&#60;script&#62;x()&#60;/script&#62;";
const PASSWORD: &str = "a long secret";

/// Actions, some with a button. These end the session, or change the world of the test.
const NOT_SENT: &[&str] = &[
    "/logout",
    "/settings/sessions",
    "/console/sign-in",
    "/console/clock",
    "/console/people/typist act suspend",
    "/console/worlds act remove",
    "/console/snapshots act load",
    "/console/snapshots act remove",
    "/console/snapshots act reset",
];
/// `TYPED` stands for what is typed.
const UNLINKED: &[&str] = &["/other", "/intent/post?text=TYPED", "/messages/new?to=TYPED"];
/// Forms are sent once. What they have stored is on the pages of the next round.
const ROUNDS: usize = 2;

/// The same for pages that differ in numbers and ids, or in the operation that they are about.
fn pattern(target: &str) -> String {
    const EXPLORER: &str = "/console/explorer/";
    let target = if target.starts_with(EXPLORER) { EXPLORER } else { target };
    let parts = target.split(['/', '?', '&', '=', ' ']);
    let parts = parts.map(|part| if part.contains(|letter: char| letter.is_ascii_digit()) { "0" } else { part });
    parts.collect::<Vec<_>>().join("/")
}

fn attribute<'e>(element: &'e Element, name: &str) -> &'e str {
    element.attribute(name).unwrap_or_default()
}

/// What a browser sends if a person types into each field.
fn fill_in(document: &Document, form: &Element) -> BTreeMap<String, String> {
    let mut fields = BTreeMap::new();
    for field in document.within(form) {
        let value = match (field.name.as_str(), attribute(field, "type")) {
            ("input", "file" | "submit") => continue,
            ("input", "checkbox" | "radio") if field.attribute("checked").is_none() => continue,
            ("input", "hidden" | "checkbox" | "radio") => attribute(field, "value"),
            ("input" | "textarea", _) => HOSTILE,
            ("select", _) => {
                let mut options = document.within(field).filter(|option| option.name == "option");
                options.next().map_or("", |option| attribute(option, "value"))
            }
            _ => continue,
        };
        fields.insert(attribute(field, "name").to_owned(), value.to_owned());
    }
    fields
}

struct Crawler<'s> {
    browser: Browser<'s>,
    waiting: VecDeque<String>,
    seen: BTreeSet<String>,
    /// Actions with their buttons.
    sent: BTreeSet<String>,
    /// Paths of pages that showed what was typed.
    showing: BTreeSet<String>,
}

impl Crawler<'_> {
    fn visit(&mut self, target: &str) {
        let page = self.browser.get(target);
        self.read(target, &page);
        if !page.header("content-type").starts_with("text/html") {
            return;
        }
        let document = Document::read(&page.text()).unwrap();
        for form in document.elements("form") {
            self.send_form(&document, form);
        }
    }

    /// Notes the text, and where the response leads.
    fn read(&mut self, target: &str, response: &TestResponse) {
        assert!(response.status < 500, "{target}: {}", response.text());
        self.waiting.extend(Some(response.header("location").to_owned()));
        if !response.header("content-type").starts_with("text/html") {
            return;
        }
        let (html, path) = (response.text(), target.split('?').next().unwrap());
        if html.split_once("<main").is_some_and(|(_, main)| main.contains(ESCAPED)) {
            self.showing.insert(pattern(path));
        }
        let document = Document::read(&html).unwrap();
        self.waiting.extend(document.elements("a").map(|link| attribute(link, "href").to_owned()));
    }

    /// With each of its buttons.
    fn send_form(&mut self, document: &Document, form: &Element) {
        let action = attribute(form, "action");
        if attribute(form, "method") == "get" {
            let pairs =
                fill_in(document, form).into_iter().map(|(name, value)| [name, percent_encode(&value)].join("="));
            self.waiting.push_back(format!("{action}?{}", pairs.collect::<Vec<_>>().join("&")));
            return;
        }
        for button in document.within(form).filter(|element| element.name == "button") {
            let (name, value) = (attribute(button, "name"), attribute(button, "value"));
            let sent = format!("{action} {name} {value}");
            if !NOT_SENT.iter().any(|some| sent.starts_with(some)) && self.sent.insert(pattern(&sent)) {
                let mut fields = fill_in(document, form);
                fields.extend(Some((name.to_owned(), value.to_owned())).filter(|_| !name.is_empty()));
                let request = posted(action, &fields).header("origin", self.browser.origin());
                let response = self.browser.send(request);
                self.read(action, &response);
            }
        }
    }

    /// Follows the links from some pages.
    fn crawl(&mut self, pages: impl IntoIterator<Item = String>) {
        self.seen.clear();
        self.waiting.extend(pages);
        while let Some(target) = self.waiting.pop_front() {
            let target = target.split('#').next().unwrap();
            let is_page = target.starts_with('/') && !target.starts_with("/assets/") && !target.ends_with("/live");
            if is_page && self.seen.insert(pattern(target)) {
                self.visit(target);
            }
        }
    }
}

/// Pages without parameters, and those that nothing leads to.
fn first_pages(app: &str) -> Vec<String> {
    let endpoints = [portal::ENDPOINTS, members::ENDPOINTS, console::PAGES, moderation::ENDPOINTS].concat();
    let pages = endpoints.into_iter().chain([portal::DEVELOPMENT]).flatten();
    let pages = pages.filter(|page| page.error_format == ErrorFormat::Page && page.method == "GET");
    let pages = pages.map(|page| page.path.to_owned()).filter(|path| !path.contains('{'));
    let typed = percent_encode(HOSTILE);
    let unlinked = UNLINKED.iter().map(|path| path.replace("TYPED", &typed));
    let consent = format!("/i/oauth2/authorize?client_id={app}&redirect_uri=https://client.example/{typed}");
    pages.chain(unlinked).chain([consent]).collect()
}

/// A development world whose names are hostile.
fn start_server() -> (TestServer, String) {
    let server = TestServer::start(&["--world", "empty"]);
    for arguments in [
        &["user", "create", "typist", "--password", PASSWORD, "--email", "typist@mail.example"][..],
        &["user", "create", "other", "--name", HOSTILE, "--description", HOSTILE],
        &["role", "grant", "typist", "admin"],
        &["site", "set", "name", HOSTILE],
    ] {
        server.run_cli(arguments).assert_success();
    }
    let created = ["app", "create", HOSTILE, "--owner", "typist", "--callback", "https://client.example/"];
    let app = text(&server.run_cli(&created).json(), "client_id").to_owned();
    let refused = TestRequest::get("/2/users/me").bearer(HOSTILE).header("user-agent", HOSTILE);
    assert_eq!(server.send(refused).status, 401);
    (server, app)
}

#[test]
fn what_is_typed_into_any_form_is_shown_as_text() {
    let (server, app) = start_server();
    let mut crawler = Crawler {
        browser: Browser::new(&server),
        waiting: VecDeque::new(),
        seen: BTreeSet::new(),
        sent: BTreeSet::new(),
        showing: BTreeSet::new(),
    };
    crawler.browser.sign_in("typist", PASSWORD, "/home");
    for _ in 0..ROUNDS {
        crawler.crawl(first_pages(&app));
    }
    assert_eq!(crawler.browser.get("/home").status, 200, "still signed in");
    assert!(crawler.showing.len() > 50, "{:?}", crawler.showing);
}
