//! How many criteria of a kind a line item may have.

use serde_json::json;

use crate::ads::criteria::wrong;
use crate::ads::{Advertiser, is, send};
use crate::harness::{shared_server, unique_number};

fn too_many_criteria() -> (String, String) {
    ("INVALID".to_owned(), "targeting_type".to_owned())
}

/// The ids of new users, whom criteria can name.
fn imported_users(count: i64) -> Vec<String> {
    let first = 9_300_000_000 + 1_000 * i64::try_from(unique_number() % 1_000_000).unwrap();
    let ids: Vec<String> = (first..first + count).map(|id| id.to_string()).collect();
    let line =
        |id: &String| json!({ "kind": "user", "username": format!("c{id}"), "name": format!("c{id}"), "id": id });
    shared_server().import_lines(&ids.iter().map(line).collect::<Vec<_>>()).assert_success();
    ids
}

#[test]
fn criteria_of_a_kind_are_limited_in_a_line_item() {
    let ads = Advertiser::new();
    let item = ads.item();
    let users = imported_users(102);
    let page = [("count", "101")];
    let interests = send(&ads.person, "GET", "/12/targeting_criteria/interests", &page).assert_status(200);
    let interests: Vec<String> = interests["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["targeting_value"].as_str().unwrap().to_owned())
        .collect();
    let keywords: Vec<String> = (0..1_001).map(|number| format!("word {number}")).collect();
    let kinds = ["BROAD_KEYWORD", "PHRASE_KEYWORD", "EXACT_KEYWORD", "UNORDERED_KEYWORD"];
    for (kinds, values, operator) in [
        (&kinds[..], &keywords[..], "EQ"),
        (&["INTEREST"], &interests, "EQ"),
        (&["SIMILAR_TO_FOLLOWERS_OF_USER"], &users[..101], "EQ"),
        (&["CONTENT_PUBLISHER_USER"], &users[..51], "NE"),
    ] {
        let most = values.len() - 1;
        let all: Vec<(&str, &str, &str)> = values
            .iter()
            .enumerate()
            .map(|(number, value)| (kinds[number % kinds.len()], value.as_str(), operator))
            .collect();
        // All but one; then two, of which one is too many; then the one.
        for some in all[..most - 1].chunks(500) {
            ads.targets_all(&item, some).assert_status(200);
        }
        let refused = wrong(&ads.targets_all(&item, &all[most - 1..]));
        assert_eq!(refused, [vec![], vec![too_many_criteria()]], "{kinds:?}");
        ads.targets_all(&item, &all[most - 1..most]).assert_status(200);
        if kinds[0] == "CONTENT_PUBLISHER_USER" {
            assert_eq!(wrong(&ads.targets_all(&item, &all[most..])), [[too_many_criteria()]]);
        } else {
            is(&ads.targets(&item, all[most]), 400, "INVALID", "targeting_type");
        }
        // What is there already takes no room.
        ads.targets_all(&item, &all[..1]).assert_status(200);
    }
}

#[test]
fn second_event_or_age_of_a_line_item_is_refused() {
    let ads = Advertiser::new();
    let item = ads.item();
    let event = |name: &str| {
        let name = format!("{name}{}", unique_number());
        let add = ["ads", "option", "add", "EVENT", &name, "--about", "SPORTS"];
        let added = shared_server().run_cli(&[&add[..], &["--keyword", "bike"]].concat()).json();
        added["value"].as_str().unwrap().to_owned()
    };
    let (ride, race) = (event("ride"), event("race"));
    let events = [("EVENT", ride.as_str(), "EQ"), ("EVENT", race.as_str(), "EQ")];
    let ages = [("AGE", "AGE_OVER_21", "EQ"), ("AGE", "AGE_OVER_35", "EQ")];
    for [one, other] in [events, ages] {
        assert_eq!(wrong(&ads.targets_all(&item, &[one, other])), [vec![], vec![too_many_criteria()]]);
        ads.targets(&item, one).assert_status(200);
        is(&ads.targets(&item, other), 400, "INVALID", "targeting_type");
    }
}
