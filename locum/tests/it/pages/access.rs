//! Settings: the password, sessions and connected apps.

use super::browser::Browser;
use crate::harness::{TestRequest, TestServer, shared_server};

#[test]
fn session_is_ended_from_another_one() {
    let server = shared_server();
    let (mut here, name) = Browser::of_someone(server);
    let mut there = Browser::new(server);
    there.sign_in(&name, "a long secret", "/");
    assert_eq!(there.get("/settings/account").status, 200);
    let page = here.get("/settings/sessions");
    assert_eq!(page.status, 200, "{}", page.text());
    let response = here.submit(&page, "/settings/sessions/revoke", &[]);
    assert_eq!(response.header("location"), "/settings/sessions");
    assert_eq!(there.get("/settings/account").status, 303);
    assert_eq!(here.get("/settings/account").status, 200);
    there.sign_in(&name, "a long secret", "/");
    let page = here.get("/settings/sessions");
    here.submit(&page, "/settings/sessions/revoke-others", &[]);
    assert_eq!(there.get("/settings/account").status, 303);
    assert_eq!(here.get("/settings/account").status, 200);
}

#[test]
fn session_cookie_is_renewed_with_its_session() {
    let server = TestServer::start(&["--world", "empty"]);
    let (mut browser, name) = Browser::of_someone(&server);
    let secret = browser.cookies["locum"].clone();
    server.run_sql(&format!(
        "UPDATE session SET last_seen_at = last_seen_at - 600000
         WHERE user_id = (SELECT id FROM users WHERE username = '{name}')"
    ));
    let cookie = browser.get("/settings/account").header("set-cookie").to_owned();
    assert!(cookie.starts_with(&format!("locum={secret}; ")) && cookie.contains("Max-Age=2592000"), "{cookie}");
    assert_eq!(browser.get("/settings/account").header("set-cookie"), "");
}

#[test]
fn settings_lead_members_to_their_account_and_others_to_the_sign_in() {
    let server = shared_server();
    let visitor = Browser::new(server).get("/settings");
    assert_eq!((visitor.status, visitor.header("location")), (303, "/login?next=%2Fsettings"));
    let (mut member, _) = Browser::of_someone(server);
    let reply = member.get("/settings");
    assert_eq!((reply.status, reply.header("location")), (303, "/settings/account"));
}

#[test]
fn password_change_needs_the_current_password() {
    let server = shared_server();
    let (mut here, name) = Browser::of_someone(server);
    let mut there = Browser::new(server);
    there.sign_in(&name, "a long secret", "/");
    let page = here.get("/settings/account");
    let action = "/settings/account/password";
    let new = "tr4ms stop here";
    let weak = here.submit(&page, action, &[("current", "a long secret"), ("password", "short")]);
    assert_eq!(weak.status, 400);
    let before = here.cookies["locum"].clone();
    let done = here.submit(&page, action, &[("current", "a long secret"), ("password", new)]);
    assert_eq!(done.status, 303, "{}", done.text());
    assert_ne!(here.cookies["locum"], before);
    let page = here.get(done.header("location"));
    assert!(page.text().contains("Your password was changed."), "{}", page.text());
    assert_eq!(there.get("/settings/account").status, 303);
    assert_eq!(there.sign_in(&name, new, "/").status, 303);
}

#[test]
fn forgotten_password_form_does_not_disclose_accounts() {
    let server = shared_server();
    let mut browser = Browser::new(server);
    let page = browser.get("/forgotten-password");
    let mut request = |email: &str| {
        let response = browser.submit(&page, "/forgotten-password", &[("email", email)]);
        (response.status, response.text().replace(email, "E"))
    };
    let first = request("nobody1@example.org");
    assert_eq!(first.0, 200);
    assert_eq!(first, request("nobody2@example.org"));
    let dead = browser.get("/account/reset?token=nothing");
    assert!(dead.text().contains("This link no longer works"));
    let dead = browser.get("/account/confirm?token=nothing");
    assert!(dead.text().contains("This link no longer works"));
}

#[test]
fn app_whose_token_an_operator_issued_is_connected_until_it_is_revoked() {
    let server = shared_server();
    let (mut browser, name) = Browser::of_someone(server);
    let app = server.default_app();
    let token =
        server.run_cli(&["token", "mint", "--app", &app.id, "--user", &name, "--scopes", "tweet.read,users.read"]);
    let token = token.json()["token"].as_str().unwrap().to_owned();
    let me = || server.send(TestRequest::get("/2/users/me").bearer(&token)).status;
    assert_eq!(me(), 200);
    let page = browser.get("/settings/apps");
    assert_eq!(browser.submit(&page, "/settings/apps/revoke", &[]).status, 303);
    assert_eq!(me(), 401);
}
