//! Posts of an account: drafts, scheduled and published ones, written, named and looked at.

use serde_json::{Value, json};

use super::{Advertiser, is, send, with_overrides};
use crate::harness::{TestApp, TestRequest, TestResponse, TestUser, shared_server};
use crate::media::{at_once, samples};
use crate::pages::browser::Browser;

fn ids(page: &Value) -> Vec<&str> {
    let data = page["data"].as_array().unwrap().iter();
    data.map(|one| one["id_str"].as_str().unwrap()).collect()
}

fn publish(ads: &Advertiser, params: &[(&str, &str)]) -> TestResponse {
    let defaults = [("as_user_id", ads.person.id.as_str())];
    ads.send("POST", "/post", &with_overrides(&defaults, params))
}

fn id(created: &Value) -> String {
    created["data"]["id_str"].as_str().unwrap().to_owned()
}

fn minute(ahead: i64) -> String {
    super::scheduled_posts::minute(ahead)
}

/// An account with two nullcast posts, of which the first has a name.
struct PublishedPosts {
    ads: Advertiser,
    follower: TestUser<'static>,
    post: String,
    second: String,
}

impl PublishedPosts {
    fn new() -> Self {
        let ads = Advertiser::new();
        let follower = shared_server().new_user("follower");
        follower.import_follows(&[&ads.person]);
        let post =
            id(&publish(&ads, &[("text", "Spring & ride opens"), ("name", "Spring opening")]).assert_status(200));
        let second = id(&publish(&ads, &[("text", "Second")]).assert_status(200));
        Self { ads, follower, post, second }
    }

    fn list(&self, params: &[(&str, &str)]) -> Value {
        self.ads.get("/posts", &[&[("post_type", "PUBLISHED")], params].concat())
    }
}

#[test]
fn nullcast_post_is_returned_as_created_and_is_in_no_timeline() {
    let ads = Advertiser::new();
    let me = ads.person.id.as_str();
    let follower = shared_server().new_user("follower");
    follower.import_follows(&[&ads.person]);
    let params = [
        ("text", "Spring & ride opens #now https://bikes.example/#spring"),
        ("name", "Spring opening"),
        ("conversation_settings", "FOLLOWING"),
    ];
    let created = publish(&ads, &params).assert_status(200);
    let post = id(&created);
    let data = &created["data"];
    assert_eq!(data["user"]["id_str"], me);
    assert_eq!(data["id"].as_i64().unwrap().to_string(), post);
    assert_eq!(data["post_id"], post.as_str());
    assert_eq!(
        [
            &data["nullcast"],
            &data["post_type"],
            &data["name"],
            &data["conversation_settings"],
            &data["scheduled_at"],
            &data["card_uri"],
        ],
        [&json!(true), &json!("PUBLISHED"), &json!("Spring opening"), &json!("FOLLOWING"), &Value::Null, &Value::Null,]
    );
    let text = data["text"].as_str().unwrap();
    assert!(text.starts_with("Spring &amp; ride"));
    assert_eq!(data["entities"]["hashtags"][0]["indices"][0], json!(text.find("#now")));
    assert!(data.get("full_text").is_none());
    assert!(data["created_at"].as_str().unwrap().contains("+0000"));
    assert_eq!(created["request"]["params"]["as_user_id"], me.parse::<i64>().unwrap());
    // It is a real one, which is in no timeline.
    let seen = follower.fetch_post(&post, "reply_settings,text");
    assert_eq!(seen["reply_settings"], "following");
    for path in [format!("/2/users/{me}/posts"), format!("/2/users/{}/timelines/reverse_chronological", follower.id)] {
        let reader = if path.ends_with("posts") { &ads.person } else { &follower };
        assert_eq!(reader.get(path).assert_status(200)["meta"]["result_count"], 0);
    }
    let whole = [("text", "Second"), ("post_mode", "extended"), ("trim_user", "true")];
    let created = publish(&ads, &whole).assert_status(200);

    assert_eq!(created["data"]["full_text"], "Second");
    assert_eq!(created["data"]["user"], json!({ "id": me.parse::<i64>().unwrap(), "id_str": me }));
}

