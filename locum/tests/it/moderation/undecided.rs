//! How much waits for a decision, beside the link to the moderation.

use super::moderate_on;
use super::pages::{member, report, staff};
use crate::harness::{TestServer, TestUser};
use crate::pages::browser::Browser;

const PASSWORD: &str = "a long secret";

/// None if nothing is shown.
fn shown_count(browser: &mut Browser<'_>) -> Option<String> {
    let page = browser.get("/home").text();
    let link = page.split("<a href=\"/admin\">").nth(1).unwrap_or_else(|| panic!("no link on {page}"));
    let link = link.split("</a>").next().unwrap();
    let count = link.split("<span class=\"count\">").nth(1)?.split('<').next().unwrap();
    let summary = page.split("<summary><span class=\"unseen\">Account menu").nth(1).unwrap();
    let summary = summary.split("</summary>").next().unwrap();
    assert!(
        summary.contains(&format!("<span class=\"count\">{count}<")),
        "it is shown while the menu is closed: {page}"
    );
    Some(count.to_owned())
}

fn appeal_ban(server: &TestServer, user: &TestUser<'_>) {
    moderate_on(server, &["ban", &user.username, "--reason", "Rule 1"]);
    let mut browser = Browser::new(server);
    let path = browser.sign_in(&user.username, PASSWORD, "/home").header("location").to_owned();
    let page = browser.get(path);
    assert_eq!(browser.submit(&page, "/appeal", &[("text", "Not me")]).status, 200);
}

#[test]
fn link_to_moderation_counts_what_its_reader_may_decide_about() {
    let server = TestServer::start(&["--world", "empty"]);
    let (_, mut moderator) = staff(&server, "moderator");
    let (admin_user, mut admin) = staff(&server, "admin");
    let (_, mut owner) = staff(&server, "owner");
    let mut reporter = member(&server, "reporter").1;
    let (subject, mut subject_browser) = member(&server, "subject");
    let mut counts =
        || [&mut moderator, &mut admin, &mut owner].map(|browser| shown_count(browser).unwrap_or_default());
    assert_eq!(counts(), ["", "", ""]);
    assert_eq!(report(&mut reporter, &format!("user={}", subject.id), "abuse"), 200);
    assert_eq!(counts(), ["1", "1", "1"]);
    assert_eq!(report(&mut reporter, &format!("user={}", admin_user.id), "abuse"), 200);
    assert_eq!(counts(), ["1", "1", "2"], "nobody decides about the same or a higher role");
    moderate_on(&server, &["silence", &subject.username, "--for", "7d"]);
    assert_eq!(counts(), ["", "", "1"], "the report was settled");
    let decisions = subject_browser.get("/settings/moderation");
    assert_eq!(subject_browser.submit(&decisions, "/settings/moderation", &[("text", "Why?")]).status, 303);
    assert_eq!(counts(), ["1", "1", "2"]);
    appeal_ban(&server, &server.new_user("banned"));
    assert_eq!(counts(), ["1", "2", "3"], "bans are decided by admins");
    for (browser, is_shown) in [(&mut moderator, false), (&mut admin, true)] {
        assert_eq!(browser.get("/admin").text().contains("Not me"), is_shown);
    }
    let mut counts =
        || [&mut moderator, &mut admin, &mut owner].map(|browser| shown_count(browser).unwrap_or_default());
    server.run_cli(&["site", "set", "registrations", "approval"]).assert_success();
    let mut applicant = Browser::new(&server);
    let form = applicant.get("/join");
    let fields =
        [("username", "newcomer"), ("name", ""), ("email", "new@mail.example"), ("password", "tr4ms stop here")];
    assert_eq!(applicant.submit(&form, "/join", &fields).status, 200);
    assert_eq!(counts(), ["2", "3", "4"]);
}

#[test]
fn count_beside_the_link_to_moderation_is_bounded() {
    let server = TestServer::start(&["--world", "empty"]);
    let mut moderator = staff(&server, "moderator").1;
    let author = server.new_user("author");
    moderate_on(&server, &["term", "block", "word", "pills", "--hold"]);
    for number in 0..101 {
        author.publish_text(&format!("pills {number}"));
    }
    assert_eq!(shown_count(&mut moderator).as_deref(), Some("99+"));
}
