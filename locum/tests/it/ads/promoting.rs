//! What is promoted: posts of those who agreed to it, and what is left when a post goes.

use serde_json::{Value, json};

use super::{Advertiser, is, refused, send};
use crate::harness::{TestApp, TestRequest, TestServer, TestUser, keep_for_test, wait_until};
use crate::pages::browser::Browser;

/// A server of these tests' own: what others promote would be served beside it.
fn market() -> &'static TestServer {
    thread_local! {
        static MARKET: &'static TestServer = keep_for_test(TestServer::start(&[]));
    }
    MARKET.with(|server| *server)
}

fn person(name: &str) -> TestUser<'static> {
    market().new_user(name)
}

/// Lets an account promote somebody's posts.
fn agrees(ads: &Advertiser, who: &TestUser<'_>) {
    let promote = ["ads", "account", "promote", &ads.account, &who.username];
    let shown = market().run_cli(&promote).json();
    let users = shown["promotable_users"].as_array().unwrap();
    let own = users.iter().filter(|one| one["type"] == "REPOSTS_ONLY");
    assert!(own.count() >= 1, "{shown}");
}

fn promote(ads: &Advertiser, item: &str, posts: &str) -> crate::harness::TestResponse {
    let params = [("line_item_id", item), ("post_ids", posts)];
    ads.send("POST", "/promoted_posts", &params)
}

fn promoted(ads: &Advertiser, item: &str, post: &str) -> (String, String) {
    let created = promote(ads, item, post).assert_status(200);
    let created = &created["data"][0];
    let text = |name: &str| created[name].as_str().unwrap().to_owned();
    (text("id"), text("post_id"))
}

fn ids(page: &Value) -> Vec<String> {
    let all = page["data"].as_array().map(Vec::as_slice);
    let all = all.unwrap_or_default().iter();
    all.map(|one| one["id"].as_str().unwrap().to_owned()).collect()
}

fn count(reader: &TestUser<'_>, post: &str) -> Value {
    reader.fetch_post(post, "public_metrics")["public_metrics"]["repost_count"].clone()
}

/// What a network is told to show to somebody.
fn shown(app: &TestApp, viewer: &TestUser<'_>) -> Value {
    let body = json!({
        "viewer": { "user_id": viewer.id }, "placement": "TWITTER_TIMELINE", "slots": 1
    });
    let request = TestRequest::post("/ads-serve/1/request").json(&body);
    market().send(request.bearer(&app.bearer)).assert_status(200)["data"].clone()
}

fn likes(ads: &Advertiser, promoted: &str) -> i64 {
    let path = format!("/12/stats/accounts/{}", ads.account);
    let hour = base::clock::wall_time().ms() / 3_600_000 * 3_600_000;
    let at = |ms: i64| {
        let text = base::Time::from_ms(ms).to_string();
        format!("{}Z", text.split('.').next().unwrap())
    };
    let (from, to) = (at(hour - 86_400_000), at(hour + 3_600_000));
    let params = [
        ("entity", "PROMOTED_TWEET"),
        ("entity_ids", promoted),
        ("start_time", &from),
        ("end_time", &to),
        ("granularity", "TOTAL"),
        ("metric_groups", "ENGAGEMENT"),
        ("placement", "ALL_ON_TWITTER"),
    ];
    let stats = send(&ads.person, "GET", &path, &params).assert_status(200);
    let all = &stats["data"][0]["id_data"][0]["metrics"]["likes"];
    all.as_array().map_or(0, |all| all[0].as_i64().unwrap())
}

/// An account, an author who agreed that it promotes their posts, and a line item.
fn consenting_author() -> (Advertiser, TestUser<'static>, String) {
    let ads = Advertiser::on(market());
    let author = person("author");
    agrees(&ads, &author);
    let item = ads.line_item(&ads.campaign());
    (ads, author, item)
}

fn serving_app() -> TestApp {
    let app = market().new_app("self-serve");
    let allow = ["app", "access", &app.id, "--allow", "ads_serving"];
    market().run_cli(&allow).assert_success();
    app
}

