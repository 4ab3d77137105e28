//! Pictures and videos of direct messages on pages: who sees and who sends them.

use serde_json::Value;

use super::signed_in;
use crate::backup::files_under;
use crate::harness::{TestRequest, TestResponse, TestServer, TestUser, shared_server};
use crate::media::{multipart, samples};
use crate::pages::browser::{Browser, hidden};

const NEW: &str = "/messages/new";

/// Sends the form for a message that a page has, with a file unless it is empty.
pub(super) fn send_form(
    browser: &mut Browser<'_>,
    page: &str,
    action: &str,
    texts: &[(&str, &str)],
    file: &[u8],
) -> TestResponse {
    let mut fields = hidden(page, action);
    fields.extend(texts.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())));
    let texts: Vec<(&str, &str)> = fields.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    browser.send(multipart(action, &texts, if file.is_empty() { "" } else { "media" }, file))
}

/// Begins a conversation; its path.
#[track_caller]
fn begin(browser: &mut Browser<'_>, to: &str, texts: &[(&str, &str)], file: &[u8]) -> String {
    let page = browser.get(NEW).text();
    let reply = send_form(browser, &page, NEW, &[&[("to", to)], texts].concat(), file);
    assert_eq!(reply.status, 303, "{}", reply.text());
    reply.header("location").split_once("#m").unwrap().0.to_owned()
}

/// The paths of the files on a page of a conversation.
fn file_paths(page: &str) -> Vec<String> {
    let parts = page.split("<a href=\"/messages/files/").skip(1);
    parts.map(|part| format!("/messages/files/{}", part.split('"').next().unwrap())).collect()
}

fn list_events(user: &TestUser<'_>, other: &TestUser<'_>) -> Value {
    let path = format!("/2/dm_conversations/with/{}/dm_events?expansions=attachments.media_keys", other.id);
    user.get(path).assert_status(200)
}

#[test]
fn picture_is_seen_by_both_people_and_by_nobody_else() {
    let server = shared_server();
    let (ada, mut ada_browser) = signed_in(server, "mfada");
    let (bob, mut bob_browser) = signed_in(server, "mfbob");
    let (_, mut eve_browser) = signed_in(server, "mfeve");
    let file = samples::png(60, 40);
    let texts = [("text", ""), ("description", "The \"harbour\"")];
    let path = begin(&mut ada_browser, &bob.username, &texts, &file);
    for browser in [&mut ada_browser, &mut bob_browser] {
        assert!(browser.get("/messages").assert_page(200).contains("Photo"), "it stands for the text");
        let page = browser.get(&path).assert_page(200);
        assert!(page.contains("alt=\"The &#34;harbour&#34;\"") && page.contains("Open the picture"), "{page}");
        let found = file_paths(&page);
        assert_eq!(found.len(), 1);
        let sent = browser.get(&found[0]);
        assert_eq!((sent.status, &sent.body), (200, &file));
        for (name, value) in [
            ("content-type", "image/png"),
            ("cache-control", "private, max-age=3600"),
            ("x-content-type-options", "nosniff"),
            ("content-security-policy", "default-src 'none'; sandbox"),
            ("cross-origin-resource-policy", "same-origin"),
        ] {
            assert_eq!(sent.header(name), value, "{name}");
        }
        let part = browser.send(TestRequest::get(&*found[0]).header("range", "bytes=0-3"));
        assert_eq!((part.status, &part.body[..]), (206, &file[..4]));
    }
    let shown = file_paths(&ada_browser.get(&path).text()).remove(0);
    assert_eq!(eve_browser.get(&shown).status, 404);
    assert_eq!(Browser::new(server).get(&shown).status, 404);
    let (folder, name) = shown.rsplit_once('/').unwrap();
    assert_eq!(server.send(TestRequest::get(format!("/media/{name}"))).status, 404, "it has no public address");
    assert_eq!(ada_browser.get(format!("{folder}/other.png")).status, 404);
    let event = folder.rsplit('/').next().unwrap();
    super::press(&mut ada_browser, &path, &format!("delete-message {event}"));
    assert_eq!(ada_browser.get(&shown).status, 404);
    assert_eq!(bob_browser.get(&shown).status, 200, "the other keeps it");
    assert_eq!(list_events(&bob, &ada)["includes"]["media"][0]["type"], "photo");
}

