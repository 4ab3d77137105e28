//! What a line item and its campaign need before they serve.

use serde_json::{Value, json};

use super::{Advertiser, is, send};
use crate::harness::shared_server;

fn reasons(ads: &Advertiser, campaign: &str) -> Value {
    ads.get(&format!("/campaigns/{campaign}"), &[])["data"]["reasons_not_servable"].clone()
}

fn line_item(ads: &Advertiser, campaign: &str, more: &[(&str, &str)]) -> String {
    let defaults = [
        ("campaign_id", campaign),
        ("objective", "ENGAGEMENTS"),
        ("product_type", "PROMOTED_POSTS"),
        ("placements", "ALL_ON_TWITTER"),
        ("bid_amount_local_micro", "150000"),
        ("start_time", "2026-01-01T00:00:00Z"),
    ];
    ads.make("/line_items", &super::with_overrides(&defaults, more))
}

#[test]
fn search_placement_is_incomplete_without_keywords_to_target() {
    let ads = Advertiser::new();
    let campaign = ads.campaign();
    let item = line_item(&ads, &campaign, &[("placements", "TWITTER_SEARCH")]);
    ads.promote_new_post(&item);
    assert_eq!(reasons(&ads, &campaign), json!(["INCOMPLETE"]));
    // What is excluded selects no searches.
    ads.targets(&item, ("BROAD_KEYWORD", "cargo", "NE")).assert_status(200);
    assert_eq!(reasons(&ads, &campaign), json!(["INCOMPLETE"]));
    let made = ads.targets(&item, ("PHRASE_KEYWORD", "cargo bike", "EQ")).assert_status(200);
    assert_eq!(reasons(&ads, &campaign), json!([]));
    let criterion = made["data"]["id"].as_str().unwrap();
    ads.send("DELETE", &format!("/targeting_criteria/{criterion}"), &[]).assert_status(200);
    assert_eq!(reasons(&ads, &campaign), json!(["INCOMPLETE"]));
    ads.targets_all(&item, &[("EXACT_KEYWORD", "bike", "EQ"), ("BROAD_KEYWORD", "boat", "EQ")]).assert_status(200);
    assert_eq!(reasons(&ads, &campaign), json!([]));
}

#[test]
fn followers_line_item_is_incomplete_without_a_promoted_account() {
    let ads = Advertiser::new();
    let campaign = ads.campaign();
    let more = [("objective", "FOLLOWERS"), ("product_type", "PROMOTED_ACCOUNT"), ("bid_strategy", "AUTO")];
    let item = line_item(&ads, &campaign, &more);
    ads.promote_new_post(&item);
    assert_eq!(reasons(&ads, &campaign), json!(["INCOMPLETE"]));
    let account = [("line_item_id", item.as_str()), ("user_id", ads.person.id.as_str())];
    ads.send("POST", "/promoted_accounts", &account).assert_status(200);
    assert_eq!(reasons(&ads, &campaign), json!([]));
}

#[test]
fn draft_does_not_extend_the_period_of_a_campaign() {
    let ads = Advertiser::new();
    let [ended, future] = [
        [("start_time", "2026-01-01T00:00:00Z"), ("end_time", "2026-01-02T00:00:00Z")],
        [("start_time", "2099-01-01T00:00:00Z"), ("end_time", "2099-02-01T00:00:00Z")],
    ];
    for (flight, reason, status) in [(ended, "EXPIRED", "EXPIRED"), (future, "STARTS_IN_FUTURE", "SCHEDULED")] {
        let campaign = ads.campaign();
        ads.promote_new_post(&line_item(&ads, &campaign, &flight));
        assert_eq!(reasons(&ads, &campaign), json!([reason]));
        // It runs from now on without an end, once it is published.
        let draft = line_item(&ads, &campaign, &[("entity_status", "DRAFT")]);
        let shown = ads.get(&format!("/campaigns/{campaign}"), &[])["data"].clone();
        assert_eq!(shown["reasons_not_servable"], json!([reason]));
        assert_eq!((&shown["effective_status"], &shown["servable"]), (&json!(status), &json!(false)));
        ads.send("PUT", &format!("/line_items/{draft}"), &[("entity_status", "ACTIVE")]).assert_status(200);
        assert_eq!(reasons(&ads, &campaign), json!([]));
    }
    let campaign = ads.campaign();
    line_item(&ads, &campaign, &[&ended[..], &[("entity_status", "DRAFT")]].concat());
    assert_eq!(reasons(&ads, &campaign), json!(["EXPIRED", "INCOMPLETE"]));
}