#[test]
fn post_has_its_place() {
    let ads = Advertiser::new();
    let add = ["place", "add", "Harbour", "--type", "poi", "--country", "Germany", "--bbox", "9.5,53.25,10,53.5"];
    let place = shared_server().run_cli(&add).json()["id"].clone();
    let body = json!({ "text": "By the water", "geo": { "place_id": place } });
    ads.person.create_post(&body).assert_status(201);
    let page = ads.get("/posts", &[("post_type", "PUBLISHED"), ("timeline_type", "ORGANIC")]);
    let corners = json!([[[9.5, 53.25], [10.0, 53.25], [10.0, 53.5], [9.5, 53.5]]]);
    assert_eq!(
        page["data"][0]["place"],
        json!({
            "id": place, "place_type": "poi", "name": "Harbour", "full_name": "Harbour", "country": "Germany",
            "country_code": "", "contained_within": [], "attributes": {},
            "bounding_box": { "type": "Polygon", "coordinates": corners },
        })
    );
}

#[test]
fn published_posts_are_filtered_and_paged() {
    let published = PublishedPosts::new();
    let PublishedPosts { ads, follower, post, second } = &published;
    let organic = publish(ads, &[("text", "For all"), ("nullcast", "false")]).assert_status(200);
    let organic = id(&organic);
    let home = format!("/2/users/{}/timelines/reverse_chronological", follower.id);
    assert_eq!(follower.get(home).assert_status(200)["data"][0]["id"], organic.as_str());
    let own = ads.person.publish_text("Through the platform");
    let reply = json!({ "text": "Answered", "reply": { "in_reply_to_post_id": own } });
    let reply = ads.person.create_post(&reply).assert_status(201)["data"]["id"].clone();
    let reply = reply.as_str().unwrap();

    let list = |params: &[(&str, &str)]| published.list(params);
    let page = list(&[]);
    assert_eq!(ids(&page), [second.as_str(), post]);
    assert_eq!(page["next_cursor"], Value::Null);
    let first = &page["data"][1];
    assert_eq!(first["name"], "Spring opening");
    assert!(first["full_text"].as_str().unwrap().starts_with("Spring"));
    assert_eq!(first["truncated"], false);
    assert_eq!(ids(&list(&[("timeline_type", "ORGANIC")])), [own.as_str(), &organic]);
    let all = [("timeline_type", "ALL"), ("include_mentions_and_replies", "true")];
    let everything = [reply, &own, &organic, second, post];
    assert_eq!(ids(&list(&all)), everything);
    // Page by page.
    let (mut walked, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = [("count", "2"), ("cursor", cursor.as_str())];
        let page = list(&[&all[..], &page].concat());
        walked.extend(ids(&page).into_iter().map(str::to_owned));
        match page["next_cursor"].as_str() {
            Some(next) => next.clone_into(&mut cursor),
            None => break,
        }
    }
    assert_eq!(walked, everything);
    for (params, found) in [
        (&[("name", "spring")][..], vec![post.as_str()]),
        (&[("name", "opening")], vec![]),
        (&[("post_ids", &format!("{second},{organic},1"))], vec![second.as_str()]),
        (&[("user_id", &follower.id), ("timeline_type", "ALL")], vec![]),
    ] {
        assert_eq!(ids(&list(params)), found, "{params:?}");
    }
    let older = ads.get("/tweets", &[("tweet_type", "PUBLISHED"), ("count", "1")]);
    assert_eq!(older["data"][0]["tweet_id"], second.as_str());
    assert_eq!(older["data"][0]["tweet_type"], "PUBLISHED");
    assert!(older["next_cursor"].is_string());
}