#[test]
fn person_who_left_the_group_sees_its_files_no_longer() {
    let server = shared_server();
    let (_, mut ada_browser) = signed_in(server, "mfgroup");
    let (bob, mut bob_browser) = signed_in(server, "mfleaver");
    let (eve, mut eve_browser) = signed_in(server, "mfstayer");
    let to = format!("{} {}", bob.username, eve.username);
    let path = begin(&mut ada_browser, &to, &[("text", "The map")], &samples::png(60, 40));
    let shown = file_paths(&bob_browser.get(&path).assert_page(200)).remove(0);
    assert_eq!(bob_browser.get(&shown).status, 200);
    server.run_cli(&["message", "leave", path.rsplit('/').next().unwrap(), &bob.id]).assert_success();
    assert_eq!((bob_browser.get(&shown).status, eve_browser.get(&shown).status), (404, 200));
}

#[test]
fn animated_picture_and_video_are_shown_as_what_they_are() {
    let server = TestServer::start(&[]);
    let (_, mut ada_browser) = signed_in(&server, "mffilm");
    let (bob, mut bob_browser) = signed_in(&server, "mfviewer");
    let path = begin(&mut ada_browser, &bob.username, &[], &samples::gif(3));
    assert!(bob_browser.get("/messages").assert_page(200).contains("GIF"));
    let page = bob_browser.get(&path).assert_page(200);
    assert!(page.contains("Open the GIF"), "{page}");
    let film = samples::mp4(samples::Film::default());
    let reply = send_form(&mut bob_browser, &page, &path, &[("description", "Boats leave")], &film);
    assert_eq!(reply.status, 303, "{}", reply.text());
    assert!(ada_browser.get("/messages").assert_page(200).contains("Video"));
    let page = ada_browser.get(&path).assert_page(200);
    let video = page.split("<video controls").nth(1).unwrap().split("</video>").next().unwrap();
    assert!(video.contains("aria-label=\"Boats leave\"") && video.contains("src=\"/messages/files/"), "{video}");
    assert_eq!(ada_browser.get(&file_paths(&page)[1]).header("content-type"), "video/mp4");
}

#[test]
fn form_with_a_file_that_is_sent_twice_sends_once() {
    let server = TestServer::start(&[]);
    let (ada, mut browser) = signed_in(&server, "mftwice");
    let bob = server.new_user("mfonce");
    let (page, before) = (browser.get(NEW).text(), count_files(&server));
    let mut path = String::new();
    for _ in 0..2 {
        let reply = send_form(&mut browser, &page, NEW, &[("to", &bob.username)], &samples::png(60, 40));
        assert_eq!(reply.status, 303, "{}", reply.text());
        path = reply.header("location").split('#').next().unwrap().to_owned();
    }
    assert_eq!(path, "/messages");
    let events = list_events(&ada, &bob);
    assert_eq!((events["meta"]["result_count"].as_i64(), count_files(&server)), (Some(1), before + 1));
}

pub(super) fn count_files(server: &TestServer) -> usize {
    files_under(&server.data_dir().join("media")).len()
}

