//! Turning two-factor sign-in on and off.

use super::{
    Authenticator, CONFIRM, PASSWORD, SECURITY, asked_for_code, begin_setup, codes_on, current_step, enrolled,
    is_signed_in, key_on,
};
use crate::harness::{TestServer, shared_server};
use crate::pages::browser::Browser;

#[test]
fn two_factor_sign_in_is_on_after_the_first_right_code() {
    let server = TestServer::start(&["--world", "empty"]);
    let (mut browser, name) = Browser::of_someone(&server);
    assert_eq!(begin_setup(&mut browser, "not it").status, 400);
    let page = begin_setup(&mut browser, PASSWORD);
    assert!(page.text().contains("<svg class=\"qr\""), "{}", page.text());
    assert!(page.header("content-security-policy").contains("default-src 'none'"));
    assert!(page.header("cache-control").contains("no-store"));
    let mut app = Authenticator { secret: key_on(&page), recovery_codes: Vec::new(), last_step: 0 };
    let far = app.code_of(current_step() + 100);
    let wrong = browser.submit(&page, CONFIRM, &[("code", &far)]);
    assert_eq!(wrong.status, 400);
    assert_eq!(key_on(&wrong), app.secret);
    // Not on yet.
    assert_eq!(Browser::new(&server).sign_in(&name, PASSWORD, "/").header("location"), "/");
    let done = browser.submit(&wrong, CONFIRM, &[("code", &app.code())]);
    assert_eq!(codes_on(&done).len(), 10, "{}", done.text());
    asked_for_code(&mut Browser::new(&server), &name);
    // The codes are shown once, and nobody starts over while it is on.
    let again = browser.submit(&wrong, CONFIRM, &[("code", "000000")]);
    assert_eq!((again.status, again.header("location")), (303, "/settings/security?done=on"));
    let shown = browser.get(again.header("location"));
    assert!(codes_on(&shown).is_empty());
    assert!(shown.text().contains("If you have not seen your recovery codes"), "{}", shown.text());
}

#[test]
fn turning_off_and_new_recovery_codes_need_password_and_code() {
    let server = TestServer::start(&["--world", "empty"]);
    let (mut browser, app, name) = enrolled(&server);
    let codes = &app.recovery_codes;
    let page = browser.get(SECURITY);
    let off = "/settings/security/two-factor/off";
    for (password, code) in [("not it", codes[0].as_str()), (PASSWORD, "000000"), (PASSWORD, "")] {
        let refused = browser.submit(&page, off, &[("off_password", password), ("off_code", code)]);
        assert_eq!(refused.status, 400, "{}", refused.text());
    }
    let action = "/settings/security/recovery-codes";
    let new = browser.submit(&page, action, &[("codes_password", PASSWORD), ("codes_code", &codes[0])]);
    let new = codes_on(&new);
    assert_eq!(new.len(), 10);
    // The old ones are gone.
    let old = browser.submit(&page, off, &[("off_password", PASSWORD), ("off_code", &codes[1])]);
    assert_eq!(old.status, 400);
    let done = browser.submit(&page, off, &[("off_password", PASSWORD), ("off_code", &new[0])]);
    assert_eq!((done.status, done.header("location")), (303, "/settings/security?done=off"), "{}", done.text());
    assert_eq!(Browser::new(&server).sign_in(&name, PASSWORD, "/").header("location"), "/");
}

#[test]
fn operator_turns_two_factor_sign_in_off() {
    let server = TestServer::start(&["--world", "empty"]);
    let (mut browser, _, name) = enrolled(&server);
    let off = ["user", "two-factor-off", name.as_str()];
    assert_eq!(server.run_cli(&off).json()["changed"], true);
    assert_eq!(server.run_cli(&off).json()["changed"], false);
    let mut other = Browser::new(&server);
    assert_eq!(other.sign_in(&name, PASSWORD, "/").header("location"), "/");
    assert!(is_signed_in(&mut other));
    let log = server.run_cli(&["audit", "list"]).stdout;
    assert!(log.contains("two_factor.disable"), "{log}");
    let events = browser.get(SECURITY).text();
    let told = events.split("Two-factor sign-in was turned off").nth(1).unwrap();
    assert!(told.split("</li>").next().unwrap().contains("by an operator"), "{told}");
}

#[test]
fn sign_in_goes_on_after_the_master_key_is_rotated() {
    let server = TestServer::start(&["--world", "empty"]);
    let (_, mut app, name) = enrolled(&server);
    server.run_cli(&["keys", "rotate", "--rewrap"]).assert_success();
    let mut browser = Browser::new(&server);
    let page = asked_for_code(&mut browser, &name);
    assert_eq!(browser.submit(&page, super::CODE, &[("code", &app.code())]).status, 303);
    assert!(is_signed_in(&mut browser));
}

#[test]
fn security_page_needs_a_session() {
    let mut browser = Browser::new(shared_server());
    let response = browser.get(SECURITY);
    assert_eq!((response.status, response.header("location")), (303, "/login?next=%2Fsettings%2Fsecurity"));
    assert_eq!(browser.get(super::CODE).header("location"), "/login?next=%2Fhome");
}
