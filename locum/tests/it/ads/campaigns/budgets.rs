//! Budgets of campaigns and line items, and bids.

use serde_json::Value;

use super::{create_line_item, without_empty};
use crate::ads::{Advertiser, is, send, with_overrides};
use crate::harness::{TestResponse, shared_server};

const DAILY: &str = "daily_budget_amount_local_micro";
const TOTAL: &str = "total_budget_amount_local_micro";
const BID: &str = "bid_amount_local_micro";
const LEVEL: &str = "budget_optimization";

fn create_campaign(ads: &Advertiser, more: &[(&str, &str)]) -> TestResponse {
    let defaults = [("funding_instrument_id", ads.instrument.as_str()), ("name", "N")];
    ads.send("POST", "/campaigns", &without_empty(with_overrides(&defaults, more)))
}

fn new_campaign(ads: &Advertiser, more: &[(&str, &str)]) -> String {
    create_campaign(ads, more).assert_status(200)["data"]["id"].as_str().unwrap().to_owned()
}

#[test]
fn campaign_budget_is_a_positive_multiple_of_the_smallest_denomination() {
    let ads = Advertiser::new();
    // A hundredth of the currency.
    for (amount, code) in [
        ("10000", ""),
        ("20000", ""),
        ("9999", "INVALID_DENOMINATION"),
        ("10001", "INVALID_DENOMINATION"),
        ("0", "INVALID_PARAMETER"),
        ("-10000", "INVALID_PARAMETER"),
        ("9223372036854775808", "INVALID_PARAMETER"),
    ] {
        let response = create_campaign(&ads, &[(DAILY, amount)]);
        match code {
            "" => drop(response.assert_status(200)),
            code => is(&response, 400, code, DAILY),
        }
    }
}

#[test]
fn daily_budget_is_at_most_the_total_and_required_unless_an_order_pays() {
    let ads = Advertiser::new();
    let campaign = |more: &[(&str, &str)]| create_campaign(&ads, more);
    campaign(&[(DAILY, "4990000"), (TOTAL, "5000000")]).assert_status(200);
    campaign(&[(DAILY, "5000000"), (TOTAL, "5000000")]).assert_status(200);
    let above = campaign(&[(DAILY, "5010000"), (TOTAL, "5000000")]);
    is(&above, 400, "INVALID", DAILY);
    // What is paid for by the order needs none; whatever else pays does.
    campaign(&[]).assert_status(200);
    let fund = ["ads", "account", "funding", &ads.account, "--type", "CREDIT_CARD"];
    let card = shared_server().run_cli(&fund).json()["id"].as_str().unwrap().to_owned();
    let paid =
        |more: &[(&'static str, &'static str)]| campaign(&[&[("funding_instrument_id", card.as_str())], more].concat());
    is(&paid(&[]), 400, "MISSING_PARAMETER", DAILY);
    is(&paid(&[(TOTAL, "5000000")]), 400, "MISSING_PARAMETER", DAILY);
    paid(&[(DAILY, "5000000")]).assert_status(200);
}

#[test]
fn budget_is_set_either_on_the_campaign_or_on_its_line_items() {
    let ads = Advertiser::new();
    let campaign = |more: &[(&str, &str)]| create_campaign(&ads, more);
    let shared_one = new_campaign(&ads, &[(DAILY, "5000000"), (TOTAL, "9000000")]);
    let own_one = new_campaign(&ads, &[(LEVEL, "LINE_ITEM"), (TOTAL, "9000000")]);
    for delivery in ["true", "false"] {
        let both = [(LEVEL, "LINE_ITEM"), ("standard_delivery", delivery)];
        is(&campaign(&both), 400, "INVALID", "standard_delivery");
        let one = [(DAILY, "5000000"), ("standard_delivery", delivery)];
        assert_eq!(campaign(&one).assert_status(200)["data"]["standard_delivery"], delivery == "true");
    }
    let path = format!("/campaigns/{own_one}");
    assert_eq!(ads.get(&path, &[])["data"]["standard_delivery"], Value::Null);
    let item = |campaign: &str, more: &[(&str, &str)]| create_line_item(&ads, campaign, more);
    // The campaign's, or the line items'.
    for name in [DAILY, TOTAL] {
        is(&item(&shared_one, &[(name, "1000000")]), 400, "INVALID", name);
        item(&own_one, &[(name, "1000000")]).assert_status(200);
        is(&item(&own_one, &[(name, "1000001")]), 400, "INVALID_DENOMINATION", name);
    }
    let delivery = |campaign: &str| item(campaign, &[]).assert_status(200)["data"]["standard_delivery"].clone();
    assert_eq!([&shared_one, &own_one].map(|one| delivery(one)), [Value::Null, Value::Bool(true)]);
    item(&own_one, &[(TOTAL, "8990000")]).assert_status(200);
    item(&own_one, &[(TOTAL, "9000000")]).assert_status(200);
    is(&item(&own_one, &[(TOTAL, "9010000")]), 400, "INVALID", TOTAL);
}

