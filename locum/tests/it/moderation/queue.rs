//! What moderators see of a report, what they may order, and undoing it, in a browser.

use serde_json::json;

use super::pages::{member, report, staff};
use super::{found, moderate_on, word};
use crate::harness::{TestServer, TestUser};
use crate::media::{at_once, samples};
use crate::pages::browser::Browser;

fn upload(user: &TestUser<'_>, category: &str) -> String {
    let uploaded = at_once(user, category, &samples::png(60, 40)).assert_status(200);
    uploaded["data"]["id"].as_str().unwrap().to_owned()
}

/// The paths of the files of a report.
fn file_paths(page: &str) -> Vec<String> {
    let parts = page.split("src=\"/admin/reports/").skip(1);
    parts.map(|part| format!("/admin/reports/{}", part.split('"').next().unwrap())).collect()
}

#[test]
fn moderator_sees_the_pictures_of_what_is_reported_and_finds_the_post_and_the_people() {
    let server = TestServer::start(&[]);
    let (author, mut author_browser) = member(&server, "author");
    let (reader, mut reader_browser) = member(&server, "reader");
    let (_, mut moderator) = staff(&server, "moderator");
    let post = json!({ "text": "look", "media": { "media_ids": [upload(&author, "tweet_image")] } });
    let post = author.create_post(&post).assert_status(201)["data"]["id"].as_str().unwrap().to_owned();
    assert_eq!(report(&mut reader_browser, &format!("post={post}"), "spam"), 200);
    let text = moderator.get("/admin").text();
    let status_path = format!("/{}/status/{post}", author.username);
    let account_path = |user: &TestUser<'_>| format!("/admin/accounts?username={}", user.username);
    for path in [&status_path, &account_path(&author), &account_path(&reader)] {
        assert!(text.contains(&format!("href=\"{path}\"")), "{path}: {text}");
    }
    assert!(!text.contains("Sensitive media"), "{text}");
    moderate_on(&server, &["label", &post]);
    assert_eq!(report(&mut reader_browser, &format!("post={post}"), "spam"), 200);
    assert!(moderator.get("/admin").text().contains("<details><summary>Sensitive media</summary>"));
    let message = json!({ "text": "psst", "attachments": [{ "media_id": upload(&author, "dm_image") }] });
    let path = format!("/2/dm_conversations/with/{}/messages", reader.id);
    let message = author.post(path, &message).assert_status(201)["data"]["dm_event_id"].as_str().unwrap().to_owned();
    assert_eq!(report(&mut reader_browser, &format!("message={message}"), "spam"), 200);
    let files = file_paths(&moderator.get("/admin").text());
    assert_eq!(files.len(), 2, "{files:?}");
    for file in files {
        assert_eq!(moderator.get(file.as_str()).status, 200, "{file}");
        for browser in [&mut author_browser, &mut reader_browser] {
            assert_eq!(browser.get(file.as_str()).status, 404, "{file}");
        }
        assert_eq!(moderator.get(format!("{file}x")).status, 404);
    }
}

#[test]
fn pages_of_moderators_link_to_what_they_can_open() {
    let server = TestServer::start(&[]);
    let (author, _) = member(&server, "author");
    let (_, mut reader) = member(&server, "reader");
    let (_, mut moderator) = staff(&server, "moderator");
    let post = author.publish_text("look");
    for subject in [format!("post={post}"), format!("user={}", author.id)] {
        assert_eq!(report(&mut reader, &subject, "spam"), 200);
    }
    let profile = format!("href=\"/{}\"", author.username);
    let status = format!("href=\"/{}/status/{post}\"", author.username);
    let open = moderator.get("/admin").text();
    assert!(open.contains(&profile) && open.contains(&status), "{open}");
    moderate_on(&server, &["suspend", &author.username, "--for", "7d"]);
    let account = format!("/admin/accounts?username={}", author.username);
    for path in ["/admin", "/admin/actions", account.as_str()] {
        let page = moderator.get(path).text();
        assert!(page.contains(&author.username), "{path}: {page}");
        assert!(!page.contains(&profile) && !page.contains(&status), "{path}: {page}");
        assert!(path == account || page.contains(&format!("href=\"{account}\"")), "{path}: {page}");
    }
    assert_eq!(moderator.get(account.as_str()).status, 200);
}

