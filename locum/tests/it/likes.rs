//! Likes, and what they change elsewhere.

use serde_json::{Value, json};

use crate::harness::{Ask, Person, Server, shared};

fn person(name: &str) -> Person<'static> {
    shared().person(name)
}

fn ids(page: &Value) -> Vec<&str> {
    let data = page["data"].as_array().map(Vec::as_slice);
    let data = data.unwrap_or_default().iter();
    data.map(|one| one["id"].as_str().unwrap()).collect()
}

#[track_caller]
fn likes(who: &Person<'_>, post: &str) {
    let path = format!("/2/users/{}/likes", who.id);
    let made = who.post(path, &json!({ "tweet_id": post })).is(200);
    assert_eq!(made, json!({ "data": { "liked": true } }));
}

#[track_caller]
fn counts(reader: &Person<'_>, post: &str, user: &Person<'_>, wanted: [u64; 2]) {
    let post = reader.sees(post, "public_metrics");
    let path = format!("/2/users/{}?user.fields=public_metrics", user.id);
    let user = reader.get(path).is(200);
    let found = [
        &post["public_metrics"]["like_count"],
        &user["data"]["public_metrics"]["like_count"],
    ];
    assert_eq!(found.map(|count| count.as_u64().unwrap()), wanted);
}

#[test]
fn a_like_counts_and_is_listed_for_those_it_concerns() {
    let (author, fan, other) = (person("author"), person("fan"), person("other"));
    let (first, second) = (author.says("First"), author.says("Second"));
    likes(&fan, &first);
    likes(&fan, &first);
    likes(&fan, &second);
    likes(&author, &first);
    counts(&other, &first, &fan, [2, 2]);

    let liked = format!("/2/users/{}/liked_posts", fan.id);
    let path = format!("{liked}?post.fields=public_metrics");
    let mine = fan.get(path).is(200);
    assert_eq!(ids(&mine), [&second, &first], "newest like first");
    assert_eq!(mine["data"][1]["public_metrics"]["like_count"], 2);
    assert_eq!(mine["meta"]["result_count"], 2);
    let refused = other.get(&liked).is(200);
    assert_eq!(refused["errors"][0]["title"], "Authorization Error");
    assert!(refused.get("data").is_none());
    let nobody = other.get("/2/users/1/liked_tweets").is(200);
    assert_eq!(nobody["errors"][0]["title"], "Not Found Error");

    let likers = format!("/2/posts/{first}/liking_users");
    let page = author.get(format!("{likers}?max_results=1")).is(200);
    assert_eq!(ids(&page), [&author.id]);
    let token = page["meta"]["next_token"].as_str().unwrap();
    let page = author.get(format!("{likers}?max_results=1&pagination_token={token}"));
    let page = page.is(200);
    assert_eq!(ids(&page), [&fan.id]);
    let back = page["meta"]["previous_token"].as_str().unwrap();
    let page = author.get(format!("{likers}?max_results=1&pagination_token={back}"));
    assert_eq!(ids(&page.is(200)), [&author.id]);
    // Who likes another's post is private, also from those who like it.
    let refused = fan.get(&likers).is(200);
    assert_eq!(refused["errors"][0]["title"], "Authorization Error");
    let bearer = shared().send(Ask::get(&likers).bearer(&fan.app.bearer));
    bearer.is_problem(403, "unsupported-authentication");

    let path = format!("/2/users/{}/likes/{first}", fan.id);
    for _ in 0..2 {
        let undone = fan.delete(&path).is(200);
        assert_eq!(undone, json!({ "data": { "liked": false } }));
    }
    counts(&other, &first, &fan, [1, 1]);
    assert_eq!(ids(&author.get(&likers).is(200)), [&author.id]);
    author.delete(format!("/2/posts/{second}")).is(200);
    assert!(ids(&fan.get(&liked).is(200)).is_empty());
    counts(&other, &first, &fan, [1, 0]);
}

