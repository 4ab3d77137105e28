//! `locum trigger`: every kind of event, caused from the command line in a test world.

use serde_json::{Value, json};

use super::{Stage, is};
use crate::harness::{TestServer, unique_number};

#[test]
fn triggered_event_of_every_type_is_sent_to_the_stream() {
    let fixture = Stage::new();
    let (ada, bob) = (fixture.person("ada"), fixture.person("bob"));
    let trigger = |kind: &str, more: &[&str]| -> Value {
        let is_alone = kind.starts_with("profile.update") && kind != "profile.update.affiliate_badge"
            || kind.starts_with("spaces.")
            || ["post.create", "post.delete", "ProfileBioUpdate", "oauth.revoke"].contains(&kind);
        let who: &[&str] = match kind {
            "news.new" => &[],
            _ if is_alone => &["--user", &ada.id],
            _ => &["--user", &ada.id, "--other", &bob.id],
        };
        fixture.server.run_cli(&[&["trigger", kind], who, more].concat()).json()
    };
    let word = format!("airship{}", unique_number());
    fixture.subscribe("news.new", &json!({ "keyword": word }));
    fixture.subscribe("oauth.revoke", &json!({}));
    let about_her = network::activity::EVENT_KINDS
        .iter()
        .filter(|kind| kind.filter == network::activity::RequiredFilter::User && !kind.log_kind.is_empty());
    let about_her: Vec<&str> = about_her.map(|kind| kind.name).collect();
    assert!(about_her.len() > 20, "{about_her:?}");
    for kind in &about_her {
        fixture.subscribe(kind, &json!({ "user_id": ada.id }));
    }
    let listener = fixture.listen();
    // Twice: what was done the first time is in nobody's way.
    for kind in about_her.iter().filter(|kind| !kind.starts_with("block")) {
        for _ in 0..2 {
            let before = listener.all().len();
            let response = trigger(kind, &[]);
            assert_eq!((&response["kind"], &response["user_id"]), (&json!(kind), &json!(ada.id)));
            crate::harness::wait_until(kind, || {
                let all = listener.all();
                let mut new = all.iter().skip(before).map(|line| &line["data"]);
                new.any(|event| is(event, kind, &ada.id))
            });
        }
    }
    let text = format!("Seen from afar {}", unique_number());
    let created = trigger("post.create", &["--text", &text]);
    let event = listener.wait("the text", |event| event["payload"]["text"] == text.as_str());
    assert_eq!(event["payload"]["id"], created["post_id"]);
    for kind in ["block.block", "block.block", "block.unblock"] {
        trigger(kind, &[]);
        listener.wait(kind, |event| is(event, kind, &ada.id));
    }
    // By its older name too.
    let response = trigger("ProfileBioUpdate", &["--text", "Another life"]);
    assert_eq!(response["kind"], "profile.update.bio");
    let story = format!("The {word} flies");
    trigger("news.new", &["--text", &story]);
    let event = listener.wait("a story", |event| event["event_type"] == "news.new");
    assert_eq!(event["payload"]["name"], story.as_str());
    trigger("oauth.revoke", &["--app", &fixture.app.id]);
    let event = listener.wait("the end", |event| event["event_type"] == "oauth.revoke");
    assert_eq!(event["payload"]["user_id"], ada.id, "{event}");
    ada.get("/2/users/me").assert_status(401);
}

#[test]
fn impossible_event_is_not_triggered_and_explained() {
    let fixture = Stage::new();
    let (ada, bob) = (fixture.person("ada"), fixture.person("bob"));
    let refused = |args: &[&str]| {
        let ran = fixture.server.run_cli(&[&["trigger"], args].concat());
        ran.assert_refused();
        ran.stderr.clone()
    };
    let unknown = refused(&["post.nonsense"]);
    assert!(unknown.contains("[post.nonsense]") && unknown.contains("post.create"), "{unknown}");
    assert!(refused(&["chat.received"]).contains("chat.received"));
    assert!(refused(&["post.create", "--user", "nobody_at_all"]).contains("nobody_at_all"));
    assert!(refused(&["oauth.revoke"]).contains("--app"));
    for args in [
        &["post.create", "--other", &bob.id][..],
        &["follow.follow", "--text", "hello"],
        &["like.create", "--app", "1"],
        &["dm.received", "--post", "1"],
        &["news.new", "--user", &ada.id],
    ] {
        assert!(refused(args).contains(&format!("{} has no {}; it takes --", args[0], args[1])), "{args:?}");
    }
    let his = bob.publish_text("His alone");
    refused(&["post.delete", "--user", &ada.id, "--post", &his]);
    refused(&["follow.follow", "--user", &ada.id, "--other", &ada.id]);
    // Rules hold as they do for everyone.
    let block = ["trigger", "block.block", "--user", &bob.id, "--other", &ada.id];
    fixture.server.run_cli(&block).assert_success();
    refused(&["follow.follow", "--user", &ada.id, "--other", &bob.id]);
    bob.get(format!("/2/posts/{his}")).assert_status(200);
}

#[test]
fn trigger_uses_the_oldest_users_unless_named_and_needs_a_development_server() {
    let demo = TestServer::start(&[]);
    let response = demo.run_cli(&["trigger", "follow.follow"]).json();
    let name = |user: &str| demo.run_cli(&["user", "show", user]).json()["username"].clone();
    assert_eq!(name(response["user_id"].as_str().unwrap()), "ada", "{response}");
    assert_eq!(name(response["other_id"].as_str().unwrap()), "bob", "{response}");
    let empty = TestServer::start(&["--world", "empty"]);
    let ran = empty.run_cli(&["trigger", "post.create"]);
    ran.assert_refused();
    assert!(ran.stderr.contains("user create"), "{}", ran.stderr);
    let real = TestServer::start_network(&[]);
    real.run_cli(&["trigger", "post.create"]).assert_exit_code(4);
}
