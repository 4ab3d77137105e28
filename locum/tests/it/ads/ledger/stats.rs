//! Figures that are answered at once: what may be asked for, and what is refused.

use serde_json::{Value, json};

use crate::ads::{Advertiser, is, send, with_overrides};
use crate::harness::{TestResponse, shared_server};

/// The parameters of a request for a day of a line item.
const fn usual(item: &str) -> [(&'static str, &str); 7] {
    [
        ("entity", "LINE_ITEM"),
        ("entity_ids", item),
        ("start_time", "2026-03-01T08:00:00Z"),
        ("end_time", "2026-03-02T08:00:00Z"),
        ("granularity", "HOUR"),
        ("metric_groups", "ENGAGEMENT"),
        ("placement", "ALL_ON_TWITTER"),
    ]
}

/// Asks for the figures with some parameters replaced, or left out where they are empty.
fn stats(ads: &Advertiser, item: &str, more: &[(&str, &str)]) -> TestResponse {
    let mut params = with_overrides(&usual(item), more);
    params.retain(|(_, value)| !value.is_empty());
    ads.figures(&params)
}

#[test]
fn figures_have_one_value_for_each_hour_of_the_request() {
    let ads = Advertiser::new();
    let item = ads.line_item(&ads.campaign());
    let with = |more: &[(&str, &str)]| stats(&ads, &item, more);
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
}

#[test]
fn invalid_request_for_figures_is_refused() {
    let (ads, rival) = (Advertiser::new(), Advertiser::new());
    let item = ads.line_item(&ads.campaign());
    let with = |more: &[(&str, &str)]| stats(&ads, &item, more);
    let many = "zz".to_owned();
    let twenty_one: Vec<String> = (0..21).map(|n| format!("a{n}")).collect();
    let twenty_one = twenty_one.join(",");

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
}

#[test]
fn days_begin_at_midnight_in_the_time_zone_of_the_account() {
    let ads = Advertiser::new();
    let item = ads.line_item(&ads.campaign());
    let with = |more: &[(&str, &str)]| stats(&ads, &item, more);
    let days = [("start_time", "2026-11-15"), ("end_time", "2026-11-18"), ("granularity", "DAY")];
    let stats = with(&days).assert_status(200);
    assert_eq!(stats["time_series_length"], 3);
    assert_eq!(stats["request"]["params"]["start_time"], "2026-11-15T08:00:00Z");
    // Windows across both changes of the clocks, by date alone; and by the offset of today.
    for (from, to, days) in [
        ("2026-03-07", "2026-03-10", 3),
        ("2026-10-28", "2026-11-04", 7),
        ("2026-06-01", "2026-06-08", 7),
        ("2026-03-01T08:00:00Z", "2026-03-04T08:00:00Z", 3),
    ] {
        let window = [("start_time", from), ("end_time", to), ("granularity", "DAY")];
        assert_eq!(with(&window).assert_status(200)["time_series_length"], days, "{from}");
        let job = with_overrides(&usual(&item), &window);
        let path = format!("/12/stats/jobs/accounts/{}", ads.account);
        send(&ads.person, "POST", &path, &job).assert_status(200);
    }
}

#[test]
fn analyst_reads_the_figures_of_the_account_only() {
    let ads = Advertiser::new();
    let item = ads.line_item(&ads.campaign());
    let defaults = usual(&item);
    let analyst = shared_server().new_user("analyst");
    let role = ["ads", "account", "role", &ads.account, &analyst.username, "ANALYST"];
    shared_server().run_cli(&role).assert_success();
    let path = format!("/12/stats/accounts/{}", ads.account);
    is(&send(&analyst, "GET", &path, &defaults), 403, "ACTION_NOT_ALLOWED", "");
    let mut params = defaults.to_vec();
    params[0].1 = "ACCOUNT";
    params[1].1 = &ads.account;
    send(&analyst, "GET", &path, &params).assert_status(200);
    let stranger = shared_server().new_user("stranger");
    is(&send(&stranger, "GET", &path, &defaults), 403, "ACCOUNT_NOT_FOUND", "account_id");
}
