//! What webhooks receive: subscriptions' events, and all that happens to an account.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::event_types::{CASES, Scene, picture_message, revoke};
use super::{SUBSCRIPTIONS, Stage, is};
use crate::harness::{
    DeliveryResponse, ReceivedRequest, TestRequest, TestResponse, TestServer, TestUser, WebhookReceiver, hmac_sha256,
    suite_setting, wait_until,
};
use crate::media::path_of;
use crate::webhooks::moody;

/// A webhook of the stage's app; its id.
#[track_caller]
pub(super) fn hook(fixture: &Stage, receiver: &WebhookReceiver) -> String {
    let created = fixture.post("/2/webhooks", &json!({ "url": receiver.url("/hook") }));
    created.assert_status(200)["data"]["id"].as_str().unwrap().to_owned()
}

pub(super) fn all_of(hook: &str) -> String {
    format!("/2/account_activity/webhooks/{hook}/subscriptions/all")
}

/// Lets a webhook receive all that happens to somebody.
#[track_caller]
pub(super) fn join(user: &TestUser<'_>, hook: &str) -> TestResponse {
    user.post(all_of(hook), &json!({}))
}

/// The first delivery for which something holds, once it is there.
#[track_caller]
pub(super) fn wait(receiver: &WebhookReceiver, what: &str, holds: impl Fn(&Value) -> bool) -> ReceivedRequest {
    let mut found = None;
    wait_until(what, || {
        let mut received = receiver.received_requests().into_iter();
        found = received.find(|one| holds(&one.json()));
        found.is_some()
    });
    found.unwrap()
}

#[test]
fn webhook_receives_every_event_type_signed_with_the_id_of_the_stream() {
    let scene = Scene::new();
    let fixture = &scene.stage;
    let receiver = WebhookReceiver::open(&fixture.app.secret);
    let hook = hook(fixture, &receiver);
    for case in CASES {
        let body = json!({
            "event_type": case.kind,
            "filter": { "user_id": scene.ada.id },
            "webhook_id": hook,
            "tag": case.kind,
        });
        let created = fixture.post(SUBSCRIPTIONS, &body).assert_status(200);
        assert_eq!(created["data"]["webhook_id"], hook.as_str());
    }
    let listener = fixture.listen();
    for case in CASES {
        (case.act)(&scene);
        let received = wait(&receiver, case.kind, |body| is(&body["data"], case.kind, &scene.ada.id));
        let event = received.json()["data"].clone();
        assert_eq!(event["tag"], case.kind);
        let signature = hmac_sha256(&fixture.app.secret, &received.body);
        assert_eq!(received.header("x-twitter-webhooks-signature"), signature);
        assert_eq!(received.header("webhook-id"), event["event_uuid"].as_str().unwrap());
        let streamed = listener.wait(case.kind, |line| line["event_uuid"] == event["event_uuid"]);
        assert_eq!(streamed["event_type"], event["event_type"]);
        assert_eq!(streamed["filter"], event["filter"]);
    }
    // Those about one user come in the order in which they happened.
    let sent = || -> Vec<Value> {
        let received = receiver.received_requests();
        let events = received.iter().map(|one| one.json()["data"].take());
        events.filter(is_lasting).map(|mut event| event["event_uuid"].take()).collect()
    };
    let streamed = || -> Vec<Value> {
        let lines = listener.all();
        let events = lines.iter().map(|line| &line["data"]);
        events.filter(|event| is_lasting(event)).map(|event| event["event_uuid"].clone()).collect()
    };
    wait_until("all came", || sent().len() == streamed().len());
    assert_eq!(sent(), streamed());
}

/// Whether an event is delivered at any time: one about a post that is deleted at once is dropped by whichever of
/// stream and webhook comes to it after the deletion.
fn is_lasting(event: &Value) -> bool {
    event["payload"]["text"] != "Gone soon"
}

/// A kind of account activity: what causes it, and what is told.
struct Activity {
    key: &'static str,
    act: fn(&Scene),
    tells: fn(&Scene, &Value) -> bool,
}

const fn activity(key: &'static str, act: fn(&Scene), tells: fn(&Scene, &Value) -> bool) -> Activity {
    Activity { key, act, tells }
}

fn of(kind: &str) -> fn(&Scene) {
    CASES.iter().find(|case| case.kind == kind).unwrap().act
}

fn ties(scene: &Scene, event: &Value, kind: &str) -> bool {
    let known = |who: &Value, user: &TestUser<'_>| {
        who["id"] == user.id
            && who["screen_name"] == user.username
            && who["followers_count"].is_i64()
            && who["created_timestamp"].is_string()
    };
    event["type"] == kind
        && event["created_timestamp"].is_string()
        && known(&event["source"], &scene.ada)
        && known(&event["target"], &scene.bob)
}

