//! Reports, decisions, appeals and the administration in a browser.

use serde_json::Value;

use super::moderate_on;
use crate::harness::{TestRequest, TestServer, TestUser};
use crate::pages::browser::{Browser, hidden};

const PASSWORD: &str = "a long secret";

/// A user with the password, and a browser in which they are signed in.
pub(super) fn member<'s>(server: &'s TestServer, name: &str) -> (TestUser<'s>, Browser<'s>) {
    let user = server.new_user(name);
    let mut browser = Browser::new(server);
    assert_eq!(browser.sign_in(&user.username, PASSWORD, "/settings/account").status, 303);
    (user, browser)
}

pub(super) fn staff<'s>(server: &'s TestServer, role: &str) -> (TestUser<'s>, Browser<'s>) {
    let (user, browser) = member(server, role);
    server.run_cli(&["role", "grant", &user.username, role]).assert_success();
    (user, browser)
}

/// The page of the email that was queued last.
fn newest_email(developer: &mut Browser<'_>) -> String {
    let mailbox = developer.get("/mailbox").text();
    let message = mailbox.split("href=\"/mailbox/").nth(1).unwrap().split('"').next().unwrap().to_owned();
    developer.get(format!("/mailbox/{message}")).text()
}

pub(super) fn report(browser: &mut Browser<'_>, subject: &str, category: &str) -> u16 {
    let path = format!("/report?{subject}");
    let page = browser.get(&path);
    if page.status != 200 {
        return page.status;
    }
    browser.submit(&page, &path, &[("category", category), ("text", "Look at <b>this</b>")]).status
}

#[test]
fn report_is_read_acted_upon_and_appealed() {
    let server = TestServer::start(&[]);
    let (author, mut author_browser) = member(&server, "author");
    let (_, mut reporter) = member(&server, "reporter");
    let (_, mut moderator) = staff(&server, "moderator");
    let post = author.publish_text("buy <b>now</b>");
    assert_eq!(report(&mut reporter, &format!("post={post}"), "spam"), 200);
    assert_eq!(report(&mut reporter, &format!("post={post}"), "spam"), 400, "it is open");
    assert_eq!(report(&mut reporter, &format!("post={post}"), "boredom"), 400);
    assert_eq!(report(&mut author_browser, &format!("user={}", author.id), "spam"), 400, "oneself");
    assert_eq!(report(&mut reporter, "post=1", "spam"), 404);

    let queue = moderator.get("/admin");
    assert_eq!(queue.status, 200);
    assert!(
        queue.text().contains("buy &#60;b&#62;now") && queue.text().contains("Look at &#60;b&#62;this"),
        "{}",
        queue.text()
    );
    let done =
        moderator.submit(&queue, "/admin/reports", &[("act", "remove"), ("reason", "Rule <b>1</b>"), ("days", "7")]);
    assert_eq!(done.status, 303, "{}", done.text());
    assert!(moderator.get("/admin").text().contains("No open reports"));
    assert!(author.get(format!("/2/posts/{post}")).assert_status(200).get("data").is_none());
    assert!(reporter.get("/notifications").text().contains("took action"));
    assert!(author_browser.get("/notifications").text().contains("Reason: Rule &#60;b&#62;1"));

    let decisions = author_browser.get("/settings/moderation");
    assert!(decisions.text().contains("removed a post") && decisions.text().contains("Rule &#60;b&#62;1"));
    let appealed = author_browser.submit(&decisions, "/settings/moderation", &[("text", "It was <b>a joke</b>")]);
    assert_eq!(appealed.status, 303);
    assert!(author_browser.get("/settings/moderation").text().contains("You appealed"));
    let queue = moderator.get("/admin");
    let text = queue.text();
    assert!(text.contains("It was &#60;b&#62;a joke") && text.contains("buy &#60;b&#62;now"), "{text}");
    assert!(text.contains("<bdi>had a post removed: Rule &#60;b&#62;1"), "{text}");
    let decided =
        moderator.submit(&queue, "/admin/appeals", &[("decision", "accept"), ("answer", "Fair <b>enough</b>")]);
    assert_eq!(decided.status, 303, "{}", decided.text());
    assert!(author_browser.get("/settings/moderation").text().contains("Fair &#60;b&#62;enough"));
    assert_eq!(author.fetch_post(&post, "text")["text"], "buy &lt;b&gt;now&lt;/b&gt;");
}