#[test]
fn draft_does_not_keep_an_expired_campaign_active() {
    let ads = Advertiser::new();
    shared_server().run_cli(&["ads", "account", "set", &ads.account, "--campaigns", "1"]).assert_success();
    let campaign = ads.campaign();
    let params = [
        ("funding_instrument_id", ads.instrument.as_str()),
        ("name", "Next"),
        ("daily_budget_amount_local_micro", "20000000"),
    ];
    let create = || ads.send("POST", "/campaigns", &params);
    line_item(&ads, &campaign, &[("end_time", "2026-01-02T00:00:00Z")]);
    let draft = line_item(&ads, &campaign, &[("entity_status", "DRAFT")]);
    create().assert_status(200);
    // Published, it is more than the limit allows, and keeps its campaign active.
    ads.send("PUT", &format!("/line_items/{draft}"), &[("entity_status", "ACTIVE")]).assert_status(200);
    is(&create(), 400, "TOO_MANY_CAMPAIGNS", "");
}

#[test]
fn campaign_without_a_budget_on_either_level_is_incomplete() {
    let ads = Advertiser::new();
    let fund = ["ads", "account", "funding", &ads.account, "--type", "CREDIT_CARD", "--start", "2020-01-01T00:00:00Z"];
    let card = shared_server().run_cli(&fund).json()["id"].as_str().unwrap().to_owned();
    let params = [("funding_instrument_id", card.as_str()), ("name", "N"), ("budget_optimization", "LINE_ITEM")];
    let campaign = ads.make("/campaigns", &params);
    let item = line_item(&ads, &campaign, &[]);
    ads.promote_new_post(&item);
    assert_eq!(reasons(&ads, &campaign), json!(["INCOMPLETE"]));
    let daily = |value| [("daily_budget_amount_local_micro", value)];
    let path = format!("/line_items/{item}");
    ads.send("PUT", &path, &daily("5000000")).assert_status(200);
    assert_eq!(reasons(&ads, &campaign), json!([]));
    ads.send("PUT", &path, &daily("")).assert_status(200);
    assert_eq!(reasons(&ads, &campaign), json!(["INCOMPLETE"]));
    ads.send("PUT", &format!("/campaigns/{campaign}"), &daily("5000000")).assert_status(200);
    assert_eq!(reasons(&ads, &campaign), json!([]));
    // The amount of an insertion order is a budget.
    let params = [("funding_instrument_id", ads.instrument.as_str()), ("name", "N")];
    let ordered = ads.make("/campaigns", &params);
    ads.promote_new_post(&line_item(&ads, &ordered, &[]));
    assert_eq!(reasons(&ads, &ordered), json!([]));
}