#[test]
fn refused_order_keeps_what_was_typed_and_names_the_days_that_are_possible() {
    let server = TestServer::start(&[]);
    let (subject, mut moderator) = (server.new_user("subject"), staff(&server, "moderator").1);
    let mut reporter = member(&server, "reporter").1;
    assert_eq!(report(&mut reporter, &format!("user={}", subject.id), "abuse"), 200);
    let page = moderator.get("/admin");
    assert!(page.text().contains("name=\"days\" type=\"number\" min=\"1\" max=\"366\" value=\"7\""), "{}", page.text());
    for days in ["", "abc", "1.5", "0", "-1", "367", "9999"] {
        let fields = [("act", "silence"), ("reason", "Rule 5"), ("days", days)];
        let refused = moderator.submit(&page, "/admin/reports", &fields);
        let text = refused.text();
        assert_eq!(refused.status, 400, "{days}: {text}");
        assert!(text.contains("Enter the days as a whole number from 1 to 366."), "{text}");
        assert!(text.contains("value=\"Rule 5\"") && text.contains(&format!("max=\"366\" value=\"{days}\"")), "{text}");
    }
    let fields = [("act", "warn"), ("reason", "Rule 5"), ("days", "")];
    assert_eq!(moderator.submit(&page, "/admin/reports", &fields).status, 303, "a warning has no days");
}

#[test]
fn held_post_is_found_once_its_author_is_warned_or_it_is_labelled_and_not_if_it_is_limited() {
    let server = TestServer::start(&[]);
    let (author, reader) = (server.new_user("author"), server.new_user("reader"));
    let mut moderator = staff(&server, "moderator").1;
    let odd = word();
    moderate_on(&server, &["term", "block", "word", &odd, "--hold"]);
    for (act, shown) in [("warn", 1), ("label", 2), ("limit", 2)] {
        author.publish_text(&format!("{odd} {act}"));
        let page = moderator.get("/admin");
        let done = moderator.submit(&page, "/admin/reports", &[("act", act), ("reason", "Rule 5"), ("days", "7")]);
        assert_eq!(done.status, 303, "{}", done.text());
        assert_eq!(found(&reader, &odd), shown, "{act}");
    }
}

#[test]
fn ban_is_offered_to_admins_only() {
    let server = TestServer::start(&[]);
    let (subject, mut moderator) = (server.new_user("subject"), staff(&server, "moderator").1);
    let (mut admin, mut reporter) = (staff(&server, "admin").1, member(&server, "reporter").1);
    assert_eq!(report(&mut reporter, &format!("user={}", subject.id), "abuse"), 200);
    let page = moderator.get("/admin");
    assert!(page.text().contains("value=\"suspend\"") && !page.text().contains("value=\"ban\""));
    let refused = moderator.submit(&page, "/admin/reports", &[("act", "ban"), ("reason", "Rule 5"), ("days", "7")]);
    assert_eq!(refused.status, 400);
    assert!(refused.text().contains("Only admins and owners may do this."), "{}", refused.text());
    assert!(admin.get("/admin").text().contains("value=\"ban\""));
}

