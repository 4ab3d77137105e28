//! Cards: of components, polls, conversations.

use serde_json::{Value, json};

use super::{Advertiser, is, problem_parameters, send, with_overrides};
use crate::harness::{TestRequest, TestResponse, TestUser, percent_encode, shared_server, unique_number};
use crate::media::samples::{Film, gif, mp4, png};
use crate::media::{at_once, processed};

impl Advertiser {
    pub(super) fn media(&self, category: &str, file: &[u8]) -> String {
        upload(&self.person, category, file)
    }

    pub(super) fn image(&self) -> String {
        self.media("tweet_image", &png(800, 418))
    }

    pub(super) fn film(&self) -> String {
        self.media("tweet_video", &mp4(wide()))
    }

    /// A film for advertising.
    pub(super) fn clip(&self) -> String {
        self.media("amplify_video", &mp4(wide()))
    }

    fn json(&self, method: &'static str, path: &str, body: &Value) -> TestResponse {
        let path = format!("/12/accounts/{}{path}", self.account);
        self.person.send_signed(TestRequest::new(method, path).json(body))
    }

    pub(super) fn card(&self, components: &Value) -> TestResponse {
        self.json("POST", "/cards", &json!({ "name": "Cargo offer", "components": components }))
    }
}

fn wide() -> Film {
    Film { width: 160, height: 90, ..Film::default() }
}

fn upload(user: &TestUser<'_>, category: &str, file: &[u8]) -> String {
    let created = at_once(user, category, file).assert_status(200);
    processed(user, created["data"]["id"].as_str().unwrap());
    created["data"]["media_key"].as_str().unwrap().to_owned()
}

pub(super) fn medium(key: &str) -> Value {
    json!({ "type": "MEDIA", "media_key": key })
}

pub(super) fn details() -> Value {
    let destination = json!({ "type": "WEBSITE", "url": "https://bikes.example/" });
    json!({ "type": "DETAILS", "title": "Ride more", "destination": destination })
}

fn button(more: &Value) -> Value {
    let mut destination = json!({ "type": "APP", "country_code": "US" });
    let members = destination.as_object_mut().unwrap();
    members.extend(more.as_object().unwrap().clone());
    let label = json!({ "type": "ENUM", "value": "INSTALL" });
    json!({ "type": "BUTTON", "label": label, "destination": destination })
}

fn names(page: &Value) -> Vec<&str> {
    let data = page["data"].as_array().unwrap().iter();
    data.map(|one| one["card_type"].as_str().unwrap()).collect()
}

#[test]
fn card_is_returned_as_created_and_its_components_are_replaced() {
    let ads = Advertiser::new();
    let (image, film) = (ads.image(), ads.film());
    let created = ads.card(&json!([medium(&image), details()])).assert_status(200);
    assert_eq!(created["request"]["params"], json!({ "account_id": ads.account }));
    let card = &created["data"];
    assert_eq!(card["card_type"], "IMAGE_WEBSITE");
    let id = card["id"].as_str().unwrap();
    assert_eq!(card["card_uri"], format!("card://{id}"));
    let mut leads = card["components"][1].clone();
    let destination = leads["destination"].as_object_mut().unwrap();
    destination.remove("tco_url").unwrap();
    assert_eq!(leads, details());
    let response = &card["components"][0]["media_metadata"][&image];
    assert_eq!((&response["type"], &response["width"]), (&json!("IMAGE"), &json!(800)));
    assert!(response["url"].as_str().unwrap().contains("/media/"), "{response}");
    assert!(card.get("slides").is_none());

    // What was told goes back and is left out; each field that is sent takes the place of what was.
    let path = format!("/cards/{id}");
    let same = json!({ "name": "New", "components": card["components"], "id": id });
    let renamed = ads.json("PUT", &path, &same).assert_status(200);
    assert_eq!((&renamed["data"]["name"], &renamed["data"]["components"]), (&json!("New"), &card["components"]));
    let slide = json!([medium(&film), details()]);
    let slides = ads.json("PUT", &path, &json!({ "slides": [slide, [medium(&image), details()]] })).assert_status(200);
    assert_eq!(slides["data"]["card_type"], "MIXED_MEDIA_MULTI_DEST_CAROUSEL_WEBSITE");
    assert!(slides["data"].get("components").is_none());
    assert_eq!(slides["data"]["slides"][0][0]["media_metadata"][&film]["video_aspect_ratio"], "16:9");
}

