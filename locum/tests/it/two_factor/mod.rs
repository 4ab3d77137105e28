//! Two-factor sign-in, and the security events of an account.

mod authorization;
mod enrolment;
mod events;
mod sign_in;

use std::thread;
use std::time::Duration;

use crate::harness::{TestResponse, TestServer};
use crate::pages::browser::Browser;

pub(crate) const PASSWORD: &str = "a long secret";
const SECURITY: &str = "/settings/security";
const BEGIN: &str = "/settings/security/two-factor";
const CONFIRM: &str = "/settings/security/two-factor/confirm";
const CODE: &str = "/login/code";

/// An authenticator app with one key, and the recovery codes of its account.
pub(crate) struct Authenticator {
    /// Base32.
    pub(crate) secret: String,
    pub(crate) recovery_codes: Vec<String>,
    /// The time step of the last code.
    last_step: u64,
}

impl Authenticator {
    /// Turns two-factor sign-in on for the person who is signed in.
    pub(crate) fn enrol(browser: &mut Browser<'_>, password: &str) -> Self {
        let page = begin_setup(browser, password);
        assert_eq!(page.status, 200, "{}", page.text());
        let mut app = Self { secret: key_on(&page), recovery_codes: Vec::new(), last_step: 0 };
        let code = app.code();
        let done = browser.submit(&page, CONFIRM, &[("code", &code)]);
        assert_eq!(done.status, 200, "{}", done.text());
        app.recovery_codes = codes_on(&done);
        assert_eq!(app.recovery_codes.len(), 10);
        app
    }

    /// A code that was not shown before: the current one, or the next one early.
    pub(crate) fn code(&mut self) -> String {
        let step = self.last_step.saturating_add(1).max(current_step());
        while step > current_step() + 1 {
            thread::sleep(Duration::from_millis(200));
        }
        self.last_step = step;
        self.code_of(step)
    }

    fn code_of(&self, step: u64) -> String {
        let secret = totp_rs::Secret::try_from_base32(&self.secret).unwrap();
        totp_rs::Builder::new().with_secret(secret).build().unwrap().generate(step * 30).to_string()
    }
}

fn current_step() -> u64 {
    u64::try_from(base::clock::wall_time().seconds()).unwrap() / 30
}

fn begin_setup(browser: &mut Browser<'_>, password: &str) -> TestResponse {
    let page = browser.get(SECURITY);
    browser.submit(&page, BEGIN, &[("password", password)])
}

fn key_on(page: &TestResponse) -> String {
    let text = page.text();
    let key = text.split("<code class=\"block select\">").nth(1).unwrap_or_else(|| panic!("no key: {text}"));
    key.split('<').next().unwrap().replace(' ', "")
}

fn codes_on(page: &TestResponse) -> Vec<String> {
    let text = page.text();
    let codes = text.split("<code class=\"select\">").skip(1);
    codes.map(|code| code.split('<').next().unwrap().to_owned()).collect()
}

/// Somebody new with two-factor sign-in, who is signed in, and the username.
fn enrolled(server: &TestServer) -> (Browser<'_>, Authenticator, String) {
    let (mut browser, name) = Browser::of_someone(server);
    let app = Authenticator::enrol(&mut browser, PASSWORD);
    (browser, app, name)
}

/// The page that asks for the code, after the right password.
fn asked_for_code(browser: &mut Browser<'_>, name: &str) -> TestResponse {
    let response = browser.sign_in(name, PASSWORD, SECURITY);
    assert_eq!(response.status, 303, "{}", response.text());
    assert!(response.header("location").starts_with(CODE), "{}", response.header("location"));
    let page = browser.get(response.header("location"));
    assert_eq!(page.status, 200, "{}", page.text());
    page
}

fn is_signed_in(browser: &mut Browser<'_>) -> bool {
    browser.get(SECURITY).status == 200
}