#[test]
fn report_that_is_sent_after_the_session_leads_back_to_its_form() {
    let server = TestServer::start(&[]);
    let (subject, _) = member(&server, "subject");
    let (reporter, mut browser) = member(&server, "reporter");
    let path = format!("/report?user={}", subject.id);
    let page = browser.get(&path);
    let mut visitor = Browser::new(&server);
    let refused = visitor.submit(&page, &path, &[("category", "abuse"), ("text", "Look at this")]).assert_page(403);
    assert!(refused.contains("The form was not submitted."), "{refused}");
    let link = refused.split("href=\"/login?next=").nth(1).unwrap().split('"').next().unwrap();
    assert_eq!(link, crate::harness::percent_encode(&path));
    visitor.sign_in(&reporter.username, PASSWORD, &path);
    assert_eq!(report(&mut visitor, &format!("user={}", subject.id), "abuse"), 200);
}

#[test]
fn form_of_a_moderator_who_signed_in_long_ago_is_shown_after_signing_in_again() {
    let mut server = TestServer::start(&[]);
    let (cookies, page) = {
        let (subject, _) = member(&server, "subject");
        let (_, mut reporter) = member(&server, "reporter");
        let (_, mut moderator) = staff(&server, "moderator");
        assert_eq!(report(&mut reporter, &format!("user={}", subject.id), "abuse"), 200);
        let page = moderator.get("/admin");
        (moderator.cookies, page)
    };
    server.stop();
    server.run_sql("UPDATE session SET created_at = created_at - 46800000");
    server.restart();
    let mut moderator = Browser::new(&server);
    moderator.cookies = cookies;
    let again = "/login?next=%2Fadmin&switch=1";
    assert_eq!(moderator.get("/admin").header("location"), again);
    let fields = [("act", "warn"), ("reason", "Rule 2, as <b>before</b>"), ("days", "7")];
    let refused = moderator.submit(&page, "/admin/reports", &fields).assert_page(403);
    assert!(refused.contains("Sign in again") && refused.contains("The form was not submitted."), "{refused}");
    assert!(refused.contains("<bdi>Rule 2, as &#60;b&#62;before&#60;/b&#62;</bdi>"), "to be copied: {refused}");
    assert!(refused.contains(&format!("href=\"{}\"", again.replace('&', "&#38;"))), "{refused}");
    moderator.get(again).assert_page(200);
}

#[test]
fn report_is_acted_upon_once_however_often_the_form_is_sent() {
    let server = TestServer::start(&[]);
    let (subject, mut subject_browser) = member(&server, "subject");
    let (_, mut reporter) = member(&server, "reporter");
    let (_, mut moderator) = staff(&server, "moderator");
    assert_eq!(report(&mut reporter, &format!("user={}", subject.id), "abuse"), 200);
    let queue = moderator.get("/admin");
    for (act, status) in [("warn", 303), ("warn", 400), ("dismiss", 400)] {
        let fields = [("act", act), ("reason", "Rule 2"), ("days", "1")];
        let reply = moderator.submit(&queue, "/admin/reports", &fields);
        assert_eq!((reply.status, reply.text().contains("closed already")), (status, status == 400), "{act}");
    }
    assert_eq!(subject_browser.get("/notifications").text().matches("Reason: Rule 2").count(), 1);
}

