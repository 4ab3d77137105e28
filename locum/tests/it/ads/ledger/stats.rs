//! Figures that are answered at once: what may be asked for, and what is refused.

use serde_json::{Value, json};

use super::market;
use crate::ads::{Advertiser, is, send};
use crate::harness::TestResponse;

#[test]
fn figures_are_given_for_what_the_contract_allows() {
    let ads = Advertiser::on(market());
    let item = ads.line_item(&ads.campaign());
    let usual = [
        ("entity", "LINE_ITEM"),
        ("entity_ids", item.as_str()),
        ("start_time", "2026-03-01T08:00:00Z"),
        ("end_time", "2026-03-02T08:00:00Z"),
        ("granularity", "HOUR"),
        ("metric_groups", "ENGAGEMENT"),
        ("placement", "ALL_ON_TWITTER"),
    ];
    let with = |more: &[(&'static str, &str)]| -> TestResponse {
        let mut params: Vec<(&str, &str)> = usual.to_vec();
        params.retain(|(name, _)| more.iter().all(|(other, _)| other != name));
        params.extend(more.iter().copied().filter(|(_, value)| !value.is_empty()));
        ads.figures(&params)
    };
    let stats = with(&[]).assert_status(200);
    assert_eq!(stats["data_type"], "stats");
    assert_eq!(stats["time_series_length"], 24);
    assert_eq!(
        stats["request"]["params"],
        json!({
            "account_id": ads.account,
            "start_time": "2026-03-01T08:00:00Z",
            "end_time": "2026-03-02T08:00:00Z",
            "segmentation_type": null,
            "entity_ids": [item],
            "country": null,
            "placement": "ALL_ON_TWITTER",
            "granularity": "HOUR",
            "entity": "LINE_ITEM",
            "platform": null,
            "metric_groups": ["ENGAGEMENT"],
        })
    );
    let one = &stats["data"][0]["id_data"][0];
    assert_eq!(one["segment"], Value::Null);
    assert_eq!(one["metrics"]["impressions"], Value::Null);
    let many = "zz".to_owned();
    let twenty_one: Vec<String> = (0..21).map(|n| format!("a{n}")).collect();
    let twenty_one = twenty_one.join(",");
    let rival = Advertiser::on(market());
    let foreign = rival.line_item(&rival.campaign());
    for (more, status, code, at) in [
        (&[("start_time", "2026-03-01T08:30:00Z")][..], 400, "INVALID_PARAMETER", "start_time"),
        (&[("end_time", "yesterday")], 400, "INVALID_PARAMETER", "end_time"),
        (&[("end_time", "2026-03-01T08:00:00Z")], 400, "INVALID_TIME_WINDOW", ""),
        (&[("end_time", "2026-03-08T09:00:00Z")], 400, "INVALID_TIME_WINDOW", ""),
        (&[("granularity", "WEEK")], 400, "INVALID_PARAMETER", "granularity"),
        (&[("granularity", "DAY"), ("start_time", "2026-03-01T09:00:00Z")], 400, "INVALID_PARAMETER", "start_time"),
        (&[("metric_groups", "ENGAGEMENT,MOBILE_CONVERSION")], 400, "REQUEST_TOO_COMPLEX", "metric_groups"),
        (&[("metric_groups", "")], 400, "MISSING_PARAMETER", "metric_groups"),
        (&[("placement", "TWITTER_TIMELINE")], 400, "INVALID_PARAMETER", "placement"),
        (&[("entity", "PLANET")], 400, "INVALID_PARAMETER", "entity"),
        (&[("entity_ids", many.as_str())], 404, "LINE_ITEM_NOT_FOUND", "entity_ids"),
        (&[("entity_ids", twenty_one.as_str())], 400, "INVALID_PARAMETER", "entity_ids"),
        (&[("entity_ids", "a-b")], 404, "INVALID_ID_ILLEGAL_CHARACTERS", "entity_ids"),
        (&[("entity_ids", foreign.as_str())], 404, "LINE_ITEM_NOT_FOUND", "entity_ids"),
    ] {
        // Numbers are counted by kind: the other's first line item may have this one's number.
        if at == "entity_ids" && more[0].1 == item {
            continue;
        }
        is(&with(more), status, code, at);
    }
    // A date is its midnight in the account's time zone; days begin there.
    let days = [("start_time", "2026-11-15"), ("end_time", "2026-11-18"), ("granularity", "DAY")];
    let stats = with(&days).assert_status(200);
    assert_eq!(stats["time_series_length"], 3);
    assert_eq!(stats["request"]["params"]["start_time"], "2026-11-15T08:00:00Z");
    // Roles.
    let analyst = market().new_user("analyst");
    let role = ["ads", "account", "role", &ads.account, &analyst.username, "ANALYST"];
    market().run_cli(&role).assert_success();
    let path = format!("/12/stats/accounts/{}", ads.account);
    is(&send(&analyst, "GET", &path, &usual), 403, "ACTION_NOT_ALLOWED", "");
    let mut params = usual.to_vec();
    params[0].1 = "ACCOUNT";
    params[1].1 = &ads.account;
    send(&analyst, "GET", &path, &params).assert_status(200);
    let stranger = market().new_user("stranger");
    is(&send(&stranger, "GET", &path, &usual), 403, "ACCOUNT_NOT_FOUND", "account_id");
}
