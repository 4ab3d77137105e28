//! Figures that are worked out in the background.

use serde_json::{Value, json};

use super::market;
use crate::ads::{Advertiser, is};
use crate::harness::TestRequest;

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
        (&[("segmentation_type", "CONVERSION_TAGS")], "INVALID_PARAMETER", "segmentation_type"),
        (&[("segmentation_type", "MOODS")], "INVALID_PARAMETER", "segmentation_type"),
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
