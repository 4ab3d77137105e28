//! A/B tests while ads are served: everyone sees the ads of one group.

use std::collections::{BTreeMap, BTreeSet};

use base::clock::wall_time;
use serde_json::{Value, json};

use super::{HOUR, Network, market, written};
use crate::ads::Advertiser;
use crate::ads::ab_tests::{definition, group};

/// The line items that a viewer is shown.
fn shown(network: &Network, viewer: &Value) -> BTreeSet<String> {
    let ads = network.request(viewer, 5);
    ads.iter().map(|ad| ad["line_item_id"].as_str().unwrap().to_owned()).collect()
}

fn devices(count: usize) -> Vec<Value> {
    (0..count).map(|number| json!({ "key": format!("device {number}") })).collect()
}

fn set<const N: usize>(items: [&String; N]) -> BTreeSet<String> {
    items.into_iter().cloned().collect()
}

#[test]
fn viewer_sees_one_line_item_of_a_live_ab_test_and_all_after_it() {
    let ads = Advertiser::on(market());
    let network = Network::new();
    let campaign = ads.quick_campaign("20000000");
    let items = [0; 2].map(|_| ads.quick_item(&campaign, "150000"));
    let outside = ads.quick_item(&ads.quick_campaign("20000000"), "150000");
    for item in items.iter().chain([&outside]) {
        ads.promoted(item, false);
    }
    let mut viewers = devices(40);
    viewers.extend((0..4).map(|_| json!({ "user_id": market().new_user("viewer").id })));
    let all = set([&items[0], &items[1], &outside]);
    ads.start_test(&definition("LINE_ITEM", &[group("50", &[&items[0]]), group("50", &[&items[1]])]));
    assert_eq!(shown(&network, &viewers[0]), all, "before it begins");

    market().run_cli(&["clock", "advance", "2h"]).assert_success();
    let mut counts = [0, 0];
    let mut own = BTreeMap::new();
    for (place, viewer) in viewers.iter().enumerate() {
        let seen = shown(&network, viewer);
        let group = usize::from(seen.contains(&items[1]));
        assert_eq!(seen, set([&items[group], &outside]));
        counts[group] += 1;
        own.insert(place, seen);
    }
    assert!(counts.iter().all(|count| *count >= 8), "{counts:?}");
    for (place, viewer) in viewers.iter().enumerate() {
        assert_eq!(shown(&network, viewer), own[&place], "as before");
    }

    market().run_cli(&["clock", "advance", "48h"]).assert_success();
    for viewer in &viewers {
        assert_eq!(shown(&network, viewer), all, "after its end");
    }
}

#[test]
fn viewers_are_split_by_the_sizes_until_the_ab_test_is_deleted() {
    let ads = Advertiser::on(market());
    let network = Network::new();
    let campaigns = [0; 2].map(|_| ads.quick_campaign("20000000"));
    let items = [0, 1].map(|place: usize| ads.quick_item(&campaigns[place], "150000"));
    for item in &items {
        ads.promoted(item, false);
    }
    let test = definition("CAMPAIGN", &[group("20", &[&campaigns[0]]), group("80", &[&campaigns[1]])]);
    let test = ads.start_test(&test);
    market().run_cli(&["clock", "advance", "2h"]).assert_success();
    let viewers = devices(200);
    let mut few = 0;
    for viewer in &viewers {
        let seen = shown(&network, viewer);
        assert_eq!(seen.len(), 1, "{seen:?}");
        few += usize::from(seen.contains(&items[0]));
    }
    assert!((20..=60).contains(&few), "{few}");
    // Who sees none of a group that serves nothing sees nothing of the other.
    ads.send("PUT", &format!("/campaigns/{}", campaigns[1]), &[("entity_status", "PAUSED")]).assert_status(200);
    let seen = viewers.iter().filter(|viewer| !shown(&network, viewer).is_empty()).count();
    assert_eq!(seen, few);
    ads.send("PUT", &format!("/campaigns/{}", campaigns[1]), &[("entity_status", "ACTIVE")]).assert_status(200);

    let path = format!("/ab_tests/{}", test["id"].as_str().unwrap());
    ads.send("DELETE", &path, &[]).assert_status(200);
    for viewer in &viewers[..20] {
        assert_eq!(shown(&network, viewer), set([&items[0], &items[1]]));
    }
}

/// How many people entities reached between two hours from now.
fn reach(ads: &Advertiser, path: &str, ids: &str, (from, to): (i64, i64)) -> i64 {
    let whole = wall_time().ms() / HOUR * HOUR;
    let (from, to) = (written(whole + from * HOUR), written(whole + to * HOUR));
    let name = format!("{}_ids", path.trim_end_matches('s'));
    let params = [(name.as_str(), ids), ("start_time", from.as_str()), ("end_time", to.as_str())];
    let found = ads.beside("GET", &format!("A/reach/{path}"), &params).assert_status(200);
    found["data"].as_array().unwrap().iter().map(|one| one["total_audience_reach"].as_i64().unwrap()).sum()
}

#[test]
fn simulated_viewers_are_split_while_the_ab_test_is_live() {
    let ads = Advertiser::on(market());
    let campaigns = [0; 2].map(|_| ads.quick_campaign("20000000"));
    for campaign in &campaigns {
        ads.promoted(&ads.quick_item(campaign, "150000"), false);
    }
    ads.start_test(&definition("CAMPAIGN", &[group("50", &[&campaigns[0]]), group("50", &[&campaigns[1]])]));
    market().run_cli(&["clock", "advance", "96h"]).assert_success();
    market().run_cli(&["ads", "simulate", &ads.account, "--hours", "96"]).assert_success();
    // It was live from the next hour on, for two days.
    for (hours, is_split) in [((2, 48), true), ((51, 96), false)] {
        let of_account = reach(&ads, "funding_instruments", &ads.instrument, hours);
        let of_campaigns = reach(&ads, "campaigns", &campaigns.join(","), hours);
        assert!(of_account > 0);
        assert_eq!(of_campaigns == of_account, is_split, "{of_campaigns} of {of_account}");
    }
}