#[test]
fn cards_are_filtered_sorted_paged_and_deleted() {
    let ads = Advertiser::new();
    let (image, film) = (ads.image(), ads.film());
    let card = &ads.card(&json!([medium(&image), details()])).assert_status(200)["data"];
    let id = card["id"].as_str().unwrap();
    let path = format!("/cards/{id}");
    ads.json("PUT", &path, &json!({ "name": "New" })).assert_status(200);

    let both = json!([film, image, film]);
    let swipe = json!({ "type": "SWIPEABLE_MEDIA", "media_keys": both });
    let app = button(&json!({ "googleplay_app_id": "com.bikes", "googleplay_deep_link": "bikes://x" }));
    let apps = ads.card(&json!([swipe, app])).assert_status(200);
    assert_eq!(apps["data"]["card_type"], "MIXED_MEDIA_SINGLE_DEST_CAROUSEL_APP");
    assert_eq!(apps["data"]["components"][0]["media_keys"], both);
    let known = ads.get("/account_apps", &[]);
    assert_eq!(known["data"][0]["app_store_identifier"], "com.bikes");

    let newest = ads.get("/cards", &[("sort_by", "created_at-desc"), ("count", "1")]);
    assert_eq!(names(&newest), ["MIXED_MEDIA_SINGLE_DEST_CAROUSEL_APP"]);
    let next = newest["next_cursor"].as_str().unwrap();
    let params = [("sort_by", "created_at-desc"), ("count", "1"), ("cursor", next)];
    assert_eq!(names(&ads.get("/cards", &params)), ["IMAGE_WEBSITE"]);
    let uri = card["card_uri"].as_str().unwrap();
    for filter in [("card_id", id), ("card_ids", id), ("card_uris", uri), ("q", "nE")] {
        assert_eq!(ads.get("/cards", &[filter])["data"][0]["id"], id, "{filter:?}");
    }
    let app_kind = [("card_types", "MIXED_MEDIA_SINGLE_DEST_CAROUSEL_APP"), ("include_legacy_cards", "true")];
    assert_eq!(ads.get("/cards", &app_kind)["data"].as_array().unwrap().len(), 1);

    let deleted = ads.send("DELETE", &path, &[]).assert_status(200);
    assert_eq!(deleted["data"]["deleted"], true);
    is(&ads.send("GET", &path, &[]), 404, "CARD_NOT_FOUND", "card_id");
    ads.get(&path, &[("with_deleted", "true")]);
    is(&ads.send("DELETE", &path, &[]), 404, "CARD_NOT_FOUND", "card_id");
    assert_eq!(ads.get("/cards", &[])["data"].as_array().unwrap().len(), 1);
}

