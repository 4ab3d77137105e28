//! Likes as they are given.

use std::time::Duration;

use serde_json::{Value, json};

use super::{connections, word};
use crate::harness::{StreamClient, TestApp, TestRequest, TestUser, shared_server, wait_until};

fn open(app: &TestApp, kind: &str, part: usize, more: &str) -> StreamClient {
    let target = format!("/2/likes/{kind}/stream?partition={part}{more}");
    StreamClient::open(shared_server(), &target, &app.bearer)
}

/// Each message is about a like of a post of the author and does not name who likes it.
fn assert_likes(found: &[(usize, Value)], posts: &[String], author: &TestUser<'_>, reader: &TestUser<'_>) {
    let mut liked: Vec<&str> = Vec::new();
    for (_, message) in found {
        let data = &message["data"];
        let names: Vec<&String> = data.as_object().unwrap().keys().collect();
        let expected =
            ["created_at", "id", "liked_tweet_author_id", "liked_tweet_id", "timestamp_ms", "tweet_author_id"];
        assert_eq!(names, expected, "{message}");
        assert!(!message.to_string().contains(&reader.id), "{message}");
        assert!(data["timestamp_ms"].as_i64().unwrap() > 1_000_000_000_000);
        let post = &message["includes"]["tweets"][0];
        assert_eq!(post["id"], data["liked_tweet_id"]);
        assert!(post["public_metrics"]["like_count"].as_i64().unwrap() > 0);
        assert_eq!(message["includes"]["users"][0]["id"], author.id.as_str());
        liked.push(data["liked_tweet_id"].as_str().unwrap());
    }
    liked.sort_unstable();
    let mut expected = posts.to_vec();
    expected.sort();
    assert_eq!(liked, expected, "each once, in one part");
}

#[test]
fn each_like_is_streamed_once_in_one_partition_without_its_user() {
    let app = shared_server().new_app("enterprise");
    let query = "&expansions=liked_tweet_id,liked_tweet_author_id&tweet.fields=public_metrics";
    let of = |kind: &str, part: usize, more: &str| open(&app, kind, part, more);
    let mut all: Vec<StreamClient> = (1..=20).map(|part| of("firehose", part, query)).collect();
    let fields = "&like_with_tweet_author.fields=liked_tweet_author_id,attachments_media_keys";
    let mut tenths = [1, 2].map(|part| of("sample10", part, fields));
    let author = shared_server().new_user("author");
    let reader = shared_server().new_user("reader");
    let locked = shared_server().new_user_with("locked", &["--protected"]);
    let ids: Vec<String> = (0..15).map(|number| author.publish_text(&format!("{} {number}", word()))).collect();
    let like = |who: &TestUser<'_>, id: &str| {
        let path = format!("/2/users/{}/likes", who.id);
        who.post(path, &json!({ "post_id": id })).assert_status(200);
    };
    like(&locked, &ids[0]);
    for id in &ids {
        like(&reader, id);
    }
    let mut found: Vec<(usize, Value)> = Vec::new();
    let ours = |message: &Value| message["data"]["tweet_author_id"] == author.id.as_str();
    wait_until("every like has come", || {
        for (part, stream) in all.iter_mut().enumerate() {
            let came = std::iter::from_fn(|| stream.next_within(Duration::from_millis(5)));
            found.extend(came.filter(&ours).map(|message| (part + 1, message)));
        }
        found.len() >= ids.len()
    });
    for stream in &mut all {
        let more = stream.next_within(Duration::from_millis(20)).filter(&ours);
        assert!(more.is_none(), "one of the protected user: {more:?}");
    }
    assert_likes(&found, &ids, &author, &reader);
    for stream in &mut tenths {
        while let Some(message) = stream.next_within(Duration::from_millis(20)).filter(&ours) {
            let id = &message["data"]["id"];
            let same = found.iter().find(|(_, one)| one["data"]["id"] == *id);
            assert_eq!(same.unwrap().1["data"]["created_at"], message["data"]["created_at"]);
            assert_eq!(message["data"]["liked_tweet_author_id"], author.id.as_str());
        }
    }
    // A slot a part; what was missed comes again to who asks for it.
    let (part, message) = &found[0];
    let target = format!("/2/likes/firehose/stream?partition={part}");
    let request = || shared_server().send(TestRequest::get(&target).bearer(&app.bearer));
    request().assert_problem(429, "streaming-connection");
    drop(all);
    wait_until("the slots are free", || connections(&app, "?endpoints=likes_firehose_stream").is_empty());
    let mut again = of("firehose", *part, "&backfill_minutes=5");
    wait_until("the like is told again", || {
        let next = again.next_within(Duration::from_millis(100));
        next.is_some_and(|next| next["data"]["id"] == message["data"]["id"])
    });
}

#[test]
fn invalid_or_unentitled_stream_of_likes_is_refused() {
    let app = shared_server().new_app("enterprise");
    let refused = |app: &TestApp, query: &str| {
        let request = TestRequest::get(format!("/2/likes/sample10/stream{query}")).bearer(&app.bearer);
        shared_server().send(request)
    };
    for query in [
        "",
        "?partition=0",
        "?partition=3",
        "?partition=1&like_with_tweet_author.fields=user_id",
        "?partition=1&expansions=author_id",
        "?partition=1&backfill_minutes=6",
    ] {
        refused(&app, query).assert_problem(400, "invalid-request");
    }
    let other = shared_server().new_app("self-serve");
    refused(&other, "?partition=1").assert_problem(403, "client-forbidden");
}
