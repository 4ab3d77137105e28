//! Deleting one's own account, and restoring it by signing in.

use super::{DATA_PATH, DELETE_PATH, delete_own_account, find_posts, is_shown, signed_in};
use crate::harness::{MailServer, TestRequest, TestServer, unique_number};
use crate::pages::browser::Browser;
use crate::two_factor::Authenticator;

const RESTORE_PATH: &str = "/account/restore";

#[test]
fn deleted_account_is_hidden_and_restored_by_signing_in() {
    let server = &TestServer::start(&[]);
    let (user, mut browser) = signed_in(server, "leaver");
    let reader = server.new_user("reader");
    reader.import_follows(&[&user]);
    let word = format!("zz{}", unique_number());
    let post = user.publish_text(&word);
    let profile = format!("/{}", user.username);
    let lookups = [
        format!("/2/users/{}", user.id),
        format!("/2/users/by/username/{}", user.username),
        format!("/2/tweets/{post}"),
    ];
    assert!(lookups.iter().all(|path| is_shown(&reader, path)));
    assert_eq!(find_posts(&reader, &word), std::slice::from_ref(&post));
    let timeline = format!("/2/users/{}/timelines/reverse_chronological", reader.id);
    assert!(reader.get(&timeline).text().contains(&word));

    let page = browser.get(DATA_PATH);
    let refused = browser.submit(&page, DELETE_PATH, &[("password", "not my secret")]);
    assert!(refused.assert_page(400).contains("The password is wrong"));
    let before = browser.cookies.clone();
    delete_own_account(&mut browser);
    assert!(browser.get("/login?done=deleted").assert_page(200).contains("Your account was deleted."));
    browser.cookies = before;
    assert!(browser.get(DATA_PATH).header("location").starts_with("/login"), "the session goes on");
    assert_eq!(user.get("/2/users/me").status, 401);
    for path in &lookups {
        assert!(!is_shown(&reader, path), "{path}");
    }
    assert!(find_posts(&reader, &word).is_empty());
    assert!(!reader.get(&timeline).text().contains(&word));
    Browser::new(server).get(&profile).assert_page(404);

    let mut browser = Browser::new(server);
    assert!(!browser.sign_in(&user.username, "not my secret", "/home").text().contains("Restore"));
    let offer = browser.sign_in(&user.username, super::PASSWORD, "/home");
    assert!(offer.assert_page(200).contains("Restore your account?"));
    assert!(!is_shown(&reader, &lookups[0]), "the offer is not the answer");
    let restored = browser.submit(&offer, RESTORE_PATH, &[]);
    assert_eq!((restored.status, restored.header("location")), (303, "/home"));
    browser.get(DATA_PATH).assert_page(200);
    assert!(lookups.iter().all(|path| is_shown(&reader, path)));
    assert_eq!(find_posts(&reader, &word), [post]);
    assert!(reader.get(&timeline).text().contains(&word));
    // Apps have to be authorized again.
    assert_eq!(user.get("/2/users/me").status, 401);
    // The form works once.
    delete_own_account(&mut browser);
    let again = browser.submit(&offer, RESTORE_PATH, &[]);
    assert_eq!((again.status, again.header("location")), (303, "/login"));
    assert!(!is_shown(&reader, &lookups[0]));
}

#[test]
fn restoring_an_account_with_a_second_factor_asks_for_the_code() {
    let server = &TestServer::start(&["--world", "empty"]);
    let reader = server.new_user("reader");
    let (user, mut browser) = signed_in(server, "careful");
    let mut app = Authenticator::enrol(&mut browser, super::PASSWORD);
    delete_own_account(&mut browser);
    let profile = format!("/2/users/{}", user.id);
    let mut browser = Browser::new(server);
    let offer = browser.sign_in(&user.username, super::PASSWORD, "/home");
    let asked = browser.submit(&offer, RESTORE_PATH, &[]);
    assert!(asked.header("location").starts_with("/login/code"), "{}", asked.header("location"));
    assert_ne!(browser.get(DATA_PATH).status, 200, "there is a session without a code");
    assert!(!is_shown(&reader, &profile), "the account is restored without a code");
    let page = browser.get(asked.header("location"));
    assert_eq!(browser.submit(&page, "/login/code", &[("code", "000000")]).status, 400);
    assert!(!is_shown(&reader, &profile), "the account is restored with a wrong code");
    let entered = browser.submit(&page, "/login/code", &[("code", &app.code())]);
    assert_eq!((entered.status, entered.header("location")), (303, "/home"), "{}", entered.text());
    browser.get(DATA_PATH).assert_page(200);
    assert!(is_shown(&reader, &profile));
}