#[test]
fn invalid_card_is_refused_with_its_errors() {
    let ads = Advertiser::new();
    let image = ads.image();
    let link = |more: &Value| json!([medium(&image), button(more)]);
    let wrong_url = json!({ "type": "DETAILS", "title": "x", "destination": { "type": "WEBSITE", "url": "no" } });
    let small = ads.media("tweet_image", &png(400, 209));
    let tall = ads.media("tweet_image", &png(800, 1200));
    let other = shared_server().new_user("stranger");
    let foreign = upload(&other, "tweet_image", &png(800, 418));
    let one = json!({ "type": "SWIPEABLE_MEDIA", "media_keys": [image] });
    let untyped = json!({ "media_key": image });
    let site_in_button = json!({ "type": "BUTTON", "label": { "type": "ENUM", "value": "PLAY" },
        "destination": { "type": "WEBSITE", "url": "https://x.example" } });
    let stray = json!({ "ios_deep_link": "x://y", "googleplay_app_id": "a" });
    for (components, status, code, at) in [
        (json!([]), 400, "INVALID", "components"),
        (json!("x"), 400, "INVALID_PARAMETER", "components"),
        (json!([5]), 400, "INVALID_PARAMETER", "components[0]"),
        (json!([medium(&image)]), 400, "INVALID", "components"),
        (json!([medium(&image), medium(&image), details()]), 400, "INVALID", "components"),
        (json!([untyped, details()]), 400, "MISSING_PARAMETER", "components[0].type"),
        (json!([{ "type": "SONG" }, details()]), 400, "UNKNOWN_CARD_TYPE", "components[0].type"),
        (json!([{ "type": "MEDIA" }, details()]), 400, "MISSING_PARAMETER", "components[0].media_key"),
        (json!([medium("x"), details()]), 400, "INVALID_PARAMETER", "components[0].media_key"),
        (json!([medium("3_1"), details()]), 404, "MEDIA_NOT_FOUND", "components"),
        (json!([medium(&foreign), details()]), 404, "MEDIA_NOT_FOUND", "components"),
        (json!([medium(&small), details()]), 400, "INVALID_IMAGE", "components"),
        (json!([medium(&tall), details()]), 400, "INVALID_IMAGE", "components"),
        (json!([one, details()]), 400, "INVALID_PARAMETER", "components[0].media_keys"),
        (json!([medium(&image), wrong_url]), 400, "INVALID_PARAMETER", "components[1].destination.url"),
        (json!([medium(&image), site_in_button]), 400, "INVALID_PARAMETER", "components[1].destination.type"),
        (link(&json!({})), 400, "MISSING_PARAMETER", "components[1].destination.googleplay_app_id"),
        (link(&json!({ "country_code": "USA" })), 400, "INVALID_PARAMETER", "components[1].destination.country_code"),
        (link(&stray), 400, "INCLUSIVE_PARAMETERS", "components[1].destination.ios_deep_link"),
    ] {
        is(&ads.card(&components), status, code, at);
    }
    let send = |body: &Value| ads.json("POST", "/cards", body);
    let good = json!([medium(&image), details()]);
    let long = "é".repeat(81);
    is(&send(&json!({ "components": good })), 400, "MISSING_PARAMETER", "name");
    is(&send(&json!({ "name": long, "components": good })), 400, "INVALID_PARAMETER", "name");
    is(&send(&json!({ "name": "x" })), 400, "MISSING_PARAMETER", "components");
    is(
        &send(&json!({ "name": "x", "components": good, "slides": [good, good] })),
        400,
        "EXCLUSIVE_PARAMETERS",
        "slides",
    );
    is(&send(&json!({ "name": "x", "slides": [good] })), 400, "INVALID_PARAMETER", "slides");
    is(&ads.send("POST", "/cards", &[("name", "x")]), 400, "INVALID_PARAMETER", "");
    is(&ads.send("GET", "/cards", &[("card_types", "x")]), 400, "INVALID_PARAMETER", "card_types");
    is(&ads.send("GET", "/cards", &[("count", "201")]), 400, "INVALID_PARAMETER", "count");
    is(&ads.send("GET", "/cards", &[("q", &long)]), 400, "INVALID_PARAMETER", "q");
    is(&ads.send("GET", "/cards", &[("card_uris", "x")]), 400, "INVALID_PARAMETER", "card_uris");
    is(&ads.send("GET", "/cards/x", &[]), 404, "INVALID_ID_ILLEGAL_CHARACTERS", "card_id");
    assert!(ads.get("/cards", &[])["data"].as_array().unwrap().is_empty());
}

fn create_poll_card(ads: &Advertiser, more: &[(&str, &str)]) -> TestResponse {
    let defaults = [
        ("name", "When do you ride?"),
        ("first_choice", "Morning"),
        ("second_choice", "Evening"),
        ("duration_in_minutes", "2880"),
    ];
    ads.send("POST", "/cards/poll", &with_overrides(&defaults, more))
}

