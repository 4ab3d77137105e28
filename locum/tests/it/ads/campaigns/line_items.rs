//! Line items: what suits their objective, placement, advertiser and campaign.

use super::create_line_item;
use crate::ads::{Advertiser, is, problem_parameters};
use crate::harness::{TestResponse, shared_server};

type Params = &'static [(&'static str, &'static str)];

/// The name, the required parameters, the default goal, payment and bid strategy, and valid and invalid
/// parameters.
type Objective = (&'static str, Params, [&'static str; 3], Params, Params);

const GOAL: &str = "goal";
const PAY: &str = "pay_by";
const STRATEGY: &str = "bid_strategy";

const OBJECTIVES: [Objective; 8] = [
    (
        "ENGAGEMENTS",
        &[],
        ["ENGAGEMENT", "ENGAGEMENT", "MAX"],
        &[(STRATEGY, "AUTO"), (STRATEGY, "TARGET")],
        &[(GOAL, "LINK_CLICKS"), (PAY, "IMPRESSION")],
    ),
    (
        "FOLLOWERS",
        &[("product_type", "PROMOTED_ACCOUNT")],
        ["FOLLOWERS", "FOLLOW", "AUTO"],
        &[(STRATEGY, "TARGET")],
        &[(STRATEGY, "MAX"), (PAY, "ENGAGEMENT")],
    ),
    (
        "REACH",
        &[],
        ["MAX_REACH", "IMPRESSION", "AUTO"],
        &[(GOAL, "REACH_WITH_ENGAGEMENT"), (STRATEGY, "TARGET")],
        &[(STRATEGY, "MAX"), (GOAL, "ENGAGEMENT")],
    ),
    (
        "WEBSITE_CLICKS",
        &[],
        ["LINK_CLICKS", "IMPRESSION", "AUTO"],
        &[(GOAL, "SITE_VISITS"), (PAY, "LINK_CLICK"), (STRATEGY, "MAX"), (STRATEGY, "TARGET")],
        &[(PAY, "VIEW"), (GOAL, "WEBSITE_CONVERSIONS")],
    ),
    (
        "VIDEO_VIEWS",
        &[],
        ["VIDEO_VIEW", "VIEW", "AUTO"],
        &[(GOAL, "VIEW_3S_100PCT"), (GOAL, "VIEW_6S"), (GOAL, "VIEW_15S"), (STRATEGY, "MAX")],
        &[(STRATEGY, "TARGET"), (PAY, "IMPRESSION")],
    ),
    (
        "PREROLL_VIEWS",
        &[("product_type", "MEDIA"), ("categories", "IAB7")],
        ["PREROLL", "VIEW", "MAX"],
        &[(GOAL, "PREROLL_STARTS"), (STRATEGY, "AUTO")],
        &[("product_type", "PROMOTED_TWEETS"), ("categories", ""), ("categories", "IAB99")],
    ),
    (
        "APP_INSTALLS",
        &[("ios_app_store_identifier", "1")],
        ["APP_INSTALLS", "IMPRESSION", "AUTO"],
        &[(GOAL, "APP_CLICKS"), (GOAL, "APP_PURCHASES"), (PAY, "APP_CLICK")],
        &[("ios_app_store_identifier", ""), (PAY, "LINK_CLICK")],
    ),
    (
        "APP_ENGAGEMENTS",
        &[("android_app_store_identifier", "a.b")],
        ["APP_CLICKS", "APP_CLICK", "AUTO"],
        &[(GOAL, "APP_INSTALLS"), (STRATEGY, "TARGET")],
        &[("android_app_store_identifier", ""), (PAY, "IMPRESSION")],
    ),
];

/// Creates a line item in a campaign of its own, unless the parameters name one.
fn create(ads: &Advertiser, more: &[(&str, &str)]) -> TestResponse {
    create_line_item(ads, &ads.campaign(), more)
}

#[test]
fn line_item_takes_the_goals_payments_and_bid_strategies_of_its_objective() {
    let ads = Advertiser::new();
    let line = |more: &[(&str, &str)]| create(&ads, more);
    for (objective, more, defaults, may, may_not) in OBJECTIVES {
        let usual = [&[("objective", objective)][..], more].concat();
        let created = line(&usual).assert_status(200);
        let data = &created["data"];
        assert_eq!([&data[GOAL], &data[PAY], &data[STRATEGY]], defaults, "{objective}");
        for one in may {
            line(&crate::ads::with_overrides(&usual, &[*one])).assert_status(200);
        }
        for (name, value) in may_not {
            let mut params = usual.clone();
            params.retain(|(other, _)| other != name);
            if !value.is_empty() {
                params.push((name, value));
            }
            let response = line(&params);
            // Categories are of a list that is said to be looked up in.
            let status = if *value == "IAB99" { 404 } else { 400 };
            assert_eq!(response.status, status, "{objective} {name}={value}: {}", response.text());
        }
    }
}

