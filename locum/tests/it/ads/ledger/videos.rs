//! What goes before videos: at whose videos it is shown, and how those are counted.

use serde_json::{Value, json};

use super::{Network, market, metric};
use crate::ads::{Advertiser, send};
use crate::harness::{TestRequest, TestUser};
use crate::media::samples::{Film, mp4};
use crate::media::{at_once, processed};

/// Portugal, as the gazetteer has it.
const PORTUGAL: &str = "3c65374ea675483e";

/// Shows a video to everyone; the post.
fn video(user: &TestUser<'_>) -> String {
    let film = at_once(user, "tweet_video", &mp4(Film::default())).assert_status(200);
    let id = film["data"]["id"].as_str().unwrap().to_owned();
    processed(user, &id);
    let body = json!({ "media": { "media_ids": [id] } });
    let created = user.create_post(&body).assert_status(201);
    created["data"]["id"].as_str().unwrap().to_owned()
}

fn publisher(user: &TestUser<'_>, category: &str, more: &[&str]) {
    let add = ["ads", "publisher", "add", &user.username];
    let defaults = ["--category", category, "--country", "PT"];
    market().run_cli(&[&add[..], &defaults, more].concat()).assert_success();
}

/// A line item whose film goes before videos.
fn preroll(ads: &Advertiser) -> String {
    let feature = ["ads", "account", "feature", &ads.account];
    let add = ["--add", "PREROLL_VIEWS_OBJECTIVE"];
    market().run_cli(&[&feature[..], &add].concat()).assert_success();
    let campaign = ads.quick_campaign("20000000");
    let params = [
        ("campaign_id", campaign.as_str()),
        ("objective", "PREROLL_VIEWS"),
        ("product_type", "MEDIA"),
        ("placements", "ALL_ON_TWITTER"),
        ("categories", "IAB7"),
        ("bid_amount_local_micro", "150000"),
        ("start_time", "2026-01-01T00:00:00Z"),
    ];
    let item = ads.make("/line_items", &params);
    let clip = ads.clip();
    ads.send("POST", "/media_library", &[("media_key", &clip)]).assert_status(200);
    let page = ads.get("/account_media", &[("creative_types", "PREROLL")]);
    let media = page["data"][0]["id"].as_str().unwrap();
    let params = [("line_item_id", item.as_str()), ("account_media_id", media)];
    ads.send("POST", "/media_creatives", &params).assert_status(200);
    item
}

/// Gives a line item some criteria together.
fn targets(ads: &Advertiser, item: &str, criteria: &[(&str, &str, &str)]) -> Value {
    let items = criteria.iter().map(|(kind, value, operator)| {
        json!({
            "operation_type": "Create",
            "params": {
                "line_item_id": item, "targeting_type": kind, "targeting_value": value,
                "operator_type": operator,
            },
        })
    });
    let items: Vec<Value> = items.collect();
    ads.batch("targeting_criteria", &items.into()).assert_status(200)
}

impl Network {
    /// What goes before a post's video; nothing where nothing does.
    fn before(&self, viewer: &Value, post: &str) -> Option<Value> {
        let body = json!({
            "viewer": viewer, "placement": "TWITTER_TIMELINE", "slots": 1, "post_id": post,
        });
        let response = self.post("request", &body).assert_status(200);
        response["data"].get(0).cloned()
    }
}

#[test]
fn line_item_is_incomplete_without_the_account_media_of_its_creative() {
    let ads = Advertiser::on(market());
    let item = preroll(&ads);
    let campaign = ads.get(&format!("/line_items/{item}"), &[])["data"]["campaign_id"].as_str().unwrap().to_owned();
    let reasons = || ads.get(&format!("/campaigns/{campaign}"), &[])["data"]["reasons_not_servable"].clone();
    assert_eq!(reasons(), json!([]));
    let media = ads.get("/account_media", &[("creative_types", "PREROLL")])["data"][0]["id"].clone();
    ads.send("DELETE", &format!("/account_media/{}", media.as_str().unwrap()), &[]).assert_status(200);
    assert_eq!(reasons(), json!(["INCOMPLETE"]));
}

#[test]
fn medium_that_leaves_the_library_is_in_no_ad_until_it_is_added_again() {
    let ads = Advertiser::on(market());
    let item = preroll(&ads);
    let campaign = ads.get(&format!("/line_items/{item}"), &[])["data"]["campaign_id"].as_str().unwrap().to_owned();
    let reasons = || ads.get(&format!("/campaigns/{campaign}"), &[])["data"]["reasons_not_servable"].clone();
    let media = || ads.get("/account_media", &[("creative_types", "PREROLL")])["data"].clone();
    let key = media()[0]["media_key"].as_str().unwrap().to_owned();
    ads.send("DELETE", &format!("/media_library/{key}"), &[]).assert_status(200);
    assert_eq!((reasons(), media()), (json!(["INCOMPLETE"]), json!([])));
    ads.send("POST", "/media_library", &[("media_key", &key)]).assert_status(200);
    let added = media()[0]["id"].as_str().unwrap().to_owned();
    let creative = [("line_item_id", item.as_str()), ("account_media_id", &added)];
    ads.send("POST", "/media_creatives", &creative).assert_status(200);
    assert_eq!(reasons(), json!([]));
}

