//! Every event type is triggered, and received on the activity stream (contract core §10.5, §10.6).

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::webhook::{hook, wait};
use super::{Stage, is};
use crate::harness::{ReceivedRequest, TestRequest, TestUser, WebhookReceiver, hmac_sha256, unique_number};
use crate::media::at_once;
use crate::media::samples::png;
use crate::pages::browser::{Browser, hidden, posted};

/// Those who take part: events are about Ada.
pub(crate) struct Scene {
    pub(crate) stage: Stage,
    pub(crate) ada: TestUser<'static>,
    pub(crate) bob: TestUser<'static>,
    /// A post of Ada's, and one of Bob's.
    pub(crate) hers: String,
    pub(crate) his: String,
    /// Their conversation.
    pub(crate) talk: String,
}

impl Scene {
    pub(crate) fn new() -> Self {
        let stage = Stage::new();
        let (ada, bob) = (stage.person("ada"), stage.person("bob"));
        let hers = ada.publish_text("Hers");
        let his = bob.publish_text("His");
        let to = format!("/2/dm_conversations/with/{}/messages", bob.id);
        let message = ada.post(&*to, &json!({ "text": "Hi" })).assert_status(201);
        let talk = message["data"]["dm_conversation_id"].as_str().unwrap().to_owned();
        Self { stage, ada, bob, hers, his, talk }
    }

    fn edit(&self, option: &str, value: &str) {
        self.user(&["edit", &self.ada.id, option, value]);
    }

    fn user(&self, args: &[&str]) {
        let whole = [&["user"], args].concat();
        self.stage.server.run_cli(&whole).assert_success();
    }

    fn cli(&self, args: &[&str]) -> Value {
        self.stage.server.run_cli(args).json()
    }
}

/// A kind, what causes it, and what its event tells.
pub(crate) struct Case {
    pub(crate) kind: &'static str,
    pub(crate) act: fn(&Scene),
    pub(crate) tells: fn(&Scene, &Value),
}

const fn case(kind: &'static str, act: fn(&Scene), tells: fn(&Scene, &Value)) -> Case {
    Case { kind, act, tells }
}

#[track_caller]
fn changed(event: &Value, after: &str) {
    assert_eq!(event["payload"]["after"], after, "{event}");
    assert!(event["payload"]["before"].is_string(), "{event}");
}

/// The post that an event shows, with who wrote it beside.
#[track_caller]
fn shows(event: &Value, author: &TestUser<'_>, text: &str) {
    let (post, users) = (&event["payload"], &event["includes"]["users"]);
    let message = post["text"].as_str().unwrap();
    assert!(message.contains(text), "{event}");
    assert_eq!(post["author_id"], author.id);
    assert!(post["public_metrics"].is_object() && post["created_at"].is_string());
    assert!(post.get("non_public_metrics").is_none());
    let known = users.as_array().unwrap().iter();
    assert!(known.clone().any(|user| user["id"] == author.id), "{event}");
}

#[track_caller]
fn ties(event: &Value, source: &TestUser<'_>, target: &TestUser<'_>) {
    let payload = &event["payload"];
    assert_eq!(payload["source"]["id"], source.id, "{event}");
    assert_eq!(payload["target"]["username"], target.username, "{event}");
}

fn edge(user: &TestUser<'_>, path: &str, other: &TestUser<'_>) {
    let path = format!("/2/users/{}/{path}", user.id);
    user.post(path, &json!({ "target_user_id": other.id })).assert_status(200);
}

fn end_edge(user: &TestUser<'_>, path: &str, other: &TestUser<'_>) {
    user.delete(format!("/2/users/{}/{path}/{}", user.id, other.id)).assert_status(200);
}

fn message(from: &TestUser<'_>, to: &TestUser<'_>, text: &str) {
    let path = format!("/2/dm_conversations/with/{}/messages", to.id);
    from.post(path, &json!({ "text": text })).assert_status(201);
}

/// Sends a message with a picture.
pub(super) fn picture_message(from: &TestUser<'_>, to: &TestUser<'_>) {
    let file = at_once(from, "dm_image", &png(40, 30)).assert_status(200)["data"]["id"].clone();
    let path = format!("/2/dm_conversations/with/{}/messages", to.id);
    from.post(path, &json!({ "attachments": [{ "media_id": file }] })).assert_status(201);
}

#[track_caller]
fn messages(event: &Value, from: &TestUser<'_>, to: &TestUser<'_>, text: &str) {
    let payload = &event["payload"];
    let response = &payload["direct_message_events"][0];
    assert_eq!(response["type"], "message_create", "{event}");
    assert_eq!(response["message_create"]["sender_id"], from.id);
    assert_eq!(response["message_create"]["target"]["recipient_id"], to.id);
    assert_eq!(response["message_create"]["message_data"]["text"], text);
    assert_eq!(payload["users"][&from.id]["username"], from.username);
    assert_eq!(payload["users"][&to.id]["username"], to.username);
}