#[test]
fn consent_to_promotion_is_announced_once_to_the_author() {
    let ads = Advertiser::on(market());
    let author = person("author");
    let item = ads.line_item(&ads.campaign());
    let post = author.publish_text("I ride here every day");
    is(&promote(&ads, &item, &post), 400, "INVALID_TWEET", "post_ids");
    // Who agreed is told so, once.
    agrees(&ads, &author);
    agrees(&ads, &author);
    let set = ["user", "password", &author.username, "--password", "a long secret"];
    market().run_cli(&set).assert_success();
    let mut browser = Browser::new(market());
    browser.sign_in(&author.username, "a long secret", "/notifications");
    let response = browser.send(TestRequest::get("/notifications")).assert_page(200);
    let about = format!("promote posts of your account @{}", author.username);
    assert_eq!(response.matches(&about).count(), 1, "{response}");
}

#[test]
fn post_of_a_consenting_author_is_promoted_by_one_hidden_repost() {
    let (ads, author, item) = consenting_author();
    let follower = person("follower");
    follower.import_follows(&[&ads.person]);
    let post = author.publish_text("I ride here every day");
    let me = &ads.person;
    let reposts = format!("/2/users/{}/reposts", me.id);
    me.post(reposts.clone(), &json!({ "tweet_id": post })).assert_status(200);
    let (id, repost) = promoted(&ads, &item, &post);
    assert_ne!(repost, post);
    let seen = follower.fetch_post(&repost, "referenced_posts,author_id");
    assert_eq!(seen["author_id"], me.id.as_str());
    assert_eq!(seen["referenced_posts"], json!([{ "type": "retweeted", "id": post }]));
    assert_eq!(count(me, &post), 1);
    let by = author.get(format!("/2/tweets/{post}/retweeted_by")).assert_status(200);
    assert_eq!(ids(&by), std::slice::from_ref(&me.id));
    // It is in no timeline, and goes on when the other one is taken back.
    me.delete(format!("{reposts}/{post}")).assert_status(200);
    assert_eq!(count(me, &post), 0);
    let by = author.get(format!("/2/tweets/{post}/retweeted_by")).assert_status(200);
    assert!(ids(&by).is_empty(), "{by}");
    for path in
        [format!("/2/users/{}/posts", me.id), format!("/2/users/{}/timelines/reverse_chronological", follower.id)]
    {
        let reader = if path.ends_with("posts") { me } else { &follower };
        let page = reader.get(path).assert_status(200);
        assert!(!ids(&page).contains(&repost), "{page}");
    }
    // The same again is the same; what was deleted comes back.
    assert_eq!(promoted(&ads, &item, &post), (id.clone(), repost.clone()));
    assert_eq!(promoted(&ads, &item, &repost), (id.clone(), repost.clone()));
    let path = format!("/promoted_posts/{id}");
    ads.send("DELETE", &path, &[]).assert_status(200);
    assert_eq!(promoted(&ads, &item, &post), (id.clone(), repost.clone()));
    // Another line item shows the same repost.
    let other = ads.line_item(&ads.campaign());
    assert_eq!(promoted(&ads, &other, &post).1, repost);
}

#[test]
fn post_that_may_not_be_promoted_is_refused_and_leaves_no_repost() {
    let (ads, author, item) = consenting_author();
    let (me, stranger) = (&ads.person, person("stranger"));
    let reposts = format!("/2/users/{}/reposts", me.id);
    let second = author.publish_text("And there");
    let foreign = stranger.publish_text("Not for you");
    let both = format!("{second},{foreign}");
    let posts = |who: &TestUser<'_>| {
        let path = format!("/2/users/{}?user.fields=public_metrics", who.id);
        who.get(path).assert_status(200)["data"]["public_metrics"]["tweet_count"].clone()
    };
    let before = posts(me);
    is(&promote(&ads, &item, &both), 400, "INVALID_TWEET", "post_ids");
    assert_eq!(posts(me), before);
    // A repost of somebody who did not agree is nothing to promote.
    me.post(reposts, &json!({ "tweet_id": foreign })).assert_status(200);
    let page = me.get(format!("/2/users/{}/posts", me.id)).assert_status(200);
    let own = ids(&page).first().unwrap().clone();
    is(&promote(&ads, &item, &own), 400, "INVALID_TWEET", "post_ids");
    for (act, undo) in [("protect", "unprotect"), ("suspend", "restore")] {
        market().run_cli(&["user", act, &author.id]).assert_success();
        is(&promote(&ads, &item, &second), 400, "INVALID_TWEET", "post_ids");
        market().run_cli(&["user", undo, &author.id]).assert_success();
    }
    author.delete(format!("/2/tweets/{second}")).assert_status(200);
    let deleted = refused(&promote(&ads, &item, &second), 404);
    assert_eq!(deleted, ("TWEET_NOT_FOUND".to_owned(), "post_ids".to_owned()));
    let older = ads.send("POST", "/promoted_tweets", &[("line_item_id", &item), ("tweet_ids", &second)]);
    is(&older, 404, "TWEET_NOT_FOUND", "tweet_ids");
}

