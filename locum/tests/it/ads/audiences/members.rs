//! Who is in a list, by which keys, from when until when; and what is refused.

use std::time::Duration;

use base::Time;
use base::clock::wall_time;
use serde_json::{Value, json};

use super::super::{Advertiser, batch_problem, is};
use super::{hashed, remove, update};
use crate::harness::{TestRequest, TestUser, shared_server, unique_number};

#[test]
fn hashed_identifiers_match_the_digests_of_the_contract() {
    // Contract ads §8.3.
    for (value, digest) in [
        ("ana.reis@bikes.example", "da017b829391311062b1abdbcdd5f4f7b6c24e8074af53f1b0df0f3e91119138"),
        ("harbourbikes", "49710133a5b07e0924aef32efc101f79158b220486f582d7c7fedc3d7a5ed27d"),
        ("2001", "85d6385b945c0d602103db39b0b654b2af93b5127938e26a959c123f0789b948"),
        ("+351200000000", "95ba13c05e80515cbe8995709a3e2e12e7489170f1533adbda24d7be2c74d98b"),
    ] {
        assert_eq!(hashed(value), digest);
    }
}

#[test]
fn members_are_matched_by_any_of_their_keys() {
    let (ads, server) = (Advertiser::new(), shared_server());
    let email = format!("Ana.Reis{}@bikes.example", unique_number());
    server.new_user_with("ana", &["--email", &email]);
    let (ben, cleo) = (server.new_user("ben"), server.new_user("cleo"));
    let audience = ads.audience();
    let handle = |user: &TestUser<'_>| hashed(&user.username.to_lowercase());
    let phone = hashed(&format!("+3512000{}", unique_number()));
    let users = json!([
        { "email": [hashed(&email.to_lowercase()).to_uppercase()], "phone_number": [phone] },
        { "handle": [handle(&ben)], "device_id": [hashed("a device")] },
        { "twitter_id": [hashed(&cleo.id)], "partner_user_id": ["client 7"] },
        { "svc_id": [hashed("1")], "email": [] },
    ]);
    let response = ads.users(&audience, &json!([update(&users)]));
    let body = response.assert_status(200);
    let counts = json!({ "success_count": 4, "total_count": 4 });
    assert_eq!(body["data"], counts);
    assert_eq!(body["request"]["params"], json!({ "account_id": ads.account, "custom_audience_id": audience }));
    assert_eq!(response.header_number("x-rate-limit-limit"), 1_500);
    let found = ads.comes_to(&audience, 3);
    assert_eq!(found["targetable"], true);
    assert_eq!(found["reasons_not_targetable"], json!([]));
    // Once more changes nothing; a key of two joins them; any key takes one away.
    ads.users(&audience, &json!([update(&users)])).assert_status(200);
    let changes = json!([
        update(&json!([{ "phone_number": [phone], "handle": [handle(&ben)] }])),
        remove(&json!([{ "device_id": [hashed("a device")] }, { "email": [hashed("nobody")] }])),
    ]);
    let body = ads.users(&audience, &changes).assert_status(200);
    let counts = json!({ "success_count": 3, "total_count": 3 });
    assert_eq!(body["data"], counts);
    ads.comes_to(&audience, 1);
    let last = json!([remove(&json!([{ "partner_user_id": ["client 7"] }]))]);
    ads.users(&audience, &last).assert_status(200);
    let found = ads.comes_to(&audience, 0);
    assert_eq!(found["targetable"], false);
    assert_eq!(found["reasons_not_targetable"], json!(["TOO_SMALL"]));
}

#[test]
fn audience_size_follows_users_who_join_rename_or_are_suspended() {
    let (ads, server) = (Advertiser::new(), shared_server());
    let (ben, audience) = (server.new_user("ben"), ads.audience());
    let (later, renamed) = (format!("later{}", unique_number()), format!("renamed{}", unique_number()));
    let users = json!([{ "handle": [hashed(&later)] }, { "handle": [hashed(&renamed)] }]);
    ads.users(&audience, &json!([update(&users)])).assert_status(200);
    server.run_cli(&["user", "create", &later]).assert_success();
    server.run_cli(&["user", "edit", &ben.id, "--username", &renamed]).assert_success();
    ads.comes_to(&audience, 2);
    server.run_cli(&["user", "suspend", &later]).assert_success();
    let back = format!("back{}", unique_number());
    server.run_cli(&["user", "edit", &ben.id, "--username", &back]).assert_success();
    ads.comes_to(&audience, 0);
    server.run_cli(&["user", "restore", &later]).assert_success();
    ads.comes_to(&audience, 1);
}

#[test]
fn members_count_between_effective_and_expiry_time() {
    let ads = Advertiser::new();
    let (now, soon) = (shared_server().new_user("now"), shared_server().new_user("soon"));
    let audience = ads.audience();
    let at = |seconds: i64| {
        let time = Time::from_ms(wall_time().ms() / 1000 * 1000 + seconds * 1000);
        json!(time.to_string())
    };
    let timed = |user: &TestUser<'_>, from: Value, until: Value| {
        let users = json!([{ "svc_id": [hashed(&user.id)] }]);
        let params = json!({ "users": users, "effective_at": from, "expires_at": until });
        json!({ "operation_type": "Update", "params": params })
    };
    let operations = json!([timed(&now, Value::Null, at(24)), timed(&soon, at(12), at(3600))]);
    ads.users(&audience, &operations).assert_status(200);
    ads.comes_to(&audience, 1);
    ads.comes_to(&audience, 2);
    ads.comes_to(&audience, 1);
    // What is written again begins again.
    let users = json!([{ "svc_id": [hashed(&now.id)] }]);
    ads.users(&audience, &json!([update(&users)])).assert_status(200);
    ads.comes_to(&audience, 2);
    for (from, until) in [(at(10), at(10)), (at(10), at(9)), (Value::Null, at(-10))] {
        let response = ads.users(&audience, &json!([timed(&now, from, until)]));
        let wrong = response.assert_status(400);
        let wrong = &wrong["operation_errors"][0][0];
        assert_eq!(wrong["code"], "INVALID_PARAMETER");
        assert_eq!(wrong["parameter"], "expires_at");
    }
    // What nobody is in any more is gone with its members.
    let deleted = ads.send("DELETE", &format!("/custom_audiences/{audience}"), &[]);
    deleted.assert_status(200);
}

