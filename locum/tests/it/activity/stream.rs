//! The stream: whom it tells what, and what it tells of the past.

use serde_json::{Value, json};

use super::{Listener, STREAM, SUBSCRIPTIONS, Stage, is};
use crate::harness::{TestRequest, TestUser, wait_until};

fn like(user: &TestUser<'_>, post: &str) {
    let path = format!("/2/users/{}/likes", user.id);
    user.post(path, &json!({ "tweet_id": post })).assert_status(200);
}

/// Says something that the stream tells of, and waits for it: all that happened before was told.
#[track_caller]
fn mark(listener: &Listener, user: &TestUser<'_>) -> usize {
    let text = format!("mark {}", crate::harness::unique_number());
    user.publish_text(&text);
    listener.wait("a mark", |event| event["payload"]["text"] == text.as_str());
    listener.all().len()
}

#[test]
fn direction_filter_selects_events_by_or_to_the_user() {
    let fixture = Stage::new();
    let (ada, bob) = (fixture.person("ada"), fixture.person("bob"));
    let (hers, his) = (ada.publish_text("Hers"), bob.publish_text("His"));
    fixture.subscribe("post.create", &json!({ "user_id": bob.id }));
    for (kind, direction) in [("like.create", "inbound"), ("follow.follow", "sent"), ("dm.sent", "received")] {
        fixture.subscribe(kind, &json!({ "user_id": ada.id, "direction": direction }));
    }
    let listener = fixture.listen();
    like(&ada, &his);
    like(&bob, &hers);
    like(&ada, &hers);
    for (one, other) in [(&bob, &ada), (&ada, &bob)] {
        let path = format!("/2/users/{}/following", one.id);
        one.post(path, &json!({ "target_user_id": other.id })).assert_status(200);
    }
    let path = format!("/2/dm_conversations/with/{}/messages", bob.id);
    ada.post(path, &json!({ "text": "Hi" })).assert_status(201);
    mark(&listener, &bob);
    let response: Vec<Value> = listener.all().iter().map(|line| line["data"].clone()).collect();
    let of = |kind: &str| response.iter().filter(|event| event["event_type"] == kind).collect::<Vec<_>>();
    assert_eq!(of("like.create").len(), 2, "hers, whoever likes it");
    assert_eq!(of("like.create")[0]["payload"]["liked_tweet_id"], hers.as_str());
    assert_eq!(of("like.create")[0]["filter"]["direction"], "inbound");
    assert_eq!(of("follow.follow").len(), 1);
    assert_eq!(of("follow.follow")[0]["payload"]["source"]["id"], ada.id);
    assert!(of("dm.sent").is_empty(), "what is sent is never received");
}

#[test]
fn keyword_filter_selects_events_by_text_once_per_subscription() {
    let fixture = Stage::new();
    let (ada, bob) = (fixture.person("ada"), fixture.person("bob"));
    let filter = |keyword: &str| json!({ "user_id": ada.id, "keyword": keyword });
    let first = fixture.subscribe("post.create", &filter("cat OR dog"));
    fixture.subscribe("post.create", &filter("\"big cat\""));
    fixture.subscribe("profile.update.bio", &filter("cat"));
    fixture.subscribe("post.create", &json!({ "user_id": bob.id }));
    let listener = fixture.listen();
    ada.publish_text("A cat");
    ada.publish_text("A bird");
    ada.publish_text("A big cat and a dog");
    for bio in ["All for birds", "All for a cat"] {
        fixture.server.run_cli(&["user", "edit", &ada.id, "--description", bio]).assert_success();
    }
    listener.wait("a bio", |event| event["event_type"] == "profile.update.bio");
    assert_eq!(mark(&listener, &bob), 5, "{:#?}", listener.all());
    let bio = listener.wait("a bio", |event| event["event_type"] == "profile.update.bio");
    assert_eq!(bio["payload"]["after"], "All for a cat");
    // From now on nobody is told.
    fixture.send(TestRequest::delete(format!("{SUBSCRIPTIONS}/{first}"))).assert_status(200);
    ada.publish_text("Another dog");
    assert_eq!(mark(&listener, &bob), 6);
}

#[test]
fn event_about_an_invisible_post_is_sent_to_nobody() {
    let fixture = Stage::new();
    let (ada, bob, eve) = (fixture.person("ada"), fixture.person("bob"), fixture.person("eve"));
    let his = bob.publish_text("Open");
    fixture.subscribe("post.create", &json!({ "user_id": bob.id }));
    fixture.subscribe("post.create", &json!({ "user_id": ada.id }));
    fixture.subscribe("post.delete", &json!({ "user_id": ada.id }));
    fixture.subscribe("post.mention.create", &json!({ "user_id": bob.id }));
    // On Eve's behalf.
    let body = json!({ "event_type": "post.create", "filter": { "user_id": bob.id } });
    let own = Stage { server: fixture.server, app: fixture.server.new_app("enterprise") };
    own.known(&eve).post(SUBSCRIPTIONS, &body).assert_status(200);
    let (listener, eves) = (fixture.listen(), own.listen());
    fixture.server.run_cli(&["user", "protect", &ada.id]).assert_success();
    let hidden = ada.publish_text(&format!("For few: @{}", bob.username));
    ada.delete(format!("/2/posts/{hidden}")).assert_status(200);
    assert_eq!(mark(&listener, &bob), 1, "{:#?}", listener.all());
    mark(&eves, &bob);
    // Whom Bob blocks is not told of him, whoever asks for them.
    let path = format!("/2/users/{}/blocking", bob.id);
    bob.post(path, &json!({ "target_user_id": eve.id })).assert_status(200);
    assert_eq!(mark(&listener, &bob), 3);
    let before = eves.all().len();
    fixture.server.run_cli(&["user", "unprotect", &ada.id]).assert_success();
    mark(&listener, &ada);
    assert_eq!(eves.all().len(), before, "{:#?}", eves.all());
    fixture.server.run_cli(&["user", "suspend", &ada.id]).assert_success();
    like(&fixture.person("fan"), &his);
    mark(&listener, &bob);
}

