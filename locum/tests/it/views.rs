//! Views of posts: who counts, how often, and where the counts are shown.

use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{TestRequest, TestServer, TestUser, own_server, wait_until};

fn person(name: &str) -> TestUser<'static> {
    wait_for_new_hour();
    own_server().new_user(name)
}

/// A test whose views are in two hours would count them twice.
pub(crate) fn wait_for_new_hour() {
    let left = 3_600 - base::clock::wall_time().seconds().rem_euclid(3_600);
    if left < 40 {
        std::thread::sleep(Duration::from_secs(left.unsigned_abs()));
    }
}

/// As the app sees it, which is no view.
fn impressions(author: &TestUser<'_>, post: &str) -> i64 {
    let target = format!("/2/posts/{post}?post.fields=public_metrics");
    let seen = author.server.send(TestRequest::get(target).bearer(&author.app.bearer)).assert_status(200);
    seen["data"]["public_metrics"]["impression_count"].as_i64().unwrap()
}

fn wait_for_impressions(author: &TestUser<'_>, post: &str, expected: i64) {
    wait_until("all views count", || impressions(author, post) >= expected);
    assert_eq!(impressions(author, post), expected);
}

/// Long enough for views to be stored.
fn wait_for_flush() {
    std::thread::sleep(Duration::from_millis(2_500));
}

#[test]
fn view_counts_once_per_user_and_hour_and_never_for_an_app() {
    let (author, reader) = (person("author"), person("reader"));
    let post = author.publish_text("Seen");
    assert_eq!(impressions(&author, &post), 0);
    for _ in 0..3 {
        reader.get(format!("/2/posts/{post}")).assert_status(200);
        reader.get(format!("/2/tweets?ids={post},{post}")).assert_status(200);
        reader.get(format!("/2/users/{}/tweets", author.id)).assert_status(200);
    }
    wait_for_impressions(&author, &post, 1);
    reader.get(format!("/2/posts/{post}")).assert_status(200);
    author.get(format!("/2/posts/{post}")).assert_status(200);
    wait_for_impressions(&author, &post, 2);
    wait_for_flush();
    assert_eq!(impressions(&author, &post), 2);
}

#[test]
fn every_endpoint_with_posts_counts_views() {
    let (author, mentioned) = (person("author"), person("mentioned"));
    let base = author.publish_text("Base");
    let text = format!("@{} kaleidoscope", mentioned.username);
    let post = author.create_post(&json!({ "text": text, "quote_tweet_id": base })).assert_status(201);
    let post = post["data"]["id"].as_str().unwrap().to_owned();
    let readers: Vec<TestUser<'_>> = (0..9).map(|_| person("reader")).collect();
    let [one, many, own, home, liked, marked, listed, found, quoted] = readers.as_slice() else { panic!("nine") };
    home.import_follows(&[&author]);
    let body = json!({ "tweet_id": post });
    liked.post(format!("/2/users/{}/likes", liked.id), &body).assert_status(200);
    marked.post(format!("/2/users/{}/bookmarks", marked.id), &body).assert_status(200);
    let list = listed.post("/2/lists", &json!({ "name": "Read" })).assert_status(201);
    let list = list["data"]["id"].as_str().unwrap().to_owned();
    listed.post(format!("/2/lists/{list}/members"), &json!({ "user_id": author.id })).assert_status(200);
    for (reader, target) in [
        (&mentioned, format!("/2/users/{}/mentions", mentioned.id)),
        (one, format!("/2/posts/{post}")),
        (many, format!("/2/posts?ids={post}")),
        (own, format!("/2/users/{}/posts", author.id)),
        (home, format!("/2/users/{}/timelines/reverse_chronological", home.id)),
        (liked, format!("/2/users/{}/liked_posts", liked.id)),
        (marked, format!("/2/users/{}/bookmarks", marked.id)),
        (listed, format!("/2/lists/{list}/posts")),
        (found, format!("/2/posts/search/recent?query=kaleidoscope%20from:{}", author.username)),
        (quoted, format!("/2/tweets/{base}/quote_tweets")),
    ] {
        wait_until(&target, || {
            let page = reader.get(&*target).assert_status(200);
            page["data"]["id"] == post || page["data"][0]["id"] == post
        });
    }
    wait_for_impressions(&author, &post, 10);
}