#[test]
fn preroll_is_served_before_videos_of_targeted_publishers() {
    let (ads, network) = (Advertiser::on(market()), Network::new());
    let user = |name: &str| market().new_user(name);
    let (club, lab) = (user("club"), user("lab"));
    let (shy, rider) = (user("shy"), user("rider"));
    publisher(&club, "se", &[]);
    publisher(&lab, "sg", &[]);
    publisher(&shy, "se", &["--restricted"]);
    let [sports, technology, restricted, private] = [&club, &lab, &shy, &rider].map(video);
    let plain = club.publish_text("No video");
    let item = preroll(&ads);
    let key = json!({ "key": "device" });
    let goes = |post: &str| network.before(&key, post).is_some();
    let of_all = || [&sports, &technology, &restricted, &private].map(|post| goes(post));
    let target = |kind: &str, value: &str, operator: &str| {
        let created = targets(&ads, &item, &[(kind, value, operator)]);
        created["data"][0]["id"].as_str().unwrap().to_owned()
    };
    let drop = |criterion: &str| {
        let path = format!("/targeting_criteria/{criterion}");
        ads.send("DELETE", &path, &[]).assert_status(200);
    };
    // Whoever it is not about anybody goes before all videos of publishers who let it.
    assert_eq!(of_all(), [true, true, false, false]);
    assert!(!goes(&plain) && !goes("1"));
    assert!(network.request(&key, 1).is_empty(), "there is no video");
    let shown = network.before(&key, &sports).unwrap();
    assert!(shown["media_creative_id"].is_string(), "{shown}");
    let video = shown["media_url"].as_str().unwrap();
    let path = video.strip_prefix(market().url.as_str()).unwrap_or_else(|| panic!("{shown}"));
    assert_eq!(market().send(TestRequest::get(path)).header("content-type"), "video/mp4");
    // Categories of content: those of the publisher must all be asked for.
    let criterion = target("IAB_CATEGORY", "IAB17", "EQ");
    assert_eq!(of_all(), [true, false, false, false]);
    drop(&criterion);
    let criterion = target("IAB_CATEGORY", "IAB17", "NE");
    assert_eq!(of_all(), [false, true, false, false]);
    drop(&criterion);
    // Publishers by name.
    let criterion = target("CONTENT_PUBLISHER_USER", &club.id, "NE");
    assert_eq!(of_all(), [false, true, false, false]);
    drop(&criterion);
    // A set that the operator put together, for those in its country.
    let fan = market().new_user("fan");
    let edit = ["user", "edit", &fan.username, "--location", "Lisbon, Portugal"];
    market().run_cli(&edit).assert_success();
    fan.publish_text("Here I am");
    let add = ["ads", "curated-category", "add", "Labs", "--country", "PT"];
    let more = ["--publisher", lab.username.as_str()];
    let set = market().run_cli(&[&add[..], &more].concat()).json();
    let set = set["id"].as_str().unwrap();
    target("LOCATION", PORTUGAL, "EQ");
    let link = [("line_item_id", item.as_str()), ("curated_category_id", set)];
    ads.make("/line_item_curated_categories", &link);
    let fan = json!({ "user_id": fan.id });
    crate::harness::wait_until("the fan is known to be in Portugal", || network.before(&fan, &technology).is_some());
    assert!(network.before(&fan, &sports).is_none());
    assert_eq!(of_all(), [false; 4], "somewhere else");
    // Named by the set, and left out by name.
    target("CONTENT_PUBLISHER_USER", &lab.id, "NE");
    assert!(network.before(&fan, &technology).is_none());
}

