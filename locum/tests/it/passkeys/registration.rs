//! Adding and removing passkeys.

use std::net::TcpListener;

use super::authenticator::{PRESENT, SoftwarePasskey};
use super::{
    ADD, CONFIRM, PASSWORD, PasskeySpoiler, REMOVE, SECURITY, add_passkey, attribute, begin_addition, confirm_addition,
    is_signed_in, sign_in, someone_with_passkey, start_server,
};
use crate::harness::{MailServer, TestResponse, TestServer};
use crate::pages::browser::{Browser, hidden, posted};
use crate::two_factor::Authenticator;

fn count_passkeys(browser: &mut Browser<'_>) -> usize {
    browser.get(SECURITY).text().matches("name=\"passkey\"").count()
}

#[test]
fn adding_a_passkey_needs_the_password_and_the_code() {
    let server = start_server();
    let (mut browser, _) = Browser::of_someone(&server);
    let page = browser.get(SECURITY);
    let begin = |browser: &mut Browser<'_>, password: &str, code: &str| {
        browser.submit(&page, ADD, &[("passkey_password", password), ("passkey_code", code)])
    };
    assert_eq!(begin(&mut browser, "not it", "").status, 400);
    assert_eq!(begin(&mut browser, PASSWORD, "").status, 200);
    let app = Authenticator::enrol(&mut browser, PASSWORD);
    for (password, code) in [("not it", app.recovery_codes[0].as_str()), (PASSWORD, "000000"), (PASSWORD, "")] {
        let refused = begin(&mut browser, password, code);
        assert_eq!(refused.status, 400, "{}", refused.text());
        assert!(!refused.text().contains("data-challenge"));
    }
    let setup = begin(&mut browser, PASSWORD, &app.recovery_codes[0]);
    assert!(setup.header("content-security-policy").contains("script-src 'self'"));
    assert_eq!(confirm_addition(&mut browser, &setup, &SoftwarePasskey::es256(&server)).status, 303);
    assert_eq!(count_passkeys(&mut browser), 1);
}

#[test]
fn new_passkey_is_refused_unless_it_answers_the_challenge_of_this_person_and_site() {
    let server = start_server();
    let (mut browser, _) = Browser::of_someone(&server);
    let spoilers: [(&str, PasskeySpoiler); 5] = [
        ("origin", |passkey| passkey.origin = "https://evil.example".to_owned()),
        ("site", |passkey| passkey.site = "evil.example".to_owned()),
        ("not verified", |passkey| passkey.flags = PRESENT),
        ("kind", |passkey| passkey.kind = Some("webauthn.get")),
        ("no id", |passkey| passkey.id = Vec::new()),
    ];
    for (case, spoil) in spoilers {
        let page = begin_addition(&mut browser, "");
        let mut passkey = SoftwarePasskey::es256(&server);
        spoil(&mut passkey);
        let refused = confirm_addition(&mut browser, &page, &passkey);
        assert_eq!(refused.status, 400, "{case}: {}", refused.text());
        // The challenge is used up.
        let good = SoftwarePasskey::es256(&server);
        assert_eq!(confirm_addition(&mut browser, &page, &good).status, 400, "{case}");
    }
    // Of somebody else, replaced by a newer one, and too late.
    let page = begin_addition(&mut browser, "");
    let (mut other, _) = Browser::of_someone(&server);
    let other_page = begin_addition(&mut other, "");
    let passkey = SoftwarePasskey::es256(&server);
    let (client_data, authenticator_data) = passkey.registration(&attribute(&page, "data-challenge"));
    let fields = [("client_data", client_data.as_str()), ("authenticator_data", &authenticator_data)];
    assert_eq!(other.submit(&other_page, CONFIRM, &fields).status, 400);
    let newer = begin_addition(&mut browser, "");
    assert_eq!(confirm_addition(&mut browser, &page, &passkey).status, 400);
    server.run_cli(&["clock", "advance", "6m"]).assert_success();
    assert_eq!(confirm_addition(&mut browser, &newer, &passkey).status, 400);
    assert_eq!(count_passkeys(&mut browser), 0);
}

#[test]
fn passkey_is_not_added_after_the_password_has_changed() {
    let server = start_server();
    let (mut browser, _) = Browser::of_someone(&server);
    let page = begin_addition(&mut browser, "");
    let settings = browser.get("/settings/account");
    let fields = [("current", PASSWORD), ("password", "tr4ms stop here")];
    assert_eq!(browser.submit(&settings, "/settings/account/password", &fields).status, 303);
    let (client_data, authenticator_data) =
        SoftwarePasskey::es256(&server).registration(&attribute(&page, "data-challenge"));
    // With the token of the new session.
    let mut fields = hidden(&browser.get(SECURITY).text(), ADD);
    fields.insert("client_data".to_owned(), client_data);
    fields.insert("authenticator_data".to_owned(), authenticator_data);
    assert_eq!(browser.send(posted(CONFIRM, &fields)).status, 400);
    assert_eq!(count_passkeys(&mut browser), 0);
}