#[test]
fn member_batch_with_an_invalid_operation_stores_nothing() {
    let (ads, user) = (Advertiser::new(), shared_server().new_user("person"));
    let audience = ads.audience();
    let good = update(&json!([{ "svc_id": [hashed(&user.id)] }]));
    let email = "ana.reis@bikes.example";
    for (bad, code, at) in [
        (json!({}), "MISSING_PARAMETER", "operation_type"),
        (json!(7), "MISSING_PARAMETER", "operation_type"),
        (
            json!({ "operation_type": "Create", "params": { "users": [{ "email": [hashed("x")] }] } }),
            "INVALID_PARAMETER",
            "operation_type",
        ),
        (json!({ "operation_type": "Update" }), "MISSING_PARAMETER", "params"),
        (json!({ "operation_type": "Update", "params": [] }), "INVALID_PARAMETER", "params"),
        (json!({ "operation_type": "Update", "params": {} }), "MISSING_PARAMETER", "users"),
        (update(&json!([])), "INVALID_PARAMETER", "users"),
        (update(&json!({})), "INVALID_PARAMETER", "users"),
        (update(&json!(["x"])), "INVALID_PARAMETER", "users"),
        (update(&json!([{}])), "INVALID_PARAMETER", "users"),
        (update(&json!([{ "email": [] }])), "INVALID_PARAMETER", "users"),
        (update(&json!([{ "email": hashed("x") }])), "INVALID_PARAMETER", "email"),
        (update(&json!([{ "email": [email] }])), "INVALID_PARAMETER", "email"),
        (remove(&json!([{ "handle": [7] }])), "INVALID_PARAMETER", "handle"),
        (update(&json!([{ "partner_user_id": [""] }])), "INVALID_PARAMETER", "partner_user_id"),
        (
            json!({ "operation_type": "Update", "params":
                { "users": [{ "email": [hashed("x")] }], "effective_at": "soon" } }),
            "INVALID_PARAMETER",
            "effective_at",
        ),
    ] {
        let response = ads.users(&audience, &json!([good, bad, good]));
        let body = response.assert_status(400);
        assert_eq!(body["errors"], Value::Null, "{body}");
        let errors = &body["operation_errors"];
        assert_eq!((&errors[0], &errors[2]), (&json!([]), &json!([])), "{body}");
        assert_eq!(batch_problem(&body, 1), (code, at), "{body}");
        // What was sent may be somebody's address.
        assert!(!response.text().contains(email), "{body}");
    }
    for bad in [json!([]), json!({}), json!("x"), Value::Null] {
        is(&ads.users(&audience, &bad), 400, "INVALID_PARAMETER", "");
    }
    let path = format!("/12/accounts/{}/custom_audiences/{audience}/users", ads.account);
    for (kind, body) in
        [("application/json", "[{"), ("application/json", ""), ("application/x-www-form-urlencoded", "users=1")]
    {
        let response = ads.person.send_signed(TestRequest::post(&path).body(kind, body));
        is(&response, 400, "INVALID_PARAMETER", "");
    }
    // Nothing of all that was stored: no size is worked out for what was never written.
    std::thread::sleep(Duration::from_secs(7));
    assert_eq!(ads.one(&audience)["audience_size"], Value::Null);
}

#[test]
fn member_batch_is_limited_in_operations_and_bytes() {
    let (ads, user) = (Advertiser::new(), shared_server().new_user("person"));
    let audience = ads.audience();
    let good = update(&json!([{ "svc_id": [hashed(&user.id)] }]));
    let path = format!("/12/accounts/{}/custom_audiences/{audience}/users", ads.account);
    let many = |count: usize| {
        let one = |number| update(&json!([{ "email": [hashed(&format!("{number}@x"))] }]));
        Value::from((0..count).map(one).collect::<Vec<_>>())
    };
    is(&ads.users(&audience, &many(2_501)), 400, "INVALID_PARAMETER", "");
    let body = ads.users(&audience, &many(2_500)).assert_status(200);
    assert_eq!(body["data"], json!({ "success_count": 2_500, "total_count": 2_500 }));
    // A body of exactly as many bytes as there may be.
    let mut text = json!([good]).to_string();
    text.extend(std::iter::repeat_n(' ', 5_000_000 - text.len()));
    let send = |text: &str| {
        let request = TestRequest::post(&path).body("application/json", text);
        ads.person.send_signed(request)
    };
    send(&text).assert_status(200);
    text.push(' ');
    let request = TestRequest::post(&path).body("application/json", text);
    let header = request.oauth1_header(&ads.person.oauth1_credentials(), &shared_server().url);
    // The answer may come before all of it is sent.
    if let Some(answer) = shared_server().try_send(request.authorization(header)) {
        is(&answer, 400, "REQUEST_TOO_COMPLEX", "");
    }
    ads.comes_to(&audience, 1);
}
