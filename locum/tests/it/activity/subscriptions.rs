//! Subscriptions: made, listed, changed, ended; refused to those who may not have them.

use serde_json::{Value, json};

use super::{SUBSCRIPTIONS, Stage};
use crate::harness::{TestRequest, TestUser};

fn body(kind: &str, user: &TestUser<'_>) -> Value {
    json!({ "event_type": kind, "filter": { "user_id": user.id } })
}

fn one(id: &str) -> String {
    format!("{SUBSCRIPTIONS}/{id}")
}

/// Subscribes to three events of one user; the first subscription's id.
fn subscribe_to_three_events(fixture: &Stage) -> String {
    let user = json!({ "user_id": fixture.person("ada").id });
    let first = fixture.subscribe("profile.update.bio", &user);
    fixture.subscribe("post.create", &user);
    fixture.subscribe("follow.follow", &json!({ "user_id": user["user_id"], "direction": "received" }));
    first
}

#[test]
fn subscription_is_returned_as_created_and_its_duplicate_is_refused() {
    let fixture = Stage::new();
    let ada = fixture.person("ada");
    let mut requested = body("profile.update.bio", &ada);
    requested["tag"] = json!("lives");
    let created = fixture.post(SUBSCRIPTIONS, &requested).assert_status(200);
    let data = &created["data"];
    assert_eq!(data["event_type"], "profile.update.bio");
    assert_eq!(data["filter"], json!({ "user_id": ada.id }));
    assert_eq!(data["tag"], "lives");
    assert!(data["created_at"].as_str().unwrap().ends_with('Z'));
    assert_eq!(data["subscription"]["subscription_id"], data["subscription_id"]);
    assert_eq!(created["meta"]["total_subscriptions"], 1);
    let again = fixture.post(SUBSCRIPTIONS, &requested);
    again.assert_legacy_code(409, 355);
    assert!(again.text().contains("DuplicateSubscriptionFailed"));
}

#[test]
fn subscriptions_are_listed_by_page() {
    let fixture = Stage::new();
    let id = subscribe_to_three_events(&fixture);
    let listed = fixture.get(&format!("{SUBSCRIPTIONS}?max_results=2")).assert_status(200);
    assert_eq!(listed["data"].as_array().unwrap().len(), 2);
    assert_eq!(listed["data"][0]["filter"]["direction"], "received");
    assert_eq!(listed["meta"]["total_subscriptions"], 3);
    let token = listed["meta"]["next_token"].as_str().unwrap();
    assert!(token.len() >= 16, "{token}");
    let rest = format!("{SUBSCRIPTIONS}?max_results=2&pagination_token={token}");
    let rest = fixture.get(&rest).assert_status(200);
    assert_eq!(rest["data"][0]["subscription_id"], id.as_str());
    assert!(rest["meta"].get("next_token").is_none());
}

#[test]
fn subscription_tag_is_changed_until_the_subscription_is_deleted() {
    let fixture = Stage::new();
    let id = subscribe_to_three_events(&fixture);
    let put = |body: &Value| fixture.send(TestRequest::new("PUT", one(&id)).json(body));
    let changed = put(&json!({ "tag": "others" })).assert_status(200);
    assert_eq!(changed["data"]["subscription"]["tag"], "others");
    assert_eq!(changed["data"]["total_subscriptions"], 3);
    put(&json!({ "event_type": "post.create" })).assert_problem(400, "invalid-request");
    put(&json!({})).assert_problem(400, "invalid-request");
    put(&json!({ "tag": "" })).assert_problem(400, "invalid-request");
    let deleted = fixture.send(TestRequest::delete(one(&id))).assert_status(200);
    assert_eq!(deleted, json!({ "data": { "deleted": true }, "meta": { "total_subscriptions": 2 } }));
    fixture.send(TestRequest::delete(one(&id))).assert_problem(404, "resource-not-found");
    put(&json!({ "tag": "x" })).assert_problem(404, "resource-not-found");
}

