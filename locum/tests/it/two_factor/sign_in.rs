//! The second step of signing in.

use super::{CODE, PASSWORD, SECURITY, asked_for_code, enrolled, is_signed_in};
use crate::harness::{MailServer, TestServer};
use crate::pages::browser::Browser;

#[test]
fn sign_in_asks_for_a_code_before_there_is_a_session() {
    let server = TestServer::start(&["--world", "empty"]);
    let (_, mut app, name) = enrolled(&server);
    let mut browser = Browser::new(&server);
    let page = asked_for_code(&mut browser, &name);
    assert!(!browser.cookies.contains_key("locum") && !browser.cookies.contains_key("locum-device"));
    assert!(!is_signed_in(&mut browser));
    assert_eq!(browser.submit(&page, CODE, &[("code", "12345")]).status, 400);
    assert!(!browser.cookies.contains_key("locum"));
    let code = app.code();
    // The sign-in belongs to the browser that entered the password.
    let mut other = Browser::new(&server);
    other.get("/login");
    let pending = browser.cookies.remove("locum-pending").unwrap();
    assert!(browser.submit(&page, CODE, &[("code", &code)]).header("location").starts_with("/login?next="));
    browser.cookies.insert("locum-pending".to_owned(), pending.clone());
    let done = browser.submit(&page, CODE, &[("code", &code)]);
    assert_eq!((done.status, done.header("location")), (303, SECURITY), "{}", done.text());
    assert!(is_signed_in(&mut browser));
    assert!(!browser.cookies.contains_key("locum-pending"));
    // It is over, and so is the code.
    other.cookies.insert("locum-pending".to_owned(), pending);
    assert_eq!(other.get(CODE).status, 303);
    let page = asked_for_code(&mut other, &name);
    assert_eq!(other.submit(&page, CODE, &[("code", &code)]).status, 400);
    assert!(!is_signed_in(&mut other));
}

#[test]
fn code_takes_back_only_what_its_password_was_counted_towards() {
    let server = TestServer::start(&["--world", "empty"]);
    let (mut owner, mut app, name) = enrolled(&server);
    let page = owner.get("/logout");
    owner.submit(&page, "/logout", &[]);
    let mut guesser = Browser::new(&server);
    while guesser.sign_in("nobody", "not it", "/").status != 429 {}
    // With the cookie of a known device, the password does not count towards the address.
    let page = asked_for_code(&mut owner, &name);
    owner.cookies.remove("locum-device").unwrap();
    assert_eq!(owner.submit(&page, CODE, &[("code", &app.code())]).status, 303);
    assert_eq!(guesser.sign_in("anybody", "not it", "/").status, 429);
}

#[test]
fn recovery_code_signs_in_once_and_the_member_gets_an_email() {
    let office = MailServer::open("hush-hush");
    let mail = format!("mail.smtp_url={}", office.url("hush-hush"));
    let server = TestServer::start_network(&["--set", &mail, "--set", "mail.from=Harbour <no-reply@harbour.example>"]);
    let (name, address) = ("grace", "grace@mail.example");
    server.run_cli(&["user", "create", name, "--password", PASSWORD, "--email", address]).assert_success();
    let mut owner = Browser::new(&server);
    owner.sign_in(name, PASSWORD, SECURITY);
    let app = super::Authenticator::enrol(&mut owner, PASSWORD);
    office.wait_for_email(address, "Two-factor sign-in was turned on");
    let code = app.recovery_codes[3].to_uppercase().replace('-', " ");
    let mut browser = Browser::new(&server);
    let page = asked_for_code(&mut browser, name);
    assert_eq!(browser.submit(&page, CODE, &[("code", &code)]).status, 303);
    assert!(is_signed_in(&mut browser));
    assert!(browser.get(SECURITY).text().contains("9 of your recovery codes are left"));
    office.wait_for_email(address, "A recovery code was used");
    let mut other = Browser::new(&server);
    let page = asked_for_code(&mut other, name);
    assert_eq!(other.submit(&page, CODE, &[("code", &code)]).status, 400);
    server.run_cli(&["user", "two-factor-off", name]).assert_success();
    office.wait_for_email(address, "Two-factor sign-in was turned off");
}

#[test]
fn code_guessing_is_bounded_per_account_across_browsers_and_restarts() {
    let mut server = TestServer::start(&["--world", "empty"]);
    let (name, codes) = {
        let (_, app, name) = enrolled(&server);
        let mut browser = Browser::new(&server);
        let page = asked_for_code(&mut browser, &name);
        let statuses: Vec<u16> = (0..12).map(|_| browser.submit(&page, CODE, &[("code", "no code")]).status).collect();
        assert_eq!(statuses[..9], [400; 9]);
        assert_eq!(statuses[11], 429, "{statuses:?}");
        (name, app.recovery_codes)
    };
    server.crash_and_restart();
    let mut browser = Browser::new(&server);
    let page = asked_for_code(&mut browser, &name);
    let refused = browser.submit(&page, CODE, &[("code", &codes[0])]);
    assert_eq!(refused.status, 429, "not even with a right code");
    assert!(refused.header_number("retry-after") > 0);
}
