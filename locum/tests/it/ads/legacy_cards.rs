//! Cards of the kinds that preceded cards of components.

use serde_json::{Value, json};

use super::card_links::BROWSER;
use super::cards::{details, medium};
use super::{Advertiser, is};
use crate::harness::{TestRequest, shared_server, unique_number};

fn ids(page: &Value) -> Vec<&str> {
    let data = page["data"].as_array().unwrap().iter();
    data.map(|one| one["id"].as_str().unwrap()).collect()
}

impl Advertiser {
    fn website_card(&self, name: &str) -> Value {
        let image = self.image();
        let params = [
            ("name", name),
            ("website_title", "Ride more"),
            ("website_url", "https://bikes.example/spring?a=b"),
            ("media_key", image.as_str()),
        ];
        self.send("POST", "/cards/website", &params).assert_status(200)
    }
}

#[test]
fn website_card_is_listed_with_others_on_request_and_shown_with_its_post() {
    let ads = Advertiser::new();
    let created = ads.website_card("Older");
    assert_eq!(created["request"]["params"]["card_type"], "website");
    let card = &created["data"];
    assert_eq!(card["card_type"], "WEBSITE");
    assert_eq!(card["website_display_url"], "bikes.example");
    let short = card["website_shortened_url"].as_str().unwrap();
    let path = short.strip_prefix(&shared_server().url).unwrap();
    let led = shared_server().send(TestRequest::get(path).header("user-agent", BROWSER));
    assert_eq!(led.header("location"), card["website_url"].as_str().unwrap(), "{led:?}");
    assert_eq!((&card["image_display_width"], &card["image_display_height"]), (&json!("800"), &json!("418")));
    let (id, uri) = (card["id"].as_str().unwrap(), card["card_uri"].as_str().unwrap());
    assert_eq!(ids(&ads.get("/cards", &[])), Vec::<&str>::new());
    let with = [("include_legacy_cards", "true")];
    assert_eq!(ids(&ads.get("/cards", &with)), [id]);
    assert_eq!(ids(&ads.get("/cards", &[with[0], ("card_uris", uri)])), [id]);
    assert_eq!(ids(&ads.get("/cards", &[with[0], ("card_uris", "card://1")])), Vec::<&str>::new());
    assert_eq!(ids(&ads.get("/cards/all", &[("card_uris", uri)])), [id]);
    assert_eq!(ads.get(&format!("/cards/all/{id}"), &[])["data"]["card_uri"], uri);
    // Page by page, with cards of another kind.
    let other = ads.website_card("Newer");
    let first = ads.get("/cards", &[with[0], ("count", "1"), ("sort_by", "name-asc")]);
    assert_eq!(ids(&first), [other["data"]["id"].as_str().unwrap()]);
    let next = [with[0], ("count", "1"), ("sort_by", "name-asc"), ("cursor", first["next_cursor"].as_str().unwrap())];
    let last = ads.get("/cards", &next);
    assert_eq!((ids(&last), &last["next_cursor"]), (vec![id], &Value::Null));
    // A post shows where it leads.
    let body = json!({ "text": format!("Look {}", unique_number()), "card_uri": uri });
    let post = ads.person.create_post(&body).assert_status(201)["data"]["id"].as_str().unwrap().to_owned();
    let shown = ads.person.get(format!("/2/tweets/{post}?tweet.fields=entities")).assert_status(200);
    let entity = &shown["data"]["entities"]["urls"][0];
    assert_eq!(entity["expanded_url"], "https://bikes.example/spring?a=b", "{shown}");
    assert_eq!(entity["title"], "Ride more");
    let deleted = ads.send("DELETE", &format!("/cards/website/{id}"), &[]).assert_status(200);
    assert_eq!(deleted["data"]["deleted"], true);
    let (any, with_deleted) = (format!("/cards/all/{id}"), ("with_deleted", "true"));
    is(&ads.send("GET", &any, &[]), 404, "CARD_NOT_FOUND", "card_id");
    assert_eq!(ads.get(&any, &[with_deleted])["data"]["deleted"], true);
    assert_eq!(ids(&ads.get("/cards/all", &[("card_uris", uri)])), Vec::<&str>::new());
    assert_eq!(ids(&ads.get("/cards/all", &[("card_uris", uri), with_deleted])), [id]);
    let shown = ads.person.get(format!("/2/tweets/{post}?tweet.fields=entities")).assert_status(200);
    assert!(shown["data"].get("entities").is_none(), "{shown}");
}