#[test]
fn name_of_a_published_post_is_changed_and_removed() {
    let published = PublishedPosts::new();
    let PublishedPosts { ads, post, second, .. } = &published;
    let list = |params: &[(&str, &str)]| published.list(params);
    let path = format!("/posts/{second}/name");
    let named = ads.send("PUT", &path, &[("name", "Spring, again")]).assert_status(200);
    assert_eq!(named["data"]["name"], "Spring, again");
    assert_eq!(ids(&list(&[("name", "SPRING")])), [second.as_str(), post]);
    let unnamed = ads.send("PUT", &path, &[("name", "")]).assert_status(200);
    assert_eq!(unnamed["data"]["name"], Value::Null);
    assert_eq!(ids(&list(&[("name", "SPRING")])), [post.as_str()]);
    ads.send("PUT", &path, &[("name", &"n".repeat(80))]).assert_status(200);
    let long = ads.send("PUT", &path, &[("name", &"n".repeat(81))]);
    is(&long, 400, "INVALID_PARAMETER", "name");
    for (id, status, code) in [("1", 404, "TWEET_NOT_FOUND"), ("x", 400, "INVALID_PARAMETER")] {
        let path = format!("/tweets/{id}/name");
        is(&ads.send("PUT", &path, &[("name", "n")]), status, code, "tweet_id");
    }
    ads.person.delete(format!("/2/posts/{second}")).assert_status(200);
    is(&ads.send("PUT", &path, &[]), 404, "TWEET_NOT_FOUND", "post_id");
    assert_eq!(ids(&list(&[])), [post.as_str()]);
    // What is published with a name later keeps it, and can be promoted.
    let item = ads.line_item(&ads.campaign());
    let params = [("line_item_id", item.as_str()), ("post_ids", post)];
    ads.send("POST", "/promoted_posts", &params).assert_status(200);
}

#[test]
fn invalid_filter_of_a_list_of_posts_is_refused() {
    let ads = Advertiser::new();
    let list = |params: &[(&str, &str)]| ads.send("GET", "/posts", params);
    is(&list(&[]), 400, "MISSING_PARAMETER", "post_type");
    let with = |params: &[(&str, &str)]| {
        let all = [&[("post_type", "PUBLISHED")], params].concat();
        list(&all)
    };
    let many = |count: usize| {
        let all: Vec<String> = (1..=count).map(|n| n.to_string()).collect();
        all.join(",")
    };
    let long = "n".repeat(81);
    for (name, value) in [
        ("count", "0"),
        ("count", "1001"),
        ("timeline_type", "SOME"),
        ("trim_user", "perhaps"),
        ("include_mentions_and_replies", "x"),
        ("name", long.as_str()),
        ("user_id", "me"),
        ("post_ids", "x"),
        ("post_ids", &many(201)),
        ("cursor", "nowhere"),
    ] {
        is(&with(&[(name, value)]), 400, "INVALID_PARAMETER", name);
    }
    is(&list(&[("post_type", "GONE")]), 400, "INVALID_PARAMETER", "post_type");
    with(&[("post_ids", &many(200)), ("count", "1000")]).assert_status(200);
}

