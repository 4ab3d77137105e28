//! Figures of one's own posts over time.

use serde_json::{Value, json};

use crate::harness::{TestRequest, TestUser, person, shared_server};

/// The day of a post as a window.
fn day_of(author: &TestUser<'_>, post: &str) -> String {
    let post = author.fetch_post(post, "created_at");
    let day = &post["created_at"].as_str().unwrap()[..10];
    format!("start_time={day}T00:00:00Z&end_time={day}T23:59:59Z")
}

fn act(who: &TestUser<'_>, kind: &str, post: &str) {
    let path = format!("/2/users/{}/{kind}", who.id);
    who.post(path, &json!({ "tweet_id": post })).assert_status(200);
}

#[test]
fn analytics_count_post_actions_on_own_posts() {
    let (author, fan) = (person("author"), person("fan"));
    let (id, quiet, other) = (author.publish_text("Measured"), author.publish_text("Quiet"), fan.publish_text("Other"));
    let reply = json!({ "text": "reply", "reply": { "in_reply_to_tweet_id": id } });
    fan.create_post(&reply).assert_status(201);
    let body = json!({ "text": "quote", "quote_tweet_id": id });
    fan.create_post(&body).assert_status(201);
    for kind in ["likes", "reposts", "bookmarks"] {
        act(&fan, kind, &id);
    }
    act(&author, "likes", &id);
    let window = day_of(&author, &id);
    let path = format!("/2/posts/analytics?ids={id},{quiet},{other},1&{window}");
    let response = author.get(&path).assert_status(200);
    let all = json!({
        "bookmarks": 1, "engagements": 6, "likes": 2, "quote_tweets": 1, "replies": 1, "retweets": 1,
        "url_clicks": 0, "user_profile_clicks": 0,
    });
    let first = &response["data"][0];
    assert_eq!(first["id"], id, "{response}");
    for (name, count) in all.as_object().unwrap() {
        assert_eq!(&first[name], count, "{name}: {first}");
    }
    let mut bucket = first["timestamped_metrics"][0]["metrics"].clone();
    assert_eq!(bucket.as_object_mut().unwrap().remove("impressions"), Some(first["impressions"].clone()));
    assert_eq!(bucket, all);
    assert!(first.get("detail_expands").is_none(), "nothing counts them");
    assert_eq!(response["data"][1]["engagements"], 0);
    let titles: Vec<&Value> = response["errors"].as_array().unwrap().iter().map(|error| &error["title"]).collect();
    assert_eq!(titles, ["Authorization Error", "Not Found Error"]);
}

#[test]
fn analytics_time_span_is_bounded() {
    let (author, fan) = (person("author"), person("fan"));
    let id = author.publish_text("Measured");
    act(&fan, "likes", &id);
    act(&author, "likes", &id);
    let window = day_of(&author, &id);
    // The fields of this vocabulary do not name the series.
    let hourly = format!("/2/tweets/analytics?ids={id}&{window}&granularity=hourly&analytics.fields=likes");
    let newer = author.get(hourly.replace("tweets", "posts")).assert_status(200)["data"][0].clone();
    assert_eq!(newer, json!({ "id": id, "likes": 2 }));
    let hourly = author.get(&hourly).assert_status(200)["data"][0].clone();
    let hours = hourly["timestamped_metrics"].as_array().unwrap();
    let likes: i64 = hours.iter().map(|hour| hour["metrics"]["likes"].as_i64().unwrap()).sum();
    assert_eq!((likes, &hourly["likes"]), (2, &json!(2)), "{hourly}");
    assert!(hourly.get("retweets").is_none(), "{hourly}");
    let before = "start_time=2020-01-01T00:00:00Z&end_time=2020-01-02T00:00:00Z";
    let nothing = author.get(format!("/2/posts/analytics?ids={id}&{before}")).assert_status(200);
    assert_eq!(nothing["data"][0]["likes"], 0);

    let base = "/2/posts/analytics";
    for wrong in [
        format!("?{window}"),
        format!("?ids={id}"),
        format!("?ids={id}&{window}&granularity=yearly"),
        format!("?ids={id}&start_time=2021-01-02T00:00:00Z&end_time=2021-01-01T00:00:00Z"),
        format!("?ids={id}&start_time=2000-01-02T00:00:00Z&end_time=2021-01-01T00:00:00Z&granularity=hourly"),
        format!("?ids={id}&{window}&analytics.fields=loves"),
    ] {
        author.get(format!("{base}{wrong}")).assert_problem(400, "invalid-request");
    }
    let refused =
        shared_server().send(TestRequest::get(format!("{base}?ids={id}&{window}")).bearer(&author.app.bearer));
    refused.assert_problem(403, "unsupported-authentication");
}