#[test]
fn bulk_deletion_reports_each_subscription() {
    let fixture = Stage::new();
    let id = subscribe_to_three_events(&fixture);
    fixture.send(TestRequest::delete(one(&id))).assert_status(200);
    let left = fixture.get(SUBSCRIPTIONS).assert_status(200);
    let ids: Vec<&str> =
        left["data"].as_array().unwrap().iter().map(|one| one["subscription_id"].as_str().unwrap()).collect();
    let many = format!("{SUBSCRIPTIONS}?ids={},{id},{}", ids[0], ids[1]);
    let many = fixture.send(TestRequest::delete(many)).assert_status(200);
    assert_eq!(many["meta"]["total_subscriptions"], 0);
    assert_eq!(many["data"][0]["deleted"], true);
    assert_eq!(many["data"][1], json!({ "subscription_id": id, "deleted": false }));
    assert_eq!(many["errors"][0]["reason"], "SubscriptionNotFound");
    let empty = fixture.get(SUBSCRIPTIONS).assert_status(200);
    assert_eq!(empty["data"], json!([]));
    assert_eq!(empty["meta"], json!({ "result_count": 0, "total_subscriptions": 0 }));
}

#[test]
fn older_event_type_creates_a_subscription_of_the_current_one() {
    let fixture = Stage::new();
    let ada = fixture.person("ada");
    for (message, answered) in [
        ("ProfileBioUpdate", "profile.update.bio"),
        ("ProfilePictureUpdate", "profile.update.profile_picture"),
        ("ProfileBannerUpdate", "profile.update.banner_picture"),
        ("ProfileGeoUpdate", "profile.update.geo"),
        ("ProfileUrlUpdate", "profile.update.url"),
        ("ProfileScreennameUpdate", "profile.update.screenname"),
        ("ProfileVerifiedBadgeUpdate", "profile.update.verified_badge"),
        ("profile.update.verified", "profile.update.verified"),
        ("profile.update.affiliate", "profile.update.affiliate"),
        ("chat.conversation_join", "chat.conversation.join"),
        ("broadcast.start", "broadcast.start"),
    ] {
        let created = fixture.post(SUBSCRIPTIONS, &body(message, &ada)).assert_status(200);
        assert_eq!(created["data"]["event_type"], answered, "{message}");
    }
    fixture.post(SUBSCRIPTIONS, &body("ProfileBioUpdate", &ada)).assert_legacy_code(409, 355);
    fixture.post(SUBSCRIPTIONS, &body("profile.update.bio", &ada)).assert_status(409);
}

