//! What is charged, and what happens where nothing is left.

use serde_json::json;

use super::{Network, market, metric};
use crate::ads::{Advertiser, is};

#[test]
fn exhausted_budget_ends_serving() {
    let ads = Advertiser::on(market());
    let network = Network::new();
    let campaign = ads.quick_campaign("100000");
    let total = [("total_budget_amount_local_micro", "100000")];
    let path = format!("/campaigns/{campaign}");
    ads.send("PUT", &path, &total).assert_status(200);
    let item = ads.quick_item(&campaign, "50000");
    ads.promoted(&item, false);
    let kinds =
        ["impression", "click", "url_click", "app_click", "card_engagement", "carousel_swipe", "video_cta_click"];
    for number in 0..2 {
        let token = network.token(&json!({ "key": format!("device-{number}") }));
        let events: Vec<(&str, &str)> = kinds.iter().map(|kind| (token.as_str(), *kind)).collect();
        network.report(&events).assert_status(200);
    }
    let stats = ads.stats("CAMPAIGN", &campaign, &[]);
    assert_eq!(metric(&stats, "engagements"), 12);
    assert_eq!(metric(&stats, "billed_engagements"), 10);
    assert_eq!(metric(&stats, "billed_charge_local_micro"), 100_000);
    let seen = ads.get(&path, &[]);
    assert_eq!(seen["data"]["reasons_not_servable"], json!(["BUDGET_EXHAUSTED"]));
    assert_eq!(seen["data"]["effective_status"], "EXHAUSTED");
    assert_eq!(seen["data"]["servable"], false);
    assert!(network.request(&json!({ "key": "late" }), 5).is_empty());
    let less = [("total_budget_amount_local_micro", "50000"), ("daily_budget_amount_local_micro", "50000")];
    is(&ads.send("PUT", &path, &less), 400, "SPEND_EXCEEDS_BUDGET", "total_budget_amount_local_micro");
    // What was spent today bounds the daily budget alone, too, on either level.
    let daily = [("daily_budget_amount_local_micro", "90000")];
    is(&ads.send("PUT", &path, &daily), 400, "SPEND_EXCEEDS_BUDGET", "daily_budget_amount_local_micro");
    let by_item = [("budget_optimization", "LINE_ITEM"), ("standard_delivery", "")];
    ads.send("PUT", &path, &by_item).assert_status(200);
    let item_path = format!("/line_items/{item}");
    is(&ads.send("PUT", &item_path, &daily), 400, "SPEND_EXCEEDS_BUDGET", "daily_budget_amount_local_micro");
    let more = [("total_budget_amount_local_micro", "900000"), ("daily_budget_amount_local_micro", "900000")];
    ads.send("PUT", &path, &more).assert_status(200);
    let fast = [
        ("campaign_id", campaign.as_str()),
        ("objective", "ENGAGEMENTS"),
        ("product_type", "PROMOTED_TWEETS"),
        ("placements", "ALL_ON_TWITTER"),
        ("bid_amount_local_micro", "50000"),
        ("standard_delivery", "false"),
    ];
    let fast = ads.make("/line_items", &fast);
    ads.promoted(&fast, false);
    let shown = network.request(&json!({ "key": "later" }), 5);
    assert!(shown.iter().any(|one| one["line_item_id"] == fast.as_str()), "{shown:?}");
}

#[test]
fn funding_instrument_is_exhausted_by_all_its_campaigns() {
    let ads = Advertiser::on(market());
    let network = Network::new();
    let fund = ["ads", "account", "funding", &ads.account, "--type", "CREDIT_LINE"];
    let fund = [&fund[..], &["--amount", "1", "--start", "2020-01-01T00:00:00Z"]].concat();
    let instrument = market().run_cli(&fund).json();
    assert_eq!(instrument["credit_remaining_local_micro"], 1_000_000);
    let ads = Advertiser { instrument: instrument["id"].as_str().unwrap().to_owned(), ..ads };
    let item = ads.quick_item(&ads.quick_campaign("5000000"), "500000");
    ads.promoted(&item, false);
    let rival = Advertiser::on(market());
    let other = rival.quick_item(&rival.quick_campaign("9000000"), "400000");
    rival.promoted(&other, false);
    // The second price and a step: at equal rates 410,000 each.
    for number in 0..3 {
        let token = network.token(&json!({ "key": format!("device-{number}") }));
        network.report(&[(&token, "impression"), (&token, "url_click")]).assert_status(200);
    }
    let path = format!("/funding_instruments/{}", ads.instrument);
    let seen = ads.get(&path, &[]);
    let stats = ads.stats("FUNDING_INSTRUMENT", &ads.instrument, &[]);
    let spent = metric(&stats, "billed_charge_local_micro");
    let left = seen["data"]["credit_remaining_local_micro"].as_i64().unwrap();
    assert_eq!(left, (1_000_000 - spent).max(0), "{seen}");
    assert!(spent > 500_000 && spent < 1_000_000 + 500_000, "{stats}");
}
