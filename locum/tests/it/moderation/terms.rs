//! Blocked words and link hosts.

use serde_json::json;

use super::{found, moderate_on, word};
use crate::harness::TestServer;

#[test]
fn blocked_term_refuses_a_post_and_a_held_one_reports_it() {
    let server = TestServer::start(&[]);
    let (author, reader) = (server.new_user("author"), server.new_user("reader"));
    let (bad, odd) = (word(), word());
    moderate_on(&server, &["term", "block", "word", &bad.to_uppercase()]);
    moderate_on(&server, &["term", "block", "link-host", "spam.example"]);
    moderate_on(&server, &["term", "block", "word", &odd, "--hold"]);
    let wrong = server.run_cli(&["mod", "term", "block", "link-host", "no host"]);
    assert!(wrong.stderr.contains("[spam.example]"), "{}", wrong.stderr);
    assert_eq!(moderate_on(&server, &["term", "list"]).as_array().unwrap().len(), 3);
    for text in [format!("so {bad}!"), "see https://www.spam.example/offer".to_owned()] {
        author.post("/2/posts", &json!({ "text": text })).assert_problem(403, "about:blank");
    }
    let poll = json!({ "text": "Which?", "poll": { "options": [bad, "b"], "duration_minutes": 60 } });
    author.post("/2/posts", &poll).assert_problem(403, "about:blank");
    author.publish_text(&format!("{bad}ness is another word"));
    let held = author.publish_text(&format!("so {odd}"));
    assert_eq!(found(&reader, &odd), 0);
    let queue = moderate_on(&server, &["queue"]);
    let report = &queue[0];
    assert_eq!((&report["subject"], &report["subject_id"]), (&json!("post"), &json!(held)));
    let shown = moderate_on(&server, &["show", report["id"].as_str().unwrap()]);
    assert!(shown["post"].as_str().unwrap().contains(&odd));
    moderate_on(&server, &["dismiss", report["id"].as_str().unwrap()]);
    assert_eq!(moderate_on(&server, &["queue"]).as_array().unwrap().len(), 0);
    assert_eq!(found(&reader, &odd), 1, "a moderator has read it");
    moderate_on(&server, &["term", "unblock", "word", &bad]);
    author.publish_text(&format!("so {bad}!"));
}

#[test]
fn blocked_phrase_is_refused_whatever_separates_its_words() {
    let server = TestServer::start(&[]);
    let (author, first, second) = (server.new_user("author"), word(), word());
    moderate_on(&server, &["term", "block", "word", &format!("{first} {second}")]);
    for separator in [" ", "  ", "\n", "-", ", "] {
        let text = format!("so {first}{separator}{second}!");
        author.post("/2/posts", &json!({ "text": text })).assert_problem(403, "about:blank");
    }
    author.publish_text(&format!("{first} but {second}"));
}

#[test]
fn blocked_term_is_refused_whatever_invisible_characters_are_in_it() {
    let server = TestServer::start(&[]);
    let (author, first, second) = (server.new_user("author"), word(), word());
    moderate_on(&server, &["term", "block", "word", &format!("{first} {second}")]);
    moderate_on(&server, &["term", "block", "link-host", "spam.example"]);
    let (start, end) = second.split_at(2);
    for c in ['\u{200b}', '\u{200c}', '\u{200d}', '\u{2060}', '\u{ad}', '\u{34f}', '\u{fe0f}', '\u{e0041}'] {
        for text in
            [format!("{first} {start}{c}{end}"), format!("{first}{c} {c}{second}{c}"), format!("{first}{c}{second}")]
        {
            author.post("/2/posts", &json!({ "text": text })).assert_problem(403, "about:blank");
        }
        let link = format!("see https://sp{c}am.example/offer");
        author.post("/2/posts", &json!({ "text": link })).assert_problem(403, "about:blank");
    }
    author.publish_text(&format!("{first}\u{200b} but {second}"));
    let wrong = server.run_cli(&["mod", "term", "block", "word", "\u{200b}\u{ad}"]);
    assert!(wrong.stderr.contains("A word or phrase has 1 to"), "{}", wrong.stderr);
}
