//! Direct messages on pages: who reads and writes what.

use serde_json::json;

use super::{press, signed_in, submit_to};
use crate::harness::{TestResponse, TestServer, TestUser, shared_server};
use crate::pages::browser::Browser;

/// Sends the form for a first message.
fn begin(browser: &mut Browser<'_>, to: &str, text: &str) -> TestResponse {
    let page = browser.get("/messages/new");
    browser.submit(&page, "/messages/new", &[("to", to), ("text", text)])
}

/// The path of a conversation that was begun.
#[track_caller]
fn conversation_path(reply: &TestResponse) -> String {
    assert_eq!(reply.status, 303, "{}", reply.text());
    let (path, _) = reply.header("location").split_once("#m").unwrap();
    assert!(path.starts_with("/messages/"), "{path}");
    path.to_owned()
}

fn close_messages(user: &TestUser<'_>) {
    shared_server().run_cli(&["message", "close", &user.username]).assert_success();
}

/// The ids of the messages that a page has buttons for, in their order.
fn message_ids(page: &str) -> Vec<String> {
    let parts = page.split("value=\"delete-message ").skip(1);
    parts.map(|part| part.split('"').next().unwrap().to_owned()).collect()
}

#[test]
fn message_link_of_a_post_is_a_button_for_a_message_to_the_recipient() {
    let server = shared_server();
    let (shop, mut browser) = (server.new_user("dmshop"), signed_in(server, "dmbuyer").1);
    let link = format!("https://x.example/messages/compose?recipient_id={}", shop.id);
    let created = shop.create_post(&json!({ "text": "Write us", "direct_message_deep_link": link }));
    let post = created.assert_status(201)["data"]["id"].as_str().unwrap().to_owned();
    let form = format!("/messages/new?to={}", shop.username);
    let page = browser.get(format!("/{}/status/{post}", shop.username)).assert_page(200);
    assert!(page.contains(&format!("href=\"{form}\"")), "{page}");
    for (recipient, target) in [(shop.id.as_str(), form.as_str()), ("1", "/messages/new"), ("x", "/messages/new")] {
        let reply = browser.get(format!("/messages/compose?recipient_id={recipient}"));
        assert_eq!((reply.status, reply.header("location")), (303, target));
    }
}

#[test]
fn conversation_is_read_by_both_and_by_nobody_else() {
    let server = shared_server();
    let (ada, mut ada_browser) = signed_in(server, "dmada");
    let (bob, mut bob_browser) = signed_in(server, "dmbob");
    let (_, mut eve_browser) = signed_in(server, "dmeve");
    assert!(ada_browser.get("/messages").assert_page(200).contains("You have no messages"));
    let path = conversation_path(&begin(&mut ada_browser, &format!("@{}", bob.username), "Is the harbour open?"));
    assert!(bob_browser.get("/messages").assert_page(200).contains("Is the harbour open?"));
    let page = bob_browser.get(&path);
    assert!(page.text().contains("Is the harbour open?"));
    let reply = bob_browser.submit(&page, &path, &[("text", "Until nine")]);
    assert!(reply.header("location").starts_with(&format!("{path}#m")), "{}", reply.text());
    let read = ada_browser.get(&path).assert_page(200);
    let places = ["Is the harbour open?", "Until nine"].map(|text| read.find(text).unwrap());
    assert!(places.is_sorted(), "oldest first");
    let list = ada_browser.get("/messages").assert_page(200);
    assert!(list.contains("Until nine") && !list.contains("Is the harbour open?"), "only the last message is listed");

    eve_browser.get(&path).assert_page(404);
    assert!(!eve_browser.get("/messages").assert_page(200).contains(&path));
    assert_eq!(submit_to(&mut eve_browser, &path, &[("text", "Let me in")]).status, 404);
    for id in message_ids(&read) {
        press(&mut eve_browser, &format!("/{}", ada.username), &format!("delete-message {id}"));
    }
    assert_eq!(message_ids(&ada_browser.get(&path).assert_page(200)).len(), 2);
    assert!(Browser::new(server).get(&path).header("location").starts_with("/login"));
    let events = ada.get(format!("/2/dm_conversations/with/{}/dm_events", bob.id)).assert_status(200);
    assert_eq!(events["meta"]["result_count"], 2);
}