fn message(event: &Value, from: &TestUser<'_>, to: &TestUser<'_>) -> bool {
    let create = &event["message_create"];
    event["type"] == "message_create"
        && create["sender_id"] == from.id
        && create["target"]["recipient_id"] == to.id
        && create["source_app_id"] == from.app.id
        && create["message_data"]["entities"]["hashtags"] == json!([])
}

const ACTIVITIES: &[Activity] = &[
    activity(
        "tweet_create_events",
        |scene| drop(scene.ada.publish_text("All that <I> do #here")),
        |scene, post| {
            post["text"] == "All that &lt;I&gt; do #here"
                && post["user"]["id_str"] == scene.ada.id
                && post["entities"]["hashtags"][0]["text"] == "here"
                && post["in_reply_to_status_id"].is_null()
                && post["truncated"] == false
                && post["source"].as_str().unwrap().contains("nofollow")
        },
    ),
    activity(
        "tweet_create_events",
        |scene| of("post.reply.create")(scene),
        |scene, post| {
            post["in_reply_to_status_id_str"] == scene.hers.as_str()
                && post["in_reply_to_screen_name"] == scene.ada.username
                && post["user"]["id_str"] == scene.bob.id
        },
    ),
    activity(
        "tweet_create_events",
        |scene| of("post.quote.create")(scene),
        |scene, post| post["is_quote_status"] == true && post["quoted_status"]["id_str"] == scene.hers.as_str(),
    ),
    activity(
        "tweet_create_events",
        |scene| of("post.repost.create")(scene),
        |scene, post| post["retweeted_status"]["id_str"] == scene.hers.as_str(),
    ),
    activity(
        "tweet_create_events",
        |scene| {
            scene.bob.publish_text(&format!("{}& @{}", "long ".repeat(40), scene.ada.username));
        },
        |scene, post| {
            let mentions = &post["extended_tweet"]["entities"]["user_mentions"];
            post["truncated"] == true
                && post["text"].as_str().unwrap().chars().count() <= 140
                && mentions[0]["id_str"] == scene.ada.id
                && mentions[0]["indices"][0] == 200 + "&amp; ".len()
                && post["entities"]["user_mentions"] == json!([])
        },
    ),
    activity(
        "tweet_delete_events",
        |scene| of("post.delete")(scene),
        |scene, event| event["status"]["user_id"] == scene.ada.id && event["timestamp_ms"].is_string(),
    ),
    activity(
        "favorite_events",
        |scene| of("like.create")(scene),
        |scene, event| {
            event["favorited_status"]["id_str"] == scene.his.as_str()
                && event["favorited_status"]["favorited"] == true
                && event["user"]["id_str"] == scene.ada.id
        },
    ),
    activity("follow_events", |scene| of("follow.follow")(scene), |scene, event| ties(scene, event, "follow")),
    activity("follow_events", |scene| of("follow.unfollow")(scene), |scene, event| ties(scene, event, "unfollow")),
    activity("mute_events", |scene| of("mute.mute")(scene), |scene, event| ties(scene, event, "mute")),
    activity("mute_events", |scene| of("mute.unmute")(scene), |scene, event| ties(scene, event, "unmute")),
    activity(
        "direct_message_events",
        |scene| of("dm.sent")(scene),
        |scene, event| message(event, &scene.ada, &scene.bob),
    ),
    activity(
        "direct_message_events",
        |scene| of("dm.received")(scene),
        |scene, event| message(event, &scene.bob, &scene.ada),
    ),
    activity(
        "direct_message_events",
        |scene| picture_message(&scene.bob, &scene.ada),
        |scene, event| {
            let media = &event["message_create"]["message_data"]["attachment"]["media"];
            media["type"] == "photo" && scene.ada.get(path_of(&media["media_url_https"])).status == 200
        },
    ),
    activity(
        "direct_message_mark_read_events",
        |scene| of("dm.read")(scene),
        |scene, event| event["sender_id"] == scene.bob.id && event["last_read_event_id"].is_string(),
    ),
    activity(
        "direct_message_indicate_typing_events",
        |scene| of("dm.indicate_typing")(scene),
        |scene, event| event["target"]["recipient_id"] == scene.ada.id,
    ),
    activity("block_events", |scene| of("block.block")(scene), |scene, event| ties(scene, event, "block")),
    activity("block_events", |scene| of("block.unblock")(scene), |scene, event| ties(scene, event, "unblock")),
];

