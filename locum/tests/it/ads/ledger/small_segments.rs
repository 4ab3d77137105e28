//! Figures by age and gender of few people.

use std::sync::OnceLock;

use serde_json::{Value, json};

use super::{Network, around, file};
use crate::ads::Advertiser;
use crate::harness::{TestServer, unique_number};

/// A network that tells of three people and more.
fn careful() -> &'static TestServer {
    static CAREFUL: OnceLock<TestServer> = OnceLock::new();
    CAREFUL.get_or_init(|| TestServer::start(&["--set", "ads.min_audience=3"]))
}

/// Impressions of a line item by segment, which so many people of each gender saw (1 male, 2 female).
fn figures(ads: &Advertiser, people: &[(Option<i64>, usize)], segments: &str) -> Vec<(String, i64)> {
    let item = ads.quick_item(&ads.quick_campaign("20000000"), "150000");
    ads.promoted(&item, false);
    let network = Network::on(careful());
    for gender in people.iter().flat_map(|(gender, count)| std::iter::repeat_n(gender, *count)) {
        let key = format!("device {}", unique_number());
        let token = network.token(&json!({ "key": key, "gender": gender, "age": 30, "platform": 1 }));
        network.report(&[(&token, "impression")]).assert_status(200);
    }
    let params = [("status", "PAUSED"), ("entity_status", "PAUSED")];
    ads.send("PUT", &format!("/line_items/{item}"), &params[1..]).assert_status(200);
    let (from, to) = around(24, 1);
    let params = [
        ("entity", "LINE_ITEM"),
        ("entity_ids", item.as_str()),
        ("start_time", from.as_str()),
        ("end_time", to.as_str()),
        ("granularity", "TOTAL"),
        ("metric_groups", "ENGAGEMENT"),
        ("placement", "ALL_ON_TWITTER"),
        ("segmentation_type", segments),
    ];
    let job = ads.beside("POST", "jobs/A", &params).assert_status(200);
    let found = file(ads, &job);
    let segments = found["data"][0]["id_data"].as_array().unwrap().iter();
    let mut all: Vec<(String, i64)> = segments
        .map(|one: &Value| {
            let name = one["segment"]["segment_name"].as_str().unwrap().to_owned();
            (name, one["metrics"]["impressions"][0].as_i64().unwrap())
        })
        .collect();
    all.sort_unstable();
    all
}

#[test]
fn segments_of_few_people_are_withheld_with_what_would_reveal_them() {
    let ads = Advertiser::on(careful());
    let named = |all: &[(&str, i64)]| all.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect::<Vec<_>>();
    let both = [(Some(1), 4), (Some(2), 3)];
    assert_eq!(figures(&ads, &both, "GENDER"), named(&[("Female", 3), ("Male", 4)]));
    let few = [(Some(1), 4), (Some(2), 2)];
    assert!(figures(&ads, &few, "GENDER").is_empty(), "two follow from the total");
    let unknown = [(Some(1), 5), (Some(2), 4), (None, 1)];
    assert_eq!(figures(&ads, &unknown, "GENDER"), named(&[("Male", 5)]));
    assert!(figures(&ads, &[(None, 2)], "AGE").is_empty());
    // Not what viewers are, but with what they saw it.
    assert_eq!(figures(&ads, &[(None, 2)], "PLATFORMS").len(), 1);
}
