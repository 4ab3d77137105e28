//! What is served, and to whom: those who may ask, caps, and what is refused.

use serde_json::json;

use super::{Network, market, metric};
use crate::ads::{Advertiser, is};
use crate::harness::TestRequest;

#[test]
fn serving_needs_its_entitlement_and_a_valid_request() {
    let ads = Advertiser::on(market());
    let network = Network::new();
    let item = ads.quick_item(&ads.quick_campaign("20000000"), "150000");
    ads.promoted(&item, false);
    let key = json!({ "key": "device" });
    let plain = market().new_app("enterprise");
    let ask =
        TestRequest::post("/ads-serve/1/request").json(&json!({ "viewer": key, "placement": "TWITTER_TIMELINE" }));
    let refused = market().send(ask.bearer(&plain.bearer));
    is(&refused, 403, "UNAUTHORIZED_CLIENT_APPLICATION", "");
    let nobody = market().send(TestRequest::post("/ads-serve/1/events").json(&json!({})));
    is(&nobody, 401, "UNAUTHORIZED_ACCESS", "");
    for (body, code, at) in [
        (json!({}), "MISSING_PARAMETER", "viewer"),
        (json!({ "viewer": key }), "MISSING_PARAMETER", "placement"),
        (json!({ "viewer": key, "placement": "MOON" }), "INVALID_PARAMETER", "placement"),
        (json!({ "viewer": { "user_id": "x" }, "placement": "TREND" }), "INVALID_PARAMETER", "user_id"),
        (json!({ "viewer": { "key": "k", "user_id": "1" }, "placement": "TREND" }), "INVALID_PARAMETER", "viewer"),
        (json!({ "viewer": key, "placement": "TREND", "slots": 21 }), "INVALID_PARAMETER", "slots"),
        (json!([]), "INVALID_PARAMETER", ""),
    ] {
        is(&network.post("request", &body), 400, code, at);
    }
    let token = network.token(&key);
    let forged = format!("{}A{}", &token[..5], &token[6..]);
    for (token, kind, at) in [
        (forged.as_str(), "impression", "impression_token"),
        ("", "impression", "impression_token"),
        (&token, "like", "kind"),
        (&token, "sneeze", "kind"),
        // Nothing comes of what was not shown.
        (&token, "url_click", "kind"),
    ] {
        let sent = network.report(&[(token, kind)]);
        is(&sent, 400, "INVALID_PARAMETER", at);
    }
    // One that is wrong keeps the others out.
    let mixed = network.report(&[(&token, "impression"), (&token, "sneeze")]);
    is(&mixed, 400, "INVALID_PARAMETER", "kind");
    is(&network.post("events", &json!({ "events": [] })), 400, "INVALID_PARAMETER", "events");
    is(&network.post("events", &json!({})), 400, "MISSING_PARAMETER", "events");
    assert_eq!(metric(&ads.stats("LINE_ITEM", &item, &[]), "impressions"), 0);
    // Who blocks the advertiser is shown nothing, nor is the advertiser.
    let own = json!({ "user_id": ads.person.id });
    assert!(network.request(&own, 1).is_empty());
    let ghost = json!({ "user_id": "1" });
    assert!(network.request(&ghost, 1).is_empty());
    let elsewhere = json!({ "viewer": key, "placement": "PUBLISHER_NETWORK" });
    assert_eq!(network.post("request", &elsewhere).assert_status(200)["data"], json!([]));
}

#[test]
fn frequency_cap_limits_impressions_per_viewer() {
    let ads = Advertiser::on(market());
    let network = Network::new();
    let campaign = ads.quick_campaign("20000000");
    let params = [
        ("campaign_id", campaign.as_str()),
        ("objective", "REACH"),
        ("product_type", "PROMOTED_TWEETS"),
        ("placements", "ALL_ON_TWITTER"),
        ("start_time", "2026-01-01T00:00:00Z"),
        ("frequency_cap", "2"),
        ("duration_in_days", "7"),
    ];
    let item = ads.make("/line_items", &params);
    ads.promoted(&item, false);
    let viewer = json!({ "key": "often" });
    for _ in 0..2 {
        let token = network.token(&viewer);
        network.report(&[(&token, "impression")]).assert_status(200);
    }
    assert!(network.request(&viewer, 1).is_empty());
    assert_eq!(network.request(&json!({ "key": "other" }), 1).len(), 1);
    let stats = ads.stats("LINE_ITEM", &item, &[]);
    assert_eq!(metric(&stats, "billed_engagements"), 2);
}

#[test]
fn post_whose_card_was_deleted_is_not_served_for_its_clicks() {
    let ads = Advertiser::on(market());
    let network = Network::new();
    let (_, item) = ads.simulated_item("WEBSITE_CLICKS", &[("bid_amount_local_micro", "900000")]);
    let card = ads.component_card(&ads.image(), false);
    ads.promoted_only_post(&item, Some(&card));
    let viewer = json!({ "key": "reader" });
    let is_served = || network.request(&viewer, 20).iter().any(|shown| shown["line_item_id"] == item.as_str());
    assert!(is_served());
    let cards = ads.get("/cards", &[("card_uris", &card)]);
    let id = cards["data"][0]["id"].as_str().unwrap();
    ads.send("DELETE", &format!("/cards/{id}"), &[]).assert_status(200);
    assert!(!is_served());
}