#[test]
fn accepted_appeal_against_an_action_that_has_ended_is_answered_as_accepted() {
    let server = TestServer::start(&[]);
    let (subject, mut subject_browser) = member(&server, "subject");
    let (_, mut moderator) = staff(&server, "moderator");
    moderate_on(&server, &["silence", &subject.username, "--for", "1d"]);
    let decisions = subject_browser.get("/settings/moderation");
    assert_eq!(subject_browser.submit(&decisions, "/settings/moderation", &[("text", "It was not me")]).status, 303);
    server.run_cli(&["clock", "advance", "25h"]).assert_success();
    let fields = [("decision", "accept"), ("answer", "You are right")];
    let queue = moderator.get("/admin");
    assert!(queue.text().contains("<bdi>was silenced</bdi>"), "there is no reason: {}", queue.text());
    assert_eq!(moderator.submit(&queue, "/admin/appeals", &fields).status, 303);
    let told = subject_browser.get("/notifications").text();
    assert!(told.contains("Your appeal was accepted") && !told.contains("the decision stands"), "{told}");
}

#[test]
fn flood_of_reports_is_bounded() {
    let server = TestServer::start(&[]);
    let (author, mut reporter) = (server.new_user("author"), member(&server, "reporter").1);
    let posts: Vec<String> = (0..22).map(|number| author.publish_text(&format!("post {number}"))).collect();
    let statuses = posts.iter().map(|post| report(&mut reporter, &format!("post={post}"), "spam"));
    let statuses: Vec<u16> = statuses.collect();
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 20, "{statuses:?}");
    assert_eq!(statuses.last(), Some(&429));
    assert_eq!(moderate_on(&server, &["queue"]).as_array().unwrap().len(), 20);
}

#[test]
fn administration_exists_for_those_with_the_role_only() {
    let server = TestServer::start(&[]);
    let mut anonymous = Browser::new(&server);
    let mut browsers = [
        ("member", member(&server, "member").1),
        ("moderator", staff(&server, "moderator").1),
        ("admin", staff(&server, "admin").1),
        ("owner", staff(&server, "owner").1),
    ];
    for (path, expected) in [
        ("/admin", [404, 200, 200, 200]),
        ("/admin/actions", [404, 200, 200, 200]),
        ("/admin/accounts", [404, 200, 200, 200]),
        ("/admin/people", [404, 200, 200, 200]),
        ("/admin/site", [404, 404, 200, 200]),
        ("/admin/terms", [404, 404, 200, 200]),
        ("/admin/audit", [404, 404, 200, 200]),
    ] {
        assert_eq!(anonymous.get(path).status, 303, "{path}");
        for ((name, browser), status) in browsers.iter_mut().zip(expected) {
            assert_eq!(browser.get(path).status, status, "{name} {path}");
        }
    }
}

#[test]
fn navigation_leads_only_to_pages_of_the_administration_that_open() {
    let server = TestServer::start(&[]);
    let mut moderator = staff(&server, "moderator").1;
    let mut admin = staff(&server, "admin").1;
    let mut member = member(&server, "member").1;
    let link = "<a href=\"/admin\">";
    assert!(!member.get("/home").text().contains(link));
    for browser in [&mut moderator, &mut admin] {
        assert!(browser.get("/home").text().contains(link));
        let page = browser.get("/admin/people").text();
        let tabs: Vec<&str> = page.split("class=\"button quiet\" href=\"").skip(1).collect();
        assert!(tabs.len() >= 2, "{page}");
        for tab in tabs {
            let path = tab.split('"').next().unwrap();
            assert_eq!(browser.get(path).status, 200, "{path}");
        }
    }
    assert!(!moderator.get("/admin/people").text().contains("Make an admin"));
    assert!(admin.get("/admin/people").text().contains("Make an admin"));
}

