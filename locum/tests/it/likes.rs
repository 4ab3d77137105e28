//! Likes, and what they change elsewhere.

use serde_json::json;

use crate::harness::{TestRequest, TestServer, TestUser, ids, person, shared_server};

#[track_caller]
fn likes(who: &TestUser<'_>, post: &str) {
    let path = format!("/2/users/{}/likes", who.id);
    let created = who.post(path, &json!({ "tweet_id": post })).assert_status(200);
    assert_eq!(created, json!({ "data": { "liked": true } }));
}

#[track_caller]
fn counts(reader: &TestUser<'_>, post: &str, user: &TestUser<'_>, expected: [u64; 2]) {
    let post = reader.fetch_post(post, "public_metrics");
    let path = format!("/2/users/{}?user.fields=public_metrics", user.id);
    let user = reader.get(path).assert_status(200);
    let found = [&post["public_metrics"]["like_count"], &user["data"]["public_metrics"]["like_count"]];
    assert_eq!(found.map(|count| count.as_u64().unwrap()), expected);
}

/// An author whose first post two users like, themselves one of them, and the second one.
struct LikedPosts {
    author: TestUser<'static>,
    fan: TestUser<'static>,
    other: TestUser<'static>,
    first: String,
    second: String,
}

impl LikedPosts {
    fn new() -> Self {
        let [author, fan, other] = ["author", "fan", "other"].map(person);
        let (first, second) = (author.publish_text("First"), author.publish_text("Second"));
        likes(&fan, &first);
        likes(&fan, &first);
        likes(&fan, &second);
        likes(&author, &first);
        Self { author, fan, other, first, second }
    }
}

#[test]
fn actions_on_an_older_version_apply_to_the_newest() {
    let server = shared_server();
    let author = server.new_user_with("editor", &["--subscription-type", "Premium"]);
    let fan = server.new_user("fan");
    let old = author.publish_text("With a tyop");
    let edit = json!({ "text": "With a typo", "edit_options": { "previous_post_id": old } });
    let new = author.create_post(&edit).assert_status(201)["data"]["id"].as_str().unwrap().to_owned();
    let likes = format!("/2/users/{}/likes", fan.id);
    assert_eq!(fan.post(&likes, &json!({ "tweet_id": old })).assert_status(200)["data"]["liked"], true);
    let reposts = format!("/2/users/{}/retweets", fan.id);
    assert_eq!(fan.post(&reposts, &json!({ "tweet_id": old })).assert_status(200)["data"]["retweeted"], true);
    let metrics = author.fetch_post(&new, "public_metrics")["public_metrics"].clone();
    assert_eq!((&metrics["like_count"], &metrics["repost_count"]), (&json!(1), &json!(1)), "{metrics}");
    assert_eq!(fan.delete(format!("{likes}/{old}")).assert_status(200)["data"]["liked"], false);
    assert_eq!(fan.delete(format!("{reposts}/{old}")).assert_status(200)["data"]["retweeted"], false);
    let metrics = author.fetch_post(&new, "public_metrics")["public_metrics"].clone();
    assert_eq!((&metrics["like_count"], &metrics["repost_count"]), (&json!(0), &json!(0)), "{metrics}");
}

#[test]
fn liked_posts_are_listed_for_the_user_who_likes_them_only() {
    let LikedPosts { fan, other, first, second, .. } = LikedPosts::new();
    counts(&other, &first, &fan, [2, 2]);

    let liked = format!("/2/users/{}/liked_posts", fan.id);
    let path = format!("{liked}?post.fields=public_metrics");
    let mine = fan.get(path).assert_status(200);
    assert_eq!(ids(&mine), [&second, &first], "newest like first");
    assert_eq!(mine["data"][1]["public_metrics"]["like_count"], 2);
    assert_eq!(mine["meta"]["result_count"], 2);
    let refused = other.get(&liked).assert_status(200);
    assert_eq!(refused["errors"][0]["title"], "Authorization Error");
    assert!(refused.get("data").is_none());
    let nobody = other.get("/2/users/1/liked_tweets").assert_status(200);
    assert_eq!(nobody["errors"][0]["title"], "Not Found Error");
    fan.server.run_cli(&["user", "suspend", &fan.username]).assert_success();
    let suspended = other.get(&liked).assert_status(200);
    assert_eq!(suspended["errors"][0]["detail"], format!("User has been suspended: [{}].", fan.id), "{suspended}");
}

#[test]
fn users_who_like_a_post_are_paged_for_its_author_only() {
    let LikedPosts { author, fan, first, .. } = LikedPosts::new();
    let likers = format!("/2/posts/{first}/liking_users");
    let page = author.get(format!("{likers}?max_results=1")).assert_status(200);
    assert_eq!(ids(&page), [&author.id]);
    let token = page["meta"]["next_token"].as_str().unwrap();
    let page = author.get(format!("{likers}?max_results=1&pagination_token={token}"));
    let page = page.assert_status(200);
    assert_eq!(ids(&page), [&fan.id]);
    let back = page["meta"]["previous_token"].as_str().unwrap();
    let page = author.get(format!("{likers}?max_results=1&pagination_token={back}"));
    assert_eq!(ids(&page.assert_status(200)), [&author.id]);
    // Who likes another's post is private, also from those who like it.
    let refused = fan.get(&likers).assert_status(200);
    assert_eq!(refused["errors"][0]["title"], "Authorization Error");
    let bearer = shared_server().send(TestRequest::get(&likers).bearer(&fan.app.bearer));
    bearer.assert_problem(403, "unsupported-authentication");
}

