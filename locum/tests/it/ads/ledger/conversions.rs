//! Conversions: what they are attributed to, and what counts.

use serde_json::{Value, json};

use super::{HOUR, Network, around, file, market, written};
use crate::ads::audiences::hashed;
use crate::ads::card_links::{BROWSER, signed_in};
use crate::ads::{Advertiser, is, send};
use crate::harness::{TestRequest, TestResponse, wait_until};
use base::clock::wall_time;

const TAG: &[(&str, &str)] = &[
    ("name", "Checkout"),
    ("type", "PURCHASE"),
    ("click_window", "30"),
    ("view_through_window", "1"),
    ("retargeting_enabled", "false"),
];

/// An advertiser whose post is promoted, alone on a server.
struct Shop {
    ads: Advertiser,
    network: Network,
    campaign: String,
    item: String,
    promoted: String,
}

impl Shop {
    fn new() -> Self {
        let ads = Advertiser::on(market());
        let campaign = ads.quick_campaign("20000000");
        let item = ads.quick_item(&campaign, "150000");
        let (_, promoted) = ads.promoted(&item, false);
        Self { ads, network: Network::new(), campaign, item, promoted }
    }

    /// Shows the post to a viewer and reports what happened; the click id.
    fn show(&self, viewer: &Value, kinds: &[&str]) -> String {
        let shown = self.network.request(viewer, 1);
        let token = shown[0]["impression_token"].as_str().unwrap();
        let events: Vec<(&str, &str)> = kinds.iter().map(|kind| (token, *kind)).collect();
        self.network.report(&events).assert_status(200);
        shown[0]["twclid"].as_str().unwrap().to_owned()
    }

    fn tag(&self, more: &[(&str, &str)]) -> Value {
        let params = crate::ads::with_overrides(TAG, more);
        self.ads.send("POST", "/web_event_tags", &params).assert_status(200)["data"].clone()
    }

    fn convert(&self, pixel: &str, conversions: &Value) -> TestResponse {
        let path = format!("/12/measurement/conversions/{pixel}");
        self.ads.person.send_signed(TestRequest::post(path).json(&json!({ "conversions": conversions })))
    }

    /// A figure of conversions of an entity.
    fn conversions(&self, (entity, id): (&str, &str), group: &str, metric: &str, figure: &str) -> i64 {
        let stats = self.ads.stats(entity, id, &[("metric_groups", group)]);
        let metric = &stats["data"][0]["id_data"][0]["metrics"][metric];
        metric[figure].as_array().map_or(0, |all| all.iter().map(|one| one.as_i64().unwrap()).sum())
    }

    /// The result of a job about the web conversions of the line item.
    fn segmented(&self, segments: &str) -> Value {
        let (from, to) = around(24, 1);
        let params = [
            ("entity", "LINE_ITEM"),
            ("entity_ids", self.item.as_str()),
            ("start_time", &from),
            ("end_time", &to),
            ("granularity", "TOTAL"),
            ("metric_groups", "WEB_CONVERSION"),
            ("placement", "ALL_ON_TWITTER"),
            ("segmentation_type", segments),
        ];
        let job = self.ads.beside("POST", "jobs/A", &params).assert_status(200);
        file(&self.ads, &job)
    }

    fn purchases(&self, figure: &str) -> i64 {
        self.conversions(("LINE_ITEM", &self.item), "WEB_CONVERSION", "conversion_purchases", figure)
    }
}

fn id(record: &Value) -> &str {
    record["id"].as_str().unwrap()
}

fn purchase(tag: &Value, click: &str) -> Value {
    json!({
        "conversion_time": written(wall_time().ms()),
        "event_id": format!("tw-{}-{}", tag["website_tag_id"].as_str().unwrap(), id(tag)),
        "identifiers": [{ "twclid": click }],
    })
}

