//! Emails of a network with a mail server: invitations, confirmed addresses, new passwords.

use crate::harness::{MailServer, TestRequest, TestServer, unique_number, wait_until};
use crate::pages::browser::{Browser, hidden, posted};

const NEW: &str = "tr4ms stop here";

fn network(office: &MailServer, password: &str, more: &[&str]) -> TestServer {
    let mail = [
        format!("mail.smtp_url={}", office.url(password)),
        "mail.from=Harbour <no-reply@harbour.example>".to_owned(),
        "core.site_name=Harbour".to_owned(),
        "auth.registration=invite".to_owned(),
    ];
    let sets = mail.iter().flat_map(|set| ["--set", set.as_str()]);
    let all: Vec<&str> = sets.chain(more.iter().copied()).collect();
    TestServer::start_network(&all)
}

/// The path and the secret of the link in a letter.
fn link(server: &TestServer, text: &str) -> (String, String) {
    let path = text.split(server.url.as_str()).nth(1).unwrap();
    let path = path.split_whitespace().next().unwrap();
    let (_, token) = path.split_once("?token=").unwrap();
    (path.to_owned(), token.to_owned())
}

#[test]
fn invited_user_registers_confirms_and_resets_the_password() {
    let office = MailServer::open("hush-hush");
    let server = network(&office, "hush-hush", &[]);
    let mut browser = Browser::new(&server);
    let page = browser.get("/join").text();
    assert!(page.contains("· Harbour</title>") && !page.contains("name=\"password\""));

    let (name, address) = ("grace", "grace@mail.example");
    let invited = server.run_cli(&["invite", "--email", address]).json();
    let email = office.wait_for_email(address, "You are invited to join Harbour");
    assert_eq!(email.from, "no-reply@harbour.example");
    let (path, token) = link(&server, &email.text);
    assert!(invited["link"].as_str().unwrap().ends_with(&path));
    let action = format!("/join?token={token}");
    let fields = [("username", name), ("name", "Grace"), ("email", address), ("password", NEW)];
    let page = browser.get(path.clone());
    let created = browser.submit(&page, &action, &fields);
    assert_eq!(created.status, 303, "{}", created.text());
    // It works once.
    assert!(!Browser::new(&server).get(path).text().contains("name=\"password\""));
    let again = [("username", "second"), ("email", "b@mail.example"), ("password", NEW)];
    let again = Browser::new(&server).submit(&page, &action, &again);
    assert!(matches!(again.status, 400 | 403), "{}", again.status);

    confirms(&server, &office, &mut browser, name, address);
    gets_back_in(&server, &office, name, address);
    let logged = server.stderr();
    assert!(logged.contains("failed to send an email"), "{logged}");
    assert!(!logged.contains("hush-hush") && !logged.contains(&token), "{logged}");
}

/// Programs see the address once it is confirmed.
fn confirms(server: &TestServer, office: &MailServer, browser: &mut Browser<'_>, name: &str, address: &str) {
    let app = ["app", "create", "Reader", "--owner", name, "--request-email"];
    server.run_cli(&app).assert_success();
    let mint = ["token", "mint", "--app", "Reader", "--user", name];
    let token = server.run_cli(&mint).json()["token"].clone();
    let seen = || {
        let request = TestRequest::get("/2/users/me?user.fields=confirmed_email");
        server.send(request.bearer(token.as_str().unwrap())).assert_status(200)["data"]["confirmed_email"].clone()
    };
    assert!(seen().is_null());
    let notice = format!("Your email address <bdi class=\"strong\">{address}</bdi>");
    let home = browser.get("/home").assert_page(200);
    assert!(home.contains(&notice) && home.contains("Settings → Account"), "{home}");
    let email = office.wait_for_email(address, "Confirm that this email address");
    let (path, token) = link(server, &email.text);
    let page = browser.get(path);
    assert!(page.text().contains(address) && page.text().contains("Confirm email"), "{}", page.text());
    assert!(seen().is_null(), "looking does not confirm");
    let mut confirm = || browser.submit(&page, "/account/confirm", &[("token", &token)]).text();
    assert!(confirm().contains("Email address confirmed"));
    assert_eq!(seen(), address);
    assert!(confirm().contains("This link no longer works"));
    assert!(!browser.get("/home").assert_page(200).contains(&notice));
}