fn post_with_card(ads: &Advertiser, text: &str, card: &Value) -> String {
    let created = ads.person.post("/2/tweets", &json!({ "text": text, "card_uri": card["card_uri"] }));
    created.assert_status(201)["data"]["id"].as_str().unwrap().to_owned()
}

fn post_with_poll(ads: &Advertiser, id: &str) -> Value {
    let query = "expansions=attachments.poll_ids&poll.fields=options,duration_minutes,voting_status";
    ads.person.get(format!("/2/tweets/{id}?{query}")).assert_status(200)
}

#[test]
fn posts_with_the_same_poll_card_share_one_poll() {
    let ads = Advertiser::new();
    let created = create_poll_card(&ads, &[]).assert_status(200);
    assert_eq!(created["request"]["params"]["card_type"], "poll");
    assert_eq!(created["request"]["params"]["duration_in_minutes"], 2880);
    let card = &created["data"];
    assert_eq!((&card["card_type"], &card["duration_in_minutes"]), (&json!("TEXT_POLLS"), &json!("2880")));
    assert_eq!(card["start_time"], card["created_at"]);
    assert!(card.get("third_choice").is_none());

    let (one, other) = (post_with_card(&ads, "Ride", card), post_with_card(&ads, "Ride on", card));
    let see = |id: &str| post_with_poll(&ads, id);
    let seen = see(&one);
    let shown = &seen["includes"]["polls"][0];
    assert_eq!(shown["options"][0]["label"], "Morning", "{seen}");
    assert_eq!(shown["voting_status"], "open");
    assert_eq!(see(&other)["includes"]["polls"][0]["id"], shown["id"]);
    let [voter, second] = ["voter", "second"].map(|name| shared_server().new_user(name));
    let vote = |post: &str, option: &str, by: &TestUser<'_>| {
        shared_server().run_cli(&["poll", "vote", post, option, "--as", &by.username])
    };
    vote(&one, "1", &voter).assert_success();
    vote(&other, "1", &second).assert_success();
    vote(&other, "2", &voter).assert_exit_code(1);
    for post in [&one, &other] {
        assert_eq!(see(post)["includes"]["polls"][0]["options"][0]["votes"], 2);
    }
}

#[test]
fn invalid_poll_card_is_refused() {
    let ads = Advertiser::new();
    let poll = |more: &[(&str, &str)]| create_poll_card(&ads, more);
    poll(&[]).assert_status(200);
    is(&poll(&[("duration_in_minutes", "4")]), 400, "INVALID_PARAMETER", "duration_in_minutes");
    is(&poll(&[("duration_in_minutes", "10081")]), 400, "INVALID_PARAMETER", "duration_in_minutes");
    is(&poll(&[("first_choice", "abcdefghijklmnopqrstuvwxyz")]), 400, "INVALID_PARAMETER", "first_choice");
    is(&poll(&[("second_choice", "")]), 400, "MISSING_PARAMETER", "second_choice");
    is(&poll(&[("fourth_choice", "x")]), 400, "INCLUSIVE_PARAMETERS", "fourth_choice");
    is(&poll(&[("media_key", "3_1")]), 400, "FEATURE_NOT_AVAILABLE", "media_key");
    assert_eq!(ads.get("/cards/poll", &[("with_total_count", "true")])["total_count"], 1);
}

#[test]
fn poll_card_is_immutable_and_takes_its_poll_along_when_deleted() {
    let ads = Advertiser::new();
    let card = &create_poll_card(&ads, &[]).assert_status(200)["data"];
    let one = post_with_card(&ads, "Ride", card);
    let id = card["id"].as_str().unwrap();
    let path = format!("/cards/poll/{id}");
    is(&ads.send("PUT", &path, &[("name", "x")]), 405, "METHOD_NOT_ALLOWED", "");
    assert_eq!(ads.get(&path, &[])["data"], *card);
    assert_eq!(ads.get(&format!("/cards/all/{id}"), &[])["data"], *card);
    let deleted = ads.send("DELETE", &path, &[]).assert_status(200);
    assert_eq!(deleted["data"]["deleted"], true);
    assert!(deleted["data"].get("first_choice").is_none());
    is(&ads.send("GET", &path, &[("with_deleted", "true")]), 404, "CARD_NOT_FOUND", "card_id");
    assert!(post_with_poll(&ads, &one)["includes"].get("polls").is_none());
}