#[test]
fn site_keeps_its_name_when_the_tag_that_gave_it_is_deleted() {
    let shop = Shop::new();
    let [first, second] = ["Visit", "Checkout"].map(|name| shop.tag(&[("name", name)]));
    let site = first["website_tag_id"].as_str().unwrap();
    shop.ads.send("DELETE", &format!("/web_event_tags/{}", id(&first)), &[]).assert_status(200);
    let known = shop.ads.get(&format!("/web_event_tags/{}", id(&second)), &[])["data"].clone();
    assert_eq!(known["website_tag_id"], site);
    let click = shop.show(&json!({ "key": "device-9", "age": 30, "platform": 1 }), &["impression", "url_click"]);
    shop.convert(site, &json!([purchase(&second, &click)])).assert_status(200);
    assert_eq!(shop.purchases("post_engagement"), 1);
    let refused = shop.convert(site, &json!([purchase(&first, &click)]));
    is(&refused, 404, "WEB_EVENT_TAG_NOT_FOUND", "event_id");
    // An event is of the site that its id names.
    let rival = Advertiser::on(market());
    let foreign = rival.make("/web_event_tags", TAG);
    let mut event = purchase(&second, &click);
    for site in ["9zz", foreign.as_str()] {
        let sent = format!("tw-{site}-{}", id(&second));
        event["event_id"] = json!(sent);
        let refused = shop.convert(id(&second), &json!([event]));
        is(&refused, 404, "WEB_EVENT_TAG_NOT_FOUND", "event_id");
        assert_eq!(refused.json()["errors"][0]["value"], sent.as_str());
    }
    event["event_id"] = json!(format!("TW-{site}-{}", id(&second)).to_uppercase());
    shop.convert(site, &json!([event])).assert_status(200);
}

#[test]
fn conversion_counts_once_for_the_click_that_it_names() {
    let shop = Shop::new();
    let tag = shop.tag(&[]);
    assert_eq!((&tag["status"], &tag["last_tracked_at"]), (&json!("UNVERIFIED"), &Value::Null));
    assert!(tag["embed_code"].as_str().unwrap().contains("/ads/tag.js"), "{tag}");
    let click = shop.show(&json!({ "key": "device-1", "age": 30, "platform": 1 }), &["impression", "url_click"]);
    // Nobody's click, or one that nobody was given, leads to nothing.
    let mut sale = purchase(&tag, "26l6412g5p4iyj65a2oic2ayg2");
    sale["value"] = json!("12.5");
    sale["conversion_id"] = json!("order-6");
    let answer = shop.convert(id(&tag), &json!([sale])).assert_status(200);
    assert_eq!(answer["data"]["conversions_processed"], 1, "{answer}");
    assert_eq!(answer["data"]["debug_id"].as_str().unwrap().len(), 36);
    assert_eq!(shop.purchases("post_engagement"), 0);
    let known = &shop.ads.get(&format!("/web_event_tags/{}", id(&tag)), &[])["data"];
    assert_eq!(known["status"], "TRACKING");
    assert!(known["last_tracked_at"].is_string(), "{known}");
    sale["identifiers"] = json!([{ "twclid": click }]);
    sale["number_items"] = json!(2);
    for _ in 0..2 {
        shop.convert(id(&tag), &json!([sale, sale])).assert_status(200);
    }
    let entities = [("LINE_ITEM", &shop.item), ("CAMPAIGN", &shop.campaign), ("PROMOTED_TWEET", &shop.promoted)];
    for (entity, own) in entities {
        let figure = |name| shop.conversions((entity, own.as_str()), "WEB_CONVERSION", "conversion_purchases", name);
        let figures = ["post_engagement", "post_view", "assisted", "order_quantity", "sale_amount"].map(figure);
        assert_eq!(figures, [1, 0, 0, 2, 12_500_000], "{entity}");
    }
    let stats = shop.ads.stats("LINE_ITEM", &shop.item, &[("metric_groups", "WEB_CONVERSION")]);
    assert_eq!(stats["data"][0]["id_data"][0]["metrics"]["conversion_sign_ups"], Value::Null, "{stats}");
    // Jobs tell the same, by tag and by age.
    for (segments, name) in [("CONVERSION_TAGS", "Checkout"), ("AGE", "AGE_25_TO_34")] {
        let stats = shop.segmented(segments);
        let data = stats["data"][0]["id_data"].as_array().unwrap();
        let found = data.iter().find(|one| one["segment"]["segment_name"] == name);
        let found = &found.unwrap_or_else(|| panic!("{stats}"))["metrics"]["conversion_purchases"];
        assert_eq!(found["post_engagement"], json!([1]), "{segments}: {stats}");
    }
}

#[test]
fn sales_beyond_all_numbers_stop_no_later_conversion() {
    let shop = Shop::new();
    let tag = shop.tag(&[]);
    let click = shop.show(&json!({ "key": "device-8", "age": 30 }), &["impression", "url_click"]);
    for order in 0..12 {
        let mut sale = purchase(&tag, &click);
        sale["value"] = json!("999999999999");
        sale["conversion_id"] = json!(format!("order-{order}"));
        shop.convert(id(&tag), &json!([sale])).assert_status(200);
    }
    assert_eq!((shop.purchases("post_engagement"), shop.purchases("sale_amount")), (12, i64::MAX));
    let by_age = shop.segmented("AGE").to_string();
    assert!(by_age.contains(&format!("\"sale_amount\":[{}]", i64::MAX)), "{by_age}");
}