#[test]
fn included_posts_are_not_viewed_and_reposts_show_the_original() {
    let (author, reader) = (person("author"), person("reader"));
    let quoted = author.publish_text("Quoted");
    let quote = author.create_post(&json!({ "text": "See", "quote_tweet_id": quoted })).assert_status(201);
    let quote = quote["data"]["id"].as_str().unwrap();
    let page = reader.get(format!("/2/posts/{quote}?expansions=referenced_tweets.id")).assert_status(200);
    assert_eq!(page["includes"]["tweets"][0]["id"], quoted);
    wait_for_impressions(&author, quote, 1);
    assert_eq!(impressions(&author, &quoted), 0);

    let fan = person("fan");
    fan.post(format!("/2/users/{}/retweets", fan.id), &json!({ "tweet_id": quoted })).assert_status(200);
    let page = reader.get(format!("/2/users/{}/posts", fan.id)).assert_status(200);
    let repost = page["data"][0]["id"].as_str().unwrap();
    wait_for_impressions(&author, &quoted, 1);
    assert_eq!(impressions(&author, repost), 0);
}

/// Analytics from before the post until after now.
fn analytics(author: &TestUser<'_>, post: &str, granularity: &str) -> Value {
    let time = |offset_ms| {
        let at = base::clock::wall_time().plus_ms(offset_ms);
        at.to_string()
    };
    let (start, end) = (time(-3_600_000), time(3_600_000));
    let target = format!("/2/posts/analytics?ids={post}&start_time={start}&end_time={end}&granularity={granularity}");
    author.get(target).assert_status(200)["data"][0].clone()
}

#[test]
fn metrics_of_a_post_agree_wherever_they_are_shown() {
    let (author, reader) = (person("author"), person("reader"));
    let post = author.publish_text("Measured");
    reader.get(format!("/2/posts/{post}")).assert_status(200);
    let add = |more: &[&str]| author.server.run_cli(&[&["metrics", "add", &post], more].concat());
    let added = add(&["--impressions", "10", "--link-clicks", "3", "--profile-clicks", "2"]).json();
    assert_eq!(
        (&added["impressions"], &added["link_clicks"], &added["profile_clicks"]),
        (&json!(10), &json!(3), &json!(2))
    );
    add(&["--link-clicks", "1"]).assert_success();
    wait_for_impressions(&author, &post, 11);
    author.fetch_post(&post, "text");
    wait_for_impressions(&author, &post, 12);
    let seen = author.fetch_post(&post, "public_metrics,non_public_metrics,organic_metrics");
    for name in ["public_metrics", "non_public_metrics", "organic_metrics"] {
        assert_eq!(seen[name]["impression_count"], 12, "{name}: {seen}");
    }
    for name in ["non_public_metrics", "organic_metrics"] {
        assert_eq!(seen[name]["url_link_clicks"], 4, "{name}: {seen}");
        assert_eq!(seen[name]["user_profile_clicks"], 2, "{name}: {seen}");
    }
    assert_eq!(seen["non_public_metrics"]["engagements"], 6);
    for granularity in ["total", "hourly", "daily"] {
        let figures = analytics(&author, &post, granularity);
        for (name, expected) in [("impressions", 12), ("url_clicks", 4), ("user_profile_clicks", 2), ("engagements", 6)]
        {
            assert_eq!(figures[name], expected, "{granularity} {name}: {figures}");
            let buckets = figures["timestamped_metrics"].as_array().unwrap();
            let sum: i64 = buckets.iter().map(|bucket| bucket["metrics"][name].as_i64().unwrap()).sum();
            assert_eq!(sum, expected, "{granularity} {name}: {figures}");
        }
    }
    add(&["--impressions", "-1"]).assert_exit_code(2);
    let unknown = author.server.run_cli(&["metrics", "add", "17", "--impressions", "1"]);
    assert!(unknown.code != 0 && unknown.stderr.contains("no post with the ID 17"), "{unknown:?}");
}

#[test]
fn views_are_stored_when_the_server_stops() {
    wait_for_new_hour();
    let mut server = TestServer::start(&["--world", "empty"]);
    let (post, bearer) = {
        let (author, reader) = (server.new_user("author"), server.new_user("reader"));
        let post = author.publish_text("Last");
        wait_for_flush();
        reader.get(format!("/2/posts/{post}")).assert_status(200);
        (post, author.app.bearer.clone())
    };
    server.stop();
    server.restart();
    let target = format!("/2/posts/{post}?post.fields=public_metrics");
    let seen = server.send(TestRequest::get(target).bearer(&bearer)).assert_status(200);
    assert_eq!(seen["data"]["public_metrics"]["impression_count"], 1, "{seen}");
}
