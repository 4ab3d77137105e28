//! A browser as far as our pages need one: cookies, and forms with their hidden fields.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

use crate::harness::{TestRequest, TestResponse, TestServer, percent_encode, unique_number};

/// A browser with its cookies.
#[derive(Clone)]
pub(crate) struct Browser<'s> {
    pub(crate) server: &'s TestServer,
    pub(crate) cookies: BTreeMap<String, String>,
    /// Visited over TLS instead of the server's own address.
    emulated_host: Option<&'static str>,
}

impl<'s> Browser<'s> {
    pub(crate) const fn new(server: &'s TestServer) -> Self {
        Self { server, cookies: BTreeMap::new(), emulated_host: None }
    }

    pub(crate) fn on_emulated_host(server: &'s TestServer, host: &'static str) -> Self {
        Self { emulated_host: Some(host), ..Self::new(server) }
    }

    /// The origin of the pages that it visits.
    pub(crate) fn origin(&self) -> String {
        self.emulated_host.map_or_else(|| self.server.url.clone(), |host| format!("https://{host}"))
    }

    /// A browser in which somebody new is signed in.
    pub(crate) fn of_someone(server: &'s TestServer) -> (Self, String) {
        let name = someone(server);
        let mut browser = Self::new(server);
        let response = browser.sign_in(&name, "a long secret", "/settings/account");
        assert_eq!(response.status, 303, "{}", response.text());
        (browser, name)
    }

    /// Sends a request with its cookies, and keeps those that come. A form may be answered with no other redirect than
    /// 303, with which browsers do not send it again, or 302 to an app.
    pub(crate) fn send(&mut self, request: TestRequest) -> TestResponse {
        let shown = format!("{} {}", request.method, request.target);
        let is_form = request.method == "POST";
        let response = self.try_send(request).unwrap_or_else(|| panic!("no response to {shown}"));
        let is_redirect = (300..400).contains(&response.status);
        let is_to_app = !response.header("location").starts_with('/');
        let expected = if is_to_app { 302 } else { 303 };
        assert!(!is_form || !is_redirect || response.status == expected, "a form was answered {}", response.status);
        response
    }

    /// The same, where there may be no response, or any.
    pub(crate) fn try_send(&mut self, request: TestRequest) -> Option<TestResponse> {
        let pairs = self.cookies.iter();
        let cookies: Vec<_> = pairs.map(|(name, value)| format!("{name}={value}")).collect();
        let request = request.header("accept", "text/html,*/*;q=0.8").header("cookie", cookies.join("; "));
        let response = match self.emulated_host {
            Some(host) => self.server.send_over_tls(host, request),
            None => self.server.try_send(request)?,
        };
        for line in response.headers.get_all("set-cookie") {
            let pair = line.to_str().unwrap().split(';').next().unwrap();
            let (name, value) = pair.split_once('=').unwrap();
            if value.is_empty() {
                self.cookies.remove(name);
            } else {
                self.cookies.insert(name.to_owned(), value.to_owned());
            }
        }
        Some(response)
    }

    pub(crate) fn get(&mut self, target: impl Into<String>) -> TestResponse {
        self.send(TestRequest::get(target))
    }

    /// Sends the form that a page shows, with fields of its own.
    pub(crate) fn submit(&mut self, page: &TestResponse, action: &str, fields: &[(&str, &str)]) -> TestResponse {
        let mut all = hidden(&page.text(), action);
        for (name, value) in fields {
            all.insert((*name).to_owned(), (*value).to_owned());
        }
        let origin = self.origin();
        self.send(posted(action, &all).header("origin", origin))
    }

    /// One at a time in all tests: they have the same address, whose sign-ins count as attempts until they succeed.
    pub(crate) fn sign_in(&mut self, login: &str, password: &str, next: &str) -> TestResponse {
        static IN_PROGRESS: Mutex<()> = Mutex::new(());
        let _in_progress = IN_PROGRESS.lock().unwrap_or_else(PoisonError::into_inner);
        let page = self.get(format!("/login?next={}", percent_encode(next)));
        assert_eq!(page.status, 200, "{}", page.text());
        let fields = [("login", login), ("password", password)];
        self.submit(&page, "/login", &fields)
    }
}

/// A form as it goes over the wire.
pub(crate) fn posted(action: &str, fields: &BTreeMap<String, String>) -> TestRequest {
    let pairs: Vec<_> =
        fields.iter().map(|(name, value)| format!("{}={}", percent_encode(name), percent_encode(value))).collect();
    TestRequest::post(action).form(pairs.join("&"))
}

/// The hidden fields of the first form that is posted to this action.
pub(crate) fn hidden(html: &str, action: &str) -> BTreeMap<String, String> {
    let start = format!("method=\"post\" action=\"{}\"", action.replace('&', "&#38;"));
    let form = html.split(&start).nth(1);
    let form = form.unwrap_or_else(|| panic!("no form to {action} on {html}"));
    let form = form.split("</form>").next().unwrap();
    let inputs = form.split("<input type=\"hidden\" name=\"").skip(1);
    let pairs = inputs.map(|input| {
        let (name, rest) = input.split_once("\" value=\"").unwrap();
        (name.to_owned(), plain(rest.split('"').next().unwrap()))
    });
    pairs.collect()
}

fn plain(html: &str) -> String {
    let pairs = [("&#38;", "&"), ("&amp;", "&"), ("&#60;", "<"), ("&#34;", "\""), ("&#39;", "'"), ("&#62;", ">")];
    let mut text = html.to_owned();
    for (entity, email) in pairs {
        text = text.replace(entity, email);
    }
    text
}

/// Somebody new, whose password is `a long secret`.
pub(crate) fn someone(server: &TestServer) -> String {
    let name = format!("visitor{}", unique_number());
    let created = ["user", "create", &name, "--password", "a long secret"];
    server.run_cli(&created).assert_success();
    name
}

/// A new app, made with further arguments.
pub(crate) fn app(server: &TestServer, more: &[&str]) -> Value {
    let name = format!("App {}", unique_number());
    let owner = server.default_app().owner.clone();
    let created = ["app", "create", &name, "--owner", &owner];
    server.run_cli(&[&created[..], more].concat()).json()
}

/// A text member of what a command answered.
pub(crate) fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value[name].as_str().unwrap_or_else(|| panic!("no {name}: {value}"))
}

/// A parameter of an address.
pub(crate) fn param(url: &str, name: &str) -> Option<String> {
    let query = url.split_once('?')?.1;
    let pairs = base::percent::parse_form(query).unwrap();
    let mut pairs = pairs.into_iter();
    pairs.find(|(known, _)| known == name).map(|(_, value)| value)
}