/// Whether an action of each role on someone with each role is permitted.
#[test]
fn nobody_decides_about_someone_with_the_same_or_a_higher_role() {
    let server = TestServer::start(&[]);
    let roles = ["member", "moderator", "admin", "owner"];
    for (level, role) in roles.iter().enumerate().skip(1) {
        // One person may report twenty times.
        let mut reporter = member(&server, "reporter").1;
        let mut browser = staff(&server, role).1;
        for (other_level, other) in roles.iter().enumerate() {
            let (subject, _) = if *other == "member" { member(&server, "subject") } else { staff(&server, other) };
            for (act, needed) in [("warn", 1), ("silence", 1), ("ban", 2)] {
                assert_eq!(report(&mut reporter, &format!("user={}", subject.id), "abuse"), 200);
                let page = browser.get("/admin");
                let fields = [("act", act), ("reason", "Rule 2"), ("days", "1")];
                let status = browser.submit(&page, "/admin/reports", &fields).status;
                let is_permitted = level >= needed && level > other_level;
                assert_eq!(status, if is_permitted { 303 } else { 400 }, "{role} {act} {other}");
                if !is_permitted {
                    let open: Value = moderate_on(&server, &["queue"]);
                    moderate_on(&server, &["dismiss", open[0]["id"].as_str().unwrap()]);
                }
            }
        }
    }
}

#[test]
fn forms_of_other_sites_change_nothing() {
    let server = TestServer::start(&[]);
    let (user, mut owner) = staff(&server, "owner");
    for path in [
        "/report",
        "/settings/moderation",
        "/appeal",
        "/setup",
        "/admin/reports",
        "/admin/accounts",
        "/admin/actions",
        "/admin/appeals",
        "/admin/applications",
        "/admin/roles",
        "/admin/invitations",
        "/admin/site",
        "/admin/terms",
    ] {
        let form = "csrf=wrong&kind=user&id=1&action=1&token=x&report=1&act=ban&decision=accept&application=1&role=none\
                    &name=Taken&user=1&text=x&category=spam";
        let form = format!("{form}&username={}", user.username);
        assert_eq!(owner.send(TestRequest::post(path).form(form)).status, 403, "{path}");
    }
    assert_eq!(server.run_cli(&["site", "show"]).json()["name"], "");
    assert_eq!(server.run_cli(&["role", "list"]).json().as_array().unwrap().len(), 1);
}

#[test]
fn suspended_person_appeals_by_the_link_in_the_email() {
    let server = TestServer::start(&[]);
    let user = server.new_user_with("author", &["--email", "author@example.org"]);
    let action = moderate_on(&server, &["ban", &user.username, "--reason", "Rule <b>4</b>"]);
    let (_, mut developer) = member(&server, "developer");
    let message = newest_email(&mut developer);
    assert!(message.contains("Rule &#60;b&#62;4"), "{message}");
    let token = message.split("/appeal?token=").nth(1).unwrap();
    let token: String = token.chars().take_while(char::is_ascii_alphanumeric).collect();
    let mut browser = Browser::new(&server);
    let page = browser.get(format!("/appeal?token={token}"));
    assert!(page.text().contains("Rule &#60;b&#62;4"), "{}", page.text());
    let empty = browser.submit(&page, "/appeal", &[("text", " ")]);
    assert_eq!(empty.status, 400);
    assert!(empty.text().contains("An appeal has 1 to 2000 characters") && empty.text().contains("name=\"text\""));
    for _ in 0..2 {
        let appealed = browser.submit(&page, "/appeal", &[("text", "Not me")]);
        assert!(appealed.status == 200 && appealed.text().contains("You appealed"), "{}", appealed.text());
    }
    assert_eq!(browser.submit(&page, "/appeal", &[("text", "Again")]).status, 403);
    let appeals = moderate_on(&server, &["appeals"]);
    assert_eq!((&appeals[0]["text"], &appeals[0]["action"]["id"]), (&"Not me".into(), &action["id"]));
    moderate_on(&server, &["decide", action["id"].as_str().unwrap(), "accept", "--answer", "Fair enough"]);
    let answer = newest_email(&mut developer);
    assert!(answer.contains("no longer in force. The answer: Fair enough."), "{answer}");
    assert_eq!(server.run_cli(&["user", "show", &user.username]).json()["state"], "active");
}

