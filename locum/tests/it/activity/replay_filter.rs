//! Replays and retries omit what was deleted or became private in the meantime.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::SUBSCRIPTIONS;
use super::webhook::all_of;
use crate::harness::{
    DeliveryResponse, ReceivedRequest, TestApp, TestRequest, TestServer, TestUser, WebhookReceiver, wait_until,
};

/// What a delivery tells, in a word or two.
fn word(received: &ReceivedRequest) -> String {
    let body = received.json();
    let (account, data) = (&body["tweet_create_events"][0], &body["data"]);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    if account.is_object() {
        let text = text(&account["text"]);
        let without_number = text.split_whitespace().map(|word| if word.starts_with("@bob") { "@bob" } else { word });
        return format!("account: {}", without_number.collect::<Vec<_>>().join(" "));
    }
    let post = text(&data["payload"]["text"]);
    format!("{}: {post}", text(&data["event_type"]))
}

/// Sends a request as the app; the data of the answer.
#[track_caller]
fn post_as(server: &TestServer, app: &TestApp, target: &str, body: &Value) -> Value {
    let request = TestRequest::post(target).json(body).bearer(&app.bearer);
    server.send(request).assert_status(200)["data"].clone()
}

/// What a webhook received an hour ago, before a post was deleted and a user became protected.
struct PastDeliveries {
    server: TestServer,
    receiver: WebhookReceiver,
    app: TestApp,
    hook: String,
    protected_user: String,
    received: Vec<ReceivedRequest>,
}

impl PastDeliveries {
    fn new() -> Self {
        let mut server = TestServer::start(&["--world", "empty"]);
        let app = server.default_app().clone();
        let receiver = WebhookReceiver::open(&app.secret);
        let webhook = post_as(&server, &app, "/2/webhooks", &json!({ "url": receiver.url("/hook") }));
        let hook = webhook["id"].as_str().unwrap().to_owned();
        let (cid, bob, deleted) = {
            let (ada, bob, cid) = (server.new_user("ada"), server.new_user("bob"), server.new_user("cid"));
            let kinds = [
                ("post.create", &ada),
                ("post.create", &bob),
                ("post.create", &cid),
                ("post.delete", &bob),
                ("profile.update.bio", &bob),
            ];
            for (kind, user) in kinds {
                let filter = json!({ "user_id": user.id });
                let body = json!({ "event_type": kind, "filter": filter, "webhook_id": hook });
                post_as(&server, &app, SUBSCRIPTIONS, &body);
            }
            bob.post(all_of(&hook), &json!({})).assert_status(200);
            ada.publish_text("Kept");
            let hidden = bob.publish_text("Hidden");
            let deleted = cid.publish_text("Deleted");
            let text = format!("@{} An answer", bob.username);
            let answer = json!({ "text": text, "reply": { "in_reply_to_post_id": deleted } });
            ada.create_post(&answer).assert_status(201);
            let quote = json!({ "text": "As he says", "quote_tweet_id": hidden });
            ada.create_post(&quote).assert_status(201);
            let removed = bob.publish_text("Gone");
            let path = format!("/2/dm_conversations/with/{}/messages", bob.id);
            let sent = ada.post(path, &json!({ "text": "Between us" })).assert_status(201);
            let message = sent["data"]["dm_event_id"].as_str().unwrap().to_owned();
            // Of what is gone before it is told of, nothing is told.
            wait_until("all posts came", || receiver.received_requests().len() >= 11);
            bob.delete(format!("/2/dm_events/{message}")).assert_status(200);
            bob.delete(format!("/2/posts/{removed}")).assert_status(200);
            let edit = ["user", "edit", &bob.id, "--description", "A new life"];
            server.run_cli(&edit).assert_success();
            (cid.token.clone(), bob.id.clone(), deleted)
        };
        // Bob's account gets his posts, the quote and the deletion of one.
        wait_until("all came", || receiver.received_requests().len() >= 14);
        let received = receiver.received_requests();
        let words: Vec<String> = received.iter().map(word).collect();
        assert_eq!(words.len(), 14, "{words:?}");

        server.stop();
        server.run_sql("UPDATE delivery SET at = at - 3600000");
        server.restart();
        server.run_cli(&["user", "protect", &bob]).assert_success();
        let delete = TestRequest::delete(format!("/2/posts/{deleted}")).bearer(&cid);
        server.send(delete).assert_status(200);
        receiver.clear_received();
        Self { server, receiver, app, hook, protected_user: bob, received }
    }
}