#[test]
fn account_activity_webhook_receives_events_in_the_older_format() {
    let scene = Scene::new();
    let receiver = WebhookReceiver::open(&scene.stage.app.secret);
    let hook = hook(&scene.stage, &receiver);
    join(&scene.ada, &hook).assert_status(200);
    for one in ACTIVITIES {
        (one.act)(&scene);
        let received =
            wait(&receiver, one.key, |body| body[one.key].is_array() && (one.tells)(&scene, &body[one.key][0]));
        let body = received.json();
        assert_eq!(body["for_user_id"], scene.ada.id);
        assert_eq!(body[one.key].as_array().unwrap().len(), 1);
        if one.key.starts_with("direct_message") {
            assert_eq!(body["users"][&scene.bob.id]["screen_name"], scene.bob.username);
        }
        if one.key == "direct_message_events" {
            assert_eq!(body["apps"][&scene.stage.app.id]["id"], scene.stage.app.id);
        }
        if one.key == "tweet_create_events" {
            let others = body[one.key][0]["user"]["id_str"] != scene.ada.id;
            let blocked = body.get("user_has_blocked");
            assert_eq!(blocked, others.then_some(&json!("false")), "{body}");
        }
    }
    // What others do to each other is not told.
    let before = receiver.received_requests().len();
    scene.bob.publish_text("Of nobody's concern");
    scene.ada.publish_text("A mark");
    wait(&receiver, "a mark", |body| body["tweet_create_events"][0]["text"] == "A mark");
    assert_eq!(receiver.received_requests().len(), before + 1);
    // The end is told last.
    revoke(&scene.ada);
    let end = wait(&receiver, "the end", |body| body["user_event"].is_object()).json();
    let response = &end["user_event"]["revoke"];
    assert_eq!(response["source"]["user_id"], scene.ada.id);
    assert_eq!(response["target"]["app_id"], scene.stage.app.id);
    assert!(response["date_time"].is_string() && end.get("for_user_id").is_none());
    let listed = scene.stage.get(&format!("{}/list", all_of(&hook))).assert_status(200);
    assert_eq!(listed["data"]["subscriptions"], json!([]));
}

/// An app of the lowest access level with a webhook.
fn self_serve_webhook() -> (Stage, WebhookReceiver, String) {
    let fixture = Stage::of("self-serve");
    let receiver = WebhookReceiver::open(&fixture.app.secret);
    let hook = hook(&fixture, &receiver);
    (fixture, receiver, hook)
}

/// As many users as the app may add to its webhook.
fn added_users(fixture: &Stage, hook: &str) -> [TestUser<'static>; 3] {
    ["ada", "bob", "cid"].map(|name| {
        let user = fixture.person(name);
        join(&user, hook).assert_status(200);
        user
    })
}

#[test]
fn account_is_added_once_and_up_to_the_limit() {
    let (fixture, _receiver, hook) = self_serve_webhook();
    let users = ["ada", "bob", "cid", "dan"].map(|name| fixture.person(name));
    let [ada, bob, cid, dan] = &users;
    let path = all_of(&hook);
    let subscribed = |user: &TestUser<'_>| user.get(&*path).assert_status(200)["data"]["subscribed"].clone();
    assert_eq!(subscribed(ada), false);
    assert_eq!(join(ada, &hook).assert_status(200), json!({ "data": { "subscribed": true } }));
    assert_eq!(subscribed(ada), true);
    let again = join(ada, &hook);
    again.assert_legacy_code(409, 355);
    assert!(again.text().contains("DuplicateSubscriptionFailed"));
    ada.send_signed(TestRequest::get(&*path)).assert_status(200);
    join(bob, &hook).assert_status(200);
    join(cid, &hook).assert_status(200);
    let most = join(dan, &hook);
    assert_eq!(most.status, 403);
    assert!(most.text().contains("SubscriptionLimitExceeded"));
}

