//! Reposts and quotes, and what they change elsewhere.

use serde_json::{Value, json};

use crate::harness::{TestRequest, TestUser, ids, person, shared_server};

#[track_caller]
fn reposts(who: &TestUser<'_>, post: &str) -> Value {
    let path = format!("/2/users/{}/reposts", who.id);
    let created = who.post(path, &json!({ "tweet_id": post })).assert_status(200);
    assert_eq!(created["data"]["retweeted"], true, "{created}");
    created["data"].clone()
}

fn blocks(who: &TestUser<'_>, whom: &TestUser<'_>) {
    let line = json!({ "kind": "block", "from": who.id, "to": whom.id });
    shared_server().import_lines(&[line]).assert_success();
}

#[track_caller]
fn counts(reader: &TestUser<'_>, post: &str, name: &str, expected: u64) {
    let post = reader.fetch_post(post, "public_metrics");
    assert_eq!(post["public_metrics"][name], expected, "{post}");
}

/// The text is `RT @author: …`, cut, and its entities stand where it has them.
#[track_caller]
fn reads_as_a_repost(repost: &Value, author: &TestUser<'_>, mentioned: &TestUser<'_>) {
    let start = format!("RT @{}: hi @{} &amp; #tag xx", author.username, mentioned.username);
    let text = repost["text"].as_str().unwrap();
    assert!(text.starts_with(&start) && text.ends_with("x…"), "{text}");
    assert_eq!(text.replace("&amp;", "&").chars().count(), 140, "{text}");
    let cut = |entity: &Value| -> String {
        let place = |name: &str| usize::try_from(entity[name].as_u64().unwrap()).unwrap();
        let rest = text.chars().skip(place("start"));
        rest.take(place("end") - place("start")).collect()
    };
    let entities = &repost["entities"];
    let mentions = entities["mentions"].as_array().unwrap();
    let named: Vec<String> = mentions.iter().map(cut).collect();
    let expected = [author, mentioned].map(|user| format!("@{}", user.username));
    assert_eq!(named, expected);
    assert_eq!(cut(&entities["hashtags"][0]), "#tag");
}

/// Undoes a repost, and once more.
#[track_caller]
fn undoes(fan: &TestUser<'_>, id: &str) {
    let path = format!("/2/users/{}/reposts/{id}", fan.id);
    for _ in 0..2 {
        assert_eq!(fan.delete(&path).assert_status(200)["data"]["retweeted"], false);
    }
}

/// A post that somebody reposted whom the reader follows.
struct RepostedPost {
    author: TestUser<'static>,
    fan: TestUser<'static>,
    reader: TestUser<'static>,
    id: String,
    home: String,
}

impl RepostedPost {
    fn new() -> Self {
        let (author, fan, reader) = (person("author"), person("fan"), person("reader"));
        reader.import_follows(&[&fan]);
        let text = format!("hi @{} & #tag {}", reader.username, "x".repeat(150));
        let id = author.publish_text(&text);
        let home = format!("/2/users/{}/timelines/reverse_chronological?max_results=5", reader.id);
        reader.get(&home).assert_status(200);
        let created = reposts(&fan, &id);
        assert_eq!(created["rest_id"], id, "{created}");
        assert_eq!(reposts(&fan, &id), created, "a repeat is no other");
        counts(&reader, &id, "repost_count", 1);
        Self { author, fan, reader, id, home }
    }

    /// The id of the repost.
    fn repost(&self) -> String {
        let page = self.reader.get(format!("/2/users/{}/posts", self.fan.id)).assert_status(200);
        ids(&page)[0].to_owned()
    }
}

#[test]
fn repost_in_the_home_timeline_has_the_cut_text_and_entities_of_the_post() {
    let RepostedPost { author, fan, reader, id, home } = RepostedPost::new();
    let shown = reader
        .get(format!(
            "{home}&post.fields=referenced_posts,entities,author_id,conversation_id\
             &expansions=referenced_posts,entities.mentions.username"
        ))
        .assert_status(200);
    let repost = &shown["data"][0];
    let own = repost["id"].as_str().unwrap();
    assert_eq!(repost["author_id"], fan.id, "{shown}");
    assert_eq!(repost["conversation_id"], own);
    assert_eq!(repost["referenced_posts"], json!([{ "type": "retweeted", "id": id }]));
    reads_as_a_repost(repost, &author, &reader);
    assert_eq!(shown["includes"]["posts"][0]["id"], id);
    assert_eq!(shown["includes"]["users"].as_array().unwrap().len(), 2);
    assert!(shown.get("errors").is_none(), "{shown}");
}