#[test]
fn action_is_confirmed_listed_and_undone() {
    let server = TestServer::start(&[]);
    let (subject, (by, mut moderator)) = (server.new_user("subject"), staff(&server, "moderator"));
    let (mut admin, mut reporter) = (staff(&server, "admin").1, member(&server, "reporter").1);
    assert_eq!(report(&mut reporter, &format!("user={}", subject.id), "abuse"), 200);
    let page = moderator.get("/admin");
    let fields = [("act", "silence"), ("reason", "Rule 5"), ("days", "366")];
    let done = moderator.submit(&page, "/admin/reports", &fields);
    assert_eq!(done.status, 303, "{}", done.text());
    let sentence = format!("@{} was silenced.", subject.username);
    let confirmed = moderator.get(done.header("location")).text();
    assert!(confirmed.contains(&sentence), "{confirmed}");
    let path = confirmed.split("href=\"/admin/actions?").nth(1).unwrap().split('"').next().unwrap();
    let listed = moderator.get(format!("/admin/actions?{path}"));
    let text = listed.text();
    for part in [sentence.as_str(), "Rule 5", "Until ", &format!("href=\"/{}\"", by.username), "Undo"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert_eq!(moderator.submit(&listed, "/admin/actions", &[]).status, 303);
    assert!(subject.post("/2/posts", &json!({ "text": "hello again" })).status == 201);
    let undo = |id: &str| format!("name=\"action\" value=\"{id}\"");
    let again = moderator.submit(&listed, "/admin/actions", &[]);
    assert_eq!(again.status, 400);
    let text = again.text();
    assert!(text.contains("The action is no longer in force") && text.contains("No longer in force."), "{text}");

    let ban = moderate_on(&server, &["ban", &subject.username, "--reason", "Rule 6"]);
    let ban = ban["id"].as_str().unwrap();
    assert!(!moderator.get("/admin/actions").text().contains(&undo(ban)), "an admin undoes a ban");
    let refused = moderator.submit(&listed, "/admin/actions", &[("action", ban)]);
    assert_eq!((refused.status, refused.text().contains("Only admins and owners may do this.")), (400, true));
    let page = admin.get("/admin/actions");
    assert!(page.text().contains(&undo(ban)), "{}", page.text());
    assert_eq!(admin.submit(&page, "/admin/actions", &[]).status, 303);
}

#[test]
fn open_invitations_are_listed_and_revoked() {
    let server = TestServer::start(&[]);
    let (inviter, mut moderator) = staff(&server, "moderator");
    let page = moderator.get("/admin/people");
    let created = moderator.submit(&page, "/admin/invitations", &[]);
    assert_eq!(created.status, 303);
    let page = moderator.get(created.header("location")).text();
    let token = page.split("/join?token=").nth(1).unwrap().split('<').next().unwrap().to_owned();
    assert!(
        page.contains(&format!("By <a href=\"/admin/accounts?username={}\">", inviter.username))
            && page.contains("Works until"),
        "{page}"
    );
    assert!(!Browser::new(&server).get(format!("/join?token={token}")).text().contains("is not valid"));
    let id = page.split("name=\"invitation\" value=\"").nth(1).unwrap().split('"').next().unwrap();
    let page = moderator.get("/admin/people");
    assert_eq!(moderator.submit(&page, "/admin/invitations", &[("invitation", id)]).status, 303);
    assert!(!moderator.get("/admin/people").text().contains("Revoke"));
    assert!(!moderator.get(created.header("location")).text().contains(&token));
    assert_eq!(moderator.submit(&page, "/admin/invitations", &[("invitation", id)]).status, 404);
}

#[test]
fn audit_log_names_people() {
    let server = TestServer::start(&[]);
    let (subject, (_, mut admin)) = (server.new_user("subject"), staff(&server, "admin"));
    moderate_on(&server, &["warn", &subject.username]);
    let text = admin.get("/admin/audit").text();
    let name = &subject.username;
    assert!(
        text.contains(&format!("user: <a href=\"/admin/accounts?username={name}\"><bdi>@{name}</bdi></a>")),
        "{text}"
    );
    assert!(text.contains("kind: <bdi>warn</bdi>") && text.contains("by <bdi>an operator</bdi>"), "{text}");
    assert!(text.contains("user.parody: <bdi>after: true, before: false</bdi>"), "{text}");
    assert_eq!(Browser::new(&server).get("/admin/audit").status, 303);
}