#[test]
fn replay_omits_deleted_posts_and_those_of_users_protected_since() {
    let past = PastDeliveries::new();
    let receiver = &past.receiver;
    let now = base::clock::wall_time();
    let minute = |ago: i64| {
        let text = now.plus_ms(-ago * 60_000).to_string();
        let digits = text.chars().filter(char::is_ascii_digit);
        digits.take(12).collect::<String>()
    };
    let span = json!({ "webhook_id": past.hook, "from_date": minute(75), "to_date": minute(45) });
    post_as(&past.server, &past.app, "/2/webhooks/replay", &span);
    let is_over = |one: &ReceivedRequest| one.json()["replay_job_status"]["job_state"] == "Complete";
    wait_until("the replay is over", || receiver.received_requests().iter().any(is_over));
    let again = receiver.received_requests();
    let mut words: Vec<String> = again.iter().filter(|one| !is_over(one)).map(word).collect();
    words.sort();
    let expected = [
        // His own account's, which he lets the app see, but for what is deleted.
        "account: As he says",
        "account: Hidden",
        // Of the deleted post that it replies to, it has the id only.
        "account: @bob An answer",
        // That he deleted something, told to his own account; a profile is everyone's.
        ": ",
        "post.create: Kept",
        "profile.update.bio: ",
    ];
    let mut expected = expected.map(str::to_owned);
    expected.sort();
    assert_eq!(words, expected);
}

#[test]
fn retries_omit_deleted_posts_and_relations_and_profiles_of_suspended_users() {
    let server = TestServer::start(&["--world", "empty", "--set", "webhooks.retry=300ms,300ms,300ms,300ms"]);
    let app = server.default_app().clone();
    let receiver = WebhookReceiver::open(&app.secret);
    let webhook = post_as(&server, &app, "/2/webhooks", &json!({ "url": receiver.url("/hook") }));
    let (ada, eve) = (server.new_user("ada"), server.new_user("eve"));
    let (fan, bob) = (server.new_user("fan"), server.new_user("bob"));
    for (kind, user) in [("post.create", &ada), ("follow.follow", &eve), ("profile.update.bio", &fan)] {
        let body = json!({ "event_type": kind, "filter": { "user_id": user.id }, "webhook_id": webhook["id"] });
        post_as(&server, &app, SUBSCRIPTIONS, &body);
    }
    receiver.set_delivery_handler(|_| DeliveryResponse::Status(500));
    let follow = |who: &TestUser<'_>| {
        let path = format!("/2/users/{}/following", who.id);
        who.post(path, &json!({ "target_user_id": eve.id })).assert_status(200);
    };
    let deleted = ada.publish_text("Deleted");
    follow(&fan);
    server.run_cli(&["user", "edit", &fan.id, "--description", "About me"]).assert_success();
    let words = || receiver.received_requests().iter().map(word).collect::<BTreeSet<_>>();
    wait_until("all were tried", || words().len() == 3);
    ada.delete(format!("/2/posts/{deleted}")).assert_status(200);
    server.run_cli(&["user", "suspend", &fan.id]).assert_success();
    receiver.clear_received();
    receiver.set_delivery_handler(|_| DeliveryResponse::Status(200));
    ada.publish_text("Kept");
    follow(&bob);
    wait_until("both came", || words().len() == 2);
    let received = receiver.received_requests();
    assert_eq!(words(), ["follow.follow: ", "post.create: Kept"].map(str::to_owned).into());
    assert!(received.iter().all(|one| !String::from_utf8_lossy(&one.body).contains(&fan.id)), "{received:?}");
}

#[test]
fn resending_a_post_of_a_protected_user_is_refused_until_the_user_is_public_again() {
    let past = PastDeliveries::new();
    let (server, receiver) = (&past.server, &past.receiver);
    let hidden = past.received.iter().find(|one| word(one) == "post.create: Hidden");
    let id = hidden.unwrap().header("webhook-id").to_owned();
    let log = server.execute_command(&["webhook", "log", &past.hook, "--limit", "1000"]).unwrap();
    let deliveries = log["deliveries"].as_array().unwrap().iter();
    let mut found = deliveries.filter(|one| one["event_id"] == id.as_str());
    let number = found.next_back().unwrap()["delivery"].to_string();
    let resend = ["webhook", "resend", &past.hook, &number];
    let refused = server.execute_command(&resend).unwrap_err();
    assert!(refused.contains("not for everyone"), "{refused}");
    server.run_cli(&["user", "unprotect", &past.protected_user]).assert_success();
    receiver.clear_received();
    server.execute_command(&resend).unwrap();
    wait_until("it came", || !receiver.received_requests().is_empty());
    assert_eq!(word(&receiver.received_requests()[0]), "post.create: Hidden");
}
