//! A mail server that speaks as much SMTP as a client of one needs (RFC 5321, RFC 4954).

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

use super::WAIT_TIMEOUT;

/// A letter that arrived.
#[derive(Clone, Debug)]
pub(crate) struct ReceivedEmail {
    pub(crate) from: String,
    pub(crate) to: String,
    /// Headers and text, as they were before they were encoded for the way.
    pub(crate) text: String,
}

#[derive(Default)]
struct MailServerState {
    received: Vec<ReceivedEmail>,
    /// Letters that are turned away for now.
    rejections_left: u32,
}

/// The server. It lets `post` in with its password.
pub(crate) struct MailServer {
    port: u16,
    state: Arc<Mutex<MailServerState>>,
}

impl MailServer {
    pub(crate) fn open(password: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(Mutex::new(MailServerState::default()));
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let desk = Arc::clone(&shared);
                std::thread::spawn(move || handle_connection(stream, password, &desk));
            }
        });
        Self { port, state }
    }

    /// Its address for somebody who knows a password.
    pub(crate) fn url(&self, password: &str) -> String {
        format!("smtp://post:{password}@127.0.0.1:{}", self.port)
    }

    /// Turns so many letters away for now.
    pub(crate) fn reject_next(&self, emails: u32) {
        self.state.lock().unwrap().rejections_left = emails;
    }

    /// The newest letter to an address with these words in it, once it has arrived.
    pub(crate) fn wait_for_email(&self, to: &str, words: &str) -> ReceivedEmail {
        let start = base::clock::monotonic_now();
        loop {
            let arrived = self.state.lock().unwrap().received.clone();
            let mut newest = arrived.iter().rev();
            if let Some(found) = newest.find(|email| email.to == to && email.text.contains(words)) {
                return found.clone();
            }
            assert!(start.elapsed() < WAIT_TIMEOUT, "no letter to {to} with {words:?}: {arrived:?}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    pub(crate) fn email_count(&self) -> usize {
        self.state.lock().unwrap().received.len()
    }
}

fn handle_connection(mut out: TcpStream, password: &str, desk: &Mutex<MailServerState>) {
    let mut lines = BufReader::new(out.try_clone().unwrap()).lines().map_while(Result::ok);
    let mut say = |text: &str| out.write_all(format!("{text}\r\n").as_bytes()).is_ok();
    let (mut from, mut to, mut is_in) = (String::new(), String::new(), false);
    let mut open = say("220 here ESMTP");
    while open && let Some(line) = lines.next() {
        let word = line.split(' ').next().unwrap().to_ascii_uppercase();
        open = match word.as_str() {
            "EHLO" => say("250-here\r\n250 AUTH PLAIN"),
            "AUTH" => {
                let given = line.rsplit(' ').next().unwrap();
                let given = BASE64_STANDARD.decode(given).unwrap_or_default();
                is_in = given == format!("\0post\0{password}").as_bytes();
                say(if is_in { "235 come in" } else { "535 5.7.8 not with that password" })
            }
            "MAIL" if !is_in => say("530 5.7.0 who are you?"),
            "MAIL" if take_rejection(desk) => say("451 4.3.2 busy: come again"),
            "MAIL" => {
                from = parse_address(&line);
                say("250 good")
            }
            "RCPT" => {
                to = parse_address(&line);
                say("250 good")
            }
            "DATA" => {
                say("354 go on");
                let written: Vec<_> = lines.by_ref().take_while(|line| line != ".").collect();
                let text = decode_body(&written);
                let (from, to) = (from.clone(), to.clone());
                desk.lock().unwrap().received.push(ReceivedEmail { from, to, text });
                say("250 taken")
            }
            "QUIT" => {
                say("221 bye");
                false
            }
            _ => say("250 good"),
        };
    }
}

fn take_rejection(desk: &Mutex<MailServerState>) -> bool {
    let mut desk = desk.lock().unwrap();
    let busy = desk.rejections_left > 0;
    desk.rejections_left = desk.rejections_left.saturating_sub(1);
    busy
}

fn parse_address(line: &str) -> String {
    let inner = line.split_once('<').and_then(|(_, rest)| rest.split_once('>'));
    inner.map_or("", |(address, _)| address).to_owned()
}

/// The text of a letter without what was done to it for the way.
fn decode_body(lines: &[String]) -> String {
    let plain = lines.iter().map(|line| line.strip_prefix('.').unwrap_or(line));
    let text = plain.collect::<Vec<_>>().join("\n");
    let (head, body) = text.split_once("\n\n").unwrap_or((&text, ""));
    let body = if head.contains("quoted-printable") {
        body.replace("=\n", "").replace("=3D", "=")
    } else if head.contains("base64") {
        let whole = BASE64_STANDARD.decode(body.replace('\n', "")).unwrap();
        String::from_utf8(whole).unwrap()
    } else {
        body.to_owned()
    };
    format!("{head}\n\n{body}")
}