#[test]
fn poll_card_with_media_needs_the_feature() {
    let ads = Advertiser::new();
    let created = send(&ads.person, "POST", "/ads-sandbox/12/accounts", &[]).assert_status(200);
    let account = created["data"][0]["id"].as_str().unwrap().to_owned();
    let inside = |path: &str, params: &[(&str, &str)]| {
        send(&ads.person, "POST", &format!("/ads-sandbox/12/accounts/{account}{path}"), params)
    };
    let poll = |key: &str| {
        let params = [
            ("name", "Which?"),
            ("first_choice", "This"),
            ("second_choice", "That"),
            ("duration_in_minutes", "5"),
            ("media_key", key),
        ];
        inside("/cards/poll", &params)
    };
    let (image, film) = (ads.image(), ads.film());
    is(&poll(&image), 400, "FEATURE_NOT_AVAILABLE", "media_key");
    inside("/features", &[("feature_keys", "PROMOTED_MEDIA_POLLS")]).assert_status(200);
    let still = poll(&image).assert_status(200);
    assert_eq!(
        (&still["data"]["card_type"], &still["data"]["image_display_width"]),
        (&json!("IMAGE_POLLS"), &json!("800"))
    );
    assert!(still["data"].get("media_key").is_none());
    let moving = poll(&film).assert_status(200);
    assert_eq!((&moving["data"]["card_type"], &moving["data"]["video_width"]), (&json!("VIDEO_POLLS"), &json!("160")));
    assert_eq!(moving["data"]["content_duration_seconds"], "1.000");
    assert_eq!(moving["data"]["video_owner_id"], ads.person.id.as_str());
    assert_eq!(moving["data"]["video_content_id"], film.split_once('_').unwrap().1);
    is(&poll(&ads.media("tweet_gif", &gif(2))), 400, "INVALID_MEDIA", "media_key");
    is(&poll(&ads.media("tweet_image", &png(900, 900))), 400, "INVALID_IMAGE", "media_key");
    is(&poll("3_1"), 404, "MEDIA_NOT_FOUND", "media_key");
}

fn create_conversation_card(ads: &Advertiser, kind: &str, media: &str, more: &[(&str, &str)]) -> TestResponse {
    let defaults = [
        ("name", "Pick a route"),
        ("media_key", media),
        ("first_cta", "Coast"),
        ("first_cta_tweet", "I choose the coast"),
        ("thank_you_text", "See you there"),
        ("title", "Sunday ride"),
    ];
    ads.send("POST", &format!("/cards/{kind}_conversation"), &with_overrides(&defaults, more))
}