#[test]
fn counts_and_lists_follow_unlikes_and_deletions() {
    let LikedPosts { author, fan, other, first, second } = LikedPosts::new();
    let liked = format!("/2/users/{}/liked_posts", fan.id);
    let likers = format!("/2/posts/{first}/liking_users");
    let path = format!("/2/users/{}/likes/{first}", fan.id);
    for _ in 0..2 {
        let undone = fan.delete(&path).assert_status(200);
        assert_eq!(undone, json!({ "data": { "liked": false } }));
    }
    counts(&other, &first, &fan, [1, 1]);
    assert_eq!(ids(&author.get(&likers).assert_status(200)), [&author.id]);
    author.delete(format!("/2/posts/{second}")).assert_status(200);
    assert!(ids(&fan.get(&liked).assert_status(200)).is_empty());
    counts(&other, &first, &fan, [1, 0]);
}

#[test]
fn like_of_an_unavailable_post_is_refused_and_not_stored() {
    let (author, fan) = (person("author"), person("fan"));
    let shy = shared_server().new_user_with("shy", &["--protected"]);
    let (id, secret) = (author.publish_text("Open"), shy.publish_text("Secret"));
    let path = format!("/2/users/{}/likes", fan.id);
    let request = |post: &str| fan.post(&path, &json!({ "tweet_id": post }));
    request(&secret).assert_problem(403, "not-authorized-for-resource");
    fan.import_follows(&[&shy]);
    request(&secret).assert_status(200);
    let line = json!({ "kind": "block", "from": author.id, "to": fan.id });
    shared_server().import_lines(&[line]).assert_success();
    request(&id).assert_legacy_code(403, 136);
    assert_eq!(request("1").assert_problem(404, "resource-not-found")["parameter"], "tweet_id");
    author.delete(format!("/2/posts/{id}")).assert_status(200);
    request(&id).assert_problem(404, "resource-not-found");
    for body in [
        json!({}),
        json!({ "tweet_id": null }),
        json!({ "tweet_id": "-1" }),
        json!({ "post_id": "5", "tweet_id": "5" }),
        json!([]),
    ] {
        fan.post(&path, &body).assert_problem(400, "invalid-request");
    }
    let theirs = format!("/2/users/{}/likes", author.id);
    let sentence = format!(
        "The `id` query parameter value [{}] must be the same as the authenticating user [{}]",
        author.id, fan.id
    );
    fan.post(&theirs, &json!({ "tweet_id": secret })).assert_error(400, &sentence);
    fan.delete(format!("{theirs}/{secret}")).assert_error(400, &sentence);
    fan.delete(format!("{path}/x")).assert_problem(400, "invalid-request");
    counts(&fan, &secret, &fan, [1, 1]);
    let token = fan.new_token(&["--scopes", "tweet.read users.read like.read"]);
    let body = json!({ "tweet_id": secret });
    let refused = shared_server().send(TestRequest::post(&path).json(&body).bearer(&token));
    assert_eq!(refused.status, 403, "{}", refused.text());
    // A signature does as well as a token.
    fan.send_signed(TestRequest::post(&path).json(&body)).assert_status(200);
}

#[test]
fn like_of_a_repost_counts_for_its_original_and_likes_of_old_versions_are_taken_back() {
    let (author, fan) = (person("author"), person("fan"));
    let writer = shared_server().new_user_with("writer", &["--subscription-type", "Premium"]);
    let id = author.publish_text("Mine");
    let path = format!("/2/users/{}/retweets", fan.id);
    let created = fan.post(path, &json!({ "tweet_id": id })).assert_status(200);
    let repost = created["data"]["id"].as_str().unwrap();
    likes(&fan, repost);
    counts(&author, &id, &fan, [1, 1]);
    fan.delete(format!("/2/users/{}/likes/{repost}", fan.id)).assert_status(200);
    counts(&author, &id, &fan, [0, 0]);

    let old = writer.publish_text("A typpo");
    likes(&fan, &old);
    let body = json!({ "text": "A typo", "edit_options": { "previous_post_id": old } });
    let new = writer.create_post(&body).assert_status(201);
    let new = new["data"]["id"].as_str().unwrap();
    counts(&author, new, &fan, [0, 1]);
    // What was liked before can still be taken back.
    fan.delete(format!("/2/users/{}/likes/{old}", fan.id)).assert_status(200);
    likes(&fan, new);
    counts(&author, new, &fan, [1, 1]);
}

#[test]
fn daily_likes_are_limited_to_a_thousand() {
    let server = TestServer::start(&["--world", "empty", "--rate-limits", "table"]);
    let (author, fan) = (server.new_user("author"), server.new_user("fan"));
    let id = author.publish_text("Popular");
    let path = format!("/2/users/{}/likes", fan.id);
    let anonymous = server.send(TestRequest::post(path.as_str()).json(&json!({ "tweet_id": id })));
    assert_eq!((anonymous.status, anonymous.header_number("x-user-limit-24hour-limit")), (401, 1_000));
    let response = fan.post(path, &json!({ "tweet_id": id }));
    response.assert_status(200);
    assert_eq!(response.header_number("x-user-limit-24hour-limit"), 1_000);
    assert_eq!(response.header_number("x-user-limit-24hour-remaining"), 999);
    assert_eq!(response.header_number("x-rate-limit-limit"), 50);
}