#[test]
fn suspended_person_who_signs_in_reads_the_decision_and_its_end_and_appeals() {
    let server = TestServer::start(&[]);
    let (user, _) = member(&server, "author");
    let order = ["suspend", &user.username, "--for", "7d", "--reason", "Spam in replies"];
    let action = moderate_on(&server, &order);
    let mut browser = Browser::new(&server);
    let wrong = browser.sign_in(&user.username, "not the secret", "/home");
    assert!(wrong.status == 400 && !wrong.text().contains("suspended"), "{}", wrong.text());
    let answer = browser.sign_in(&user.username, PASSWORD, "/home");
    assert_eq!(answer.status, 303);
    let path = answer.header("location").to_owned();
    let page = browser.get(path.as_str());
    let text = page.text();
    assert!(text.contains("A moderator suspended your account.") && text.contains("Spam in replies"), "{text}");
    assert!(text.contains(" UTC</time>.") && !text.contains("Z</time>."), "{text}");
    assert_eq!(browser.get("/settings/account").status, 303, "nobody is signed in");
    assert_eq!(browser.submit(&page, "/appeal", &[("text", "Not me")]).status, 200);
    moderate_on(&server, &["decide", action["id"].as_str().unwrap(), "reject", "--answer", "It was you"]);
    let path = browser.sign_in(&user.username, PASSWORD, "/home").header("location").to_owned();
    let text = browser.get(path).text();
    assert!(text.contains("Your appeal was rejected. It was you") && !text.contains("name=\"text\""), "{text}");
}

#[test]
fn rejected_appeal_is_answered_by_email() {
    let server = TestServer::start(&[]);
    let user = server.new_user_with("author", &["--email", "author@example.org"]);
    let (_, mut developer) = member(&server, "developer");
    let action = moderate_on(&server, &["silence", &user.username, "--for", "7d", "--reason", "Spam in replies"]);
    assert!(newest_email(&mut developer).contains("Reason: Spam in replies. It ends on "));
    let mut browser = Browser::new(&server);
    browser.sign_in(&user.username, PASSWORD, "/home");
    let page = browser.get("/settings/moderation");
    assert_eq!(browser.submit(&page, "/settings/moderation", &[("text", "Not me")]).status, 303);
    moderate_on(&server, &["decide", action["id"].as_str().unwrap(), "reject", "--answer", "It was you"]);
    let answer = newest_email(&mut developer);
    assert!(answer.contains("the decision stands. The answer: It was you."), "{answer}");
}

#[test]
fn appeal_is_offered_as_long_as_it_is_accepted() {
    let server = TestServer::start(&[]);
    let (user, mut browser) = member(&server, "author");
    moderate_on(&server, &["warn", &user.username, "--reason", "Rule 5"]);
    let page = browser.get("/settings/moderation");
    assert!(page.text().contains("name=\"text\""), "{}", page.text());
    server.run_cli(&["clock", "advance", "181d"]).assert_success();
    let late = browser.submit(&page, "/settings/moderation", &[("text", "Not me")]);
    assert!(late.text().contains("can no longer be appealed"), "{}", late.text());
    assert!(late.text().contains("Rule 5") && !late.text().contains("name=\"text\""), "{}", late.text());
}

#[test]
fn settings_lead_to_the_decisions_and_back() {
    let server = TestServer::start(&[]);
    let (_, mut browser) = member(&server, "member");
    assert!(browser.get("/settings/account").text().contains("<li><a href=\"/settings/moderation\">"));
    let page = browser.get("/settings/moderation").text();
    assert!(page.contains("<li><a href=\"/settings/moderation\" aria-current=\"page\">"), "{page}");
    assert!(page.contains("<li><a href=\"/settings/account\">"), "{page}");
}