#[test]
fn conversation_card_is_validated_when_created_and_changed() {
    let ads = Advertiser::new();
    let (film, image) = (ads.film(), ads.image());
    let animation = ads.media("tweet_gif", &gif(2));
    let card = |kind: &str, more: &[(&str, &str)]| create_conversation_card(&ads, kind, &film, more);
    let created = card("video", &[]).assert_status(200);
    let video = &created["data"];
    assert_eq!(video["first_cta_tweet"], "I choose the coast");
    assert_eq!(video["first_cta_post"], "I choose the coast");
    assert_eq!((&video["first_cta"], &video["card_type"]), (&json!("#Coast"), &json!("VIDEO_CONVERSATION")));
    assert_eq!((&video["video_width"], &video["video_height"]), (&json!("16"), &json!("9")));
    assert_eq!(video["video_owner_id"], ads.person.id.as_str());
    let still = card("image", &[("media_key", &image)]).assert_status(200);
    assert_eq!(still["data"]["image_display_width"], "800");

    for (more, status, code, at) in [
        (("title", ""), 400, "MISSING_PARAMETER", "title"),
        (("title", "x23456789012345678901234"), 400, "INVALID_PARAMETER", "title"),
        (("first_cta", "x23456789012345678901"), 400, "INVALID_PARAMETER", "first_cta"),
        (("second_cta", "#Hills"), 400, "INCLUSIVE_PARAMETERS", "second_cta_tweet"),
        (("thank_you_text", ""), 400, "MISSING_PARAMETER", "thank_you_text"),
        (("thank_you_url", "x"), 400, "INVALID_PARAMETER", "thank_you_url"),
        (("media_key", image.as_str()), 400, "INVALID_MEDIA", "media_key"),
        (("media_key", animation.as_str()), 400, "INVALID_MEDIA", "media_key"),
        (("media_key", "13_1"), 404, "MEDIA_NOT_FOUND", "media_key"),
        (("poster_media_key", film.as_str()), 400, "INVALID_IMAGE", "poster_media_key"),
    ] {
        is(&card("video", &[more]), status, code, at);
    }
    is(&card("image", &[]), 400, "INVALID_IMAGE", "media_key");
    let both = card("video", &[("second_cta", "#Hills"), ("third_cta_tweet", "Rivers")]);
    assert_eq!(problem_parameters(&both), ["second_cta_tweet", "third_cta"]);

    let path = format!("/cards/video_conversation/{}", video["id"].as_str().unwrap());
    is(&ads.send("PUT", &path, &[("title", "")]), 400, "MISSING_PARAMETER", "title");
    is(&ads.send("PUT", &path, &[("media_key", "")]), 400, "INVALID_PARAMETER", "media_key");
    let hills = [("title", ""), ("second_cta", "#Hills"), ("second_cta_post", "Hills it is")];
    let changed = ads.send("PUT", &path, &hills).assert_status(200);
    assert_eq!(changed["data"]["second_cta_tweet"], "Hills it is");
    assert!(changed["data"].get("title").is_none());
}

#[test]
fn cards_of_every_kind_are_found_by_uri_in_the_order_of_the_request() {
    let ads = Advertiser::new();
    let (film, image) = (ads.film(), ads.image());
    let video = &create_conversation_card(&ads, "video", &film, &[]).assert_status(200)["data"];
    let still = create_conversation_card(&ads, "image", &image, &[]).assert_status(200);
    let path = format!("/cards/video_conversation/{}", video["id"].as_str().unwrap());
    let uri = |card: &Value| card["card_uri"].as_str().unwrap().to_owned();
    let plain = ads.card(&json!([medium(&image), details()])).assert_status(200);
    let uris = [uri(&still["data"]), uri(&plain["data"]), "card://1".to_owned(), uri(video)];
    let found = ads.get("/cards/all", &[("card_uris", uris.join(",").as_str())]);
    assert_eq!(names(&found), ["IMAGE_CONVERSATION", "IMAGE_WEBSITE", "VIDEO_CONVERSATION"]);
    is(&ads.send("GET", "/cards/all", &[]), 400, "MISSING_PARAMETER", "card_uris");
    is(&ads.send("GET", "/cards/all/zzzzz", &[]), 404, "CARD_NOT_FOUND", "card_id");
    is(&ads.send("GET", "/cards/all/a-b", &[]), 404, "INVALID_ID_ILLEGAL_CHARACTERS", "card_id");
    let stranger = Advertiser::new();
    let one = format!("/cards/all?card_uris={}", percent_encode(&uri(video)));
    assert_eq!(stranger.get(&one, &[])["data"], json!([]));

    let deleted = ads.send("DELETE", &path, &[]).assert_status(200);
    assert_eq!((&deleted["data"]["deleted"], &deleted["data"]["name"]), (&json!(true), &json!("Pick a route")));
    assert!(deleted["data"].get("first_cta").is_none());
    is(&ads.send("DELETE", &path, &[]), 404, "CARD_NOT_FOUND", "card_id");
}