#[test]
fn invalid_post_is_refused_and_not_published() {
    let (ads, long) = (Advertiser::new(), "n".repeat(81));
    let text = |length: usize| "a".repeat(length);
    is(&publish(&ads, &[]), 400, "TWEET_CANNOT_BE_BLANK", "text");
    is(&publish(&ads, &[("text", " ")]), 400, "TWEET_CANNOT_BE_BLANK", "text");
    publish(&ads, &[("text", &text(280))]).assert_status(200);
    let (below, above) = (text(280), text(281));
    is(&publish(&ads, &[("text", &above)]), 400, "INVALID_PARAMETER", "text");
    is(&publish(&ads, &[("text", &below)]), 400, "DUPLICATE_TWEET", "text");
    for (name, value, status, code) in [
        ("as_user_id", "", 400, "MISSING_PARAMETER"),
        ("as_user_id", "me", 400, "INVALID_PARAMETER"),
        ("as_user_id", "1", 403, "USER_NOT_FOUND"),
        ("nullcast", "perhaps", 400, "INVALID_PARAMETER"),
        ("conversation_settings", "NOBODY", 400, "INVALID_PARAMETER"),
        ("name", long.as_str(), 400, "INVALID_PARAMETER"),
        ("post_mode", "long", 400, "INVALID_PARAMETER"),
        ("media_keys", "x", 400, "INVALID_PARAMETER"),
        ("media_keys", "3_1", 404, "MEDIA_NOT_FOUND"),
        ("media_keys", "3_1,3_2,3_3,3_4,3_5", 400, "INVALID_PARAMETER"),
        ("card_uri", "card://1", 404, "CARD_NOT_FOUND"),
        ("video_cta", "BUY", 400, "INVALID_PARAMETER"),
        ("video_cta_value", "nowhere", 400, "INVALID_PARAMETER"),
        ("video_title", &text(71), 400, "INVALID_PARAMETER"),
        ("video_description", &text(201), 400, "INVALID_PARAMETER"),
    ] {
        let wrong = publish(&ads, &[("text", "x"), (name, value)]);
        is(&wrong, status, code, name);
    }
    let half = publish(&ads, &[("text", "x"), ("video_cta", "VISIT_SITE")]);
    is(&half, 400, "INCLUSIVE_PARAMETERS", "video_cta_value");
    let page = ads.get("/posts", &[("post_type", "PUBLISHED"), ("timeline_type", "ALL")]);
    assert_eq!(ids(&page).len(), 1, "nothing else was published");
}

#[test]
fn post_is_published_by_composers_and_read_by_roles_that_see_campaigns() {
    let ads = Advertiser::new();
    let role = |user: &TestUser<'_>, more: &[&str]| {
        let role = ["ads", "account", "role", &ads.account, &user.username];
        shared_server().run_cli(&[&role[..], more].concat()).assert_success();
    };
    let request = |user: &TestUser<'_>, method, path: &str, params: &[(&str, &str)]| {
        let path = format!("/12/accounts/{}{path}", ads.account);
        send(user, method, &path, params)
    };
    let [creative, analyst, organic, stranger] =
        ["creative", "analyst", "organic", "stranger"].map(|name| shared_server().new_user(name));
    role(&creative, &["CREATIVE_MANAGER"]);
    role(&analyst, &["CAMPAIGN_ANALYST"]);
    role(&organic, &["ANALYST"]);
    let own = ads.person.id.as_str();
    let new = [("as_user_id", own), ("text", "By somebody else")];
    let published = [("post_type", "PUBLISHED")];
    let some = [("post_ids", "1"), ("post_type", "PUBLISHED")];
    for (user, reads, writes) in
        [(&creative, 200, 403), (&analyst, 200, 403), (&organic, 403, 403), (&stranger, 403, 403)]
    {
        request(user, "GET", "/posts", &published).assert_status(reads);
        request(user, "GET", "/post_previews", &some).assert_status(reads);
        request(user, "POST", "/post", &new).assert_status(writes);
    }
    is(&request(&analyst, "PUT", "/posts/1/name", &[]), 403, "ACTION_NOT_ALLOWED", "");
    role(&creative, &["CREATIVE_MANAGER", "--composer"]);
    request(&creative, "POST", "/post", &new).assert_status(200);
    let open = [&new[..1], &[("text", "For all"), ("nullcast", "false")]].concat();
    let open = request(&creative, "POST", "/post", &open);
    is(&open, 403, "ACTION_NOT_ALLOWED", "nullcast");
}