#[test]
fn code_does_not_restore_an_account_that_was_deleted_after_its_password_was_entered() {
    let server = &TestServer::start(&["--world", "empty"]);
    let reader = server.new_user("reader");
    let (user, mut browser) = signed_in(server, "careful");
    let mut app = Authenticator::enrol(&mut browser, super::PASSWORD);
    let mut other = Browser::new(server);
    let asked = other.sign_in(&user.username, super::PASSWORD, "/home");
    let page = other.get(asked.header("location"));
    delete_own_account(&mut browser);
    let entered = other.submit(&page, "/login/code", &[("code", &app.code())]);
    assert!(entered.header("location").starts_with("/login?"), "{}", entered.header("location"));
    assert!(!is_shown(&reader, &format!("/2/users/{}", user.id)));
}

/// The path of the newest reset link in the mailbox; none if there is no email.
fn newest_reset_path(server: &TestServer) -> Option<String> {
    let list = server.send(TestRequest::get("/mailbox")).text();
    let id = list.split("href=\"/mailbox/").nth(1)?.split('"').next()?.to_owned();
    let email = server.send(TestRequest::get(format!("/mailbox/{id}"))).text();
    let token = email.split("/account/reset?token=").nth(1)?;
    let token: String = token.chars().take_while(char::is_ascii_alphanumeric).collect();
    Some(format!("/account/reset?token={token}"))
}

/// What the page says that sends a reset link.
fn request_reset(server: &TestServer, login: &str) -> String {
    let mut browser = Browser::new(server);
    let page = browser.get("/forgotten-password");
    browser.submit(&page, "/forgotten-password", &[("email", login)]).assert_page(200).replace(login, "LOGIN")
}

fn member_with_email<'s>(server: &'s TestServer, name: &str) -> (String, Browser<'s>) {
    let email = format!("{name}@mail.example");
    server.run_cli(&["user", "create", name, "--password", super::PASSWORD, "--email", &email]).assert_success();
    let mut browser = Browser::new(server);
    assert_eq!(browser.sign_in(name, super::PASSWORD, "/home").status, 303);
    (email, browser)
}

#[test]
fn forgotten_password_of_a_deleted_account_is_reset_to_restore_it() {
    let server = &TestServer::start(&["--world", "empty"]);
    let reader = server.new_user("reader");
    let (email, mut browser) = member_with_email(server, "leaver");
    delete_own_account(&mut browser);
    let mut browser = Browser::new(server);
    assert_eq!(request_reset(server, &email), request_reset(server, "nobody@mail.example"));
    let path = newest_reset_path(server).expect("a link");
    let page = browser.get(&path);
    let new = [("password", "tr4ms stop here")];
    let offer = browser.submit(&page, "/account/reset", &new);
    assert!(offer.assert_page(200).contains("Restore your account?"), "{}", offer.text());
    assert!(!is_shown(&reader, "/2/users/by/username/leaver"), "the offer is not the answer");
    assert!(browser.get(&path).text().contains("no longer works"), "the link works once");
    assert!(!Browser::new(server).sign_in("leaver", super::PASSWORD, "/home").text().contains("Restore"));
    let restored = browser.submit(&offer, RESTORE_PATH, &[]);
    assert_eq!(restored.status, 303);
    browser.get(DATA_PATH).assert_page(200);
    assert!(is_shown(&reader, "/2/users/by/username/leaver"));
}