#[test]
fn app_and_message_cards_check_what_belongs_together() {
    let ads = Advertiser::new();
    let (image, film) = (ads.image(), ads.film());
    let app = [("name", "App"), ("country_code", "PT"), ("media_key", image.as_str()), ("googleplay_app_id", "a.b")];
    let create = |kind: &str, more: &[(&'static str, &str)]| {
        let path = format!("/cards/{kind}");
        let params: Vec<(&str, &str)> = more.to_vec();
        ads.send("POST", &path, &params)
    };
    let card = create("image_app_download", &app).assert_status(200);
    assert_eq!(
        (&card["data"]["app_cta"], &card["data"]["card_type"]),
        (&json!("INSTALL"), &json!("IMAGE_APP_DOWNLOAD"))
    );
    is(&create("image_app_download", &app[..3]), 400, "MISSING_PARAMETER", "googleplay_app_id");
    is(
        &create("image_app_download", &[&app[..], &[("iphone_deep_link", "a://b")]].concat()),
        400,
        "INCLUSIVE_PARAMETERS",
        "iphone_app_id",
    );
    is(
        &create("image_app_download", &[app[0], ("country_code", "XX"), app[2], app[3]]),
        400,
        "INVALID_PARAMETER",
        "country_code",
    );
    is(&create("video_app_download", &app), 400, "INVALID_MEDIA", "media_key");
    let video = [app[0], app[1], ("media_key", film.as_str()), app[3]];
    let card = create("video_app_download", &video).assert_status(200);
    assert!(card["data"]["content_duration_seconds"].is_string(), "{card}");
    assert_eq!(card["data"]["video_owner_id"], ads.person.id.as_str());
    let message = [
        ("name", "Talk"),
        ("media_key", image.as_str()),
        ("recipient_user_id", ads.person.id.as_str()),
        ("first_cta", "Ask"),
        ("first_cta_welcome_message_id", "7"),
    ];
    let card = create("image_direct_message", &message).assert_status(200);
    let id = card["data"]["id"].as_str().unwrap();
    is(
        &create("image_direct_message", &[&message[..], &[("second_cta", "More")]].concat()),
        400,
        "INCLUSIVE_PARAMETERS",
        "second_cta_welcome_message_id",
    );
    is(
        &create("image_direct_message", &[message[0], message[1], ("recipient_user_id", "1"), message[3], message[4]]),
        403,
        "USER_NOT_FOUND",
        "recipient_user_id",
    );
    // This kind is changed where it is created.
    let changed =
        ads.send("PUT", "/cards/image_direct_message", &[("card_id", id), ("name", "Ask us")]).assert_status(200);
    assert_eq!((&changed["data"]["name"], &changed["data"]["first_cta"]), (&json!("Ask us"), &json!("Ask")));
    let stranger = Advertiser::on(shared_server());
    is(&stranger.send("PUT", "/cards/image_direct_message", &[("card_id", id)]), 404, "CARD_NOT_FOUND", "card_id");
}

#[test]
fn app_cards_show_their_image_or_their_video_with_its_poster() {
    let ads = Advertiser::new();
    let (image, film) = (ads.image(), ads.film());
    let create = |kind: &str, more: &[(&'static str, &str)]| {
        let app = [("name", "App"), ("country_code", "PT"), ("googleplay_app_id", "a.b")];
        let path = format!("/cards/{kind}");
        ads.send("POST", &path, &[&app[..], more].concat()).assert_status(200)["data"].clone()
    };
    let card = create("image_app_download", &[("media_key", &image)]);
    assert_eq!(card["wide_app_image"], card["media_url"]);
    let card = create("video_app_download", &[("media_key", &film)]);
    assert_eq!((&card["video_url"], &card["video_hls_url"]), (&card["media_url"], &Value::Null));
    assert_eq!(card["video_content_id"], film.split_once('_').unwrap().1);
    assert_eq!(card["video_poster_url"], card["poster_media_url"]);
    assert_eq!((&card["video_poster_width"], &card["video_poster_height"]), (&json!("160"), &json!("90")));
    let card = create("video_app_download", &[("media_key", &film), ("poster_media_key", &image)]);
    assert_eq!((&card["video_poster_width"], &card["video_poster_height"]), (&json!("800"), &json!("418")));
}

#[test]
fn page_with_cards_of_components_and_older_kinds_shows_each_with_its_own_fields() {
    let ads = Advertiser::new();
    let image = ads.image();
    let components = ads.card(&json!([medium(&image), details()])).assert_status(200)["data"].clone();
    let website = ads.website_card("Older")["data"].clone();
    let app = [("name", "App"), ("country_code", "PT"), ("media_key", &*image), ("googleplay_app_id", "a.b")];
    let app = ads.send("POST", "/cards/image_app_download", &app).assert_status(200)["data"].clone();
    let listed = ads.get("/cards", &[("include_legacy_cards", "true"), ("sort_by", "created_at-asc")]);
    assert_eq!(listed["data"], json!([components, website, app]));
}
