//! A/B tests: what they may be like, how they are found, and what becomes of them as time passes.

use base::clock::wall_time;
use serde_json::{Value, json};

use super::ledger::{HOUR, market, written};
use super::{Advertiser, is, send};
use crate::harness::{TestRequest, TestResponse, shared_server};

/// So many hours from now.
pub(super) fn in_hours(hours: i64) -> String {
    written(wall_time().ms() + hours * HOUR)
}

pub(super) fn group(size: &str, entities: &[&str]) -> Value {
    json!({ "size": size, "entity_ids": entities })
}

/// A test that begins in an hour and takes two days.
pub(super) fn definition(entity_type: &str, groups: &[Value]) -> Value {
    json!({
        "name": "Two headlines",
        "entity_type": entity_type,
        "start_time": in_hours(1),
        "end_time": in_hours(49),
        "user_groups": groups,
    })
}

fn with(body: &Value, more: &Value) -> Value {
    let mut body = body.clone();
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

fn ids(page: &Value) -> Vec<&str> {
    page["data"].as_array().unwrap().iter().map(|test| test["id"].as_str().unwrap()).collect()
}

impl Advertiser {
    pub(super) fn send_test(&self, method: &'static str, path: &str, body: &Value) -> TestResponse {
        let path = format!("/12/accounts/{}/ab_tests{path}", self.account);
        self.person.send_signed(TestRequest::new(method, path).json(body))
    }

    #[track_caller]
    pub(super) fn start_test(&self, body: &Value) -> Value {
        self.send_test("POST", "", body).assert_status(200)["data"].clone()
    }
}

#[test]
fn ab_test_is_created_shown_changed_and_deleted() {
    let ads = Advertiser::new();
    let (one, other) = (ads.campaign(), ads.campaign());
    let groups = [
        json!({ "name": "A", "size": "33.33", "entity_ids": [one.to_uppercase()] }),
        json!({ "name": "B", "description": "The short one", "size": 66.67, "entity_ids": [other] }),
    ];
    let created = ads.start_test(&definition("CAMPAIGN", &groups));
    let id = created["id"].as_str().unwrap();
    let by = json!({ "user_id": ads.person.id, "username": ads.person.username });
    let group_ids = [0, 1].map(|place| created["user_groups"][place]["id"].clone());
    assert!(group_ids.iter().all(Value::is_string) && group_ids[0] != group_ids[1], "{created}");
    let expected = json!({
        "id": id,
        "name": "Two headlines",
        "description": null,
        "entity_type": "CAMPAIGN",
        "start_time": in_hours(1),
        "end_time": in_hours(49),
        "status": "SCHEDULED",
        "user_groups": [
            { "id": group_ids[0], "name": "A", "description": null, "size": "33.33", "entity_ids": [one] },
            { "id": group_ids[1], "name": "B", "description": "The short one", "size": "66.67", "entity_ids": [other] },
        ],
        "created_by": by,
        "updated_by": by,
        "created_at": created["created_at"],
        "updated_at": created["updated_at"],
        "deleted": false,
    });
    let comparable = |test: &Value| with(test, &json!({ "start_time": "", "end_time": "" }));
    assert_eq!(comparable(&created), comparable(&expected));
    let path = format!("/ab_tests/{id}");
    assert_eq!(ads.get(&path, &[])["data"], created);

    // A colleague changes it; the record that was read may be sent back as a whole.
    let colleague = shared_server().new_user("colleague");
    let grant = ["ads", "account", "role", &ads.account, &colleague.username, "AD_MANAGER"];
    shared_server().run_cli(&grant).assert_success();
    let target = format!("/12/accounts/{}{path}", ads.account);
    let change = with(&created, &json!({ "name": "Headlines", "description": "Short or long" }));
    let put = |body: &Value| colleague.send_signed(TestRequest::new("PUT", target.clone()).json(body));
    let changed = put(&change).assert_status(200)["data"].clone();
    assert_eq!((&changed["name"], &changed["description"]), (&json!("Headlines"), &json!("Short or long")));
    assert_eq!(changed["user_groups"], created["user_groups"]);
    assert_eq!(changed["updated_by"]["username"], colleague.username.as_str());
    assert_eq!(changed["created_by"], by);
    // A group keeps its id if it is the same without it; a new one gets one.
    let third = ads.campaign();
    let regrouped = [groups[0].clone(), json!({ "name": "C", "size": "66.67", "entity_ids": [third] })];
    let regrouped = put(&json!({ "user_groups": regrouped })).assert_status(200)["data"].clone();
    assert_eq!(regrouped["user_groups"][0]["id"], group_ids[0]);
    assert!(!group_ids.contains(&regrouped["user_groups"][1]["id"]), "{regrouped}");

    let removed = send(&colleague, "DELETE", &target, &[]).assert_status(200);
    assert_eq!(removed["data"]["deleted"], true);
    is(&ads.send("GET", &path, &[]), 404, "NOT_FOUND", "ab_test_id");
    assert_eq!(ads.get("/ab_tests", &[])["data"], json!([]));
    assert_eq!(ids(&ads.get("/ab_tests", &[("with_deleted", "true")])), [id]);
}

#[test]
fn ab_test_with_invalid_definition_is_refused() {
    let ads = Advertiser::new();
    let (one, other, foreign) = (ads.campaign(), ads.campaign(), Advertiser::new().campaign());
    let deleted = ads.campaign();
    ads.send("DELETE", &format!("/campaigns/{deleted}"), &[]).assert_status(200);
    let good = definition("CAMPAIGN", &[group("50", &[&one]), group("50", &[&other])]);
    let groups = |groups: Value| json!({ "user_groups": groups });
    let halves = |first: &str, second: &str| groups(json!([group("50", &[first]), group("50", &[second])]));
    let many: Vec<Value> = (0..31).map(|_| group("3.22", &[&one])).collect();
    let (invalid, not_found) = ((400, "INVALID_PARAMETER"), (404, "CAMPAIGN_NOT_FOUND"));
    let crowd: Vec<String> = (0..201).map(|number| format!("c{number}")).collect();
    for (change, (status, code), at) in [
        (json!({ "start_time": in_hours(-1) }), invalid, "start_time"),
        (json!({ "start_time": in_hours(-49), "end_time": in_hours(-1) }), invalid, "start_time"),
        (json!({ "end_time": in_hours(24) }), (400, "INVALID"), "end_time"),
        (json!({ "end_time": in_hours(-30) }), invalid, "end_time"),
        (json!({ "entity_type": "POST" }), invalid, "entity_type"),
        (json!({ "name": "n".repeat(256) }), invalid, "name"),
        (json!({ "user_groups": null }), (400, "MISSING_PARAMETER"), "user_groups"),
        (groups(json!("x")), invalid, "user_groups"),
        (groups(json!([])), invalid, "user_groups"),
        (groups(json!([group("100", &[&one])])), invalid, "user_groups"),
        (groups(many.into()), invalid, "user_groups"),
        (groups(json!([group("0.5", &[&one]), group("99.5", &[&other])])), invalid, "user_groups"),
        (groups(json!([group("50", &[&one]), group("49.99", &[&other])])), invalid, "user_groups"),
        (groups(json!([group("50", &[]), group("50", &[&other])])), invalid, "user_groups"),
        (groups(json!([{ "size": "50" }, group("50", &[&other])])), (400, "MISSING_PARAMETER"), "user_groups"),
        (groups(json!([{ "entity_ids": [one] }, group("50", &[&other])])), (400, "MISSING_PARAMETER"), "user_groups"),
        (groups(json!([1, 2])), invalid, "user_groups"),
        (groups(json!([{ "size": "50", "entity_ids": crowd }, group("50", &[&other])])), invalid, "user_groups"),
        (halves(&one, &one), invalid, "user_groups"),
        (halves(&one, &foreign), not_found, "user_groups"),
        (halves(&one, &deleted), not_found, "user_groups"),
        (halves(&one, "zzzzzz"), not_found, "user_groups"),
        (halves(&one, "a-b"), (404, "INVALID_ID_ILLEGAL_CHARACTERS"), "user_groups"),
    ] {
        is(&ads.send_test("POST", "", &with(&good, &change)), status, code, at);
    }
    // It is JSON, whatever else could be understood.
    let path = format!("/12/accounts/{}/ab_tests", ads.account);
    is(&send(&ads.person, "POST", &path, &[("name", "A")]), 400, "INVALID_PARAMETER", "");
    let form = TestRequest::post(path.clone()).form("name=A");
    is(&ads.person.send_signed(form), 400, "INVALID_PARAMETER", "");
    assert_eq!(ads.get("/ab_tests", &[])["data"], json!([]));

    let created = ads.start_test(&good);
    let one_test = format!("/{}", created["id"].as_str().unwrap());
    is(&ads.send("PUT", &format!("/ab_tests{one_test}"), &[("name", "B")]), 400, "INVALID_PARAMETER", "");
    let mut changed = created["user_groups"].clone();
    changed[0]["id"] = "zzzz".into();
    is(&ads.send_test("PUT", &one_test, &groups(changed)), 404, "NOT_FOUND", "user_groups");
    is(&ads.send_test("PUT", &one_test, &json!({ "end_time": in_hours(2) })), 400, "INVALID", "end_time");
    assert_eq!(ads.get(&format!("/ab_tests{one_test}"), &[])["data"], created);
}

#[test]
fn ab_test_of_line_items_has_all_of_one_campaign_with_equal_sizes() {
    let ads = Advertiser::new();
    let campaign = ads.campaign();
    let [one, two, three] = [0; 3].map(|_| ads.line_item(&campaign));
    let elsewhere = ads.line_item(&ads.campaign());
    let refused = |groups: &[Value]| {
        is(&ads.send_test("POST", "", &definition("LINE_ITEM", groups)), 400, "INVALID", "user_groups");
    };
    refused(&[group("50", &[&one]), group("50", &[&two])]);
    refused(&[group("50", &[&one, &two]), group("50", &[&three])]);
    refused(&[group("30", &[&one]), group("30", &[&two]), group("40", &[&three])]);
    refused(&[group("25", &[&one]), group("25", &[&two]), group("25", &[&three]), group("25", &[&elsewhere])]);
    let unknown = definition("LINE_ITEM", &[group("50", &[&one]), group("50", &["zzzzzz"])]);
    is(&ads.send_test("POST", "", &unknown), 404, "LINE_ITEM_NOT_FOUND", "user_groups");
    let six: Vec<String> = [0; 6].map(|_| ads.line_item(&campaign)).to_vec();
    let groups: Vec<Value> = six.iter().map(|item| group("16.67", &[item])).collect();
    is(&ads.send_test("POST", "", &definition("LINE_ITEM", &groups)), 400, "INVALID_PARAMETER", "user_groups");
    let mut groups = groups;
    (groups[0], groups[1]) = (group("16.66", &[&six[0]]), group("16.66", &[&six[1]]));
    refused(&groups);
    for item in six {
        ads.send("DELETE", &format!("/line_items/{item}"), &[]).assert_status(200);
    }
    let thirds = [group("33.33", &[&one]), group("33.34", &[&two]), group("33.33", &[&three])];
    ads.start_test(&definition("LINE_ITEM", &thirds));
}

#[test]
fn ab_test_overlaps_flights_and_takes_five_days_if_it_is_of_apps() {
    let ads = Advertiser::new();
    let item = |more: &[(&str, &str)]| {
        let campaign = ads.campaign();
        let params = [
            ("campaign_id", campaign.as_str()),
            ("product_type", "PROMOTED_TWEETS"),
            ("placements", "ALL_ON_TWITTER"),
            ("bid_amount_local_micro", "150000"),
        ];
        ads.make("/line_items", &[&params[..], more].concat());
        campaign
    };
    // The second begins after the end of the test, also if a second passes until it is defined.
    let (soon, later, last) = (in_hours(1), in_hours(50), in_hours(150));
    let running = item(&[("objective", "ENGAGEMENTS")]);
    let test = |other: &str| definition("CAMPAIGN", &[group("50", &[&running]), group("50", &[other])]);
    for flight in [
        [("start_time", "2026-01-01T00:00:00Z"), ("end_time", soon.as_str())],
        [("start_time", later.as_str()), ("end_time", last.as_str())],
    ] {
        let idle = item(&[&[("objective", "ENGAGEMENTS")][..], &flight].concat());
        is(&ads.send_test("POST", "", &test(&idle)), 400, "INVALID", "start_time");
    }
    let apps = item(&[("objective", "APP_INSTALLS"), ("ios_app_store_identifier", "1")]);
    is(&ads.send_test("POST", "", &test(&apps)), 400, "INVALID", "end_time");
    ads.start_test(&with(&test(&apps), &json!({ "end_time": in_hours(1 + 5 * 24) })));
}

#[test]
fn campaign_takes_part_in_one_unfinished_ab_test() {
    let ads = Advertiser::new();
    let campaigns = [0; 3].map(|_| ads.campaign());
    let items = [0; 2].map(|_| ads.line_item(&campaigns[0]));
    let of_campaigns = |one: &str, other: &str| definition("CAMPAIGN", &[group("50", &[one]), group("50", &[other])]);
    let of_items = definition("LINE_ITEM", &[group("50", &[&items[0]]), group("50", &[&items[1]])]);
    let first = ads.start_test(&of_items);
    let refused = |body: &Value| is(&ads.send_test("POST", "", body), 400, "INVALID", "user_groups");
    refused(&of_items);
    refused(&of_campaigns(&campaigns[0], &campaigns[1]));
    ads.start_test(&of_campaigns(&campaigns[1], &campaigns[2]));
    // It is free again once its test is deleted.
    ads.send("DELETE", &format!("/ab_tests/{}", first["id"].as_str().unwrap()), &[]).assert_status(200);
    refused(&of_campaigns(&campaigns[0], &campaigns[1]));
    let fourth = ads.campaign();
    let second = ads.start_test(&of_campaigns(&campaigns[0], &fourth));
    // A campaign that is deleted stays in its test, which is still read and changed.
    ads.send("DELETE", &format!("/campaigns/{fourth}"), &[]).assert_status(200);
    let path = format!("/{}", second["id"].as_str().unwrap());
    let changed = ads.send_test("PUT", &path, &json!({ "name": "One left", "end_time": in_hours(72) }));
    assert_eq!(changed.assert_status(200)["data"]["user_groups"], second["user_groups"]);
    let regrouped = json!({ "user_groups": [group("40", &[&campaigns[0]]), group("60", &[&fourth])] });
    is(&ads.send_test("PUT", &path, &regrouped), 404, "CAMPAIGN_NOT_FOUND", "user_groups");
}

#[test]
fn account_may_have_one_hundred_unfinished_ab_tests() {
    let ads = Advertiser::new();
    let draft = json!({ "operation_type": "Create", "params": {
        "funding_instrument_id": ads.instrument,
        "name": "Draft",
        "daily_budget_amount_local_micro": 1_000_000,
        "entity_status": "DRAFT",
    } });
    let mut campaigns = Vec::new();
    for count in [40, 40, 40, 40, 40, 2] {
        let created = ads.batch("campaigns", &json!(vec![&draft; count])).assert_status(200);
        let ids = created["data"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap().to_owned());
        campaigns.extend(ids);
    }
    let tests: Vec<Value> = campaigns
        .chunks(2)
        .map(|pair| definition("CAMPAIGN", &[group("50", &[&pair[0]]), group("50", &[&pair[1]])]))
        .collect();
    let created: Vec<Value> = tests[..100].iter().map(|test| ads.start_test(test)).collect();
    is(&ads.send_test("POST", "", &tests[100]), 400, "INVALID", "account_id");
    ads.send("DELETE", &format!("/ab_tests/{}", created[0]["id"].as_str().unwrap()), &[]).assert_status(200);
    ads.start_test(&tests[100]);
}

#[test]
fn ab_test_is_found_by_its_state_period_and_creator() {
    let ads = Advertiser::on(market());
    let colleague = market().new_user("colleague");
    let grant = ["ads", "account", "role", &ads.account, &colleague.username, "AD_MANAGER"];
    market().run_cli(&grant).assert_success();
    let halves = || [group("50", &[&ads.campaign()]), group("50", &[&ads.campaign()])];
    let soon = ads.start_test(&definition("CAMPAIGN", &halves()));
    let later = with(
        &definition("CAMPAIGN", &halves()),
        &json!({
            "name": "Later", "start_time": in_hours(72), "end_time": in_hours(96),
        }),
    );
    let path = format!("/12/accounts/{}/ab_tests", ads.account);
    let later = colleague.send_signed(TestRequest::post(path).json(&later)).assert_status(200)["data"].clone();
    let [soon, later] = [&soon, &later].map(|test| test["id"].as_str().unwrap());
    let found = |params: &[(&str, &str)], expected: &[&str]| {
        let page = ads.get("/ab_tests", &[params, &[("sort_by", "name-desc"), ("with_total_count", "true")]].concat());
        assert_eq!((ids(&page), &page["total_count"]), (expected.to_vec(), &json!(expected.len())), "{params:?}");
        // Those with ids are filtered as well.
        let both = format!("{soon},{later}");
        let page = ads.get("/ab_tests", &[params, &[("sort_by", "name-desc"), ("ab_test_ids", &both)]].concat());
        assert_eq!(ids(&page), expected, "{params:?}");
    };
    let during = |from, to| format!("{},{}", in_hours(from), in_hours(to));
    for (from, to, expected) in [
        (0, 200, &[soon, later][..]),
        (2, 3, &[soon]),
        (48, 73, &[soon, later]),
        (50, 71, &[]),
        (95, 200, &[later]),
        (97, 98, &[]),
        (-9, -8, &[]),
    ] {
        found(&[("live_during", &during(from, to))], expected);
    }
    found(&[("user_id", &colleague.id)], &[later]);
    found(&[("username", &ads.person.username)], &[soon]);
    found(&[("username", "nobody")], &[]);
    found(&[("q", "two h")], &[soon]);
    found(&[("q", "two h"), ("status", "LIVE")], &[]);
    found(&[("status", "SCHEDULED")], &[soon, later]);
    let first = ads.get("/ab_tests", &[("status", "SCHEDULED"), ("count", "1"), ("sort_by", "name-desc")]);
    let cursor = first["next_cursor"].as_str().unwrap();
    let next = [("status", "SCHEDULED"), ("count", "1"), ("sort_by", "name-desc"), ("cursor", cursor)];
    assert_eq!(ids(&ads.get("/ab_tests", &next)), [later]);
    let both = [("user_id", colleague.id.as_str()), ("username", &colleague.username)];
    is(&ads.send("GET", "/ab_tests", &both), 400, "EXCLUSIVE_PARAMETERS", "username");
    for period in [during(3, 2), in_hours(2), "tomorrow,later".to_owned(), format!("{},{}", during(1, 2), in_hours(3))]
    {
        is(&ads.send("GET", "/ab_tests", &[("live_during", &period)]), 400, "INVALID_PARAMETER", "live_during");
    }
    market().run_cli(&["clock", "advance", "2h"]).assert_success();
    found(&[("status", "LIVE")], &[soon]);
    found(&[("status", "SCHEDULED")], &[later]);
    market().run_cli(&["clock", "advance", "48h"]).assert_success();
    found(&[("status", "COMPLETED")], &[soon]);
    found(&[("status", "LIVE")], &[]);
}

#[test]
fn ab_test_that_has_begun_keeps_its_groups_and_start() {
    let ads = Advertiser::on(market());
    let (one, other) = (ads.campaign(), ads.campaign());
    let created = ads.start_test(&definition("CAMPAIGN", &[group("50", &[&one]), group("50", &[&other])]));
    let path = format!("/{}", created["id"].as_str().unwrap());
    market().run_cli(&["clock", "advance", "2h"]).assert_success();
    let put = |body: &Value| ads.send_test("PUT", &path, body);
    let sized = json!({ "user_groups": [group("40", &[&one]), group("60", &[&other])] });
    is(&put(&sized), 400, "INVALID", "user_groups");
    is(&put(&json!({ "start_time": in_hours(4) })), 400, "INVALID", "start_time");
    is(&put(&json!({ "end_time": in_hours(1) })), 400, "INVALID_PARAMETER", "end_time");
    let mut named = created["user_groups"].clone();
    named[0]["name"] = "Long".into();
    let changed = put(&json!({ "user_groups": named, "end_time": in_hours(30) })).assert_status(200);
    assert_eq!(changed["data"]["status"], "LIVE");
    assert_eq!(changed["data"]["user_groups"][0]["name"], "Long");
    assert_eq!(changed["data"]["end_time"], in_hours(30));
    market().run_cli(&["clock", "advance", "48h"]).assert_success();
    is(&put(&json!({ "end_time": in_hours(100) })), 400, "INVALID", "end_time");
    let renamed = put(&json!({ "name": "Done" })).assert_status(200);
    assert_eq!(renamed["data"]["status"], "COMPLETED");
    // Its campaigns may be tested again.
    let again = json!({ "start_time": in_hours(60), "end_time": in_hours(100) });
    let groups = [group("50", &[&one]), group("50", &[&other])];
    ads.start_test(&with(&definition("CAMPAIGN", &groups), &again));
}

#[test]
fn sandbox_has_ab_tests_of_its_own() {
    let ads = Advertiser::new();
    let created = send(&ads.person, "POST", "/ads-sandbox/12/accounts", &[]).assert_status(200);
    let account = format!("/ads-sandbox/12/accounts/{}", created["data"][0]["id"].as_str().unwrap());
    let make = |path: &str, params: &[(&str, &str)]| {
        let created = send(&ads.person, "POST", &format!("{account}{path}"), params).assert_status(200);
        created["data"]["id"].as_str().unwrap().to_owned()
    };
    let funding = [("currency", "EUR"), ("type", "CREDIT_LINE"), ("start_time", "2026-01-01")];
    let instrument = make("/funding_instruments", &funding);
    let budget = "daily_budget_amount_local_micro";
    let params = [("funding_instrument_id", instrument.as_str()), ("name", "Spring"), (budget, "1000000")];
    let (one, other) = (make("/campaigns", &params), make("/campaigns", &params));
    let body = definition("CAMPAIGN", &[group("50", &[&one]), group("50", &[&other])]);
    let path = format!("{account}/ab_tests");
    let test = ads.person.send_signed(TestRequest::post(path.clone()).json(&body)).assert_status(200);
    let listed = send(&ads.person, "GET", &path, &[]).assert_status(200);
    assert_eq!(listed["data"], json!([test["data"]]));
    is(&ads.send_test("POST", "", &body), 404, "CAMPAIGN_NOT_FOUND", "user_groups");
    assert_eq!(ads.get("/ab_tests", &[])["data"], json!([]));
}