#[test]
fn restoring_by_a_reset_link_asks_for_the_second_factor() {
    let server = &TestServer::start(&["--world", "empty"]);
    let reader = server.new_user("reader");
    let (_, mut browser) = member_with_email(server, "careful");
    let mut app = Authenticator::enrol(&mut browser, super::PASSWORD);
    delete_own_account(&mut browser);
    request_reset(server, "careful");
    let mut browser = Browser::new(server);
    let page = browser.get(newest_reset_path(server).expect("a link"));
    let offer = browser.submit(&page, "/account/reset", &[("password", "tr4ms stop here")]);
    let restored = browser.submit(&offer, RESTORE_PATH, &[]);
    assert!(restored.header("location").starts_with("/login/code"), "{}", restored.header("location"));
    assert_ne!(browser.get(DATA_PATH).status, 200, "there is a session without a code");
    assert!(!is_shown(&reader, "/2/users/by/username/careful"), "the account is restored without a code");
    let page = browser.get(restored.header("location"));
    assert_eq!(browser.submit(&page, "/login/code", &[("code", &app.code())]).status, 303);
    browser.get(DATA_PATH).assert_page(200);
}

#[test]
fn reset_link_is_not_sent_for_an_account_that_its_owner_cannot_restore() {
    let server = &TestServer::start(&["--world", "empty"]);
    let (email, _) = member_with_email(server, "removed");
    server.run_cli(&["user", "delete", "removed"]).assert_success();
    let answers = [email.as_str(), "removed", "nobody@mail.example"].map(|login| request_reset(server, login));
    assert!(answers.iter().all(|answer| answer == &answers[2]));
    assert_eq!(newest_reset_path(server), None);
}

#[test]
fn account_that_an_operator_deleted_is_restored_by_operators_only() {
    let server = &TestServer::start(&["--world", "empty"]);
    let (user, _) = signed_in(server, "removed");
    let deleted = server.run_cli(&["user", "delete", &user.username]).assert_success().json();
    assert!(deleted["erase_at"].is_string(), "{deleted}");
    let reply = Browser::new(server).sign_in(&user.username, super::PASSWORD, "/home");
    assert!(reply.assert_page(403).contains("Your account has been deleted."));
    server.run_cli(&["user", "restore", &user.username]).assert_success();
    assert_eq!(Browser::new(server).sign_in(&user.username, super::PASSWORD, "/home").status, 303);
}

#[test]
fn last_owner_of_a_site_cannot_delete_their_account() {
    let server = TestServer::start(&["--world", "empty"]);
    let (user, mut browser) = signed_in(&server, "owner");
    server.run_cli(&["role", "grant", &user.username, "owner"]).assert_success();
    let page = browser.get(DATA_PATH);
    let refused = browser.submit(&page, DELETE_PATH, &[("password", super::PASSWORD)]);
    assert!(refused.assert_page(403).contains("last owner"));
    for delete in [&["user", "delete", &user.username][..], &["user", "delete", &user.username, "--now"]] {
        let refused = server.run_cli(delete);
        assert!(refused.assert_exit_code(1).stderr.contains("last owner"), "{refused:?}");
    }
    assert!(is_shown(&user, "/2/users/me"));
}

#[test]
fn member_who_deletes_their_account_is_told_by_email_in_their_time_zone() {
    let office = MailServer::open("hush-hush");
    let url = format!("mail.smtp_url={}", office.url("hush-hush"));
    let server = TestServer::start_network(&["--set", &url, "--set", "mail.from=no-reply@harbour.example"]);
    let (name, address) = ("grace", "grace@mail.example");
    let created = ["user", "create", name, "--password", "tr4ms stop here", "--email", address];
    server.run_cli(&created).assert_success();
    let mut browser = Browser::new(&server);
    assert_eq!(browser.sign_in(name, "tr4ms stop here", "/home").status, 303);
    let page = browser.get("/settings/profile");
    let fields = [("name", "Grace"), ("messages", "everyone"), ("time_zone", "Asia/Kolkata")];
    assert_eq!(browser.submit(&page, "/settings/profile", &fields).status, 303);
    let page = browser.get(DATA_PATH);
    assert_eq!(browser.submit(&page, DELETE_PATH, &[("password", "tr4ms stop here")]).status, 303);
    let email = office.wait_for_email(address, "Your account @grace on");
    assert!(email.text.contains("To restore it until then") && email.text.contains(" IST."), "{}", email.text);
}