#[test]
fn message_of_someone_else_is_reported_from_its_conversation() {
    let server = shared_server();
    let (_, mut ada_browser) = signed_in(server, "dmwriter");
    let (bob, mut bob_browser) = signed_in(server, "dmreader");
    let path = conversation_path(&begin(&mut ada_browser, &bob.username, "Buy cheap boats"));
    let page = bob_browser.get(&path);
    assert_eq!(bob_browser.submit(&page, &path, &[("text", "No thanks")]).status, 303);
    let page = bob_browser.get(&path).assert_page(200);
    let id = &message_ids(&page)[0];
    assert_eq!(page.matches("/report?message=").count(), 1, "none for one's own: {page}");
    let path = format!("/report?message={id}");
    let form = bob_browser.get(&path);
    assert!(page.contains(&format!("href=\"{path}\"")) && form.status == 200, "{page}");
    let fields = [("category", "spam"), ("text", "")];
    assert_eq!(bob_browser.submit(&form, &path, &fields).status, 200);
}

#[test]
fn message_form_that_is_sent_twice_sends_once() {
    let server = shared_server();
    let (ada, mut browser) = signed_in(server, "dmtwice");
    let bob = server.new_user("dmonce");
    let first = browser.get(format!("/messages/new?to={}", bob.username));
    assert!(first.text().contains(&format!("value=\"{}\"", bob.username)));
    for _ in 0..2 {
        let reply = browser.submit(&first, "/messages/new", &[("to", &bob.username), ("text", "Only once")]);
        assert_eq!(reply.status, 303, "{}", reply.text());
    }
    let events = format!("/2/dm_conversations/with/{}/dm_events", bob.id);
    let found = ada.get(&events).assert_status(200);
    assert_eq!(found["meta"]["result_count"], 1);
    let found = ada.get(format!("{events}?dm_event.fields=dm_conversation_id")).assert_status(200);
    let path = format!("/messages/{}", found["data"][0]["dm_conversation_id"].as_str().unwrap());
    let page = browser.get(&path);
    for _ in 0..2 {
        assert_eq!(browser.submit(&page, &path, &[("text", "And this once")]).status, 303);
    }
    assert_eq!(ada.get(&events).assert_status(200)["meta"]["result_count"], 2);
}

#[test]
fn message_is_refused_with_the_reason_at_its_field() {
    let server = shared_server();
    let (ada, mut browser) = signed_in(server, "dmasker");
    let closed = server.new_user("dmclosed");
    let open = server.new_user("dmopen");
    close_messages(&closed);
    let mut refuse = |to: &str, text: &str, why: &str| {
        let page = begin(&mut browser, to, text).assert_page(400);
        assert!(page.contains(why) && page.contains("aria-invalid"), "{to:?}, {text:?}: no {why:?} in {page}");
        assert!(page.contains(&format!("value=\"{to}\"")), "what was entered stays");
    };
    let not_accepted = format!("@{} does not accept messages from you.", closed.username);
    refuse(&closed.username, "Hello", &not_accepted);
    refuse(&format!("{}, {}", open.username, closed.username), "Hello", &not_accepted);
    refuse("nobody_has_it", "Hello", "There is no account called @nobody_has_it.");
    refuse(&ada.username, "Hello", "Enter the username of someone else.");
    refuse(&open.username, " ", "Write a message or choose a file.");
    refuse(&open.username, &"x".repeat(10_001), "The message is too long.");
    refuse(&["someone"; 50].join(","), "Hello", "A group has at most 50 people");
    assert!(browser.get("/messages").assert_page(200).contains("You have no messages"));
}

#[test]
fn suspended_account_is_called_unavailable_in_messages() {
    let server = TestServer::start(&[]);
    let (_, mut browser) = signed_in(&server, "dmwaits");
    let other = server.new_user("dmgone");
    let path = conversation_path(&begin(&mut browser, &other.username, "Are you there?"));
    server.run_cli(&["user", "suspend", &other.username]).assert_success();
    let page = browser.get(&path).assert_page(200);
    assert!(page.contains("An unavailable account") && page.contains("This account is not available."), "{page}");
    assert!(!page.contains("deleted account") && !page.contains("does not exist"), "{page}");
}