#[test]
fn placements_are_those_listed_for_the_product_and_objective() {
    let ads = Advertiser::new();
    let listed = send(&ads.person, "GET", "/12/line_items/placements", &[]).assert_status(200);
    let rows = listed["data"].as_array().unwrap();
    let create = |objective: &str, product: &str, placements: &str| {
        let campaign = ads.campaign();
        let params = [
            ("campaign_id", campaign.as_str()),
            ("objective", objective),
            ("product_type", product),
            ("placements", placements),
            ("bid_strategy", "AUTO"),
            ("advertiser_domain", "bikes.example"),
            ("categories", "IAB7"),
            ("ios_app_store_identifier", "1"),
        ];
        ads.send("POST", "/line_items", &params)
    };
    let objectives = ads::resources::line_items::OBJECTIVES;
    let mut refused = 0;
    for row in rows {
        let product = row["product_type"].as_str().unwrap();
        for placements in row["placements"].as_array().unwrap() {
            let names: Vec<&str> = placements.as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
            let answers = objectives.iter().map(|objective| create(objective, product, &names.join(",")));
            let statuses: Vec<u16> = answers.map(|answer| answer.status).collect();
            assert!(statuses.contains(&200), "{product} {names:?}: {statuses:?}");
            refused += statuses.iter().filter(|status| **status == 400).count();
        }
    }
    assert!(refused > 0);
    is(&create("REACH", "PROMOTED_POSTS", "TWITTER_SEARCH"), 400, "INVALID_PLACEMENT_TYPE", "placements");
    is(&create("ENGAGEMENTS", "PROMOTED_POSTS", "SPOTLIGHT"), 400, "INVALID_PLACEMENT_TYPE", "placements");
    let both = create("ENGAGEMENTS", "PROMOTED_POSTS", "ALL_ON_TWITTER,TWITTER_SEARCH");
    is(&both, 400, "INVALID_PLACEMENT_TYPE", "placements");
    is(&create("FOLLOWERS", "PROMOTED_POSTS", "ALL_ON_TWITTER"), 400, "INVALID", "product_type");
    is(&create("ENGAGEMENTS", "MEDIA", "ALL_ON_TWITTER"), 400, "INVALID", "product_type");
    // In any order, and by a part of a placement.
    create("ENGAGEMENTS", "PROMOTED_POSTS", "TWITTER_TIMELINE,TWITTER_PROFILE").assert_status(200);
    create("ENGAGEMENTS", "PROMOTED_POSTS", "TAP_BANNER").assert_status(200);
}

#[test]
fn targeting_value_that_does_not_exist_is_refused_by_name() {
    let ads = Advertiser::new();
    let item = ads.item();
    for (kind, value) in [
        ("LOCATION", "0123456789abcdef"),
        ("INTEREST", "999999999"),
        ("DEVICE", "none"),
        ("LANGUAGE", "zz"),
        ("NETWORK_OPERATOR", "none"),
        ("PLATFORM_VERSION", "none"),
        ("CONVERSATION", "none"),
    ] {
        let refused = ads.targets(&item, (kind, value, "EQ"));
        is(&refused, 400, "INVALID_PARAMETER", "targeting_value");
        assert!(refused.text().contains(value), "{}", refused.text());
        let criteria = json!({ "targeting_criteria": [
            { "targeting_type": "BROAD_KEYWORD", "targeting_value": "bike" },
            { "targeting_type": kind, "targeting_value": value },
        ] });
        let path = format!("/12/accounts/{}/audience_estimate", ads.account);
        let estimate = ads.person.send_signed(crate::harness::TestRequest::post(path).json(&criteria));
        is(&estimate, 400, "INVALID_PARAMETER", "targeting_value");
    }
    let names = [
        ("LOCATION", "3c65374ea675483e", "Portugal"),
        ("LOCATION", "5122804691e5fecc", "San Francisco, United States"),
        ("GENDER", "1", "Male"),
        ("AGE", "AGE_18_TO_34", "18 to 34"),
        ("LANGUAGE", "pt", "Portuguese"),
        ("PLATFORM", "1", "Android"),
        ("BROAD_KEYWORD", "cargo bike", "cargo bike"),
        ("SIMILAR_TO_FOLLOWERS_OF_USER", ads.person.id.as_str(), ads.person.username.as_str()),
    ];
    for (kind, value, name) in names {
        assert_eq!(ads.targets(&item, (kind, value, "EQ")).assert_status(200)["data"]["name"], name);
    }
}
