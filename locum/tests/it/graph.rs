//! Follows, requests, blocks, mutes: what they do, what is seen of them, and where.

mod effects;

use serde_json::{Value, json};

use crate::harness::{TestRequest, TestUser, person, shared_server};

fn shy(name: &str) -> TestUser<'static> {
    shared_server().new_user_with(name, &["--protected"])
}

fn follow(source: &TestUser<'_>, target: &TestUser<'_>) -> Value {
    let path = format!("/2/users/{}/following", source.id);
    let response = source.post(path, &json!({ "target_user_id": target.id }));
    response.assert_status(200)["data"].clone()
}

/// Sets or lifts a tie of the authenticated user.
fn tie(source: &TestUser<'_>, tie: &str, target: &TestUser<'_>) {
    let path = format!("/2/users/{}/{tie}", source.id);
    let response = source.post(path, &json!({ "target_user_id": target.id }));
    assert_eq!(response.assert_status(200)["data"], json!({ tie: true }));
}

fn untie(source: &TestUser<'_>, tie: &str, target: &TestUser<'_>) {
    let path = format!("/2/users/{}/{tie}/{}", source.id, target.id);
    assert_eq!(source.delete(path).assert_status(200)["data"], json!({ tie: false }));
}

/// The ids of a list, as `reader` sees it.
fn ids(reader: &TestUser<'_>, path: &str) -> Vec<String> {
    let body = reader.get(path).assert_status(200);
    let users = body["data"].as_array().cloned().unwrap_or_default();
    users.iter().map(|user| user["id"].as_str().unwrap().to_owned()).collect()
}

/// What one person is to another, by the words of the interface.
fn status(viewer: &TestUser<'_>, other: &TestUser<'_>) -> Vec<String> {
    let path = format!("/2/users/{}?user.fields=connection_status", other.id);
    let body = viewer.get(path).assert_status(200);
    let words = body["data"]["connection_status"].as_array().cloned();
    words.unwrap_or_default().iter().map(|word| word.as_str().unwrap().to_owned()).collect()
}

/// Followers and following, by the counters.
fn counts(of: &TestUser<'_>) -> (i64, i64) {
    let path = format!("/2/users/{}?user.fields=public_metrics", of.id);
    let metrics = of.get(path).assert_status(200)["data"]["public_metrics"].clone();
    let count = |name: &str| metrics[name].as_i64().unwrap();
    (count("followers_count"), count("following_count"))
}