#[test]
fn message_button_is_shown_to_those_whose_messages_are_accepted() {
    let server = shared_server();
    let (reader, mut browser) = signed_in(server, "dmreader");
    let (owner, mut own_browser) = signed_in(server, "dmowner");
    let (profile, link) = (format!("/{}", owner.username), format!("/messages/new?to={}", owner.username));
    assert!(browser.get(&profile).assert_page(200).contains(&link));
    assert!(!Browser::new(server).get(&profile).assert_page(200).contains(&link));
    close_messages(&owner);
    assert!(!browser.get(&profile).assert_page(200).contains(&link));
    let (asked, mut asked_browser) = signed_in(server, "dmasked");
    let path = conversation_path(&begin(&mut own_browser, &asked.username, "May I ask?"));
    assert!(asked_browser.get(&profile).assert_page(200).contains(&link), "the owner has written");
    assert_eq!(submit_to(&mut asked_browser, &path, &[("text", "You may")]).status, 303);
    owner.import_follows(&[&reader]);
    assert!(browser.get(&profile).assert_page(200).contains(&link), "the owner follows the reader");
    let path = conversation_path(&begin(&mut browser, &owner.username, "Hello"));
    assert_eq!(press(&mut own_browser, &format!("/{}", reader.username), &format!("block {}", reader.id)), 303);
    assert!(!browser.get(&profile).assert_page(200).contains(&link));
    let page = browser.get(&path).assert_page(200);
    assert!(page.contains("Hello") && page.contains("does not accept messages from you"), "{page}");
    assert_eq!(submit_to(&mut browser, &path, &[("text", "Are you there?")]).status, 400);
    assert!(!own_browser.get(&path).assert_page(200).contains("Are you there?"));
}

#[test]
fn deleted_message_is_gone_for_oneself_only() {
    let server = shared_server();
    let (_, mut ada_browser) = signed_in(server, "dmdelete");
    let (bob, mut bob_browser) = signed_in(server, "dmkeep");
    let path = conversation_path(&begin(&mut ada_browser, &bob.username, "Forget this"));
    let id = message_ids(&ada_browser.get(&path).text()).remove(0);
    let page = ada_browser.get(&path);
    for _ in 0..2 {
        let reply = ada_browser.submit(&page, "/i/actions", &[("act", &format!("delete-message {id}"))]);
        assert_eq!((reply.status, reply.header("location")), (303, path.as_str()));
    }
    assert!(!ada_browser.get(&path).assert_page(200).contains("Forget this"));
    assert!(ada_browser.get("/messages").assert_page(200).contains("You have no messages"));
    assert!(bob_browser.get(&path).assert_page(200).contains("Forget this"));
}

#[test]
fn group_has_the_people_who_were_named() {
    let server = shared_server();
    let (_, mut ada_browser) = signed_in(server, "dmgroup");
    let (bob, mut bob_browser) = signed_in(server, "dmfirst");
    let (eve, mut eve_browser) = signed_in(server, "dmother");
    let (_, mut stranger) = signed_in(server, "dmstrange");
    let to = format!("@{} {},", bob.username, eve.username);
    let path = conversation_path(&begin(&mut ada_browser, &to, "Boats at six"));
    for browser in [&mut bob_browser, &mut eve_browser] {
        assert!(browser.get("/messages").assert_page(200).contains("Boats at six"));
        let page = browser.get(&path).assert_page(200);
        assert!(page.contains("dmgroup added ") && page.contains("Boats at six"), "{page}");
    }
    let title = ada_browser.get(&path).assert_page(200);
    assert!(title.contains("<h1><bdi>\u{2068}dmfirst") && title.contains("\u{2069}, \u{2068}dmother"), "{title}");
    let page = bob_browser.get(&path);
    assert_eq!(bob_browser.submit(&page, &path, &[("text", "I will be there")]).status, 303);
    assert!(eve_browser.get(&path).assert_page(200).contains("I will be there"));
    stranger.get(&path).assert_page(404);
}

#[test]
fn conversations_and_messages_have_pages() {
    let server = shared_server();
    let (ada, mut browser) = signed_in(server, "dmpages");
    let writer = server.new_user("dmwriter");
    let send = |from: &TestUser<'_>, text: &str| {
        let path = format!("/2/dm_conversations/with/{}/messages", ada.id);
        from.post(path, &json!({ "text": text })).assert_status(201);
    };
    for number in 0..25 {
        send(&writer, &format!("Message number {number} of many"));
    }
    let list = browser.get("/messages").assert_page(200);
    assert!(list.contains("number 24 ") && !list.contains("number 23 "));
    let path = list.split("class=\"entry\" href=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    let page = browser.get(&path).assert_page(200);
    assert!(page.contains("number 24 ") && page.contains("number 5 ") && !page.contains("number 4 "));
    let older = page.split("rel=\"next\" href=\"").nth(1).unwrap().split('"').next().unwrap();
    let page = browser.get(older).assert_page(200);
    assert!(page.contains("number 4 ") && page.contains("number 0 ") && !page.contains("number 5 "));
    for number in 0..21 {
        send(&server.new_user("dmmany"), &format!("Conversation number {number} of many"));
    }
    let list = browser.get("/messages").assert_page(200);
    assert!(list.contains("number 20 ") && list.contains("number 1 ") && !list.contains("number 0 "));
    assert!(!list.contains("Message number 24 "));
    let older = list.split("rel=\"next\" href=\"").nth(1).unwrap().split('"').next().unwrap();
    let list = browser.get(older).assert_page(200);
    assert!(list.contains("Conversation number 0 ") && list.contains("Message number 24 "), "{list}");
    assert!(!list.contains("Conversation number 1 ") && !list.contains("rel=\"next\""));
}

