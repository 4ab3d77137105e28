//! What open pages learn: how many new posts the home timeline has, and that a conversation has new messages.

use std::io::Read as _;
use std::net::TcpStream;
use std::time::Duration;

use serde_json::json;

use super::{press, signed_in, submit_to};
use crate::harness::{StreamClient, TestServer, shared_server, wait_until};
use crate::pages::browser::Browser;

/// Pages of a member that are open at the same time, at most.
const MAX_PAGES: usize = 4;

fn open(browser: &mut Browser<'_>) -> (TcpStream, String) {
    open_page(browser, "/home")
}

/// Opens the stream that a page names.
fn open_page(browser: &mut Browser<'_>, path: &str) -> (TcpStream, String) {
    let page = browser.get(path).assert_page(200);
    let path = page.split("data-events=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    send_with_cookies(browser, &path)
}

fn send_with_cookies(browser: &Browser<'_>, path: &str) -> (TcpStream, String) {
    let pairs = browser.cookies.iter().map(|(name, value)| format!("{name}={value}"));
    let cookies = pairs.collect::<Vec<_>>().join("; ");
    let (socket, head) = StreamClient::send_request(browser.server, path, &format!("cookie: {cookies}"));
    socket.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    (socket, head)
}

fn read_some(socket: &TcpStream, received: &mut String) {
    let mut bytes = [0; 512];
    if let Ok(length) = (&mut &*socket).read(&mut bytes) {
        received.push_str(&String::from_utf8_lossy(&bytes[..length]));
    }
}

/// Reads until the last count is this one.
fn wait_for_count(socket: &TcpStream, received: &mut String, count: &str) {
    wait_until(&format!("there are {count} new posts"), || {
        read_some(socket, received);
        let counts = received.split("event: posts\ndata: ").skip(1);
        counts.last().is_some_and(|last| last.split('\n').next() == Some(count))
    });
}

/// Reads until so many events say that there are messages; the number of the last one.
fn wait_for_messages(socket: &TcpStream, received: &mut String, count: usize) -> String {
    wait_until(&format!("there were {count} events"), || {
        read_some(socket, received);
        let events = received.split("event: messages\ndata: ").skip(1);
        events.filter(|event| event.contains('\n')).count() >= count
    });
    let last = received.rsplit("event: messages\ndata: ").next().unwrap();
    last.split('\n').next().unwrap().to_owned()
}

#[test]
fn open_page_learns_how_many_new_posts_it_would_show() {
    let server = shared_server();
    let author = server.new_user("active");
    let muted = server.new_user("muted");
    let stranger = server.new_user("stranger");
    let (reader, mut browser) = signed_in(server, "watching");
    for other in [&author, &muted] {
        assert_eq!(press(&mut browser, &format!("/{}", other.username), &format!("follow {}", other.id)), 303);
    }
    assert_eq!(press(&mut browser, &format!("/{}", muted.username), &format!("mute {}", muted.id)), 303);
    let words = browser.get("/settings/muted_words");
    assert_eq!(browser.submit(&words, "/settings/muted_words", &[("word", "noise")]).status, 303);
    author.publish_text("There before");
    let page = browser.get("/home");
    assert!(page.header("content-security-policy").contains("script-src 'self'"));
    assert!(page.text().contains("aria-live=\"polite\""), "{}", page.text());
    let (socket, head) = open(&mut browser);
    assert!(head.starts_with("HTTP/1.1 200 ") && head.contains("text/event-stream"), "{head}");
    let mut received = String::new();
    for (other, text) in [(&stranger, "Not followed"), (&muted, "Muted"), (&author, "Some noise"), (&author, "One")] {
        other.publish_text(text);
    }
    wait_for_count(&socket, &mut received, "1");
    author.publish_text("Two");
    wait_for_count(&socket, &mut received, "2");
    assert!(!received.contains("data: 3") && !received.contains("Two"), "only the number is told: {received}");
    let home = browser.get("/home").assert_page(200);
    assert!(home.contains("One") && home.contains("Two"));
    drop((reader, socket));
}

#[test]
fn streams_of_a_member_are_few_and_for_those_who_are_signed_in() {
    let server = shared_server();
    let (_, mut browser) = signed_in(server, "tabs");
    let mut pages: Vec<_> = (0..MAX_PAGES).map(|_| open(&mut browser)).collect();
    assert!(pages.iter().all(|(_, head)| head.starts_with("HTTP/1.1 200 ")));
    let (_, head) = open(&mut browser);
    assert!(head.starts_with("HTTP/1.1 429 "), "{head}");
    pages.pop();
    wait_until("another page may be opened", || open(&mut browser).1.starts_with("HTTP/1.1 200 "));
    let (_, head) = StreamClient::send_request(server, "/home/live", "accept: text/event-stream");
    assert!(!head.starts_with("HTTP/1.1 200 "), "{head}");
}

#[test]
fn stream_ends_with_the_session() {
    let server = shared_server();
    let author = server.new_user("active");
    let (_reader, mut browser) = signed_in(server, "leaving");
    assert_eq!(press(&mut browser, &format!("/{}", author.username), &format!("follow {}", author.id)), 303);
    let (socket, head) = open(&mut browser);
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    let page = browser.get("/logout");
    assert_eq!(browser.submit(&page, "/logout", &[]).status, 303);
    author.publish_text("Not for those who left");
    let mut received = String::new();
    wait_until("the stream has ended", || {
        read_some(&socket, &mut received);
        received.ends_with("0\r\n\r\n")
    });
    assert!(!received.contains("event: posts"), "{received}");
}

#[test]
fn open_page_does_not_delay_the_end_of_the_server() {
    let mut server = TestServer::start(&[]);
    let page = {
        let (_, mut browser) = signed_in(&server, "late");
        open(&mut browser)
    };
    assert!(page.1.starts_with("HTTP/1.1 200 "), "{}", page.1);
    let (code, took) = server.stop();
    assert_eq!(code, Some(0));
    assert!(took < Duration::from_secs(10), "{took:?}");
}

#[test]
fn open_conversation_learns_of_new_messages_that_its_reader_receives() {
    let server = shared_server();
    let (ada, mut ada_browser) = signed_in(server, "lively");
    let (bob, mut bob_browser) = signed_in(server, "livelier");
    let (_, eve_browser) = signed_in(server, "livid");
    let eve = server.new_user("liveother");
    let mut ids = [ada.id.clone(), bob.id.clone()];
    ids.sort_by_key(|id| id.parse::<i64>().unwrap());
    let path = format!("/messages/{}", ids.join("-"));
    let send = |browser: &mut Browser<'_>, text: &str| {
        assert_eq!(submit_to(browser, &path, &[("text", text)]).status, 303);
    };
    let page = ada_browser.get(&path);
    assert!(page.header("content-security-policy").contains("script-src 'self'"));
    assert!(page.text().contains("role=\"log\""), "{}", page.text());
    let (socket, head) = open_page(&mut ada_browser, &path);
    assert!(head.starts_with("HTTP/1.1 200 ") && head.contains("text/event-stream"), "{head}");
    let mut received = String::new();
    send(&mut bob_browser, "The first of all");
    let first = wait_for_messages(&socket, &mut received, 1);
    assert!(ada_browser.get(&path).assert_page(200).contains(&format!("id=\"m{first}\"")), "{first}");
    send(&mut ada_browser, "Written on another page of mine");
    let second = wait_for_messages(&socket, &mut received, 2);
    assert_ne!(first, second);
    // What happens in other conversations is no news here.
    eve.post(format!("/2/dm_conversations/with/{}/messages", ada.id), &json!({ "text": "Elsewhere" }))
        .assert_status(201);
    send(&mut bob_browser, "The third");
    wait_for_messages(&socket, &mut received, 3);
    assert_eq!(received.matches("event: messages").count(), 3, "{received}");
    assert!(!received.contains("first"), "only the id is told: {received}");

    let (_, head) = send_with_cookies(&eve_browser, &format!("{path}/live?after=0"));
    assert!(head.starts_with("HTTP/1.1 404 "), "{head}");
    let (_, head) = StreamClient::send_request(server, &format!("{path}/live"), "accept: text/event-stream");
    assert!(!head.starts_with("HTTP/1.1 200 "), "{head}");
    let older = ada_browser.get(format!("{path}?before={second}"));
    assert!(!older.text().contains("data-events") && !older.header("content-security-policy").contains("script-src"));
}

