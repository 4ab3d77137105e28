//! Each action at the command line, and its effect on lookups, search, timelines, streams and webhooks.

use std::time::Duration;

use serde_json::json;

use super::{actions_about, found, moderate, moderate_on, person, word};
use crate::activity::Stage;
use crate::harness::{StreamClient, TestRequest, TestServer, WebhookReceiver, shared_server, wait_until};
use crate::media::{at_once, samples};
use crate::webhooks::hook;

fn refused(args: &[&str], words: &str) {
    let output = shared_server().run_cli(&[&["mod"], args].concat());
    assert!(output.code != 0, "{args:?}");
    assert!(output.stderr.contains(words), "{args:?}: {}", output.stderr);
}

#[test]
fn removed_post_is_gone_everywhere_and_comes_back_when_the_action_is_lifted() {
    let (author, reader, word) = (person("author"), person("reader"), word());
    reader.import_follows(&[&author]);
    let post = author.publish_text(&format!("{word} breaks the rules, @{}", reader.username));
    reader.post(format!("/2/users/{}/likes", reader.id), &json!({ "post_id": post })).assert_status(200);
    assert_eq!(found(&reader, &word), 1);
    let timelines = [
        format!("/2/users/{}/timelines/reverse_chronological", reader.id),
        format!("/2/users/{}/posts", author.id),
        format!("/2/users/{}/mentions", reader.id),
    ];
    let shown_in = |when: &str, count: usize| {
        for timeline in &timelines {
            let page = reader.get(timeline.as_str()).assert_status(200).to_string();
            assert_eq!(page.matches(&word).count().min(1), count, "{when}: {timeline}");
        }
    };
    shown_in("before", 1);
    let action = moderate(&["remove", &post, "--reason", "Rule 1"]);
    assert_eq!(
        (&action["kind"], &action["post_id"], &action["reason"]),
        (&json!("remove"), &json!(post), &json!("Rule 1"))
    );
    for viewer in [&author, &reader] {
        let answer = viewer.get(format!("/2/posts/{post}")).assert_status(200);
        assert!(answer.get("data").is_none() && answer["errors"][0]["title"] == "Not Found Error", "{answer}");
    }
    assert_eq!(found(&reader, &word), 0);
    shown_in("removed", 0);
    refused(&["remove", &post], "no post with the ID");

    let lifted = moderate(&["lift", action["id"].as_str().unwrap()]);
    assert!(lifted["lifted_at"].is_string());
    assert!(reader.fetch_post(&post, "text")["text"].as_str().unwrap().contains(&word));
    assert_eq!(found(&reader, &word), 1);
    shown_in("restored", 1);
    refused(&["lift", action["id"].as_str().unwrap()], "no longer in force");
}

#[test]
fn post_of_a_deleted_account_is_removed_before_the_account_is_restored() {
    let (author, reader) = (person("author"), person("reader"));
    let post = author.publish_text("Against the rules");
    let server = shared_server();
    server.run_cli(&["user", "delete", &author.username]).assert_success();
    moderate(&["remove", &post, "--reason", "Rule 1"]);
    server.run_cli(&["user", "restore", &author.username]).assert_success();
    let answer = reader.get(format!("/2/posts/{post}")).assert_status(200);
    assert!(answer.get("data").is_none(), "{answer}");
}

#[test]
fn ban_suspends_the_apps_of_the_account_until_it_is_lifted() {
    let server = shared_server();
    let owner = person("maker");
    let app = server.run_cli(&["app", "create", "Collector", "--owner", &owner.username]).json();
    let token = TestRequest::post("/oauth2/token").form("grant_type=client_credentials");
    let token = token.basic(app["api_key"].as_str().unwrap(), app["api_secret"].as_str().unwrap());
    let token = server.send(token).assert_status(200);
    let bearer = token["access_token"].as_str().unwrap();
    let read = || server.send(TestRequest::get(format!("/2/users/{}", owner.id)).bearer(bearer)).status;
    let rules = TestRequest::post("/2/tweets/search/stream/rules").json(&json!({ "add": [{ "value": "anything" }] }));
    server.send(rules.bearer(bearer)).assert_status(201);
    let mut stream = StreamClient::open(server, "/2/tweets/search/stream", bearer);
    let suspended = moderate(&["suspend", &owner.username, "--for", "1h", "--reason", "Rule 1"]);
    assert_eq!(read(), 200);
    moderate(&["lift", suspended["id"].as_str().unwrap()]);
    let banned = moderate(&["ban", &owner.username, "--reason", "Rule 1"]);
    assert!([401, 403].contains(&read()), "{}", read());
    assert!(stream.wait_for_end().0);
    moderate(&["lift", banned["id"].as_str().unwrap()]);
    assert_eq!(read(), 200);
    moderate(&["ban", &owner.username, "--reason", "Rule 1"]);
    server.run_cli(&["user", "restore", &owner.username]).assert_success();
    assert_eq!(read(), 200);
}