#[test]
fn video_counts_as_monetized_after_a_preroll_impression() {
    let (ads, network) = (Advertiser::on(market()), Network::new());
    let (club, rider) = (market().new_user("club"), market().new_user("rider"));
    publisher(&club, "se", &[]);
    publisher(&rider, "se", &[]);
    let videos = [&club, &club, &rider].map(video);
    let add = ["ads", "curated-category", "add", "Bikes", "--country", "PT"];
    let more = ["--publisher", &club.username, "--publisher", &rider.username];
    let set = market().run_cli(&[&add[..], &more].concat()).json();
    let one = format!("/curated_categories/{}", set["id"].as_str().unwrap());
    let counts = || {
        let set = ads.get(&one, &[])["data"]["videos_monetized_in_last_thirty_days"].clone();
        let list = send(&ads.person, "GET", "/12/content_categories", &[]).assert_status(200);
        let rows = list["data"].as_array().unwrap().iter();
        let mut rows = rows.filter(|row| row["id"] == "se");
        let sports = rows.next().unwrap();
        [set, sports["videos_monetized_in_last_thirty_days"].clone(), sports["publishers_in_last_thirty_days"].clone()]
    };
    let item = preroll(&ads);
    assert_eq!(counts(), [0, 0, 2], "nothing was shown yet");
    let show = |post: &str, viewer: &str| {
        let shown = network.before(&json!({ "key": viewer }), post).unwrap();
        let token = shown["impression_token"].as_str().unwrap().to_owned();
        network.report(&[(&token, "impression")]).assert_status(200);
        token
    };
    // What is asked for and not shown does not count.
    network.before(&json!({ "key": "one" }), &videos[1]).unwrap();
    let token = show(&videos[0], "one");
    show(&videos[0], "other");
    network.report(&[(&token, "video_content_start")]).assert_status(200);
    assert_eq!(counts(), [1, 1, 2]);
    show(&videos[2], "one");
    assert_eq!(counts(), [2, 2, 2]);
    assert_eq!(metric(&ads.stats("LINE_ITEM", &item, &[]), "impressions"), 3);
    // More than thirty days ago.
    let month = 31 * 24 * super::HOUR;
    market().run_sql(&format!("UPDATE ad_video SET shown_at = shown_at - {month}"));
    assert_eq!(counts(), [0, 0, 2]);
}

#[test]
fn engagement_audience_is_estimated_and_served_alike() {
    let (ads, network) = (Advertiser::on(market()), Network::new());
    let grant = ["ads", "account", "feature", &ads.account, "--add"];
    market().run_cli(&[&grant[..], &["ENGAGER_RETARGETING"]].concat()).assert_success();
    let exact = ["ads", "account", "set", &ads.account, "--estimate", "exact"];
    market().run_cli(&exact).assert_success();
    let first = ads.quick_campaign("20000000");
    let item = ads.quick_item(&first, "150000");
    ads.promoted(&item, false);
    let users = ["clicks", "looks", "stays away"].map(|name| {
        let person = market().new_user(&name.replace(' ', ""));
        person.publish_text("Hello");
        person
    });
    let user = |person: &TestUser<'_>| json!({ "user_id": person.id });
    for (person, kinds) in users.iter().zip([2, 1, 0]) {
        if kinds > 0 {
            let token = network.token(&user(person));
            let kinds = &["impression", "url_click"][..kinds];
            let events: Vec<(&str, &str)> = kinds.iter().map(|kind| (&*token, *kind)).collect();
            network.report(&events).assert_status(200);
        }
    }
    let pause = [("entity_status", "PAUSED")];
    ads.send("PUT", &format!("/campaigns/{first}"), &pause).assert_status(200);
    let own = ads.get("/promotable_users", &[])["data"][0]["id"].as_str().unwrap().to_owned();
    let (campaign, user_ads) = (("CAMPAIGN_ENGAGEMENT", first.as_str()), ("USER_ENGAGEMENT", own.as_str()));
    for (source, kind, expected) in [
        (campaign, "ENGAGEMENT", [true, false, false]),
        (campaign, "IMPRESSION", [true, true, false]),
        (user_ads, "ENGAGEMENT", [true, false, false]),
        (user_ads, "IMPRESSION", [true, true, false]),
    ] {
        let item = ads.quick_item(&ads.quick_campaign("20000000"), "150000");
        ads.promoted(&item, false);
        let criteria = [source, ("ENGAGEMENT_TYPE", kind)];
        let both = criteria.map(|(kind, value)| (kind, value, "EQ"));
        targets(&ads, &item, &both);
        let requested = criteria.map(|(kind, value)| json!({ "targeting_type": kind, "targeting_value": value }));
        let path = format!("/12/accounts/{}/audience_estimate", ads.account);
        let body = json!({ "targeting_criteria": requested });
        let response = ads.person.send_signed(TestRequest::post(path).json(&body)).assert_status(200);
        let count = expected.iter().filter(|one| **one).count();
        assert_eq!(response["data"]["audience_size"], json!({ "min": count, "max": count }), "{criteria:?} {response}");
        let served = [0, 1, 2].map(|place: usize| {
            let shown = network.request(&user(&users[place]), 5);
            shown.iter().any(|one| one["line_item_id"] == item.as_str())
        });
        assert_eq!(served, expected, "{criteria:?}");
    }
}
