//! How much of an audience's size is disclosed.

use std::sync::OnceLock;

use serde_json::{Value, json};

use super::super::{Advertiser, is};
use super::{hashed, remove, update};
use crate::harness::{TestRequest, TestServer, TestUser, keep_for_test, unique_number};

/// A network on which an audience comes to three people before that is told.
fn careful() -> &'static TestServer {
    static CAREFUL: OnceLock<TestServer> = OnceLock::new();
    CAREFUL.get_or_init(|| TestServer::start(&["--set", "ads.min_audience=3", "--set", "ads.audience_delay=1s"]))
}

#[test]
fn membership_of_one_user_is_not_disclosed_by_audience_sizes() {
    let ads = Advertiser::on(careful());
    let email = format!("secret{}@bikes.example", unique_number());
    careful().new_user_with("secret", &["--email", &email]);
    let some: Vec<TestUser<'_>> = (0..3).map(|_| careful().new_user("some")).collect();
    let (here, nobody) = (ads.audience(), ads.audience());
    let body = |value: &str| json!([update(&json!([{ "email": [hashed(value)] }]))]);
    let one = ads.users(&here, &body(&email)).assert_status(200);
    let other = ads.users(&nobody, &body("nobody@bikes.example")).assert_status(200);
    assert_eq!(one["data"], other["data"]);
    let (one, other) = (ads.comes_to(&here, Value::Null), ads.comes_to(&nobody, Value::Null));
    for (name, value) in one.as_object().unwrap() {
        let own = ["id", "name", "created_at", "updated_at"].contains(&name.as_str());
        assert!(own || *value == other[name], "{name}: {one} {other}");
    }
    assert_eq!(one["reasons_not_targetable"], json!(["TOO_SMALL"]));
    let take = json!([remove(&json!([{ "email": [hashed(&email)] }]))]);
    let (one, other) = (ads.users(&here, &take), ads.users(&nobody, &take));
    assert_eq!(one.assert_status(200)["data"], other.assert_status(200)["data"]);
    // Enough of them are told.
    let users: Vec<Value> = some.iter().map(|user| json!({ "svc_id": [hashed(&user.id)] })).collect();
    ads.users(&here, &json!([update(&users.into())])).assert_status(200);
    assert_eq!(ads.comes_to(&here, 3)["targetable"], true);
    // Nor is it estimated what is too small, or another's.
    let estimate = |ads: &Advertiser, audience: &str| {
        let path = format!("/12/accounts/{}/audience_estimate", ads.account);
        let criterion = json!({ "targeting_type": "CUSTOM_AUDIENCE", "targeting_value": audience });
        let request = TestRequest::post(path).json(&json!({ "targeting_criteria": [criterion] }));
        ads.person.send_signed(request)
    };
    assert_eq!(estimate(&ads, &here).assert_status(200)["data"]["audience_size"], json!({ "min": 2, "max": 4 }));
    is(&estimate(&ads, &nobody), 400, "INVALID", "targeting_value");
    is(&estimate(&Advertiser::on(careful()), &here), 404, "TAILORED_AUDIENCE_NOT_FOUND", "targeting_value");
    // Nothing of what was sent is in what the server says.
    let message = careful().stderr() + &careful().stdout();
    assert!(!message.contains(&hashed(&email)) && !message.contains(&email));
}

/// Asks for an estimate: the least and the most.
fn estimated(ads: &Advertiser, criteria: &[(&str, &str, &str)]) -> (i64, i64) {
    let criteria: Vec<Value> = criteria
        .iter()
        .map(|(kind, value, operator)| {
            json!({ "targeting_type": kind, "targeting_value": value, "operator_type": operator })
        })
        .collect();
    let path = format!("/12/accounts/{}/audience_estimate", ads.account);
    let request = TestRequest::post(path).json(&json!({ "targeting_criteria": criteria }));
    let size = ads.person.send_signed(request).assert_status(200)["data"]["audience_size"].clone();
    (size["min"].as_i64().unwrap(), size["max"].as_i64().unwrap())
}