#[test]
fn open_group_learns_nothing_of_whom_its_reader_blocks() {
    let server = shared_server();
    let (ada, mut browser) = signed_in(server, "groupwatch");
    let (bob, eve) = (server.new_user("groupbob"), server.new_user("groupeve"));
    let group = json!({
        "conversation_type": "Group",
        "participant_ids": [bob.id, eve.id],
        "message": { "text": "All of us" },
    });
    let group = ada.post("/2/dm_conversations", &group).assert_status(201);
    let name = group["data"]["dm_conversation_id"].as_str().unwrap();
    let (path, messages) = (format!("/messages/{name}"), format!("/2/dm_conversations/{name}/messages"));
    assert_eq!(press(&mut browser, &format!("/{}", eve.username), &format!("block {}", eve.id)), 303);
    let (socket, head) = open_page(&mut browser, &path);
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    let mut received = String::new();
    eve.post(&messages, &json!({ "text": "Blocked" })).assert_status(201);
    let shown = bob.post(&messages, &json!({ "text": "Not blocked" })).assert_status(201);
    let last = wait_for_messages(&socket, &mut received, 1);
    assert_eq!(shown["data"]["dm_event_id"], last.as_str());
    assert_eq!(received.matches("event: messages").count(), 1, "{received}");
}