#[test]
fn engagement_with_the_repost_counts_for_the_post_and_its_promotion() {
    let (ads, author, item) = consenting_author();
    let post = author.publish_text("I ride here every day");
    let (_, repost) = promoted(&ads, &item, &post);
    let app = serving_app();
    let fan = person("fan");
    let won = shown(&app, &fan);
    assert_eq!(won[0]["post_id"], post.as_str(), "{won}");
    let by = won[0]["promoted_post_id"].as_str().unwrap().to_owned();
    let token = &won[0]["impression_token"];
    let events = json!({ "events": [{ "impression_token": token, "kind": "impression" }] });
    let request = TestRequest::post("/ads-serve/1/events").json(&events);
    market().send(request.bearer(&app.bearer)).assert_status(200);
    // Whoever likes the repost likes the post.
    let like = json!({ "tweet_id": repost });
    fan.post(format!("/2/users/{}/likes", fan.id), &like).assert_status(200);
    wait_until("the like is counted", || likes(&ads, &by) == 1);
    let liked = fan.fetch_post(&post, "public_metrics");
    assert_eq!(liked["public_metrics"]["like_count"], 1);
}

/// Why a campaign cannot be served, beside what does not matter here.
fn reasons(ads: &Advertiser, by: &TestUser<'_>, campaign: &str) -> Vec<String> {
    let path = format!("/12/accounts/{}/campaigns/{campaign}", ads.account);
    let shown = send(by, "GET", &path, &[]).assert_status(200);
    let all = shown["data"]["reasons_not_servable"].as_array().unwrap();
    assert_eq!(shown["data"]["servable"], all.is_empty(), "{}", shown["data"]);
    all.iter().map(|one| one.as_str().unwrap().to_owned()).collect()
}

#[test]
fn line_item_is_incomplete_while_none_of_its_posts_can_be_seen() {
    let ads = Advertiser::on(market());
    let author = person("author");
    let admin = person("admin");
    let role = ["ads", "account", "role", &ads.account, &admin.username];
    market().run_cli(&[&role[..], &["ACCOUNT_ADMIN"]].concat()).assert_success();
    agrees(&ads, &author);
    let campaign = ads.campaign();
    let item = ads.line_item(&campaign);
    let state = || reasons(&ads, &admin, &campaign);
    assert_eq!(state(), ["INCOMPLETE"]);
    let say = |text: &str| ads.person.publish_text(text);
    let (first, second) = (say("The first"), say("The second"));
    promote(&ads, &item, &format!("{first},{second}")).assert_status(200);
    assert!(state().is_empty());
    let delete = |by: &TestUser<'_>, post: &str| {
        by.delete(format!("/2/tweets/{post}")).assert_status(200);
    };
    delete(&ads.person, &first);
    assert!(state().is_empty(), "one of two is left");
    delete(&ads.person, &second);
    assert_eq!(state(), ["INCOMPLETE"]);
    // The records stay as they are.
    let stored = ads.get("/promoted_posts", &[("line_item_ids", &item)]);
    assert_eq!(ids(&stored).len(), 2);
    assert_eq!(stored["data"][0]["deleted"], false);
    assert_eq!(stored["data"][0]["approval_status"], "ACCEPTED");
    // A second line item, and a campaign is complete again.
    let other = ads.line_item(&campaign);
    let theirs = author.publish_text("By somebody who agreed");
    promoted(&ads, &other, &theirs);
    assert!(state().is_empty());
    for who in [&author, &ads.person] {
        for (act, undo) in [("suspend", "restore"), ("protect", "unprotect")] {
            market().run_cli(&["user", act, &who.id]).assert_success();
            assert_eq!(state(), ["INCOMPLETE"], "{act} {}", who.username);
            market().run_cli(&["user", undo, &who.id]).assert_success();
            assert!(state().is_empty(), "{undo} {}", who.username);
        }
    }
}