#[test]
fn invalid_subscription_is_refused_and_not_stored() {
    let fixture = Stage::new();
    let ada = fixture.person("ada");
    let wrong = |body: Value| {
        fixture.post(SUBSCRIPTIONS, &body).assert_problem(400, "invalid-request");
    };
    wrong(json!({}));
    wrong(json!({ "event_type": "post.create" }));
    wrong(body("post.created", &ada));
    wrong(body("POST.CREATE", &ada));
    wrong(json!({ "event_type": 1, "filter": { "user_id": ada.id } }));
    let filters = [
        ("post.create", json!({})),
        ("post.create", json!({ "keyword": "x" })),
        ("post.create", json!({ "user_id": 12 })),
        ("post.create", json!({ "user_id": "x" })),
        ("post.create", json!({ "user_id": ada.id, "color": "red" })),
        ("post.create", json!({ "user_id": ada.id, "keyword": "" })),
        ("post.create", json!({ "user_id": ada.id, "keyword": "x".repeat(151) })),
        ("post.create", json!({ "user_id": ada.id, "keyword": "(open" })),
        ("post.create", json!({ "user_id": ada.id, "direction": "inbound" })),
        ("mute.mute", json!({ "user_id": ada.id, "direction": "outbound" })),
        ("mute.mute", json!({ "user_id": ada.id, "keyword": "x" })),
        ("block.block", json!({ "user_id": ada.id, "direction": "both" })),
        ("like.create", json!({ "user_id": ada.id, "direction": "up" })),
        ("news.new", json!({})),
        ("news.new", json!({ "user_id": ada.id, "keyword": "x" })),
        ("oauth.revoke", json!({ "user_id": ada.id })),
        ("oauth.revoke", json!({ "keyword": "x" })),
    ];
    for (kind, filter) in filters {
        wrong(json!({ "event_type": kind, "filter": filter }));
    }
    let with = |name: &str, value: Value| {
        let mut body = body("post.create", &ada);
        body[name] = value;
        body
    };
    wrong(with("tag", json!("")));
    wrong(with("tag", json!("x".repeat(201))));
    wrong(with("webhook_id", json!("x")));
    wrong(with("other", json!(1)));
    fixture.post(SUBSCRIPTIONS, &with("webhook_id", json!("123"))).assert_problem(404, "resource-not-found");
    let unknown = json!({ "event_type": "post.create", "filter": { "user_id": "1" } });
    fixture.post(SUBSCRIPTIONS, &unknown).assert_problem(404, "resource-not-found");
    let long = "1".repeat(20);
    fixture.send(TestRequest::delete(one(&long))).assert_status(400);
    fixture.send(TestRequest::delete(format!("{SUBSCRIPTIONS}?ids="))).assert_status(400);
    fixture.send(TestRequest::delete(SUBSCRIPTIONS)).assert_status(400);
    let eve = fixture.person("eve");
    fixture.server.run_cli(&["user", "suspend", &eve.id]).assert_success();
    fixture.post(SUBSCRIPTIONS, &body("post.create", &eve)).assert_status(403);
    fixture.server.run_cli(&["user", "delete", &eve.id]).assert_success();
    fixture.post(SUBSCRIPTIONS, &body("post.create", &eve)).assert_status(404);
    assert_eq!(fixture.get(SUBSCRIPTIONS).assert_status(200)["data"], json!([]));
}

#[test]
fn private_event_type_needs_the_scope_granted_by_the_user() {
    let fixture = Stage::new();
    let stranger = fixture.server.new_user("stranger");
    let private = ["dm.received", "like.create", "mute.mute", "block.block", "post.mention.create"];
    for kind in private {
        fixture.post(SUBSCRIPTIONS, &body(kind, &stranger)).assert_problem(403, "not-authorized-for-resource");
    }
    fixture.post(SUBSCRIPTIONS, &body("post.create", &stranger)).assert_status(200);
    let known = fixture.known(&stranger);
    for kind in private {
        fixture.post(SUBSCRIPTIONS, &body(kind, &known)).assert_status(200);
    }
    // A token is for its own user, and for no more than its scopes.
    let ada = fixture.server.new_user("ada");
    let narrow = |scopes: &str| {
        let mint = ["token", "mint", "--app", &fixture.app.id, "--user", &ada.id, "--scopes", scopes];
        let created = fixture.server.run_cli(&mint).json();
        created["token"].as_str().unwrap().to_owned()
    };
    let token = narrow("tweet.read users.read like.read");
    let request = |kind: &str, user: &TestUser<'_>| {
        let request = TestRequest::post(SUBSCRIPTIONS).json(&body(kind, user));
        fixture.server.send(request.bearer(&token))
    };
    request("like.create", &ada).assert_status(200);
    request("dm.received", &ada).assert_status(403);
    request("block.block", &ada).assert_status(403);
    request("like.create", &known).assert_problem(403, "not-authorized-for-resource");
    request("follow.follow", &known).assert_status(200);
    // The app by itself may as much as all the tokens together.
    fixture.post(SUBSCRIPTIONS, &body("dm.received", &ada)).assert_status(403);
    narrow("dm.read tweet.read users.read");
    fixture.post(SUBSCRIPTIONS, &body("dm.received", &ada)).assert_status(200);
    // A user sees what was made on their behalf.
    let mine = fixture.server.send(TestRequest::get(SUBSCRIPTIONS).bearer(&token)).assert_status(200);
    assert_eq!(mine["meta"]["result_count"], 2, "{mine}");
}