#[test]
fn decision_shows_the_post_that_it_is_about() {
    let server = TestServer::start(&[]);
    let (author, mut browser) = member(&server, "author");
    let (labelled, removed) = (author.publish_text("rather rude"), author.publish_text("far too rude"));
    moderate_on(&server, &["label", &labelled]);
    moderate_on(&server, &["remove", &removed]);
    let text = browser.get("/settings/moderation").text();
    assert!(text.contains("rather rude") && text.contains("far too rude"), "{text}");
    let path = |post: &str| format!("href=\"/{}/status/{post}\"", author.username);
    assert!(text.contains(&path(&labelled)) && !text.contains(&path(&removed)), "{text}");
}

#[test]
fn nobody_dismisses_or_reads_reports_about_themselves_or_someone_with_their_role() {
    let server = TestServer::start(&[]);
    let (first, mut browser) = staff(&server, "moderator");
    let (_, mut other) = staff(&server, "moderator");
    let mut reporter = member(&server, "reporter").1;
    moderate_on(&server, &["term", "block", "word", "pills", "--hold"]);
    let post = first.publish_text("good pills");
    assert_eq!(report(&mut reporter, &format!("user={}", first.id), "abuse"), 200);
    assert_eq!(report(&mut reporter, &format!("post={post}"), "abuse"), 200);
    let text = browser.get("/admin").text();
    assert!(text.contains("No open reports") && !text.contains("reporter"), "{text}");
    let queue = moderate_on(&server, &["queue"]);
    let page = other.get("/admin");
    for report in queue.as_array().unwrap() {
        let fields = [("report", report["id"].as_str().unwrap()), ("act", "dismiss"), ("days", "7"), ("reason", "")];
        for browser in [&mut browser, &mut other] {
            let csrf = hidden(&browser.get("/admin/people").text(), "/admin/invitations")["csrf"].clone();
            let refused = browser.submit(&page, "/admin/reports", &[&fields[..], &[("csrf", &csrf)]].concat());
            assert_eq!(refused.status, 400, "{}", refused.text());
            assert!(refused.text().contains("Nobody decides about themselves"), "{}", refused.text());
        }
    }
    assert_eq!(moderate_on(&server, &["queue"]).as_array().unwrap().len(), queue.as_array().unwrap().len());
    let id = queue[0]["id"].as_str().unwrap();
    moderate_on(&server, &["dismiss", id]);
    let entries = server.run_cli(&["audit", "list", "--limit", "10"]).json();
    let entry = entries.as_array().unwrap().iter().find(|entry| entry["kind"] == "report.dismiss").unwrap().clone();
    assert_eq!(entry["detail"]["user"], first.id.as_str());
}

#[test]
fn texts_of_the_site_are_rendered_without_markup_of_their_own() {
    let server = TestServer::start(&[]);
    let (_, mut owner) = staff(&server, "owner");
    let text = "# Rules\n\nBe *kind*. <script>alert(1)</script> [x](javascript:alert(1))";
    let page = owner.get("/admin/site");
    assert_eq!(owner.submit(&page, "/admin/site", &[("rules", text)]).status, 303);
    let mut anyone = Browser::new(&server);
    let rules = anyone.get("/rules").assert_page(200);
    assert!(rules.contains("<em>kind</em>") && !rules.contains("<script>alert") && !rules.contains("javascript:"));
    for path in ["/login", "/join", "/nothing/here"] {
        let page = anyone.get(path).text();
        assert!(page.contains("<li><a href=\"/rules\">Rules</a></li>") && !page.contains("/privacy"), "{page}");
    }
    assert!(anyone.get("/join").text().contains("Read the <a href=\"/rules\">rules</a>"));
    for path in ["/about", "/terms", "/privacy"] {
        assert!(anyone.get(path).assert_page(200).contains("have not written this yet"), "{path}");
    }
}