#[test]
fn card_needs_media_of_the_library() {
    let ads = Advertiser::new();
    let image = ads.image();
    ads.card(&json!([medium(&image), details()])).assert_status(200);
    ads.send("DELETE", &format!("/media_library/{image}"), &[]).assert_status(200);
    is(&ads.card(&json!([medium(&image), details()])), 404, "MEDIA_NOT_FOUND", "components");
    let website = [
        ("name", "Older"),
        ("website_title", "Ride more"),
        ("website_url", "https://bikes.example/"),
        ("media_key", image.as_str()),
    ];
    is(&ads.send("POST", "/cards/website", &website), 404, "MEDIA_NOT_FOUND", "media_key");
    ads.send("POST", "/media_library", &[("media_key", &image)]).assert_status(200);
    ads.card(&json!([medium(&image), details()])).assert_status(200);
}

#[test]
fn media_of_the_library_are_posted_once_a_post_has_them() {
    let ads = Advertiser::new();
    let image = ads.image();
    ads.card(&json!([medium(&image), details()])).assert_status(200);
    let posted = || {
        let found = ads.get(&format!("/media_library/{image}"), &[])["data"].clone();
        [&found["posted"], &found["tweeted"]].map(|posted| posted.as_bool().unwrap())
    };
    assert_eq!(posted(), [false, false], "only a card has it");
    let params = [("as_user_id", ads.person.id.as_str()), ("text", "Ride"), ("media_keys", &image)];
    ads.send("POST", "/tweet", &params).assert_status(200);
    assert_eq!(posted(), [true, true], "a nullcast post has it");
    let second = ads.image();
    let id = second.split_once('_').unwrap().1;
    ads.card(&json!([medium(&second), details()])).assert_status(200);
    ads.person.post("/2/posts", &json!({ "text": "Ride", "media": { "media_ids": [id] } })).assert_status(201);
    assert_eq!(ads.get(&format!("/media_library/{second}"), &[])["data"]["posted"], true);
}

#[test]
fn post_suits_a_line_item_by_the_type_of_its_card() {
    let ads = Advertiser::new();
    let image = ads.image();
    let uri = |components: &Value| ads.card(components).assert_status(200)["data"]["card_uri"].clone();
    let website = uri(&json!([medium(&image), details()]));
    let app = uri(&json!([medium(&image), button(&json!({ "ios_app_store_identifier": "1" }))]));
    let film = uri(&json!([medium(&ads.film()), details()]));
    let post = |text: &str, card: &Value| {
        let text = format!("{text} {}", unique_number());
        let body = if card.is_null() { json!({ "text": text }) } else { json!({ "text": text, "card_uri": card }) };
        ads.person.create_post(&body).assert_status(201)["data"]["id"].as_str().unwrap().to_owned()
    };
    let with_website = post("Ride", &website);
    let with_both = post("Ride https://example.com/", &website);
    let with_two_links = post("https://example.com/ https://example.com/two", &Value::Null);
    let (with_link, with_app) = (post("https://example.com/", &Value::Null), post("Ride", &app));
    let with_film = post("Ride", &film);
    let installs = [("ios_app_store_identifier", "1")];
    for (objective, more, suited) in [
        ("WEBSITE_CLICKS", &[][..], [true, false, false, true, false, true]),
        ("VIDEO_VIEWS", &[], [false, false, false, false, false, true]),
        ("APP_INSTALLS", &installs, [false, false, false, false, true, false]),
    ] {
        let campaign = ads.campaign();
        let usual = [
            ("campaign_id", campaign.as_str()),
            ("objective", objective),
            ("product_type", "PROMOTED_TWEETS"),
            ("placements", "ALL_ON_TWITTER"),
        ];
        let item = ads.make("/line_items", &[&usual[..], more].concat());
        let posts = [&with_website, &with_both, &with_two_links, &with_link, &with_app, &with_film];
        for (post, suits) in posts.into_iter().zip(suited) {
            let response = ads.send("POST", "/promoted_posts", &[("line_item_id", &item), ("post_ids", post)]);
            if suits {
                response.assert_status(200);
            } else {
                is(&response, 400, "INVALID_TWEET", "post_ids");
            }
        }
    }
}
