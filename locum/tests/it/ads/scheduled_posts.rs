//! Drafts, scheduled posts and what promotes them, and the media library.

use base::Time;
use base::clock::wall_time;
use serde_json::{Value, json};

use super::{Advertiser, is, send, with_overrides};
use crate::harness::{TestResponse, TestServer, TestUser, shared_server, wait_until};
use crate::media::samples::{Film, mp4};
use crate::media::{at_once, samples};

/// The start of a minute that is so many minutes ahead.
pub(super) fn minute(ahead: i64) -> String {
    let now = wall_time().ms();
    let at = Time::from_ms(now - now.rem_euclid(60_000) + ahead * 60_000);
    format!("{}Z", at.to_string().split('.').next().unwrap())
}

/// The next minute that is not upon us already.
fn soon() -> String {
    minute(if wall_time().ms().rem_euclid(60_000) > 50_000 { 2 } else { 1 })
}

fn schedule(ads: &Advertiser, params: &[(&str, &str)]) -> TestResponse {
    let defaults = [("as_user_id", ads.person.id.as_str())];
    ads.send("POST", "/scheduled_tweets", &with_overrides(&defaults, params))
}

fn ids(page: &Value) -> Vec<&str> {
    let data = page["data"].as_array().unwrap().iter();
    data.map(|one| one["id"].as_str().unwrap()).collect()
}

/// Schedules a post; its id.
fn schedule_post(ads: &Advertiser, text: &str, at: &str, more: &[(&str, &str)]) -> String {
    let params = [&[("text", text), ("scheduled_at", at)], more].concat();
    let created = schedule(ads, &params).assert_status(200);
    assert_eq!(created["data"]["scheduled_status"], "SCHEDULED");
    created["data"]["id"].as_str().unwrap().to_owned()
}

/// Has a line item promote a scheduled post once it is published.
fn link(ads: &Advertiser, item: &str, post: &str) -> TestResponse {
    let params = [("line_item_id", item), ("scheduled_tweet_id", post)];
    ads.send("POST", "/scheduled_promoted_tweets", &params)
}

#[test]
fn deleted_scheduled_post_is_not_found_and_promoted_by_nothing() {
    let ads = Advertiser::new();
    let at = minute(60);
    let (promoted, deleted) = (schedule_post(&ads, "Seen", &at, &[]), schedule_post(&ads, "Not seen", &at, &[]));
    let item = ads.line_item(&ads.campaign());
    let linked = link(&ads, &item, &promoted).assert_status(200);
    let linked = linked["data"]["id"].as_str().unwrap();
    link(&ads, &item, &deleted).assert_status(200);
    let dropped = ads.send("DELETE", &format!("/scheduled_posts/{deleted}"), &[]).assert_status(200);
    assert_eq!(dropped["data"]["scheduled_status"], "DELETED");
    assert_eq!(dropped["data"]["deleted"], Value::Null);
    is(&ads.send("GET", &format!("/scheduled_posts/{deleted}"), &[]), 404, "NOT_FOUND", "scheduled_post_id");
    let all = ads.get("/scheduled_promoted_posts", &[("line_item_ids", &item)]);
    assert_eq!(ids(&all), [linked]);
}

#[test]
fn scheduled_post_keeps_what_the_line_item_that_waits_for_it_needs() {
    let ads = Advertiser::new();
    let campaign = ads.campaign();
    let clicks = [
        ("campaign_id", campaign.as_str()),
        ("objective", "WEBSITE_CLICKS"),
        ("product_type", "PROMOTED_POSTS"),
        ("placements", "ALL_ON_TWITTER"),
        ("bid_strategy", "AUTO"),
        // Ignored, whatever it is.
        ("bid_amount_local_micro", "900000000000000"),
        ("start_time", "2026-01-01T00:00:00Z"),
    ];
    let item = ads.make("/line_items", &clicks);
    let post = schedule_post(&ads, "Ride https://example.com/", &minute(60), &[]);
    link(&ads, &item, &post).assert_status(200);
    let path = format!("/scheduled_posts/{post}");
    is(&ads.send("PUT", &path, &[("text", "Ride")]), 400, "INVALID_TWEET", "");
    ads.send("PUT", &path, &[("text", "Ride more https://example.com/")]).assert_status(200);
    ads.send("PUT", &path, &[("scheduled_at", &minute(90))]).assert_status(200);
    ads.send("DELETE", &format!("/line_items/{item}"), &[]).assert_status(200);
    ads.send("PUT", &path, &[("text", "Ride")]).assert_status(200);
}

