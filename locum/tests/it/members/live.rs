//! The count of new posts on an open home timeline.

use std::io::Read as _;
use std::net::TcpStream;
use std::time::Duration;

use super::{press, signed_in};
use crate::harness::{StreamClient, TestServer, shared_server, wait_until};
use crate::pages::browser::Browser;

/// Pages of a member that are open at the same time, at most.
const MAX_PAGES: usize = 4;

/// Opens the stream that the page names.
fn open(browser: &mut Browser<'_>) -> (TcpStream, String) {
    let page = browser.get("/home").assert_page(200);
    let path = page.split("data-events=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    let pairs = browser.cookies.iter().map(|(name, value)| format!("{name}={value}"));
    let cookies = pairs.collect::<Vec<_>>().join("; ");
    let (socket, head) = StreamClient::send_request(browser.server, &path, &format!("cookie: {cookies}"));
    socket.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    (socket, head)
}

/// Reads until the last count is this one.
fn wait_for_count(socket: &TcpStream, received: &mut String, count: &str) {
    wait_until(&format!("there are {count} new posts"), || {
        let mut bytes = [0; 512];
        if let Ok(length) = (&mut &*socket).read(&mut bytes) {
            received.push_str(&String::from_utf8_lossy(&bytes[..length]));
        }
        let counts = received.split("event: posts\ndata: ").skip(1);
        counts.last().is_some_and(|last| last.split('\n').next() == Some(count))
    });
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