#[test]
fn what_may_not_be_liked_is_refused_and_leaves_nothing() {
    let (author, fan) = (person("author"), person("fan"));
    let shy = shared().person_with("shy", &["--protected"]);
    let (id, secret) = (author.says("Open"), shy.says("Secret"));
    let path = format!("/2/users/{}/likes", fan.id);
    let ask = |post: &str| fan.post(&path, &json!({ "tweet_id": post }));
    ask(&secret).is_problem(403, "not-authorized-for-resource");
    fan.follows(&[&shy]);
    ask(&secret).is(200);
    let line = json!({ "kind": "block", "from": author.id, "to": fan.id });
    shared().import(&[line]).well();
    ask(&id).is_code(403, 136);
    ask("1").is_problem(404, "resource-not-found");
    author.delete(format!("/2/posts/{id}")).is(200);
    ask(&id).is_problem(404, "resource-not-found");
    for body in [
        json!({}),
        json!({ "tweet_id": null }),
        json!({ "tweet_id": "-1" }),
        json!({ "post_id": "5", "tweet_id": "5" }),
        json!([]),
    ] {
        fan.post(&path, &body).is_problem(400, "invalid-request");
    }
    let theirs = format!("/2/users/{}/likes", author.id);
    let sentence = format!(
        "The `id` query parameter value [{}] must be the same as the authenticating user [{}]",
        author.id, fan.id
    );
    fan.post(&theirs, &json!({ "tweet_id": secret }))
        .says(400, &sentence);
    fan.delete(format!("{theirs}/{secret}"))
        .says(400, &sentence);
    fan.delete(format!("{path}/x"))
        .is_problem(400, "invalid-request");
    counts(&fan, &secret, &fan, [1, 1]);
    let token = fan.token(&["--scopes", "tweet.read users.read like.read"]);
    let body = json!({ "tweet_id": secret });
    let refused = shared().send(Ask::post(&path).json(&body).bearer(&token));
    assert_eq!(refused.status, 403, "{}", refused.text());
    // A signature does as well as a token.
    fan.signed(Ask::post(&path).json(&body)).is(200);
}

#[test]
fn a_like_of_a_repost_is_one_of_its_original_and_an_old_version_is_not_liked() {
    let (author, fan) = (person("author"), person("fan"));
    let writer = shared().person_with("writer", &["--subscription-type", "Premium"]);
    let id = author.says("Mine");
    let path = format!("/2/users/{}/retweets", fan.id);
    let made = fan.post(path, &json!({ "tweet_id": id })).is(200);
    let repost = made["data"]["id"].as_str().unwrap();
    likes(&fan, repost);
    counts(&author, &id, &fan, [1, 1]);
    fan.delete(format!("/2/users/{}/likes/{repost}", fan.id))
        .is(200);
    counts(&author, &id, &fan, [0, 0]);

    let old = writer.says("A typpo");
    likes(&fan, &old);
    let body = json!({ "text": "A typo", "edit_options": { "previous_post_id": old } });
    let new = writer.publish(&body).is(201);
    let new = new["data"]["id"].as_str().unwrap();
    counts(&author, new, &fan, [0, 1]);
    let path = format!("/2/users/{}/likes", author.id);
    let refused = author.post(path, &json!({ "tweet_id": old }));
    refused.says(403, "You are not permitted to perform this action.");
    // What was liked before can still be taken back.
    fan.delete(format!("/2/users/{}/likes/{old}", fan.id))
        .is(200);
    likes(&fan, new);
    counts(&author, new, &fan, [1, 1]);
}

#[test]
fn at_most_a_thousand_likes_are_given_in_a_day() {
    let server = Server::start(&["--world", "empty", "--rate-limits", "table"]);
    let (author, fan) = (server.person("author"), server.person("fan"));
    let id = author.says("Popular");
    let path = format!("/2/users/{}/likes", fan.id);
    let answer = fan.post(path, &json!({ "tweet_id": id }));
    answer.is(200);
    assert_eq!(answer.number("x-user-limit-24hour-limit"), 1_000);
    assert_eq!(answer.number("x-user-limit-24hour-remaining"), 999);
    assert_eq!(answer.number("x-rate-limit-limit"), 50);
}