#[test]
fn post_in_the_name_of_another_user_needs_the_right_of_that_user_and_of_the_caller() {
    let ads = Advertiser::new();
    let [composer, other] = ["composer", "other"].map(|name| shared_server().new_user(name));
    let path = format!("/12/accounts/{}/post", ads.account);
    let post = |user: &TestUser<'_>, author: &str, text: &str| {
        send(user, "POST", &path, &[("as_user_id", author), ("text", text)])
    };
    // Not the account's to speak for, whoever asks, and no user at all looks the same.
    is(&post(&ads.person, &other.id, "In your name"), 403, "USER_NOT_FOUND", "as_user_id");
    is(&post(&ads.person, "1", "In your name"), 403, "USER_NOT_FOUND", "as_user_id");
    // The author allows the account, the account does not allow the caller.
    let role = ["ads", "account", "role", &ads.account, &composer.username, "CREATIVE_MANAGER"];
    shared_server().run_cli(&role).assert_success();
    is(&post(&composer, &ads.person.id, "Without the right"), 403, "ACTION_NOT_ALLOWED", "");
    shared_server().run_cli(&[&role[..], &["--composer"]].concat()).assert_success();
    // The caller's own token suffices then.
    let published = post(&composer, &ads.person.id, "With the right").assert_status(200);
    assert_eq!(published["data"]["user"]["id_str"], ads.person.id.as_str(), "{published}");
    is(&post(&composer, &other.id, "In your name"), 403, "USER_NOT_FOUND", "as_user_id");
}

/// A draft with a picture.
fn create_draft(ads: &Advertiser) -> String {
    let key = at_once(&ads.person, "tweet_image", &samples::png(64, 36)).assert_status(200);
    let key = key["data"]["media_key"].as_str().unwrap().to_owned();
    ads.make("/draft_posts", &[("text", "A <b>draft</b>"), ("name", "Idea"), ("media_keys", &key)])
}

fn create_scheduled_post(ads: &Advertiser, at: &str) -> String {
    ads.make("/scheduled_posts", &[("as_user_id", &ads.person.id), ("text", "Later"), ("scheduled_at", at)])
}

fn previews(ads: &Advertiser, kind: &str, ids: &str) -> Vec<Value> {
    let all = ads.get("/tweet_previews", &[("tweet_type", kind), ("tweet_ids", ids)]);
    all["data"].as_array().unwrap().clone()
}

/// The path that a preview frames.
fn framed_path(preview: &Value) -> String {
    let frame = preview["preview"].as_str().unwrap();
    assert!(frame.starts_with("<iframe class='tweet-preview' src='http"), "{frame}");
    let url = frame.split("src='").nth(1).unwrap().split('\'').next().unwrap();
    format!("/preview/{}", url.split("/preview/").nth(1).unwrap())
}

/// Opens a page without credentials.
fn open(path: &str) -> TestResponse {
    shared_server().send(TestRequest::get(path))
}

#[test]
fn drafts_and_scheduled_posts_are_listed_in_the_form_of_posts() {
    let ads = Advertiser::new();
    let draft = create_draft(&ads);
    let at = minute(60);
    let me = ads.person.id.as_str();
    let later = create_scheduled_post(&ads, &at);
    let list = |kind: &str, more: &[(&str, &str)]| ads.get("/posts", &[&[("post_type", kind)], more].concat());
    let drafts = list("DRAFT", &[]);
    assert_eq!(ids(&drafts), [draft.as_str()]);
    let one = &drafts["data"][0];
    assert_eq!(one["full_text"].as_str().unwrap().split(" http").next(), Some("A &lt;b&gt;draft&lt;/b&gt;"));
    assert_eq!((&one["post_type"], &one["name"]), (&json!("DRAFT"), &json!("Idea")));
    assert_eq!(one["extended_entities"]["media"].as_array().unwrap().len(), 1, "{one}");
    let scheduled = list("SCHEDULED", &[("trim_user", "true")]);
    assert_eq!(ids(&scheduled), [later.as_str()]);
    assert_eq!(scheduled["data"][0]["scheduled_at"], at.as_str());
    assert_eq!(scheduled["data"][0]["user"]["id_str"], me);
    assert!(ids(&list("DRAFT", &[("name", "x")])).is_empty());
    assert_eq!(ids(&list("DRAFT", &[("name", "ID")])), [draft.as_str()]);
    assert!(ids(&list("DRAFT", &[("timeline_type", "ORGANIC")])).is_empty());
    assert!(ids(&list("DRAFT", &[("post_ids", &later)])).is_empty());
    assert_eq!(ids(&list("DRAFT", &[("post_ids", &draft)])), [draft.as_str()]);
    // Nothing of it is anywhere else.
    let seen = ads.person.get(format!("/2/posts/{draft}")).json();
    assert!(seen.get("data").is_none());
}