#[test]
fn removed_repost_stays_gone_after_another_one_or_without_its_post() {
    let (author, reader) = (person("author"), person("reader"));
    let path = format!("/2/users/{}/reposts", reader.id);
    let [first, second] = ["First", "Second"].map(|text| author.publish_text(text));
    let posts = format!("/2/users/{}/posts", reader.id);
    let removed = [&first, &second].map(|post| {
        reader.post(&path, &json!({ "post_id": post })).assert_status(200);
        let newest = reader.get(&posts).assert_status(200)["data"][0]["id"].clone();
        moderate(&["remove", newest.as_str().unwrap()])["id"].as_str().unwrap().to_owned()
    });
    reader.post(&path, &json!({ "post_id": first })).assert_status(200);
    author.delete(format!("/2/posts/{second}")).assert_status(200);
    for action in &removed {
        assert!(moderate(&["lift", action])["lifted_at"].is_string());
    }
    assert_eq!(reader.get(&posts).assert_status(200)["meta"]["result_count"], 1);
    let me = reader.get("/2/users/me?user.fields=public_metrics").assert_status(200);
    assert_eq!(me["data"]["public_metrics"]["post_count"], 1, "{me}");
}

#[test]
fn files_of_a_removed_post_are_served_to_nobody_and_come_back_with_it() {
    let server = TestServer::start(&[]);
    let author = server.new_user("author");
    let media = at_once(&author, "tweet_image", &samples::png(8, 8)).assert_status(200)["data"]["id"].clone();
    let created = author.create_post(&json!({ "text": "look", "media": { "media_ids": [media] } })).assert_status(201);
    let post = created["data"]["id"].as_str().unwrap();
    let path = format!("/2/posts/{post}?expansions=attachments.media_keys&media.fields=url");
    let url = author.get(path.as_str()).assert_status(200)["includes"]["media"][0]["url"].clone();
    let file = format!("/media/{}", url.as_str().unwrap().split("/media/").nth(1).unwrap());
    assert_eq!(server.send(TestRequest::get(file.as_str())).status, 200);
    let action = moderate_on(&server, &["remove", post]);
    server.run_cli(&["clock", "advance", "90m"]).assert_success();
    assert_eq!(server.send(TestRequest::get(file.as_str())).status, 404);
    let again = json!({ "text": "look again", "media": { "media_ids": [media] } });
    author.create_post(&again).assert_status(400);
    moderate_on(&server, &["lift", action["id"].as_str().unwrap()]);
    assert_eq!(server.send(TestRequest::get(file.as_str())).status, 200);
    assert_eq!(author.get(path).assert_status(200)["includes"]["media"][0]["url"], url);
}

#[test]
fn removal_is_told_to_webhooks_and_compliance_streams() {
    let stage = Stage::new();
    let app = shared_server().new_app("enterprise");
    let mut streams: Vec<StreamClient> = (1..=4)
        .map(|part| {
            let target = format!("/2/posts/compliance/stream?partition={part}");
            StreamClient::open(shared_server(), &target, &app.bearer)
        })
        .collect();
    let author = stage.person("author");
    let receiver = WebhookReceiver::open(&stage.app.secret);
    let webhook = hook(stage.server, &stage.app, &receiver);
    stage.send_to(&webhook, "post.delete", &json!({ "user_id": author.id }));
    let post = author.publish_text("soon removed");
    let action = moderate(&["remove", &post]);
    moderate(&["lift", action["id"].as_str().unwrap()]);
    wait_until("the webhook is told", || {
        receiver.received_requests().iter().any(|request| String::from_utf8_lossy(&request.body).contains(&post))
    });
    let mut names = Vec::new();
    wait_until("the streams are told", || {
        for stream in &mut streams {
            while let Some(message) = stream.next_within(Duration::from_millis(20)) {
                let data = message["data"].as_object().cloned().unwrap_or_default();
                let about = data.iter().filter(|(_, event)| event["tweet"]["id"] == json!(post));
                names.extend(about.map(|(name, _)| name.clone()));
            }
        }
        names.len() >= 2
    });
    assert_eq!(names, ["drop", "undrop"]);
}

