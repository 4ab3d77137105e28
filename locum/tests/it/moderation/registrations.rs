//! Who may register, as the site's owners have set it.

use crate::harness::{MailServer, TestServer};
use crate::pages::browser::Browser;

fn join(server: &TestServer, username: &str, email: &str) -> String {
    let mut browser = Browser::new(server);
    let page = browser.get("/join");
    let fields =
        [("username", username), ("name", ""), ("email", email), ("password", "tr4ms stop here"), ("next", "/")];
    let answer = browser.submit(&page, "/join", &fields);
    if answer.status == 303 { "joined".to_owned() } else { answer.text() }
}

#[test]
fn applications_wait_for_a_moderator_when_registrations_need_approval() {
    let office = MailServer::open("hush-hush");
    let mail = format!("mail.smtp_url={}", office.url("hush-hush"));
    let sets = [&mail, "mail.from=no-reply@harbour.example", "auth.registration=closed"];
    let sets = sets.iter().flat_map(|set| ["--set", set]).collect::<Vec<&str>>();
    let server = TestServer::start_network(&sets);
    let cli = |args: &[&str]| server.run_cli(args);
    let wrong = cli(&["site", "set", "registrations", "some"]);
    assert!(wrong.stderr.contains("[open,approval,invite,closed]"), "{}", wrong.stderr);
    let wrong = cli(&["site", "set", "colour", "red"]);
    assert!(wrong.stderr.contains("possible values: name, registrations, indexing, about"), "{}", wrong.stderr);
    let shown = cli(&["site", "set", "registrations", "approval"]).json();
    assert_eq!(shown["registrations"], "approval");

    let form = Browser::new(&server).get("/join").text();
    assert!(form.contains("A moderator of this site reads your application."), "{form}");
    let answer = join(&server, "ada", "ada@example.org");
    assert!(
        answer.contains("waiting for approval") && answer.contains("you can sign in with your username"),
        "{answer}"
    );
    assert!(join(&server, "bob", "bob@example.org").contains("waiting for approval"));
    assert!(cli(&["user", "show", "ada"]).code != 0);
    let sign_in = |login: &str, password: &str| Browser::new(&server).sign_in(login, password, "/home").text();
    assert!(sign_in("ADA@example.org", "tr4ms stop here").contains("Your application waits for a moderator."));
    assert!(!sign_in("ada", "another secret").contains("application"));
    let waiting = cli(&["mod", "applications"]).json();
    let ids: Vec<&str> = waiting.as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), 2);
    let moderator = server.new_user("moderator");
    cli(&["role", "grant", &moderator.username, "moderator"]).assert_success();
    let mut staff = Browser::new(&server);
    assert_eq!(staff.sign_in(&moderator.username, "a long secret", "/admin/people").status, 303);
    let page = staff.get("/admin/people");
    let decision = [("application", ids[0]), ("decision", "accept")];
    assert_eq!(staff.submit(&page, "/admin/applications", &decision).header("location"), "/admin/people");
    let again = staff.submit(&page, "/admin/applications", &decision).header("location").to_owned();
    assert!(staff.get(again).text().contains("This application was decided before."));
    cli(&["mod", "admit", ids[1], "reject"]).assert_success();
    assert!(cli(&["mod", "admit", ids[1], "accept"]).code != 0);
    office.wait_for_email("ada@example.org", "was accepted. You can sign in.");
    office.wait_for_email("bob@example.org", "was refused");
    assert_eq!(cli(&["user", "show", "ada"]).json()["email"], "ada@example.org");
    assert!(cli(&["user", "show", "bob"]).code != 0);
    let mut browser = Browser::new(&server);
    assert_eq!(browser.sign_in("ada", "tr4ms stop here", "/settings/account").status, 303);
}

#[test]
fn registration_by_invitation_says_that_one_is_needed() {
    let server = TestServer::start_network(&["--set", "auth.registration=invite"]);
    let mut browser = Browser::new(&server);
    let page = browser.get("/join").text();
    assert!(page.contains("You need an invitation") && !page.contains("name=\"password\""), "{page}");
    let page = browser.get("/join?token=guessed").text();
    assert!(page.contains("This invitation is not valid") && !page.contains("name=\"password\""), "{page}");
    let link = server.run_cli(&["invite"]).json()["link"].as_str().unwrap().to_owned();
    let path = link.split_once("/join").map(|(_, query)| format!("/join{query}")).unwrap();
    let page = browser.get(path).text();
    assert!(page.contains("Create account") && page.contains("name=\"password\""), "{page}");
}

#[test]
fn invited_people_of_one_address_join_after_its_limit() {
    let server = TestServer::start_network(&["--set", "auth.registration=open"]);
    let mut browser = Browser::new(&server);
    let mut join_by = |path: &str, name: &str| {
        let page = browser.get(path);
        let email = format!("{name}@example.org");
        let fields = [("username", name), ("email", &email), ("password", "tr4ms stop here"), ("next", "/")];
        browser.submit(&page, path, &fields).status
    };
    let open: Vec<u16> = (0..22).map(|number| join_by("/join", &format!("walker{number}"))).collect();
    assert_eq!(open.iter().filter(|status| **status == 303).count(), 20, "{open:?}");
    assert_eq!(open[21], 429);
    let link = server.run_cli(&["invite"]).json()["link"].as_str().unwrap().to_owned();
    let path = link.split_once("/join").map(|(_, query)| format!("/join{query}")).unwrap();
    assert_eq!(join_by(&path, "invited"), 303);
}

#[test]
fn blocked_email_domain_cannot_register_and_a_held_one_waits() {
    let server = TestServer::start_network(&["--set", "auth.registration=open"]);
    for args in [&["bad.example"][..], &["odd.example", "--hold"]] {
        server.run_cli(&[&["mod", "term", "block", "email-domain"], args].concat()).assert_success();
    }
    assert!(join(&server, "ada", "ada@mail.bad.example").contains("cannot be used to register"));
    assert!(join(&server, "ada", "ada@odd.example").contains("waiting for approval"));
    assert_eq!(join(&server, "ada", "ada@good.example"), "joined");
}