#[test]
fn preview_page_shows_the_draft_without_scripts_or_cookies() {
    let ads = Advertiser::new();
    let (draft, later) = (create_draft(&ads), create_scheduled_post(&ads, &minute(60)));
    let post = id(&publish(&ads, &[("text", "Out")]).assert_status(200));
    let previews = |kind: &str, ids: &str| previews(&ads, kind, ids);
    let all = format!("{later},1,{draft},{post}");
    assert_eq!(previews("DRAFT", &all).len(), 1);
    assert_eq!(previews("SCHEDULED", &all)[0]["tweet_id"], later.as_str());
    let page = open(&framed_path(&previews("DRAFT", &all)[0]));
    let html = page.assert_page(200);
    assert!(html.contains("A &#60;b&#62;draft") || html.contains("A &lt;b&gt;draft"), "{html}");
    assert!(html.contains("<img "), "{html}");
    assert!(!html.contains("<script") && !html.contains("<form"));
    let policy = page.header("content-security-policy").to_owned();
    assert!(policy.contains("frame-ancestors 'self'"), "{policy}");
    assert!(!policy.contains('*') && !policy.contains("unsafe"), "{policy}");
    assert!(policy.contains("default-src 'none'"));
    assert_eq!(page.header("x-frame-options"), "SAMEORIGIN");
    assert_eq!(page.header("set-cookie"), "");
}

#[test]
fn preview_is_framed_only_by_the_addresses_of_the_app() {
    let ads = Advertiser::new();
    let post = id(&publish(&ads, &[("text", "Out")]).assert_status(200));
    let addresses = ["--callback", "https://tool.example:8443/done", "--website"];
    let addresses = [&addresses[..], &["https://bikes.example/about"]].concat();
    let created = crate::pages::browser::app(shared_server(), &addresses);
    let app = TestApp::from_command_output(&shared_server().default_app().owner, &created);
    let user = TestUser::with_new_token(shared_server(), &app, &ads.person.id, &ads.person.username);
    let own = send(
        &user,
        "GET",
        &format!("/12/accounts/{}/post_previews", ads.account),
        &[("post_type", "PUBLISHED"), ("post_ids", &post)],
    )
    .assert_status(200);
    let framed = open(&framed_path(&own["data"][0]));
    assert!(framed.assert_page(200).contains("Out"));
    let policy = framed.header("content-security-policy");
    let those = "frame-ancestors 'self' https://bikes.example https://tool.example:8443;";
    assert!(policy.contains(those), "{policy}");
}

#[test]
fn preview_needs_its_token_and_ends_with_the_draft() {
    let ads = Advertiser::new();
    let draft = create_draft(&ads);
    let path = framed_path(&previews(&ads, "DRAFT", &draft)[0]);
    let post = id(&publish(&ads, &[("text", "Out")]).assert_status(200));
    let (bare, token) = path.split_once("?t=").unwrap();
    for wrong in [
        bare.to_owned(),
        format!("{bare}?t="),
        format!("{bare}?t={}", &token[1..]),
        format!("{bare}?t={token}x"),
        format!("/preview/{post}?t={token}"),
        format!("/preview/x?t={token}"),
    ] {
        assert_eq!(open(&wrong).status, 404, "{wrong}");
    }
    ads.send("DELETE", &format!("/draft_posts/{draft}"), &[]).assert_status(200);
    assert_eq!(open(&path).status, 404);
}