#[test]
fn placements_times_and_frequency_caps_of_a_line_item_are_validated() {
    let ads = Advertiser::new();
    let line = |more: &[(&str, &str)]| create(&ads, more);
    let placement = "INVALID_PLACEMENT_TYPE";
    for (more, code, at) in [
        (&[("placements", "TWITTER_PROFILE")][..], placement, "placements"),
        (&[("placements", "TWITTER_SEARCH"), ("objective", "REACH")], placement, "placements"),
        (&[("placements", "MOON")], "INVALID_PARAMETER", "placements"),
        (&[("placements", "PUBLISHER_NETWORK")], "INCLUSIVE_PARAMETERS", "advertiser_domain"),
        (
            &[("placements", "PUBLISHER_NETWORK"), ("advertiser_domain", "bikes.example")],
            "INCLUSIVE_PARAMETERS",
            "categories",
        ),
        (&[("placements", "TAP_BANNER"), ("categories", "IAB7")], "INCLUSIVE_PARAMETERS", "advertiser_domain"),
        (&[("start_time", "2026-02-01"), ("end_time", "2026-02-01")], "INVALID", "end_time"),
        // It starts now if it does not say when.
        (&[("start_time", ""), ("end_time", "2026-02-01")], "INVALID", "end_time"),
        (&[("advertiser_domain", "x y")], "INVALID_PARAMETER", "advertiser_domain"),
        (&[("frequency_cap", "1")], "INCLUSIVE_PARAMETERS", "duration_in_days"),
        (&[("frequency_cap", "1"), ("duration_in_days", "8")], "INVALID_PARAMETER", "duration_in_days"),
        (
            &[("objective", "WEBSITE_CLICKS"), ("frequency_cap", "1"), ("duration_in_days", "7")],
            "INVALID",
            "frequency_cap",
        ),
    ] {
        is(&line(more), 400, code, at);
    }
    let response = line(&[("placements", "PUBLISHER_NETWORK")]);
    assert_eq!(problem_parameters(&response), ["advertiser_domain", "categories"]);
    for more in [
        &[("placements", "TWITTER_PROFILE,TWITTER_TIMELINE")][..],
        &[("placements", "TWITTER_TIMELINE"), ("objective", "REACH")],
        &[("start_time", "2026-02-01"), ("end_time", "2026-02-01T00:00:01Z")],
        &[("frequency_cap", "1"), ("duration_in_days", "1")],
        &[("frequency_cap", "1"), ("duration_in_days", "30")],
    ] {
        line(more).assert_status(200);
    }
}

#[test]
fn line_item_advertises_only_users_whom_the_account_may_promote() {
    let ads = Advertiser::new();
    let line = |more: &[(&str, &str)]| create(&ads, more);
    let stranger = shared_server().new_user("stranger");
    for user in [stranger.id.as_str(), "1"] {
        let response = line(&[("advertiser_user_id", user)]);
        is(&response, 400, "INVALID_USER_ID", "advertiser_user_id");
    }
    let own = line(&[("advertiser_user_id", &ads.person.id)]).assert_status(200);
    assert_eq!(own["data"]["advertiser_user_id"], ads.person.id.as_str());
}

#[test]
fn line_item_names_categories_and_events_that_exist() {
    let (ads, other) = (Advertiser::new(), Advertiser::new());
    let line = |more: &[(&str, &str)]| create(&ads, more);
    is(&line(&[("categories", "IAB17,IAB99")]), 404, "INVALID_IAB_CATEGORY", "categories");
    let tag = [
        ("name", "Checkout"),
        ("type", "PURCHASE"),
        ("click_window", "30"),
        ("view_through_window", "1"),
        ("retargeting_enabled", "false"),
    ];
    let (own, foreign) = (ads.make("/web_event_tags", &tag), other.make("/web_event_tags", &tag));
    for unknown in ["zz", foreign.as_str(), "zzzzzzzzzzzzzzzzzzzz"] {
        let response = line(&[("primary_web_event_tag", unknown)]);
        is(&response, 404, "WEB_EVENT_TAG_NOT_FOUND", "primary_web_event_tag");
        assert_eq!(response.json()["errors"][0]["value"], unknown);
    }
    is(&line(&[("primary_web_event_tag", "a-b")]), 404, "INVALID_ID_ILLEGAL_CHARACTERS", "primary_web_event_tag");
    let made = line(&[("primary_web_event_tag", &own.to_uppercase())]).assert_status(200);
    assert_eq!(made["data"]["primary_web_event_tag"], own.as_str());
    // Once the tag is gone, the line item can still be changed.
    ads.send("DELETE", &format!("/web_event_tags/{own}"), &[]).assert_status(200);
    let path = format!("/line_items/{}", made["data"]["id"].as_str().unwrap());
    ads.send("PUT", &path, &[("entity_status", "PAUSED"), ("primary_web_event_tag", &own)]).assert_status(200);
}