/// In an order in which each can happen.
pub(crate) const CASES: &[Case] = &[
    case(
        "profile.update.bio",
        |scene| scene.edit("--description", "A new life"),
        |_, event| changed(event, "A new life"),
    ),
    case(
        "profile.update.profile_picture",
        |scene| scene.edit("--picture", "https://example.org/p.png"),
        |_, event| changed(event, "https://example.org/p.png"),
    ),
    case(
        "profile.update.banner_picture",
        |scene| scene.edit("--banner", "https://example.org/b.png"),
        |_, event| changed(event, "https://example.org/b.png"),
    ),
    case("profile.update.geo", |scene| scene.edit("--location", "Turin"), |_, event| changed(event, "Turin")),
    case(
        "profile.update.url",
        |scene| scene.edit("--website", "https://example.org/ada"),
        |_, event| changed(event, "https://example.org/ada"),
    ),
    case("profile.update.screenname", |scene| scene.edit("--name", "Countess"), |_, event| changed(event, "Countess")),
    case(
        "profile.update.verified",
        |scene| scene.user(&["verify", &scene.ada.id, "blue"]),
        |_, event| changed(event, "blue"),
    ),
    case(
        "profile.update.verified_badge",
        |scene| scene.user(&["verify", &scene.ada.id, "business"]),
        |_, event| {
            assert_eq!(event["payload"], json!({ "before": "blue", "after": "business" }));
        },
    ),
    case(
        "profile.update.affiliate",
        |scene| scene.user(&["affiliate", &scene.ada.id, &scene.bob.id]),
        |scene, event| {
            let after = event["payload"]["after"].as_str().unwrap();
            assert!(after.contains(&scene.bob.id), "{event}");
        },
    ),
    case(
        "profile.update.affiliate_badge",
        |scene| scene.user(&["unaffiliate", &scene.ada.id]),
        |_, event| changed(event, ""),
    ),
    case(
        "post.create",
        |scene| drop(scene.ada.publish_text("A thing is new")),
        |scene, event| shows(event, &scene.ada, "A thing is new"),
    ),
    case(
        "post.delete",
        |scene| {
            let post = scene.ada.publish_text("Gone soon");
            scene.ada.delete(format!("/2/posts/{post}")).assert_status(200);
        },
        |scene, event| {
            let members = event["payload"].as_object().unwrap();
            assert_eq!(members.len(), 2, "{event}");
            assert_eq!(members["author_id"], scene.ada.id);
        },
    ),
    case(
        "post.mention.create",
        |scene| {
            scene.bob.publish_text(&format!("What does @{} say?", scene.ada.username));
        },
        |scene, event| shows(event, &scene.bob, "What does @"),
    ),
    case(
        "post.reply.create",
        |scene| {
            let reply = json!({ "in_reply_to_tweet_id": scene.hers });
            let body = json!({ "text": "No wonder", "reply": reply });
            scene.bob.create_post(&body).assert_status(201);
        },
        |scene, event| {
            shows(event, &scene.bob, "No wonder");
            assert_eq!(event["payload"]["in_reply_to_tweet_id"], scene.hers, "{event}");
        },
    ),
    case(
        "post.quote.create",
        |scene| {
            let body = json!({ "text": "As she says", "quote_tweet_id": scene.hers });
            scene.bob.create_post(&body).assert_status(201);
        },
        |scene, event| {
            shows(event, &scene.bob, "As she says");
            let quoted = &event["includes"]["posts"][0];
            assert_eq!(quoted["id"], scene.hers, "{event}");
        },
    ),
    case(
        "post.repost.create",
        |scene| {
            let path = format!("/2/users/{}/reposts", scene.bob.id);
            scene.bob.post(path, &json!({ "tweet_id": scene.hers })).assert_status(200);
        },
        |scene, event| shows(event, &scene.bob, "RT @"),
    ),
    case(
        "like.create",
        |scene| {
            let path = format!("/2/users/{}/likes", scene.ada.id);
            scene.ada.post(path, &json!({ "tweet_id": scene.his })).assert_status(200);
        },
        |scene, event| {
            let payload = &event["payload"];
            assert_eq!(payload["liked_tweet_id"], scene.his, "{event}");
            assert_eq!(payload["liked_tweet_author_id"], scene.bob.id);
            assert!(payload["timestamp_ms"].is_i64() && payload["id"].is_string());
            assert_eq!(event["includes"]["posts"][0]["id"], scene.his);
            assert_eq!(event["includes"]["users"][0]["id"], scene.ada.id);
        },
    ),
    case(
        "follow.follow",
        |scene| edge(&scene.ada, "following", &scene.bob),
        |scene, event| ties(event, &scene.ada, &scene.bob),
    ),
    case(
        "follow.unfollow",
        |scene| end_edge(&scene.ada, "following", &scene.bob),
        |scene, event| ties(event, &scene.ada, &scene.bob),
    ),
    case(
        "mute.mute",
        |scene| edge(&scene.ada, "muting", &scene.bob),
        |scene, event| ties(event, &scene.ada, &scene.bob),
    ),
    case(
        "mute.unmute",
        |scene| end_edge(&scene.ada, "muting", &scene.bob),
        |scene, event| ties(event, &scene.ada, &scene.bob),
    ),
    case(
        "dm.sent",
        |scene| message(&scene.ada, &scene.bob, &format!("R&D for @{}", scene.bob.username)),
        |scene, event| {
            let text = format!("R&amp;D for @{}", scene.bob.username);
            messages(event, &scene.ada, &scene.bob, &text);
            let (payload, bob) = (&event["payload"], &scene.bob);
            let data = &payload["direct_message_events"][0]["message_create"]["message_data"];
            let mention = &data["entities"]["user_mentions"][0];
            assert_eq!(mention["name"], payload["users"][&bob.id]["name"], "{event}");
            assert_eq!(mention["indices"], json!([12, text.len()]));
        },
    ),
    case(
        "dm.received",
        |scene| message(&scene.bob, &scene.ada, "To her"),
        |scene, event| messages(event, &scene.bob, &scene.ada, "To her"),
    ),
    case(
        "dm.read",
        |scene| drop(scene.cli(&["message", "read", &scene.talk, &scene.bob.id])),
        |scene, event| {
            let told = &event["payload"]["direct_message_mark_read_events"][0];
            assert_eq!(told["sender_id"], scene.bob.id, "{event}");
            assert_eq!(told["target"]["recipient_id"], scene.ada.id);
            assert!(told["last_read_event_id"].is_string(), "{event}");
        },
    ),
    case(
        "dm.indicate_typing",
        |scene| drop(scene.cli(&["message", "typing", &scene.talk, &scene.bob.id])),
        |scene, event| {
            let told = &event["payload"]["direct_message_indicate_typing_events"][0];
            assert_eq!(told["sender_id"], scene.bob.id, "{event}");
            assert!(told["created_timestamp"].is_string());
            let users = &event["payload"]["users"];
            assert_eq!(users[&scene.bob.id]["id"], scene.bob.id);
        },
    ),
    case(
        "spaces.start",
        |scene| drop(scene.cli(&["space", "create", &scene.ada.id, "--title", "Talk"])),
        |scene, event| {
            let payload = &event["payload"];
            assert_eq!(payload["user"]["data"]["id"], scene.ada.id, "{event}");
            assert_eq!(payload["event_type"], "spaces_start");
            assert!(payload["broadcast_id"].is_string());
        },
    ),
    case(
        "spaces.end",
        |scene| {
            let made = scene.cli(&["space", "create", &scene.ada.id, "--title", "Short"]);
            scene.cli(&["space", "close", made["id"].as_str().unwrap()]);
        },
        |_, event| assert_eq!(event["payload"]["event_type"], "spaces_end", "{event}"),
    ),
    // Last: what is blocked does nothing more to her.
    case(
        "block.block",
        |scene| edge(&scene.ada, "blocking", &scene.bob),
        |scene, event| ties(event, &scene.ada, &scene.bob),
    ),
    case(
        "block.unblock",
        |scene| end_edge(&scene.ada, "blocking", &scene.bob),
        |scene, event| ties(event, &scene.ada, &scene.bob),
    ),
    case(
        "profile.update.handle",
        |scene| scene.edit("--username", &format!("ada{}x", unique_number())),
        |scene, event| assert_eq!(event["payload"]["before"], scene.ada.username, "{event}"),
    ),
];

