//! `locum webhook listen`, a receiver to try things with.

use std::io::{BufRead as _, BufReader, Lines};
use std::process::{Child, ChildStdout, Stdio};

use serde_json::{Value, json};

use super::{register, send, server};
use crate::harness::{TestServer, hmac_sha256, locum_command};

/// The receiver as a process, and what it prints.
struct Listening {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    url: String,
}

impl Listening {
    fn start(server: &TestServer, secret: &str, more: &[&str]) -> Self {
        let file = server.sibling_path("secret");
        std::fs::write(&file, format!("{secret}\n")).unwrap();
        let mut child = locum_command(&server.sibling_path("."))
            .args(["webhook", "listen", "--port", "0", "--secret-file"])
            .arg(file)
            .args(more)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut created = Self { child, lines, url: String::new() };
        let response = created.says();
        created.url.push_str(response["listening"].as_str().unwrap());
        created
    }

    /// The next line.
    fn says(&mut self) -> Value {
        serde_json::from_str(&self.lines.next().unwrap().unwrap()).unwrap()
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _gone = self.child.wait();
    }
}

#[test]
fn listen_command_answers_challenges_and_prints_events() {
    let server = server(&[]);
    let app = server.new_app("self-serve");
    let mut listening = Listening::start(&server, &app.secret, &["--count", "3"]);
    let created = register(&server, &app, &listening.url).assert_status(200);
    let response = listening.says();
    let token = response["challenge"].as_str().unwrap();
    let right = hmac_sha256(&app.secret, token.as_bytes());
    assert_eq!(response["answer"], json!({ "response_token": right }));
    let ids = send(&server, created["data"]["id"].as_str().unwrap(), 2, 1);
    for (number, id) in (1..).zip(&ids) {
        let response = listening.says();
        assert_eq!(response["event_id"], id.as_str());
        assert_eq!((&response["attempt"], &response["replay"]), (&json!("1"), &json!("")));
        assert_eq!(response["signature_is_right"], true, "{response}");
        assert_eq!(response["body"]["test_event"]["number"], number);
    }
    // Whoever does not know the secret is told apart, and a body without a length is read too.
    let chunked = ureq::SendBody::from_owned_reader(std::io::Cursor::new("{}"));
    let forged =
        ureq::post(&listening.url).header("x-twitter-webhooks-signature", hmac_sha256("another", b"{}")).send(chunked);
    assert_eq!(forged.unwrap().status(), 200);
    let response = listening.says();
    assert_eq!((&response["signature_is_right"], &response["body"]), (&json!(false), &json!({})));
    assert!(listening.child.wait().unwrap().success());

    // With another secret it is not taken for the app's.
    let mut wrong = Listening::start(&server, "another", &[]);
    register(&server, &app, &wrong.url).assert_refused(400, "CrcValidationFailed");
    assert!(wrong.says()["challenge"].is_string());
}