#[test]
fn bid_is_bounded_by_the_budget_and_by_the_currency() {
    let ads = Advertiser::new();
    let shared_one = new_campaign(&ads, &[(DAILY, "5000000"), (TOTAL, "9000000")]);
    let own_one = new_campaign(&ads, &[(LEVEL, "LINE_ITEM"), (TOTAL, "9000000")]);
    let item = |campaign: &str, more: &[(&str, &str)]| create_line_item(&ads, campaign, more);
    item(&shared_one, &[(BID, "4990000")]).assert_status(200);
    item(&shared_one, &[(BID, "5000000")]).assert_status(200);
    is(&item(&shared_one, &[(BID, "5010000")]), 400, "INVALID", BID);
    is(&item(&own_one, &[(BID, "9010000")]), 400, "INVALID", BID);
    is(&item(&shared_one, &[(BID, "")]), 400, "MISSING_PARAMETER", BID);
    is(&item(&shared_one, &[(BID, "0")]), 400, "INVALID_PARAMETER", BID);
    let auto = item(&shared_one, &[("bid_strategy", "AUTO")]).assert_status(200);
    assert_eq!(auto["data"][BID], Value::Null);
    // And between what the currency allows.
    let rules = send(&ads.person, "GET", "/12/bidding_rules", &[("currency", "USD")]).assert_status(200);
    let rule = |name: &str| rules["data"][0][name].as_i64().unwrap();
    let (least, most) = (rule("minimum_cpe_bid_local_micro"), rule("maximum_cpe_bid_local_micro"));
    let step = rule("minimum_denomination");
    let rich = new_campaign(&ads, &[(LEVEL, "LINE_ITEM")]);
    for (amount, fits) in [
        (least, true),
        (least + step, true),
        (most - step, true),
        (most, true),
        (most + step, false),
        (least - step, false),
    ] {
        let response = item(&rich, &[(BID, &amount.to_string())]);
        assert_eq!(response.status == 200, fits, "{amount}: {}", response.text());
    }
}

#[test]
fn campaign_keeps_to_what_its_line_items_have() {
    let ads = Advertiser::new();
    let shared_one = new_campaign(&ads, &[(DAILY, "5000000"), (TOTAL, "9000000")]);
    let own_one = new_campaign(&ads, &[(LEVEL, "LINE_ITEM"), (TOTAL, "9000000")]);
    let item = |campaign: &str, more: &[(&str, &str)]| {
        create_line_item(&ads, campaign, more).assert_status(200)["data"]["id"].as_str().unwrap().to_owned()
    };
    let change = |id: &str, name: &str, value: &str| ads.send("PUT", &format!("/campaigns/{id}"), &[(name, value)]);
    let bidder = item(&shared_one, &[(BID, "1000000")]);
    is(&change(&shared_one, DAILY, "500000"), 400, "INVALID", DAILY);
    change(&shared_one, DAILY, "1000000").assert_status(200);
    let budgeted = item(&own_one, &[(TOTAL, "2000000"), (BID, "10000")]);
    is(&change(&own_one, TOTAL, "1000000"), 400, "INVALID", TOTAL);
    let shared = [(LEVEL, "CAMPAIGN"), (DAILY, "5000000")];
    is(&ads.send("PUT", &format!("/campaigns/{own_one}"), &shared), 400, "INVALID", LEVEL);
    // What was deleted is no obstacle.
    for id in [&bidder, &budgeted] {
        ads.send("DELETE", &format!("/line_items/{id}"), &[]).assert_status(200);
    }
    change(&shared_one, DAILY, "500000").assert_status(200);
    ads.send("PUT", &format!("/campaigns/{own_one}"), &shared).assert_status(200);
}

#[test]
fn partner_managed_instrument_is_changed_by_its_managing_app_only() {
    let ads = Advertiser::new();
    let fund = |more: &[&str]| {
        let command = ["ads", "account", "funding", &ads.account, "--type", "PARTNER_MANAGED", "--amount", "100"];
        let made = shared_server().run_cli(&[&command[..], more].concat()).json();
        format!("/funding_instruments/{}", made["id"].as_str().unwrap())
    };
    let raise = [("funded_amount_local_micro", "900000000")];
    let foreign = fund(&[]);
    is(&ads.send("PUT", &foreign, &raise), 403, "FUNDING_INSTRUMENT_ACCESS_NOT_ALLOWED", "");
    assert_eq!(ads.get(&foreign, &[])["data"]["funded_amount_local_micro"], 100_000_000);
    let managed = fund(&["--managed-by", &ads.person.app.id]);
    let raised = ads.send("PUT", &managed, &raise).assert_status(200);
    assert_eq!(raised["data"]["funded_amount_local_micro"], 900_000_000);
    let unlimited = ads.send("PUT", &managed, &[("funded_amount_local_micro", "")]);
    is(&unlimited, 400, "MISSING_PARAMETER", "funded_amount_local_micro");
}
