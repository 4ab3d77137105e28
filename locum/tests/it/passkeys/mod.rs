//! Passkeys of members, made by an authenticator in software.

mod authenticator;
mod registration;
mod sign_in;

use std::collections::BTreeMap;

pub(crate) use authenticator::SoftwarePasskey;

use crate::harness::{TestResponse, TestServer};
use crate::pages::browser::{Browser, hidden, posted};

const PASSWORD: &str = "a long secret";
const SECURITY: &str = "/settings/security";
const ADD: &str = "/settings/security/passkeys";
const CONFIRM: &str = "/settings/security/passkeys/confirm";
const REMOVE: &str = "/settings/security/passkeys/remove";
const SIGN_IN: &str = "/login/passkey";
const CHALLENGE: &str = "/login/passkey/challenge";

/// Makes an answer wrong.
type PasskeySpoiler = fn(&mut SoftwarePasskey);

/// A development server at a host name that may have passkeys.
fn start_server() -> TestServer {
    let mut server = TestServer::start(&["--world", "empty"]);
    use_host_name(&mut server);
    server
}

/// Browsers have no passkeys at an IP address.
pub(crate) fn use_host_name(server: &mut TestServer) {
    server.url = server.url.replace("127.0.0.1", "localhost");
}

/// An attribute of the first element of a page that has it.
fn attribute(page: &TestResponse, name: &str) -> String {
    let text = page.text();
    let value = text.split(&format!(" {name}=\"")).nth(1).unwrap_or_else(|| panic!("no {name}: {text}"));
    value.split('"').next().unwrap().to_owned()
}

fn begin_addition(browser: &mut Browser<'_>, code: &str) -> TestResponse {
    let page = browser.get(SECURITY);
    browser.submit(&page, ADD, &[("passkey_password", PASSWORD), ("passkey_code", code)])
}

/// Sends a passkey for the challenge of a page.
fn confirm_addition(browser: &mut Browser<'_>, page: &TestResponse, passkey: &SoftwarePasskey) -> TestResponse {
    let (client_data, authenticator_data) = passkey.registration(&attribute(page, "data-challenge"));
    let fields = [("name", "My key"), ("client_data", &client_data), ("authenticator_data", &authenticator_data)];
    browser.submit(page, CONFIRM, &fields)
}

/// Adds a passkey for whoever is signed in; `code` is for two-factor sign-in.
pub(crate) fn add_passkey(browser: &mut Browser<'_>, mut passkey: SoftwarePasskey, code: &str) -> SoftwarePasskey {
    let page = begin_addition(browser, code);
    assert_eq!(page.status, 200, "{}", page.text());
    passkey.user_handle = attribute(&page, "data-user-handle");
    let added = confirm_addition(browser, &page, &passkey);
    assert_eq!(added.header("location"), "/settings/security?done=passkey-added", "{}", added.text());
    passkey
}

/// Somebody new who has a passkey, and the username.
fn someone_with_passkey(server: &TestServer) -> (Browser<'_>, SoftwarePasskey, String) {
    let (mut browser, name) = Browser::of_someone(server);
    let passkey = add_passkey(&mut browser, SoftwarePasskey::es256(server), "");
    (browser, passkey, name)
}

/// The fields of the form that signs in, apart from the passkey's.
fn sign_in_fields(browser: &mut Browser<'_>, next: &str) -> BTreeMap<String, String> {
    let page = browser.get(format!("/login?switch=1&next={}", crate::harness::percent_encode(next)));
    hidden(&page.text(), SIGN_IN)
}

/// Asks for a challenge as the script of the sign-in page does.
fn request_challenge(browser: &mut Browser<'_>, fields: &BTreeMap<String, String>) -> TestResponse {
    let token = BTreeMap::from([("csrf".to_owned(), fields["csrf"].clone())]);
    browser.send(posted(CHALLENGE, &token))
}

fn challenge_of(reply: &TestResponse) -> String {
    reply.json()["challenge"].as_str().unwrap().to_owned()
}

/// Answers a challenge.
fn answer(
    browser: &mut Browser<'_>,
    fields: &BTreeMap<String, String>,
    challenge: &str,
    passkey: &SoftwarePasskey,
) -> TestResponse {
    let mut fields = fields.clone();
    fields.extend(passkey.assertion(challenge));
    browser.send(posted(SIGN_IN, &fields))
}

fn sign_in(browser: &mut Browser<'_>, passkey: &SoftwarePasskey, next: &str) -> TestResponse {
    let fields = sign_in_fields(browser, next);
    let challenge = request_challenge(browser, &fields);
    assert_eq!(challenge.status, 200, "{}", challenge.text());
    answer(browser, &fields, &challenge_of(&challenge), passkey)
}

fn is_signed_in(browser: &mut Browser<'_>) -> bool {
    browser.get(SECURITY).status == 200
}