#[test]
fn app_of_a_line_item_brings_and_takes_its_platform() {
    let ads = Advertiser::new();
    let item = ads.line_item(&ads.campaign());
    let change = |value: &str| {
        let params = [("android_app_store_identifier", value)];
        ads.send("PUT", &format!("/line_items/{item}"), &params).assert_status(200);
        let criteria = ads.get("/targeting_criteria", &[("line_item_ids", &item)]);
        criteria["data"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["name"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(change("org.example.bikes"), ["Android"]);
    assert_eq!(change(""), Vec::<String>::new());
}

#[test]
fn line_items_of_a_campaign_share_objective_product_and_payment() {
    let ads = Advertiser::new();
    let line = |more: &[(&str, &str)]| create(&ads, more);
    let campaign = ads.campaign();
    let first = ads.line_item(&campaign);
    let other = [("campaign_id", campaign.as_str()), ("objective", "REACH")];
    is(&line(&other), 400, "INVALID", "objective");
    let other = [("campaign_id", campaign.as_str()), ("product_type", "PROMOTED_ACCOUNT")];
    is(&line(&other), 400, "INVALID", "product_type");
    let change = |id: &str, value| ads.send("PUT", &format!("/line_items/{id}"), &[(PAY, value)]);
    is(&change(&first, "IMPRESSION"), 400, "INVALID", PAY);
    // As clients send what was left empty.
    let later = line(&[("start_time", "2099-02-01"), ("end_time", "2099-03-01")]).assert_status(200)["data"].clone();
    let unset = [("name", "Renamed"), ("start_time", ""), (PAY, "")];
    let path = format!("/line_items/{}", later["id"].as_str().unwrap());
    let early = [("start_time", ""), ("end_time", "2098-01-01")];
    is(&ads.send("PUT", &path, &early), 400, "INVALID", "end_time");
    let renamed = ads.send("PUT", &path, &unset).assert_status(200)["data"].clone();
    assert_eq!([&renamed["start_time"], &renamed[PAY]], [&later["start_time"], &later[PAY]]);
    let installs = [("objective", "APP_INSTALLS"), ("ios_app_store_identifier", "1")];
    let installs = line(&installs).assert_status(200)["data"]["id"].clone();
    change(installs.as_str().unwrap(), "APP_CLICK").assert_status(200);
    let path = format!("/line_items/{first}");
    ads.send("DELETE", &path, &[]).assert_status(200);
    is(&ads.send("DELETE", &path, &[]), 404, "LINE_ITEM_NOT_FOUND", "line_item_id");
}

#[test]
fn link_clicks_with_a_target_price_are_paid_by_the_click() {
    let ads = Advertiser::new();
    let line = |more: &[(&str, &str)]| {
        let defaults = [("objective", "WEBSITE_CLICKS"), (STRATEGY, "TARGET")];
        create(&ads, &crate::ads::with_overrides(&defaults, more))
    };
    assert_eq!(line(&[]).assert_status(200)["data"][PAY], "LINK_CLICK");
    is(&line(&[(PAY, "IMPRESSION")]), 400, "INVALID", PAY);
    assert_eq!(line(&[(GOAL, "SITE_VISITS")]).assert_status(200)["data"][PAY], "IMPRESSION");
    // What is paid otherwise changes together with the strategy, and not without it.
    let item = line(&[(STRATEGY, "AUTO")]).assert_status(200)["data"].clone();
    assert_eq!(item[PAY], "IMPRESSION");
    let path = format!("/line_items/{}", item["id"].as_str().unwrap());
    let change = |more: &[(&str, &str)]| {
        let bid = [("bid_amount_local_micro", "150000")];
        ads.send("PUT", &path, &crate::ads::with_overrides(&bid, more))
    };
    is(&change(&[(STRATEGY, "TARGET")]), 400, "INVALID", PAY);
    is(&change(&[(PAY, "LINK_CLICK")]), 400, "INVALID", PAY);
    let changed = change(&[(STRATEGY, "TARGET"), (PAY, "LINK_CLICK")]).assert_status(200)["data"].clone();
    assert_eq!([&changed[STRATEGY], &changed[PAY]], ["TARGET", "LINK_CLICK"]);
    assert_eq!(change(&[(STRATEGY, "AUTO")]).assert_status(200)["data"][PAY], "LINK_CLICK");
}