#[test]
fn added_accounts_are_listed_counted_and_removed() {
    let (fixture, receiver, hook) = self_serve_webhook();
    let [_, bob, _] = added_users(&fixture, &hook);
    let path = all_of(&hook);
    let listed = fixture.get(&format!("{path}/list")).assert_status(200)["data"].clone();
    assert_eq!(listed["application_id"], fixture.app.id);
    assert_eq!(listed["webhook_id"], hook.as_str());
    assert_eq!(listed["webhook_url"], receiver.url("/hook"));
    assert_eq!(listed["subscriptions"].as_array().unwrap().len(), 3);
    let count = fixture.get("/2/account_activity/subscriptions/count").assert_status(200);
    assert_eq!(count["data"]["subscriptions_count_all"], "3");
    assert_eq!(count["data"]["provisioned_count"], "3");
    assert_eq!(count["data"]["subscriptions_count_direct_messages"], "0");
    assert_eq!(count["data"]["account_name"], fixture.app.owner);
    let remove = |user: &str| {
        let path = format!("/2/account_activity/webhooks/{hook}/subscriptions/{user}/all");
        fixture.send(TestRequest::delete(path))
    };
    assert_eq!(remove(&bob.id).assert_status(200), json!({ "data": { "subscribed": false } }));
    let deleted = remove(&bob.id);
    assert_eq!(deleted.status, 404);
    assert!(deleted.text().contains("SubscriptionNotFound"));
    remove("x").assert_status(400);
}

#[test]
fn account_is_added_only_with_message_scope_and_to_a_webhook_of_the_app() {
    let (fixture, _receiver, hook) = self_serve_webhook();
    let [ada, dan] = ["ada", "dan"].map(|name| fixture.person(name));
    let path = all_of(&hook);
    // A token must be allowed to read messages.
    let narrow = dan.new_token(&["--scopes", "tweet.read users.read"]);
    fixture.server.send(TestRequest::post(&*path).json(&json!({})).bearer(&narrow)).assert_status(403);
    fixture.post(&path, &json!({})).assert_problem(403, "unsupported-authentication");
    dan.post(&*path, &json!({ "x": 1 })).assert_problem(400, "invalid-request");
    // Another app's webhook is as unknown as none.
    let other = Stage::new();
    let eve = other.person("eve");
    for unknown in [hook.as_str(), "12"] {
        assert!(join(&eve, unknown).text().contains("WebhookIdInvalid"));
        assert_eq!(join(&eve, unknown).status, 404);
        assert_eq!(eve.get(all_of(unknown)).status, 404);
        assert_eq!(other.get(&format!("{}/list", all_of(unknown))).status, 404);
    }
    let body = json!({
        "event_type": "post.create", "filter": { "user_id": ada.id }, "webhook_id": hook,
    });
    other.post(SUBSCRIPTIONS, &body).assert_status(404);
}

#[test]
fn removed_webhook_loses_its_subscriptions() {
    let (fixture, _receiver, hook) = self_serve_webhook();
    let [ada, ..] = added_users(&fixture, &hook);
    fixture.send_to(&hook, "post.create", &json!({ "user_id": ada.id }));
    fixture.send(TestRequest::delete(format!("/2/webhooks/{hook}"))).assert_status(200);
    let count = fixture.get("/2/account_activity/subscriptions/count").assert_status(200);
    assert_eq!(count["data"]["subscriptions_count_all"], "0");
    assert_eq!(fixture.get(SUBSCRIPTIONS).assert_status(200)["data"], json!([]));
}

#[test]
fn account_activity_deliveries_are_separate_for_each_app_and_account() {
    let (one, other) = (Stage::new(), Stage::new());
    let receivers = [&one, &other].map(|fixture| WebhookReceiver::open(&fixture.app.secret));
    let hooks = [hook(&one, &receivers[0]), hook(&other, &receivers[1])];
    let (ada, bob) = (one.person("ada"), one.person("bob"));
    join(&ada, &hooks[0]).assert_status(200);
    join(&bob, &hooks[0]).assert_status(200);
    join(&other.known(&bob), &hooks[1]).assert_status(200);
    ada.publish_text(&format!("To @{}", bob.username));
    for user in [&ada, &bob] {
        wait(&receivers[0], "a post", |body| body["for_user_id"] == user.id);
    }
    wait(&receivers[1], "a post", |body| body["for_user_id"] == bob.id);
    // Only followers see a protected account's posts, but the account is told of its own.
    one.server.run_cli(&["user", "protect", &ada.id]).assert_success();
    ada.publish_text(&format!("Hidden from @{}", bob.username));
    bob.publish_text("A mark");
    let mark = |body: &Value| body["tweet_create_events"][0]["text"] == "A mark";
    for receiver in &receivers {
        wait(receiver, "a mark", mark);
    }
    let hidden = |user: &TestUser<'_>| {
        let received = receivers.iter().flat_map(WebhookReceiver::received_requests);
        let received = received.filter(|one| one.json()["for_user_id"] == user.id);
        received.filter(|one| String::from_utf8_lossy(&one.body).contains("Hidden")).count()
    };
    wait_until("the account gets its own post", || hidden(&ada) == 1);
    assert_eq!(hidden(&bob), 0);
}