#[test]
fn labelled_post_is_sensitive_in_lookups() {
    let author = person("author");
    let post = author.publish_text("not for everyone");
    let action = moderate(&["label", &post]);
    assert_eq!(author.fetch_post(&post, "possibly_sensitive")["possibly_sensitive"], true);
    refused(&["label", &post], "already in force");
    moderate(&["lift", action["id"].as_str().unwrap()]);
    for again in [["lift", action["id"].as_str().unwrap()], ["label", "1"]] {
        shared_server().run_cli(&[&["mod"][..], &again].concat()).assert_exit_code(1);
    }
    assert_eq!(author.fetch_post(&post, "possibly_sensitive")["possibly_sensitive"], false);
}

#[test]
fn warning_of_the_author_stays_when_a_label_is_lifted() {
    let author = person("author");
    let media = at_once(&author, "tweet_image", &samples::png(8, 9)).assert_status(200)["data"]["id"].clone();
    let warning = json!({ "id": media, "metadata": { "sensitive_media_warning": { "graphic_violence": true } } });
    author.post("/2/media/metadata", &warning).assert_status(200);
    let created = author.create_post(&json!({ "text": "look", "media": { "media_ids": [media] } })).assert_status(201);
    let post = created["data"]["id"].as_str().unwrap();
    let action = moderate(&["label", post]);
    moderate(&["lift", action["id"].as_str().unwrap()]);
    assert_eq!(author.fetch_post(post, "possibly_sensitive")["possibly_sensitive"], true);
}

#[test]
fn limited_account_and_post_are_not_found_but_shown_to_followers() {
    let (author, reader, word) = (person("author"), person("reader"), word());
    reader.import_follows(&[&author]);
    let post = author.publish_text(&format!("{word} one"));
    author.publish_text(&format!("{word} two"));
    assert_eq!(found(&reader, &word), 2);
    let with_end = ["mod", "limit", "--post", &post, "--for", "7d"];
    shared_server().run_cli(&with_end).assert_exit_code(2);
    let of_post = moderate(&["limit", "--post", &post]);
    assert_eq!(found(&reader, &word), 1);
    let of_account = moderate(&["limit", &author.username, "--reason", "Spam"]);
    assert_eq!(found(&reader, &word), 0);
    author.publish_text(&format!("{word} three"));
    assert_eq!(found(&reader, &word), 0);
    let home = reader.get(format!("/2/users/{}/timelines/reverse_chronological", reader.id)).assert_status(200);
    assert_eq!(home.to_string().matches(&word).count(), 3);
    let people = format!("/2/users/search?query={}", author.username);
    assert!(reader.get(people.as_str()).assert_status(200).get("data").is_none());
    moderate(&["lift", of_account["id"].as_str().unwrap()]);
    assert_eq!(found(&reader, &word), 2);
    moderate(&["lift", of_post["id"].as_str().unwrap()]);
    assert_eq!(found(&reader, &word), 3);
    assert_eq!(reader.get(people.as_str()).assert_status(200)["data"][0]["id"], json!(author.id));
}

#[test]
fn limit_of_a_post_holds_for_its_edits_until_it_is_lifted() {
    let author = shared_server().new_user_with("author", &["--subscription-type", "Premium"]);
    let (reader, word) = (person("reader"), word());
    let first = author.publish_text(&format!("{word} one"));
    let action = moderate(&["limit", "--post", &first]);
    let edit = json!({ "text": format!("{word} two"), "edit_options": { "previous_post_id": first } });
    let second = author.create_post(&edit).assert_status(201)["data"]["id"].as_str().unwrap().to_owned();
    assert_eq!(found(&reader, &word), 0);
    shared_server().run_cli(&["mod", "limit", "--post", &second]).assert_exit_code(1);
    moderate(&["lift", action["id"].as_str().unwrap()]);
    assert_eq!(found(&reader, &word), 1);
}