#[test]
fn visit_of_a_signed_in_user_counts_for_the_view_and_fills_the_audience() {
    let shop = Shop::new();
    let tag = shop.tag(&[("name", "Visits"), ("type", "SITE_VISIT"), ("retargeting_enabled", "true")]);
    let fan = market().new_user("fan");
    let mut browser = signed_in(&fan);
    shop.show(&json!({ "user_id": fan.id }), &["impression"]);
    let script = browser.get("/ads/tag.js");
    assert_eq!((script.status, script.header("content-type")), (200, "text/javascript; charset=utf-8"));
    let event = format!("tw-{}-{}", tag["website_tag_id"].as_str().unwrap(), id(&tag));
    let mut visit = |headers: &[(&'static str, &str)]| {
        let mut request = TestRequest::get(format!("/ads/tag.gif?event_id={event}")).header("user-agent", BROWSER);
        for (name, value) in headers {
            request = request.header(name, *value);
        }
        let image = browser.send(request);
        assert_eq!((image.status, image.header("content-type")), (200, "image/gif"));
    };
    let visits =
        |figure| shop.conversions(("LINE_ITEM", &shop.item), "WEB_CONVERSION", "conversion_site_visits", figure);
    visit(&[("dnt", "1")]);
    visit(&[("sec-gpc", "1")]);
    assert_eq!(visits("post_view"), 0);
    visit(&[]);
    visit(&[]);
    assert_eq!((visits("post_view"), visits("post_engagement")), (1, 0));
    // The visitors are an audience like others.
    let all = shop.ads.get("/custom_audiences", &[]);
    let audience = all["data"][0].clone();
    assert_eq!(audience["audience_type"], "WEB", "{all}");
    let path = format!("/custom_audiences/{}", id(&audience));
    wait_until("the visitor is in the audience", || shop.ads.get(&path, &[])["data"]["audience_size"] == 1);
    let members = json!([{ "operation_type": "Update", "params": { "users": [{ "email": ["0".repeat(64)] }] } }]);
    let users = TestRequest::post(format!("/12/accounts/{}{path}/users", shop.ads.account)).json(&members);
    is(&shop.ads.person.send_signed(users), 403, "ACTION_NOT_ALLOWED", "");
    // After its audience was deleted, a change of the tag makes another one.
    shop.ads.send("DELETE", &path, &[]).assert_status(200);
    let change = [("name", "Visitors")];
    shop.ads.send("PUT", &format!("/web_event_tags/{}", id(&tag)), &change).assert_status(200);
    let all = shop.ads.get("/custom_audiences", &[]);
    assert_ne!(id(&all["data"][0]), id(&audience));
}

#[test]
fn conversion_outside_of_its_tag_s_windows_counts_for_no_ad() {
    let shop = Shop::new();
    let click = shop.show(&json!({ "key": "device-2" }), &["impression"]);
    // Views do not count for one tag; for the other, the ad was shown after the conversion.
    let (never, tag) = (shop.tag(&[("view_through_window", "0")]), shop.tag(&[]));
    let mut early = purchase(&tag, &click);
    early["conversion_time"] = json!(written(wall_time().ms() - 2 * HOUR));
    shop.convert(id(&tag), &json!([purchase(&never, &click), early])).assert_status(200);
    assert_eq!((shop.purchases("post_view"), shop.purchases("post_engagement")), (0, 0));
    shop.convert(id(&tag), &json!([purchase(&tag, &click)])).assert_status(200);
    assert_eq!((shop.purchases("post_view"), shop.purchases("post_engagement")), (1, 0));
}

#[test]
fn ad_that_was_shown_before_the_last_one_assists() {
    let shop = Shop::new();
    let tag = shop.tag(&[]);
    let viewer = json!({ "key": "device-3" });
    shop.show(&viewer, &["impression", "url_click"]);
    // The other line item bids more.
    let other = shop.ads.quick_item(&shop.campaign, "300000");
    shop.ads.promoted(&other, false);
    let shown = shop.network.request(&viewer, 2);
    let last = shown.iter().find(|one| one["line_item_id"] == other.as_str()).unwrap();
    let token = last["impression_token"].as_str().unwrap();
    shop.network.report(&[(token, "impression"), (token, "url_click")]).assert_status(200);
    let device = json!([{ "hashed_email": hashed("nobody@bikes.example") }, { "twclid": last["twclid"] }]);
    let mut sale = purchase(&tag, "");
    sale["identifiers"] = device;
    shop.convert(id(&tag), &json!([sale])).assert_status(200);
    let of =
        |item: &str, figure| shop.conversions(("LINE_ITEM", item), "WEB_CONVERSION", "conversion_purchases", figure);
    // A click id names one impression only, so nothing else is known of the viewer.
    assert_eq!((of(&other, "post_engagement"), of(&shop.item, "assisted")), (1, 0));
    // A device is known wherever it was served.
    let params = [
        ("app_store_identifier", "org.example.bikes"),
        ("os_type", "ANDROID"),
        ("conversion_type", "PURCHASE"),
        ("provider_app_event_id", "7"),
        ("provider_app_event_name", "Sale"),
    ];
    shop.ads.make("/app_event_tags", &params);
    report_app_event(&shop, "PURCHASE", "device-3", wall_time().ms()).assert_status(200);
    let sold = |item: &str, figure| {
        shop.conversions(("LINE_ITEM", item), "MOBILE_CONVERSION", "mobile_conversion_purchases", figure)
    };
    assert_eq!((sold(&other, "post_engagement"), sold(&other, "assisted")), (1, 0));
    assert_eq!((sold(&shop.item, "post_engagement"), sold(&shop.item, "assisted")), (0, 1));
}

fn report_app_event(shop: &Shop, kind: &str, device: &str, at: i64) -> TestResponse {
    let (device, at) = (hashed(device), written(at));
    let params = [
        ("app_id", "org.example.bikes"),
        ("os_type", "ANDROID"),
        ("conversion_type", kind),
        ("hashed_device_id", device.as_str()),
        ("conversion_time", at.as_str()),
    ];
    send(&shop.ads.person, "POST", "/12/conversion_event", &params)
}

#[test]
fn app_event_is_attributed_to_the_ad_that_its_device_got() {
    let shop = Shop::new();
    let params = [
        ("app_store_identifier", "org.example.bikes"),
        ("os_type", "ANDROID"),
        ("conversion_type", "INSTALL"),
        ("provider_app_event_id", "7"),
        ("provider_app_event_name", "Install"),
    ];
    let unknown = report_app_event(&shop, "INSTALL", "device-4", wall_time().ms());
    is(&unknown, 404, "MACT_APP_NOT_FOUND", "app_id");
    let tag = shop.ads.make("/app_event_tags", &params);
    let apps = shop.ads.get("/account_apps", &[]);
    assert_eq!(apps["data"][0]["conversion_tracking_enabled"], true, "{apps}");
    shop.show(&json!({ "key": "device-4" }), &["impression", "app_click"]);
    let answer = report_app_event(&shop, "INSTALL", "device-5", wall_time().ms()).assert_status(200);
    assert_eq!(answer["data"], json!({ "twitter_attribution": null }));
    let at = wall_time().ms() + 1000;
    for _ in 0..2 {
        let answer = report_app_event(&shop, "INSTALL", "device-4", at).assert_status(200);
        let attribution = &answer["data"]["twitter_attribution"];
        assert_eq!(attribution["line_item_id"], shop.item.as_str(), "{answer}");
        assert_eq!(attribution["engagement_type"], "CLICK");
    }
    let installs = |figure| {
        let metric = "mobile_conversion_installs";
        shop.conversions(("CAMPAIGN", &shop.campaign), "MOBILE_CONVERSION", metric, figure)
    };
    assert_eq!((installs("post_engagement"), installs("post_view")), (1, 0));
    let known = &shop.ads.get(&format!("/app_event_tags/{tag}"), &[])["data"];
    assert_eq!(known["status"], "TRACKING");
    // Others learn nothing of it.
    let rival = Advertiser::on(market());
    let (device, time) = (hashed("device-4"), written(wall_time().ms()));
    let params = [
        ("app_id", "org.example.bikes"),
        ("os_type", "ANDROID"),
        ("conversion_type", "INSTALL"),
        ("hashed_device_id", device.as_str()),
        ("conversion_time", time.as_str()),
    ];
    let refused = send(&rival.person, "GET", "/12/conversion_attribution", &params);
    is(&refused, 404, "MACT_APP_NOT_FOUND", "app_id");
    let seen = send(&shop.ads.person, "GET", "/12/conversion_attribution", &params).assert_status(200);
    assert_eq!(seen["data"]["twitter_attribution"]["campaign_id"], shop.campaign.as_str());
}

#[test]
fn request_with_a_wrong_conversion_stores_none_of_them() {
    let shop = Shop::new();
    let (tag, rival) = (shop.tag(&[]), Shop::new());
    let click = shop.show(&json!({ "key": "device-6" }), &["impression", "url_click"]);
    let good = purchase(&tag, &click);
    let foreign = purchase(&rival.tag(&[]), &click);
    let with = |name: &str, value: Value| {
        let mut wrong = good.clone();
        wrong[name] = value;
        json!([good, wrong])
    };
    for (conversions, status, code, at) in [
        (json!([]), 400, "INVALID_PARAMETER", "conversions"),
        (json!({}), 400, "INVALID_PARAMETER", "conversions"),
        (Value::Array(vec![good.clone(); 501]), 400, "INVALID_PARAMETER", "conversions"),
        (with("event_id", Value::Null), 400, "MISSING_PARAMETER", "event_id"),
        (with("identifiers", json!([])), 400, "MISSING_PARAMETER", "identifiers"),
        (with("identifiers", json!([{ "hashed_email": "ana" }])), 400, "INVALID_PARAMETER", "hashed_email"),
        (with("conversion_time", json!("soon")), 400, "INVALID_PARAMETER", "conversion_time"),
        (with("number_items", json!(0)), 400, "INVALID_PARAMETER", "number_items"),
        (json!([good, foreign]), 404, "WEB_EVENT_TAG_NOT_FOUND", "event_id"),
    ] {
        is(&shop.convert(id(&tag), &conversions), status, code, at);
    }
    is(&shop.convert("zzzz", &json!([good])), 404, "WEB_EVENT_TAG_NOT_FOUND", "pixel_id");
    let of_another_account = rival.convert(id(&tag), &json!([good]));
    is(&of_another_account, 404, "WEB_EVENT_TAG_NOT_FOUND", "pixel_id");
    assert!(!of_another_account.text().contains(&shop.ads.account), "{}", of_another_account.text());
    assert_eq!(shop.purchases("post_engagement"), 0);
    shop.convert(id(&tag), &json!([good])).assert_status(200);
    assert_eq!(shop.purchases("post_engagement"), 1);
}

#[test]
fn insights_tell_of_auctions_and_audiences_what_is_stored() {
    let shop = Shop::new();
    shop.show(&json!({ "key": "device-7" }), &["impression"]);
    let (from, to) = around(24, 1);
    let params = [
        ("line_item_ids", shop.item.as_str()),
        ("start_time", &from),
        ("end_time", &to),
        ("granularity", "TOTAL"),
        ("placement", "ALL_ON_TWITTER"),
    ];
    let insights = shop.ads.get("/auction_insights", &params);
    let metrics = &insights["data"][0]["id_data"][0]["metrics"];
    assert_eq!((&metrics["auctions_entered"], &metrics["auctions_won"]), (&json!([1]), &json!([1])), "{insights}");
    let elsewhere = crate::ads::with_overrides(&params, &[("line_item_ids", "zzzz")]);
    is(&shop.ads.send("GET", "/auction_insights", &elsewhere), 404, "LINE_ITEM_NOT_FOUND", "line_item_id");
    let path = format!("/12/insights/accounts/{}", shop.ads.account);
    let available = send(&shop.ads.person, "GET", &format!("{path}/available_audiences"), &[]).assert_status(200);
    let types: Vec<&str> =
        available["data"].as_array().unwrap().iter().map(|one| one["audience_type"].as_str().unwrap()).collect();
    assert_eq!(types, ["ALL_ON_TWITTER", "ORGANIC", "CAMPAIGN", "CAMPAIGN"]);
    let fan = market().new_user("fan");
    signed_in(&fan);
    let asked = [("audience_type", "ALL_ON_TWITTER")];
    let everyone = send(&shop.ads.person, "GET", &path, &asked).assert_status(200);
    for name in ["age", "gender", "language", "country", "device"] {
        assert!(everyone["data"][name]["results"].is_array(), "{everyone}");
    }
    let asked = [("audience_type", "CAMPAIGN")];
    is(&send(&shop.ads.person, "GET", &path, &asked), 400, "MISSING_PARAMETER", "interaction_type");
}