#[test]
fn repost_is_listed_in_timelines_unless_excluded_and_with_its_post() {
    let reposted = RepostedPost::new();
    let own = reposted.repost();
    let RepostedPost { author, fan, reader, id, home } = reposted;
    let timeline = format!("/2/users/{}/posts", fan.id);
    assert_eq!(ids(&reader.get(&timeline).assert_status(200)), [own.as_str()]);
    for (path, left_out) in [(&timeline, "?exclude=retweets"), (&home, "&exclude=retweets")] {
        let page = reader.get(format!("{path}{left_out}")).assert_status(200);
        assert!(ids(&page).is_empty(), "{page}");
    }
    let by = reader.get(format!("/2/posts/{id}/reposted_by")).assert_status(200);
    assert_eq!(ids(&by), [&fan.id]);
    let all = reader.get(format!("/2/tweets/{id}/retweets")).assert_status(200);
    assert_eq!(ids(&all), [own.as_str()]);
    let mine = author.get("/2/users/reposts_of_me").assert_status(200);
    assert_eq!(ids(&mine), [id.as_str()]);
}

#[test]
fn undone_repost_disappears_from_every_list() {
    let reposted = RepostedPost::new();
    let own = reposted.repost();
    let RepostedPost { author, fan, reader, id, home } = reposted;
    let timeline = format!("/2/users/{}/posts", fan.id);
    undoes(&fan, &id);
    counts(&reader, &id, "repost_count", 0);
    for path in [home.as_str(), &timeline, &format!("/2/posts/{id}/reposted_by"), &format!("/2/posts/{id}/reposts")] {
        assert!(ids(&reader.get(path).assert_status(200)).is_empty(), "{path}");
    }
    assert!(ids(&author.get("/2/users/reposts_of_me").assert_status(200)).is_empty());
    let deleted = reader.get(format!("/2/posts/{own}")).assert_status(200);
    assert_eq!(deleted["errors"][0]["title"], "Not Found Error", "{deleted}");
}

#[test]
fn repost_of_a_repost_refers_to_the_original_and_is_deleted_with_it() {
    let (author, fan, other) = (person("author"), person("fan"), person("other"));
    let id = author.publish_text("Again and again");
    reposts(&fan, &id);
    let repost = fan.get(format!("/2/users/{}/posts", fan.id)).assert_status(200);
    let repost = ids(&repost)[0].to_owned();
    // The older vocabulary names the new post too.
    let path = format!("/2/users/{}/retweets", other.id);
    let created = other.post(path, &json!({ "tweet_id": repost })).assert_status(200);
    assert_eq!(created["data"]["rest_id"], id, "{created}");
    let second = created["data"]["id"].as_str().unwrap().to_owned();
    // One's own post may be reposted; that alone is not "by others".
    let quiet = author.publish_text("Only I repost this");
    reposts(&author, &quiet);
    reposts(&author, &id);
    counts(&other, &id, "repost_count", 3);
    assert_eq!(ids(&author.get("/2/users/reposts_of_me").assert_status(200)), [id.as_str()]);
    let page = other.get(format!("/2/posts/{id}/reposted_by?max_results=2")).assert_status(200);
    assert_eq!(ids(&page), [&author.id, &other.id]);
    let token = page["meta"]["next_token"].as_str().unwrap();
    let rest = other.get(format!("/2/posts/{id}/reposted_by?max_results=2&pagination_token={token}"));
    assert_eq!(ids(&rest.assert_status(200)), [&fan.id]);

    author.delete(format!("/2/posts/{id}")).assert_status(200);
    for deleted in [&id, &repost, &second] {
        let deleted = other.get(format!("/2/posts/{deleted}")).assert_status(200);
        assert!(deleted.get("data").is_none(), "{deleted}");
    }
    let me = other.get("/2/users/me?user.fields=public_metrics,most_recent_post_id");
    let me = me.assert_status(200)["data"].clone();
    assert_eq!(me["public_metrics"]["post_count"], 0, "{me}");
    assert!(me.get("most_recent_post_id").is_none(), "{me}");
    let path = format!("/2/users/{}/reposts", other.id);
    let refused = other.post(&path, &json!({ "tweet_id": id }));
    refused.assert_problem(404, "resource-not-found");
}

#[test]
fn repost_of_an_unavailable_post_is_refused_and_not_stored() {
    let (author, fan) = (person("author"), person("fan"));
    let shy = shared_server().new_user_with("shy", &["--protected"]);
    let (id, secret) = (author.publish_text("Open"), shy.publish_text("Secret"));
    let path = format!("/2/users/{}/reposts", fan.id);
    let request = |post: &str| fan.post(&path, &json!({ "tweet_id": post }));
    request(&secret).assert_problem(403, "not-authorized-for-resource");
    fan.import_follows(&[&shy]);
    request(&secret).assert_error(403, "You are not permitted to perform this action.");
    reposts(&shy, &secret);
    counts(&fan, &secret, "repost_count", 1);
    blocks(&author, &fan);
    request(&id).assert_legacy_code(403, 136);
    request("1").assert_problem(404, "resource-not-found");
    for body in [
        json!({}),
        json!({ "tweet_id": "" }),
        json!({ "tweet_id": 5 }),
        json!({ "tweet_id": "x" }),
        json!({ "tweet_id": "99999999999999999999" }),
        json!({ "tweet_id": id, "more": 1 }),
    ] {
        fan.post(&path, &body).assert_problem(400, "invalid-request");
    }
    let other = format!("/2/users/{}/reposts", author.id);
    let sentence = format!(
        "The `id` query parameter value [{}] must be the same as the authenticating user [{}]",
        author.id, fan.id
    );
    fan.post(&other, &json!({ "tweet_id": id })).assert_error(400, &sentence);
    fan.delete(format!("{other}/{id}")).assert_error(400, &sentence);
    counts(&author, &id, "repost_count", 0);
    let bearer = TestRequest::post(&path).json(&json!({ "tweet_id": id }));
    let refused = shared_server().send(bearer.bearer(&fan.app.bearer));
    refused.assert_problem(403, "unsupported-authentication");
}