#[test]
fn audience_size_is_rounded_to_hide_single_users() {
    // Eight people on a network that tells of six and more, in steps of three.
    let set = ["--set", "ads.min_audience=6", "--set", "ads.audience_delay=1s"];
    let server: &'static TestServer = keep_for_test(TestServer::start(&set));
    let ads = Advertiser::on(server);
    let exact = ["ads", "account", "set", &ads.account, "--estimate", "exact"];
    server.run_cli(&exact).assert_success();
    let people: Vec<TestUser<'_>> = (0..8).map(|_| server.new_user("member")).collect();
    let users = |people: &[TestUser<'_>]| -> Value {
        let ids = people.iter().map(|one| json!({ "svc_id": [hashed(&one.id)] }));
        json!([update(&ids.collect())])
    };
    let (all, most) = (ads.audience(), ads.audience());
    ads.users(&all, &users(&people)).assert_status(200);
    ads.users(&most, &users(&people[1..])).assert_status(200);
    let response = ads.comes_to(&all, 6);
    assert_eq!(response["targetable"], true);
    // Seven are six or fewer than six, as it falls out for these seven, and stay so.
    crate::harness::wait_until("the other one is worked out", || {
        ads.one(&most)["reasons_not_targetable"] != json!(["PROCESSING", "TOO_SMALL"])
    });
    let seven = ads.one(&most);
    let shown = seven["audience_size"].as_i64();
    assert!(shown.is_none() || shown == Some(6), "{seven}");
    assert_eq!(seven["targetable"], shown.is_some());
    // An account that is told estimates exactly is told no more of these.
    let size = || estimated(&ads, &[("CUSTOM_AUDIENCE", &all, "EQ")]);
    let first = size();
    assert_eq!(first, (5, 7));
    assert_eq!(size(), first);
    // Nor of what is left of them by other criteria.
    if shown.is_some() {
        let one = [("CUSTOM_AUDIENCE", all.as_str(), "EQ"), ("CUSTOM_AUDIENCE", &most, "NE")];
        assert_eq!(estimated(&ads, &one), (0, 9));
    }
    // Nor whether anybody saw an ad.
    let campaign = ads.campaign();
    let own = ads.get("/promotable_users", &[])["data"][0]["id"].as_str().unwrap().to_owned();
    for (kind, value) in [("CAMPAIGN_ENGAGEMENT", &campaign), ("USER_ENGAGEMENT", &own)] {
        for about in ["IMPRESSION", "ENGAGEMENT"] {
            let criteria = [(kind, value.as_str(), "EQ"), ("ENGAGEMENT_TYPE", about, "EQ")];
            assert_eq!(estimated(&ads, &criteria), (0, 9), "{criteria:?}");
        }
    }
    // The same with whom not to reach: whether any of them is here makes no difference.
    for user in &people[..2] {
        user.import_follows(&[&ads.person]);
    }
    let followers = || estimated(&ads, &[("FOLLOWERS_OF_USER", &ads.person.id, "EQ")]);
    crate::harness::wait_until("followers are counted", || followers() == (2, 2));
    let email = format!("away{}@bikes.example", unique_number());
    server.new_user_with("away", &["--email", &email]);
    let list = ads.make("/do_not_reach_lists", &[]);
    assert_eq!(followers(), (0, 9));
    let account = &ads.account;
    let path = format!("/12/batch/accounts/{account}/do_not_reach_lists/{list}/users");
    let before = ads.get("/do_not_reach_lists", &[])["data"][0].clone();
    assert_eq!(before["list_size"], Value::Null);
    let request = TestRequest::post(path).json(&json!([update(&json!([{ "email": [hashed(&email)] }]))]));
    ads.person.send_signed(request).assert_status(200);
    crate::harness::wait_until("it is worked out", || {
        let list = ads.get("/do_not_reach_lists", &[])["data"][0].clone();
        list["reasons_not_targetable"] == json!(["TOO_SMALL"]) && list["list_size"].is_null()
    });
    assert_eq!(followers(), (0, 9));
}