#[test]
fn activity_stream_sends_every_event_type() {
    let scene = Scene::new();
    let listener = scene.stage.listen();
    let known: Vec<&str> = network::activity::EVENT_KINDS
        .iter()
        .filter(|kind| kind.filter == network::activity::RequiredFilter::User && !kind.log_kind.is_empty())
        .map(|kind| kind.name)
        .collect();
    for kind in &known {
        assert!(CASES.iter().any(|case| case.kind == *kind), "{kind} is not caused");
    }
    let ada = json!({ "user_id": scene.ada.id });
    for case in CASES {
        scene.stage.subscribe(case.kind, &ada);
    }
    for case in CASES {
        (case.act)(&scene);
        let before =
            listener.wait(case.kind, |event| is(event, case.kind, &scene.ada.id) && tells(case, &scene, event));
        let id = before["event_uuid"].as_str().unwrap();
        assert!(id.parse::<i64>().unwrap() > 0, "{id}");
        (case.tells)(&scene, &before);
    }
    let lines = listener.all();
    let ids: std::collections::BTreeSet<&str> =
        lines.iter().map(|line| line["data"]["event_uuid"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), lines.len(), "ids tell events apart");
}

/// Some acts cause an event of another case's kind as well; the one that is meant comes last.
fn tells(case: &Case, scene: &Scene, event: &Value) -> bool {
    let quiet = std::panic::AssertUnwindSafe(|| (case.tells)(scene, event));
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let response = std::panic::catch_unwind(quiet).is_ok();
    std::panic::set_hook(hook);
    response
}

