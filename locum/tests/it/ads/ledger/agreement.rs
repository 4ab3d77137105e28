//! Whatever happened, figures agree with each other and with the budget.

use serde_json::Value;

use super::{around, file, market, sum};
use crate::ads::Advertiser;

/// Whatever happened, figures agree with each other and with the budget.
#[test]
fn figures_agree_whatever_was_made_up() {
    let ads = Advertiser::on(market());
    let campaign = ads.quick_campaign("900000");
    let items = [
        ads.quick_item(&campaign, "150000"),
        ads.quick_item(&campaign, "100000"),
    ];
    for item in &items {
        ads.promoted(item, false);
        ads.promoted(item, true);
    }
    for _ in 0..5 {
        market().person("viewer");
    }
    for seed in ["1", "2"] {
        let simulate = [
            "ads",
            "simulate",
            &ads.account,
            "--hours",
            "40",
            "--seed",
            seed,
        ];
        let made = market().cli(&simulate).json();
        assert!(made["events"].as_i64().unwrap() > 50, "{made}");
        // The same seed makes the same events, and makes them once.
        let again = market().cli(&simulate).json();
        assert!(
            again["events"].as_i64().unwrap() <= made["events"].as_i64().unwrap() / 10,
            "{again}"
        );
    }
    let both = items.join(",");
    let (from, to) = around(48, 1);
    let of = |entity: &'static str, ids: &str, granularity: &'static str| {
        let more = [
            ("entity", entity),
            ("entity_ids", ids),
            ("granularity", granularity),
            ("start_time", from.as_str()),
            ("end_time", to.as_str()),
        ];
        ads.stats(entity, ids, &more)
    };
    let by_item = of("LINE_ITEM", &both, "TOTAL");
    let by_hour = of("LINE_ITEM", &both, "HOUR");
    let whole = of("CAMPAIGN", &campaign, "TOTAL");
    let job = |segments: &'static str| {
        let mut params = vec![
            ("entity", "LINE_ITEM"),
            ("entity_ids", both.as_str()),
            ("granularity", "HOUR"),
            ("start_time", from.as_str()),
            ("end_time", to.as_str()),
            ("metric_groups", "ENGAGEMENT,BILLING"),
            ("placement", "ALL_ON_TWITTER"),
        ];
        if !segments.is_empty() {
            params.push(("segmentation_type", segments));
        }
        let made = ads.beside("POST", "jobs/A", &params).is(200);
        assert_eq!(made["data"]["status"], "QUEUED");
        assert!(made["data"]["id"].is_i64());
        file(&ads, &made)
    };
    let late = job("");
    assert_eq!(
        late["data"], by_hour["data"],
        "at once and in the background"
    );
    assert_eq!(late["request"]["params"], by_hour["request"]["params"]);
    let segmented: Vec<Value> = ["PLATFORMS", "AGE", "GENDER"]
        .into_iter()
        .map(job)
        .collect();
    for name in [
        "impressions",
        "engagements",
        "likes",
        "clicks",
        "billed_engagements",
        "billed_charge_local_micro",
    ] {
        let mut all = 0;
        for place in 0..2 {
            let total = sum(&by_item["data"][place], name);
            assert_eq!(total, sum(&by_hour["data"][place], name), "{name} by hour");
            for one in &segmented {
                assert_eq!(total, sum(&one["data"][place], name), "{name} by segment");
                let segments = one["data"][place]["id_data"].as_array().unwrap();
                assert!(segments.len() > 1, "{one}");
                assert!(segments[0]["segment"]["segment_name"].is_string());
            }
            all += total;
        }
        assert_eq!(all, sum(&whole["data"][0], name), "{name} of the campaign");
    }
    // Three days at most, and an event each.
    let spent = sum(&whole["data"][0], "billed_charge_local_micro");
    assert!(spent > 0 && spent <= 3 * (900_000 + 150_000), "{spent}");
    let params = [
        ("campaign_ids", campaign.as_str()),
        ("start_time", &from),
        ("end_time", &to),
    ];
    let reach = ads.beside("GET", "A/reach/campaigns", &params).is(200);
    let reach = reach["data"][0]["total_audience_reach"].as_i64().unwrap();
    assert!(reach > 0 && reach <= sum(&whole["data"][0], "impressions"));
}