#[test]
fn mention_of_the_author_that_is_replied_to_is_sent_if_it_is_written() {
    let fixture = Stage::new();
    let (ada, bob, eve) = (fixture.person("ada"), fixture.person("bob"), fixture.person("eve"));
    let (root, hers) = (bob.publish_text("Ask me"), eve.publish_text("Ask him"));
    fixture.subscribe("post.create", &json!({ "user_id": bob.id }));
    let body = json!({ "event_type": "post.mention.create", "filter": { "user_id": bob.id } });
    fixture.known(&bob).post(SUBSCRIPTIONS, &body).assert_status(200);
    let listener = fixture.listen();
    let reply = |to: &str, adds_mentions: bool, text: &str| {
        let target = json!({ "in_reply_to_post_id": to, "auto_populate_reply_metadata": adds_mentions });
        ada.create_post(&json!({ "text": text, "reply": target })).assert_status(201)["data"]["id"].clone()
    };
    reply(&root, false, "Nobody is mentioned");
    reply(&root, true, "Nobody but him is mentioned");
    let written = reply(&root, false, &format!("@{} tell me", bob.username));
    let beside = reply(&hers, true, &format!("@{} tell her", bob.username));
    mark(&listener, &bob);
    let mentions = |event: &Value| event["data"]["event_type"] == "post.mention.create";
    let events: Vec<_> = listener.all().into_iter().filter(mentions).collect();
    let ids: Vec<_> = events.iter().map(|event| &event["data"]["payload"]["id"]).collect();
    assert_eq!(ids, [&written, &beside], "{events:#?}");
}

#[test]
fn app_receives_events_of_its_own_subscriptions_only() {
    let (one, other) = (Stage::new(), Stage::new());
    let ada = one.person("ada");
    let bob = one.person("bob");
    for fixture in [&one, &other] {
        fixture.subscribe("follow.follow", &json!({ "user_id": ada.id }));
    }
    let tagged = json!({ "event_type": "post.create", "filter": { "user_id": ada.id }, "tag": "hers" });
    one.post(SUBSCRIPTIONS, &tagged).assert_status(200);
    let (first, second) = (one.listen(), other.listen());
    let path = format!("/2/users/{}/following", ada.id);
    ada.post(path, &json!({ "target_user_id": bob.id })).assert_status(200);
    let kind = "follow.follow";
    let mine = first.wait(kind, |event| is(event, kind, &ada.id));
    let theirs = second.wait(kind, |event| is(event, kind, &ada.id));
    assert_ne!(mine["event_uuid"], theirs["event_uuid"]);
    mark(&first, &ada);
    let post = first.wait("a post", |event| event["event_type"] == "post.create");
    assert_eq!(post["tag"], "hers");
    assert_eq!(second.all().len(), 1);
}

#[test]
fn third_connection_is_refused_and_backfill_sends_missed_events() {
    let fixture = Stage::new();
    let ada = fixture.person("ada");
    fixture.subscribe("post.create", &json!({ "user_id": ada.id }));
    ada.publish_text("Long ago");
    ada.publish_text("Before");
    let plain = fixture.listen();
    let back = Listener::open(fixture.server, &fixture.app.bearer, &format!("{STREAM}?backfill_minutes=5"));
    let refused = fixture.get(STREAM);
    let problem = refused.assert_problem(429, "streaming-connection");
    assert_eq!(problem["connection_issue"], "TooManyConnections");
    back.wait("the past", |event| event["payload"]["text"] == "Before");
    ada.publish_text("Now");
    for listener in [&plain, &back] {
        listener.wait("the present", |event| event["payload"]["text"] == "Now");
    }
    let texts_of = |listener: &Listener| -> Vec<Value> {
        listener.all().iter().map(|line| line["data"]["payload"]["text"].clone()).collect()
    };
    // With several nodes, what was written a moment before may have no place in the log yet.
    let plain = texts_of(&plain);
    assert!(plain.last() == Some(&json!("Now")) && plain.len() < 3, "{plain:?}");
    assert_eq!(texts_of(&back), [json!("Long ago"), json!("Before"), json!("Now")]);
    assert!(!back.is_over());
}

#[test]
fn invalid_replay_time_span_is_refused() {
    let (fixture, small) = (Stage::new(), Stage::of("self-serve"));
    small.get(&format!("{STREAM}?backfill_minutes=1")).assert_problem(400, "invalid-request");
    let wrong = |query: &str| {
        fixture.get(&format!("{STREAM}?{query}")).assert_problem(400, "invalid-request");
    };
    wrong("backfill_minutes=6");
    wrong("backfill_minutes=x");
    wrong("end_time=2020-01-01T00:00:00Z");
    wrong("start_time=2020-01-01T00:00:00Z");
    wrong("start_time=2120-01-01T00:00:00Z");
    wrong("start_time=yesterday");
    wrong("tag=x");
    let ada = fixture.person("ada");
    ada.get(STREAM).assert_problem(403, "unsupported-authentication");
    wait_until("no connection is left open", || fixture.listen().all().is_empty());
}