#[test]
fn text_of_messages_is_never_markup() {
    let server = shared_server();
    let (_, mut browser) = signed_in(server, "dmmarkup");
    let bob = server.new_user("dmtarget");
    let text = "<script>alert(1)</script> https://example.org/x javascript:alert(1)";
    let path = conversation_path(&begin(&mut browser, &bob.username, text));
    for path in [path.as_str(), "/messages"] {
        let page = browser.get(path).assert_page(200);
        assert!(page.contains("&#60;script&#62;alert(1)") && !page.contains("<script>"), "{path}");
        assert!(!page.contains("href=\"javascript:"), "{path}");
    }
    assert!(browser.get(&path).text().contains("<a href=\"https://example.org/x\" rel=\"noreferrer"));
}

/// The number of unread conversations in the navigation; none if there are none.
fn unread_conversations(page: &str) -> Option<&str> {
    let link = page.split("<span>Messages</span>").nth(1).unwrap();
    link.split("</a>").next().unwrap().strip_prefix("<span class=\"count\">")?.split('<').next()
}

#[test]
fn conversation_is_unread_until_it_is_opened() {
    let server = shared_server();
    let (_, mut writer) = signed_in(server, "dmunreada");
    let (reader, mut browser) = signed_in(server, "dmunreadb");
    let path = conversation_path(&begin(&mut writer, &reader.username, "First"));
    let page = writer.get(&path);
    assert_eq!(writer.submit(&page, &path, &[("text", "Second")]).status, 303);
    assert_eq!(unread_conversations(&writer.get("/messages").text()), None, "one's own messages are read");
    let list = browser.get("/messages").assert_page(200);
    assert_eq!(unread_conversations(&list), Some("1"));
    assert!(list.contains("<span class=\"count\">2<span class=\"unseen\"> unread</span></span>"), "{list}");
    let opened = browser.get(&path).assert_page(200);
    assert_eq!(unread_conversations(&opened), None);
    let list = browser.get("/messages").assert_page(200);
    assert!(unread_conversations(&list).is_none() && !list.contains("class=\"count\""));

    let page = writer.get(&path);
    assert_eq!(writer.submit(&page, &path, &[("text", "Third")]).status, 303);
    assert_eq!(unread_conversations(&browser.get("/home").text()), Some("1"));
    writer.get(&path).assert_page(200);
    assert_eq!(unread_conversations(&browser.get("/home").text()), Some("1"), "others mark nothing");
    let page = browser.get("/messages");
    assert!(page.text().contains("<span class=\"count\">1<"));
    browser.get(&path).assert_page(200);
    assert_eq!(unread_conversations(&browser.get("/home").text()), None);
}

#[test]
fn older_page_of_a_conversation_leaves_newer_messages_unread() {
    let server = shared_server();
    let (writer, mut browser) = signed_in(server, "dmoldera");
    let (reader, mut reading) = signed_in(server, "dmolderb");
    let path = conversation_path(&begin(&mut browser, &reader.username, "Message 0"));
    let send = format!("/2/dm_conversations/with/{}/messages", reader.id);
    for number in 1..22 {
        writer.post(&send, &json!({ "text": format!("Message {number}") })).assert_status(201);
    }
    let newest = message_ids(&browser.get(&path).assert_page(200));
    assert_eq!(newest.len(), 20);
    reading.get(format!("{path}?before={}", newest[0])).assert_page(200);
    assert_eq!(unread_conversations(&reading.get("/home").text()), Some("1"));
    let list = reading.get("/messages").assert_page(200);
    assert!(list.contains("<span class=\"count\">20<"), "the page of two older messages was read");
    reading.get(&path).assert_page(200);
    reading.get(format!("{path}?before={}", newest[0])).assert_page(200);
    assert_eq!(unread_conversations(&reading.get("/home").text()), None, "marks never move back");
}