#[test]
fn oauth1_permission_level_overrides_scopes() {
    let fixture = Stage::new();
    let mint = |user: &TestUser<'_>, level: &str| {
        let mint = ["token", "mint", "--app", &fixture.app.id, "--user", &user.id];
        let level = ["--oauth1", "--permission", level];
        fixture.server.run_cli(&[&mint[..], &level[..]].concat()).assert_success();
    };
    let ada = fixture.person("ada");
    mint(&ada, "read");
    // All scopes were granted, but the level that is there says read.
    let refused = ada.post(SUBSCRIPTIONS, &body("dm.received", &ada));
    refused.assert_problem(403, "oauth1-permissions");
    ada.post(SUBSCRIPTIONS, &body("like.create", &ada)).assert_status(200);
    let signed = TestRequest::post(SUBSCRIPTIONS).json(&body("mute.mute", &ada));
    // The app's own level lets this token read messages.
    ada.send_signed(signed).assert_status(200);
    ada.post(SUBSCRIPTIONS, &body("dm.received", &ada)).assert_status(200);
    // Without any scope, the level is enough.
    let bob = fixture.server.new_user("bob");
    mint(&bob, "messages");
    fixture.post(SUBSCRIPTIONS, &body("dm.sent", &bob)).assert_status(200);
}

#[test]
fn subscription_is_invisible_to_other_apps() {
    let (one_stage, other) = (Stage::new(), Stage::new());
    let ada = one_stage.person("ada");
    let id = one_stage.subscribe("post.create", &json!({ "user_id": ada.id }));
    assert_eq!(other.get(SUBSCRIPTIONS).assert_status(200)["data"], json!([]));
    other.send(TestRequest::delete(one(&id))).assert_status(404);
    let put = TestRequest::new("PUT", one(&id)).json(&json!({ "tag": "mine" }));
    other.send(put).assert_status(404);
    let many = other.send(TestRequest::delete(format!("{SUBSCRIPTIONS}?ids={id}"))).assert_status(200);
    assert_eq!(many["data"][0]["deleted"], false);
    other.subscribe("post.create", &json!({ "user_id": ada.id }));
    assert_eq!(one_stage.get(SUBSCRIPTIONS).assert_status(200)["meta"]["result_count"], 1);
}

#[test]
fn subscription_ends_with_the_token_or_user_it_depends_on() {
    let fixture = Stage::new();
    let (ada, bob) = (fixture.person("ada"), fixture.person("bob"));
    let total = || fixture.get(SUBSCRIPTIONS).assert_status(200)["meta"]["total_subscriptions"].clone();
    for user in [&ada, &bob] {
        fixture.subscribe("dm.received", &json!({ "user_id": user.id }));
        fixture.subscribe("post.create", &json!({ "user_id": user.id }));
    }
    let second = ada.new_token(&["--scopes", "tweet.read users.read dm.read"]);
    let third = ada.new_token(&["--scopes", "tweet.read users.read"]);
    let revoke = |token: &str| {
        fixture.server.run_cli(&["token", "revoke", token]).assert_success();
    };
    revoke(&second);
    assert_eq!(total(), 4, "another token with the scope is left");
    revoke(&ada.token);
    assert_eq!(total(), 3, "what is public stays");
    revoke(&third);
    assert_eq!(total(), 3);
    fixture.server.run_cli(&["user", "suspend", &bob.id]).assert_success();
    assert_eq!(total(), 3, "they return with the account");
    fixture.server.run_cli(&["user", "restore", &bob.id]).assert_success();
    let ban = ["mod", "ban", &bob.username, "--reason", "Rule 9"];
    fixture.server.run_cli(&ban).assert_success();
    assert_eq!(total(), 1);
    fixture.server.run_cli(&["user", "delete", &ada.id]).assert_success();
    assert_eq!(total(), 0);
}