#[test]
fn scheduled_posts_are_published_at_their_time_and_promoted() {
    let ads = Advertiser::new();
    let me = ads.person.id.as_str();
    let at = soon();
    let make = |text: &str, more: &[(&str, &str)]| schedule_post(&ads, text, &at, more);
    let organic = make("Seen by everyone", &[("nullcast", "false")]);
    let promoted = make("Seen where it is promoted", &[]);
    let twice = make("Seen where it is promoted", &[]);
    let item = ads.line_item(&ads.campaign());
    let link = |post: &str| link(&ads, &item, post);
    let linked = link(&promoted).assert_status(200);
    assert_eq!(linked["data"]["tweet_id"], Value::Null);
    assert_eq!(linked["data"]["scheduled_tweet_id"], promoted.as_str());
    assert_eq!(linked["request"]["params"]["scheduled_tweet_id"], promoted.parse::<i64>().unwrap());
    let linked = linked["data"]["id"].as_str().unwrap().to_owned();

    let state = |id: &str| ads.get(&format!("/scheduled_posts/{id}"), &[])["data"].clone();
    let start = base::clock::monotonic_now();
    while [&organic, &promoted, &twice].iter().any(|id| state(id)["scheduled_status"] == "SCHEDULED") {
        assert!(start.elapsed().as_secs() < 100, "waited in vain");
        std::thread::sleep(std::time::Duration::from_millis(500));
    }
    let (seen, hidden, failed) = (state(&organic), state(&promoted), state(&twice));
    assert_eq!(seen["scheduled_status"], "SUCCESS");
    assert_eq!(failed["scheduled_status"], "FAILED", "{failed}");
    assert_eq!(failed["post_id"], Value::Null);
    assert_ne!(failed["completed_at"], Value::Null);
    let (seen, hidden) = (seen["post_id"].as_str().unwrap(), hidden["post_id"].as_str().unwrap());
    assert_eq!(ads.person.fetch_post(seen, "text")["text"], "Seen by everyone");
    assert_eq!(ads.person.fetch_post(hidden, "text")["text"], "Seen where it is promoted");
    let timeline = ads.person.get(format!("/2/users/{me}/posts?max_results=50")).assert_status(200);
    assert_eq!(ids(&timeline), [seen]);
    let linked = ads.get(&format!("/scheduled_promoted_posts/{linked}"), &[]);
    assert_eq!(linked["data"]["post_id"], hidden);
    let promoted_posts = ads.get("/promoted_posts", &[("line_item_ids", &item)]);
    assert_eq!(promoted_posts["data"][0]["post_id"], hidden);
    assert_eq!(promoted_posts["data"].as_array().unwrap().len(), 1);
    // What was published stays as it is.
    let path = format!("/scheduled_posts/{promoted}");
    is(&ads.send("PUT", &path, &[("text", "other")]), 403, "ACTION_NOT_ALLOWED", "");
    is(&ads.send("DELETE", &path, &[]), 403, "ACTION_NOT_ALLOWED", "");
    let path = format!("/scheduled_promoted_posts/{}", linked["data"]["id"].as_str().unwrap());
    is(&ads.send("DELETE", &path, &[]), 403, "ACTION_NOT_ALLOWED", "");
    is(&link(&promoted), 400, "INVALID_TWEET", "scheduled_tweet_id");
}