fn requests(of: &TestUser<'_>) -> Vec<String> {
    let listed = shared_server().run_cli(&["follow", "requests", &of.id]).json();
    let listed = listed.as_array().unwrap();
    listed.iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn follow_changes_counts_lists_and_connection_status() {
    let (fan, star) = (person("fan"), person("star"));
    let yes = json!({ "following": true, "pending_follow": false });
    assert_eq!(follow(&fan, &star), yes);
    assert_eq!(follow(&fan, &star), yes, "to repeat it changes nothing");
    assert_eq!((counts(&fan), counts(&star)), ((0, 1), (1, 0)));
    let followers = format!("/2/users/{}/followers", star.id);
    let following = format!("/2/users/{}/following", fan.id);
    assert_eq!(ids(&fan, &followers), [fan.id.as_str()]);
    assert_eq!(ids(&fan, &following), [star.id.as_str()]);
    assert_eq!(status(&fan, &star), ["following"]);
    assert_eq!(status(&star, &fan), ["followed_by"]);
    for _ in 0..2 {
        untie(&fan, "following", &star);
    }
    assert_eq!((counts(&fan), counts(&star)), ((0, 0), (0, 0)));
    assert!(ids(&fan, &followers).is_empty());
    assert!(status(&fan, &star).is_empty());
}

#[test]
fn follow_request_of_a_protected_user_is_approved_or_denied_by_command() {
    let (author, one, two) = (shy("shy"), person("one"), person("two"));
    let post = author.publish_text("Only for some");
    let pending = json!({ "following": false, "pending_follow": true });
    for _ in 0..2 {
        assert_eq!(follow(&one, &author), pending);
    }
    assert_eq!(follow(&two, &author), pending);
    assert_eq!(status(&one, &author), ["follow_request_sent"]);
    assert_eq!(status(&author, &one), ["follow_request_received"]);
    assert_eq!(counts(&author), (0, 0));
    assert_eq!(requests(&author), [two.id.as_str(), &one.id]);
    let server = shared_server();
    let approve = |who: &TestUser<'_>| server.run_cli(&["follow", "approve", &author.id, &who.id]);
    approve(&one).assert_success();
    approve(&one).assert_exit_code(1);
    assert_eq!(status(&one, &author), ["following"]);
    assert_eq!(one.fetch_post(&post, "text")["text"], "Only for some");
    server.run_cli(&["follow", "deny", &author.username, &two.username]).assert_success();
    assert!(status(&two, &author).is_empty());
    assert!(requests(&author).is_empty());
    assert_eq!(counts(&author), (1, 0));
}

#[test]
fn follow_request_is_withdrawn_or_dropped_when_the_user_becomes_public() {
    let (author, two) = (shy("shy"), person("two"));
    let post = author.publish_text("Only for some");
    let pending = json!({ "following": false, "pending_follow": true });
    let server = shared_server();
    assert_eq!(follow(&two, &author), pending);
    untie(&two, "following", &author);
    assert!(status(&two, &author).is_empty());
    assert_eq!(follow(&two, &author), pending);
    server.run_cli(&["user", "unprotect", &author.id]).assert_success();
    assert!(status(&two, &author).is_empty());
    assert_eq!(two.fetch_post(&post, "text")["text"], "Only for some");
    assert_eq!(follow(&two, &author)["following"], true);
}

#[test]
fn follow_of_an_unavailable_user_is_refused() {
    let (me, other) = (person("me"), person("other"));
    let path = format!("/2/users/{}/following", me.id);
    let request = |target: &str| me.post(&path, &json!({ "target_user_id": target }));
    request(&me.id).assert_error(403, "You cannot follow yourself.");
    request("1").assert_problem(404, "resource-not-found");
    tie(&other, "blocking", &me);
    let blocked = request(&other.id);
    blocked.assert_legacy_code(403, 136);
    blocked.assert_error(403, "You have been blocked from performing this action.");
    untie(&other, "blocking", &me);
    tie(&me, "blocking", &other);
    request(&other.id).assert_error(403, "You are not permitted to perform this action.");
    untie(&me, "blocking", &other);
    shared_server().run_cli(&["user", "suspend", &other.id]).assert_success();
    let suspended = request(&other.id);
    suspended.assert_legacy_code(403, 63);
    suspended.assert_error(403, "User has been suspended.");
    shared_server().run_cli(&["user", "restore", &other.id]).assert_success();
    shared_server().run_cli(&["user", "delete", &other.id]).assert_success();
    request(&other.id).assert_problem(404, "resource-not-found");
    assert_eq!(counts(&me), (0, 0));
}

#[test]
fn relation_needs_a_known_target() {
    let (me, other) = (person("me"), person("other"));
    for noun in ["following", "blocking", "muting"] {
        let own = format!("/2/users/{}/{noun}", me.id);
        for bad in [
            json!({}),
            json!({ "target_user_id": "" }),
            json!({ "target_user_id": "x" }),
            json!({ "target_user_id": [] }),
            json!({ "target_user_id": other.id, "more": 1 }),
        ] {
            me.post(&own, &bad).assert_problem(400, "invalid-request");
        }
        me.delete(format!("{own}/x")).assert_problem(400, "invalid-request");
        // What is not there is gone already.
        assert_eq!(me.delete(format!("{own}/1")).assert_status(200)["data"][noun], false);
        me.post(&own, &json!({ "target_user_id": "1" })).assert_problem(404, "resource-not-found");
    }
    assert!(status(&me, &other).is_empty());
    me.post(format!("/2/users/{}/muting", me.id), &json!({ "target_user_id": me.id })).assert_legacy_code(403, 271);
    me.post(format!("/2/users/{}/blocking", me.id), &json!({ "target_user_id": me.id })).assert_status(403);
}

#[test]
fn block_ends_follows_both_ways_and_mute_ends_none() {
    let (one, other) = (person("one"), person("other"));
    follow(&one, &other);
    follow(&other, &one);
    tie(&one, "muting", &other);
    assert_eq!(status(&one, &other), ["followed_by", "following", "muting"]);
    assert_eq!(status(&other, &one), ["followed_by", "following"], "a mute is not seen by whom it is about");
    tie(&one, "blocking", &other);
    assert_eq!(status(&one, &other), ["blocking", "muting"]);
    assert!(status(&other, &one).is_empty());
    assert_eq!((counts(&one), counts(&other)), ((0, 0), (0, 0)));
    untie(&one, "blocking", &other);
    untie(&one, "muting", &other);
    assert!(status(&one, &other).is_empty());
    assert_eq!(counts(&one), (0, 0));
}

#[test]
fn blocks_and_mutes_are_paged_latest_first() {
    let me = person("me");
    let others: Vec<TestUser<'_>> = (0..5).map(|_| person("other")).collect();
    for noun in ["blocking", "muting"] {
        for other in &others {
            tie(&me, noun, other);
            tie(&me, noun, other);
        }
        let mut expected: Vec<&str> = others.iter().map(|other| other.id.as_str()).collect();
        expected.reverse();
        let path = format!("/2/users/{}/{noun}", me.id);
        assert_eq!(ids(&me, &path), expected);
        let first = me.get(format!("{path}?max_results=2")).assert_status(200);
        let next = first["meta"]["next_token"].as_str().unwrap();
        let second = me.get(format!("{path}?max_results=2&pagination_token={next}")).assert_status(200);
        assert_eq!(second["data"][0]["id"], expected[2]);
        let back = second["meta"]["previous_token"].as_str().unwrap();
        let again = me.get(format!("{path}?max_results=2&pagination_token={back}")).assert_status(200);
        assert_eq!(again["data"], first["data"]);
        let last = second["meta"]["next_token"].as_str().unwrap();
        let last = me.get(format!("{path}?max_results=2&pagination_token={last}")).assert_status(200);
        assert_eq!(last["meta"]["result_count"], 1, "{last}");
        assert!(last["meta"].get("next_token").is_none());
        me.get(format!("{path}?max_results=0")).assert_problem(400, "invalid-request");
        me.get(format!("{path}?pagination_token=0123456789abcdef")).assert_problem(400, "invalid-request");
    }
}

#[test]
fn direct_messages_are_blocked_and_allowed_again() {
    let (me, other) = (person("me"), person("other"));
    let takes = || {
        let path = format!("/2/users/{}?user.fields=receives_your_dm", me.id);
        other.get(path).assert_status(200)["data"]["receives_your_dm"].clone()
    };
    let request = |act: &str, id: &str| me.send(TestRequest::post(format!("/2/users/{id}/dm/{act}")));
    assert_eq!(takes(), true);
    for _ in 0..2 {
        assert_eq!(request("block", &other.id).assert_status(200)["data"], json!({ "blocked": true }));
    }
    assert_eq!(takes(), false);
    assert_eq!(request("unblock", &other.id).assert_status(200)["data"], json!({ "blocked": false }));
    assert_eq!(takes(), true);
    request("unblock", &other.id).assert_error(403, "User is not blocked for DMs");
    request("block", "1").assert_problem(404, "resource-not-found");
    request("block", &me.id).assert_status(403);
    request("block", "x").assert_problem(400, "invalid-request");
    tie(&me, "blocking", &other);
    assert_eq!(takes(), false);
}

#[test]
fn counters_agree_after_contradicting_relations() {
    let server = shared_server();
    let (one, other, third) = (person("one"), shy("other"), person("third"));
    follow(&one, &other);
    follow(&third, &other);
    follow(&other, &one);
    tie(&one, "blocking", &other);
    tie(&third, "muting", &one);
    server.run_cli(&["user", "unprotect", &other.id]).assert_success();
    // A follow and a block that contradict each other come from elsewhere.
    let lines = [
        json!({ "kind": "follow", "from": one.id, "to": other.id }),
        json!({ "kind": "follow", "from": third.id, "to": one.id }),
        json!({ "kind": "block", "from": one.id, "to": third.id }),
    ];
    server.import_lines(&lines).assert_success();
    assert_eq!(status(&one, &other), ["blocking"]);
    assert_eq!(status(&one, &third), ["blocking"]);
    let found = server.run_cli(&["fsck"]);
    let found: Value = serde_json::from_str(&found.stdout).unwrap();
    let users = [&one, &other, &third].map(|who| who.id.clone());
    let ours = found["differences"].as_array().unwrap().iter();
    let ours: Vec<_> = ours.filter(|one| users.contains(&one["id"].as_str().unwrap().to_owned())).collect();
    assert!(ours.is_empty(), "{ours:?}");
}
