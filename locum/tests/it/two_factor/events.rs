//! The security events of one's own account.

use super::{CODE, PASSWORD, SECURITY, asked_for_code, enrolled};
use crate::harness::{TestRequest, TestServer};
use crate::pages::browser::Browser;

/// What happened, newest first, and the text of each entry.
fn events(browser: &mut Browser<'_>) -> Vec<(String, String)> {
    let text = browser.get(SECURITY).text();
    let list = text.split("id=\"events-title\"").nth(1).unwrap().to_owned();
    let entries = list.split("<p class=\"strong\">").skip(1);
    let entries = entries.map(|entry| {
        let what = entry.split(['<', ':']).next().unwrap().trim().to_owned();
        (what, entry.split("</li>").next().unwrap().to_owned())
    });
    entries.collect()
}

#[test]
fn events_of_the_own_account_are_listed_newest_first() {
    let server = TestServer::start(&["--world", "empty"]);
    let (mut browser, app, name) = enrolled(&server);
    let mut other = Browser::new(&server);
    assert_eq!(other.sign_in(&name, "not it", "/").status, 400);
    let page = asked_for_code(&mut other, &name);
    other.submit(&page, CODE, &[("code", "000000")]);
    other.submit(&page, CODE, &[("code", &app.recovery_codes[0])]);
    server.run_cli(&["app", "create", "Harbour Radio", "--owner", &name]).assert_success();
    server.run_cli(&["token", "mint", "--app", "Harbour Radio", "--user", &name]).assert_success();
    let page = browser.get("/settings/apps");
    browser.submit(&page, "/settings/apps/revoke", &[]);
    let page = browser.get("/settings/sessions");
    browser.submit(&page, "/settings/sessions/revoke-others", &[]);
    let page = browser.get("/settings/account");
    let fields = [("current", PASSWORD), ("password", "tr4ms stop here")];
    browser.submit(&page, "/settings/account/password", &fields);
    let listed = events(&mut browser);
    let kinds: Vec<&str> = listed.iter().map(|(what, _)| what.as_str()).collect();
    let expected = [
        "Password was changed",
        "Sessions were signed out",
        "An app’s access was revoked",
        "An access token was created",
        "Signed in",
        "A recovery code was used",
        "A wrong code was entered",
        "Sign-in failed",
        "Two-factor sign-in was turned on",
        "Signed in",
    ];
    assert_eq!(kinds, expected);
    assert!(listed[2].1.contains("Harbour Radio") && listed[3].1.contains("by an operator"), "{listed:?}");
    assert!(listed[7].1.contains("127.0.0.1"), "{listed:?}");
    // Nobody else sees them.
    let (mut stranger, _) = Browser::of_someone(&server);
    let kinds: Vec<String> = events(&mut stranger).into_iter().map(|(what, _)| what).collect();
    assert_eq!(kinds, ["Signed in"]);
}

#[test]
fn at_most_a_hundred_events_are_listed() {
    let server = TestServer::start(&["--world", "empty"]);
    let (mut browser, name) = Browser::of_someone(&server);
    for _ in 0..102 {
        let page = browser.get("/login?switch=1");
        let fields = [("login", name.as_str()), ("password", PASSWORD)];
        assert_eq!(browser.submit(&page, "/login", &fields).status, 303);
    }
    assert_eq!(events(&mut browser).len(), 100);
    assert_eq!(server.send(TestRequest::get(SECURITY)).status, 303);
}