#[test]
fn account_has_at_most_ten_passkeys_and_each_belongs_to_one_account() {
    let server = start_server();
    let (mut browser, passkey, _) = someone_with_passkey(&server);
    let (mut other, _) = Browser::of_someone(&server);
    let page = begin_addition(&mut other, "");
    assert_eq!(confirm_addition(&mut other, &page, &passkey).status, 400, "it is registered");
    for _ in 1..9 {
        add_passkey(&mut browser, SoftwarePasskey::es256(&server), "");
    }
    let page = browser.get(SECURITY);
    let last = begin_addition(&mut browser, "");
    assert_eq!(confirm_addition(&mut browser, &last, &SoftwarePasskey::es256(&server)).status, 303);
    let full = browser.submit(&page, ADD, &[("passkey_password", PASSWORD)]);
    assert_eq!(full.status, 403, "{}", full.text());
    assert!(full.text().contains("You have 10 passkeys") && !full.text().contains("Add a passkey"));
    assert_eq!(count_passkeys(&mut browser), 10);
}

fn remove(browser: &mut Browser<'_>, page: &TestResponse, id: &str, password: &str) -> TestResponse {
    browser.submit(page, REMOVE, &[("passkey", id), ("removal_password", password)])
}

#[test]
fn removed_passkey_signs_nobody_in() {
    let server = start_server();
    let (mut browser, passkey, _) = someone_with_passkey(&server);
    assert!(browser.get(SECURITY).text().contains(" required checked>"), "the only one");
    let kept = add_passkey(&mut browser, SoftwarePasskey::ed25519(&server), "");
    let page = browser.get(SECURITY);
    assert!(!page.text().contains(" checked>"));
    let id = page.text().split("name=\"passkey\" value=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    assert_eq!(remove(&mut browser, &page, &id, "not it").status, 400);
    // Nobody else's form removes it.
    let (mut other, _, _) = someone_with_passkey(&server);
    let other_page = other.get(SECURITY);
    assert_eq!(remove(&mut other, &other_page, &id, PASSWORD).header("location"), SECURITY);
    assert_eq!(count_passkeys(&mut browser), 2);
    let removed = remove(&mut browser, &page, &id, PASSWORD);
    assert_eq!(removed.header("location"), "/settings/security?done=passkey-removed", "{}", removed.text());
    let mut visitor = Browser::new(&server);
    assert_eq!(sign_in(&mut visitor, &passkey, SECURITY).status, 400);
    assert_eq!(sign_in(&mut visitor, &kept, SECURITY).status, 303);
    assert!(is_signed_in(&mut visitor));
}

#[test]
fn operator_removes_all_passkeys_of_an_account() {
    let server = start_server();
    let (mut browser, passkey, name) = someone_with_passkey(&server);
    let command = ["user", "passkeys-remove", name.as_str()];
    assert_eq!(server.run_cli(&command).json()["removed"], 1);
    assert_eq!(server.run_cli(&command).json()["removed"], 0);
    assert_eq!(sign_in(&mut Browser::new(&server), &passkey, SECURITY).status, 400);
    let log = server.run_cli(&["audit", "list"]).stdout;
    assert!(log.contains("passkey.add") && log.contains("passkey.remove"), "{log}");
    let events = browser.get(SECURITY).text();
    let told = events.split("A passkey was removed").nth(1).unwrap();
    assert!(told.split("</li>").next().unwrap().contains("by an operator"), "{told}");
}

#[test]
fn member_of_a_network_gets_an_email_about_a_new_passkey_and_a_removed_one() {
    let office = MailServer::open("hush-hush");
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("core.base_url=http://localhost:{}", socket.local_addr().unwrap().port());
    let mail = format!("mail.smtp_url={}", office.url("hush-hush"));
    let sets = [address.as_str(), &mail, "mail.from=Harbour <no-reply@harbour.example>"];
    let server = TestServer::start_network_on_socket(socket, &sets.map(|set| ["--set", set]).concat());
    let (name, address) = ("grace", "grace@mail.example");
    server.run_cli(&["user", "create", name, "--password", PASSWORD, "--email", address]).assert_success();
    let mut browser = Browser::new(&server);
    assert_eq!(browser.sign_in(name, PASSWORD, SECURITY).status, 303);
    let passkey = add_passkey(&mut browser, SoftwarePasskey::ed25519(&server), "");
    office.wait_for_email(address, "was added to your account");
    assert_eq!(sign_in(&mut Browser::new(&server), &passkey, SECURITY).header("location"), SECURITY);
    server.run_cli(&["user", "passkeys-remove", name]).assert_success();
    office.wait_for_email(address, "was removed from your account");
}
