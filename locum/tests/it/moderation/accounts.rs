//! Acting on accounts that nobody reported, in a browser.

use super::moderate_on;
use super::pages::{member, staff};
use crate::harness::{TestRequest, TestResponse, TestServer, TestUser};
use crate::pages::browser::Browser;

const PATH: &str = "/admin/accounts";

fn open(browser: &mut Browser<'_>, user: &TestUser<'_>) -> TestResponse {
    browser.get(format!("{PATH}?username={}", user.username))
}

fn order(browser: &mut Browser<'_>, user: &TestUser<'_>, act: &str, days: &str) -> TestResponse {
    let page = open(browser, user);
    browser.submit(&page, PATH, &[("act", act), ("reason", "Rule 9"), ("days", days)])
}

#[test]
fn moderator_acts_on_an_account_that_nobody_reported() {
    let server = TestServer::start(&[]);
    let (subject, mut subject_browser) = member(&server, "subject");
    let (staff_user, mut moderator) = staff(&server, "moderator");
    let link = format!("href=\"{PATH}?username={}\"", subject.username);
    assert!(moderator.get(format!("/{}", subject.username)).text().contains(&link));
    assert!(!member(&server, "other").1.get(format!("/{}", subject.username)).text().contains(PATH));
    assert!(!moderator.get(format!("/{}", staff_user.username)).text().contains(PATH), "one's own");
    assert!(moderator.get("/admin/people").text().contains(&format!("href=\"{PATH}\"")));

    let page = open(&mut moderator, &subject).assert_page(200);
    assert!(page.contains(&format!("@{}", subject.username)) && page.contains("value=\"suspend\""), "{page}");
    assert!(
        !page.contains("value=\"ban\"") && !page.contains("value=\"dismiss\"") && !page.contains("value=\"remove\"")
    );
    let done = order(&mut moderator, &subject, "silence", "3");
    assert_eq!(done.status, 303, "{}", done.text());
    let page = moderator.get(done.header("location")).assert_page(200);
    assert!(page.contains("was silenced.") && page.contains("silenced (in force): Rule 9"), "{page}");
    let actions = moderate_on(&server, &["actions", "--user", &subject.id]);
    assert_eq!((&actions[0]["kind"], &actions[0]["reason"]), (&"silence".into(), &"Rule 9".into()));
    assert!(subject_browser.get("/notifications").text().contains("Reason: Rule 9"));
    assert_eq!(order(&mut moderator, &subject, "silence", "3").status, 400, "it is in force");
    let page = open(&mut moderator, &subject);
    for _ in 0..2 {
        let warned = moderator.submit(&page, PATH, &[("act", "warn"), ("reason", "Twice"), ("days", "1")]);
        assert_eq!(warned.status, 303, "{}", warned.text());
    }
    let actions = moderate_on(&server, &["actions", "--user", &subject.id]);
    assert_eq!(actions.as_array().unwrap().iter().filter(|one| one["reason"] == "Twice").count(), 1);
    for reason in ["", " "] {
        let page = open(&mut moderator, &subject);
        let refused = moderator.submit(&page, PATH, &[("act", "suspend"), ("reason", reason), ("days", "3")]);
        let refused = refused.assert_page(400);
        assert!(refused.contains("Enter a reason") && refused.contains("name=\"days\""), "{refused}");
        assert!(refused.contains("value=\"3\""), "{refused}");
    }
    assert_eq!(order(&mut moderator, &subject, "suspend", "3").status, 303);
    let page = open(&mut moderator, &subject).assert_page(200);
    assert!(page.contains("suspended (in force)"), "accounts that are suspended are found too: {page}");
    let (quiet, _) = member(&server, "quiet");
    moderate_on(&server, &["silence", &quiet.username, "--for", "1h"]);
    let page = open(&mut moderator, &quiet).assert_page(200);
    assert!(page.contains("silenced (in force)") && !page.contains("(in force):"), "{page}");
}

#[test]
fn nobody_acts_on_an_account_with_the_same_or_a_higher_role() {
    let server = TestServer::start(&[]);
    let (own, mut moderator) = staff(&server, "moderator");
    let (subject, _) = member(&server, "subject");
    let csrf = crate::pages::browser::hidden(&open(&mut moderator, &subject).text(), PATH)["csrf"].clone();
    for user in [own, staff(&server, "moderator").0, staff(&server, "admin").0, staff(&server, "owner").0] {
        let page = open(&mut moderator, &user).assert_page(200);
        assert!(page.contains("Nobody decides about themselves") && !page.contains("name=\"act\""), "{page}");
        let form = format!("csrf={csrf}&user={}&act=warn&reason=x&days=1", user.id);
        let origin = moderator.origin();
        let refused = moderator.send(TestRequest::post(PATH).form(form).header("origin", origin));
        assert_eq!(refused.status, 400, "{}", refused.text());
        assert!(refused.text().contains("Nobody decides about themselves"), "{}", refused.text());
    }
    let ban = order(&mut moderator, &subject, "ban", "7");
    assert!(ban.status == 400 && ban.text().contains("Only admins"), "{}", ban.text());
    assert_eq!(order(&mut staff(&server, "admin").1, &subject, "ban", "7").status, 303);
}

#[test]
fn refused_act_on_an_account_keeps_what_was_typed() {
    let server = TestServer::start(&[]);
    let subject = server.new_user("subject");
    let (_, mut moderator) = staff(&server, "moderator");
    for days in ["0", "367", "some"] {
        let refused = order(&mut moderator, &subject, "suspend", days);
        assert_eq!(refused.status, 400);
        let text = refused.text();
        let typed = text.contains("value=\"Rule 9\"") && text.contains(&format!("value=\"{days}\""));
        assert!(typed && text.contains("whole number from 1 to 366"), "{text}");
    }
    for act in ["remove", "label", "dismiss", "", "applaud"] {
        assert_eq!(order(&mut moderator, &subject, act, "7").status, 400, "{act}");
    }
    let unknown = moderator.get(format!("{PATH}?username=nobody-here"));
    assert!(
        unknown.status == 404 && unknown.text().contains("There is no account with this name."),
        "{}",
        unknown.text()
    );
    assert!(moderator.get(PATH).assert_page(200).contains("name=\"username\""));
    server.run_cli(&["user", "delete", &subject.username]).assert_success();
    let deleted = open(&mut moderator, &subject).assert_page(200);
    assert!(deleted.contains("The account was deleted.") && !deleted.contains("name=\"act\""), "{deleted}");
}