/// A mail server that has no time is asked again.
fn gets_back_in(server: &TestServer, office: &MailServer, name: &str, address: &str) {
    office.reject_next(1);
    let mut browser = Browser::new(server);
    let page = browser.get("/forgotten-password");
    browser.submit(&page, "/forgotten-password", &[("email", address)]);
    let email = office.wait_for_email(address, "Choose a new password");
    let (path, token) = link(server, &email.text);
    let page = browser.get(path.clone());
    assert!(page.text().contains(name), "{}", page.text());
    let mut reset = |password| browser.submit(&page, "/account/reset", &[("token", &token), ("password", password)]);
    assert!(reset("short").assert_page(400).contains("at least 8 characters"));
    let done = reset("tr4ms go there");
    assert_eq!(done.header("location"), "/login?done=reset", "{}", done.text());
    assert!(browser.get(path).text().contains("This link no longer works"));
    assert!(browser.get("/login?done=reset").assert_page(200).contains("Your password was changed. Sign in."));
    assert_eq!(browser.sign_in(name, "tr4ms go there", "/").status, 303);
}

/// Somebody else may have registered with the address before.
#[test]
fn first_reset_of_an_unconfirmed_account_revokes_its_tokens() {
    let office = MailServer::open("hush-hush");
    let server = network(&office, "hush-hush", &[]);
    let address = "ada@mail.example";
    let invited = server.run_cli(&["invite"]).json();
    let (path, token) = link(&server, invited["link"].as_str().unwrap());
    let mut browser = Browser::new(&server);
    let page = browser.get(path);
    let fields = [("username", "ada"), ("name", "Ada"), ("email", address), ("password", NEW)];
    assert_eq!(browser.submit(&page, &format!("/join?token={token}"), &fields).status, 303);
    server.run_cli(&["app", "create", "Reader", "--owner", "ada"]).assert_success();
    let token = server.run_cli(&["token", "mint", "--app", "Reader", "--user", "ada"]).json()["token"].clone();
    let ask = || server.send(TestRequest::get("/2/users/me").bearer(token.as_str().unwrap())).status;
    assert_eq!(ask(), 200);
    gets_back_in(&server, &office, "ada", address);
    assert_eq!(ask(), 401);
}

#[test]
fn refused_mail_password_is_reported_without_being_shown() {
    let office = MailServer::open("hush-hush");
    let server = network(&office, "wrong-secret", &["--set", "auth.pkce_plain=warn"]);
    let address = format!("a{}@mail.example", unique_number());
    let created = ["user", "create", "ada", "--email", &address, "--password", NEW];
    server.run_cli(&created).assert_success();
    let mut browser = Browser::new(&server);
    let page = browser.get("/forgotten-password");
    browser.submit(&page, "/forgotten-password", &[("email", &address)]);
    wait_until("the log says so", || server.stderr().contains("535"));
    assert!(!server.stderr().contains("wrong-secret"));
    assert_eq!(office.email_count(), 0);
    let doctor = server.run_cli(&["doctor"]);
    let rows: serde_json::Value = serde_json::from_str(&doctor.stdout).unwrap();
    let rows = rows.as_array().unwrap();
    let mail = rows.iter().find(|row| row["name"] == "mail").unwrap();
    assert_eq!(mail["state"], "bad", "{mail}");
    assert!(!(doctor.stdout + &doctor.stderr).contains("wrong-secret"));
    // Nothing else of the test platform is here.
    assert_eq!(browser.get("/mailbox").status, 404);
}

#[test]
fn closed_registration_refuses_new_users() {
    let server = TestServer::start_network(&[]);
    let mut browser = Browser::new(&server);
    let page = browser.get("/").text();
    assert!(page.contains("Sign in") && !page.contains("Create account"), "{page}");
    let page = browser.get("/join");
    assert!(page.text().contains("Registration is closed") && !page.text().contains("name=\"password\""));
    let form = posted("/join", &hidden(&browser.get("/login").text(), "/login"));
    assert_eq!(browser.send(form.header("origin", &server.url)).status, 400);
    let refused = server.run_cli(&["invite"]);
    refused.assert_exit_code(1);
    assert!(refused.stderr.contains("closed"), "{}", refused.stderr);
    let wrong = server.run_cli(&["conf", "check", "--set", "mail.smtp_url=smtp://a:hush@b"]);
    wrong.assert_exit_code(2);
    assert!(!wrong.stderr.contains("hush"));
}