#[test]
fn news_event_is_sent_to_subscriptions_whose_keyword_matches() {
    let fixture = Stage::new();
    let word = format!("zeppelin{}", unique_number());
    let other = format!("submarine{}", unique_number());
    let receiver = WebhookReceiver::open(&fixture.app.secret);
    let hook = hook(&fixture, &receiver);
    let mine = fixture.send_to(&hook, "news.new", &json!({ "keyword": format!("{word} -rain") }));
    fixture.send_to(&hook, "news.new", &json!({ "keyword": other }));
    let listener = fixture.listen();
    let tell = |name: &str| drop(fixture.server.run_cli(&["news", "create", name]).json());
    tell(&format!("A {word} in the rain"));
    tell(&format!("The {word} flies"));
    let event = listener.wait("a story", |event| event["event_type"] == "news.new");
    let name = format!("The {word} flies");
    assert_eq!(event["payload"]["name"], name, "{event}");
    assert_eq!(event["payload"]["headline"], name);
    assert_eq!(event["filter"]["keyword"], format!("{word} -rain"));
    // The webhook is sent the same, and signed.
    let received = wait(&receiver, "a story", |_| true);
    assert_eq!(received.json()["data"], event);
    let signature = hmac_sha256(&fixture.app.secret, &received.body);
    assert_eq!(received.header("x-twitter-webhooks-signature"), signature);
    assert_eq!((listener.all().len(), receiver.received_requests().len()), (1, 1));
    fixture.send(TestRequest::delete(format!("/2/activity/subscriptions/{mine}"))).assert_status(200);
    let small = Stage::of("self-serve");
    let body = json!({ "event_type": "news.new", "filter": { "keyword": word } });
    small.post(super::SUBSCRIPTIONS, &body).assert_problem(403, "client-forbidden");
}

/// Takes back, in the settings, what somebody has let an app do.
pub(crate) fn revoke(user: &TestUser<'static>) {
    let mut browser = Browser::new(user.server);
    browser.sign_in(&user.username, "a long secret", "/settings/account");
    let page = browser.get("/settings/account");
    let mut fields: BTreeMap<String, String> = hidden(&page.text(), "/settings/account/password");
    fields.insert("id".to_owned(), user.app.id.clone());
    let origin = user.server.url.clone();
    let done = browser.send(posted("/settings/apps/revoke", &fields).header("origin", origin));
    assert_eq!(done.status, 303, "{}", done.text());
}

#[test]
fn app_gets_a_revocation_event_and_no_private_event_afterwards() {
    let fixture = Stage::new();
    let (ada, bob) = (fixture.person("ada"), fixture.person("bob"));
    let receiver = WebhookReceiver::open(&fixture.app.secret);
    let hook = hook(&fixture, &receiver);
    fixture.send_to(&hook, "oauth.revoke", &json!({}));
    fixture.send_to(&hook, "dm.received", &json!({ "user_id": ada.id }));
    fixture.send_to(&hook, "post.create", &json!({ "user_id": bob.id }));
    let listener = fixture.listen();
    message(&bob, &ada, "Before");
    listener.wait("a message", |event| event["event_type"] == "dm.received");
    revoke(&ada);
    let event = listener.wait("the end", |event| event["event_type"] == "oauth.revoke");
    assert_eq!(event["payload"]["user_id"], ada.id, "{event}");
    assert_eq!(event["payload"]["app_id"], fixture.app.id);
    assert_eq!(event["filter"], json!({}));
    let sent = wait(&receiver, "the end", |body| body["data"]["event_type"] == "oauth.revoke");
    assert_eq!(sent.json()["data"], event);
    message(&bob, &ada, "After");
    bob.publish_text("A mark");
    listener.wait("a post", |event| event["event_type"] == "post.create");
    wait(&receiver, "a post", |body| body["data"]["event_type"] == "post.create");
    let bodies: Vec<Value> = receiver.received_requests().iter().map(ReceivedRequest::json).collect();
    for text in [json!(listener.all()), json!(bodies)] {
        let text = text.to_string();
        assert!(text.contains("Before") && !text.contains("After"), "{text}");
    }
    let listed = fixture.get(super::SUBSCRIPTIONS).assert_status(200);
    assert_eq!(listed["meta"]["total_subscriptions"], 2, "{listed}");
}