#[test]
fn silenced_account_reads_but_does_not_write() {
    let (author, other) = (person("author"), person("other"));
    let post = other.publish_text("anything to say?");
    let action = moderate(&["silence", &author.username, "--for", "1h"]);
    let writes = [
        ("/2/posts".to_owned(), json!({ "text": "hello" })),
        (format!("/2/users/{}/likes", author.id), json!({ "post_id": post })),
        (format!("/2/users/{}/reposts", author.id), json!({ "post_id": post })),
        (format!("/2/users/{}/following", author.id), json!({ "target_user_id": other.id })),
        (format!("/2/dm_conversations/with/{}/messages", other.id), json!({ "text": "hello" })),
        ("/2/lists".to_owned(), json!({ "name": "hello" })),
    ];
    for (path, body) in &writes {
        let answer = author.post(path.as_str(), body);
        assert_eq!(answer.status, 403, "{path}: {}", answer.text());
        assert!(answer.text().contains("stopped your account from writing"), "{path}: {}", answer.text());
    }
    author.get(format!("/2/posts/{post}")).assert_status(200);
    moderate(&["lift", action["id"].as_str().unwrap()]);
    author.publish_text("hello again");
}

#[test]
fn suspension_ends_by_itself_and_overlaps_with_others() {
    let (author, reader, word) = (person("author"), person("reader"), word());
    author.publish_text(&word);
    moderate(&["suspend", &author.username, "--for", "2s", "--reason", "Cool down"]);
    let gone = |when: &str, status: u16| {
        assert_eq!(found(&reader, &word), 0, "{when}");
        reader.get(format!("/2/users/{}", author.id)).assert_status(200);
        author.get("/2/users/me").assert_status(status);
    };
    gone("suspended", 403);
    let ban = moderate(&["ban", &author.username, "--reason", "Rule 2"]);
    wait_until("the suspension ends", || {
        actions_about(&author).iter().any(|action| action["kind"] == "suspend" && action["lifted_at"].is_string())
    });
    gone("banned", 401);
    moderate(&["lift", ban["id"].as_str().unwrap()]);
    assert_eq!(found(&reader, &word), 1);
    shared_server().run_cli(&["user", "suspend", &author.username]).assert_success();
    assert_eq!(actions_about(&author)[0]["kind"], "suspend");
    shared_server().run_cli(&["user", "restore", &author.username]).assert_success();
    assert!(actions_about(&author).iter().all(|action| action["lifted_at"].is_string()));
}

#[test]
fn wrong_orders_say_what_would_be_accepted() {
    let author = person("author");
    let post = author.publish_text("fine");
    refused(&["suspend", &author.username], "--for <DURATION>");
    refused(&["suspend", &author.username, "--for", "soon"], "30m, 12h or 7d");
    refused(&["suspend", &author.username, "--for", "400d"], "within a year");
    refused(&["ban", &author.username], "--reason <REASON>");
    refused(&["ban", &author.username, "--reason", " "], "reason");
    refused(&["warn", &author.username, "--reason", &"x".repeat(1_001)], "at most 1000");
    refused(&["remove", "1"], "no post with the ID 1");
    refused(&["lift", "1"], "no action with the ID 1");
    refused(&["show", "1"], "no report with the ID 1");
    assert!(actions_about(&author).is_empty());
    assert_eq!(author.fetch_post(&post, "text")["text"], "fine");
}

#[test]
fn every_decision_is_in_the_audit_log() {
    let author = person("author");
    let action = moderate(&["warn", &author.username, "--reason", "Rule 3"]);
    let id = action["id"].as_str().unwrap();
    moderate(&["lift", id]);
    let entries = shared_server().run_cli(&["audit", "list", "--limit", "1000"]).json();
    let entries = entries.as_array().unwrap().iter();
    let kinds = entries.filter(|entry| entry["detail"]["action"] == id).map(|entry| entry["kind"].clone());
    assert_eq!(kinds.collect::<Vec<_>>(), ["moderation.lift", "moderation.act"]);
}

#[test]
fn removed_repost_leaves_the_original() {
    let (author, fan) = (person("author"), person("fan"));
    let post = author.publish_text("worth repeating");
    let repost = fan.post(format!("/2/users/{}/reposts", fan.id), &json!({ "post_id": post })).assert_status(200);
    assert!(repost["data"].is_object());
    moderate(&["remove", &post]);
    let shown = shared_server().send(TestRequest::get(format!("/2/users/{}/posts", fan.id)).bearer(&fan.app.bearer));
    assert!(!shown.assert_status(200).to_string().contains("worth repeating"));
}
