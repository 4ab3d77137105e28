//! Who else may use an audience.

use serde_json::{Value, json};

use super::super::{Advertiser, is, send};
use super::{hashed, ids, update};
use crate::harness::shared_server;

#[test]
fn an_audience_is_shared_within_a_business_and_never_passed_on() {
    let (ads, other, third) = (Advertiser::new(), Advertiser::new(), Advertiser::new());
    let person = shared_server().new_user("member");
    let audience = ads.audience_of(&[&person]);
    let permissions = format!("/custom_audiences/{audience}/permissions");
    let one = format!("/custom_audiences/{audience}");
    let not_found = "TAILORED_AUDIENCE_NOT_FOUND";
    let grant = |to: &str, level: &str| {
        let params = [("granted_account_id", to), ("permission_level", level)];
        ads.send("POST", &permissions, &params)
    };
    is(&grant(&other.account, "READ_ONLY"), 400, "FEATURE_NOT_AVAILABLE", "granted_account_id");
    is(&grant("zzz", "READ_ONLY"), 403, "ACCOUNT_NOT_FOUND", "granted_account_id");
    is(&grant(&ads.account, "READ_ONLY"), 400, "INVALID", "granted_account_id");
    is(&grant(&other.account, "ALL"), 400, "INVALID_PARAMETER", "permission_level");
    is(
        &ads.send("POST", &permissions, &[("permission_level", "READ_ONLY")]),
        400,
        "MISSING_PARAMETER",
        "granted_account_id",
    );
    is(&other.send("GET", &one, &[]), 404, not_found, "custom_audience_id");
    ads.set(&["--business", "bikes"]);
    other.set(&["--business", "bikes"]);
    let granted = grant(&other.account, "READ_ONLY").assert_status(200);
    let permission = granted["data"]["id"].as_str().unwrap().to_owned();
    assert_eq!(granted["data"]["custom_audience_id"], audience.as_str());
    assert_eq!(granted["data"]["granted_account_id"], other.account.as_str());
    assert_eq!(granted["data"]["deleted"], false);

    // The other account sees it and its size, and may do nothing to it.
    let seen = other.one(&audience);
    assert_eq!(seen["is_owner"], false);
    assert_eq!(seen["owner_account_id"], ads.account.as_str());
    assert_eq!(seen["permission_level"], "READ_ONLY");
    assert_eq!(seen["audience_size"], 1);
    let shared_with = |ads: &Advertiser| {
        let scope = [("permission_scope", "SHARED")];
        ids(&ads.get("/custom_audiences", &scope)).join(" ")
    };
    assert_eq!(shared_with(&other), audience);
    assert_eq!(ids(&other.get("/custom_audiences", &[])).len(), 0);
    assert_eq!(shared_with(&third), "");
    let operations = json!([update(&json!([{ "email": [hashed("new")] }]))]);
    is(&other.users(&audience, &operations), 403, "ACTION_NOT_ALLOWED", "");
    for (method, path) in [("PUT", &one), ("DELETE", &one), ("GET", &permissions)] {
        is(&other.send(method, path, &[]), 403, "ACTION_NOT_ALLOWED", "");
    }
    let pass_on = [("granted_account_id", third.account.as_str()), ("permission_level", "READ_ONLY")];
    is(&other.send("POST", &permissions, &pass_on), 403, "ACTION_NOT_ALLOWED", "");

    // Once more is another level of the same.
    let again = grant(&other.account, "READ_WRITE").assert_status(200);
    assert_eq!(again["data"]["id"], permission.as_str());
    assert_eq!(again["data"]["permission_level"], "READ_WRITE");
    other.users(&audience, &operations).assert_status(200);
    assert_eq!(other.one(&audience)["permission_level"], "READ_WRITE");
    is(&other.send("DELETE", &one, &[]), 403, "ACTION_NOT_ALLOWED", "");

    // A feature lets it be shared with everyone; what is of version 5 is the same.
    let feature = ["ads", "account", "feature", &ads.account];
    let add = ["--add", "SHARE_AUDIENCE_OUTSIDE_BUSINESS"];
    shared_server().run_cli(&[&feature[..], &add[..]].concat()).assert_success();
    let older = format!("/5/accounts/{}/tailored_audiences/{audience}/permissions", ads.account);
    let params = [("granted_account_id", third.account.as_str()), ("permission_level", "READ_ONLY")];
    let tailored = send(&ads.person, "POST", &older, &params).assert_status(200);
    assert_eq!(tailored["data"]["tailored_audience_id"], audience.as_str());
    assert_eq!(tailored["data"]["custom_audience_id"], Value::Null);
    assert_eq!(tailored["request"]["params"]["tailored_audience_id"], audience.as_str());
    let second = tailored["data"]["id"].as_str().unwrap();
    assert_eq!(shared_with(&third), audience);
    let all = [("sort_by", "created_at-asc"), ("with_total_count", "true")];
    let all = ads.get(&permissions, &all);
    assert_eq!(ids(&all), [permission.as_str(), second]);
    assert_eq!(all["total_count"], 2);
    let of = [("granted_account_ids", third.account.as_str())];
    assert_eq!(ids(&ads.get(&permissions, &of)), [second]);
    let of = [("tailored_audience_permission_ids", permission.as_str())];
    let some = send(&ads.person, "GET", &older, &of).assert_status(200);
    assert_eq!(ids(&some), [permission.as_str()]);
    // Permissions are found at their own audience only.
    let elsewhere = format!("/custom_audiences/{}/permissions", ads.audience());
    let of = [("custom_audience_permission_ids", permission.as_str())];
    assert_eq!(ids(&ads.get(&elsewhere, &of)).len(), 0);
    let wrong = ads.send("DELETE", &format!("{elsewhere}/{permission}"), &[]);
    is(&wrong, 404, "NOT_FOUND", "custom_audience_permission_id");
    let gone = send(&ads.person, "DELETE", &format!("{older}/{second}"), &[]).assert_status(200);
    assert_eq!(gone["data"]["deleted"], true);
    assert_eq!(gone["data"]["tailored_audience_id"], audience.as_str());
    is(&third.send("GET", &one, &[]), 404, not_found, "custom_audience_id");
    let again = ads.send("DELETE", &format!("{permissions}/{second}"), &[]);
    is(&again, 404, "NOT_FOUND", "custom_audience_permission_id");

    // What targets it goes on after the permission; nothing new does.
    let item = other.line_item(&other.campaign());
    other.criterion(&item, &audience, &[]).assert_status(200);
    let path = format!("{permissions}/{permission}");
    ads.send("DELETE", &path, &[]).assert_status(200);
    let new = other.line_item(&other.campaign());
    is(&other.criterion(&new, &audience, &[]), 404, not_found, "targeting_value");
    let criteria = other.get("/targeting_criteria", &[("line_item_ids", &item)]);
    assert_eq!(criteria["data"][0]["targeting_value"], audience.as_str());
    assert_eq!(shared_with(&other), "");
    is(&other.users(&audience, &operations), 404, not_found, "custom_audience_id");
}
