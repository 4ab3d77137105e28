//! Figures that are worked out in the background.

use serde_json::{Value, json};

use super::market;
use crate::ads::{Advertiser, is, send, with_overrides};
use crate::harness::{TestRequest, wait_until};

#[test]
fn stats_jobs_are_queued_cancelled_and_limited() {
    let ads = Advertiser::on(market());
    let item = ads.line_item(&ads.campaign());
    let defaults = vec![
        ("entity", "LINE_ITEM"),
        ("entity_ids", item.as_str()),
        ("start_time", "2026-03-01T08:00:00Z"),
        ("end_time", "2026-03-02T08:00:00Z"),
        ("granularity", "TOTAL"),
        ("metric_groups", "ENGAGEMENT"),
        ("placement", "ALL_ON_TWITTER"),
    ];
    let with = |more: &[(&'static str, &'static str)]| {
        let mut params = defaults.clone();
        params.retain(|(name, _)| more.iter().all(|(other, _)| other != name));
        params.extend(more.iter().copied());
        ads.beside("POST", "jobs/A", &params)
    };
    let long = [("end_time", "2026-05-30T08:00:00Z")];
    let created = with(&long);
    assert_eq!(created.header("x-concurrent-job-limit"), "100");
    let first = created.assert_status(200)["data"]["id_str"].as_str().unwrap().to_owned();
    for (more, code, at) in [
        (&[("end_time", "2026-05-31T08:00:00Z")][..], "INVALID_TIME_WINDOW", ""),
        (&[long[0], ("segmentation_type", "AGE")], "INVALID_TIME_WINDOW", ""),
        (&[("segmentation_type", "METROS")], "INCLUSIVE_PARAMETERS", "country"),
        (&[("segmentation_type", "METROS"), ("country", "zz")], "INVALID_PARAMETER", "country"),
        // A metro.
        (&[("segmentation_type", "METROS"), ("country", "732da9aec70fbc02")], "INVALID_PARAMETER", "country"),
        (&[("segmentation_type", "CONVERSION_TAGS")], "INVALID_PARAMETER", "segmentation_type"),
        (&[("segmentation_type", "MOODS")], "INVALID_PARAMETER", "segmentation_type"),
        (&[("segmentation_type", "AGE"), ("platform", "banana")], "INVALID_PARAMETER", "platform"),
        (&[("segmentation_type", "AGE"), ("country", "banana")], "INVALID_PARAMETER", "country"),
    ] {
        is(&with(more), 400, code, at);
    }
    let second = with(&[]).assert_status(200)["data"]["id_str"].as_str().unwrap().to_owned();
    let deleted = ads.beside("DELETE", &format!("jobs/A/{second}"), &[]).assert_status(200);
    assert_eq!(deleted["data"]["status"], "CANCELLED");
    let again = ads.beside("DELETE", &format!("jobs/A/{second}"), &[]);
    is(&again, 400, "INVALID", "job_id");
    is(&ads.beside("DELETE", "jobs/A/1", &[]), 404, "NOT_FOUND", "job_id");
    let rival = Advertiser::on(market());
    let foreign = rival.beside("DELETE", &format!("jobs/A/{first}"), &[]);
    is(&foreign, 404, "NOT_FOUND", "job_id");
    let none = rival.beside("GET", "jobs/A", &[("job_ids", &first)]).assert_status(200);
    assert_eq!(none["data"], json!([]));
    // The latest first, page by page.
    let page = ads.beside("GET", "jobs/A", &[("count", "1")]).assert_status(200);
    assert_eq!(page["data"][0]["id_str"], second.as_str());
    let next = page["next_cursor"].as_str().unwrap();
    let page = ads.beside("GET", "jobs/A", &[("count", "1"), ("cursor", next)]).assert_status(200);
    assert_eq!(page["data"][0]["id_str"], first.as_str());
    assert_eq!(page["next_cursor"], Value::Null);
    let unknown = market().send(TestRequest::get("/ads-files/nothing"));
    assert_eq!(unknown.status, 404);
}

#[test]
fn analyst_sees_and_cancels_the_jobs_that_an_analyst_may_request_only() {
    let ads = Advertiser::on(market());
    let defaults = [
        ("entity", "ACCOUNT"),
        ("entity_ids", ads.account.as_str()),
        ("start_time", "2026-03-01T08:00:00Z"),
        ("end_time", "2026-03-02T08:00:00Z"),
        ("granularity", "TOTAL"),
        ("metric_groups", "ENGAGEMENT"),
        ("placement", "ALL_ON_TWITTER"),
    ];
    let campaign = ads.campaign();
    let job = |more: &[(&str, &str)]| {
        let created = ads.beside("POST", "jobs/A", &with_overrides(&defaults, more)).assert_status(200);
        created["data"]["id_str"].as_str().unwrap().to_owned()
    };
    let open = job(&[]);
    let secret = job(&[("entity", "CAMPAIGN"), ("entity_ids", &campaign), ("metric_groups", "BILLING")]);
    let also_secret = job(&[("entity", "CAMPAIGN"), ("entity_ids", &campaign)]);
    let analyst = market().new_user("analyst");
    let role = ["ads", "account", "role", &ads.account, &analyst.username, "ANALYST"];
    market().run_cli(&role).assert_success();
    let path = format!("/12/stats/jobs/accounts/{}", ads.account);
    let by_id = format!("{open},{secret}");
    for params in [&[][..], &[("count", "1")], &[("job_ids", &by_id)]] {
        let page = send(&analyst, "GET", &path, params).assert_status(200);
        let found: Vec<&Value> = page["data"].as_array().unwrap().iter().map(|job| &job["id_str"]).collect();
        assert_eq!((found, &page["next_cursor"]), (vec![&json!(open)], &Value::Null), "{params:?}");
    }
    for id in [&secret, &also_secret] {
        is(&send(&analyst, "DELETE", &format!("{path}/{id}"), &[]), 404, "NOT_FOUND", "job_id");
    }
    let all = ads.beside("GET", "jobs/A", &[]).assert_status(200);
    assert!(all["data"].as_array().unwrap().iter().all(|job| job["status"] != "CANCELLED"), "{all}");
}

#[test]
fn stats_job_has_all_metric_groups_that_connectors_ask_for_together() {
    let ads = Advertiser::on(market());
    let item = ads.line_item(&ads.campaign());
    let params = [
        ("entity", "LINE_ITEM"),
        ("entity_ids", item.as_str()),
        ("start_time", "2026-03-01T08:00:00Z"),
        ("end_time", "2026-03-02T08:00:00Z"),
        ("granularity", "TOTAL"),
        ("metric_groups", "ENGAGEMENT,BILLING,WEB_CONVERSION,MOBILE_CONVERSION"),
        ("placement", "ALL_ON_TWITTER"),
    ];
    let created = ads.beside("POST", "jobs/A", &params).assert_status(200);
    assert_eq!(created["data"]["metric_groups"], json!(params[5].1.split(',').collect::<Vec<_>>()));
    let id = created["data"]["id_str"].as_str().unwrap();
    wait_until("the job has ended", || {
        let page = ads.beside("GET", "jobs/A", &[("job_ids", id)]).assert_status(200);
        page["data"][0]["status"] == "SUCCESS"
    });
}