#[test]
fn preview_of_a_draft_is_announced_in_the_notifications_of_the_caller_only() {
    let ads = Advertiser::new();
    let draft = create_draft(&ads);
    let response = ads.send("POST", &format!("/draft_posts/preview/{draft}"), &[]);
    let response = response.assert_status(200)["message"].as_str().unwrap().to_owned();
    assert!(response.starts_with(&format!("See @{}'s notifications", ads.person.username)));
    for (id, status, code) in [("1", 404, "NOT_FOUND"), ("x", 404, "INVALID_ID_ILLEGAL_CHARACTERS")] {
        let path = format!("/draft_tweets/preview/{id}");
        is(&ads.send("POST", &path, &[]), status, code, "draft_tweet_id");
    }
    let name = ads.person.username.as_str();
    let set = ["user", "password", name, "--password", "a long secret"];
    shared_server().run_cli(&set).assert_success();
    let mut browser = Browser::new(shared_server());
    browser.sign_in(name, "a long secret", "/notifications");
    let list = browser.send(TestRequest::get("/notifications")).assert_page(200);
    let link = list.split("href=\"/preview/").nth(1).expect(&list);
    let link = format!("/preview/{}", link.split('"').next().unwrap().replace("&amp;", "&"));
    assert!(open(&link).assert_page(200).contains("draft"));
    let (mut other, _) = Browser::of_someone(shared_server());
    let theirs = other.send(TestRequest::get("/notifications")).assert_page(200);
    assert!(!theirs.contains("/preview/"), "{theirs}");
}

#[test]
fn previews_are_limited_to_two_hundred_posts() {
    let ads = Advertiser::new();
    let few = |count: usize| {
        let all: Vec<String> = (1..=count).map(|n| n.to_string()).collect();
        let ids = all.join(",");
        ads.send("GET", "/post_previews", &[("post_type", "DRAFT"), ("post_ids", &ids)])
    };
    few(200).assert_status(200);
    is(&few(201), 400, "INVALID_PARAMETER", "post_ids");
    let none = ads.send("GET", "/post_previews", &[("post_type", "DRAFT")]);
    is(&none, 400, "MISSING_PARAMETER", "post_ids");
    let none = ads.send("GET", "/post_previews", &[("post_ids", "1")]);
    is(&none, 400, "MISSING_PARAMETER", "post_type");
}

#[test]
fn sandbox_post_is_visible_in_the_sandbox_only() {
    let ads = Advertiser::new();
    let created = send(&ads.person, "POST", "/ads-sandbox/12/accounts", &[]).assert_status(200);
    let account = created["data"][0]["id"].as_str().unwrap();
    let inside = |method, path: &str, params: &[(&str, &str)]| {
        let path = format!("/ads-sandbox/12/accounts/{account}{path}");
        send(&ads.person, method, &path, params)
    };
    let me = ads.person.id.as_str();
    let params = [("as_user_id", me), ("text", "Tried out"), ("name", "Trial")];
    let created = inside("POST", "/post", &params).assert_status(200);
    let post = id(&created);
    assert_eq!(created["data"]["text"], "Tried out");
    let list = |more: &[(&str, &str)]| {
        let all = [&[("post_type", "PUBLISHED")], more].concat();
        inside("GET", "/posts", &all).assert_status(200)
    };
    assert_eq!(ids(&list(&[])), [post.as_str()]);
    assert_eq!(ids(&list(&[("name", "tri")])), [post.as_str()]);
    assert!(ids(&list(&[("timeline_type", "ORGANIC")])).is_empty());
    let named = inside("PUT", &format!("/posts/{post}/name"), &[("name", "Other")]);
    assert_eq!(named.assert_status(200)["data"]["name"], "Other");
    let seen = ads.person.get(format!("/2/posts/{post}")).json();
    assert!(seen.get("data").is_none(), "{seen}");
    let outside = ads.get("/posts", &[("post_type", "PUBLISHED"), ("timeline_type", "ALL")]);
    assert!(ids(&outside).is_empty());
    let shown = inside("GET", "/post_previews", &[("post_type", "PUBLISHED"), ("post_ids", &post)]);
    assert_eq!(shown.assert_status(200)["data"].as_array().unwrap().len(), 1);
}