#[test]
fn refused_file_says_why_and_sends_nothing() {
    let server = TestServer::start(&[]);
    let (ada, mut browser) = signed_in(&server, "mfrefused");
    let bob = server.new_user("mftarget");
    let path = begin(&mut browser, &bob.username, &[("text", "Hello")], &[]);
    let before = count_files(&server);
    let large = [samples::png(60, 40), vec![0; 5 * 1024 * 1024 + 1]].concat();
    let long = "x".repeat(1001);
    for (file, description, why) in [
        (&b"plain text"[..], "A boat", "is not supported"),
        (&samples::png(60, 40)[..60], "A boat", "The PNG file is"),
        (&large[..], "A boat", "The file is larger than 5 MB. Choose a smaller one"),
        (&samples::png(60, 40)[..], long.as_str(), "longer than 1,000 characters"),
    ] {
        for (action, to) in [(path.as_str(), ""), (NEW, bob.username.as_str()), ("/compose", "")] {
            let page = browser.get(action).text();
            let texts = [("to", to), ("text", "Look at this"), ("description", description)];
            let texts = if to.is_empty() { &texts[1..] } else { &texts[..] };
            let page = send_form(&mut browser, &page, action, texts, file).assert_page(400);
            let problem = page.split("id=\"media-error\"").nth(1).unwrap_or_else(|| panic!("no problem: {page}"));
            assert!(problem.split("</p>").next().unwrap().contains(why), "no {why:?} in {problem}");
            let kept = format!("name=\"description\" maxlength=\"1000\" value=\"{description}\"");
            assert!(page.contains("Look at this") && page.contains(&kept), "what was entered stays: {page}");
        }
    }
    let page = browser.get(&path).text();
    let page = send_form(&mut browser, &page, &path, &[("text", " ")], &[]).assert_page(400);
    assert!(page.contains("Write a message or choose a file."), "{page}");
    assert_eq!((list_events(&ada, &bob)["meta"]["result_count"].as_i64(), count_files(&server)), (Some(1), before));
}

#[test]
fn file_of_a_refused_message_is_sent_with_the_next_form() {
    let server = shared_server();
    let (ada, mut browser) = signed_in(server, "mfretry");
    let bob = server.new_user("mfpatient");
    let page = browser.get(NEW).text();
    let texts = [("to", bob.username.as_str()), ("text", &"x".repeat(10_001)), ("description", "A lamp")];
    let page = send_form(&mut browser, &page, NEW, &texts, &samples::png(60, 40)).assert_page(400);
    assert!(page.contains("The message is too long.") && page.contains("Attached file: <bdi>A lamp"), "{page}");
    let reply = send_form(&mut browser, &page, NEW, &texts[..1], &[]);
    assert_eq!(reply.status, 303, "{}", reply.text());
    assert_eq!(list_events(&ada, &bob)["includes"]["media"][0]["type"], "photo");
}

#[test]
fn file_of_someone_else_is_not_sent() {
    let server = shared_server();
    let (ada, mut browser) = signed_in(server, "mfowner");
    let (bob, mut bob_browser) = signed_in(server, "mfthief");
    let path = begin(&mut browser, &bob.username, &[], &samples::png(60, 40));
    let events = list_events(&ada, &bob);
    let key = events["includes"]["media"][0]["media_key"].as_str().unwrap().split_once('_').unwrap().1.to_owned();
    let page = bob_browser.get(&path).text();
    let page = send_form(&mut bob_browser, &page, &path, &[("media_id", &key)], &[]).assert_page(400);
    assert!(page.contains("An attached file is not available"), "{page}");
}

#[test]
fn message_that_is_not_accepted_leaves_no_file() {
    let server = TestServer::start(&[]);
    let (_, mut browser) = signed_in(&server, "mfasker");
    let (bob, mut bob_browser) = signed_in(&server, "mfclosed");
    let (_, mut stranger) = signed_in(&server, "mfstranger");
    let path = begin(&mut browser, &bob.username, &[("text", "Hello")], &[]);
    let (file, before) = (samples::png(60, 40), count_files(&server));
    let mut page = stranger.get(NEW).text();
    page = page.replace(&format!("action=\"{NEW}\""), &format!("action=\"{path}\""));
    assert_eq!(send_form(&mut stranger, &page, &path, &[("text", "Hi")], &file).status, 404);
    let page = browser.get(&path).text();
    server.run_cli(&["message", "close", &bob.username]).assert_success();
    let refused = send_form(&mut browser, &page, &path, &[("text", "Hi")], &file).assert_page(400);
    assert!(refused.contains("does not accept messages from you"), "{refused}");
    assert_eq!(count_files(&server), before);
    assert!(!bob_browser.get(&path).assert_page(200).contains("Hi<"));
}