#[test]
fn killed_server_publishes_each_due_post_once() {
    let mut server = TestServer::start(&[]);
    let (id, username) = {
        let user = server.new_user("advertiser");
        (user.id.clone(), user.username.clone())
    };
    let create = ["ads", "account", "create", "Own", "--user", &username];
    let account = server.run_cli(&create).json()["id"].as_str().unwrap().to_owned();
    let path = format!("/12/accounts/{account}/scheduled_posts");
    let at = soon();
    let texts: Vec<String> = (0..20).map(|number| format!("Due {number}")).collect();
    for text in &texts {
        let user = TestUser::with_new_token(&server, server.default_app(), &id, &username);
        let params = [("as_user_id", id.as_str()), ("text", text), ("scheduled_at", &at), ("nullcast", "false")];
        send(&user, "POST", &path, &params).assert_status(200);
    }
    server.kill();
    let due = Time::parse(&at).unwrap().ms() + 100;
    let wait = u64::try_from(due - wall_time().ms()).unwrap_or(0);
    std::thread::sleep(std::time::Duration::from_millis(wait));
    for pause in [150, 250, 350, 450] {
        server.spawn();
        std::thread::sleep(std::time::Duration::from_millis(pause));
        server.kill();
    }
    server.restart();
    let user = TestUser::with_new_token(&server, server.default_app(), &id, &username);
    let states = || {
        let page = send(&user, "GET", &path, &[]).assert_status(200);
        let data = page["data"].as_array().unwrap().clone();
        data.iter().map(|one| one["scheduled_status"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    wait_until("all are published", || states().iter().all(|state| state != "SCHEDULED"));
    assert_eq!(states(), vec!["SUCCESS"; texts.len()]);
    let timeline = user.get(format!("/2/users/{id}/posts?max_results=100")).assert_status(200);
    let posts = timeline["data"].as_array().unwrap().iter();
    let mut seen: Vec<&str> = posts.map(|post| post["text"].as_str().unwrap()).collect();
    // In the order in which they were scheduled.
    seen.reverse();
    assert_eq!(seen, texts);
}

#[test]
fn posts_of_a_user_within_fifteen_minutes_are_limited_in_all_accounts() {
    let ads = Advertiser::new();
    let at = minute(30);
    let with = |text: &str, at: &str| schedule(&ads, &[("text", text), ("scheduled_at", at)]);
    for number in 0..30 {
        with(&format!("post {number}"), &at).assert_status(200);
    }
    let is_full = |response: &TestResponse| is(response, 400, "SCHEDULED_TWEET_LIMIT_EXCEEDED", "scheduled_at");
    is_full(&with("one too many", &at));
    is_full(&with("one too many", &minute(30 + 13)));
    let create = ["ads", "account", "create", "Another one", "--user", &ads.person.username];
    let other = shared_server().run_cli(&create).json()["id"].as_str().unwrap().to_owned();
    let fields = [("as_user_id", ads.person.id.as_str()), ("text", "one too many"), ("scheduled_at", at.as_str())];
    is_full(&send(&ads.person, "POST", &format!("/12/accounts/{other}/scheduled_tweets"), &fields));
    with("elsewhere", &minute(60)).assert_status(200);
}

#[test]
fn invalid_scheduled_post_is_refused() {
    let ads = Advertiser::new();
    let at = minute(30);
    let at = at.as_str();
    let with = |params: &[(&str, &str)]| schedule(&ads, params);
    is(&with(&[("text", "x")]), 400, "MISSING_PARAMETER", "scheduled_at");
    is(&with(&[("scheduled_at", at)]), 400, "TWEET_CANNOT_BE_BLANK", "text");
    is(&with(&[("scheduled_at", at), ("text", " ")]), 400, "TWEET_CANNOT_BE_BLANK", "text");
    let none = [("scheduled_at", at), ("text", "x"), ("as_user_id", "")];
    is(&with(&none), 400, "MISSING_PARAMETER", "as_user_id");
    for (name, value, status, code) in [
        ("scheduled_at", "tomorrow", 400, "INVALID_PARAMETER"),
        ("scheduled_at", "2020-01-01T00:00:00Z", 400, "INVALID_PARAMETER"),
        ("scheduled_at", "2099-01-01", 400, "INVALID_PARAMETER"),
        ("nullcast", "perhaps", 400, "INVALID_PARAMETER"),
        ("as_user_id", "me", 400, "INVALID_PARAMETER"),
        ("as_user_id", "1", 403, "USER_NOT_FOUND"),
        ("media_keys", "x", 400, "INVALID_PARAMETER"),
        ("media_keys", "3_1", 404, "MEDIA_NOT_FOUND"),
        ("media_keys", "3_1,3_2,3_3,3_4,3_5", 400, "INVALID_PARAMETER"),
        ("card_uri", "card://1", 404, "CARD_NOT_FOUND"),
        ("card_uri", "https://example.com", 404, "CARD_NOT_FOUND"),
    ] {
        let defaults = [("scheduled_at", at), ("text", "x")];
        let stored = defaults.iter().filter(|(known, _)| *known != name).copied();
        let all: Vec<(&str, &str)> = stored.chain([(name, value)]).collect();
        is(&with(&all), status, code, name);
    }
    let long = |length: usize| "a".repeat(length);
    let text = |text: &str, name: &str| with(&[("scheduled_at", at), ("text", text), ("name", name)]);
    text(&long(280), &long(80)).assert_status(200);
    let refused = text(&long(281), "n");
    is(&refused, 400, "INVALID_PARAMETER", "text");
    assert!(refused.text().contains("The text is too long: a post has at most 280 characters"), "{}", refused.text());
    is(&text("x", &long(81)), 400, "INVALID_PARAMETER", "name");
    // Seconds are left away; what is changed is what is sent.
    let late = at.replace(":00Z", ":59Z");
    let created = with(&[("text", "first"), ("scheduled_at", &late), ("name", "n")]).assert_status(200);
    assert_eq!(created["data"]["scheduled_at"], at);
    let path = format!("/scheduled_tweets/{}", created["data"]["id"].as_str().unwrap());
    let changed = ads.send("PUT", &path, &[("text", "second"), ("name", "")]).assert_status(200);
    assert_eq!(changed["data"]["text"], "second");
    assert_eq!(changed["data"]["name"], Value::Null);
    assert_eq!(changed["data"]["nullcast"], true);
    is(&ads.send("PUT", &path, &[("text", "")]), 400, "TWEET_CANNOT_BE_BLANK", "text");
    is(&ads.send("PUT", &path, &[("scheduled_at", "2020-01-01")]), 400, "INVALID_PARAMETER", "scheduled_at");
    let list = ads.get("/scheduled_tweets", &[("count", "1")]);
    assert_eq!(list["data"].as_array().unwrap().len(), 1);
    assert!(list["next_cursor"].is_string());
    is(&ads.send("GET", "/scheduled_tweets", &[("count", "201")]), 400, "INVALID_PARAMETER", "count");
    assert!(ids(&ads.get("/scheduled_posts", &[("user_id", "1")])).is_empty());
    let other = shared_server().new_user("stranger");
    let path = format!("/12/accounts/{}{path}", ads.account);
    is(&send(&other, "GET", &path, &[]), 403, "ACCOUNT_NOT_FOUND", "account_id");
}

#[test]
fn draft_is_stored_and_not_published() {
    let ads = Advertiser::new();
    let created = ads.send("POST", "/draft_tweets", &[("text", "Perhaps")]).assert_status(200);
    let id = created["data"]["id"].as_str().unwrap();
    assert_eq!(created["data"]["user_id"], ads.person.id.as_str());
    assert_eq!((&created["data"]["nullcast"], &created["data"]["media_keys"]), (&json!(true), &json!([])));
    assert_eq!(created["data"]["as_user_id"], Value::Null);
    let one = ads.get(&format!("/draft_posts/{id}"), &[]);
    assert_eq!(one["data"], created["data"]);
    assert_eq!(ids(&ads.get("/draft_posts", &[])), [id]);
    is(&ads.send("POST", "/draft_posts", &[]), 400, "TWEET_CANNOT_BE_BLANK", "text");
    is(&ads.send("GET", "/draft_posts/1", &[]), 404, "NOT_FOUND", "draft_post_id");
    is(&ads.send("GET", "/draft_posts/x", &[]), 404, "INVALID_ID_ILLEGAL_CHARACTERS", "draft_post_id");
    let path = format!("/draft_tweets/{id}");
    let changed = [("text", "Certainly"), ("name", "Idea"), ("nullcast", "false")];
    let changed = ads.send("PUT", &path, &changed).assert_status(200);
    assert_eq!(
        (&changed["data"]["text"], &changed["data"]["name"], &changed["data"]["nullcast"]),
        (&json!("Certainly"), &json!("Idea"), &json!(false))
    );
    is(&ads.send("PUT", &path, &[("text", "")]), 400, "TWEET_CANNOT_BE_BLANK", "text");
    assert_eq!(ads.get(&path, &[])["data"], changed["data"]);
    let deleted = ads.send("DELETE", &path, &[]).assert_status(200);
    assert_eq!(deleted["data"]["status"], "DELETED");
    for method in ["GET", "PUT", "DELETE"] {
        is(&ads.send(method, &path, &[]), 404, "NOT_FOUND", "draft_tweet_id");
    }
    assert!(ids(&ads.get("/draft_posts", &[])).is_empty());
    let two = [("text", "x"), ("as_user_id", "1")];
    is(&ads.send("POST", "/draft_posts", &two), 403, "USER_NOT_FOUND", "as_user_id");
}

fn upload(ads: &Advertiser, width: u32, height: u32) -> String {
    let created = at_once(&ads.person, "tweet_image", &samples::png(width, height)).assert_status(200);
    created["data"]["media_key"].as_str().unwrap().to_owned()
}

/// Adds a medium to the library.
fn add_media(ads: &Advertiser, key: &str, more: &[(&str, &str)]) -> TestResponse {
    ads.send("POST", "/media_library", &[&[("media_key", key)], more].concat())
}

/// The keys of the media in the library.
fn media_keys(ads: &Advertiser, params: &[(&str, &str)]) -> Vec<String> {
    let page = ads.get("/media_library", params);
    let data = page["data"].as_array().unwrap().iter();
    data.map(|one| one["media_key"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn media_of_the_library_are_named_and_used_in_scheduled_posts() {
    let ads = Advertiser::new();
    let key = upload(&ads, 320, 50);
    let path = format!("/media_library/{key}");
    for method in ["GET", "PUT", "DELETE"] {
        is(&ads.send(method, &path, &[]), 404, "MEDIA_NOT_FOUND", "media_key");
    }
    let named = add_media(&ads, &key, &[("file_name", "b.png")]).assert_status(200);
    assert_eq!(named["data"]["name"], Value::Null);
    let named = ads.send("PUT", &path, &[("name", "Banner")]).assert_status(200);
    let data = &named["data"];
    assert_eq!((&data["name"], &data["media_key"]), (&json!("Banner"), &json!(key)));
    assert_eq!((&data["posted"], &data["tweeted"]), (&json!(false), &json!(false)));
    assert_eq!((&data["media_type"], &data["media_status"]), (&json!("IMAGE"), &json!("TRANSCODE_COMPLETED")));
    assert!(data["media_url"].as_str().unwrap().starts_with("http"), "{data}");
    let shown = ads.get("/account_media", &[("creative_types", "BANNER")]);
    assert_eq!(shown["data"][0]["media_key"], key.as_str());
    is(&ads.send("PUT", &path, &[("title", "x")]), 400, "INVALID", "title");
    is(&ads.send("PUT", &path, &[("name", &"n".repeat(101))]), 400, "INVALID_PARAMETER", "name");
    is(&ads.send("PUT", "/media_library/3_1", &[("name", "x")]), 404, "MEDIA_NOT_FOUND", "media_key");
    is(&ads.send("PUT", "/media_library/x", &[("name", "x")]), 400, "INVALID_PARAMETER", "media_key");
    let at = minute(30);
    let with = [("text", ""), ("scheduled_at", at.as_str()), ("media_keys", key.as_str())];
    let created = schedule(&ads, &with).assert_status(200);
    assert_eq!((&created["data"]["text"], &created["data"]["media_keys"]), (&json!(""), &json!([key])));
    assert_eq!(ads.get(&path, &[])["data"]["file_name"], "b.png");
}

#[test]
fn video_of_the_library_has_the_aspect_ratio_that_cards_show() {
    let ads = Advertiser::new();
    let film = mp4(Film { width: 854, height: 480, ..Film::default() });
    let added = add_media(&ads, &ads.media("tweet_video", &film), &[]).assert_status(200);
    assert_eq!((&added["data"]["aspect_ratio"], &added["data"]["duration"]), (&json!("16:9"), &json!(1000)));
}

#[test]
fn author_whose_posts_are_promoted_uses_media_of_their_own() {
    let ads = Advertiser::new();
    let author = shared_server().new_user("author");
    shared_server().run_cli(&["ads", "account", "promote", &ads.account, &author.username]).assert_success();
    let role = ["ads", "account", "role", &ads.account, &author.username, "AD_MANAGER"];
    shared_server().run_cli(&role).assert_success();
    let own = at_once(&author, "tweet_image", &samples::png(64, 64)).assert_status(200);
    let (own, other) = (own["data"]["media_key"].as_str().unwrap().to_owned(), upload(&ads, 65, 65));
    let path = |name: &str| format!("/12/accounts/{}/{name}", ads.account);
    send(&author, "POST", &path("media_library"), &[("media_key", &own)]).assert_status(200);
    let at = minute(30);
    let schedule = |who: &TestUser<'_>, key: &str| {
        let params = [("text", "Seen"), ("scheduled_at", &at), ("media_keys", key), ("as_user_id", &who.id)];
        send(who, "POST", &path("scheduled_posts"), &params)
    };
    schedule(&author, &own).assert_status(200);
    schedule(&ads.person, &other).assert_status(200);
    // What would fail when it is published is refused.
    is(&schedule(&author, &other), 400, "INVALID_MEDIA", "media_keys");
    is(&schedule(&ads.person, &own), 400, "INVALID_MEDIA", "media_keys");
}

#[test]
fn media_library_is_filtered_and_paged() {
    let ads = Advertiser::new();
    let [key, second, third] = [320, 20, 30].map(|width| upload(&ads, width, 50));
    let keys = |params: &[(&str, &str)]| media_keys(&ads, params);
    let take = |key: &str, more: &[(&str, &str)]| add_media(&ads, key, more);
    take(&key, &[("name", "Banner"), ("file_name", "b.png")]).assert_status(200);
    let added = take(&second, &[("name", "River ride")]).assert_status(200);
    assert_eq!(added["data"]["name"], "River ride");
    assert_eq!(take(&second, &[]).assert_status(200)["data"], added["data"]);
    take(&third, &[]).assert_status(200);
    assert_eq!(keys(&[]), [third.clone(), second.clone(), key.clone()]);
    for (params, found) in [
        (&[("q", "RIDE")][..], vec![second.clone()]),
        (&[("q", "ride river")], vec![second.clone()]),
        (&[("q", "b.PNG")], vec![key.clone()]),
        (&[("q", "bann")], vec![]),
        (&[("q", "iver")], vec![]),
        (&[("media_type", "VIDEO")], vec![]),
        (&[("media_type", "IMAGE"), ("q", "ride")], vec![second.clone()]),
        (&[("q", "nothing")], vec![]),
        (&[("q", "-")], vec![]),
    ] {
        assert_eq!(keys(params), found, "{params:?}");
    }
    // Page by page, with what is asked for and without.
    for requested in [&[][..], &[("media_type", "IMAGE")]] {
        let (mut walked, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = [("count", "1"), ("cursor", cursor.as_str())];
            let page = ads.get("/media_library", &[requested, &page].concat());
            walked.extend(page["data"][0]["media_key"].as_str().map(str::to_owned));
            match page["next_cursor"].as_str() {
                Some(next) => next.clone_into(&mut cursor),
                None => break,
            }
        }
        assert_eq!(walked, keys(&[]), "{requested:?}");
    }
    is(&ads.send("GET", "/media_library", &[("count", "51")]), 400, "INVALID_PARAMETER", "count");
}

#[test]
fn media_of_the_library_are_named_by_id_and_category_as_well() {
    let ads = Advertiser::new();
    let key = upload(&ads, 320, 50);
    let (_, id) = key.split_once('_').unwrap();
    let add = |more: &[(&str, &str)]| ads.send("POST", "/media_library", more);
    is(&add(&[("media_id", id)]), 400, "MISSING_PARAMETER", "media_category");
    is(&add(&[("media_category", "TWEET_IMAGE")]), 400, "MISSING_PARAMETER", "media_key");
    is(&add(&[("media_id", id), ("media_category", "AMPLIFY_VIDEO")]), 404, "MEDIA_NOT_FOUND", "media_key");
    let added = add(&[("media_id", id), ("media_category", "TWEET_IMAGE")]).assert_status(200);
    assert_eq!(added["data"]["media_key"], key.as_str());
}

#[test]
fn media_of_the_library_are_the_accounts_own_until_they_are_deleted() {
    let ads = Advertiser::new();
    let (key, at) = (upload(&ads, 320, 50), minute(30));
    let path = format!("/media_library/{key}");
    add_media(&ads, &key, &[]).assert_status(200);
    let with = [("text", ""), ("scheduled_at", at.as_str()), ("media_keys", key.as_str())];
    let take = |key: &str, more: &[(&str, &str)]| add_media(&ads, key, more);
    let deleted = ads.send("DELETE", &path, &[]).assert_status(200);
    assert_eq!(deleted["data"]["deleted"], true);
    assert!(media_keys(&ads, &[]).is_empty());
    for method in ["DELETE", "GET"] {
        is(&ads.send(method, &path, &[]), 404, "MEDIA_NOT_FOUND", "media_key");
    }
    is(&schedule(&ads, &with), 404, "MEDIA_NOT_FOUND", "media_keys");
    let theirs = at_once(&shared_server().new_user("stranger"), "tweet_image", &samples::png(8, 8)).assert_status(200);
    let theirs = theirs["data"]["media_key"].as_str().unwrap();
    is(&take(theirs, &[]), 400, "INVALID_MEDIA", "media_key");
    is(&take("3_1", &[]), 404, "MEDIA_NOT_FOUND", "media_key");
    is(&take("", &[]), 400, "MISSING_PARAMETER", "media_key");
    // What was removed is added again while it is kept.
    take(&key, &[]).assert_status(200);
    assert_eq!(media_keys(&ads, &[]), [key.as_str()]);
    let theirs = format!("/media_library/{theirs}");
    is(&ads.send("PUT", &theirs, &[("name", "x")]), 404, "MEDIA_NOT_FOUND", "media_key");
}