#[test]
fn repost_by_a_protected_user_is_visible_to_followers_only() {
    let (author, reader) = (person("author"), person("reader"));
    let shy = shared_server().new_user_with("shy", &["--protected"]);
    let id = author.publish_text("Seen by all");
    reposts(&shy, &id);
    let by = format!("/2/posts/{id}/reposted_by");
    let posts = format!("/2/posts/{id}/reposts");
    assert!(ids(&reader.get(&posts).assert_status(200)).is_empty());
    reader.import_follows(&[&shy]);
    assert_eq!(ids(&reader.get(&posts).assert_status(200)).len(), 1);
    assert!(ids(&reader.get(&by).assert_status(200)).is_empty(), "public accounts");
    counts(&reader, &id, "repost_count", 1);
    // What is not seen has no lists either.
    let secret = shy.publish_text("Secret");
    let stranger = person("stranger");
    for list in ["reposted_by", "reposts", "quote_posts"] {
        let response = stranger.get(format!("/2/posts/{secret}/{list}")).assert_status(200);
        assert_eq!(response["errors"][0]["title"], "Authorization Error", "{list}");
        let response = stranger.get(format!("/2/posts/1/{list}")).assert_status(200);
        assert_eq!(response["errors"][0]["title"], "Not Found Error", "{list}");
    }
}

#[test]
fn quotes_are_listed_counted_and_excluded_by_type() {
    let (author, fan) = (person("author"), person("fan"));
    let id = author.publish_text("Quote me");
    let quote = |who: &TestUser<'_>, more: Value| {
        let mut body = json!({ "text": format!("look {}", more), "quote_tweet_id": id });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let created = who.create_post(&body).assert_status(201);
        created["data"]["id"].as_str().unwrap().to_owned()
    };
    let plain = quote(&fan, json!({}));
    let reply = quote(&author, json!({ "reply": { "in_reply_to_tweet_id": id } }));
    counts(&fan, &id, "quote_count", 2);
    let path = format!("/2/tweets/{id}/quote_tweets");
    let page = fan.get(&path).assert_status(200);
    assert_eq!(ids(&page), [&reply, &plain]);
    let page = fan.get(format!("{path}?exclude=replies,retweets")).assert_status(200);
    assert_eq!(ids(&page), [&plain]);
    fan.get(format!("{path}?max_results=9")).assert_status(400);
    for number in 0..9 {
        quote(&author, json!({ "nullcast": false, "text": format!("more {number}") }));
    }
    let page = fan.get(format!("{path}?max_results=10")).assert_status(200);
    let token = page["meta"]["next_token"].as_str().unwrap();
    let page = fan.get(format!("{path}?max_results=10&pagination_token={token}"));
    let page = page.assert_status(200);
    assert_eq!(ids(&page), [&plain]);
    assert!(page["meta"].get("previous_token").is_none(), "{page}");

    fan.delete(format!("/2/posts/{plain}")).assert_status(200);
    counts(&fan, &id, "quote_count", 10);
    author.delete(format!("/2/posts/{id}")).assert_status(200);
    // Quotes stay; what they quote is gone.
    let left = fan.get(format!("/2/posts/{reply}?expansions=referenced_posts"));
    let left = left.assert_status(200);
    assert_eq!(left["data"]["id"], reply);
    assert_eq!(left["errors"][0]["value"], id, "{left}");
}

#[test]
fn reply_to_or_quote_of_an_invisible_repost_is_refused() {
    let [author, fan, stranger] = ["author", "fan", "stranger"].map(person);
    let post = author.publish_text("Open to all");
    let path = format!("/2/users/{}/retweets", fan.id);
    let repost = fan.post(path, &json!({ "tweet_id": post })).assert_status(200)["data"]["id"].clone();
    let acts = |text: &str| {
        [
            json!({ "text": text, "reply": { "in_reply_to_tweet_id": repost } }),
            json!({ "text": text, "quote_tweet_id": repost }),
        ]
    };
    for body in acts("Seen") {
        stranger.create_post(&body).assert_status(201);
    }
    shared_server().run_cli(&["user", "protect", &fan.id]).assert_success();
    for body in acts("Not seen") {
        stranger.create_post(&body).assert_legacy_code(403, 385);
        fan.create_post(&body).assert_status(201);
    }
    undoes(&fan, repost.as_str().unwrap());
    for body in acts("Gone") {
        stranger.create_post(&body).assert_legacy_code(403, 385);
    }
}