#[test]
fn campaign_serves_a_post_until_its_author_is_suspended_or_deletes_it() {
    let (ads, author, item) = consenting_author();
    let (admin, viewer) = (person("admin"), person("viewer"));
    let role = ["ads", "account", "role", &ads.account, &admin.username, "ACCOUNT_ADMIN"];
    market().run_cli(&role).assert_success();
    let campaign = ads.get(&format!("/line_items/{item}"), &[])["data"]["campaign_id"].as_str().unwrap().to_owned();
    let state = || reasons(&ads, &admin, &campaign);
    let theirs = author.publish_text("By somebody who agreed");
    let (_, repost) = promoted(&ads, &item, &theirs);
    let app = serving_app();
    let serves = |post: &str| {
        let won = shown(&app, &viewer);
        let won = won.as_array().unwrap();
        won.iter().any(|one| one["post_id"] == post)
    };
    assert!(serves(&theirs));
    market().run_cli(&["user", "suspend", &author.id]).assert_success();
    assert!(!serves(&theirs));
    market().run_cli(&["user", "restore", &author.id]).assert_success();
    // With the post its reposts go, those for promotion too.
    author.delete(format!("/2/tweets/{theirs}")).assert_status(200);
    assert_eq!(state(), ["INCOMPLETE"]);
    viewer.get(format!("/2/tweets/{repost}")).assert_status(200)["errors"].as_array().unwrap();
    assert!(!serves(&theirs));
}

#[test]
fn campaigns_of_a_page_are_servable_each_by_its_own_posts() {
    let ads = Advertiser::on(market());
    let (campaign, whole) = (ads.campaign(), ads.campaign());
    ads.line_item(&campaign);
    let shows = ads.line_item(&whole);
    promote(&ads, &shows, &ads.person.publish_text("Still there")).assert_status(200);
    let page = ads.get("/campaigns", &[]);
    let servable: Vec<(&str, &Value)> =
        page["data"].as_array().unwrap().iter().map(|one| (one["id"].as_str().unwrap(), &one["servable"])).collect();
    assert!(servable.contains(&(whole.as_str(), &json!(true))), "{page}");
    assert!(servable.contains(&(campaign.as_str(), &json!(false))));
    let pages = format!("/12/accounts/{}/campaigns?count=1", ads.account);
    ads.person.send_signed(TestRequest::get(pages)).assert_status(200);
}

#[test]
fn sandbox_promotion_creates_no_repost() {
    let ads = Advertiser::on(market());
    let author = person("author");
    let created = send(&ads.person, "POST", "/ads-sandbox/12/accounts", &[]).assert_status(200);
    let account = created["data"][0]["id"].as_str().unwrap();
    let inside = |method, path: &str, params: &[(&str, &str)]| {
        let path = format!("/ads-sandbox/12/accounts/{account}{path}");
        send(&ads.person, method, &path, params).assert_status(200)["data"].clone()
    };
    let id = |data: &Value| data["id"].as_str().unwrap().to_owned();
    let promote = ["ads", "account", "promote", account, &author.username];
    market().run_cli(&promote).assert_success();
    let funding = [("currency", "EUR"), ("type", "CREDIT_LINE"), ("start_time", "2026-01-01")];
    let instrument = id(&inside("POST", "/funding_instruments", &funding));
    let campaign = [
        ("funding_instrument_id", instrument.as_str()),
        ("name", "Tried"),
        ("daily_budget_amount_local_micro", "1000000"),
    ];
    let campaign = id(&inside("POST", "/campaigns", &campaign));
    let item = [
        ("campaign_id", campaign.as_str()),
        ("objective", "ENGAGEMENTS"),
        ("product_type", "PROMOTED_TWEETS"),
        ("placements", "ALL_ON_TWITTER"),
        ("bid_amount_local_micro", "150000"),
        ("start_time", "2026-01-01T00:00:00Z"),
    ];
    let item = id(&inside("POST", "/line_items", &item));
    let post = author.publish_text("Tried out");
    let params = [("line_item_id", item.as_str()), ("post_ids", &post)];
    let first = inside("POST", "/promoted_posts", &params);
    let repost = first[0]["post_id"].as_str().unwrap();
    assert_ne!(repost, post);
    assert_eq!(inside("POST", "/promoted_posts", &params), first);
    let seen = author.get(format!("/2/tweets/{repost}")).json();
    assert!(seen.get("data").is_none(), "{seen}");
    let path = format!("/campaigns/{campaign}");
    let state = || inside("GET", &path, &[])["reasons_not_servable"].clone();
    assert_eq!(state(), json!([]));
    author.delete(format!("/2/tweets/{post}")).assert_status(200);
    assert_eq!(state(), json!(["INCOMPLETE"]));
}