/// What came, in the order in which it came first.
fn first_copies(receiver: &WebhookReceiver) -> Vec<Value> {
    let (mut known, mut first) = (BTreeMap::new(), Vec::new());
    for received in receiver.received_requests() {
        let event = received.json()["data"].clone();
        let id = event["event_uuid"].as_str().unwrap().to_owned();
        assert_eq!(received.header("webhook-id"), id);
        if let Some(body) = known.get(&id) {
            assert_eq!(body, &received.body, "{id} has two bodies");
        } else {
            known.insert(id, received.body);
            first.push(event);
        }
    }
    first
}

#[test]
fn events_arrive_in_order_despite_a_killed_server() {
    let seed = suite_setting("LOCUM_KILL_SEED", 7);
    let retry = "webhooks.retry=100ms,200ms,400ms,800ms,1s,1s,1s,1s,1s,1s";
    let mut server = TestServer::start(&["--world", "empty", "--set", retry]);
    let users = ["ada", "bob"].map(|name| {
        let user = server.new_user(name);
        (user.id.clone(), user.token.clone())
    });
    let app = server.default_app().clone();
    let receiver = WebhookReceiver::open(&app.secret);
    let created = TestRequest::post("/2/webhooks").json(&json!({ "url": receiver.url("/hook") }));
    let created = server.send(created.bearer(&app.bearer)).assert_status(200);
    for (id, _) in &users {
        let body = json!({
            "event_type": "post.create",
            "filter": { "user_id": id },
            "webhook_id": created["data"]["id"],
        });
        let subscribe = TestRequest::post(SUBSCRIPTIONS).json(&body);
        server.send(subscribe.bearer(&app.bearer)).assert_status(200);
    }
    receiver.set_delivery_handler(moody(seed));
    // By author, in the order in which they were written.
    let mut written: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for round in 0..suite_setting("LOCUM_KILL_ROUNDS", 4) {
        for number in 0..8 {
            for (id, token) in &users {
                let text = format!("round {round}, number {number} of {id}");
                let post = TestRequest::post("/2/posts").json(&json!({ "text": text }));
                server.send(post.bearer(token)).assert_status(201);
                written.entry(id).or_default().push(text);
            }
        }
        server.crash_and_restart();
    }
    receiver.set_delivery_handler(|_| DeliveryResponse::Status(200));
    let count: usize = written.values().map(Vec::len).sum();
    let mut came = Vec::new();
    wait_until("every event came", || {
        came = first_copies(&receiver);
        came.len() >= count
    });
    assert_eq!(came.len(), count, "what comes twice has one id and one body");
    for (author, texts) in written {
        let mine = came.iter().map(|event| &event["payload"]);
        let mine = mine.filter(|post| post["author_id"] == author);
        let mine: Vec<&str> = mine.map(|post| post["text"].as_str().unwrap()).collect();
        assert_eq!(mine, texts, "seed {seed}");
    }
}

#[test]
fn pending_deliveries_are_withdrawn_when_the_user_revokes_access() {
    let fixture = Stage::new();
    let (ada, bob) = (fixture.person("ada"), fixture.person("bob"));
    let receiver = WebhookReceiver::open(&fixture.app.secret);
    let hook = hook(&fixture, &receiver);
    join(&ada, &hook).assert_status(200);
    for (kind, user) in [("dm.received", &ada), ("post.create", &bob)] {
        let filter = json!({ "user_id": user.id });
        let body = json!({ "event_type": kind, "filter": filter, "webhook_id": hook });
        fixture.post(SUBSCRIPTIONS, &body).assert_status(200);
    }
    let holds = |body: &Value| body.to_string().contains("In confidence");
    receiver.set_delivery_handler(|_| DeliveryResponse::Status(503));
    let path = format!("/2/dm_conversations/with/{}/messages", ada.id);
    bob.post(path, &json!({ "text": "In confidence" })).assert_status(201);
    wait_until("both were tried", || receiver.received_requests().iter().filter(|one| holds(&one.json())).count() >= 2);
    revoke(&ada);
    receiver.clear_received();
    receiver.set_delivery_handler(|_| DeliveryResponse::Status(200));
    bob.publish_text("A mark");
    wait(&receiver, "a mark", |body| body["data"]["payload"]["text"] == "A mark");
    wait(&receiver, "the end", |body| body["user_event"].is_object());
    // Longer than until the next try.
    std::thread::sleep(std::time::Duration::from_secs(3));
    let received = receiver.received_requests();
    assert!(!received.iter().any(|one| holds(&one.json())), "{received:?}");
}
